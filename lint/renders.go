package lint

import (
	"cmp"
	"path"
	"slices"
	"sort"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/chart"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
)

// rendered is a render that succeeded.
type rendered struct {
	Render
	out *render.Output
	// file is the result, and objects what it holds.
	file    *source.File
	objects []*source.Object
	marks   *origin.Marks // once needed
	mapper  *origin.Mapper
	stream  *source.Stream
	files   map[string]*source.File // that places were looked up in, by names from the confinement
	// printed are what the charts of kustomizations print, by the names of Output.Charts.
	printed map[string]*source.File
}

// renders are the renders of a run with the sources that they were written in. Findings
// are made in results, and moved to the sources.
type renders struct {
	files *files
	// all are those that succeeded, results the same by the names of their results.
	all     []*rendered
	results map[string]*rendered
	// failed are the names of those that there are not, and quiet the problems of those of
	// them that nobody named.
	failed []string
	quiet  map[string]source.Problem
	// spent is set if some are beyond what a run may take.
	spent bool
	// reached are the files that renders use. Raw are the objects in them but for those
	// that another tool rendered, rawFiles the same by their files once needed.
	reached  map[string]bool
	raw      []*source.Object
	rawFiles map[string][]*source.Object
	// assumed are the names of releases that nothing says, by renders.
	assumed map[string]string
	// spots are the values of values files by their places, once needed.
	spots  map[*source.File]*spots
	places map[*source.File]*source.Places
}

func newRenders(f *files) *renders {
	return &renders{files: f, results: map[string]*rendered{}, quiet: map[string]source.Problem{}, reached: map[string]bool{}, assumed: map[string]string{},
		spots: map[*source.File]*spots{}, places: map[*source.File]*source.Places{}}
}

// add reads the result of a render, and gives what is wrong with it.
func (r *renders) add(asked *Render, out *render.Output) (*rendered, []source.Problem) {
	name := resultName(asked.Name)
	set := source.LoadText(r.files.reading, name, out.Text)
	set.Files[0].Result = true
	x := &rendered{Render: *asked, out: out, file: set.Files[0], objects: set.Objects}
	x.findHooks()
	r.files.byName[name] = x.file
	r.all = append(r.all, x)
	r.results[name] = x
	if c := asked.Root.Chart; c != nil && c.Name == "" {
		r.assumed[asked.Name] = chart.DefaultRelease
	}
	if c := asked.Root.Chart; c != nil && c.Namespace == "" {
		for _, o := range x.objects {
			o.NamespaceAssumed = o.Namespace == "" || o.Namespace == "default"
		}
	}
	return x, set.Problems
}

// resultName stands for the result of a render, which is in no file.
func resultName(name string) string { return "<render " + name + ">" }

// names are those of the renders that succeeded.
func (r *renders) names() []string {
	var all []string
	for _, x := range r.all {
		all = append(all, x.Name)
	}
	return all
}

// contained are the documents of the sources that renders contain, by file.
func (r *renders) contained() map[string]map[int]bool {
	documents := map[string]map[int]bool{}
	for _, x := range r.all {
		if x.out == nil {
			continue
		}
		for _, d := range x.out.Documents {
			name, d := x.declaredIn(d)
			if d.File < 0 {
				continue
			}
			if documents[name] == nil {
				documents[name] = map[int]bool{}
			}
			documents[name][d.Index] = true
		}
	}
	return documents
}

// start is where a render begins: its kustomization, or the pointer if it has none.
func (x *rendered) start() diag.Span {
	s := diag.Span{File: x.kustomization(), Line: 1, Column: 1, EndLine: 1, EndColumn: 2}
	if o := x.Root.Overlay; o != nil && !slices.Contains(x.out.Sources, s.File) {
		s.File, s.Line, s.EndLine = x.name(o.File), o.Line, o.Line
	}
	return s
}

