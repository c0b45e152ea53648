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

// Exclusion is one reason why nodes take no pod of a workload.
type Exclusion struct {
	// Reason is cordoned; tainted (Key, Value, Effect); lacks-label (Key, Value);
	// other-value (Key is Has on the nodes instead of Value); fails-expression (Key,
	// Operator, Values); matches-no-term or empty-term, of nodeSelectorTerms; too-small
	// (Resource); or undeclared (Value is the nodeName). What a reason does not name is
	// empty.
	Reason   string   `json:"reason"`
	Key      string   `json:"key"`
	Value    string   `json:"value"`
	Has      string   `json:"has"`
	Effect   string   `json:"effect"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
	Resource string   `json:"resource"`
	// Nodes is the number of nodes, Names are a few of them.
	Nodes int      `json:"nodes"`
	Names []string `json:"names"`
}

// GrownPool is a node pool that was counted with Max nodes, which it can grow to.
type GrownPool struct {
	Pool string `json:"pool"`
	Max  int    `json:"max"`
}

// Eligibility counts the nodes that pass every node-level filter but resources.
type Eligibility struct {
	ID      int          `json:"id"`
	W       int          `json:"w"`
	Outcome diag.Outcome `json:"outcome"`
	// Pods is 0 for a DaemonSet, which has one pod for each eligible node.
	Pods     int `json:"pods"`
	Nodes    int `json:"nodes"`
	Eligible int `json:"eligible"`
	// Bound is empty if the scheduler chooses the node; undeclared if nodeName names
	// one that is not declared, and declared if it names one that is.
	Bound string `json:"bound"`
	// Excluded are the reasons why nodes do not count, most nodes first; MoreExcluded
	// is the number of reasons that are not listed.
	Excluded     []Exclusion `json:"excluded"`
	MoreExcluded int         `json:"more_excluded"`
}

// Request is one pod's request of one resource against single empty nodes:
// Eligible nodes pass every other filter, and Fitting of them are large enough.
type Request struct {
	ID      int          `json:"id"`
	W       int          `json:"w"`
	Outcome diag.Outcome `json:"outcome"`
	// Resource is "" if the row is about several resources, which Together has.
	Resource string `json:"resource"`
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
	// Together are requests of which each fits some node, but not all of them the same
	// one; empty if one request is too large by itself.
	Together []ResourceRequest `json:"together"`
}

// ResourceRequest is one pod's request of a resource: a quantity as Kubernetes writes it.
type ResourceRequest struct {
	Resource string `json:"resource"`
	Request  string `json:"request"`
}

// AntiAffinity is a hard rule that keeps pods of one workload apart.
type AntiAffinity struct {
	ID      int          `json:"id"`
	W       int          `json:"w"`
	Outcome diag.Outcome `json:"outcome"`
	Pods    int          `json:"pods"`
	// Keys are the topology keys: several where terms act together.
	Keys []string `json:"keys"`
	// Domains is the number of distinct values of the keys among eligible nodes,
	// Most the number of pods that fit, Pending the rest.
	Domains  int `json:"domains"`
	Most     int `json:"most"`
	Pending  int `json:"pending"`
	Nodes    int `json:"nodes"`
	Eligible int `json:"eligible"`
	// Excluded are the reasons why nodes do not count, most nodes first; MoreExcluded
	// is the number of reasons that are not listed.
	Excluded     []Exclusion `json:"excluded"`
	MoreExcluded int         `json:"more_excluded"`
	// Growth are the pools that were counted at their max, if any was.
	Growth []GrownPool `json:"growth"`
	// Together are other required rules of the workload that the limit follows from as
	// well: all anti-affinity or all affinity, one for each topology key.
	Together []Rule `json:"together"`
}

// Spread is a hard topology spread constraint. Cause says what binds:
// missing-key (no eligible node has all keys), min-domains or skew.
type Spread struct {
	ID      int          `json:"id"`
	W       int          `json:"w"`
	Outcome diag.Outcome `json:"outcome"`
	Cause   string       `json:"cause"`
	Pods    int          `json:"pods"`
	Key     string       `json:"key"`
	// Keys are those of all hard constraints of the pods, of which a node needs all: a
	// few of them. KeyCount is how many there are.
	Keys     []string `json:"keys"`
	KeyCount int      `json:"key_count"`
	MaxSkew  int      `json:"max_skew"`
	// MinDomains is 1 unless the constraint says otherwise; Domains counts the
	// eligible domains and Smallest how many pods the least roomy one can hold,
	// which SmallestDomain names.
	MinDomains     int    `json:"min_domains"`
	Domains        int    `json:"domains"`
	Smallest       int    `json:"smallest"`
	SmallestDomain string `json:"smallest_domain"`
	// Most is the number of pods that fit, Pending the rest.
	Most     int `json:"most"`
	Pending  int `json:"pending"`
	Nodes    int `json:"nodes"`
	Eligible int `json:"eligible"`
	// Excluded, MoreExcluded and Growth are as for AntiAffinity.
	Excluded     []Exclusion `json:"excluded"`
	MoreExcluded int         `json:"more_excluded"`
	Growth       []GrownPool `json:"growth"`
	// Suggestion is the key that was probably meant, or "".
	Suggestion string `json:"suggestion"`
}

// HostPort is a host port, of which every node has one.
type HostPort struct {
	ID       int          `json:"id"`
	W        int          `json:"w"`
	Outcome  diag.Outcome `json:"outcome"`
	Pods     int          `json:"pods"`
	Port     int          `json:"port"`
	Protocol string       `json:"protocol"`
	Nodes    int          `json:"nodes"`
	Eligible int          `json:"eligible"`
	// Pending is the number of pods that do not fit.
	Pending int `json:"pending"`
	// Excluded, MoreExcluded and Growth are as for AntiAffinity.
	Excluded     []Exclusion `json:"excluded"`
	MoreExcluded int         `json:"more_excluded"`
	Growth       []GrownPool `json:"growth"`
}

// Room is how many pods the nodes' resources hold: of one workload, or of all
// that may use no other nodes.
type Room struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Others is the number of workloads beside that one.
	Others  int          `json:"others"`
	Outcome diag.Outcome `json:"outcome"`
	// Cause says what is compared: pods (equal pods with what fits), size (pods that
	// request Request or more with what fits of that size) or total (Requested by all
	// pods with Offered by all nodes).
	Cause string `json:"cause"`
	// Pods is the number of their pods, Pending of them are left over at least. Most is
	// how many fit, for size how many that request Request.
	Pods    int `json:"pods"`
	Most    int `json:"most"`
	Pending int `json:"pending"`
	// Resource is the one that binds; pods stands for the slots of a node.
	Resource string `json:"resource"`
	// Request is what one pod requests of it, "" for a slot and for total. Requested and
	// Offered are sums, "" unless for total. All are quantities as Kubernetes writes them.
	Request   string `json:"request"`
	Requested string `json:"requested"`
	Offered   string `json:"offered"`
	Nodes     int    `json:"nodes"`
	Eligible  int    `json:"eligible"`
	// Growth are the pools that were counted at their max, if any was.
	Growth []GrownPool `json:"growth"`
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
	// Beside are the topology keys of other terms that no node has together with Key;
	// empty if no node has Key at all.
	Beside []string `json:"beside"`
	// Between are the two requirements that contradict each other, as kubectl writes
	// them, or none.
	Between []string `json:"between"`
}

// Circle is a workload whose required affinity waits for one that waits for it.
type Circle struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Members are the workloads of the circle in order, the first one again at
	// the end, each as a w. Member is false for one that waits for the circle from
	// outside.
	Members []int `json:"members"`
	Member  bool  `json:"member"`
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
