package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/gitops"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/roots"
	"github.com/schedlint/schedlint/lint/worktree"
)

// repositoryIn is the repository below a root that holds all of some paths, which are
// absolute, as a name from there: "." if there is none but the root itself.
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

// addresses are those of the repository at a directory, as git has them. Without git
// there are none.
func addresses(dir string) (all []string) {
	out, err := gitOutput(dir, nil, "config", "--get-regexp", `^remote\..*\.url$`)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		if _, url, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			all = append(all, url)
		}
	}
	return all
}

// pointed is what the pointers of a tree lead to.
type pointed struct {
	root string // of confinement
	*gitops.Result
}

// follows follows the pointers that were found below a root.
func follows(root string, found *roots.Found, known []string, o gitops.Options) *pointed {
	o.Confinement, o.Known = root, known
	o.Repositories, o.Settings = found.Repositories, found.Settings
	for _, p := range found.Pointers {
		o.Pointers = append(o.Pointers, p.Object)
	}
	for _, k := range found.Roots {
		o.Roots = append(o.Roots, gitops.Root{Dir: k.Dir, File: k.File})
	}
	return &pointed{root, gitops.Follow(o)}
}

// takePointers adds what pointers deploy.
func (c *choosing) takePointers(f *pointed) {
	if n := len(f.Fixed); n > 0 {
		c.o.Notes = append(c.o.Notes, fmt.Sprintf("GitOps pointers ask for a fixed revision of this repository (%s%s), and are rendered from the files here", report.Visible(f.Fixed[0]), map[bool]string{true: ", ..."}[n > 1]))
	}
	names := map[string]int{}
	for _, d := range f.Deployments {
		c.o.Followed[lint.PointerID{Kind: d.Pointer.Kind, Namespace: d.Pointer.Namespace, Name: d.Pointer.Written}] = true
		file := c.fromBase(f.root, d.Pointer.File)
		var files []string
		for _, file := range d.Files() {
			files = append(files, c.fromBase(f.root, file))
		}
		if !c.o.Config.Follows(files, destinations(d)) {
			continue
		}
		at := diag.Span{File: filepath.ToSlash(seen(c.root, filepath.Join(f.root, filepath.FromSlash(d.Pointer.File)))), Line: d.Pointer.Line, Column: d.Pointer.Column}
		if d.Output == nil {
			c.unfollowed = append(c.unfollowed, lint.Unfollowed{
				Why: d.Why.What, Detail: d.Why.Detail, File: at.File, Line: d.Pointer.Line, Column: d.Pointer.Column,
				Suspended: d.Why.What == pointers.WhySuspended, Wrong: d.Why.Refused,
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
		c.all = append(c.all, lint.Render{Chosen: x, Root: d.Root, Pointer: at, Source: d.Source, Entries: entries, Argo: d.Pointer.Kind == pointers.Application || d.Pointer.Kind == pointers.ApplicationSet})
	}
}

// destinations are the names and addresses of the cluster that something is deployed to,
// or that what deploys it is.
func destinations(d *gitops.Deployment) (all []string) {
	for _, name := range []string{d.Pointer.Destination.Name, d.Pointer.Destination.Server} {
		if name != "" {
			all = append(all, name)
		}
	}
	return slices.Compact(all)
}

// fromBase is a name below a root as one from the directory of the configuration.
func (c *choosing) fromBase(root, name string) string {
	return filepath.ToSlash(seen(c.base, filepath.Join(root, filepath.FromSlash(name))))
}

// search finds roots below some paths, and follows the pointers there unless the
// configuration says what is rendered.
func (c *choosing) search(root string, paths []string) (dirs []string, err error) {
	follows := c.o.Config.FollowsPointers()
	remotes := remoteDirs(c.o.Config, root)
	o := roots.Options{Root: root, Paths: paths, Tracked: c.o.Tracked, Ignore: c.ignore(root), OwnOnly: c.o.Config.OwnOnly(), OnlyKustomizations: !follows, OnlyRenderable: true, Charts: c.o.Config.GlobsCharts(), Remotes: remotes}
	o.Read = func(name string, text []byte) {
		c.reads.keep(filepath.ToSlash(seen(c.root, filepath.Join(root, filepath.FromSlash(name)))), text)
	}
	found, err := roots.Find(o)
	if err != nil {
		return nil, err
	}
	var result *pointed
	if follows && len(found.Pointers) > 0 {
		result = c.follow(root, paths, found, remotes)
	}
	for _, chart := range found.Charts {
		if !chart.Library && !chart.Subchart {
			c.charts = append(c.charts, c.fromBase(root, chart.Dir))
			c.inflated[c.fromBase(root, chart.Dir)] = chart.Inflated
		}
	}
	for i, k := range found.Roots {
		name := c.fromBase(root, k.Dir)
		if result != nil && c.o.Config.Discovers() {
			if c.outputs[name] = result.Roots[i]; result.Roots[i] == nil {
				continue // a pointer deploys it
			}
		}
		dirs = append(dirs, name)
	}
	return dirs, nil
}

// follow follows the pointers that were found.
func (c *choosing) follow(root string, paths []string, found *roots.Found, remotes map[string]string) *pointed {
	if !c.o.Config.Discovers() {
		found.Roots = nil
	}
	pool := newPool()
	base := repositoryIn(root, paths)
	result := follows(root, found, c.addresses(filepath.Join(root, base)), gitops.Options{
		Base: base, Remotes: remotes, Ignore: c.ignore(root), Tracked: c.o.Tracked,
		Render: func(all []render.Root) []*render.Output { return pool.Render(context.Background(), all) },
	})
	c.pointed = append(c.pointed, result)
	return result
}

// rendered are outputs of roots that were rendered while their pointers were followed.
type rendered map[string]*render.Output

// keyOf tells roots apart.
func keyOf(r render.Root) string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // it is texts and numbers
	}
	return string(text)
}

// render renders what was not rendered yet, or has other texts now.
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
	for i, out := range renderRoots(ctx, left) {
		outs[at[i]] = out
	}
	return outs
}
