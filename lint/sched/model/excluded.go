package model

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// ExclusionKind names the condition that nodes fail.
type ExclusionKind string

// The conditions.
const (
	Cordoned ExclusionKind = "cordoned"
	// Tainted: the pods do not tolerate Taint.
	Tainted ExclusionKind = "tainted"
	// LacksLabel: the nodes lack the label Key=Want of a nodeSelector; OtherValue: they
	// have Key=Has.
	LacksLabel ExclusionKind = "lacks-label"
	OtherValue ExclusionKind = "other-value"
	// FailsExpression: Requirement is the first that fails of the only nodeSelectorTerm;
	// MatchesNoTerm: none of several nodeSelectorTerms matches; EmptyTerm: the only term is
	// empty.
	FailsExpression ExclusionKind = "fails-expression"
	MatchesNoTerm   ExclusionKind = "matches-no-term"
	EmptyTerm       ExclusionKind = "empty-term"
	// TooSmall: an empty node has too little of Resource for one pod.
	TooSmall ExclusionKind = "too-small"
	// Undeclared: spec.nodeName is NodeName, but no such node is declared; Nodes is empty.
	Undeclared ExclusionKind = "undeclared"
)

// Exclusion is one reason why nodes take no pod of a workload.
type Exclusion struct {
	Kind           ExclusionKind
	Taint          *corev1.Taint
	Key, Want, Has string
	Requirement    *corev1.NodeSelectorRequirement
	Resource       corev1.ResourceName
	NodeName       string
	Nodes          []*topology.Node
}

// exclusionKey is equal for exclusions of one workload that differ only in their nodes.
type exclusionKey struct {
	kind           ExclusionKind
	taint          corev1.Taint
	key, want, has string
	requirement    *corev1.NodeSelectorRequirement
	resource       corev1.ResourceName
}

func (x *Exclusion) id() exclusionKey {
	id := exclusionKey{kind: x.Kind, key: x.Key, want: x.Want, has: x.Has, requirement: x.Requirement, resource: x.Resource}
	if x.Taint != nil { // TimeAdded makes no difference
		id.taint = corev1.Taint{Key: x.Taint.Key, Value: x.Taint.Value, Effect: x.Taint.Effect}
	}
	return id
}

// Excluded groups the nodes that take no pod of the workload by the first
// filter that refuses them, most nodes first. Nodes that are too small for one
// pod count if small is set. A growing pool counts only while it has no node.
func (m *Model) Excluded(w *workload.Workload, small bool) []Exclusion {
	key := excludedKey{m.Groups[w].Signature, "", small}
	if small {
		key.request = m.Groups[w].Request
	}
	if all, known := m.excluded[key]; known {
		return all
	}
	e := m.Eligible(w)
	f := NewFilter(w)
	requests := m.Groups[w].Requests
	m.run.Spend((len(e.Nodes) + len(e.Growth)) * f.cost())
	var all []Exclusion
	known := map[exclusionKey]int{}
	add := func(n *topology.Node, p Passes) {
		x := Exclusion{Kind: Cordoned}
		switch {
		case !p.Name:
			return // only the node that spec.nodeName names matters
		case !p.Selector:
			x = f.ExplainSelector(n)
		case !p.Taints:
			x = f.ExplainTaint(n)
		case p.Schedulable:
			most, binds := Fits(n, requests)
			if most > 0 || !small {
				return
			}
			x = Exclusion{Kind: TooSmall, Resource: binds}
		}
		if i, seen := known[x.id()]; seen {
			all[i].Nodes = append(all[i].Nodes, n)
			return
		}
		known[x.id()] = len(all)
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
		all = append(all, Exclusion{Kind: Undeclared, NodeName: w.Spec.NodeName})
	}
	slices.SortStableFunc(all, func(a, b Exclusion) int { return cmp.Compare(len(b.Nodes), len(a.Nodes)) })
	m.excluded[key] = all
	return all
}

// excludedKey is equal for workloads that the same nodes refuse for the same
// reasons.
type excludedKey struct {
	signature, request string
	small              bool
}

// ExplainTaint returns the first taint of the node that the pods do not tolerate. The taint
// of a cordon is reported as the cordon (R-S10).
func (f *Filter) ExplainTaint(n *topology.Node) Exclusion {
	taint := f.untolerated(n)
	if n.Unschedulable && taint.Key == corev1.TaintNodeUnschedulable {
		return Exclusion{Kind: Cordoned}
	}
	return Exclusion{Kind: Tainted, Taint: taint}
}

// ExplainSelector returns the first condition on labels that the node fails.
func (f *Filter) ExplainSelector(n *topology.Node) Exclusion {
	for _, k := range SortedKeys(f.W.Spec.NodeSelector) {
		want := f.W.Spec.NodeSelector[k]
		switch has, ok := n.Labels[k]; {
		case !ok:
			return Exclusion{Kind: LacksLabel, Key: k, Want: want}
		case has != want:
			return Exclusion{Kind: OtherValue, Key: k, Want: want, Has: has}
		}
	}
	terms := f.W.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(terms) != 1 {
		return Exclusion{Kind: MatchesNoTerm}
	}
	for i, r := range terms[0].MatchExpressions {
		if !matchesExpression(n, r) {
			return Exclusion{Kind: FailsExpression, Requirement: &terms[0].MatchExpressions[i]}
		}
	}
	if fields := terms[0].MatchFields; len(fields) > 0 {
		return Exclusion{Kind: FailsExpression, Requirement: &fields[0]}
	}
	return Exclusion{Kind: EmptyTerm}
}

// Meets reports whether a node matches an expression of a node affinity, on its labels or on
// the field metadata.name.
func Meets(n *topology.Node, r corev1.NodeSelectorRequirement) bool {
	if r.Key != metav1.ObjectNameField {
		return matchesExpression(n, r)
	}
	term := corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{r}}}}
	ok, _ := nodeaffinity.NewLazyErrorNodeSelector(&term).Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name}})
	return ok
}

func matchesExpression(n *topology.Node, r corev1.NodeSelectorRequirement) bool {
	term := corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{r}}}}
	ok, _ := nodeaffinity.NewLazyErrorNodeSelector(&term).Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}})
	return ok
}
