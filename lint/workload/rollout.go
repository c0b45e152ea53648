package workload

import (
	"math"
	"strconv"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/versions"
)

// Way describes how a controller replaces pods when the pod template changes.
type Way string

// Values of Way.
const (
	// NoRollout means that the controller does not replace pods.
	NoRollout Way = "none"
	// Rolling means that up to Surge extra pods may exist while up to Unavailable pods are missing
	// (R-W4, R-W5).
	Rolling Way = "rolling"
	// Recreate means that all old pods are removed before the first new pod is created (R-W8).
	Recreate Way = "recreate"
	// InPlace means that each pod is removed before its successor is created (R-W12, R-W17, R-W30).
	InPlace Way = "in-place"
	// PerNode means that the old and the new pod of a DaemonSet run side by side on a node for a
	// while (R-W17).
	PerNode Way = "surge-per-node"
	// BothWhole means that all new pods are running before any old pod is removed (R-W31).
	BothWhole Way = "both-whole"
)

// Rollout describes how a controller replaces the pods of a workload with a given number of pods.
type Rollout struct {
	Way Way
	// Surge is the maximum number of additional pods during the update. Unavailable is the maximum
	// number of missing pods.
	Surge, Unavailable int
	// Preview is the number of new pods that a blue-green Rollout creates before it scales up
	// fully. It is 0 if the manifest does not limit this number.
	Preview int
	// Arithmetic shows how Surge, Unavailable and Preview were computed.
	Arithmetic Arithmetic
	// Unknown is the reason why the other fields are unknown, or zero if they are known.
	Unknown Unclear
	// Span is the location of the strategy's most important field, or zero if the manifest does not
	// set a strategy.
	Span diag.Span
}

// update builds the Rollout for one object.
type update struct {
	Rollout
	file       *source.File
	pods       int
	kubernetes versions.Version
}

// updates maps each kind whose controller replaces pods to the method that reads its strategy.
var updates = map[string]func(u *update, spec *source.Node){
	"Deployment":         (*update).deployment,
	"StatefulSet":        (*update).statefulSet,
	"DaemonSet":          (*update).daemonSet,
	"VirtualMachinePool": (*update).pool,
	rolloutKind:          (*update).argo,
}

// Rollout describes the update of a workload with a given number of pods. For a DaemonSet, replicas
// is the number of nodes that it runs on.
func (w *Workload) Rollout(replicas int) Rollout {
	u := update{Rollout: Rollout{Way: NoRollout}, file: w.Object.File, pods: replicas, kubernetes: w.Kubernetes}
	if resolve, ok := updates[w.Kind.Kind]; ok && replicas > 0 {
		resolve(&u, w.Object.Root.Get("spec"))
	}
	return u.Rollout
}

// Paused reports whether the workload is created paused. In that case, it has no pods until someone
// resumes it (R-W9).
func (w *Workload) Paused() bool {
	on, _ := w.Object.Root.At("spec", "paused").Bool()
	return on && w.Kind.Kind == "Deployment"
}

// setSpan sets Span to the location of a field if the manifest sets that field.
func (u *update) setSpan(n *source.Node, field string) {
	if k, v := n.Field(field); !v.IsNull() {
		u.Span = u.file.FieldSpan(k, v)
	}
}

// word returns the value of a string field. A placeholder makes the rollout unknown.
func (u *update) word(n *source.Node, field string) string {
	v := n.Get(field)
	if v.Placeholder() {
		u.Unknown = Unclear{IsVariable, field, v.Value}
	}
	return v.Text()
}

// on reports whether a boolean field is true.
func (u *update) on(n *source.Node, field string) bool {
	u.word(n, field)
	on, _ := n.Get(field).Bool()
	return on
}

// paused reports whether the update is, or may be, paused (R-W9).
func (u *update) paused(spec *source.Node) bool {
	paused := u.on(spec, "paused") || u.Unknown.Given()
	if paused {
		u.setSpan(spec, "paused")
	}
	return paused
}

