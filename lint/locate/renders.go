package locate

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/chart"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/fragments"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
)

// Rendered is a successful render.
type Rendered struct {
	Render
	Out *render.Output
	// File holds the rendered text, and Objects the objects parsed from it.
	File    *source.File
	Objects []*source.Object
	marks   *origin.Marks // nil until first use
	mapper  *origin.Mapper
	stream  *source.Stream
	files   map[string]*source.File // cache of source files, by name relative to Confinement
	// printed holds the output of each chart in a kustomization, by the key of the chart in
	// Output.Charts.
	printed map[string]*source.File
}

// Renders holds the renders of a run. Findings are reported in rendered text first, and then moved
// to the sources.
type Renders struct {
	Files *Files
	// All holds the successful renders. Results maps the name of a rendered file to its render, if
	// schedlint itself built the render.
	All     []*Rendered
	Results map[string]*Rendered
	// Failed holds the names of failed renders. Quiet holds the problems of failed renders that
	// were not requested explicitly.
	Failed []string
	Quiet  map[string]source.Problem
	// Spent is set if the renders exceeded the limits for a run.
	Spent bool
	// Reached holds the files that renders use. Raw holds the objects in these files, except in
	// files that another tool rendered. rawFiles groups Raw by file and is nil until first use.
	Reached  map[string]bool
	Raw      []*source.Object
	rawFiles map[string][]*source.Object
	// Assumed maps the name of a render to the release name that was assumed for it.
	Assumed map[string]string
	// spots indexes values files by position. It is filled on first use.
	spots  map[*source.File]*spots
	places map[*source.File]*source.Places
}

// NewRenders returns a Renders without any renders.
func NewRenders(f *Files) *Renders {
	return &Renders{Files: f, Results: map[string]*Rendered{}, Quiet: map[string]source.Problem{}, Reached: map[string]bool{}, Assumed: map[string]string{},
		spots: map[*source.File]*spots{}, places: map[*source.File]*source.Places{}}
}

// Add reads the rendered text and returns the problems found in it.
func (r *Renders) Add(asked *Render, out *render.Output) (*Rendered, []source.Problem) {
	name := "<render " + asked.Name + ">" // no real file can have this name
	set := source.LoadText(r.Files.Reading, name, out.Text)
	set.Files[0].Result = true
	x := &Rendered{Render: *asked, Out: out, File: set.Files[0], Objects: set.Objects}
	hook := source.HelmHook
	if x.Argo {
		hook = source.ArgoHook
	}
	if x.Argo || x.Root.Chart != nil {
		for _, o := range x.Objects {
			o.Hook = hook(o)
		}
	}
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
	return lists.Of(r.All, func(x *Rendered) string { return x.Name })
}

// Contained returns, for each source file, the indices of the documents that renders contain.
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

// start returns the span that represents the whole render in findings. It is the start of the
// kustomization or chart, or the pointer if the kustomization is not among the sources.
func (x *Rendered) start() diag.Span {
	s := diag.Span{File: x.Kustomization(), Line: 1, Column: 1, EndLine: 1, EndColumn: 2}
	if o := x.Root.Overlay; o != nil && !slices.Contains(x.Out.Sources, s.File) {
		s.File, s.Line, s.EndLine = x.FromRoot(o.File), o.Line, o.Line
	}
	return s
}

// Kustomization returns the main file of a render: the kustomization or, for a chart, the
// Chart.yaml or the archive.
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

// Document returns the document that contains a line of the rendered text.
func (x *Rendered) Document(line int) (render.Document, bool) { return documentAt(x.Out, line) }

func documentAt(out *render.Output, line int) (render.Document, bool) {
	i := sort.Search(len(out.Documents), func(i int) bool { return out.Documents[i].Line > line })
	if i == 0 {
		return render.Document{}, false
	}
	return out.Documents[i-1], true
}

