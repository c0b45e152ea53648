package message

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// AddSelector is the repair for a term without a labelSelector.
const AddSelector = "add a labelSelector"

const selectOwnLabels = "select labels that the pods have"

// Set returns the repair that sets a field to the given value.
func Set(value string) string { return "set " + value }

// LabelEveryNode returns the repair for a topology key that only some eligible nodes have.
func LabelEveryNode(key string) string {
	return fmt.Sprintf("label every node with %s, or restrict the pods to nodes that have it", key)
}

// RemoveNodeTerm returns the repair for an empty node affinity term.
func RemoveNodeTerm(hard bool) string {
	if hard {
		return "remove the empty term, or the whole required node affinity if every node is allowed"
	}
	return "remove the empty preference"
}

// SelectorFix returns the repair for a selector that matches no declared pod.
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

// AddPodLabel returns the repair for a matchLabelKeys key without a pod label of this name.
func AddPodLabel(key string) string {
	return fmt.Sprintf("add the label %s to the pod template, or remove the key", key)
}

// AffinityFix returns the repair for a required affinity that no pod can satisfy.
func AffinityFix(r *facts.Affinity) string {
	switch r.Cause {
	case "missing-key":
		return fmt.Sprintf("label the nodes with %s, or use a key that they have", r.Key)
	case "null-selector":
		return AddSelector
	}
	return "select one label that all these pods have, or make one of the terms preferred"
}

// suppressionFixes maps each suppression problem to its repair.
var suppressionFixes = map[accept.Problem]string{
	accept.WithoutReason: "add a reason",
	accept.Expired:       "fix the finding, or renew the suppression with a new reason and date",
	accept.Unused:        "remove it so that it does not hide the next finding of the rule",
}

// SuppressionFix returns the repair for a suppression, or "".
func SuppressionFix(c *accept.Complaint) string {
	if c.Problem == accept.NamesNoRule && c.Near != "" {
		return "use " + c.Near
	}
	if c.Problem == accept.Unused && c.Rule == "" {
		return "remove the entry, or correct its pattern: schedlint inputs lists what is not rendered"
	}
	return suppressionFixes[c.Problem]
}

// Reasons why an edit is not safe. Edits of this kind are normally safe.
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

// WithheldMade returns the reason why an edit in generated text is not safe. It returns "" if by is
// "", which means that the text is not known to be generated.
func WithheldMade(by source.Maker) string { return entry(makers, by) }

// Repairs for rollouts, drains, losses, migrations and autoscalers.
const (
	MismatchLabelKeys    = "add mismatchLabelKeys: [kubevirt.io/created-by] to the required anti-affinity so that a machine does not conflict with its own migration target"
	RaiseQuota           = "raise the quota so that it allows the pods of an update, too"
	RaiseQuotaToScale    = "raise the quota so that it allows the maximum"
	AddEligibleNode      = "add an eligible node"
	DetachVolumes        = "delete the Node objects once the nodes are confirmed down, or add the taint node.kubernetes.io/out-of-service to them, so that their volumes are detached"
	DeleteNodes          = "delete the Node objects once the nodes are confirmed down so that their pods are recreated"
	HonorUnreachable     = "set nodeTaintsPolicy: Honor so that unreachable nodes do not count as empty domains"
	NoCordonToleration   = "tolerate the taints that the pods need by their keys, without node.kubernetes.io/unschedulable"
	OneAutoscaler        = "delete all of these autoscalers but one"
	SelectOrRemoveBudget = "select labels that the pods have, or remove the PodDisruptionBudget"
	OneBudgetEach        = "change the selectors so that each pod matches only one PodDisruptionBudget"
	AddNodesOrPool       = "add nodes or an autoscaled node pool"
)

// MatchLabelKeys returns the repair that limits a required anti-affinity to pods of the same
// revision.
func MatchLabelKeys(key string) string {
	return fmt.Sprintf("add matchLabelKeys: [%s] to the required anti-affinity so that it applies within one revision only", key)
}

// RemoveFirst returns the repair that makes a rollout remove an old pod before it creates the
// replacement.
func RemoveFirst(way workload.Way) string {
	if way == workload.PerNode {
		return "set maxSurge: 0 and maxUnavailable: 1 so the old pod is removed before its replacement is created"
	}
	return "set maxUnavailable: 1 and maxSurge: 0 so an old pod is removed before its replacement is created"
}

