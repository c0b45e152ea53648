package search

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// seeker proves that a given set of nodes always has room for another pod of a workload (T27). Prices
// that prove this for all nodes rarely prove it for a subset, so it finds new ones.
type seeker struct {
	a        *state
	outcomes []outcome
	// units has each workload's outcome and pod group. heads has the headroom of each outcome, and of a pod
	// group with more pods beside those of other outcomes.
	units map[*workload.Workload][2]int
	heads map[int]*headroom
	// left caches the remaining nodes of each loss, by outcome and nodes.
	left  map[string]*leftOver
	steps int // remaining budget for all proofs
}

// seekSteps limits the steps of all attempts of a seeker, seekOnce those of a single attempt.
const seekSteps, seekOnce = 20_000_000, 500_000

// seeker returns a seeker for the decided workloads. It leaves out workloads with required pod affinity,
// DaemonSets, and components that are too large or depend on unknown rules.
func (d *decided) seeker() *seeker {
	s := &seeker{a: d.a, outcomes: d.outcomes, units: map[*workload.Workload][2]int{}, heads: map[int]*headroom{}, left: map[string]*leftOver{}, steps: d.a.m.Run().Times(seekSteps)}
	for at := range d.outcomes {
		o := &d.outcomes[at]
		if o.unsure || len(o.owners)*len(d.a.nodes) > pricedSize {
			continue
		}
		for k, i := range o.units {
			if u := d.a.units[i]; !u.stays() && u.g.Whole == nil && len(u.affinityKeys) == 0 && !d.a.unplaceable[i] {
				for _, w := range unmerge(d.a.m, []*workload.Workload{o.owners[o.owner[k]]}) {
					s.units[w] = [2]int{at, i}
				}
			}
		}
	}
	return s
}

// Seeks reports whether the seeker covers a workload.
func (s *seeker) Seeks(w *workload.Workload) bool {
	_, known := s.units[w]
	return known
}

// Seek tries to prove that one of the given nodes always has room for another pod of w. The nodes are
// ascending indices, and nil means all nodes. The proof covers `more` pods of w beyond the declared ones.
// Seek returns the member that the checker needs to confirm the proof.
func (s *seeker) Seek(w *workload.Workload, nodes []int, more int) (m certificate.Member, found bool) {
	at := s.units[w]
	c, id := s.outcomes[at[0]].component, at[0]
	if more > 0 {
		if wider := s.beside(c, at[1]); len(wider.units) > len(c.units) {
			c, id = wider, -1-at[1]
		}
		if len(c.units)*len(s.a.nodes) > pricedSize {
			return m, false
		}
	}
	h := lazy.Cached(s.heads, id, func() *headroom {
		h := newHeadroom(s.a, c, false)
		h.thorough, h.result = true, &neverStuckResult{}
		return h
	})
	if len(s.left) >= mostShared {
		clear(s.left)
	}
	left := lazy.Cached(s.left, fmt.Sprint(at[0], nodes), func() *leftOver { return h.leave(nodes) })
	m, known := left.found[[2]int{at[1], more}]
	if !known {
		run := s.a.m.Run()
		before := run.Spent()
		run.Within(min(s.steps, run.Times(seekOnce), run.Left()/4), func() {
			if h.demand == nil {
				h.sum()
			}
			h.after = left
			clear(h.prices)
			was := h.recent
			for _, p := range s.outcomes[at[0]].proof.Prices[at[1]] { // they may do for these nodes, too
				h.recent = append(h.recent, recent{Prices: p})
			}
			defer func() { h.recent = was }()
			if u := s.a.units[at[1]]; h.proveAlone(at[1], u.pods+more) {
				m = certificate.Member{G: u.g, Pods: u.pods + more, Node: -1, Left: nodes, Prices: slices.Clone(h.prices[at[1]])}
			}
		})
		s.steps -= run.Spent() - before
		left.found[[2]int{at[1], more}] = m
	}
	return m, m.G != nil
}

// beside adds to a component the pod groups that can be on nodes of group i. There is room for all of
// their pods, but perhaps not for more.
func (s *seeker) beside(c component, i int) component {
	nodes := s.a.units[i].nodes
	s.a.m.Run().Spend(1 + len(s.a.units)*(1+len(nodes.list)/model.PerStep))
	c.units = slices.Clone(c.units)
	for j, v := range s.a.units {
		if v.pods > 0 && !v.g.Running && slices.ContainsFunc(v.nodes.list, func(n int32) bool { return nodes.has[n] }) {
			c.units = append(c.units, j)
		}
	}
	slices.Sort(c.units)
	c.units = slices.Compact(c.units)
	return c
}

// leftOver describes the nodes that remain after a loss, or all nodes.
type leftOver struct {
	on []bool // by node
	// places caches the remaining part of each place.
	places map[*place]*place
	// found caches the results by pod group and number of additional pods. G is nil if there is no proof.
	found map[[2]int]certificate.Member
}

// leave returns a leftOver for the given nodes, or for all nodes if nodes is nil.
func (h *headroom) leave(nodes []int) *leftOver {
	h.m.Run().Spend(1 + len(h.nodes)/model.PerStep)
	l := &leftOver{make([]bool, len(h.nodes)), map[*place]*place{}, map[[2]int]certificate.Member{}}
	for n := range l.on {
		l.on[n] = nodes == nil
	}
	for _, n := range nodes {
		l.on[n] = true
	}
	return l
}

// among returns the part of a place that remains.
func (l *leftOver) among(p *place) *place {
	if l == nil {
		return p
	}
	return lazy.Cached(l.places, p, func() *place {
		return newPlace(slices.DeleteFunc(slices.Clone(p.nodes), func(n int32) bool { return !l.on[n] }))
	})
}
