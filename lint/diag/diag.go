package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Span is a range of one file. Line and Column count from 1; Column and EndColumn count Unicode
// code points; EndColumn is exclusive. The zero Span means that no location is known.
type Span struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
}

// IsZero reports whether the span has no location.
func (s Span) IsZero() bool { return s.Line == 0 }

// Compare orders spans by file, then start, then end.
func (s Span) Compare(o Span) int {
	return cmp.Or(
		cmp.Compare(s.File, o.File),
		cmp.Compare(s.Line, o.Line), cmp.Compare(s.Column, o.Column),
		cmp.Compare(s.EndLine, o.EndLine), cmp.Compare(s.EndColumn, o.EndColumn),
	)
}

// Level is the severity of a diagnostic.
type Level string

// The levels, worst first. LevelOff never appears in a diagnostic: the configuration sets it for a
// rule that must not run.
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
	// Title is one line without a period; Description is the rationale, in sentences.
	Title, Description string
	// Category decides the level: invalid and infeasible are errors, ineffective and fragile are
	// warnings, advice is off by default.
	Category string
	// Level is the level of the category, unless the configuration overrides it.
	Level Level
	// Since is the version that introduced the rule, for example v0.1.0.
	Since string
	// Related has addresses of background reading.
	Related []string
	// Owner is responsible for the rule, Runbook is a web address with instructions, and Tags are
	// lower-case words to filter by. Most rules have none of them.
	Owner, Runbook string
	Tags           []string
	// Replaces is the id of the built-in rule that this one replaces, or "".
	Replaces string
	// Pack is the part of the id before the dot, or "".
	Pack string
	// Template is set for a rule that runs only under the ids of the rules that use it. Use is the
	// template of such a rule; "" for any other.
	Template bool
	Use      string
	// Params are the parameters of the rule, sorted by name.
	Params []Param
}

// Param is a parameter of a rule.
type Param struct {
	// Type is string, integer, number, boolean, array or object.
	Name, Type, Description string
	// Default is JSON; "" for a required parameter.
	Default string
}

// Object names the Kubernetes object that a diagnostic is about. Namespace is empty if the manifest
// declares none.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

// ObjectName returns the name of an object for messages: its kind, its namespace if it has one, and
// its name.
func ObjectName(kind, namespace, name string) string {
	return strings.TrimSpace(kind + " " + strings.TrimPrefix(namespace+"/"+name, "/"))
}

// Related is another location that is part of the explanation.
type Related struct {
	Message  string `json:"message"`
	Location Span   `json:"location"`
}

// Edit replaces the text of Location by NewText.
type Edit struct {
	Location Span   `json:"location"`
	NewText  string `json:"newText"`
	// OldText is the current text; only safe edits need it.
	OldText string `json:"-"`
}

// Fix is one repair; a diagnostic lists the smallest first. Edits may be empty: not every repair is
// a change of text.
type Fix struct {
	Description string `json:"description"`
	Edits       []Edit `json:"edits,omitempty"`
	// Safe is set if the edits may be made without asking, provided that another lint run with them
	// confirms them.
	Safe bool `json:"safe,omitempty"`
	// Withheld is the reason why edits that would otherwise be safe are not safe here.
	Withheld string `json:"withheld,omitempty"`
	// Placeless is the edit that a withheld repair without edits would make, at the nearest
	// location.
	Placeless Edit `json:"-"`
}

// Diagnostic is one finding about the user's files. Cluster is set only if the configuration
// declares several clusters.
type Diagnostic struct {
	Rule  string `json:"rule"`
	Level Level  `json:"level"`
	// Message is one line that is complete by itself; Details are further lines, in reading order.
	Message string   `json:"message"`
	Details []string `json:"details,omitempty"`
	Object  Object   `json:"object"`
	Cluster string   `json:"cluster,omitempty"`
	// Clusters are the clusters of a finding about nodes that several clusters share; see Merge.
	// Cluster is then empty.
	Clusters []string `json:"clusters,omitempty"`
	// Nodes is set if the finding is about nodes, which contexts may share.
	Nodes bool `json:"-"`
	// Branch is the path element in which the object's file differs from its alternatives, for
	// example prod; "" for a file outside of all alternatives.
	Branch string `json:"branch,omitempty"`
	// Render is the render whose result the finding is about, or "". Renders are the renders whose
	// findings agree about one location in the sources; see Merge.
	Render  string   `json:"-"`
	Renders []string `json:"renders,omitempty"`
	// Assumed is the release name that Render uses although no source sets it; "" for other
	// renders. Keys leave it out.
	Assumed string `json:"-"`
	// Differ is set if the message applies to Render only.
	Differ   bool `json:"-"`
	Location Span `json:"location"`
	// Written is the object that contains Location, if its name differs from that of the rendered
	// object; otherwise zero.
	Written Object `json:"-"`
	// WrittenField is the field of a values file that contains Location, if there is one.
	WrittenField string `json:"-"`
	// Field is the path from the object to Location, with items of lists identified by their
	// content, for example spec.template.spec.containers[app].image; "" if the object has no such
	// field.
	Field string `json:"field,omitempty"`
	// Pending is the number of pods that stay Pending, if the finding is about that.
	Pending int       `json:"pending,omitempty"`
	Related []Related `json:"related"`
	// MoreRelated is the number of related locations that an output leaves out; 0 elsewhere.
	MoreRelated int   `json:"moreRelated,omitempty"`
	Fixes       []Fix `json:"fixes"`
	// Accepted is the reason why the finding does not count; nil if it counts.
	Accepted *Acceptance `json:"accepted,omitempty"`
}

