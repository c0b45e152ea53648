package message

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// limitFindings returns the catalogue entries for findings about pod placement.
func limitFindings() map[string]words {
	return map[string]words{
		"one-node-takes-all": of(oneNodeTakesAll),

		"no-eligible-node":              of(noEligibleNode),
		"volume-in-other-zone":          of(volumeInOtherZone),
		"request-exceeds-nodes":         of(requestExceedsNodes),
		"extended-resource-on-no-node":  of(extendedResourceOnNoNode),
		"anti-affinity-exceeds-domains": of(antiAffinityExceedsDomains),
		"spread-exceeds-skew":           of(spreadExceedsSkew),
		"host-port-exceeds-nodes":       of(hostPortExceedsNodes),
		"cluster-too-small":             of(clusterTooSmall),

		"volume-attached-twice": of(volumeAttachedTwice),

		"crowded-out":               of(crowdedOut),
		"order-dependent-placement": of(orderDependentPlacement),
		"circular-affinity":         of(circularAffinity),
	}
}

func oneNodeTakesAll(r *facts.Sharing, in *facts.Facts) Text {
	parts := []string{fmt.Sprintf("losing node %s can take down all %s", r.Node, plural(r.Pods, podWord(in, r.W)))}
	if r.Zones > 0 {
		share := fmt.Sprintf("%d of %d", r.InOneZone, r.Pods)
		if r.InOneZone >= r.Pods {
			share = fmt.Sprintf("all %d", r.Pods)
		}
		parts = append(parts, "losing a zone can take down "+share)
	}
	for _, rule := range r.Soft {
		parts = append(parts, preferred(rule)+" is not enforced")
	}
	return about(in.Ref(r.W), parts...)
}

func volumeAttachedTwice(r *facts.Attachment, in *facts.Facts) Text {
	claim := "claim " + r.Claims[0] + aside(strings.Join(dropEmpty(when(r.Class != "", "StorageClass "+r.Class), "ReadWriteOnce"), ", "))
	more := when(len(r.Claims) > 1, "the same holds for "+upTo(r.Claims[1:], maxNamed))
	if r.Cause == "once" {
		return about(in.Ref(r.W), fmt.Sprintf("claim %s can be used by one pod at a time (ReadWriteOncePod), and %s use it", r.Claims[0], podsOfKind(in, r.W, r.Pods)),
			stayPending(r.Pods-1), more)
	}
	if r.Cause == "rollout" || r.Cause == "deadlock" {
		return about(in.Ref(r.W), "a rollout can get stuck: the new pod may be on another node than the old pod, which holds "+claim,
			"the new pod then stays in ContainerCreating with a Multi-Attach error, and the old pod stays until the new one is ready", more)
	}
	pods := "its " + podsOfKind(in, r.W, r.Pods)
	if len(r.Others) > 0 {
		pods = "its pods and those of " + upTo(refs(in, r.Others), maxNamed)
	}
	where := map[string]string{"apart": "cannot all run on one node", "per-node": "run on several nodes", "pods": "may run on several nodes"}[r.Cause]
	pending := when(r.Outcome == diag.Never, ", or Pending if they cannot use the volume there")
	return about(in.Ref(r.W), fmt.Sprintf("%s %s, but the volume of %s can be attached to only one node at a time", pods, where, claim),
		"pods on another node stay in ContainerCreating with a Multi-Attach error"+pending, more)
}

// preferred returns the name of a preferred rule.
func preferred(r facts.Rule) string {
	if r.Use == "spread" {
		return "ScheduleAnyway spread on " + r.Key
	}
	return fmt.Sprintf("preferred %s on %s", r.Use, r.Key)
}

// podWord returns "pod" if the workload's kind has no replicas, and "replica" otherwise.
func podWord(in *facts.Facts, w int) string {
	if w >= 0 && w < len(in.Workloads) {
		switch in.Workloads[w].Kind {
		case "CronJob", "DaemonSet", "Job", "Pod":
			return "pod"
		}
	}
	return "replica"
}

