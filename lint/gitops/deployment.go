package gitops

import (
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
)

// Deployment is the deployment of one source of a pointer.
type Deployment struct {
	Pointer *pointers.Pointer
	// Source is an index into Pointer.Sources, or -1 for a pointer without sources.
	Source int
	Root   render.Root
	// Output is nil if the source is not rendered; Why then gives the reason.
	Output *render.Output
	Why    pointers.Reason

	raw     *written // the written pointer that it was read from; nil if it is from a render
	parents []*Deployment
	depth   int
	// top is set if no other deployment deploys it, and confirmed if a render contains the pointer
	// unchanged. kept is set once it is part of the result.
	top, confirmed, kept bool
}

// Files returns the files of the pointer and of all pointers that deploy it, sorted.
func (d *Deployment) Files() []string {
	var all []string
	d.climb(func(x *Deployment) { all = append(all, x.Pointer.File) })
	slices.Sort(all)
	return slices.Compact(all)
}

// Entries returns the pointers that lead to the deployment and that no other pointer deploys, and
// the names of the clusters that the deployment and those above it deploy to, sorted.
func (d *Deployment) Entries() (all []*pointers.Pointer, clusters []string) {
	d.climb(func(x *Deployment) {
		if x.stands() {
			all = append(all, x.Pointer)
		}
		to := x.Pointer.Destination
		clusters = append(clusters, strings.TrimSpace(to.Name+" "+to.Server))
	})
	slices.Sort(clusters)
	clusters = slices.DeleteFunc(slices.Compact(clusters), func(name string) bool { return name == "" })
	return all, clusters
}

// climb visits a deployment and all deployments above it, each once.
func (d *Deployment) climb(visit func(x *Deployment)) {
	seen := map[*Deployment]bool{d: true}
	for queue := []*Deployment{d}; len(queue) > 0; queue = queue[1:] {
		visit(queue[0])
		for _, up := range queue[0].parents {
			if !seen[up] {
				seen[up] = true
				queue = append(queue, up)
			}
		}
	}
}

// finish completes the result. It leaves out written pointers of which a render contains another
// version, and what only those deploy.
func (f *follower) finish() {
	children := map[*Deployment][]*Deployment{}
	var queue []*Deployment
	for _, d := range f.all {
		for _, up := range d.parents {
			children[up] = append(children[up], d)
		}
		if d.stands() {
			queue = append(queue, d)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		d := queue[0]
		superseded := d.raw != nil && d.raw.inside && !d.confirmed // a render contains another version of the written pointer
		if !d.kept && !superseded {
			d.kept = true
			f.result.Deployments = append(f.result.Deployments, d)
			queue = append(queue, children[d]...)
		}
	}
	slices.SortStableFunc(f.result.Deployments, byPlace)
	for _, d := range f.result.Deployments {
		if d.Root.Dir == "" || d.Source < 0 {
			continue
		}
		if c := d.Pointer.Sources[d.Source].Chart; c != nil && c.Remote {
			continue // a local directory replaces a chart of another repository
		}
		if fixed := f.reader.Repositories.Fixed(&d.Pointer.Sources[d.Source]); fixed != "" {
			f.result.Fixed = append(f.result.Fixed, fixed)
		}
	}
	slices.Sort(f.result.Fixed)
	f.result.Fixed = slices.Compact(f.result.Fixed)
	reached := f.reached()
	for i := range f.result.Roots {
		if r := f.opts.Roots[i]; reached[r.File] || reached[r.Dir] {
			delete(f.result.Roots, i)
		}
	}
}

// stands reports whether a deployment counts without another one: its pointer is written in the
// tree or in a root, or it deploys itself.
func (d *Deployment) stands() bool {
	if d.top || slices.Contains(d.parents, d) {
		return true
	}
	itself := false
	d.climb(func(x *Deployment) {
		itself = itself || x != d && x.raw != nil && x.raw.inside && x.Pointer.File == d.Pointer.File && x.Pointer.Line == d.Pointer.Line
	})
	return itself
}
