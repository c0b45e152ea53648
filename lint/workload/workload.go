package workload

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/versions"
)

// Workload is one object that creates pods.
type Workload struct {
	Object *source.Object
	Kind   *Kind
	// Count is the number of pods that the object creates. For a DaemonSet, it depends on the
	// nodes. Scale is the range of the workload's autoscaler, or nil if none applies. If several
	// autoscalers name the workload, all are inactive, and Rivals lists them.
	Count  Count
	Scale  *Scale
	Rivals []*Scale
	// Labels holds the pod labels with known values. They come from the template or are added by
	// the controller. Added reports labels that the controller adds with unknown values.
	Labels map[string]string
	// Spec is the decoded pod spec. Fields of the wrong type are zero.
	Spec PodSpec
	// TemplateNode is the pod template, a map with metadata and spec. SpecNode is its spec.
	TemplateNode, SpecNode *source.Node
	// Problems lists the fields that the API server rejects.
	Problems []Problem
	// Gated lists the fields that the API server drops because of the cluster's version (StageVersion),
	// those that it drops or rejects, depending on a feature gate (StageGate), and those that are
	// rejected in most clusters (StageClass).
	Gated []Problem
	// Unknown lists fields in or around the pod spec that do not exist in the API because they are
	// misspelled or misplaced.
	Unknown []UnknownField
	// Open lists fields whose value is unknown because it contains a placeholder or has the wrong
	// type. Paths are relative to the pod spec.
	Open []string
	// Kubernetes is the version of the cluster, or zero if it is not known. Spec, TemplateNode and
	// SpecNode have no field that it drops.
	Kubernetes versions.Version
	// Placeholders lists the placeholders in the object (see Set.Placeholders).
	Placeholders []string
	// Fragment is set if the Workload describes only placement fields of an object whose kind is
	// not in the table. In that case, only Object, Spec, SpecNode and Problems are meaningful.
	Fragment bool
	// Within names the chart values that contain a Fragment, for example "values master". It is
	// empty for other workloads.
	Within string
	// Running is set for a pod that is already running on Spec.NodeName.
	Running bool
	// Exported is set for a Job that was exported from a cluster. The selector of such a Job
	// contains the Job's uid. The API server accepts it as an update. It rejects it as a new Job,
	// because a new Job gets a different uid.
	Exported bool
	// Repeated is set if another declaration of the same object differs.
	Repeated bool
	// Superseded is set if a later declaration of the object replaces it.
	Superseded bool
	// Copy is set if an earlier, identical declaration of the object exists.
	Copy bool

	// Operator is the name of the operator that makes the pods of a custom resource, or empty. It may
	// add labels.
	Operator string

	// Admission names an object that may change or reject the pods on creation, for example
	// LimitRange shop/l. It is empty if no such object is known.
	Admission string
	// Quotas lists the ResourceQuotas that have no room for twice the number of pods. TightQuota names
	// one that also counts pods that end, or is empty. While nodes are unreachable, replacements exist
	// in addition to the old pods.
	Quotas     []QuotaRoom
	TightQuota string
	// Contested is set if the ResourceQuotas of the namespace admit all pods or only some, depending on
	// which pods are created first, and nothing else about Admission is open.
	Contested *Contested
	// PlainClass is set if Spec includes what the pods' RuntimeClass adds. Adds lists the objects whose
	// node selector or tolerations admission adds: a RuntimeClass, a Namespace. LimitRange sets requests
	// of containers without them, or is nil.
	PlainClass bool
	Adds       []*source.Object
	LimitRange *source.Object

	Priority Priority

	// Claims lists the volume claims of the pods. Reaches lists what restricts all pods to nodes
	// that can use their claims. OrdinalReaches is set if the claims of a StatefulSet's pods may
	// differ in this.
	Claims         []*Claim
	Reaches        []Reach
	OrdinalReaches *OrdinalReaches
	// Pin is a node label. A pod that has run can only move to nodes that have the same value as its
	// first node, because its volume was made there (R-W35). It is empty if pods may move anywhere.
	// OpenPin names what is not known, such as a StorageClass, if it is not known whether Pin applies.
	Pin, OpenPin string
	// Early lists the claims whose volumes are made before the pods are scheduled, if these can be used
	// on some nodes only.
	Early []*Early
	// OncePod lists the claims that only one pod in the cluster may use at a time (R-N36). OpenOnce
	// says which of them pods may use otherwise, or is empty.
	OncePod  []string
	OpenOnce string
	// OpenVolume says what is not known about a volume in the pod spec that is a disk, or about a claim
	// that only the scheduler has bound for a pod that names its node. It is empty otherwise.
	OpenVolume string
	// InlineDisks lists the volumes in the pod spec that a CSI driver attaches, each with its driver.
	InlineDisks [][2]string
	// SharesClaim is set if other workloads use a claim of the pods, too.
	SharesClaim bool
	// SharedPin is set if all pods can use a claim at once that Pin concerns.
	SharedPin bool
	// Attached says whether all pods use a claim whose volume is attached to one node at a time (see
	// Claim.Exclusive). AttachedBy is that claim.
	Attached   diag.Outcome
	AttachedBy *Claim
	// Stays is the device that keeps a virtual machine from being live-migrated, or nil. OpenDisk says
	// what is not known, if it is not known whether a disk does.
	Stays    *Device
	OpenDisk string

	// Defaulted is set if a LimitRange may set default requests or limits on the containers.
	Defaulted bool

	// Elsewhere is set if the workload might belong to another deployment.
	Elsewhere bool
	// Validated is set if no deployment creates the workload (see Set.Validated).
	Validated bool

	// from is the object that contains the template, or nil if that object is Object. For a
	// Fragment from chart values, from.File is the file with the values.
	from *source.Object
}

