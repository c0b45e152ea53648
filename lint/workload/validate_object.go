package workload

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/versions"
)

// outer describes the fields around the pod template for one kind of object.
type outer struct {
	// spec is the path of the map that contains these fields.
	spec []string
	// counts lists the fields that contain pod counts.
	counts []string
	// update checks the fields that control how the object creates or replaces its pods. If there
	// are none to check, update is nil.
	update func(c *checker, spec *place)
	// word is the name of a field whose value must be in the list words, or empty if the kind has
	// no such field.
	word  string
	words []string
	// selected is the path of the labels that spec.selector must match.
	selected []string
}

var (
	specPath      = []string{"spec"}
	jobPath       = []string{"spec", "jobTemplate", "spec"}
	templateLabel = []string{"spec", "template", "metadata", "labels"}
	machineLabel  = []string{"spec", "virtualMachineTemplate", "metadata", "labels"}
	podNumbers    = []string{"replicas"}
	jobNumbers    = []string{"parallelism", "completions"}
	completion    = []string{"NonIndexed", indexedMode}
	management    = []string{"OrderedReady", "Parallel"}
)

var outers = map[string]outer{
	"Deployment":                       {spec: specPath, counts: podNumbers, update: (*checker).deployment, selected: templateLabel},
	"ReplicaSet":                       {spec: specPath, counts: podNumbers, selected: templateLabel},
	"ReplicationController":            {spec: specPath, counts: podNumbers, selected: templateLabel},
	"StatefulSet":                      {spec: specPath, counts: podNumbers, update: (*checker).statefulSet, word: "podManagementPolicy", words: management, selected: templateLabel},
	"DaemonSet":                        {spec: specPath, update: (*checker).daemonSet, selected: templateLabel},
	"Job":                              {spec: specPath, counts: jobNumbers, update: (*checker).job, word: "completionMode", words: completion},
	"CronJob":                          {spec: jobPath, counts: jobNumbers, update: (*checker).cronJob, word: "completionMode", words: completion},
	"VirtualMachineInstanceReplicaSet": {spec: specPath, counts: podNumbers, selected: templateLabel},
	"VirtualMachinePool":               {spec: specPath, counts: podNumbers, selected: machineLabel},
}

// object checks the fields around the pod template. The decoder does not read these fields, so
// object also has to report values of the wrong type.
func (c *checker) object() {
	root, metadata := c.w.Object.Root, c.metadata()
	c.identity(metadata)
	if len(c.w.Kind.Template) > 0 {
		labels := metadata.field("labels")
		c.isTextMap(labels)
		c.labels(StageObject, labels, "label")
	}
	o, ok := outers[c.w.Kind.Kind]
	if !ok {
		return
	}
	spec := &place{base: o.spec, value: root.At(o.spec...)}
	for _, name := range o.counts {
		c.wholeNumber(spec.field(name))
	}
	if o.word != "" {
		if p := spec.field(o.word); c.isText(p) {
			c.oneOf(StageObject, p, true, o.words)
		}
	}
	if o.selected != nil {
		c.selects(spec, root.At(o.selected...))
	}
	if o.update != nil {
		o.update(c, spec)
	}
}

// wholeNumber checks an integer field. Except for virtual machines, the value must not be negative.
func (c *checker) wholeNumber(p *place) {
	n, ok := p.value.Int()
	switch {
	case p.absent():
	case p.value.PlaceholderOfNumber():
		c.w.numeral(p.value)
	case !ok:
		c.w.mistyped(p.path(), p.key, p.value, "whole number")
		if p.value.Quoted {
			c.w.Problems[len(c.w.Problems)-1].Fix = "remove the quotes"
		}
	case n > math.MaxInt32 || n < math.MinInt32:
		c.refuse(StageObject, p, found(p, p.name)+": must fit in a 32-bit integer", "")
	case n < 0 && !c.w.Kind.VM:
		c.refuse(StageObject, p, found(p, p.name)+": must not be negative", "")
	}
}

// is checks that a field is absent or of the given kind, and records a problem if it is not.
func (c *checker) is(p *place, kind source.Kind) bool {
	if p.absent() || p.value.Kind == kind {
		return true
	}
	if !p.value.Placeholder() {
		c.w.mistyped(p.path(), p.key, p.value, kind.String())
	}
	return false
}

