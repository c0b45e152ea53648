package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Span is a range in one file. Line and Column start at 1. Column and EndColumn count Unicode code
// points. EndColumn is exclusive. The zero Span is an unknown location.
type Span struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
}

// IsZero reports whether the location is unknown.
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

// Levels, worst first. LevelOff never appears in a diagnostic. The configuration uses it to disable
// a rule.
const (
	LevelError   Level = "error"
	LevelWarning Level = "warning"
	LevelNote    Level = "note"
	LevelOff     Level = "off"
)

// Rank returns 3 for error, 2 for warning, 1 for note and 0 for anything else.
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
	// ID is the name of the rule. The rule's folder, its package, the configuration and SARIF use
	// the same name.
	ID string
	// Title is one line without a period. Description explains the purpose of the rule in full
	// sentences.
	Title, Description string
	// Category determines the default level. Rules in the categories invalid and infeasible are
	// errors, rules in ineffective and fragile are warnings, and rules in advice are off.
	Category string
	// Level is the level from the configuration, or else the level of the category.
	Level Level
	// Since is the version that introduced the rule, for example v0.1.0.
	Since string
	// Related holds URLs of background reading.
	Related []string
	// Owner is the person or team responsible for the rule. Runbook is a URL with instructions.
	// Tags are lower-case words to filter by. Most rules leave them empty.
	Owner, Runbook string
	Tags           []string
	// Replaces is the id of the built-in rule that this rule replaces, or "".
	Replaces string
	// Pack is the part of the id before the dot, or "".
	Pack string
	// Template is set for a rule that runs only as a template of other rules. Use is the id of this
	// rule's template, or "".
	Template bool
	Use      string
	// Params are the parameters of the rule in alphabetical order.
	Params []Param
}

// Param is a parameter of a rule.
type Param struct {
	// Type is string, integer, number, boolean, array or object.
	Name, Type, Description string
	// Default is the default value in JSON, or "" for a required parameter.
	Default string
}

// Object identifies the Kubernetes object of a diagnostic. Namespace is empty if the manifest does
// not set one.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

// ObjectName returns the name of an object for messages, such as Deployment shop/web. Without a
// namespace, it returns only kind and name.
func ObjectName(kind, namespace, name string) string {
	return strings.TrimSpace(kind + " " + strings.TrimPrefix(namespace+"/"+name, "/"))
}

// Related is another location that helps explain a diagnostic.
type Related struct {
	Message  string `json:"message"`
	Location Span   `json:"location"`
}

// Edit replaces the text at Location with NewText.
type Edit struct {
	Location Span   `json:"location"`
	NewText  string `json:"newText"`
	// OldText is the current text. Only safe edits need it.
	OldText string `json:"-"`
}

// Fix is a possible repair. A diagnostic lists the smallest repair first. Edits is empty if the
// repair cannot be made by editing text.
type Fix struct {
	Description string `json:"description"`
	Edits       []Edit `json:"edits,omitempty"`
	// Safe is set if the edits may be applied without approval. Another lint run must first confirm
	// the edits.
	Safe bool `json:"safe,omitempty"`
	// Withheld explains why the edits are not safe here, or is empty. Edits of this kind are
	// normally safe.
	Withheld string `json:"withheld,omitempty"`
	// Placeless is the first edit of a withheld repair. Its Location is only the nearest known
	// location in the sources.
	Placeless Edit `json:"-"`
}

