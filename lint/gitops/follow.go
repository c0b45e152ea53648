package gitops

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/thirdparty"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Options holds the input of Follow.
type Options struct {
	// Confinement is an absolute path with symbolic links resolved. All names are relative to this
	// directory, and none may lead out of it.
	Confinement string
	// Base is the repository root relative to Confinement. It may be ".". Paths in pointers are
	// relative to the repository root.
	Base string
	// Pointers holds the pointers as written in the tree. Repositories holds the objects that
	// contain repository addresses. Settings holds the files that may contain a ConfigMap or
	// Secret.
	Pointers, Repositories []*source.Object
	Settings               []string
	// Known holds the addresses of this repository. Clusters holds the clusters that Argo CD
	// manages, if they are known.
	Known    []string
	Clusters []pointers.Cluster
	// Roots holds the kustomizations that no other kustomization refers to.
	Roots []Root
	// Remotes, Ignore and Tracked are the same as in render.Root and source.Options. Remotes also
	// contains addresses of charts and of git repositories. Library has the copies among them that a
	// lock lists, or is nil.
	Remotes map[string]string
	Library *thirdparty.Library
	Ignore  func(name string) bool
	Tracked func(path string) bool
	// Render renders one layer. It returns one output for each root, in the same order.
	Render func(all []render.Root) []*render.Output

	most *most // replaces the limits in tests
}

// Root is a kustomization, given by its directory and its file.
type Root struct{ Dir, File string }

// Result holds the deployments, and the renders of roots that no pointer deploys.
type Result struct {
	// Deployments are sorted by the positions of their pointers.
	Deployments []*Deployment
	// Roots holds the outputs for roots that no pointer names or reaches. Keys are indices in
	// Options.Roots.
	Roots map[int]*render.Output
	// Fixed lists the commits and versions of this repository that pointers request. Follow renders
	// the files in the tree instead. The list is sorted.
	Fixed []string
	// Assumed is an address that pointers use and that probably belongs to this repository. It is
	// empty if there is none. Published maps the OCI repositories that seem to hold a directory of
	// this repository to this directory.
	Assumed   string
	Published map[pointers.Repository]string
}

// most holds the limits for a run. They apply to the number of deployments, to their nesting depth,
// and to the number of files in directories without a kustomization.
type most struct{ deployments, depth, names int }

// written is a pointer as written in the tree.
type written struct {
	object *source.Object
	read   []*pointers.Pointer
	done   bool // set if it is rendered, or contained in a render
	inside bool // set if it is contained in a render
}

type follower struct {
	opts    Options
	most    most
	lookup  *worktree.Lookup
	tree    *tree
	reader  *pointers.Reader
	raw     []*written
	byFile  map[string][]*written
	known   map[string]*Deployment // by a key of the rendered root
	all     []*Deployment
	queue   []*Deployment
	full    bool
	names   int
	remotes map[string]string // keyed by remoteKey of the address
	gits    map[string]string // keyed by gitKey of the address and revision
	values  int               // total bytes in all chart values
	// artifacts caches Flux artifacts. looks counts the comparisons of names with ignore patterns.
	artifacts map[pointers.Repository]*artifact
	looks     int
	// made, sources and copies cache what is known about ExternalArtifacts.
	made    map[pointers.Repository][]made
	sources map[pointers.Repository][]string
	copies  map[copiedKey]*copied
	result  Result
	vars    settings
}

// Follow renders everything that the pointers deploy.
func Follow(o Options) *Result {
	f := newFollower(o)
	f.renderRoots(func(r Root) bool { return !f.below(r.File) })
	f.layers()
	reached := f.reached()
	f.renderRoots(func(r Root) bool { return !reached[r.File] && !reached[r.Dir] })
	f.layers()
	f.finish()
	return &f.result
}

