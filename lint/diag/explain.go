package diag

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