// Diagnostic is one finding about the user's files. Cluster is set only if the configuration
// declares several clusters.
type Diagnostic struct {
	Rule  string `json:"rule"`
	Level Level  `json:"level"`
	// Message is a single line that can be read on its own. Details are further lines, in reading
	// order.
	Message string   `json:"message"`
	Details []string `json:"details,omitempty"`
	Object  Object   `json:"object"`
	Cluster string   `json:"cluster,omitempty"`
	// Clusters replaces Cluster for a finding about nodes that several clusters share (see Merge).
	Clusters []string `json:"clusters,omitempty"`
	// Nodes is set if the finding is about nodes. Several contexts may share these nodes.
	Nodes bool `json:"-"`
	// Branch is the path element that distinguishes the object's file from its alternatives, for
	// example prod. It is "" for a file without alternatives.
	Branch string `json:"branch,omitempty"`
	// Render is the name of the finding's render, or "". Renders holds the names of all renders
	// with this finding at the same source location (see Merge).
	Render  string   `json:"-"`
	Renders []string `json:"renders,omitempty"`
	// Assumed is the release name that schedlint chose for Render because no source sets one, or
	// "". It is not part of keys.
	Assumed string `json:"-"`
	// Differ is set if the message applies to Render only.
	Differ bool `json:"-"`
	// Release identifies the Helm release of a GitOps pointer that deploys the object, or is "".
	// Findings of different releases are not merged.
	Release  string `json:"-"`
	Location Span   `json:"location"`
	// Written is the object in the sources that contains Location. It is the zero Object if that
	// object has the same name as the rendered object.
	Written Object `json:"-"`
	// WrittenField is the field in a values file that contains Location, or "".
	WrittenField string `json:"-"`
	// Field is the path from the object to Location, for example
	// spec.template.spec.containers[app].image. A path identifies list items by their content.
	// Field is "" if Location is not a field of the object.
	Field string `json:"field,omitempty"`
	// Pending is the number of pods that stay Pending, or 0 for any other problem.
	Pending int `json:"pending,omitempty"`
	// Typical says how often simulated runs of kube-scheduler show the problem. It is nil if none
	// were made.
	Typical *Typical `json:"typical,omitempty"`
	// Fold is the cause of a finding that is folded with those about other workloads of the
	// namespace that have the same cause, or OfContainer, or "". Folded is the number of these
	// workloads, or of the other containers.
	Fold    string    `json:"-"`
	Folded  int       `json:"folded,omitempty"`
	Related []Related `json:"related"`
	// MoreRelated is the number of related locations that the output format left out. It is 0 until
	// the report is formatted.
	MoreRelated int   `json:"moreRelated,omitempty"`
	Fixes       []Fix `json:"fixes"`
	// Accepted explains why the finding does not count. It is nil for a finding that counts.
	Accepted *Acceptance `json:"accepted,omitempty"`
}

// OfContainer is the Fold of a finding about a container, which is folded with those about the other
// containers of its workload.
const OfContainer = "container"

// Typical counts the simulated runs that show something, and those that leave it open because a
// Pending pod can preempt others. Without is the number of workloads that all runs leave out, because
// too little is known about them.
type Typical struct {
	Runs     int `json:"runs"`
	Shown    int `json:"shown"`
	Preempts int `json:"preempts,omitempty"`
	Without  int `json:"without,omitempty"`
}

// Compare orders diagnostics by location, level, rule, message, details, object and cluster. The
// worst level comes first.
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

// Skip counts the documents or paths that were left out for the same reason.
type Skip struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// MayHoldWorkloads is set if the documents or paths may contain workloads. For example, a
	// template may contain workloads, but a CRD schema cannot.
	MayHoldWorkloads bool `json:"mayHoldWorkloads,omitempty"`
	// Budget is set for questions that stayed open because their step budget ran out.
	Budget bool `json:"budget,omitempty"`
	// Placement is set for workloads for which it is unknown whether all pods are placed.
	Placement bool `json:"placement,omitempty"`
	// Places lists the location of each document as file:line, or the path of each file that was
	// not read. The list is sorted and limited to MaxPlaces.
	Places []string `json:"places"`
}

// MaxPlaces is the maximum number of locations in a summary entry. Count has no such limit.
const MaxPlaces = 20

// Unsettled reports whether open questions fail a run. With FailBudget, only questions that exceeded
// their step budget fail the run. With FailPlacement, only unknown placements do. With FailAny, all
// other open questions do.
func Unsettled(open []Skip, fail string) bool {
	return slices.ContainsFunc(open, func(k Skip) bool {
		return fail == FailAny && !k.Placement || fail == FailBudget && k.Budget || fail == FailPlacement && k.Placement
	})
}

// Values for --fail-on-unknown.
const (
	FailNone      = "none"
	FailBudget    = "budget"
	FailPlacement = "placement"
	FailAny       = "any"
)

