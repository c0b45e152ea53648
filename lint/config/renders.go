package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
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

// renders checks conditions on the list that types do not express.
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

// render checks one entry; ok is false if it cannot be used.
func (l *loader) render(item *source.Node, r *Render, c *Config, key string) (ok bool) {
	var given []string
	for _, what := range renderKinds() {
		if !item.Get(what).IsNull() {
			given = append(given, what)
		}
	}
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
		l.pointers(k, item, r, c, key)
		return true
	case "kustomize":
		l.kustomize(k, item, r, c, key)
	default:
		l.rendered(k, item, c, key)
	}
	l.renderName(item, r, key)
	return true
}

// without checks that an entry has none of some keys.
func (l *loader) without(item *source.Node, key, why string, words ...string) {
	for _, word := range words {
		if k, v := item.Field(word); !v.IsNull() {
			l.fail(l.at(k), "%s.%s: %s", key, word, why)
		}
	}
}

// renderKinds returns the keys of which an entry has exactly one.
func renderKinds() []string { return []string{"kustomize", "helm", "files", "pointers"} }

// expectedRender describes the required keys of an entry.
const expectedRender = "expected kustomize or helm, a directory or a glob, files, or pointers, a glob"

// kustomize checks an entry for kustomizations.
func (l *loader) kustomize(k, item *source.Node, r *Render, c *Config, key string) {
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
}

// remotes checks the directories that an entry uses in place of URLs.
func (l *loader) remotes(item *source.Node, c *Config, key string) {
	for url, to := range item.Get("remotes").Fields() {
		if url.Value == "" {
			l.fail(l.at(url), "%s.remotes: expected a URL, found nothing", key)
		}
		l.namedFile(to, l.at(url), c, key+".remotes."+url.Value, "", true)
	}
}

// rendered checks an entry for the output of another tool.
func (l *loader) rendered(k, item *source.Node, c *Config, key string) {
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

// renderName checks the name that an entry sets. A name with glob characters could not be
// distinguished from a glob in a cluster.
func (l *loader) renderName(item *source.Node, r *Render, key string) {
	k, name := item.Field("name")
	switch {
	case name.IsNull():
	case r.IsGlob():
		l.fail(l.at(k), "%s.name: a glob may stand for several renders: remove the name, or name one directory", key)
	case name.Kind == source.Scalar && name.Type == source.String && !renderForm.MatchString(r.Name):
		l.fail(l.at(k), "%s.name: expected a name without control characters and any of %s]}, found %q", key, globMeta, r.Name)
	}
}

// renderPattern is the form of the name of a render. schema.json has the same.
const renderPattern = `^[^*?\[\]{}\\\x00-\x1f\x7f]+$`

var renderForm = regexp.MustCompile(renderPattern)

// loosenedRenders reports renders that are gone, so that their findings disappear.
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
		case c.Discovers() && was.IsGlob() && was.Kustomize != "": // every root is rendered, if it can be without the settings of the entry
			for _, text := range (&Render{Kustomize: was.Kustomize}).loosened(was) {
				add(list, "%s", text)
			}
		default:
			add(list, "a render is not asked for any more: %s", was.what())
		}
	}
}

// same returns the index of the entry that asks for the same renders as another one, regardless of
// its name, but with preference for an equal name; -1 if there is none. Renders of one chart are the
// same if they have the same name or the same values files.
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

// loosened lists what an entry no longer renders, or renders differently.
func (r *Render) loosened(was *Render) (all []string) {
	if r.RootOnly() && !was.RootOnly() {
		all = append(all, "kustomizations that read files outside of their directory are not rendered any more: "+r.what())
	}
	for _, url := range slices.Sorted(maps.Keys(was.Remotes)) {
		if to := r.Remotes[url]; to != was.Remotes[url] {
			all = append(all, "another directory is read for "+url+": "+cmp.Or(to, "none")+" instead of "+was.Remotes[url])
		}
	}
	if words := r.otherSettings(&was.Helm); r.Chart != "" && len(words) > 0 {
		all = append(all, "a chart is rendered with other settings ("+strings.Join(words, ", ")+"): "+r.what())
	}
	for _, file := range was.Files {
		if !slices.Contains(r.Files, file) {
			all = append(all, "a rendered file is not read any more: "+file)
		}
	}
	return all
}

// what names an entry in words.
func (r *Render) what() string { return cmp.Or(r.pattern(), r.Pointers, strings.Join(r.Files, ", ")) }

// Widen adds the renders that a change of the configuration asks for additionally, because the
// change may contain the objects to judge. It returns the entries that the change no longer asks
// for; these stay.
func (c *Config) Widen(change *Config) (stays []string) {
	if c.Discovers() {
		return nil // everything is rendered anyway
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
		for _, other := range change.Clusters {
			if other.Name != is.Name {
				continue
			}
			for _, name := range other.Renders {
				if !slices.Contains(is.Renders, name) {
					is.Renders = append(is.Renders, name)
				}
			}
		}
	}
	return stays
}
