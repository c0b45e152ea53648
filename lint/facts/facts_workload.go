package facts

import "github.com/schedlint/schedlint/lint/diag"

// NoBound stands for a number of pods or nodes without an upper bound.
const NoBound = 1<<31 - 1

// NoValue stands for an amount or percentage without an upper bound. It is the largest integer that
// every JSON parser represents exactly.
const NoValue = 1<<53 - 1

// Workload is one object that creates pods. Rows of other lists refer to a workload by w, its index
// in this list. For an object that creates no pods, w is -1.
type Workload struct {
	ID int `json:"id"`
	// Ref is the kind, namespace and name for messages, for example "Deployment shop/web". Two
	// clusters or renders may have workloads with the same ref.
	Ref string `json:"ref"`
	// Known is false if the step budget ran out before the workload was described, or if an operator
	// makes its pods. The row then has only the names, the pod counts and the answers.
	Known bool `json:"known"`
	// Group is the API group, or "" for the core group.
	Group string `json:"group"`
	// Kind is the kind of the object, for example Deployment. It is "" if an operator makes the pods of
	// a custom resource, whose kind is in ref.
	Kind string `json:"kind" enum:"Deployment StatefulSet DaemonSet ReplicaSet ReplicationController Pod Job CronJob Rollout VirtualMachine VirtualMachineInstance VirtualMachineInstanceReplicaSet VirtualMachinePool "`
	// Namespace is the namespace as written, or "" if the manifest does not set it.
	Namespace string `json:"namespace"`
	// Name is the metadata.name.
	Name string `json:"name"`
	// Cluster is the configured cluster that the workload belongs to, or "".
	Cluster string `json:"cluster"`
	// Render is the kustomization or chart that renders the workload, or "".
	Render string `json:"render"`
	// File is the path of the file, relative to the root of the repository.
	File string `json:"file"`
	// Labels are the metadata.labels of the object.
	Labels map[string]string `json:"labels"`
	// Annotations are the metadata.annotations of the object.
	Annotations map[string]string `json:"annotations"`
	// PodLabels are the pod labels with known values. They come from the pod template or the
	// controller.
	PodLabels map[string]string `json:"pod_labels"`
	// LabelsKnown is false if a variable replaces all labels of the object or of the pod template.
	LabelsKnown bool `json:"labels_known"`
	// PodAnnotations are the annotations of the pod template.
	PodAnnotations map[string]string `json:"pod_annotations"`
	// NamespaceLabels are the labels of the namespace. They are empty if its manifest is not part
	// of the input (see namespace_declared).
	NamespaceLabels map[string]string `json:"namespace_labels"`
	// NamespaceDeclared is true if the input contains the manifest of the namespace.
	NamespaceDeclared bool `json:"namespace_declared"`
	// PodsMin is the smallest number of pods, from replicas or from the minimum of an autoscaler.
	// It is 0 if the number is unknown. A DaemonSet has one pod for each usable node, so it is
	// usable_min.
	PodsMin int `json:"pods_min"`
	// PodsMax is the largest number of pods, from replicas or from the maximum of an autoscaler. For
	// a DaemonSet it is usable_max. It is 2147483647 if the number is unknown.
	PodsMax int `json:"pods_max"`
	// Permanent is false for workloads that run to completion (Job, CronJob) and for workloads that
	// run one pod on every node (DaemonSet).
	Permanent bool `json:"permanent"`
	// PerNode is true for workloads that run one pod on every node (DaemonSet).
	PerNode bool `json:"per_node"`
	// Bare is true for a pod or a KubeVirt machine that no controller recreates. It has no owner,
	// and no other object's template creates it.
	Bare bool `json:"bare"`
	// PriorityClass is the priorityClassName of the pods, or "".
	PriorityClass string `json:"priority_class"`
	// PriorityClassDeclared says whether the priority class exists: "always" if it is built in or
	// its manifest is part of the input, or if the pods have none; "never" if it is neither; and
	// "unknown" if its name, or the name of some PriorityClass, has a variable.
	PriorityClassDeclared diag.Outcome `json:"priority_class_declared"`
	// ServiceAccount is the serviceAccountName of the pods, or "".
	ServiceAccount string `json:"service_account"`
	// NodeName is the nodeName in the pod template, or "". It is also "" for a pod that runs, because
	// the scheduler has set it.
	NodeName string `json:"node_name"`
	// HostNetwork is true if the pods use the network of their node.
	HostNetwork bool `json:"host_network"`
	// HostPID is true if the pods share the process IDs of their node.
	HostPID bool `json:"host_pid"`
	// HostIPC is true if the pods share the inter-process communication of their node.
	HostIPC bool `json:"host_ipc"`
	// HostKnown is false if a variable hides host_network, host_pid or host_ipc. A hidden one is
	// false.
	HostKnown bool `json:"host_known"`
	// GraceSecondsMin is the smallest number of seconds that the pods may have to stop, from
	// terminationGracePeriodSeconds, by default 30. It is 0 if the number is unknown, which it is
	// for KubeVirt machines and if it has a variable.
	GraceSecondsMin int `json:"grace_seconds_min"`
	// GraceSecondsMax is the largest such number. It is 2147483647 if the number is unknown.
	GraceSecondsMax int `json:"grace_seconds_max"`
	// Scheduler is the schedulerName of the pods, or default-scheduler if it is not set.
	Scheduler string `json:"scheduler"`
	// PlacementKnown is true if nodes are declared and schedlint can check the rules of the pods
	// against them. It is false if the pods use another scheduler or have scheduling gates, or if a
	// placement field has a variable or is rejected. Then usable_min, zones_min and pools are
	// meaningless.
	PlacementKnown bool `json:"placement_known"`
	// UsableMin is the number of declared nodes that pass the node-level rules of the pods
	// (nodeSelector, node affinity, taints, cordons). It is 0 if placement is unknown.
	UsableMin int `json:"usable_min"`
	// UsableMax is usable_min plus the number of usable nodes that pools can add. It is 2147483647
	// if placement is unknown.
	UsableMax int `json:"usable_max"`
	// UsablePoolless is the number of nodes in usable_min that belong to no pool. It is 0 if
	// placement is unknown.
	UsablePoolless int `json:"usable_poolless"`
	// ZonesMin is the number of zones that have usable declared nodes. It is 0 if placement is
	// unknown.
	ZonesMin int `json:"zones_min"`
	// ZonesMax is zones_min plus the number of zones that get usable nodes only if pools grow. It
	// is 2147483647 if placement is unknown.
	ZonesMax int `json:"zones_max"`
	// Zones are the names of the zones that have usable declared nodes. The list is empty if
	// placement is unknown.
	Zones []string `json:"zones"`
	// ZonesPossible are the zones and those that get usable nodes only if pools grow.
	ZonesPossible []string `json:"zones_possible"`
	// ZonesKnown is true if zones_possible has every zone that the pods can run in. It is false if
	// placement is unknown, or if a usable node has no label for its zone.
	ZonesKnown bool `json:"zones_known"`
	// Regions are the names of the regions that have usable declared nodes. The list is empty if
	// placement is unknown.
	Regions []string `json:"regions"`
	// RegionsPossible are the regions and those that get usable nodes only if pools grow.
	RegionsPossible []string `json:"regions_possible"`
	// RegionsKnown is true if regions_possible has every region that the pods can run in (see
	// zones_known).
	RegionsKnown bool `json:"regions_known"`
	// Architectures are the values of the label kubernetes.io/arch of usable declared nodes, for
	// example amd64, which nodes of a NodeTopology have by default. The list is empty if placement
	// is unknown.
	Architectures []string `json:"architectures"`
	// ArchitecturesPossible are the architectures and those that get usable nodes only if pools
	// grow.
	ArchitecturesPossible []string `json:"architectures_possible"`
	// ArchitecturesKnown is true if architectures_possible has every architecture that the pods can
	// run on (see zones_known).
	ArchitecturesKnown bool `json:"architectures_known"`
	// Growable is true if the pods can use a pool that can grow.
	Growable bool `json:"growable"`
	// Pools are the names of the pools that have, or can add, a node that the pods can use. The
	// list is empty if placement is unknown.
	Pools []string `json:"pools"`
	// TaintedPools are the names of the pools that a taint alone keeps the pods off: they can use no
	// node of the pool, and some node passes all their node-level rules but the taints. The list is
	// empty if placement is unknown.
	TaintedPools []string `json:"tainted_pools"`
	// OnOneNodeMin is the largest number n such that every placement of pods_min pods puts at least
	// n pods on some node. It is 0 if placement is unknown.
	OnOneNodeMin int `json:"on_one_node_min"`
	// OnOneNodeMax is the largest number of pods that can share a node while pods_min pods run.
	// Rules of other workloads are ignored. The loss of one node can take down that many pods at
	// once. It is pods_min if placement is unknown.
	OnOneNodeMax int `json:"on_one_node_max"`
	// InOneZoneMin is the largest number n such that every placement of pods_min pods puts at least
	// n pods in some zone. It is 0 if placement is unknown or a usable node has no zone.
	InOneZoneMin int `json:"in_one_zone_min"`
	// InOneZoneMax is the largest number of pods that can share a zone while pods_min pods run.
	// Rules of other workloads are ignored. The loss of one zone can take down that many pods at
	// once. It is pods_min if placement is unknown or a usable node has no zone.
	InOneZoneMax int `json:"in_one_zone_max"`
	// PodRequests are the requests that the scheduler counts for one pod. They are computed from
	// containers, init containers, overhead and pod-level resources.
	PodRequests []ResourceAmount `json:"pod_requests"`
	// PodLevelRequests are the spec.resources.requests of the pods. If they are set, containers
	// need no requests of their own.
	PodLevelRequests []ResourceAmount `json:"pod_level_requests"`
	// PodLevelLimits are the spec.resources.limits of the pods.
	PodLevelLimits []ResourceAmount `json:"pod_level_limits"`
	// ResourcesKnown is false if the resources of the pods or of a container have a variable. The
	// requests and limits may then be incomplete.
	ResourcesKnown bool `json:"resources_known"`
	// Defaulted is true if a LimitRange in the namespace sets default requests or limits for
	// containers.
	Defaulted bool `json:"defaulted"`
	// Containers are the containers of the pods, with init containers last. The list is empty for
	// KubeVirt machines.
	Containers []Container `json:"containers"`
	// Claims are the resourceClaims of the pods, which request devices through dynamic resource
	// allocation. Schedlint does not check whether enough devices exist.
	Claims []DeviceClaim `json:"claims"`
	// ClaimsKnown is false if a variable replaces all claims.
	ClaimsKnown bool `json:"claims_known"`
	// VolumeClaims are the PersistentVolumeClaims that the pods use.
	VolumeClaims []VolumeClaim `json:"volume_claims"`
	// Tolerations are the tolerations in the pod template, without those that the cluster adds.
	Tolerations []Toleration `json:"tolerations"`
	// NodeRules are the expressions of nodeSelector and node affinity.
	NodeRules []NodeRule `json:"node_rules"`
	// Terms are the pod affinity and anti-affinity terms and the topology spread constraints.
	Terms []Term `json:"terms"`
	// TermsKnown is false if a variable replaces terms, or if the API server rejects the workload.
	// The list of terms may then be incomplete.
	TermsKnown bool `json:"terms_known"`
	// Budgets are the PodDisruptionBudgets that select the pods or may select them (see selects).
	Budgets []PodBudget `json:"budgets"`
	// Scalers are the autoscalers that change the number of pods. The list has at most one entry.
	Scalers []Scaler `json:"scalers"`
	// Machine holds the fields that apply only to KubeVirt machines, such as a VirtualMachine.
	Machine Machine `json:"machine"`
	// Answers are the verdicts on whether the pods fit and on how the workload copes with changes.
	Answers Answers `json:"answers"`
}