// deployment reads the spec.strategy of a Deployment.
func (u *update) deployment(spec *source.Node) {
	if u.paused(spec) {
		return
	}
	strategy := spec.Get("strategy")
	u.setSpan(spec, "strategy")
	u.setSpan(strategy, "type")
	u.Way = Rolling
	if u.word(strategy, "type") == recreate {
		u.Way, u.Unavailable, u.Arithmetic = Recreate, u.pods, Arithmetic{Strategy: ByRecreate}
		return
	}
	u.setSpan(strategy, "rollingUpdate")
	u.fenceposts(strategy.Get("rollingUpdate"))
}

// fenceposts computes maxSurge and maxUnavailable, which default to 25%. It mirrors
// ResolveFenceposts, MaxSurge and MaxUnavailable in
// pkg/controller/deployment/util/deployment_util.go, and utils/replicaset/canary.go of
// argo-rollouts (R-W4).
func (u *update) fenceposts(rolling *source.Node) {
	surge := u.resolveAmount(rolling, "maxSurge", "25%", true)
	unavailable := u.resolveAmount(rolling, "maxUnavailable", "25%", false)
	u.Surge, u.Unavailable = surge.Pods(), unavailable.Pods()
	u.Arithmetic = Arithmetic{Surge: surge, Unavailable: unavailable, Pods: u.pods}
	switch {
	case u.Surge == 0 && u.Unavailable == 0:
		u.Unavailable = 1
		u.Arithmetic.Correction = BothZero
	case u.Unavailable > u.pods:
		u.Unavailable = u.pods
		u.Arithmetic.Correction = AllPods
	}
}

// resolveAmount reads a pod count from a field of n. The argument absent is the default for a field
// that is not set. If the field is set, resolveAmount sets Span to its location.
func (u *update) resolveAmount(n *source.Node, name, absent string, up bool) Amount {
	value := n.Get(name)
	v, ok := intstr.FromString(absent), true
	if n, err := strconv.Atoi(absent); err == nil {
		v = intstr.FromInt32(int32(n))
	}
	if !value.IsNull() {
		v, ok = amountOf(value)
		u.setSpan(n, name)
	}
	switch {
	case value.Placeholder():
		u.Unknown = Unclear{IsVariable, name, value.Value}
	case !ok:
		u.Unknown = Unclear{Kind: NoAmount, Field: name}
	}
	return Amount{name, v, u.pods, up, !value.IsNull()}
}

// argo reads the strategy of an Argo Rollout (R-W31). The update is unknown if the controller adds
// a required anti-affinity rule between revisions.
func (u *update) argo(spec *source.Node) {
	if u.paused(spec) {
		return
	}
	strategy := spec.Get("strategy")
	u.setSpan(spec, "strategy")
	canary, blueGreen := strategy.Get("canary"), strategy.Get("blueGreen")
	if canary.IsNull() == blueGreen.IsNull() {
		u.Unknown = Unclear{Kind: TwoStrategies}
		return
	}
	u.setSpan(strategy, "canary")
	u.setSpan(strategy, "blueGreen")
	switch {
	case !blueGreen.IsNull():
		u.bothWhole(ByBlueGreen)
		u.word(blueGreen, "previewReplicaCount")
		if n, ok := blueGreen.Get("previewReplicaCount").Int(); ok && n > 0 {
			u.Preview = int(min(n, int64(u.pods)))
			u.Arithmetic.Preview = n
		}
	case !canary.Get("trafficRouting").IsNull(): // the old pods stay until the end, regardless of maxSurge and maxUnavailable
		u.bothWhole(ByTraffic)
		u.setSpan(canary, "trafficRouting")
		if u.on(canary, "dynamicStableScale") {
			u.Unknown = Unclear{Kind: DynamicScale}
			u.setSpan(canary, "dynamicStableScale")
		}
	default:
		u.Way = Rolling
		u.fenceposts(canary)
	}
	for _, strategy := range []*source.Node{canary, blueGreen} { // one of the two is null
		if anti := strategy.Get("antiAffinity"); !anti.Get(hardTerms).IsNull() {
			u.Unknown = Unclear{Kind: AddsAntiAffinity}
			u.setSpan(anti, hardTerms)
		}
	}
}

