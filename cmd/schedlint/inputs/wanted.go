package inputs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/gitops"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/revision"
	"github.com/schedlint/schedlint/lint/roots"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Wanted returns what the pointers, kustomizations and charts below base take from other
// repositories, unless the configuration replaces it, sorted by name. The argument copies maps
// addresses to copies in the folder, relative to it. Nothing in the folder is searched by itself.
// Directories are absolute and without symbolic links. Names are relative to root.
func Wanted(conf *config.Config, root, base, folder string, copies map[string]string, renders func([]render.Root) []*render.Output) (all []pointers.Wanted, err error) {
	mapping, explicit := remoteDirs(conf, root), map[string]bool{}
	for address := range mapping {
		explicit[plain(address)] = true
	}
	replaced := func(name string) bool {
		name = plain(name)
		return explicit[name] || explicit[name[:max(0, strings.LastIndexByte(name, '@'))]]
	}
	for name, at := range copies {
		if !replaced(name) {
			mapping[name] = named(root, under(folder, at))
		}
	}
	ignore := func(name string) bool {
		at := under(root, name)
		return worktree.Inside(folder, at) || conf.IgnoresSome() && conf.Ignores(named(base, at))
	}
	found, err := roots.Find(roots.Options{Root: root, Dir: root, Paths: []string{base}, Ignore: ignore, OwnOnly: conf.OwnOnly(), OnlyRenderable: true, Remotes: mapping})
	if err != nil {
		return nil, err
	}
	all = found.Wanted
	for _, c := range found.Charts {
		if c.Installs() {
			all = append(all, roots.Dependencies(root, c.Dir)...)
		}
	}
	if len(found.Pointers) > 0 {
		known := func(dir string) []string { return append(revision.Remotes(dir), conf.Repositories...) }
		for _, d := range follows(root, []string{base}, found, known, gitops.Options{Remotes: mapping, Ignore: ignore, Render: renders}).Deployments {
			if d.Wanted != nil {
				all = append(all, *d.Wanted)
			}
			if d.Root.Chart != nil && d.Root.Chart.Archive == "" && worktree.Inside(folder, under(root, d.Root.Dir)) {
				all = append(all, roots.Dependencies(root, d.Root.Dir)...)
			}
		}
	}
	all = slices.DeleteFunc(all, func(w pointers.Wanted) bool { return replaced(w.Name) })
	slices.SortStableFunc(all, func(a, b pointers.Wanted) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Path, b.Path), strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	return slices.CompactFunc(all, func(a, b pointers.Wanted) bool { return a.Name == b.Name && a.Path == b.Path }), nil
}

// plain makes addresses equal that differ only in how they are written.
func plain(address string) string {
	return strings.TrimRight(strings.TrimPrefix(address, "oci://"), "/")
}