// ResourceAmount is an amount of a resource.
type ResourceAmount struct {
	// Resource is the name of the resource, for example cpu, memory or nvidia.com/gpu.
	Resource string `json:"resource"`
	// Quantity is the amount in Kubernetes notation, for example 500m or 2Gi.
	Quantity string `json:"quantity"`
	// Value is the amount as an integer, rounded up. The unit is millicores for cpu, and bytes or
	// whole units for other resources.
	Value int `json:"value"`
}

// Container is a container in the pods of a workload.
type Container struct {
	ID int `json:"id"`
	// Name is the name of the container.
	Name string `json:"name"`
	// Init is true for an init container, including one that keeps running (a sidecar).
	Init bool `json:"init"`
	// Image is the image as written, or "".
	Image string `json:"image"`
	// Registry is the registry of the image, or docker.io if the image names none. It is "" for an
	// image with a variable.
	Registry string `json:"registry"`
	// Repository is the image without registry, tag and digest, for example library/nginx. It is ""
	// for an image with a variable.
	Repository string `json:"repository"`
	// Tag is the tag of the image, or "".
	Tag string `json:"tag"`
	// Digest is the digest of the image, for example sha256:0123, or "".
	Digest string `json:"digest"`
	// Requests are the resources.requests.
	Requests []ResourceAmount `json:"requests"`
	// Limits are the resources.limits.
	Limits []ResourceAmount `json:"limits"`
	// Ports are the ports of the container.
	Ports []Port `json:"ports"`
	// PortsKnown is false if a variable replaces all ports.
	PortsKnown bool `json:"ports_known"`
}

