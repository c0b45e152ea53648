package facts

import "github.com/schedlint/schedlint/lint/diag"

// NoBound stands for a number of pods or nodes that nothing bounds from above.
const NoBound = 1<<31 - 1

// NoValue stands for an amount of a resource, or a percentage, that nothing bounds from
// above: the largest integer that every reader of JSON keeps exact.
const NoValue = 1<<53 - 1

// Workload is one object that creates pods. Rows of other lists refer to it by its
// index in this list, their w, which is -1 for an object that creates none.
type Workload struct {
	ID int `json:"id"`
	// Ref is kind, namespace and name for messages, as in "Deployment shop/web". Two
	// clusters, or two renders, may hold workloads of one ref.
	Ref string `json:"ref"`
	// Known is false where the budget of steps did not suffice to describe the workload: the
	// row then has its names, numbers of pods and answers, and nothing else.
	Known bool `json:"known"`
	// Group is the API group, "" for the core group.
	Group string `json:"group"`
	// Kind is the kind of the object, as in Deployment.
	Kind string `json:"kind"`
	// Namespace is the namespace as written, "" where the manifest leaves it open.
	Namespace string `json:"namespace"`
	// Name is metadata.name.
	Name string `json:"name"`
	// Cluster is the cluster of the configuration that the workload belongs to, or "".
	Cluster string `json:"cluster"`
	// Render is the kustomization or chart that renders the workload, or "".
	Render string `json:"render"`
	// File is the path of the file from the root of the repository.
	File string `json:"file"`
	// Labels are metadata.labels of the object.
	Labels map[string]string `json:"labels"`
	// Annotations are metadata.annotations of the object.
	Annotations map[string]string `json:"annotations"`
	// PodLabels are the labels that the pods carry with known values: those of the pod
	// template, and those that the controller adds.
	PodLabels map[string]string `json:"pod_labels"`
	// LabelsKnown is false where a variable stands for all labels of the object or of the pod
	// template.
	LabelsKnown bool `json:"labels_known"`
	// PodAnnotations are the annotations of the pod template.
	PodAnnotations map[string]string `json:"pod_annotations"`
	// NamespaceLabels are the labels of the Namespace object, if it is part of the input;
	// see namespace_declared.
	NamespaceLabels map[string]string `json:"namespace_labels"`
	// NamespaceDeclared tells whether the Namespace object is part of the input.
	NamespaceDeclared bool `json:"namespace_declared"`
	// PodsMin is the smallest number of pods: that of replicas, or the minimum of an
	// autoscaler; 0 where it is unknown. A DaemonSet has one for each usable node.
	PodsMin int `json:"pods_min"`
	// PodsMax is the largest number of pods: that of replicas, or the maximum of an
	// autoscaler; 2147483647 where it is unknown.
	PodsMax int `json:"pods_max"`
	// Permanent is false for workloads that run to completion (Job, CronJob) or
	// once on every node (DaemonSet).
	Permanent bool `json:"permanent"`
	// PerNode is true for workloads that run once on every node (DaemonSet).
	PerNode bool `json:"per_node"`
	// Bare is true for a pod, or a machine, that no controller creates again: its manifest is
	// not a template of another object and names no owner.
	Bare bool `json:"bare"`
	// PriorityClass is priorityClassName of the pods, or "".
	PriorityClass string `json:"priority_class"`
	// ServiceAccount is serviceAccountName of the pods, or "".
	ServiceAccount string `json:"service_account"`
	// Scheduler is schedulerName of the pods, default-scheduler if it is not set.
	Scheduler string `json:"scheduler"`
	// PlacementKnown tells whether nodes are declared and the rules of the pods can be
	// judged against them: not with another scheduler, a field with a variable, a rejected
	// field or scheduling gates. Without it usable_min, zones_min and pools say nothing.
	PlacementKnown bool `json:"placement_known"`
	// UsableMin is the number of declared nodes that pass the node-level rules of the pods
	// (nodeSelector, node affinity, taints, cordons); 0 where placement is unknown.
	UsableMin int `json:"usable_min"`
	// UsableMax is usable_min with the nodes by which pools can grow; 2147483647 where
	// placement is unknown.
	UsableMax int `json:"usable_max"`
	// UsablePoolless is the number of those of usable_min that belong to no pool; 0 where
	// placement is unknown.
	UsablePoolless int `json:"usable_poolless"`
	// ZonesMin is the number of zones that usable declared nodes are in.
	ZonesMin int `json:"zones_min"`
	// ZonesMax is zones_min with the zones that only nodes are in by which pools can grow;
	// 2147483647 where placement is unknown.
	ZonesMax int `json:"zones_max"`
	// Growable tells whether a pool that the pods can use can grow.
	Growable bool `json:"growable"`
	// Pools are the names of the pools with a node, or room for one, that the pods can use;
	// empty where placement is unknown.
	Pools []string `json:"pools"`
	// OnOneNodeMin is how many of its pods share some node in every placement of pods_min
	// pods; 0 where placement is unknown.
	OnOneNodeMin int `json:"on_one_node_min"`
	// OnOneNodeMax is how many of its pods can share a node when pods_min pods run, by the
	// rules of the workload alone: what the loss of one node can take down at once.
	OnOneNodeMax int `json:"on_one_node_max"`
	// InOneZoneMin is how many of its pods share some zone in every placement of pods_min
	// pods; 0 where placement is unknown or a usable node has no zone.
	InOneZoneMin int `json:"in_one_zone_min"`
	// InOneZoneMax is how many of its pods can share a zone when pods_min pods run, by the
	// rules of the workload alone: what the loss of one zone can take down at once. It is
	// pods_min where placement is unknown or a usable node has no zone.
	InOneZoneMax int `json:"in_one_zone_max"`
	// PodRequests are what the scheduler counts for one pod: containers, init containers,
	// overhead and pod-level resources together.
	PodRequests []ResourceAmount `json:"pod_requests"`
	// PodLevelRequests are spec.resources.requests of the pods, which need none of their
	// containers then.
	PodLevelRequests []ResourceAmount `json:"pod_level_requests"`
	// PodLevelLimits are spec.resources.limits of the pods.
	PodLevelLimits []ResourceAmount `json:"pod_level_limits"`
	// ResourcesKnown is false where resources of the pods or of a container hold a variable:
	// requests and limits may then lack some.
	ResourcesKnown bool `json:"resources_known"`
	// Defaulted is true if a LimitRange of the namespace gives containers requests or limits
	// that have none.
	Defaulted bool `json:"defaulted"`
	// Containers are the containers of the pods, init containers last; empty for machines.
	Containers []Container `json:"containers"`
	// Claims are the resourceClaims of the pods, for devices of dynamic resource allocation.
	// Whether devices suffice is not judged.
	Claims []DeviceClaim `json:"claims"`
	// ClaimsKnown is false where a variable stands for all claims.
	ClaimsKnown bool `json:"claims_known"`
	// Tolerations are those of the pods, without those that the cluster adds.
	Tolerations []Toleration `json:"tolerations"`
	// NodeRules are the expressions of nodeSelector and node affinity.
	NodeRules []NodeRule `json:"node_rules"`
	// Terms are pod affinity and anti-affinity terms and topology spread constraints.
	Terms []Term `json:"terms"`
	// TermsKnown is false where a variable stands in their place, or the API server rejects
	// the workload, so that terms may lack some.
	TermsKnown bool `json:"terms_known"`
	// Budgets are the PodDisruptionBudgets that select the pods, or may select them: see
	// selects. A workload without a budget has an empty list.
	Budgets []PodBudget `json:"budgets"`
	// Scalers are the autoscalers that move the number of pods: none or one.
	Scalers []Scaler `json:"scalers"`
	// Machine is what KubeVirt's fields say; kind VirtualMachine and the like only.
	Machine Machine `json:"machine"`
	// Answers are whether the pods fit and what becomes of them in a change.
	Answers Answers `json:"answers"`
}

