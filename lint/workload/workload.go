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
	// Scale is the autoscaler of the workload, or nil.
	Count Count
	Scale *Scale
	// Labels are the pod labels with known values: the labels of the template and those that the
	// controller adds with a known value. Added reports the other labels that the controller adds.
	Labels map[string]string
	// Spec is the decoded spec of the pod. Fields of the wrong type are zero.
	Spec PodSpec
	// TemplateNode is the pod template, a map with metadata and spec. SpecNode is its spec.
	TemplateNode, SpecNode *source.Node
	// Problems are the fields that the API server refuses.
	Problems []Problem
	// Gated are the fields that the API server drops while a feature gate is off and refuses while
	// it is on.
	Gated []Problem
	// Unknown are the misspelled or misplaced fields in or around the pod's spec, which do not
	// exist in the API.
	Unknown []UnknownField
	// Open are the paths, below the pod's spec, of fields whose value is unknown because it has a
	// placeholder or the wrong type.
	Open []string
	// Placeholders are the entries of Set.Placeholders for the object.
	Placeholders []string
	// Fragment is set if the Workload only describes the placement fields of an object that is not
	// judged. Only Object, Spec, SpecNode and Problems are then meaningful.
	Fragment bool
	// Within names the chart values that contain a Fragment, for example "values master", or is
	// empty.
	Within string
	// Running is set for a pod that already runs on Spec.NodeName.
	Running bool
	// Exported is set for a Job whose selector contains its uid in a cluster. The API server accepts
	// it as an update of that Job but refuses to create it again, because a new Job gets another uid.
	Exported bool
	// Repeated is set if another declaration of the same object differs.
	Repeated bool
	// Superseded is set if a later declaration of the same object replaces it.
	Superseded bool
	// Copy is set if an earlier declaration of the same object is equal.
	Copy bool

	// Admission is the name of an object that may change or refuse the pods when they are created,
	// for example LimitRange shop/l, or empty if no such object is known.
	Admission string
	// TightQuota is the name of a ResourceQuota that may not allow twice the number of pods, which
	// are needed while nodes are unreachable, or empty.
	TightQuota string
	// PlainClass is set if the RuntimeClass of the pods is declared without overhead and
	// scheduling, or if a running pod already has what its class adds.
	PlainClass bool

	// Defaulted is set if a LimitRange may give default requests or limits to the containers.
	Defaulted bool

	// Elsewhere is set if the workload might not be deployed with the others, because only files
	// that may belong to another deployment declare it.
	Elsewhere bool
	// Validated is set for the workloads in Set.Validated.
	Validated bool

	// from is the object with the template if that is not Object, or nil. For a Fragment in chart
	// values, its File contains the values.
	from *source.Object
}

// Stage says whether the API server refuses the object itself or its pods.
type Stage string

// Values of Stage. With StageObject the API server refuses the object itself. With StagePods it
// accepts the object and refuses every pod that the object creates (R-V22). A fragment belongs to
// an object whose schema is unknown, so StageFragment only means that pods with these fields are
// refused.
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
	// Message says what is wrong and what the API server expects.
	Message string
	// Fix describes the smallest repair, or is empty if the message makes it obvious.
	Fix  string
	Span diag.Span
	// Gate is the feature gate of a field in Gated, or empty.
	Gate string
}

// UnknownField is a field that does not exist in the API.
type UnknownField struct {
	Field, Suggestion string
	Span              diag.Span
	// KeySpan is the location of the field name alone, which a fix replaces.
	KeySpan diag.Span
}

// Added reports whether the controller adds a label that the template does not set. perPod is true
// if the value differs from pod to pod, and false if all pods of a revision share one value.
func (w *Workload) Added(key string) (added, perPod bool) {
	if slices.Contains(w.PerPod(), key) {
		return true, true
	}
	return slices.Contains(w.Kind.Shared, key), false
}