func (u *update) bothWhole(by Strategy) {
	u.Way, u.Surge = BothWhole, u.pods
	u.Arithmetic = Arithmetic{Strategy: by, Pods: u.pods}
}

// statefulSet reads the spec.updateStrategy of a StatefulSet (R-W12;
// pkg/controller/statefulset/stateful_set_control.go). partition is relative to
// spec.ordinals.start.
func (u *update) statefulSet(spec *source.Node) {
	strategy, ok := u.inPlace(spec)
	if !ok {
		return
	}
	rolling := strategy.Get("rollingUpdate")
	u.word(rolling, "partition")
	if n, ok := rolling.Get("partition").Int(); ok && n >= int64(u.pods) {
		u.Way = NoRollout
		u.setSpan(rolling, "partition")
		return
	}
	u.Way = InPlace
	keeps := versions.MaxUnavailable().Keeps(u.kubernetes)
	if keeps == diag.Never {
		rolling = nil
	}
	u.atLeastOne(u.resolveAmount(rolling, "maxUnavailable", "1", false))
	if (keeps == diag.Unknown || u.kubernetes == versions.Version{}) && u.Unavailable > 1 {
		u.Unknown = Unclear{ByPatch, "maxUnavailable", u.kubernetes.String()}
	}
}

// inPlace reads the fields that the strategies of StatefulSets and DaemonSets have in common. ok is
// false if pods are replaced only after someone deletes them.
func (u *update) inPlace(spec *source.Node) (strategy *source.Node, ok bool) {
	strategy = spec.Get("updateStrategy")
	u.setSpan(spec, "updateStrategy")
	u.setSpan(strategy, "type")
	if u.word(strategy, "type") == onDelete {
		return strategy, false
	}
	u.setSpan(strategy, "rollingUpdate")
	return strategy, true
}

// atLeastOne sets Unavailable to maxUnavailable, limited to the range from 1 to the number of pods.
// It is used for controllers that never block an update.
func (u *update) atLeastOne(unavailable Amount) {
	u.Unavailable = max(1, min(unavailable.Pods(), u.pods))
	u.Arithmetic = Arithmetic{Unavailable: unavailable, Pods: u.pods}
	if unavailable.Pods() < 1 {
		u.Arithmetic.Correction = AtLeastOne
	}
}

// daemonSet reads the spec.updateStrategy of a DaemonSet. It mirrors updatedDesiredNodeCounts in
// pkg/controller/daemon/update.go, with SurgeCount and UnavailableCount in
// pkg/controller/daemon/util/daemonset_util.go. Percentages in maxSurge and maxUnavailable are
// rounded up. If both fields are 0, maxUnavailable becomes 1 (R-W17).
func (u *update) daemonSet(spec *source.Node) {
	strategy, ok := u.inPlace(spec)
	if !ok {
		return
	}
	rolling := strategy.Get("rollingUpdate")
	surge, unavailable := u.resolveAmount(rolling, "maxSurge", "0", true), u.resolveAmount(rolling, "maxUnavailable", "1", true)
	if surge.Pods() == 0 {
		u.Way = InPlace
		u.atLeastOne(unavailable)
		return
	}
	u.Way, u.Surge, u.Unavailable = PerNode, surge.Pods(), min(unavailable.Pods(), u.pods)
	u.Arithmetic = Arithmetic{Surge: surge, Unavailable: unavailable, Pods: u.pods}
}

// pool reads the spec.updateStrategy and spec.maxUnavailable of a VirtualMachinePool. Only a
// proactive update, which is the default, restarts machines (R-W30).
func (u *update) pool(spec *source.Node) {
	strategy := spec.Get("updateStrategy")
	u.setSpan(spec, "updateStrategy")
	if strategy.Placeholder() {
		u.Unknown = Unclear{IsVariable, "updateStrategy", strategy.Value}
		return
	}
	for _, name := range []string{"unmanaged", "opportunistic"} {
		if !strategy.Get(name).IsNull() {
			u.setSpan(strategy, name)
			return
		}
	}
	u.Way = InPlace
	u.atLeastOne(u.resolveAmount(spec, "maxUnavailable", "100%", false))
}

