package facts

import "github.com/schedlint/schedlint/lint/diag"

// Document is a faulty document of the input. The fault is found before any object is judged.
type Document struct {
	ID int `json:"id"`
	// Problem is the kind of problem.
	Problem string `json:"problem" enum:"unparsable-document duplicate-key alias-bomb alias-cycle nesting-too-deep unreadable-file render-failed render-refused"`
	// Detail is the key or the alias that causes the problem, or an explanation of the problem.
	Detail string `json:"detail"`
	// FirstLine is the line of the first occurrence of a repeated key. It is 0 if the first
	// occurrence is in another file or render, or if the problem is not a repeated key.
	FirstLine int `json:"first_line"`
	// LastCounts is true if the last value of a repeated key applies. This is the case in a file
	// that only Helm reads, and in the output of a chart.
	LastCounts bool `json:"last_counts"`
	// Merged is true for a repeated key in chart output that Flux or kustomize processes. Both
	// reject repeated keys.
	Merged bool `json:"merged"`
}

// Refusal is a field that the API server does not accept.
type Refusal struct {
	ID int `json:"id"`
	// Object is the kind, namespace and name of the refused object, for example "Deployment
	// shop/web". The object may also be a PodDisruptionBudget, a HorizontalPodAutoscaler or a
	// custom resource, or its kind may be misspelled.
	Object string `json:"object"`
	W      int    `json:"w"`
	// Stage is the point of the rejection: object (the object itself is rejected), pods (every pod
	// that the object creates is rejected), gate (the field is dropped while its feature gate is
	// off and rejected when the gate is on), version (the cluster's version of Kubernetes drops the
	// field), fragment (the object is not judged, but a pod with this field would be rejected), limits
	// (a LimitRange rejects every pod), quota (a ResourceQuota rejects every pod or some) or class
	// (every pod is rejected unless the cluster has a PriorityClass that is not declared).
	Stage string `json:"stage" enum:"object pods gate version fragment limits quota class"`
	// Gate is the name of the feature gate, or "".
	Gate string `json:"gate"`
	// Field is the path of the field, relative to the root of the object or to the map that object
	// names.
	Field string `json:"field"`
	// Values is true if the object is a map in the values for a chart, and the chart is not part of
	// the input.
	Values bool `json:"values"`
	// Reason describes what is wrong with the field, in the words of the API server's error
	// message.
	Reason string `json:"reason"`
}

// UnknownField is a field that the API does not have.
type UnknownField struct {
	ID int `json:"id"`
	// Object is the kind, namespace and name of the object, for example "Deployment shop/web".
	Object string `json:"object"`
	W      int    `json:"w"`
	// Values is true if the object is a map in the values for a chart, and the chart is not part of
	// the input. The path in field is then relative to that map.
	Values bool `json:"values"`
	// Field is the path of the field.
	Field string `json:"field"`
	// Suggestion is the name that was probably meant, or "".
	Suggestion string `json:"suggestion"`
}

// Affinity is a required pod affinity term that no pod can satisfy.
type Affinity struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is "never" or "unknown".
	Outcome diag.Outcome `json:"outcome"`
	// Cause is missing-key (no usable node has the topology key), null-selector (the term matches
	// no pod) or contradiction (no pod can match all terms).
	Cause string `json:"cause" enum:"missing-key null-selector contradiction"`
	// Key is the topologyKey of the term.
	Key string `json:"key"`
	// Usable is the number of nodes that the pods can use. If a pool has no nodes yet, one node is
	// counted for each of its zones.
	Usable int `json:"usable"`
	// With is the number of usable nodes that have the topology key.
	With int `json:"with"`
	// Suggestion is the key that was probably meant, or "".
	Suggestion string `json:"suggestion"`
	// Beside lists the topology keys of other terms. Some nodes have the key of this term, but no
	// node has both this key and all the listed keys. In all other cases, the list is empty.
	Beside []string `json:"beside"`
	// Between is the list of the two requirements that contradict each other, in kubectl notation.
	// The list is empty unless the cause is contradiction.
	Between []string `json:"between"`
}

