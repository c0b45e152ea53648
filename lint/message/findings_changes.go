package message

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/workload"
)

// changeFindings returns the catalogue entries for findings about changes.
func changeFindings() map[string]words {
	return map[string]words{
		"rollout-deadlock":              of(rolloutDeadlock),
		"rollout-may-deadlock":          of(rolloutMayDeadlock),
		"rollout-ends-skewed":           of(rolloutEndsSkewed),
		"node-loss-leaves-pods-pending": of(nodeLoss),
		"zone-loss-leaves-pods-pending": of(zoneLoss),
		"drained-pods-return":           of(drainedPodsReturn),
		"drain-leaves-pods-pending":     of(drainLeavesPending),
		"zone-loss-strands-volumes":     of(zoneLossStrands),
		"drain-strands-volumes":         of(drainStrands),
		"budget-allows-nothing":         of(budgetAllowsNothing),
		"several-budgets":               of(severalBudgets),
		"pdb-selects-no-pod":            of(budgetSelectsNothing),
		"vm-cannot-migrate":             of(cannotMigrate),
		"vm-labels-never-reach-pods":    of(labelsNeverReachPods),
		"autoscaler-exceeds-domains":    of(autoscalerExceeds),
		"autoscalers-inactive":          of(autoscalersInactive),
	}
}

func rolloutDeadlock(r *facts.Rollout, in *facts.Facts) Text {
	how := strings.Join(dropEmpty(arithmetic(&r.Arithmetic), atOnce(r)), ", so ")
	if r.Hangs != "" {
		return about(in.Ref(r.W), rollout(r, in, "never completes"), how, Stuck(r.Running, r.Refused, r.Hangs))
	}
	if r.Quota != "" {
		return about(in.Ref(r.W), rollout(r, in, "never completes"), how, QuotaAllows(r.Quota, r.QuotaPods))
	}
	return about(in.Ref(r.W), rollout(r, in, "never completes"), how, room(in, r.W, r.Rules, &r.Limit), shortfall(&r.Shortfall))
}

// shortfall states how much a new pod requests and how much there is. It returns "" if that is not
// what blocks a rollout.
func shortfall(s *facts.Shortfall) string {
	running := fmt.Sprintf("the %s", plural(s.Running, "running pod"))
	switch {
	case s.Resource == "":
		return ""
	case s.Resource == string(corev1.ResourcePods) && s.Left == "":
		return fmt.Sprintf("a new pod needs a pod slot; %s %s %s of %s on %s", running, verb(s.Running, "uses", "use"), s.Requested, s.Offered, plural(s.Nodes, "eligible node"))
	case s.Resource == string(corev1.ResourcePods):
		return fmt.Sprintf("a new pod needs a pod slot, and %s %s all slots of %s", running, verb(s.Running, "uses", "use"), plural(s.Nodes, "eligible node"))
	case s.Node != "":
		amounts := sameUnit(s.Resource, s.Request, s.Left, s.LeftOf)
		return fmt.Sprintf("a new pod requests %s %s, and %s has %s of %s left next to the old pod", amounts[0], s.Resource, s.Node, amounts[1], amounts[2])
	case s.Left != "":
		amounts := sameUnit(s.Resource, s.Request, s.Left, s.LeftOf)
		return fmt.Sprintf("a new pod requests %s %s, and next to %s no node has more than %s of %s left", amounts[0], s.Resource, running, amounts[1], amounts[2])
	}
	amounts := sameUnit(s.Resource, s.Request, s.Requested, s.Offered)
	return fmt.Sprintf("a new pod requests %s %s; %s %s %s, and %s %s %s in total", amounts[0], s.Resource, running, verb(s.Running, "requests", "request"), amounts[1],
		plural(s.Nodes, "eligible node"), verb(s.Nodes, "has", "have"), amounts[2])
}

// atOnce describes the pods that run at the same time during a rollout.
func atOnce(r *facts.Rollout) string {
	switch {
	case r.Way == string(workload.Rolling) && r.Unavailable == 0:
		return fmt.Sprintf("%d pods must run at the same time", r.Replicas+1)
	case r.Way == string(workload.BothWhole):
		return fmt.Sprintf("%d pods must run at the same time", 2*r.Replicas)
	case r.Way == string(workload.PerNode):
		return "each new pod starts next to the old one on the same node"
	}
	return ""
}