// Compare orders diagnostics by location, worse level first, then by rule, message, details, object
// and cluster.
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

// Skip counts the documents or paths that were left out for one reason.
type Skip struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// MayHoldWorkloads is set if they may contain workloads, as a template or a hidden directory
	// can and a CRD schema cannot.
	MayHoldWorkloads bool `json:"mayHoldWorkloads,omitempty"`
	// Budget is set for questions that were abandoned because their step budget was exhausted.
	Budget bool `json:"budget,omitempty"`
	// Places has file:line for each, or only the path of a file that was not read, in order; at
	// most MaxPlaces are kept.
	Places []string `json:"places"`
}

// MaxPlaces bounds the locations that a summary entry lists; Count is always the total.
const MaxPlaces = 20

// Unsettled reports whether some open questions fail a run: all of them with FailAny, those that
// exceeded their step budget with FailBudget.
func Unsettled(open []Skip, fail string) bool {
	return slices.ContainsFunc(open, func(k Skip) bool { return fail == FailAny || fail == FailBudget && k.Budget })
}

// The values of --fail-on-unknown.
const (
	FailNone   = "none"
	FailBudget = "budget"
	FailAny    = "any"
)

// Summary says what a run examined and what it left out, so that a run that examined nothing never
// looks like a clean one.
type Summary struct {
	Files     int `json:"files"`
	Documents int `json:"documents"`
	// Renders is the number of renders that were judged; Unrendered is the number of those that
	// should have been judged, but were not rendered.
	Renders    int `json:"renders,omitempty"`
	Unrendered int `json:"unrendered,omitempty"`
	// Workloads counts judged workloads; OtherObjects counts Kubernetes objects that place no pods;
	// NodeObjects counts v1 Nodes among the manifests, which are part of the topology only if
	// --topology declares them.
	Workloads int `json:"workloads"`
	// Fragments is the number of maps with placement fields that were checked among the values for
	// charts that are not part of the input.
	Fragments int `json:"fragments,omitempty"`
	// Contexts is the number of sets of objects that were judged, each as one deployment: one for
	// each cluster, and more where directories or files are alternatives.
	Contexts     int `json:"contexts"`
	OtherObjects int `json:"otherObjects"`
	NodeObjects  int `json:"nodeObjects"`
	// Nodes is the number of nodes at their declared counts, over all clusters; TopologyDeclared is
	// false if there is no topology.
	Nodes            int  `json:"nodes"`
	TopologyDeclared bool `json:"topologyDeclared"`
	// Skipped has the documents and paths that were left out, NotJudged the kinds that no rule
	// judges although they contain a pod template or placement fields.
	Skipped   []Skip `json:"skipped"`
	NotJudged []Skip `json:"notChecked"`
	// Repeated has objects with several declarations that differ.
	Repeated []Skip `json:"repeated"`
	// Unknown counts questions that the input leaves open, by subject.
	Unknown []Skip `json:"unknown"`
	// Notes are complete sentences: what was not checked and why, and which results need pools to
	// grow beyond their count.
	Notes    []string `json:"notes"`
	Errors   int      `json:"errors"`
	Warnings int      `json:"warnings"`
	// NoteFindings counts the findings of level note.
	NoteFindings int `json:"noteFindings"`
	// Accepted counts findings that a suppression or the baseline accepts: no other number includes
	// them. Healed counts findings that the baseline accepts and that no longer occur.
	Accepted int `json:"accepted"`
	Healed   int `json:"healed"`
}

// Unjudged returns the entries of Skipped that may contain workloads, if no workload was judged:
// the absence of findings then means nothing.
func (s *Summary) Unjudged() []Skip {
	if s.Workloads > 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Skipped), func(k Skip) bool { return !k.MayHoldWorkloads })
}

