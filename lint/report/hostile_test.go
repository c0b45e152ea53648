package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
)

// attacks lists names that an attacker could give to a workload or a label.
var attacks = map[string]string{
	"lines":     "a\n::error::b\r\n  ::warning::c\n##[error]d",
	"parameter": "x,title=y::z%0A::error::",
	"terminal":  "\x1b[31m\x1b]0;t\a\u009b2J\u202e\u2066\u200b\xff",
	"html":      "</script><img src=x onerror=alert(1)><!-- --> &lt;b&gt; <details>",
	"xml":       "]]></failure><x a='\"'>&amp;\ufffe\x00",
	"markdown":  "[a](http://x) ![i](https://x/y.png) <http://x> **b** _c_ # d ~~e~~ $f$ [^1] | g | \\| h `i` ``j",
	"mention":   "@team @a/b #12 GH-12 a/b#12 :smile: www.example.com x@example.com deadbeefdeadbeef http://x ftp://x",
	"block":     "# a\n- b\n1. c\n> d\n\n---\n```\n@e\n```\n    f",
	"fence":     "```\n````\n~~~ @team </script>",
	"long":      strings.Repeat("`|<@\\", 64<<10/5),
	"wide":      strings.Repeat("\U000e0041", 64<<10/4),
	"word":      strings.Repeat("a", 64<<10),
	"empty":     "",
	"space":     " \t ",
}

// attacked returns a report in which an attacker controls every string.
func attacked(evil string) *diag.Report {
	span := at("dir/"+evil+".yaml", 2, 3, 2, 9)
	r := &diag.Report{
		Rules: []diag.Rule{{ID: "some-rule", Title: evil, Description: evil, Category: evil, Level: diag.LevelError, Since: evil, Related: []string{evil},
			Owner: evil, Runbook: evil, Tags: []string{evil, "https://" + evil}}, {ID: "other-rule", Runbook: "https://" + evil}},
		Diagnostics: []diag.Diagnostic{
			{
				Rule: "some-rule", Level: diag.LevelError, Message: "Pod " + evil + " has label " + evil + "=" + evil, Cluster: evil, Location: span,
				Object:  diag.Object{APIVersion: evil, Kind: evil, Namespace: evil, Name: evil},
				Related: []diag.Related{{Message: evil, Location: span}, {Message: evil}, {Message: evil, Location: span}},
				Fixes:   []diag.Fix{{Description: evil, Edits: []diag.Edit{{Location: span, NewText: evil}}}},
			},
			{Rule: evil, Level: diag.LevelNote, Message: evil},
		},
		Summary: diag.Summary{
			Notes: []string{evil}, Skipped: []diag.Skip{{Reason: evil, Count: 1, Places: []string{evil}}}, Unknown: []diag.Skip{{Reason: evil, Count: 3}},
		},
		Source: func(string) []byte { return []byte("kind: Pod\n" + evil + "\n" + evil) },
	}
	r.Sort()
	return r
}

// attackedPlacement returns a placement of workloads whose names an attacker controls.
func attackedPlacement(evil string) *diag.Placement {
	p := hostile()
	w := &p.Workloads[0]
	w.Kind, w.Namespace, w.Name = evil, evil, evil
	w.Core = []diag.PlacementCore{{File: evil, Field: evil, Text: evil}}
	w.Change.Drain.Reason, w.Change.Survives[0].Key, w.Repairs = evil, evil, []string{evil}
	p.Witness = []diag.PlacementStep{{Workload: evil, Node: evil, Zone: evil}}
	p.Notes, p.Unmodelled = []string{evil}, []string{evil}
	p.Invalid = []diag.PlacementInvalid{{Workload: evil, Field: evil, Message: evil}}
	return p
}

func TestAttacks(t *testing.T) {
	t.Parallel()
	for name, evil := range attacks {
		if trials.Few(t) && len(evil) > 1000 {
			continue
		}
		outputs := map[string]string{}
		for _, f := range Formats() {
			outputs[f] = string(written(t, f, attacked(evil), Options{}))
		}
		for f, out := range outputs {
			if err := wrong(f, out); err != nil {
				t.Errorf("%s in %s: %v", name, f, err)
			}
		}
		for _, f := range PlaceFormats() {
			if err := wrong(f, placementIn(t, f, attackedPlacement(evil))); err != nil {
				t.Errorf("%s in a placement as %s: %v", name, f, err)
			}
		}
	}
}

// FuzzNames searches for a name that a format does not neutralize.
func FuzzNames(f *testing.F) {
	for _, evil := range attacks {
		if len(evil) < 1000 {
			f.Add(evil)
		}
	}
	f.Fuzz(func(t *testing.T, evil string) {
		for _, format := range Formats() {
			if err := wrong(format, string(written(t, format, attacked(evil), Options{}))); err != nil {
				t.Errorf("%s: %v", format, err)
			}
		}
		if err := wrong("markdown", placementIn(t, "markdown", attackedPlacement(evil))); err != nil {
			t.Errorf("a placement: %v", err)
		}
	})
}