func noEligibleNode(r *facts.Eligibility, in *facts.Facts) Text {
	none := "the only node is not eligible"
	switch r.Nodes {
	case 0:
		none = "no node that a pool can add is eligible"
	case 1:
	default:
		none = fmt.Sprintf("none of the %d nodes is eligible", r.Nodes)
	}
	return about(in.Ref(r.W), slices.Concat([]string{none}, exclusionLines(r.Excluded, r.MoreExcluded), []string{fate(r)})...)
}

func volumeInOtherZone(r *facts.Eligibility, in *facts.Facts) Text {
	if len(r.Usable) > 0 && len(r.Volumes) > 0 {
		v := &r.Volumes[0]
		return about(in.Ref(r.W), "a volume of claim "+v.Claim+" may be made where the pods cannot run",
			fmt.Sprintf("%s makes volumes before their pods are scheduled, for any %s of [%s]", v.Volume, v.Key, strings.Join(v.Values, ", ")),
			fmt.Sprintf("the pods can run only on nodes with [%s]", strings.Join(r.Usable, ", ")),
			"a pod whose volume is elsewhere stays Pending")
	}
	headline := fmt.Sprintf("at most %d of %s can run where their volumes can be used", r.Most, plural(r.Pods, "pod"))
	switch {
	case r.Outcome == diag.Sometimes:
		headline = "whether all pods find a node on which their volumes can be used depends on the scheduling order"
	case r.Most == 0 && r.Pods == 1:
		headline = "no node that may run the pod can use its volume"
	case r.Most == 0:
		headline = "no node that may run the pods can use their volumes"
	}
	var lines []string
	for i := range r.Volumes[:min(len(r.Volumes), maxClaims)] {
		lines = append(lines, volume(&r.Volumes[i]))
	}
	if more := len(r.Volumes) - maxClaims; more > 0 {
		lines = append(lines, plural(more, "more claim"))
	}
	if r.Outcome == diag.Never {
		lines = append(lines, stayPending(r.Pods-r.Most))
	}
	return about(in.Ref(r.W), slices.Concat([]string{headline}, lines)...)
}

// fate describes what happens to pods without an eligible node.
func fate(r *facts.Eligibility) string {
	switch r.Bound {
	case "undeclared":
		return fmt.Sprintf("the pod garbage collector deletes %s because the node does not exist", plural(r.Pods, "pod"))
	case "declared":
		return fmt.Sprintf("the kubelet rejects %s", plural(r.Pods, "pod"))
	}
	return stayPending(r.Pods)
}

// stayPending states how many pods stay Pending, or returns "" if there are none.
func stayPending(pods int) string {
	if pods == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s Pending", plural(pods, "pod"), verb(pods, "stays", "stay"))
}

// atLeast is like stayPending, for a lower bound. It is exact if it is the number of all pods.
func atLeast(pods, all int) string {
	return when(pods > 0 && pods < all, "at least ") + stayPending(pods)
}

func requestExceedsNodes(r *facts.Request, in *facts.Facts) Text {
	if r.Resource == string(corev1.ResourcePods) {
		return noSlot(r, in)
	}
	much := " that much"
	if topology.CountsVolumes(corev1.ResourceName(r.Resource)) {
		much = " that many"
	}
	offer, more := noneHas(r.Eligible)+much, largest(r)
	if r.PerNode {
		small := r.Eligible - r.Fitting
		offer = fmt.Sprintf("%d of the %d eligible nodes %s less", small, r.Eligible, verb(small, "has", "have"))
		more = stayPending(small)
	}
	return about(in.Ref(r.W), fmt.Sprintf("each pod requests %s, but %s", requested(r), offer), more)
}

// noSlot returns the text for nodes that offer no pod slots (0 allocatable pods).
func noSlot(r *facts.Request, in *facts.Facts) Text {
	full := r.Eligible - r.Fitting
	more := ""
	if r.PerNode {
		more = stayPending(full)
	}
	return about(in.Ref(r.W), fmt.Sprintf("%d of the %d eligible nodes %s no pods: allocatable pods is 0", full, r.Eligible, verb(full, "takes", "take")), more)
}

