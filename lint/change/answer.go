package change

import "github.com/schedlint/schedlint/lint/placement"

// Answer is yes, no, may be, not known, or that there is no question.
type Answer string

// The answers.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	May     Answer = "may"
	Unknown Answer = "unknown"
	None    Answer = "none"
)

// whyOpen says why something is not known where the judge gives up.
const whyOpen = "too much to go through, or it depends on what only the cluster knows"

// answers are what verdicts say of a question that is yes or no.
var answers = map[placement.Verdict]Answer{
	placement.Always: Yes, placement.OrderDependent: May, placement.Never: No, placement.Undetermined: Unknown,
}