// PerPod returns the labels that the controller adds with a different value for each pod. Only the
// pods of an Indexed Job have a completion index label (R-W14).
func (w *Workload) PerPod() []string {
	if w.Kind.Batch() && w.TemplateOwner().Get("completionMode").Text() != indexedMode {
		return nil
	}
	return w.Kind.PerPod
}

// TemplateOwner returns the map that contains the field template, such as the spec of a Job, or nil
// for a bare Pod.
func (w *Workload) TemplateOwner() *source.Node {
	if len(w.Kind.Template) == 0 {
		return nil
	}
	return w.Object.Root.At(w.Kind.Template[:len(w.Kind.Template)-1]...)
}

// Namespace returns the namespace of the pods, or "" if the manifest does not set it (R-W3).
func (w *Workload) Namespace() string { return w.Object.Namespace }

// Space returns the namespace of a manifest. A manifest without one belongs to default, where
// kubectl creates its object unless another namespace is configured.
func Space(namespace string) string { return cmp.Or(namespace, metav1.NamespaceDefault) }

// Refused reports whether the API server refuses the workload, so that none of its pods is ever
// created.
func (w *Workload) Refused() bool { return len(w.Problems) > 0 }

// Bare reports whether the workload is a single pod or virtual machine that no controller
// recreates.
func (w *Workload) Bare() bool { return len(w.Kind.Template) == 0 }

// Terminating reports whether the object is being deleted. A pod that is being deleted still counts
// for affinity, but not for topology spread (R-A1, R-T4).
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

// File returns the file with the pod template. It differs from Object.File only for a Rollout that
// refers to a Deployment: all other fields of the Rollout are in Object.File.
func (w *Workload) File() *source.File {
	if w.from != nil {
		return w.from.File
	}
	return w.Object.File
}

// CountSpan returns the location of the field with the replica count, or of the object's name if
// there is no such field.
func (w *Workload) CountSpan() diag.Span {
	if w.Count.Key != nil {
		return w.Object.File.FieldSpan(w.Count.Key, w.Count.Value)
	}
	return w.Object.NameSpan()
}

// loadUncertain reads an object that might not be deployed. Only its labels matter, because a
// selector may match them.
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

// budgetElsewhere reads a budget that might not be deployed. Each budget is read once for all sets.
func (l *loader) budgetElsewhere(o *source.Object) {
	b, known := l.Reader.budgets[o]
	if !known && !o.Root.At("spec", "selector").IsNull() {
		b = l.newBudget(o)
	}
	if l.Reader.budgets[o] = b; b != nil {
		l.set.BudgetsElsewhere = append(l.set.BudgetsElsewhere, b)
	}
}

// createsNoPods reports whether an object creates no pods itself and is read only because it
// affects workloads.
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

// AffectsWorkloads reports whether an object creates no pods itself but affects workloads that
// other files may declare.
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

// Limits reports whether an object limits the pods of its namespace. In clusters that have no files
// in common, such an object exists in only one of them.
func (t Table) Limits(o *source.Object) bool {
	return (o.Kind == "LimitRange" || o.Kind == "ResourceQuota") && core(o)
}

// Declares reports whether an object declares something of its own in its namespace. A patch does
// not, a node is not deployed from a manifest, and a terminated pod no longer counts.
func (t Table) Declares(o *source.Object) bool {
	if o.APIVersion == "" || o.Kind == "Node" && core(o) {
		return false
	}
	if kind := t.Find(o.APIVersion, o.Kind); kind != nil {
		return isManifest(o, kind) && !ended(o, kind) || kind.Kind == rolloutKind && !o.Root.At("spec", "workloadRef").IsNull()
	}
	return o.Kind != "PodDisruptionBudget" || !o.Root.At("spec", "selector").IsNull()
}

// Judged reports whether an object is of a kind that can have findings itself: a workload, a budget
// or an autoscaler.
func (t Table) Judged(o *source.Object) bool {
	return t.Find(o.APIVersion, o.Kind) != nil || scales(o) || o.Kind == "PodDisruptionBudget" && o.Group() == "policy"
}

