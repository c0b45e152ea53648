package check

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// checkGrounded shows for members, one after the other, that others cannot close
// all nodes that are left to them: of one that needs company those near any pod of
// a workload for which it was shown before, all of whose pods are there in the
// end, or near any pod that may be there if its own first pod needs none.
func (v *verifier) checkGrounded(members []certificate.Member) error {
	shown := map[*model.Group]bool{}
	for len(members) > 0 {
		left := slices.DeleteFunc(slices.Clone(members), func(m certificate.Member) bool { return v.stays(m, shown) == nil })
		if len(left) == len(members) {
			return v.stays(members[0], shown)
		}
		for _, m := range members { // of a DaemonSet the pods on all nodes
			shown[m.G] = !slices.ContainsFunc(left, func(o certificate.Member) bool { return o.G == m.G })
		}
		members = left
	}
	return nil
}

// stays is nil if a member is never overcommitted out.
func (v *verifier) stays(m certificate.Member, shown map[*model.Group]bool) error {
	if m.G.Spec.NodeName != "" {
		return fmt.Errorf("%v needs more than an open node", m.G.Workload)
	}
	if len(m.G.HardAffinity()) == 0 {
		return v.open(m, v.shares(m))
	}
	if len(v.refusing(m)) > 0 || m.Node >= 0 {
		return fmt.Errorf("%v needs more than company", m.G.Workload)
	}
	for _, w := range v.selects[m.G.HardAffinity()[0]] {
		o := v.m.Groups[w]
		if o != m.G && shown[o] && v.accompanies(m, o, v.surely) && v.follows(m, o) {
			return nil
		}
	}
	return v.leads(m)
}

// follows tells whether a member finds a node near the pods of o, wherever they
// are: of a DaemonSet one is on each of its nodes.
func (v *verifier) follows(m certificate.Member, o *model.Group) bool {
	if !o.Kind.PerNode() {
		return v.open(m, v.nearTo(m, v.sites(o))) == nil
	}
	return slices.ContainsFunc(v.sites(o), func(n int) bool { return v.open(m, v.nearTo(m, []int{n})) == nil })
}

// leads shows it of a member whose first pod needs no company: on any of its
// nodes, and then near any pod that may be there.
func (v *verifier) leads(m certificate.Member) error {
	hard := m.G.HardAffinity()
	parts := []part{{nodes: v.keyed(m), own: m.Pods - 1}}
	for _, t := range hard {
		if !v.m.Selects(t, m.G.Workload, m.G.Workload, model.Asks{Self: true, Incoming: true}) {
			return fmt.Errorf("%v waits for others", m.G.Workload)
		}
	}
	parts = append(parts, v.nearTo(m, v.keyed(m))...)
	for _, w := range v.selects[hard[0]] {
		if o := v.m.Groups[w]; o != m.G && v.accompanies(m, o, v.may) {
			parts = append(parts, v.nearTo(m, v.stand(o))...)
		}
	}
	return v.open(m, parts)
}

// may tells whether a term selects the pods of o on some node.
func (v *verifier) may(t *model.Term, _, o *model.Group) bool {
	return slices.Contains(v.selects[t], o.Workload)
}

// accompanies tells whether all terms of a member select the pods of o.
func (v *verifier) accompanies(m certificate.Member, o *model.Group, selects func(*model.Term, *model.Group, *model.Group) bool) bool {
	return !slices.ContainsFunc(m.G.HardAffinity(), func(t *model.Term) bool { return !selects(t, m.G, o) })
}

// open is nil if not all nodes of any part can be closed.
func (v *verifier) open(m certificate.Member, parts []part) error {
	for _, p := range parts {
		if closed := v.closed(m, p); closed >= len(p.nodes) {
			return fmt.Errorf("%v: %d of %d nodes may be closed", m.G.Workload, closed, len(p.nodes))
		}
	}
	return nil
}

// stand are the nodes on which pods of a group may be.
func (v *verifier) stand(g *model.Group) []int {
	if !g.Running {
		return v.sites(g)
	}
	n, known := v.m.IndexOf(g.Spec.NodeName)
	if !known {
		return nil
	}
	return []int{n}
}

// nearTo are the nodes of a member that are near a pod on one of some nodes: a
// part for each, no set twice.
func (v *verifier) nearTo(m certificate.Member, sites []int) []part {
	seen := map[string]bool{}
	var all []part
	for _, at := range sites {
		here, id, complete := v.m.Topology.Nodes[at], "", true
		for _, t := range m.G.HardAffinity() {
			value, ok := here.Labels[t.Key]
			complete = complete && ok
			id += value + "\x00"
		}
		if !complete {
			return []part{{}} // nothing is near a pod there
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		nodes := slices.DeleteFunc(v.keyed(m), func(n int) bool {
			return slices.ContainsFunc(m.G.HardAffinity(), func(t *model.Term) bool { return !model.SameDomain(here, v.m.Topology.Nodes[n], t.Key) })
		})
		all = append(all, part{nodes: nodes, own: m.Pods - 1})
	}
	return all
}

// keyed are the nodes of a member that carry the keys of all its rules and that
// running pods do not close for good.
func (v *verifier) keyed(m certificate.Member) []int {
	return v.lasting(m.G, slices.DeleteFunc(slices.Clone(v.only(m)), func(n int) bool { return !v.carriesAll(m.G, n) }))
}

// refusing are the spread constraints of a member that may refuse one of its
// pods: so many pods that count as the skew allows are never too many.
func (v *verifier) refusing(m certificate.Member) []*model.Term {
	var all []*model.Term
	for _, t := range m.G.Terms {
		if !t.Hard || t.Use != model.Spread {
			continue
		}
		pods := 0
		if t.Sel.Form == model.FormEmpty || v.m.Selects(t, m.G.Workload, m.G.Workload, model.Asks{Self: true, Incoming: true}) {
			pods = 1
		}
		for _, w := range v.selects[t] {
			switch o := v.m.Groups[w]; {
			case t.Sel.Form != model.FormSet, w.Terminating(): // which no constraint counts (R-T4)
			case o == m.G:
				pods += v.count(o) - 1
			case o.Running:
				pods++
			default:
				pods += v.count(o)
			}
		}
		if pods > int(t.Constraint.MaxSkew) {
			all = append(all, t)
		}
	}
	return all
}
