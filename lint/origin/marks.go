package origin

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Marks uses the marks in a render to find where rendered text was written. Without a mark, it uses
// the Mapper.
type Marks struct {
	mapper *Mapper
	out    *render.Output
	at     map[spot]render.Mark
	// object is the argument of the last call to Locate, and trails holds its trails. files maps
	// file names to the trails of the documents in the file.
	object *source.Object
	trails *source.Trails
	files  map[string][]*source.Trails
}

type spot struct{ line, column int }

// NewMarks returns the Marks for one output. The base of the Mapper must be the directory of the
// rendered root.
func NewMarks(m *Mapper, out *render.Output) *Marks {
	x := &Marks{mapper: m, out: out, at: make(map[spot]render.Mark, len(out.Marks)), files: map[string][]*source.Trails{}}
	for _, mark := range out.Marks {
		x.at[spot{mark.Line, mark.Column}] = mark
	}
	return x
}

// Locate finds the position in the sources at which a span of a rendered object was written.
func (x *Marks) Locate(o *source.Object, from source.Origin, span diag.Span) (Place, bool) {
	if x.object != o {
		x.object, x.trails = o, source.NewTrails(o.Root)
	}
	if steps := x.trails.At(span); len(steps) > 0 {
		if p, ok := x.marked(steps, formOf(o.File, steps[len(steps)-1], span)); ok {
			return p, true
		}
	}
	if from.Path == "" {
		return Place{}, false
	}
	return x.mapper.Locate(o, from, span)
}

// marked returns the position at which the value at the last step was written. For a map or list,
// it uses the first marked scalar in it. The fields around this scalar must have the same names in
// the source.
func (x *Marks) marked(steps []*source.Step, form form) (Place, bool) {
	last := steps[len(steps)-1]
	mark, below, ok := x.first(last.Value, nil)
	if !ok {
		return Place{}, false
	}
	file := x.mapper.files.read(x.out.Files[mark.File])
	if file == nil {
		return Place{}, false
	}
	if mark.Variable { // the field has a different name in the source
		return x.plain(file, mark, last, len(below))
	}
	written := x.way(file, mark)
	n := len(written) - 1 - len(below)
	if n < 0 {
		p, ok := x.plain(file, mark, last, len(below))
		if at := form(x.object.File, *last); ok && last.Key != nil && at.Column == int(last.Key.Column) && at.Line == int(last.Key.Line) {
			line := []rune(file.Line(p.Span.Line)) // include the key if it is before the value
			before, ok := strings.CutSuffix(strings.TrimRight(string(line[:p.Span.Column-1]), " "), last.Key.Value+":")
			if ok && strings.Trim(before, " -") == "" {
				p.Span.Column = 1 + len([]rune(before))
			}
		}
		return p, ok
	}
	for i, key := range below {
		if at := written[n+1+i]; (at.Key != nil) != (key != "") || at.Key != nil && at.Key.Value != key {
			return Place{}, false
		}
	}
	at := written[n]
	if (at.Key != nil) != (last.Key != nil) || at.Key != nil && at.Key.Value != last.Key.Value {
		return Place{}, false
	}
	return Place{Span: form(file, *at)}, true
}

// first returns the mark of the first marked scalar in a node, and the names of the fields that
// contain the scalar. The name for a list item is "".
func (x *Marks) first(n *source.Node, way []string) (mark render.Mark, below []string, ok bool) {
	if n.Kind == source.Scalar {
		mark, ok = x.at[spot{int(n.Line), int(n.Column)}]
		return mark, way, ok
	}
	for k, v := range n.Fields() {
		if mark, below, ok = x.first(v, append(way, k.Value)); ok {
			return mark, below, true
		}
	}
	for _, item := range n.Items() {
		if mark, below, ok = x.first(item, append(way, "")); ok {
			return mark, below, true
		}
	}
	return mark, nil, false
}

// way returns the steps to a mark's target. It returns nil if the target is not a scalar in the
// file. For example, the target may be in a patch in a block scalar.
func (x *Marks) way(file *source.File, mark render.Mark) []*source.Step {
	all, known := x.files[file.Name]
	if !known {
		all = append(all, lists.Of(x.mapper.files.documents(file), source.NewTrails)...)
		x.files[file.Name] = all
	}
	at := diag.Span{File: file.Name, Line: mark.At, Column: mark.AtColumn, EndLine: mark.At, EndColumn: mark.AtColumn}
	for _, t := range all {
		if steps := t.At(at); len(steps) > 0 && steps[len(steps)-1].Value.Kind == source.Scalar {
			return steps
		}
	}
	return nil
}