// wrong returns the defect in a document, given its format, or "".
func wrong(format, out string) error {
	if found := unsafeIn(format, out); found != "" {
		return errors.New(found)
	}
	switch format {
	case "json", "sarif", "gitlab":
		if !json.Valid([]byte(out)) {
			return errors.New("no JSON")
		}
	case "junit":
		return wrongXML(out)
	case "markdown", "comment":
		return wrongMarkdown(out)
	}
	return nil
}

// wrongXML parses a document and checks that it has the same number of JUnit elements as with
// harmless names.
func wrongXML(out string) error {
	seen := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(out)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if start, ok := token.(xml.StartElement); ok {
			seen[start.Name.Local]++
		}
	}
	if got := fmt.Sprint(seen); got != "map[failure:2 system-out:1 testcase:2 testsuite:1 testsuites:1]" {
		return fmt.Errorf("elements are %s", got)
	}
	return nil
}

var (
	// safeMarkdown matches the text that may occur outside code: words, lists, tables and the
	// headings of the format.
	safeMarkdown = regexp.MustCompile(`^(## |### |- |\| )?[A-Za-z0-9 ,.;:?()'"%|-]*$`)
)

// wrongMarkdown removes all code according to CommonMark and checks that only plain words are
// left.
func wrongMarkdown(out string) error {
	columns, fence := 0, ""
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if mark := backticks().FindString(line); fence != "" {
			if line == mark && len(mark) >= len(fence) {
				fence = ""
			}
			continue
		} else if len(mark) > 2 && line == mark+"text" {
			fence = mark
			continue
		}
		if strings.HasPrefix(line, "| ") {
			n := strings.Count(line, "|")
			if columns == 0 {
				columns = n
			}
			if n != columns {
				return fmt.Errorf("%d bars in a row, %d in the one before: %s", n, columns, line)
			}
		} else {
			columns = 0
		}
		if text := withoutCode(line); !safeMarkdown.MatchString(text) {
			return fmt.Errorf("outside of code: %.200q", text)
		}
	}
	if fence != "" {
		return errors.New("a fence does not end")
	}
	return nil
}

// withoutCode replaces every code span with one letter. A run of backticks starts a code span if a
// run of the same length follows.
func withoutCode(line string) string {
	var b strings.Builder
	for line != "" {
		at := backticks().FindStringIndex(line)
		if at == nil {
			break
		}
		mark, rest, end := line[at[0]:at[1]], line[at[1]:], -1
		for _, next := range backticks().FindAllStringIndex(rest, -1) {
			if next[1]-next[0] == len(mark) {
				end = next[1]
				break
			}
		}
		if end < 0 {
			break
		}
		b.WriteString(line[:at[0]] + "x")
		line = rest[end:]
	}
	return b.String() + line
}

func TestProse(t *testing.T) {
	for in, want := range map[string]string{
		"Deployment shop/web needs 5 distinct topology.kubernetes.io/zone values": "Deployment `shop/web` needs 5 distinct `topology.kubernetes.io/zone` values",
		"5. pods (3)":                            "`5`. pods (3)",
		"5) pods":                                "`5`) pods",
		"5 pods, 3 nodes":                        "5 pods, 3 nodes",
		"it isn't so (yet); the feedback has 3.": "it isn't so (yet); the feedback has 3.",
		"ask @team about #12, a/b#3":             "ask `@team` about `#12`, `a/b#3`",
		"[a](http://x) is `b`":                   "`[a](http://x)` is `` `b` ``",
		"<b> ## x":                               "`<b> ##` x",
		"deadbeef fffffff defaced fade":          "`deadbeef fffffff defaced` fade",
		"files (--render off, a/b) count (a/b":   "files (`--render` off, `a/b`) count (`a/b`",
		"none (a/b c/d, x), f(x (y/z)":           "none (`a/b c/d`, x), `f(x (y/z)`",
		"f(x) is 3 (a, b)":                       "`f(x)` is 3 (a, b)",
		"a  b\nc":                                "a `b\\nc`",
		"":                                       "",
	} {
		if got := prose(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestCode(t *testing.T) {
	for in, want := range map[string]string{
		"a": "`a`", "": "", "`": "`` ` ``", "a``b": "```a``b```", "`a": "`` `a ``", " a": "`  a `", "<b>|": "`<b>|`",
	} {
		if got := codeSpan(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
	if got := codeBlock("a\n```\n"); got != "````text\na\n```\n````" {
		t.Errorf("got %s", got)
	}
	if got := tableRow([]string{"a", "`b|c`", `\|`}); got != "| a | `b\\x7cc` | \\\\x7c |" {
		t.Errorf("got %s", got)
	}
}
