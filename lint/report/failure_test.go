package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// partial returns a report without findings for a run in which a rule failed.
func partial() *diag.Report {
	return &diag.Report{Failures: diag.Failures{
		{Stage: diag.StageRule, Rule: "own-rule", File: "policies/own-rule/rule.rego", Line: 12, Message: "div: divide by zero"},
	}}
}

// TestIncompleteRunSaysSo checks that, in every format, a run without findings in which a rule
// failed differs from a clean run.
func TestIncompleteRunSaysSo(t *testing.T) {
	const place = "policies/own-rule/rule.rego:12: rule own-rule: div: divide by zero"
	for format, want := range map[string]string{
		"text":     "\nincomplete: " + place + "\n$",
		"json":     `"complete": false`,
		"sarif":    `"executionSuccessful": false`,
		"github":   "^::error file=policies/own-rule/rule.rego,line=12,",
		"markdown": "^## schedlint: incomplete\n",
		"comment":  "^## schedlint: incomplete\n",
		"gitlab":   "incomplete: " + place,
		"junit":    `<error type="rule" message="` + place + `">`,
	} {
		out := string(written(t, format, partial(), Options{}))
		if !strings.Contains("^"+out+"$", want) && !(format == "gitlab" && strings.Contains(out, "rule own-rule: div: divide by zero.")) {
			t.Errorf("%s: want %q in\n%s", format, want, out)
		}
		if complete := string(written(t, format, &diag.Report{}, Options{})); strings.Contains(complete, "incomplete") {
			t.Errorf("%s calls a complete run incomplete:\n%s", format, complete)
		}
	}
	quiet := string(written(t, "text", partial(), Options{Quiet: true}))
	if quiet != "incomplete: "+place+"\n" {
		t.Errorf("quiet text: %q", quiet)
	}
}

// TestIncompleteForMachines parses the output of an incomplete run as CI servers do.
func TestIncompleteForMachines(t *testing.T) {
	var doc struct {
		Complete bool
		Failures []diag.Failure
	}
	if err := json.Unmarshal(written(t, "json", partial(), Options{}), &doc); err != nil || doc.Complete || len(doc.Failures) != 1 || doc.Failures[0] != partial().Failures[0] {
		t.Errorf("json: %v, %+v", err, doc)
	}
	var suites junitSuites
	if err := xml.Unmarshal(written(t, "junit", partial(), Options{}), &suites); err != nil {
		t.Fatal(err)
	}
	if s := suites.Suites[0]; s.Tests != 1 || s.Errors != 1 || s.Failures != 0 || s.Cases[0].Error == nil {
		t.Errorf("junit: %+v", s)
	}
	var issues []gitlabIssue
	if err := json.Unmarshal(written(t, "gitlab", partial(), Options{}), &issues); err != nil || len(issues) != 1 || issues[0].Severity != "blocker" || issues[0].Location.Lines.Begin != 12 {
		t.Errorf("gitlab: %v, %+v", err, issues)
	}
	var sarif struct {
		Runs []struct {
			Invocations []struct {
				ExecutionSuccessful        bool
				ToolExecutionNotifications []struct{ Level string }
			}
		}
	}
	if err := json.Unmarshal(written(t, "sarif", partial(), Options{}), &sarif); err != nil {
		t.Fatal(err)
	}
	if inv := sarif.Runs[0].Invocations[0]; inv.ExecutionSuccessful || len(inv.ToolExecutionNotifications) != 1 || inv.ToolExecutionNotifications[0].Level != "error" {
		t.Errorf("sarif: %+v", inv)
	}
}

// TestFailuresAreCounted checks that the output is limited if many documents cannot be read.
func TestFailuresAreCounted(t *testing.T) {
	r := many(400, "web")
	for i := range 1000 {
		r.Failures.Add(diag.Failure{Stage: diag.StageRead, File: "a.yaml", Line: i + 1, Message: "no mapping"})
	}
	for _, format := range Formats() {
		out := written(t, format, r, Options{})
		if n := bytes.Count(out, []byte("no mapping")); format == "json" && n != 1000 || format != "json" && (n < maxItems || n > 3*maxFailures) {
			t.Errorf("%s tells of %d failures", format, n)
		}
		if format != "json" && !bytes.Contains(out, []byte("980 failures more")) {
			t.Errorf("%s does not count the rest", format)
		}
	}
	out := string(written(t, "github", r, Options{}))
	for _, c := range commands {
		if n := strings.Count("\n"+out, "\n::"+c.name+" "); n != maxAnnotations {
			t.Errorf("%d %s annotations, GitHub shows %d", n, c.name, maxAnnotations)
		}
	}
	if !strings.Contains(out, "not shown: 391 errors, 390 warnings, 391 notes\n") {
		t.Errorf("the findings without annotation are not counted in\n%.2000s", out)
	}
}

// TestHostileFailures checks failures of rules whose files have hostile names.
func TestHostileFailures(t *testing.T) {
	for name, evil := range attacks {
		f := diag.Failures{{Stage: diag.StageRule, Rule: evil, File: evil, Line: 3, Message: evil}, {Stage: diag.StageCheck, Message: evil, Internal: true}}
		for _, format := range Formats() {
			out := string(written(t, format, &diag.Report{Failures: f}, Options{}))
			if found := unsafeIn(format, out); found != "" {
				t.Errorf("%s in %s: %s", name, format, found)
			}
			if err := parses(format, out); err != nil {
				t.Errorf("%s in %s: %v", name, format, err)
			}
		}
		for _, format := range PlaceFormats() {
			var b bytes.Buffer
			if err := WritePlacement(&b, format, &diag.Placements{Failures: f}, Options{}); err != nil {
				t.Fatal(err)
			}
			if err := wrong(format, b.String()); err != nil {
				t.Errorf("%s in a placement as %s: %v", name, format, err)
			}
		}
		var b bytes.Buffer
		if err := WriteExplanation(&b, &diag.Explanation{Failures: f}); err != nil {
			t.Fatal(err)
		}
		if found := unsafeIn("text", b.String()); found != "" {
			t.Errorf("%s in an explanation: %s", name, found)
		}
	}
}

// parses checks that a document can be parsed as its consumers do.
func parses(format, out string) error {
	switch format {
	case "junit":
		return xml.Unmarshal([]byte(out), &junitSuites{})
	case "json", "sarif", "gitlab":
		var v any
		return json.Unmarshal([]byte(out), &v)
	case "markdown", "comment":
		return wrongMarkdown(out)
	}
	return nil
}

// TestInternalFailuresAreLoud checks that a bug in schedlint is reported differently from a
// failure of a rule.
func TestInternalFailuresAreLoud(t *testing.T) {
	r := &diag.Report{Failures: diag.Failures{{Stage: diag.StageCheck, File: "web.yaml", Line: 3, Message: "the certificate does not hold", Internal: true}}}
	if out := string(written(t, "text", r, Options{})); !strings.HasSuffix(out, "\nincomplete: web.yaml:3: internal error: the certificate does not hold\n") {
		t.Errorf("text: %s", out)
	}
	if got := fmt.Sprint(r.Complete(), r.Failures.Internal(), partial().Failures.Internal()); got != "false true false" {
		t.Error(got)
	}
}
