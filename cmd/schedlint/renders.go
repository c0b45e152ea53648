package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/chart"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// What --render takes.
const (
	renderAuto = "auto"
	renderOff  = "off"
	renderOnly = "only"
)

// renderFlags say what is rendered.
type renderFlags struct {
	dirs   []string // kustomizations, as they were named
	charts []string // and charts
	// release is the name of the releases of charts that are given none.
	release string
	mode    string
	// known are the addresses of the repository, once asked for: those of the work tree
	// count for another revision of it as well.
	known []string
	asked bool
}

// addresses are those of the repository at hand: what the configuration says and, of a
// work tree, what git has.
func (f *renderFlags) addresses(o *lint.Options, dir string) []string {
	if !f.asked {
		f.known, f.asked = addresses(dir), true
	}
	return slices.Concat(f.known, o.Config.Repositories)
}

func (f *renderFlags) add(flags *pflag.FlagSet) {
	modes := []string{renderAuto, renderOff, renderOnly}
	flags.StringArrayVarP(&f.dirs, "kustomize", "k", nil, "kustomization `directory` to render and check; without a PATH nothing else is checked (repeatable)")
	flags.StringArrayVar(&f.charts, "helm", nil, "Helm `chart[=values,...]` to render and check: a directory, and values files from the working directory; without a PATH nothing else is checked (repeatable)")
	flags.Var(releaseFlag{&f.release}, "release-name", "release `name` of the charts for which nothing else sets one (default "+chart.DefaultRelease+")")
	flags.Var(choiceFlag{&f.mode, modes}, "render", "`mode`: auto renders the kustomizations and charts it finds and checks other files as written, off renders none, only checks renders only (default auto)")
}

// apply adds what is to be rendered to the options of a run. With kustomizations and no
// path there is nothing else to judge.
func (f *renderFlags) apply(o *lint.Options, pathless bool) error {
	if pathless && len(f.dirs)+len(f.charts) > 0 {
		o.Paths = nil
	}
	o.Unfollowed, o.Notes, o.Overlay, o.Followed = nil, nil, nil, nil
	if f.mode != renderOff {
		o.Followed = map[lint.PointerID]bool{}
	}
	already := rendered{}
	chosen, err := f.chosen(o, already)
	if err != nil {
		return err
	}
	if f.mode == renderOnly {
		o.Paths = nil
		if len(chosen) == 0 {
			return errors.New("--render only: there is nothing to render: name a kustomization with -k, a chart with --helm, or a directory that holds one")
		}
	}
	if o.Renders = chosen; len(chosen) == 0 {
		return nil
	}
	o.Renderer = already.render
	return nil
}

// renderRoots renders in workers of this very program.
func renderRoots(ctx context.Context, all []render.Root) []*render.Output {
	return newPool().Render(ctx, all)
}

// chosen are the renders: those that flags and paths name, those of the configuration
// and those that are found.
func (f *renderFlags) chosen(o *lint.Options, already rendered) ([]lint.Render, error) {
	at, err := filepath.EvalSymlinks(o.Root)
	if err != nil {
		return nil, err
	}
	c := &choosing{o: o, root: at, base: at, release: f.release, seen: map[string]bool{}, reads: newReads(), rendered: already, addresses: func(dir string) []string { return f.addresses(o, dir) }}
	if o.Config.Dir != "" {
		if c.base, err = filepath.EvalSymlinks(o.Config.Dir); err != nil {
			return nil, err
		}
	}
	if err := c.find(f.mode != renderOff); err != nil {
		return nil, err
	}
	o.Overlay = c.reads.overlay
	for _, dir := range f.dirs {
		if !isKustomization(absolute(o.Dir, dir)) {
			return nil, fmt.Errorf("-k %s: there is no kustomization.yaml, kustomization.yml or Kustomization", dir)
		}
		if err := c.name(dir); err != nil {
			return nil, fmt.Errorf("-k %s: %w", dir, err)
		}
	}
	for _, named := range f.charts {
		if err := c.chart(named); err != nil {
			return nil, fmt.Errorf("--helm %s: %w", named, err)
		}
	}
	if f.mode == renderOff {
		return c.all, nil
	}
	for _, path := range o.Paths {
		if path != "-" && isChart(absolute(o.Dir, path)) {
			_ = c.chart(path) // what is outside of the repository is read as it stands
		}
		if path != "-" && isKustomization(absolute(o.Dir, path)) {
			_ = c.name(path) // what is outside of the repository is read as it stands
		}
	}
	for _, x := range c.found {
		if c.o.Config.Discovers() || c.within(x) {
			c.take(x, c.confined(x))
		}
	}
	for _, pointed := range c.pointed {
		c.takePointers(pointed)
		if url := pointed.Assumed; url != "" {
			o.Notes = append(o.Notes, "all GitOps pointers name the repository "+report.Visible(url)+", which is taken for this one (repositories: in the configuration says what it is)")
		}
	}
	c.discover()
	o.Unfollowed = c.unfollowed
	return c.all, nil
}

// isKustomization reports whether a directory holds a kustomization, be it a link: the build
// says where that leads.
func isKustomization(dir string) bool {
	return slices.ContainsFunc(source.KustomizationFiles(), func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular()
	})
}

// choosing gathers renders, each directory once. Names count from base.
type choosing struct {
	o          *lint.Options
	root, base string
	release    string // of charts that are given none
	seen       map[string]bool
	all        []lint.Render
	// charts are those that a glob of the configuration may match, or that are found, and
	// chartsIn what those are confined to.
	charts   []string
	chartsIn map[string]string
	inflated map[string]bool // those that the helmCharts of a kustomization have
	// found are the renders of the configuration, or else those below the paths, and
	// confinements what those are confined to, by their directories.
	found        []config.Chosen
	confinements map[string]string
	// pointed are the pointers, by what they are confined to, outputs those of roots that
	// were rendered on the way, by their directories, and unfollowed what leads nowhere.
	pointed    []*pointed
	outputs    map[string]*render.Output
	rendered   rendered
	unfollowed []lint.Unfollowed
	addresses  func(dir string) []string
	reads      *reads
}