// requested describes the requests of one pod, such as "2 cpu" or "2 and 1Gi of cpu and memory".
func requested(r *facts.Request) string {
	if len(r.Together) == 0 {
		return amountOf(sameUnit(r.Resource, r.Request, r.Largest)[0], r.Resource)
	}
	var amounts, resources []string
	for _, a := range r.Together {
		amounts, resources = append(amounts, sameUnit(a.Resource, a.Request)...), append(resources, a.Resource)
	}
	return fmt.Sprintf("%s of %s", strings.Join(amounts, " and "), strings.Join(resources, " and "))
}

// largest describes the node that has the most of a resource.
func largest(r *facts.Request) string {
	switch {
	case len(r.Together) > 0:
		return "each node has too little of at least one of them"
	case r.LargestNode == "":
		return ""
	}
	return fmt.Sprintf("the largest, %s, has %s%s%s", r.LargestNode, atMost(r.AtMost), sameUnit(r.Resource, r.Request, r.Largest)[1], reserved(r))
}

// atMost marks the capacity of a node, which is more than its pods can use.
func atMost(is bool) string {
	if is {
		return "at most "
	}
	return ""
}

// reserved says how much of the largest amount on a node its pool reserves, if any.
func reserved(r *facts.Request) string {
	has, err := resource.ParseQuantity(r.Largest)
	less, wrong := resource.ParseQuantity(r.Reserved)
	if err != nil || wrong != nil {
		return ""
	}
	return minus(r.Resource, has, less)
}

// minus says how an amount that a node has follows from what is reserved, such as
// " (4 minus 1 reserved)". It returns "" if nothing is.
func minus[T ~string](name T, has, reserved resource.Quantity) string {
	if reserved.IsZero() {
		return ""
	}
	all := has.DeepCopy()
	all.Add(reserved)
	amounts := workload.Amounts(corev1.ResourceName(name), all, reserved)
	return fmt.Sprintf(" (%s minus %s reserved)", amounts[0], amounts[1])
}

// sameUnit formats amounts of one resource for one finding. Amounts that are no quantities, which
// only rules of other people can pass, stay as they are.
func sameUnit(resourceName string, texts ...string) []string {
	amounts := make([]resource.Quantity, len(texts))
	for i, text := range texts {
		q, err := resource.ParseQuantity(text)
		if err != nil {
			return texts
		}
		amounts[i] = q
	}
	return workload.Amounts(corev1.ResourceName(resourceName), amounts...)
}

func extendedResourceOnNoNode(r *facts.Request, in *facts.Facts) Text {
	return about(in.Ref(r.W),
		fmt.Sprintf("each pod requests %s, but no declared node lists %s", requested(r), r.Resource),
		"it is unknown whether the pods fit", nameMeant(r.Suggestion))
}

func antiAffinityExceedsDomains(r *facts.AntiAffinity, in *facts.Facts) Text {
	have := fmt.Sprintf("eligible nodes have only %d", r.Domains)
	if r.Most != r.Domains {
		have = fmt.Sprintf("eligible nodes have %d and only %d %s", r.Domains, r.Most, verb(r.Most, "pod fits", "pods fit"))
	}
	need := fmt.Sprintf("%s %s %d distinct %s values, but %s",
		podsOfKind(in, r.W, r.Pods), verb(r.Pods, "needs", "need"), r.Pods, strings.Join(r.Keys, ", "), have)
	return about(in.Ref(r.W), slices.Concat([]string{need, eligible(r.Eligible, r.Nodes, r.Growth)}, exclusionLines(r.Excluded, r.MoreExcluded),
		[]string{stayPending(r.Pending), growth(r.Growth), together(r.Together)})...)
}

// podsOfKind formats a pod count using podWord.
func podsOfKind(in *facts.Facts, w, pods int) string { return plural(pods, podWord(in, w)) }

