package report

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
)

// maxFailures is the maximum number of failures to list. Only json lists all failures. The place
// command can have one failure per document.
const maxFailures = 20

// listed returns the failures to list, and how many more there are.
func listed(all diag.Failures) (some diag.Failures, more int) {
	some = all[:min(maxFailures, len(all))]
	return some, len(all) - len(some)
}

// Incomplete returns one line per failure. The line says which part of the work was not done. It
// contains no hidden characters.
func Incomplete(all diag.Failures) []string {
	told := incomplete(all)
	for i := range told {
		told[i] = Visible(told[i])
	}
	return told
}

// incomplete is like Incomplete, but does not escape hidden characters.
func incomplete(all diag.Failures) []string {
	some, more := listed(all)
	told := lists.Of(some, func(f diag.Failure) string { return "incomplete: " + clipped(f.String(), maxSentence) })
	if more > 0 {
		told = append(told, fmt.Sprintf("incomplete: %s more", Count(more, "failure")))
	}
	return told
}

// incomplete writes one line per failure.
func (t *textWriter) incomplete(all diag.Failures) {
	for _, line := range incomplete(all) {
		mark, rest, _ := strings.Cut(line, ":")
		t.println(t.paint(red, mark+":"), Visible(rest))
	}
}

// annotateFailures writes a single annotation that covers all failures.
func annotateFailures(t *textWriter, all diag.Failures) {
	if all.Complete() {
		return
	}
	var props []property
	if f := all[0]; inRepository(f.File) {
		props = place(diag.Span{File: f.File, Line: f.Line})
	}
	told := []string{fmt.Sprintf("The run is incomplete (%s):", Count(len(all), "failure"))}
	for _, f := range all[:min(maxItems, len(all))] {
		told = append(told, clipped(f.String(), maxSentence))
	}
	command(t, "error", append(props, property{"title", "schedlint"}), told...)
}

// failureNotification converts a failure to a SARIF notification.
func failureNotification(f diag.Failure) *sarif.Notification {
	n := notification(sarif.LevelError, "incomplete: "+clipped(f.String(), maxSentence))
	if inRepository(f.File) {
		r := sarif.NewRegion().WithStartLine(max(1, f.Line))
		n.AddLocation(sarif.NewLocation().WithPhysicalLocation(sarif.NewPhysicalLocation().WithArtifactLocation(artifact(f.File)).WithRegion(r)))
	}
	return n
}

// gitlabFailures converts all failures to GitLab issues.
func gitlabFailures(all diag.Failures, seen map[diag.Key]int) []gitlabIssue {
	var issues []gitlabIssue
	some, more := listed(all)
	issues = append(issues, lists.Of(some, func(f diag.Failure) gitlabIssue { return gitlabFailure(f, seen) })...)
	if more > 0 {
		issues = append(issues, gitlabFailure(diag.Failure{Stage: "more", Message: Count(more, "failure") + " more"}, seen))
	}
	return issues
}

// gitlabFailure converts a failure to a GitLab issue. GitLab requires a location in the repository.
// If the failure has none, the issue points to schedlint's configuration file.
func gitlabFailure(f diag.Failure, seen map[diag.Key]int) gitlabIssue {
	at := diag.Span{File: ".schedlint.yaml"}
	if inRepository(f.File) {
		at = diag.Span{File: f.File, Line: f.Line}
	}
	d := diag.Diagnostic{Rule: "incomplete: " + cmp.Or(f.Rule, f.Stage), Location: at}
	place := primaryPlace(&d)
	return gitlabIssue{
		Description: sentence(Visible("The run is incomplete: " + clipped(f.String(), maxSentence))),
		CheckName:   "incomplete-run",
		Fingerprint: fingerprint(&d, seen),
		Severity:    "blocker",
		Location:    gitlabLocation{strings.ToValidUTF8(relativePath(place.File), "\ufffd"), gitlabLines{place.Line}},
	}
}

// junitErrors returns one test case per failure. Each test case reports the failure as an error.
func junitErrors(all diag.Failures) []junitCase {
	var cases []junitCase
	some, more := listed(all)
	for _, f := range some {
		text := Visible(clipped(f.String(), maxSentence))
		cases = append(cases, junitCase{
			ClassName: "schedlint", Name: Visible(clipped("incomplete: "+cmp.Or(f.Rule, f.File, f.Stage), maxPath)),
			File: Visible(f.File), Error: &junitError{Type: Visible(f.Stage), Message: text},
		})
	}
	if more > 0 {
		text := Count(more, "failure") + " more"
		cases = append(cases, junitCase{ClassName: "schedlint", Name: "incomplete: " + text, Error: &junitError{Type: "more", Message: text}})
	}
	return cases
}

