package workload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Kind describes a kind of object that creates pods, in all its API versions.
type Kind struct {
	Group, Kind string
	// Template is the path of the pod template (the map with metadata and spec), or empty if the
	// object itself is a pod.
	Template []string
	// Count reads the number of pods from an object.
	Count counter
	// VM is set if the template contains a KubeVirt VirtualMachineInstance spec rather than a pod
	// spec (R-W20).
	VM bool
	// Selects is set if spec.selector is required and must match the template labels (R-V37).
	Selects bool
	// Fixed, Shared and PerPod are labels that the controller adds to pods (R-W2, R-W21). The
	// values of Fixed labels are known. A Shared label has one value for all pods in a revision. A
	// PerPod label has a different value for each pod.
	Fixed          map[string]string
	Shared, PerPod []string
	// NameLabels lists labels that the controller adds with the object's name as their value.
	NameLabels []string
}

// PerNode reports whether the controller creates one pod per node, as the DaemonSet controller
// does.
func (k *Kind) PerNode() bool { return k.Kind == "DaemonSet" }

// Batch reports whether the object is a Job or creates Jobs.
func (k *Kind) Batch() bool { return k.Group == "batch" }

var (
	vmLabels = map[string]string{"kubevirt.io": "virt-launcher"}
	vmPerPod = []string{"kubevirt.io/created-by", "vm.kubevirt.io/name", "vmi.kubevirt.io/id"}
	jobNames = []string{"batch.kubernetes.io/job-name", "job-name"}
	jobUID   = []string{"batch.kubernetes.io/controller-uid", "controller-uid"}
	jobIndex = []string{"batch.kubernetes.io/job-completion-index"}
	template = []string{"spec", "template"}
)

// The kind of an Argo Rollout, and the label that the controller adds to its pods.
const (
	rolloutKind = "Rollout"
	rolloutHash = "rollouts-pod-template-hash"
)

// ownKinds returns the kinds that schedlint judges, with the behavior of their controllers as
// described in lint/sched/SEMANTICS.md.
func ownKinds() []Kind {
	return []Kind{
		{Group: "", Kind: "Pod", Count: onePod},
		{Group: "apps", Kind: "Deployment", Template: template, Count: replicas, Selects: true, Shared: []string{"pod-template-hash"}},
		{Group: "apps", Kind: "ReplicaSet", Template: template, Count: replicas, Selects: true},
		{Group: "", Kind: "ReplicationController", Template: template, Count: replicas},
		{Group: "apps", Kind: "StatefulSet", Template: template, Count: replicas, Selects: true, Shared: []string{"controller-revision-hash"},
			PerPod: []string{"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"}},
		{Group: "apps", Kind: "DaemonSet", Template: template, Count: perNode, Selects: true, Shared: []string{"controller-revision-hash", "pod-template-generation"}},
		{Group: "argoproj.io", Kind: rolloutKind, Template: template, Count: replicas, Selects: true, Shared: []string{rolloutHash}},
		{Group: "batch", Kind: "Job", Template: template, Count: jobPods, NameLabels: jobNames, Shared: jobUID, PerPod: jobIndex},
		{Group: "batch", Kind: "CronJob", Template: []string{"spec", "jobTemplate", "spec", "template"}, Count: cronPods, Shared: append(jobNames, jobUID...), PerPod: jobIndex},
		{Group: "kubevirt.io", Kind: "VirtualMachine", Template: template, Count: vmPods, VM: true, Fixed: vmLabels, PerPod: vmPerPod},
		{Group: "kubevirt.io", Kind: "VirtualMachineInstance", Count: onePod, VM: true, Fixed: vmLabels, PerPod: vmPerPod},
		{Group: "kubevirt.io", Kind: "VirtualMachineInstanceReplicaSet", Template: template, Count: replicas, VM: true, Fixed: vmLabels, PerPod: vmPerPod},
		{Group: "pool.kubevirt.io", Kind: "VirtualMachinePool", Template: []string{"spec", "virtualMachineTemplate", "spec", "template"}, Count: replicas, VM: true, Fixed: vmLabels,
			Shared: []string{"kubevirt.io/vm-pool-revision-name"}, PerPod: vmPerPod},
	}
}