// scaled converts a number or a percentage of pods to a pod count. It rounds a percentage up if up
// is true, and down otherwise. It returns 0 for values that the API server rejects.
func scaled(v *intstr.IntOrString, pods int, up bool) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(v, pods, up)
	if err != nil {
		return 0
	}
	return max(0, min(n, math.MaxInt32))
}

// amountOf reads a number or a percentage. ok is false for any other value.
func amountOf(n *source.Node) (v intstr.IntOrString, ok bool) {
	if i, whole := n.Int(); whole {
		return intstr.FromInt32(int32(min(max(i, 0), math.MaxInt32))), true
	}
	v = intstr.FromString(n.Text())
	_, err := intstr.GetScaledValueFromIntOrPercent(&v, 100, true)
	return v, err == nil
}

// Amount is a pod count that a field sets, either as a number or as a percentage. Of is the number
// of pods to which a percentage applies. The result is rounded up if Up is set, and down otherwise.
// Amount is zero if no field applies.
type Amount struct {
	Field string
	Value intstr.IntOrString
	Of    int
	Up    bool
	// Written is set if the manifest has the field. Otherwise, Value is the default.
	Written bool
}

// Pods returns the number of pods, or 0 for values that the API server rejects.
func (a *Amount) Pods() int { return scaled(&a.Value, a.Of, a.Up) }

// Exact reports whether Pods returns a result that needed no rounding.
func (a *Amount) Exact() bool { return a.Pods() == scaled(&a.Value, a.Of, !a.Up) }

// Correction is an adjustment that a controller makes to maxSurge or maxUnavailable.
type Correction string

// Values of Correction.
const (
	AsWritten Correction = ""
	// BothZero means that maxSurge and maxUnavailable are both 0. The controller then uses 1 for
	// maxUnavailable (R-W4).
	BothZero Correction = "both-zero"
	// AllPods means that maxUnavailable exceeds the pod count, so the controller reduces it to the
	// pod count.
	AllPods Correction = "all-pods"
	// AtLeastOne means that maxUnavailable is 0, so the controller uses 1 instead (R-W12, R-W17).
	AtLeastOne Correction = "at-least-one"
)

// Strategy is an update strategy that does not use maxSurge and maxUnavailable.
type Strategy string

// Values of Strategy.
const (
	ByRecreate  Strategy = "recreate"
	ByBlueGreen Strategy = "blue-green"
	// ByTraffic is a canary with trafficRouting. The old pods keep running until the end of the
	// update.
	ByTraffic Strategy = "traffic-routing"
)

// Arithmetic describes how Surge and Unavailable were computed for a workload with Pods pods. They
// follow from Strategy or, if that is empty, from maxSurge, maxUnavailable or both. Preview is the
// value of previewReplicaCount, or 0 if that field is not set.
type Arithmetic struct {
	Strategy           Strategy
	Surge, Unavailable Amount
	Correction         Correction
	Pods               int
	Preview            int64
}

// UnclearKind says why Surge and Unavailable are unknown.
type UnclearKind string

// Values of UnclearKind.
const (
	// IsVariable means that Field contains the placeholder Value. NoAmount means that Field is
	// neither a number nor a percentage.
	IsVariable UnclearKind = "variable"
	NoAmount   UnclearKind = "no-amount"
	// ByPatch means that only some patch releases of the Kubernetes version Value keep Field. If Value
	// is empty, the version is not known, and only some keep it.
	ByPatch UnclearKind = "by-patch"
	// TwoStrategies means that an Argo Rollout sets both canary and blueGreen, or neither.
	// DynamicScale means that a Rollout removes old pods gradually. AddsAntiAffinity means that a
	// Rollout keeps pods of different revisions apart.
	TwoStrategies    UnclearKind = "two-strategies"
	DynamicScale     UnclearKind = "dynamic-scale"
	AddsAntiAffinity UnclearKind = "adds-anti-affinity"
)

// Unclear is the reason why an update strategy is unknown. It is zero if the strategy is known.
type Unclear struct {
	Kind         UnclearKind
	Field, Value string
}

// Given reports whether the update strategy is unknown.
func (u Unclear) Given() bool { return u.Kind != "" }
