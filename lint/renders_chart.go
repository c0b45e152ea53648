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

// plain adds what a chart deploys as it stands, in crds/, to the objects of its render.
// Definitions of resources are no objects of the manifests.
func (l *loader) plain(x *rendered) {
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

// objectsIn are the objects of a file, which is read unless it is among the manifests.
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

// repeated takes in a key that is twice in what a chart prints. Helm and Argo CD keep the last
// one, as they read manifests with sigs.k8s.io/yaml (helm: pkg/releaseutil/manifest_sorter.go,
// pkg/kube/client.go; argo-cd: gitops-engine/pkg/utils/kube); that matters in objects of which
// something is said. Flux passes all but hooks through kyaml, which refuses it
// (helm-controller: internal/postrender/common.go).
func (l *loader) repeated(x *rendered, p source.Problem) {
	o := around(x.objects, p.Span.Line, p.Span.Column)
	if d, ok := x.document(p.Span.Line); !ok || o != nil && int(o.Root.Line) < d.Line {
		o = nil // it is in one that is not read
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

// printedBy is the line of the template that printed a line, whatever value is in it.
func (r *renders) printedBy(x *rendered, s diag.Span) diag.Span {
	at := r.written(x, s)
	if !at.Template.IsZero() {
		return at.Template
	}
	return at.Span
}

// byTemplate is said of the line of a template that prints a value.
const byTemplate = "printed by this line of the template"

// fromLine is where a line of what a chart printed was written: the value in a values
// file, and else the line of the template. A value has the line of its template as well.
// The chart is one of Output.Charts, or the result itself without a name.
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

// mostName is how many bytes of a name in an archive are told.
const mostName = 200

// insideOf is the line of a template in an archive, as messages name it; "" of another one.
func insideOf(printed *render.Output, at render.Line) string {
	if at.Inside < 1 || at.Inside > len(printed.Inside) {
		return ""
	}
	archive, name, _ := strings.Cut(printed.Inside[at.Inside-1], ".tgz:")
	return fmt.Sprintf("printed by line %d of %s in %s.tgz", at.InsideAt, start(name, mostName), start(archive, mostName))
}

// isItem is whether a span is that of an item as a whole, which is one character long as
// for all that is no scalar, and not that of its first key.
func isItem(line string, s diag.Span) bool {
	text := []rune(line)
	if s.EndLine != s.Line || s.EndColumn != s.Column+1 || s.Column > len(text) {
		return false
	}
	dashes, rest := string(text[:s.Column-1]), string(text[s.Column-1:])
	return strings.HasSuffix(dashes, "- ") && strings.Trim(dashes, "- ") == "" && strings.Index(rest, ":") > 1
}

// fileOf is a file of an output, "" if it is none.
func fileOf(out *render.Output, file int) string {
	if file < 0 {
		return ""
	}
	return out.Files[file]
}

// throughCharts takes a place in what a chart of a kustomization printed to where that was
// written. What is in no file, as in an archive, is where the chart is named.
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

// printedFiles are what the charts of kustomizations print, as files.
func printedFiles(out *render.Output) map[string]*source.File {
	all := map[string]*source.File{}
	for name, printed := range out.Charts {
		all[name] = source.NewFile(name, name, printed.Text)
	}
	return all
}

// declaredIn is the file that a document of the result is declared in, with its index: of
// one that a chart prints it is the template.
func (x *rendered) declaredIn(d render.Document) (string, render.Document) {
	out := x.out
	if printed := out.Charts[fileOf(out, d.File)]; printed != nil && d.Index < len(printed.Documents) {
		out, d = printed, printed.Documents[d.Index]
	}
	return x.name(fileOf(out, d.File)), d
}

// lineOf is a line of a file of a chart, from a column on.
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
	render.Spent:   "chart beyond the limits of a run",

	render.Repeated: "chart that does not render",
}

// mostReasons is how many reasons are told why charts do not render that nobody named,
// and mostReason how many bytes of one.
const mostReasons, mostReason = 3, 300

// chartsNotRendered says why charts do not render that nobody named.
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

// others says how many charts do not render beside the one that is named.
func others(n int) string {
	switch n {
	case 0:
		return " is not rendered"
	case 1:
		return " and 1 other are not rendered"
	}
	return fmt.Sprintf(" and %d others are not rendered", n)
}

// start is the beginning of a text that is longer than some bytes.
func start(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// shapesChart reports whether a file of a chart that is no source decides what is rendered.
func shapesChart(name string) bool {
	return path.Ext(name) == ".tgz" || slices.Contains([]string{".helmignore", "values.schema.json", "requirements.yaml", "requirements.lock", "Chart.lock"}, path.Base(name))
}
