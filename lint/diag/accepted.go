package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The mechanisms that accept a finding.
const (
	ByAnnotation    = "annotation"
	ByComment       = "comment"
	ByConfiguration = "configuration"
	ByBaseline      = "baseline"
)

// Acceptance is the reason why a finding does not count.
type Acceptance struct {
	// By is annotation, comment, configuration or baseline.
	By     string `json:"by"`
	Reason string `json:"reason"`
	// Until is the last day on which it applies, for example 2027-03-31, or "".
	Until    string `json:"until,omitempty"`
	Location Span   `json:"location"`
}

// Suppression is one place where the user accepts findings of a rule.
type Suppression struct {
	Acceptance
	Rule string `json:"rule"`
	// Target is the scope in words: an object, or the text of a selector.
	Target string `json:"target"`
}

// Change compares the findings with those of an earlier revision.
type Change struct {
	// Since is the revision as requested.
	Since string `json:"since"`
	// Introduced counts findings that the revision did not have. Like all fields below, it counts
	// by render: one result may represent several findings.
	Introduced int `json:"-"`
	// Silences are parts of the change that make findings disappear.
	Silences []Silence `json:"silences"`
	// Fixed are findings of the revision that are gone; their locations are those of the revision.
	Fixed []Diagnostic `json:"fixed"`
	// Gone are findings of the revision about objects or files that no longer exist.
	Gone []Diagnostic `json:"gone"`
	// Undecided are gone as well, but only because nothing can be concluded any more: the file is
	// now excluded or cannot be parsed, the rule is off, the answer for the object is unknown, or
	// its pods stay Pending anyway.
	Undecided []Diagnostic `json:"undecided"`
	// Unchanged are findings that the revision had as well.
	Unchanged []Diagnostic `json:"unchanged"`
}

// Judged is an object that rules have examined.
type Judged struct {
	Object   Object
	Location Span
}

// Quiet is a finding about a failed render that the user did not name. It counts only if the render
// succeeds in the other state of the files.
type Quiet struct {
	Render     string
	Diagnostic Diagnostic
}

// Silence is one part of a change that makes findings disappear.
type Silence struct {
	Message  string `json:"message"`
	Location Span   `json:"location"`
}

// Key is the identity of a finding that survives when files are moved, lines are added, fields are
// reordered, numbers change or an API version is raised. Field goes down to the last item of a
// list, because the order of the fields within an item is arbitrary. File is set only for a finding
// about no object, which has no other name.
type Key struct {
	Cluster   string `json:"cluster,omitempty"`
	Branch    string `json:"branch,omitempty"`
	Render    string `json:"render,omitempty"`
	Rule      string `json:"rule"`
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Field     string `json:"field,omitempty"`
	File      string `json:"file,omitempty"`
}

// Key returns the identity of the finding.
func (d *Diagnostic) Key() Key {
	k := Key{Cluster: d.Cluster, Branch: d.Branch, Render: d.Render, Rule: d.Rule, Kind: d.Object.Kind, Namespace: d.Object.Namespace, Name: d.Object.Name, Field: d.Field}
	if d.Assumed != "" {
		unassumed := strings.NewReplacer(d.Assumed+"-", "", d.Assumed, "")
		k.Name, k.Field = unassumed.Replace(k.Name), unassumed.Replace(k.Field)
	}
	if at := strings.LastIndexByte(k.Field, ']'); at >= 0 {
		k.Field = k.Field[:at+1]
	}
	if group, _, ok := strings.Cut(d.Object.APIVersion, "/"); ok {
		k.Group = group
	}
	if d.Object == (Object{}) {
		k.File = d.Location.File
	}
	return k
}

// ResultKey returns the identity of a result, which does not change when it is fixed in one of several
// contexts. It is the key of the finding with two exceptions: a result at a source location uses
// the object written there instead of the rendered one, and a result about nodes belongs to no
// context.
func (d *Diagnostic) ResultKey() Key {
	w := *d
	switch {
	case d.Nodes:
		w.Cluster, w.Branch, w.Render = "", "", ""
	case d.Written != (Object{}):
		w.Object, w.Render, w.Field = d.Written, "", cmp.Or(d.WrittenField, d.Field)
	}
	return w.Key()
}

// Parts returns the parts of a key in a fixed order; the branch and the render only if they are
// set.
func (k Key) Parts() []string {
	parts := []string{k.Cluster, k.Rule, k.Group, k.Kind, k.Namespace, k.Name, k.Field, k.File}
	if k.Branch != "" {
		parts = append(parts, k.Branch)
	}
	if k.Render != "" {
		parts = append(parts, "render", k.Render)
	}
	return parts
}

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