// Stage says whether the API server rejects the object itself or its pods.
type Stage string

// Values of Stage. StageObject means that the API server rejects the object itself. StagePods means
// that it accepts the object but rejects every pod that the object creates (R-V22). StageFragment
// means that it rejects pods with the fields of a fragment. Whether it accepts the object around
// the fragment is not checked, because the schema of that object is unknown. StageVersion and
// StageGate are those of the fields in Workload.Gated.
const (
	StageObject Stage = "object"
	StagePods   Stage = "pods"

	StageFragment Stage = "fragment"
	StageVersion  Stage = "version"
	StageGate     Stage = "gate"

	// StageClass means that the API server rejects every pod unless the cluster has a PriorityClass
	// that is not declared.
	StageClass Stage = "class"

	// StageLimits and StageQuota mean that a LimitRange or a ResourceQuota makes admission reject
	// every pod.
	StageLimits Stage = "limits"
	StageQuota  Stage = "quota"
)

// Problem describes one field that the API server rejects.
type Problem struct {
	Stage Stage
	// Field is the path from the root of the object, for example
	// spec.template.spec.affinity.podAffinity.
	Field string
	// Message says what is wrong and what the API server expects.
	Message string
	// Fix describes the smallest fix, or is empty if the message makes the fix obvious.
	Fix  string
	Span diag.Span
	// Gate is the feature gate for a field in Gated, or empty for other fields.
	Gate string
	// By is the object that makes admission reject the pods, or nil. Some is set if it rejects only
	// some of them.
	By   *source.Object
	Some bool
}

// UnknownField is a field that does not exist in the API.
type UnknownField struct {
	Field, Suggestion string
	Span              diag.Span
	// KeySpan is the location of the field name, which an automatic fix replaces.
	KeySpan diag.Span
}

// Added reports whether the controller adds a label with an unknown value. If perPod is true, the
// value differs from pod to pod. Otherwise, all pods in a revision share one value.
func (w *Workload) Added(key string) (added, perPod bool) {
	if slices.Contains(w.PerPod(), key) {
		return true, true
	}
	return slices.Contains(w.Kind.Shared, key), false
}

