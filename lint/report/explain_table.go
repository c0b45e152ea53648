package report

import (
	"fmt"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// maxNodeColumn bounds the width that node names give their column; wider names get a line of their
// own.
const maxNodeColumn = 24

// minRun is the smallest number of consecutive nodes that are shown by the first and the last one
// only.
const minRun = 7

// table writes every node once, with the filter that rejects the pod there.
func (e *explanation) table(t *diag.NodeTable) {
	e.b.WriteByte('\n')
	e.prose("", t.Caption)
	rows := [][3]string{{"node", "rejected by", "why"}}
	ranges := false
	for i := range t.Rows {
		r := &t.Rows[i]
		label, short := nodeLabel(r)
		ranges = ranges || short
		by := "-" // the filter that the scheduler would report
		if r.Outcome == diag.RowUnknown {
			by = "?"
		} else if len(r.Filters) > 0 {
			by = Visible(r.Filters[0])
		}
		rows = append(rows, [3]string{label, by, Visible(r.Why)})
	}
	names, filters := 0, 0
	for _, r := range rows {
		filters = max(filters, cells(r[1]))
		for _, line := range fold(r[0], maxNodeColumn) {
			if n := cells(line); n <= maxNodeColumn {
				names = max(names, n)
			}
		}
	}
	for _, r := range rows {
		e.row(r, names, filters)
	}
	if ranges {
		e.prose("  ", "a ... b: all nodes from a to b in topology order")
	}
}

// row writes one row; all its cells except the second may take several lines.
func (e *explanation) row(r [3]string, names, filters int) {
	left := fold(r[0], names)
	room := lineWidth - 2 - names - 2 - filters - 2
	right := fold(breakAtSlash(r[2], room), room)
	for len(left) > 0 && cells(left[0]) > names { // wider than the column
		fmt.Fprintf(e.b, "  %s\n", left[0])
		left = left[1:]
	}
	for i := range max(len(left), len(right)) {
		cell := func(list []string) string {
			if i < len(list) {
				return list[i]
			}
			return ""
		}
		by := ""
		if i == 0 {
			by = r[1]
		}
		line := "  " + pad(cell(left), names) + "  " + pad(by, filters) + "  " + cell(right)
		fmt.Fprintln(e.b, strings.TrimRight(line, " "))
	}
}

// nodeLabel names the nodes of a row; short is set if some are not spelled out.
func nodeLabel(r *diag.NodeRow) (label string, short bool) {
	if r.Pool != "" {
		return Visible(r.Pool), false
	}
	var parts []string
	for _, run := range r.Runs {
		if len(run) >= minRun {
			short = true
			parts = append(parts, fmt.Sprintf("%s ... %s (%d nodes)", Visible(run[0]), Visible(run[len(run)-1]), len(run)))
			continue
		}
		for _, name := range run {
			parts = append(parts, Visible(name))
		}
	}
	return strings.Join(parts, ", "), short
}

// breakAtSlash allows a break after the last slash of words that are too wide, such as taints.
func breakAtSlash(text string, room int) string {
	words := strings.Split(text, " ")
	for i, word := range words {
		if cells(word) > room {
			at := strings.LastIndexByte(word, '/') + 1
			words[i] = strings.TrimPrefix(word[:at]+" "+word[at:], " ")
		}
	}
	return strings.Join(words, " ")
}

func pad(s string, to int) string { return s + strings.Repeat(" ", max(0, to-cells(s))) }
