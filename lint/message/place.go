package message

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// EveryNamespace returns a note about a term with a namespaceSelector. The scheduler interprets
// this selector in an unexpected way.
func EveryNamespace(t *model.Term, w *workload.Workload) string {
	return fmt.Sprintf("the namespaceSelector (%s) of the %s of %s on %s matches every namespace for incoming pods: "+
		"Kubernetes v1.36 treats a selector of only NotIn and DoesNotExist that way (kubernetes/kubernetes#141526)",
		t.NamespaceText(), "required "+string(t.Use), w, t.Key)
}

// MoreSelectors states how many notes from EveryNamespace were left out.
func MoreSelectors(n int) string {
	return plural(n, "more namespaceSelector") + " with the same problem"
}

// Unheard returns a note about workloads whose pods may wait after the pods that they require have
// been placed.
func Unheard(ws []*workload.Workload) string {
	names := lists.Of(ws, (*workload.Workload).String)
	return "pods of " + namesOf(names[:min(len(names), 5)], len(names)) + " that are created before the pods they require can stay Pending for up to 5.5 minutes: " +
		"the scheduler does not retry them when a pod is placed in a namespace that only their namespaceSelector selects; list the namespace in namespaces, or create them later"
}

// ShutOut returns a note about DaemonSets whose pods may find no room on their nodes.
func ShutOut(ws []*workload.Workload) string {
	names := lists.Of(ws, (*workload.Workload).String)
	return "pods that are scheduled earlier can take the room of " + namesOf(names, len(names)) + " on a node; a PriorityClass with a higher value than theirs prevents that"
}

// Open returns a note about an open question.
func Open(what string) string { return "open: " + what }

// MoreQuestions states how many more open questions there are.
func MoreQuestions(n int) string { return plural(n, "more question") }

// UnlessGrown returns a note about a workload that may fit after pools grow.
func UnlessGrown(w *workload.Workload, why model.Reason) string {
	return fmt.Sprintf("whether all pods of %s can be scheduled %s", w, Reason(why))
}

// AssumesGrowth is a note on answers that hold once pools have grown.
const AssumesGrowth = "yes with growth assumes that the autoscaler adds a node, large enough, for each Pending pod that one of its pools can take, and that it reaches no limit of resources"

// overruns holds the text for each reason why a group of workloads is undecided.
var overruns = map[model.Cause]string{
	model.ByBudget: "could not be decided within the budget: raise --steps",
	model.BySize:   "are too many to search, and no proof applies",
	model.ByFault:  "are undecided because of an internal error: the checker rejects the result",
}

// Undecided returns a note about workloads that could not be decided together.
func Undecided(o *certificate.Overrun) string {
	names := lists.Of(o.Workloads, (*workload.Workload).String)
	if len(names) > maxNamed+1 {
		names = []string{upTo(names, maxNamed)}
	}
	return fmt.Sprintf("%s of %s (%s) %s",
		plural(o.Pods, "pod"), plural(len(o.Workloads), "workload"), strings.Join(names, ", "), entry(overruns, o.Cause))
}

// Doubt describes the hard term or the resource that makes an answer unknown.
func Doubt(q *model.Doubt) string {
	if q.Resource != "" {
		return fmt.Sprintf("whether pods of %s fit depends on %s, which no node lists", q.Workload, q.Resource)
	}
	rule := fmt.Sprintf("the required %s of %s on %s", q.Term.Use, q.Workload, q.Term.Key)
	if q.Namespace != "" {
		return fmt.Sprintf("whether %s selects pods of %s depends on the label %s of Namespace %s, which no manifest declares", rule, q.Target, q.Key, q.Namespace)
	}
	switch q.Cause() {
	case model.ByVariable:
		return fmt.Sprintf("whether %s selects pods of %s depends on the label %s, whose value contains a placeholder", rule, q.Target, q.Key)
	case model.ByFinite:
		return fmt.Sprintf("%s depends on pods of %s, which run to completion", rule, q.Target)
	case model.ByUnknown:
		return fmt.Sprintf("%s depends on pods of %s, which are not modeled: %s", rule, q.Target, Reason(q.Why))
	}
	return fmt.Sprintf("whether %s selects pods of %s depends on the label %s, whose value is set at run time", rule, q.Target, q.Key)
}

