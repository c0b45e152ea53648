package diag

import (
	"cmp"
	"slices"
	"strings"
)

// Span is a range of one file. Line and Column count from 1; Column and
// EndColumn count Unicode code points; EndColumn is exclusive. The zero Span
// means that no place is known.
type Span struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
}

// IsZero reports whether the span names no place.
func (s Span) IsZero() bool { return s.Line == 0 }

// Compare orders spans by file, then start, then end.
func (s Span) Compare(o Span) int {
	return cmp.Or(
		cmp.Compare(s.File, o.File),
		cmp.Compare(s.Line, o.Line), cmp.Compare(s.Column, o.Column),
		cmp.Compare(s.EndLine, o.EndLine), cmp.Compare(s.EndColumn, o.EndColumn),
	)
}

// Level says how bad a diagnostic is.
type Level string

// The levels, worst first. LevelOff never appears in a diagnostic: it is what
// a configuration says of a rule that is not to run.
const (
	LevelError   Level = "error"
	LevelWarning Level = "warning"
	LevelNote    Level = "note"
	LevelOff     Level = "off"
)

// Rank orders levels: error 3, warning 2, note 1, everything else 0.
func (l Level) Rank() int {
	switch l {
	case LevelError:
		return 3
	case LevelWarning:
		return 2
	case LevelNote:
		return 1
	}
	return 0
}

// Rule is the metadata of one rule, taken from its Rego METADATA annotation.
type Rule struct {
	// ID is the name everywhere: folder, package, configuration key, SARIF.
	ID string
	// Title is one line without a period; Description is the why, in sentences.
	Title, Description string
	// Category decides the level: invalid and infeasible are errors,
	// ineffective and fragile are warnings, advice is off by default.
	Category string
	// Level is what the category gives, or what the configuration says instead.
	Level Level
	// Since is the version that brought the rule, as in v0.1.0.
	Since string
	// Related holds addresses of background reading.
	Related []string
	// Owner answers for the rule, Runbook is a web address that says what to do, and
	// Tags are lower-case words to filter by. Most rules have none of them.
	Owner, Runbook string
	Tags           []string
	// Replaces is the id of the built-in rule in whose place this one runs, "" for none.
	Replaces string
	// Pack is the part of the id before the dot, "" for none.
	Pack string
	// Template is set for a rule that runs only under the ids of those that use it, and
	// Use is the template of such a rule, "" for any other.
	Template bool
	Use      string
	// Params are the parameters that it takes, sorted by name.
	Params []Param
}

// Param is a parameter of a rule.
type Param struct {
	// Type is string, integer, number, boolean, array or object.
	Name, Type, Description string
	// Default is JSON, "" for a parameter that is required.
	Default string
}

// Object names the Kubernetes object that a diagnostic is about. Namespace is
// empty where the manifest declares none.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

// ObjectName names an object for people: its kind, and its name with the namespace where
// there is one.
func ObjectName(kind, namespace, name string) string {
	return strings.TrimSpace(kind + " " + strings.TrimPrefix(namespace+"/"+name, "/"))
}

// Related is a second place that belongs to the explanation.
type Related struct {
	Message  string `json:"message"`
	Location Span   `json:"location"`
}

// Edit replaces the text of Location by NewText.
type Edit struct {
	Location Span   `json:"location"`
	NewText  string `json:"newText"`
	// OldText is what stands there; only safe edits need it.
	OldText string `json:"-"`
}

// Fix is one repair, smallest first in a diagnostic. Edits may be empty: not
// every repair is a change of text.
type Fix struct {
	Description string `json:"description"`
	Edits       []Edit `json:"edits,omitempty"`
	// Safe is set if the edits may be made without asking, provided that linting
	// again with them bears them out.
	Safe bool `json:"safe,omitempty"`
	// Withheld says why edits that would be safe elsewhere are not safe here.
	Withheld string `json:"withheld,omitempty"`
	// Placeless is, of a repair that is withheld and has no edits, the edit that it would
	// have, at the nearest place.
	Placeless Edit `json:"-"`
}