// Port is a port of a container.
type Port struct {
	ID int `json:"id"`
	// Name is the name of the port, or "".
	Name string `json:"name"`
	// ContainerPort is the port of the pod. It is 0 if it has a variable.
	ContainerPort int `json:"container_port"`
	// HostPort is the port of the node, or 0. In pods with host_network it is the container port if
	// the manifest does not set it.
	HostPort int `json:"host_port"`
	// Protocol is the protocol as written, by default TCP.
	Protocol string `json:"protocol"`
	// HostIP is the address of the node that the host port is bound to, or "" for all of them.
	HostIP string `json:"host_ip"`
	// Known is false if a variable hides the container port or the host port, or whether the pods
	// use the network of the node. A hidden port is 0.
	Known bool `json:"known"`
}

// DeviceClaim is an entry of resourceClaims. It names a ResourceClaim that the pods share, or a
// template that creates a separate claim for each pod.
type DeviceClaim struct {
	ID int `json:"id"`
	// Name is the name by which containers refer to the entry.
	Name string `json:"name"`
	// Claim is the resourceClaimName, or "".
	Claim string `json:"claim"`
	// Template is the resourceClaimTemplateName, or "".
	Template string `json:"template"`
	// RequestsKnown is false if the ResourceClaim or ResourceClaimTemplate is not part of the
	// input, or a variable replaces its requests.
	RequestsKnown bool `json:"requests_known"`
	// Requests are the requests of the claim (see requests_known).
	Requests []DeviceRequest `json:"requests"`
}