// PerPod returns the labels that the controller adds with a different value for each pod. Only
// Indexed Jobs add the completion index label (R-W14). StatefulSets and Jobs add their index from
// Kubernetes 1.28 on.
func (w *Workload) PerPod() []string {
	if w.Kind.Batch() && w.TemplateOwner().Get("completionMode").Text() != indexedMode {
		return nil
	}
	if w.Kubernetes.Before(28) { // the indexes were no labels yet
		return slices.DeleteFunc(slices.Clone(w.Kind.PerPod), func(key string) bool { return strings.HasSuffix(key, "-index") })
	}
	return w.Kind.PerPod
}

// TemplateOwner returns the map that contains the pod template, such as the spec of a Job. It
// returns nil for a bare Pod.
func (w *Workload) TemplateOwner() *source.Node {
	if len(w.Kind.Template) == 0 {
		return nil
	}
	return w.Object.Root.At(w.Kind.Template[:len(w.Kind.Template)-1]...)
}

// Namespace returns the namespace of the pods, or "" if the manifest does not set it (R-W3).
func (w *Workload) Namespace() string { return w.Object.Namespace }

// Space returns the namespace of a manifest. If the manifest sets none, it returns "default", the
// namespace that kubectl uses by default.
func Space(namespace string) string { return cmp.Or(namespace, metav1.NamespaceDefault) }

// Refused reports whether the API server rejects the workload or all of its pods.
func (w *Workload) Refused() bool {
	return slices.ContainsFunc(w.Problems, func(p Problem) bool { return !p.Some })
}

// Bare reports whether the workload is a single pod or virtual machine that no controller
// recreates.
func (w *Workload) Bare() bool { return len(w.Kind.Template) == 0 }

// Terminating reports whether the object is being deleted. A pod being deleted still counts for
// affinity, but not for topology spread (R-A1, R-T4).
func (w *Workload) Terminating() bool {
	return !w.Object.Root.At("metadata", "deletionTimestamp").IsNull()
}

// String returns the workload's kind, namespace and name for use in messages.
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

// File returns the file with the pod template. It may differ from Object.File for a fragment from
// chart values, and for a Rollout with a template in another object.
func (w *Workload) File() *source.File {
	if w.from != nil {
		return w.from.File
	}
	return w.Object.File
}

// CountSpan returns the location of the field with the pod count, or that of the object's name if
// there is no such field.
func (w *Workload) CountSpan() diag.Span {
	if w.Count.Key != nil {
		return w.Object.File.FieldSpan(w.Count.Key, w.Count.Value)
	}
	return w.Object.NameSpan()
}

