package workload

import "k8s.io/apimachinery/pkg/util/intstr"

// Amount is a number of pods as a field gives it: as it is, or as a percentage of Of
// pods, rounded up or down. The zero Amount is none.
type Amount struct {
	Field string
	Value intstr.IntOrString
	Of    int
	Up    bool
	// Written is unset where the field is absent and Value is its default.
	Written bool
}

// Pods is the number; what the API server rejects is 0.
func (a *Amount) Pods() int { return scaled(&a.Value, a.Of, a.Up) }

// Exact reports whether nothing is rounded.
func (a *Amount) Exact() bool { return a.Pods() == scaled(&a.Value, a.Of, !a.Up) }

// Correction is how a controller changes the numbers of a strategy.
type Correction string

// The corrections.
const (
	AsWritten Correction = ""
	// BothZero: where both numbers are 0, maxUnavailable counts as 1 (R-W4).
	BothZero Correction = "both-zero"
	// AllPods: maxUnavailable exceeds the number of pods.
	AllPods Correction = "all-pods"
	// AtLeastOne: maxUnavailable is 0 and counts as 1 (R-W12, R-W17).
	AtLeastOne Correction = "at-least-one"
)

// Strategy is one that has no numbers.
type Strategy string

// The strategies.
const (
	ByRecreate  Strategy = "recreate"
	ByBlueGreen Strategy = "blue-green"
	// ByTraffic is a canary with trafficRouting: old pods stay until the end.
	ByTraffic Strategy = "traffic-routing"
)

// Arithmetic is how the numbers of a rollout come about: by a Strategy, or by one or
// both of maxSurge and maxUnavailable. It is of Pods pods. Preview is
// previewReplicaCount, 0 if it is not set.
type Arithmetic struct {
	Strategy           Strategy
	Surge, Unavailable Amount
	Correction         Correction
	Pods               int
	Preview            int64
}

// UnclearKind is why the numbers of a rollout are unknown.
type UnclearKind string

// The kinds.
const (
	// IsVariable: Field is the variable Value. NoAmount: Field is neither a number nor
	// a percentage.
	IsVariable UnclearKind = "variable"
	NoAmount   UnclearKind = "no-amount"
	// TwoStrategies: an Argo Rollout has not exactly one strategy. DynamicScale: its
	// old pods go step by step. AddsAntiAffinity: it keeps revisions apart.
	TwoStrategies    UnclearKind = "two-strategies"
	DynamicScale     UnclearKind = "dynamic-scale"
	AddsAntiAffinity UnclearKind = "adds-anti-affinity"
)

// Unclear is what is unknown of an update strategy. The zero Unclear is nothing.
type Unclear struct {
	Kind         UnclearKind
	Field, Value string
}

// Given reports whether anything is unknown.
func (u Unclear) Given() bool { return u.Kind != "" }
