package workload

import "k8s.io/apimachinery/pkg/util/intstr"

// Amount is a number of pods as a field states it: absolute, or a percentage of Of pods, rounded up
// or down. The zero Amount means that no field states one.
type Amount struct {
	Field string
	Value intstr.IntOrString
	Of    int
	Up    bool
	// Written is false if the field is absent and Value is its default.
	Written bool
}

// Pods returns the number; 0 for values that the API server refuses.
func (a *Amount) Pods() int { return scaled(&a.Value, a.Of, a.Up) }

// Exact reports whether the number is exact without rounding.
func (a *Amount) Exact() bool { return a.Pods() == scaled(&a.Value, a.Of, !a.Up) }

// Correction is a change that a controller makes to the numbers of a strategy.
type Correction string

// The corrections.
const (
	AsWritten Correction = ""
	// BothZero: both numbers are 0, and maxUnavailable counts as 1 (R-W4).
	BothZero Correction = "both-zero"
	// AllPods: maxUnavailable exceeds the number of pods and counts as all of them.
	AllPods Correction = "all-pods"
	// AtLeastOne: maxUnavailable is 0 and counts as 1 (R-W12, R-W17).
	AtLeastOne Correction = "at-least-one"
)

// Strategy is an update strategy without maxSurge and maxUnavailable.
type Strategy string

// The strategies.
const (
	ByRecreate  Strategy = "recreate"
	ByBlueGreen Strategy = "blue-green"
	// ByTraffic is a canary with trafficRouting: old pods stay until the end.
	ByTraffic Strategy = "traffic-routing"
)

// Arithmetic is the derivation of the numbers of a rollout of Pods pods: from a Strategy, or from
// one or both of maxSurge and maxUnavailable. Preview is previewReplicaCount, 0 if it is not set.
type Arithmetic struct {
	Strategy           Strategy
	Surge, Unavailable Amount
	Correction         Correction
	Pods               int
	Preview            int64
}

// UnclearKind is a reason why the numbers of a rollout are unknown.
type UnclearKind string

// The kinds.
const (
	// IsVariable: Field has the variable Value. NoAmount: Field is neither a number nor a
	// percentage.
	IsVariable UnclearKind = "variable"
	NoAmount   UnclearKind = "no-amount"
	// TwoStrategies: an Argo Rollout does not have exactly one strategy. DynamicScale: its old pods
	// are removed step by step. AddsAntiAffinity: it keeps revisions apart.
	TwoStrategies    UnclearKind = "two-strategies"
	DynamicScale     UnclearKind = "dynamic-scale"
	AddsAntiAffinity UnclearKind = "adds-anti-affinity"
)

// Unclear is the unknown part of an update strategy. The zero Unclear means that all of it is
// known.
type Unclear struct {
	Kind         UnclearKind
	Field, Value string
}

// Given reports whether anything is unknown.
func (u Unclear) Given() bool { return u.Kind != "" }