// AttachmentFixes returns the repairs for pods whose claim is attached to one node at a time.
func AttachmentFixes(r *facts.Attachment, w *workload.Workload) []string {
	var all []string
	switch {
	case r.Cause == "rollout" || r.Cause == "deadlock":
		if w.Kind.Kind == "Deployment" {
			all = append(all, "set strategy: {type: Recreate} so that the old pod is gone before the new one starts")
		}
		if way := w.Rollout(r.Pods).Way; way == workload.Rolling {
			all = append(all, RemoveFirst(way))
		}
	case r.Cause == "once" && w.Kind.PerNode():
		return []string{"use the access mode ReadWriteMany if the StorageClass supports it"}
	case len(r.Others) > 0:
		if r.Cause == "pods" {
			all = append(all, "add required pod affinity on kubernetes.io/hostname so that the pods share a node")
		}
	case r.Cause != "per-node" && w.Kind.Kind == "StatefulSet":
		all = append(all, "use volumeClaimTemplates so that each pod has a volume of its own")
	case r.Cause != "per-node":
		all = append(all, "use a StatefulSet with volumeClaimTemplates so that each pod has a volume of its own")
	}
	return append(all, "use the access mode ReadWriteMany if the StorageClass supports it")
}

// CountRevisions returns the repair that makes a spread constraint count the old pods too.
func CountRevisions(key string) string {
	return fmt.Sprintf("remove matchLabelKeys: [%s] from the constraint so that old pods count (the new pods can then end up unevenly spread)", key)
}

// OtherRevisions returns the repair of an affinity on a topology key that can only select the workload's own pods.
func OtherRevisions(key, topologyKey string) string {
	return fmt.Sprintf("remove %s from matchLabelKeys of the affinity on %s: pods of other workloads never have its value", key, topologyKey)
}

// IgnoreRevisions returns the repair that makes a spread constraint count only new pods. If tight
// is set, the text warns that the rollout can then get stuck.
func IgnoreRevisions(key string, tight bool) string {
	text := fmt.Sprintf("add matchLabelKeys: [%s] to the constraint so that old pods do not count", key)
	if tight {
		text += " (on these nodes the rollout can then get stuck because old pods still use the capacity)"
	}
	return text
}

// AfterLoss returns the repair for pods that stay Pending after a loss. If ruled is set, a hard
// rule of the workload contributes to the problem.
func AfterLoss(ruled bool) string {
	if ruled {
		return "add nodes, make the rule preferred, or run fewer pods"
	}
	return "add nodes or run fewer pods"
}

// ForDrain returns the repair for pods that stay Pending after a drain. The argument rules holds
// the workload's rules about its own pods. The domain is the one that the pods' volumes are in, such as zone a,
// or "".
func ForDrain(rules []facts.Rule, domain string) string {
	add := AddEligibleNode
	if domain != "" {
		add += " in " + domain
	}
	switch {
	case slices.ContainsFunc(rules, func(r facts.Rule) bool { return r.Use == string(model.Affinity) }): // another node does not help
		return "make the affinity preferred"
	case len(rules) > 0:
		return add + " or make the rule preferred"
	}
	return add
}

// AllowDisruptions returns the repair that makes a budget allow a disruption. If grow is set, the
// text also suggests another replica.
func AllowDisruptions(b *disruption.Budget, grow bool) string {
	switch {
	case b.Unscaled != nil:
		return "do not select pods of " + b.Unscaled.String() + ", or set minAvailable to a number of pods"
	case slices.ContainsFunc(b.Workloads, func(w *workload.Workload) bool { return w.Kind.PerNode() }):
		return "set minAvailable to a smaller number of pods"
	case slices.ContainsFunc(b.Workloads, func(w *workload.Workload) bool { return !b.SelectsAllOf(w) }):
		return "select all pods of the workload and set maxUnavailable: 1"
	case b.WhileSmall && len(b.Workloads) == 1:
		return fmt.Sprintf("set maxUnavailable: 1 instead, or raise the minimum of the autoscaler above %d", b.UpTo)
	case grow:
		return "add a replica or set maxUnavailable: 1 instead"
	}
	return "set maxUnavailable: 1 instead"
}

// LowerMaximum returns the repair that lowers the maximum of an autoscaler.
func LowerMaximum(n int) string { return fmt.Sprintf("lower the maximum to %d", n) }

// AddLabelTo returns the repair that sets a label in the field that applies to the pods.
func AddLabelTo(field string) string { return "add the label to " + field }

// Repairs without parameters.
const (
	AcceptSkew      = "set whenUnsatisfiable: ScheduleAnyway if a larger skew is acceptable"
	HonorTaints     = "set nodeTaintsPolicy: Honor so that tainted nodes do not count as empty domains"
	LowerOneRequest = "lower one of the requests, or add a node that satisfies all of them"
	MatchNodes      = "change the rule or add nodes that match it"
	PreferOneTerm   = "make one of the required affinity terms preferred"
	RemoveHostPort  = "remove the host port and use a Service"
	RemoveNodeName  = "remove nodeName to let the scheduler choose the node"
)

