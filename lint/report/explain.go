package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
)

// WriteExplanation writes an explanation of findings to w as text.
func WriteExplanation(w io.Writer, x *diag.Explanation) error {
	var b strings.Builder
	e := &explanation{b: &b, x: x, src: &sources{read: x.Source, files: map[string]*file{}}}
	e.answers()
	for i := range x.Found {
		if i > 0 || x.Workload != "" {
			b.WriteByte('\n')
		}
		e.found(&x.Found[i])
	}
	if len(x.Near) > 0 {
		fmt.Fprintln(&b, "\nfindings elsewhere in this file")
	}
	for i := range x.Near {
		d := &x.Near[i]
		e.prose("  ", fmt.Sprintf("%s: %s [%s]", e.place(d.Location), d.Level, d.Rule))
	}
	e.notes(x.Notes)
	for _, line := range Incomplete(x.Failures) {
		fmt.Fprintln(&b, line)
	}
	return lines(w, b.String())
}

// explanation writes a diag.Explanation as text.
type explanation struct {
	b   *strings.Builder
	x   *diag.Explanation
	src *sources
}

// prose writes text in lines of at most lineWidth cells, with a deeper indentation for all lines
// after the first.
func (e *explanation) prose(indent, text string) {
	writeFolded(e.b, indent, indent+"  ", Visible(text))
}

// place returns file:line:col with the display name of the file.
func (e *explanation) place(s diag.Span) string {
	t := textWriter{display: e.x.Display}
	return t.place(s)
}

// answers writes where the workload that was asked for is declared, and what place says about it.
func (e *explanation) answers() {
	if e.x.Workload == "" {
		return
	}
	fmt.Fprintln(e.b, e.place(e.x.Declared)+": "+Visible(e.x.Workload))
	for i := range e.x.Answers {
		p := &e.x.Answers[i]
		if len(e.x.Answers) > 1 {
			fmt.Fprintf(e.b, "\n%s\n", contextTitle(p))
		}
		workloadTable(e.b, p, true)
		if len(e.x.Found) > 0 && e.x.Found[0].Diagnostic == nil { // otherwise the findings have the same
			cores(e.b, p)
		}
		for _, r := range limits(p) {
			e.prose("", r)
		}
	}
}

func (e *explanation) found(f *diag.Explained) {
	if d := f.Diagnostic; d != nil {
		// The rationale of its rule follows a finding.
		fmt.Fprintln(e.b, Visible(fmt.Sprintf("%s: %s: %s [%s]", e.place(d.Location), d.Level, message(d), d.Rule)))
		if s, ok := e.src.snippet(d.Location); ok {
			gutter := fmt.Sprint(d.Location.Line)
			fmt.Fprintf(e.b, " %s | %s\n", gutter, s.text)
			fmt.Fprintf(e.b, " %*s | %s\n", len(gutter), "", s.marks)
		}
		for _, detail := range details(d) {
			writeFolded(e.b, "  = ", "    ", Visible(detail))
		}
		if f.Rule.Title != "" {
			e.prose("", fmt.Sprintf("rule: %s (schedlint rules %s)", f.Rule.Title, f.Rule.ID))
		}
		first, _, _ := strings.Cut(strings.Join(strings.Fields(f.Rule.Description), " "), ". ")
		if why := strings.TrimSuffix(first, "."); why != "" {
			e.prose("", "why: "+why)
		}
	} else if e.x.Workload != "" {
		fmt.Fprintln(e.b, "no findings")
	} else {
		what := "no finding"
		if e.x.Rule != "" {
			what += " of " + e.x.Rule
		}
		e.prose("", fmt.Sprintf("%s: %s on this line, which belongs to %s", e.x.Place, what, f.Name))
	}
	for i := range f.Tables {
		e.table(&f.Tables[i])
	}
	if len(f.Notes) > 0 {
		e.b.WriteByte('\n')
	}
	e.notes(f.Notes)
	var fixes []diag.Fix
	if f.Diagnostic != nil {
		fixes = f.Diagnostic.Fixes
	}
	if len(fixes)+len(f.Repairs) == 0 {
		return
	}
	fmt.Fprintln(e.b, "\nproposed changes")
	for i := range fixes {
		e.prose("  ", "help: "+fixes[i].Description)
		for _, edit := range fixes[i].Edits {
			e.edit(edit)
		}
	}
	if f.Tried != "" {
		e.prose("  ", f.Tried)
	}
	if len(f.Repairs) > 0 {
		e.prose("  ", "tried on the declared nodes: with any one of these "+f.Yield)
		for _, r := range f.Repairs {
			e.prose("    ", "- "+r)
		}
	}
}

// edit writes the old and the new version of the line that an edit changes.
func (e *explanation) edit(edit diag.Edit) {
	at := edit.Location
	line, ok := e.src.file(at.File).line(at.Line)
	if !ok || at.EndLine != at.Line {
		return
	}
	from, to := runeOffset(line, at.Column-1), runeOffset(line, at.EndColumn-1)
	fmt.Fprintf(e.b, "    %s\n", Visible(e.place(diag.Span{File: at.File, Line: at.Line})))
	fmt.Fprintf(e.b, "    - %s\n", Visible(strings.TrimSpace(line)))
	fmt.Fprintf(e.b, "    + %s\n", Visible(strings.TrimSpace(line[:from]+edit.NewText+line[to:])))
}

func (e *explanation) notes(all []string) {
	for _, n := range all {
		e.prose("", "note: "+n)
	}
}

// maxNodeColumn is the maximum width of the node name column. Longer names are written on their own
// line.
const maxNodeColumn = 24

// minRun is the minimum number of consecutive nodes that a table abbreviates to the first and the
// last name.
const minRun = 7

// table writes a table that lists every node once. The table names the filter that rejects the pod
// on the node.
func (e *explanation) table(t *diag.NodeTable) {
	e.b.WriteByte('\n')
	e.prose("", t.Caption)
	rows := [][3]string{{"node", "rejected by", "why"}}
	ranges := false
	for i := range t.Rows {
		r := &t.Rows[i]
		label, short := nodeLabel(r)
		ranges = ranges || short
		by := "-" // the first filter, which is the one that the scheduler would report
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
		// Every cell except the second can span several lines.
		left := fold(r[0], names)
		room := lineWidth - 2 - names - 2 - filters - 2
		right := fold(breakAtSlash(r[2], room), room)
		for len(left) > 0 && cells(left[0]) > names { // a name wider than the column
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
	if ranges {
		e.prose("  ", "a ... b: all nodes from a to b in topology order")
	}
}

// nodeLabel returns the label of a table row: the name of a pool or the names of the nodes. The
// result short is true if the label abbreviates the names to a range.
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
		parts = append(parts, lists.Of(run, Visible)...)
	}
	return strings.Join(parts, ", "), short
}

// breakAtSlash splits each word that is too wide, such as a taint, after its last slash.
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