// Table maps API groups and kind names to kinds.
type Table map[[2]string]*Kind

// NewTable builds the table of kinds.
func NewTable() Table {
	rows := ownKinds()
	t := make(Table, len(rows))
	for i := range rows {
		t[[2]string{rows[i].Group, rows[i].Kind}] = &rows[i]
	}
	return t
}

// Find looks up an apiVersion and kind. It returns nil if the kind is not in the table.
func (t Table) Find(apiVersion, kind string) *Kind {
	return t[[2]string{groupOf(apiVersion), kind}]
}

// placeless lists kinds in Kubernetes and add-ons that create no pods, so the bodies of their
// objects need not be read. Gateway is not listed, because some controllers run pods for a Gateway.
var placeless = setOf(`AlertmanagerConfig APIService AuthorizationPolicy Certificate CiliumNetworkPolicy ClusterIssuer ClusterRole
		ClusterRoleBinding ClusterSecretStore ClusterTriggerAuthentication ConfigMap ControllerRevision CSIDriver CSINode
		CSIStorageCapacity CustomResourceDefinition DestinationRule DeviceClass Endpoints EndpointSlice Event ExternalSecret
		FlowSchema GatewayClass GRPCRoute HTTPRoute Ingress IngressClass Issuer Lease LimitRange
		MutatingWebhookConfiguration NetworkPolicy PeerAuthentication PersistentVolume PersistentVolumeClaim PodMonitor
		PodSecurityPolicy PriorityClass PriorityLevelConfiguration Probe PrometheusRule ReferenceGrant ResourceClaim
		ResourceClaimTemplate ResourceQuota Role RoleBinding RuntimeClass SealedSecret Secret SecretStore ServiceAccount
		ServiceEntry ServiceMonitor StorageClass TCPRoute TLSRoute TriggerAuthentication UDPRoute ValidatingAdmissionPolicy
		ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration VirtualService VolumeAttachment
		VolumeAttributesClass VolumeSnapshot VolumeSnapshotClass VolumeSnapshotContent`)

// setOf returns the set of words in a string.
func setOf(text string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		words[word] = true
	}
	return words
}

// Relevant reports whether an object's body must be read because the object may create or affect
// pods.
func (t Table) Relevant(apiVersion, kind string) bool {
	if kind == "Service" { // the core Service; Knative's Service has a pod template
		return strings.Contains(apiVersion, "/")
	}
	return !placeless[kind]
}

// Read reports whether the body of an object is read. It returns true for relevant objects, for
// objects that can change or reject pods, for device claims, for volumes, for Services and for
// CSINodes.
func (t Table) Read(apiVersion, kind string) bool {
	return t.Relevant(apiVersion, kind) || kind == "Service" || claims[kind] && strings.HasPrefix(apiVersion, claimGroup+"/") || admitsPods(apiVersion, kind) || stores(groupOf(apiVersion), kind) ||
		kind == "CSINode" && groupOf(apiVersion) == storageGroup
}

const claimGroup = "resource.k8s.io"

// claims lists the kinds of objects that request devices through dynamic resource allocation.
var claims = map[string]bool{"ResourceClaim": true, "ResourceClaimTemplate": true}

// unread lists fields that often have large values and never affect placement.
var unread = setOf(`args command conditions data env envFrom images managedFields nodeInfo stringData volumeMounts`)

// Unread reports whether this package ignores all fields with a given name.
func Unread(field string) bool { return unread[field] }

// Count is the number of pods that an object creates.
type Count struct {
	// N is the pod count. It is meaningful only if Known is set.
	N     int
	Known bool
	// Key and Value are the key and value of the field that sets N, or nil if N is a default.
	Key, Value *source.Node
	// Why explains N if no field states it directly.
	Why string
}

// counter reads an object's pod count. It does not report invalid values, because validation
// reports them.
type counter func(o *source.Object) Count

func known(n int, why string) Count { return Count{N: n, Known: true, Why: why} }

func onePod(*source.Object) Count { return known(1, "") }

func perNode(*source.Object) Count { return Count{Why: "one pod a node"} }