func newFollower(o Options) *follower {
	f := &follower{opts: o, most: most{limits.Pointers, limits.PointerLevels, limits.PointerFiles}, lookup: worktree.NewLookup(o.Confinement), byFile: map[string][]*written{}, known: map[string]*Deployment{}, made: map[pointers.Repository][]made{}, sources: map[pointers.Repository][]string{}, copies: map[copiedKey]*copied{}}
	if o.most != nil {
		f.most = *o.most
	}
	f.tree = &tree{opts: &f.opts}
	var others []string
	f.remotes, f.gits = map[string]string{}, map[string]string{}
	for _, key := range sorting.Keys(o.Remotes) {
		f.remotes[remoteKey(key)] = o.Remotes[key]
		f.gits[gitKey(key, "")] = o.Remotes[key]
		others = append(others, key)
		if at := strings.LastIndexByte(key, '@'); at >= 0 {
			f.gits[gitKey(key[:at], key[at+1:])] = o.Remotes[key]
			others = append(others, key[:at])
		}
	}
	var named []pointers.Naming
	for _, p := range slices.Concat(o.Pointers, o.Repositories) {
		for _, n := range pointers.Namings(p) {
			n.File = strings.TrimPrefix(n.File, path.Clean(o.Base)+"/")
			named = append(named, n)
		}
	}
	repositories := pointers.NewRepositories(o.Known, named, o.Repositories, f.tree.Directories, others...)
	f.reader = &pointers.Reader{Repositories: repositories, Tree: f.tree, Clusters: o.Clusters, Base: o.Base}
	f.result = Result{Roots: map[int]*render.Output{}, Assumed: repositories.Assumed(), Published: repositories.Published()}
	f.vars = settings{follower: f}
	for _, object := range o.Pointers {
		f.reader.Files = []string{object.File.Name}
		w := &written{object: object, read: f.reader.Read(object)}
		f.raw = append(f.raw, w)
		f.byFile[object.File.Name] = append(f.byFile[object.File.Name], w)
	}
	return f
}

// renderRoots renders the roots for which the argument "which" returns true. It skips roots that
// are already rendered. It then searches the outputs for pointers.
func (f *follower) renderRoots(which func(r Root) bool) {
	var at []int
	var all []render.Root
	for i, r := range f.opts.Roots {
		if f.result.Roots[i] == nil && which(r) {
			at, all = append(at, i), append(all, render.Root{Confinement: f.opts.Confinement, Dir: r.Dir, Remotes: f.opts.Remotes})
		}
	}
	if len(all) == 0 {
		return
	}
	for i, out := range f.opts.Render(all) {
		f.result.Roots[at[i]] = out
		f.scan(out, nil, f.opts.Roots[at[i]].File)
	}
}

// below reports whether a pointer in the tree deploys a file or a directory that contains it.
func (f *follower) below(name string) bool {
	if f.vars.paths == nil {
		f.vars.paths = map[string]int{}
		for _, w := range f.raw {
			for _, dir := range f.paths(w) {
				f.vars.paths[dir]++
			}
		}
	}
	return slices.ContainsFunc(above(name), func(at string) bool { return f.vars.paths[at] > 0 })
}

// paths returns the directories that a written pointer names, and the files in an artifact.
func (f *follower) paths(w *written) (all []string) {
	for _, p := range w.read {
		for i := range p.Sources {
			s := &p.Sources[i]
			switch {
			case s.Why.Some() || s.Chart != nil && s.Chart.Remote:
			case s.Repository.Kind == pointers.ExternalArtifact:
				all = append(all, f.copied(s).sources...)
			case f.reader.Repositories.Ours(s.Repository).Is():
				all = append(all, path.Join(f.opts.Base, s.Path))
			}
		}
	}
	return all
}

// layers renders layer after layer until no pointers are left.
func (f *follower) layers() {
	for {
		if len(f.queue) == 0 {
			for _, w := range f.tops() {
				w.done = true
				for _, p := range w.read {
					f.add(p, w, origin{})
				}
			}
		}
		layer := f.queue
		if f.queue = nil; len(layer) == 0 {
			return
		}
		sorting.Stable(layer, byPlace)
		all := lists.Of(layer, func(d *Deployment) render.Root { return d.Root })
		for i, out := range f.opts.Render(all) {
			d := layer[i]
			d.Output = out
			if c := d.Root.Chart; c != nil && len(c.Unknown) > 0 && out.Problem != nil && out.Problem.Kind == render.Failed {
				d.Output, d.Why = nil, unknownValues("a Secret sets %s: %v", strings.Join(c.Unknown, ", "), out.Problem)
			}
		}
		for _, d := range layer {
			f.scan(d.Output, d, "")
		}
	}
}