// ToSources moves a finding from rendered text to the sources.
func (r *Renders) ToSources(x *Rendered, f *accept.Finding) {
	d := &f.Diagnostic
	d.Release = x.Release
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
	if !at.Library.IsZero() {
		d.Related = append(d.Related, diag.Related{Message: byLibrary, Location: at.Library})
	}
	for _, s := range at.Conditions {
		d.Related = append(d.Related, diag.Related{Message: byCondition, Location: s})
	}
	if slices.Contains(selectsNothing, d.Rule) {
		for _, s := range r.omissions(x, cmp.Or(at.Template, at.Span)) {
			d.Related = append(d.Related, diag.Related{Message: omits, Location: s})
		}
	}
	d.Location, f.Moved = at.Span, true
	if o := Around(r.rawOf(at.Span.File), at.Span.Line, at.Span.Column); o != nil && !at.Whole {
		d.Written = o.ID()
	} else if !at.Whole {
		d.Written = diag.Object{Kind: "file", Name: at.Span.File}
	}
}

// NameAt returns the name that an object has in its source. If the source is unknown, it returns
// the rendered name.
func (r *Renders) NameAt(o *source.Object, at diag.Span) string {
	if r.Results[o.File.Name] != nil {
		if raw := Around(r.rawOf(at.File), at.Line, at.Column); raw != nil {
			return NameOf(raw)
		}
	}
	return NameOf(o)
}

// RawObject returns the source object from which an object was rendered, or nil if it is unknown.
func (r *Renders) RawObject(o *source.Object) *source.Object {
	s := r.InSources(o.NameSpan())
	return Around(r.rawOf(s.File), s.Line, s.Column)
}

// notFound is the message for a position that replaces a source that was not found.
const notFound = "what sets this was not found in the sources of the render"

// rawOf returns the objects in a source file of a render, as they are before rendering.
func (r *Renders) rawOf(file string) []*source.Object {
	if r.rawFiles == nil {
		r.rawFiles = ByFile(r.Raw)
	}
	return r.rawFiles[file]
}

// SourceOf returns the source of a span in rendered text, or the start of the render if the source
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

// prepare builds the data that is needed to look up the sources of a render. It reports whether it
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

// marked returns the source of a span in a rendered kustomization. The source is in a file, or in
// the output of one of the kustomization's charts.
func (r *Renders) marked(x *Rendered, s diag.Span) (at origin.Place, ok bool) {
	o, _ := x.stream.At(s)
	if o == nil {
		return at, false
	}
	var from source.Origin
	if d, ok := x.Document(int(o.Root.Line)); ok && d.File >= 0 {
		from.Path, from.Document = Relative(x.Root.Dir, x.Out.Files[d.File]), d.Index+1
	}
	if at, ok = x.marks.Locate(o, from, s); !ok {
		return at, false
	}
	return r.inValues(o, s, r.fromRoot(x, at)), true
}

// fromRoot converts the file names of a place to names relative to the root of the run.
func (r *Renders) fromRoot(x *Rendered, at origin.Place) origin.Place {
	for _, s := range []*diag.Span{&at.Span, &at.Patched} {
		if s.File == "" || x.prefix == "." || x.Out.Charts[s.File] != nil {
			continue
		}
		name := x.FromRoot(s.File)
		r.Files.ByName[name] = cmp.Or(r.Files.ByName[name], x.files[s.File])
		s.File = name
	}
	return at
}

// InSources maps a span in rendered text to the sources. It returns any other span unchanged.
func (r *Renders) InSources(s diag.Span) diag.Span {
	if x := r.Results[s.File]; x != nil {
		return r.SourceOf(x, s).Span
	}
	return s
}

// At returns the location of an object in the form that the summary uses.
func (r *Renders) At(o *source.Object) string {
	if x := r.Results[o.File.Name]; x != nil {
		s := r.SourceOf(x, o.NameSpan()).Span
		return FileLine(s.File, s.Line)
	}
	return FileLine(o.File.Name, int(o.Root.Line))
}

// AtLine is like At, but takes the file and line where the object begins.
func (r *Renders) AtLine(file string, line int) string {
	s := r.InSources(diag.Span{File: file, Line: line, Column: 1, EndLine: line, EndColumn: 2})
	return FileLine(s.File, s.Line)
}

