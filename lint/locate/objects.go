package locate

import (
	"cmp"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/contexts"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/source"
)

// NameOf returns the name of an object for messages.
func NameOf(o *source.Object) string {
	return diag.ObjectName(o.Kind, o.Namespace, o.Name)
}

// StartOf returns the start of an object.
func StartOf(o *source.Object) diag.Span {
	at := diag.Span{File: o.File.Name, Line: int(o.Root.Line), Column: int(o.Root.Column)}
	at.EndLine, at.EndColumn = at.Line, at.Column
	return at
}

// LabelsOf returns the labels of an object.
func LabelsOf(o *source.Object) map[string]string {
	labels := map[string]string{}
	for k, v := range o.Root.At("metadata", "labels").Fields() {
		labels[k.Value] = v.Value
	}
	return labels
}

// ByFile groups objects by file and sorts each group by position.
func ByFile(objects []*source.Object) map[string][]*source.Object {
	files := map[string][]*source.Object{}
	for _, o := range objects {
		files[o.File.Name] = append(files[o.File.Name], o)
	}
	for _, list := range files {
		slices.SortStableFunc(list, func(a, b *source.Object) int { return StartOf(a).Compare(StartOf(b)) })
	}
	return files
}

// Around returns the last object that begins at or before a position, or nil if there is none.
// Several objects may begin on one line, for example in JSON.
func Around(objects []*source.Object, line, column int) *source.Object {
	i := sort.Search(len(objects), func(i int) bool {
		root := objects[i].Root
		return cmp.Or(cmp.Compare(int(root.Line), line), cmp.Compare(int(root.Column), column)) > 0
	})
	if line == 0 || i == 0 {
		return nil
	}
	return objects[i-1]
}

// Locator finds the object at a position. Consecutive findings are often about the same object, so
// the Locator caches data about the last object.
type Locator struct {
	files  map[string][]*source.Object
	byID   map[diag.Object][]*source.Object
	object *source.Object
	places *source.Places
	labels map[string]string
	// copies holds the other declarations of the object that are identical to it. trails maps a
	// position in the object to the path that leads to the same position in a copy. Both are
	// computed on first use.
	copies []*source.Object
	trails *source.Trails
}

// NewLocator returns a Locator for objects.
func NewLocator(objects []*source.Object) *Locator {
	l := &Locator{files: ByFile(objects), byID: map[diag.Object][]*source.Object{}}
	for _, o := range objects {
		l.byID[o.ID()] = append(l.byID[o.ID()], o)
	}
	return l
}

// Locate sets a finding's field, and the start and labels of its object.
func (l *Locator) Locate(found *accept.Finding) {
	at := found.Location
	o := Around(l.files[at.File], at.Line, at.Column)
	if o == nil {
		return
	}
	if o != l.object {
		l.object, l.places, l.labels, l.copies, l.trails = o, o.Root.Places(), LabelsOf(o), nil, nil
		if same := l.byID[o.ID()]; len(same) > 1 && o.Name != "" {
			l.copies = slices.DeleteFunc(slices.Clone(same), func(x *source.Object) bool { return x == o || !source.Equal(x.Root, o.Root) })
		}
	}
	found.Field, found.Start, found.Labels = l.places.Path(at.Line, at.Column).String(), StartOf(o), l.labels
}

// InCopies repeats a located finding for each copy of its object. The copies need their own
// findings because most checks run on only one of several identical declarations. The fixes in
// these findings have a description but no edits.
func (l *Locator) InCopies(found *accept.Finding) (all []accept.Finding) {
	if len(l.copies) == 0 || found.Start != StartOf(l.object) || found.Object != l.object.ID() {
		return nil
	}
	if l.trails == nil {
		l.trails = source.NewTrails(l.object.Root)
	}
	for _, o := range l.copies {
		twin := *found
		twin.Start, twin.Location = StartOf(o), l.inCopy(o, found.Location)
		twin.Related, twin.Fixes = slices.Clone(found.Related), slices.Clone(found.Fixes)
		for i, r := range twin.Related {
			if Around(l.files[r.Location.File], r.Location.Line, r.Location.Column) == l.object {
				twin.Related[i].Location = l.inCopy(o, r.Location)
			}
		}
		for i := range twin.Fixes {
			twin.Fixes[i].Edits = nil
		}
		all = append(all, twin)
	}
	return all
}