// eligible states how many nodes are eligible.
func eligible(some, nodes int, grown []facts.GrownPool) string {
	switch {
	case some == nodes && slices.ContainsFunc(grown, func(p facts.GrownPool) bool { return p.Max == topology.Unbounded }):
		return "all nodes are eligible"
	case some == nodes && nodes == 1:
		return "the only node is eligible"
	case some == nodes && nodes > 1:
		return fmt.Sprintf("all %d nodes are eligible", nodes)
	}
	return someEligible(some, nodes)
}

func someEligible(some, nodes int) string {
	return fmt.Sprintf("%d of %s %s eligible", some, plural(nodes, "node"), verb(some, "is", "are"))
}

// onlyEligible states how many nodes are eligible. If all nodes are eligible, it states how many
// nodes there are.
func onlyEligible(some, nodes int) string {
	if some == nodes {
		return fmt.Sprintf("there %s only %s", verb(nodes, "is", "are"), plural(nodes, "node"))
	}
	return "only " + someEligible(some, nodes)
}

func spreadExceedsSkew(r *facts.Spread, in *facts.Facts) Text {
	return about(in.Ref(r.W), slices.Concat([]string{spreadLimit(r, in), smallest(r)}, exclusionLines(r.Excluded, r.MoreExcluded),
		[]string{atLeast(r.Pending, r.Pods), growth(r.Growth), nameMeant(r.Suggestion)})...)
}

// spreadLimit describes the condition of a spread constraint that limits the number of pods.
func spreadLimit(r *facts.Spread, in *facts.Facts) string {
	few := fmt.Sprintf("at most %d %s", r.Most, verb(r.Most, "fits", "fit"))
	switch r.Cause {
	case "missing-key":
		labels := "the label " + r.Key
		if r.KeyCount > 1 {
			labels = fmt.Sprintf("all topology keys of its hard constraints (%s)", namesOf(r.Keys, r.KeyCount))
		}
		return noneHas(r.Eligible) + " " + labels
	case "min-domains":
		return fmt.Sprintf("minDomains requires %d %s values, but eligible nodes have %d, so each takes at most maxSkew %d and %s",
			r.MinDomains, r.Key, r.Domains, r.MaxSkew, few)
	}
	return fmt.Sprintf("%s must spread over %s with maxSkew %d, but %s", podsOfKind(in, r.W, r.Pods), r.Key, r.MaxSkew, few)
}

// smallest describes the domain that limits the number of pods in the other domains. It returns ""
// if there is none.
func smallest(r *facts.Spread) string {
	if r.Cause != "skew" || r.SmallestDomain == "" {
		return ""
	}
	return fmt.Sprintf("%s can take %d, so every other value can take at most %d", r.SmallestDomain, r.Smallest, r.Smallest+r.MaxSkew)
}

func hostPortExceedsNodes(r *facts.HostPort, in *facts.Facts) Text {
	need := fmt.Sprintf("%s %s host port %d/%s, each on its own node, but %s",
		podsOfKind(in, r.W, r.Pods), verb(r.Pods, "uses", "use"), r.Port, r.Protocol, onlyEligible(r.Eligible, r.Nodes))
	return about(in.Ref(r.W), slices.Concat([]string{need}, exclusionLines(r.Excluded, r.MoreExcluded),
		[]string{stayPending(r.Pending), growth(r.Growth)})...)
}

func clusterTooSmall(r *facts.Room, in *facts.Facts) Text {
	of, left := in.Ref(r.W), stayPending(r.Pending)
	if r.Others > 0 {
		of, left = fmt.Sprintf("%s and %s", of, plural(r.Others, "other workload")), "at least "+left
	}
	request, room := shortage(r)
	return about(of, fmt.Sprintf("%s %s %s, but eligible nodes have %s", plural(r.Pods, "pod"), verb(r.Pods, "requests", "request"), request, room),
		eligible(r.Eligible, r.Nodes, r.Growth), left, growth(r.Growth))
}

