// Package expect compares findings with the comments of a fixture. A comment # want "pattern" is on
// the line of a finding, and a comment # because "pattern" is on the line of a related location.
// Each comment has one pattern for each finding.
//
// Contract: a pattern is a regular expression (RE2) that matches "rule: message; details". Every
// finding must match a comment, and every comment must match a finding. Write inserts the comments
// for the given findings and changes nothing else.
//
// Non-goals: running rules, choosing fixtures.
package expect

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
)

var (
	comment = regexp.MustCompile(`# (want|because)((?: "(?:[^"\\]|\\.)*")+)`)
	quoted  = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
)

// wanted is one pattern in a comment.
type wanted struct {
	file    string
	line    int
	kind    string
	pattern *regexp.Regexp
	met     bool
}

// Problem is an unexpected finding, a missing finding, or an invalid pattern.
type Problem struct {
	File    string
	Line    int
	Message string
}

// Said returns the rule, the message and the details of a finding as one string.
func Said(d *diag.Diagnostic) string {
	return d.Rule + ": " + strings.Join(append([]string{d.Message}, d.Details...), "; ")
}

// Check compares findings with the comments in texts, which maps file names to contents.
func Check(texts map[string][]byte, found []diag.Diagnostic) []Problem {
	var all []*wanted
	var problems []Problem
	for _, name := range sorting.Keys(texts) {
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
	sorting.Stable(problems, func(a, b Problem) int { return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return problems
}

// wantsOf returns the patterns in a file, and a problem for each invalid one.
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

// meet marks the patterns that match the text in said and are on the same line as the span at. It
// reports whether there are any such patterns.
func meet(all []*wanted, kind string, at diag.Span, said string) (met bool) {
	for _, w := range all {
		if w.kind == kind && w.file == at.File && w.line == at.Line && w.pattern.MatchString(said) {
			w.met, met = true, true
		}
	}
	return met
}

// Write returns the text with # want comments that expect exactly the given findings. It keeps the
// # because comments.
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

// withWants returns a line with a want comment for the given patterns.
func withWants(line string, patterns []string) string {
	kept := lists.Where(comment.FindAllString(line, -1), func(m string) bool { return strings.HasPrefix(m, "# because") })
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
		// a comment contains patterns verbatim, so only quotes are escaped
		kept = append([]string{"# want" + strings.ReplaceAll(want, `\\`, `\`)}, kept...)
	}
	return strings.TrimRight(bare+" "+strings.Join(kept, " "), " ")
}