// Core describes a member of a core. The member is a term or a part of the workload. The argument
// names holds the details of a part.
func Core(a *search.Atom, names string) string {
	w := a.Workload.String() + ": "
	switch {
	case a.Term != nil && !a.Term.Declared():
		return fmt.Sprintf("%sclaim %s can be used by one pod at a time (ReadWriteOncePod)", w, a.Term.Claim)
	case a.Term != nil:
		return fmt.Sprintf("%s%s selects %s", w, Term(a.Term), a.Term.Selector())
	case a.Part == search.PartRequests:
		return w + "one pod requests " + names
	case a.Part == search.PartSlots:
		return w + "each pod uses one pod slot of its node"
	case a.Part == search.PartPorts:
		return w + "host port " + names
	case a.Part == search.PartReplicas:
		return w + plural(a.Workload.Count.N, "pod")
	}
	return w + names
}

// maxClaims is the maximum number of claims in a phrase.
const maxClaims = 3

// Volumes describes the claims that restrict a workload's pods to some nodes. The argument counted
// holds the requests for volumes that count against a limit of nodes.
func Volumes(w *workload.Workload, counted []model.Request) string {
	all := w.AllReaches()
	var parts []string
	for i := range counted {
		names := lists.Of(model.ClaimsOf(w, counted[i].Name), func(c *workload.Claim) string { return c.Name })
		parts = append(parts, fmt.Sprintf("one pod requests %s (%s %s)", Requests(counted[i:i+1]), verb(len(names), "claim", "claims"), upTo(names, maxClaims)))
	}
	for i := range all[:min(len(all), maxClaims)] {
		x := model.Exclusion{Kind: model.OtherVolume, Reach: &all[i], Requirement: all[i].Only()}
		row := ExclusionRow(&x)
		parts = append(parts, volume(&row))
	}
	if more := len(all) - maxClaims; more > 0 {
		parts = append(parts, plural(more, "more claim"))
	}
	return strings.Join(parts, ", ")
}

// Replicated states a workload's number of pods in a core. If several is set, it names the
// workload.
func Replicated(w *workload.Workload, pods int, several bool) string {
	if several {
		return w.String() + ": " + plural(pods, "pod")
	}
	return plural(pods, "pod")
}

// Exclusions lists the reasons why nodes are excluded.
func Exclusions(all []model.Exclusion) string {
	var parts []string
	for i := range all {
		parts = append(parts, Exclusion(&all[i]))
	}
	return strings.Join(parts, "; ")
}

// Requests lists the requests of one pod.
func Requests(all []model.Request) string {
	var parts []string
	for i := range all {
		parts = append(parts, amountOf(workload.Amounts(all[i].Name, all[i].Quantity)[0], all[i].Name))
	}
	return strings.Join(parts, ", ")
}

// Reasons that the place command prints for answers about changes.
const (
	StrategyRefuses   = "its evictionStrategy refuses eviction until the machine has migrated"
	DependsOnMachines = "depends on where the other machines are"
)

// KeptBy describes the device that keeps a machine from migrating.
func KeptBy(d *workload.Device) string {
	switch {
	case d.Bridge:
		return "its interface " + d.Name + " is a bridge on the pod network, which live migration does not allow"
	case d.Claim == "":
		return "its hostDisk " + d.Name + " is not shared by nodes, which live migration requires"
	}
	return fmt.Sprintf("the claim %s of its disk %s does not have the access mode ReadWriteMany, which live migration requires", d.Claim, d.Name)
}

// ManyBudgets states that no pod can be evicted because several budgets select the pods.
func ManyBudgets(n int) string {
	return fmt.Sprintf("%d PodDisruptionBudgets select its pods, so every eviction is refused", n)
}

