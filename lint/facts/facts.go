package facts

import (
	"reflect"

	"github.com/schedlint/schedlint/lint/diag"
)

// Facts is everything that rules can see.
type Facts struct {
	Documents     []Document     `json:"documents"`
	Refusals      []Refusal      `json:"refusals"`
	UnknownFields []UnknownField `json:"unknown_fields"`
	Workloads     []Workload     `json:"workloads"`
	Sharing       []Sharing      `json:"sharing"`
	Eligibility   []Eligibility  `json:"eligibility"`
	Requests      []Request      `json:"requests"`
	AntiAffinity  []AntiAffinity `json:"anti_affinity"`
	Spreads       []Spread       `json:"spreads"`
	HostPorts     []HostPort     `json:"host_ports"`
	Room          []Room         `json:"room"`
	Affinity      []Affinity     `json:"affinity"`
	Circles       []Circle       `json:"circles"`
	Crowds        []Crowd        `json:"crowds"`
	Orders        []Order        `json:"orders"`
	Rollouts      []Rollout      `json:"rollouts"`
	Skews         []Skew         `json:"skews"`
	Losses        []Loss         `json:"losses"`
	Budgets       []Budget       `json:"budgets"`
	Drains        []Drain        `json:"drains"`
	Migrations    []Migration    `json:"migrations"`
	OuterLabels   []OuterLabel   `json:"outer_labels"`
	Autoscalers   []Autoscaler   `json:"autoscalers"`
	TopologyKeys  []TopologyKey  `json:"topology_keys"`
	NodeLabels    []NodeLabel    `json:"node_labels"`
	Selectors     []Selector     `json:"selectors"`
	NodeTerms     []NodeTerm     `json:"node_terms"`
	LabelKeys     []LabelKey     `json:"label_keys"`
	Suppressions  []Suppression  `json:"suppressions"`
}

// Rows are all rows by id, as pointers to their structs; nil where there is none.
func (f *Facts) Rows() []any {
	rows := []any{nil}
	lists := reflect.ValueOf(f).Elem()
	for i := range lists.NumField() {
		if !lists.Type().Field(i).IsExported() {
			continue
		}
		for j := range lists.Field(i).Len() {
			row := lists.Field(i).Index(j)
			id := int(row.FieldByName("ID").Int())
			for id >= len(rows) {
				rows = append(rows, nil)
			}
			rows[id] = row.Addr().Interface()
		}
	}
	return rows
}

// Ref names the workload of a row, as in "Deployment shop/web"; "" for none.
func (f *Facts) Ref(w int) string {
	if w < 0 || w >= len(f.Workloads) {
		return ""
	}
	return f.Workloads[w].Ref
}

// Judgement is what a rule says about a fact: one line, and further ones.
type Judgement struct {
	Rule string
	Fact int
	// Reason is the entry of the catalogue that words it; "" if the rule gives Message
	// and Details itself.
	Reason  string
	Message string
	Details []string
}

// Document is something wrong with a text before anything is judged. Problem
// is unparsable-document, duplicate-key, alias-bomb, alias-cycle,
// nesting-too-deep, unreadable-file, render-failed or render-refused.
type Document struct {
	ID      int    `json:"id"`
	Problem string `json:"problem"`
	Detail  string `json:"detail"`
	// FirstLine is where a repeated key stands first; 0 for other problems.
	FirstLine int `json:"first_line"`
}