// inCopy returns the span in a copy that corresponds to a span in the object.
func (l *Locator) inCopy(o *source.Object, at diag.Span) diag.Span {
	steps := l.trails.At(at)
	there := source.NewFollower().Follow(steps, o.Root)
	if len(steps) == 0 || len(there) != len(steps) {
		return o.NameSpan()
	}
	was, is := steps[len(steps)-1], there[len(there)-1]
	switch at {
	case l.object.File.FieldSpan(was.Key, was.Value):
		return o.File.FieldSpan(is.Key, is.Value)
	case l.object.File.Span(was.Key):
		return o.File.Span(is.Key)
	}
	return o.File.Span(is.Value)
}

// OutputsOf returns a function that finds the local charts from which a file was generated. It
// relies on the comments that Helm writes or, without comments, on the labels that most charts set
// on their objects.
func OutputsOf(f *Files, objects []*source.Object) func(*source.File) []contexts.Output {
	charts := map[string]bool{} // names of charts among the paths or found around outputs
	for name, file := range f.ByName {
		if path.Base(name) == "Chart.yaml" {
			charts[chartName(file)] = true
		}
	}
	m, err := origin.New(origin.Options{Dir: f.Dir, Root: f.Root, Base: f.Root, Tracked: f.Reading.Tracked, Files: f.ByName})
	// known reports whether a chart is among the paths or near a file of its output. For each
	// directory above the file, it looks in the directory itself and in the subdirectories CHART
	// and charts/CHART.
	left := maxSearches
	known := func(chart, file string) bool {
		if left--; charts[chart] || err != nil || left < 0 {
			return charts[chart]
		}
		for dir := path.Dir(file); ; dir = path.Dir(dir) {
			for _, at := range []string{dir, path.Join(dir, chart), path.Join(dir, "charts", chart)} {
				if about := m.Read(path.Join(at, "Chart.yaml")); about != nil && chartName(about) == chart {
					charts[chart] = true
					return true
				}
			}
			if dir == "." || dir == "/" {
				return false
			}
		}
	}
	labelled := labelledOutputs(objects, known)
	return func(file *source.File) (all []contexts.Output) {
		templates, last := file.Templates(), ""
		if len(templates) == 0 {
			return labelled[file.Name]
		}
		for _, t := range templates { // sorted, so the templates of a chart are adjacent
			chart, _, _ := strings.Cut(t, "/")
			if chart != last && known(chart, file.Name) {
				all = append(all, contexts.Output{Chart: chart, Name: outputName(file.Name, templates)})
			}
			last = chart
		}
		return all
	}
}

// chartLabel is the label for the chart name and version. Templates generated by helm create set it
// (helm: pkg/chartutil/create.go).
const chartLabel = "helm.sh/chart"

// versioned matches the value of chartLabel.
var versioned = lazy.Regexp(`^(.+)-v?[0-9]+\.[0-9]`)

// labelledOutputs returns the outputs of files without Helm comments. Files in the same directory
// and from the same chart form one output. If two of these files declare the same object, each file
// is a separate output.
func labelledOutputs(objects []*source.Object, known func(chart, file string) bool) map[string][]contexts.Output {
	type declared struct {
		in contexts.Output // of a directory
		id diag.Object
	}
	first, single, of := map[declared]string{}, map[contexts.Output]bool{}, map[string]contexts.Output{}
	for _, o := range objects {
		chart := versioned().FindStringSubmatch(o.Root.At("metadata", "labels", chartLabel).Text())
		file := o.File.Name
		if chart == nil || !known(chart[1], file) {
			continue
		}
		d := declared{contexts.Output{Chart: chart[1], Name: path.Dir(file)}, o.ID()}
		of[file] = d.in
		if other := first[d]; other != "" && other != file {
			single[d.in] = true
		}
		first[d] = file
	}
	all := map[string][]contexts.Output{}
	for file, out := range of {
		if single[out] {
			out.Name = file
		}
		all[file] = []contexts.Output{out}
	}
	return all
}

// maxSearches is the maximum number of searches for charts near their output.
const maxSearches = 10_000

// outputName returns a name for the output that a file belongs to. The command helm template
// --output-dir writes one file per template, at a path that ends with the path of the template.
// Files with such paths form one output. Any other file is a separate output.
func outputName(file string, templates []string) string {
	if len(templates) != 1 {
		return file
	}
	is, of := strings.Split(file, "/"), strings.Split(templates[0], "/")
	for len(is) > 0 && len(of) > 0 && is[len(is)-1] == of[len(of)-1] {
		is, of = is[:len(is)-1], of[:len(of)-1]
	}
	return strings.Join(is, "/")
}

// chartName returns the name of a chart according to its Chart.yaml.
func chartName(about *source.File) string {
	if roots := about.Roots(); len(roots) == 1 {
		return roots[0].Get("name").Text()
	}
	return ""
}