// DeviceRequest is a device request in a claim.
type DeviceRequest struct {
	// Name is the name of the request. Rows with the same name are alternatives (firstAvailable).
	// The first one that can be allocated is used.
	Name string `json:"name"`
	// DeviceClass is the deviceClassName as written, or "".
	DeviceClass string `json:"device_class"`
	// CountMin is the smallest number of devices. It is 0 for an alternative or if the number is
	// unknown.
	CountMin int `json:"count_min"`
	// CountMax is the largest number of devices. It is 2147483647 if the number is unknown or if
	// the request is for all devices of a node (allocationMode: All).
	CountMax int `json:"count_max"`
}

// VolumeClaim is a PersistentVolumeClaim that the pods of a workload use.
type VolumeClaim struct {
	ID int `json:"id"`
	// Name is the name of the claim, without the ordinal of the pod if it comes from a template. For
	// an ephemeral claim it is the name of the volume in the pod.
	Name string `json:"name"`
	// Template is true if the claim comes from the volumeClaimTemplates of a StatefulSet.
	Template bool `json:"template"`
	// Ephemeral is true if the claim exists only as long as the pod.
	Ephemeral bool `json:"ephemeral"`
	// Class is the name of the StorageClass. It is "" if the claim names none and the input has no
	// default class, or if the claim is not part of the input.
	Class string `json:"class"`
	// Size is the requested size in Kubernetes notation, for example 10Gi, or "" if it is unknown.
	Size string `json:"size"`
	// Modes are the access modes, for example ReadWriteOnce. The list is empty if they are unknown.
	Modes []string `json:"modes"`
	// Bound is true if the claim is bound to a PersistentVolume.
	Bound bool `json:"bound"`
	// Volume is the name of that PersistentVolume, or "" if it is unknown.
	Volume string `json:"volume"`
	// Pinned says where pods can use the volume once it exists: on its node, in its zone, in its two
	// zones, in its region or anywhere (free). It follows from the StorageClass.
	Pinned string `json:"pinned" enum:"node zone zones-2 region free unknown"`
	// Attach is single-node if a ReadWriteOnce volume is attached to one node at a time, and free if
	// nothing is attached. It follows from the StorageClass or from the PersistentVolume.
	Attach string `json:"attach" enum:"single-node free unknown"`
	// Shared is true if all pods of the workload use the same claim.
	Shared bool `json:"shared"`
}

