package workload

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/schedlint/schedlint/lint/source"
)

// job checks the spec of a Job (pkg/apis/batch/validation/validation.go, ValidateJob). Without
// completions and parallelism both are 1 (pkg/apis/batch/v1/defaults.go, SetDefaults_Job).
func (c objectChecker) job(spec *place) {
	if !spec.field("parallelism").value.IsNull() {
		c.indexed(spec)
	}
	if spec.field("completionMode").value.Text() == indexedMode {
		c.indexName(spec, StageObject, "")
	}
	c.jobSelector(spec)
}

// cronJob checks the spec of a CronJob's Jobs, which gets no such defaults, and whose selector is
// always generated (ValidateJobTemplateSpec).
func (c objectChecker) cronJob(spec *place) {
	c.indexed(spec)
	if spec.field("completionMode").value.Text() == indexedMode && !spec.field("completions").value.IsNull() {
		c.indexName(spec, StagePods, "-29000000") // the scheduled minute, counted from 1970
	}
	selector, manual := spec.field("selector"), spec.field("manualSelector")
	if !selector.absent() && !selector.value.Placeholder() {
		c.refuse(StageObject, &selector, "selector is set in a CronJob: must not be set, each Job generates its own", "remove selector")
	}
	if on, ok := manual.value.Bool(); ok && on {
		c.refuse(StageObject, &manual, "manualSelector is true: must be false in a CronJob", "remove manualSelector")
	}
}

const indexedMode = "Indexed"

// indexed checks that a Job with indexes sets completions (validateJobSpec).
func (c objectChecker) indexed(spec *place) {
	mode, completions := spec.field("completionMode"), spec.field("completions")
	if mode.value.Text() == indexedMode && completions.absent() {
		c.refuse(StageObject, &mode, "completionMode is Indexed: completions is required", "set completions to the number of indexes")
	}
}

// jobSelector checks the selector of a Job. Unless manualSelector is set, the API server generates
// it from the uid and accepts only a selector that matches the labels that it generates
// (validateGeneratedSelector).
func (c objectChecker) jobSelector(spec *place) {
	selector, manual := spec.field("selector"), spec.field("manualSelector")
	switch on, ok := manual.value.Bool(); {
	case !ok && !manual.absent(): // a variable, or of a wrong type
	case on && selector.absent():
		c.refuse(StageObject, &manual, "manualSelector is true and selector is missing: needs a selector that matches the template's labels", "remove manualSelector")
	case on:
		c.selects(spec, c.w.Object.Root.At(templateLabel...))
	case selector.absent() || selector.value.Placeholder():
	case selector.value.Kind != source.Map:
		c.is(&selector, source.Map)
	case variable(selector.value) == "":
		before := len(c.w.Problems)
		if c.selectorPlaces(&selector); len(c.w.Problems) == before && !c.generated(&selector) {
			c.refuse(StageObject, &selector, "selector is set without manualSelector: only the selector that the API server generates is allowed", "remove selector")
		}
	}
}

// generated reports whether a selector matches the labels that the API server gives to the pods of
// a Job; a selector read back from a cluster has the uid of its object. A selector that cannot be
// judged counts as matching.
func (c objectChecker) generated(p *place) bool {
	match, expressions := p.field("matchLabels"), p.field("matchExpressions")
	requirements, ok := c.requirements(&expressions)
	if !c.isTextMap(&match) || !ok {
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
	if c.w.Object.Root.At("metadata", "name").IsNull() && slices.ContainsFunc(jobNames, func(k string) bool { return mentions(&selector, k) }) {
		return true // generateName: the name is unknown
	}
	decoded, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil {
		return true
	}
	c.w.Exported = slices.ContainsFunc(jobUID, func(k string) bool { return selector.MatchLabels[k] != "" })
	return decoded.Matches(own)
}

// mentions reports whether a selector asks for a label.
func mentions(s *metav1.LabelSelector, key string) bool {
	_, ok := s.MatchLabels[key]
	return ok || slices.ContainsFunc(s.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool { return e.Key == key })
}

// Restart policies.
const (
	restartAlways    = "Always"
	restartOnFailure = "OnFailure"
	restartNever     = "Never"
)

// restarts checks restartPolicy, which is Always if it is absent: pods of a Job must end, those of
// other controllers must not, and a bare pod may do either (pkg/apis/core/validation/validation.go,
// validateRestartPolicy and ValidatePodTemplateSpecForRC;
// pkg/apis/{apps,batch}/validation/validation.go).
func (c podChecker) restarts(spec *place) {
	p := spec.field("restartPolicy")
	kind := c.w.Object.Kind
	switch s, ok := p.text(); {
	case !ok: // the decoder reports other types
	case c.w.Kind.Batch() && s == "":
		if c.complete(spec) {
			c.refuse(StageObject, &p, "restartPolicy defaults to Always: must be OnFailure or Never in a "+kind, "set restartPolicy: OnFailure or Never")
		}
	case c.w.Kind.Batch() && s == restartAlways:
		c.refuse(StageObject, &p, found(&p, p.name)+": must be OnFailure or Never in a "+kind, "set restartPolicy: OnFailure or Never")
	case c.oneOfRestarts(&p) && !c.w.Kind.Batch() && c.controlled() && s != "" && s != restartAlways:
		c.refuse(StageObject, &p, found(&p, p.name)+": must be Always in a "+kind, "remove restartPolicy")
	}
}

func (c podChecker) oneOfRestarts(p *place) bool {
	_, ok := c.oneOf(StageObject, p, true, []string{restartAlways, restartOnFailure, restartNever})
	return ok
}

// controlled reports whether a controller keeps the pods running. A PodTemplate by itself creates
// none.
func (c podChecker) controlled() bool {
	return len(c.w.Kind.Template) > 0 && c.w.Kind.Kind != "PodTemplate"
}

// complete reports whether a Job or CronJob is certainly not a patch: patches rarely repeat an
// image, and never a schedule.
func (c podChecker) complete(spec *place) bool {
	if c.w.Kind.Kind == "CronJob" && c.w.Object.Root.At("spec", "schedule").IsNull() {
		return false
	}
	return whollyWritten(spec.value)
}

// whollyWritten reports whether all containers of a pod have an image, which a patch that adds to
// them rarely repeats.
func whollyWritten(spec *source.Node) bool {
	return !slices.ContainsFunc(spec.Get("containers").Items(), func(n *source.Node) bool { return n.Get("image").IsNull() })
}
