package pointers

import "github.com/schedlint/schedlint/lint/source"

// Reader reads pointers of one repository.
type Reader struct {
	Repositories *Repositories
	Tree         Tree

	applications int // of all sets so far
	matches      int
	made         int // bytes of templates
	written      int // bytes of values
}

// Read gives the pointers that an object is or stands for; nil if it is none. That of an
// ApplicationSet whose Applications are not known says why.
func (r *Reader) Read(o *source.Object) []*Pointer {
	kind, ok := KindOf(o.Group(), o.Kind)
	if !ok {
		return nil
	}
	at := o.NameSpan()
	p := Pointer{Kind: kind, Namespace: o.Namespace, Name: o.Name, Written: o.Name, File: o.File.Name, Line: max(at.Line, 1), Column: max(at.Column, 1), Object: max(at.Line, 1), file: o.File}
	if o.Root.Get("spec").Len() == 0 {
		p.Why = Reason{What: WhyMalformed, Detail: "has no spec"}
		return []*Pointer{&p}
	}
	switch kind {
	case FluxKustomization:
		kustomization(o, &p)
	case FluxHelmRelease:
		r.release(o, &p)
	case Application:
		r.application(&view{made: &r.written}, o.Root.Get("spec"), &p)
	case ApplicationSet:
		return r.set(o, p)
	}
	return []*Pointer{&p}
}

// URLs are the addresses of Git repositories that a pointer of Argo CD names.
func URLs(o *source.Object) (all []string) {
	kind, _ := KindOf(o.Group(), o.Kind)
	spec := o.Root.Get("spec")
	var sources []*source.Node
	switch kind {
	case ApplicationSet:
		for _, g := range spec.Get("generators").Items() {
			sources = append(sources, g.Get("git"))
		}
		spec = spec.At("template", "spec")
	case Application:
	default:
		return nil
	}
	sources = append(append(sources, spec.Get("source")), spec.Get("sources").Items()...)
	for _, n := range sources {
		if url := n.Get("repoURL"); url.Text() != "" && n.Get("chart").IsNull() && !source.IsVariable(url.Value) {
			all = append(all, url.Text())
		}
	}
	return all
}
