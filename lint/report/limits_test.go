package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
)

// many returns a report with n findings of each level.
func many(n int, name string) *diag.Report {
	r := &diag.Report{Source: func(string) []byte { return []byte("kind: Pod\n") }}
	for i := range n {
		for _, l := range levelCounts(&diag.Summary{}) {
			r.Diagnostics = append(r.Diagnostics, diag.Diagnostic{
				Rule: "some-rule", Level: l.level, Message: fmt.Sprintf("Pod %s is %s %d", name, l.level, i), Location: at("f.yaml", i+1, 1, i+1, 2),
				Object:  diag.Object{APIVersion: "v1", Kind: "Pod", Name: name},
				Related: []diag.Related{{Message: name, Location: at("f.yaml", 1, 1, 1, 2)}},
				Fixes:   []diag.Fix{{Description: name}},
			})
		}
	}
	r.Sort()
	return r
}

// GitHub shows ten annotations of each level and drops the rest. It would even drop the notice
// about omitted findings if that were the eleventh.
func TestAnnotationsAreCounted(t *testing.T) {
	for n, want := range map[int]string{
		0:   "0 error, 0 warning, 0 notice",
		10:  "10 error, 10 warning, 10 notice",
		11:  "10 error, 10 warning, 10 notice: 1 error, 1 warning, 2 notes",
		400: "10 error, 10 warning, 10 notice: 390 errors, 390 warnings, 391 notes",
	} {
		out := string(written(t, "github", many(n, "web"), Options{}))
		var got []string
		for _, c := range commands {
			got = append(got, fmt.Sprintf("%d %s", strings.Count("\n"+out, "\n::"+c.name+" "), c.name))
		}
		told := strings.Join(got, ", ")
		if _, rest, ok := strings.Cut(out, "::notice title=schedlint::GitHub shows at most 10 annotations per level and step; not shown: "); ok {
			rest, _, _ = strings.Cut(rest, "\n")
			told += ": " + rest
		}
		if told != want {
			t.Errorf("%d of each: %s, want %s", n, told, want)
		}
	}
}

// The worst findings must be kept, even if milder ones come first in the files.
func TestAnnotationsOfOneLevelLeaveTheOthersAlone(t *testing.T) {
	r := many(5, "web")
	for i := range r.Diagnostics {
		r.Diagnostics[i].Level = diag.LevelWarning
	}
	out := string(written(t, "github", r, Options{}))
	if n := strings.Count(out, "::warning "); n != 10 || !strings.Contains(out, "not shown: 5 warnings\n") {
		t.Errorf("%d warnings in\n%s", n, out)
	}
}

func TestMarkdownFits(t *testing.T) {
	t.Parallel()
	trials.Large(t)
	for _, name := range []string{strings.Repeat("a", 64<<10), strings.Repeat("`@", 32<<10), strings.Repeat("\x1b", 64<<10), strings.Repeat("\U000e0041", 16<<10)} {
		r := many(334, name)
		r.Change = &diag.Change{Before: &diag.Counts{Zones: map[string]int{}}}
		for range 50 {
			r.Summary.Notes = append(r.Summary.Notes, name)
			r.Change.Silences = append(r.Change.Silences, diag.Silence{Message: name})
			r.Change.Before.Zones[fmt.Sprint(len(r.Change.Silences), name)] = 1
		}
		limited(t, r, "comment", maxComment)
		out := limited(t, r, "markdown", maxMarkdown)
		shown, left := strings.Count(string(out), "\n### ")-1, 0 // one is about what is silenced
		if at := strings.Index(string(out), " more did not fit here: "); at > 0 {
			line := string(out[bytes.LastIndexByte(out[:at], '\n')+1:])
			if _, err := fmt.Sscanf(line, "%d findings more", &left); err != nil {
				t.Fatal(err)
			}
		}
		if shown+left != len(r.Diagnostics) || shown == 0 {
			t.Errorf("%d are shown and %d counted, of %d", shown, left, len(r.Diagnostics))
		}
		if first := bytes.Index(out, []byte("### error")); first > bytes.Index(append(out, "### warning"...), []byte("### warning")) {
			t.Error("a warning comes before an error")
		}
	}
}

// limited returns a report in a format whose size is limited.
func limited(t *testing.T, r *diag.Report, format string, most int) []byte {
	t.Helper()
	out := written(t, format, r, Options{})
	if len(out) > most {
		t.Errorf("%s: %d bytes", format, len(out))
	}
	if err := wrong(format, string(out)); err != nil {
		t.Errorf("%s: %v", format, err)
	}
	if !bytes.Equal(out, written(t, format, r, Options{})) {
		t.Errorf("%s: other bytes the second time", format)
	}
	for _, text := range []string{"Silenced by this change", " more zones that differ", " more did not fit here: "} {
		if !strings.Contains(string(out), text) {
			t.Errorf("%s: %q is missing", format, text)
		}
	}
	return out
}