// field reads a non-negative integer field. absent is the default for an unset field.
func field(n *source.Node, name string, absent int) Count {
	key, value := n.Field(name)
	if value.IsNull() {
		return known(absent, fmt.Sprintf("%s is %d by default", name, absent))
	}
	i, ok := value.Int()
	ok = ok && i >= 0 && i <= 1<<31-1
	return Count{N: int(i), Known: ok, Key: key, Value: value}
}

func replicas(o *source.Object) Count { return field(o.Root.Get("spec"), "replicas", 1) }

func jobPods(o *source.Object) Count { return jobCount(o.Root.Get("spec")) }

// jobCount returns min(parallelism, completions). Both default to 1, but a Job that sets only
// parallelism is a work queue with that many pods (R-W14).
func jobCount(spec *source.Node) Count {
	if c, is := suspended(spec); is {
		return c
	}
	parallelism, completions := field(spec, "parallelism", 1), field(spec, "completions", 1)
	switch {
	case !parallelism.Known:
		return parallelism
	case !completions.Known:
		return completions
	case completions.Key == nil && parallelism.Key != nil, parallelism.N <= completions.N:
		return parallelism
	}
	return completions
}

func cronPods(o *source.Object) Count {
	spec := o.Root.Get("spec")
	if c, is := suspended(spec); is {
		return c
	}
	return jobCount(spec.At("jobTemplate", "spec"))
}

// suspended reports whether a Job is suspended or may be suspended. In that case, it also returns
// the pod count.
func suspended(spec *source.Node) (c Count, is bool) {
	k, v := spec.Field("suspend")
	on, _ := v.Bool()
	return Count{Known: on, Key: k, Value: v, Why: "suspended"}, on || v.Placeholder()
}

// vmPods returns 1, or 0 if the manifest turns the machine off (R-W24). A machine that must be
// started manually counts as running.
func vmPods(o *source.Object) Count {
	spec := o.Root.Get("spec")
	if k, v := spec.Field("runStrategy"); v.Text() == "Halted" || v.Placeholder() {
		return Count{Known: !v.Placeholder(), Key: k, Value: v}
	}
	k, v := spec.Field("running")
	if on, ok := v.Bool(); ok && !on || v.Placeholder() {
		return Count{Known: ok, Key: k, Value: v}
	}
	return known(1, "")
}

// builtin lists the kinds, except Lists, in the API groups of Kubernetes itself. It includes the
// kinds of older releases (k8s.io/api: */*/register.go; for removed kinds, the same file in older
// releases).
var builtin = map[string]string{
	"": `APIGroup APIVersions Binding ComponentStatus ConfigMap DeleteOptions Endpoints Event LimitRange Namespace Node NodeProxyOptions
		PersistentVolume PersistentVolumeClaim Pod PodAttachOptions PodExecOptions PodLogOptions PodPortForwardOptions PodProxyOptions
		PodStatusResult PodTemplate RangeAllocation ReplicationController ResourceQuota Secret SerializedReference Service ServiceAccount
		ServiceProxyOptions Status WatchEvent`,
	"admission.k8s.io": "AdmissionReview",
	"admissionregistration.k8s.io": `ExternalAdmissionHookConfiguration InitializerConfiguration MutatingAdmissionPolicy
		MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
		ValidatingWebhookConfiguration`,
	"apiextensions.k8s.io":         "ConversionReview CustomResourceDefinition",
	"apiregistration.k8s.io":       "APIService",
	"apidiscovery.k8s.io":          "APIGroupDiscovery",
	"apps":                         "ControllerRevision DaemonSet Deployment DeploymentRollback PetSet ReplicaSet Scale StatefulSet",
	"auditregistration.k8s.io":     "AuditSink",
	"authentication.k8s.io":        "SelfSubjectReview TokenRequest TokenReview",
	"authorization.k8s.io":         "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
	"autoscaling":                  "HorizontalPodAutoscaler Scale",
	"batch":                        "CronJob Job JobTemplate ScheduledJob",
	"certificates.k8s.io":          "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest",
	"coordination.k8s.io":          "Lease LeaseCandidate",
	"discovery.k8s.io":             "EndpointSlice",
	"events.k8s.io":                "Event",
	"extensions":                   "DaemonSet Deployment DeploymentRollback HorizontalPodAutoscaler Ingress Job NetworkPolicy PodSecurityPolicy ReplicaSet ReplicationControllerDummy Scale ThirdPartyResource ThirdPartyResourceData",
	"flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
	"imagepolicy.k8s.io":           "ImageReview",
	"internal.apiserver.k8s.io":    "StorageVersion",
	"networking.k8s.io":            "ClusterCIDR Ingress IngressClass IPAddress NetworkPolicy ServiceCIDR",
	"node.k8s.io":                  "RuntimeClass",
	"policy":                       "Eviction PodDisruptionBudget PodSecurityPolicy",
	"rbac.authorization.k8s.io":    "ClusterRole ClusterRoleBinding Role RoleBinding",
	"resource.k8s.io": `DeviceClass DeviceTaintRule PodScheduling PodSchedulingContext ResourceClaim ResourceClaimParameters
		ResourceClaimTemplate ResourceClass ResourceClassParameters ResourcePoolStatusRequest ResourceSlice`,
	"scheduling.k8s.io":       "PodGroup PriorityClass Workload",
	"settings.k8s.io":         "PodPreset",
	"storage.k8s.io":          "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
	"storagemigration.k8s.io": "StorageVersionMigration",
}

