package search

import (
	"github.com/schedlint/schedlint/lint/sched/certificate"
)

// assertion converts the outcome of a component into a claim for the checker.
func (a *instance) assertion(o *outcome) *certificate.Assertion {
	claim := &certificate.Assertion{Never: o.never, Proof: o.proof}
	for _, i := range o.units {
		claim.Members = append(claim.Members, a.member(i, o.proof.Open[i]))
	}
	for _, i := range o.proof.About {
		claim.About = append(claim.About, a.member(i, o.proof.Open[i]))
	}
	return claim
}

// member returns a pod group in the checker's terms. open lists nodes of the pod group
// that cannot all be closed.
func (a *instance) member(i int, open []int) certificate.Member {
	u := a.units[i]
	m := certificate.Member{G: u.g, Pods: u.pods, Node: -1, Open: open}
	if u.g.Kind.PerNode() {
		m.Node = u.pinned
	}
	return m
}
