package facts

import "github.com/schedlint/schedlint/lint/diag"

// Document is a problem of a text that is found before anything is judged. Problem
// is unparsable-document, duplicate-key, alias-bomb, alias-cycle,
// nesting-too-deep, unreadable-file, render-failed or render-refused.
type Document struct {
	ID int `json:"id"`
	// Problem names what is wrong with the text.
	Problem string `json:"problem" enum:"unparsable-document duplicate-key alias-bomb alias-cycle nesting-too-deep unreadable-file render-failed render-refused"`
	// Detail is the key, the alias or the reason that the problem is about.
	Detail string `json:"detail"`
	// FirstLine is the line of the first occurrence of a repeated key; 0 for other problems, or
	// if that is in another file or text.
	FirstLine int `json:"first_line"`
	// LastCounts is true of a repeated key in a file that only Helm reads, or in what a
	// chart prints: the last value is used.
	LastCounts bool `json:"last_counts"`
	// Merged is true of a repeated key in what a chart prints for Flux or kustomize, which
	// refuse it.
	Merged bool `json:"merged"`
}

// Refusal is a field that the API server does not accept. Stage is object or
// pods: the object itself is refused, or every pod that it creates; gate: the
// field is dropped while the feature gate Gate is off, and the object is refused
// once it is on; or fragment: the field of an object that is not judged would be
// refused in a pod. Object names it; it may be a PodDisruptionBudget, a
// HorizontalPodAutoscaler, a custom resource or an object of a misspelt kind too.
type Refusal struct {
	ID int `json:"id"`
	// Object is what is refused, as in "Deployment shop/web".
	Object string `json:"object"`
	W      int    `json:"w"`
	// Stage is object, pods, gate or fragment.
	Stage string `json:"stage" enum:"object pods gate fragment"`
	// Gate is the feature gate, or "".
	Gate string `json:"gate"`
	// Field is the path of the field from the root of the object, or from the map that
	// Object names.
	Field string `json:"field"`
	// Values tells that Object is a map of the values for a chart that is not at hand.
	Values bool `json:"values"`
	// Reason is what is wrong with the field, as the API server words it.
	Reason string `json:"reason"`
}

// UnknownField is a field that the API does not have, and the name that was
// probably meant, or "".
type UnknownField struct {
	ID int `json:"id"`
	// Object is what has the field, as in "Deployment shop/web".
	Object string `json:"object"`
	W      int    `json:"w"`
	// Values tells that Object is a map of the values for a chart that is not at hand, from
	// which Field leads on.
	Values bool `json:"values"`
	// Field is the path of the field.
	Field string `json:"field"`
	// Suggestion is the name that was probably meant, or "".
	Suggestion string `json:"suggestion"`
}

// Affinity is a required pod affinity term that no pod can satisfy. Cause is
// missing-key (no usable node carries the topology key), null-selector (it
// matches no pod) or contradiction (no pod can match all terms).
type Affinity struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is never, or unknown.
	Outcome diag.Outcome `json:"outcome"`
	// Cause is missing-key, null-selector or contradiction.
	Cause string `json:"cause" enum:"missing-key null-selector contradiction"`
	// Key is the topologyKey of the term.
	Key string `json:"key"`
	// Usable is the number of nodes that the pods can use.
	Usable int `json:"usable"`
	// With is how many of these have the topology key.
	With int `json:"with"`
	// Suggestion is the key that was probably meant, or "".
	Suggestion string `json:"suggestion"`
	// Beside are the topology keys of other terms that no node has together with Key;
	// empty if no node has Key at all.
	Beside []string `json:"beside"`
	// Between are the two requirements that contradict each other, as kubectl writes
	// them, or none.
	Between []string `json:"between"`
}

// TopologyKey is one use of a topology key.
type TopologyKey struct {
	ID int `json:"id"`
	// Object is what uses the key, as in "Deployment shop/web".
	Object string `json:"object"`
	W      int    `json:"w"`
	// Use is anti-affinity, affinity or spread.
	Use string `json:"use" enum:"anti-affinity affinity spread"`
	// Hard tells whether the rule filters nodes.
	Hard bool `json:"hard"`
	// Key is the topologyKey.
	Key string `json:"key"`
	// Fragment tells that Object is an object that is not judged, such as a custom
	// resource with an affinity: Usable is then all nodes.
	Fragment bool `json:"fragment"`
	// Values tells that it is a map of the values for a chart that is not at hand.
	Values bool `json:"values"`
	// Declared tells whether nodes are declared.
	Declared bool `json:"declared"`
	// Usable is the number of nodes that the pods can use.
	Usable int `json:"usable"`
	// With is how many of these have the key.
	With int `json:"with"`
	// Known is false for a key that no component of Kubernetes sets although its
	// name says so, and for a near miss of one that is set.
	Known bool `json:"known"`
	// Suggestion is the key that was probably meant, or "".
	Suggestion string `json:"suggestion"`
	// Without names nodes that lack the key, a few of them.
	Without []string `json:"without"`
}

