package message

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/workload"
)

// amount shows the derivation of a number: maxSurge 25% of 3 rounds up to 1. An absolute number
// reads maxSurge 1.
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

// strategies has the words of each strategy without numbers.
var strategies = map[workload.Strategy]func(*workload.Arithmetic) string{
	workload.ByRecreate:  func(*workload.Arithmetic) string { return "type Recreate" },
	workload.ByBlueGreen: func(a *workload.Arithmetic) string { return bothWhole("blueGreen", a) },
	workload.ByTraffic:   func(a *workload.Arithmetic) string { return bothWhole("canary with trafficRouting", a) },
}

func bothWhole(name string, a *workload.Arithmetic) string {
	return fmt.Sprintf("%s: %d new beside %s", name, a.Pods, plural(a.Pods, "pod"))
}

// corrections has the words of each correction.
var corrections = map[workload.Correction]func(*workload.Arithmetic) string{
	workload.AsWritten:  func(*workload.Arithmetic) string { return "" },
	workload.BothZero:   func(*workload.Arithmetic) string { return "; as both are 0, maxUnavailable counts as 1" },
	workload.AllPods:    func(a *workload.Arithmetic) string { return "; there are no more than " + plural(a.Pods, "pod") },
	workload.AtLeastOne: func(*workload.Arithmetic) string { return ", but counts as 1" },
}

// Arithmetic shows the derivation of the numbers of a rollout; "" for a workload that is not rolled
// out.
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

// sourced returns an amount, marked if it is a default.
func sourced(a *workload.Amount) string {
	if a.Written {
		return amount(a)
	}
	return amount(a) + " (by default)"
}

// Budget shows the derivation of the number of disruptions that a PodDisruptionBudget allows; "" if
// it is unknown.
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

// wordBudget words the demand of a budget that selects a number of pods.
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

// whileSmall says at which sizes of autoscaled workloads a budget allows no disruptions.
func whileSmall(small bool, upTo, workloads int) string {
	switch {
	case !small:
		return ""
	case workloads == 1:
		return fmt.Sprintf(" while the workload has at most %s", plural(upTo, "replica"))
	}
	return fmt.Sprintf(" while the autoscaled workloads have at most %s", plural(upTo, "replica"))
}