func rolloutMayDeadlock(r *facts.Rollout, in *facts.Facts) Text {
	stuck := room(in, r.W, r.Rules, &r.Limit)
	if r.Stuck {
		stuck = Stuck(r.Running, r.Refused, r.Hangs)
	}
	return about(in.Ref(r.W), rollout(r, in, "can get stuck"), arithmetic(&r.Arithmetic), stuck)
}

// rollout describes how a rollout ends. It names the other workloads and the number of replicas.
func rollout(r *facts.Rollout, in *facts.Facts, fate string) string {
	if len(r.Others) > 0 {
		fate += " alongside " + upTo(refs(in, r.Others), maxNamed)
	}
	return "a rollout " + fate + aside(Scale(r.At, r.Scaler, r.Replicas))
}

func rolloutEndsSkewed(r *facts.Skew, in *facts.Facts) Text {
	return about(in.Ref(r.W),
		"a rollout can end with unevenly spread pods"+aside(Scale(r.At, r.Scaler, r.Replicas)),
		fmt.Sprintf("old pods count during the rollout, so the new pods can end up beyond maxSkew %d on %s", r.MaxSkew, r.Key))
}

// room states how many pods fit and which rules limit the number.
func room(in *facts.Facts, w int, rules []facts.Rule, l *facts.Limit) string {
	space := AtMost(l)
	if len(rules) == 0 {
		return space
	}
	if space == "" {
		space = "no node can take another pod"
	}
	return space + " because of " + strings.Join(Rules(in, w, rules), " and ")
}

// arithmetic is like Arithmetic, but takes the numbers from a row.
func arithmetic(a *facts.Arithmetic) string {
	return Arithmetic(&workload.Arithmetic{
		Strategy: workload.Strategy(a.Strategy), Surge: amountFrom(&a.Surge), Unavailable: amountFrom(&a.Unavailable),
		Correction: workload.Correction(a.Correction), Pods: a.Pods, Preview: int64(a.Preview),
	})
}

func amountFrom(a *facts.Amount) workload.Amount {
	if a.Field == "" {
		return workload.Amount{}
	}
	return workload.Amount{Field: a.Field, Value: intstr.Parse(a.Value), Of: a.Of, Up: a.RoundedUp, Written: a.Written}
}

// wordDemand describes the minAvailable or maxUnavailable of a budget.
func wordDemand(a *facts.Amount) string {
	amount := amountFrom(a)
	return wordBudget(&amount, a.Of, false, "")
}

func nodeLoss(r *facts.Loss, in *facts.Facts) Text {
	when := map[certificate.Meaning]string{
		certificate.Gone:        " if its Node object is deleted",
		certificate.Unreachable: " while it is unreachable (its pods " + remain(r, in) + ")",
	}[certificate.Meaning(r.Meaning)]
	return about(in.Ref(r.W), fmt.Sprintf("losing node %s%s %s%s%s", r.Value, Like(r.Like, "node"), lossLeft(r), when, whereItRuns(r.WhereItRuns, r.Pods)))
}

func zoneLoss(r *facts.Loss, in *facts.Facts) Text {
	when := map[certificate.Meaning]string{
		certificate.Gone:        " if its Node objects are deleted",
		certificate.Unreachable: " while its nodes are unreachable (their pods " + remain(r, in) + ")",
	}[certificate.Meaning(r.Meaning)]
	return about(in.Ref(r.W), fmt.Sprintf("losing %s=%s%s %s%s%s", r.Key, r.Value, Like(r.Like, "domain"), lossLeft(r), when, whereItRuns(r.WhereItRuns, r.Pods)))
}

// remain states that pods remain on unreachable nodes. Pods that tolerate the taint do not terminate.
func remain(r *facts.Loss, in *facts.Facts) string {
	return map[bool]string{true: "stay there", false: "stay Terminating"}[!r.Recreated && in.Workloads[r.W].Kind != "StatefulSet"]
}

