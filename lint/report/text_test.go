package report

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

func TestSnippet(t *testing.T) {
	long := strings.Repeat("a", 100) + "HERE" + strings.Repeat("b", 100)
	for _, c := range []struct {
		name, source string
		span         diag.Span
		want         string
	}{
		{"word", "a: bcd", at("f", 1, 4, 1, 7), "a: bcd\n   ^~~"},
		{"one character", "a: b", at("f", 1, 4, 1, 5), "a: b\n   ^"},
		{"no end", "a: b", at("f", 1, 4, 0, 0), "a: b\n   ^"},
		{"end before start", "a: b", at("f", 1, 4, 1, 2), "a: b\n   ^"},
		{"no column", "a: b", at("f", 1, 0, 1, 0), "a: b\n^"},
		{"beyond the line", "a: b", at("f", 1, 40, 1, 50), "a: b\n    ^"},
		{"several lines", "a:\n  b: c\nd", at("f", 1, 1, 3, 2), "a:\n^~"},
		{"blanks at the end", "a: b \t", at("f", 1, 1, 2, 1), "a: b\n^~~~"},
		{"crlf", "a\r\nbc\r\n", at("f", 2, 1, 2, 3), "bc\n^~"},
		{"lone cr", "a\rbc\r", at("f", 1, 3, 1, 5), `a\rbc` + "\n   ^~"},
		{"byte order mark", "\ufeffab: c", at("f", 1, 1, 1, 3), "ab: c\n^~"},
		{"tab", "\ta: b", at("f", 1, 2, 1, 3), "    a: b\n    ^"},
		{"wide", "東京: 大阪 x", at("f", 1, 5, 1, 7), "東京: 大阪 x\n      ^~~~"},
		{"combining", "e\u0301e\u0301 b", at("f", 1, 6, 1, 7), "e\u0301e\u0301 b\n   ^"},
		{"escaped", "\u202eab", at("f", 1, 2, 1, 4), `\u202eab` + "\n      ^~"},
		{"cut on both sides", long, at("f", 1, 101, 1, 105), "..." + strings.Repeat("a", 40) + "HERE" + strings.Repeat("b", 76) + "...\n" + strings.Repeat(" ", 43) + "^~~~"},
		{"cut at the end", long, at("f", 1, 1, 1, 2), strings.Repeat("a", 100) + "HERE" + strings.Repeat("b", 16) + "...\n^"},
		{"cut at the start", long, at("f", 1, 204, 1, 205), "..." + strings.Repeat("b", 41) + "\n" + strings.Repeat(" ", 43) + "^"},
		{"cut span", long, at("f", 1, 1, 1, 205), strings.Repeat("a", 100) + "HERE" + strings.Repeat("b", 16) + "...\n^" + strings.Repeat("~", 119)},
		{"empty line", "\na", at("f", 1, 1, 1, 1), "\n^"},
	} {
		s, ok := newSources(&diag.Report{Source: func(string) []byte { return []byte(c.source) }}).snippet(c.span)
		if got := s.text + "\n" + s.marks; !ok || got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestNoSnippet(t *testing.T) {
	src := newSources(&diag.Report{Source: func(file string) []byte {
		return map[string][]byte{"f": []byte("a\nb")}[file]
	}})
	for _, span := range []diag.Span{{}, at("f", 3, 1, 3, 2), at("f", -1, 1, 1, 1), at("gone", 1, 1, 1, 2)} {
		if s, ok := src.snippet(span); ok {
			t.Errorf("%v: %+v", span, s)
		}
	}
	if _, ok := newSources(&diag.Report{}).snippet(at("f", 1, 1, 1, 2)); ok {
		t.Error("a snippet without sources")
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 東京 e\u0301":         "plain é 東京 e\u0301",
		"\x1b[31m":                   `\x1b[31m`,
		"a\r\nb\tc\x00\x7f":          `a\r\nb\tc\x00\x7f`,
		"\u202e\u2066\u2069":         `\u202e\u2066\u2069`,
		"\u200b\u200d\ufeff\u00ad":   `\u200b\u200d\ufeff\u00ad`,
		"\u3164\ufe0f\U000e0041":     `\u3164\ufe0f\U000e0041`,
		"\u00a0\u2028\u0085":         `\u00a0\u2028\u0085`,
		"\x9b\xff\ufffd":             `\x9b\xff` + "\ufffd",
		"##[error]x ###[a] ##vso[b]": `#\x23[error]x ##\x23[a] #\x23vso[b]`,
		"## heading # [x] ##(":       "## heading # [x] ##(",
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestNotCommand(t *testing.T) {
	for in, want := range map[string]string{
		"::error::x": `\x3a:error::x`, "  ::error::x": `  \x3a:error::x`, "a::b": "a::b", ":a": ":a", "": "",
	} {
		if got := notCommand(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestWidth(t *testing.T) {
	for r, want := range map[rune]int{
		'a': 1, 'é': 1, 'Ж': 1, '\u0301': 0, '\u20dd': 0, '東': 2, 'ア': 2, 'ｱ': 1, '！': 2, '한': 2, '\u1161': 0, '😀': 2, '…': 1, '\U0002070e': 2,
	} {
		if got := width(r); got != want {
			t.Errorf("%c: got %d, want %d", r, got, want)
		}
	}
}

func TestSummaryLine(t *testing.T) {
	for want, s := range map[string]diag.Summary{
		"12 documents, 5 workloads, 6 nodes; skipped 2 (1 Helm template, 1 kustomization file); 1 error, 2 warnings": {
			Documents: 12, Workloads: 5, Nodes: 6, TopologyDeclared: true, Errors: 1, Warnings: 2,
			Skipped: []diag.Skip{{Reason: "Helm template", Count: 1}, {Reason: "kustomization file", Count: 1}},
		},
		"1 document, 1 workload, 1 node; no findings": {Documents: 1, Workloads: 1, Nodes: 1, TopologyDeclared: true},
		"1 document, 0 workloads, 0 nodes; 1 note":    {Documents: 1, TopologyDeclared: true, NoteFindings: 1},
		"0 documents, 0 workloads, no topology; skipped 3 (3 a\\nbs); no findings": {
			Skipped: []diag.Skip{{Reason: "a\nb", Count: 3}},
		},
	} {
		if got := string(written(t, "text", &diag.Report{Summary: s}, Options{})); got != want+"\n" {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestProved checks what a run without findings says about workloads.
func TestProved(t *testing.T) {
	type answers = map[diag.Outcome]int
	yes := func(n int) answers { return answers{diag.Always: n} }
	for want, s := range map[string]diag.Summary{
		"86 workloads: all fit, roll and drain; 3 are down while a node is (one replica)": {
			Proved: &diag.Proved{Workloads: 86, Fit: yes(86), Roll: answers{diag.Always: 80, diag.None: 6}, Drain: answers{diag.Always: 79, diag.None: 7}, SingleReplica: 3},
		},
		"1 workload: fits, rolls and drains; 1 is down while a node is (one replica)": {
			Proved: &diag.Proved{Workloads: 1, Fit: yes(1), Roll: yes(1), Drain: yes(1), SingleReplica: 1},
		},
		"9 workloads: all fit and drain; 4 of 8 roll (1 never, 1 sometimes, 2 unknown)": {
			Proved: &diag.Proved{Workloads: 9, Fit: yes(9), Roll: answers{diag.Always: 4, diag.Never: 1, diag.Sometimes: 1, diag.Unknown: 2, diag.None: 1}, Drain: yes(9)},
		},
		"2 workloads: all roll and drain; whether they fit is unknown": {
			NoteFindings: 1, Proved: &diag.Proved{Workloads: 2, Fit: answers{diag.Unknown: 2}, Roll: yes(2), Drain: yes(2)},
		},
		"2 workloads: all fit; 2 more rejected, running or repeated": {
			Workloads: 4, Proved: &diag.Proved{Workloads: 2, Fit: yes(2), Roll: answers{diag.None: 2}, Drain: answers{diag.None: 2}},
		},
	} {
		if got := provedText(&s); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		for _, format := range []string{"text", "markdown"} {
			if got := string(written(t, format, &diag.Report{Summary: s}, Options{})); strings.Count(got, want) != 1 {
				t.Errorf("%s: got %s, want %s", format, got, want)
			}
		}
	}
	unknown := answers{diag.Unknown: 2}
	for _, s := range []diag.Summary{
		{Workloads: 2}, {Proved: &diag.Proved{}}, {Proved: &diag.Proved{Workloads: 2, Fit: unknown, Roll: unknown, Drain: unknown}},
		{Warnings: 1, Proved: &diag.Proved{Workloads: 1, Fit: yes(1), Roll: yes(1), Drain: yes(1)}},
	} {
		if got := provedText(&s); got != "" {
			t.Errorf("got %s", got)
		}
	}
}

// Options.Color must not change anything except colors.
func TestColorIsDecoration(t *testing.T) {
	out := string(written(t, "text", canned(), Options{Color: true}))
	for _, style := range []string{bold, dim, red, green, yellow, cyan, "0"} {
		out = strings.ReplaceAll(out, "\x1b["+style+"m", "")
	}
	if plain := string(written(t, "text", canned(), Options{})); out != plain {
		t.Errorf("got\n%s\nwant\n%s", out, plain)
	}
}

// FuzzText renders arbitrary bytes, as an untrusted repository may contain them.
func FuzzText(f *testing.F) {
	f.Add("name\x1b[0m", "::error::.yaml", "kind: Pod\r\n", 1, 2, 1, 5)
	f.Add("\u202e##[debug]", " ::x::", "\t東\xff\u200b", 1, -1, 9, 9)
	f.Add("", "", strings.Repeat("猫", 200), 1, 150, 1, 180)
	f.Fuzz(func(t *testing.T, message, file, source string, line, column, endLine, endColumn int) {
		span := at(file, line, column, endLine, endColumn)
		object := diag.Object{Kind: message, Name: file}
		r := &diag.Report{
			Diagnostics: []diag.Diagnostic{{
				Rule: message, Level: diag.LevelError, Message: message, Object: object, Cluster: source, Location: span,
				Related: []diag.Related{{Message: source, Location: span}},
				Fixes:   []diag.Fix{{Description: message, Edits: []diag.Edit{{Location: span, NewText: source}}}},
			}},
			Rules:   []diag.Rule{{ID: source, Title: message, Related: []string{file}}},
			Summary: diag.Summary{Notes: []string{message}, Skipped: []diag.Skip{{Reason: message, Count: 1, Places: []string{file}}}},
			Version: file,
			Source:  func(string) []byte { return []byte(source) },
		}
		for _, format := range Formats() {
			if found := unsafeIn(format, string(written(t, format, r, Options{}))); found != "" {
				t.Errorf("%s: %s", format, found)
			}
		}
	})
}

// TestOffset checks offsets in long lines against counting runes, in any order of calls.
func TestOffset(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	for range 5000 {
		b.WriteString([]string{"a", "é", "東", "😀", "\xff"}[r.IntN(5)])
	}
	line := b.String()
	f := newFile("x\n" + line)
	for range 2000 {
		n := r.IntN(5200)
		if got, want := f.offset(2, line, n), runeOffset(line, n); got != want {
			t.Fatalf("rune %d is at %d, found %d", n, want, got)
		}
	}
}
