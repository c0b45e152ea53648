package facts

import (
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// fragments tells about placement fields of objects that are not judged: what the
// core API refuses in them, and which node labels they name. Nothing is said about
// pods, as an operator decides which get these fields and how many there are.
func (b *builder) fragments(set *workload.Set) {
	for _, o := range set.Foreign {
		b.settled[o.ID()] = &settled{}
	}
	nodes := b.everyNode()
	purse := b.m.SharedBudget(model.ObjectsOf(set.Fragments))
	for _, w := range set.Fragments {
		if !purse.Ask(w.Object, askFragment, func() { b.fragment(w, nodes) }) {
			b.settled[w.Object.ID()] = &settled{}
		}
	}
}

func (b *builder) fragment(w *workload.Workload, nodes []*topology.Node) {
	b.about(w)
	b.current = standing{account: func(*Explainer) diag.Account {
		return diag.Account{Notes: []string{"a controller decides which pods get these fields, so nodes cannot be checked one by one"}}
	}}
	for _, p := range w.Problems {
		b.refusal(w.String(), about(w, p.Span), p)
	}
	terms := model.FragmentTerms(w)
	b.m.Run().Spend(len(terms))
	for _, t := range terms {
		if spoiled(w, t) {
			continue
		}
		b.topologyKey(w, t, nodes)
		b.label(w, "topologyKey", t.Key, fieldSpan(w, t.Node, "topologyKey"), t.Node.Get("topologyKey"), termBeside(terms, t))
	}
	b.nodeLabels(w)
}

// everyNode is all nodes, with one of each pool that has none yet.
func (b *builder) everyNode() []*topology.Node {
	if !b.topo {
		return nil
	}
	nodes := b.m.Topology.Nodes[:len(b.m.Topology.Nodes):len(b.m.Topology.Nodes)]
	for _, g := range b.m.Topology.Growth {
		if g.Node.Pool.Count == 0 {
			nodes = append(nodes, g.Node)
		}
	}
	return nodes
}
