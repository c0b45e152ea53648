package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
)

const (
	informationURI = "https://github.com/schedlint/schedlint"
	sourceRoot     = "%SRCROOT%"
	// maxResults is the maximum number of results that GitHub shows per run. GitHub stores 25,000
	// results but does not document which of them it shows. Therefore, schedlint chooses the
	// results.
	maxResults = 5000
	// maxPacked is GitHub's limit on the compressed file size in bytes. maxSARIF limits the
	// uncompressed size, so that other tools can read the file.
	maxPacked, maxSARIF = 10_000_000, 64 << 20
	// unwritten is the number of bytes to reserve for data in the compressor's buffer and for the
	// note about omitted results.
	unwritten = 256 << 10
	// maxNotifications is the maximum number of notifications in a run.
	maxNotifications = 1000
	// maxNotification is the maximum length of a notification in characters.
	maxNotification = 4000
)

// sarifWriter holds the data that a run's results share.
//
// Create SARIF values only with the library's constructors, because zero values encode wrong data
// (rank 0, index 0). Do not use Add methods for maps. They panic, because the constructors do not
// create the maps.
type sarifWriter struct {
	src   *sources
	rules map[string]int // index of each rule id in the driver's rules
}

// writeSARIF writes a document with a single run. The document does not name the repository,
// because the addresses of git remotes may contain credentials.
func writeSARIF(w io.Writer, r *diag.Report, opts Options) error {
	all, found := candidates(r), map[string]bool{}
	for i := range all {
		found[all[i].Rule] = true
	}
	sw := &sarifWriter{src: newSources(r), rules: map[string]int{}}
	rules := []*sarif.ReportingDescriptor{}
	for i, rule := range allRules(r, all) {
		sw.rules[rule.ID] = i
		rules = append(rules, descriptor(&rule, found[rule.ID]))
	}
	frame, err := sarifFrame(r, opts, rules, 0, 0)
	if err != nil {
		return err
	}
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
	// The array may be empty, as code scanning requires one.
	const key = "\"results\": " // cannot occur in a string, where quotes have a backslash
	before, after, _ := strings.Cut(frame, key+"null")
	list := "[]"
	if len(results) > 0 {
		list = "[\n" + strings.Join(results, ",\n") + "\n      ]"
	}
	for _, part := range []string{before, key, list, after, "\n"} {
		if _, err := io.WriteString(w, part); err != nil {
			return err
		}
	}
	return nil
}

// sarifFrame returns the document without any results.
func sarifFrame(r *diag.Report, opts Options, rules []*sarif.ReportingDescriptor, kept, left int) (string, error) {
	// A URI of the root would be a local path, so the root has none. Code scanning ignores base
	// ids. Other viewers ask the user for the folder.
	root := sarif.NewArtifactLocation().WithDescription(sarif.NewTextMessage("The root of the repository."))
	run := sarif.NewRun().
		WithTool(sarif.NewTool().WithDriver(driver(r.Version).WithRules(rules))).
		WithColumnKind("unicodeCodePoints").
		WithNewlineSequences([]string{"\r\n", "\n"}).
		WithOriginalUriBaseIds(map[string]sarif.ArtifactLocation{sourceRoot: *root}).
		WithResults(nil). // writeResults puts the results in the place of this null
		AddInvocation(invocation(r, kept, left))
	if opts.Category != "" {
		// GitHub uses everything up to the last slash of the ID as the category. Text after the
		// slash would distinguish runs.
		run.WithAutomationDetails(sarif.NewRunAutomationDetails().WithID(strings.TrimRight(opts.Category, "/") + "/"))
	}
	// plain is sarif.Report without its methods. The Validate method would link package template,
	// and the linker would then keep every method of every type. That would increase the size of
	// the binary by a sixth.
	type plain sarif.Report
	return encoded((*plain)(sarif.NewReport().AddRun(run)), "")
}

// worstFirst sorts a copy of the diagnostics by level, worst first. Diagnostics with equal levels
// keep their order.
func worstFirst(all []diag.Diagnostic) []diag.Diagnostic {
	sorted := slices.Clone(all)
	sorting.Stable(sorted, func(a, b diag.Diagnostic) int { return -cmp.Compare(a.Level.Rank(), b.Level.Rank()) })
	return sorted
}