// Summary describes which input was checked and which was left out. Without it, a run that checked
// nothing would look like a run without findings.
type Summary struct {
	Files     int `json:"files"`
	Documents int `json:"documents"`
	// Renders is the number of renders that were checked. Unrendered is the number of renders that
	// failed and that the configuration does not accept.
	Renders    int `json:"renders,omitempty"`
	Unrendered int `json:"unrendered,omitempty"`
	// Inputs counts what deploys pods once it is rendered. AcceptedUnrendered lists the inputs that the
	// configuration allows to stay unrendered, by the reason given there.
	Inputs             []Inputs `json:"inputs,omitempty"`
	AcceptedUnrendered []Skip   `json:"acceptedUnrendered,omitempty"`
	// Vendor is set if schedlint vendor can get something that inputs need.
	Vendor bool `json:"-"`
	// Workloads is the number of checked workloads. OtherObjects is the number of Kubernetes
	// objects that create no pods. NodeObjects is the number of v1 Nodes in the manifests. These
	// nodes are part of the topology only if --topology names their file.
	Workloads int `json:"workloads"`
	// Fragments is the number of checked maps with placement fields in chart values. It counts only
	// values for charts that are not part of the input.
	Fragments int `json:"fragments,omitempty"`
	// Contexts is the number of contexts that were checked. There is one for each cluster. There
	// are more if directories or files are alternatives.
	Contexts     int `json:"contexts"`
	OtherObjects int `json:"otherObjects"`
	NodeObjects  int `json:"nodeObjects"`
	// Nodes is the number of nodes in all clusters, with pools at their declared size.
	// TopologyDeclared is false if there is no topology.
	Nodes            int  `json:"nodes"`
	TopologyDeclared bool `json:"topologyDeclared"`
	// Zones counts these nodes by the value of topology.kubernetes.io/zone. Those without the label
	// have the key "".
	Zones map[string]int `json:"zones,omitempty"`
	// Proved counts what is proved about the workloads. It is nil without a topology.
	Proved *Proved `json:"proved,omitempty"`
	// Skipped lists the documents and paths that were left out. NotJudged lists kinds that no rule
	// checks although they have a pod template or placement fields.
	Skipped   []Skip `json:"skipped"`
	NotJudged []Skip `json:"notChecked"`
	// Repeated lists objects with conflicting declarations.
	Repeated []Skip `json:"repeated"`
	// Unknown counts the questions that the input does not answer. There is one entry per topic.
	Unknown []Skip `json:"unknown"`
	// Notes are complete sentences. They explain why some input was not checked. They also point
	// out results that require pools to grow.
	Notes    []string `json:"notes"`
	Errors   int      `json:"errors"`
	Warnings int      `json:"warnings"`
	// NoteFindings is the number of findings with the level note.
	NoteFindings int `json:"noteFindings"`
	// Accepted is the number of findings accepted by a suppression or the baseline. No other number
	// includes them. Healed is the number of findings in the baseline that no longer occur.
	Accepted int `json:"accepted"`
	Healed   int `json:"healed"`
}

// Unjudged returns the entries of Skipped that may contain workloads, if no workload was checked.
// The absence of findings then means nothing. If any workload was checked, it returns nil.
func (s *Summary) Unjudged() []Skip {
	if s.Workloads > 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Skipped), func(k Skip) bool { return !k.MayHoldWorkloads })
}

// Proved counts workloads by the answer to a question: whether all pods fit, whether an update of
// all pods completes, and whether the pods can leave any node. Always is a proof. Workloads that the
// API server rejects, running pods and repeated declarations are left out.
type Proved struct {
	Workloads int             `json:"workloads"`
	Fit       map[Outcome]int `json:"fit"`
	Roll      map[Outcome]int `json:"roll"`
	Drain     map[Outcome]int `json:"drain"`
	// SingleReplica counts the workloads with one pod. They are down while its node is.
	SingleReplica int `json:"singleReplica"`
}

// Inputs counts the inputs of one kind, such as releases or charts. Those in Accepted are not
// rendered, and the configuration accepts that.
type Inputs struct {
	Kind     string `json:"kind"`
	Found    int    `json:"found"`
	Rendered int    `json:"rendered"`
	Accepted int    `json:"accepted"`
}

// Vendor ends the reasons for not rendering that the command removes.
const Vendor = "run schedlint vendor"

// Shares lists the kinds of inputs that have failed to render and are not accepted. It counts the
// inputs of each kind that are rendered, or those that are not.
func Shares(all []Inputs, rendered bool) string {
	var parts []string
	for _, k := range all {
		found, n := k.Found-k.Accepted, k.Rendered
		if n == found {
			continue
		}
		if !rendered {
			n = found - n
		}
		parts = append(parts, fmt.Sprintf("%d of %d %s", n, found, k.Kind))
	}
	return strings.Join(parts, ", ")
}

