package workload

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Workload is one object that creates pods.
type Workload struct {
	Object *source.Object
	Kind   *Kind
	// Count is the number of pods that the object creates; for a DaemonSet it depends on the nodes.
	// Scale is the autoscaler that changes it, or nil.
	Count Count
	Scale *Scale
	// Labels are the labels of the pods with known values: those of the template, and those that
	// the controller adds. A pod has more: see Added.
	Labels map[string]string
	// Spec is the decoded spec; fields that do not fit are zero.
	Spec PodSpec
	// TemplateNode is the map with metadata and spec, SpecNode is its spec.
	TemplateNode, SpecNode *source.Node
	// Problems are the fields that the API server refuses.
	Problems []Problem
	// Gated are fields that the API server drops while a feature gate is off, and refuses once it
	// is on.
	Gated []Problem
	// Unknown are fields of scheduling subtrees that do not exist.
	Unknown []UnknownField
	// Open are field paths below the pod's spec whose value is unknown: a placeholder, or a value
	// that does not fit.
	Open []string
	// Placeholders are the entries of Set.Placeholders for the object.
	Placeholders []string
	// Fragment is set for the placement fields of an object that is not judged: only Object, Spec,
	// SpecNode and Problems are then meaningful.
	Fragment bool
	// Within identifies the values of a chart that contain a Fragment, for example "values master";
	// otherwise "".
	Within string
	// Running is set for a pod that already runs on Spec.NodeName.
	Running bool
	// Exported is set for a Job that only its own uid makes valid: the API server accepts it as an
	// update of that Job, and rejects creating it, which gives it another uid.
	Exported bool
	// Repeated is set if another declaration of the same object differs.
	Repeated bool
	// Superseded is set if a later declaration of the same object replaces it.
	Superseded bool
	// Copy is set if an earlier declaration of the same object is equal.
	Copy bool

	// Admission is the name of an object that may change or refuse the pods at their creation, for
	// example LimitRange shop/l; "" if none is known.
	Admission string
	// TightQuota is the name of a ResourceQuota that might not allow twice the pods, which is
	// necessary while nodes are unreachable; "" if there is none.
	TightQuota string
	// PlainClass is set if the RuntimeClass of the pods is declared without overhead and
	// scheduling, or is already applied.
	PlainClass bool

	// Defaulted is set if a LimitRange of the namespace gives default requests or limits to
	// containers.
	Defaulted bool

	// Elsewhere is set if the workload might not be deployed: only files declare it that are not
	// certainly deployed together with the others.
	Elsewhere bool
	// Validated is set for the workloads in Set.Validated.
	Validated bool

	// from is the object with the template, if it is another one. For values it is the text that
	// contains them.
	from *source.Object
}

// Stage is the point at which a refusal happens.
type Stage string

// The stages: the API server refuses the object itself, or it accepts the object and refuses every
// pod that the object creates (R-V22). For a fragment it is only known that a pod with it is
// refused, because the object has a schema of its own.
const (
	StageObject Stage = "object"
	StagePods   Stage = "pods"

	StageFragment Stage = "fragment"
)

// Problem is one field that the API server refuses.
type Problem struct {
	Stage Stage
	// Field is the path from the root of the object, for example
	// spec.template.spec.affinity.podAffinity.
	Field string
	// Message says what is wrong and what is expected.
	Message string
	// Fix is the smallest repair in words; empty if the message makes it obvious.
	Fix  string
	Span diag.Span
	// Gate is the feature gate of a field in Gated; otherwise empty.
	Gate string
}

// UnknownField is a field that the API does not have.
type UnknownField struct {
	Field, Suggestion string
	Span              diag.Span
	// KeySpan is the location of the name alone, which a fix replaces.
	KeySpan diag.Span
}

// Added reports whether the controller adds a label that the template does not set; perPod is true
// if its value differs from pod to pod, otherwise all pods of a revision share one value.
func (w *Workload) Added(key string) (added, perPod bool) {
	if slices.Contains(w.PerPod(), key) {
		return true, true
	}
	return slices.Contains(w.Kind.Shared, key), false
}

// PerPod returns the added labels whose value differs from pod to pod. The pods of a Job have an
// index only if it is Indexed (R-W14).
func (w *Workload) PerPod() []string {
	if w.Kind.Batch() && w.TemplateOwner().Get("completionMode").Text() != indexedMode {
		return nil
	}
	return w.Kind.PerPod
}

// TemplateOwner returns the map that has the field template, such as the spec of a Job; nil for a
// bare Pod.
func (w *Workload) TemplateOwner() *source.Node {
	if len(w.Kind.Template) == 0 {
		return nil
	}
	return w.Object.Root.At(w.Kind.Template[:len(w.Kind.Template)-1]...)
}

