package message

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// AddSelector is the repair of a term without a labelSelector.
const AddSelector = "add a labelSelector"

const selectOwnLabels = "select labels that the pods have"

// Set is the repair that writes another value.
func Set(value string) string { return "set " + value }

// LabelEveryNode is the repair of a topology key that only some eligible nodes have.
func LabelEveryNode(key string) string {
	return fmt.Sprintf("label every node with %s, or restrict the pods to nodes that have it", key)
}

// RemoveNodeTerm is the repair of an empty term of a node affinity.
func RemoveNodeTerm(hard bool) string {
	if hard {
		return "remove the empty term, or the whole required node affinity if every node is allowed"
	}
	return "remove the empty preference"
}

// SelectorFix is the repair of a selector that matches no declared pod.
func SelectorFix(r *facts.Selector) string {
	switch {
	case r.MatchesOwn == diag.Always && r.OwnNamespace == diag.Never:
		return "remove namespaces or add the workload's own namespace"
	case r.Nearest != "":
		return "select " + r.Nearest
	case r.Form == "null":
		return AddSelector
	case r.Form != "empty" && r.Use == "affinity":
		return "select labels of the pods to run next to"
	}
	return selectOwnLabels
}

// AddPodLabel is the repair of a key of matchLabelKeys that the pods do not have.
func AddPodLabel(key string) string {
	return fmt.Sprintf("add the label %s to the pod template, or remove the key", key)
}

// AffinityFix is the repair of a required affinity that no pod can satisfy.
func AffinityFix(r *facts.Affinity) string {
	switch r.Cause {
	case "missing-key":
		return fmt.Sprintf("label the nodes with %s, or use a key that they have", r.Key)
	case "null-selector":
		return AddSelector
	}
	return "select one label that all these pods have, or make one of the terms preferred"
}

// suppressionFixes has the repair of each problem of a suppression.
var suppressionFixes = map[accept.Problem]string{
	accept.WithoutReason: "add a reason",
	accept.Expired:       "fix the finding, or renew the suppression with a new reason and date",
	accept.Unused:        "remove it so that it does not hide the next finding of the rule",
}

// SuppressionFix is the repair of a suppression; "" if there is none.
func SuppressionFix(c *accept.Complaint) string {
	if c.Problem == accept.NamesNoRule && c.Near != "" {
		return "use " + c.Near
	}
	return suppressionFixes[c.Problem]
}

// Why an edit that would be safe elsewhere is not safe here.
const (
	WithheldRecoded     = "the file is UTF-16, and edits are written as UTF-8"
	WithheldFragment    = "the controller of the object decides what the key means here"
	WithheldValues      = "the chart, which is not at hand, decides what the key means here"
	WithheldJob         = "Job templates are not edited because existing Jobs are immutable"
	WithheldShared      = "an anchor or merge key provides it, so an edit could change other places"
	WithheldPacked      = "it is in a packed chart: unpack the chart to edit it"
	WithheldComputed    = "the chart computes it"
	WithheldNoPlainText = "it is not a plain scalar"
	WithheldUnwritten   = "its source has different text"
	WithheldElsewhere   = "it is set in another repository"
	WithheldUntried     = "it is set in a part of a GitOps pointer that --fix does not edit, such as a patch"
)

var makers = map[source.Maker]string{
	source.MadeByKustomize: "kustomize rendered the document: its source has to change",
	source.MadeByHelm:      "helm rendered the file: its template has to change",
	source.MadeByGenerator: "a comment says that the file is generated: its source has to change",
	source.MadeByCluster:   "the document is a copy out of a cluster: its source has to change",
}

// WithheldMade is the reason why an edit of a generated text is not safe; "" if its generator is
// unknown.
func WithheldMade(by source.Maker) string { return entry(makers, by) }

// Repairs of rollouts, drains, losses, migrations and autoscalers.
const (
	MismatchLabelKeys    = "add mismatchLabelKeys: [kubevirt.io/created-by] to the required anti-affinity so that a machine does not conflict with its own migration target"
	AddEligibleNode      = "add an eligible node"
	DeleteNodes          = "delete the Node objects once the nodes are confirmed down so that their pods are recreated"
	HonorUnreachable     = "set nodeTaintsPolicy: Honor so that unreachable nodes do not count as empty domains"
	SelectOrRemoveBudget = "select labels that the pods have, or remove the PodDisruptionBudget"
	OneBudgetEach        = "change the selectors so that each pod matches only one PodDisruptionBudget"
	AddNodesOrPool       = "add nodes or an autoscaled node pool"
)

