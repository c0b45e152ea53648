package lint

import (
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/render"
)

// byTemplate is said of the line of a template that prints a value.
const byTemplate = "printed by this line of the template"

// fromLine is where a line of the result of a chart was written: the value in a values
// file, and else the line of the template. A value has the line of its template as well.
func (r *renders) fromLine(x *rendered, s diag.Span, unknown origin.Place) origin.Place {
	if s.Line < 1 || s.Line > len(x.out.Lines) {
		return unknown
	}
	at := x.out.Lines[s.Line-1]
	template, known := r.lineOf(x, at.Template, at.At, 1)
	if value, ok := r.lineOf(x, at.Values, at.ValuesAt, at.ValuesColumn); ok {
		return origin.Place{Span: value, Template: template}
	}
	if !known {
		return unknown
	}
	return origin.Place{Span: template}
}

// lineOf is a line of a file of a chart, from a column on.
func (r *renders) lineOf(x *rendered, file, line, column int) (diag.Span, bool) {
	if file < 0 {
		return diag.Span{}, false
	}
	text := x.mapper.Read(x.out.Files[file])
	if text == nil || line < 1 || line > text.LineCount() {
		return diag.Span{}, false
	}
	name := x.name(x.out.Files[file])
	if r.files.byName[name] == nil {
		r.files.byName[name] = text
	}
	at := text.LineSpan(line)
	at.File = name
	// A value among others of its line is pointed at; one that is alone, with its key.
	if all := []rune(text.Line(line)); column <= len(all) && strings.ContainsAny(string(all[:column-1]), "{[") {
		at.Column = column
	}
	return at, true
}

// chartNotRendered are the words of the summary for charts.
var chartNotRendered = map[string]string{
	render.Failed:  "chart that does not render",
	render.Refused: "chart that is not rendered here",
	render.Killed:  "chart that takes too long to render",
}