// ResourceAmount is an amount of a resource.
type ResourceAmount struct {
	// Resource is the name, as in cpu, memory or nvidia.com/gpu.
	Resource string `json:"resource"`
	// Quantity is the amount as Kubernetes writes it, as in 500m or 2Gi.
	Quantity string `json:"quantity"`
	// Value is the amount as an integer: thousandths of a processor for cpu, else bytes or
	// whole units, rounded up.
	Value int `json:"value"`
}

// Container is a container of the pods of a workload.
type Container struct {
	ID int `json:"id"`
	// Name is the name of the container.
	Name string `json:"name"`
	// Init is true for an init container, also for one that keeps running (a sidecar).
	Init bool `json:"init"`
	// Image is the image as written, or "".
	Image string `json:"image"`
	// Registry is the registry of the image, docker.io if the image names none; "" for an
	// image with a variable.
	Registry string `json:"registry"`
	// Repository is the image without registry, tag and digest, as in library/nginx; "" for
	// an image with a variable.
	Repository string `json:"repository"`
	// Tag is the tag of the image, or "" if it has none.
	Tag string `json:"tag"`
	// Digest is the digest of the image, as in sha256:0123, or "".
	Digest string `json:"digest"`
	// Requests are resources.requests.
	Requests []ResourceAmount `json:"requests"`
	// Limits are resources.limits.
	Limits []ResourceAmount `json:"limits"`
}

