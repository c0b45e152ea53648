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
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
)

// Render is an entry in renders. It selects kustomizations, Helm charts, everything that GitOps
// pointers deploy, or the output of another tool. Exactly one of Kustomize, Chart, Pointers and
// Files is set.
type Render struct {
	// Name identifies the render in reports and clusters. NameOf returns the default name. An entry
	// with a glob has no name.
	Name string `json:"name"`
	// Kustomize is a kustomization directory or a glob. A glob matches only roots, whereas a
	// directory need not be a root.
	Kustomize string `json:"kustomize"`
	// Chart is a Helm chart directory or a glob. A glob does not match library charts, or charts in
	// another chart's charts/ directory.
	Chart string `json:"helm"`
	Helm
	// Pointers is a glob that matches files with GitOps pointers. Everything that the pointers
	// deploy, directly or through other pointers, is rendered.
	Pointers string `json:"pointers"`
	// LoadRestrictor determines which files a kustomization can read: root-only limits it to its
	// own directory, and repository, the default, to the repository.
	LoadRestrictor string `json:"load-restrictor"`
	// Remotes maps URLs, as written in kustomizations, to directories that are read instead.
	Remotes map[string]string `json:"remotes"`
	// Files lists files or directories with manifests that another tool has rendered.
	Files []string `json:"files"`
	// SourceRoot is the directory that Files were rendered from, or empty if it is unknown.
	SourceRoot string `json:"source-root"`
}

// rootOnly is the non-default value for load-restrictor.
const rootOnly = "root-only"

// LoadRestrictors returns the values of load-restrictor.
func LoadRestrictors() []string { return []string{rootOnly, "repository"} }

// RootOnly reports whether a kustomization can read only files in its own directory.
func (r *Render) RootOnly() bool { return r.LoadRestrictor == rootOnly }

// IsGlob reports whether the entry is a glob of directories.
func (r *Render) IsGlob() bool { return strings.ContainsAny(r.pattern(), globMeta) }

// pattern returns the directory or glob of a kustomization or chart entry, or "" for other entries.
func (r *Render) pattern() string { return r.Kustomize + r.Chart }

// several reports whether an entry may produce more than one render.
func (r *Render) several() bool { return r.IsGlob() || r.Pointers != "" || r.EachValues != "" }

