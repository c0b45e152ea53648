package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/roots"
	"github.com/schedlint/schedlint/lint/source"
)

// What --render takes.
const (
	renderAuto = "auto"
	renderOff  = "off"
	renderOnly = "only"
)

// renderFlags say what is rendered.
type renderFlags struct {
	dirs []string // kustomizations, as they were named
	mode string
}

func (f *renderFlags) add(flags *pflag.FlagSet) {
	modes := []string{renderAuto, renderOff, renderOnly}
	flags.StringArrayVarP(&f.dirs, "kustomize", "k", nil, "`directory` of a kustomization to render and judge; without a path nothing else (repeatable)")
	flags.Var(choiceFlag{&f.mode, modes}, "render", "auto renders the kustomizations that are found and judges the rest as it stands, off renders none, only judges nothing else (default auto)")
}

// apply adds what is to be rendered to the options of a run. With kustomizations and no
// path there is nothing else to judge.
func (f *renderFlags) apply(o *lint.Options, pathless bool) error {
	if pathless && len(f.dirs) > 0 {
		o.Paths = nil
	}
	chosen, err := f.chosen(o)
	if err != nil {
		return err
	}
	if f.mode == renderOnly {
		o.Paths = nil
		if len(chosen) == 0 {
			return errors.New("--render only: there is no kustomization to render: name one with -k, or a directory that holds one")
		}
	}
	if o.Renders = chosen; len(chosen) == 0 {
		return nil
	}
	pool, err := newPool()
	if err != nil {
		return err
	}
	o.Renderer = pool.Render
	return nil
}

// chosen are the renders: those that flags and paths name, those of the configuration
// and those that are found.
func (f *renderFlags) chosen(o *lint.Options) ([]lint.Render, error) {
	at, err := filepath.EvalSymlinks(o.Root)
	if err != nil {
		return nil, err
	}
	c := &choosing{o: o, root: at, base: at, seen: map[string]bool{}}
	if o.Config.Dir != "" {
		if c.base, err = filepath.EvalSymlinks(o.Config.Dir); err != nil {
			return nil, err
		}
	}
	for _, dir := range f.dirs {
		if !isKustomization(absolute(o.Dir, dir)) {
			return nil, fmt.Errorf("-k %s: there is no kustomization.yaml, kustomization.yml or Kustomization", dir)
		}
		if err := c.name(dir); err != nil {
			return nil, fmt.Errorf("-k %s: %w", dir, err)
		}
	}
	if f.mode == renderOff {
		return c.all, nil
	}
	for _, path := range o.Paths {
		if path != "-" && isKustomization(absolute(o.Dir, path)) {
			_ = c.name(path) // what is outside of the repository is read as it stands
		}
	}
	return c.all, c.find()
}

// isKustomization reports whether a directory holds a kustomization.
func isKustomization(dir string) bool {
	return slices.ContainsFunc(source.KustomizationFiles(), func(name string) bool {
		info, err := os.Lstat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular()
	})
}

// choosing gathers renders, each directory once. Names count from base.
type choosing struct {
	o          *lint.Options
	root, base string
	seen       map[string]bool
	all        []lint.Render
}

// name takes in the kustomization of a path that was named.
func (c *choosing) name(path string) error {
	real, err := filepath.EvalSymlinks(absolute(c.o.Dir, path))
	if err != nil {
		return err
	}
	if _, ok := below(c.root, real); !ok {
		return fmt.Errorf("it is outside of the repository %s: run schedlint there", here(c.root))
	}
	name := filepath.ToSlash(seen(c.base, real))
	c.take(config.Chosen{Name: name, Dir: name, Literal: true})
	return nil
}

// take adds what was chosen.
func (c *choosing) take(chosen config.Chosen) {
	x := lint.Render{Chosen: chosen, Named: chosen.Literal}
	switch entry := chosen.Entry; {
	case chosen.Dir == "":
		for _, file := range entry.Files {
			x.Files = append(x.Files, seen(c.o.Dir, filepath.Join(c.base, filepath.FromSlash(file))))
		}
		if entry.SourceRoot != "" {
			x.SourceRoot = filepath.Join(c.base, filepath.FromSlash(entry.SourceRoot))
		}
	default:
		x.Root = render.Root{Confinement: c.root, Dir: c.inRoot(chosen.Dir)}
		if entry != nil {
			x.Root.RootOnly = entry.RootOnly()
			x.Root.Remotes = map[string]string{}
			for url, dir := range entry.Remotes {
				x.Root.Remotes[url] = c.inRoot(dir)
			}
		}
		if c.seen[x.Root.Dir] {
			return
		}
		c.seen[x.Root.Dir] = true
	}
	c.all = append(c.all, x)
}

// inRoot is a name that counts from base as one from the root.
func (c *choosing) inRoot(name string) string {
	return filepath.ToSlash(seen(c.root, filepath.Join(c.base, filepath.FromSlash(name))))
}

// find takes in what the configuration says, or else what there is below the paths.
func (c *choosing) find() error {
	var dirs []string
	found, err := roots.Find(roots.Options{Root: c.root, Paths: c.places(), Tracked: c.o.Tracked, Ignore: c.ignore()})
	if err != nil {
		return err
	}
	for _, k := range found.Roots {
		dirs = append(dirs, filepath.ToSlash(seen(c.base, filepath.Join(c.root, filepath.FromSlash(k.Dir)))))
	}
	chosen, err := c.o.Config.Expand(dirs)
	if err != nil {
		return err
	}
	for _, x := range chosen {
		if c.o.Config.Discovers() || c.within(x) {
			c.take(x)
		}
	}
	if len(c.o.Config.Clusters) > 0 && !c.o.Config.Discovers() {
		return c.o.Config.CheckClusters(chosen)
	}
	return nil
}

// places are the directories that are searched: all of the repository if the
// configuration may name any.
func (c *choosing) places() []string {
	if !c.o.Config.Discovers() {
		return []string{c.root}
	}
	var all []string
	for _, path := range c.o.Paths {
		if at := absolute(c.o.Dir, path); path != "-" && isDir(at) { // whoever reads it says what is missing
			all = append(all, at)
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
		_, in := below(real, at)
		return in
	})
}

func (c *choosing) ignore() func(name string) bool {
	return func(name string) bool {
		return len(c.o.Config.Ignore) > 0 && c.o.Config.Ignores(filepath.ToSlash(seen(c.base, filepath.Join(c.root, filepath.FromSlash(name)))))
	}
}

// addUnrendered adds what is to become of a run with kustomizations that do not render.
func addUnrendered(flags *pflag.FlagSet, to *bool) {
	flags.BoolVar(to, "fail-on-unrendered", false, "fail the run if a kustomization that was found cannot be rendered")
}

func unrendered(n int) error {
	return fmt.Errorf("%s cannot be rendered (--fail-on-unrendered)", plural(n, "kustomization"))
}
