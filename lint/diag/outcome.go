package diag

// Outcome is the answer to a question about pods, over all orders in which they are
// scheduled and all choices among the nodes that pass the filters: it comes true in
// every run, in some, in none, or that is not known.
type Outcome string

// The outcomes. None is for a question that does not apply.
const (
	Always    Outcome = "always"
	Sometimes Outcome = "sometimes"
	Never     Outcome = "never"
	Unknown   Outcome = "unknown"
	None      Outcome = "none"
)
