package gitops

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
)

// made is an ExternalArtifact as an ArtifactGenerator makes it. Its artifact has no directory.
type made struct {
	pointers.Artifact
	root render.Artifact
}

// makes returns what ArtifactGenerators make of an ExternalArtifact. Several may make it, for example
// one for each cluster.
func (f *follower) makes(named pointers.Repository) []made {
	return lazy.Cached(f.made, named, func() (all []made) {
		for _, a := range f.reader.Artifacts(named, f.filesOf) {
			m, sum := made{Artifact: a}, sha256.New()
			m.root.Name = path.Join(named.Kind, named.Namespace, named.Name)
			for _, name := range sorting.Keys(a.Files) {
				original := ""
				if a.Merged[name] == nil {
					original = path.Join(f.opts.Base, a.Files[name])
				}
				m.root.Copies.Names, m.root.Copies.Originals = append(m.root.Copies.Names, name), append(m.root.Copies.Originals, original)
				fmt.Fprintf(sum, "%q %q %q\n", name, original, a.Merged[name])
			}
			m.root.Sum = fmt.Sprintf("%x", sum.Sum(nil))
			all = append(all, m)
		}
		return all
	})
}

// copied is a directory in an ExternalArtifact.
type copied struct {
	root render.Artifact
	// dir is the directory here from which the kustomization or chart comes, or else the first file.
	dir string
	// names holds the files in the directory, relative to it. Their originals include sources, which
	// are the files with pointers and the kustomizations.
	names, sources []string
	// values lists the files that are merged into the chart's values.yaml, relative to the
	// repository root.
	values []string
	why    pointers.Reason
}

type copiedKey struct {
	pointers.Repository
	path  string
	chart bool
}

// copied finds the directory that a source names in an ExternalArtifact. If several
// ArtifactGenerators make the artifact, those are meant that copy the directory.
func (f *follower) copied(s *pointers.Source) *copied {
	key := copiedKey{s.Repository, path.Clean(s.Path), s.Chart != nil}
	return lazy.Cached(f.copies, key, func() *copied {
		name, found := s.Repository.String(), (*copied)(nil)
		missing := pointers.Reason{What: pointers.WhySource, Detail: name + ", which no ArtifactGenerator in the tree makes"}
		for _, m := range f.makes(s.Repository) {
			one := f.find(&m, key)
			switch {
			case one.why.What == pointers.WhyMissing && !m.Why.Some():
				missing = one.why
			case found == nil || one.why.Some() && !found.why.Some():
				found = one
			case found.root.Sum != one.root.Sum && !found.why.Some():
				found = &copied{why: pointers.Reason{What: pointers.WhySource, Detail: name + ", which ArtifactGenerators make in different ways"}}
			}
		}
		found = cmp.Or(found, &copied{why: missing})
		return found
	})
}

func tooManyCopies() pointers.Reason {
	return pointers.Reason{What: pointers.WhyTooMany, Detail: "the ExternalArtifacts that pointers name have too many files", Refused: true}
}

// find returns a directory of an artifact. The archive of a chart has the chart in its only
// directory.
func (f *follower) find(m *made, key copiedKey) *copied {
	if m.Why.Some() {
		return &copied{why: m.Why}
	}
	c, all := &copied{root: m.root}, m.root.Copies.Names
	if c.root.Dir = key.path; key.chart && len(all) > 0 {
		c.root.Dir, _, _ = strings.Cut(all[0], "/")
	}
	first, end := c.root.Copies.Below(c.root.Dir)
	f.looks += end - first
	switch {
	case f.looks > limits.Ignored:
		c.why = tooManyCopies()
	case key.chart && end-first < len(all):
		c.why = pointers.Reason{What: pointers.WhySource, Detail: key.Repository.String() + ", which has more than the directory of a chart"}
	case first == end:
		c.why = pointers.Reason{What: pointers.WhyMissing, Detail: c.root.Dir + " in " + key.Repository.String()}
	}
	if c.why.Some() {
		return c
	}
	for _, name := range all[first:end] {
		original := path.Join(f.opts.Base, m.Files[name])
		if source.IsKustomizationFile(path.Base(original)) || f.byFile[original] != nil {
			c.sources = append(c.sources, original)
		}
		c.names = append(c.names, strings.TrimPrefix(name, c.root.Dir+"/"))
	}
	main := all[first]
	for _, name := range append(source.KustomizationFiles(), chartFile) {
		if name = path.Join(c.root.Dir, name); m.Files[name] != "" && key.chart == (path.Base(name) == chartFile) {
			main = name
		}
	}
	c.dir = path.Dir(path.Join(f.opts.Base, m.Files[main]))
	if values := path.Join(c.root.Dir, valuesFile); key.chart && m.Merged[values] != nil {
		c.values = m.Merged[values]
		i, _ := slices.BinarySearch(all, values)
		c.root.Copies.Originals = slices.Clone(c.root.Copies.Originals)
		c.root.Copies.Originals[i] = path.Join(f.opts.Base, c.values[0])
	}
	return c
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
