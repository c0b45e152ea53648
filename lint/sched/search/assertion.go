package search

import (
	"github.com/schedlint/schedlint/lint/sched/certificate"
)

// assertion translates the outcome of a component.
func (a *instance) assertion(o *outcome) *certificate.Assertion {
	claim := &certificate.Assertion{Never: o.never, Proof: o.proof}
	as := func(i int) certificate.Member {
		u := a.units[i]
		m := certificate.Member{G: u.g, Pods: u.pods, Node: -1}
		if u.g.Kind.PerNode() {
			m.Node = u.pinned
		}
		m.Open = o.proof.Open[i]
		return m
	}
	for _, i := range o.units {
		claim.Members = append(claim.Members, as(i))
	}
	for _, i := range o.proof.About {
		claim.About = append(claim.About, as(i))
	}
	return claim
}
