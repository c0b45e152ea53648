package diag

// Explanation is what the explain command prints about one place.
type Explanation struct {
	// Place is the line as it was asked for, as in web.yaml:18.
	Place string
	// Rule is the rule that was asked for, or "".
	Rule string
	// Found are the findings there; where there is none it is one entry without a
	// Diagnostic, about the workload to which the line belongs.
	Found []Explained
	// Near are places of findings elsewhere in the file, if there is none here.
	Near []Diagnostic
	// Notes are what has to be known of the input.
	Notes []string
	// Failures are what was not done: there may be more to explain.
	Failures Failures
	// Source and Display are those of the report.
	Source  func(file string) []byte
	Display func(file string) string
}

// Explained is one finding, its rule and what stands behind it.
type Explained struct {
	Diagnostic *Diagnostic
	Rule       Rule
	// Name names the workload that the account is about, as in Deployment shop/web.
	Name string
	Account
}

// Account is what stands behind a finding, node by node.
type Account struct {
	Tables []NodeTable
	// Tried says what came of trying the repairs of the finding, or is "".
	Tried string
	// Repairs are further ones, each of which was tried; Yield says what it gives.
	Repairs []string
	Yield   string
	// Notes say what cannot be told, and what has no part in it.
	Notes []string
}

// NodeTable is every node once and whether it takes the next pod.
type NodeTable struct {
	// Name names the workload of the pod. Caption says which pod that is and what
	// is in place.
	Name    string
	Caption string
	Rows    []NodeRow
}

// The outcomes of a row.
const (
	RowTakes   = "takes"
	RowRejects = "rejects"
	RowHas     = "has"     // a DaemonSet's own pod already
	RowGone    = "gone"    // the node is lost
	RowAside   = "aside"   // no node is asked
	RowUnknown = "unknown" // nobody can tell
)

// NodeRow is nodes of which the same is true.
type NodeRow struct {
	Outcome string
	// Runs are the names of the nodes, those that follow one another in the
	// topology together.
	Runs [][]string
	// Pool is set in place of Runs for nodes that a pool may have beyond those that
	// are declared, as in "up to 5 more of pool web".
	Pool string
	// Filters are the plugins of kube-scheduler that reject the pod, the first one
	// being what the scheduler reports.
	Filters []string
	Why     string
}