func lossLeft(r *facts.Loss) string {
	lacking := "Pending"
	if !r.Recreated {
		lacking = "missing"
	}
	return left(r.Outcome, r.PendingMin, r.PendingMax, r.Pods, lacking)
}

// whereItRuns returns a condition such as ", if any run there". It returns "" unless limited is
// set.
func whereItRuns(limited bool, pods int) string {
	switch {
	case !limited:
		return ""
	case pods == 1:
		return ", if it runs there"
	}
	return ", if any run there"
}

// left states how many of a workload's pods have no node after a change.
func left(outcome diag.Outcome, least, pending, pods int, lacking string) string {
	share := fmt.Sprintf("%d of %s", pending, plural(pods, "pod"))
	if pending == 1 && pods == 1 {
		share = "its only pod"
	}
	if outcome == diag.Never && least < pending {
		return fmt.Sprintf("leaves %d to %s %s", least, share, lacking)
	}
	if outcome == diag.Never {
		return fmt.Sprintf("leaves %s %s", share, lacking)
	}
	return fmt.Sprintf("can leave %s%s %s", verb(pending, "", "up to "), share, lacking)
}

func drainLeavesPending(r *facts.Drain, in *facts.Facts) Text {
	next := ""
	if r.Blocks {
		next = fmt.Sprintf("the next drain is then blocked (%s)", wordDemand(&r.Amount))
	}
	return about(in.Ref(r.W), fmt.Sprintf("draining node %s%s %s until it is schedulable again%s",
		r.Node, Like(r.Like, "node"), left(r.Outcome, r.PendingMin, r.PendingMax, r.Pods, "Pending"), whereItRuns(r.WhereItRuns, r.Pods)), next)
}

func zoneLossStrands(r *facts.Loss, in *facts.Facts) Text {
	return about(in.Ref(r.W), fmt.Sprintf("after the loss of %s=%s%s, %s%s", r.Key, r.Value, Like(r.Like, "domain"),
		waiting(r.Outcome, r.PendingMin, r.PendingMax, r.Pods, r.Waits), whereItRuns(r.WhereItRuns, r.Pods)), strands(r.Waits))
}

func drainStrands(r *facts.Drain, in *facts.Facts) Text {
	next := ""
	if r.Blocks {
		next = fmt.Sprintf("the next drain is then blocked (%s)", wordDemand(&r.Amount))
	}
	return about(in.Ref(r.W), fmt.Sprintf("during the drain of node %s%s, %s%s", r.Node, Like(r.Like, "node"),
		waiting(r.Outcome, r.PendingMin, r.PendingMax, r.Pods, r.Waits), whereItRuns(r.WhereItRuns, r.Pods)), strands(r.Waits), next)
}

// waiting states how many pods wait for the domain of their volumes.
func waiting(outcome diag.Outcome, least, pending, pods int, domain string) string {
	share := fmt.Sprintf("%d of %s", pending, plural(pods, "pod"))
	verb := verb(pending, "waits", "wait")
	switch {
	case outcome == diag.Never && least < pending:
		share = fmt.Sprintf("%d to %s", least, share)
	case pending == 1 && pods == 1:
		share = "its only pod"
	}
	switch {
	case outcome != diag.Never && pods == 1:
		verb = "may wait"
	case outcome != diag.Never:
		share, verb = "up to "+share, "may wait"
	}
	return fmt.Sprintf("%s %s until the %s is back", share, verb, domain)
}

// strands states why pods wait.
func strands(domain string) string {
	if domain == "node" {
		return "its volumes can be used only on the node where they were made"
	}
	return fmt.Sprintf("its volumes can be used only in the %s where they were made", domain)
}

func budgetAllowsNothing(r *facts.Budget, in *facts.Facts) Text {
	small, amount, drain := r.Problem == "no-eviction-while-small", amountFrom(&r.Amount), "never completes"
	switch stay := func(i int) bool { return !strings.HasSuffix(in.Workloads[i].Kind, "Job") }; {
	case small:
		drain = "waits until an autoscaler adds replicas"
	case r.Unscaled != "" && !slices.ContainsFunc(r.Selects, stay):
		drain = "waits until the pods end"
	}
	return Text{
		Headline: fmt.Sprintf("%s allows no disruptions of %s%s%s", r.Object, upTo(refs(in, r.Selects), maxNamed), whileSmall(small, r.UpTo, len(r.Selects)),
			aside(wordBudget(&amount, r.Pods, small, r.Unscaled))),
		Details: []string{"draining a node that runs one of these pods " + drain},
	}
}