// foreignKinds lists kinds that other projects use with apiVersion v1: the kind of kubeconfig
// files, and OpenShift kinds that are older than OpenShift's own API groups (openshift/api: pkg
// legacy groups).
var foreignKinds = strings.Fields(`Config AppliedClusterResourceQuota Build BuildConfig BuildLog BuildRequest ClusterNetwork ClusterPolicy ClusterPolicyBinding
	ClusterResourceQuota ClusterRole ClusterRoleBinding DeploymentConfig DeploymentConfigRollback DeploymentLog EgressNetworkPolicy Group HostSubnet
	Identity Image ImageSignature ImageStream ImageStreamImage ImageStreamImport ImageStreamMapping ImageStreamTag
	IsPersonalSubjectAccessReview LocalResourceAccessReview LocalSubjectAccessReview NetNamespace OAuthAccessToken OAuthAuthorizeToken
	OAuthClient OAuthClientAuthorization PodSecurityPolicyReview PodSecurityPolicySelfSubjectReview PodSecurityPolicySubjectReview Policy
	PolicyBinding Project ProjectRequest ResourceAccessReview Role RoleBinding RoleBindingRestriction Route SecurityContextConstraints
	SelfSubjectRulesReview SubjectAccessReview SubjectRulesReview Template TemplateInstance User UserIdentityMapping`)

// validateKind records a refusal if an object's kind looks like a misspelling of a known kind. The
// two may differ only in case, in a plural ending or by one edit. Long names may differ by two
// edits, because they are rarely that similar by chance.
func (l *loader) validateKind(o *source.Object) {
	words, ok := builtin[o.Group()]
	kinds := strings.Fields(words)
	switch {
	case !ok || o.Group() == "" && o.APIVersion != "v1" || strings.HasSuffix(o.Kind, "List") || o.Root.Get("metadata").Len() == 0:
		return
	case slices.Contains(kinds, o.Kind) || slices.Contains(foreignKinds, o.Kind):
		return
	}
	meant, near := o.Kind, ""
	if singular, ok := strings.CutSuffix(meant, "ies"); ok {
		meant = singular + "y"
	}
	for edits := 0; edits < 3 && near == ""; edits++ {
		kinds = slices.DeleteFunc(kinds, func(kind string) bool { return len(kind) < 3*edits })
		if near = diag.Within(meant, kinds, edits); slices.Contains(kinds, meant) {
			near = meant
		}
	}
	if near == "" {
		return
	}
	group := "API group " + o.Group()
	if o.Group() == "" {
		group = "core API group"
	}
	k, v := o.Root.Field("kind")
	l.set.Refusals = append(l.set.Refusals, Refusal{Object: o, Problems: []Problem{{
		Stage: StageObject, Field: "kind", Span: o.File.FieldSpan(k, v),
		Message: fmt.Sprintf("kind is %q: the %s has no such kind", clipped(o.Kind), group), Fix: "write kind: " + near,
	}}})
}