// Diagnostic is one finding about the user's files. Cluster is set only when
// the configuration declares several clusters.
type Diagnostic struct {
	Rule  string `json:"rule"`
	Level Level  `json:"level"`
	// Message is one line that is complete by itself; Details are further ones, in
	// the order in which to read them.
	Message string   `json:"message"`
	Details []string `json:"details,omitempty"`
	Object  Object   `json:"object"`
	Cluster string   `json:"cluster,omitempty"`
	// Clusters are those of findings about nodes that several clusters have in common; see
	// Merge. Cluster is then empty.
	Clusters []string `json:"clusters,omitempty"`
	// Nodes is set if the finding is about nodes, which contexts may share.
	Nodes bool `json:"-"`
	// Branch is the path element in which the object's file differs from the
	// alternatives to it, as in prod; "" for what is outside of all alternatives.
	Branch string `json:"branch,omitempty"`
	// Render is the render whose result the finding is about, or "". Renders are those
	// of findings that say the same of one place in the sources; see Merge.
	Render  string   `json:"-"`
	Renders []string `json:"renders,omitempty"`
	// Assumed is the name that Render has for its release although nothing says it; "" for
	// other renders. No key holds it.
	Assumed string `json:"-"`
	// Differ is set if the message is that of Render alone.
	Differ   bool `json:"-"`
	Location Span `json:"location"`
	// Written is the object in which Location is, if that was written under another
	// name than the result of a render has; zero else.
	Written Object `json:"-"`
	// WrittenField is the field of a values file that Location is in, if it is in one.
	WrittenField string `json:"-"`
	// Field is the way from the object to Location, with the items of lists named
	// by what they say, as in spec.template.spec.containers[app].image; "" where
	// the object has no such field.
	Field string `json:"field,omitempty"`
	// Pending is how many pods stay Pending, as far as the finding is about that.
	Pending int       `json:"pending,omitempty"`
	Related []Related `json:"related"`
	// MoreRelated is how many related places an output leaves out; 0 but there.
	MoreRelated int   `json:"moreRelated,omitempty"`
	Fixes       []Fix `json:"fixes"`
	// Accepted tells why the finding does not count; nil for one that does.
	Accepted *Acceptance `json:"accepted,omitempty"`
}

// Compare is the one order of diagnostics: place, worse level first, then
// rule, message, details, object and cluster.
func (d *Diagnostic) Compare(o *Diagnostic) int {
	return cmp.Or(
		cmp.Compare(d.Location.File, o.Location.File),
		cmp.Compare(d.Location.Line, o.Location.Line),
		cmp.Compare(d.Location.Column, o.Location.Column),
		-cmp.Compare(d.Level.Rank(), o.Level.Rank()),
		cmp.Compare(d.Rule, o.Rule),
		cmp.Compare(d.Message, o.Message),
		slices.Compare(d.Details, o.Details),
		cmp.Compare(d.Object.Kind, o.Object.Kind),
		cmp.Compare(d.Object.Namespace, o.Object.Namespace),
		cmp.Compare(d.Object.Name, o.Object.Name),
		cmp.Compare(d.Cluster, o.Cluster),
		cmp.Compare(d.Render, o.Render),
		d.Location.Compare(o.Location),
	)
}

// Skip counts the documents, or paths, that were left out for one reason.
type Skip struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// MayHoldWorkloads is set if what was left out may hold workloads, as a template
	// or a hidden directory may and a CRD schema may not.
	MayHoldWorkloads bool `json:"mayHoldWorkloads,omitempty"`
	// Budget is set for questions that were given up because their steps were over.
	Budget bool `json:"budget,omitempty"`
	// Places are file:line of each, or the path alone of what was not read, in
	// order; at most MaxPlaces are kept.
	Places []string `json:"places"`
}

// MaxPlaces bounds the places that a summary entry lists; Count is never cut.
const MaxPlaces = 20

// Unsettled reports whether some of the questions that are open fail a run: all do
// where fail is FailAny, those that were given up for their steps where it is
// FailBudget.
func Unsettled(open []Skip, fail string) bool {
	return slices.ContainsFunc(open, func(k Skip) bool { return fail == FailAny || fail == FailBudget && k.Budget })
}

// What --fail-on-unknown takes.
const (
	FailNone   = "none"
	FailBudget = "budget"
	FailAny    = "any"
)