// NamedAt returns a location in an object for use in messages. It maps a location in a rendered
// object to the sources.
func (r *Renders) NamedAt(o *source.Object, s diag.Span) (file string, at diag.Span) {
	if r.Results[o.File.Name] == nil {
		return o.File.Display, s
	}
	s.File = o.File.Name
	at = r.InSources(s)
	return r.Files.Display(at.File), at
}

// FileNames returns the names of the files that contain the objects, for use in messages.
func (r *Renders) FileNames(objects []*source.Object) []string {
	var names []string
	for _, o := range objects {
		file, _ := r.NamedAt(o, o.NameSpan())
		names = append(names, file)
	}
	return names
}

// inValues makes a source position more exact if possible. This requires that the GitOps object in
// the sources contains the same values as text. Otherwise, the position is returned unchanged.
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

// PrintedBy returns the template line that printed a line. A value on the printed line may still
// come from a values file.
func (r *Renders) PrintedBy(x *Rendered, s diag.Span) diag.Span {
	at := r.SourceOf(x, s)
	if !at.Template.IsZero() {
		return at.Template
	}
	return at.Span
}

// Messages for the lines of templates and values that lead to a text.
const (
	byTemplate  = "printed by this line of the template"
	byLibrary   = "printed by this line of the dependency"
	byCondition = "this value decides whether the chart prints it"
)

// fromLine returns the source of a line in chart output. It is, in this order of preference: a value
// in a values file, together with the template line; the line of a template that a person edits; a
// value that decides whether the line is printed. The argument name is a key in Output.Charts, or ""
// if the render itself is the chart.
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
	var to origin.Place
	if at.Inside >= 1 && at.Inside <= len(printed.Inside) { // the template is in an archive
		archive, name, _ := strings.Cut(printed.Inside[at.Inside-1], ".tgz:")
		to.Inside = fmt.Sprintf("printed by line %d of %s in %s.tgz", at.InsideAt, Start(name, mostName), Start(archive, mostName))
	}
	if at.LibraryAt > 0 {
		to.Library, _ = r.lineOf(x, fileOf(printed, at.Library), at.LibraryAt, 1)
	}
	value, isSet := r.lineOf(x, fileOf(printed, at.Values), at.ValuesAt, at.ValuesColumn)
	inside, around := r.conditions(x, printed, s.Line)
	outside := slices.IndexFunc(around, func(s diag.Span) bool { return !x.downloaded(printed, s.File) })
	switch {
	case isSet:
		to.Span, to.Template = value, template
	case known && (at.Inside == 0 || at.LibraryAt > 0) && !x.downloaded(printed, template.File):
		to.Span = template
	case outside >= 0 && at.ValuesAt == 0:
		to.Span, to.Template = around[outside], template
	case known:
		to.Span, to.Whole = template, at.Inside > 0
	default:
		if unknown.Inside = to.Inside; at.ValuesAt > 0 && x.Root.Chart != nil && x.Root.Chart.Archive != "" {
			unknown.Inside = "set by the default values in " + Start(x.FromRoot(x.Root.Chart.Archive), mostName)
		}
		return unknown
	}
	for _, s := range inside {
		if (s.File != to.Span.File || s.Line != to.Span.Line) && len(to.Conditions) < mostConditions {
			to.Conditions = append(to.Conditions, s)
		}
	}
	return to
}

// selectsNothing lists the rules about selectors of pods that may have been left out.
var selectsNothing = []string{"pdb-selects-no-pod", "selector-matches-no-pod"}

const omits = "this value makes the chart leave out a workload"

// omissions returns the values that make a chart leave out workloads next to a template: in its
// directory, or anywhere if that is unknown.
func (r *Renders) omissions(x *Rendered, template diag.Span) (all []diag.Span) {
	for _, o := range x.Out.Omitted {
		if file := fileOf(x.Out, o.Template); file != "" && path.Dir(x.FromRoot(file)) != path.Dir(template.File) {
			continue
		}
		for _, p := range o.Places {
			s, ok := r.lineOf(x, fileOf(x.Out, p.File), p.Line, p.Column)
			if ok && !slices.Contains(all, s) && len(all) < mostConditions {
				all = append(all, s)
			}
		}
	}
	return all
}

// mostConditions is the maximum number of values of a kind that a finding names in addition.
const mostConditions = 2