// DeviceClaim is an entry of resourceClaims: a ResourceClaim that the pods share, or a template
// of which each pod gets a claim of its own.
type DeviceClaim struct {
	ID int `json:"id"`
	// Name is the name of the entry, by which containers refer to it.
	Name string `json:"name"`
	// Claim is resourceClaimName, or "".
	Claim string `json:"claim"`
	// Template is resourceClaimTemplateName, or "".
	Template string `json:"template"`
	// RequestsKnown is false where the ResourceClaim or ResourceClaimTemplate is not part of the
	// input, or a variable stands for its requests.
	RequestsKnown bool `json:"requests_known"`
	// Requests are what it asks for; see requests_known.
	Requests []DeviceRequest `json:"requests"`
}

// DeviceRequest is a request for devices in a claim.
type DeviceRequest struct {
	// Name is the name of the request. Rows of one name are alternatives (firstAvailable), of
	// which the first that can be allocated is.
	Name string `json:"name"`
	// DeviceClass is deviceClassName as written, or "".
	DeviceClass string `json:"device_class"`
	// CountMin is the smallest number of devices; 0 for an alternative and where it is unknown.
	CountMin int `json:"count_min"`
	// CountMax is the largest number of devices; 2147483647 where it is unknown and for all
	// devices of a node (allocationMode: All).
	CountMax int `json:"count_max"`
}

// Toleration is a toleration of the pods of a workload.
type Toleration struct {
	ID int `json:"id"`
	// Key is the key of the taint, "" for every key.
	Key string `json:"key"`
	// Operator is Equal, Exists, Lt or Gt.
	Operator string `json:"operator" enum:"Equal Exists Lt Gt"`
	// Value is the value that the taint has to have.
	Value string `json:"value"`
	// Effect is the effect of the taint, "" for every effect.
	Effect string `json:"effect"`
	// Seconds is tolerationSeconds, -1 if it is not set.
	Seconds int `json:"seconds"`
	// ToleratesAll is true if no NoSchedule or NoExecute taint can keep the pods off.
	ToleratesAll bool `json:"tolerates_all"`
	// Pools are the names of the pools that the pods can use with this toleration and could
	// not use without it.
	Pools []string `json:"pools"`
}

// NodeRule is one expression of nodeSelector or node affinity.
type NodeRule struct {
	ID int `json:"id"`
	// Source is nodeSelector or nodeAffinity.
	Source string `json:"source" enum:"nodeSelector nodeAffinity"`
	// Hard tells whether the rule filters nodes; preferred ones only score.
	Hard bool `json:"hard"`
	// Alternative numbers the terms of the node affinity, from 0: expressions of one number
	// apply together, and one number is enough.
	Alternative int `json:"alternative"`
	// Key is the label of the node, or metadata.name for a field.
	Key string `json:"key"`
	// Operator is In, NotIn, Exists, DoesNotExist, Gt or Lt; In for a nodeSelector.
	Operator string `json:"operator" enum:"In NotIn Exists DoesNotExist Gt Lt"`
	// Values are the values of the expression.
	Values []string `json:"values"`
	// Nodes is the number of declared nodes that meet this expression by itself; 0 without
	// nodes.
	Nodes int `json:"nodes"`
	// NodesMax is nodes with those by which pools can grow; the names of these are unknown, so
	// any may have the name that an expression asks for. 2147483647 without nodes.
	NodesMax int `json:"nodes_max"`
}