// isText checks that a field is absent or a string, and records a problem if it is not.
func (c *checker) isText(p *place) bool {
	_, ok := p.text()
	if !ok && !p.value.Placeholder() {
		c.w.mistyped(p.path(), p.key, p.value, "string")
	}
	return ok
}

// isTextMap checks that a field is absent or a map of strings, and records a problem if it is not.
func (c *checker) isTextMap(p *place) bool {
	ok := c.is(p, source.Map)
	for k, v := range p.value.Fields() {
		ok = c.isText(p.entry(k, v)) && !k.Placeholder() && ok
	}
	return ok
}

// Refusal describes an object without pods, such as a PodDisruptionBudget, that the API server
// rejects.
type Refusal struct {
	Object   *source.Object
	Problems []Problem
}

// others maps kinds without pods to functions that check their specs.
var others = map[string]func(c *checker, spec *place){
	"PodDisruptionBudget":     (*checker).disruptionBudget,
	"HorizontalPodAutoscaler": (*checker).autoscaler,
	"Namespace":               (*checker).namespace,
}

// validateOther checks an object without pods and records the fields that the API server rejects.
func (l *loader) validateOther(o *source.Object) {
	check, ok := others[o.Kind]
	if !ok {
		return
	}
	var held placeholders
	held.find("", o.Root)
	l.placeholders(o, held.named())
	c := checker{w: &Workload{Object: o, Kind: &Kind{Group: o.Group(), Kind: o.Kind}}, unchecked: StageObject, created: StageObject, fromTemplate: StageObject}
	if spec := (&place{value: o.Root}).field("spec"); c.is(spec, source.Map) {
		check(&c, spec)
	}
	l.placeholders(o, c.w.Placeholders)
	if len(c.w.Problems) > 0 {
		l.set.Refusals = append(l.set.Refusals, Refusal{Object: o, Problems: c.w.Problems})
	}
}

var evictionPolicies = []string{"IfHealthyBudget", "AlwaysAllow"}

// disruptionBudget checks a PodDisruptionBudget (R-V38; pkg/apis/policy/validation/validation.go).
// Its name can be any path segment, so upper-case letters and underscores are allowed.
func (c *checker) disruptionBudget(spec *place) {
	low, high := spec.field("minAvailable"), spec.field("maxUnavailable")
	c.amount(low, true)
	c.amount(high, true)
	if !low.absent() && !high.absent() {
		c.refuse(StageObject, high, found(high, high.name)+" and minAvailable is also set: only one of them can be set", "remove minAvailable or maxUnavailable")
	}
	if policy := spec.field("unhealthyPodEvictionPolicy"); c.isText(policy) && !policy.absent() {
		c.oneOf(StageObject, policy, false, evictionPolicies)
	}
	selector := spec.field("selector")
	if c.is(selector, source.Map) && c.isTextMap(selector.field("matchLabels")) {
		c.requirements(selector.field("matchExpressions"))
		c.selectorPlaces(selector)
	}
}

// autoscaler checks a HorizontalPodAutoscaler (R-V38;
// pkg/apis/autoscaling/validation/validation.go). An autoscaler without a target is treated as a
// patch. The feature gate HPAScaleToZero, which allows minReplicas 0, is off by default.
func (c *checker) autoscaler(spec *place) {
	if spec.value.At("scaleTargetRef", "name").IsNull() {
		return
	}
	c.identity(c.metadata())
	low, high := spec.field("minReplicas"), spec.field("maxReplicas")
	before := len(c.w.Problems)
	c.wholeNumber(low)
	c.wholeNumber(high)
	least, lok := low.value.Int()
	most, hok := high.value.Int()
	ref := spec.field("scaleTargetRef")
	if at := ref.field("apiVersion"); ref.value.Get("kind").Text() != "ReplicationController" && !at.value.Placeholder() && groupOf(at.value.Text()) == "" && !c.w.Kubernetes.Before(36) {
		if at.absent() {
			at = ref
		}
		c.refuse(StageObject, at, "scaleTargetRef.apiVersion must specify the API group", "set apiVersion: apps/v1, or the apiVersion of the target")
	}
	switch {
	case len(c.w.Problems) > before || !hok:
	case lok && least < 1:
		c.refuse(StageObject, low, found(low, low.name)+": must be at least 1", "")
	case most < 1:
		c.refuse(StageObject, high, found(high, high.name)+": must be at least 1", "")
	case lok && least > most:
		c.refuse(StageObject, high, fmt.Sprintf("maxReplicas is %d and minReplicas is %d: maxReplicas must be greater than or equal to minReplicas", most, least),
			fmt.Sprintf("set maxReplicas to %d or more, or minReplicas to %d or less", least, most))
	}
}

