package derive

import (
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

func (b terms) topologyKey(w *workload.Workload, t *model.Term, usable []*topology.Node) {
	if b.m.Topology.Uncertain(t.Key) {
		usable = nil
	}
	fact := facts.TopologyKey{Use: string(t.Use), Hard: t.Hard, Key: t.Key, Declared: b.topo, Usable: len(usable), Known: topology.Known(t.Key)}
	carried := b.carried(usable, t.Key)
	without := carried.without
	fact.With = carried.with
	fact.Object, fact.Fragment, fact.Values = w.String(), w.Fragment, w.Within != ""
	if w.Fragment && fact.With > 0 || !b.wanted("topology_keys", "with", fact.With, "usable", fact.Usable, "declared", fact.Declared,
		"known", fact.Known, "use", fact.Use, "hard", fact.Hard, "fragment", fact.Fragment) {
		return
	}
	s := about(w, fieldSpan(w, t.Node, "topologyKey"))
	for _, n := range without {
		fact.Without = append(fact.Without, n.Name)
		s = s.node(n, message.LacksKey(t.Key))
	}
	if fact.With == 0 && (b.topo || !fact.Known) {
		fact.Suggestion = b.suggest(t.Key)
	}
	if fact.Suggestion != "" {
		s.Fixes = append(s.Fixes, b.advisor().corrected(w, t, fact.Suggestion))
	}
	if t.Use == model.AntiAffinity && fact.With > 0 && fact.With < fact.Usable {
		s = s.fix("%s", message.LabelEveryNode(t.Key))
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.TopologyKeys = append(b.TopologyKeys, fact)
}

// carried counts the nodes that carry a label, and holds the first ones that do not.
type carried struct {
	with    int
	without []*topology.Node
}

// carriedKey identifies a list of nodes, by its address, and a label.
type carriedKey struct {
	first **topology.Node
	n     int
	key   string
}

// carried looks for a label on the usable nodes of a workload, which many workloads share.
func (b *builder) carried(usable []*topology.Node, key string) carried {
	if len(usable) == 0 {
		return carried{}
	}
	id := carriedKey{&usable[0], len(usable), key}
	c, known := b.labels[id]
	if known {
		return c
	}
	b.m.Run().Spend(len(usable))
	for _, n := range usable {
		if _, ok := n.Labels[key]; ok {
			c.with++
		} else if len(c.without) < maxRelated {
			c.without = append(c.without, n)
		}
	}
	b.labels[id] = c
	return c
}

// label adds a fact about one use of a node label key.
func (b terms) label(w *workload.Workload, where, key string, at diag.Span, value *source.Node, beside bool) {
	replacement, deprecated := topology.Deprecated(key)
	if key == "" || !b.wanted("node_labels", "deprecated", deprecated) {
		return
	}
	fact := facts.NodeLabel{Object: w.String(), Values: w.Within != "", Where: where, Key: key, Deprecated: deprecated, Replacement: replacement, Beside: beside}
	if b.Set != nil && b.Set.OpenShift && key == topology.LabelMaster {
		fact.Platform = "OpenShift"
	}
	if b.topo {
		for _, n := range b.m.Topology.Nodes {
			if _, ok := n.Labels[key]; ok && (n.Pool == nil || n.Declaration.Node.Get("labels").Get(key) != nil) {
				fact.OnNodes++
			}
		}
	}
	s := about(w, at)
	if replacement != "" {
		fix := write(w, value, replacement)
		if where == "topologyKey" {
			fix = safe(w, value, fix)
		}
		s.Fixes = []diag.Fix{fix}
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.NodeLabels = append(b.NodeLabels, fact)
}

// nodeLabels adds facts about the keys of nodeSelector and nodeAffinity.
func (b terms) nodeLabels(w *workload.Workload) {
	for k, v := range w.SpecNode.Get("nodeSelector").Fields() {
		b.label(w, "nodeSelector", k.Value, w.File().FieldSpan(k, v), k, false)
	}
	eachNodeTerm(w, func(term *source.Node, hard bool) {
		for _, e := range term.Get("matchExpressions").Items() {
			key := e.Get("key").Text()
			b.label(w, "nodeAffinity", key, fieldSpan(w, e, "key"), e.Get("key"), nodeTermBeside(w, term, hard, key))
		}
	})
}

// eachNodeTerm visits the terms of a node affinity: required, then preferred.
func eachNodeTerm(w *workload.Workload, visit func(term *source.Node, hard bool)) {
	affinity := w.SpecNode.At("affinity", "nodeAffinity")
	for _, term := range affinity.At("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms").Items() {
		visit(term, true)
	}
	for _, weighted := range affinity.Get("preferredDuringSchedulingIgnoredDuringExecution").Items() {
		visit(weighted.Get("preference"), false)
	}
}

// nodeTerms adds facts about empty terms of a node affinity (R-N6, R-N11).
func (b terms) nodeTerms(w *workload.Workload) {
	full := 0
	empty := func(term *source.Node) bool {
		return term.Get("matchExpressions").Len() == 0 && term.Get("matchFields").Len() == 0
	}
	eachNodeTerm(w, func(term *source.Node, hard bool) {
		if hard && !empty(term) {
			full++
		}
	})
	eachNodeTerm(w, func(term *source.Node, hard bool) {
		if term == nil || term.Kind != source.Map {
			return
		}
		fact := facts.NodeTerm{Hard: hard, Empty: empty(term), Others: full}
		if !b.wanted("node_terms", "empty", fact.Empty, "hard", hard) {
			return
		}
		if !hard {
			fact.Others = 0
		}
		s := about(w, w.File().ItemSpan(term))
		if fact.Empty {
			s = s.fix("%s", message.RemoveNodeTerm(hard))
		}
		fact.ID, fact.W = b.subject(s), b.row(w)
		b.NodeTerms = append(b.NodeTerms, fact)
	})
}
