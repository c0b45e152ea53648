package derive

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// condition is one requirement on the labels of a node, with its place.
type condition struct {
	corev1.NodeSelectorRequirement
	at diag.Span
}

// conditions holds a nodeSelector, or one term of a required node affinity.
type conditions []condition

// nodeMatches adds facts about the nodes that match what values for a chart require. A chart can
// add conditions but remove none, so what matches no node never will.
func (b terms) nodeMatches(w *workload.Workload, nodes []*topology.Node) {
	if w.Within == "" || len(nodes) == 0 || len(w.Problems)+len(w.Unknown) > 0 {
		return
	}
	if k, v := w.SpecNode.Field("nodeSelector"); k != nil {
		b.nodeMatch(w, "nodeSelector", w.File().FieldSpan(k, v), []conditions{selectorConditions(w, v)}, nodes)
	}
	required := w.SpecNode.At("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
	if k, v := required.Field("nodeSelectorTerms"); k != nil {
		b.nodeMatch(w, "nodeAffinity", w.File().FieldSpan(k, v), affinityConditions(w, v), nodes)
	}
}

// nodeMatch adds a fact about alternatives. A node has to meet one of them.
func (b terms) nodeMatch(w *workload.Workload, where string, at diag.Span, all []conditions, nodes []*topology.Node) {
	if len(all) == 0 || slices.ContainsFunc(all, func(c conditions) bool { return len(c) == 0 || c.unsettled(nodes) }) {
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

// matching returns how many nodes meet all conditions.
func (c conditions) matching(nodes []*topology.Node) (n int) {
	for _, node := range nodes {
		if !slices.ContainsFunc(c, func(one condition) bool { return !model.Meets(node, one.NodeSelectorRequirement) }) {
			n++
		}
	}
	return n
}

// unmet returns the first condition that no node meets, or nil if each is met by some node.
func (c conditions) unmet(nodes []*topology.Node) *condition {
	for i := range c {
		if (conditions{c[i]}).matching(nodes) == 0 {
			return &c[i]
		}
	}
	return nil
}

// unsettled reports whether conditions name a node although the names of a pool's nodes are made
// up, or use a renamed label, which another rule reports.
func (c conditions) unsettled(nodes []*topology.Node) bool {
	pooled := slices.ContainsFunc(nodes, func(n *topology.Node) bool { return n.Pool != nil })
	return slices.ContainsFunc(c, func(one condition) bool {
		_, renamed := topology.Deprecated(one.Key)
		return renamed || pooled && (one.Key == corev1.LabelHostname || one.Key == metav1.ObjectNameField)
	})
}

// selectorConditions returns the conditions of a nodeSelector, or none if one of its labels is
// null, which removes a label of the chart.
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

// affinityConditions returns the conditions of the terms of a required node affinity.
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