// driver describes schedlint.
func driver(version string) *sarif.ToolComponent {
	d := sarif.NewToolComponent().WithName("schedlint").WithInformationURI(informationURI)
	// Both version fields must start with a digit, unlike a Go module version.
	version = strings.TrimPrefix(version, "v")
	if version != "" {
		d.WithVersion(version)
	}
	// A semantic version must be in semver.org format. A build from a working copy has no such
	// version.
	if regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`).MatchString(version) {
		d.WithSemanticVersion(version)
	}
	return d
}

// invocation describes the outcome of the run. Its notifications report everything that is not a
// result: failures, input that was not checked, silences and notes.
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
	text := unchecked(s)
	if s.Workloads > 0 {
		text = s.NotRendered()
	}
	if text != "" {
		tell(sarif.LevelWarning, text)
	}
	if c != nil {
		for i, silence := range slices.Concat(c.Silences, c.Nodes) {
			place, word := (&textWriter{}).place(silence.Location), "silenced"
			if i >= len(c.Silences) {
				word = "nodes"
			}
			tell(sarif.LevelNote, strings.Join(nonEmpty(place, word, silence.Message), ": "))
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

// result renders a finding. GitHub shows two findings with the same rule and line as one alert, but
// both become results.
func (w *sarifWriter) result(c *candidate) *sarif.Result {
	d := c.Diagnostic
	primary := primaryPlace(d)
	places, links := w.related(d)
	// GitHub reads only primaryLocationLineHash. The upload action does not compute it for files
	// that are not in the checkout.
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

// maxListed is the maximum number of clusters, and of renders, in a result.
const maxListed = 100

// resultProperties returns a result's clusters, renders and simulated runs, or nil if it has none.
func resultProperties(d *diag.Diagnostic) *sarif.PropertyBag {
	if d.Cluster == "" && len(d.Clusters) == 0 && len(d.Renders) == 0 && d.Typical == nil {
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
	if d.Typical != nil {
		bag.Add("typical", d.Typical)
	}
	return bag
}

// linked returns a result's message. The first sentence states the finding, because lists of
// results show only that sentence. Then there is one sentence per detail. The last sentence links
// to the related locations, because GitHub does not show related locations without links.
func linked(d *diag.Diagnostic, links []string) string {
	said := []string{sentence(cmp.Or(message(d), d.Rule))}
	said = append(said, lists.Of(details(d), sentence)...)
	text := sentence(bracketed(clipped(strings.Join(said, " "), maxAnnotation)))
	if len(links) > 0 {
		text += sentence(" See " + strings.Join(append(links, nonEmpty(morePlaces(d, maxRelated))...), ", "))
	}
	return text
}

// bracketed returns s as visible text that cannot be mistaken for a link. A manifest might contain
// [text](1), and an unclosed bracket would swallow the links after it.
func bracketed(s string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`).Replace(Visible(s))
}

// sentence returns s with exactly one period at the end.
func sentence(s string) string {
	return strings.TrimRight(s, ". ") + "."
}

// candidate is a finding that may be written as a result.
type candidate struct {
	*diag.Diagnostic
	// print is the finding's fingerprint. It does not depend on which findings are omitted.
	print string
	// state is new or unchanged if the run was compared with a revision. Otherwise, it is empty.
	state string
}

// candidates returns all findings that are not accepted. It includes findings that are older than
// the change, because code scanning closes any finding that is missing from the file. New findings
// come first. New and old findings are each sorted by level, worst first, because the document may
// omit the last findings.
func candidates(r *diag.Report) []candidate {
	var all []candidate
	add := func(findings []diag.Diagnostic, state string) {
		for i := range findings {
			all = append(all, candidate{Diagnostic: &findings[i], state: state})
		}
	}
	if r.Change == nil {
		add(r.Diagnostics, "")
	} else {
		add(r.Diagnostics, "new")
		add(r.Change.Unchanged, "unchanged")
	}
	sorting.Stable(all, func(a, b candidate) int {
		return cmp.Or(-cmp.Compare(a.Level.Rank(), b.Level.Rank()), a.Compare(b.Diagnostic))
	})
	seen := map[diag.Key]int{}
	for i := range all {
		all[i].print = fingerprint(all[i].Diagnostic, seen)
	}
	sorting.Stable(all, func(a, b candidate) int { return cmp.Compare(a.state, b.state) })
	return all
}