// job checks the spec of a Job (pkg/apis/batch/validation/validation.go, ValidateJob). If neither
// completions nor parallelism is set, both default to 1 (pkg/apis/batch/v1/defaults.go,
// SetDefaults_Job).
func (c *checker) job(spec *place) {
	if !spec.field("parallelism").absent() {
		c.indexed(spec)
	}
	if spec.field("completionMode").value.Text() == indexedMode {
		c.indexName(spec, StageObject, "")
	}
	// Unless manualSelector is true, the API server generates a selector from the Job's uid. It then rejects a
	// selector in the manifest that does not match the generated labels (validateGeneratedSelector).
	selector, manual := spec.field("selector"), spec.field("manualSelector")
	switch on, ok := manual.value.Bool(); {
	case !ok && !manual.absent(): // a placeholder, or of the wrong type
	case on && selector.absent():
		c.refuse(StageObject, manual, "manualSelector is true and selector is missing: needs a selector that matches the template's labels", "remove manualSelector")
	case on:
		c.selects(spec, c.w.Object.Root.At(templateLabel...))
	case selector.absent() || selector.value.Placeholder():
	case selector.value.Kind != source.Map:
		c.is(selector, source.Map)
	case variable(selector.value) == "":
		before := len(c.w.Problems)
		if c.selectorPlaces(selector); len(c.w.Problems) == before && !c.generated(selector) {
			c.refuse(StageObject, selector, "selector is set without manualSelector: only the selector that the API server generates is allowed", "remove selector")
		}
	}
}

// cronJob checks the Job spec of a CronJob. The Job defaults do not apply to this spec, and its
// selector is always generated (ValidateJobTemplateSpec).
func (c *checker) cronJob(spec *place) {
	c.indexed(spec)
	if spec.field("completionMode").value.Text() == indexedMode && !spec.field("completions").absent() {
		c.indexName(spec, StagePods, "-29000000") // the scheduled time in minutes since 1970
	}
	selector, manual := spec.field("selector"), spec.field("manualSelector")
	if !selector.absent() && !selector.value.Placeholder() {
		c.refuse(StageObject, selector, "selector is set in a CronJob: must not be set, each Job generates its own", "remove selector")
	}
	if on, ok := manual.value.Bool(); ok && on {
		c.refuse(StageObject, manual, "manualSelector is true: must be false in a CronJob", "remove manualSelector")
	}
}

const indexedMode = "Indexed"

// indexed checks that an Indexed Job sets completions (validateJobSpec).
func (c *checker) indexed(spec *place) {
	mode := spec.field("completionMode")
	if mode.value.Text() == indexedMode && spec.field("completions").absent() {
		c.refuse(StageObject, mode, "completionMode is Indexed: completions is required", "set completions to the number of indexes")
	}
}

// generated reports whether a selector matches the labels that the API server generates for a Job's
// pods. A selector exported from a cluster contains the Job's uid and may therefore match. An
// unknown selector is assumed to match.
func (c *checker) generated(p *place) bool {
	match := p.field("matchLabels")
	requirements, ok := c.requirements(p.field("matchExpressions"))
	if !c.isTextMap(match) || !ok {
		return true
	}
	selector := metav1.LabelSelector{MatchLabels: map[string]string{}, MatchExpressions: requirements}
	for k, v := range match.value.Fields() {
		selector.MatchLabels[k.Value] = v.Text()
	}
	own := labels.Set{}
	for _, k := range jobUID {
		own[k] = c.w.Object.Root.At("metadata", "uid").Text()
	}
	for _, k := range jobNames {
		own[k] = c.w.Object.Name
	}
	mentions := func(key string) bool {
		_, ok := selector.MatchLabels[key]
		return ok || slices.ContainsFunc(requirements, func(r metav1.LabelSelectorRequirement) bool { return r.Key == key })
	}
	if c.w.Object.Root.At("metadata", "name").IsNull() && slices.ContainsFunc(jobNames, mentions) {
		return true // the name is generated and therefore unknown
	}
	decoded, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil {
		return true
	}
	c.w.Exported = slices.ContainsFunc(jobUID, func(k string) bool { return selector.MatchLabels[k] != "" })
	return decoded.Matches(own)
}

