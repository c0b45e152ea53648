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

// Cause is the kind of reason for an outcome that is unknown, or that does not follow from
// the nodes and the rules of the pods. Package message has the texts; the causes of decisions
// about workloads together are part of the JSON output of the place command.
type Cause string

// The causes of an unknown outcome of a decision.
const (
	// Waits: the pods finish, and those that do not fit beside all others at once wait
	// for room.
	Waits Cause = "waits"
	// ByLabel: a rule asks for a label whose value only the cluster knows;
	// ByVariable: for one whose value holds a placeholder.
	ByLabel    Cause = "label-value"
	ByVariable Cause = "variable"
	// ByFinite: a rule depends on pods that finish.
	ByFinite Cause = "finite-pods"
	// ByUnknown: a rule depends on declared pods about which too little is known.
	ByUnknown Cause = "unknown-pods"
	// ByResource: the pods, or others that may take their room, request a resource
	// that no node lists.
	ByResource Cause = "unlisted-resource"
	// ByGrowth: some size of the cluster refutes the verdict.
	ByGrowth Cause = "pool-growth"
	// ByBudget: the budget is used up; BySize: no proof applies, and there are too
	// many pods or nodes to try everything, or to check the result.
	ByBudget Cause = "budget"
	BySize   Cause = "size"
	// ByCrowd: too many workloads may take the room to search what they do, and counting does not
	// show that there is always enough.
	ByCrowd Cause = "crowd"
	// ByNeighbour: the pods of Workload, which takes no part, may block these.
	ByNeighbour Cause = "not-modeled"
	// ByFault: a certificate does not hold, which is a fault of the program.
	ByFault Cause = "internal"
)

// The causes for which a workload takes no part in decisions.
const (
	// ByContext: no file that declares it is certain to be deployed together with
	// the others.
	ByContext   Cause = "other-context"
	ByRejection Cause = "rejected"
	// ByScheduler: the scheduler with the given name places its pods.
	ByScheduler Cause = "other-scheduler"
	ByGates     Cause = "scheduling-gates"
	ByQueue     Cause = "queue"
	// ByField: the value of the field with the given name is unknown.
	ByField Cause = "unknown-field"
	ByCount Cause = "pod-count"
	// ByAdmission: the object with the given name may change the pods when they are created,
	// or reject them.
	ByAdmission Cause = "admission"
	// ByNamespace: the namespace of the pods, or one that a rule applies to, is a placeholder.
	ByNamespace Cause = "namespace"
	// ByNodeLabel: nodes may have the label with the given name, with any value.
	ByNodeLabel Cause = "node-label"
)

// The causes of an unknown outcome of a change.
const (
	// ByPlacement: the placement of the pods is not judged.
	ByPlacement Cause = "placement"
	// ByStrategy: the numbers of the update strategy are unknown.
	ByStrategy Cause = "strategy"
	// ByEviction: it is unknown whether the disruption budget with the given name allows an
	// eviction, because it also counts the pods of Workload or for the reason in Detail.
	// ByOtherBudget: the budget with the given name may select the pods as well.
	ByEviction    Cause = "disruption-budget"
	ByOtherBudget Cause = "other-disruption-budget"
	// ByPriority: the pods may preempt those that block them.
	ByPriority Cause = "priority"
	// ByToleration: pods tolerate the taint of lost nodes, or name their node.
	ByToleration Cause = "toleration"
	// ByTermination: evicted pods count until they have terminated.
	ByTermination Cause = "termination"
	// ByPending: not all pods fit before the loss.
	ByPending Cause = "pending-pods"
	// ByMachines: too many machines have labels of their own.
	ByMachines Cause = "machines"
	// ByLargestSize: it is unknown whether the pods fit at any size of a pool.
	// ByPoolSize: they begin to fit at the given number of nodes.
	ByLargestSize Cause = "largest-size"
	ByPoolSize    Cause = "pool-size"
)

// The causes of other outcomes of a change.
const (
	// Unplaced: the pods do not all fit before the change, so the question does not arise.
	Unplaced Cause = "unplaced"
	// NotRecreated: nothing recreates pods while the Node object exists; Bare:
	// nothing ever recreates a bare pod.
	NotRecreated Cause = "not-recreated"
	// LateRetry: all pods run again, but the scheduler may retry them only minutes later.
	LateRetry Cause = "late-retry"
	Bare      Cause = "bare"
	// ByOrder: the outcome depends on the scheduling order; ByContention: on what
	// other workloads use.
	ByOrder      Cause = "order"
	ByContention Cause = "contention"
)

// Reason is a cause with the names that it mentions. The zero Reason is no reason.
type Reason struct {
	Cause Cause
	// Name is that of the resource (ByResource), the scheduler (ByScheduler), the field
	// (ByField), the object (ByAdmission), the label (ByNodeLabel), the budget (ByEviction,
	// ByOtherBudget) or the pool (ByPoolSize), and Count the number of the pool's
	// nodes.
	Name  string
	Count int
	// Workload is the one whose pods request the resource or count for the budget, if not the
	// one in question, or the one that takes no part (ByNeighbour).
	Workload *workload.Workload
	// Detail says what is wrong with the budget.
	Detail string
	// Strategy says which number of the update strategy is unknown (ByStrategy).
	Strategy workload.Unclear
}

// Given reports whether there is a reason.
func (r Reason) Given() bool { return r.Cause != "" }