// TopologyKey is one use of a topology key.
type TopologyKey struct {
	ID int `json:"id"`
	// Object is the kind, namespace and name of the object that uses the key, for example
	// "Deployment shop/web".
	Object string `json:"object"`
	W      int    `json:"w"`
	// Use is anti-affinity, affinity or spread.
	Use string `json:"use" enum:"anti-affinity affinity spread"`
	// Hard is true if the rule filters nodes.
	Hard bool `json:"hard"`
	// Key is the topologyKey.
	Key string `json:"key"`
	// Fragment is true if schedlint does not judge the object, for example a custom resource with
	// an affinity. The field usable then counts all nodes.
	Fragment bool `json:"fragment"`
	// Values is true if the object is a map in the values for a chart, and the chart is not part of
	// the input.
	Values bool `json:"values"`
	// Declared is true if nodes are declared.
	Declared bool `json:"declared"`
	// Usable is the number of nodes that the pods can use. If a pool has no nodes yet, one node is
	// counted for each of its zones.
	Usable int `json:"usable"`
	// With is the number of usable nodes that have the key.
	With int `json:"with"`
	// Known is false if the key is probably a misspelling. It is also false if the key looks like a
	// Kubernetes label but no Kubernetes component sets it.
	Known bool `json:"known"`
	// Suggestion is the key that was probably meant, or "".
	Suggestion string `json:"suggestion"`
	// Without lists the names of a few nodes that lack the key.
	Without []string `json:"without"`
}

// NodeLabel is one use of a node label in nodeSelector, nodeAffinity or topologyKey.
type NodeLabel struct {
	ID int `json:"id"`
	// Object is the kind, namespace and name of the object that uses the label, for example
	// "Deployment shop/web".
	Object string `json:"object"`
	W      int    `json:"w"`
	// Values is true if the object is a map in the values for a chart, and the chart is not part of
	// the input.
	Values bool `json:"values"`
	// Where is the field that uses the label: nodeSelector, nodeAffinity or topologyKey.
	Where string `json:"where" enum:"nodeSelector nodeAffinity topologyKey"`
	// Key is the key of the label.
	Key string `json:"key"`
	// Deprecated is true if another label has replaced this one.
	Deprecated bool `json:"deprecated"`
	// Replacement is the key of the newer label that replaces a deprecated label, or "".
	Replacement string `json:"replacement"`
	// OnNodes is the number of declared nodes that still have the label.
	OnNodes int `json:"on_nodes"`
	// Beside is true if another term of the same list uses the replacement. The deprecated label
	// then does no harm.
	Beside bool `json:"beside"`
	// Platform is the name of a platform that still sets the deprecated label, for example
	// OpenShift. It is "" unless other objects in the input show that the cluster runs on such a
	// platform.
	Platform string `json:"platform"`
}

// Selector is the label selector of one affinity term or spread constraint.
type Selector struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Use is anti-affinity, affinity or spread.
	Use string `json:"use" enum:"anti-affinity affinity spread"`
	// Hard is true if the rule filters nodes.
	Hard bool `json:"hard"`
	// Form is null (there is no selector, so no pod matches), empty (every pod matches) or set.
	Form string `json:"form" enum:"null empty set"`
	// Text is the selector in kubectl notation.
	Text string `json:"text"`
	// MatchesOwn says whether the selector matches the labels of the workload's own pods, ignoring
	// namespaces.
	MatchesOwn diag.Outcome `json:"matches_own"`
	// OwnNamespace says whether the term applies to the namespace of the workload.
	OwnNamespace diag.Outcome `json:"own_namespace"`
	// Matches is 1 if the term selects, or may select, pods of a declared workload, and 0
	// otherwise. It is also 0 for a spread constraint with the form null or empty.
	Matches int `json:"matches"`
	// Declared is the number of all declared workloads.
	Declared int `json:"declared"`
	// Namespaces are the namespaces that the term applies to.
	Namespaces Namespaces `json:"namespaces"`
	// Nearest is the pod label that the selector was probably meant to match, or "".
	Nearest string `json:"nearest"`
	// Maker is a custom resource whose operator may create the pods that the selector is meant for,
	// for example "Cluster shop/db", or "" if no such resource exists.
	Maker string `json:"maker"`
}

