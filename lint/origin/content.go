package origin

import (
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Find finds the file that declares an object without an origin annotation. There must be exactly
// one such file. It must declare an object with the same kind and name and mostly the same content.
// If no file has the full name, Find also accepts a name that is part of the rendered name.
func (m *Mapper) Find(o *source.Object) (source.Origin, bool) {
	for _, loose := range []bool{false, true} {
		var found []string
		for _, name := range m.declaring(groupKind{o.Group(), o.Kind}) {
			file := m.files.read(name)
			if file == nil || file == o.File {
				continue
			}
			if w := m.match(o, file, loose, 0); w != nil && w.agrees() {
				found = append(found, file.Name)
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			if rel, err := filepath.Rel(filepath.FromSlash("/"+m.base), filepath.FromSlash("/"+found[0])); err == nil {
				return source.Origin{Path: filepath.ToSlash(rel)}, true
			}
		}
		return source.Origin{}, false
	}
	return source.Origin{}, false
}

// Reads reports whether a file is among the sources.
func (m *Mapper) Reads(name string) bool {
	m.sources()
	return m.isSource[name]
}

// declaring returns the sources that declare an object of the given kind.
func (m *Mapper) declaring(of groupKind) []string {
	if m.byKind == nil {
		m.byKind = map[groupKind][]string{}
		for _, name := range m.sources() {
			if file := m.files.read(name); file != nil {
				for kind := range m.files.objects(file) {
					m.byKind[kind] = append(m.byKind[kind], name)
				}
			}
		}
	}
	return m.byKind[of]
}

// maxSources is the maximum number of files that are searched for an object.
const maxSources = 10_000

// sources returns the files that are reachable from the kustomization in the base. If the base has
// no kustomization, it returns all manifests below the base. It returns none if there are too many
// files.
func (m *Mapper) sources() []string {
	if m.isSource != nil {
		return m.sourceNames
	}
	m.isSource = map[string]bool{}
	var all []string
	if m.kustomization(m.base) != nil {
		m.pathsTo("")
		all = slices.Collect(maps.Keys(m.ways))
	} else {
		all = m.below()
	}
	if len(all) > maxSources {
		return nil
	}
	for _, name := range all {
		m.isSource[name] = true
	}
	m.sourceNames = all
	return all
}

// below returns the manifests in the base and its subdirectories, excluding hidden subdirectories.
func (m *Mapper) below() []string {
	var all []string
	top := filepath.Join(m.files.Root(), filepath.FromSlash(m.base))
	// A directory has no sources if it cannot be listed.
	_ = filepath.WalkDir(top, func(at string, d fs.DirEntry, err error) error {
		name, inside := m.files.Inside(at)
		switch {
		case err != nil || !inside || len(all) > maxSources:
			return filepath.SkipDir
		case d.IsDir() && at != top && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.Type().IsRegular() && manifests[strings.ToLower(path.Ext(name))]:
			all = append(all, name)
		}
		return nil
	})
	return all
}

var manifests = map[string]bool{".yaml": true, ".yml": true, ".json": true}

// agrees reports whether the rendered object contains at least half of the values in the source's
// spec at the same paths. Otherwise, the source is a different object with the same name.
func (w *sourceObject) agrees() bool {
	same, all := agreement(w.object.Root.Get("spec"), w.rendered.Root.Get("spec"), 0)
	return 2*same >= all
}

// agreement counts the scalars of node a. The result "same" is the number of scalars that are equal
// to the scalar at the same path in node b. The result "all" is the total number.
func agreement(a, b *source.Node, depth int) (same, all int) {
	if depth > maxNested {
		return 0, 1
	}
	if a.Len() == 0 && !a.IsNull() {
		if a.Kind == source.Scalar && source.Equal(a, b) {
			return 1, 1
		}
		return 0, 1
	}
	for k, v := range a.Fields() {
		s, n := agreement(v, b.Get(k.Value), depth+1)
		same, all = same+s, all+n
	}
	others := b.Items()
	for i, item := range a.Items() {
		var other *source.Node
		if i < len(others) {
			other = others[i]
		}
		s, n := agreement(item, other, depth+1)
		same, all = same+s, all+n
	}
	return same, all
}

// maxBytes is the maximum total number of bytes to read.
const maxBytes = 64 << 20

// files reads files in the repository. Names are relative to the repository root.
type files struct {
	*worktree.Lookup
	dir     string // has no symbolic links
	tracked func(path string) bool
	known   map[string]*source.File
	printed map[string]*source.File
	roots   map[string][]*source.Node
	// numbered holds the documents of files including those without a root.
	numbered map[string][]*source.Node
	indexes  map[string]index
	left     int64
}

// index maps kinds and names to a file's objects.
type index map[groupKind]map[string][]*source.Object

type groupKind struct{ group, kind string }

// directory returns the name with symbolic links resolved, or "" if the directory does not exist.
func (f *files) directory(name string) string {
	if e := f.Entry(name); e.Info != nil && e.Info.IsDir() {
		return e.Name
	}
	return ""
}

// read returns a file, or nil if it cannot be read. It reads only regular files, because reading a
// pipe or a device may block.
func (f *files) read(name string) *source.File {
	if file := f.printed[name]; file != nil {
		return file
	}
	e := f.Entry(name)
	if e.Info == nil || !e.Info.Mode().IsRegular() {
		return nil
	}
	real := filepath.Join(f.Root(), filepath.FromSlash(e.Name))
	if f.tracked != nil && !f.tracked(real) {
		return nil
	}
	if file := f.known[e.Name]; file != nil {
		return file
	}
	text, err := worktree.ReadFile(f.Root(), filepath.FromSlash(e.Name), f.left)
	if err != nil {
		return nil
	}
	f.left -= int64(len(text))
	display := e.Name
	if rel, err := filepath.Rel(f.dir, real); err == nil {
		display = filepath.ToSlash(rel)
	}
	file := source.NewFile(e.Name, display, text)
	f.known[e.Name] = file
	return file
}

// documents returns the documents in a file. Each file is parsed only once.
func (f *files) documents(file *source.File) []*source.Node {
	return lazy.Cached(f.roots, file.Name, file.Roots)
}

// objects returns a file's objects by group and kind, then by name.
func (f *files) objects(file *source.File) index {
	return lazy.Cached(f.indexes, file.Name, func() index {
		x := index{}
		for _, root := range f.documents(file) {
			for _, o := range file.ObjectsOf(root) {
				of := groupKind{o.Group(), o.Kind}
				if x[of] == nil {
					x[of] = map[string][]*source.Object{}
				}
				x[of][o.Name] = append(x[of][o.Name], o)
			}
		}
		return x
	})
}

// sourceObject is an object as written, together with everything that may have changed it during
// rendering.
type sourceObject struct {
	object, rendered *source.Object
	trails           *source.Trails
	follower         *source.Follower
	setters          []setter
}

// setter is a patch or another setting of a kustomization. It sets fields in an object.
type setter struct {
	in text
	// sure is set if the setter definitely applies to the object.
	sure bool
	// cost is the number of patches and patch operations in the setter.
	cost int
	// follow returns the nodes of the setter along a path. The argument holds the steps to a field
	// in the rendered object. The result has a value for each step that the setter sets.
	follow func(steps []*source.Step) []source.Step
}

// text is a file, or a patch in a block scalar within a file.
type text struct {
	file, patch *source.File
	key, block  *source.Node
}

func (t text) span(form form, s source.Step) (span diag.Span, exact bool) {
	if t.block == nil {
		return form(t.file, s), true
	}
	if span, ok := t.file.BlockSpan(t.block, t.patch, form(t.patch, s)); ok {
		return span, true
	}
	return t.file.FieldSpan(t.key, t.block), false // for example in quoted text
}

// maxCost is the maximum total cost of an object's setters. If the cost is higher, only the object
// itself is searched.
const maxCost = 1000

// form is a function that returns the span of a part of a field, such as the key or the value.
type form func(f *source.File, s source.Step) diag.Span

func wholeField(f *source.File, s source.Step) diag.Span {
	if s.Key == nil {
		return f.Span(s.Value)
	}
	return f.FieldSpan(s.Key, s.Value)
}

// firstField returns the span of a map's first field. In messages, it stands for the whole map.
func firstField(f *source.File, s source.Step) diag.Span {
	for k, v := range s.Value.Fields() {
		return f.FieldSpan(k, v)
	}
	return f.Span(s.Value)
}

// formOf returns the form for the part of a rendered field that a span covers, such as the value.
// For a list item, it returns the form for the value.
func formOf(f *source.File, s *source.Step, span diag.Span) form {
	if s.Key == nil {
		return firstField
	}
	value := func(f *source.File, s source.Step) diag.Span { return f.Span(s.Value) }
	key := func(f *source.File, s source.Step) diag.Span {
		if s.Key == nil {
			return f.Span(s.Value)
		}
		return f.Span(s.Key)
	}
	for _, form := range []form{wholeField, value, key} {
		if form(f, *s) == span {
			return form
		}
	}
	return wholeField
}

// place returns the position in the sources at which a span of the rendered object was written. It
// looks for the same field with the same value. It prefers the source object, then the last setter
// for the field. If there is no such field, it returns the nearest surrounding field. The last
// resort is the object's name.
func (w *sourceObject) place(span diag.Span) Place {
	name := Place{Span: w.object.NameSpan(), Near: true}
	steps := w.trails.At(span)
	if len(steps) == 0 {
		return name
	}
	if isField(steps, "metadata", "name") {
		name.Near = false
		return name
	}
	c := &candidates{sourceObject: w, steps: steps, home: w.follower.Follow(steps, w.object.Root)}
	for _, s := range w.setters {
		c.set = append(c.set, s.follow(steps))
	}
	last := len(steps) - 1
	form := formOf(w.rendered.File, steps[last], span)
	p, ok := c.where(last, form, func(v *source.Node) bool { return source.Equal(v, steps[last].Value) })
	if !ok { // a map or list that other files may have extended
		p, ok = c.alike(last, form)
	}
	for n := len(steps) - 2; n > 0 && !ok; n-- { // the name is more useful than spec and its parents
		p, ok = c.alike(n, wholeField)
		p.Near = true
	}
	if !ok {
		return name
	}
	return p
}

// candidates holds the path to a field in the source object and in each of its setters.
type candidates struct {
	*sourceObject
	steps []*source.Step
	home  []source.Step
	set   [][]source.Step
}

// alike returns the position of the map or list at step n.
func (c *candidates) alike(n int, form form) (Place, bool) {
	want := c.steps[n].Value
	return c.where(n, form, func(v *source.Node) bool { return want.Kind != source.Scalar && v.Kind == want.Kind })
}

// where returns the position of step n in the source object. If the source object does not have the
// step, where uses the last setter that definitely applies. If there is no such setter, where uses
// the only setter that may apply.
func (c *candidates) where(n int, form form, same func(*source.Node) bool) (p Place, ok bool) {
	if len(c.home) > n && same(c.home[n].Value) {
		return Place{Span: form(c.object.File, c.home[n])}, true
	}
	sure, several := false, false
	for i, s := range c.setters {
		if len(c.set[i]) <= n || c.set[i][n].Value == nil || !same(c.set[i][n].Value) || sure && !s.sure {
			continue
		}
		at, exact := s.in.span(form, c.set[i][n])
		several = !s.sure && ok && (several || at != p.Span)
		p, ok, sure = Place{Span: at, Near: !exact, Patched: c.object.NameSpan()}, true, s.sure
	}
	return p, ok && !several
}