// Namespace returns the namespace of the pods; "" if the manifest leaves it open (R-W3).
func (w *Workload) Namespace() string { return w.Object.Namespace }

// Space returns the namespace of a manifest; default if it sets none, because kubectl applies it
// there unless configured otherwise.
func Space(namespace string) string { return cmp.Or(namespace, metav1.NamespaceDefault) }

// Refused reports whether no pod of the workload is ever created.
func (w *Workload) Refused() bool { return len(w.Problems) > 0 }

// Bare reports whether the workload is a single pod or machine that no controller creates again.
func (w *Workload) Bare() bool { return len(w.Kind.Template) == 0 }

// Terminating reports whether the object is being deleted: such a pod still counts for affinity,
// but not for spread (R-A1, R-T4).
func (w *Workload) Terminating() bool {
	return !w.Object.Root.At("metadata", "deletionTimestamp").IsNull()
}

// String returns the kind, namespace and name of the workload for messages.
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

// File returns the file with the template. All other fields of the object are in Object.File, which
// is a different file for a Rollout that refers to a Deployment.
func (w *Workload) File() *source.File {
	if w.from != nil {
		return w.from.File
	}
	return w.Object.File
}

// CountSpan returns the location of the number of pods: the field if there is one, or else the name
// of the object.
func (w *Workload) CountSpan() diag.Span {
	if w.Count.Key != nil {
		return w.Object.File.FieldSpan(w.Count.Key, w.Count.Value)
	}
	return w.Object.NameSpan()
}

// loadUncertain reads an object that might not be deployed: only its labels matter, which selectors may
// match.
func (l *loader) loadUncertain(o *source.Object) {
	switch kind := l.table.Find(o.APIVersion, o.Kind); {
	case !l.table.Matters(o):
	case o.Kind == "PodDisruptionBudget" && o.Group() == "policy":
		l.budgetElsewhere(o)
	case kind != nil && isManifest(o, kind):
		w := l.read(o, kind)
		w.Elsewhere, w.Count.Known = true, false
		l.set.Elsewhere = append(l.set.Elsewhere, w)
	default:
		l.recordOperated(o)
	}
}

// Matters reports whether an object that might not be deployed can affect any result.
func (t Table) Matters(o *source.Object) bool {
	switch {
	case o.APIVersion == "", o.Hook == source.HookNever:
		return false
	case o.Kind == "PodDisruptionBudget" && o.Group() == "policy", t.Find(o.APIVersion, o.Kind) != nil:
		return true
	}
	return !createsNoPods(o) && t.Relevant(o.APIVersion, o.Kind)
}

// budgetElsewhere reads a budget that might not be deployed, once for all sets.
func (l *loader) budgetElsewhere(o *source.Object) {
	b, known := l.Reader.budgets[o]
	if !known && !o.Root.At("spec", "selector").IsNull() {
		b = l.newBudget(o)
	}
	if l.Reader.budgets[o] = b; b != nil {
		l.set.BudgetsElsewhere = append(l.set.BudgetsElsewhere, b)
	}
}

// createsNoPods reports whether an object creates no pods itself and is read only for its effect on
// workloads.
func createsNoPods(o *source.Object) bool {
	switch o.Kind {
	case "Node", "Namespace":
		return core(o)
	case "PodDisruptionBudget":
		return o.Group() == "policy"
	case "NodeTopology":
		return o.Group() == "schedlint.dev"
	}
	return scales(o)
}

// AffectsWorkloads reports whether an object creates no pods itself and affects workloads that other files
// may declare.
func (t Table) AffectsWorkloads(o *source.Object) bool {
	switch o.Kind {
	case "LimitRange", "PodTemplate", "ResourceQuota":
		return core(o)
	case "PodDisruptionBudget":
		return false
	case "PriorityClass", "RuntimeClass":
		return true
	}
	return createsNoPods(o) || claims[o.Kind] && o.Group() == claimGroup
}

// Limits reports whether an object limits the pods of its namespace. If clusters share none of
// their files, it exists in only one of them.
func (t Table) Limits(o *source.Object) bool {
	return (o.Kind == "LimitRange" || o.Kind == "ResourceQuota") && core(o)
}

// Declares reports whether an object is a declaration of its own in its namespace. Patches are not,
// nor are nodes, which no manifest deploys, nor pods that have ended.
func (t Table) Declares(o *source.Object) bool {
	if o.APIVersion == "" || o.Kind == "Node" && core(o) {
		return false
	}
	if kind := t.Find(o.APIVersion, o.Kind); kind != nil {
		return isManifest(o, kind) && !ended(o, kind) || kind.Kind == rolloutKind && !o.Root.At("spec", "workloadRef").IsNull()
	}
	return o.Kind != "PodDisruptionBudget" || !o.Root.At("spec", "selector").IsNull()
}