func byPlace(a, b *Deployment) int {
	p, q := a.Pointer, b.Pointer
	return cmp.Or(strings.Compare(p.File, q.File), p.Line-q.Line, strings.Compare(p.Name, q.Name), a.Source-b.Source, strings.Compare(a.Root.Dir, b.Root.Dir))
}

// tops returns the pointers that no other pointer seems to deploy. It considers only pointers in
// the tree that are not rendered yet. In a cycle, every pointer may seem to be deployed by another
// one. tops then returns the first pointer.
func (f *follower) tops() (all []*written) {
	paths := map[string]int{}
	var left []*written
	for _, w := range f.raw {
		if !w.done {
			left = append(left, w)
			for _, dir := range f.paths(w) {
				paths[dir]++
			}
		}
	}
	for _, w := range left {
		own := map[string]int{}
		for _, dir := range f.paths(w) {
			own[dir]++
		}
		if !slices.ContainsFunc(above(w.object.File.Name), func(dir string) bool { return paths[dir] > own[dir] }) {
			all = append(all, w)
		}
	}
	if len(all) == 0 && len(left) > 0 {
		all = left[:1]
	}
	return all
}

// above returns the root, the directories that contain a name, and the name itself, from the
// outermost inward.
func above(name string) []string {
	all := []string{"."}
	for i := range name {
		if name[i] == '/' {
			all = append(all, name[:i])
		}
	}
	return append(all, name)
}

// add adds a deployment for each source of a pointer.
func (f *follower) add(p *pointers.Pointer, raw *written, from origin) {
	parent := from.parent
	if len(p.Sources) == 0 || p.Why.Some() || p.Suspended {
		d := &Deployment{Pointer: p, Source: -1, Why: p.Why, raw: raw, roots: from.roots()}
		if p.Suspended {
			d.Why = pointers.Reason{What: pointers.WhySuspended}
		}
		f.keep(d, parent)
		return
	}
	for i := range p.Sources {
		if p.Sources[i].Why.What == pointers.WhyValuesOnly {
			continue
		}
		d := &Deployment{Pointer: p, Source: i, raw: raw, roots: from.roots()}
		d.Root, d.Why = f.resolve(p, &p.Sources[i], from)
		d.Wanted = f.wanted(p, &p.Sources[i])
		f.keep(d, parent)
	}
}

// key identifies a deployment by what is rendered. Without a root, it is identified by the pointer,
// the reason, and what a build may have patched: the copy that is wanted, and the values.
func (d *Deployment) key() string {
	p := d.Pointer
	if !d.Why.Some() {
		text, err := json.Marshal(d.Root)
		if err != nil {
			panic(err) // cannot happen, because a root consists of strings and numbers
		}
		return p.Name + "\x00" + string(text)
	}
	key := fmt.Sprint("-", p.File, ":", p.Line, p.Namespace, "/", p.Name, d.Source, d.Why)
	if d.Wanted != nil {
		key += "\x00" + d.Wanted.Name
	}
	if d.Source >= 0 {
		if c := p.Sources[d.Source].Chart; c != nil && c.Values != nil {
			key += "\x00" + string(c.Values.Bytes)
		}
	}
	return key
}

