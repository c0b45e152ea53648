package diag

// Placements is what the place command prints: a decision for each context of each
// cluster.
type Placements struct {
	SchemaVersion string `json:"schemaVersion"`
	// Failures are what was not done: the decisions are about the rest.
	Failures Failures `json:"failures"`
	// Unrendered counts kustomizations that should have been rendered and are not.
	Unrendered int         `json:"unrendered,omitempty"`
	Decisions  []Placement `json:"decisions"`
}

// Placement is the decision about the workloads of one context together. Context
// is the path of the branch where directories or files are alternatives, else "".
type Placement struct {
	Cluster string `json:"cluster,omitempty"`
	Context string `json:"context"`
	// IfShared are the directories that may or may not share a cluster, if the decision is
	// about all of them together; each has one of its own. It does not fail a run.
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
	// Unknown counts questions that are open, by subject, as that of a summary does.
	Unknown []Skip `json:"unknown"`
}

// PlacementPods counts pods over all maximal states that can be reached.
// Between MinPlaced and MaxPlaced of Total are placed; if Exact is unset these
// are bounds. Pods that end by themselves do not count.
type PlacementPods struct {
	Total     int  `json:"total"`
	MaxPlaced int  `json:"maxPlaced"`
	MinPlaced int  `json:"minPlaced"`
	Exact     bool `json:"exact"`
}

// PlacementWorkload is one workload among the others. Core is what its verdict
// never rests on, or why it and others with the same core can never all be
// placed; Repairs are ways out that were tried.
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
	// Reason says why Verdict is unknown, else it is "": waits (the pods end
	// by themselves, and those beyond the room run later), label-value (a rule asks
	// for a label whose value the cluster sets), variable (it asks for a label whose
	// value a later tool sets), finite-pods (a rule counts on pods that end by
	// themselves), unknown-pods (a rule counts on pods that are not modelled),
	// unlisted-resource (the pods, or others that may take their room, request an
	// extended resource that no node lists), pool-growth (some size of a growing pool
	// refutes it), budget (more steps than --steps), size (too many pods or nodes to
	// search), or internal (the checker rejected the answer).
	Reason string `json:"reason"`
	// Paused is set for a Deployment that has no pods until it is resumed, if it is created so:
	// what is said is of the pods that it then has.
	Paused bool `json:"paused,omitempty"`
	// Why is Reason in words, "" where the verdict or a note says it.
	Why  string          `json:"-"`
	Core []PlacementCore `json:"core"`
	// MoreCore is how many members of the core an output leaves out; 0 but there.
	MoreCore int      `json:"moreCore,omitempty"`
	Repairs  []string `json:"repairs"`
	// Change is what becomes of it when something changes.
	Change PlacementChange `json:"change"`
}

// PlacementChange is what becomes of a workload when something changes.
type PlacementChange struct {
	Rollout  PlacementRollout    `json:"rollout"`
	Survives []PlacementSurvival `json:"survives"`
	// Drain, Migrate and Autoscale are judgements in a word.
	Drain     PlacementJudgement `json:"drain"`
	Migrate   PlacementJudgement `json:"migrate"`
	Autoscale PlacementJudgement `json:"autoscale"`
}

// PlacementRollout is whether an update of all pods completes: always,
// sometimes, never, unknown or none. Surge and Unavailable are numbers of
// pods.
type PlacementRollout struct {
	Verdict     string `json:"verdict"`
	Surge       int    `json:"surge"`
	Unavailable int    `json:"unavailable"`
	// Reason says why, for people; "" if it completes.
	Reason string `json:"reason"`
}

// PlacementSurvival is what becomes of the pods when a domain of a topology key
// is lost. Meaning is gone (the nodes are deleted) or unreachable (their Node
// objects remain). Verdict is always, sometimes, never or unknown.
// Pending is how many pods stay Pending, at least where the verdict is never.
type PlacementSurvival struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Meaning string `json:"meaning"`
	Verdict string `json:"verdict"`
	Pending int    `json:"pending"`
	// Like is how many further nodes there are of which the same is true.
	Like int `json:"like"`
	// Reason says on what the verdict rests, if that is more than where pods fit.
	Reason string `json:"reason"`
	// WhereItRuns is set if pods stay Pending whichever domain of the key has some of them, and
	// this loss does no harm where it has none: the answer about the key is never.
	WhereItRuns bool `json:"whereItRuns,omitempty"`
}

// PlacementJudgement is always, sometimes, never, unknown or none, and why.
type PlacementJudgement struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}

// PlacementCore is one member of a core, at its place.
type PlacementCore struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Field  string `json:"field"`
	Text   string `json:"text"`
	// Location is the whole of the place.
	Location Span `json:"-"`
}

// PlacementStep is one pod on one node, in the order of placement. Workload is
// apiVersion/kind/namespace/name, as in apps/v1/Deployment/shop/web.
type PlacementStep struct {
	Workload string `json:"workload"`
	Node     string `json:"node"`
	// Zone is that of the node, or "": for people, who ask for it first.
	Zone string `json:"-"`
}

// PlacementStuck is a run after which no pending pod fits anywhere.
type PlacementStuck struct {
	Placements []PlacementStep    `json:"placements"`
	Pending    []PlacementPending `json:"pending"`
}

// PlacementPending is pods that are left over, and why.
type PlacementPending struct {
	Workload string `json:"workload"`
	Count    int    `json:"count"`
	Reason   string `json:"reason"`
	// Orphaned is set for pods that are bound to a node which is not declared:
	// they are deleted and not Pending.
	Orphaned bool `json:"orphaned,omitempty"`
}

// PlacementInvalid is a field that the API server refuses, at the object or at
// its pods: the workload takes no part.
type PlacementInvalid struct {
	Workload string `json:"workload"`
	Field    string `json:"field"`
	Message  string `json:"message"`
}
