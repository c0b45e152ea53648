package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Exclusion is one reason why nodes take no pod of a workload. One says it of
// a single node, Many of several.
type Exclusion struct {
	One, Many string
	Nodes     []*topology.Node
	// Taint is set if only this taint is in the way, Label if only a label is.
	Taint *corev1.Taint
}

// String is the reason with its nodes, as in "n1 has the untolerated taint x".
func (x *Exclusion) String() string {
	switch len(x.Nodes) {
	case 0:
		return x.One
	case 1:
		return x.Nodes[0].Name + " " + x.One
	}
	names := make([]string, 0, 3)
	for _, n := range x.Nodes[:min(3, len(x.Nodes))] {
		names = append(names, n.Name)
	}
	if len(x.Nodes) > 3 {
		names = append(names, "...")
	}
	return fmt.Sprintf("%d nodes (%s) %s", len(x.Nodes), strings.Join(names, ", "), x.Many)
}

// Excluded groups the nodes that take no pod of the workload by the first
// filter that refuses them, most nodes first. Nodes that are too small for one
// pod count if small is set. Pools that could grow speak for themselves only
// where they have no node yet.
func (m *Model) Excluded(w *workload.Workload, small bool) []Exclusion {
	key := excludedKey{m.Groups[w].Signature, "", small}
	if small {
		key.request = m.Groups[w].Request
	}
	all, known := m.excluded[key]
	if !known {
		all = excludedNodes(m, w, small)
		m.excluded[key] = all
	}
	return all
}

// excludedKey is equal for workloads that the same nodes refuse for the same
// reasons.
type excludedKey struct {
	signature, request string
	small              bool
}

func excludedNodes(m *Model, w *workload.Workload, small bool) []Exclusion {
	e := m.Eligible(w)
	f := NewFilter(w)
	requests := m.Groups[w].Requests
	m.run.Spend((len(e.Nodes) + len(e.Growth)) * f.cost())
	var all []Exclusion
	known := map[string]int{}
	add := func(n *topology.Node, p Passes) {
		if !p.Name {
			return // only the node that nodeName names has a say
		}
		x := f.explain(n, p)
		if p.All() {
			most, binds := Fits(n, requests)
			if most > 0 || !small {
				return
			}
			x = Exclusion{One: "is too small for one pod (" + string(binds) + ")", Many: "are too small for one pod (" + string(binds) + ")"}
		}
		if i, seen := known[x.One]; seen {
			all[i].Nodes = append(all[i].Nodes, n)
			return
		}
		known[x.One] = len(all)
		x.Nodes = []*topology.Node{n}
		all = append(all, x)
	}
	for i, p := range e.Nodes {
		add(m.Topology.Nodes[i], p)
	}
	for i, p := range e.Growth {
		if g := m.Topology.Growth[i]; g.Node.Pool.Count == 0 {
			add(g.Node, p)
		}
	}
	if f.Bound() && len(all) == 0 && e.Count == 0 {
		all = append(all, Exclusion{One: "nodeName refers to node " + w.Spec.NodeName + ", which is not declared"})
	}
	slices.SortStableFunc(all, func(a, b Exclusion) int { return cmp.Compare(len(b.Nodes), len(a.Nodes)) })
	return all
}

func (f *Filter) explain(n *topology.Node, p Passes) Exclusion {
	switch {
	case !p.Selector:
		return f.ExplainSelector(n)
	case !p.Taints:
		return f.ExplainTaint(n)
	case !p.Schedulable:
		return Exclusion{One: "is cordoned", Many: "are cordoned"}
	}
	return Exclusion{}
}

func (f *Filter) ExplainTaint(n *topology.Node) Exclusion {
	taint := f.untolerated(n)
	text := taint.Key
	if taint.Value != "" {
		text += "=" + taint.Value
	}
	text += ":" + string(taint.Effect)
	return Exclusion{One: "has the untolerated taint " + text, Many: "have the untolerated taint " + text, Taint: taint}
}

// ExplainSelector names the first condition on labels that the node fails.
func (f *Filter) ExplainSelector(n *topology.Node) Exclusion {
	for _, k := range SortedKeys(f.W.Spec.NodeSelector) {
		want := f.W.Spec.NodeSelector[k]
		switch has, ok := n.Labels[k]; {
		case !ok:
			return Exclusion{One: "lacks the label " + k + "=" + want, Many: "lack the label " + k + "=" + want}
		case has != want:
			return Exclusion{One: fmt.Sprintf("has %s=%s, not %s", k, has, want), Many: fmt.Sprintf("have %s=%s, not %s", k, has, want)}
		}
	}
	terms := f.W.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(terms) != 1 {
		return Exclusion{One: "matches none of the nodeSelectorTerms", Many: "match none of the nodeSelectorTerms"}
	}
	for _, r := range terms[0].MatchExpressions {
		if !matchesExpression(n, r) {
			text := expression(r)
			return Exclusion{One: "does not match " + text, Many: "do not match " + text}
		}
	}
	for _, r := range terms[0].MatchFields {
		return Exclusion{One: "does not match " + expression(r), Many: "do not match " + expression(r)}
	}
	return Exclusion{One: "cannot match an empty nodeSelectorTerm", Many: "cannot match an empty nodeSelectorTerm"}
}

func matchesExpression(n *topology.Node, r corev1.NodeSelectorRequirement) bool {
	term := corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{r}}}}
	ok, _ := nodeaffinity.NewLazyErrorNodeSelector(&term).Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}})
	return ok
}

// expression is a node selector requirement in one line.
func expression(r corev1.NodeSelectorRequirement) string {
	if len(r.Values) == 0 {
		return r.Key + " " + string(r.Operator)
	}
	return fmt.Sprintf("%s %s [%s]", r.Key, r.Operator, strings.Join(r.Values, ", "))
}
