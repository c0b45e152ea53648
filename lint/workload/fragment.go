package workload

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// fragment holds pod placement fields of an object whose kind is not in the table of kinds. An
// example is a custom resource from which an operator creates pods.
type fragment struct {
	NodeSelector              map[string]string                 `json:"nodeSelector"`
	Affinity                  *corev1.Affinity                  `json:"affinity"`
	Tolerations               []corev1.Toleration               `json:"tolerations"`
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints"`
}

// Given holds the values that an object passes to a chart outside the input.
type Given struct {
	// Values lists the maps whose placement fields can be checked. Left is set if some values were
	// omitted.
	Values []Values
	Left   bool
	// Judged is set if a render of the chart already covers all values.
	Judged bool
}

// Values is a map of chart values that contains placement fields.
type Values struct {
	// Node is the map. Its lines and columns refer to the object's file.
	Node *source.Node
	File *source.File
	// Path is the map's path in the chart values, for example master.pods[0], or empty for the
	// top-level map.
	Path string
}

// PlacementFields returns the names of the placement fields in sorted order.
func PlacementFields() []string { return slices.Sorted(maps.Keys(fragmentFields)) }

// Placement reports whether a field has the name of a placement field, and whether it also has a
// non-empty value of the right kind.
func Placement(name string, value *source.Node) (named, filled bool) {
	kind, named := fragmentFields[name]
	return named, named && value.Kind == kind && value.Len() > 0
}

// fragmentFields maps placement fields to the kinds of their values. affinityFields lists the
// fields of affinity, because some operators use them without the surrounding map.
var fragmentFields = map[string]source.Kind{
	"nodeSelector": source.Map, "affinity": source.Map, "tolerations": source.Sequence, "topologySpreadConstraints": source.Sequence,
}

var affinityFields = map[string]bool{"nodeAffinity": true, "podAffinity": true, "podAntiAffinity": true}

// fragmentFinder looks for placement fields in one object.
type fragmentFinder struct {
	l      *loader
	object *source.Object
	// given holds the chart values of the object, or nil. If it is set, only these values are
	// checked.
	given *Given
	// found is set if the object has any placement fields. foreign is set if some of them do not
	// follow the core API schema.
	found, foreign bool
}

// policyEngines are the API groups of policy engines. The objects of these engines contain patterns
// for pod fields, such as "?*", and do not place pods.
var policyEngines = []string{"kyverno.io", "gatekeeper.sh", "kubewarden.io"}

// fragments looks for placement fields in an object whose kind is not in the table, and reports
// whether it has any. Placement fields that follow the core API schema are checked. Other fields
// with the same names are the operator's own, and their meaning is unknown.
func (l *loader) fragments(o *source.Object) bool {
	for _, domain := range policyEngines {
		if o.Group() == domain || strings.HasSuffix(o.Group(), "."+domain) {
			return false
		}
	}
	f := fragmentFinder{l: l, object: o}
	if l.Values != nil {
		f.given = l.Values(o)
	}
	if f.given != nil && f.given.Judged {
		return false
	}
	f.walk(&place{value: o.Root})
	if f.given != nil {
		f.found = f.found || f.given.Left || len(f.given.Values) > 0
		f.foreign = f.given.Left
		for i := range f.given.Values {
			v := &f.given.Values[i]
			f.check(&place{value: v.Node}, v)
		}
	}
	if f.foreign {
		l.set.Foreign = append(l.set.Foreign, o)
	}
	return f.found
}

func (f *fragmentFinder) walk(p *place) {
	if p.value.Kind == source.Sequence {
		for i, item := range p.value.Items() {
			if item.Kind != source.Scalar {
				f.walk(p.item(i, item))
			}
		}
		return
	}
	here := false
	for k, v := range p.value.Fields() {
		switch kind, is := fragmentFields[k.Value]; {
		case v.Kind == source.Scalar:
		case is:
			here = here || v.Kind == kind && v.Len() > 0
		case affinityFields[k.Value]:
			f.found = f.found || v.Len() > 0
		default:
			f.walk(p.entry(k, v))
		}
	}
	if f.found = f.found || here; here && f.given == nil {
		f.check(p, nil)
	}
}

// check validates the placement fields of a map if all of them follow the core API schema. In chart
// values, it does not report missing fields, because the chart may add them.
func (f *fragmentFinder) check(p *place, v *Values) {
	w := &Workload{
		Object: f.object, Kind: &Kind{Group: f.object.Group(), Kind: f.object.Kind}, SpecNode: p.value, Fragment: true, Kubernetes: f.l.Kubernetes,
	}
	if v != nil {
		w.Within, w.from = strings.TrimSpace("values "+v.Path), &source.Object{File: v.File}
	}
	w.dropFields(p)
	var fields fragment
	unfit := f.l.fragmentDecoder.Decode(p.value, &fields)
	if slices.ContainsFunc(unfit, func(m source.Mismatch) bool { return v == nil || !misspelt(m) }) {
		f.foreign = true
		return
	}
	var held placeholders
	for field := range fragmentFields {
		held.find(field, p.value.Get(field))
	}
	f.l.placeholders(f.object, held.named())
	w.Spec = PodSpec{NodeSelector: fields.NodeSelector, Affinity: fields.Affinity, Tolerations: fields.Tolerations, TopologySpreadConstraints: fields.TopologySpreadConstraints}
	c := checker{w: w, unchecked: StageFragment, created: StageFragment, fromTemplate: StageFragment, partial: v != nil}
	for _, m := range unfit {
		w.unknown(m.Path, m)
	}
	c.labels(StageFragment, p.field("nodeSelector"), "nodeSelector")
	c.affinity(p)
	c.spread(p)
	c.tolerations(p)
	for i := range w.Problems {
		w.Problems[i].Stage = StageFragment
	}
	f.l.set.Fragments = append(f.l.set.Fragments, w)
}

