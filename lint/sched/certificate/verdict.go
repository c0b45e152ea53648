package certificate

// Verdict says what becomes of pods over all orders of pods and all choices
// among the nodes that pass the filters, if nothing moves afterwards.
type Verdict string

// The verdicts: every run places all pods, some do, none does, or the budget
// was over before that was known.
const (
	Always         Verdict = "always"
	OrderDependent Verdict = "order-dependent"
	Never          Verdict = "never"
	Undetermined   Verdict = "undetermined"
)
