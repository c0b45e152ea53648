package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/schedlint/schedlint/lint/diag"
)

// maxFailures bounds the failures that a format for people lists. Only json has all of them,
// because place may have one for each document.
const maxFailures = 20

// listed returns the failures that a format lists, and the number of the others.
func listed(all diag.Failures) (some diag.Failures, more int) {
	some = all[:min(maxFailures, len(all))]
	return some, len(all) - len(some)
}

// Incomplete returns visible lines on parts of the work that were not done, one for each failure.
func Incomplete(all diag.Failures) []string {
	told := incomplete(all)
	for i := range told {
		told[i] = Visible(told[i])
	}
	return told
}

// incomplete returns the same lines, not yet made visible.
func incomplete(all diag.Failures) []string {
	some, more := listed(all)
	var told []string
	for _, f := range some {
		told = append(told, "incomplete: "+clipped(f.String(), maxSentence))
	}
	if more > 0 {
		told = append(told, fmt.Sprintf("incomplete: %s more", Count(more, "failure")))
	}
	return told
}

// incomplete writes those lines.
func (t *textWriter) incomplete(all diag.Failures) {
	for _, line := range incomplete(all) {
		mark, rest, _ := strings.Cut(line, ":")
		t.println(t.paint(red, mark+":"), Visible(rest))
	}
}

// annotateFailures writes one annotation for all failures.
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

// failureNotification describes a failure to a SARIF viewer.
func failureNotification(f diag.Failure) *sarif.Notification {
	n := notification(sarif.LevelError, "incomplete: "+clipped(f.String(), maxSentence))
	if inRepository(f.File) {
		r := sarif.NewRegion().WithStartLine(max(1, f.Line))
		n.AddLocation(sarif.NewLocation().WithPhysicalLocation(sarif.NewPhysicalLocation().WithArtifactLocation(artifact(f.File)).WithRegion(r)))
	}
	return n
}

// gitlabFailures returns the entries for failures.
func gitlabFailures(all diag.Failures, seen map[diag.Key]int) []gitlabIssue {
	var issues []gitlabIssue
	some, more := listed(all)
	for _, f := range some {
		issues = append(issues, gitlabFailure(f, seen))
	}
	if more > 0 {
		issues = append(issues, gitlabFailure(diag.Failure{Stage: "more", Message: Count(more, "failure") + " more"}, seen))
	}
	return issues
}

// gitlabFailure returns the entry for a failure. GitLab requires a location, so a failure without
// one gets the configuration file of schedlint.
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

// junitErrors returns a test with an error for each failure.
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