// keep records a deployment and queues it for rendering. If the deployment is already known, keep
// only adds the new parent.
func (f *follower) keep(d *Deployment, parent *Deployment) {
	key := d.key()
	if same := f.known[key]; same != nil {
		same.roots = append(same.roots, d.roots...)
		same.top, same.confirmed = same.top || parent == nil, same.confirmed || d.raw == nil
		if parent != nil && !slices.Contains(same.parents, parent) {
			same.parents = append(same.parents, parent)
		}
		return
	}
	if len(f.all) >= f.most.deployments {
		if !f.full {
			d.top = true
			d.Why = pointers.Reason{What: pointers.WhyTooMany, Detail: fmt.Sprintf("a run follows at most %d pointers: name fewer paths, or list what to render under renders", f.most.deployments), Refused: true}
			f.all = append(f.all, d)
		}
		f.full = true
		return
	}
	if d.top = parent == nil; !d.top {
		d.parents, d.depth = []*Deployment{parent}, parent.depth+1
	}
	if d.depth > f.most.depth {
		d.Why = pointers.Reason{What: pointers.WhyTooMany, Detail: fmt.Sprintf("pointers deploy pointers on more than %d levels, or in a cycle that changes them with each turn", f.most.depth), Refused: true}
	}
	f.known[key] = d
	f.all = append(f.all, d)
	if !d.Why.Some() {
		f.queue = append(f.queue, d)
	}
}

// reached returns the directories that deployments name and the files that they use.
func (f *follower) reached() map[string]bool {
	all := map[string]bool{}
	for _, d := range f.all {
		// A generated kustomization of an artifact stands beside one that was not copied.
		beside := d.Root.Artifact != nil && d.Root.Overlay.Generated
		if c := d.Root.Chart; d.Root.Dir != "" && (c == nil || c.Archive == "") && !beside {
			all[d.Root.Dir] = true
		}
		if d.Output == nil || d.Output.Problem != nil {
			continue
		}
		for _, name := range d.Output.Sources {
			all[name] = true
		}
	}
	return all
}

// Deployment describes what a controller deploys from one source of a pointer.
type Deployment struct {
	Pointer *pointers.Pointer
	// Source is the index of the source in Pointer.Sources, or -1 if the pointer is not followed.
	Source int
	Root   render.Root
	// Output is the rendered source. If it is nil, Why gives the reason.
	Output *render.Output
	Why    pointers.Reason
	// Wanted names what the source takes from another repository, whether there is a copy or not. It
	// is nil if it takes nothing, or if that is not known.
	Wanted *pointers.Wanted

	raw     *written // the written pointer, or nil for a pointer from a render
	parents []*Deployment
	roots   []string // the kustomizations of the roots that contain the pointer
	depth   int
	// top is set if the pointer is written in the tree or in a root, not deployed by another
	// pointer. confirmed is set if a render contains the pointer unchanged. kept is set once the
	// deployment is part of the result.
	top, confirmed, kept bool
}

// Files returns the sorted names of the files that contain the deployment's pointer or a pointer
// above it, and of the kustomizations of roots that contain such a pointer.
func (d *Deployment) Files() []string {
	var all []string
	d.climb(func(x *Deployment) { all = append(append(all, x.Pointer.File), x.roots...) })
	slices.Sort(all)
	return slices.Compact(all)
}

// Entries returns the first pointer of each chain of pointers that leads to the deployment.
// clusters lists the names and addresses of all target clusters in these chains, in sorted order.
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

// climb calls visit once for a deployment and for each deployment above it.
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

// finish completes the result. If a render contains a changed version of a pointer in the tree,
// finish drops the version in the tree. It also drops the deployments that only dropped pointers
// reach.
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
		superseded := d.raw != nil && d.raw.inside && !d.confirmed // a render contains a different version of the pointer
		if !d.kept && !superseded {
			d.kept = true
			f.result.Deployments = append(f.result.Deployments, d)
			queue = append(queue, children[d]...)
		}
	}
	sorting.Stable(f.result.Deployments, byPlace)
	for _, d := range f.result.Deployments {
		if d.Root.Dir == "" || d.Source < 0 {
			continue
		}
		if d.Wanted != nil {
			continue // a copy from another repository
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

// stands reports whether a deployment does not depend on the deployments above it. Its pointer then
// comes from the tree or from a root, or the pointer deploys itself.
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
