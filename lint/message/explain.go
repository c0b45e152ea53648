package message

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Reasons why no nodes are checked.
const (
	NoWorkload       = "no workload could be read here, so nodes cannot be checked one by one"
	NoNodes          = "no nodes are declared (--topology FILE), so schedlint cannot tell which node takes a pod"
	NoPods           = "it creates no pods, so no node is checked"
	NoSelectedPods   = "it selects no pods of declared workloads, so no node is checked"
	NotRecreated     = "pods are not recreated while the Node object exists, so no node is checked"
	ByController     = "a controller decides which pods get these fields, so nodes cannot be checked one by one"
	ByChart          = "a chart that is not at hand decides which pods get these fields, so nodes cannot be checked one by one"
	NeverScheduled   = "the API server rejects it, so it is never scheduled"
	ExplainFailed    = "undecided because of an internal error"
	ExplainAbandoned = "step budget exceeded before the nodes were checked; raise --steps"
)

// Notes shown with a node table.
const (
	CountsOnce     = "an identical declaration of this object counts once"
	Replaced       = "a later declaration of this object replaces it"
	OnlyAtCount    = "pods are placed on the nodes at count; nodes that pools can add are listed below them"
	EachByItself   = "the number of pods is unknown or they already run, so each node is checked by itself"
	FitAlone       = "all pods fit if no other workload uses the nodes"
	NotShown       = "every pod finds a node in the placement that was examined; in other placements some do not, and those are not shown"
	NothingBlocks  = "every new pod finds a node: no filter blocks the rollout"
	NoOldPods      = "no old pod runs on the nodes at count, so the update is not shown"
	TooManyLabels  = "too many machines have labels of their own to show one that migrates"
	EvictionFirst  = "no filter is involved: the eviction is refused before scheduling"
	RolloutTried   = "each was tried on the declared nodes: the rollout then completes in every run"
	MigrationTried = "each was tried on the declared nodes: any machine can then migrate"
)

// UnknownBecause states why it is unknown which nodes can run a pod.
func UnknownBecause(reason string) string { return "unknown: " + reason }

// IgnoredResource returns a note for a table that ignores the requests for a resource.
func IgnoredResource(name corev1.ResourceName) string {
	return fmt.Sprintf("no node lists %s, so it is unknown whether a node has it; this table ignores it", name)
}

// OtherPending returns a note for a table that disagrees with the finding about the number of
// Pending pods.
func OtherPending(shown, found int) string {
	return fmt.Sprintf("the number of Pending pods depends on where the others run: %d in the placement shown, %d in the finding", shown, found)
}

// AllScheduled states that all pods of the workload can be scheduled after the repairs.
func AllScheduled(w *workload.Workload) string {
	return fmt.Sprintf("all pods of %s can be scheduled if nothing else conflicts; repairs that change a number or a rule were also tried with rollouts and drains", w)
}

// AnyPod returns the caption of a table with the filter results for any pod of a workload.
func AnyPod(w *workload.Workload) string { return fmt.Sprintf("filter results for a pod of %s", w) }

// EmptyNodes returns the caption of a table with the filter results for a pod on empty nodes. The
// argument all is the number of nodes. The argument some is the number of nodes that pass the
// node-level filters.
func EmptyNodes(w *workload.Workload, some, all int) string {
	return fmt.Sprintf("%d of %s %s the filters on node name, taints and labels; %s, ignoring other pods",
		some, plural(all, "node"), verb(some, "passes", "pass"), AnyPod(w))
}

// NextPod returns the caption of a table with the filter results for the first pod that fits on no
// node.
func NextPod(w *workload.Workload, placed, missing int) string {
	switch {
	case w.Kind.PerNode():
		return fmt.Sprintf("%s has %s running and %d missing; filter results of each node for its pod", w, plural(placed, "pod"), missing)
	case missing == 1 && placed == 0:
		return fmt.Sprintf("filter results for the only pod of %s", w)
	case placed == 0:
		return fmt.Sprintf("filter results for the first of %s of %s", plural(missing, "pod"), w)
	}
	return fmt.Sprintf("%d of %s of %s are scheduled; filter results for the next one", placed, plural(placed+missing, "pod"), w)
}

