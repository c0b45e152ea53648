package message

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// reasons holds the text for each cause without a name.
var reasons = map[model.Cause]string{
	model.Waits:         "waits for capacity",
	model.ByLabel:       "depends on a label value that is set at run time",
	model.ByVariable:    "depends on a label value that contains a placeholder",
	model.ByFinite:      "depends on pods that run to completion",
	model.ByUnknown:     "depends on pods that are not modeled",
	model.ByGrowth:      "depends on how far the pools grow",
	model.ByScale:       "depends on how many pods the autoscalers choose",
	model.ByBudget:      "needs more steps than the budget: raise --steps",
	model.BySize:        "no proof covers this case",
	model.ByCrowd:       "too many workloads compete for the same nodes to search",
	model.ByFault:       "an internal error: the checker rejects the answer",
	model.ByContext:     "another context declares it, or a kustomization changes it",
	model.ByRejection:   "rejected by the API server",
	model.ByGates:       "held back by scheduling gates",
	model.ByQueue:       "queued by Kueue, which can add node selectors and tolerations",
	model.ByNamespace:   "its namespace, or one that a rule is about, is a placeholder",
	model.ByCount:       "the number of pods is unknown",
	model.ByPlacement:   "its placement is not checked",
	model.ByPriority:    "its pods can preempt pods of another priority",
	model.ByPreemption:  "pods of higher priority can preempt its pods",
	model.ByToleration:  "its pods, or pods they interact with, tolerate the taint of lost nodes or are bound to nodes",
	model.ByCordon:      "its pods, or pods they interact with, tolerate the taint of a cordon or are bound to nodes",
	model.Returns:       "evicted pods tolerate the taint of the cordon, so they may return to the drained node",
	model.ByTermination: "depends on how long evicted pods terminate, as they count for affinity until they are gone",
	model.ByPending:     "not all pods fit even before the change",
	model.ByMachines:    "too many machines have labels of their own",
	model.ByLargestSize: "it is unknown whether it fits once pools have grown",
	model.Unplaced:      "its pods do not all fit on the current nodes",
	model.LateRetry:     "pods that require one another can stay Pending for up to 5.5 minutes: the scheduler does not retry them when the last pod that they require is gone",
	model.NotRecreated:  "its pods are not recreated while the Node object exists",
	model.NotEvicted:    "its pods tolerate node.kubernetes.io/unreachable and are not evicted",
	model.Bare:          "nothing recreates a bare pod",
	model.ByOrder:       "depends on the scheduling order",
	model.ByContention:  "capacity that other workloads use",
	model.ByItself:      "its placement rules and requests taken together",
}

// named maps each cause with a name to a function that returns the text.
var named = map[model.Cause]func(model.Reason) string{
	model.ByResource:    unlisted,
	model.ByScheduler:   func(r model.Reason) string { return "scheduled by another scheduler, " + r.Name },
	model.ByField:       func(r model.Reason) string { return r.Name + " is unknown" },
	model.ByEviction:    eviction,
	model.ByOtherBudget: func(r model.Reason) string { return "it is unknown whether " + r.Name + " selects its pods" },
	model.ByNeighbour: func(r model.Reason) string {
		return fmt.Sprintf("%s, which is not modeled, may be in the way", r.Workload)
	},
	model.ByAdmission: func(r model.Reason) string { return "its pods may be changed or refused by " + r.Name },
	model.ByOperator:  func(r model.Reason) string { return r.Name + " may add to its pods" },
	model.ByQuota:     func(r model.Reason) string { return QuotaAllows(r.Name, r.Count) },
	model.ByClass:     func(r model.Reason) string { return "its volumes depend on " + r.Name },
	model.ByVolume:    func(r model.Reason) string { return "depends on " + r.Name },
	model.Hangs:       func(r model.Reason) string { return VolumeAttached(r.Name) },
	model.ByNodeLabel: func(r model.Reason) string {
		if r.Name == metav1.ObjectNameField || r.Name == corev1.LabelHostname {
			return "depends on the names of the nodes, which are not known"
		}
		return "depends on the node label " + r.Name + ", which is not known on every node"
	},
	model.BySystem: func(r model.Reason) string {
		return "the kubelet of node " + r.Name + " refuses its pods: spec.os names another operating system, which the scheduler does not look at"
	},
	model.ByStrategy: func(r model.Reason) string { return unclear(r.Strategy) },
	model.ByPoolSize: func(r model.Reason) string {
		return fmt.Sprintf("begins to fit with %d nodes in pool %s", r.Count, r.Name)
	},
}

