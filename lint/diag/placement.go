package diag

// Placements is the output of the place command. It has a decision for each context.
type Placements struct {
	SchemaVersion string `json:"schemaVersion"`
	// Failures describes the work that could not be done. The decisions do not cover this work.
	Failures Failures `json:"failures"`
	// Unrendered is the number of kustomizations that could not be rendered.
	Unrendered int         `json:"unrendered,omitempty"`
	Decisions  []Placement `json:"decisions"`
}

// Placement is the joint decision about the workloads of one context. Context is the path of the
// branch if directories or files are alternatives. Otherwise it is "".
type Placement struct {
	Cluster string `json:"cluster,omitempty"`
	Context string `json:"context"`
	// IfShared lists directories that may share a cluster. If it is set, the decision assumes that
	// all of them share one. Each directory also has its own decision. A decision with IfShared
	// does not fail a run.
	IfShared     []string `json:"ifShared,omitempty"`
	Verdict      string   `json:"verdict"`
	RulesVerdict string   `json:"rulesVerdict"`
	// DaemonSetsFirst is the verdict if each DaemonSet pod is placed before other pods on its node,
	// as it happens when a node joins. It is "" if that is not known or if it equals Verdict.
	DaemonSetsFirst string `json:"daemonSetsFirst,omitempty"`
	// AtCount is the answer for the declared number of nodes. It is set if the answer with growing
	// pools is unknown. Pods and the run in Stuck are then those at this number.
	AtCount *PlacementVerdict `json:"atCount,omitempty"`
	// OnceGrown is set if some workload has it in its list and all of them fit then.
	OnceGrown bool          `json:"onceGrown,omitempty"`
	Pods      PlacementPods `json:"pods"`
	// Typical says what simulated runs of kube-scheduler do if the verdict is sometimes or unknown.
	Typical    *PlacementTypical   `json:"typical,omitempty"`
	Workloads  []PlacementWorkload `json:"workloads"`
	Witness    []PlacementStep     `json:"witness"`
	Stuck      *PlacementStuck     `json:"stuck"`
	Invalid    []PlacementInvalid  `json:"invalid"`
	Unmodelled []string            `json:"unmodelled"`
	Notes      []string            `json:"notes"`
	// Unknown counts open questions by topic, like Summary.Unknown.
	Unknown []Skip `json:"unknown"`
	// Picture is nil unless it was asked for.
	Picture *Picture `json:"-"`
}

// PlacementVerdict holds the verdicts for the declared number of nodes.
type PlacementVerdict struct {
	Verdict string `json:"verdict"`
	// DaemonSetsFirst is as in Placement.
	DaemonSetsFirst string `json:"daemonSetsFirst,omitempty"`
}

// PlacementTypical counts simulated runs of kube-scheduler: all of them, those that place all pods,
// and those in which a pending pod can preempt others. LeftOut lists the workloads with Pending pods
// in some other run, those in most runs first. It is missing for a single workload. Reason says why
// there are no runs, or is "". The runs prove nothing.
type PlacementTypical struct {
	Runs     int                `json:"runs"`
	Complete int                `json:"complete"`
	Preempts int                `json:"preempts"`
	LeftOut  []PlacementLeftOut `json:"leftOut,omitempty"`
	Reason   string             `json:"reason,omitempty"`
}

// PlacementLeftOut counts the runs that leave pods of a workload Pending, and the most pods that one
// of them leaves Pending.
type PlacementLeftOut struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Runs      int    `json:"runs"`
	Pods      int    `json:"pods"`
}

// PlacementPods counts pods over all possible end states, at every size of the pools. At least
// MinPlaced and at most MaxPlaced of Total pods are placed. If Exact is false, both numbers are only
// bounds. Pods that terminate on their own do not count.
type PlacementPods struct {
	Total     int  `json:"total"`
	MaxPlaced int  `json:"maxPlaced"`
	MinPlaced int  `json:"minPlaced"`
	Exact     bool `json:"exact"`
}

