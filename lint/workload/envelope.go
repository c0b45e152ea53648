package workload

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// envelopes returns the types of the maps around a pod's spec, by kind: a constraint with wrong
// indentation ends up in one of them, where the API server silently drops it.
func envelopes() map[string]map[string]reflect.Type {
	pod := reflect.TypeFor[corev1.PodTemplateSpec]()
	of := func(spec reflect.Type) map[string]reflect.Type {
		return map[string]reflect.Type{"spec": spec, "spec.template": pod}
	}
	return map[string]map[string]reflect.Type{
		"Deployment":            of(reflect.TypeFor[appsv1.DeploymentSpec]()),
		"ReplicaSet":            of(reflect.TypeFor[appsv1.ReplicaSetSpec]()),
		"StatefulSet":           of(reflect.TypeFor[appsv1.StatefulSetSpec]()),
		"DaemonSet":             of(reflect.TypeFor[appsv1.DaemonSetSpec]()),
		"ReplicationController": of(reflect.TypeFor[corev1.ReplicationControllerSpec]()),
		"Job":                   of(reflect.TypeFor[batchv1.JobSpec]()),
		rolloutKind:             of(reflect.TypeFor[rolloutSpec]()),
		"CronJob": {
			"spec":                           reflect.TypeFor[batchv1.CronJobSpec](),
			"spec.jobTemplate":               reflect.TypeFor[batchv1.JobTemplateSpec](),
			"spec.jobTemplate.spec":          reflect.TypeFor[batchv1.JobSpec](),
			"spec.jobTemplate.spec.template": pod,
		},
	}
}

// rolloutSpec has the names of the fields of an Argo Rollout's spec (argo-rollouts:
// pkg/apis/rollouts/v1alpha1/types.go).
type rolloutSpec struct {
	Replicas                any `json:"replicas"`
	Selector                any `json:"selector"`
	Template                any `json:"template"`
	WorkloadRef             any `json:"workloadRef"`
	MinReadySeconds         any `json:"minReadySeconds"`
	Strategy                any `json:"strategy"`
	RevisionHistoryLimit    any `json:"revisionHistoryLimit"`
	Paused                  any `json:"paused"`
	ProgressDeadlineSeconds any `json:"progressDeadlineSeconds"`
	ProgressDeadlineAbort   any `json:"progressDeadlineAbort"`
	RestartAt               any `json:"restartAt"`
	Analysis                any `json:"analysis"`
	RollbackWindow          any `json:"rollbackWindow"`
}

// placing returns the names of the fields of a pod's spec that decide its placement.
func placing() []string {
	return []string{"affinity", "nodeName", "nodeSelector", "schedulerName", "schedulingGates", "tolerations", "topologySpreadConstraints"}
}

// envelope looks for misspelt and misplaced fields around the pod's spec. Only near misses count,
// because many tools add fields of their own there.
func (l *loader) envelope(w *Workload) {
	l.stray(w, w.Object.Root, "", []string{"apiVersion", "kind", "metadata", "spec", "status"}, placing())
	if w.Kind.VM {
		l.machine(w)
		return
	}
	levels := l.envelopes[w.Object.Kind]
	for _, path := range slices.Sorted(maps.Keys(levels)) {
		names := l.decoder.Names(levels[path])
		l.stray(w, w.Object.Root.At(strings.Split(path, ".")...), path+".", names, placing())
	}
}

// machine looks for such fields around and in the spec of a machine, whose type is not available:
// its placement fields are those of a pod.
func (l *loader) machine(w *Workload) {
	for i := range w.Kind.Template {
		path := w.Kind.Template[:i+1]
		l.stray(w, w.Object.Root.At(path...), strings.Join(path, ".")+".", nil, placing())
	}
	l.stray(w, w.SpecNode, w.Kind.path("spec")+".", placing(), nil)
}

// stray reports the fields of n that are near misses of names, and those that belong in the pod's
// spec. The path leads to them and ends with a dot.
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
