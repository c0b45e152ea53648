package inputs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/revision"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/thirdparty"
	"github.com/schedlint/schedlint/lint/worktree"
)

// The possible values of Choice.Mode.
const (
	Auto = "auto"
	Off  = "off"
	Only = "only"
)

// Choice holds the flags that select what to render.
type Choice struct {
	Dirs   []string // kustomizations, as written on the command line
	Charts []string // charts, each optionally followed by = and values files
	// Release is the default release name for charts.
	Release string
	// Settings holds the settings for Charts. With any of them, the entries that the configuration
	// has for a chart are not used, as with values files.
	Settings render.Chart
	Mode     string
	// Whole keeps everything in the outputs, even what no rule reads.
	Whole bool
	// Library replaces the lock that the repository has, or is nil.
	Library *thirdparty.Library
	// known caches the repository's addresses. They are read from the work tree and also used for
	// other revisions.
	known []string
	asked bool
}

// Check returns an error if the flags do not fit the number of charts on the command line.
func (f *Choice) Check(charts int) error {
	if f.Release != "" && charts > 1 {
		return fmt.Errorf("--release-name is the name of one release, but there are %d charts: run schedlint for each, or list them under renders in %s, each with a name", charts, config.Name)
	}
	for _, flag := range []struct{ name, value string }{
		{"namespace", f.Settings.Namespace}, {"set", strings.Join(f.Settings.Set, "")}, {"set-string", strings.Join(f.Settings.SetString, "")},
		{"kube-version", f.Settings.KubeVersion}, {"api-versions", strings.Join(f.Settings.APIVersions, "")}, {"helm-version", f.Settings.HelmVersion},
	} {
		if flag.value != "" && charts == 0 {
			return fmt.Errorf("--%s belongs to --helm: name the chart with --helm CHART, or list it under renders in %s", flag.name, config.Name)
		}
	}
	return nil
}

// Apply adds the renders to the options of a run. The argument pathless is true if the command line
// has no path. If the command line names renders but no path, the run judges only the renders.
func (f *Choice) Apply(ctx context.Context, o *lint.Options, pathless bool) error {
	if pathless && len(f.Dirs)+len(f.Charts) > 0 {
		o.Paths = nil
	}
	o.Unfollowed, o.Notes, o.Libraries, o.Overlay, o.Followed = nil, nil, nil, nil, nil
	if f.Mode != Off {
		o.Followed = map[lint.PointerID]bool{}
	}
	c, err := f.choose(ctx, o)
	if err != nil {
		return err
	}
	c.setVersions(c.all)
	o.Renders = c.all
	if f.Mode == Only {
		o.Paths = nil
		if len(c.all) == 0 {
			return errors.New("--render only: there is nothing to render: name a kustomization with -k, a chart with --helm, or a directory that holds one")
		}
	}
	if len(c.all) > 0 {
		o.Renderer = func(ctx context.Context, all []render.Root) []*render.Output {
			if f.Whole {
				all = slices.Clone(all)
				for i := range all {
					all[i].Whole = true
				}
			}
			return verified(c.library, all, c.rendered.render(ctx, all))
		}
	}
	return nil
}

// choose collects renders from three sources: flags and paths, the configuration, and a search
// below the paths.
func (f *Choice) choose(ctx context.Context, o *lint.Options) (*choosing, error) {
	root, err := filepath.EvalSymlinks(o.Root)
	if err != nil {
		return nil, err
	}
	c := &choosing{ctx: ctx, Choice: f, o: o, root: root, base: root, seen: map[string]bool{}, reads: &reads{map[string][]byte{}, mostRead}, rendered: rendered{}}
	if o.Config.Dir != "" {
		if c.base, err = filepath.EvalSymlinks(o.Config.Dir); err != nil {
			return nil, err
		}
	}
	if err := c.open(); err != nil {
		return nil, err
	}
	if err := c.find(); err != nil {
		return nil, err
	}
	o.Overlay = c.reads.overlay
	for _, dir := range f.Dirs {
		if !IsKustomization(worktree.Absolute(o.Dir, dir)) {
			return nil, fmt.Errorf("-k %s: there is no kustomization.yaml, kustomization.yml or Kustomization", dir)
		}
		if err := c.name(dir); err != nil {
			return nil, fmt.Errorf("-k %s: %w", dir, err)
		}
	}
	for _, named := range f.Charts {
		if err := c.chart(named, &f.Settings); err != nil {
			return nil, fmt.Errorf("--helm %s: %w", named, err)
		}
	}
	if f.Mode == Off {
		return c, nil
	}
	for _, path := range o.Paths {
		if path != "-" && IsChart(worktree.Absolute(o.Dir, path)) {
			_ = c.chart(path, &render.Chart{}) // outside the repository, it is read but not rendered
		}
		if path != "-" && IsKustomization(worktree.Absolute(o.Dir, path)) {
			_ = c.name(path) // outside the repository, it is read but not rendered
		}
	}
	for _, x := range c.found {
		if c.o.Config.Discovers() || c.within(x) {
			c.take(x, cmp.Or(c.confinements[x.Dir], c.root))
		}
	}
	for _, pointed := range c.pointed {
		c.takePointers(pointed)
		if url := pointed.Assumed; url != "" {
			o.Notes = append(o.Notes, "GitOps pointers name the repository "+report.Visible(url)+", which is taken for this one (repositories: in the configuration says what it is)")
		}
		published := slices.Collect(maps.Keys(pointed.Published))
		sorting.Stable(published, func(a, b pointers.Repository) int { return strings.Compare(a.String(), b.String()) })
		for _, r := range published {
			o.Notes = append(o.Notes, fmt.Sprintf("%s is taken for a copy of the directory %s, which has all paths that GitOps pointers name in it", report.Visible(r.String()), report.Visible(pointed.Published[r])))
		}
	}
	c.discover()
	return c, nil
}

