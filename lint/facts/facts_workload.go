package facts

import "github.com/schedlint/schedlint/lint/diag"

// NoBound is the number of pods or nodes that means that there is no upper bound.
const NoBound = 1<<31 - 1

// NoValue is the amount or percentage that means that there is no upper bound: the largest integer
// that every JSON reader keeps exact.
const NoValue = 1<<53 - 1

// Workload is one object that creates pods. Rows of other lists refer to it by its index in this
// list, their w, which is -1 for an object that creates no pods.
type Workload struct {
	ID int `json:"id"`
	// Ref is the kind, namespace and name for messages, for example "Deployment shop/web". Two
	// clusters or renders may have workloads with the same ref.
	Ref string `json:"ref"`
	// Known is false if the step budget ran out before the workload was described: the row then has
	// its names, numbers of pods and answers only.
	Known bool `json:"known"`
	// Group is the API group; "" for the core group.
	Group string `json:"group"`
	// Kind is the kind of the object, for example Deployment.
	Kind string `json:"kind"`
	// Namespace is the namespace as written; "" if the manifest leaves it open.
	Namespace string `json:"namespace"`
	// Name is the metadata.name.
	Name string `json:"name"`
	// Cluster is the cluster of the configuration that the workload belongs to, or "".
	Cluster string `json:"cluster"`
	// Render is the kustomization or chart that renders the workload, or "".
	Render string `json:"render"`
	// File is the path of the file from the root of the repository.
	File string `json:"file"`
	// Labels are the metadata.labels of the object.
	Labels map[string]string `json:"labels"`
	// Annotations are the metadata.annotations of the object.
	Annotations map[string]string `json:"annotations"`
	// PodLabels are the labels of the pods that have known values: those of the pod template, and
	// those that the controller adds.
	PodLabels map[string]string `json:"pod_labels"`
	// LabelsKnown is false if a variable replaces all labels of the object or of the pod template.
	LabelsKnown bool `json:"labels_known"`
	// PodAnnotations are the annotations of the pod template.
	PodAnnotations map[string]string `json:"pod_annotations"`
	// NamespaceLabels are the labels of the namespace; empty if its manifest is not part of the input,
	// see namespace_declared.
	NamespaceLabels map[string]string `json:"namespace_labels"`
	// NamespaceDeclared is true if the manifest of the namespace is part of the input.
	NamespaceDeclared bool `json:"namespace_declared"`
	// PodsMin is the smallest number of pods: replicas, or the minimum of an autoscaler; 0 if it is
	// unknown. A DaemonSet has one pod for each usable node.
	PodsMin int `json:"pods_min"`
	// PodsMax is the largest number of pods: replicas, or the maximum of an autoscaler; 2147483647
	// if it is unknown.
	PodsMax int `json:"pods_max"`
	// Permanent is false for workloads that run to completion (Job, CronJob) or once on every node
	// (DaemonSet).
	Permanent bool `json:"permanent"`
	// PerNode is true for workloads that run once on every node (DaemonSet).
	PerNode bool `json:"per_node"`
	// Bare is true for a pod or a machine that no controller creates again: its manifest is not a
	// template of another object and names no owner.
	Bare bool `json:"bare"`
	// PriorityClass is the priorityClassName of the pods, or "".
	PriorityClass string `json:"priority_class"`
	// ServiceAccount is the serviceAccountName of the pods, or "".
	ServiceAccount string `json:"service_account"`
	// Scheduler is the schedulerName of the pods; default-scheduler if it is not set.
	Scheduler string `json:"scheduler"`
	// PlacementKnown is true if nodes are declared and the rules of the pods can be judged against
	// them. It is false with another scheduler, a field with a variable, a rejected field or
	// scheduling gates; usable_min, zones_min and pools are then meaningless.
	PlacementKnown bool `json:"placement_known"`
	// UsableMin is the number of declared nodes that pass the node-level rules of the pods
	// (nodeSelector, node affinity, taints, cordons); 0 if placement is unknown.
	UsableMin int `json:"usable_min"`
	// UsableMax is usable_min plus the nodes by which pools can grow; 2147483647 if placement is
	// unknown.
	UsableMax int `json:"usable_max"`
	// UsablePoolless is the number of the nodes of usable_min that belong to no pool; 0 if
	// placement is unknown.
	UsablePoolless int `json:"usable_poolless"`
	// ZonesMin is the number of zones of the usable declared nodes; 0 if placement is unknown.
	ZonesMin int `json:"zones_min"`
	// ZonesMax is zones_min plus the zones that only growing pools add; 2147483647 if placement is
	// unknown.
	ZonesMax int `json:"zones_max"`
	// Growable is true if a pool that the pods can use can grow.
	Growable bool `json:"growable"`
	// Pools are the names of the pools with a node, or room for one, that the pods can use; empty
	// if placement is unknown.
	Pools []string `json:"pools"`
	// OnOneNodeMin is the number of pods that share some node in every placement of pods_min pods;
	// 0 if placement is unknown.
	OnOneNodeMin int `json:"on_one_node_min"`
	// OnOneNodeMax is the largest number of pods that can share a node while pods_min pods run, by
	// the rules of the workload alone: the number that the loss of one node can take down at once.
	// It is pods_min if placement is unknown.
	OnOneNodeMax int `json:"on_one_node_max"`
	// InOneZoneMin is the number of pods that share some zone in every placement of pods_min pods;
	// 0 if placement is unknown or a usable node has no zone.
	InOneZoneMin int `json:"in_one_zone_min"`
	// InOneZoneMax is the largest number of pods that can share a zone while pods_min pods run, by
	// the rules of the workload alone: the number that the loss of one zone can take down at once.
	// It is pods_min if placement is unknown or a usable node has no zone.
	InOneZoneMax int `json:"in_one_zone_max"`
	// PodRequests are the requests that the scheduler counts for one pod: containers, init
	// containers, overhead and pod-level resources together.
	PodRequests []ResourceAmount `json:"pod_requests"`
	// PodLevelRequests are the spec.resources.requests of the pods. If they are set, no container needs
	// requests of its own.
	PodLevelRequests []ResourceAmount `json:"pod_level_requests"`
	// PodLevelLimits are the spec.resources.limits of the pods.
	PodLevelLimits []ResourceAmount `json:"pod_level_limits"`
	// ResourcesKnown is false if resources of the pods or of a container have a variable: requests
	// and limits may then be incomplete.
	ResourcesKnown bool `json:"resources_known"`
	// Defaulted is true if a LimitRange of the namespace gives default requests or limits to
	// containers.
	Defaulted bool `json:"defaulted"`
	// Containers are the containers of the pods, init containers last; empty for machines.
	Containers []Container `json:"containers"`
	// Claims are the resourceClaims of the pods, for devices of dynamic resource allocation.
	// Whether there are enough devices is not judged.
	Claims []DeviceClaim `json:"claims"`
	// ClaimsKnown is false if a variable replaces all claims.
	ClaimsKnown bool `json:"claims_known"`
	// Tolerations are the tolerations of the pods, without those that the cluster adds.
	Tolerations []Toleration `json:"tolerations"`
	// NodeRules are the expressions of nodeSelector and node affinity.
	NodeRules []NodeRule `json:"node_rules"`
	// Terms are the pod affinity and anti-affinity terms and the topology spread constraints.
	Terms []Term `json:"terms"`
	// TermsKnown is false if a variable replaces terms, or the API server rejects the workload:
	// terms may then be incomplete.
	TermsKnown bool `json:"terms_known"`
	// Budgets are the PodDisruptionBudgets that select the pods, or may select them: see selects.
	// The list is empty for a workload without a budget.
	Budgets []PodBudget `json:"budgets"`
	// Scalers are the autoscalers that change the number of pods: none or one.
	Scalers []Scaler `json:"scalers"`
	// Machine is the part of the row for KubeVirt machines, such as a VirtualMachine.
	Machine Machine `json:"machine"`
	// Answers are the answers to whether the pods fit, and to the questions about changes.
	Answers Answers `json:"answers"`
}