// NodeLabel is one use of a node label key in nodeSelector, nodeAffinity or
// topologyKey.
type NodeLabel struct {
	ID int `json:"id"`
	// Object is what uses the label, as in "Deployment shop/web".
	Object string `json:"object"`
	W      int    `json:"w"`
	// Values tells that Object is a map of the values for a chart that is not at hand.
	Values bool `json:"values"`
	// Where is the field that uses it: nodeSelector, nodeAffinity or topologyKey.
	Where string `json:"where" enum:"nodeSelector nodeAffinity topologyKey"`
	// Key is the label.
	Key string `json:"key"`
	// Deprecated says whether another label replaced it.
	Deprecated bool `json:"deprecated"`
	// Replacement is the label that is set instead, or "".
	Replacement string `json:"replacement"`
	// OnNodes is the number of declared nodes that have the label nevertheless.
	OnNodes int `json:"on_nodes"`
	// Beside is set if another term of the same list, of which one is enough, uses
	// the replacement.
	Beside bool `json:"beside"`
	// Platform names the platform of the other objects if that still sets the key, as
	// OpenShift does, or is "".
	Platform string `json:"platform"`
}

// Selector is the label selector of one term or constraint.
type Selector struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Use is anti-affinity, affinity or spread.
	Use string `json:"use" enum:"anti-affinity affinity spread"`
	// Hard tells whether the rule filters nodes.
	Hard bool `json:"hard"`
	// Form is null (no selector, which matches nothing), empty (which matches everything) or
	// set.
	Form string `json:"form" enum:"null empty set"`
	// Text is the selector as kubectl writes it.
	Text string `json:"text"`
	// MatchesOwn tells whether it matches the labels of the workload's own pods, namespaces left
	// out.
	MatchesOwn diag.Outcome `json:"matches_own"`
	// OwnNamespace tells whether the term applies to the namespace of the workload.
	OwnNamespace diag.Outcome `json:"own_namespace"`
	// Matches is the number of declared workloads whose pods it selects, or may select.
	Matches int `json:"matches"`
	// Declared is the number of all declared workloads.
	Declared int `json:"declared"`
	// Namespaces are those that the term applies to.
	Namespaces Namespaces `json:"namespaces"`
	// Nearest is a label of the own pods that the selector probably meant, or "".
	Nearest string `json:"nearest"`
	// Maker is a custom resource whose operator may make the pods that are meant, as
	// in "Cluster shop/db", or "".
	Maker string `json:"maker"`
}

// Namespaces are those that an affinity term applies to, besides those that its
// namespaceSelector selects: all of them, or those that match Selector, which is written
// as kubectl writes it and "" without a namespaceSelector.
type Namespaces struct {
	// Names are the namespaces that the term lists, or its own.
	Names []string `json:"names"`
	// All tells whether it applies to all namespaces.
	All bool `json:"all"`
	// Selector is the namespaceSelector as kubectl writes it, or "".
	Selector string `json:"selector"`
}

// NodeTerm is a term of a node affinity. An empty one matches no node.
type NodeTerm struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Hard tells whether the affinity is required.
	Hard bool `json:"hard"`
	// Empty tells whether the term has no expression.
	Empty bool `json:"empty"`
	// Others counts terms beside it that are not empty.
	Others int `json:"others"`
}

// NodeMatch is a nodeSelector or a required node affinity among the values for a chart that
// is not at hand.
type NodeMatch struct {
	ID int `json:"id"`
	// Object is the map that has it, as in "HelmRelease shop/db, values master".
	Object string `json:"object"`
	// W is -1: nobody knows which pods get it.
	W int `json:"w"`
	// Where is the field: nodeSelector or nodeAffinity.
	Where string `json:"where" enum:"nodeSelector nodeAffinity"`
	// Nodes is the number of declared nodes, with one of each pool that has none yet, and
	// Matching how many of them match; one that matches several terms counts for each.
	Nodes    int `json:"nodes"`
	Matching int `json:"matching"`
	// Key, Operator and Values are a condition of the only term that no node meets;
	// empty if there is no such condition.
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
	// Key is the label.
	Key string `json:"key"`
	// OnPod tells whether the pods carry the label: from the template or because
	// their controller adds it.
	OnPod diag.Outcome `json:"on_pod"`
	// Nearest is a label of the pods that was probably meant, or "".
	Nearest string `json:"nearest"`
}

// Suppression is a suppression with something wrong about it. Problem is names-no-rule,
// without-reason, expired or unused.
type Suppression struct {
	ID int `json:"id"`
	// Problem is names-no-rule, without-reason, expired or unused.
	Problem string `json:"problem" enum:"names-no-rule without-reason expired unused"`
	// By is annotation, comment, configuration or baseline.
	By string `json:"by" enum:"annotation comment configuration baseline"`
	// Rule is the rule that it names.
	Rule string `json:"rule"`
	// Target is what it is about, as in "Deployment shop/web", or "".
	Target string `json:"target"`
	// Reason is the reason that it gives, or "".
	Reason string `json:"reason"`
	// Until is the last day on which it holds, or "".
	Until string `json:"until"`
	// Dated tells whether until is a date.
	Dated bool `json:"dated"`
	// Suggestion is the rule that was probably meant, or "".
	Suggestion string `json:"suggestion"`
}
