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

// Render asks for renders: of a kustomization, a Helm chart, or of what another tool
// rendered. It has one of Kustomize, Chart, Pointers and Files.
type Render struct {
	// Name is what reports and clusters call the render; NameOf gives the default. A
	// glob has none.
	Name string `json:"name"`
	// Kustomize is the directory of a kustomization, or a glob of such directories. A
	// glob stands for the roots that it matches, a directory for itself.
	Kustomize string `json:"kustomize"`
	// Chart is the directory of a Helm chart, or a glob of such directories, which leaves out
	// library charts and charts in charts/ of another.
	Chart string `json:"helm"`
	Helm
	// Pointers is a glob of files with GitOps pointers: what
	// they deploy, directly or through others, is rendered.
	Pointers string `json:"pointers"`
	// LoadRestrictor is root-only if a kustomization reads no file outside of its own
	// directory, or repository, the default, if it may read any of the repository.
	LoadRestrictor string `json:"load-restrictor"`
	// Remotes gives, for URLs as kustomizations write them, directories that are read
	// instead.
	Remotes map[string]string `json:"remotes"`
	// Files are files or directories with manifests that are rendered already.
	Files []string `json:"files"`
	// SourceRoot is the directory that Files were rendered from; empty if unknown.
	SourceRoot string `json:"source-root"`
}

// rootOnly is the word of load-restrictor that is not the default.
const rootOnly = "root-only"

// LoadRestrictors are the words that load-restrictor takes.
func LoadRestrictors() []string { return []string{rootOnly, "repository"} }

// RootOnly reports whether a kustomization reads no file outside of its directory.
func (r *Render) RootOnly() bool { return r.LoadRestrictor == rootOnly }

// IsGlob reports whether the entry is a glob of directories.
func (r *Render) IsGlob() bool { return strings.ContainsAny(r.pattern(), globMeta) }

// pattern is the directory or glob that an entry names; empty for others.
func (r *Render) pattern() string { return r.Kustomize + r.Chart }

// several reports whether an entry may ask for several renders.
func (r *Render) several() bool { return r.IsGlob() || r.Pointers != "" || r.EachValues != "" }

// globMeta are the characters that make a path a glob.
const globMeta = `*?[{\`

// NameOf is the name of the render of an entry that is no glob: the one that it
// gives, its directory or the first of its files.
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

// paths are those that the entry names; of a glob that before the first directory
// which is a pattern.
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

// Discovers reports whether roots are found and rendered although the configuration
// does not name them: it has no key renders. An empty list turns discovery off.
func (c *Config) Discovers() bool { return c.Renders == nil }

// Chosen is one render that a configuration asks for, or that was discovered. Paths
// are relative to the directory of the configuration, with forward slashes.
type Chosen struct {
	Name string
	// Dir is the directory of the kustomization or of the chart; empty for files. Values are
	// the values files of a chart.
	Dir    string
	Values []string
	// Entry is what asks for it; nil if it was discovered. Literal is set if it does so
	// without a glob.
	Entry   *Render
	Literal bool
	// Pointers are the files of the GitOps pointers that deploy it, one another's first,
	// and Destinations the names and addresses of the cluster that they deploy it to.
	Pointers, Destinations []string
}

// Tree is what there is to render.
type Tree struct {
	// Roots are the directories of the kustomizations that no other refers to: those that a
	// glob may match, or all that there is to render if Discovers. Charts are those of the
	// charts that a glob may match.
	Roots, Charts []string
	// Tracked is that of source.Options, for the files that each-values matches.
	Tracked func(path string) bool

	looks *int // left of mostLooks
}

// Expand gives the renders that a configuration asks for, in the order of its entries.
// Errors name globs that match nothing, values files that are missing, and entries that
// give renders of one name.
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

// expand gives the renders of one entry.
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

// expand gives what an entry names, or what a glob matches of some directories.
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

// CheckClusters says which renders of clusters are none of all that there are.
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

// wrong is an error about an entry of the configuration.
func (c *Config) wrong(key, format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", place(c.file, c.entries[key]), key, fmt.Errorf(format, args...))
}

// renders looks at what types do not say of the list.
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

// render looks at one entry; ok is false if it is of no use.
func (l *loader) render(item *source.Node, r *Render, c *Config, key string) (ok bool) {
	k, directory := item.Field("kustomize")
	h, chart := item.Field("helm")
	f, files := item.Field("files")
	g, pointers := item.Field("pointers")
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
	case !chart.IsNull():
		l.helm(h, item, r, c, key)
		l.renderName(item, r, key)
		return true
	}
	l.noHelm(item, key)
	switch {
	case !pointers.IsNull():
		l.pointers(g, item, r, c, key)
		return true
	case !directory.IsNull():
		l.kustomize(k, item, r, c, key)
	case !files.IsNull():
		l.rendered(f, item, c, key)
	}
	l.renderName(item, r, key)
	return true
}

// renderKinds are the keys of which an entry has one.
func renderKinds() []string { return []string{"kustomize", "helm", "files", "pointers"} }

// expectedRender is what an entry has to have.
const expectedRender = "expected kustomize or helm, a directory or a glob, files, or pointers, a glob"

// kustomize looks at an entry for kustomizations.
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
	if s, root := item.Field("source-root"); !root.IsNull() {
		l.fail(l.at(s), "%s.source-root: belongs to files: kustomize knows where its input is", key)
	}
}

// remotes looks at what an entry has in place of URLs.
func (l *loader) remotes(item *source.Node, c *Config, key string) {
	for url, to := range item.Get("remotes").Fields() {
		if url.Value == "" {
			l.fail(l.at(url), "%s.remotes: expected a URL, found nothing", key)
		}
		l.namedFile(to, l.at(url), c, key+".remotes."+url.Value, "", true)
	}
}

// rendered looks at an entry for what another tool rendered.
func (l *loader) rendered(k, item *source.Node, c *Config, key string) {
	files := item.Get("files")
	if files.Kind == source.Sequence && files.Len() == 0 {
		l.fail(l.at(k), "%s.files: expected a file", key)
	}
	for i, file := range files.Items() {
		l.namedFile(file, l.at(file), c, fmt.Sprintf("%s.files[%d]", key, i), "", true)
	}
	if s, root := item.Field("source-root"); !root.IsNull() {
		l.namedFile(root, l.at(s), c, key+".source-root", "--source-root", true)
	}
	for _, word := range []string{"load-restrictor", "remotes"} {
		if k, v := item.Field(word); !v.IsNull() {
			l.fail(l.at(k), "%s.%s: belongs to kustomize: files are read as they are", key, word)
		}
	}
}

// renderName looks at the name that an entry gives. One that is a glob could not be
// told from one in a cluster.
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
