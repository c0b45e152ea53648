package diag

import (
	"cmp"
	"strings"
)

// The layers that accept a finding.
const (
	ByAnnotation    = "annotation"
	ByComment       = "comment"
	ByConfiguration = "configuration"
	ByBaseline      = "baseline"
)

// Acceptance is why a finding does not count.
type Acceptance struct {
	// By is annotation, comment, configuration or baseline.
	By     string `json:"by"`
	Reason string `json:"reason"`
	// Until is the last day on which it holds, as in 2027-03-31, or "".
	Until    string `json:"until,omitempty"`
	Location Span   `json:"location"`
}

// Suppression is one place at which somebody accepts findings of a rule.
type Suppression struct {
	Acceptance
	Rule string `json:"rule"`
	// Target is what it is about, in words: an object, or what a selector says.
	Target string `json:"target"`
}

// Change is what became of the findings since a revision.
type Change struct {
	// Since is the revision as it was asked for.
	Since string `json:"since"`
	// Introduced counts what the revision did not have, by render, as all of the following
	// are: one result may stand for several.
	Introduced int `json:"-"`
	// Silences are what the change itself brings that makes findings go away.
	Silences []Silence `json:"silences"`
	// Fixed are findings of the revision that are gone; their places are those of
	// the revision.
	Fixed []Diagnostic `json:"fixed"`
	// Gone are findings of the revision about objects, or files, that are not there
	// any more.
	Gone []Diagnostic `json:"gone"`
	// Undecided are gone as well, but only because nothing can be said any more: the
	// file is left out now or cannot be parsed, the rule is off, what it asks is not
	// known of the object, or pods of that stay Pending anyway.
	Undecided []Diagnostic `json:"undecided"`
	// Unchanged are findings that the revision had as well.
	Unchanged []Diagnostic `json:"unchanged"`
}

// Judged is an object that rules have looked at.
type Judged struct {
	Object   Object
	Location Span
}

// Quiet is what is found of a render that nobody asked for by name, which is no mistake
// as long as it has never been rendered.
type Quiet struct {
	Render     string
	Diagnostic Diagnostic
}

// Silence is one thing that a change brings and that makes findings go away.
type Silence struct {
	Message  string `json:"message"`
	Location Span   `json:"location"`
}

// Key is what stays of a finding when files are moved, lines are added, fields
// change places, numbers change or an API version is raised: what it says of what.
// Field goes down to the last item of a list: which field of an item stands first,
// and so for all of it, is chance. File is set for a finding about no object,
// which has no other name.
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

// Key is the identity of the finding.
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

// Print is the identity of a result, which stays the same when one of several contexts
// that have it is fixed: that of the finding, but where it was written by the object
// there and not by that in the render, and of one about nodes by none of its contexts.
func (d *Diagnostic) Print() Key {
	w := *d
	switch {
	case d.Nodes:
		w.Cluster, w.Branch, w.Render = "", "", ""
	case d.Written != (Object{}):
		w.Object, w.Render, w.Field = d.Written, "", cmp.Or(d.WrittenField, d.Field)
	}
	return w.Key()
}

// Parts are the parts of a key in one order; the branch and the render only if there is
// one.
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
