package lint

import (
	"path"
	"slices"
	"sort"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
)

// kustomization is the file that a render begins with.
func (x *rendered) kustomization() string {
	for _, name := range source.KustomizationFiles() {
		if file := path.Join(x.Root.Dir, name); slices.Contains(x.out.Sources, file) {
			return x.name(file)
		}
	}
	return x.name(path.Join(x.Root.Dir, "kustomization.yaml"))
}

// document is the one in which a line of the result is.
func (x *rendered) document(line int) (render.Document, bool) {
	i := sort.Search(len(x.out.Documents), func(i int) bool { return x.out.Documents[i].Line > line })
	if i == 0 {
		return render.Document{}, false
	}
	return x.out.Documents[i-1], true
}

// toSources moves a finding on the result of a render to where that was written.
func (r *run) toSources(x *rendered, f *accept.Finding) {
	d := &f.Diagnostic
	at := r.written(x, d.Location)
	for i := range d.Related {
		if x := r.results[d.Related[i].Location.File]; x != nil {
			d.Related[i].Location = r.written(x, d.Related[i].Location).Span
		}
	}
	for i := range d.Fixes {
		r.editSources(x, &d.Fixes[i])
	}
	if !at.Patched.IsZero() {
		d.Related = append(d.Related, diag.Related{Message: patched, Location: at.Patched})
	}
	if at.Near || at.Whole {
		d.Related = append(d.Related, diag.Related{Message: notFound, Location: at.Span})
	}
	d.Location, f.Moved = at.Span, true
	if o := around(r.rawOf(at.Span.File), at.Span.Line, at.Span.Column); o != nil && !at.Whole {
		d.Written = o.ID()
	} else if !at.Whole {
		d.Written = diag.Object{Kind: "file", Name: at.Span.File}
	}
}

// editSources makes the edits of a fix those of the sources, or drops them: the text
// there has to be the very text that is rendered.
func (r *run) editSources(x *rendered, f *diag.Fix) {
	edits := slices.Clone(f.Edits)
	for i := range edits {
		e := &edits[i]
		at := r.written(x, e.Location)
		was, ok := textAt(x.file, e.Location)
		now, found := textAt(r.files[at.Span.File], at.Span)
		if at.Near || at.Whole || !ok || !found || was != now || x.prefix != "." { // elsewhere nothing is written
			f.Edits, f.Safe = nil, false
			return
		}
		e.Location = at.Span
	}
	f.Edits = edits
}

// textAt is what stands at a place within a line.
func textAt(f *source.File, s diag.Span) (string, bool) {
	if f == nil {
		return "", false
	}
	start, end, ok := f.Range(s)
	if !ok {
		return "", false
	}
	return string(f.Text[start:end]), true
}

// nameAt is an object as the sources name it where a place is.
func (r *run) nameAt(o *source.Object, at diag.Span) string {
	if r.results[o.File.Name] != nil {
		if raw := around(r.rawOf(at.File), at.Line, at.Column); raw != nil {
			return nameOf(raw)
		}
	}
	return nameOf(o)
}

// rawObject is the object, as it stands in the sources, of which a render made another;
// nil where that is not known.
func (r *run) rawObject(o *source.Object) *source.Object {
	s := r.inSources(o.NameSpan())
	return around(r.rawOf(s.File), s.Line, s.Column)
}

// notFound is what is said of a place that stands for one that was not found.
const notFound = "what sets this was not found in the sources of the render"

// rawOf are the objects of a file of a render's sources, as they stand there.
func (r *run) rawOf(file string) []*source.Object {
	if r.rawFiles == nil {
		r.rawFiles = byFile(r.raw)
	}
	return r.rawFiles[file]
}

// written is where a place in the result was written: it is the kustomization where
// that is not known.
func (r *run) written(x *rendered, s diag.Span) origin.Place {
	unknown := origin.Place{Span: diag.Span{File: x.kustomization(), Line: 1, Column: 1, EndLine: 1, EndColumn: 2}, Whole: true}
	if x.marks == nil {
		if x.files = r.files; x.prefix != "." {
			x.files = map[string]*source.File{}
		}
		mapper, err := origin.New(origin.Options{Dir: r.Dir, Root: x.Root.Confinement, Base: path.Join(x.Root.Confinement, x.Root.Dir), Tracked: r.Tracked, Files: x.files})
		if err != nil {
			return unknown
		}
		x.mapper, x.marks, x.stream = mapper, origin.NewMarks(mapper, x.out), source.NewStream(x.file)
	}
	o, _ := x.stream.At(s)
	if o == nil {
		return unknown
	}
	var from source.Origin
	if d, ok := x.document(int(o.Root.Line)); ok && d.File >= 0 {
		from.Path = relative(x.Root.Dir, x.out.Files[d.File])
	}
	if at, ok := x.marks.Locate(o, from, s); ok {
		return r.fromRoot(x, at)
	}
	return unknown
}

// fromRoot is a place with the names of the run.
func (r *run) fromRoot(x *rendered, at origin.Place) origin.Place {
	for _, s := range []*diag.Span{&at.Span, &at.Patched} {
		if s.File == "" || x.prefix == "." {
			continue
		}
		name := x.name(s.File)
		if r.files[name] == nil {
			r.files[name] = x.files[s.File]
		}
		s.File = name
	}
	return at
}

// inSources is a place as the user knows it: one in the result of a render is where that
// was written.
func (r *run) inSources(s diag.Span) diag.Span {
	if x := r.results[s.File]; x != nil {
		return r.written(x, s).Span
	}
	return s
}
