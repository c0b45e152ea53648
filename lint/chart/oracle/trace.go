package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/schedlint/schedlint/fixtures/charts"
	ours "github.com/schedlint/schedlint/lint/chart"
)

// traces counts the origins of the lines of rendered charts. It checks everything against the texts
// of the files, independently of the code that traced it.
type traces struct {
	lines, origin, exact, verified int
	valued, partValue, wrongValue  int
	items, wrongItem               int
	scheduling, schedulingValued   int
	schedulingHere                 int
	// changed counts values that were changed, undecided those whose change makes the chart fail or
	// print other lines, and unchanged the lines that stay the same.
	changed, undecided, unchanged int
	shown                         map[string]int
}

// maxShown limits the lines of one kind that are printed.
const maxShown = 25

func (t *traces) show(kind, format string, args ...any) {
	if t.shown == nil {
		t.shown = map[string]int{}
	}
	if t.shown[kind]++; t.shown[kind] <= maxShown {
		fmt.Printf("%s: %s\n", kind, fmt.Sprintf(format, args...))
	}
}

// add counts the lines of a rendered chart.
func (t *traces) add(name string, c *charts.Case, res *ours.Result) {
	s := &sources{c: c, lines: map[string][]string{}, values: map[string]*positions{}}
	for _, m := range res.Manifests {
		lines := strings.Split(strings.TrimSuffix(string(m.Text), "\n"), "\n")
		if len(m.Text) == 0 {
			continue
		}
		if len(m.Lines) != len(lines) {
			t.show("COUNT", "%s: %s has %d lines and %d origins", name, m.Template, len(lines), len(m.Lines))
			continue
		}
		under := scheduling(lines)
		if strings.Contains(string(m.Text), "kind: CustomResourceDefinition") {
			under = make([]bool, len(lines))
		}
		for i, line := range lines {
			where := fmt.Sprintf("%s: %s:%d %.120q", name, m.Template, i+1, line)
			t.line(s, where, line, m.Lines[i])
			if under[i] {
				t.placed(where, m.Lines[i])
			}
		}
	}
	t.causes(s, name, res)
}

// line checks one line and its origin.
func (t *traces) line(s *sources, where, line string, o ours.Origin) {
	t.lines++
	if o.Template == "" || o.Line < 1 {
		t.show("NO ORIGIN", "%s", where)
		return
	}
	t.origin++
	if o.Exact {
		t.exact++
		text, ok := s.line(o.Template, o.Line)
		if ok && holds(text, line) {
			t.verified++
		} else {
			t.show("NOT VERIFIED", "%s\n    %s:%d %q", where, o.Template, o.Line, text)
		}
	}
	t.item(s, where, line, o)
	if o.Values.File == "" {
		return
	}
	t.valued++
	switch why := s.wrong(o.Values, line); why {
	case "":
	case partly:
		t.partValue++
		t.show("PART OF THE LINE", "%s\n    %+v", where, o.Values)
	default:
		t.wrongValue++
		t.show("WRONG VALUE", "%s\n    %+v %s", where, o.Values, why)
	}
}

// item checks the place of the item that begins on a line.
func (t *traces) item(s *sources, where, line string, o ours.Origin) {
	if o.Item.Line == 0 {
		return
	}
	t.items++
	if why := s.wrongItem(o.Item, line); why != "" {
		t.wrongItem++
		t.show("WRONG ITEM", "%s\n    %+v %s", where, o.Item, why)
	}
}

// placed counts a line of a scheduling constraint.
func (t *traces) placed(where string, o ours.Origin) {
	t.scheduling++
	switch {
	case o.Values.File != "":
		t.schedulingValued++
	case o.Exact:
		t.schedulingHere++
	default:
		t.show("SCHEDULING WITHOUT A PLACE", "%s  %s:%d", where, o.Template, o.Line)
	}
}

func (t *traces) print() {
	share := func(n, of int) string { return fmt.Sprintf("%8d  %5.2f %%", n, 100*float64(n)/float64(max(of, 1))) }
	fmt.Printf("%8d            lines\n", t.lines)
	fmt.Println(share(t.origin, t.lines), "have an origin")
	fmt.Println(share(t.exact, t.lines), "are exact")
	fmt.Println(share(t.verified, t.exact), "of these are verified by text")
	fmt.Println(share(t.valued, t.lines), "reach a line of values")
	fmt.Println(share(t.partValue, t.valued), "of these are a part of the line")
	fmt.Println(share(t.wrongValue, t.valued), "of these are not the value there")
	fmt.Println(share(t.items, t.lines), "begin an item of values")
	fmt.Println(share(t.wrongItem, t.items), "of these are no such item there")
	fmt.Printf("%8d            values changed at places of lines\n", t.changed)
	fmt.Println(share(t.undecided, t.changed), "of these change what else is printed, or fail")
	fmt.Println(share(t.unchanged, t.changed), "of these leave the line as it is")
	fmt.Printf("%8d            lines of scheduling constraints and replicas\n", t.scheduling)
	fmt.Println(share(t.schedulingValued, t.scheduling), "of these reach a line of values")
	fmt.Println(share(t.schedulingHere, t.scheduling), "of these are written in the template")
}

var scheduled = regexp.MustCompile(`^( *)(- )?(affinity|tolerations|topologySpreadConstraints|nodeSelector|replicas):`)

// scheduling marks the lines of scheduling constraints: a key and everything below it.
func scheduling(lines []string) []bool {
	under := make([]bool, len(lines))
	for i := 0; i < len(lines); i++ {
		m := scheduled.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		at := len(m[1]) + len(m[2])
		under[i] = true
		for i+1 < len(lines) && isBelow(lines[i+1], at) {
			i++
			under[i] = strings.TrimSpace(lines[i]) != ""
		}
	}
	return under
}

// isBelow reports whether a line belongs to a key with an indentation: it is deeper, or a list item
// with the same indentation.
func isBelow(line string, at int) bool {
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	return text == "" || indent > at || indent == at && strings.HasPrefix(text, "- ")
}

var actions = regexp.MustCompile(`(?s)\{\{.*?\}\}`)

// holds reports whether a line of the output contains, in order, the text of a template line
// outside of actions. Actions may begin or end on other lines.
func holds(template, line string) bool {
	if end := strings.Index(template, "}}"); end >= 0 && !strings.Contains(template[:end], "{{") {
		template = "{{" + template[:end] + template[end:]
	}
	if start := strings.LastIndex(template, "{{"); start >= 0 && !strings.Contains(template[start:], "}}") {
		template = template[:start] + "{{}}"
	}
	rest := line
	for _, piece := range strings.Split(actions.ReplaceAllString(template, "\x00"), "\x00") {
		piece = strings.TrimSpace(piece)
		i := strings.Index(rest, piece)
		if i < 0 {
			return false
		}
		rest = rest[i+len(piece):]
	}
	if !strings.Contains(template, "{{") {
		return strings.TrimSpace(template) == strings.TrimSpace(line)
	}
	return true
}
