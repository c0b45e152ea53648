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
	// maxResults is the number of results of a run that GitHub shows. It stores 25,000 without a
	// guarantee which of them it shows, so the selection is made here.
	maxResults = 5000
	// maxPacked is GitHub's limit for a compressed file, in bytes; maxSARIF bounds the file itself,
	// for other readers.
	maxPacked, maxSARIF = 10_000_000, 64 << 20
	// unwritten is room for text that a packer has not yet written, and for the note on omitted
	// results.
	unwritten = 256 << 10
	// maxNotifications bounds the notifications of a run.
	maxNotifications = 1000
	// maxNotification bounds one of them, in characters.
	maxNotification = 4000
)

// sarifWriter holds the data that the results of a run share.
//
// Values of the SARIF library come from its constructors only: its zero values encode as wrong data
// (rank 0, index 0), and its Add methods for maps panic on the maps that its constructors leave
// nil.
type sarifWriter struct {
	src   *sources
	rules map[string]int // index of each rule id in the driver's rules
}

// writeSARIF writes one run. It does not name the repository, because addresses of remotes may
// contain credentials.
func writeSARIF(w io.Writer, r *diag.Report, opts Options) error {
	rules := allRules(r)
	sw := &sarifWriter{src: newSources(r), rules: map[string]int{}}
	for i := range rules {
		sw.rules[rules[i].ID] = i
	}
	frame, err := sarifFrame(r, opts, rules, 0, 0)
	if err != nil {
		return err
	}
	all := candidates(r)
	results, err := sw.results(all, frame)
	if err != nil {
		return err
	}
	if left := len(all) - len(results); left > 0 {
		frame, err = sarifFrame(r, opts, rules, len(results), left)
	}
	if err != nil {
		return err
	}
	return writeResults(w, frame, results)
}

// sarifFrame returns the file without its results.
func sarifFrame(r *diag.Report, opts Options, rules []diag.Rule, kept, left int) (string, error) {
	// Without an address, which would be a local path: code scanning ignores base ids, and other
	// viewers ask for the folder.
	root := sarif.NewArtifactLocation().WithDescription(sarif.NewTextMessage("The root of the repository."))
	run := sarif.NewRun().
		WithTool(sarif.NewTool().WithDriver(driver(r.Version, rules))).
		WithColumnKind("unicodeCodePoints").
		WithNewlineSequences([]string{"\r\n", "\n"}).
		WithOriginalUriBaseIds(map[string]sarif.ArtifactLocation{sourceRoot: *root}).
		WithResults([]*sarif.Result{}).
		AddInvocation(invocation(r, kept, left))
	if opts.Category != "" {
		// The text up to the last slash is the category; the rest would distinguish runs.
		run.WithAutomationDetails(sarif.NewRunAutomationDetails().WithID(strings.TrimRight(opts.Category, "/") + "/"))
	}
	// The plain type has no methods: its validation would link templates in, which keep every
	// method of every type in the binary, a sixth of its size.
	type plain sarif.Report
	var doc strings.Builder
	err := Encode(&doc, (*plain)(sarif.NewReport().AddRun(run)))
	return doc.String(), err
}

// worstFirst returns the diagnostics with the worst level first, and otherwise in their order.
func worstFirst(all []diag.Diagnostic) []diag.Diagnostic {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b diag.Diagnostic) int { return -cmp.Compare(a.Level.Rank(), b.Level.Rank()) })
	return sorted
}

