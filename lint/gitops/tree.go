package gitops

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// tree lists the repository's files for generators. It lists them once, on first use.
type tree struct {
	opts   *Options
	listed bool
	files  []string
	dirs   []string
	over   bool
	bytes  int64
	read   map[string]*source.File // see cached
}

var _ pointers.Tree = (*tree)(nil)

func (t *tree) list() {
	if t.listed {
		return
	}
	t.listed = true
	walk := source.Options{Dir: t.opts.Confinement, Root: t.opts.Confinement, Tracked: t.opts.Tracked, Ignore: func(name string) bool {
		return t.opts.Ignore != nil && t.opts.Ignore(name) && !t.opts.Library.Holds(name)
	}}
	inputs, over, _ := source.Walk(walk, []string{t.opts.Confinement}, limits.TreeEntries, func(string) bool { return true }) // directories that cannot be listed count as missing
	t.over = over
	dirs := map[string]bool{}
	for _, in := range inputs {
		if in.Problem != "" {
			continue
		}
		t.files = append(t.files, in.Name)
		for dir := path.Dir(in.Name); dir != "." && !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
			t.dirs = append(t.dirs, dir)
		}
	}
	slices.Sort(t.dirs)
}

// Directories returns all non-empty directories in the repository.
func (t *tree) Directories() []string {
	t.list()
	return t.fromBase(t.dirs)
}

// Files returns all files in the repository.
func (t *tree) Files() []string {
	t.list()
	return t.fromBase(t.files)
}

// fromBase returns the names below the repository root, made relative to that root.
func (t *tree) fromBase(names []string) (all []string) {
	base := path.Clean(t.opts.Base)
	if base == "." {
		return names
	}
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, base+"/"); ok {
			all = append(all, rest)
		}
	}
	return all
}

// Read returns the first document of a file.
func (t *tree) Read(name string) *source.Node {
	if file := t.file(path.Join(t.opts.Base, name)); file != nil {
		if docs := file.Roots(); len(docs) > 0 {
			return docs[0]
		}
	}
	return nil
}

// file reads a file in the tree. It returns nil if reading fails or a limit is exceeded.
func (t *tree) file(name string) *source.File {
	text, err := worktree.ReadFile(t.opts.Confinement, filepath.FromSlash(name), min(limits.PointerFile, limits.PointerText-t.bytes))
	if err != nil {
		return nil
	}
	t.bytes += int64(len(text))
	return source.NewFile(name, name, text)
}

// cached is like the method "file", but reads each file only once.
func (t *tree) cached(name string) *source.File {
	if t.read == nil {
		t.read = map[string]*source.File{}
	}
	return lazy.Cached(t.read, name, func() *source.File { return t.file(name) })
}

// under returns the files below a directory, with names relative to it.
func (t *tree) under(dir string) (all []string) {
	t.list()
	if dir == "." {
		return t.files
	}
	prefix := dir + "/"
	for i := sort.SearchStrings(t.files, prefix); i < len(t.files) && strings.HasPrefix(t.files[i], prefix); i++ {
		all = append(all, t.files[i][len(prefix):])
	}
	return all
}