// kustomization is the file that a render begins with: of a chart it is Chart.yaml, or its
// archive.
func (x *rendered) kustomization() string {
	if c := x.Root.Chart; c != nil {
		return x.name(cmp.Or(c.Archive, path.Join(x.Root.Dir, "Chart.yaml")))
	}
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
func (r *renders) toSources(x *rendered, f *accept.Finding) {
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
	switch {
	case !at.Template.IsZero():
		d.Related = append(d.Related, diag.Related{Message: cmp.Or(at.Inside, byTemplate), Location: at.Template})
		f.Template, d.WrittenField = at.Template, r.fieldIn(at.Span)
	case at.Inside != "":
		d.Related = append(d.Related, diag.Related{Message: at.Inside, Location: at.Span})
	case at.Near || at.Whole:
		d.Related = append(d.Related, diag.Related{Message: notFound, Location: at.Span})
	}
	d.Location, f.Moved = at.Span, true
	if o := around(r.rawOf(at.Span.File), at.Span.Line, at.Span.Column); o != nil && !at.Whole {
		d.Written = o.ID()
	} else if !at.Whole {
		d.Written = diag.Object{Kind: "file", Name: at.Span.File}
	}
}

// nameAt is an object as the sources name it where a place is.
func (r *renders) nameAt(o *source.Object, at diag.Span) string {
	if r.results[o.File.Name] != nil {
		if raw := around(r.rawOf(at.File), at.Line, at.Column); raw != nil {
			return nameOf(raw)
		}
	}
	return nameOf(o)
}

// rawObject is the object, as it stands in the sources, of which a render made another;
// nil where that is not known.
func (r *renders) rawObject(o *source.Object) *source.Object {
	s := r.inSources(o.NameSpan())
	return around(r.rawOf(s.File), s.Line, s.Column)
}

// notFound is what is said of a place that stands for one that was not found.
const notFound = "what sets this was not found in the sources of the render"

// rawOf are the objects of a file of a render's sources, as they stand there.
func (r *renders) rawOf(file string) []*source.Object {
	if r.rawFiles == nil {
		r.rawFiles = byFile(r.raw)
	}
	return r.rawFiles[file]
}

// written is where a place in the result was written: it is the kustomization where
// that is not known.
func (r *renders) written(x *rendered, s diag.Span) origin.Place {
	unknown := origin.Place{Span: x.start(), Whole: true}
	if !r.prepare(x) {
		return unknown
	}
	if len(x.out.Lines) > 0 {
		return r.fromLine(x, "", s, unknown)
	}
	at, ok := r.marked(x, s)
	if !ok {
		return unknown
	}
	return r.throughCharts(x, at, unknown)
}

// prepare makes what places of a render are looked up with, and reports whether it could.
func (r *renders) prepare(x *rendered) bool {
	if x.marks != nil {
		return true
	}
	if x.files = r.files.byName; x.prefix != "." {
		x.files = map[string]*source.File{}
	}
	x.printed = printedFiles(x.out)
	mapper, err := origin.New(origin.Options{
		Dir: r.files.dir, Root: x.Root.Confinement, Base: path.Join(x.Root.Confinement, x.Root.Dir),
		Tracked: r.files.reading.Tracked, Files: x.files, Printed: x.printed,
	})
	if err != nil {
		return false
	}
	x.mapper, x.marks, x.stream = mapper, origin.NewMarks(mapper, x.out), source.NewStream(x.file)
	return true
}

// marked is where a place in the result of a kustomization was written: in a file, or in
// what one of its charts printed.
func (r *renders) marked(x *rendered, s diag.Span) (at origin.Place, ok bool) {
	o, _ := x.stream.At(s)
	if o == nil {
		return at, false
	}
	var from source.Origin
	if d, ok := x.document(int(o.Root.Line)); ok && d.File >= 0 {
		from.Path = relative(x.Root.Dir, x.out.Files[d.File])
	}
	if at, ok = x.marks.Locate(o, from, s); !ok {
		return at, false
	}
	return r.inValues(o, s, r.fromRoot(x, at)), true
}

// fromRoot is a place with the names of the run.
func (r *renders) fromRoot(x *rendered, at origin.Place) origin.Place {
	for _, s := range []*diag.Span{&at.Span, &at.Patched} {
		if s.File == "" || x.prefix == "." || x.out.Charts[s.File] != nil {
			continue
		}
		name := x.name(s.File)
		if r.files.byName[name] == nil {
			r.files.byName[name] = x.files[s.File]
		}
		s.File = name
	}
	return at
}

// inSources is a place as the user knows it: one in the result of a render is where that
// was written.
func (r *renders) inSources(s diag.Span) diag.Span {
	if x := r.results[s.File]; x != nil {
		return r.written(x, s).Span
	}
	return s
}

// at is the place of an object as the summary lists it.
func (r *renders) at(o *source.Object) string {
	if x := r.results[o.File.Name]; x != nil {
		s := r.written(x, o.NameSpan()).Span
		return fileLine(s.File, s.Line)
	}
	return fileLine(o.File.Name, int(o.Root.Line))
}

// atLine is the place of an object that begins on a line.
func (r *renders) atLine(file string, line int) string {
	s := r.inSources(diag.Span{File: file, Line: line, Column: 1, EndLine: line, EndColumn: 2})
	return fileLine(s.File, s.Line)
}

// namedAt is a place in an object as messages name it: what was rendered is where that was
// written.
func (r *renders) namedAt(o *source.Object, s diag.Span) (file string, at diag.Span) {
	if r.results[o.File.Name] == nil {
		return o.File.Display, s
	}
	s.File = o.File.Name
	at = r.inSources(s)
	return r.files.display(at.File), at
}

// fileNames are the files of objects as messages name them.
func (r *renders) fileNames(objects []*source.Object) []string {
	var names []string
	for _, o := range objects {
		file, _ := r.namedAt(o, o.NameSpan())
		names = append(names, file)
	}
	return names
}