// Toleration is a toleration of a workload's pods.
type Toleration struct {
	ID int `json:"id"`
	// Key is the key of the taint, or "" if the toleration matches every key.
	Key string `json:"key"`
	// Operator is Equal, Exists, Lt or Gt. It is unknown if the manifest has anything else, such as
	// a variable.
	Operator string `json:"operator" enum:"Equal Exists Lt Gt unknown"`
	// Value is the required value of the taint.
	Value string `json:"value"`
	// Effect is the effect of the taint, or "" if the toleration matches every effect. It is unknown
	// if the manifest has anything else, such as a variable.
	Effect string `json:"effect" enum:" NoSchedule PreferNoSchedule NoExecute unknown"`
	// Seconds is the tolerationSeconds, or -1 if it is not set.
	Seconds int `json:"seconds"`
	// Known is false if a variable hides one of these fields.
	Known bool `json:"known"`
	// ToleratesAll is true if no NoSchedule or NoExecute taint can keep the pods off a node. That
	// takes one toleration without key and effect, or one without key for each of the two effects,
	// without tolerationSeconds. Of those two, it is true for the one with the effect NoSchedule.
	ToleratesAll bool `json:"tolerates_all"`
	// Pools are the names of the pools that the pods can use only with this toleration.
	Pools []string `json:"pools"`
}

