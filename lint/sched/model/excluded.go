package model

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// ExclusionKind identifies a condition that nodes fail.
type ExclusionKind string

// The conditions that a node can fail.
const (
	Cordoned ExclusionKind = "cordoned"
	// Tainted means that the pods do not tolerate Taint.
	Tainted ExclusionKind = "tainted"
	// LacksLabel means that the nodes lack the label Key=Want, which a nodeSelector requires.
	// OtherValue means that the nodes have the label Key=Has instead.
	LacksLabel ExclusionKind = "lacks-label"
	OtherValue ExclusionKind = "other-value"
	// UnsetLabel means that no NodePool of Karpenter sets the label Key, which the pods require.
	UnsetLabel ExclusionKind = "unset-label"
	// FailsExpression is for a single nodeSelectorTerm. Requirement is its first requirement that
	// the nodes fail. MatchesNoTerm means that none of several nodeSelectorTerms matches. EmptyTerm
	// means that the only nodeSelectorTerm is empty.
	FailsExpression ExclusionKind = "fails-expression"
	MatchesNoTerm   ExclusionKind = "matches-no-term"
	EmptyTerm       ExclusionKind = "empty-term"
	// TooSmall means that an empty node has too little of Resource for one pod.
	TooSmall ExclusionKind = "too-small"
	// OtherVolume means that the volume of a claim cannot be used on the nodes. Reach is that claim.
	// Requirement is the condition that the nodes fail, or nil if there are several.
	OtherVolume ExclusionKind = "other-volume"
	// Undeclared means that no node with the name in spec.nodeName is declared. NodeName is that
	// name, and Nodes is empty.
	Undeclared ExclusionKind = "undeclared"
)

// Exclusion is one reason why certain nodes reject a workload's pods.
type Exclusion struct {
	Kind           ExclusionKind
	Taint          *corev1.Taint
	Key, Want, Has string
	Requirement    *corev1.NodeSelectorRequirement
	Resource       corev1.ResourceName
	NodeName       string
	Reach          *workload.Reach
	Nodes          []*topology.Node
	// NodePools is set if the nodes are samples of those that Karpenter may add.
	NodePools bool
}

// Cordon reports whether the nodes are cordoned. Some dumps have only the taint.
func (x *Exclusion) Cordon() bool {
	return x.Kind == Cordoned || x.Taint != nil && x.Taint.Key == corev1.TaintNodeUnschedulable
}

// Tolerable reports whether it makes sense to tolerate a taint of the nodes. Pods should not tolerate
// that a node is out of service.
func (x *Exclusion) Tolerable() bool { return x.Taint != nil && !topology.NotInService(x.Taint.Key) }

// exclusionKey identifies an Exclusion regardless of its nodes.
type exclusionKey struct {
	kind           ExclusionKind
	taint          corev1.Taint
	key, want, has string
	requirement    *corev1.NodeSelectorRequirement
	resource       corev1.ResourceName
	reach          *workload.Reach
	nodePools      bool
}

func (x *Exclusion) id() exclusionKey {
	id := exclusionKey{kind: x.Kind, key: x.Key, want: x.Want, has: x.Has, requirement: x.Requirement, resource: x.Resource, reach: x.Reach, nodePools: x.NodePools}
	if x.Taint != nil { // TimeAdded makes no difference
		id.taint = corev1.Taint{Key: x.Taint.Key, Value: x.Taint.Value, Effect: x.Taint.Effect}
	}
	return id
}

