package workload

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Workload is one object that creates pods.
type Workload struct {
	Object *source.Object
	Kind   *Kind
	// Count is how many pods the object creates; for a DaemonSet that is up to
	// the nodes. Scale is the autoscaler that moves it, or nil.
	Count Count
	Scale *Scale
	// Labels are those that the pods carry with known values: the template's and
	// those that the controller adds. A pod has more: see Added.
	Labels map[string]string
	// Spec is what was decoded; fields that do not fit are zero.
	Spec PodSpec
	// TemplateNode is the map with metadata and spec, SpecNode is its spec.
	TemplateNode, SpecNode *source.Node
	// Problems are the fields that the API server refuses.
	Problems []Problem
	// Gated are fields that the API server drops while a feature gate is off, and
	// refuses once it is on.
	Gated []Problem
	// Unknown are fields of scheduling subtrees that do not exist.
	Unknown []UnknownField
	// Open are field paths below the pod's spec whose value is not known: a
	// placeholder, or a value that does not fit.
	Open []string
	// Placeholders are the texts that Set.Placeholders has of the object.
	Placeholders []string
	// Fragment is set for the placement fields of an object that is not judged:
	// only Object, Spec, SpecNode and Problems mean something then.
	Fragment bool
	// Within says which of the values for a chart a Fragment is, as in values master; ""
	// if it is none.
	Within string
	// Running is set for a pod that is in place on Spec.NodeName already.
	Running bool
	// Exported is set for a Job that only its own uid makes valid: the API server accepts it as
	// an update of that Job, and rejects creating it, which gives it another uid.
	Exported bool
	// Repeated is set if the same object is declared differently elsewhere.
	Repeated bool
	// Superseded is set if a later declaration of the same object takes its place.
	Superseded bool
	// Copy is set if the same object is declared in the same way before.
	Copy bool

	// Admission names an object that may change the pods when they are created, or refuse
	// them, as in LimitRange shop/l; "" if none is known to.
	Admission string
	// TightQuota names a ResourceQuota that may not hold pods twice, as it has to while nodes
	// are unreachable; "" if there is none.
	TightQuota string
	// PlainClass is set if the RuntimeClass of the pods is declared without overhead and
	// scheduling, or has been applied.
	PlainClass bool

	// Defaulted is set if a LimitRange of the namespace gives containers requests or limits
	// that have none.
	Defaulted bool

	// Elsewhere is set if nobody knows whether the workload is there, as only files
	// declare it that are not deployed together with the others for certain.
	Elsewhere bool
	// Validated is set for one of Set.Validated.
	Validated bool

	// from is the object that holds the template if it is another one. Of values it is the
	// text that they are written in.
	from *source.Object
}

// Stage is when a refusal happens.
type Stage string

// The stages: the API server refuses the object itself, or it accepts the
// object and refuses every pod that the object creates (R-V22). Of a fragment it is
// known only that a pod with it is refused: the object has a schema of its own.
const (
	StageObject Stage = "object"
	StagePods   Stage = "pods"

	StageFragment Stage = "fragment"
)

// Problem is one field that the API server refuses.
type Problem struct {
	Stage Stage
	// Field is the path from the root of the object, as in
	// spec.template.spec.affinity.podAffinity.
	Field string
	// Message says what is wrong and what is expected.
	Message string
	// Fix is the smallest repair in words; empty if the message says it all.
	Fix  string
	Span diag.Span
	// Gate is the feature gate of a field that is Gated, else empty.
	Gate string
}

// UnknownField is a field that the API does not have.
type UnknownField struct {
	Field, Suggestion string
	Span              diag.Span
	// KeySpan is the name alone, which a fix replaces.
	KeySpan diag.Span
}

// Added tells what is known of a label that the template does not set: added
// is false if the pods do not carry it, and perPod is true if its value
// differs from pod to pod; else all pods of a revision share one value.
func (w *Workload) Added(key string) (added, perPod bool) {
	for _, k := range w.PerPod() {
		if k == key {
			return true, true
		}
	}
	for _, k := range w.Kind.Shared {
		if k == key {
			return true, false
		}
	}
	return false, false
}

// PerPod are the added labels whose value differs from pod to pod. The pods of
// a Job have an index only if it is an Indexed one (R-W14).
func (w *Workload) PerPod() []string {
	if w.Kind.Batch() {
		spec := w.TemplateOwner()
		if spec.Get("completionMode").Text() != "Indexed" {
			return nil
		}
	}
	return w.Kind.PerPod
}

// TemplateOwner is the map that holds the field template, such as the spec of a
// Job; nil for a bare Pod.
func (w *Workload) TemplateOwner() *source.Node {
	if len(w.Kind.Template) == 0 {
		return nil
	}
	return w.Object.Root.At(w.Kind.Template[:len(w.Kind.Template)-1]...)
}

// Namespace is the namespace of the pods, or "" where the manifest leaves it
// to whoever applies it (R-W3).
func (w *Workload) Namespace() string { return w.Object.Namespace }

// Space returns the namespace of a manifest that names one, or default, where kubectl applies
// the others unless told otherwise.
func Space(namespace string) string { return cmp.Or(namespace, metav1.NamespaceDefault) }

// Refused reports whether no pod of the workload ever comes into being.
func (w *Workload) Refused() bool { return len(w.Problems) > 0 }

// Bare reports whether the workload is a single pod, or machine, that nothing
// creates again.
func (w *Workload) Bare() bool { return len(w.Kind.Template) == 0 }

// Terminating reports whether the object is being deleted: a pod that is still
// counts for affinity, but not for spread (R-A1, R-T4).
func (w *Workload) Terminating() bool {
	return !w.Object.Root.At("metadata", "deletionTimestamp").IsNull()
}

// String is the workload as a message names it.
func (w *Workload) String() string {
	name := w.Object.Name
	if w.Object.Namespace != "" {
		name = w.Object.Namespace + "/" + name
	}
	if w.Within != "" {
		name += ", " + w.Within
	}
	return w.Object.Kind + " " + name
}

// File is where the template stands. All else that the object says is in
// Object.File, which is another one for a Rollout that refers to a Deployment.
func (w *Workload) File() *source.File {
	if w.from != nil {
		return w.from.File
	}
	return w.Object.File
}

// CountSpan is the place of the number of pods: the field if there is one,
// else the name of the object.
func (w *Workload) CountSpan() diag.Span {
	if w.Count.Key != nil {
		return w.Object.File.FieldSpan(w.Count.Key, w.Count.Value)
	}
	return w.Object.NameSpan()
}
