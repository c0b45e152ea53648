package engine

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/render"
)

// hold makes the artifact of a root the only files that its build reads, apart from those that the
// root itself names. It returns the root with the virtual directory.
func (t *tree) hold(r render.Root) render.Root {
	a := r.Artifact
	t.artifact, t.outside = a, []string{t.pointer}
	for _, to := range r.Remotes {
		t.outside = append(t.outside, path.Clean(to))
	}
	if r.Chart != nil {
		for _, v := range r.Chart.Values {
			t.outside = append(t.outside, path.Clean(v.File))
		}
	}
	r.Dir = path.Join(a.Name, a.Dir)
	return r
}

// inArtifact returns a name relative to the artifact.
func (t *tree) inArtifact(name string) (rest string, ok bool) {
	if t.artifact == nil {
		return "", false
	}
	rest, ok = strings.CutPrefix(name+"/", t.artifact.Name+"/")
	return path.Clean(rest), ok
}

// copied returns a file or directory of the artifact. It returns nil for names that have nothing to
// do with an artifact.
func (t *tree) copied(name string) *file {
	rest, ok := t.inArtifact(name)
	if !ok {
		if t.artifact == nil || slices.ContainsFunc(t.outside, func(dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }) {
			return nil
		}
		return &file{err: refusal("is outside " + t.artifact.Name)}
	}
	copies := &t.artifact.Copies
	if i, ok := slices.BinarySearch(copies.Names, rest); ok {
		if copies.Originals[i] == "" {
			return &file{err: refusal("is merged from several files, and only the values.yaml of a chart may be")}
		}
		f := t.find(copies.Originals[i])
		if f.err == nil && f.dir {
			return &file{err: refusal("is not a regular file")}
		}
		return &file{name: name, original: f.name, err: f.err}
	}
	if first, end := copies.Below(rest); first < end {
		return &file{name: name, dir: true}
	}
	return &file{err: errMissing}
}

// list returns the names in a directory.
func (t *tree) list(dir string) (names []string, err error) {
	if rest, ok := t.inArtifact(dir); ok {
		first, end := t.artifact.Copies.Below(rest)
		for _, name := range t.artifact.Copies.Names[first:end] {
			name, _, _ = strings.Cut(strings.TrimPrefix(name, rest+"/"), "/")
			names = append(names, name)
		}
		slices.Sort(names)
		return slices.Compact(names), nil
	}
	entries, err := fs.ReadDir(t.root.FS(), dir)
	names = append(names, lists.Of(entries, fs.DirEntry.Name)...)
	return names, err
}

// isLink reports whether a name is a symbolic link.
func (t *tree) isLink(name string) bool {
	info, err := t.root.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// original returns the original of a file in the artifact, and any other name as it is.
func (t *tree) original(name string) string {
	if f := t.real[name]; f != nil && f.original != "" {
		return f.original
	}
	return name
}

// originals replaces the names of copies in an output with those of their originals.
func (t *tree) originals(out *render.Output) {
	for _, names := range [][]string{out.Files, out.Sources, out.Data, out.Plain} {
		for i, name := range names {
			names[i] = t.original(name)
		}
	}
	for _, names := range []*[]string{&out.Sources, &out.Data, &out.Plain} {
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
	for to, at := range out.Used {
		at.File = t.original(at.File)
		out.Used[to] = at
	}
	for _, p := range append(slices.Clone(out.Unchecked), out.Problem) {
		if p != nil {
			p.File = t.original(p.File)
		}
		if p != nil && p.First != nil {
			p.First.File = t.original(p.First.File)
		}
	}
	if out.Named != nil {
		out.Named.File = t.original(out.Named.File)
	}
	for _, c := range out.Charts {
		t.originals(c)
	}
}