var restartPolicies = []string{"Always", "OnFailure", "Never"}

// restarts checks restartPolicy, which defaults to Always. Jobs need pods that terminate, other
// controllers need pods that restart, and a bare pod may have any policy
// (pkg/apis/core/validation/validation.go, validateRestartPolicy and ValidatePodTemplateSpecForRC;
// pkg/apis/{apps,batch}/validation/validation.go).
func (c *checker) restarts(spec *place) {
	p := spec.field("restartPolicy")
	s, ok := p.text()
	kind, batch := c.w.Object.Kind, c.w.Kind.Batch()
	const fix = "set restartPolicy: OnFailure or Never"
	switch {
	case !ok: // the decoder reports values of other types
	case batch && s == "":
		// An object that sets images is hardly ever a patch. A CronJob must also set a schedule.
		if whollyWritten(spec.value) && (c.w.Kind.Kind != "CronJob" || !c.w.Object.Root.At("spec", "schedule").IsNull()) {
			c.refuse(StageObject, p, "restartPolicy defaults to Always: must be OnFailure or Never in a "+kind, fix)
		}
	case batch && s == "Always":
		c.refuse(StageObject, p, found(p, p.name)+": must be OnFailure or Never in a "+kind, fix)
	default:
		_, ok := c.oneOf(StageObject, p, true, restartPolicies)
		controlled := len(c.w.Kind.Template) > 0 && c.w.Kind.Kind != "PodTemplate" // a PodTemplate creates no pods by itself
		if ok && !batch && controlled && s != "" && s != "Always" {
			c.refuse(StageObject, p, found(p, p.name)+": must be Always in a "+kind, "remove restartPolicy")
		}
	}
}

// whollyWritten reports whether all containers of a pod set an image. If they do, the pod spec is
// probably not a patch, because patches rarely set images.
func whollyWritten(spec *source.Node) bool {
	return !slices.ContainsFunc(spec.Get("containers").Items(), func(n *source.Node) bool { return n.Get("image").IsNull() })
}

// Types of update strategies.
const (
	rollingUpdate = "RollingUpdate"
	recreate      = "Recreate"
	onDelete      = "OnDelete"
)

var (
	deploymentUpdates = []string{rollingUpdate, recreate}
	setUpdates        = []string{rollingUpdate, onDelete}
)

type amount struct {
	n   int
	set bool
}

// rolling reads the type of an update strategy and returns the strategy's rollingUpdate. That field
// is valid only if the type is RollingUpdate. If strict is false, as for a DaemonSet, the API
// server ignores the field in strategies of other types.
func (c *checker) rolling(strategy *place, words []string, strict bool) (p *place, ok bool) {
	kind := strategy.field("type")
	p = strategy.field("rollingUpdate")
	if !c.is(strategy, source.Map) || !c.is(p, source.Map) || !c.isText(kind) {
		return p, false
	}
	word, ok := c.oneOf(StageObject, kind, true, words)
	if !ok || word == "" || word == rollingUpdate {
		return p, ok
	}
	if !strict { // ignored, but decoded anyway
		c.isAmount(p.field("maxSurge"))
		c.isAmount(p.field("maxUnavailable"))
	} else if !p.absent() {
		c.refuse(StageObject, p, fmt.Sprintf("rollingUpdate is set with type %s: can only be set with %s", word, rollingUpdate), "remove rollingUpdate")
	}
	return p, false
}

// deployment checks the strategy of a Deployment (R-V38). maxSurge and maxUnavailable default to
// 25%. Both can therefore be 0 only if the manifest sets them to 0.
func (c *checker) deployment(spec *place) {
	p, ok := c.rolling(spec.field("strategy"), deploymentUpdates, true)
	if !ok {
		return
	}
	unavailable := p.field("maxUnavailable")
	s, sok := c.amount(p.field("maxSurge"), false)
	u, uok := c.amount(unavailable, true)
	if sok && uok && s.set && u.set && s.n == 0 && u.n == 0 {
		c.refuse(StageObject, unavailable, found(unavailable, "maxUnavailable")+": must not be 0 when maxSurge is 0", "set maxUnavailable: 1 or maxSurge: 1")
	}
}