// Pods returns the smallest and the largest number of pods that the object may have, between the limits
// of its autoscaler if it has one (R-W18). The count of a DaemonSet depends on the nodes.
func (w *Workload) Pods() (least, most int) {
	if w.Scale != nil {
		return w.Scale.Min, w.Scale.Max
	}
	return w.Count.N, w.Count.N
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

// budgetElsewhere reads a budget that might not be deployed. Each budget is read only once, even if
// several sets contain it.
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

// AffectsWorkloads reports whether an object creates no pods but affects workloads. The workloads
// may be declared in other files.
func (t Table) AffectsWorkloads(o *source.Object) bool {
	switch o.Kind {
	case "LimitRange", "PodTemplate", "ResourceQuota":
		return core(o)
	case "PodDisruptionBudget":
		return false
	case "PriorityClass", "RuntimeClass":
		return true
	}
	return createsNoPods(o) || Stores(o) || claims[o.Kind] && o.Group() == claimGroup
}

// Limits reports whether an object limits the pods in its namespace, as a LimitRange, a
// ResourceQuota or the Pod Security level of a Namespace does. Unless clusters share files, such an
// object exists in only one cluster.
func (t Table) Limits(o *source.Object) bool {
	return core(o) && (o.Kind == "LimitRange" || o.Kind == "ResourceQuota" || o.Kind == "Namespace" && o.Root.At("metadata", "labels", Enforce) != nil)
}

// Declares reports whether an object counts as a declaration. It returns false for patches, for
// nodes, and for terminated pods.
func (t Table) Declares(o *source.Object) bool {
	if o.APIVersion == "" || o.Kind == "Node" && core(o) {
		return false
	}
	if kind := t.Find(o.APIVersion, o.Kind); kind != nil {
		return isManifest(o, kind) && !ended(o, kind) || kind.Kind == rolloutKind && !o.Root.At("spec", "workloadRef").IsNull()
	}
	return o.Kind != "PodDisruptionBudget" || !o.Root.At("spec", "selector").IsNull()
}

// Judged reports whether findings can be about an object itself, for example a workload, a budget
// or an autoscaler.
func (t Table) Judged(o *source.Object) bool {
	return t.Find(o.APIVersion, o.Kind) != nil || scales(o) || o.Kind == "PodDisruptionBudget" && o.Group() == "policy"
}

// ended reports whether an object is a pod that has terminated.
func ended(o *source.Object, kind *Kind) bool {
	phase := o.Root.At("status", "phase").Text()
	return kind.Kind == "Pod" && (phase == "Succeeded" || phase == "Failed")
}

// Operates reports whether a namespace may contain pods that no workload in the set creates. An
// operator may create such pods from another object. A selector that matches no declared pod may
// match them. An object without a namespace may be cluster-wide and create pods anywhere. A
// manifest without a namespace may end up in any namespace.
func (s *Set) Operates(namespace string) bool {
	return s.Operated[namespace] || s.Operated[""] || namespace == "" && len(s.Operated) > 0
}

// installers lists the kinds whose objects refer to manifests in other places. Such manifests may
// create objects outside the namespace of the installer.
var installers = setOf(`App Application ApplicationSet Bundle ClusterServiceVersion GitRepo HelmChart HelmRelease Kustomization
	PackageInstall Subscription`)

// pointers lists the installers that usually refer to manifests in the same tree rather than to
// third-party charts.
var pointers = setOf("App Application ApplicationSet Bundle GitRepo Kustomization")

// Maker returns a custom resource in the namespace whose operator may create pods with a label, or
// nil if there is none. A resource qualifies if the label's value is the resource's name or
// lower-case kind. It also qualifies if the label key and the resource's API group share a domain:
// for example, the operator for postgresql.cnpg.io sets cnpg.io/cluster. The namespace is ignored
// if it is empty, if the resource has no namespace, or if the resource is an installer.
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

// sameDomain reports whether the prefix of a label key is an API group, or a parent domain or
// subdomain of that group. Kubernetes' own domains never match.
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

// queueName is the label that makes Kueue manage an object (kubernetes-sigs/kueue:
// pkg/controller/constants/constants.go, QueueLabel).
const queueName = "kueue.x-k8s.io/queue-name"

// Finite reports whether the pods of a workload terminate on their own and release their resources
// (R-A1, R-W15). This is true for the pods of Jobs and CronJobs, bare pods that do not restart, and
// pods of hooks that a tool waits for. If such a pod does not fit now, it can wait and run later.
func (w *Workload) Finite() bool {
	if w.Kind.Kind != "Pod" {
		return w.Kind.Batch()
	}
	policy := w.RestartPolicy().Text()
	return w.Object.Hook != "" || policy == "Never" || policy == "OnFailure"
}

// RestartPolicy returns the YAML node of the pod's restartPolicy, or nil.
func (w *Workload) RestartPolicy() *source.Node { return w.SpecNode.Get("restartPolicy") }

// Queued reports whether Kueue holds the pods back until their queue has enough quota. The queue
// label may be on the object or on its pods.
func (w *Workload) Queued() bool {
	return !w.Object.Root.At("metadata", "labels", queueName).IsNull() || !w.TemplateNode.At("metadata", "labels", queueName).IsNull()
}