// generated returns the resources that Flux generates for a directory without a kustomization.
// These are the YAML files below the directory, among the given names. A subdirectory with a
// kustomization is a single resource.
func generated(names []string) (all []string) {
	closed := map[string]bool{}
	for _, name := range names {
		if source.IsKustomizationFile(path.Base(name)) && path.Dir(name) != "." {
			closed[path.Dir(name)] = true
		}
	}
	for _, name := range names {
		up := above(path.Dir(name))[1:]
		at := slices.IndexFunc(up, func(dir string) bool { return closed[dir] })
		switch ext := path.Ext(name); {
		case at >= 0:
			if !slices.Contains(all[max(0, len(all)-1):], up[at]) {
				all = append(all, up[at])
			}
		case ext == ".yaml" || ext == ".yml":
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// plain returns the files that Argo CD reads from a plain directory. jsonnet is set if Argo CD
// would also read Jsonnet files.
func (t *tree) plain(dir string, which pointers.Files) (all []string, jsonnet bool) {
	include, exclude := globOf(which.Include), globOf(which.Exclude)
	for _, name := range t.under(dir) {
		switch {
		case source.IsKustomizationFile(path.Base(name)), !which.Recurse && strings.Contains(name, "/"), exclude != nil && exclude.MatchString(name):
			continue
		case include != nil && !include.MatchString(name):
			continue
		}
		switch path.Ext(name) {
		case ".yaml", ".yml", ".json":
			all = append(all, name)
		case ".jsonnet":
			jsonnet = true
		}
	}
	return all, jsonnet
}

// globOf converts an Argo CD glob to a regular expression. A star also matches slashes. For an
// empty glob, globOf returns nil. For an invalid glob, it returns an expression that never matches.
func globOf(glob string) *regexp.Regexp {
	if glob == "" {
		return nil
	}
	var b bytes.Buffer
	depth := 0
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '*':
			b.WriteString(".*")
		case c == '?':
			b.WriteByte('.')
		case c == '{':
			depth++
			b.WriteString("(?:")
		case c == '}' && depth > 0:
			depth--
			b.WriteByte(')')
		case c == ',' && depth > 0:
			b.WriteByte('|')
		case c == '\\' && i+1 < len(glob):
			i++
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	re, err := regexp.Compile(`^(?s:` + b.String() + `)$`)
	if err != nil || len(glob) > 1000 {
		return regexp.MustCompile(`^\b\B`)
	}
	return re
}

// artifact is the archive that Flux builds from the repository. Ignore patterns may exclude files.
type artifact struct {
	*follower
	home    string // directory that the patterns are relative to
	ignored *pointers.Ignored
}

// artifactOf returns the artifact that contains a source. Argo CD has no ignore patterns, so its
// artifacts contain all files. For an ExternalArtifact, the method copied has the files.
func (f *follower) artifactOf(s *pointers.Source) *artifact {
	if s.Repository.URL != "" || s.Repository.Kind == pointers.HelmfileSource || s.Repository.Kind == pointers.ExternalArtifact {
		return &artifact{f, "", pointers.NewIgnored()}
	}
	if known := f.artifacts[s.Repository]; known != nil {
		return known
	}
	text := ""
	home, _ := f.home(s)
	if f.entry(path.Join(home, sourceIgnore)).Info != nil {
		if file := f.tree.cached(path.Join(home, sourceIgnore)); file != nil {
			text = string(file.Text)
		}
	}
	a := &artifact{f, home, pointers.NewIgnored(text, f.reader.Repositories.Ignored(s.Repository))}
	if f.artifacts == nil {
		f.artifacts = map[pointers.Repository]*artifact{}
	}
	f.artifacts[s.Repository] = a
	return a
}

const sourceIgnore = ".sourceignore"

// without reports whether a file is excluded. name is relative to the confinement directory.
func (a *artifact) without(name string) bool {
	a.looks += a.ignored.Len()
	name = strings.TrimPrefix(name, a.home+"/")
	return a.ignored.Len() > 0 && a.looks <= limits.Ignored && a.ignored.File(name)
}

// check returns a reason if the patterns exclude all files in a directory, or any file of a chart.
// It also returns a reason if there are too many patterns or files.
func (a *artifact) check(dir string, chart bool) pointers.Reason {
	if a.ignored.Len() == 0 {
		return pointers.Reason{}
	}
	files, left := a.tree.under(dir), 0
	missing := ""
	for _, name := range files {
		if a.without(path.Join(dir, name)) {
			missing = name
		} else {
			left++
		}
	}
	switch {
	case a.ignored.Over:
		return pointers.Reason{What: pointers.WhyTooMany, Detail: fmt.Sprintf("%s has more than %d patterns", sourceIgnore, limits.IgnorePatterns), Refused: true}
	case a.looks > limits.Ignored:
		return pointers.Reason{What: pointers.WhyTooMany, Detail: "too many files are held against the patterns of " + sourceIgnore, Refused: true}
	case len(files) > 0 && left == 0:
		return pointers.Reason{What: pointers.WhyMissing, Detail: dir + ", which " + sourceIgnore + " leaves out"}
	case chart && missing != "":
		return pointers.Reason{What: pointers.WhyMissing, Detail: path.Join(dir, missing) + ", which " + sourceIgnore + " leaves out"}
	}
	return pointers.Reason{}
}

// scan searches an output for pointers and adds them. The argument "from" is the deployment that
// produced the output. It is nil for the output of a root, whose kustomization is "root".
func (f *follower) scan(out *render.Output, from *Deployment, root string) {
	if out == nil || out.Problem != nil || !slices.ContainsFunc([]string{"kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "argoproj.io/"}, func(group string) bool {
		return bytes.Contains(out.Text, []byte(group))
	}) {
		return
	}
	places := newPlaces(out)
	file := source.NewFile(resultName, resultName, out.Text)
	objects := lists.Gather(file.Roots(), file.ObjectsOf)
	f.reader.Repositories.Beside(objects)
	defer f.reader.Repositories.Beside(nil)
	for _, o := range objects {
		if _, ok := pointers.KindOf(o.Group(), o.Kind); ok {
			var raw *written
			if name, _, ok := places.document(int(o.Root.Line)); ok {
				raw = f.contained(name, o)
			}
			f.reader.Files = []string{root}
			if from != nil {
				f.reader.Files = append(from.Files(), path.Join(from.Root.Dir, source.KustomizationFiles()[0]))
			} else if raw != nil {
				f.reader.Files = append(f.reader.Files, raw.object.File.Name)
			}
			for i, p := range f.reader.Read(o) { // each pointer gets the position at which it was written
				f.place(p, i, o, places, raw, from)
				places.move(p, raw, i)
				f.add(p, nil, origin{from, places, root})
			}
		}
	}
}

// resultName is the file name given to rendered text.
const resultName = "<render>"

// place sets the position of a rendered pointer. If the tree contains the original pointer, place
// uses its position. Otherwise, place uses the position at which the pointer's name was written. If
// that is unknown, place uses the position of the pointer that produced the render.
func (f *follower) place(p *pointers.Pointer, i int, o *source.Object, places *places, raw *written, from *Deployment) {
	at, marked := places.of(o.Root.At("metadata", "name"))
	switch {
	case raw != nil && len(raw.read) > 0:
		was := raw.read[min(i, len(raw.read)-1)]
		p.File, p.Line, p.Column, p.Object = was.File, was.Line, was.Column, was.Object
	case marked:
		p.File, p.Line, p.Column = at.File, at.Line, at.Column
	case raw != nil: // an ApplicationSet that stands for nothing by itself
		name := raw.object.NameSpan()
		p.File, p.Line, p.Column = raw.object.File.Name, max(name.Line, 1), max(name.Column, 1)
	case from != nil:
		p.File, p.Line, p.Column = from.Pointer.File, from.Pointer.Line, from.Pointer.Column
	default:
		p.File, p.Line, p.Column = ".", 1, 1
		if len(places.out.Sources) > 0 {
			p.File = places.out.Sources[0]
		}
	}
	if raw == nil || len(raw.read) == 0 {
		p.Object = p.Line
	}
}

// contained finds the original of a rendered pointer in a source file. It records that a render
// contains the original. The build may have renamed the pointer. Therefore contained looks for the
// same name, then for part of the name, then for any pointer of the same kind. If several pointers
// match, it records all of them and returns nil.
func (f *follower) contained(file string, o *source.Object) *written {
	var near []*written
	for _, w := range f.byFile[file] {
		if w.object.Kind != o.Kind || w.object.Group() != o.Group() {
			continue
		}
		if w.object.Name == o.Name {
			w.done, w.inside = true, true
			return w
		}
		near = append(near, w)
	}
	part := lists.Where(near, func(w *written) bool { return w.object.Name != "" && strings.Contains(o.Name, w.object.Name) })
	if len(part) > 0 {
		near = part
	}
	for _, w := range near {
		w.done, w.inside = true, true
	}
	if len(near) == 1 {
		return near[0]
	}
	return nil
}

// places maps positions in a render to positions in the sources of the render.
type places struct {
	out *render.Output
	at  map[[2]int]render.Mark
}

func newPlaces(out *render.Output) *places {
	p := &places{out, make(map[[2]int]render.Mark, len(out.Marks))}
	for _, m := range out.Marks {
		p.at[[2]int{m.Line, m.Column}] = m
	}
	return p
}

// document returns the file and the index of the document that declares the object at a line.
func (p *places) document(line int) (name string, index int, ok bool) {
	for _, d := range p.out.Documents {
		if d.Line > line {
			break
		}
		if name, index, ok = "", d.Index, d.File >= 0; ok {
			name = p.out.Files[d.File]
		}
	}
	return name, index, ok
}

// of returns the position at which a scalar in the render was written.
func (p *places) of(n *source.Node) (at pointers.Value, ok bool) {
	if n == nil {
		return at, false
	}
	if len(p.out.Lines) > 0 { // in a chart, the position of the value on the line, or else the line of the template
		if n.Line < 1 || int(n.Line) > len(p.out.Lines) {
			return at, false
		}
		switch l := p.out.Lines[n.Line-1]; {
		case l.Values >= 0:
			return pointers.Value{File: p.out.Files[l.Values], Line: l.ValuesAt, Column: l.ValuesColumn}, true
		case l.Template >= 0:
			return pointers.Value{File: p.out.Files[l.Template], Line: l.At, Column: 1}, true
		}
		return at, false
	}
	m, ok := p.at[[2]int{int(n.Line), int(n.Column)}]
	if !ok || m.Variable {
		return at, false
	}
	return pointers.Value{File: p.out.Files[m.File], Line: m.At, Column: m.AtColumn}, true
}

// move changes a pointer's positions from positions in the render to positions in the sources. A
// patch gets the line of the same patch in the source file, if that is known. The build later
// checks that the patch begins at this line.
func (p *places) move(to *pointers.Pointer, raw *written, i int) {
	var was *pointers.Pointer
	if raw != nil && i < len(raw.read) {
		was = raw.read[i]
	}
	for j := range to.Sources {
		lines := to.Sources[j].Patches
		for k := range lines {
			lines[k] = 0
			if was != nil && j < len(was.Sources) && k < len(was.Sources[j].Patches) && was.File == to.File {
				lines[k] = was.Sources[j].Patches[k]
			}
		}
	}
	for j := range to.Sources {
		p.moveValues(to.Sources[j].Counts)
		if was != nil && j < len(was.Sources) {
			p.moveChart(to.Sources[j].Chart, was.Sources[j].Chart)
		}
	}
	if to.Substitution != nil {
		p.moveValues(to.Substitution.Given)
	}
}

// moveChart replaces a rendered pointer's values and parameters with equal ones of the written
// pointer. Only the written ones have positions in the sources.
func (p *places) moveChart(to, was *pointers.Chart) {
	if to == nil || was == nil {
		return
	}
	if to.Values.Same(was.Values) {
		to.Values = was.Values
	}
	if len(to.Parameters) == len(was.Parameters) {
		for i := range to.Parameters {
			if to.Parameters[i].Name == was.Parameters[i].Name && to.Parameters[i].Value == was.Parameters[i].Value {
				to.Parameters[i] = was.Parameters[i]
			}
		}
	}
}

func (p *places) moveValues(all map[string]pointers.Value) {
	for name, value := range all {
		m, ok := p.at[[2]int{value.Line, value.Column}]
		value.File, value.Line, value.Column = "", 0, 0
		if ok && !m.Variable {
			value.File, value.Line, value.Column = p.out.Files[m.File], m.At, m.AtColumn
		}
		all[name] = value
	}
}