// AddNodes returns the repair that adds n nodes, each with a new value for the topology key.
func AddNodes(n int, key string) string {
	value := fmt.Sprintf(" with a new %s value", key)
	if n > 1 {
		value = ", each" + value
	}
	if key == corev1.LabelHostname {
		value = ""
	}
	return addEligible(n) + value
}

// AddNodesIn returns the repair that adds n nodes in one domain of a topology key, or in a new
// domain if domain is "".
func AddNodesIn(n int, key, domain string) string {
	switch {
	case domain != "":
		return fmt.Sprintf("%s with %s=%s", addEligible(n), key, domain)
	case n == 1:
		return AddNodes(1, key)
	}
	return fmt.Sprintf("%s with the same new %s value", addEligible(n), key)
}

func addEligible(n int) string {
	if n == 1 {
		return AddEligibleNode
	}
	return fmt.Sprintf("add %d eligible nodes", n)
}

// AddAnyNodes returns the repair that adds n nodes.
func AddAnyNodes(n int) string { return "add " + plural(n, "node") }

// AddNodeWith returns the repair that adds a node with the requested amount of a resource.
func AddNodeWith(r *facts.Request) string {
	if r.Resource == string(corev1.ResourcePods) {
		return "add a node that takes pods"
	}
	if name := corev1.ResourceName(r.Resource); topology.Stocked(name) {
		return createVolumes(name)
	}
	return fmt.Sprintf("add a node with at least %s", requested(r))
}

// RequestAtMost returns the repair for a request that is too large for every node. It lowers the
// request or adds a larger node.
func RequestAtMost(r *facts.Request) string {
	if name := corev1.ResourceName(r.Resource); topology.Stocked(name) {
		return createVolumes(name)
	}
	amounts, most := sameUnit(r.Resource, r.Request, r.Largest), "at most"
	if r.AtMost {
		most = "less than"
	}
	return fmt.Sprintf("request %s %s, or add a node with at least %s", most, amountOf(amounts[1], r.Resource), amounts[0])
}

// MoreRoom returns the repair for a rollout that lacks a resource, if no other repair helps.
func MoreRoom(s *facts.Shortfall) string {
	if s.Resource == string(corev1.ResourcePods) {
		return "add eligible nodes, or nodes with more pod slots"
	}
	return RequestLess(corev1.ResourceName(s.Resource))
}

// RequestLess returns the repair for one workload whose pods together request too much of a
// resource.
func RequestLess(resource corev1.ResourceName) string {
	if topology.Stocked(resource) {
		return createVolumes(resource) + ", or run fewer pods"
	}
	return fmt.Sprintf("request %s or add nodes", less(resource))
}

// createVolumes returns the repair for too few volumes that exist before their claims.
func createVolumes(resource corev1.ResourceName) string {
	return "create more " + string(resource) + " on eligible nodes"
}

func less(resource corev1.ResourceName) string {
	if topology.CountsVolumes(resource) {
		return "fewer " + string(resource)
	}
	return "less " + string(resource)
}

// RequestLessTogether returns the repair for several workloads that together request too much of a
// resource.
func RequestLessTogether(resource corev1.ResourceName) string {
	if topology.Stocked(resource) {
		return RequestLess(resource)
	}
	return fmt.Sprintf("request %s, add nodes, or run fewer pods", less(resource))
}

// RequestInstead returns the repair that requests the resource that was probably meant.
func RequestInstead(resource string) string { return "request " + resource }

// ListResource returns the repair for an extended resource that no node lists.
func ListResource(resource corev1.ResourceName) string {
	return fmt.Sprintf("add %s to the allocatable resources of the nodes that provide it", resource)
}

// PreferAntiAffinity returns the repair that makes the anti-affinity on a key preferred.
func PreferAntiAffinity(key string) string {
	return fmt.Sprintf("make the anti-affinity preferred if pods may share a %s value", key)
}

// SetMinDomains returns the repair that changes minDomains.
func SetMinDomains(n int) string { return fmt.Sprintf("set minDomains to %d", n) }

// SetNodeName returns the repair that sets the node that was probably meant.
func SetNodeName(node string) string { return "set nodeName: " + node }

// LabelNodes returns the repair that labels the nodes with a key.
func LabelNodes(key string) string { return "label the nodes with " + key }