// Summary says what a run looked at and what it left out, so that a run that
// examined nothing never looks like a clean one.
type Summary struct {
	Files     int `json:"files"`
	Documents int `json:"documents"`
	// Renders is how many renders were judged; Unrendered counts those that there
	// should have been as well.
	Renders    int `json:"renders,omitempty"`
	Unrendered int `json:"unrendered,omitempty"`
	// Workloads were judged; OtherObjects are Kubernetes objects that place no
	// pods; NodeObjects are v1 Nodes among the manifests, which are not part of
	// the topology unless they are declared with --topology.
	Workloads int `json:"workloads"`
	// Fragments is how many maps with placement fields were checked among the values for
	// charts that are not at hand.
	Fragments int `json:"fragments,omitempty"`
	// Contexts is how many sets of objects were judged, each as one deployment: one
	// for each cluster, and more where directories or files are alternatives.
	Contexts     int `json:"contexts"`
	OtherObjects int `json:"otherObjects"`
	NodeObjects  int `json:"nodeObjects"`
	// Nodes is the size of the topology at its declared counts, over all
	// clusters; TopologyDeclared is false when there is none at all.
	Nodes            int  `json:"nodes"`
	TopologyDeclared bool `json:"topologyDeclared"`
	// Skipped documents and paths by reason, and kinds that no rule judges though
	// they hold a pod template or placement fields.
	Skipped   []Skip `json:"skipped"`
	NotJudged []Skip `json:"notChecked"`
	// Repeated names objects that are declared differently in several places.
	Repeated []Skip `json:"repeated"`
	// Unknown counts questions that the input leaves open, by subject.
	Unknown []Skip `json:"unknown"`
	// Notes are whole sentences: what was not checked and why, and which
	// results need pools to grow beyond their count.
	Notes    []string `json:"notes"`
	Errors   int      `json:"errors"`
	Warnings int      `json:"warnings"`
	// NoteFindings counts the findings of level note.
	NoteFindings int `json:"noteFindings"`
	// Accepted counts findings that a suppression or the baseline accepts: they
	// are in none of the other numbers. Healed counts those that the baseline
	// accepts and that are no longer there.
	Accepted int `json:"accepted"`
	Healed   int `json:"healed"`
}

// Unjudged are the entries of Skipped that may hold workloads, if no workload was
// judged at all: then no findings mean nothing.
func (s *Summary) Unjudged() []Skip {
	if s.Workloads > 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Skipped), func(k Skip) bool { return !k.MayHoldWorkloads })
}

// Report is the outcome of one run: what every output format renders.
type Report struct {
	Diagnostics []Diagnostic
	// Accepted are the findings that do not count, each with the reason.
	Accepted []Diagnostic
	// Suppressions are all that took part, used or not.
	Suppressions []Suppression
	// Inert are those in manifests that were found and did not take part, as only
	// those of a revision do.
	Inert []Suppression
	// Change is what became of the findings since a revision; nil unless asked.
	// Diagnostics then holds only those that are new.
	Change  *Change
	Summary Summary
	// Failures are what was not done; see Complete.
	Failures Failures
	// Rules are all that were enabled, sorted by id.
	Rules []Rule
	// Version is the version of schedlint.
	Version string
	// Open reports of a finding on another state of the same files whether it is not
	// known if there is one like it here; nil means never.
	Open func(*Diagnostic) bool
	// Rendered and NotRendered are the names of the renders that succeeded and of those
	// that did not. Quiet is what is found of the latter where nobody named them.
	Rendered, NotRendered []string
	Quiet                 []Quiet
	// Judged are the workloads and budgets that were judged. Left says of an object
	// that was judged in a file of another state of the files why it is there and not
	// judged any more, or is "", and Gone of a finding on another state whether what it
	// is about is not there any more; nil means never.
	Judged []Judged
	Left   func(o Object, file string) string
	Gone   func(*Diagnostic) bool
	// Source gives the bytes of a file that a span names, or nil.
	Source func(file string) []byte
	// Display gives the path of a file as the person who runs the command
	// would write it; nil means as it is in the span.
	Display func(file string) string
}

// Complete reports whether everything was done that was asked for. Output that a
// format cuts, and a budget of the placement that is spent, leave a run complete.
func (r *Report) Complete() bool { return r.Failures.Complete() }

// Sort puts the diagnostics into their one order, drops exact repeats and
// counts levels into the summary.
func (r *Report) Sort() {
	r.Diagnostics, r.Accepted = sorted(r.Diagnostics), sorted(r.Accepted)
	r.Summary.Accepted = len(r.Accepted)
	r.Summary.Errors, r.Summary.Warnings, r.Summary.NoteFindings = 0, 0, 0
	for i := range r.Diagnostics {
		switch r.Diagnostics[i].Level {
		case LevelError:
			r.Summary.Errors++
		case LevelWarning:
			r.Summary.Warnings++
		case LevelNote:
			r.Summary.NoteFindings++
		}
	}
}

// Merge makes one result of the findings that several contexts have in common.
func (r *Report) Merge() {
	r.Diagnostics, r.Accepted = Merge(r.Diagnostics), Merge(r.Accepted)
	r.Sort()
}

func sorted(all []Diagnostic) []Diagnostic {
	slices.SortStableFunc(all, func(a, b Diagnostic) int { return a.Compare(&b) })
	return slices.CompactFunc(all, func(a, b Diagnostic) bool { return a.Compare(&b) == 0 })
}

// Worst is the highest level among the diagnostics, or the empty level.
func (r *Report) Worst() Level {
	var worst Level
	for i := range r.Diagnostics {
		if l := r.Diagnostics[i].Level; l.Rank() > worst.Rank() {
			worst = l
		}
	}
	return worst
}