// name takes in the kustomization of a path that was named.
func (c *choosing) name(path string) error {
	real, err := filepath.EvalSymlinks(absolute(c.o.Dir, path))
	if err != nil {
		return err
	}
	name := filepath.ToSlash(seen(c.base, real))
	chosen := config.Chosen{Name: name, Dir: name}
	for _, x := range c.found {
		if x.Dir == name { // as the configuration says
			chosen = x
		}
	}
	chosen.Literal = true
	c.take(chosen, confinement(c.root, real))
	return nil
}

// confinement is what a render of a path stays in: the repository, or else the work tree
// that holds the path, or the directory itself.
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

// take adds what was chosen.
func (c *choosing) take(chosen config.Chosen, confinement string) {
	x := lint.Render{Chosen: chosen, Requested: chosen.Literal}
	switch entry := chosen.Entry; {
	case entry != nil && entry.Chart != "":
		x.Root = c.chartOf(chosen, confinement)
		key := keyOf(x.Root) + chosen.Name
		if c.seen[key] {
			return
		}
		c.seen[key] = true
	case chosen.Dir == "":
		for _, file := range entry.Files {
			x.Files = append(x.Files, seen(c.o.Dir, filepath.Join(c.base, filepath.FromSlash(file))))
		}
		if entry.SourceRoot != "" {
			x.SourceRoot = filepath.Join(c.base, filepath.FromSlash(entry.SourceRoot))
		}
	default:
		x.Root = render.Root{Confinement: confinement, Dir: filepath.ToSlash(seen(confinement, filepath.Join(c.base, filepath.FromSlash(chosen.Dir))))}
		if entry != nil {
			x.Root.RootOnly = entry.RootOnly()
			x.Root.Remotes = map[string]string{}
			for url, dir := range entry.Remotes {
				x.Root.Remotes[url] = c.inRoot(dir)
			}
		}
		at := filepath.Join(confinement, x.Root.Dir)
		if c.seen[at] {
			return
		}
		c.seen[at] = true
		if out := c.outputs[chosen.Dir]; out != nil {
			c.rendered[keyOf(x.Root)] = out
		}
	}
	c.all = append(c.all, x)
}

// inRoot is a name that counts from base as one from the root.
func (c *choosing) inRoot(name string) string {
	return filepath.ToSlash(seen(c.root, filepath.Join(c.base, filepath.FromSlash(name))))
}

// find finds what the configuration says, or else, if that is asked for, what there is
// below the paths.
func (c *choosing) find(discover bool) error {
	if c.o.Config.Discovers() && !discover {
		return nil
	}
	var dirs []string
	c.inflated, c.confinements, c.chartsIn, c.outputs = map[string]bool{}, map[string]string{}, map[string]string{}, map[string]*render.Output{}
	places := c.places()
	for _, root := range slices.Sorted(maps.Keys(places)) {
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

// remoteDirs are the directories that a configuration has in place of URLs, as names from a
// root.
func remoteDirs(conf *config.Config, root string) map[string]string {
	all := map[string]string{}
	for _, entry := range conf.Renders {
		for url, dir := range entry.Remotes {
			all[url] = filepath.ToSlash(seen(root, filepath.Join(real(conf.Dir), filepath.FromSlash(dir))))
		}
	}
	return all
}

// confined is what a render that was found is confined to.
func (c *choosing) confined(x config.Chosen) string { return cmp.Or(c.confinements[x.Dir], c.root) }

// places are the directories that are searched, by what they are confined to: all of the
// repository if the configuration may name any.
func (c *choosing) places() map[string][]string {
	if !c.o.Config.Discovers() {
		return map[string][]string{c.root: {c.root}}
	}
	all := map[string][]string{}
	for _, path := range c.o.Paths {
		at, err := filepath.EvalSymlinks(absolute(c.o.Dir, path))
		if path != "-" && err == nil && isDir(at) { // whoever reads it says what is missing
			root := confinement(c.root, at)
			all[root] = append(all[root], at)
		}
	}
	return all
}

// within reports whether a render of the configuration is below one of the paths.
func (c *choosing) within(x config.Chosen) bool {
	dir := cmp.Or(x.Dir, ".")
	if x.Dir == "" && len(x.Entry.Files) > 0 {
		dir = path.Dir(x.Entry.Files[0])
	}
	at := filepath.Join(c.base, filepath.FromSlash(dir))
	return slices.ContainsFunc(c.o.Paths, func(p string) bool {
		real, err := filepath.EvalSymlinks(absolute(c.o.Dir, p))
		if err != nil || p == "-" {
			return false
		}
		return worktree.Inside(real, at)
	})
}

func (c *choosing) ignore(root string) func(name string) bool {
	return func(name string) bool {
		return c.o.Config.IgnoresSome() && c.o.Config.Ignores(filepath.ToSlash(seen(c.base, filepath.Join(root, filepath.FromSlash(name)))))
	}
}

// addUnrendered adds what is to become of a run with kustomizations that do not render.
func addUnrendered(flags *pflag.FlagSet, to *bool) {
	flags.BoolVar(to, "fail-on-unrendered", false, "fail the run if a kustomization, chart or GitOps pointer under the paths cannot be rendered")
}

func unrendered(n int) error {
	return fmt.Errorf("%s cannot be rendered (--fail-on-unrendered)", plural(n, "input"))
}