// NodeRule is one expression of a nodeSelector or node affinity.
type NodeRule struct {
	ID int `json:"id"`
	// Source is nodeSelector or nodeAffinity.
	Source string `json:"source" enum:"nodeSelector nodeAffinity"`
	// Hard is true if the rule filters nodes. Preferred rules only score them.
	Hard bool `json:"hard"`
	// Alternative is the index of the node affinity term that contains the expression. A node needs
	// to match only one term, but must meet all expressions of that term.
	Alternative int `json:"alternative"`
	// Key is the key of the node label, or metadata.name for a matchFields expression.
	Key string `json:"key"`
	// Operator is In, NotIn, Exists, DoesNotExist, Gt or Lt. For a nodeSelector it is In.
	Operator string `json:"operator" enum:"In NotIn Exists DoesNotExist Gt Lt"`
	// Values are the values of the expression.
	Values []string `json:"values"`
	// Nodes is the number of declared nodes that are known to meet this expression, regardless of
	// other rules. It is 0 if no nodes are declared.
	Nodes int `json:"nodes"`
	// NodesMax is the number of nodes that may meet this expression when all pools are at their
	// maximum size. A node that a pool adds may have any name. The number is 2147483647 if no nodes
	// are declared.
	NodesMax int `json:"nodes_max"`
}

// Term is a pod affinity or anti-affinity term or a topology spread constraint.
type Term struct {
	ID int `json:"id"`
	// Use is affinity, anti-affinity or spread.
	Use string `json:"use" enum:"affinity anti-affinity spread"`
	// Hard is true if the term filters nodes (required, DoNotSchedule). Other terms only score
	// them.
	Hard bool `json:"hard"`
	// Key is the topologyKey.
	Key string `json:"key"`
	// Selector is the label selector in kubectl notation, including matchLabelKeys.
	Selector string `json:"selector"`
	// MatchesOwn says whether the term selects other pods of the same workload.
	MatchesOwn diag.Outcome `json:"matches_own"`
	// Matches are the declared workloads with pods that the term selects or may select, as indices
	// in the list of workloads.
	Matches []int `json:"matches"`
	// MatchesKnown is false if the lists of all terms together would be too long. The list matches
	// is then empty.
	MatchesKnown bool `json:"matches_known"`
	// MaxSkew is the maxSkew of a spread constraint, or 0 for any other term.
	MaxSkew int `json:"max_skew"`
	// MinDomains is the minDomains of a spread constraint, by default 1. It is 0 for other terms.
	MinDomains int `json:"min_domains"`
	// NodeAffinityPolicy is the nodeAffinityPolicy of a spread constraint, by default Honor. It is
	// "" for other terms.
	NodeAffinityPolicy string `json:"node_affinity_policy" enum:"Honor Ignore "`
	// NodeTaintsPolicy is the nodeTaintsPolicy of a spread constraint, by default Ignore. It is ""
	// for other terms.
	NodeTaintsPolicy string `json:"node_taints_policy" enum:"Honor Ignore "`
	// MatchLabelKeys are the matchLabelKeys.
	MatchLabelKeys []string `json:"match_label_keys"`
	// MismatchLabelKeys are the mismatchLabelKeys.
	MismatchLabelKeys []string `json:"mismatch_label_keys"`
	// Domains is the number of distinct values of the key on the nodes that the pods can use. If a
	// pool has no nodes yet, one node is counted for each of its zones. The number is 0 if
	// placement is unknown.
	Domains int `json:"domains"`
	// DomainsMissing is the number of nodes without the key that the pods can use. If a pool has no
	// nodes yet, one node is counted for each of its zones. The number is 0 if placement is
	// unknown.
	DomainsMissing int `json:"domains_missing"`
}