// LabelNode returns the repair that labels a node as a rule requires.
func LabelNode(x *model.Exclusion) string {
	if x.Kind == model.UnsetLabel {
		return fmt.Sprintf("set the label %s in a NodePool, or remove the rule", strings.TrimSuffix(Label(x), "="))
	}
	return fmt.Sprintf("label a node with %s, or remove the rule", Label(x))
}

// Select returns the repair that selects the label that was probably meant.
func Select(label string) string { return "select " + label }

// Uncordon returns the repair that uncordons the cordoned nodes.
func Uncordon(x *model.Exclusion) string { return "uncordon " + few(x) }

// AddUntainted returns the repair that adds nodes without the taint of an exclusion.
func AddUntainted(x *model.Exclusion) string { return "add nodes without the taint " + untolerated(x) }

// Tolerate returns the repair that adds a toleration for the taint of an exclusion.
func Tolerate(x *model.Exclusion) string {
	row := ExclusionRow(x)
	return fmt.Sprintf("tolerate the taint %s (%s)", untolerated(x), strings.Join(excludedNames(&row), ", "))
}

// TolerateWith returns the repair that adds a toleration and sets field to n pods.
func TolerateWith(x *model.Exclusion, field string, n int) string {
	return fmt.Sprintf("%s and set %s to %d (with more, pods can stay Pending, or a rollout or node drain can get stuck)", Tolerate(x), field, n)
}

// untolerated formats a taint without its value. A toleration need not name the value.
func untolerated(x *model.Exclusion) string { return fmt.Sprintf("%s:%s", x.Taint.Key, x.Taint.Effect) }

// SetReplicas returns the repair that sets field to n pods. The argument most is the number of pods
// that fit. If most is larger than n, the text warns that rollouts and drains can get stuck with
// most pods.
func SetReplicas(field string, n, most int) string {
	text := fmt.Sprintf("set %s to %d", field, n)
	if n < most {
		text += stuckWith(most)
	}
	return text
}

// FewerReplicas returns the repair that lowers the number of replicas to n. The text warns that
// rollouts and drains can get stuck with most replicas, which is a larger number.
func FewerReplicas(w *workload.Workload, n, most int) string { return Replicas(w, n) + stuckWith(most) }

func stuckWith(pods int) string {
	return fmt.Sprintf(" (with %d, a rollout or node drain can get stuck)", pods)
}

// RepairStuck describes a repair after which changes can still get stuck.
func RepairStuck(r *search.Repair) string {
	return Repair(r) + " (a rollout or node drain can then get stuck)"
}

// Apart describes a rule that keeps replicas on different nodes.
type Apart struct {
	// Soft is set for a constraint that is not enforced. The other fields apply only if Soft is not
	// set.
	Soft bool
	// Honor is set if the rule needs nodeTaintsPolicy: Honor. RevisionLabel is the revision label
	// for matchLabelKeys, or "".
	Honor         bool
	RevisionLabel string
	// AntiAffinity is set if required anti-affinity also works.
	AntiAffinity bool
}

// KeepApart returns the repair that adds a rule to keep replicas on different nodes.
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

// AndPerRevision returns the last phrase of a fix. It says to limit a term to pods of the same
// revision.
func AndPerRevision(label string) string {
	return fmt.Sprintf(", and add matchLabelKeys: [%s] so that rollouts and node drains do not get stuck", label)
}

// AndSoften returns the last phrase of a fix. It says to make the corrected term preferred.
func AndSoften(use model.Use) string {
	soft := "make the term preferred"
	if use == model.Spread {
		soft = "set whenUnsatisfiable: ScheduleAnyway"
	}
	return ", and " + soft + " so that it does not block rollouts or node drains"
}

