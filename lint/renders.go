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
	// file is the result, and objects are its objects.
	file    *source.File
	objects []*source.Object
	marks   *origin.Marks // nil until first use
	mapper  *origin.Mapper
	stream  *source.Stream
	files   map[string]*source.File // cache of source files, by name from Confinement
	// What the charts of kustomizations print, by the names in Output.Charts.
	printed map[string]*source.File
}

// renders holds the renders of a run. Findings are made in their results and moved to their
// sources.
type renders struct {
	files *files
	// all holds the renders that succeeded; results has those built here, by the name of their
	// result.
	all     []*rendered
	results map[string]*rendered
	// failed has the names of those that failed, and quiet the problems of those among them
	// that were not requested explicitly.
	failed []string
	quiet  map[string]source.Problem
	// spent is set if some exceed the limits of a run.
	spent bool
	// reached holds the files that renders use. raw holds the objects in them, except those
	// that another tool rendered; rawFiles groups raw by file, and is nil until first use.
	reached  map[string]bool
	raw      []*source.Object
	rawFiles map[string][]*source.Object
	// Assumed release names, by render.
	assumed map[string]string
	// Indexes of values files by place; filled on first use.
	spots  map[*source.File]*spots
	places map[*source.File]*source.Places
}

func newRenders(f *files) *renders {
	return &renders{files: f, results: map[string]*rendered{}, quiet: map[string]source.Problem{}, reached: map[string]bool{}, assumed: map[string]string{},
		spots: map[*source.File]*spots{}, places: map[*source.File]*source.Places{}}
}

// add reads the result of a render, and returns its problems.
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

// resultName names the result of a render, which is in no file.
func resultName(name string) string { return "<render " + name + ">" }

// names returns the names of the renders that succeeded.
func (r *renders) names() []string {
	var all []string
	for _, x := range r.all {
		all = append(all, x.Name)
	}
	return all
}

// contained returns the documents of the sources that renders contain, by file.
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

// start returns the place that stands for a render: its kustomization or chart, or the pointer
// if the kustomization is not among the sources.
func (x *rendered) start() diag.Span {
	s := diag.Span{File: x.kustomization(), Line: 1, Column: 1, EndLine: 1, EndColumn: 2}
	if o := x.Root.Overlay; o != nil && !slices.Contains(x.out.Sources, s.File) {
		s.File, s.Line, s.EndLine = x.name(o.File), o.Line, o.Line
	}
	return s
}

// kustomization returns the main file of a render: the kustomization, or the Chart.yaml or
// archive of a chart.
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

// document returns the document that contains a line of the result.
func (x *rendered) document(line int) (render.Document, bool) {
	i := sort.Search(len(x.out.Documents), func(i int) bool { return x.out.Documents[i].Line > line })
	if i == 0 {
		return render.Document{}, false
	}
	return x.out.Documents[i-1], true
}

// toSources moves a finding on the result of a render to the sources.
func (r *renders) toSources(x *rendered, f *accept.Finding) {
	d := &f.Diagnostic
	at := r.sourceOf(x, d.Location)
	for i := range d.Related {
		if x := r.results[d.Related[i].Location.File]; x != nil {
			d.Related[i].Location = r.sourceOf(x, d.Related[i].Location).Span
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

// nameAt returns the name of an object in the sources, if its source is known, or else its own.
func (r *renders) nameAt(o *source.Object, at diag.Span) string {
	if r.results[o.File.Name] != nil {
		if raw := around(r.rawOf(at.File), at.Line, at.Column); raw != nil {
			return nameOf(raw)
		}
	}
	return nameOf(o)
}

// rawObject returns the source object from which an object was rendered; nil if it is unknown.
func (r *renders) rawObject(o *source.Object) *source.Object {
	s := r.inSources(o.NameSpan())
	return around(r.rawOf(s.File), s.Line, s.Column)
}

// notFound is the message for a place that replaces an unknown one.
const notFound = "what sets this was not found in the sources of the render"

// rawOf returns the objects of a source file of a render, as written.
func (r *renders) rawOf(file string) []*source.Object {
	if r.rawFiles == nil {
		r.rawFiles = byFile(r.raw)
	}
	return r.rawFiles[file]
}

// sourceOf returns where a place in the result was written, or the start of the render if that
// is unknown.
func (r *renders) sourceOf(x *rendered, s diag.Span) origin.Place {
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

// prepare builds what is needed to look up places of a render, and reports whether it
// succeeded.
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

// marked returns where a place in the result of a kustomization was written: in a file, or in
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

// fromRoot converts the names of a place to names from the root of the run.
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

// inSources maps a place in the result of a render to the sources, and returns any other
// unchanged.
func (r *renders) inSources(s diag.Span) diag.Span {
	if x := r.results[s.File]; x != nil {
		return r.sourceOf(x, s).Span
	}
	return s
}

// at returns the place of an object as the summary lists it.
func (r *renders) at(o *source.Object) string {
	if x := r.results[o.File.Name]; x != nil {
		s := r.sourceOf(x, o.NameSpan()).Span
		return fileLine(s.File, s.Line)
	}
	return fileLine(o.File.Name, int(o.Root.Line))
}

// atLine returns the place of an object that begins on a line.
func (r *renders) atLine(file string, line int) string {
	s := r.inSources(diag.Span{File: file, Line: line, Column: 1, EndLine: line, EndColumn: 2})
	return fileLine(s.File, s.Line)
}

// namedAt returns a place in an object for messages. A place in a rendered object is mapped to
// the sources.
func (r *renders) namedAt(o *source.Object, s diag.Span) (file string, at diag.Span) {
	if r.results[o.File.Name] == nil {
		return o.File.Display, s
	}
	s.File = o.File.Name
	at = r.inSources(s)
	return r.files.display(at.File), at
}

// fileNames returns the files of objects for messages.
func (r *renders) fileNames(objects []*source.Object) []string {
	var names []string
	for _, o := range objects {
		file, _ := r.namedAt(o, o.NameSpan())
		names = append(names, file)
	}
	return names
}