// MatchLabelKeys applies an anti-affinity within one revision only.
func MatchLabelKeys(key string) string {
	return fmt.Sprintf("add matchLabelKeys: [%s] to the required anti-affinity so that it applies within one revision only", key)
}

// RemoveFirst removes an old pod before its replacement is created.
func RemoveFirst(way workload.Way) string {
	if way == workload.PerNode {
		return "set maxSurge: 0 and maxUnavailable: 1 so the old pod is removed before its replacement is created"
	}
	return "set maxUnavailable: 1 and maxSurge: 0 so an old pod is removed before its replacement is created"
}

// CountRevisions makes a constraint count the old pods.
func CountRevisions(key string) string {
	return fmt.Sprintf("remove matchLabelKeys: [%s] from the constraint so that old pods count (the new pods can then end up unevenly spread)", key)
}

// IgnoreRevisions makes a constraint count new pods only; tight means that the rollout can then get
// stuck.
func IgnoreRevisions(key string, tight bool) string {
	text := fmt.Sprintf("add matchLabelKeys: [%s] to the constraint so that old pods do not count", key)
	if tight {
		text += " (on these nodes the rollout can then get stuck because old pods still use the capacity)"
	}
	return text
}

// AfterLoss is the repair for pods that stay Pending after a loss; ruled means that a hard rule of
// the workload contributes.
func AfterLoss(ruled bool) string {
	if ruled {
		return "add nodes, run fewer pods, or make the rule preferred"
	}
	return "add nodes or run fewer pods"
}

// ForDrain is the repair for pods that stay Pending after a drain, given the rules of the workload
// about its own pods.
func ForDrain(rules []facts.Rule) string {
	switch {
	case slices.ContainsFunc(rules, func(r facts.Rule) bool { return r.Use == string(model.Affinity) }): // no other node helps
		return "make the affinity preferred"
	case len(rules) > 0:
		return AddEligibleNode + " or make the rule preferred"
	}
	return AddEligibleNode
}

// AllowDisruptions makes a budget allow a disruption; grow means that another replica does so, too.
func AllowDisruptions(b *disruption.Budget, grow bool) string {
	switch {
	case b.Unscaled != nil:
		return "do not select pods of " + b.Unscaled.String() + ", or set minAvailable to a number of pods"
	case slices.ContainsFunc(b.Workloads, func(w *workload.Workload) bool { return w.Kind.PerNode() }):
		return "set minAvailable to a smaller number of pods"
	case slices.ContainsFunc(b.Workloads, func(w *workload.Workload) bool { return !b.SelectsAllOf(w) }):
		return "select all pods of the workload and set maxUnavailable: 1"
	case grow:
		return "set maxUnavailable: 1 instead or add a replica"
	}
	return "set maxUnavailable: 1 instead"
}

// LowerMaximum lowers the maximum of an autoscaler.
func LowerMaximum(n int) string { return fmt.Sprintf("lower the maximum to %d", n) }

// AddLabelTo puts a label in the field that reaches the pods.
func AddLabelTo(field string) string { return "add the label to " + field }

// Fixes without parameters.
const (
	AcceptSkew      = "set whenUnsatisfiable: ScheduleAnyway if a larger skew is acceptable"
	HonorTaints     = "set nodeTaintsPolicy: Honor so that tainted nodes do not count as empty domains"
	LowerOneRequest = "lower one of the requests, or add a node that satisfies all of them"
	MatchNodes      = "change the rule or add nodes that match it"
	PreferOneTerm   = "make one of the required affinity terms preferred"
	RemoveHostPort  = "remove the host port and use a Service"
	RemoveNodeName  = "remove nodeName to let the scheduler choose the node"
)

// AddNodes asks for nodes that each have a topology key value of their own.
func AddNodes(n int, key string) string {
	text, value := AddEligibleNode, fmt.Sprintf(" with a new %s value", key)
	if n > 1 {
		text, value = fmt.Sprintf("add %d eligible nodes", n), fmt.Sprintf(", each with a new %s value", key)
	}
	if key == corev1.LabelHostname {
		return text
	}
	return text + value
}

// AddAnyNodes asks for a number of nodes.
func AddAnyNodes(n int) string { return "add " + plural(n, "node") }

