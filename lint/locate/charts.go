package locate

import (
	"fmt"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
)

// findHooks marks the objects that are hooks of the tool that deploys the render.
func (x *Rendered) findHooks() {
	hook := source.HelmHook
	switch {
	case x.Argo:
		hook = source.ArgoHook
	case x.Root.Chart == nil:
		return
	}
	for _, o := range x.Objects {
		o.Hook = hook(o)
	}
}

// PrintedBy returns the template line that printed a line, even if its value comes from a
// values file.
func (r *Renders) PrintedBy(x *Rendered, s diag.Span) diag.Span {
	at := r.SourceOf(x, s)
	if !at.Template.IsZero() {
		return at.Template
	}
	return at.Span
}

// byTemplate is the message for the template line that prints a value.
const byTemplate = "printed by this line of the template"

// fromLine returns where a line that a chart printed was written: the value in a values file,
// or else the line of the template. A value has the line of its template as well. Name is a key
// of Output.Charts, or "" for the result itself.
func (r *Renders) fromLine(x *Rendered, name string, s diag.Span, unknown origin.Place) origin.Place {
	printed, text := x.Out, x.File
	if name != "" {
		printed, text = x.Out.Charts[name], x.printed[name]
	}
	if s.Line < 1 || s.Line > len(printed.Lines) {
		return unknown
	}
	at := printed.Lines[s.Line-1]
	template, known := r.lineOf(x, fileOf(printed, at.Template), at.At, 1)
	if at.Item >= 0 && isItem(text.Line(s.Line), s) {
		at.Values, at.ValuesAt, at.ValuesColumn = at.Item, at.ItemAt, at.ItemColumn
	}
	inside := insideOf(printed, at)
	if value, ok := r.lineOf(x, fileOf(printed, at.Values), at.ValuesAt, at.ValuesColumn); ok {
		return origin.Place{Span: value, Template: template, Inside: inside}
	}
	if !known {
		return unknown
	}
	return origin.Place{Span: template, Inside: inside, Whole: inside != ""}
}

// mostName is the maximum length in bytes of names from an archive in messages.
const mostName = 200

// insideOf describes the line of a template in an archive; "" for any other template.
func insideOf(printed *render.Output, at render.Line) string {
	if at.Inside < 1 || at.Inside > len(printed.Inside) {
		return ""
	}
	archive, name, _ := strings.Cut(printed.Inside[at.Inside-1], ".tgz:")
	return fmt.Sprintf("printed by line %d of %s in %s.tgz", at.InsideAt, Start(name, mostName), Start(archive, mostName))
}

// isItem reports whether a span is that of an entire list item that is a map, and not that of
// the item's first key. The span of anything but a scalar is one character long.
func isItem(line string, s diag.Span) bool {
	text := []rune(line)
	if s.EndLine != s.Line || s.EndColumn != s.Column+1 || s.Column > len(text) {
		return false
	}
	dashes, rest := string(text[:s.Column-1]), string(text[s.Column-1:])
	return strings.HasSuffix(dashes, "- ") && strings.Trim(dashes, "- ") == "" && strings.Index(rest, ":") > 1
}

// fileOf returns the name of a file of an output, "" for a negative index.
func fileOf(out *render.Output, file int) string {
	if file < 0 {
		return ""
	}
	return out.Files[file]
}

// throughCharts maps a place in what a chart of a kustomization printed to its source. A place
// that is in no file, such as in an archive, becomes the place where the chart is named.
func (r *Renders) throughCharts(x *Rendered, at origin.Place, unknown origin.Place) origin.Place {
	if x.Out.Charts[at.Patched.File] != nil {
		at.Patched = r.fromLine(x, at.Patched.File, at.Patched, origin.Place{}).Span
	}
	printed := x.Out.Charts[at.Span.File]
	if printed == nil {
		return at
	}
	if n := printed.Named; n != nil {
		if named, ok := r.lineOf(x, n.File, n.Line, n.Column); ok {
			unknown = origin.Place{Span: named, Whole: true}
		}
	}
	to := r.fromLine(x, at.Span.File, at.Span, unknown)
	to.Near, to.Patched = at.Near, at.Patched
	return to
}

// declaredIn returns the file that declares a document of the result, and the document's place
// in it. If a chart prints the document, that file is the template.
func (x *Rendered) declaredIn(d render.Document) (string, render.Document) {
	out := x.Out
	if printed := out.Charts[fileOf(out, d.File)]; printed != nil && d.Index < len(printed.Documents) {
		out, d = printed, printed.Documents[d.Index]
	}
	return x.FromRoot(fileOf(out, d.File)), d
}

// lineOf returns a line of a file of a chart, from a column on.
func (r *Renders) lineOf(x *Rendered, file string, line, column int) (diag.Span, bool) {
	if file == "" {
		return diag.Span{}, false
	}
	text := x.mapper.Read(file)
	if text == nil || line < 1 || line > text.LineCount() {
		return diag.Span{}, false
	}
	name := x.FromRoot(file)
	if r.Files.ByName[name] == nil {
		r.Files.ByName[name] = text
	}
	at := text.LineSpan(line)
	at.File = name
	// A value inside a flow collection has its own column; any other includes its key.
	if all := []rune(text.Line(line)); column <= len(all) && strings.ContainsAny(string(all[:column-1]), "{[") {
		at.Column = column
	}
	return at, true
}

// Start truncates a text to a number of bytes.
func Start(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