// Report is the result of one run, which every output format renders.
type Report struct {
	Diagnostics []Diagnostic
	// Accepted are the findings that do not count, each with the reason.
	Accepted []Diagnostic
	// Suppressions are all suppressions in effect, used or not.
	Suppressions []Suppression
	// Inert are the suppressions in manifests that had no effect, because only those of a revision
	// count.
	Inert []Suppression
	// Change compares the findings with a revision; nil unless requested. Diagnostics then has only
	// the new ones.
	Change  *Change
	Summary Summary
	// Failures are the parts of the work that were not done; see Complete.
	Failures Failures
	// Rules are all enabled rules, sorted by id.
	Rules []Rule
	// Version is the version of schedlint.
	Version string
	// AnswerUnknown reports, for a finding on another state of the same files, whether it is unknown if this
	// state has such a finding; nil means never.
	AnswerUnknown func(*Diagnostic) bool
	// Rendered and NotRendered are the names of the renders that succeeded and of those that did
	// not. Quiet are the findings about the latter that the user did not name.
	Rendered, NotRendered []string
	Quiet                 []Quiet
	// Judged are the workloads and budgets that were judged. Left returns the reason why an object,
	// judged in a file of another state of the files, still exists but is no longer judged, or "".
	// Gone reports whether the subject of a finding on another state no longer exists; nil means
	// never.
	Judged      []Judged
	WhyUnjudged func(o Object, file string) string
	SubjectGone func(*Diagnostic) bool
	// Source returns the bytes of a file that a span names, or nil.
	Source func(file string) []byte
	// Display returns the path of a file as the user of the command would write it; nil means the
	// path in the span.
	Display func(file string) string
}

// Complete reports whether all requested work was done. A run stays complete if a format cuts its
// output, or if a placement search exhausts its budget.
func (r *Report) Complete() bool { return r.Failures.Complete() }

// Sort puts the diagnostics into their fixed order, drops exact repeats and counts levels in the
// summary.
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

// Merge combines findings that several contexts share into one result each.
func (r *Report) Merge() {
	r.Diagnostics, r.Accepted = Merge(r.Diagnostics), Merge(r.Accepted)
	r.Sort()
}

func sorted(all []Diagnostic) []Diagnostic {
	slices.SortStableFunc(all, func(a, b Diagnostic) int { return a.Compare(&b) })
	return slices.CompactFunc(all, func(a, b Diagnostic) bool { return a.Compare(&b) == 0 })
}

// Worst returns the highest level among the diagnostics, or the empty level.
func (r *Report) Worst() Level {
	var worst Level
	for i := range r.Diagnostics {
		if l := r.Diagnostics[i].Level; l.Rank() > worst.Rank() {
			worst = l
		}
	}
	return worst
}

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

// sourcePlace is the key by which findings in several contexts are merged into one result.
type sourcePlace struct {
	rule, cluster string
	location      Span
	object        Object // only if the location is the source of all objects that a render produces
	said          string // only for nodes, for which contexts may have different messages
}

// sourcePlace returns the key of a finding. Findings of a rule about nodes are one result if they
// have the same message, in any cluster or render.
func (d *Diagnostic) sourcePlace() sourcePlace {
	switch {
	case d.Nodes:
		return sourcePlace{rule: d.Rule, location: d.Location, said: fmt.Sprintf("%q", append([]string{d.Message}, d.Details...))}
	case d.Written == (Object{}):
		return sourcePlace{rule: d.Rule, cluster: d.Cluster, location: d.Location, object: d.Object}
	}
	return sourcePlace{rule: d.Rule, cluster: d.Cluster, location: d.Location}
}

// Merge combines findings of a rule that several renders have at one location in the sources, or
// that several contexts have at one location in the declared nodes. The result has the worst level;
// a different message of another render becomes a related location. The input has the findings of
// each context.
func Merge(all []Diagnostic) []Diagnostic {
	shared := func(d Diagnostic) bool { return d.Render != "" || d.Nodes }
	if !slices.ContainsFunc(all, shared) {
		return all
	}
	var merged []Diagnostic
	first := map[sourcePlace]int{}
	for _, d := range all {
		if !shared(d) {
			merged = append(merged, d)
			continue
		}
		if len(d.Renders) == 0 && d.Render != "" {
			d.Renders = []string{d.Render}
		}
		key := d.sourcePlace()
		i, seen := first[key]
		if !seen {
			first[key] = len(merged)
			merged = append(merged, d)
			continue
		}
		merged[i].join(&d)
	}
	return merged
}

// union returns the names of two lists, sorted, each once, without "".
func union(a, b []string) []string {
	all := slices.DeleteFunc(slices.Concat(a, b), func(name string) bool { return name == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

// join merges a finding of another context into the result.
func (d *Diagnostic) join(o *Diagnostic) {
	d.Renders = union(d.Renders, o.Renders)
	if clusters := union(append(slices.Clip(d.Clusters), d.Cluster), append(slices.Clip(o.Clusters), o.Cluster)); len(clusters) > 1 {
		d.Cluster, d.Clusters = "", clusters
	} else if len(clusters) == 1 {
		d.Cluster = clusters[0]
	}
	if o.Level.Rank() > d.Level.Rank() {
		d.Level = o.Level
	}
	if o.Message != d.Message || !slices.Equal(o.Details, d.Details) {
		d.Differ = true
		text := strings.Join(append([]string{o.Message}, o.Details...), "; ")
		d.Related = append(slices.Clip(d.Related), Related{Message: fmt.Sprintf("in render %s: %s", o.Render, text), Location: d.Location})
	}
}
