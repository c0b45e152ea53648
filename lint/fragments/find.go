package fragments

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Finder finds placement fields in values. Its bounds apply to one run.
type Finder struct {
	// what is found in a run, the nodes that are visited for it, and the text that is made for
	// values written as text
	maps, nodes, bytes limits.Counter
	levels             int

	known map[*source.Object]*Found
}

// Found holds what an object passes to charts.
type Found struct {
	// Sources holds what each of its sources passes to a chart, in the order of the object.
	Sources []workload.Given
	// Over says which bound was exceeded, or is "".
	Over string
}

// Without merges what the sources pass to charts, except some sources, by index.
func (f *Found) Without(sources map[int]bool) *workload.Given {
	all := &workload.Given{}
	for i, s := range f.Sources {
		if !sources[i] {
			all.Values, all.Left = append(all.Values, s.Values...), all.Left || s.Left
		}
	}
	return all
}

// NewFinder returns a finder for one run.
func NewFinder() *Finder {
	return &Finder{
		maps: limits.Counter{Most: limits.Fragments}, nodes: limits.Counter{Most: limits.FragmentNodes}, bytes: limits.Counter{Most: limits.FragmentText},
		levels: limits.FragmentLevels, known: map[*source.Object]*Found{},
	}
}

// Of returns what an object passes to a chart, or nil if it is not a release of a chart.
func (f *Finder) Of(o *source.Object) *Found {
	kind, ok := pointers.KindOf(o.Group(), o.Kind)
	if !ok || kind == pointers.FluxKustomization {
		return nil
	}
	found := f.known[o]
	if found == nil {
		w := walk{finder: f, found: &Found{}, seen: map[visit]bool{}}
		w.release(o, kind)
		found = w.found
		f.known[o] = found
	}
	return found
}

// Destinations returns the name and the address of the cluster that a release goes to, as far as
// they are written. The list is empty for the cluster of its own controller, and nil for an object
// that is not a release.
func Destinations(o *source.Object) []string {
	kind, ok := pointers.KindOf(o.Group(), o.Kind)
	if !ok || kind == pointers.FluxKustomization {
		return nil
	}
	spec := o.Root.Get("spec")
	if kind == pointers.ApplicationSet {
		spec = spec.At("template", "spec")
	}
	all := []string{}
	for _, name := range []string{"name", "server"} {
		if text := spec.At("destination", name); kind != pointers.FluxHelmRelease && text.Text() != "" {
			all = append(all, text.Value)
		}
	}
	return all
}

// release searches the values of a release.
func (w *walk) release(o *source.Object, kind pointers.Kind) {
	spec := o.Root.Get("spec")
	if kind == pointers.FluxHelmRelease {
		w.next()
		if suspended, known := spec.Get("suspend").Bool(); !known || !suspended {
			w.values(o.File, spec.Get("values"))
		}
		return
	}
	w.template = kind == pointers.ApplicationSet
	for _, s := range sources(o) {
		w.next()
		w.argo(o.File, s.Get("helm"))
	}
}

// next starts another source.
func (w *walk) next() {
	w.found.Sources = append(w.found.Sources, workload.Given{})
	w.given = &w.found.Sources[len(w.found.Sources)-1]
}

// sources returns the sources of an Application, or of the template of an ApplicationSet. Argo CD
// ignores a single source next to several.
func sources(o *source.Object) []*source.Node {
	spec := o.Root.Get("spec")
	if o.Kind == "ApplicationSet" {
		spec = spec.At("template", "spec")
	}
	if several := spec.Get("sources").Items(); len(several) > 0 {
		return several
	}
	return []*source.Node{spec.Get("source")}
}

// argo searches the values of one source of Argo CD: valuesObject replaces values, and parameters
// override both.
func (w *walk) argo(file *source.File, helm *source.Node) {
	w.off = overrides(helm.Get("parameters")) || overrides(helm.Get("fileParameters"))
	if object := helm.Get("valuesObject"); object.Len() > 0 {
		w.values(file, object)
		return
	}
	text := helm.Get("values")
	if text.Text() == "" || !mentions(text.Value) {
		return
	}
	if w.template && source.IsVariable(text.Value) { // it may be a condition around anything
		w.given.Left = true
		return
	}
	inner, cost := written(file, text, w.finder.bytes.Left())
	w.finder.bytes.Add(cost)
	switch {
	case inner == nil && cost > 0:
		w.over("values as text take more than %d MiB to read", w.finder.bytes.Most>>20)
	case inner == nil:
		w.given.Left = true
	default:
		w.text(inner)
	}
}

// text searches values that are a text.
func (w *walk) text(file *source.File) {
	docs := file.Roots()
	if len(docs) != 1 {
		w.given.Left = true
		return
	}
	w.values(file, docs[0])
}

// over records that a bound was exceeded.
func (w *walk) over(format string, args ...any) {
	w.given.Left = true
	if w.found.Over == "" {
		w.found.Over = fmt.Sprintf(format, args...)
	}
}
