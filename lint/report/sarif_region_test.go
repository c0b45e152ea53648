package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// sarifPlaces describes the parts of a SARIF file that quote sources.
type sarifPlaces struct {
	Runs []struct {
		AutomationDetails struct{ ID string }
		Results           []struct {
			Locations []struct {
				PhysicalLocation struct{ Region, ContextRegion sarifRegion }
			}
			CodeFlows []struct {
				ThreadFlows []struct {
					Locations []struct {
						Location struct{ Message struct{ Text string } }
					}
				}
			}
			PartialFingerprints map[string]string
		}
	}
}

type sarifRegion struct {
	StartLine, EndLine int
	Snippet            struct{ Text string }
}

func places(t *testing.T, r *diag.Report, opts Options) sarifPlaces {
	t.Helper()
	var p sarifPlaces
	if err := json.Unmarshal(written(t, "sarif", r, opts), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// one returns a report with one finding in a file with the given text.
func one(text string, span diag.Span) *diag.Report {
	return &diag.Report{
		Diagnostics: []diag.Diagnostic{{Rule: "a-b", Level: diag.LevelError, Message: "m", Location: span}},
		Source:      func(string) []byte { return []byte(text) },
	}
}

func TestSARIFRegions(t *testing.T) {
	long := "a: " + strings.Repeat("x", 2*maxSnippet)
	for _, c := range []struct {
		name, text       string
		span             diag.Span
		snippet, context string
		from, to         int
	}{
		{"word", "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\n", at("f", 3, 4, 3, 5), "3", "a: 1\nb: 2\nc: 3\nd: 4\ne: 5", 1, 5},
		{"first line", "a: 1\nb: 2\n", at("f", 1, 1, 1, 2), "a", "a: 1\nb: 2", 1, 2},
		{"several lines", "a:\n  b: 1\nc: 2\n", at("f", 1, 1, 2, 5), "a:\n  b:", "a:\n  b: 1\nc: 2", 1, 3},
		{"all there is", "a: 1\n", at("f", 1, 1, 1, 5), "a: 1", "", 0, 0},
		{"no line break", "a: 1", at("f", 1, 1, 1, 2), "a", "a: 1", 1, 1},
		{"crlf", "a: 1\r\nb: 2\r\n", at("f", 2, 4, 2, 5), "2", "a: 1\r\nb: 2", 1, 2},
		{"lone cr", "a: 1\rb: 2\nc: 3\n", at("f", 1, 9, 1, 10), "2", "a: 1\rb: 2\nc: 3", 1, 2},
		{"byte order mark", "\ufeffa: 1\nb: 2", at("f", 1, 1, 1, 2), "a", "a: 1\nb: 2", 1, 2},
		{"wide", "東京: 😀b", at("f", 1, 5, 1, 6), "😀", "東京: 😀b", 1, 1},
		{"long value", long, at("f", 1, 4, 1, 2*maxSnippet), "", "", 0, 0},
		{"long line", long, at("f", 1, 1, 1, 2), "a", "", 0, 0},
		{"beyond the file", "a: 1\n", at("f", 9, 1, 9, 2), "", "", 0, 0},
		{"beyond the line", "a:\nb: 1", at("f", 1, 9, 1, 10), "", "a:\nb: 1", 1, 2},
	} {
		got := places(t, one(c.text, c.span), Options{}).Runs[0].Results[0].Locations[0].PhysicalLocation
		if got.Region.Snippet.Text != c.snippet || got.ContextRegion.Snippet.Text != c.context {
			t.Errorf("%s: %q within %q, want %q within %q", c.name, got.Region.Snippet.Text, got.ContextRegion.Snippet.Text, c.snippet, c.context)
		}
		if got.ContextRegion.StartLine != c.from || got.ContextRegion.EndLine != c.to {
			t.Errorf("%s: lines %d to %d", c.name, got.ContextRegion.StartLine, got.ContextRegion.EndLine)
		}
	}
}

// The upload action does not hash a file that is not in the checkout.
func TestSARIFHashesOfTheRepositoryAlone(t *testing.T) {
	for file, want := range map[string]bool{"a.yaml": true, "<stdin>": false, "../a.yaml": false, "/etc/a.yaml": false, "..a.yaml": true} {
		prints := places(t, one("a: 1\n", at(file, 1, 1, 1, 2)), Options{}).Runs[0].Results[0].PartialFingerprints
		if hash, ok := prints["primaryLocationLineHash"]; ok != want || ok && hash != "4037987d9a8320d9:1" {
			t.Errorf("%q: %v", file, prints)
		}
		if len(prints["schedlint/v1"]) != 64 {
			t.Errorf("%q: no key of our own in %v", file, prints)
		}
	}
}

// A code flow needs several steps and must not be cut.
func TestSARIFCodeFlows(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 0, 2: 3, 5: 6, maxRelated - 2: maxRelated - 1, maxRelated: 0, 500: 0} {
		r := one("a: 1\n", at("f", 1, 1, 1, 2))
		for i := range n {
			r.Diagnostics[0].Related = append(r.Diagnostics[0].Related, diag.Related{Message: fmt.Sprint("step ", i), Location: at("f", 1, 4, 1, 5)})
		}
		r.Diagnostics[0].Related = append(r.Diagnostics[0].Related, diag.Related{Message: "no place"}, diag.Related{Location: at("f", 1, 1, 1, 1)})
		flows := places(t, r, Options{}).Runs[0].Results[0].CodeFlows
		if want == 0 {
			if len(flows) > 0 {
				t.Errorf("%d places: %v", n, flows)
			}
			continue
		}
		steps := flows[0].ThreadFlows[0].Locations
		if first, last := steps[0].Location.Message.Text, steps[len(steps)-1].Location.Message.Text; len(steps) != want || first != "step 0." || last != "m." {
			t.Errorf("%d places: %d steps from %s to %s", n, len(steps), first, last)
		}
	}
}

// The id in the file overrides the category that is passed to the upload action, so it must be
// present only on request. Text that names a repository must never be present.
func TestSARIFCategory(t *testing.T) {
	for category, want := range map[string]string{"": "", "nightly": "nightly/", "a/b/": "a/b/"} {
		opts := Options{Category: category}
		if got := places(t, canned(), opts).Runs[0].AutomationDetails.ID; got != want {
			t.Errorf("%q: got %q", category, got)
		}
		out := string(written(t, "sarif", canned(), opts))
		if category == "" && strings.Contains(out, "automationDetails") || strings.Contains(out, "versionControlProvenance") {
			t.Errorf("%q: too much is said", category)
		}
	}
}

func TestSARIFPrecision(t *testing.T) {
	for category, want := range map[string]string{
		"invalid": "very-high", "infeasible": "very-high", "ineffective": "high", "fragile": "high", "advice": "medium", "": "medium",
	} {
		rule := decoded(t, &diag.Report{Rules: []diag.Rule{{ID: "a-b", Category: category}}, Diagnostics: []diag.Diagnostic{{Rule: "a-b"}}}).Runs[0].Tool.Driver.Rules[0]
		if got := rule.Properties["precision"]; got != want {
			t.Errorf("%q: got %v, want %s", category, got, want)
		}
		if tags := rule.Properties["tags"].([]any); len(tags) > 10 {
			t.Errorf("%q: %d tags", category, len(tags))
		}
	}
}