func TestMarkdownOfAPlacementFits(t *testing.T) {
	trials.Large(t)
	for _, name := range []string{strings.Repeat("a", 64<<10), strings.Repeat("\x1b", 64<<10)} {
		p := placed()
		for i := range 10000 {
			w := decided("Deployment", fmt.Sprint("web-", i), 3, 1, 2, "never", diag.PlacementChange{Drain: judged("never", "its node is the only one")})
			if i < 20 {
				w = attackedPlacement(name).Workloads[0]
				w.Core = []diag.PlacementCore{{File: name, Line: i, Text: name}}
			}
			p.Workloads = append(p.Workloads, w)
		}
		for range 100 {
			p.Witness = append(p.Witness, diag.PlacementStep{Workload: name, Node: name})
		}
		out := placementIn(t, "markdown", p)
		if len(out) > maxMarkdown {
			t.Errorf("%d bytes", len(out))
		}
		if err := wrong("markdown", out); err != nil {
			t.Error(err)
		}
	}
}

func TestGitLab(t *testing.T) {
	r := many(20, "web")
	r.Rules = []diag.Rule{{ID: "some-rule", Category: "infeasible"}}
	var issues []gitlabIssue
	if err := json.Unmarshal(written(t, "gitlab", r, Options{}), &issues); err != nil {
		t.Fatal(err)
	}
	prints, severities := map[string]bool{}, map[string]int{}
	for _, i := range issues {
		prints[i.Fingerprint] = true
		severities[i.Severity]++
	}
	if got := fmt.Sprint(len(prints), severities); got != "60 map[critical:20 info:20 minor:20]" {
		t.Error(got)
	}
	if got := string(written(t, "gitlab", &diag.Report{}, Options{})); got != "[]\n" {
		t.Errorf("nothing is %s", got)
	}
	for path, want := range map[string]string{"./a.yaml": "a.yaml", "/a.yaml": "a.yaml", "a//b.yaml": "a/b.yaml"} {
		if err := json.Unmarshal(written(t, "gitlab", one("", at(path, 3, 1, 3, 2)), Options{}), &issues); err != nil {
			t.Fatal(err)
		}
		if got := issues[0].Location; got != (gitlabLocation{want, gitlabLines{3}}) {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

func TestJUnit(t *testing.T) {
	for _, r := range []*diag.Report{{}, many(3, "web"), canned()} {
		var doc junitSuites
		if err := xml.Unmarshal(written(t, "junit", r, Options{}), &doc); err != nil {
			t.Fatal(err)
		}
		s, names := doc.Suites[0], map[string]bool{}
		for _, c := range s.Cases {
			names[c.ClassName+" "+c.Name] = true
			if (c.Failure == nil) != (s.Failures == 0) {
				t.Errorf("%s: failure %v", c.Name, c.Failure)
			}
		}
		if len(doc.Suites) != 1 || s.Tests != len(s.Cases) || s.Tests != max(1, s.Failures) || s.Failures != len(r.Diagnostics) || len(names) != s.Tests {
			t.Errorf("%d tests, %d failures, %d cases with %d names", s.Tests, s.Failures, len(s.Cases), len(names))
		}
	}
}

// After a finding is omitted, no milder finding may appear in its place.
func TestMarkdownLeavesOutTheMildest(t *testing.T) {
	trials.Large(t)
	r := many(2000, strings.Repeat("a", 1000))
	r.Diagnostics = append(r.Diagnostics, diag.Diagnostic{Rule: "tiny", Level: diag.LevelNote, Message: "m"})
	if out := string(written(t, "markdown", r, Options{})); strings.Contains(out, "tiny") || !strings.Contains(out, "2000 errors, 2000 warnings") && strings.Contains(out, "### warning") {
		t.Error("a mild finding took the place of a worse one")
	}
}

// The runner does not accept columns for a span with several lines, and it cannot show a location
// outside the checkout.
func TestAnnotationPlaces(t *testing.T) {
	for span, want := range map[diag.Span]string{
		at("a.yaml", 2, 3, 2, 9):  "::error file=a.yaml,line=2,endLine=2,col=3,endColumn=9,title=a-b::m\n",
		at("a.yaml", 2, 3, 4, 9):  "::error file=a.yaml,line=2,endLine=4,title=a-b::m\n",
		at("a.yaml", 2, 3, 0, 0):  "::error file=a.yaml,line=2,endLine=2,col=3,endColumn=4,title=a-b::m\n",
		{File: "a.yaml"}:          "::error file=a.yaml,title=a-b::m\n",
		at("<stdin>", 2, 3, 2, 9): "::error title=a-b::<stdin>:2:3: m\n",
		{}:                        "::error title=a-b::m\n",
	} {
		if out := string(written(t, "github", one("", span), Options{})); !strings.HasPrefix(out, want) {
			t.Errorf("%v: got %s, want %s", span, out, want)
		}
	}
}

// TestMarkdownZones checks that the table of a change lists zones only if their nodes differ.
func TestMarkdownZones(t *testing.T) {
	for after, listed := range map[int]bool{3: false, 4: true} {
		r := canned()
		r.Summary.Zones = map[string]int{"a": after, "": 1}
		r.Change = &diag.Change{Before: &diag.Counts{Zones: map[string]int{"a": 3, "": 1}}}
		out := string(written(t, "markdown", r, Options{}))
		zone, rest := strings.Index(out, "| nodes in zone `a` |"), strings.Index(out, "| nodes with no declared zone |")
		if (zone > 0) != listed || (rest > zone) != listed {
			t.Errorf("%d nodes became %d, zones listed: want %t\n%s", 3, after, listed, out)
		}
	}
}
