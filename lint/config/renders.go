package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/diag"
)

// Render asks for renders: of a kustomization, a Helm chart, or the output of another tool. It has
// one of Kustomize, Chart, Pointers and Files.
type Render struct {
	// Name is the name of the render in reports and clusters; NameOf returns the default. A glob
	// has no name.
	Name string `json:"name"`
	// Kustomize is the directory of a kustomization, or a glob of such directories. A glob matches
	// only roots, a directory need not be one.
	Kustomize string `json:"kustomize"`
	// Chart is the directory of a Helm chart, or a glob of such directories, which does not match
	// library charts and charts in charts/ of another.
	Chart string `json:"helm"`
	Helm
	// Pointers is a glob of files with GitOps pointers: everything that they deploy, directly or
	// through others, is rendered.
	Pointers string `json:"pointers"`
	// LoadRestrictor is root-only if a kustomization must not read files outside of its own
	// directory, or repository, the default, if it may read any file of the repository.
	LoadRestrictor string `json:"load-restrictor"`
	// Remotes maps URLs, as kustomizations write them, to directories that are read instead.
	Remotes map[string]string `json:"remotes"`
	// Files are files or directories with manifests that are already rendered.
	Files []string `json:"files"`
	// SourceRoot is the directory that Files were rendered from; empty if unknown.
	SourceRoot string `json:"source-root"`
}

// rootOnly is the value of load-restrictor that is not the default.
const rootOnly = "root-only"

// LoadRestrictors returns the values of load-restrictor.
func LoadRestrictors() []string { return []string{rootOnly, "repository"} }

// RootOnly reports whether a kustomization must not read files outside of its directory.
func (r *Render) RootOnly() bool { return r.LoadRestrictor == rootOnly }

// IsGlob reports whether the entry is a glob of directories.
func (r *Render) IsGlob() bool { return strings.ContainsAny(r.pattern(), globMeta) }

// pattern returns the directory or glob that an entry names; empty for other entries.
func (r *Render) pattern() string { return r.Kustomize + r.Chart }

// several reports whether an entry may ask for several renders.
func (r *Render) several() bool { return r.IsGlob() || r.Pointers != "" || r.EachValues != "" }