// PodBudget is a PodDisruptionBudget that selects pods of a workload, or may select them.
type PodBudget struct {
	ID int `json:"id"`
	// Selects is "always" if the budget selects all of the pods and "sometimes" if it selects only
	// some of them. It is "unknown" if the selector or the pod labels have a variable, if a
	// namespace is not set, or if the budget need not be deployed together with the workload.
	// Budgets that do not select the pods are not listed.
	Selects diag.Outcome `json:"selects"`
	// Ref is the kind, namespace and name of the budget, for example "PodDisruptionBudget
	// shop/web".
	Ref string `json:"ref"`
	// Name is the metadata.name of the budget.
	Name string `json:"name"`
	// Amount is the minAvailable or maxUnavailable of the budget. If the budget sets neither,
	// amount.field is "". If the number of allowed disruptions is unknown, amount.of is 0, and so
	// is amount.pods if the amount is a percentage.
	Amount Amount `json:"amount"`
	// AllowedMin is the number of pods that may be evicted at once while all pods are healthy and
	// autoscalers run their minimum number of pods. It is 0 if this number is unknown.
	AllowedMin int `json:"allowed_min"`
	// AllowedMax is the number of pods that may be evicted at once while all pods are healthy and
	// autoscalers run their maximum number of pods. It is 2147483647 if this number is unknown.
	AllowedMax int `json:"allowed_max"`
	// UnhealthyPolicy is the unhealthyPodEvictionPolicy, by default IfHealthyBudget, or unknown if it
	// has a variable. With AlwaysAllow, running pods that are not ready can always be evicted.
	UnhealthyPolicy string `json:"unhealthy_policy" enum:"IfHealthyBudget AlwaysAllow unknown"`
}

// Scaler is an autoscaler of a workload.
type Scaler struct {
	ID int `json:"id"`
	// Ref is the kind, namespace and name of the autoscaler, for example "HorizontalPodAutoscaler
	// shop/web".
	Ref string `json:"ref"`
	// Kind is HorizontalPodAutoscaler or ScaledObject.
	Kind string `json:"kind" enum:"HorizontalPodAutoscaler ScaledObject"`
	// Min is the smallest number of pods that the autoscaler keeps.
	Min int `json:"min"`
	// Max is the largest number of pods that the autoscaler requests.
	Max int `json:"max"`
}

// Machine holds the fields of a workload that apply only to KubeVirt machines.
type Machine struct {
	// Is is true if the pods of the workload are KubeVirt machines.
	Is bool `json:"is"`
	// EvictionStrategy is the evictionStrategy as written. If it is "", the cluster default
	// applies.
	EvictionStrategy string `json:"eviction_strategy"`
}

// Answers holds the answers that the place command prints about one workload. The answer "none"
// means that the question does not apply.
type Answers struct {
	// Fits says whether all pods are placed in every scheduling order in which each DaemonSet pod
	// is placed before other pods on its node, as it happens when a node joins.
	Fits diag.Outcome `json:"fits"`
	// FitsInAnyOrder says whether all pods are placed in every scheduling order.
	FitsInAnyOrder diag.Outcome `json:"fits_in_any_order"`
	// Rolls says whether a rollout completes.
	Rolls diag.Outcome `json:"rolls"`
	// Drains says whether the pods of any drained node find another node.
	Drains diag.Outcome `json:"drains"`
	// Migrates says whether KubeVirt machines can migrate while they run.
	Migrates diag.Outcome `json:"migrates"`
	// Autoscales says whether the pods fit at the maximum of the autoscaler.
	Autoscales diag.Outcome `json:"autoscales"`
	// Survives has one row for each topology key whose domains may be lost. The configuration,
	// --survive or a rule names these keys.
	Survives []Survives `json:"survives"`
	// AtCount lists the names of answers that are "always" for the declared number of nodes, while
	// it is unknown whether they hold if pools grow.
	AtCount []string `json:"at_count"`
	// OnceGrown lists the names of answers that are "always" if an autoscaler adds a node, where a pool
	// is below its max, for each Pending pod that such a node takes.
	OnceGrown []string `json:"once_grown"`
}

// Survives is the verdict on whether all pods of a workload run again after the loss of any one
// domain of a topology key. The on_one_node_max and in_one_zone_max of the workload show how many
// pods can go down at once.
type Survives struct {
	// Key is the topology key, which is kubernetes.io/hostname for the loss of one node.
	Key string `json:"key"`
	// Gone is the outcome if the Node objects are deleted.
	Gone diag.Outcome `json:"gone"`
	// Unreachable is the outcome while the Node objects remain, with the taint
	// node.kubernetes.io/unreachable.
	Unreachable diag.Outcome `json:"unreachable"`
}