// plain returns the position of a scalar inside text. Such a scalar has no YAML node in the file.
func (x *Marks) plain(file *source.File, mark render.Mark, last *source.Step, below int) (Place, bool) {
	value := last.Value.Value
	if below > 0 || value == "" {
		return Place{}, false
	}
	line := []rune(file.Line(mark.At))
	if mark.AtColumn < 1 || mark.AtColumn > len(line) || !strings.HasPrefix(strings.TrimLeft(string(line[mark.AtColumn-1:]), `"'`), value) {
		return Place{}, false
	}
	s := diag.Span{File: file.Name, Line: mark.At, Column: mark.AtColumn, EndLine: mark.At}
	s.EndColumn = s.Column + len([]rune(value))
	if r := line[mark.AtColumn-1]; r == '"' || r == '\'' {
		s.EndColumn = min(s.EndColumn+2, len(line)+1)
	}
	return Place{Span: s}, true
}

// Options describes the sources. Dir and Root are absolute, as in source.Options.
type Options struct {
	Dir, Root string
	// Base is the rendered directory, relative to Dir. If it is empty, the base is Dir, and object
	// names must equal the rendered names.
	Base string
	// Tracked reports whether a file is part of the input. If it is nil, all files are.
	Tracked func(path string) bool
	// Files holds files that have already been read, by name. The Mapper adds the files that it
	// reads.
	Files map[string]*source.File
	// Printed maps virtual file names to the outputs of charts that kustomizations use. The
	// directory of such a file is below the kustomization that uses the chart.
	Printed map[string]*source.File
}

// Place is the position in the sources at which rendered text was written.
type Place struct {
	Span diag.Span
	// Near is set if the exact position was not found. Span is then the surrounding field or the
	// object's name.
	Near bool
	// Whole is set if Span is a template or a generator's configuration. Span then stands for
	// everything rendered from it.
	Whole bool
	// Patched is the span of the object's name in the file that declares the object. It is set only
	// if Span is not in the object itself, for instance in a patch.
	Patched diag.Span
	// Template is the line of the template that prints the value at Span. It is zero if Span is not
	// a value.
	Template diag.Span
	// Inside is the template that prints the text if this template is in an archive, and ""
	// otherwise. Template is then the position at which the archive is named. If Template is zero,
	// Span is this position.
	Inside string
	// Library is the line of a dependency's template that prints the text, if Span or Template is the
	// call in the chart itself that leads to it.
	Library diag.Span
	// Conditions are values that decide whether the object has the text at Span.
	Conditions []diag.Span
}

// Mapper finds positions in a render's sources. It reads every file only once.
type Mapper struct {
	files   *files
	base    string
	named   bool
	dirs    map[string]*kustomization
	ways    map[string][]steps // paths from every file; nil until first used
	objects map[*source.Object]*sourceObject
	// inline holds the patches in block scalars. patterns holds the compiled patterns of targets.
	inline   map[*source.Node]inline
	patterns map[string]*regexp.Regexp
	copies   map[*source.Node]copied // keyed by the replacement's source
	// sourceNames lists the files in which objects without an origin annotation are searched.
	// byKind maps each kind to the files that declare objects of that kind. Both are nil until
	// first used.
	sourceNames []string
	isSource    map[string]bool
	byKind      map[groupKind][]string
	byName      map[kindName][]*source.Object // objects in all sources; nil until first used
}

// New returns a Mapper. It returns an error if the base is not a directory of the repository.
func New(o Options) (*Mapper, error) {
	m := &Mapper{
		files: &files{
			Lookup: worktree.NewLookup(o.Root), dir: worktree.Resolved(o.Dir), tracked: o.Tracked, known: o.Files, printed: o.Printed,
			roots: map[string][]*source.Node{}, numbered: map[string][]*source.Node{}, indexes: map[string]index{}, left: maxBytes,
		},
		named: o.Base != "",
		dirs:  map[string]*kustomization{}, objects: map[*source.Object]*sourceObject{},
		inline: map[*source.Node]inline{}, patterns: map[string]*regexp.Regexp{}, copies: map[*source.Node]copied{},
	}
	base := o.Base
	if !filepath.IsAbs(base) {
		base = filepath.Join(o.Dir, base)
	}
	name, ok := m.files.Inside(worktree.Resolved(base))
	if ok {
		m.base = m.files.directory(name)
	}
	if m.base == "" {
		return nil, fmt.Errorf("%q is no directory inside the repository", o.Base)
	}
	return m, nil
}