// Excluded returns the nodes that reject the workload's pods, grouped by reason. The reason is the
// first filter that the pods fail. Larger groups come first. If small is set, nodes that are too
// small for one pod are included. A growing pool is included only if it has no node yet.
func (m *Model) Excluded(w *workload.Workload, small bool) []Exclusion {
	key := excludedKey{m.Groups[w].Signature, "", small}
	if small {
		key.request = m.Groups[w].Request
	}
	if all, known := m.excluded[key]; known {
		return all
	}
	e := m.Eligible(w)
	f := NewFilter(m.certain(w))
	requests := m.Groups[w].Requests
	m.run.Spend((len(e.Nodes) + len(e.Growth)) * f.cost())
	var all []Exclusion
	known := map[exclusionKey]int{}
	add := func(n *topology.Node, p Passes) {
		x := Exclusion{Kind: Cordoned}
		if !p.Selector || !p.Volume || !p.Zone { // perhaps for labels that are not known
			p = f.Passes(n)
		}
		switch {
		case !p.Name:
			return // only the node named by spec.nodeName matters
		case !p.Selector:
			x = f.ExplainSelector(n)
		case !p.Taints:
			x = f.ExplainTaint(n)
		case !p.Schedulable:
		case !p.Volume || !p.Zone:
			x = f.ExplainVolume(n)
		default:
			most, binds := Fits(n, requests)
			if most > 0 || !small {
				return
			}
			x = Exclusion{Kind: TooSmall, Resource: binds}
		}
		x.NodePools = n.Sample()
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
	for i := range all {
		m.unset(&all[i])
	}
	if f.Bound() && len(all) == 0 && e.Count == 0 {
		all = append(all, Exclusion{Kind: Undeclared, NodeName: w.Spec.NodeName})
	}
	sorting.Stable(all, func(a, b Exclusion) int { return cmp.Compare(len(b.Nodes), len(a.Nodes)) })
	m.excluded[key] = all
	return all
}

// unset changes an exclusion if nodes lack a label that no NodePool sets.
func (m *Model) unset(x *Exclusion) {
	key := x.Key
	if r := x.Requirement; r != nil && x.Kind == FailsExpression && r.Operator != corev1.NodeSelectorOpDoesNotExist {
		key = r.Key
	}
	sets := func(n *topology.Node) bool {
		_, has := n.Labels[key]
		return has && n.Labels[topology.NodePool] != "" && !(x.Kind == LacksLabel && n.Made(key))
	}
	if key != "" && x.NodePools && (x.Kind == LacksLabel || x.Kind == FailsExpression) && !slices.ContainsFunc(m.Topology.All(), sets) {
		x.Kind, x.Key = UnsetLabel, key
	}
}

// excludedKey is the cache key for Excluded. Workloads with equal keys have equal exclusions.
type excludedKey struct {
	signature, request string
	small              bool
}

// ExplainTaint returns an exclusion for the first taint on the node that the pods do not tolerate.
// Its kind is Cordoned if that taint comes from cordoning the node (R-S10).
func (f *Filter) ExplainTaint(n *topology.Node) Exclusion {
	taint := f.untolerated(n)
	if n.Unschedulable && taint.Key == corev1.TaintNodeUnschedulable {
		return Exclusion{Kind: Cordoned}
	}
	return Exclusion{Kind: Tainted, Taint: taint}
}

// ExplainSelector returns an exclusion for the first selector or affinity condition that the node
// fails.
func (f *Filter) ExplainSelector(n *topology.Node) Exclusion {
	for _, k := range SortedKeys(f.W.Spec.NodeSelector) {
		want := f.W.Spec.NodeSelector[k]
		switch has, ok := n.Labels[k]; {
		case !ok, has != want && n.Made(k):
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

// Meets reports whether a node matches a node affinity expression. The expression's key is a label
// key or metadata.name.
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

// Cause is the reason why an outcome is unknown, or what the outcome depends on. Package message
// has a sentence for each cause. The place command prints causes in its JSON output.
type Cause string

// The causes of an unknown decision.
const (
	// Waits means that the pods run to completion and may first have to wait for room.
	Waits Cause = "waits"
	// ByLabel means that a rule depends on a label whose value only the cluster knows. ByVariable
	// means that a rule depends on a label whose value contains a placeholder.
	ByLabel    Cause = "label-value"
	ByVariable Cause = "variable"
	// ByFinite means that a rule depends on pods that finish.
	ByFinite Cause = "finite-pods"
	// ByUnknown means that a rule depends on declared pods about which too little is known.
	ByUnknown Cause = "unknown-pods"
	// ByResource means that no node lists a resource that the pods request, or that other pods on
	// the same nodes request.
	ByResource Cause = "unlisted-resource"
	// ByGrowth means that the verdict may not hold at every size that the cluster can grow to.
	ByGrowth Cause = "pool-growth"
	// ByScale means that the verdict may not hold at every number of pods that autoscalers may choose.
	ByScale Cause = "autoscaler"
	// ByBudget means that the step budget ran out. BySize means that there are too many pods or
	// nodes for a search or a check.
	ByBudget Cause = "budget"
	BySize   Cause = "size"
	// ByCrowd means that too many workloads compete for the same room to search all placements.
	// Counting the requests does not show that there is enough room for all of them.
	ByCrowd Cause = "crowd"
	// ByNeighbour means that the pods of Workload may block the pods in question. Workload takes no
	// part in decisions.
	ByNeighbour Cause = "not-modeled"
	// ByFault means that a certificate does not hold, which is a bug in schedlint.
	ByFault Cause = "internal"
)

// The causes that exclude a workload from decisions.
const (
	// ByContext means that it is not certain that the workload is deployed together with the
	// others.
	ByContext   Cause = "other-context"
	ByRejection Cause = "rejected"
	// ByScheduler means that the scheduler Name, which schedlint does not model, places the pods.
	ByScheduler Cause = "other-scheduler"
	ByGates     Cause = "scheduling-gates"
	ByQueue     Cause = "queue"
	// ByField means that the value of the field Name is unknown.
	ByField Cause = "unknown-field"
	ByCount Cause = "pod-count"
	// ByAdmission means that the object Name may change the pods or reject them when they are
	// created.
	ByAdmission Cause = "admission"
	// ByOperator means that the operator Name may add to the pods.
	ByOperator Cause = "operator"
	// ByClass means that the answer depends on where the volumes of the StorageClass Name can be used,
	// which is not known.
	ByClass Cause = "storage-class"
	// ByVolume means that it is unknown which nodes can use the volumes of the pods. Name names an
	// object or says what is not known.
	ByVolume Cause = "volume"
	// BySystem means that the kubelet of the node Name refuses the pods, because spec.os names another
	// operating system than the node has.
	BySystem Cause = "operating-system"
	// ByNamespace means that the namespace of the pods or of a rule is a placeholder.
	ByNamespace Cause = "namespace"
	// ByNodeLabel means that nodes may have the label Name with any value.
	ByNodeLabel Cause = "node-label"
)

// The causes of an unknown answer about a change.
const (
	// ByPlacement means that it is unknown whether the pods can be placed.
	ByPlacement Cause = "placement"
	// ByStrategy means that the update strategy contains unknown numbers.
	ByStrategy Cause = "strategy"
	// ByEviction means that it is unknown whether the disruption budget Name allows an eviction.
	// Detail gives the reason. If Detail is empty, the budget also counts the pods of Workload.
	// ByOtherBudget means that the budget Name may or may not select the pods.
	ByEviction    Cause = "disruption-budget"
	ByOtherBudget Cause = "other-disruption-budget"
	// ByQuota means that the ResourceQuota Name allows only Count pods.
	ByQuota Cause = "quota"
	// ByPriority means that the pods may preempt the pods that block them.
	ByPriority Cause = "priority"
	// ByPreemption means that other pods may preempt the pods.
	ByPreemption Cause = "preemption"
	// ByToleration means that the pods tolerate the taint on the lost nodes. It also stands for
	// pods whose manifests name a node.
	ByToleration Cause = "toleration"
	// ByCordon is ByToleration for the taint on a cordoned node.
	ByCordon Cause = "cordon"
	// ByTermination means that rules still count evicted pods while they terminate.
	ByTermination Cause = "termination"
	// ByPending means that not all pods can be placed before the loss.
	ByPending Cause = "pending-pods"
	// ByMachines means that too many virtual machines have labels of their own.
	ByMachines Cause = "machines"
	// ByLargestSize means that it is unknown whether the pods fit at any pool size. ByPoolSize
	// means that the pods fit if the pool has at least Count nodes.
	ByLargestSize Cause = "largest-size"
	ByPoolSize    Cause = "pool-size"
)

// The causes of other answers about a change.
const (
	// Unplaced means that the pods cannot all be placed before the change.
	Unplaced Cause = "unplaced"
	// NotRecreated means that nothing recreates the pods while the Node object exists. Bare means
	// that the pods have no controller, so nothing ever recreates them.
	NotRecreated Cause = "not-recreated"
	// NotEvicted means that the pods tolerate the taint of an unreachable node, so they stay there.
	NotEvicted Cause = "not-evicted"
	// Hangs means that new pods are bound but cannot start, because the volume of the claim Name stays
	// attached to an unreachable node.
	Hangs Cause = "hangs"
	// LateRetry means that all pods run again, possibly minutes later. The scheduler may not retry
	// them sooner.
	LateRetry Cause = "late-retry"
	Bare      Cause = "bare"
	// Returns means that evicted pods tolerate the taint on a cordoned node, and may return to it.
	Returns Cause = "returns"
	// ByOrder means that the outcome depends on the scheduling order. ByContention means that it
	// depends on the resources that other workloads use.
	ByOrder      Cause = "order"
	ByContention Cause = "contention"
	// ByItself means that only the pods of the workload are in question.
	ByItself Cause = "itself"
)

// Reason is a cause and the details for its message. The zero value means that there is no reason.
type Reason struct {
	Cause Cause
	// Name is the resource (ByResource), scheduler (ByScheduler), field (ByField), object
	// (ByAdmission), label (ByNodeLabel), budget (ByEviction, ByOtherBudget) or pool (ByPoolSize)
	// that the cause refers to. Count is the number of nodes that the pool must have (ByPoolSize), or
	// of further nodes with which the answer is yes (ByBudget, BySize, ByCrowd).
	Name  string
	Count int
	// Workload is another workload whose pods request the resource or count for the budget. For
	// ByNeighbour, it is the workload that takes no part in decisions. It may be nil.
	Workload *workload.Workload
	// Detail describes the problem with the budget, or says where the further nodes are.
	Detail string
	// Strategy identifies the unknown number in the update strategy (ByStrategy).
	Strategy workload.Unclear
}

// Given reports whether there is a reason.
func (r Reason) Given() bool { return r.Cause != "" }