// ResourceAmount is an amount of a resource.
type ResourceAmount struct {
	// Resource is the name of the resource, for example cpu, memory or nvidia.com/gpu.
	Resource string `json:"resource"`
	// Quantity is the amount in the notation of Kubernetes, for example 500m or 2Gi.
	Quantity string `json:"quantity"`
	// Value is the amount as an integer, rounded up: millicores for cpu, bytes or whole units for
	// other resources.
	Value int `json:"value"`
}

// Container is a container of the pods of a workload.
type Container struct {
	ID int `json:"id"`
	// Name is the name of the container.
	Name string `json:"name"`
	// Init is true for an init container, including one that keeps running (a sidecar).
	Init bool `json:"init"`
	// Image is the image as written, or "".
	Image string `json:"image"`
	// Registry is the registry of the image, docker.io if the image names none; "" for an image
	// with a variable.
	Registry string `json:"registry"`
	// Repository is the image without registry, tag and digest, for example library/nginx; "" for
	// an image with a variable.
	Repository string `json:"repository"`
	// Tag is the tag of the image; "" if it has none.
	Tag string `json:"tag"`
	// Digest is the digest of the image, for example sha256:0123, or "".
	Digest string `json:"digest"`
	// Requests are the resources.requests.
	Requests []ResourceAmount `json:"requests"`
	// Limits are the resources.limits.
	Limits []ResourceAmount `json:"limits"`
}

