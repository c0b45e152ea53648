package locate

import (
	"cmp"
	"path"
	"slices"
	"sort"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/chart"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/fragments"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
)

// Rendered is a render that succeeded.
type Rendered struct {
	Render
	Out *render.Output
	// file is the result, and objects are its objects.
	File    *source.File
	Objects []*source.Object
	marks   *origin.Marks // nil until first use
	mapper  *origin.Mapper
	stream  *source.Stream
	files   map[string]*source.File // cache of source files, by name from Confinement
	// What the charts of kustomizations print, by the names in Output.Charts.
	printed map[string]*source.File
}

// Renders holds the renders of a run. Findings are made in their results and moved to their
// sources.
type Renders struct {
	Files *Files
	// all holds the renders that succeeded; results has those built here, by the name of their
	// result.
	All     []*Rendered
	Results map[string]*Rendered
	// failed has the names of those that failed, and quiet the problems of those among them
	// that were not requested explicitly.
	Failed []string
	Quiet  map[string]source.Problem
	// spent is set if some exceed the limits of a run.
	Spent bool
	// reached holds the files that renders use. raw holds the objects in them, except those
	// that another tool rendered; rawFiles groups raw by file, and is nil until first use.
	Reached  map[string]bool
	Raw      []*source.Object
	rawFiles map[string][]*source.Object
	// Assumed release names, by render.
	Assumed map[string]string
	// Indexes of values files by place; filled on first use.
	spots  map[*source.File]*spots
	places map[*source.File]*source.Places
}

// NewRenders returns an empty set of renders of files.
func NewRenders(f *Files) *Renders {
	return &Renders{Files: f, Results: map[string]*Rendered{}, Quiet: map[string]source.Problem{}, Reached: map[string]bool{}, Assumed: map[string]string{},
		spots: map[*source.File]*spots{}, places: map[*source.File]*source.Places{}}
}

// Add reads the result of a render, and returns its problems.
func (r *Renders) Add(asked *Render, out *render.Output) (*Rendered, []source.Problem) {
	name := "<render " + asked.Name + ">" // no file can have it
	set := source.LoadText(r.Files.Reading, name, out.Text)
	set.Files[0].Result = true
	x := &Rendered{Render: *asked, Out: out, File: set.Files[0], Objects: set.Objects}
	x.findHooks()
	r.Files.ByName[name] = x.File
	r.All = append(r.All, x)
	r.Results[name] = x
	if c := asked.Root.Chart; c != nil && c.Name == "" {
		r.Assumed[asked.Name] = chart.DefaultRelease
	}
	if c := asked.Root.Chart; c != nil && c.Namespace == "" {
		for _, o := range x.Objects {
			o.NamespaceAssumed = o.Namespace == "" || o.Namespace == "default"
		}
	}
	return x, set.Problems
}

// Names returns the names of the renders that succeeded.
func (r *Renders) Names() []string {
	var all []string
	for _, x := range r.All {
		all = append(all, x.Name)
	}
	return all
}

