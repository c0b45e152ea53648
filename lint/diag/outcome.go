package diag

// Outcome is the answer to a question about pods, over all scheduling orders and all choices among
// the nodes that pass the filters: it is true in every run, in some or in none, or it is unknown.
type Outcome string

// The outcomes. None means that a question does not apply.
const (
	Always    Outcome = "always"
	Sometimes Outcome = "sometimes"
	Never     Outcome = "never"
	Unknown   Outcome = "unknown"
	None      Outcome = "none"
)