// NotRendered says how many inputs are not rendered, or that nothing was checked because of it. It
// returns "" if all inputs are rendered or accepted.
func (s *Summary) NotRendered() string {
	list := Shares(s.Inputs, s.Workloads == 0)
	switch {
	case list == "":
		return ""
	case s.Workloads == 0:
		return "nothing was checked: " + list + " rendered"
	}
	return fmt.Sprintf("%d workload%s checked; %s not rendered%s", s.Workloads, map[bool]string{true: "s"}[s.Workloads > 1], list, map[bool]string{true: ": schedlint vendor"}[s.Vendor])
}

// Report is the result of a run, independent of the output format.
type Report struct {
	Diagnostics []Diagnostic
	// Accepted holds the findings that do not count, each with its reason.
	Accepted []Diagnostic
	// Suppressions holds all suppressions in effect, even unused ones.
	Suppressions []Suppression
	// Inert holds the suppressions in manifests that had no effect. The user allows only
	// suppressions of one revision, and that revision does not contain them.
	Inert []Suppression
	// Change compares the findings with those of a revision. It is nil without a comparison. With a
	// comparison, Diagnostics has only the new findings.
	Change *Change
	// FailedBy lists the flags by which the run fails whatever its findings are, for example
	// --fail-on-silenced.
	FailedBy []string
	Summary  Summary
	// Failures describes the work that was not done (see Complete).
	Failures Failures
	// Rules holds all enabled rules, sorted by id.
	Rules []Rule
	// Version is the version of schedlint.
	Version string
	// AnswerUnknown reports whether schedlint cannot tell if a finding from an earlier revision
	// still applies. If AnswerUnknown is nil, schedlint can always tell.
	AnswerUnknown func(*Diagnostic) bool
	// Rendered holds the names of successful renders. NotRendered holds the names of failed
	// renders. Quiet holds the findings about failed renders that the user did not request.
	Rendered, NotRendered []string
	Quiet                 []Quiet
	// Raw holds the files with objects that were checked as they are written. Deciding holds the files
	// that may decide what is rendered or checked: kustomizations, charts and GitOps pointers. Both
	// are relative to the root of the run. Acting holds the objects that decide the number of pods, the
	// template or the admission of others.
	Raw, Deciding []string
	Acting        []Object
	// Judged holds the workloads and disruption budgets that were checked. WhyUnjudged returns the
	// reason why an existing object from an earlier revision is no longer checked, or "".
	// SubjectGone reports whether the object or render of an earlier finding no longer exists. If
	// SubjectGone is nil, everything still exists.
	Judged      []Judged
	WhyUnjudged func(j *Judged) string
	SubjectGone func(*Diagnostic) bool
	// Source returns the contents of the file that a span names, or nil.
	Source func(file string) []byte
	// Display returns the path of a file as the user would write it. If Display is nil, the path in
	// the span is used.
	Display func(file string) string
}

// Complete reports whether all requested work was done. A run can be complete even if the output
// format leaves out results or a placement search exhausts its budget.
func (r *Report) Complete() bool { return r.Failures.Complete() }

// Sort puts the diagnostics in a fixed order and drops exact duplicates. It also counts levels in
// the summary.
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

// Merge combines findings that several contexts share. Each becomes one result.
func (r *Report) Merge() {
	r.Diagnostics, r.Accepted = Merge(r.Diagnostics), Merge(r.Accepted)
	r.Sort()
}

// Fold keeps the first of the findings about workloads of one namespace that have the same cause, and
// the first of those about containers of one workload. The others become related locations. It comes
// last, as nothing identifies these others afterwards: baselines, suppressions and comparisons count
// each of them.
func (r *Report) Fold() {
	first := map[string]int{}
	var folded []Diagnostic
	for _, d := range r.Diagnostics {
		if d.Fold == "" {
			folded = append(folded, d)
			continue
		}
		among := any(d.Object.Namespace)
		if d.Fold == OfContainer {
			among = d.Object
		}
		key := fmt.Sprintf("%q", []any{d.Rule, d.Level, d.Cluster, d.Clusters, d.Branch, d.Renders, among, d.Fold})
		i, known := first[key]
		if !known {
			first[key] = len(folded)
			d.Related = slices.Clip(d.Related)
			folded = append(folded, d)
			continue
		}
		f := &folded[i]
		f.Folded++
		f.Related = append(f.Related, Related{Location: d.Location, Message: d.Message})
		if d.Typical != nil && (f.Typical == nil || d.Typical.Shown*f.Typical.Runs > f.Typical.Shown*d.Typical.Runs) {
			f.Typical = d.Typical
		}
	}
	r.Diagnostics = folded
	r.Sort()
}