// AddNodeWith asks for a node that has an amount of a resource.
func AddNodeWith(request string, resource corev1.ResourceName) string {
	if resource == corev1.ResourcePods {
		return "add a node that takes pods"
	}
	return fmt.Sprintf("add a node with at least %s %s", request, resource)
}

// RequestAtMost offers a request that fits the largest node, or a node that fits the request.
func RequestAtMost(largest, request string, resource corev1.ResourceName) string {
	return fmt.Sprintf("request at most %s %s, or add a node with at least %s", largest, resource, request)
}

// RequestLess is the repair for pods of one workload that together request too much of a resource.
func RequestLess(resource corev1.ResourceName) string {
	return fmt.Sprintf("request less %s or add nodes", resource)
}

// RequestLessTogether is the same repair for several workloads.
func RequestLessTogether(resource corev1.ResourceName) string {
	return fmt.Sprintf("request less %s, run fewer pods, or add nodes", resource)
}

// RequestInstead asks for the resource that was probably meant.
func RequestInstead(resource string) string { return "request " + resource }

// ListResource asks for nodes that list an extended resource.
func ListResource(resource corev1.ResourceName) string {
	return fmt.Sprintf("add %s to the allocatable resources of the nodes that provide it", resource)
}

// PreferAntiAffinity makes anti-affinity on a key preferred.
func PreferAntiAffinity(key string) string {
	return fmt.Sprintf("make the anti-affinity preferred if pods may share a %s value", key)
}

// SetMinDomains asks for another minDomains.
func SetMinDomains(n int) string { return fmt.Sprintf("set minDomains to %d", n) }

// SetNodeName asks for the node that was probably meant.
func SetNodeName(node string) string { return "set nodeName: " + node }

// LabelNodes asks for nodes with a label key.
func LabelNodes(key string) string { return "label the nodes with " + key }

// LabelNode asks for a node with the label that a rule requires.
func LabelNode(x *model.Exclusion) string {
	return fmt.Sprintf("label a node with %s, or remove the rule", Label(x))
}

// Select asks for the label that was probably meant.
func Select(label string) string { return "select " + label }

// Uncordon names the cordoned nodes.
func Uncordon(x *model.Exclusion) string {
	row := ExclusionRow(x)
	return "uncordon " + strings.Join(excludedNames(&row), ", ")
}

// AddUntainted asks for nodes without the taint of an exclusion.
func AddUntainted(x *model.Exclusion) string { return "add nodes without the taint " + untolerated(x) }

// Tolerate asks for a toleration of the taint of an exclusion.
func Tolerate(x *model.Exclusion) string {
	row := ExclusionRow(x)
	return fmt.Sprintf("tolerate the taint %s (%s)", untolerated(x), strings.Join(excludedNames(&row), ", "))
}

// TolerateWith asks for a toleration together with another number of pods, which field sets.
func TolerateWith(x *model.Exclusion, field string, n int) string {
	return fmt.Sprintf("%s and set %s to %d (with more, pods can stay Pending, or a rollout or node drain can get stuck)", Tolerate(x), field, n)
}

// untolerated returns a taint without its value, which a toleration need not name.
func untolerated(x *model.Exclusion) string { return fmt.Sprintf("%s:%s", x.Taint.Key, x.Taint.Effect) }

// SetReplicas asks for a number of pods, which field sets. At most most pods fit, and n is smaller
// if a change can get stuck with more.
func SetReplicas(field string, n, most int) string {
	text := fmt.Sprintf("set %s to %d", field, n)
	if n < most {
		text += stuckWith(most)
	}
	return text
}

// FewerReplicas asks for a smaller number of replicas, because changes can get stuck with more.
func FewerReplicas(w *workload.Workload, n, most int) string { return Replicas(w, n) + stuckWith(most) }

func stuckWith(pods int) string {
	return fmt.Sprintf(" (with %d, a rollout or node drain can get stuck)", pods)
}

// RepairStuck is a repair after which changes can get stuck.
func RepairStuck(r *search.Repair) string {
	return Repair(r) + " (a rollout or node drain can then get stuck)"
}

// Apart is a rule that keeps replicas on different nodes.
type Apart struct {
	// Soft is set for a constraint that is not enforced; the other fields apply to enforced ones.
	Soft bool
	// Honor asks for nodeTaintsPolicy: Honor. RevisionLabel, if not empty, is the label of a
	// revision for matchLabelKeys.
	Honor         bool
	RevisionLabel string
	// AntiAffinity is set if required anti-affinity works as well.
	AntiAffinity bool
}