// resultIndent is the indentation of results in the document.
const resultIndent = "        "

// results renders as many findings as code scanning accepts in one document.
func (w *sarifWriter) results(all []candidate, frame string) (kept []string, err error) {
	size := len(frame)
	var packed *packer // nil for a small file, which fits even without compression
	for i := range all[:min(maxResults, len(all))] {
		text, err := encoded(w.result(&all[i]), resultIndent)
		if err != nil {
			return nil, err
		}
		size += len(text)
		if packed == nil && size > maxPacked-unwritten {
			packed = newPacker()
			packed.add(frame)
			for _, earlier := range kept {
				packed.add(earlier)
			}
		}
		if packed != nil {
			packed.add(text)
		}
		if size > maxSARIF-unwritten || packed != nil && packed.size > maxPacked-unwritten {
			return kept, nil
		}
		kept = append(kept, text)
	}
	return kept, nil
}

// withoutEmpty removes empty arrays with their names from compact JSON, each with one comma. In strings, the
// quotes before a colon have a backslash.
func withoutEmpty(text []byte) []byte {
	empty := []byte(`":[]`)
	kept := make([]byte, 0, len(text))
	for {
		at := bytes.Index(text, empty)
		name := bytes.LastIndexByte(text[:max(at, 0)], '"')
		switch {
		case at < 0:
			return append(kept, text...)
		case name < 0 || text[at-1] == '\\': // in a string
			kept, text = append(kept, text[:at+len(empty)]...), text[at+len(empty):]
			continue
		}
		kept, text = append(kept, text[:name]...), text[at+len(empty):]
		if n := len(kept) - 1; kept[n] == ',' {
			kept = kept[:n]
		} else if len(text) > 0 && text[0] == ',' {
			text = text[1:]
		}
	}
}

// encoded returns a value's indented text without empty arrays. The library writes up to fifteen of
// them per object. The schema gives a missing array the same meaning.
func encoded(value any, indent string) (string, error) {
	var b, indented bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return "", fmt.Errorf("encoding: %w", err)
	}
	short := withoutEmpty(bytes.TrimSpace(b.Bytes()))
	if err := json.Indent(&indented, short, indent, "  "); err != nil {
		return "", fmt.Errorf("encoding: %w", err)
	}
	return indent + string(harmless(indented.Bytes())), nil
}

// severity holds the names that SARIF and GitHub use for a level.
type severity struct{ level, problem string }

// severityOf returns the severity for a level. An unknown level gets the mildest severity.
func severityOf(l diag.Level) severity {
	switch l {
	case diag.LevelError:
		return severity{sarif.LevelError, "error"}
	case diag.LevelWarning:
		return severity{sarif.LevelWarning, "warning"}
	case diag.LevelOff:
		return severity{sarif.LevelNone, "recommendation"}
	}
	return severity{sarif.LevelNote, "recommendation"}
}