// VolumeAttached says why a new pod cannot start while the node of the old one is unreachable.
func VolumeAttached(claim string) string {
	return "the volume of claim " + claim + " stays attached to the unreachable node until the old pod is removed"
}

// Reason describes the reason for an outcome. It returns "" if there is none.
func Reason(r model.Reason) string {
	if words := named[r.Cause]; words != nil {
		return words(r)
	}
	words := entry(reasons, r.Cause)
	if r.Count > 0 {
		words += strings.TrimRight("; yes with "+plural(r.Count, "more node")+" "+r.Detail, " ")
		if r.Name != "" {
			words += " for each value of " + r.Name
		}
	}
	return words
}

// entry looks up a code in a table. If the code is missing, it returns the code itself.
func entry[K ~string](table map[K]string, code K) string {
	if words, ok := table[code]; ok {
		return words
	}
	return string(code)
}

func eviction(r model.Reason) string {
	switch {
	case r.Detail != "":
		return fmt.Sprintf("%s is not evaluated: %s", r.Name, r.Detail)
	case r.Workload != nil:
		return fmt.Sprintf("%s also counts the pods of %s, which may not all run", r.Name, r.Workload)
	}
	return "it is unknown how many evictions " + r.Name + " allows"
}

func unlisted(r model.Reason) string {
	if r.Workload == nil {
		return fmt.Sprintf("depends on %s, which no node lists", r.Name)
	}
	return fmt.Sprintf("depends on whether the pods of %s fit, which request %s", r.Workload, r.Name)
}

// unclears holds the text for the unknown parts of an update strategy.
var unclears = map[workload.UnclearKind]string{
	workload.TwoStrategies:    "its controller refuses a Rollout that has not exactly one of the strategies canary and blueGreen",
	workload.DynamicScale:     "dynamicStableScale takes old pods down step by step",
	workload.AddsAntiAffinity: "the Rollout adds required anti-affinity between old and new pods",
}

func unclear(u workload.Unclear) string {
	switch u.Kind {
	case workload.IsVariable:
		return u.Field + " is the placeholder " + u.Value
	case workload.ByPatch:
		if u.Value == "" {
			return "only some releases of Kubernetes keep " + u.Field + "; kubernetes: in .schedlint.yaml says which one runs"
		}
		return fmt.Sprintf("the API server drops %s in some patch releases of Kubernetes %s", u.Field, u.Value)
	case workload.NoAmount:
		return u.Field + " is no number and no percentage"
	}
	return entry(unclears, u.Kind)
}

// Cause returns the text for the code of a cause without a name.
func Cause(code string) string { return entry(reasons, model.Cause(code)) }

// GrownPools converts pools to the rows that rules see.
func GrownPools(pools []model.PoolSize) []facts.GrownPool {
	rows := make([]facts.GrownPool, len(pools))
	for i, p := range pools {
		rows[i] = facts.GrownPool{Pool: p.Pool, Max: p.Nodes}
	}
	return rows
}

// growth states the assumed sizes of growing pools. It returns "" if there are none.
func growth(pools []facts.GrownPool) string {
	if len(pools) == 0 {
		return ""
	}
	return "node pools are counted at their max: " + sizes(pools)
}

func sizes(pools []facts.GrownPool) string {
	var parts []string
	for _, p := range pools {
		size := fmt.Sprint(p.Max)
		if p.Max == topology.Unbounded {
			size = "any size"
		}
		parts = append(parts, p.Pool+" at "+size)
	}
	return strings.Join(parts, ", ")
}

// FitsOnceGrown returns a note that a workload fits only after pools grow.
func FitsOnceGrown(w *workload.Workload, l *bound.Limit) string {
	return fmt.Sprintf("%s fits only if node pools grow beyond their count (%s): %s fit at count, %s to schedule",
		w, sizes(GrownPools(l.Growth)), plural(l.AtCount, "pod"), plural(l.Pods, "pod"))
}

var companions = map[bound.CompanionKind]string{
	bound.WithAntiAffinity: "combined with required anti-affinity on %s",
	bound.WithAffinity:     "required affinity on %s keeps all its pods in one domain",
}

// together names the other rules that contribute to a limit. It returns "" if there are none.
func together(rules []facts.Rule) string {
	if len(rules) == 0 {
		return ""
	}
	keys := make([]string, len(rules))
	for i, r := range rules {
		keys[i] = r.Key
	}
	return fmt.Sprintf(entry(companions, bound.CompanionKind(rules[0].Use)), strings.Join(keys, ", "))
}