func severalBudgets(r *facts.Budget, in *facts.Facts) Text {
	return Text{
		Headline: fmt.Sprintf("%s selects pods of %s that %s also %s", r.Object, upTo(refs(in, r.Selects), maxNamed),
			upTo(r.Others, maxNamed), verb(len(r.Others), "selects", "select")),
		Details: []string{"the API server refuses to evict a pod that more than one PodDisruptionBudget selects"},
	}
}

func budgetSelectsNothing(r *facts.Budget, _ *facts.Facts) Text {
	what := "its empty selector matches no pods"
	if r.Selector != "" {
		what = fmt.Sprintf("its selector %s matches no declared pods in its namespace", r.Selector)
	}
	return about(r.Object, what+", so it protects nothing")
}

func cannotMigrate(r *facts.Migration, in *facts.Facts) Text {
	who := map[diag.Outcome]string{diag.Never: "it cannot live-migrate", diag.Sometimes: "it may be unable to live-migrate"}[r.Outcome]
	if r.Machines > 1 {
		who = fmt.Sprintf(map[diag.Outcome]string{
			diag.Never: "none of its %d machines can live-migrate", diag.Sometimes: "its %d machines may be unable to live-migrate",
		}[r.Outcome], r.Machines)
	}
	drain := ""
	if r.Evicts {
		drain = "with evictionStrategy LiveMigrate this blocks node drains"
	}
	if r.Device != "" {
		return about(in.Ref(r.W), who, r.Device, drain)
	}
	return about(in.Ref(r.W), who, "the target pod needs another node while the source pod still runs",
		room(in, r.W, r.Rules, &r.Limit), drain)
}

func labelsNeverReachPods(r *facts.OuterLabel, in *facts.Facts) Text {
	return about(in.Ref(r.W),
		fmt.Sprintf("its pods do not have the label %s, which %s selects", r.Label, Asker(in, &r.AskedBy)),
		fmt.Sprintf("labels of the machine itself are not copied to its pods; labels in %s are", r.Inside))
}

// Asker names a term together with its workload.
func Asker(in *facts.Facts, r *facts.Rule) string {
	strength := map[bool]string{true: "required", false: "preferred"}[r.Hard]
	if r.Use == "spread" {
		strength = map[bool]string{true: "hard", false: "soft"}[r.Hard]
	}
	return fmt.Sprintf("the %s %s of %s", strength, r.Use, in.Ref(r.W))
}

func autoscalerExceeds(r *facts.Autoscaler, in *facts.Facts) Text {
	written, limit, begins := "", "", ""
	if r.Default {
		written = " by default"
	}
	if r.Limit.By != "none" {
		limit = "limited by " + Limiting(&r.Limit)
	} else if r.Cause != "" {
		limit = "limited by " + Cause(r.Cause)
	}
	for _, p := range r.Begins {
		begins = fmt.Sprintf("all pods fit once pool %s has %s", p.Pool, plural(p.Nodes, "node"))
	}
	head := fmt.Sprintf("%s can scale to %s%s but only %d %s", r.Object, plural(r.Max, "pod"), written, r.Fit, verb(r.Fit, "fits", "fit"))
	if r.Quota != "" {
		return about(in.Ref(r.W), head, QuotaAllows(r.Quota, r.Fit))
	}
	return about(in.Ref(r.W), head, limit, fmt.Sprintf("%s would stay Pending", plural(r.Pending, "pod")), growth(r.Growth), begins)
}

func drainedPodsReturn(r *facts.Drain, in *facts.Facts) Text {
	returns := "may return"
	if r.Outcome == diag.Never {
		returns = "return"
	}
	return about(in.Ref(r.W), "evicted pods "+returns+" to the node that is drained, because they tolerate the taint of its cordon",
		"kubectl drain ends; Cluster API and Karpenter wait until the node is empty")
}

