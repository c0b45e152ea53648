package main

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/schedlint/schedlint/fixtures/charts"
	ours "github.com/schedlint/schedlint/lint/chart"
)

// maxCauses limits the places of one rendering that are changed.
const maxCauses = 6

// causes changes values at the places of lines, and counts the lines that do not change with them.
func (t *traces) causes(s *sources, name string, res *ours.Result) {
	type claim struct {
		template string
		line     int
		at       ours.Place
	}
	var all []claim
	for _, m := range res.Manifests {
		for i, o := range m.Lines {
			if o.Values.Line > 0 && s.changed(o.Values) != nil {
				all = append(all, claim{m.Template, i, o.Values})
			}
		}
	}
	order := func(c claim) uint64 {
		h := fnv.New64a()
		fmt.Fprint(h, name, c)
		return h.Sum64()
	}
	slices.SortFunc(all, func(a, b claim) int { return compareNumbers(order(a), order(b)) })
	for _, c := range all[:min(maxCauses, len(all))] {
		again, err := render(input(s.changed(c.at)))
		before, after := textOf(res, c.template), textOf(again, c.template)
		t.changed++
		switch {
		case err != nil || len(before) != len(after):
			t.undecided++
		case before[c.line] == after[c.line]:
			t.unchanged++
			t.show("UNCHANGED", "%s: %s:%d %.120q\n    %+v", name, c.template, c.line+1, before[c.line], c.at)
		}
	}
}

func compareNumbers(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func textOf(res *ours.Result, template string) []string {
	if res != nil {
		for _, m := range res.Manifests {
			if m.Template == template {
				return strings.Split(string(m.Text), "\n")
			}
		}
	}
	return nil
}

// changed returns the case with another value at a place, or nil if the place is not a plain scalar
// on one line of a file that can be changed.
func (s *sources) changed(at ours.Place) *charts.Case {
	n := s.node(at)
	text, ok := s.line(at.File, at.Line)
	if n == nil || !ok || n.Kind != yaml3.ScalarNode || n.Style&isKey != 0 || strings.Contains(n.Value, "\n") {
		return nil
	}
	from := len(string([]rune(text)[:at.Column-1]))
	spelled := spelling(n)
	if !strings.HasPrefix(text[from:], spelled) {
		return nil
	}
	lines := slices.Clone(s.lines[at.File])
	lines[at.Line-1] = text[:from] + other(n) + text[from+len(spelled):]
	k := s.c.Copy()
	for _, list := range [][]charts.File{k.Values, k.Files} {
		for i, f := range list {
			if f.Name == at.File {
				list[i].Data = []byte(strings.Join(lines, "\n"))
				return k
			}
		}
	}
	return nil
}

func spelling(n *yaml3.Node) string {
	switch n.Style &^ isTable {
	case yaml3.DoubleQuotedStyle:
		return `"` + n.Value + `"`
	case yaml3.SingleQuotedStyle:
		return `'` + n.Value + `'`
	}
	return n.Value
}

// other returns another value of the same type.
func other(n *yaml3.Node) string {
	switch {
	case n.ShortTag() == "!!int" || n.ShortTag() == "!!float":
		return "4711"
	case n.ShortTag() == "!!bool" && decoded(n.Value) == true:
		return "false"
	case n.ShortTag() == "!!bool":
		return "true"
	}
	return `"` + strings.Map(func(r rune) rune {
		if r == '"' || r == '\\' {
			return 'x'
		}
		return r
	}, n.Value) + `z"`
}
