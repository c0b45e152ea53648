package diag

// SizeReason says why a size of pools does not hold, or why that is not known.
type SizeReason struct {
	// Workload is the workload whose pods are concerned, such as Deployment shop/web, or "".
	Workload string `json:"workload,omitempty"`
	// Question is the question with another answer than yes: fits, rolls, drains or survives.
	Question string `json:"question,omitempty"`
	// Verdict is the answer to the question.
	Verdict string `json:"verdict,omitempty"`
	// Text is the reason in words.
	Text string `json:"text,omitempty"`
	// Core is the smallest set of fields and numbers that shows why the pods do not fit.
	Core []PlacementCore `json:"core,omitempty"`
}

// Sizes is the output of the size command. It has an answer for each context.
type Sizes struct {
	SchemaVersion string `json:"schemaVersion"`
	// Failures describes the work that could not be done. The answers do not cover this work.
	Failures Failures `json:"failures"`
	// Unrendered is the number of inputs that could not be rendered.
	Unrendered int `json:"unrendered,omitempty"`
	// For lists the questions: fits, rolls, drains and survives. Survives lists the topology keys of
	// the domains that may be lost.
	For      []string `json:"for"`
	Survives []string `json:"survives"`
	// AtMin is set if autoscaled workloads count with their least number of pods.
	AtMin bool     `json:"atMin"`
	Sizes []Sizing `json:"sizes"`
}

// Values of Sizing.Verdict.
const (
	// SizeMinimal means that every cheaper size is refuted. SizeFound means that some are undecided.
	SizeMinimal = "minimal"
	SizeFound   = "found"
	// SizeNone means that no size within the limits of the pools holds. SizeUnknown means that none is
	// known to hold.
	SizeNone    = "none"
	SizeUnknown = "unknown"
)

// Sizing holds the cheapest sizes of the pools in one context.
type Sizing struct {
	Cluster string      `json:"cluster,omitempty"`
	Context string      `json:"context"`
	Verdict string      `json:"verdict"`
	Pools   []SizedPool `json:"pools"`
	// Nodes and Cost are sums over all pools.
	Nodes int     `json:"nodes"`
	Cost  float64 `json:"cost"`
	// Priced is set if some pool declares a cost.
	Priced bool `json:"priced"`
	// Undecided is the number of cheaper sizes that are undecided. More is set if there are further
	// ones that were not looked at.
	Undecided int  `json:"undecided"`
	More      bool `json:"more,omitempty"`
	// Decisions is the number of sizes and zone layouts that the engine decided. Spent names the limit
	// that ended the search, or is "".
	Decisions int    `json:"decisions"`
	Spent     string `json:"spent,omitempty"`
	// Why says why no size holds or none is known to. With the verdict none, it is about the pools at
	// their greatest sizes.
	Why *SizeReason `json:"why,omitempty"`
	// Workloads says how many pods workloads can have on the declared nodes, if that is asked. There are
	// no pools then, and no Verdict.
	Workloads []WorkloadRoom `json:"workloads,omitempty"`
	// Declared is the answer for the declared numbers of nodes: always, never or unknown.
	Declared    string      `json:"declared"`
	DeclaredWhy *SizeReason `json:"declaredWhy,omitempty"`
	Notes       []string    `json:"notes"`
}

// SizedPool is a pool with its size.
type SizedPool struct {
	Name string `json:"name"`
	// Declared and Nodes are the declared and the cheapest number of nodes. Zones has the latter by
	// zone, if the pool has zones.
	Declared int        `json:"declared"`
	Nodes    int        `json:"nodes"`
	Zones    []ZoneSize `json:"zones,omitempty"`
	// Min and Max are the limits of the search. Derived is set if Max follows from what pods request.
	Min     int     `json:"min"`
	Max     int     `json:"max"`
	Derived bool    `json:"derived,omitempty"`
	Cost    float64 `json:"cost"`
	// Unused is set if only DaemonSets may use the pool.
	Unused bool `json:"unused,omitempty"`
	// Less says why the answer is another one with one node less. It is nil if the pool has its least
	// size.
	Less *SizeReason `json:"less,omitempty"`
	// Slack says how full the nodes are, one entry for each resource that pods request.
	Slack []SizeSlack `json:"slack,omitempty"`
}

// WorkloadRoom says how many pods a workload can have.
type WorkloadRoom struct {
	Workload string `json:"workload"`
	// Pods is the declared number of pods, or the least one of an autoscaler. Up to Most, every number
	// keeps all answers that are yes. Limit is the largest number that is asked about; Scaled is set if
	// it is the maximum of an autoscaler.
	Pods   int  `json:"pods"`
	Most   int  `json:"most"`
	Limit  int  `json:"limit"`
	Scaled bool `json:"scaled,omitempty"`
	// Why says which answer another pod changes, or, if Today is set, which answer is not yes today.
	Why   *SizeReason `json:"why,omitempty"`
	Today bool        `json:"today,omitempty"`
	// Spent is set if the steps ended at Most.
	Spent bool `json:"spent,omitempty"`
}

// ZoneSize is the number of nodes in a zone.
type ZoneSize struct {
	Zone  string `json:"zone"`
	Nodes int    `json:"nodes"`
}

// SizeSlack compares what a node of a pool offers of a resource with what DaemonSets take of it.
// The numbers are quantities, or numbers of pods for the resource pods.
type SizeSlack struct {
	Resource   string `json:"resource"`
	Each       string `json:"each"`
	DaemonSets string `json:"daemonSets,omitempty"`
	// Requested is the sum of the requests of pods that may use only this pool. Offered is the sum over
	// all nodes of the pool, beside DaemonSets.
	Requested string `json:"requested"`
	Offered   string `json:"offered"`
}