// conditions returns the values that decide whether a line of chart output is printed, the innermost
// first. inside leaves out those that decide the same for the whole object.
func (r *Renders) conditions(x *Rendered, out *render.Output, line int) (inside, around []diag.Span) {
	whole := map[int]bool{}
	if d, ok := documentAt(out, line); ok && d.Line <= len(out.Lines) {
		for c := out.Lines[d.Line-1].Condition; c > 0 && c <= len(out.Conditions) && len(whole) < maxConditions; c = out.Conditions[c-1].Outer {
			whole[c] = true
		}
	}
	for c := out.Lines[line-1].Condition; c > 0 && c <= len(out.Conditions) && len(around) < maxConditions; c = out.Conditions[c-1].Outer {
		for _, p := range out.Conditions[c-1].Places[:min(maxConditions, len(out.Conditions[c-1].Places))] {
			s, ok := r.lineOf(x, fileOf(out, p.File), p.Line, p.Column)
			if !ok || slices.Contains(around, s) {
				continue
			}
			if around = append(around, s); !whole[c] {
				inside = append(inside, s)
			}
		}
	}
	return inside, around
}

// maxConditions is the maximum number of values that are looked at around a line.
const maxConditions = 50

// downloaded reports whether a file belongs to a copy of a chart that comes from elsewhere. The
// argument out is the output of the chart that has the file. The name of the file is relative to the
// root of the run.
func (x *Rendered) downloaded(out *render.Output, file string) bool {
	in := func(dir string) bool { return file == x.FromRoot(dir) || strings.HasPrefix(file, x.FromRoot(dir)+"/") }
	for _, to := range x.Root.Remotes {
		if in(to) {
			return true
		}
	}
	return out.Downloaded != "" && in(out.Downloaded) || x.Root.Chart != nil && in(path.Join(x.Root.Dir, "charts"))
}

// mostName is the maximum length in bytes of an archive file name in a message.
const mostName = 200

// isItem reports whether a span represents an entire list item that is a map. The span of the
// item's first key begins at the same position, but is longer than one character.
func isItem(line string, s diag.Span) bool {
	text := []rune(line)
	if s.EndLine != s.Line || s.EndColumn != s.Column+1 || s.Column > len(text) {
		return false
	}
	dashes, rest := string(text[:s.Column-1]), string(text[s.Column-1:])
	return strings.HasSuffix(dashes, "- ") && strings.Trim(dashes, "- ") == "" && strings.Index(rest, ":") > 1
}

// fileOf returns the name of the file with the given index in an output, or "" if the index is
// negative.
func fileOf(out *render.Output, file int) string {
	if file < 0 {
		return ""
	}
	return out.Files[file]
}

// throughCharts maps a position in the output of a kustomization's chart to its source. The source
// may not be in a file, for example because it is in an archive. In this case, throughCharts
// returns the position where the kustomization names the chart.
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

// declaredIn returns the file that declares a rendered document, together with the document's
// position in that file. If a chart printed the document, the file is the template.
func (x *Rendered) declaredIn(d render.Document) (string, render.Document) {
	out := x.Out
	if printed := out.Charts[fileOf(out, d.File)]; printed != nil && d.Index < len(printed.Documents) {
		out, d = printed, printed.Documents[d.Index]
	}
	return x.FromRoot(fileOf(out, d.File)), d
}

// lineOf returns the span of a line in a chart file, starting at the given column.
func (r *Renders) lineOf(x *Rendered, file string, line, column int) (diag.Span, bool) {
	if file == "" {
		return diag.Span{}, false
	}
	text := x.mapper.Read(file)
	if text == nil || line < 1 || line > text.LineCount() {
		return diag.Span{}, false
	}
	name := x.FromRoot(file)
	r.Files.ByName[name] = cmp.Or(r.Files.ByName[name], text)
	at := text.LineSpan(line)
	at.File = name
	// In a flow collection, the span of a value starts at the column of the value. Any other span
	// includes the key.
	if all := []rune(text.Line(line)); column <= len(all) && strings.ContainsAny(string(all[:column-1]), "{[") {
		at.Column = column
	}
	return at, true
}

// Start truncates text to at most the given number of bytes.
func Start(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