// PlacementWorkload is the decision about one workload, together with all others. If the verdict is
// "never", Core explains why. Several workloads that can never be placed together have the same
// Core. Repairs lists tested repairs.
type PlacementWorkload struct {
	APIVersion   string `json:"apiVersion"`
	Kind         string `json:"kind"`
	Namespace    string `json:"namespace"`
	Name         string `json:"name"`
	Replicas     int    `json:"replicas"`
	Verdict      string `json:"verdict"`
	RulesVerdict string `json:"rulesVerdict"`
	// DaemonSetsFirst and AtCount are as in Placement. If AtCount is set, MaxPlaced and MinPlaced
	// are for the declared number of nodes.
	DaemonSetsFirst string            `json:"daemonSetsFirst,omitempty"`
	AtCount         *PlacementVerdict `json:"atCount,omitempty"`
	MaxPlaced       int               `json:"maxPlaced"`
	MinPlaced       int               `json:"minPlaced"`
	// OnceGrown lists the questions (fits, rolls, drains, survives-node,
	// survives-zone) that have another answer than
	// "always", but to which the answer is yes if an autoscaler adds a node for each Pending pod that
	// a new node of an unbounded pool takes.
	OnceGrown []string `json:"onceGrown,omitempty"`
	// Typical is as in Placement, for the workload's own pods.
	Typical *PlacementTypical `json:"typical,omitempty"`
	// Preempts is set if all pods are placed because they preempt pods of lower priority.
	Preempts bool `json:"preempts,omitempty"`
	// Reason is the cause of an unknown verdict, or "". The causes are waits (the pods terminate on
	// their own, and those that do not fit at first run later), label-value (a rule selects a label
	// with a value that the cluster sets), variable (a rule selects a label with a value that a
	// later tool sets), finite-pods (a rule depends on pods that terminate on their own),
	// unknown-pods (a rule depends on pods that are not modeled), unlisted-resource (the pods, or
	// others that compete for the same nodes, request an extended resource that no node lists),
	// pool-growth (the answer is different at some size of a growing pool), volume (there are too many
	// combinations of places for volumes that are made before the pods are scheduled), budget (the answer
	// takes more steps than --steps allows), size (too many pods or nodes to search), or internal
	// (the checker rejected the answer).
	Reason string `json:"reason"`
	// Paused is set for a paused Deployment. A Deployment that is created paused has no pods until
	// it is resumed. The other fields describe the pods after that.
	Paused bool `json:"paused,omitempty"`
	// Why is Reason in words, or "" if the verdict or a note already explains it.
	Why  string          `json:"-"`
	Core []PlacementCore `json:"core"`
	// MoreCore is the number of core members that the output format left out. It is 0 until the
	// document is formatted.
	MoreCore int      `json:"moreCore,omitempty"`
	Repairs  []string `json:"repairs"`
	// Change holds the answers about changes.
	Change PlacementChange `json:"change"`
}

// PlacementChange describes how well a workload copes with changes. The field AtCount of an answer
// is the answer for the declared number of nodes. It is set if the answer with growing pools is
// unknown. Typical counts the simulated runs after which the change leaves pods Pending. It is set
// only for the verdict "sometimes".
type PlacementChange struct {
	Rollout  PlacementRollout    `json:"rollout"`
	Survives []PlacementSurvival `json:"survives"`
	// Drain, Migrate and Autoscale are verdicts with reasons.
	Drain     PlacementJudgement `json:"drain"`
	Migrate   PlacementJudgement `json:"migrate"`
	Autoscale PlacementJudgement `json:"autoscale"`
	// Upgrade says whether the pods let the pools be upgraded. It is set if they may run on a pool with
	// the field upgrade in the node file.
	Upgrade *PlacementJudgement `json:"upgrade,omitempty"`
}

// PlacementRollout describes whether an update of all pods completes. Verdict is "always",
// "sometimes", "never", "unknown" or "none". Surge and Unavailable are numbers of pods.
type PlacementRollout struct {
	Verdict     string `json:"verdict"`
	Surge       int    `json:"surge"`
	Unavailable int    `json:"unavailable"`
	// Reason explains the verdict in words, or is "" if the rollout completes.
	Reason  string            `json:"reason"`
	AtCount *PlacementRollout `json:"atCount,omitempty"`
	Typical *Typical          `json:"typical,omitempty"`
}

// PlacementSurvival describes whether all pods run again after the loss of a topology domain.
// Meaning is gone (the nodes are deleted) or unreachable (their Node objects remain). Verdict is
// "always", "sometimes", "never" or "unknown". Pending is the number of pods that stay Pending. It
// is a lower bound if the verdict is "never".
type PlacementSurvival struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Meaning string `json:"meaning"`
	Verdict string `json:"verdict"`
	Pending int    `json:"pending"`
	// Replicas is the number of pods before the loss. An autoscaler may choose others.
	Replicas int `json:"replicas"`
	// Like is the number of additional nodes with the same result.
	Like int `json:"like"`
	// Reason is a condition of the verdict other than node capacity.
	Reason string `json:"reason"`
	// WhereItRuns is set if the loss of any domain that runs pods of the workload leaves pods
	// Pending. The verdict for the key is then "never", although the loss of any other domain is
	// harmless.
	WhereItRuns bool `json:"whereItRuns,omitempty"`
	// Waits is "node", "zone" or "region" if the pods stay Pending until that is back, because their
	// volumes can be used only there.
	Waits   string             `json:"waits,omitempty"`
	AtCount *PlacementSurvival `json:"atCount,omitempty"`
	Typical *Typical           `json:"typical,omitempty"`
}

