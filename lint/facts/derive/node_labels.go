package derive

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

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

// carried holds the number of nodes with a label. It also holds the first few nodes without the
// label.
type carried struct {
	with    int
	without []*topology.Node
}

// carriedKey identifies a label key and a list of nodes. The list is identified by its address and
// its length.
type carriedKey struct {
	first **topology.Node
	n     int
	key   string
}

// carried counts the usable nodes with a label. It caches the result, because many workloads share
// the same usable nodes.
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
			if _, ok := n.Labels[key]; ok && (n.Pool == nil || n.Live || n.Pool.Spec.Complete || n.Declaration.Node.Get("labels").Get(key) != nil) {
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

// eachNodeTerm visits the required terms of a node affinity first, and then the preferred terms.
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

// condition is one requirement on the labels of a node, with its span.
type condition struct {
	corev1.NodeSelectorRequirement
	at diag.Span
}

// conditions holds the requirements of a nodeSelector or of one required node affinity term.
type conditions []condition

// nodeMatch adds a fact about how many nodes match. A node matches if it meets all conditions of
// one set in all.
func (b terms) nodeMatch(w *workload.Workload, where string, at diag.Span, all []conditions, nodes []*topology.Node) {
	for i, c := range all { // nodes may meet those that depend on a label that is not known
		all[i] = slices.DeleteFunc(c, func(one condition) bool { return b.m.Uncertain(one.NodeSelectorRequirement) })
	}
	if len(all) == 0 || slices.ContainsFunc(all, func(c conditions) bool { return len(c) == 0 || c.renamed() }) {
		return
	}
	fact := facts.NodeMatch{Object: w.String(), Where: where, Nodes: len(nodes)}
	for _, c := range all {
		b.m.Run().Spend(len(c) * len(nodes))
		fact.Matching += c.matching(nodes)
	}
	if !b.wanted("node_matches", "nodes", fact.Nodes, "matching", fact.Matching) {
		return
	}
	s := about(w, at)
	if c := all[0].unmet(nodes); len(all) == 1 && fact.Matching == 0 && c != nil {
		fact.Key, fact.Operator, fact.Values = c.Key, string(c.Operator), append([]string{}, c.NodeSelectorRequirement.Values...)
		s = about(w, c.at)
		onNode := func(n *topology.Node) bool { _, ok := n.Labels[c.Key]; return ok }
		if !strings.HasPrefix(c.Key, "metadata.") && !slices.ContainsFunc(nodes, onNode) {
			fact.Suggestion = b.suggest(c.Key)
		}
	}
	fact.ID, fact.W = b.subject(s), -1
	b.NodeMatches = append(b.NodeMatches, fact)
}

// matching returns the number of nodes that meet all conditions.
func (c conditions) matching(nodes []*topology.Node) (n int) {
	for _, node := range nodes {
		if !slices.ContainsFunc(c, func(one condition) bool { return !model.Meets(node, one.NodeSelectorRequirement) }) {
			n++
		}
	}
	return n
}

// unmet returns the first condition that no node meets, or nil if there is none.
func (c conditions) unmet(nodes []*topology.Node) *condition {
	for i := range c {
		if (conditions{c[i]}).matching(nodes) == 0 {
			return &c[i]
		}
	}
	return nil
}

// renamed reports whether a condition is on a deprecated label. Another rule covers it.
func (c conditions) renamed() bool {
	return slices.ContainsFunc(c, func(one condition) bool { _, is := topology.Deprecated(one.Key); return is })
}

// selectorConditions returns the conditions of a nodeSelector. It returns no conditions if a label
// is null, because null removes a label that the chart sets.
func selectorConditions(w *workload.Workload, selector *source.Node) (all conditions) {
	for k, v := range selector.Fields() {
		if v.IsNull() {
			return nil
		}
		r := corev1.NodeSelectorRequirement{Key: k.Value, Operator: corev1.NodeSelectorOpIn, Values: []string{v.Value}}
		all = append(all, condition{r, w.File().FieldSpan(k, v)})
	}
	return all
}

// affinityConditions returns the conditions of each term of a required node affinity.
func affinityConditions(w *workload.Workload, terms *source.Node) (all []conditions) {
	typed := w.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i, term := range terms.Items() {
		var c conditions
		for j, e := range term.Get("matchExpressions").Items() {
			c = append(c, condition{typed[i].MatchExpressions[j], w.File().ItemSpan(e)})
		}
		for j, e := range term.Get("matchFields").Items() {
			c = append(c, condition{typed[i].MatchFields[j], w.File().ItemSpan(e)})
		}
		all = append(all, c)
	}
	return all
}

// termBeside reports whether a term with a deprecated topology key is harmless because another term
// in the list has the new key. A soft affinity or anti-affinity term is harmless. Scores add up,
// and a term without domains adds nothing. Required anti-affinity is harmless. A label that no node
// has does not separate any pods (R-A8). Required affinity needs both labels and is therefore not
// harmless. A soft spread constraint is not harmless. It scores only nodes that have all keys
// (podtopologyspread/scoring.go, requireAllTopologies).
func termBeside(all []*model.Term, t *model.Term) bool {
	replacement, deprecated := topology.Deprecated(t.Key)
	if !deprecated || t.Use == model.Spread || t.Use == model.Affinity && t.Hard {
		return false
	}
	return slices.ContainsFunc(all, func(o *model.Term) bool {
		return o.Use == t.Use && o.Hard == t.Hard && o.Key == replacement
	})
}

// nodeTermBeside reports whether another term in the same node affinity uses the new name of a
// deprecated key. If so, the deprecated key is harmless. Required terms are alternatives, and the
// scores of preferred terms add up.
func nodeTermBeside(w *workload.Workload, term *source.Node, hard bool, key string) (found bool) {
	replacement, deprecated := topology.Deprecated(key)
	if !deprecated || replacement == "" {
		return false
	}
	eachNodeTerm(w, func(other *source.Node, otherHard bool) {
		if other == term || otherHard != hard {
			return
		}
		found = found || slices.ContainsFunc(other.Get("matchExpressions").Items(), func(e *source.Node) bool { return e.Get("key").Text() == replacement })
	})
	return found
}

// maker returns the name of a custom resource, or "". Its operator may create the pods that a
// selector is meant to match.
func (b terms) maker(w *workload.Workload, t *model.Term) string {
	if b.Set == nil || len(b.Set.Customs) == 0 {
		return ""
	}
	in := t.Namespaces
	if t.NamespaceSelector != nil {
		in = []string{""}
	} else if len(in) == 0 {
		in = []string{w.Namespace()}
	}
	values := map[string]string{}
	for _, pair := range t.Pairs() {
		values[pair[0]] = pair[1]
	}
	for _, namespace := range in {
		for _, key := range t.Keys() {
			if o := b.Set.Maker(namespace, key, values[key]); o != nil {
				return o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
			}
		}
	}
	return ""
}