// NextPodAlone is like NextPod, for a workload without other workloads on the nodes.
func NextPodAlone(w *workload.Workload, placed, missing int) string {
	caption := NextPod(w, placed, missing)
	if placed > 0 {
		return "without other workloads, " + caption
	}
	return caption
}

// NextPodAtMaximum is like NextPod for a workload at the maximum of its autoscaler.
func NextPodAtMaximum(w *workload.Workload, placed, missing int) string {
	return "at the maximum of the autoscaler: " + NextPod(w, placed, missing)
}

// NextPodAfter is like NextPod. It also lists the pods that are scheduled first.
func NextPodAfter(w *workload.Workload, placed []string) string {
	before := "nothing else scheduled"
	if len(placed) > 0 {
		before = strings.Join(placed, ", ") + " scheduled first"
	}
	return fmt.Sprintf("%s; filter results for the next pod of %s", before, w)
}

// NextNewPod returns the caption of a table about a rollout.
func NextNewPod(w *workload.Workload, old, fresh int) string {
	running := plural(old, "old pod")
	if fresh > 0 {
		running += " and " + plural(fresh, "new pod")
	}
	return fmt.Sprintf("%s during a rollout, with %s running; filter results for the next new pod", w, running)
}

// TargetPod returns the caption of a table about a migration.
func TargetPod(w *workload.Workload, machines int) string {
	return fmt.Sprintf("%s while one of %s migrates; filter results for its target pod", w, plural(machines, "machine"))
}

// ReplacementPod returns the caption of a table about the state after nodes are lost.
func ReplacementPod(w *workload.Workload, l *certificate.Loss, missing int) string {
	return fmt.Sprintf("%s %s, with %s missing; filter results for the next one", w, afterLoss(l), plural(missing, "pod"))
}

// maxLost is the maximum number of lost nodes in a caption.
const maxLost = 6

// afterLosses maps each kind of loss to a format. The format argument is the list of node names.
var afterLosses = map[certificate.Meaning]string{
	certificate.Drained:     "after a drain of %s",
	certificate.Gone:        "after the loss of %s",
	certificate.Unreachable: "while %s is unreachable",
}

func afterLoss(l *certificate.Loss) string {
	return fmt.Sprintf(entry(afterLosses, l.Meaning), upTo(slices.Sorted(maps.Keys(l.Nodes)), maxLost))
}

// Table names for the pods of a revision and for machines.

// OldRevision returns the name for the pods that a rollout replaces.
func OldRevision(w *workload.Workload) string { return "the old revision of " + w.String() }

// NewRevision returns the name for the pods that a rollout creates.
func NewRevision(w *workload.Workload) string { return "the new revision of " + w.String() }

// Migrating is the name for the machine that migrates.
const Migrating = "the machine that migrates"

// PoolGrowth returns the name for the nodes that a pool can add.
func PoolGrowth(g topology.Growth) string {
	text := fmt.Sprintf("up to %d more of pool %s", g.Extra, g.Node.Pool.Name)
	if zone := g.Node.Labels[corev1.LabelTopologyZone]; zone != "" {
		text += " in zone " + zone
	}
	return text
}

// Outlook describes whether a node can run a pod, without the name of the node.
func Outlook(o *check.NodeAnswer) string {
	switch {
	case o.Has:
		return "has its pod"
	case len(o.Refusals) == 0:
		return "can take a pod"
	}
	text := Refusal(&o.Refusals[0])
	for i := range o.Refusals[1:] {
		r := &o.Refusals[i+1]
		text += fmt.Sprintf("; %s as well: %s", r.By, Refusal(r))
	}
	return text
}