// Repository returns the root of the work tree that contains dir, or dir itself if it is not in a
// work tree.
func Repository(dir string) string {
	if root, ok := worktree.Root(dir); ok {
		return root
	}
	return dir
}

// IsKustomization reports whether a directory contains a kustomization file.
func IsKustomization(dir string) bool {
	return slices.ContainsFunc(source.KustomizationFiles(), func(name string) bool { return isFile(dir, name) })
}

// IsChart reports whether a directory contains a chart.
func IsChart(dir string) bool { return isFile(dir, chartName) }

// isFile reports whether a directory has a regular file with the given name. It follows symbolic
// links. This is safe, because rendering checks where they lead.
func isFile(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.Mode().IsRegular()
}

// choosing collects renders and adds each directory only once. Names are relative to base.
type choosing struct {
	ctx context.Context // of the renders
	*Choice
	o          *lint.Options
	root, base string
	seen       map[string]bool
	all        []lint.Render
	// charts lists the charts that were found and the charts that a glob in the configuration could
	// match. chartsIn maps each chart to the directory that the chart must not leave.
	charts   []string
	chartsIn map[string]string
	inflated map[string]bool // charts in a kustomization's helmCharts field
	// found holds the renders that the configuration names, or the renders found below the paths if
	// the configuration names none. confinements maps a render's directory to the directory that
	// the render must not leave.
	found        []config.Chosen
	confinements map[string]string
	// pointed holds the results of following pointers, one for each directory that renders must not
	// leave. Some roots are rendered in order to follow pointers. outputs maps their directories to
	// their outputs.
	pointed  []*pointed
	outputs  map[string]*render.Output
	rendered rendered
	reads    *reads
	// libraries maps directories that renders must not leave to their copies from other
	// repositories.
	libraries map[string]*thirdparty.Library
}

// under returns the path of a slash-separated name in a directory.
func under(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }

// named returns a path's slash-separated name relative to a directory.
func named(from, path string) string { return filepath.ToSlash(worktree.Seen(from, path)) }

// fromBase takes a name relative to root and makes it relative to the directory of the
// configuration.
func (c *choosing) fromBase(root, name string) string { return named(c.base, under(root, name)) }

// name adds the kustomization at a path given on the command line.
func (c *choosing) name(path string) error {
	real, err := filepath.EvalSymlinks(worktree.Absolute(c.o.Dir, path))
	if err != nil {
		return err
	}
	name := named(c.base, real)
	chosen := config.Chosen{Name: name, Dir: name}
	for _, x := range c.found {
		if x.Dir == name { // use the configuration's entry
			chosen = x
		}
	}
	chosen.Literal = true
	c.take(chosen, confinement(c.root, real))
	return nil
}

// confinement returns the directory that a render must not leave. For a path in the repository,
// this is the repository. For any other path, it is the work tree that contains the path. If there
// is no work tree, it is the directory at the path, or the parent directory of a file.
func confinement(repository, at string) string {
	if worktree.Inside(repository, at) {
		return repository
	}
	if root, ok := worktree.Root(at); ok {
		return root
	}
	if info, err := os.Stat(at); err == nil && !info.IsDir() {
		return filepath.Dir(at)
	}
	return at
}

// take adds a render unless it has already been added.
func (c *choosing) take(chosen config.Chosen, confinement string) {
	x := lint.Render{Chosen: chosen, Requested: chosen.Literal}
	key := ""
	switch entry := chosen.Entry; {
	case entry != nil && entry.Chart != "":
		within := func(name string) string { return named(confinement, under(c.base, name)) }
		e := chosen.Entry
		chart := &render.Chart{
			Name: cmp.Or(e.Name, c.Release), Namespace: e.Namespace, Set: e.SetArgs, SetString: e.SetStringArgs,
			KubeVersion: e.KubeVersion, APIVersions: e.APIVersions, HelmVersion: e.HelmVersion,
		}
		for _, file := range chosen.Values {
			chart.Values = append(chart.Values, render.Values{File: within(file)})
		}
		x.Root = render.Root{Confinement: confinement, Dir: within(chosen.Dir), Remotes: c.remotes(confinement, nil), Chart: chart}
		key = keyOf(x.Root) + chosen.Name
	case chosen.Dir == "":
		for _, file := range entry.Files {
			x.Files = append(x.Files, worktree.Seen(c.o.Dir, under(c.base, file)))
		}
		if entry.SourceRoot != "" {
			x.SourceRoot = under(c.base, entry.SourceRoot)
		}
	default:
		x.Root = render.Root{Confinement: confinement, Dir: named(confinement, under(c.base, chosen.Dir)), Remotes: c.remotes(confinement, nil)}
		if entry != nil {
			x.Root.RootOnly, x.Root.Remotes = entry.RootOnly(), c.remotes(confinement, []config.Render{*entry})
		}
		key = filepath.Join(confinement, x.Root.Dir)
		if out := c.outputs[chosen.Dir]; out != nil {
			c.rendered[keyOf(x.Root)] = out
		}
	}
	if key == "" || !c.seen[key] {
		c.seen[key] = true
		c.all = append(c.all, x)
	}
}

