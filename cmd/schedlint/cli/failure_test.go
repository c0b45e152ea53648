package cli

import (
	"bytes"
	"errors"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// TestHighestExitStatusCounts combines all reasons why a run can fail.
func TestHighestExitStatusCounts(t *testing.T) {
	rule := diag.Failure{Stage: diag.StageRule, Rule: "own", Message: "divide by zero"}
	internal := diag.Failure{Stage: diag.StageCheck, Message: "the certificate does not hold", Internal: true}
	wrong := errors.New("no such file")
	for _, c := range []struct {
		failures diag.Failures
		level    diag.Level
		err      error
		want     int
	}{
		{nil, diag.LevelWarning, nil, exitClean},
		{nil, diag.LevelError, nil, exitFindings},
		{nil, diag.LevelError, wrong, exitUsage},
		{diag.Failures{rule}, diag.LevelWarning, nil, exitUsage},
		{diag.Failures{rule}, diag.LevelError, nil, exitUsage},
		{diag.Failures{rule, internal}, diag.LevelWarning, nil, exitInternal},
		{diag.Failures{internal}, diag.LevelError, wrong, exitInternal},
	} {
		r := &diag.Report{Failures: c.failures, Diagnostics: []diag.Diagnostic{{Level: c.level}}}
		if got := codeOf(outcome(r, "error", c.err)); got != c.want {
			t.Errorf("lint: %v, %s, %v: %d, want %d", c.failures, c.level, c.err, got, c.want)
		}
		verdict := "always"
		if c.level == diag.LevelError {
			verdict = "never"
		}
		doc := &diag.Placements{Failures: c.failures, Decisions: []diag.Placement{{Verdict: verdict}}}
		if got := codeOf(placeOutcome(doc, "never", "none")); c.err == nil && got != c.want {
			t.Errorf("place: %v, %s: %d, want %d", c.failures, verdict, got, c.want)
		}
	}
}

func codeOf(err error) int {
	var status statusError
	if errors.As(err, &status) {
		return status.code
	}
	return exitClean
}

// TestFailuresAreToldOnce checks that standard error reports only failures that the format on
// standard output does not report in prose.
func TestFailuresAreToldOnce(t *testing.T) {
	failures := diag.Failures{{Stage: diag.StageRule, Rule: "own", File: "own\x1b[2J.rego", Line: 3, Message: "divide by zero"}}
	const line = "schedlint: incomplete: own\\x1b[2J.rego:3: rule own: divide by zero\n"
	for _, c := range []struct {
		outputs outputs
		want    string
	}{
		{outputs{{format: "text"}}, ""},
		{outputs{{format: "github"}}, ""},
		{outputs{{format: "json"}}, line},
		{outputs{{format: "text", path: "report.txt"}}, line},
		{outputs{{format: "sarif", path: "x"}, {format: "text"}}, ""},
		{outputs{}, line},
	} {
		var stderr bytes.Buffer
		c.outputs.tell(&stderr, failures)
		if stderr.String() != c.want {
			t.Errorf("%v: %q, want %q", c.outputs, stderr.String(), c.want)
		}
	}
}