// globMeta are the characters that make a path a glob.
const globMeta = `*?[{\`

// NameOf returns the name of the render of an entry that is not a glob: the explicit name, its
// directory or the first of its files.
func (r *Render) NameOf() string {
	switch {
	case r.Name != "":
		return r.Name
	case r.pattern() != "":
		return path.Clean(r.pattern())
	case len(r.Files) > 0:
		return path.Clean(r.Files[0])
	}
	return ""
}

// paths returns the paths that the entry names; for a glob, the part before the first pattern.
func (r *Render) paths() []string {
	all := slices.Concat(r.Files, slices.Sorted(maps.Values(r.Remotes)))
	if base := r.pattern(); base != "" {
		if r.IsGlob() {
			base, _ = doublestar.SplitPattern(base)
		}
		all = append(all, base)
	}
	if r.SourceRoot != "" {
		all = append(all, r.SourceRoot)
	}
	return all
}

// Discovers reports whether roots are found and rendered without being named, because the
// configuration has no key renders. An empty list turns discovery off.
func (c *Config) Discovers() bool { return c.Renders == nil }

// Chosen is one render that a configuration asks for, or that was discovered. Paths are relative to
// the directory of the configuration, with forward slashes.
type Chosen struct {
	Name string
	// Dir is the directory of the kustomization or of the chart; empty for files. Values are the
	// values files of a chart.
	Dir    string
	Values []string
	// Entry is the entry that asks for it; nil if it was discovered. Literal is set if the entry is
	// not a glob.
	Entry   *Render
	Literal bool
	// Pointers are the files of the GitOps pointers that deploy it, directly or through others,
	// sorted. Destinations are the names and addresses of the cluster that they deploy it to.
	Pointers, Destinations []string
}

// Tree has the input that can be rendered.
type Tree struct {
	// Roots are the directories of the kustomizations that no other one refers to: those that a
	// glob may match, or all that are rendered if Discovers. Charts are the directories of the
	// charts that a glob may match.
	Roots, Charts []string
	// Tracked is that of source.Options, for the files that each-values matches.
	Tracked func(path string) bool

	looks *int // remaining part of mostLooks
}

// Expand returns the renders that a configuration asks for, in the order of its entries. Errors
// name globs without matches, missing values files, and entries whose renders have the same name.
func (c *Config) Expand(t Tree) ([]Chosen, error) {
	t.looks = cmp.Or(t.looks, new(mostLooks))
	t.Roots = slices.Compact(slices.Sorted(slices.Values(t.Roots)))
	t.Charts = slices.Compact(slices.Sorted(slices.Values(t.Charts)))
	var all []Chosen
	if c.Discovers() {
		for _, dir := range t.Roots {
			all = append(all, Chosen{Name: dir, Dir: dir})
		}
		return all, nil
	}
	var errs []error
	first := map[string]int{}
	for i := range c.Renders {
		key := renderKey(i)
		if c.Renders[i].Pointers != "" {
			continue // see Follows
		}
		chosen, err := c.expand(i, t)
		if err != nil {
			errs = append(errs, err)
		}
		for _, r := range chosen {
			if before, twice := first[r.Name]; twice {
				errs = append(errs, c.wrong(key, "%s is the name of a render of %s as well: remove one of the entries, or give one a name", r.Name, renderKey(before)))
				continue
			}
			first[r.Name] = i
			all = append(all, r)
		}
	}
	return all, errors.Join(errs...)
}

// expand returns the renders of one entry.
func (c *Config) expand(i int, t Tree) ([]Chosen, error) {
	if c.Renders[i].Chart != "" {
		return c.charts(i, t)
	}
	chosen := c.Renders[i].expand(t.Roots)
	if len(chosen) == 0 {
		return nil, c.wrong(renderKey(i), "%s matches no kustomization that is a root: name a directory, or run schedlint inputs to see the roots", c.Renders[i].Kustomize)
	}
	return chosen, nil
}

func renderKey(i int) string { return fmt.Sprintf("renders[%d]", i) }

// expand returns the render that an entry names, or one for each directory that its glob matches.
func (r *Render) expand(dirs []string) (all []Chosen) {
	if !r.IsGlob() {
		chosen := Chosen{Name: r.NameOf(), Entry: r, Literal: true}
		if r.pattern() != "" {
			chosen.Dir = path.Clean(r.pattern())
		}
		return []Chosen{chosen}
	}
	glob := strings.TrimSuffix(strings.TrimPrefix(r.pattern(), "./"), "/")
	for _, dir := range dirs {
		if ok, _ := doublestar.Match(glob, dir); ok {
			all = append(all, Chosen{Name: dir, Dir: dir, Entry: r})
		}
	}
	return all
}

// CheckClusters returns an error for each render of a cluster that matches none of the renders.
func (c *Config) CheckClusters(all []Chosen) error {
	var names []string
	for _, r := range all {
		names = append(names, r.Name)
	}
	var errs []error
	for i, cluster := range c.Clusters {
		for j, entry := range cluster.Renders {
			one := Cluster{Renders: []string{entry}}
			if slices.ContainsFunc(all, one.Deploys) {
				continue
			}
			advice := "schedlint inputs lists what can be rendered"
			if near := diag.Nearest(entry, names); near != "" {
				advice = "did you mean " + near + "?"
			}
			errs = append(errs, c.wrong(fmt.Sprintf("clusters[%d].renders[%d]", i, j), "%s matches no render; %s", entry, advice))
		}
	}
	return errors.Join(errs...)
}

// wrong returns an error about an entry of the configuration.
func (c *Config) wrong(key, format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", place(c.file, c.entries[key]), key, fmt.Errorf(format, args...))
}
