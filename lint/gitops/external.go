package gitops

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
)

// copied is the original, in this repository, of a directory in an ExternalArtifact.
// It is rendered in place of the copy, so that positions are those of the files that people edit.
type copied struct {
	pointers.Artifact
	name    string // the ExternalArtifact
	at, dir string // the directory in the artifact, and the one here
	inner   string // the innermost directory here that contains all copied files
	// values lists the files of which the chart's values.yaml is a copy, if it is not the chart's
	// own. Later files are merged into earlier ones. Names are relative to the repository root.
	values []string
	why    pointers.Reason
}

type copiedKey struct {
	pointers.Repository
	path string
}

// copied finds the original of the directory that a source names in an ExternalArtifact. Several
// ArtifactGenerators may make the artifact, for example one for each cluster. Those are meant that
// copy the directory.
func (f *follower) copied(s *pointers.Source) *copied {
	return lazy.Cached(f.copies, copiedKey{s.Repository, s.Path}, func() *copied {
		c := &copied{name: s.Repository.String(), at: path.Clean(s.Path)}
		all := lazy.Cached(f.made, s.Repository, func() []pointers.Artifact { return f.reader.Artifacts(s.Repository, f.filesOf) })
		if len(all) == 0 {
			c.why = pointers.Reason{What: pointers.WhySource, Detail: c.name + ", which no ArtifactGenerator in the tree makes"}
		}
		for i, made := range all {
			if made.Why.Some() {
				c.why = made.Why
				return c
			}
			if f.looks += len(made.Files); f.looks > limits.Ignored {
				c.why = pointers.Reason{What: pointers.WhyTooMany, Detail: "the ExternalArtifacts that pointers name have too many files", Refused: true}
				return c
			}
			one := *c
			one.Artifact = made
			one.find(s.Chart != nil)
			switch {
			case one.why.What == pointers.WhyMissing && i+1 < len(all), one.why.What == pointers.WhyMissing && c.Files != nil:
			case c.Files == nil:
				*c = one
			case !maps.Equal(c.Files, one.Files) || !maps.EqualFunc(c.Merged, one.Merged, slices.Equal):
				c.why = pointers.Reason{What: pointers.WhySource, Detail: c.name + ", which ArtifactGenerators make in different ways"}
				return c
			}
		}
		return c
	})
}

// find sets the directory. It must contain each file of the artifact's directory at the same place.
// The archive of a chart has the chart in its only directory.
func (c *copied) find(chart bool) {
	names := slices.Sorted(maps.Keys(c.Files))
	if chart && len(names) > 0 {
		c.at, _, _ = strings.Cut(names[0], "/")
	}
	found := false
	for _, name := range names {
		rest := name
		if c.at != "." {
			var ok bool
			if rest, ok = strings.CutPrefix(name, c.at+"/"); !ok && chart {
				c.why = pointers.Reason{What: pointers.WhySource, Detail: c.name + ", which has more than the directory of a chart"}
				return
			} else if !ok {
				continue
			}
		}
		original, merged := c.Files[name], c.Merged[name]
		if dir, ok := strings.CutSuffix("./"+original, "/"+rest); ok && merged == nil && (!found || path.Clean(dir) == c.dir) {
			if !found {
				c.dir, c.inner, found = path.Clean(dir), path.Dir(original), true
			}
			for c.inner != "." && !inside(c.inner, original) {
				c.inner = path.Dir(c.inner)
			}
			continue
		}
		switch {
		case chart && rest == valuesFile && merged == nil:
			c.values = []string{original}
		case chart && rest == valuesFile:
			c.values = merged
		case merged != nil:
			c.why = pointers.Reason{What: pointers.WhySource, Detail: c.name + ", which merges files into " + name}
			return
		default:
			c.why = pointers.Reason{What: pointers.WhySource, Detail: c.name + ", in which " + c.at + " is not a copy of one directory"}
			return
		}
	}
	if !found {
		c.why = pointers.Reason{What: pointers.WhyMissing, Detail: c.at + " in " + c.name}
	}
}

// lacks reports whether the artifact does not have a file, whose name is relative to the repository
// root, at the place that corresponds to its own.
func (c *copied) lacks(name string) bool {
	if slices.Contains(c.values, name) || c.values != nil && name == path.Join(c.dir, valuesFile) {
		return false
	}
	relative, err := filepath.Rel(filepath.FromSlash(c.dir), filepath.FromSlash(name))
	return err != nil || c.Files[path.Join(c.at, filepath.ToSlash(relative))] != name
}

// beyond returns a reason if a render of the directory has read files that the artifact does not
// have. Vendored directories do not count.
func (c *copied) beyond(f *follower, out *render.Output, pointer string) pointers.Reason {
	remotes := slices.Collect(maps.Values(f.opts.Remotes))
	for _, name := range slices.Concat(out.Sources, out.Data) {
		vendored := slices.ContainsFunc(remotes, func(dir string) bool { return inside(dir, name) })
		below, ok := name, true
		if base := path.Clean(f.opts.Base); base != "." {
			below, ok = strings.CutPrefix(name, base+"/")
		}
		if name != pointer && !vendored && (!ok || c.lacks(below)) {
			return pointers.Reason{What: pointers.WhyMissing, Detail: name + " in " + c.name}
		}
	}
	return pointers.Reason{}
}

// filesOf returns the files of a source of an ArtifactGenerator, and the directory that they are
// relative to.
func (f *follower) filesOf(named pointers.Repository) (root string, all []string, why pointers.Reason) {
	root, published := f.reader.Repositories.Published()[named]
	root = path.Clean(root)
	switch {
	case published:
	case named.Kind != "GitRepository":
		return "", nil, pointers.Reason{What: pointers.WhySource, Detail: named.String()}
	case !f.reader.Repositories.Ours(named).Is():
		return "", nil, pointers.Reason{What: pointers.WhyElsewhere, Detail: named.Name}
	}
	all = lazy.Cached(f.sources, named, func() []string {
		a := f.artifactOf(&pointers.Source{Repository: named})
		var names []string
		for _, name := range f.tree.Files() {
			if below, ok := strings.CutPrefix("./"+name, strings.TrimSuffix("./"+root, "/.")+"/"); ok && !a.without(path.Join(f.opts.Base, name)) {
				names = append(names, below)
			}
		}
		slices.Sort(names)
		return names
	})
	switch {
	case f.tree.over:
		why = pointers.Reason{What: pointers.WhyTooMany, Detail: "the repository has too many files for an ArtifactGenerator"}
	case f.looks > limits.Ignored:
		why = pointers.Reason{What: pointers.WhyTooMany, Detail: "too many files are held against the patterns of " + sourceIgnore, Refused: true}
	}
	return root, all, why
}