// Repair describes a change that makes it possible to place the pods.
func Repair(r *search.Repair) string {
	switch {
	case r.Replicas > 0:
		return Replicas(r.Workload, r.Replicas)
	case r.Nodes > 0:
		return moreNodes(r)
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

// Replicas returns the repair that sets the number of replicas.
func Replicas(w *workload.Workload, n int) string {
	return fmt.Sprintf("set replicas of %s to %d", w, n)
}

// moreNodes describes a repair that adds nodes. It names an existing node of the same kind and, if
// it matters, the domains of the new nodes.
func moreNodes(r *search.Repair) string {
	text := fmt.Sprintf("add %s like %s", plural(r.Nodes, "more node"), r.Like.Name)
	if r.Domain == "" {
		return text
	}
	domains := lists.SetOf(r.Further[:r.Nodes], func(n *topology.Node) string { return n.Labels[r.Domain] })
	where := "with"
	switch {
	case len(domains) > 1:
		where = "spread over"
	case domains[r.Like.Labels[r.Domain]]:
		return text
	}
	return fmt.Sprintf("%s %s %s=%s", text, where, r.Domain, strings.Join(model.SortedKeys(domains), ", "))
}

// giveUp describes the change that removes one part of a core.
func giveUp(a search.Atom, opens *model.Exclusion) string {
	switch {
	case a.Term != nil && !a.Term.Declared():
		return fmt.Sprintf("give each pod of %s a claim of its own instead of %s", a.Workload, a.Term.Claim)
	case a.Term != nil && a.Term.OwnKey(a.Workload) != "":
		return OtherRevisions(a.Term.OwnKey(a.Workload), a.Term.Key)
	case a.Term != nil && a.Term.Use == model.Spread:
		return fmt.Sprintf("set whenUnsatisfiable: ScheduleAnyway for the spread of %s on %s", a.Workload, a.Term.Key)
	case a.Term != nil:
		return fmt.Sprintf("make the %s of %s on %s preferred", a.Term.Use, a.Workload, a.Term.Key)
	}
	if a.Part == search.PartVolumes && len(a.Workload.AllReaches()) == 0 {
		if slices.ContainsFunc(a.Workload.Claims, func(c *workload.Claim) bool { return c.Static != nil }) {
			return fmt.Sprintf("create more PersistentVolumes for %s", a.Workload)
		}
		return fmt.Sprintf("give %s fewer volumes, or nodes that take more", a.Workload)
	}
	if words := openings[a.Part]; words != nil && opens != nil {
		return words(a.Workload, opens)
	}
	if words := givenUp[a.Part]; words != "" {
		return fmt.Sprintf(words, a.Workload)
	}
	return string(a.Part)
}

// givenUp maps each part of a core to the change that removes it. The format argument is the
// workload.
var givenUp = map[search.Part]string{
	search.PartSelector: "label nodes to match the node selector or node affinity of %s, or relax it",
	search.PartTaints:   "tolerate the taints that exclude %s, or remove them",
	search.PartRequests: "lower the requests of %s",
	search.PartSlots:    "raise the pod limit of the nodes that %s can use",
	search.PartPorts:    "remove the host ports of %s",
	search.PartVolumes:  "move the volumes of %s to nodes that it can use",
	search.PartReplicas: "run %s elsewhere",
}

// openings maps a part of a core to a function. The function describes the change that removes the
// part. It names some nodes that become eligible.
var openings = map[search.Part]func(*workload.Workload, *model.Exclusion) string{
	search.PartSelector: func(w *workload.Workload, x *model.Exclusion) string {
		return fmt.Sprintf("label %s with %s, or relax the node selector of %s", few(x), Label(x), w)
	},
	search.PartTaints: func(w *workload.Workload, x *model.Exclusion) string {
		switch {
		case x.Cordon():
			return Uncordon(x)
		case !x.Tolerable():
			return AddUntainted(x)
		}
		return fmt.Sprintf("tolerate the taint %s:%s of %s in %s, or remove it", x.Taint.Key, x.Taint.Effect, few(x), w)
	},
}

// few returns the names of a few excluded nodes. It also states how many names it leaves out.
func few(x *model.Exclusion) string {
	names := lists.Of(x.Nodes[:min(maxNodes, len(x.Nodes))], func(n *topology.Node) string { return n.Name })
	text := strings.Join(names, ", ")
	if more := len(x.Nodes) - maxNodes; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Term returns the name of a required term, with its use and key.
func Term(t *model.Term) string {
	if !t.Declared() {
		return "claim " + t.Claim + " (ReadWriteOncePod)"
	}
	return strings.TrimSpace(fmt.Sprintf("required %s on %s", t.Use, t.Key))
}

// Movable returns advice for a machine that a device keeps from migrating.
func Movable(d *workload.Device) string {
	const or = ", or set evictionStrategy: LiveMigrateIfPossible so that a drain shuts the machine down"
	switch {
	case d.Bridge:
		return "use masquerade for interface " + d.Name + " or, where the CNI plugin supports it, annotate the machine's template with kubevirt.io/allow-pod-bridge-network-live-migration" + or
	case d.Claim == "":
		return "use a claim with the access mode ReadWriteMany instead of the hostDisk" + or
	}
	return "give claim " + d.Claim + " the access mode ReadWriteMany, with volumeMode: Block where the class needs it" + or
}

// VolumesElsewhere returns advice for pods that wait for the domain of their volumes.
func VolumesElsewhere(domain string) string {
	if domain == "node" {
		return "use a class whose volumes can be used on several nodes if the pods must move, or replicate the data"
	}
	return "use a class whose volumes are replicated across zones if the pods must move, or replicate the data"
}