// KeepApart asks for such a rule.
func KeepApart(a Apart) string {
	text := "add a topologySpreadConstraint on kubernetes.io/hostname with whenUnsatisfiable: "
	if a.Soft {
		return text + "ScheduleAnyway"
	}
	text += "DoNotSchedule"
	if a.Honor {
		text += ", nodeTaintsPolicy: Honor"
	}
	if a.RevisionLabel != "" {
		text += fmt.Sprintf(" and matchLabelKeys: [%s]", a.RevisionLabel)
	}
	if a.AntiAffinity {
		text += ", or required anti-affinity"
	}
	return text
}

// AndPerRevision adds to a fix that pods of different revisions must not affect each other.
func AndPerRevision(label string) string {
	return fmt.Sprintf(", and add matchLabelKeys: [%s] so that rollouts and node drains do not get stuck", label)
}

// AndSoften adds to a fix that the corrected term must not be enforced.
func AndSoften(use model.Use) string {
	soft := "make the term preferred"
	if use == model.Spread {
		soft = "set whenUnsatisfiable: ScheduleAnyway"
	}
	return ", and " + soft + " so that it does not block rollouts or node drains"
}

// Repair describes the change that allows the pods to be placed.
func Repair(r *search.Repair) string {
	switch {
	case r.Replicas > 0:
		return Replicas(r.Workload, r.Replicas)
	case r.Nodes > 0:
		return MoreNodes(r.Nodes, r.Like.Name)
	case r.Key != "":
		t := r.Atoms[0].Term
		return fmt.Sprintf("set topologyKey: %s for the %s of %s on %s", r.Key, t.Use, r.Workload, t.Key)
	}
	var steps []string
	for i, a := range r.Atoms {
		steps = append(steps, giveUp(a, r.Opens[i]))
	}
	return strings.Join(steps, ", and ")
}

// Replicas asks for a number of replicas.
func Replicas(w *workload.Workload, n int) string {
	return fmt.Sprintf("set replicas of %s to %d", w, n)
}

// MoreNodes asks for nodes that are equivalent to a given one.
func MoreNodes(n int, like string) string {
	return fmt.Sprintf("add %s like %s", plural(n, "more node"), like)
}

// giveUp describes how to give up a member of a core.
func giveUp(a search.Atom, opens *model.Exclusion) string {
	switch {
	case a.Term != nil && a.Term.Use == model.Spread:
		return fmt.Sprintf("set whenUnsatisfiable: ScheduleAnyway for the spread of %s on %s", a.Workload, a.Term.Key)
	case a.Term != nil:
		return fmt.Sprintf("make the %s of %s on %s preferred", a.Term.Use, a.Workload, a.Term.Key)
	}
	if words := openings[a.Part]; words != nil && opens != nil {
		return words(a.Workload, opens)
	}
	if words := givenUp[a.Part]; words != "" {
		return fmt.Sprintf(words, a.Workload)
	}
	return string(a.Part)
}

// givenUp has a format of the workload for each part.
var givenUp = map[search.Part]string{
	search.PartSelector: "label nodes to match the node selector or node affinity of %s, or relax it",
	search.PartTaints:   "tolerate the taints that exclude %s, or remove them",
	search.PartRequests: "lower the requests of %s",
	search.PartSlots:    "raise the pod limit of the nodes that %s can use",
	search.PartPorts:    "remove the host ports of %s",
	search.PartReplicas: "run %s elsewhere",
}

// openings describe how to give up a part, with the nodes that become eligible.
var openings = map[search.Part]func(*workload.Workload, *model.Exclusion) string{
	search.PartSelector: func(w *workload.Workload, x *model.Exclusion) string {
		return fmt.Sprintf("label %s with %s, or relax the node selector of %s", few(x), Label(x), w)
	},
	search.PartTaints: func(w *workload.Workload, x *model.Exclusion) string {
		return fmt.Sprintf("tolerate the taint %s:%s of %s in %s, or remove it", x.Taint.Key, x.Taint.Effect, few(x), w)
	},
}

// few names some of the nodes of an exclusion.
func few(x *model.Exclusion) string {
	var names []string
	for _, n := range x.Nodes[:min(maxNodes, len(x.Nodes))] {
		names = append(names, n.Name)
	}
	text := strings.Join(names, ", ")
	if more := len(x.Nodes) - maxNodes; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Term names a required term by its use and its key.
func Term(t *model.Term) string {
	return strings.TrimSpace(fmt.Sprintf("required %s on %s", t.Use, t.Key))
}