// Refusal is a field that the API server does not accept. Stage is object or
// pods: the object itself is refused, or every pod that it creates; gate: the
// field is dropped while the feature gate Gate is off, and the object is refused
// once it is on; or fragment: the field of an object that is not judged would be
// refused in a pod. Object names it; it may be a PodDisruptionBudget, a
// HorizontalPodAutoscaler or a custom resource too.
type Refusal struct {
	ID     int    `json:"id"`
	Object string `json:"object"`
	W      int    `json:"w"`
	Stage  string `json:"stage"`
	Gate   string `json:"gate"`
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// UnknownField is a field that the API does not have, and the name that was
// probably meant, or "".
type UnknownField struct {
	ID         int    `json:"id"`
	Object     string `json:"object"`
	W          int    `json:"w"`
	Field      string `json:"field"`
	Suggestion string `json:"suggestion"`
}

// NoBound stands for a number that nothing bounds from above.
const NoBound = 1<<31 - 1

// Workload is one object that creates pods. Rows of other lists refer to it by its
// index in this list, their w, which is -1 for an object that creates none.
type Workload struct {
	ID int `json:"id"`
	// Ref is kind, namespace and name, as in "Deployment shop/web".
	Ref       string `json:"ref"`
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// PodsMin and PodsMax bound the number of pods: they are equal where it is known,
	// those of an autoscaler where one decides, and 0 and NoBound where it is unknown.
	PodsMin int `json:"pods_min"`
	PodsMax int `json:"pods_max"`
	// Permanent is false for workloads that run to completion (Job, CronJob) or
	// once on every node (DaemonSet).
	Permanent bool `json:"permanent"`
}

// Sharing is whether the pods of a permanent workload can all run on one node, so
// that losing it takes all of them down.
type Sharing struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is of "the pods run on several nodes": sometimes, if the scheduler may
	// put all of them on one; never, if there is only one that they can use; none for
	// fewer than two pods.
	Outcome diag.Outcome `json:"outcome"`
	Pods    int          `json:"pods"`
	// Usable is the number of nodes that the pods can use, Zones the number of
	// zones among them.
	Usable int `json:"usable"`
	Zones  int `json:"zones"`
	// OnOneNode is the largest number of its pods that can run on one node, such as
	// Node, and InOneZone in one zone (0 without zones): what a loss can take.
	OnOneNode int    `json:"on_one_node"`
	Node      string `json:"node"`
	InOneZone int    `json:"in_one_zone"`
	// Soft are the preferred rules that ask for spreading.
	Soft []Rule `json:"soft"`
}

// Rule is a placement rule of a workload: Use is anti-affinity, affinity, spread,
// host-port, requests, slots, selector or taints. Key is its topology key or port, or "".
type Rule struct {
	W    int    `json:"w"`
	Use  string `json:"use"`
	Hard bool   `json:"hard"`
	Key  string `json:"key"`
}

// Eligibility counts the nodes that pass every node-level filter but resources.
type Eligibility struct {
	ID       int          `json:"id"`
	Workload string       `json:"workload"`
	W        int          `json:"w"`
	Outcome  diag.Outcome `json:"outcome"`
	Pods     int          `json:"pods"`
	Nodes    int          `json:"nodes"`
	Eligible int          `json:"eligible"`
	// Bound is empty if the scheduler chooses the node; undeclared if nodeName names
	// one that is not declared, and declared if it names one that is.
	Bound string `json:"bound"`
	// Reasons say why the other nodes do not count, most nodes first, as in
	// "4 of 6 nodes lack the label disktype=ssd".
	Reasons []string `json:"reasons"`
}

// Request is one pod's request of one resource against single empty nodes:
// Eligible nodes pass every other filter, and Fitting of them are large enough.
type Request struct {
	ID       int          `json:"id"`
	Workload string       `json:"workload"`
	W        int          `json:"w"`
	Outcome  diag.Outcome `json:"outcome"`
	Resource string       `json:"resource"`
	// Request and Largest are quantities as Kubernetes writes them; LargestNode
	// is the node that offers most, "" where none offers any.
	Request     string `json:"request"`
	Largest     string `json:"largest"`
	LargestNode string `json:"largest_node"`
	Eligible    int    `json:"eligible"`
	Fitting     int    `json:"fitting"`
	// PerNode is set for a DaemonSet: every node that is too small leaves one
	// pod Pending.
	PerNode bool `json:"per_node"`
	// Suggestion is the listed resource that was probably meant where the verdict
	// is unknown, as no node lists the one requested; or "".
	Suggestion string `json:"suggestion"`
}