// ended reports whether an object is a pod that has terminated.
func ended(o *source.Object, kind *Kind) bool {
	phase := o.Root.At("status", "phase").Text()
	return kind.Kind == "Pod" && (phase == "Succeeded" || phase == "Failed")
}

// Operates reports whether a namespace may have pods that no workload of the set creates. An
// operator may create them from an object that schedlint does not know, or a template may be only
// partly known. A selector that matches no declared pod may then still match one of these. An
// object without a namespace may be cluster-wide and create pods anywhere. If the manifest does not
// set the namespace, it may be the namespace of any object.
func (s *Set) Operates(namespace string) bool {
	return s.Operated[namespace] || s.Operated[""] || namespace == "" && len(s.Operated) > 0
}

// installers are the kinds of objects that refer to manifests elsewhere. The objects in these
// manifests may belong to other namespaces than the installer.
var installers = setOf(`App Application ApplicationSet Bundle ClusterServiceVersion GitRepo HelmChart HelmRelease Kustomization
	PackageInstall Subscription`)

// pointers are the installers that usually refer to manifests of the same tree rather than to
// third-party charts.
var pointers = setOf("App Application ApplicationSet Bundle GitRepo Kustomization")

// Maker returns a custom resource whose operator may create pods with a label, or nil if the
// namespace has no such resource. Either the value of the label is the name of the resource or its
// kind in lower case, or the label key and the API group of the resource have the same domain: an
// operator for postgresql.cnpg.io sets cnpg.io/cluster. If the resource or the label has no
// namespace, any namespace matches.
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

// sameDomain reports whether the prefix of a label key equals an API group or is a parent domain or
// subdomain of it. Kubernetes' own domains never match.
func sameDomain(key, group string) bool {
	prefix, _, ok := strings.Cut(key, "/")
	if !ok || strings.HasSuffix(prefix, "kubernetes.io") || strings.HasSuffix(prefix, "k8s.io") || !strings.Contains(group, ".") {
		return false
	}
	return prefix == group || strings.HasSuffix(prefix, "."+group) || strings.HasSuffix(group, "."+prefix)
}

// recordOperated records that an operator may create pods from an object.
func (l *loader) recordOperated(o *source.Object) {
	if l.table.Find(o.APIVersion, o.Kind) == nil && strings.Contains(o.Group(), ".") && !pointers[o.Kind] && !strings.HasSuffix(o.Kind, "List") {
		l.set.Customs = append(l.set.Customs, o)
	}
	switch {
	case strings.HasSuffix(o.Kind, "List"): // a list without items
	case installers[o.Kind]:
		l.set.Operated[""] = true
	default:
		l.set.Operated[o.Namespace] = true
	}
}

// queueName is the label that puts an object under Kueue's control (kubernetes-sigs/kueue:
// pkg/controller/constants/constants.go, QueueLabel).
const queueName = "kueue.x-k8s.io/queue-name"

// Finite reports whether the pods of a workload terminate by themselves and release their resources
// (R-A1, R-W15). This holds for the pods of Jobs and CronJobs, for bare pods that do not restart,
// and for hook pods that a tool waits for. A finite pod that does not fit now waits and may run
// later.
func (w *Workload) Finite() bool {
	if w.Kind.Kind != "Pod" {
		return w.Kind.Batch()
	}
	policy := w.RestartPolicy().Text()
	return w.Object.Hook != "" || policy == "Never" || policy == "OnFailure"
}

// RestartPolicy returns the value of the pod's restartPolicy, or nil.
func (w *Workload) RestartPolicy() *source.Node { return w.SpecNode.Get("restartPolicy") }

// Queued reports whether Kueue holds the pods back until their queue has enough quota. The label
// may be on the object or on its pods.
func (w *Workload) Queued() bool {
	return !w.Object.Root.At("metadata", "labels", queueName).IsNull() || !w.TemplateNode.At("metadata", "labels", queueName).IsNull()
}
