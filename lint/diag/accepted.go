package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Ways to accept a finding.
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
	// Until is the last valid day of the acceptance, for example 2027-03-31, or "".
	Until    string `json:"until,omitempty"`
	Location Span   `json:"location"`
}

// Suppression is an annotation, comment or configuration entry that accepts findings of a rule.
type Suppression struct {
	Acceptance
	Rule string `json:"rule"`
	// Target describes what the suppression applies to, for example an object or a selector.
	Target string `json:"target"`
}

// Change compares the findings with those of an earlier revision.
type Change struct {
	// Since is the revision as the user wrote it.
	Since string `json:"since"`
	// Introduced is the number of findings that are new since the earlier revision. All fields of
	// Change count a finding once per render. One result may represent several findings.
	Introduced int `json:"-"`
	// Silences lists changes that make findings disappear without fixing them.
	Silences []Silence `json:"silences"`
	// Nodes lists how the nodes differ, and the findings that the nodes of the earlier revision have.
	Nodes []Silence `json:"nodes"`
	// Fixed holds findings of the earlier revision that no longer occur. They have locations in the
	// earlier revision.
	Fixed []Diagnostic `json:"fixed"`
	// Gone holds findings of the earlier revision about objects or files that no longer exist.
	Gone []Diagnostic `json:"gone"`
	// Undecided holds findings of the earlier revision that may still apply but can no longer be
	// checked. For example, the rule is now off, or the file cannot be parsed.
	Undecided []Diagnostic `json:"undecided"`
	// Unchanged holds the findings that the earlier revision already had.
	Unchanged []Diagnostic `json:"unchanged"`
	// Before counts what the earlier revision has, or is nil if that could not be checked completely.
	Before *Counts `json:"before,omitempty"`
}

// Counts are the numbers of a summary that a change is measured by. Their fields mean what those of
// Summary mean.
type Counts struct {
	Nodes     int            `json:"nodes"`
	Zones     map[string]int `json:"zones,omitempty"`
	Workloads int            `json:"workloads"`
	Proved    *Proved        `json:"proved,omitempty"`
}

// Counts returns the numbers that a change is measured by.
func (s *Summary) Counts() *Counts {
	return &Counts{Nodes: s.Nodes, Zones: s.Zones, Workloads: s.Workloads, Proved: s.Proved}
}

// Judged is an object that rules have checked.
type Judged struct {
	Object   Object
	Location Span
	// Render is the name of the render that has the object, or "".
	Render string
}

// Quiet is a finding about a failed render. The user did not request this render. The finding
// counts only if the render succeeds in the earlier revision.
type Quiet struct {
	Render     string
	Diagnostic Diagnostic
}

// Silence is a change that makes findings disappear without fixing them, such as a new suppression or
// other nodes.
type Silence struct {
	Message  string `json:"message"`
	Location Span   `json:"location"`
}

// Key identifies a finding. It does not change when files are moved, lines are added, fields are
// reordered, numbers change or an API version is raised. Field is the path of the field up to its
// last list item. All findings in one item therefore share a key. File is set only for a finding
// without an object, because nothing else identifies it.
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

// Key returns the key that identifies the finding.
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

// ResultKey returns the key that identifies a result. It stays the same when the finding is fixed
// in only some of several contexts. It is usually the key of the finding. If Written is set, it
// names this source object instead of the rendered object, and the release instead of the render. For
// a finding about nodes, it leaves out the context.
func (d *Diagnostic) ResultKey() Key {
	w := *d
	switch {
	case d.Nodes:
		w.Cluster, w.Branch, w.Render = "", "", ""
	case d.Written != (Object{}):
		w.Object, w.Render, w.Field = d.Written, d.Release, cmp.Or(d.WrittenField, d.Field)
	}
	return w.Key()
}

// Parts returns the parts of a key in a fixed order. It leaves out an empty branch or render.
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

// Stages in which a failure can occur.
const (
	StageRead   = "read"   // a file or a part of it could not be read
	StageRender = "render" // nothing was checked because inputs are not rendered
	StageRule   = "rule"   // a rule failed or exceeded a limit
	StageCheck  = "check"  // the independent checker rejected an answer
)

// Failure describes work that could not be done. A run with a failure is incomplete. The absence of
// findings then does not mean that there are no problems.
type Failure struct {
	// Stage is read, render, rule or check.
	Stage string `json:"stage"`
	// Rule is the id of the rule that failed, or "".
	Rule string `json:"rule,omitempty"`
	// File and Line are the location in a manifest or a rule file, if known.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Message describes the problem and how to fix it.
	Message string `json:"message"`
	// Internal is set for a fault of schedlint itself.
	Internal bool `json:"internal,omitempty"`
}

// String returns the location and the message. It does not escape names from the input.
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

// Failures holds the failures of one run. The zero value means that the run is complete.
type Failures []Failure

// Complete reports whether there are no failures.
func (f Failures) Complete() bool { return len(f) == 0 }

// Done reports whether all work on what is rendered was done.
func (f Failures) Done() bool {
	return !slices.ContainsFunc(f, func(one Failure) bool { return one.Stage != StageRender })
}

// Internal reports whether any failure is a fault of schedlint itself.
func (f Failures) Internal() bool {
	return slices.ContainsFunc(f, func(one Failure) bool { return one.Internal })
}

// HasFailed reports whether the given rule has failed.
func (f Failures) HasFailed(rule string) bool {
	return slices.ContainsFunc(f, func(one Failure) bool { return one.Rule == rule })
}

// Add appends a failure. It skips a failure that is already in the list, because the same failure
// often occurs in several contexts.
func (f *Failures) Add(one Failure) {
	if !slices.Contains(*f, one) {
		*f = append(*f, one)
	}
}