func sorted(all []Diagnostic) []Diagnostic {
	slices.SortStableFunc(all, func(a, b Diagnostic) int { return a.Compare(&b) })
	return slices.CompactFunc(all, func(a, b Diagnostic) bool { return a.Compare(&b) == 0 })
}

// Worst returns the worst level among the diagnostics. It returns the empty level if there are
// none.
func (r *Report) Worst() Level {
	var worst Level
	for i := range r.Diagnostics {
		if l := r.Diagnostics[i].Level; l.Rank() > worst.Rank() {
			worst = l
		}
	}
	return worst
}

// Outcome is the answer to a question about pods. It covers every scheduling order and every choice
// among the nodes that pass the filters. The answer is "always", "sometimes" or "never" if the
// property holds in every run, in some runs or in no run. The answer is "unknown" if this is not
// known.
type Outcome string

// Possible outcomes. None means that a question does not apply.
const (
	Always    Outcome = "always"
	Sometimes Outcome = "sometimes"
	Never     Outcome = "never"
	Unknown   Outcome = "unknown"
	None      Outcome = "none"
)

// Worse returns the worse of two outcomes. An outcome that applies is worse than None, and an unknown
// one is worse than Always.
func (o Outcome) Worse(other Outcome) Outcome {
	order := []Outcome{None, Always, "", Unknown, Sometimes, Never}
	if slices.Index(order, other) > slices.Index(order, o) {
		return other
	}
	return o
}

// sourcePlace is the key for merging findings from several contexts into one result.
type sourcePlace struct {
	rule, cluster string
	location      Span
	object        Object // set only if the location is the source of all objects in a render
	said          string // only set for nodes, because contexts may have different messages about them
	release       string
}

// sourcePlace returns the key for merging a finding with others. Findings about nodes are merged if
// they have the same rule, location and message. Their clusters and renders may differ.
func (d *Diagnostic) sourcePlace() sourcePlace {
	switch {
	case d.Nodes:
		return sourcePlace{rule: d.Rule, location: d.Location, said: fmt.Sprintf("%q", append([]string{d.Message}, d.Details...))}
	case d.Written == (Object{}):
		return sourcePlace{rule: d.Rule, cluster: d.Cluster, location: d.Location, object: d.Object, release: d.Release}
	}
	return sourcePlace{rule: d.Rule, cluster: d.Cluster, location: d.Location, release: d.Release}
}

// Merge combines findings of the same rule at the same location. The findings come from several
// renders of the same source, or are about nodes that several contexts share. The result is the first
// finding with the worst level. If the message differs in another render, that message becomes a
// related location.
// The argument all holds the findings from every context.
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
		if d.Level.Rank() > merged[i].Level.Rank() {
			merged[i], d = d, merged[i]
		}
		merged[i].join(&d)
	}
	return merged
}

// union returns the names in two lists, sorted and without duplicates or empty strings.
func union(a, b []string) []string {
	all := slices.DeleteFunc(slices.Concat(a, b), func(name string) bool { return name == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

// join merges a finding from another context into the result.
func (d *Diagnostic) join(o *Diagnostic) {
	d.Renders = union(d.Renders, o.Renders)
	if clusters := union(append(slices.Clip(d.Clusters), d.Cluster), append(slices.Clip(o.Clusters), o.Cluster)); len(clusters) > 1 {
		d.Cluster, d.Clusters = "", clusters
	} else if len(clusters) == 1 {
		d.Cluster = clusters[0]
	}
	if o.Message != d.Message || !slices.Equal(o.Details, d.Details) {
		d.Differ = true
		text := strings.Join(append([]string{o.Message}, o.Details...), "; ")
		d.Related = append(slices.Clip(d.Related), Related{Message: fmt.Sprintf("in render %s: %s", o.Render, text), Location: d.Location})
	}
}