// AntiAffinity is a hard rule that keeps pods of one workload apart.
type AntiAffinity struct {
	ID       int          `json:"id"`
	Workload string       `json:"workload"`
	W        int          `json:"w"`
	Outcome  diag.Outcome `json:"outcome"`
	Pods     int          `json:"pods"`
	// Key is the topology key, or several with commas where terms act together.
	Key string `json:"key"`
	// Domains is the number of distinct values of the key among eligible nodes,
	// Most the number of pods that fit, Pending the rest.
	Domains  int `json:"domains"`
	Most     int `json:"most"`
	Pending  int `json:"pending"`
	Nodes    int `json:"nodes"`
	Eligible int `json:"eligible"`
	// Excluded says why nodes do not count, as in
	// "kni-control-plane has the untolerated taint node-role.kubernetes.io/master:NoSchedule".
	Excluded []string `json:"excluded"`
	// Growth tells that pools were counted at their max, or is "".
	Growth string `json:"growth"`
	// Together names another rule that the limit follows from as well, or is "".
	Together string `json:"together"`
}

// Spread is a hard topology spread constraint. Cause says what binds:
// missing-key (no eligible node has all keys), min-domains or skew.
type Spread struct {
	ID       int          `json:"id"`
	Workload string       `json:"workload"`
	W        int          `json:"w"`
	Outcome  diag.Outcome `json:"outcome"`
	Cause    string       `json:"cause"`
	Pods     int          `json:"pods"`
	Key      string       `json:"key"`
	// Keys are those of all hard constraints of the pods, with commas: a node
	// needs all of them.
	Keys    string `json:"keys"`
	MaxSkew int    `json:"max_skew"`
	// MinDomains is 1 unless the constraint says otherwise; Domains counts the
	// eligible domains and Smallest how many pods the least roomy one can hold,
	// which SmallestDomain names.
	MinDomains     int      `json:"min_domains"`
	Domains        int      `json:"domains"`
	Smallest       int      `json:"smallest"`
	SmallestDomain string   `json:"smallest_domain"`
	Most           int      `json:"most"`
	Pending        int      `json:"pending"`
	Nodes          int      `json:"nodes"`
	Eligible       int      `json:"eligible"`
	Excluded       []string `json:"excluded"`
	Growth         string   `json:"growth"`
	// Suggestion is the key that was probably meant, or "".
	Suggestion string `json:"suggestion"`
}

// HostPort is a host port, of which every node has one.
type HostPort struct {
	ID       int          `json:"id"`
	Workload string       `json:"workload"`
	W        int          `json:"w"`
	Outcome  diag.Outcome `json:"outcome"`
	Pods     int          `json:"pods"`
	Port     string       `json:"port"`
	Nodes    int          `json:"nodes"`
	Eligible int          `json:"eligible"`
	Pending  int          `json:"pending"`
	Excluded []string     `json:"excluded"`
	Growth   string       `json:"growth"`
}

// Room is how many pods the nodes' resources hold: of one workload, or of all
// that may use no other nodes.
type Room struct {
	ID       int    `json:"id"`
	Workload string `json:"workload"`
	W        int    `json:"w"`
	// Others is the number of workloads beside that one.
	Others  int          `json:"others"`
	Outcome diag.Outcome `json:"outcome"`
	// Pods is the number of their pods, Pending of them are left over at least.
	Pods    int `json:"pods"`
	Pending int `json:"pending"`
	// Resource is the one that binds; pods stands for the slots of a node.
	// Request says what the pods ask of it, as in "2 of cpu each", and Room what
	// the nodes have, as in "room for 8".
	Resource string `json:"resource"`
	Request  string `json:"request"`
	Room     string `json:"room"`
	Nodes    int    `json:"nodes"`
	Eligible int    `json:"eligible"`
	Growth   string `json:"growth"`
}

// Affinity is a required pod affinity term that no pod can satisfy. Cause is
// missing-key (no usable node carries the topology key), null-selector (it
// matches no pod) or contradiction (no pod can match all terms).
type Affinity struct {
	ID      int          `json:"id"`
	W       int          `json:"w"`
	Outcome diag.Outcome `json:"outcome"`
	Cause   string       `json:"cause"`
	Key     string       `json:"key"`
	// Usable is the number of nodes that the pods may use; With of them carry
	// the key.
	Usable     int    `json:"usable"`
	With       int    `json:"with"`
	Suggestion string `json:"suggestion"`
	// Detail says which requirements contradict each other, or is "".
	Detail string `json:"detail"`
}