// misspelt reports whether an unknown field is certainly a misspelling. The test is strict, because
// short names are often similar by chance, and some charts define their own fields directly below
// affinity.
func misspelt(m source.Mismatch) bool {
	if !m.Unknown || m.Suggestion == "" || len(m.Key.Value) < 6 {
		return false
	}
	return strings.Count(m.Path, ".") > 1 || !strings.HasPrefix(m.Path, "affinity.") || strings.EqualFold(m.Key.Value, m.Suggestion)
}

// mayBeAdded reports whether a value is absent but a chart may add it. Charts copy the lists in an
// affinity unchanged. They may add fields to maps, for example to each constraint and toleration.
func (p *place) mayBeAdded() bool {
	if !p.absent() {
		return false
	}
	listed := false
	for at := p.up; at != nil; at = at.up {
		switch {
		case at.name == "" && at.up != nil:
			listed = true
		case at.name == "affinity":
			return !listed
		}
	}
	return true
}

// envelopes maps workload kinds to the fields of the maps around the pod spec, in sorted order. A
// constraint with the wrong indentation ends up in one of these maps, where the API server silently
// drops it. The types of k8s.io/api would add 0.6 MB to the program, so a test compares the fields
// with them. The fields of a Rollout are those of argo-rollouts: pkg/apis/rollouts/v1alpha1/types.go.
func envelopes() map[string]map[string][]string {
	pod := []string{"metadata", "spec"}
	of := func(spec string) map[string][]string {
		return map[string][]string{"spec": strings.Fields(spec), "spec.template": pod}
	}
	job := of(`activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy manualSelector
		maxFailedIndexes parallelism podFailurePolicy podReplacementPolicy selector successPolicy suspend template ttlSecondsAfterFinished`)
	return map[string]map[string][]string{
		"Deployment": of("minReadySeconds paused progressDeadlineSeconds replicas revisionHistoryLimit selector strategy template"),
		"ReplicaSet": of("minReadySeconds replicas selector template"),
		"StatefulSet": of(`minReadySeconds ordinals persistentVolumeClaimRetentionPolicy podManagementPolicy replicas
			revisionHistoryLimit selector serviceName template updateStrategy volumeClaimTemplates`),
		"DaemonSet":             of("minReadySeconds revisionHistoryLimit selector template updateStrategy"),
		"ReplicationController": of("minReadySeconds replicas selector template"),
		"Job":                   job,
		rolloutKind: of(`analysis minReadySeconds paused progressDeadlineAbort progressDeadlineSeconds replicas restartAt
			revisionHistoryLimit rollbackWindow selector strategy template workloadRef`),
		"CronJob": {
			"spec": strings.Fields(`concurrencyPolicy failedJobsHistoryLimit jobTemplate schedule startingDeadlineSeconds
				successfulJobsHistoryLimit suspend timeZone`),
			"spec.jobTemplate": pod, "spec.jobTemplate.spec": job["spec"], "spec.jobTemplate.spec.template": pod,
		},
	}
}

// placing returns the names of the pod spec fields that determine placement.
func placing() []string {
	return []string{"affinity", "nodeName", "nodeSelector", "schedulerName", "schedulingGates", "tolerations", "topologySpreadConstraints"}
}

// envelope looks for misspelled and misplaced fields around the pod's spec. It ignores all other
// unknown fields, because many tools add their own fields there.
func (l *loader) envelope(w *Workload) {
	l.stray(w, w.Object.Root, "", []string{"apiVersion", "kind", "metadata", "spec", "status"}, placing())
	if w.Kind.VM { // the type is not available, but the placement fields are those of a pod
		for i := range w.Kind.Template {
			path := w.Kind.Template[:i+1]
			l.stray(w, w.Object.Root.At(path...), strings.Join(path, ".")+".", nil, placing())
		}
		l.stray(w, w.SpecNode, w.Kind.path("spec")+".", placing(), nil)
		return
	}
	levels := l.envelopes[w.Object.Kind]
	for _, path := range slices.Sorted(maps.Keys(levels)) {
		l.stray(w, w.Object.Root.At(strings.Split(path, ".")...), path+".", levels[path], placing())
	}
}

// stray records the misspelled and misplaced fields of n. names holds the field names that are
// valid in n. The argument elsewhere holds the field names that are valid in the pod spec. path is
// the path of n, with a trailing dot.
func (l *loader) stray(w *Workload, n *source.Node, path string, names, elsewhere []string) {
	for k, v := range n.Fields() {
		if slices.Contains(names, k.Value) {
			continue
		}
		suggestion := diag.Nearest(k.Value, names)
		if slices.Contains(elsewhere, k.Value) {
			suggestion = w.Kind.path("spec") + "." + k.Value
		}
		if suggestion != "" {
			w.unknown(path+k.Value, source.Mismatch{Key: k, Value: v, Suggestion: suggestion})
		}
	}
}
