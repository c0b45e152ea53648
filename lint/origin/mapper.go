package origin

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Options locates the sources. Dir and Root are absolute, as in source.Options.
type Options struct {
	Dir, Root string
	// Base is the rendered directory, relative to Dir. With "" it is Dir, and an object must have
	// exactly its rendered name.
	Base string
	// Tracked reports whether a file is part of the input; nil accepts all files.
	Tracked func(path string) bool
	// Files holds the files that are already read, by name. New ones are added.
	Files map[string]*source.File
	// Printed holds the output of the charts of kustomizations, by names in a directory below that
	// of their kustomization.
	Printed map[string]*source.File
}

// Place is the source of something rendered.
type Place struct {
	Span diag.Span
	// Near is set if the exact place was not found: Span is then the field around it, or the name
	// of the object.
	Near bool
	// Whole is set if Span represents everything that was made there: a template, or the
	// configuration of a generator.
	Whole bool
	// Patched is the name of the object in its own file, if Span is somewhere else.
	Patched diag.Span
	// Template is the line of a template that prints the text at Span, if Span is a value.
	Template diag.Span
	// Inside is the template in an archive that prints the text, if Template, or else Span, is
	// where that archive is named. Otherwise it is "".
	Inside string
}

// Mapper finds places. It reads every file once.
type Mapper struct {
	files   *files
	base    string
	named   bool
	dirs    map[string]*kustomization
	ways    map[string][]steps // of every file, set on first use
	objects map[*source.Object]*sourceObject
	// inline holds the patches in block scalars, and patterns the compiled patterns of targets.
	inline   map[*source.Node]inline
	patterns map[string]*regexp.Regexp
	copies   map[*source.Node]copied // by the sources of replacements
	// sourceNames are the files to search for objects without an origin, set on first use; byKind
	// maps kinds to those that declare some.
	sourceNames []string
	isSource    map[string]bool
	byKind      map[groupKind][]string
	byName      map[kindName][]*source.Object // of all sources, set on first use
}

// New returns an error if the base is not a directory of the repository.
func New(o Options) (*Mapper, error) {
	m := &Mapper{
		files: &files{
			Lookup: worktree.NewLookup(o.Root), dir: worktree.Resolved(o.Dir), tracked: o.Tracked, known: o.Files, printed: o.Printed,
			roots: map[string][]*source.Node{}, indexes: map[string]index{}, left: maxBytes,
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

// Locate finds where a place in a rendered object was written.
func (m *Mapper) Locate(o *source.Object, from source.Origin, span diag.Span) (Place, bool) {
	switch {
	case from.Template != "":
		return m.template(from.Template)
	case from.ConfiguredIn != "":
		return m.generator(o, from)
	}
	w := m.sourceOf(o, from.Path)
	if w == nil {
		return Place{}, false
	}
	return w.place(span), true
}

// Read returns a file of the repository, by its name from the root, or nil.
func (m *Mapper) Read(name string) *source.File { return m.files.read(name) }

// maxObjects bounds the rendered objects that are kept at a time.
const maxObjects = 64

// sourceOf returns the object that an object was rendered from, or nil.
func (m *Mapper) sourceOf(o *source.Object, from string) *sourceObject {
	w, known := m.objects[o]
	if known {
		return w
	}
	if len(m.objects) >= maxObjects {
		clear(m.objects)
	}
	if file := m.files.read(path.Join(m.base, from)); file != nil {
		if w = m.match(o, file, m.named); w != nil && !w.agrees() {
			w = nil
		}
	}
	m.objects[o] = w
	return w
}

// match finds the object of a file that another was rendered from: by group, kind and name. The
// name is the name before the kustomizations of a path or, if loose is set, a part of the rendered
// name.
func (m *Mapper) match(o *source.Object, file *source.File, loose bool) *sourceObject {
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
	if len(matching) == 0 && loose && len(all) == 1 {
		for name, alone := range all {
			if len(alone) == 1 && name != "" && strings.Contains(o.Name, name) {
				matching = alone // the rest of the name is unexplained, but there is no other object
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
	return m.newWritten(o, found, ways)
}

// template returns the file of a template: which of its lines rendered to something is unknown.
func (m *Mapper) template(name string) (Place, bool) {
	chart, file, _ := strings.Cut(name, "/")
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
}

// FileOnly reports whether only the file is known, but no line.
func (p Place) FileOnly() bool { return p.Whole && p.Span == top(&source.File{Name: p.Span.File}) }

// top returns the first line of a file, which represents the file.
func top(f *source.File) diag.Span {
	return diag.Span{File: f.Name, Line: 1, Column: 1, EndLine: 1, EndColumn: 1}
}