// Judged reports whether findings may be about the object itself: a workload, a budget or an
// autoscaler.
func (t Table) Judged(o *source.Object) bool {
	return t.Find(o.APIVersion, o.Kind) != nil || scales(o) || o.Kind == "PodDisruptionBudget" && o.Group() == "policy"
}

// ended reports whether an object is a pod that has terminated.
func ended(o *source.Object, kind *Kind) bool {
	phase := o.Root.At("status", "phase").Text()
	return kind.Kind == "Pod" && (phase == "Succeeded" || phase == "Failed")
}

// Operates reports whether a namespace may have pods that no workload of the set creates, because
// an operator creates them from an object that schedlint does not know, or because a template is
// only partly known. A selector then does not certainly match no pod. An object without a namespace
// may be cluster-wide and puts its pods anywhere. A namespace that is left open may be the
// namespace of any object.
func (s *Set) Operates(namespace string) bool {
	return s.Operated[namespace] || s.Operated[""] || namespace == "" && len(s.Operated) > 0
}

// installers are kinds that refer to manifests elsewhere, and whose objects may go to other
// namespaces than their own.
var installers = map[string]bool{
	"App": true, "Application": true, "ApplicationSet": true, "Bundle": true, "ClusterServiceVersion": true, "GitRepo": true, "HelmChart": true,
	"HelmRelease": true, "Kustomization": true, "PackageInstall": true, "Subscription": true,
}

// pointers are the installers that mostly refer to manifests of the same tree, not to third-party
// charts.
var pointers = map[string]bool{"App": true, "Application": true, "ApplicationSet": true, "Bundle": true, "GitRepo": true, "Kustomization": true}

// Maker returns a custom resource whose operator may create pods with a label: the value of the
// label is the name of the resource or its kind in lower case, or the domain of the key is that of
// its API group, as cnpg.io/cluster for postgresql.cnpg.io. It returns nil if there is none in the
// namespace; a resource or a label without a namespace may be in any.
func (s *Set) Maker(namespace, key, value string) *source.Object {
	for _, o := range s.Customs {
		if o.Namespace != namespace && o.Namespace != "" && namespace != "" && !installers[o.Kind] {
			continue
		}
		if value != "" && (value == o.Name || value == strings.ToLower(o.Kind)) || sameDomain(key, o.Group()) {
			return o
		}
	}
	return nil
}

// sameDomain reports whether the prefix of a label key and an API group are the same domain, or one
// is below the other. Kubernetes' own domains do not count.
func sameDomain(key, group string) bool {
	prefix, _, ok := strings.Cut(key, "/")
	if !ok || strings.HasSuffix(prefix, "kubernetes.io") || strings.HasSuffix(prefix, "k8s.io") || !strings.Contains(group, ".") {
		return false
	}
	return prefix == group || strings.HasSuffix(prefix, "."+group) || strings.HasSuffix(group, "."+prefix)
}

// recordOperated records that pods may be created from an object.
func (l *loader) recordOperated(o *source.Object) {
	if l.table.Find(o.APIVersion, o.Kind) == nil && strings.Contains(o.Group(), ".") && !pointers[o.Kind] && !strings.HasSuffix(o.Kind, "List") {
		l.set.Customs = append(l.set.Customs, o)
	}
	switch {
	case strings.HasSuffix(o.Kind, "List"): // one without items
	case installers[o.Kind]:
		l.set.Operated[""] = true
	default:
		l.set.Operated[o.Namespace] = true
	}
}

// queueName is the label by which Kueue takes charge of an object (kubernetes-sigs/kueue:
// pkg/controller/constants/constants.go, QueueLabel).
const queueName = "kueue.x-k8s.io/queue-name"

// Finite reports whether the pods of a workload end by themselves and release their resources
// (R-A1, R-W15): pods of Jobs and CronJobs, and bare pods that are not restarted or are hooks that
// a tool waits for. A pod that does not fit now waits and may run later.
func (w *Workload) Finite() bool {
	if w.Kind.Kind != "Pod" {
		return w.Kind.Batch()
	}
	policy := w.RestartPolicy().Text()
	return w.Object.Hook != "" || policy == "Never" || policy == "OnFailure"
}

// RestartPolicy returns the field of the pod's spec, or nil.
func (w *Workload) RestartPolicy() *source.Node { return w.SpecNode.Get("restartPolicy") }

// Queued reports whether Kueue holds the pods back until their queue has room: the label is on the
// object or on the pods themselves.
func (w *Workload) Queued() bool {
	return !w.Object.Root.At("metadata", "labels", queueName).IsNull() || !w.TemplateNode.At("metadata", "labels", queueName).IsNull()
}
