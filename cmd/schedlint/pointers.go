package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/gitops"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/roots"
)

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
	names := map[string]int{}
	for _, d := range f.Deployments {
		file := c.fromBase(f.root, d.Pointer.File)
		var files []string
		for _, file := range d.Files() {
			files = append(files, c.fromBase(f.root, file))
		}
		if !c.o.Config.Follows(files, destinations(d)) {
			continue
		}
		if d.Output == nil {
			c.unfollowed = append(c.unfollowed, lint.Unfollowed{
				Why: d.Why.What, Detail: d.Why.Detail, File: filepath.ToSlash(seen(c.root, filepath.Join(f.root, filepath.FromSlash(d.Pointer.File)))), Line: d.Pointer.Line, Column: d.Pointer.Column,
				Suspended: d.Why.What == pointers.WhySuspended, Wrong: d.Why.Refused,
			})
			continue
		}
		name := file + "#" + d.Pointer.Name
		if names[name]++; names[name] > 1 {
			name = fmt.Sprintf("%s~%d", name, names[name])
		}
		x := config.Chosen{Name: name, Dir: c.fromBase(f.root, d.Root.Dir), Pointers: files, Destinations: destinations(d)}
		c.rendered[keyOf(d.Root)] = d.Output
		c.all = append(c.all, lint.Render{Chosen: x, Root: d.Root})
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
