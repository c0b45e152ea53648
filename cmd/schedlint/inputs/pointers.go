package inputs

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/gitops"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/roots"
	"github.com/schedlint/schedlint/lint/worktree"
)

// repositoryIn returns the repository that contains all of the given absolute paths, as a path
// relative to root. If no repository inside root contains all paths, it returns ".".
func repositoryIn(root string, paths []string) string {
	base := ""
	for i, path := range paths {
		at, ok := worktree.Root(path)
		if !ok || i > 0 && at != base {
			return "."
		}
		base = at
	}
	if name, ok := worktree.Below(root, base); ok {
		return filepath.ToSlash(name)
	}
	return "."
}

// pointed holds what the pointers in a tree deploy.
type pointed struct {
	root string // directory that renders are confined to
	base string // repository below root
	*gitops.Result
}

// follows resolves the pointers found below the given paths. The function known returns the
// addresses of the repository that contains a directory.
func follows(root string, paths []string, found *roots.Found, conf *config.Config, known func(dir string) []string, o gitops.Options) *pointed {
	for _, c := range conf.Clusters {
		if c.Server != "" {
			knows := func(file string) bool {
				return c.Knows(named(worktree.Resolved(cmp.Or(conf.Dir, root)), under(root, file)))
			}
			o.Clusters = append(o.Clusters, pointers.Cluster{Name: c.Name, Server: c.Server, Labels: c.Labels, Annotations: c.Annotations, Knows: knows})
		}
	}
	o.Confinement, o.Base = root, repositoryIn(root, paths)
	o.Known = known(filepath.Join(root, o.Base))
	o.Repositories, o.Settings = found.Repositories, found.Settings
	for _, p := range found.Pointers {
		o.Pointers = append(o.Pointers, p.Object)
	}
	for _, k := range found.Roots {
		o.Roots = append(o.Roots, gitops.Root{Dir: k.Dir, File: k.File})
	}
	return &pointed{root, o.Base, gitops.Follow(o)}
}

// takePointers adds the renders that pointers deploy.
func (c *choosing) takePointers(f *pointed) {
	if n := len(f.Fixed); n > 0 {
		c.o.Notes = append(c.o.Notes, fmt.Sprintf("GitOps pointers ask for a fixed revision of this repository (%s%s), and are rendered from the files here", report.Visible(f.Fixed[0]), map[bool]string{true: ", ..."}[n > 1]))
	}
	names := map[string]int{}
	for _, d := range f.Deployments {
		c.o.Followed[lint.PointerID{Kind: d.Pointer.Kind, Namespace: d.Pointer.Namespace, Name: d.Pointer.Written}] = true
		file := c.fromBase(f.root, d.Pointer.File)
		files := lists.Of(d.Files(), func(file string) string { return c.fromBase(f.root, file) })
		if !c.o.Config.Follows(files, destinations(d)) {
			continue
		}
		at := diag.Span{File: named(c.root, under(f.root, d.Pointer.File)), Line: d.Pointer.Line, Column: d.Pointer.Column}
		if d.Output == nil {
			wanted := ""
			if d.Wanted != nil {
				wanted = d.Wanted.Name
			}
			c.o.Unfollowed = append(c.o.Unfollowed, lint.Unfollowed{
				Wanted: wanted, Kind: d.Pointer.Kind, Name: d.Pointer.Name,
				Why: d.Why.What, Detail: d.Why.Detail, File: at.File, Line: d.Pointer.Line, Column: d.Pointer.Column,
				Render: file + "#" + d.Pointer.Name, Suspended: d.Why.What == pointers.WhySuspended, Wrong: d.Why.Refused,
			})
			continue
		}
		name := file + "#" + d.Pointer.Name
		if names[name]++; names[name] > 1 {
			name = fmt.Sprintf("%s~%d", name, names[name])
		}
		var entries []string
		tops, clusters := d.Entries()
		for _, p := range tops {
			entry := fmt.Sprintf("all that %s:%d deploys", c.fromBase(f.root, p.File), p.Object)
			if len(clusters) > 0 {
				entry += " to " + strings.Join(clusters, ", ")
			}
			entries = append(entries, entry)
		}
		x := config.Chosen{Name: name, Dir: c.fromBase(f.root, d.Root.Dir), Pointers: files, Destinations: destinations(d)}
		c.rendered[keyOf(d.Root)] = d.Output
		at.Line = d.Pointer.Object
		release := ""
		if d.Root.Chart != nil {
			if release = at.File; d.Pointer.Kind != pointers.ApplicationSet {
				release += "#" + d.Pointer.Name
			}
		}
		c.all = append(c.all, lint.Render{Chosen: x, Root: d.Root, Pointer: at, PointerName: d.Pointer.Name, Release: release, Source: d.Source, Entries: entries, Argo: d.Pointer.Kind == pointers.Application || d.Pointer.Kind == pointers.ApplicationSet})
	}
}

// destinations returns the name and address of the cluster that a pointer deploys to, if known.
func destinations(d *gitops.Deployment) (all []string) {
	for _, name := range []string{d.Pointer.Destination.Name, d.Pointer.Destination.Server} {
		if name != "" {
			all = append(all, name)
		}
	}
	return slices.Compact(all)
}

// search finds the roots below some paths. It also follows the pointers it finds, unless the
// configuration names the renders.
func (c *choosing) search(root string, paths []string) (dirs []string, err error) {
	follow, discovers := c.o.Config.FollowsPointers(), c.o.Config.Discovers()
	remotes, ignore, library := c.remotes(root, c.o.Config.Renders), c.ignore(root), c.library(root)
	found, err := roots.Find(roots.Options{
		Root: root, Paths: paths, Tracked: c.o.Tracked, Ignore: func(name string) bool { return ignore(name) || library.Holds(name) }, OwnOnly: c.o.Config.OwnOnly(),
		OnlyKustomizations: !follow, OnlyRenderable: true, Charts: c.o.Config.GlobsCharts(), Remotes: remotes,
		Read: func(name string, text []byte) { c.reads.keep(named(c.root, under(root, name)), text) },
	})
	if err != nil {
		return nil, err
	}
	for _, chart := range found.Charts {
		if !chart.Library && !chart.Subchart {
			name := c.fromBase(root, chart.Dir)
			c.charts = append(c.charts, name)
			c.inflated[name] = chart.Inflated
		}
	}
	var result *pointed
	if follow && len(found.Pointers) > 0 {
		if !discovers {
			found.Roots = nil
		}
		pool := newPool(c.ctx)
		result = follows(root, paths, found, c.o.Config, c.addresses, gitops.Options{
			Remotes: remotes, Library: library, Ignore: ignore, Tracked: c.o.Tracked,
			Render: func(all []render.Root) []*render.Output {
				return verified(c.library, all, pool.Render(c.ctx, all))
			},
		})
		c.pointed = append(c.pointed, result)
	}
	for i, k := range found.Roots {
		name := c.fromBase(root, k.Dir)
		if result != nil && discovers {
			if c.outputs[name] = result.Roots[i]; result.Roots[i] == nil {
				continue // deployed by a pointer
			}
		}
		dirs = append(dirs, name)
	}
	return dirs, nil
}