// DeviceClaim is an entry of resourceClaims: a ResourceClaim that the pods share, or a template
// from which each pod gets its own claim.
type DeviceClaim struct {
	ID int `json:"id"`
	// Name is the name of the entry, by which containers refer to it.
	Name string `json:"name"`
	// Claim is the resourceClaimName, or "".
	Claim string `json:"claim"`
	// Template is the resourceClaimTemplateName, or "".
	Template string `json:"template"`
	// RequestsKnown is false if the ResourceClaim or ResourceClaimTemplate is not part of the
	// input, or a variable replaces its requests.
	RequestsKnown bool `json:"requests_known"`
	// Requests are the requests of the claim; see requests_known.
	Requests []DeviceRequest `json:"requests"`
}

// DeviceRequest is a request for devices in a claim.
type DeviceRequest struct {
	// Name is the name of the request. Rows with the same name are alternatives (firstAvailable):
	// the first that can be allocated is used.
	Name string `json:"name"`
	// DeviceClass is the deviceClassName as written, or "".
	DeviceClass string `json:"device_class"`
	// CountMin is the smallest number of devices; 0 for an alternative, or if it is unknown.
	CountMin int `json:"count_min"`
	// CountMax is the largest number of devices; 2147483647 if it is unknown, and for all devices
	// of a node (allocationMode: All).
	CountMax int `json:"count_max"`
}

// Toleration is a toleration of the pods of a workload.
type Toleration struct {
	ID int `json:"id"`
	// Key is the key of the taint; "" for every key.
	Key string `json:"key"`
	// Operator is Equal, Exists, Lt or Gt.
	Operator string `json:"operator" enum:"Equal Exists Lt Gt"`
	// Value is the required value of the taint.
	Value string `json:"value"`
	// Effect is the effect of the taint; "" for every effect.
	Effect string `json:"effect"`
	// Seconds is the tolerationSeconds; -1 if it is not set.
	Seconds int `json:"seconds"`
	// ToleratesAll is true if no NoSchedule or NoExecute taint can keep the pods off a node.
	ToleratesAll bool `json:"tolerates_all"`
	// Pools are the names of the pools that the pods can use only with this toleration.
	Pools []string `json:"pools"`
}

// NodeRule is one expression of nodeSelector or node affinity.
type NodeRule struct {
	ID int `json:"id"`
	// Source is nodeSelector or nodeAffinity.
	Source string `json:"source" enum:"nodeSelector nodeAffinity"`
	// Hard is true if the rule filters nodes; preferred rules only score.
	Hard bool `json:"hard"`
	// Alternative is the number of the node affinity term, from 0. Expressions with the same number
	// apply together, and one term is enough.
	Alternative int `json:"alternative"`
	// Key is the key of the node label; metadata.name for a field.
	Key string `json:"key"`
	// Operator is In, NotIn, Exists, DoesNotExist, Gt or Lt; In for a nodeSelector.
	Operator string `json:"operator" enum:"In NotIn Exists DoesNotExist Gt Lt"`
	// Values are the values of the expression.
	Values []string `json:"values"`
	// Nodes is the number of declared nodes that meet this expression by itself; 0 if no nodes are
	// declared.
	Nodes int `json:"nodes"`
	// NodesMax is nodes plus the nodes by which pools can grow. Their names are unknown, so each
	// may have the name that an expression asks for. 2147483647 if no nodes are declared.
	NodesMax int `json:"nodes_max"`
}

// Term is a pod affinity or anti-affinity term or a topology spread constraint.
type Term struct {
	ID int `json:"id"`
	// Use is affinity, anti-affinity or spread.
	Use string `json:"use" enum:"affinity anti-affinity spread"`
	// Hard is true if the term filters nodes (required, DoNotSchedule); other terms only score.
	Hard bool `json:"hard"`
	// Key is the topologyKey.
	Key string `json:"key"`
	// Selector is the label selector in the notation of kubectl, including matchLabelKeys.
	Selector string `json:"selector"`
	// MatchesOwn is the answer to whether the term selects other pods of the same workload.
	MatchesOwn diag.Outcome `json:"matches_own"`
	// Matches are the declared workloads whose pods the term selects or may select, as indices in
	// the list of workloads.
	Matches []int `json:"matches"`
	// MatchesKnown is false if matches is left empty because the lists of all terms would be too
	// long.
	MatchesKnown bool `json:"matches_known"`
	// MaxSkew is the maxSkew of a spread constraint; 0 for other terms.
	MaxSkew int `json:"max_skew"`
	// MinDomains is the minDomains of a spread constraint, 1 if it is not set; 0 for other terms.
	MinDomains int `json:"min_domains"`
	// NodeAffinityPolicy is the policy of a spread constraint, with the default if it is not set;
	// "" for other terms.
	NodeAffinityPolicy string `json:"node_affinity_policy" enum:"Honor Ignore "`
	// NodeTaintsPolicy is the policy of a spread constraint, with the default if it is not set; ""
	// for other terms.
	NodeTaintsPolicy string `json:"node_taints_policy" enum:"Honor Ignore "`
	// MatchLabelKeys are the matchLabelKeys.
	MatchLabelKeys []string `json:"match_label_keys"`
	// MismatchLabelKeys are the mismatchLabelKeys.
	MismatchLabelKeys []string `json:"mismatch_label_keys"`
	// Domains is the number of values of the key on the nodes that the pods can use, plus one node
	// for each zone of a pool that has no node yet; 0 if placement is unknown.
	Domains int `json:"domains"`
	// DomainsMissing is the number of these nodes that lack the key, counted in the same way as for
	// domains; 0 if placement is unknown.
	DomainsMissing int `json:"domains_missing"`
}