// Contained returns the documents of the sources that renders contain, by file.
func (r *Renders) Contained() map[string]map[int]bool {
	documents := map[string]map[int]bool{}
	for _, x := range r.All {
		if x.Out == nil {
			continue
		}
		for _, d := range x.Out.Documents {
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
func (x *Rendered) start() diag.Span {
	s := diag.Span{File: x.Kustomization(), Line: 1, Column: 1, EndLine: 1, EndColumn: 2}
	if o := x.Root.Overlay; o != nil && !slices.Contains(x.Out.Sources, s.File) {
		s.File, s.Line, s.EndLine = x.FromRoot(o.File), o.Line, o.Line
	}
	return s
}

// Kustomization returns the main file of a render: the kustomization, or the Chart.yaml or
// archive of a chart.
func (x *Rendered) Kustomization() string {
	if c := x.Root.Chart; c != nil {
		return x.FromRoot(cmp.Or(c.Archive, path.Join(x.Root.Dir, "Chart.yaml")))
	}
	for _, name := range source.KustomizationFiles() {
		if file := path.Join(x.Root.Dir, name); slices.Contains(x.Out.Sources, file) {
			return x.FromRoot(file)
		}
	}
	return x.FromRoot(path.Join(x.Root.Dir, "kustomization.yaml"))
}

// Document returns the document that contains a line of the result.
func (x *Rendered) Document(line int) (render.Document, bool) {
	i := sort.Search(len(x.Out.Documents), func(i int) bool { return x.Out.Documents[i].Line > line })
	if i == 0 {
		return render.Document{}, false
	}
	return x.Out.Documents[i-1], true
}

// ToSources moves a finding on the result of a render to the sources.
func (r *Renders) ToSources(x *Rendered, f *accept.Finding) {
	d := &f.Diagnostic
	at := r.SourceOf(x, d.Location)
	for i := range d.Related {
		if x := r.Results[d.Related[i].Location.File]; x != nil {
			d.Related[i].Location = r.SourceOf(x, d.Related[i].Location).Span
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
	if o := Around(r.rawOf(at.Span.File), at.Span.Line, at.Span.Column); o != nil && !at.Whole {
		d.Written = o.ID()
	} else if !at.Whole {
		d.Written = diag.Object{Kind: "file", Name: at.Span.File}
	}
}

// NameAt returns the name of an object in the sources, if its source is known, or else its own.
func (r *Renders) NameAt(o *source.Object, at diag.Span) string {
	if r.Results[o.File.Name] != nil {
		if raw := Around(r.rawOf(at.File), at.Line, at.Column); raw != nil {
			return NameOf(raw)
		}
	}
	return NameOf(o)
}

// RawObject returns the source object from which an object was rendered; nil if it is unknown.
func (r *Renders) RawObject(o *source.Object) *source.Object {
	s := r.InSources(o.NameSpan())
	return Around(r.rawOf(s.File), s.Line, s.Column)
}

// notFound is the message for a place that replaces an unknown one.
const notFound = "what sets this was not found in the sources of the render"

// rawOf returns the objects of a source file of a render, as written.
func (r *Renders) rawOf(file string) []*source.Object {
	if r.rawFiles == nil {
		r.rawFiles = ByFile(r.Raw)
	}
	return r.rawFiles[file]
}

// SourceOf returns where a place in the result was written, or the start of the render if that
// is unknown.
func (r *Renders) SourceOf(x *Rendered, s diag.Span) origin.Place {
	unknown := origin.Place{Span: x.start(), Whole: true}
	if !r.prepare(x) {
		return unknown
	}
	if len(x.Out.Lines) > 0 {
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
func (r *Renders) prepare(x *Rendered) bool {
	if x.marks != nil {
		return true
	}
	if x.files = r.Files.ByName; x.prefix != "." {
		x.files = map[string]*source.File{}
	}
	x.printed = map[string]*source.File{}
	for name, printed := range x.Out.Charts {
		x.printed[name] = source.NewFile(name, name, printed.Text)
	}
	mapper, err := origin.New(origin.Options{
		Dir: r.Files.Dir, Root: x.Root.Confinement, Base: path.Join(x.Root.Confinement, x.Root.Dir),
		Tracked: r.Files.Reading.Tracked, Files: x.files, Printed: x.printed,
	})
	if err != nil {
		return false
	}
	x.mapper, x.marks, x.stream = mapper, origin.NewMarks(mapper, x.Out), source.NewStream(x.File)
	return true
}

// marked returns where a place in the result of a kustomization was written: in a file, or in
// what one of its charts printed.
func (r *Renders) marked(x *Rendered, s diag.Span) (at origin.Place, ok bool) {
	o, _ := x.stream.At(s)
	if o == nil {
		return at, false
	}
	var from source.Origin
	if d, ok := x.Document(int(o.Root.Line)); ok && d.File >= 0 {
		from.Path = Relative(x.Root.Dir, x.Out.Files[d.File])
	}
	if at, ok = x.marks.Locate(o, from, s); !ok {
		return at, false
	}
	return r.inValues(o, s, r.fromRoot(x, at)), true
}

// fromRoot converts the names of a place to names from the root of the run.
func (r *Renders) fromRoot(x *Rendered, at origin.Place) origin.Place {
	for _, s := range []*diag.Span{&at.Span, &at.Patched} {
		if s.File == "" || x.prefix == "." || x.Out.Charts[s.File] != nil {
			continue
		}
		name := x.FromRoot(s.File)
		if r.Files.ByName[name] == nil {
			r.Files.ByName[name] = x.files[s.File]
		}
		s.File = name
	}
	return at
}

// InSources maps a place in the result of a render to the sources, and returns any other
// unchanged.
func (r *Renders) InSources(s diag.Span) diag.Span {
	if x := r.Results[s.File]; x != nil {
		return r.SourceOf(x, s).Span
	}
	return s
}

// At returns the place of an object as the summary lists it.
func (r *Renders) At(o *source.Object) string {
	if x := r.Results[o.File.Name]; x != nil {
		s := r.SourceOf(x, o.NameSpan()).Span
		return FileLine(s.File, s.Line)
	}
	return FileLine(o.File.Name, int(o.Root.Line))
}

// AtLine returns the place of an object that begins on a line.
func (r *Renders) AtLine(file string, line int) string {
	s := r.InSources(diag.Span{File: file, Line: line, Column: 1, EndLine: line, EndColumn: 2})
	return FileLine(s.File, s.Line)
}

// NamedAt returns a place in an object for messages. A place in a rendered object is mapped to
// the sources.
func (r *Renders) NamedAt(o *source.Object, s diag.Span) (file string, at diag.Span) {
	if r.Results[o.File.Name] == nil {
		return o.File.Display, s
	}
	s.File = o.File.Name
	at = r.InSources(s)
	return r.Files.Display(at.File), at
}

// FileNames returns the files of objects for messages.
func (r *Renders) FileNames(objects []*source.Object) []string {
	var names []string
	for _, o := range objects {
		file, _ := r.NamedAt(o, o.NameSpan())
		names = append(names, file)
	}
	return names
}

// inValues refines a place in the sources if the rendered value is a values text that the
// sources contain unchanged.
func (r *Renders) inValues(o *source.Object, s diag.Span, at origin.Place) origin.Place {
	if !at.Near || fragments.Destinations(o) == nil {
		return at
	}
	raw := Around(r.rawOf(at.Span.File), at.Span.Line, at.Span.Column)
	if raw == nil || raw.Kind != o.Kind {
		return at
	}
	if moved, ok := fragments.Moved(o, raw, s); ok {
		return origin.Place{Span: moved, Patched: at.Patched}
	}
	return at
}