// Limits on the output. They never change the exit status, counts, baselines or comparisons, which
// are based on all findings.
const (
	// maxRelated is the maximum number of related locations per finding, in every format.
	maxRelated = 20
	// maxTextBytes is the maximum total size of the findings in text, unless all findings are
	// requested.
	maxTextBytes = 4 << 20
	// maxLines limits the length of three lists in the text format: silences, fixed findings, and
	// findings that disappeared together with their objects.
	maxLines = 1000
	// maxPlain is the maximum length of a related location or fix in text, in characters.
	maxPlain = 1000
	// maxBodies is the maximum total size of the findings quoted in junit. After this size is
	// reached, test cases have only messages.
	maxBodies = 16 << 20
)

// trimmed returns a copy of the report whose findings have at most maxRelated related locations. It
// counts the omitted locations and does not modify the report.
func trimmed(r *diag.Report) *diag.Report {
	out := *r
	out.Diagnostics, out.Accepted = trim(r.Diagnostics), trim(r.Accepted)
	if c := r.Change; c != nil {
		change := *c
		change.Fixed, change.Gone, change.Undecided, change.Unchanged = trim(c.Fixed), trim(c.Gone), trim(c.Undecided), trim(c.Unchanged)
		out.Change = &change
	}
	return &out
}

func trim(all []diag.Diagnostic) []diag.Diagnostic {
	if !slices.ContainsFunc(all, func(d diag.Diagnostic) bool { return len(d.Related) > maxRelated }) {
		return all
	}
	all = slices.Clone(all)
	for i := range all {
		if d := &all[i]; len(d.Related) > maxRelated {
			d.MoreRelated += len(d.Related) - maxRelated
			d.Related = d.Related[:maxRelated:maxRelated]
		}
	}
	return all
}

// morePlaces returns text that counts the related locations that are not shown, or "" if there are
// none.
func morePlaces(d *diag.Diagnostic, shown int) string {
	if more := len(d.Related) + d.MoreRelated - min(shown, len(d.Related)); more > 0 {
		return fmt.Sprintf("and %s", Count(more, "more place"))
	}
	return ""
}

// moreEntries returns the last line of a shortened list, or "" if the list is complete.
func moreEntries(n, most int, noun string) string {
	if n <= most {
		return ""
	}
	return fmt.Sprintf("and %d more %s", n-most, noun)
}

// diagnostics writes the worst findings, as many as fit. It keeps them in the order of the report.
func (t *textWriter) diagnostics(all []shown, every bool) {
	worst := make([]int, len(all))
	for i := range worst {
		worst[i] = i
	}
	if !every {
		slices.SortStableFunc(worst, func(a, b int) int { return -cmp.Compare(all[a].Level.Rank(), all[b].Level.Rank()) })
	}
	texts, size, kept := make([]string, len(all)), 0, 0
	var b strings.Builder
	out := t.out
	t.out = bufio.NewWriter(&b)
	for _, i := range worst {
		b.Reset()
		t.diagnostic(all[i].Diagnostic)
		if more := all[i].places(); more != "" { // there are equal findings elsewhere
			t.println("  ", t.paint(dim, more))
		}
		t.println()
		t.out.Flush()
		if size += b.Len(); size > maxTextBytes && !every {
			break
		}
		texts[i], kept = b.String(), kept+1
	}
	t.out = out
	for _, text := range texts {
		t.out.WriteString(text)
	}
	if kept == len(all) {
		return
	}
	var rest diag.Summary // counts the findings that do not fit
	for _, i := range worst[kept:] {
		n := 1 + all[i].more
		switch all[i].Level {
		case diag.LevelError:
			rest.Errors += n
		case diag.LevelWarning:
			rest.Warnings += n
		default:
			rest.NoteFindings += n
		}
	}
	t.println(Count(rest.Errors+rest.Warnings+rest.NoteFindings, "more finding"), " (", t.findings(&rest), "): --all shows them")
	t.println()
}

// packer measures how large a document is after compression for upload to GitHub. It uses the
// fastest compression level, so it never underestimates the size of the upload.
type packer struct {
	z    *gzip.Writer
	size int
}

func newPacker() *packer {
	p := &packer{}
	p.z, _ = gzip.NewWriterLevel(p, gzip.BestSpeed) // cannot fail, because the level is valid
	return p
}

// Write counts compressed bytes.
func (p *packer) Write(b []byte) (int, error) {
	p.size += len(b)
	return len(b), nil
}

// add compresses more text. The size excludes text that is still in the compressor's buffer.
func (p *packer) add(text string) {
	_, _ = strings.NewReader(text).WriteTo(p.z) // Write never fails
}