// amount shows how a number is computed, such as "maxSurge 25% of 3 rounds up to 1". The text for
// an absolute number is "maxSurge 1".
func amount(a *workload.Amount) string {
	if a.Value.Type == intstr.Int {
		return fmt.Sprintf("%s %d", a.Field, a.Value.IntVal)
	}
	word := "rounds down to"
	switch {
	case a.Exact():
		word = "is"
	case a.Up:
		word = "rounds up to"
	}
	return fmt.Sprintf("%s %s of %d %s %d", a.Field, a.Value.StrVal, a.Of, word, a.Pods())
}

// strategies describes each strategy without maxSurge and maxUnavailable.
var strategies = map[workload.Strategy]func(*workload.Arithmetic) string{
	workload.ByRecreate:  func(*workload.Arithmetic) string { return "type Recreate" },
	workload.ByBlueGreen: func(a *workload.Arithmetic) string { return bothWhole("blueGreen", a) },
	workload.ByTraffic:   func(a *workload.Arithmetic) string { return bothWhole("canary with trafficRouting", a) },
}

func bothWhole(name string, a *workload.Arithmetic) string {
	return fmt.Sprintf("%s: %d new beside %s", name, a.Pods, plural(a.Pods, "pod"))
}

// corrections describes each correction of the amounts.
var corrections = map[workload.Correction]func(*workload.Arithmetic) string{
	workload.AsWritten:  func(*workload.Arithmetic) string { return "" },
	workload.BothZero:   func(*workload.Arithmetic) string { return "; as both are 0, maxUnavailable counts as 1" },
	workload.AllPods:    func(a *workload.Arithmetic) string { return "; there are no more than " + plural(a.Pods, "pod") },
	workload.AtLeastOne: func(*workload.Arithmetic) string { return ", but counts as 1" },
}

// Arithmetic shows how the numbers of a rollout are computed. It returns "" for a workload without
// rollouts.
func Arithmetic(a *workload.Arithmetic) string {
	text := amounts(a)
	if words := strategies[a.Strategy]; words != nil {
		text = words(a)
	}
	if words := corrections[a.Correction]; words != nil {
		text += words(a)
	}
	if a.Preview > 0 {
		text += fmt.Sprintf(", previewReplicaCount %d first", a.Preview)
	}
	return text
}

func amounts(a *workload.Arithmetic) string {
	surge, unavailable := &a.Surge, &a.Unavailable
	switch {
	case surge.Field == "" && unavailable.Field == "":
		return ""
	case surge.Field == "":
		return sourced(unavailable)
	case !surge.Written && !unavailable.Written:
		return amount(surge) + ", " + amount(unavailable) + " (both by default)"
	}
	return sourced(surge) + ", " + sourced(unavailable)
}

// sourced formats an amount. It marks an amount that is a default.
func sourced(a *workload.Amount) string {
	if a.Written {
		return amount(a)
	}
	return amount(a) + " (by default)"
}

// Budget shows how the disruptions allowed by a PodDisruptionBudget are computed. It returns "" if
// their number is unknown.
func Budget(b *disruption.Budget) string {
	unscaled := ""
	if b.Unscaled != nil {
		unscaled = b.Unscaled.String()
	}
	if !b.Known && b.AllowedMax > 0 {
		return ""
	}
	return wordBudget(&b.Amount, b.Pods, b.WhileSmall, unscaled)
}

// wordBudget describes the minAvailable or maxUnavailable of a budget. The argument pods is the
// number of selected pods.
func wordBudget(a *workload.Amount, pods int, small bool, unscaled string) string {
	value := a.Field + " " + a.Value.String()
	switch {
	case a.Field == "":
		return "neither minAvailable nor maxUnavailable is set"
	case unscaled != "":
		return fmt.Sprintf("%s needs a number of replicas, which %s does not have", value, unscaled)
	case small, a.Of == 0:
		return value
	case a.Of > pods:
		return fmt.Sprintf("%s of %s, selects only %d", value, plural(a.Of, "pod"), pods)
	case a.Value.Type == intstr.Int:
		return value + " of " + plural(a.Of, "pod")
	}
	return amount(a)
}

// whileSmall states the largest size of the autoscaled workloads at which a budget allows no
// disruptions.
func whileSmall(small bool, upTo, workloads int) string {
	switch {
	case !small:
		return ""
	case workloads == 1:
		return fmt.Sprintf(" while the workload has at most %s", plural(upTo, "replica"))
	}
	return fmt.Sprintf(" while the autoscaled workloads have at most %s", plural(upTo, "replica"))
}
