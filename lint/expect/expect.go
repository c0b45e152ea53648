// Package expect holds findings against what a fixture says of itself: a comment
// # want "pattern" on the line where a finding stands, # because "pattern" on that of a
// related place, each with as many patterns as there are findings.
//
// Contract: a pattern is a regular expression (RE2) that matches "rule: message; details".
// Every finding has to be wanted and every wanted one has to be there. Write puts the
// comments in place that findings ask for, and changes nothing else.
//
// Non-goals: running rules, choosing fixtures.
package expect

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

var (
	comment = regexp.MustCompile(`# (want|because)((?: "(?:[^"\\]|\\.)*")+)`)
	quoted  = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
)

// wanted is one pattern of a comment.
type wanted struct {
	file    string
	line    int
	kind    string
	pattern *regexp.Regexp
	met     bool
}

// Problem is a finding that is not wanted, or a wanted one that is missing.
type Problem struct {
	File    string
	Line    int
	Message string
}

// Said is all that a finding says.
func Said(d *diag.Diagnostic) string {
	return d.Rule + ": " + strings.Join(append([]string{d.Message}, d.Details...), "; ")
}

// Check holds findings against the comments of files, by name.
func Check(texts map[string][]byte, found []diag.Diagnostic) []Problem {
	var all []*wanted
	var problems []Problem
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		wants, bad := wantsOf(name, texts[name])
		all, problems = append(all, wants...), append(problems, bad...)
	}
	for i := range found {
		d := &found[i]
		if said := Said(d); !meet(all, "want", d.Location, said) {
			problems = append(problems, Problem{d.Location.File, d.Location.Line, "unexpected finding: " + said})
		}
		for _, r := range d.Related {
			meet(all, "because", r.Location, r.Message)
		}
	}
	for _, w := range all {
		if !w.met {
			problems = append(problems, Problem{w.file, w.line, fmt.Sprintf("missing finding: %s %q", w.kind, w.pattern)})
		}
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return problems
}

// wantsOf are the patterns of a text, and those that are none.
func wantsOf(name string, text []byte) (all []*wanted, bad []Problem) {
	for i, line := range bytes.Split(text, []byte("\n")) {
		for _, m := range comment.FindAllSubmatch(line, -1) {
			for _, q := range quoted.FindAllSubmatch(m[2], -1) {
				pattern, err := regexp.Compile(string(q[1]))
				if err != nil {
					bad = append(bad, Problem{name, i + 1, fmt.Sprintf("%q is no regular expression: %v", q[1], err)})
					continue
				}
				all = append(all, &wanted{file: name, line: i + 1, kind: string(m[1]), pattern: pattern})
			}
		}
	}
	return all, bad
}

// meet notes what expects something at a place, and reports whether anything does.
func meet(all []*wanted, kind string, at diag.Span, said string) (met bool) {
	for _, w := range all {
		if w.kind == kind && w.file == at.File && w.line == at.Line && w.pattern.MatchString(said) {
			w.met, met = true, true
		}
	}
	return met
}

// Write is a text whose comments want the findings in it, and nothing else. Comments that
// say because stay.
func Write(name string, text []byte, found []diag.Diagnostic) []byte {
	at := map[int][]string{}
	for i := range found {
		if d := &found[i]; d.Location.File == name {
			at[d.Location.Line] = append(at[d.Location.Line], regexp.QuoteMeta(Said(d)))
		}
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		lines[i] = withWants(line, at[i+1])
	}
	return []byte(strings.Join(lines, "\n"))
}

// withWants is a line that wants some patterns.
func withWants(line string, patterns []string) string {
	var kept []string
	for _, m := range comment.FindAllString(line, -1) {
		if strings.HasPrefix(m, "# because") {
			kept = append(kept, m)
		}
	}
	bare := strings.TrimRight(comment.ReplaceAllString(line, ""), " ")
	if bare == strings.TrimRight(line, " ") && len(patterns) == 0 {
		return line
	}
	slices.Sort(patterns)
	want := ""
	for _, p := range slices.Compact(patterns) {
		want += " " + strconv.Quote(p)
	}
	if want != "" {
		kept = append([]string{"# want" + unescaped(want)}, kept...)
	}
	return strings.TrimRight(bare+" "+strings.Join(kept, " "), " ")
}

// unescaped undoes what strconv.Quote does to backslashes: a comment has patterns as they
// are, and only quotes are escaped.
func unescaped(text string) string { return strings.ReplaceAll(text, `\\`, `\`) }
