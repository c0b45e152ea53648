package workload

import "strings"

// Kind is one row of the table of kinds that create pods. An object matches by group and kind,
// regardless of the version.
type Kind struct {
	Group, Kind string
	// Template is the path to the pod template, the map that has metadata and spec. It is empty if
	// the object itself is the pod.
	Template []string
	// Count returns the number of pods.
	Count counter
	// VM is set if the template has the spec of a KubeVirt VirtualMachineInstance instead of a Pod
	// (R-W20).
	VM bool
	// Selects is set if the object needs a spec.selector that matches the template's labels
	// (R-V37).
	Selects bool
	// Fixed are labels that the controller adds with a known value, Shared those whose value all
	// pods of one revision share, PerPod those whose value differs from pod to pod (R-W2, R-W21).
	Fixed          map[string]string
	Shared, PerPod []string
	// NameLabels are added labels whose value is the name of the object.
	NameLabels []string
}

// PerNode reports whether there is one pod per node, as for a DaemonSet.
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

// The kind of Argo Rollouts, and the label that it adds.
const (
	rolloutKind = "Rollout"
	rolloutHash = "rollouts-pod-template-hash"
)

// kinds returns the kinds that schedlint judges, with the properties of their controllers from
// lint/sched/SEMANTICS.md.
func kinds() []Kind {
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

// Table maps a group and a kind to its row.
type Table map[[2]string]*Kind

// NewTable builds the table of kinds.
func NewTable() Table {
	rows := kinds()
	t := make(Table, len(rows))
	for i := range rows {
		t[[2]string{rows[i].Group, rows[i].Kind}] = &rows[i]
	}
	return t
}

// Find returns the row for an apiVersion and kind, or nil.
func (t Table) Find(apiVersion, kind string) *Kind {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		group = ""
	}
	return t[[2]string{group, kind}]
}

// placeless has kinds of Kubernetes itself and of common add-ons that create no pods, so their
// bodies need not be read. A Gateway is not among them, because some controllers run pods for it.
var placeless = func() map[string]bool {
	m := map[string]bool{}
	for k := range strings.FieldsSeq(`AlertmanagerConfig APIService AuthorizationPolicy Certificate CiliumNetworkPolicy ClusterIssuer ClusterRole
		ClusterRoleBinding ClusterSecretStore ClusterTriggerAuthentication ConfigMap ControllerRevision CSIDriver CSINode
		CSIStorageCapacity CustomResourceDefinition DestinationRule DeviceClass Endpoints EndpointSlice Event ExternalSecret
		FlowSchema GatewayClass GRPCRoute HTTPRoute Ingress IngressClass Issuer Lease LimitRange
		MutatingWebhookConfiguration NetworkPolicy PeerAuthentication PersistentVolume PersistentVolumeClaim PodMonitor
		PodSecurityPolicy PriorityClass PriorityLevelConfiguration Probe PrometheusRule ReferenceGrant ResourceClaim
		ResourceClaimTemplate ResourceQuota Role RoleBinding RuntimeClass SealedSecret Secret SecretStore ServiceAccount
		ServiceEntry ServiceMonitor StorageClass TCPRoute TLSRoute TriggerAuthentication UDPRoute ValidatingAdmissionPolicy
		ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration VirtualService VolumeAttachment
		VolumeAttributesClass VolumeSnapshot VolumeSnapshotClass VolumeSnapshotContent`) {
		m[k] = true
	}
	return m
}()

// Relevant reports whether the body of an object has to be read: kinds that are known to create no
// pods are skipped.
func (t Table) Relevant(apiVersion, kind string) bool {
	if kind == "Service" { // of the core group; Knative's has a template
		return strings.Contains(apiVersion, "/")
	}
	return !placeless[kind]
}

// Read reports whether the body of an object is read. Besides relevant objects, these are claims
// for devices, because pods refer to them, and objects that change or refuse pods.
func (t Table) Read(apiVersion, kind string) bool {
	return t.Relevant(apiVersion, kind) || claims[kind] && strings.HasPrefix(apiVersion, claimGroup+"/") || admitsPods(apiVersion, kind)
}

const claimGroup = "resource.k8s.io"

// claims are the kinds of claims for devices (dynamic resource allocation).
var claims = map[string]bool{"ResourceClaim": true, "ResourceClaimTemplate": true}

// unread are fields with large values that do not concern placement.
var unread = map[string]bool{
	"args": true, "command": true, "conditions": true, "data": true, "env": true, "envFrom": true, "images": true,
	"managedFields": true, "nodeInfo": true, "stringData": true, "volumeClaimTemplates": true, "volumeMounts": true,
}

// Unread reports whether this package never reads a field, wherever it appears.
func Unread(field string) bool { return unread[field] }