// Term is a pod affinity or anti-affinity term or a topology spread constraint.
type Term struct {
	ID int `json:"id"`
	// Use is affinity, anti-affinity or spread.
	Use string `json:"use" enum:"affinity anti-affinity spread"`
	// Hard tells whether the term filters nodes (required, DoNotSchedule); the others only
	// score.
	Hard bool `json:"hard"`
	// Key is the topologyKey.
	Key string `json:"key"`
	// Selector is the label selector as kubectl writes it, matchLabelKeys included.
	Selector string `json:"selector"`
	// MatchesOwn tells whether the term selects further pods of the workload itself.
	MatchesOwn diag.Outcome `json:"matches_own"`
	// Matches are the declared workloads whose pods the term selects or may select, as
	// indices in the list of workloads.
	Matches []int `json:"matches"`
	// MatchesKnown is false where matches is empty as there would be too many of them in all.
	MatchesKnown bool `json:"matches_known"`
	// MaxSkew is that of a spread constraint, 0 for other terms.
	MaxSkew int `json:"max_skew"`
	// MinDomains is that of a spread constraint, 1 if it is not set, 0 for other terms.
	MinDomains int `json:"min_domains"`
	// NodeAffinityPolicy is that of a spread constraint with its default, "" for other
	// terms.
	NodeAffinityPolicy string `json:"node_affinity_policy" enum:"Honor Ignore "`
	// NodeTaintsPolicy is that of a spread constraint with its default, "" for other terms.
	NodeTaintsPolicy string `json:"node_taints_policy" enum:"Honor Ignore "`
	// MatchLabelKeys are the matchLabelKeys.
	MatchLabelKeys []string `json:"match_label_keys"`
	// MismatchLabelKeys are the mismatchLabelKeys.
	MismatchLabelKeys []string `json:"mismatch_label_keys"`
	// Domains is the number of values of the key on declared nodes that the pods can use.
	Domains int `json:"domains"`
	// DomainsMissing is the number of declared nodes that the pods can use and that lack the
	// key.
	DomainsMissing int `json:"domains_missing"`
}

// PodBudget is a PodDisruptionBudget that selects pods of a workload, or may select them.
type PodBudget struct {
	ID int `json:"id"`
	// Selects is always, sometimes if it selects some of the pods, or unknown: where the selector or the labels of the pods hold a
	// variable, a namespace is left open, or the budget is in files that need not be deployed
	// together with the workload. Budgets that do not select the pods are not listed.
	Selects diag.Outcome `json:"selects"`
	// Ref is the budget, as in "PodDisruptionBudget shop/web".
	Ref string `json:"ref"`
	// Name is its metadata.name.
	Name string `json:"name"`
	// Amount is what it demands, with an empty field if it demands nothing. Where it is
	// unknown what it allows, of is 0, and so is pods for a percentage.
	Amount Amount `json:"amount"`
	// AllowedMin is the number of pods that it allows to be evicted at once while all are healthy
	// and autoscalers keep the minimum of pods; 0 if that is unknown.
	AllowedMin int `json:"allowed_min"`
	// AllowedMax is the same at the maximum of pods, 2147483647 if that is unknown.
	AllowedMax int `json:"allowed_max"`
}

// Scaler is an autoscaler of a workload.
type Scaler struct {
	ID int `json:"id"`
	// Ref is the autoscaler, as in "HorizontalPodAutoscaler shop/web".
	Ref string `json:"ref"`
	// Kind is HorizontalPodAutoscaler or ScaledObject.
	Kind string `json:"kind" enum:"HorizontalPodAutoscaler ScaledObject"`
	// Min is the smallest number of pods that it keeps.
	Min int `json:"min"`
	// Max is the largest number of pods that it keeps.
	Max int `json:"max"`
}
