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

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// tree lists the repository once, on first use. Generators read it.
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
	walk := source.Options{Dir: t.opts.Confinement, Root: t.opts.Confinement, Ignore: t.opts.Ignore, Tracked: t.opts.Tracked}
	inputs, over, _ := source.Walk(walk, []string{t.opts.Confinement}, limits.TreeEntries, func(string) bool { return true }) // what cannot be listed counts as missing
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

// Directories returns the directories of the repository that contain a file.
func (t *tree) Directories() []string {
	t.list()
	return t.fromBase(t.dirs)
}

// Files returns all files of the repository.
func (t *tree) Files() []string {
	t.list()
	return t.fromBase(t.files)
}

// all returns all files, named relative to the confinement.
func (t *tree) all() []string {
	t.list()
	return t.files
}

// fromBase returns the names below the root of the repository, relative to that root.
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

// file reads a listed file. It returns nil if it cannot be read or exceeds a limit.
func (t *tree) file(name string) *source.File {
	text, err := worktree.ReadFile(t.opts.Confinement, filepath.FromSlash(name), min(limits.PointerFile, limits.PointerText-t.bytes))
	if err != nil {
		return nil
	}
	t.bytes += int64(len(text))
	return source.NewFile(name, name, text)
}

// cached is like file, but reads each file only once.
func (t *tree) cached(name string) *source.File {
	file, ok := t.read[name]
	if !ok {
		if t.read == nil {
			t.read = map[string]*source.File{}
		}
		file = t.file(name)
		t.read[name] = file
	}
	return file
}

// under returns the files below a directory, named relative to it.
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

// generated returns the resources of a directory without a kustomization: its YAML files, and
// subdirectories with a kustomization, which are not searched further.
func (t *tree) generated(dir string, without func(name string) bool) (all []string) {
	names := slices.DeleteFunc(slices.Clone(t.under(dir)), func(name string) bool { return without(path.Join(dir, name)) })
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

// plain returns the files that Argo CD reads from a plain directory.
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

// globOf converts a glob of Argo CD, in which a star also matches slashes. It returns nil for no
// glob, and an expression that matches nothing for a malformed one.
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

// artifact is the artifact that Flux builds from the repository, which may exclude files.
type artifact struct {
	*follower
	ignored *pointers.Ignored
}

// artifactOf returns the artifact that a source is read from. Argo CD excludes no files.
func (f *follower) artifactOf(s *pointers.Source) *artifact {
	if s.Repository.URL != "" {
		return &artifact{f, pointers.NewIgnored()}
	}
	if known := f.artifacts[s.Repository]; known != nil {
		return known
	}
	text := ""
	if f.entry(path.Join(f.opts.Base, sourceIgnore)).Info != nil {
		if file := f.tree.cached(path.Join(f.opts.Base, sourceIgnore)); file != nil {
			text = string(file.Text)
		}
	}
	a := &artifact{f, pointers.NewIgnored(text, f.reader.Repositories.Ignored(s.Repository))}
	if f.artifacts == nil {
		f.artifacts = map[pointers.Repository]*artifact{}
	}
	f.artifacts[s.Repository] = a
	return a
}

const sourceIgnore = ".sourceignore"

// without reports whether a file, named relative to the confinement, is excluded.
func (a *artifact) without(name string) bool {
	a.looks += a.ignored.Len()
	if base := path.Clean(a.opts.Base); base != "." {
		name = strings.TrimPrefix(name, base+"/")
	}
	return a.ignored.Len() > 0 && a.looks <= limits.Ignored && a.ignored.File(name)
}

// check returns a reason if all files of a directory are excluded, if the limits do not permit to
// determine which ones, or if any file of a chart is excluded.
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