// allRules returns every enabled rule. It includes rules without findings, so that a viewer can
// tell that they ran. It also includes all rules of the findings, because every result needs a rule.
func allRules(r *diag.Report, all []candidate) []diag.Rule {
	rules := slices.Clone(r.Rules)
	known := lists.SetOf(rules, func(r diag.Rule) string { return r.ID })
	var others []diag.Rule
	for _, c := range all {
		if !known[c.Rule] {
			known[c.Rule] = true
			others = append(others, diag.Rule{ID: c.Rule, Level: c.Level})
		}
	}
	sorting.Stable(others, func(a, b diag.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return append(rules, others...)
}

// descriptor returns a rule's metadata. GitHub requires all text fields of all rules, but shows them
// only with an alert. A rule without findings has none, so its fields repeat the short text and the
// link.
func descriptor(r *diag.Rule, found bool) *sarif.ReportingDescriptor {
	title := cmp.Or(Visible(r.Title), Visible(r.ID))
	short := sentence(shortened(title))
	d := sarif.NewRule(r.ID).WithName(pascal(r.ID)).WithDescription(short)
	addresses, text := append([]string{r.Runbook}, r.Related...), short
	if at := slices.IndexFunc(addresses, isWebAddress); at >= 0 {
		text = addresses[at]
		d.WithHelpURI(text)
	}
	if !found {
		return d.
			WithFullDescription(sarif.NewMultiformatMessageString().WithText(short)).
			WithHelp(sarif.NewMultiformatMessageString().WithText(text))
	}
	description := cmp.Or(Visible(r.Description), title)
	return d.
		WithFullDescription(sarif.NewMultiformatMessageString().WithText(sentence(shortened(description)))).
		WithHelp(help(r, title, sentence(description))).
		WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(severityOf(r.Level).level).WithEnabled(r.Level != diag.LevelOff)).
		WithProperties(properties(r))
}

// shortened cuts s to GitHub's limit for descriptions, which is 1024 characters including the
// period.
func shortened(s string) string {
	return s[:runeOffset(s, 1023)]
}

// pascal returns a rule's readable name. Validators reject a name that differs from the id only in
// case.
func pascal(id string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(id, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N) }) {
		first, size := utf8.DecodeRuneInString(word)
		b.WriteString(string(unicode.ToUpper(first)) + word[size:])
	}
	if strings.EqualFold(b.String(), id) {
		b.WriteString("Rule")
	}
	return b.String()
}

// help returns a rule's help page. GitHub shows the Markdown version, other viewers the plain text.
func help(r *diag.Rule, title, description string) *sarif.MultiformatMessageString {
	title, description = clipped(title, maxPlain), clipped(description, maxAnnotation)
	text := nonEmpty(description)
	var about []string
	if r.Category != "" {
		about = append(about, "category "+Visible(r.Category))
	}
	if r.Since != "" {
		about = append(about, "since "+Visible(r.Since))
	}
	if len(about) > 0 {
		text = append(text, fmt.Sprintf("Rule %s, %s.", Visible(r.ID), strings.Join(about, ", ")))
	}
	if r.Owner != "" {
		text = append(text, "Owner: "+clipped(Visible(r.Owner), maxPlain))
	}
	markdown := []string{"# " + prose(title)}
	markdown = append(markdown, lists.Of(text, prose)...)
	if r.Runbook != "" {
		text, markdown = append(text, "Runbook: "+Visible(r.Runbook)), append(markdown, "Runbook: "+link(r.Runbook))
	}
	for _, address := range r.Related {
		text, markdown = append(text, Visible(address)), append(markdown, link(address))
	}
	return sarif.NewMultiformatMessageString().
		WithText(strings.Join(text, "\n")).
		WithMarkdown(strings.Join(markdown, "\n\n"))
}

// link formats a web address as a Markdown link, and any other text as prose.
func link(address string) string {
	if isWebAddress(address) {
		return "<" + address + ">"
	}
	return prose(address)
}

// isWebAddress reports whether an address from a rule is safe to link to in Markdown and SARIF.
func isWebAddress(address string) bool {
	_, err := url.Parse(address)
	return err == nil && webAddress().MatchString(address)
}

var webAddress = lazy.Regexp(`^https?://[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]+$`)

// maxTags is the maximum number of tags that GitHub accepts per rule.
const maxTags = 20

// properties returns the properties that GitHub uses to filter and sort rules. It omits
// security-severity, because GitHub would show the findings as security alerts.
func properties(r *diag.Rule) *sarif.PropertyBag {
	precision := map[string]string{
		"invalid": "very-high", "infeasible": "very-high", // rejected by the API server, or proved
		"ineffective": "high", "fragile": "high", // follows from the manifests
	}
	tags := append([]string{"kubernetes", "scheduling"}, nonEmpty(Visible(r.Category))...)
	for _, tag := range r.Tags {
		if !slices.Contains(tags, Visible(tag)) {
			tags = append(tags, Visible(tag))
		}
	}
	return sarif.NewPropertyBag().
		WithTags(tags[:min(len(tags), maxTags)]).
		Add("precision", cmp.Or(precision[r.Category], "medium")).
		Add("problem.severity", severityOf(r.Level).problem)
}
