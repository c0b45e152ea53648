package report

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/schedlint/schedlint/lint/diag"
)

const (
	informationURI = "https://github.com/schedlint/schedlint"
	sourceRoot     = "%SRCROOT%"
	// maxResults is how many results of a run GitHub shows. It keeps 25,000 and
	// does not promise which of them it shows, so the choice is made here.
	maxResults = 5000
)

// sarifWriter holds what the results of a run share.
//
// Values of the SARIF library come from its constructors only: its zero values
// encode as wrong data (rank 0, index 0), and its Add methods for maps panic on
// the maps that its constructors leave nil.
type sarifWriter struct {
	src   *sources
	rules map[string]int // index of each rule id in the driver's rules
	seen  map[diag.Key]int
	// fresh tells the findings that a change brings; nil unless there is one.
	fresh func(*diag.Diagnostic) bool
}

// writeSARIF writes one run. It says nothing of the repository that the run was
// about: addresses of remotes may hold credentials.
func writeSARIF(w io.Writer, r *diag.Report, opts Options) error {
	rules := allRules(r)
	sw := &sarifWriter{src: newSources(r), rules: map[string]int{}, seen: map[diag.Key]int{}, fresh: fresh(r)}
	for i := range rules {
		sw.rules[rules[i].ID] = i
	}
	worst := worstFirst(everything(r))
	left := max(0, len(worst)-maxResults)
	worst = worst[:len(worst)-left]
	run := sarif.NewRun().
		WithTool(sarif.NewTool().WithDriver(driver(r.Version, rules))).
		WithColumnKind("unicodeCodePoints").
		WithNewlineSequences([]string{"\r\n", "\n", "\r"}).
		WithOriginalUriBaseIds(baseIDs()).
		WithResults(sw.results(worst)).
		AddInvocation(invocation(r, len(worst), left))
	if opts.Category != "" {
		// All up to the last slash is the category, the rest would tell one run
		// from the next.
		run.WithAutomationDetails(sarif.NewRunAutomationDetails().WithID(strings.TrimRight(opts.Category, "/") + "/"))
	}
	// Without its methods: to validate itself it would bring templates along, which
	// keep every method of every type in the binary, a sixth of its size.
	type plain sarif.Report
	return encode(w, (*plain)(sarif.NewReport().AddRun(run)))
}

// everything is all findings that count, those that a change did not bring too:
// code scanning compares branches by itself, and closes what is not in the file.
func everything(r *diag.Report) []diag.Diagnostic {
	if r.Change == nil {
		return r.Diagnostics
	}
	all := slices.Concat(r.Diagnostics, r.Change.Unchanged)
	slices.SortStableFunc(all, func(a, b diag.Diagnostic) int { return a.Compare(&b) })
	return all
}

// fresh tells the findings of a change from the others.
func fresh(r *diag.Report) func(*diag.Diagnostic) bool {
	if r.Change == nil {
		return nil
	}
	return func(d *diag.Diagnostic) bool {
		_, found := slices.BinarySearchFunc(r.Diagnostics, d, func(a diag.Diagnostic, d *diag.Diagnostic) int { return a.Compare(d) })
		return found
	}
}

// baseIDs describes the root of the repository without its address: code
// scanning ignores base ids, other viewers ask for the folder, and the address
// would be a path of this machine.
func baseIDs() map[string]sarif.ArtifactLocation {
	root := sarif.NewArtifactLocation().WithDescription(sarif.NewTextMessage("The root of the repository."))
	return map[string]sarif.ArtifactLocation{sourceRoot: *root}
}

// worstFirst gives the diagnostics with the worst level first and else in
// their order.
func worstFirst(all []diag.Diagnostic) []diag.Diagnostic {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b diag.Diagnostic) int { return -cmp.Compare(a.Level.Rank(), b.Level.Rank()) })
	return sorted
}

// driver describes schedlint and every rule that ran.
func driver(version string, rules []diag.Rule) *sarif.ToolComponent {
	d := sarif.NewToolComponent().WithName("schedlint").WithInformationURI(informationURI)
	// Without the v of a Go module version: both members are to begin with a
	// number.
	version = strings.TrimPrefix(version, "v")
	if version != "" {
		d.WithVersion(version)
	}
	if isSemantic(version) {
		d.WithSemanticVersion(version)
	}
	for i := range rules {
		d.AddRule(descriptor(&rules[i]))
	}
	return d
}