// Locate finds the position in the sources at which a span of a rendered object was written.
func (m *Mapper) Locate(o *source.Object, from source.Origin, span diag.Span) (Place, bool) {
	switch {
	case from.Template != "":
		// The exact line is not known.
		chart, file, _ := strings.Cut(from.Template, "/")
		for _, dir := range []string{m.base, path.Join(m.base, chart), path.Join(m.base, "charts", chart)} {
			about := m.files.read(path.Join(dir, "Chart.yaml"))
			if about == nil {
				continue
			}
			roots := m.files.documents(about)
			if len(roots) != 1 || roots[0].Get("name").Text() != chart {
				continue
			}
			if f := m.files.read(path.Join(dir, file)); f != nil {
				return Place{Span: top(f), Whole: true}, true
			}
		}
		return Place{}, false
	case from.ConfiguredIn != "":
		// A generator is configured in an entry of a kustomization or in an object of its own.
		file := m.files.read(path.Join(m.base, from.ConfiguredIn))
		if file == nil {
			return Place{}, false
		}
		for _, root := range m.files.documents(file) {
			for _, g := range file.ObjectsOf(root) {
				if g.Kind == from.Generator && g.Name == from.Name && g.Name != "" {
					return Place{Span: g.NameSpan(), Whole: true}, true
				}
			}
			key, list := root.Field(generators[from.Generator])
			for _, item := range list.Items() {
				if k, v := item.Field("name"); k != nil && (list.Len() == 1 || v.Text() != "" && strings.Contains(o.Name, v.Text())) {
					return Place{Span: file.FieldSpan(k, v), Whole: true}, true
				}
			}
			if key != nil {
				return Place{Span: file.Span(key), Whole: true}, true
			}
		}
		return Place{Span: top(file), Whole: true}, m.named
	}
	w := m.sourceOf(o, from)
	if w == nil {
		return Place{}, false
	}
	return w.place(span), true
}

// Read returns a file in the repository, or nil if it cannot be read. The name is relative to the
// repository root.
func (m *Mapper) Read(name string) *source.File { return m.files.read(name) }

// maxObjects is the maximum number of rendered objects kept in memory.
const maxObjects = 64

// sourceOf returns a rendered object's source, or nil if it is unknown.
func (m *Mapper) sourceOf(o *source.Object, from source.Origin) *sourceObject {
	w, known := m.objects[o]
	if known {
		return w
	}
	if len(m.objects) >= maxObjects {
		clear(m.objects)
	}
	if file := m.files.read(path.Join(m.base, from.Path)); file != nil {
		if w = m.match(o, file, m.named, from.Document); w != nil && !w.agrees() {
			w = nil
		}
	}
	m.objects[o] = w
	return w
}

// match finds the object in a file from which o was rendered. Group and kind must be equal. The
// kustomizations on a path from the file may change the name to the rendered name. If loose is
// true, the name may also be part of the rendered name. If the number of the document is known and
// no name explains the rendered one, the document counts.
func (m *Mapper) match(o *source.Object, file *source.File, loose bool, document int) *sourceObject {
	all := m.files.objects(file)[groupKind{o.Group(), o.Kind}]
	names, exact := map[string]bool{o.Name: true}, map[string][]steps{}
	ways := m.pathsTo(file.Name)
	for _, w := range ways {
		if name, ok := w.before(o.Name); ok {
			names[name] = true
			exact[name] = append(exact[name], w)
		}
	}
	var matching []*source.Object
	for name := range names {
		matching = append(matching, all[name]...)
	}
	if len(matching) == 0 && document > 0 {
		if numbered := lazy.Cached(m.files.numbered, file.Name, file.Numbered); document <= len(numbered) {
			for _, in := range file.ObjectsOf(numbered[document-1]) {
				if in.Group() == o.Group() && in.Kind == o.Kind {
					matching = append(matching, in)
				}
			}
		}
	}
	if len(matching) == 0 && loose && len(all) == 1 {
		for name, alone := range all {
			if len(alone) == 1 && name != "" && strings.Contains(o.Name, name) {
				matching = alone // no kustomization explains the rest of the name, but the file has no other object
			}
		}
	}
	if len(matching) > 1 {
		matching = slices.DeleteFunc(slices.Clone(matching), func(x *source.Object) bool { return x.Namespace != o.Namespace })
	}
	if len(matching) != 1 {
		return nil
	}
	found := matching[0]
	if w := exact[found.Name]; len(w) > 0 {
		ways = w
	}
	w := &sourceObject{object: found, rendered: o, trails: source.NewTrails(o.Root), follower: source.NewFollower()}
	cost := 0
	for _, way := range ways {
		names := []string{found.Name, o.Name}
		for _, k := range way {
			for _, s := range m.settersOf(k, &subject{w, names}) {
				s.sure = s.sure && len(ways) == 1
				w.setters = append(w.setters, s)
				cost += s.cost
			}
			if cost > maxCost {
				w.setters = nil
				return w
			}
			prefix, suffix := k.affixes()
			names = append(names, prefix+names[len(names)-1]+suffix)
		}
	}
	return w
}

// FileOnly reports whether only the file is known, without the line.
func (p Place) FileOnly() bool { return p.Whole && p.Span == top(&source.File{Name: p.Span.File}) }

// top returns the span at the beginning of a file. In messages, it stands for the whole file.
func top(f *source.File) diag.Span {
	return diag.Span{File: f.Name, Line: 1, Column: 1, EndLine: 1, EndColumn: 1}
}