// Namespaces are the namespaces that an affinity term applies to, either because it lists them or
// because its namespaceSelector selects them.
type Namespaces struct {
	// Names are the namespaces that the term lists. If the term lists no namespaces and has no
	// namespaceSelector, it applies to the namespace of the workload. Then names is empty.
	Names []string `json:"names"`
	// All is true if the term applies to all namespaces.
	All bool `json:"all"`
	// Selector is the namespaceSelector in kubectl notation, or "" without one. It is also "" if the
	// selector selects every namespace.
	Selector string `json:"selector"`
}

// NodeTerm is a node affinity term. An empty term matches no node.
type NodeTerm struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Hard is true if the affinity is required.
	Hard bool `json:"hard"`
	// Empty is true if the term has no expression.
	Empty bool `json:"empty"`
	// Others is the number of other nonempty terms in the same list.
	Others int `json:"others"`
}

// NodeMatch is a nodeSelector or a required node affinity in the values for a chart that is not
// part of the input.
type NodeMatch struct {
	ID int `json:"id"`
	// Object names the map in the values, for example "HelmRelease shop/db, values master".
	Object string `json:"object"`
	// W is -1, because schedlint does not know which pods get the field.
	W int `json:"w"`
	// Where is the field: nodeSelector or nodeAffinity.
	Where string `json:"where" enum:"nodeSelector nodeAffinity"`
	// Nodes is the number of declared nodes. If a pool has no nodes yet, one node is counted for
	// each of its zones. Matching is the number of nodes that match. A node that matches several
	// terms counts once per term. Conditions on labels that are not known are left out.
	Nodes    int `json:"nodes"`
	Matching int `json:"matching"`
	// Key, Operator and Values together form a condition that no node meets. They are empty if
	// every condition is met by some node, or if there are several terms.
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
	// Suggestion is the key that was probably meant, or "".
	Suggestion string `json:"suggestion"`
}

// LabelKey is one entry of matchLabelKeys or mismatchLabelKeys.
type LabelKey struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// List is matchLabelKeys or mismatchLabelKeys.
	List string `json:"list" enum:"matchLabelKeys mismatchLabelKeys"`
	// Key is the key of the label.
	Key string `json:"key"`
	// OnPod says whether the pods have the label. The template or their controller can set it.
	OnPod diag.Outcome `json:"on_pod"`
	// Nearest is the pod label that was probably meant, or "".
	Nearest string `json:"nearest"`
}

// Suppression is a defective suppression of a rule, for example one that has expired.
type Suppression struct {
	ID int `json:"id"`
	// Problem is the defect of the suppression: names-no-rule, without-reason, expired or unused.
	Problem string `json:"problem" enum:"names-no-rule without-reason expired unused"`
	// By is annotation, comment, configuration or baseline.
	By string `json:"by" enum:"annotation comment configuration baseline"`
	// Rule is the name of the suppressed rule, or "" for an entry of unrendered in the
	// configuration. Target is then its pattern.
	Rule string `json:"rule"`
	// Target is the object that the suppression applies to, for example "Deployment shop/web", or
	// "".
	Target string `json:"target"`
	// Reason is the stated reason for the suppression, or "".
	Reason string `json:"reason"`
	// Until is the last day on which the suppression applies, or "".
	Until string `json:"until"`
	// Dated is true if until is a date.
	Dated bool `json:"dated"`
	// Suggestion is the rule that was probably meant, or "".
	Suggestion string `json:"suggestion"`
}