// isSemantic reports whether v is a version by semver.org: a build from a
// working copy has none.
func isSemantic(v string) bool {
	return regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`).MatchString(v)
}

// invocation carries what is not a result: what was not checked.
func invocation(r *diag.Report, kept, left int) *sarif.Invocation {
	s, c := &r.Summary, r.Change
	inv := sarif.NewInvocation().WithExecutionSuccessful(r.Complete())
	some, more := listed(r.Failures)
	for _, f := range some {
		inv.AddToolExecutionNotification(failureNotification(f))
	}
	if more > 0 {
		inv.AddToolExecutionNotification(notification(sarif.LevelError, "incomplete: "+count(more, "failure")+" more"))
	}
	if text := unjudged(s); text != "" {
		inv.AddToolExecutionNotification(notification(sarif.LevelWarning, text))
	}
	if c != nil {
		for _, silence := range c.Silences {
			place := (&textWriter{}).place(silence.Location)
			inv.AddToolExecutionNotification(notification(sarif.LevelNote, strings.Join(nonEmpty(place, "silenced", silence.Message), ": ")))
		}
	}
	for _, n := range s.Notes {
		inv.AddToolExecutionNotification(notification(sarif.LevelNote, n))
	}
	for _, n := range remarks(s, func(file string) string { return file }) {
		inv.AddToolExecutionNotification(notification(sarif.LevelNote, n))
	}
	if left > 0 {
		inv.AddToolExecutionNotification(notification(sarif.LevelWarning,
			fmt.Sprintf("%d of %d results were left out, the least severe ones", left, kept+left)))
	}
	return inv
}

func notification(level, text string) *sarif.Notification {
	return sarif.NewNotification().WithLevel(level).WithMessage(sarif.NewTextMessage(sentence(visible(text))))
}

// results is never nil: an upload without the array is refused.
func (w *sarifWriter) results(diagnostics []diag.Diagnostic) []*sarif.Result {
	results := make([]*sarif.Result, 0, len(diagnostics))
	for i := range diagnostics {
		results = append(results, w.result(&diagnostics[i]))
	}
	return results
}

// result renders one finding. Two findings of one rule on one line stay two
// results, although GitHub shows them as one alert.
func (w *sarifWriter) result(d *diag.Diagnostic) *sarif.Result {
	primary := primaryPlace(d)
	places, links := w.related(d)
	res := sarif.NewRuleResult(d.Rule).
		WithRuleIndex(w.rules[d.Rule]).
		WithLevel(severityOf(d.Level).level).
		WithMessage(sarif.NewTextMessage(linked(d, links))).
		AddLocation(w.primary(primary).WithLogicalLocations(logical(d))).
		WithRelatedLocations(places).
		WithCodeFlows(w.codeFlows(d, primary)).
		WithPartialFingerprints(w.fingerprints(d, primary))
	for _, f := range d.Fixes {
		if fix := sarifFix(f); fix != nil {
			res.AddFixe(fix)
		}
	}
	if w.fresh != nil {
		state := "unchanged"
		if w.fresh(d) {
			state = "new"
		}
		res.WithBaselineState(state)
	}
	if d.Cluster != "" {
		res.WithProperties(sarif.NewPropertyBag().Add("cluster", d.Cluster))
	}
	return res
}

// fingerprints identify a result between runs: GitHub reads only the first, and
// only with the place that it belongs to. The upload action computes none for a
// file that is not in the checkout.
func (w *sarifWriter) fingerprints(d *diag.Diagnostic, primary diag.Span) map[string]string {
	prints := map[string]string{"schedlint/v1": fingerprint(d, w.seen)}
	if hash := w.src.file(primary.File).hash(primary.Line); hash != "" && inRepository(primary.File) {
		prints["primaryLocationLineHash"] = hash
	}
	return prints
}

// linked is the message of a result: one sentence that links to each related
// place, because GitHub shows only those that the message links to.
func linked(d *diag.Diagnostic, links []string) string {
	text := strings.TrimRight(bracketed(cmp.Or(message(d), d.Rule)), ". ")
	if len(links) > 0 {
		text += "; see " + strings.Join(links, ", ")
	}
	return sentence(text)
}

// bracketed is visible text in which nothing reads as a link: a manifest may
// hold [text](1), and an open bracket would swallow the links that follow.
func bracketed(s string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`).Replace(visible(s))
}

// sentence ends s with one period.
func sentence(s string) string {
	return strings.TrimRight(s, ". ") + "."
}