// PlacementJudgement is a verdict with its reason. The verdict is "always", "sometimes", "never",
// "unknown" or "none".
type PlacementJudgement struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	// Waits is as in PlacementSurvival, for a drain.
	Waits   string              `json:"waits,omitempty"`
	AtCount *PlacementJudgement `json:"atCount,omitempty"`
	Typical *Typical            `json:"typical,omitempty"`
	// ByPlacement is set if the verdict of a drain depends on where the pods find room.
	ByPlacement bool `json:"-"`
}

// PlacementCore is a member of a core, with its location.
type PlacementCore struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Field  string `json:"field"`
	Text   string `json:"text"`
	// Location is the complete span.
	Location Span `json:"-"`
}

// PlacementStep places one pod on one node. Steps are listed in scheduling order. Workload is
// apiVersion/kind/namespace/name, for example apps/v1/Deployment/shop/web.
type PlacementStep struct {
	Workload string `json:"workload"`
	Node     string `json:"node"`
	// Zone is the zone of the node, or "". Only text output shows it.
	Zone string `json:"-"`
}

// PlacementStuck is a run that ends with Pending pods. These pods fit on no node.
type PlacementStuck struct {
	Placements []PlacementStep    `json:"placements"`
	Pending    []PlacementPending `json:"pending"`
}

// PlacementPending counts pods that were not placed and gives the reason.
type PlacementPending struct {
	Workload string `json:"workload"`
	Count    int    `json:"count"`
	Reason   string `json:"reason"`
	// Orphaned is set for pods that are bound to an undeclared node. Such pods are deleted. They do
	// not stay Pending.
	Orphaned bool `json:"orphaned,omitempty"`
}

// PlacementInvalid is a field of an object or of its pods that the API server rejects. The decision
// leaves out the workload.
type PlacementInvalid struct {
	Workload string `json:"workload"`
	Field    string `json:"field"`
	Message  string `json:"message"`
}

// Explanation is the output of the explain command for one location or one workload.
type Explanation struct {
	// Workload is the name of the workload that was asked for, and Declared is its place. They are
	// empty if a location was asked for. Answers holds what place says about the workload, one
	// decision for each context.
	Workload string
	Declared Span
	Answers  []Placement
	// Place is the location as the user wrote it, for example web.yaml:18.
	Place string
	// Rule is the requested rule, or "".
	Rule string
	// Found holds the findings at the location. If there are none, it has one entry without a
	// Diagnostic. This entry is about the workload on the same line.
	Found []Explained
	// Near holds other findings in the file if there are none at the location.
	Near []Diagnostic
	// Notes are remarks about the input.
	Notes []string
	// Failures describes the work that could not be done. Explanations may therefore be missing.
	Failures Failures
	// Source and Display are the functions with the same names in Report.
	Source  func(file string) []byte
	Display func(file string) string
}

// Explained is a finding with its rule and its account.
type Explained struct {
	Diagnostic *Diagnostic
	Rule       Rule
	// Name is the name of the account's workload, for example Deployment shop/web.
	Name string
	Account
}

// Account explains a finding node by node.
type Account struct {
	Tables []NodeTable
	// Tried is the result of testing the finding's repairs, or "".
	Tried string
	// Repairs lists additional repairs that were tested. Yield describes what they achieved.
	Repairs []string
	Yield   string
	// Notes say what is unknown and what the finding ignores.
	Notes []string
}

// NodeTable lists every node once. It shows whether the node accepts the next pod.
type NodeTable struct {
	// Name is the name of the pod's workload. Caption describes the pod and the pods that already
	// run.
	Name    string
	Caption string
	Rows    []NodeRow
}

// Possible outcomes of a row.
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
	// Runs holds the node names, grouped into runs of nodes that are consecutive in the topology.
	Runs [][]string
	// Pool replaces Runs for nodes that a pool may add, for example "up to 5 more of pool web".
	Pool string
	// Filters are the kube-scheduler plugins that reject the pod. The scheduler reports the first
	// one.
	Filters []string
	Why     string
}
