package lint

import (
	"fmt"
	"path"
	"slices"

	"github.com/schedlint/schedlint/lint/locate"

	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
)

// addPlainObjects adds the objects in crds/, which a chart deploys as written, to those of its render.
// CustomResourceDefinitions are not among them.
func (l *loader) addPlainObjects(x *locate.Rendered) {
	for _, name := range x.Out.Plain {
		name = x.FromRoot(name)
		objects, known := l.asWritten[name]
		if !known {
			objects = l.objectsIn(name)
			l.asWritten[name] = objects
		}
		if len(objects) > 0 {
			l.renders.Reached[name], l.given[name] = true, true
			x.Objects = append(x.Objects, objects...)
		}
	}
}

// objectsIn returns the objects of a file, which it reads unless it is among the manifests.
func (l *loader) objectsIn(name string) []*source.Object {
	if l.files.ByName[name] == nil {
		set := l.readMore([]string{name})
		l.set.Problems = append(l.set.Problems, set.Problems...)
		return set.Objects
	}
	if l.byFile == nil {
		l.byFile = locate.ByFile(l.set.Objects)
	}
	return l.byFile[name]
}

// recordDuplicateKey records a duplicate key in what a chart prints. Helm and Argo CD keep the last one,
// because they read manifests with sigs.k8s.io/yaml (helm: pkg/releaseutil/manifest_sorter.go,
// pkg/kube/client.go; argo-cd: gitops-engine/pkg/utils/kube); that is a problem only in objects
// that are judged. Flux passes everything except hooks through kyaml, which rejects duplicates
// (helm-controller: internal/postrender/common.go).
func (l *loader) recordDuplicateKey(x *locate.Rendered, p source.Problem) {
	o := locate.Around(x.Objects, p.Span.Line, p.Span.Column)
	if d, ok := x.Document(p.Span.Line); !ok || o != nil && int(o.Root.Line) < d.Line {
		o = nil // the key is in a document that was not read
	}
	p.Merged = !x.Pointer.IsZero() && !x.Argo && (o == nil || o.Hook == "")
	p.LastCounts = !p.Merged
	if p.LastCounts && (o == nil || !l.table.Judged(o)) {
		return
	}
	p.Span, p.First = l.renders.PrintedBy(x, p.Span), l.renders.PrintedBy(x, p.First)
	if !slices.Contains(l.set.Problems, p) { // each render of the chart has it
		l.set.Problems = append(l.set.Problems, p)
	}
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
	var first []*locate.Render
	for i := range l.opts.Renders {
		x := &l.opts.Renders[i]
		p, quiet := l.renders.Quiet[x.Name]
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
		p := l.renders.Quiet[x.Name]
		l.summary.note(fmt.Sprintf("chart %s%s: %s: %s", x.Name, others(count[p.Detail]-1), locate.FileLine(l.files.Display(p.Span.File), p.Span.Line), locate.Start(p.Detail, mostReason)))
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

// shapesChart reports whether a file of a chart that is not a source determines what is
// rendered.
func shapesChart(name string) bool {
	return path.Ext(name) == ".tgz" || slices.Contains([]string{".helmignore", "values.schema.json", "requirements.yaml", "requirements.lock", "Chart.lock"}, path.Base(name))
}