// globMeta contains the characters that make a path a glob.
const globMeta = `*?[{\`

// NameOf returns the name of the render for an entry that is not a glob. It is the entry's Name, or
// else its directory, or else its first file.
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

// paths returns the paths that the entry names. A glob is represented by the directory above its
// first pattern.
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

// Discovers reports whether to find and render all roots. This is the default if there is no
// renders key. An empty renders list turns it off.
func (c *Config) Discovers() bool { return c.Renders == nil }

// Chosen is a render that was either selected in the configuration or discovered. Paths are
// relative to the directory of the configuration and have forward slashes.
type Chosen struct {
	Name string
	// Dir is the directory of the kustomization or chart, or empty for the output of another tool.
	// Values lists the values files of a chart.
	Dir    string
	Values []string
	// Entry is the renders entry that selected the render, or nil if the render was discovered.
	// Literal is set if the entry is not a glob.
	Entry   *Render
	Literal bool
	// Pointers lists, in sorted order, the files with the GitOps pointers that deploy the render,
	// directly or through other pointers. Destinations lists the names and addresses of the target
	// clusters.
	Pointers, Destinations []string
}

// Tree describes what can be rendered.
type Tree struct {
	// Roots lists the directories of kustomizations that no other kustomization refers to. These
	// are the directories that a kustomize glob can match, and all of them are rendered if
	// Discovers returns true. Charts lists the directories that a chart glob can match.
	Roots, Charts []string
	// Tracked reports whether a file is part of the input, as in source.Options. Only such files
	// can match each-values.
	Tracked func(path string) bool

	looks *int // how many files and entries may still be examined, at first mostLooks
}

// Expand returns the renders that a configuration selects, in the order of the entries. Globs
// without matches, missing values files and duplicate render names are errors.
func (c *Config) Expand(t Tree) ([]Chosen, error) {
	t.looks = cmp.Or(t.looks, new(mostLooks))
	t.Roots = slices.Compact(slices.Sorted(slices.Values(t.Roots)))
	t.Charts = slices.Compact(slices.Sorted(slices.Values(t.Charts)))
	var all []Chosen
	if c.Discovers() {
		all = append(all, lists.Of(t.Roots, func(dir string) Chosen { return Chosen{Name: dir, Dir: dir} })...)
		return all, nil
	}
	var errs []error
	first := map[string]int{}
	for i := range c.Renders {
		key := renderKey(i)
		if c.Renders[i].Pointers != "" {
			continue // pointers are followed later (see Follows)
		}
		var chosen []Chosen
		var err error
		if c.Renders[i].Chart != "" {
			chosen, err = c.charts(i, t)
		} else if chosen = c.Renders[i].expand(t.Roots); len(chosen) == 0 {
			err = c.wrong(key, "%s matches no kustomization that is a root: name a directory, or run schedlint inputs to see the roots", c.Renders[i].Kustomize)
		}
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

func renderKey(i int) string { return fmt.Sprintf("renders[%d]", i) }

// expand returns the render that an entry names, or one render for each directory that the entry's
// glob matches.
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

// CheckClusters returns an error for each item in a cluster's Renders that matches no render.
func (c *Config) CheckClusters(all []Chosen) error {
	names := lists.Of(all, func(r Chosen) string { return r.Name })
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

// wrong returns an error about an entry of the configuration. The error includes the entry's
// location.
func (c *Config) wrong(key, format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", place(c.file, c.entries[key]), key, fmt.Errorf(format, args...))
}

// renders checks the constraints that the type of the list cannot express.
func (l *loader) renders(list *source.Node, c *Config) {
	first := map[string]int{}
	for i, item := range list.Items() {
		r, key := &c.Renders[i], renderKey(i)
		c.entries[key] = l.at(item)
		if item.Kind != source.Map || !l.render(item, r, c, key) {
			if item.IsNull() {
				l.fail(l.at(item), "%s: %s", key, expectedRender)
			}
			continue
		}
		name := r.NameOf()
		if before, twice := first[name]; twice && !r.several() {
			l.fail(l.at(item), "%s: %s is the name of %s as well: give one of them another name", key, name, renderKey(before))
		}
		if !r.several() {
			first[name] = i
		}
	}
}

// render checks one entry. ok is false if the entry cannot be used.
func (l *loader) render(item *source.Node, r *Render, c *Config, key string) (ok bool) {
	given := lists.Where(renderKinds(), func(what string) bool { return !item.Get(what).IsNull() })
	switch {
	case len(given) == 0:
		l.fail(l.at(item), "%s: %s", key, expectedRender)
		return false
	case len(given) > 1:
		l.fail(l.at(item), "%s: expected one of %s, found %s: make them %d entries", key, strings.Join(renderKinds(), ", "), strings.Join(given, " and "), len(given))
		return false
	case given[0] != "helm":
		l.without(item, key, "is only valid with helm", helmKeys()...)
	}
	k, _ := item.Field(given[0])
	switch given[0] {
	case "helm":
		l.helm(k, item, r, c, key)
	case "pointers":
		// The decoder already reports a value that is not a string.
		if isString(item.Get("pointers")) && (r.Pointers == "" || !doublestar.ValidatePattern(r.Pointers)) {
			l.fail(l.at(k), "%s.pointers: expected a glob of files, found %q", key, r.Pointers)
		}
		l.remotes(item, c, key)
		l.without(item, key, "cannot be combined with pointers", "name", "load-restrictor", "source-root")
		return true
	case "kustomize":
		if source.IsKustomizationFile(path.Base(r.Kustomize)) {
			l.fail(l.at(k), "%s.kustomize: expected a directory, found the file %s: name the directory that holds it", key, r.Kustomize)
		} else {
			l.directory("kustomize", "-k", k, item, c, key)
		}
		if w, word := item.Field("load-restrictor"); !word.IsNull() && !slices.Contains(LoadRestrictors(), r.LoadRestrictor) {
			l.fail(l.at(w), "%s.load-restrictor: expected one of %s, found %q", key, strings.Join(LoadRestrictors(), ", "), r.LoadRestrictor)
		}
		l.remotes(item, c, key)
		l.without(item, key, "belongs to files: kustomize knows where its input is", "source-root")
	default:
		files := item.Get("files")
		if isEmpty(files) {
			l.fail(l.at(k), "%s.files: expected a file", key)
		}
		for i, file := range files.Items() {
			l.namedFile(file, l.at(file), c, fmt.Sprintf("%s.files[%d]", key, i), "", true)
		}
		if s, root := item.Field("source-root"); !root.IsNull() {
			l.namedFile(root, l.at(s), c, key+".source-root", "--source-root", true)
		}
		l.without(item, key, "belongs to kustomize: files are read as they are", "load-restrictor", "remotes")
	}
	// In a cluster's renders list, a name with glob characters would be treated as a glob.
	n, name := item.Field("name")
	switch {
	case name.IsNull():
	case r.IsGlob():
		l.fail(l.at(n), "%s.name: a glob may stand for several renders: remove the name, or name one directory", key)
	case isString(name) && !renderForm().MatchString(r.Name):
		l.fail(l.at(n), "%s.name: expected a name without control characters and any of %s]}, found %q", key, globMeta, r.Name)
	}
	return true
}

// without checks that an entry does not set any of the given keys.
func (l *loader) without(item *source.Node, key, why string, words ...string) {
	for _, word := range words {
		if k, v := item.Field(word); !v.IsNull() {
			l.fail(l.at(k), "%s.%s: %s", key, word, why)
		}
	}
}

// renderKinds returns the keys that select what an entry renders. Each entry has exactly one of
// these keys.
func renderKinds() []string { return []string{"kustomize", "helm", "files", "pointers"} }

// expectedRender describes the renderKinds keys in messages.
const expectedRender = "expected kustomize or helm, a directory or a glob, files, or pointers, a glob"

// remotes checks the directories that an entry substitutes for URLs.
func (l *loader) remotes(item *source.Node, c *Config, key string) {
	for url, to := range item.Get("remotes").Fields() {
		if url.Value == "" {
			l.fail(l.at(url), "%s.remotes: expected a URL, found nothing", key)
		}
		l.namedFile(to, l.at(url), c, key+".remotes."+url.Value, "", true)
	}
}

// renderPattern is the pattern for render names. schema.json has the same pattern.
const renderPattern = `^[^*?\[\]{}\\\x00-\x1f\x7f]+$`

var renderForm = lazy.Regexp(renderPattern)

// loosenedRenders reports renders that were removed, that now render less, or that render something
// different. Findings in them may disappear.
func (c *Config) loosenedRenders(before *Config, add adder) {
	list := c.fieldPlace("renders")
	switch {
	case before.Discovers() && !c.Discovers() && len(c.Renders) == 0:
		add(list, "nothing is rendered any more: renders is empty")
	case before.Discovers() && !c.Discovers():
		add(list, "roots are not discovered any more: only what renders names is rendered")
	}
	for i := range before.Renders {
		was := &before.Renders[i]
		at := c.same(was)
		switch {
		case at >= 0:
			for _, text := range c.Renders[at].loosened(was) {
				entry, ok := c.entries[renderKey(at)]
				if !ok {
					entry = list
				}
				add(entry, "%s", text)
			}
		case c.Discovers() && was.IsGlob() && was.Kustomize != "": // all roots are discovered, and may render without the settings of the entry
			for _, text := range (&Render{Kustomize: was.Kustomize}).loosened(was) {
				add(list, "%s", text)
			}
		default:
			add(list, "a render is not asked for any more: %s", was.what())
		}
	}
}

// same returns the index of the entry that corresponds to an entry in another version of the
// configuration, or -1 if there is none. Among entries with the same source, it prefers the one
// with the same name. Entries for the same chart must share their name or their values files.
func (c *Config) same(was *Render) int {
	found := -1
	for i := range c.Renders {
		is := &c.Renders[i]
		if (is.Kustomize != "") != (was.Kustomize != "") || path.Clean(is.Kustomize) != path.Clean(was.Kustomize) {
			continue
		}
		if is.Pointers != was.Pointers || (is.Chart != "") != (was.Chart != "") || path.Clean(is.Chart) != path.Clean(was.Chart) {
			continue
		}
		sameValues := is.EachValues == was.EachValues && slices.Equal(is.Values, was.Values)
		if is.Chart != "" && is.NameOf() != was.NameOf() && !sameValues {
			continue
		}
		if was.pattern() == "" && was.Pointers == "" && !slices.ContainsFunc(was.Files, func(file string) bool { return slices.Contains(is.Files, file) }) {
			continue
		}
		if found < 0 || is.Name == was.Name && c.Renders[found].Name != was.Name {
			found = i
		}
	}
	return found
}

// loosened describes what an entry no longer renders, or renders differently, compared with its
// earlier version.
func (r *Render) loosened(was *Render) (all []string) {
	if r.RootOnly() && !was.RootOnly() {
		all = append(all, "kustomizations that read files outside of their directory are not rendered any more: "+r.what())
	}
	for _, url := range sorting.Keys(was.Remotes) {
		if to := r.Remotes[url]; to != was.Remotes[url] {
			all = append(all, "another directory is read for "+url+": "+cmp.Or(to, "none")+" instead of "+was.Remotes[url])
		}
	}
	if words := r.otherSettings(&was.Helm); r.Chart != "" && len(words) > 0 {
		all = append(all, "a chart is rendered with other settings ("+strings.Join(words, ", ")+"): "+r.what())
	}
	for _, file := range without(was.Files, r.Files) {
		all = append(all, "a rendered file is not read any more: "+file)
	}
	return all
}

// what describes an entry in messages.
func (r *Render) what() string { return cmp.Or(r.pattern(), r.Pointers, strings.Join(r.Files, ", ")) }

// Widen adds the renders of a changed configuration that c lacks, including renders in its
// clusters. They may contain the objects to judge. Widen keeps the entries that the changed
// configuration has removed, and returns descriptions of them.
func (c *Config) Widen(change *Config) (stays []string) {
	if c.Discovers() {
		return nil // all roots are rendered anyway
	}
	for i := range c.Renders {
		if change.same(&c.Renders[i]) < 0 && !change.Discovers() {
			stays = append(stays, c.Renders[i].what())
		}
	}
	for i := range change.Renders {
		if c.same(&change.Renders[i]) < 0 {
			c.Renders = append(c.Renders, change.Renders[i])
		}
	}
	for i := range c.Clusters {
		is := &c.Clusters[i]
		if other := change.cluster(is.Name); other != nil {
			for _, name := range other.Renders {
				if !slices.Contains(is.Renders, name) {
					is.Renders = append(is.Renders, name)
				}
			}
		}
	}
	return stays
}
