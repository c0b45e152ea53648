package change

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