// shortage describes the amount that the pods request and the smaller amount that the nodes offer.
func shortage(r *facts.Room) (request, room string) {
	const slot = "one pod slot each"
	each, sums := sameUnit(r.Resource, r.Request)[0], sameUnit(r.Resource, r.Requested, r.Offered)
	switch {
	case r.Cause == "size":
		return fmt.Sprintf("at least %s each", amountOf(each, r.Resource)), fmt.Sprintf("capacity for only %d of that size", r.Most)
	case r.Cause == "total" && r.Resource == "pods":
		return slot, fmt.Sprintf("only %s pod slots", sums[1])
	case r.Cause == "total":
		return amountOf(sums[0], r.Resource) + " in total", "only " + sums[1]
	case r.Request == "":
		return slot, "capacity for only " + plural(r.Most, "pod")
	}
	return amountOf(each, r.Resource) + " each", "capacity for only " + plural(r.Most, "pod")
}

func crowdedOut(r *facts.Crowd, in *facts.Facts) Text {
	fit := fmt.Sprintf("at most %d of %s %s on the %s", r.Most, plural(r.Pods, "pod"), verb(r.Most, "fits", "fit"), plural(r.Nodes, "node"))
	if len(r.Workloads) != 1 {
		fit += " at the same time"
	}
	parts := []string{fit}
	for i := range r.Core {
		parts = append(parts, in.Ref(r.Core[i].W)+" "+coreRule(&r.Core[i]))
	}
	names := refs(in, r.Workloads)
	if len(names) > maxNamed+1 {
		names = []string{upTo(names, maxNamed)}
	}
	return about(strings.Join(names, ", "), append(parts, atLeast(r.Pending, r.Pods), growth(r.Growth))...)
}

// refs returns the names of workloads.
func refs(in *facts.Facts, ws []int) []string {
	all := make([]string, len(ws))
	for i, w := range ws {
		all[i] = in.Ref(w)
	}
	return all
}

// coreRule describes one rule of a workload in a conflict between rules.
func coreRule(r *facts.CoreRule) string {
	switch r.Use {
	case "anti-affinity", "affinity", "spread":
		return fmt.Sprintf("has required %s on %s", r.Use, r.Key)
	case "host-port":
		return "uses host port " + r.Key
	case "claim":
		return fmt.Sprintf("uses claim %s, which one pod can use at a time (ReadWriteOncePod)", r.Key)
	case "slots":
		return "uses pod slots"
	case "requests":
		return "requests " + cmp.Or(r.Key, "resources") + " for each pod"
	}
	return fmt.Sprintf("cannot use all nodes (%s)", strings.Join(exclusionLines(r.Excluded, 0), "; "))
}

func orderDependentPlacement(r *facts.Order, in *facts.Facts) Text {
	left := "its pod"
	if r.Pods != 1 {
		left = fmt.Sprintf("%d of its %d pods", r.Pending, r.Pods)
	}
	return about(in.Ref(r.W), fmt.Sprintf("%s cannot be scheduled if the scheduler places %s first", left, placedFirst(r.Placed, in)),
		"blocked by "+Rejected(r.Refused), "all pods fit in another order")
}

// placedFirst lists the pods of a few workloads and the nodes that run them. It counts more workloads,
// because these fill the nodes together and the related locations say where.
func placedFirst(all []facts.Placed, in *facts.Facts) string {
	if len(all) > maxNamed {
		return fmt.Sprintf("pods of %d workloads", len(all))
	}
	parts := make([]string, 0, maxNamed)
	for i := range all {
		parts = append(parts, Placed(&all[i], in))
	}
	return strings.Join(parts, " and ")
}

func circularAffinity(r *facts.Circle, in *facts.Facts) Text {
	role := "waits for a cycle"
	if r.Member {
		role = "is part of a cycle"
	}
	members := refs(in, r.Members)
	return about(in.Ref(r.W),
		fmt.Sprintf("its required affinity %s: %s waits for %s", role, members[0], strings.Join(members[1:], ", which waits for ")),
		"none of their pods can start")
}
