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
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/thirdparty"
)

// Wanted returns what the pointers, kustomizations and charts below base take from other
// repositories, unless the configuration replaces it, sorted by name. The library has the copies
// that are in use; its folder is not searched by itself. The directory base is absolute and without
// symbolic links. Names are relative to the root of the library.
func Wanted(conf *config.Config, base string, library *thirdparty.Library, renders func([]render.Root) []*render.Output) (all []pointers.Wanted, err error) {
	root, given := library.Root, explicit(conf, library.Root, conf.Renders)
	remotes := library.Remotes(given)
	ignore := func(name string) bool {
		return library.Holds(name) || conf.IgnoresSome() && conf.Ignores(named(base, under(root, name)))
	}
	found, err := roots.Find(roots.Options{Root: root, Dir: root, Paths: []string{base}, Ignore: ignore, OwnOnly: conf.OwnOnly(), OnlyRenderable: true, Remotes: remotes})
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
		for _, d := range follows(root, []string{base}, found, conf, known, gitops.Options{Remotes: remotes, Library: library, Ignore: ignore, Render: renders}).Deployments {
			if d.Wanted != nil {
				all = append(all, *d.Wanted)
			}
			if d.Root.Chart != nil && d.Root.Chart.Archive == "" && library.Holds(d.Root.Dir) {
				all = append(all, roots.Dependencies(root, d.Root.Dir)...)
			}
		}
	}
	all = slices.DeleteFunc(all, func(w pointers.Wanted) bool { return thirdparty.Replaced(given)(w.Name) })
	sorting.Stable(all, func(a, b pointers.Wanted) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Path, b.Path), strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	return slices.CompactFunc(all, func(a, b pointers.Wanted) bool { return a.Name == b.Name && a.Path == b.Path }), nil
}