// driver describes schedlint and every rule that ran.
func driver(version string, rules []diag.Rule) *sarif.ToolComponent {
	d := sarif.NewToolComponent().WithName("schedlint").WithInformationURI(informationURI)
	// Without the v of a Go module version, because both members must begin with a number.
	version = strings.TrimPrefix(version, "v")
	if version != "" {
		d.WithVersion(version)
	}
	// A version by semver.org: a build from a working copy has none.
	if regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`).MatchString(version) {
		d.WithSemanticVersion(version)
	}
	for i := range rules {
		d.AddRule(descriptor(&rules[i]))
	}
	return d
}

// invocation contains the notifications that are not results: what was not checked.
func invocation(r *diag.Report, kept, left int) *sarif.Invocation {
	s, c := &r.Summary, r.Change
	inv := sarif.NewInvocation().WithExecutionSuccessful(r.Complete())
	tell := func(level, text string) { inv.AddToolExecutionNotification(notification(level, text)) }
	some, more := listed(r.Failures)
	for _, f := range some {
		inv.AddToolExecutionNotification(failureNotification(f))
	}
	if more > 0 {
		tell(sarif.LevelError, "incomplete: "+Count(more, "failure")+" more")
	}
	if text := unchecked(s); text != "" {
		tell(sarif.LevelWarning, text)
	}
	if c != nil {
		for _, silence := range c.Silences {
			place := (&textWriter{}).place(silence.Location)
			tell(sarif.LevelNote, strings.Join(nonEmpty(place, "silenced", silence.Message), ": "))
		}
	}
	for _, n := range slices.Concat(s.Notes, remarks(s, func(file string) string { return file })) {
		tell(sarif.LevelNote, n)
	}
	if more := len(inv.ToolExecutionNotifications) - maxNotifications; more > 0 {
		inv.ToolExecutionNotifications = inv.ToolExecutionNotifications[:maxNotifications]
		tell(sarif.LevelNote, fmt.Sprintf("and %d more notes", more))
	}
	if left > 0 {
		tell(sarif.LevelWarning, fmt.Sprintf("%d of %d results were omitted, least severe first: code scanning accepts %d results and %d MB",
			left, kept+left, maxResults, maxPacked/1_000_000))
	}
	return inv
}

func notification(level, text string) *sarif.Notification {
	return sarif.NewNotification().WithLevel(level).WithMessage(sarif.NewTextMessage(sentence(Visible(clipped(text, maxNotification)))))
}

// result renders one finding. Two findings of one rule on one line remain two results, although
// GitHub shows them as one alert.
func (w *sarifWriter) result(c *candidate) *sarif.Result {
	d := c.Diagnostic
	primary := primaryPlace(d)
	places, links := w.related(d)
	// GitHub reads only the first fingerprint, and the other one only with its location. The upload
	// action computes none for a file that is not in the checkout.
	prints := map[string]string{"schedlint/v1": c.print}
	if hash := w.src.file(primary.File).hash(primary.Line); hash != "" && inRepository(primary.File) {
		prints["primaryLocationLineHash"] = hash
	}
	res := sarif.NewRuleResult(d.Rule).
		WithRuleIndex(w.rules[d.Rule]).
		WithLevel(severityOf(d.Level).level).
		WithMessage(sarif.NewTextMessage(linked(d, links))).
		AddLocation(w.primary(primary).WithLogicalLocations(logical(d))).
		WithRelatedLocations(places).
		WithCodeFlows(w.codeFlows(d, primary)).
		WithPartialFingerprints(prints)
	for _, f := range d.Fixes {
		if fix := sarifFix(f); fix != nil {
			res.AddFixe(fix)
		}
	}
	if c.state != "" {
		res.WithBaselineState(c.state)
	}
	if bag := resultProperties(d); bag != nil {
		res.WithProperties(bag)
	}
	return res
}

// maxListed bounds the clusters, and the renders, that a result lists.
const maxListed = 100

// resultProperties returns the clusters and renders of a result, or nil.
func resultProperties(d *diag.Diagnostic) *sarif.PropertyBag {
	if d.Cluster == "" && len(d.Clusters) == 0 && len(d.Renders) == 0 {
		return nil
	}
	bag := sarif.NewPropertyBag()
	if d.Cluster != "" {
		bag.Add("cluster", d.Cluster)
	}
	if n := len(d.Clusters); n > 0 {
		bag.Add("clusters", d.Clusters[:min(n, maxListed)])
	}
	if n := len(d.Renders); n > 0 {
		bag.Add("renders", d.Renders[:min(n, maxListed)])
	}
	return bag
}

// linked returns the message of a result: one sentence for the message, because lists show only the
// first, one for each detail, and one that links to each related location, because GitHub shows
// only those that the message links to.
func linked(d *diag.Diagnostic, links []string) string {
	said := []string{sentence(cmp.Or(message(d), d.Rule))}
	for _, detail := range d.Details {
		said = append(said, sentence(detail))
	}
	text := sentence(bracketed(clipped(strings.Join(said, " "), maxAnnotation)))
	if len(links) > 0 {
		text += sentence(" See " + strings.Join(append(links, nonEmpty(morePlaces(d, maxRelated))...), ", "))
	}
	return text
}

// bracketed returns visible text without anything that reads as a link: a manifest may contain
// [text](1), and an open bracket would swallow the links that follow.
func bracketed(s string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`).Replace(Visible(s))
}

// sentence ends s with one period.
func sentence(s string) string {
	return strings.TrimRight(s, ". ") + "."
}