// daemonSet checks the update strategy of a DaemonSet. Exactly one of maxSurge and maxUnavailable
// must be greater than 0, and maxUnavailable defaults to 1 (R-V38).
func (c *checker) daemonSet(spec *place) {
	p, ok := c.rolling(spec.field("updateStrategy"), setUpdates, false)
	if !ok {
		return
	}
	surge, unavailable := p.field("maxSurge"), p.field("maxUnavailable")
	s, sok := c.amount(surge, true)
	u, uok := c.amount(unavailable, true)
	switch {
	case !sok || !uok:
	case s.n != 0 && !u.set:
		c.refuse(StageObject, surge, found(surge, "maxSurge")+" and maxUnavailable defaults to 1: one of them must be 0", "set maxUnavailable: 0")
	case s.n != 0 && u.n != 0:
		c.refuse(StageObject, surge, found(surge, "maxSurge")+" and maxUnavailable is "+unavailable.value.Value+": one of them must be 0", "set one of them to 0")
	case u.set && u.n == 0 && s.n == 0:
		c.refuse(StageObject, unavailable, found(unavailable, "maxUnavailable")+": must not be 0 when maxSurge is 0", "set one of them to 1 or more")
	}
}

// statefulSet checks the update strategy of a StatefulSet (R-V38). The API server decodes
// maxUnavailable, but drops it before validation unless its feature gate is on
// (pkg/registry/apps/statefulset/strategy.go, dropStatefulSetDisabledFields).
func (c *checker) statefulSet(spec *place) {
	p, ok := c.rolling(spec.field("updateStrategy"), setUpdates, true)
	if !ok {
		return
	}
	unavailable := p.field("maxUnavailable")
	c.wholeNumber(p.field("partition"))
	if !c.isAmount(unavailable) {
		return
	}
	before := len(c.w.Problems)
	if u, ok := c.amount(unavailable, true); ok && u.set && u.n == 0 {
		c.refuse(StageObject, unavailable, found(unavailable, "maxUnavailable")+": must be greater than 0", "set maxUnavailable: 1")
	}
	keeps, v := versions.MaxUnavailable().Keeps(c.w.Kubernetes), c.w.Kubernetes
	if keeps == diag.Always && v != (versions.Version{}) {
		return
	}
	for _, p := range c.w.Problems[before:] {
		if p.Stage, p.Gate = StageGate, versions.MaxUnavailable().Gate; keeps != diag.Never {
			c.w.Gated = append(c.w.Gated, p)
		}
	}
	c.w.Problems = c.w.Problems[:before]
}

// amount reads and checks a field that is a number or a percentage. If capped is true, a percentage
// must not exceed 100%.
func (c *checker) amount(p *place, capped bool) (a amount, ok bool) {
	if p.absent() || !c.isAmount(p) {
		return a, p.absent()
	}
	refuse := func(must, fix string) (amount, bool) {
		c.refuse(StageObject, p, found(p, p.name)+": must "+must, fix)
		return amount{}, false
	}
	n, _ := p.value.Int()
	if s := p.value.Value; p.value.Type == source.String {
		if len(validation.IsValidPercent(s)) > 0 {
			fix := ""
			if _, err := strconv.ParseUint(s, 10, 31); err == nil {
				fix = "remove the quotes"
			}
			return refuse("be an integer or a percentage such as 25%", fix)
		}
		percent, _ := strconv.Atoi(strings.TrimSuffix(s, "%"))
		if n = int64(percent); capped && n > 100 {
			return refuse("not be greater than 100%", "")
		}
	} else if n < 0 {
		return refuse("not be negative", "")
	}
	return amount{int(n), true}, true
}

// isAmount checks that a value, if present, can be decoded as a number or a percentage, and
// otherwise records a problem.
func (c *checker) isAmount(p *place) bool {
	switch n, ok := p.value.Int(); {
	case p.absent():
		return true
	case p.value.Placeholder():
		return false
	case p.value.Kind == source.Scalar && p.value.Type == source.String:
		return true
	case !ok:
		c.w.mistyped(p.path(), p.key, p.value, "whole number or percentage")
		return false
	case n != int64(int32(n)):
		c.refuse(StageObject, p, found(p, p.name)+": must fit in a 32-bit integer", "")
		return false
	}
	return true
}
