package diag

// Placements is the output of the place command: a decision for each context of each cluster.
type Placements struct {
	SchemaVersion string `json:"schemaVersion"`
	// Failures are parts of the work that were not done: the decisions cover the rest.
	Failures Failures `json:"failures"`
	// Unrendered counts kustomizations that should have been rendered, but are not.
	Unrendered int         `json:"unrendered,omitempty"`
	Decisions  []Placement `json:"decisions"`
}

// Placement is the joint decision about the workloads of one context. Context is the path of the
// branch where directories or files are alternatives; otherwise "".
type Placement struct {
	Cluster string `json:"cluster,omitempty"`
	Context string `json:"context"`
	// IfShared are the directories that may or may not share a cluster, if the decision is about
	// all of them together; each also has a decision of its own. It does not fail a run.
	IfShared     []string            `json:"ifShared,omitempty"`
	Verdict      string              `json:"verdict"`
	RulesVerdict string              `json:"rulesVerdict"`
	Pods         PlacementPods       `json:"pods"`
	Workloads    []PlacementWorkload `json:"workloads"`
	Witness      []PlacementStep     `json:"witness"`
	Stuck        *PlacementStuck     `json:"stuck"`
	Invalid      []PlacementInvalid  `json:"invalid"`
	Unmodelled   []string            `json:"unmodelled"`
	Notes        []string            `json:"notes"`
	// Unknown counts open questions, by subject, like the field of a summary.
	Unknown []Skip `json:"unknown"`
}

// PlacementPods counts pods over all reachable maximal states. Between MinPlaced and MaxPlaced of
// Total are placed; if Exact is false, these are bounds. Pods that end by themselves do not count.
type PlacementPods struct {
	Total     int  `json:"total"`
	MaxPlaced int  `json:"maxPlaced"`
	MinPlaced int  `json:"minPlaced"`
	Exact     bool `json:"exact"`
}

// PlacementWorkload is one workload among the others. Core is the reason for the verdict never, or
// the reason why it and others with the same core can never all be placed; Repairs were tried.
type PlacementWorkload struct {
	APIVersion   string `json:"apiVersion"`
	Kind         string `json:"kind"`
	Namespace    string `json:"namespace"`
	Name         string `json:"name"`
	Replicas     int    `json:"replicas"`
	Verdict      string `json:"verdict"`
	RulesVerdict string `json:"rulesVerdict"`
	MaxPlaced    int    `json:"maxPlaced"`
	MinPlaced    int    `json:"minPlaced"`
	// Reason is the cause of the verdict unknown, otherwise "": waits (the pods end by themselves,
	// and those beyond the room run later), label-value (a rule asks for a label whose value the
	// cluster sets), variable (it asks for a label whose value a later tool sets), finite-pods (a
	// rule depends on pods that end by themselves), unknown-pods (a rule depends on pods that are
	// not modelled), unlisted-resource (the pods, or others that may take their room, request an
	// extended resource that no node lists), pool-growth (some size of a growing pool refutes it),
	// budget (more steps than --steps), size (too many pods or nodes to search), or internal (the
	// checker rejected the answer).
	Reason string `json:"reason"`
	// Paused is set for a Deployment that has no pods until it is resumed, if it is created paused.
	// The other fields describe the pods that it then has.
	Paused bool `json:"paused,omitempty"`
	// Why is Reason in words; "" if the verdict or a note already explains it.
	Why  string          `json:"-"`
	Core []PlacementCore `json:"core"`
	// MoreCore is the number of members of the core that an output leaves out; 0 elsewhere.
	MoreCore int      `json:"moreCore,omitempty"`
	Repairs  []string `json:"repairs"`
	// Change has the answers about changes.
	Change PlacementChange `json:"change"`
}

// PlacementChange has the answers to whether a workload copes with changes.
type PlacementChange struct {
	Rollout  PlacementRollout    `json:"rollout"`
	Survives []PlacementSurvival `json:"survives"`
	// Drain, Migrate and Autoscale are verdicts with a reason.
	Drain     PlacementJudgement `json:"drain"`
	Migrate   PlacementJudgement `json:"migrate"`
	Autoscale PlacementJudgement `json:"autoscale"`
}

// PlacementRollout is the answer to whether an update of all pods completes: always, sometimes,
// never, unknown or none. Surge and Unavailable are numbers of pods.
type PlacementRollout struct {
	Verdict     string `json:"verdict"`
	Surge       int    `json:"surge"`
	Unavailable int    `json:"unavailable"`
	// Reason is an explanation in words; "" if the rollout completes.
	Reason string `json:"reason"`
}

