package origin

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Options say where the sources are. Dir and Root are absolute, as in
// source.Options.
type Options struct {
	Dir, Root string
	// Base is the directory that was rendered, relative to Dir; "" is Dir, and
	// then an object has to have the very name that it is rendered to.
	Base string
	// Tracked says which files belong to what is looked at; nil takes all.
	Tracked func(path string) bool
	// Files are those that are read already, by name; those that are read here
	// are added.
	Files map[string]*source.File
}

// Place is where something rendered was written.
type Place struct {
	Span diag.Span
	// Near is set if the very place was not found: the field around it, or the
	// name of the object.
	Near bool
	// Whole is set if Span stands for all that was made there: a template, or what
	// configures a generator.
	Whole bool
	// Patched is the name of the object in its own file, if Span is somewhere else.
	Patched diag.Span
}

// Mapper finds places; it reads every file once.
type Mapper struct {
	files   *files
	base    string
	named   bool
	dirs    map[string]*kustomization
	ways    map[string][][]*kustomization
	objects map[*source.Object]*written
}

// New is an error if the base is no directory of the repository.
func New(o Options) (*Mapper, error) {
	m := &Mapper{
		files: newFiles(o), named: o.Base != "",
		dirs: map[string]*kustomization{}, ways: map[string][][]*kustomization{}, objects: map[*source.Object]*written{},
	}
	base := o.Base
	if !filepath.IsAbs(base) {
		base = filepath.Join(o.Dir, base)
	}
	name, ok := m.files.inside(resolved(base))
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
	w := m.written(o, from.Path)
	if w == nil {
		return Place{}, false
	}
	return w.place(span), true
}

// maxObjects is how many rendered objects are kept at a time.
const maxObjects = 64

// written is the object that an object was rendered from, or nil.
func (m *Mapper) written(o *source.Object, from string) *written {
	w, known := m.objects[o]
	if known {
		return w
	}
	if len(m.objects) >= maxObjects {
		clear(m.objects)
	}
	if file := m.files.read(path.Join(m.base, from)); file != nil {
		w = m.match(o, file)
	}
	m.objects[o] = w
	return w
}

// match finds the object of a file that another was rendered from: by group,
// kind and name, the name as the kustomizations on the way make it.
func (m *Mapper) match(o *source.Object, file *source.File) *written {
	var same, matching []*source.Object
	for _, root := range m.files.documents(file) {
		for _, s := range file.ObjectsOf(root) {
			if s.Kind == o.Kind && s.Group() == o.Group() {
				same = append(same, s)
			}
		}
	}
	ways := m.waysTo(file.Name)
	for _, s := range same {
		if s.Name == o.Name || len(leadingTo(ways, s.Name, o.Name)) > 0 {
			matching = append(matching, s)
		}
	}
	if len(matching) == 0 && m.named && len(same) == 1 && same[0].Name != "" && strings.Contains(o.Name, same[0].Name) {
		matching = same // what else names it is not known, but there is no other
	}
	found := oneOf(matching, o.Namespace)
	if found == nil {
		return nil
	}
	if exact := leadingTo(ways, found.Name, o.Name); len(exact) > 0 {
		ways = exact
	}
	return m.newWritten(o, found, ways)
}

// oneOf is the only object, or the only one of a namespace.
func oneOf(objects []*source.Object, namespace string) *source.Object {
	if len(objects) == 1 {
		return objects[0]
	}
	var found *source.Object
	for _, o := range objects {
		if o.Namespace == namespace {
			if found != nil {
				return nil
			}
			found = o
		}
	}
	return found
}

// template is the file of a template: which of its lines rendered to something
// is not known.
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

// top is the first line of a file, which stands for the file.
func top(f *source.File) diag.Span {
	return diag.Span{File: f.Name, Line: 1, Column: 1, EndLine: 1, EndColumn: 1}
}