// Circle is a workload whose required affinity waits for one that waits for it.
type Circle struct {
	ID       int    `json:"id"`
	Workload string `json:"workload"`
	W        int    `json:"w"`
	// Members are the workloads of the circle in order, the first one again at
	// the end. Member is false for one that waits for the circle from outside.
	Members []string `json:"members"`
	Member  bool     `json:"member"`
}

// TopologyKey is one use of a topology key.
type TopologyKey struct {
	ID     int    `json:"id"`
	Object string `json:"object"`
	W      int    `json:"w"`
	// Use is anti-affinity, affinity or spread; Hard tells whether it filters.
	Use  string `json:"use"`
	Hard bool   `json:"hard"`
	Key  string `json:"key"`
	// Fragment tells that Object is an object that is not judged, such as a custom
	// resource with an affinity: Usable is then all nodes.
	Fragment bool `json:"fragment"`
	// Declared tells whether there is a topology. Usable is the number of its
	// nodes that the pods may use; With of them carry the key.
	Declared bool `json:"declared"`
	Usable   int  `json:"usable"`
	With     int  `json:"with"`
	// Known is false for a key that no component of Kubernetes sets although its
	// name says so, and for a near miss of one that is set.
	Known      bool   `json:"known"`
	Suggestion string `json:"suggestion"`
	// Without names nodes that lack the key, a few of them.
	Without []string `json:"without"`
}

// NodeLabel is one use of a node label key in nodeSelector, nodeAffinity or
// topologyKey.
type NodeLabel struct {
	ID     int    `json:"id"`
	Object string `json:"object"`
	W      int    `json:"w"`
	Where  string `json:"where"`
	Key    string `json:"key"`
	// Deprecated keys are no longer set; Replacement is what is set instead, or
	// "". OnNodes counts declared nodes that carry the key all the same.
	Deprecated  bool   `json:"deprecated"`
	Replacement string `json:"replacement"`
	OnNodes     int    `json:"on_nodes"`
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
	// Use is anti-affinity, affinity or spread; Hard tells whether it filters.
	Use  string `json:"use"`
	Hard bool   `json:"hard"`
	// Form is null (no selector: matches nothing), empty (matches everything) or
	// set. Text is the selector as kubectl writes it.
	Form string `json:"form"`
	Text string `json:"text"`
	// MatchesOwn tells whether it matches the workload's own labels, namespaces
	// left out; OwnNamespace whether the own namespace is among the term's.
	MatchesOwn   diag.Outcome `json:"matches_own"`
	OwnNamespace diag.Outcome `json:"own_namespace"`
	// Matches counts declared workloads whose pods it selects, or may select;
	// Declared counts all that there are.
	Matches    int        `json:"matches"`
	Declared   int        `json:"declared"`
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
	Names    []string `json:"names"`
	All      bool     `json:"all"`
	Selector string   `json:"selector"`
}

// NodeTerm is a term of a node affinity. An empty one matches no node.
type NodeTerm struct {
	ID    int  `json:"id"`
	W     int  `json:"w"`
	Hard  bool `json:"hard"`
	Empty bool `json:"empty"`
	// Others counts terms beside it that are not empty.
	Others int `json:"others"`
}

// LabelKey is one entry of matchLabelKeys or mismatchLabelKeys.
type LabelKey struct {
	ID   int    `json:"id"`
	W    int    `json:"w"`
	List string `json:"list"`
	Key  string `json:"key"`
	// OnPod tells whether the pods carry the label: from the template or because
	// their controller adds it.
	OnPod diag.Outcome `json:"on_pod"`
	// Nearest is a label of the pods that was probably meant, or "".
	Nearest string `json:"nearest"`
}

// Suppression is one with something wrong about it. Problem is names-no-rule,
// without-reason, expired or unused.
type Suppression struct {
	ID      int    `json:"id"`
	Problem string `json:"problem"`
	// By is annotation, comment, configuration or baseline; Target is what it is
	// about, as in "Deployment shop/web", or "".
	By     string `json:"by"`
	Rule   string `json:"rule"`
	Target string `json:"target"`
	Reason string `json:"reason"`
	// Until is the last day on which it holds, or ""; Dated tells whether that is a
	// day at all.
	Until string `json:"until"`
	Dated bool   `json:"dated"`
	// Suggestion is the rule that was probably meant, or "".
	Suggestion string `json:"suggestion"`
}