// PlacementSurvival is the answer to whether all pods run again after the loss of a domain of a
// topology key. Meaning is gone (the nodes are deleted) or unreachable (their Node objects remain).
// Verdict is always, sometimes, never or unknown. Pending is the number of pods that stay Pending,
// a lower bound if the verdict is never.
type PlacementSurvival struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Meaning string `json:"meaning"`
	Verdict string `json:"verdict"`
	Pending int    `json:"pending"`
	// Like is the number of further nodes with the same result.
	Like int `json:"like"`
	// Reason is a condition that the verdict depends on, other than the room for pods.
	Reason string `json:"reason"`
	// WhereItRuns is set if pods stay Pending after the loss of any domain that runs some of them,
	// while this loss is harmless if the domain runs none: the answer about the key is never.
	WhereItRuns bool `json:"whereItRuns,omitempty"`
}

// PlacementJudgement is always, sometimes, never, unknown or none, with the reason.
type PlacementJudgement struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}

// PlacementCore is one member of a core, with its location.
type PlacementCore struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Field  string `json:"field"`
	Text   string `json:"text"`
	// Location is the complete span.
	Location Span `json:"-"`
}

// PlacementStep is one pod on one node, in the order of placement. Workload is
// apiVersion/kind/namespace/name, for example apps/v1/Deployment/shop/web.
type PlacementStep struct {
	Workload string `json:"workload"`
	Node     string `json:"node"`
	// Zone is the zone of the node, or ""; it is only shown in text output.
	Zone string `json:"-"`
}

// PlacementStuck is a run after which no pending pod fits anywhere.
type PlacementStuck struct {
	Placements []PlacementStep    `json:"placements"`
	Pending    []PlacementPending `json:"pending"`
}

// PlacementPending is a number of pods that are left over, with the reason.
type PlacementPending struct {
	Workload string `json:"workload"`
	Count    int    `json:"count"`
	Reason   string `json:"reason"`
	// Orphaned is set for pods that are bound to an undeclared node: they are deleted, not Pending.
	Orphaned bool `json:"orphaned,omitempty"`
}

// PlacementInvalid is a field that the API server refuses, of the object or of its pods: the
// workload is left out of the decision.
type PlacementInvalid struct {
	Workload string `json:"workload"`
	Field    string `json:"field"`
	Message  string `json:"message"`
}

// Explanation is the output of the explain command for one location.
type Explanation struct {
	// Place is the line as requested, for example web.yaml:18.
	Place string
	// Rule is the requested rule, or "".
	Rule string
	// Found are the findings there. If there are none, it has one entry without a Diagnostic, about
	// the workload to which the line belongs.
	Found []Explained
	// Near are locations of findings elsewhere in the file, if there is none here.
	Near []Diagnostic
	// Notes are remarks on the input.
	Notes []string
	// Failures are parts of the work that were not done: there may be more to explain.
	Failures Failures
	// Source and Display are those of the report.
	Source  func(file string) []byte
	Display func(file string) string
}

// Explained is one finding with its rule and its account.
type Explained struct {
	Diagnostic *Diagnostic
	Rule       Rule
	// Name is the name of the workload that the account is about, for example Deployment shop/web.
	Name string
	Account
}

// Account explains a finding node by node.
type Account struct {
	Tables []NodeTable
	// Tried is the result of trying the repairs of the finding, or "".
	Tried string
	// Repairs are further repairs that were tried; Yield is their result.
	Repairs []string
	Yield   string
	// Notes say what is unknown, and what is irrelevant to the finding.
	Notes []string
}

// NodeTable lists every node once, with the answer whether it accepts the next pod.
type NodeTable struct {
	// Name is the name of the pod's workload. Caption says which pod the table is about, and which
	// pods already run.
	Name    string
	Caption string
	Rows    []NodeRow
}

// The outcomes of a row.
const (
	RowTakes   = "takes"
	RowRejects = "rejects"
	RowHas     = "has"     // already has the DaemonSet's pod
	RowGone    = "gone"    // the node is lost
	RowAside   = "aside"   // no node is checked
	RowUnknown = "unknown" // unknown
)

// NodeRow groups nodes with the same outcome.
type NodeRow struct {
	Outcome string
	// Runs are the names of the nodes, grouped into runs of consecutive nodes in the topology.
	Runs [][]string
	// Pool replaces Runs for nodes that a pool may add to the declared ones, for example "up to 5
	// more of pool web".
	Pool string
	// Filters are the plugins of kube-scheduler that reject the pod; the scheduler reports the
	// first.
	Filters []string
	Why     string
}