// find collects the renders that the configuration names. If it names none, find searches below the
// paths instead, unless the mode is Off.
func (c *choosing) find() error {
	if c.o.Config.Discovers() && c.Mode == Off {
		return nil
	}
	var dirs []string
	c.inflated, c.confinements, c.chartsIn, c.outputs = map[string]bool{}, map[string]string{}, map[string]string{}, map[string]*render.Output{}
	places := c.places()
	for _, root := range sorting.Keys(places) {
		before := len(c.charts)
		names, err := c.search(root, places[root])
		if err != nil {
			return err
		}
		for _, chart := range c.charts[before:] {
			c.chartsIn[chart] = root
		}
		for _, name := range names {
			dirs, c.confinements[name] = append(dirs, name), root
		}
	}
	var err error
	if c.found, err = c.o.Config.Expand(config.Tree{Roots: dirs, Charts: c.charts, Tracked: c.o.Tracked}); err != nil {
		return err
	}
	if len(c.o.Config.Clusters) > 0 && !c.o.Config.Discovers() {
		return c.o.Config.CheckClusters(c.found)
	}
	return nil
}

// places returns the directories to search, grouped by the directory that their renders must not
// leave. If the configuration names the renders, places returns only the repository's root.
func (c *choosing) places() map[string][]string {
	if !c.o.Config.Discovers() {
		return map[string][]string{c.root: {c.root}}
	}
	all := map[string][]string{}
	for _, path := range c.o.Paths {
		at, err := filepath.EvalSymlinks(worktree.Absolute(c.o.Dir, path))
		if path != "-" && err == nil && worktree.IsDir(at) { // a missing path is reported later, when it is read
			root := confinement(c.root, at)
			all[root] = append(all[root], at)
		}
	}
	return all
}

// within reports whether a render named by the configuration is below one of the paths.
func (c *choosing) within(x config.Chosen) bool {
	dir := cmp.Or(x.Dir, ".")
	if x.Dir == "" && len(x.Entry.Files) > 0 {
		dir = path.Dir(x.Entry.Files[0])
	}
	return slices.ContainsFunc(c.o.Paths, func(p string) bool {
		real, err := filepath.EvalSymlinks(worktree.Absolute(c.o.Dir, p))
		return err == nil && p != "-" && worktree.Inside(real, under(c.base, dir))
	})
}

func (c *choosing) ignore(root string) func(name string) bool {
	return func(name string) bool { return c.o.Config.IgnoresSome() && c.o.Config.Ignores(c.fromBase(root, name)) }
}

// addresses returns the repository's addresses: those in the configuration and its git remotes.
func (c *choosing) addresses(dir string) []string {
	if !c.asked {
		c.known, c.asked = revision.Remotes(dir), true
	}
	return slices.Concat(c.known, c.o.Config.Repositories)
}

// rendered caches the outputs of roots that were rendered to discover charts or follow pointers.
type rendered map[string]*render.Output

// keyOf returns a cache key for a root.
func keyOf(r render.Root) string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // cannot happen, because roots consist of strings and numbers
	}
	return string(text)
}

// render renders each root that is not in the cache. It renders a cached root again if the root's
// files have changed.
func (r rendered) render(ctx context.Context, all []render.Root) []*render.Output {
	outs := make([]*render.Output, len(all))
	var at []int
	var left []render.Root
	for i, root := range all {
		if len(root.Texts) == 0 && len(r) > 0 {
			root.Texts = nil
			outs[i] = r[keyOf(root)]
		}
		if outs[i] == nil {
			at, left = append(at, i), append(left, all[i])
		}
	}
	for i, out := range Render(ctx, left) {
		outs[at[i]] = out
	}
	return outs
}

// reads caches files that were read while searching for roots. The keys are file names relative to
// the root of the run. The run uses the cached contents, so it reads no file twice.
type reads struct {
	byName map[string][]byte
	left   int // in bytes
}

// mostRead is the maximum number of bytes to cache. Files that do not fit are read again.
const mostRead = 64 << 20

func (t *reads) keep(name string, text []byte) {
	if _, known := t.byName[name]; !known && len(text) <= t.left {
		t.byName[name] = text
		t.left -= len(text)
	}
}

// overlay implements lint.Options.Overlay.
func (t *reads) overlay(name string) (text []byte, ok bool) {
	text, ok = t.byName[name]
	return text, ok
}
