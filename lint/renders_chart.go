package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
)

// findHooks marks the objects that are hooks of the tool that deploys the render.
func (x *rendered) findHooks() {
	hook := source.HelmHook
	switch {
	case x.Argo:
		hook = source.ArgoHook
	case x.Root.Chart == nil:
		return
	}
	for _, o := range x.objects {
		o.Hook = hook(o)
	}
}

// addPlainObjects adds the objects in crds/, which a chart deploys as written, to those of its render.
// CustomResourceDefinitions are not among them.
func (l *loader) addPlainObjects(x *rendered) {
	for _, name := range x.out.Plain {
		name = x.name(name)
		objects, known := l.asWritten[name]
		if !known {
			objects = l.objectsIn(name)
			l.asWritten[name] = objects
		}
		if len(objects) > 0 {
			l.renders.reached[name], l.given[name] = true, true
			x.objects = append(x.objects, objects...)
		}
	}
}

// objectsIn returns the objects of a file, which it reads unless it is among the manifests.
func (l *loader) objectsIn(name string) []*source.Object {
	if l.files.byName[name] == nil {
		set := l.readMore([]string{name})
		l.set.Problems = append(l.set.Problems, set.Problems...)
		return set.Objects
	}
	if l.byFile == nil {
		l.byFile = byFile(l.set.Objects)
	}
	return l.byFile[name]
}

// recordDuplicateKey records a duplicate key in what a chart prints. Helm and Argo CD keep the last one,
// because they read manifests with sigs.k8s.io/yaml (helm: pkg/releaseutil/manifest_sorter.go,
// pkg/kube/client.go; argo-cd: gitops-engine/pkg/utils/kube); that is a problem only in objects
// that are judged. Flux passes everything except hooks through kyaml, which rejects duplicates
// (helm-controller: internal/postrender/common.go).
func (l *loader) recordDuplicateKey(x *rendered, p source.Problem) {
	o := around(x.objects, p.Span.Line, p.Span.Column)
	if d, ok := x.document(p.Span.Line); !ok || o != nil && int(o.Root.Line) < d.Line {
		o = nil // the key is in a document that was not read
	}
	p.Merged = !x.Pointer.IsZero() && !x.Argo && (o == nil || o.Hook == "")
	p.LastCounts = !p.Merged
	if p.LastCounts && (o == nil || !l.table.Judged(o)) {
		return
	}
	p.Span, p.First = l.renders.printedBy(x, p.Span), l.renders.printedBy(x, p.First)
	if !slices.Contains(l.set.Problems, p) { // each render of the chart has it
		l.set.Problems = append(l.set.Problems, p)
	}
}

// printedBy returns the template line that printed a line, even if its value comes from a
// values file.
func (r *renders) printedBy(x *rendered, s diag.Span) diag.Span {
	at := r.sourceOf(x, s)
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
func (r *renders) fromLine(x *rendered, name string, s diag.Span, unknown origin.Place) origin.Place {
	printed, text := x.out, x.file
	if name != "" {
		printed, text = x.out.Charts[name], x.printed[name]
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
	return fmt.Sprintf("printed by line %d of %s in %s.tgz", at.InsideAt, start(name, mostName), start(archive, mostName))
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
func (r *renders) throughCharts(x *rendered, at origin.Place, unknown origin.Place) origin.Place {
	if x.out.Charts[at.Patched.File] != nil {
		at.Patched = r.fromLine(x, at.Patched.File, at.Patched, origin.Place{}).Span
	}
	printed := x.out.Charts[at.Span.File]
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

// printedFiles returns what the charts of kustomizations print, as files.
func printedFiles(out *render.Output) map[string]*source.File {
	all := map[string]*source.File{}
	for name, printed := range out.Charts {
		all[name] = source.NewFile(name, name, printed.Text)
	}
	return all
}

// declaredIn returns the file that declares a document of the result, and the document's place
// in it. If a chart prints the document, that file is the template.
func (x *rendered) declaredIn(d render.Document) (string, render.Document) {
	out := x.out
	if printed := out.Charts[fileOf(out, d.File)]; printed != nil && d.Index < len(printed.Documents) {
		out, d = printed, printed.Documents[d.Index]
	}
	return x.name(fileOf(out, d.File)), d
}

// lineOf returns a line of a file of a chart, from a column on.
func (r *renders) lineOf(x *rendered, file string, line, column int) (diag.Span, bool) {
	if file == "" {
		return diag.Span{}, false
	}
	text := x.mapper.Read(file)
	if text == nil || line < 1 || line > text.LineCount() {
		return diag.Span{}, false
	}
	name := x.name(file)
	if r.files.byName[name] == nil {
		r.files.byName[name] = text
	}
	at := text.LineSpan(line)
	at.File = name
	// A value inside a flow collection has its own column; any other includes its key.
	if all := []rune(text.Line(line)); column <= len(all) && strings.ContainsAny(string(all[:column-1]), "{[") {
		at.Column = column
	}
	return at, true
}

// chartNotRendered holds the summary's wording for charts.
var chartNotRendered = map[string]string{
	render.Failed:  "chart that does not render",
	render.Refused: "chart that is not rendered here",
	render.Killed:  "chart that takes too long to render",
	render.Spent:   "chart beyond the limits of a run",

	render.Repeated: "chart that does not render",
}

// mostReasons limits the reasons in notes why charts do not render that were not requested
// explicitly, and mostReason the bytes of each.
const mostReasons, mostReason = 3, 300

// chartsNotRendered adds notes on why charts do not render that were not requested explicitly.
func (l *loader) chartsNotRendered() {
	count := map[string]int{}
	var first []*Render
	for i := range l.opts.Renders {
		x := &l.opts.Renders[i]
		p, quiet := l.renders.quiet[x.Name]
		if x.Root.Chart == nil || !quiet {
			continue
		}
		if count[p.Detail]++; count[p.Detail] == 1 {
			first = append(first, x)
		}
	}
	for i, x := range first {
		if i == mostReasons {
			l.summary.note(fmt.Sprintf("charts are not rendered for %d more reasons: schedlint inputs lists them", len(first)-i))
			return
		}
		p := l.renders.quiet[x.Name]
		l.summary.note(fmt.Sprintf("chart %s%s: %s: %s", x.Name, others(count[p.Detail]-1), fileLine(l.files.display(p.Span.File), p.Span.Line), start(p.Detail, mostReason)))
	}
}

// others formats how many charts besides the named one are not rendered.
func others(n int) string {
	switch n {
	case 0:
		return " is not rendered"
	case 1:
		return " and 1 other are not rendered"
	}
	return fmt.Sprintf(" and %d others are not rendered", n)
}

// start truncates a text to a number of bytes.
func start(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// shapesChart reports whether a file of a chart that is not a source determines what is
// rendered.
func shapesChart(name string) bool {
	return path.Ext(name) == ".tgz" || slices.Contains([]string{".helmignore", "values.schema.json", "requirements.yaml", "requirements.lock", "Chart.lock"}, path.Base(name))
}
