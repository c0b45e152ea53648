package workload

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/source"
)

// Refusal is an object that creates no pods, such as a PodDisruptionBudget, and that the API server
// refuses.
type Refusal struct {
	Object   *source.Object
	Problems []Problem
}

// others has the checks of objects that create no pods, by kind.
var others = map[string]func(c objectChecker, spec *place){
	"PodDisruptionBudget":     objectChecker.disruptionBudget,
	"HorizontalPodAutoscaler": objectChecker.autoscaler,
}

// validateOther records the fields of an object without pods that the API server refuses.
func (l *loader) validateOther(o *source.Object) {
	check, ok := others[o.Kind]
	if !ok {
		return
	}
	var held placeholders
	held.find("", o.Root)
	l.placeholders(o, held.named())
	c := checker{w: &Workload{Object: o, Kind: &Kind{Group: o.Group(), Kind: o.Kind}}, unchecked: StageObject, created: StageObject, fromTemplate: StageObject}
	root := place{value: o.Root}
	spec := root.field("spec")
	if c.is(&spec, source.Map) {
		check(objectChecker{&c}, &spec)
	}
	l.placeholders(o, c.w.Placeholders)
	if len(c.w.Problems) > 0 {
		l.set.Refusals = append(l.set.Refusals, Refusal{Object: o, Problems: c.w.Problems})
	}
}

var evictionPolicies = []string{"IfHealthyBudget", "AlwaysAllow"}

// disruptionBudget checks a PodDisruptionBudget (R-V38; pkg/apis/policy/validation/validation.go).
// Its name is any path segment, so upper case and underscores are accepted.
func (c objectChecker) disruptionBudget(spec *place) {
	low, high := spec.field("minAvailable"), spec.field("maxUnavailable")
	c.amount(&low, true)
	c.amount(&high, true)
	if !low.absent() && !high.absent() {
		c.refuse(StageObject, &high, found(&high, high.name)+" and minAvailable is also set: only one of them can be set", "remove minAvailable or maxUnavailable")
	}
	if policy := spec.field("unhealthyPodEvictionPolicy"); c.isText(&policy) && !policy.absent() {
		c.oneOf(StageObject, &policy, false, evictionPolicies)
	}
	selector := spec.field("selector")
	match, expressions := selector.field("matchLabels"), selector.field("matchExpressions")
	if c.is(&selector, source.Map) && c.isTextMap(&match) {
		c.requirements(&expressions)
		c.selectorPlaces(&selector)
	}
}

// autoscaler checks a HorizontalPodAutoscaler (R-V38;
// pkg/apis/autoscaling/validation/validation.go). One without a target is a patch. minReplicas may
// be 0 only with the gate HPAScaleToZero.
func (c objectChecker) autoscaler(spec *place) {
	if spec.value.At("scaleTargetRef", "name").IsNull() {
		return
	}
	c.identity()
	low, high := spec.field("minReplicas"), spec.field("maxReplicas")
	before := len(c.w.Problems)
	c.wholeNumber(&low)
	c.wholeNumber(&high)
	least, lok := low.value.Int()
	most, hok := high.value.Int()
	switch {
	case len(c.w.Problems) > before || !hok:
	case most < 1:
		c.refuse(StageObject, &high, found(&high, high.name)+": must be at least 1", "")
	case lok && least > most:
		c.refuse(StageObject, &high, fmt.Sprintf("maxReplicas is %d and minReplicas is %d: maxReplicas must be greater than or equal to minReplicas", most, least),
			fmt.Sprintf("set maxReplicas to %d or more, or minReplicas to %d or less", least, most))
	}
}