func autoscalersInactive(r *facts.Autoscaler, in *facts.Facts) Text {
	return about(in.Ref(r.W), fmt.Sprintf("%s is inactive, because %s %s it, too", r.Object, strings.Join(r.Rivals, " and "), verb(len(r.Rivals), "scales", "scale")))
}

// Rules returns the names of rules. It adds the workload's name to rules of workloads other than w.
func Rules(in *facts.Facts, w int, rules []facts.Rule) []string {
	names := make([]string, len(rules))
	for i, r := range rules {
		if names[i] = ruleName(&r); r.W != w {
			names[i] += " of " + in.Ref(r.W)
		}
	}
	return names
}

func ruleName(r *facts.Rule) string {
	switch r.Use {
	case "host-port":
		return "host port " + r.Key
	case "slots":
		return "the pod limit of the nodes"
	case "requests":
		return "resource requests"
	case "selector":
		return "node selection"
	case "taints":
		return "untolerated taints"
	case "volumes":
		return "volumes"
	case "claim":
		return "claim " + r.Key + " (ReadWriteOncePod)"
	}
	return strings.TrimSpace(fmt.Sprintf("required %s on %s", r.Use, r.Key))
}

// Fit states how many pods fit, or returns "" if no limit is known.
func Fit(l *facts.Limit) string {
	pods := plural(l.Fit, "pod") + verb(l.Fit, " fits", " fit")
	switch {
	case l.By == "none":
		return ""
	case l.By == "anti-affinity" && len(l.Rules) == 1 && l.Domains == l.Fit:
		thing := "node"
		if key := l.Rules[0].Key; key != corev1.LabelHostname {
			thing = key + " value"
		}
		return fmt.Sprintf("%s on %s", pods, plural(l.Domains, thing))
	case l.By == "host-port":
		return fmt.Sprintf("%s on %s", pods, plural(l.Eligible, "node"))
	}
	return pods
}

// Limiting names the rule that limits the number of pods.
func Limiting(l *facts.Limit) string {
	rules := lists.Of(l.Rules, func(r facts.Rule) string { return ruleName(&r) })
	text := strings.Join(rules, " and ")
	switch {
	case len(rules) > 0 && l.By == "anti-affinity":
		return fmt.Sprintf("%s (%s)", text, plural(l.Domains, "value"))
	case len(rules) > 0:
		return text
	case l.By == "host-port":
		return fmt.Sprintf("a host port on %s", plural(l.Eligible, "node"))
	}
	return l.Resource + " capacity"
}

// Stuck describes where the pods run when a rollout is stuck. It also lists the filters that reject
// a new pod.
// The volume of the claim hangs, if it is not "", keeps the new pods from starting.
func Stuck(all []facts.Placed, refused []facts.FilterNodes, hangs string) string {
	var groups []string
	for _, r := range all {
		groups = append(groups, fmt.Sprintf("%s on %s", plural(r.Pods, r.Revision+" pod"), Places(r.On, r.Nodes)))
	}
	where := strings.Join(groups, " and ")
	if where == "" {
		where = "no pods running"
	}
	if hangs != "" {
		return fmt.Sprintf("with %s, the new pod cannot start: the volume of claim %s is attached to the node of the old pod, which stays until a new pod is ready", where, hangs)
	}
	return fmt.Sprintf("with %s, no node can take a new pod%s", where, aside(Rejected(refused)))
}

// Like states how many other nodes or domains have the same result.
func Like(n int, thing string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " (or an equivalent " + thing + ")"
	}
	return fmt.Sprintf(" (or any of %s)", plural(n, "equivalent "+thing))
}

// Scale returns a remark about a finding that applies at a number of pods that an autoscaler may choose.
func Scale(at, scaler string, replicas int) string {
	switch at {
	case "":
		return ""
	case "between":
		return fmt.Sprintf("at %s, within the limits of its %s", plural(replicas, "replica"), scaler)
	}
	return fmt.Sprintf("at the %s of its %s: %s", at, scaler, plural(replicas, "replica"))
}
