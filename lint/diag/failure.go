package diag

import (
	"fmt"
	"slices"
)

// The stages of a failure.
const (
	StageRead  = "read"  // a file or a part of it could not be read
	StageRule  = "rule"  // a rule failed or exceeded a limit
	StageCheck = "check" // the independent checker refused an answer
)

// Failure is a part of the work that was not done. The results of the run cover the rest, so a run
// with a failure is incomplete: the absence of findings does not mean that there are no problems.
type Failure struct {
	// Stage is read, rule or check.
	Stage string `json:"stage"`
	// Rule is the id of the rule that failed, or "".
	Rule string `json:"rule,omitempty"`
	// File and Line are the location as far as it is known: in a manifest, or in the file of a
	// rule.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Message says what went wrong and how to correct it.
	Message string `json:"message"`
	// Internal is set for a fault of schedlint itself.
	Internal bool `json:"internal,omitempty"`
}

// String returns the location and the message. Names in it are unchanged from the input.
func (f Failure) String() string {
	text := f.Message
	if f.Rule != "" {
		text = fmt.Sprintf("rule %s: %s", f.Rule, text)
	}
	if f.Internal {
		text = "internal error: " + text
	}
	switch {
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, text)
	case f.File != "":
		return f.File + ": " + text
	}
	return text
}

// Failures are the failures of one run. The zero value is a complete run.
type Failures []Failure

// Complete reports whether there are no failures.
func (f Failures) Complete() bool { return len(f) == 0 }

// Internal reports whether one of them is a fault of schedlint itself.
func (f Failures) Internal() bool {
	return slices.ContainsFunc(f, func(one Failure) bool { return one.Internal })
}

// HasFailed reports whether a rule has failed.
func (f Failures) HasFailed(rule string) bool {
	return slices.ContainsFunc(f, func(one Failure) bool { return one.Rule == rule })
}

// Add appends a failure, unless there is an equal one: a failure in one context often occurs in the
// others, too.
func (f *Failures) Add(one Failure) {
	if !slices.Contains(*f, one) {
		*f = append(*f, one)
	}
}
