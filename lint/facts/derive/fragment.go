package derive

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// fragments adds facts about placement fields of objects that are not judged: what the core API
// rejects in them, and which node labels they name. There are no facts about their pods, as an
// operator decides which pods get these fields and how many there are.
func (b terms) fragments(set *workload.Set) {
	for _, o := range set.Foreign {
		b.settled[o.ID()] = &progress{}
	}
	var nodes []*topology.Node // all, with one node of each pool that has none yet
	if t := b.m.Topology; !t.Empty() {
		nodes = slices.Clip(t.Nodes)
		for _, g := range t.Growth {
			if g.Node.Pool.Count == 0 {
				nodes = append(nodes, g.Node)
			}
		}
	}
	purse := b.m.SharedBudget(model.ObjectsOf(set.Fragments))
	for _, w := range set.Fragments {
		if !purse.Ask(w.Object, askFragment, func() { b.fragment(w, nodes) }) {
			b.settled[w.Object.ID()] = &progress{}
		}
	}
}

func (b terms) fragment(w *workload.Workload, nodes []*topology.Node) {
	for _, p := range w.Problems {
		b.refusals().refusal(w, w.String(), about(w, p.Span), p)
	}
	for _, u := range w.Unknown {
		b.refusals().unknownField(w, u)
	}
	all := model.FragmentTerms(w)
	b.m.Run().Spend(len(all))
	for _, t := range all {
		if unreadable(w, t) {
			continue
		}
		b.topologyKey(w, t, nodes)
		b.label(w, "topologyKey", t.Key, fieldSpan(w, t.Node, "topologyKey"), t.Node.Get("topologyKey"), termBeside(all, t))
	}
	b.nodeLabels(w)
	b.nodeMatches(w, nodes)
}