// PodBudget is a PodDisruptionBudget that selects pods of a workload, or may select them.
type PodBudget struct {
	ID int `json:"id"`
	// Selects is the answer to whether the budget selects the pods: always, sometimes if it selects
	// some of them, or unknown if the selector or the labels of the pods have a variable, a
	// namespace is left open, or the budget is in files that need not be deployed together with the
	// workload. Budgets that do not select the pods are not listed.
	Selects diag.Outcome `json:"selects"`
	// Ref is the kind, namespace and name of the budget, for example "PodDisruptionBudget
	// shop/web".
	Ref string `json:"ref"`
	// Name is the metadata.name of the budget.
	Name string `json:"name"`
	// Amount is the demand of the budget; its field is "" if the budget demands nothing. If the
	// number that the budget allows is unknown, of is 0, and for a percentage pods is 0, too.
	Amount Amount `json:"amount"`
	// AllowedMin is the number of pods that may be evicted at once while all are healthy and
	// autoscalers keep the minimum of pods; 0 if that is unknown.
	AllowedMin int `json:"allowed_min"`
	// AllowedMax is the same number at the maximum of pods; 2147483647 if that is unknown.
	AllowedMax int `json:"allowed_max"`
}

// Scaler is an autoscaler of a workload.
type Scaler struct {
	ID int `json:"id"`
	// Ref is the kind, namespace and name of the autoscaler, for example "HorizontalPodAutoscaler
	// shop/web".
	Ref string `json:"ref"`
	// Kind is HorizontalPodAutoscaler or ScaledObject.
	Kind string `json:"kind" enum:"HorizontalPodAutoscaler ScaledObject"`
	// Min is the smallest number of pods that it keeps.
	Min int `json:"min"`
	// Max is the largest number of pods that it asks for.
	Max int `json:"max"`
}

// Machine is the part of a workload's row that only KubeVirt machines have.
type Machine struct {
	// Is is true if the pods of the workload are KubeVirt machines.
	Is bool `json:"is"`
	// EvictionStrategy is the evictionStrategy as written; "" if it is not set, and the cluster
	// then decides.
	EvictionStrategy string `json:"eviction_strategy"`
}

// Answers has the answers to the questions about one workload, as the command place prints them:
// always, sometimes, never or unknown, and none where a question does not apply.
type Answers struct {
	// Fits is the answer to whether all pods are placed, whatever the order of scheduling.
	Fits diag.Outcome `json:"fits"`
	// Rolls is the answer to whether a rollout completes.
	Rolls diag.Outcome `json:"rolls"`
	// Drains is the answer to whether every node can be drained and its pods find another node.
	Drains diag.Outcome `json:"drains"`
	// Migrates is the answer to whether machines can migrate while they run.
	Migrates diag.Outcome `json:"migrates"`
	// Autoscales is the answer to whether the pods fit at the maximum of the autoscaler.
	Autoscales diag.Outcome `json:"autoscales"`
	// Survives has one row for each topology key whose loss the configuration, --survive or a rule
	// asks about.
	Survives []Survives `json:"survives"`
}

// Survives is the answer to whether all pods of a workload run again after the loss of any one
// domain of a topology key. For the pods that keep running meanwhile, see on_one_node_max and
// in_one_zone_max of the workload.
type Survives struct {
	// Key is the topology key; kubernetes.io/hostname for the loss of one node.
	Key string `json:"key"`
	// Gone is the outcome if the Node objects are deleted.
	Gone diag.Outcome `json:"gone"`
	// Unreachable is the outcome while the Node objects remain, with the taint
	// node.kubernetes.io/unreachable.
	Unreachable diag.Outcome `json:"unreachable"`
}