// NoDisruptions states that a budget allows no disruptions.
func NoDisruptions(b *disruption.Budget) string {
	return fmt.Sprintf("%s allows no disruptions%s%s", b, whileSmall(b.WhileSmall, b.UpTo, len(b.Workloads)), aside(Budget(b)))
}

// ThenNoDisruptions states that a budget allows no further disruptions after a drain.
func ThenNoDisruptions(budget, demands string) string {
	return fmt.Sprintf("; then %s (%s)", NoFurtherDisruptions(budget), demands)
}

// WaitsFor returns what lost pods wait for if their volumes can be used only in the lost domain of a
// label: "node", "zone" or "region". It returns "" for "".
func WaitsFor(label string) string {
	return map[string]string{corev1.LabelHostname: "node", corev1.LabelTopologyZone: "zone", corev1.LabelTopologyRegion: "region"}[label]
}

// WaitsForVolume states what pods wait for.
func WaitsForVolume(domain string) string { return "waits for its volume's " + domain }

// Drained states how many pods stay Pending after the worst drain.
func Drained(d *disruption.Drain, pods int) string {
	leaves, pending := "leaves", max(d.Worst.Pending, d.Certain)
	switch {
	case d.Answer == diag.Sometimes:
		leaves = "can leave"
	case d.Certain > 0 && d.Certain < pending:
		leaves = fmt.Sprintf("leaves %d to", d.Certain)
	}
	return fmt.Sprintf("draining %s%s %s %d of %s Pending%s", d.Worst.Value, Like(d.Like, "node"), leaves, pending, plural(pods, "pod"), whereItRuns(d.Certain > 0, pods))
}

// Beside names the other autoscaled workloads that have another number of pods than the declared one in
// an answer about w, or returns "".
func Beside(w *workload.Workload, sizes []disruption.Sized) string {
	var others []string
	for _, s := range sizes {
		if s.Workload != w && s.Pods != s.Workload.Count.N {
			others = append(others, fmt.Sprintf("%s of %s", plural(s.Pods, "replica"), s.Workload))
		}
	}
	if len(others) == 0 {
		return ""
	}
	return "with " + strings.Join(others, " and ")
}

// AtMost states the largest number of pods that fit, or returns "" if no limit is known.
func AtMost(l *facts.Limit) string {
	if fit := Fit(l); fit != "" {
		return "at most " + fit
	}
	return ""
}

// NoTarget returns the reason why a machine cannot migrate. The named rules exclude every target
// node.
func NoTarget(rules string) string {
	return "no node can take the migration target while the machine runs: " + rules
}

// ScalesBeyond states how many pods fit at the maximum of an autoscaler.
func ScalesBeyond(fit, most int, l *facts.Limit) string {
	return fmt.Sprintf("only %d of up to %d pods fit: %s", fit, most, Limiting(l))
}

// MaxPlaces is the maximum number of nodes that Places lists. If there is only one more node, it is
// listed too, because "1 more" is no shorter.
const MaxPlaces = 6

// Placed describes where pods run, such as "2 pods of Deployment shop/a on n1, n2".
func Placed(p *facts.Placed, in *facts.Facts) string {
	return fmt.Sprintf("%s of %s on %s", plural(p.Pods, "pod"), in.Ref(p.W), Places(p.On, p.Nodes))
}

// Places lists nodes with the number of pods on each, such as "n1 (2), n2". The argument nodes is
// the total number of nodes. The list on may contain only a few of them.
func Places(on []facts.NodePods, nodes int) string {
	more := 0
	if nodes > MaxPlaces+1 {
		on, more = on[:min(MaxPlaces, len(on))], nodes-MaxPlaces
	}
	var parts []string
	for _, n := range on {
		name := n.Node
		if n.Pods > 1 {
			name += fmt.Sprintf(" (%d)", n.Pods)
		}
		parts = append(parts, name)
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// Rejected lists filters with the number of nodes that each filter rejects.
func Rejected(by []facts.FilterNodes) string {
	parts := lists.Of(by, func(f facts.FilterNodes) string {
		return fmt.Sprintf("%s rejected by %s", plural(f.Nodes, "node"), f.Filter)
	})
	return strings.Join(parts, ", ")
}
