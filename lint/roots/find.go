package roots

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Options holds the input to Find. By default, a nil function accepts everything.
type Options struct {
	// Root is the confinement directory. Find reads nothing outside it, and names are relative to
	// it. Paths are the files and directories to search, relative to Dir. Root and Dir are
	// absolute.
	Root, Dir string
	Paths     []string
	// Ignore, Tracked and OwnOnly are the same as in source.Options.
	Ignore  func(name string) bool
	Tracked func(path string) bool
	OwnOnly bool
	// Remotes maps URLs, as written in kustomizations, to the names of their local replacements.
	Remotes map[string]string
	// OnlyKustomizations excludes pointers, node files and charts. Charts includes charts again.
	// OnlyRenderable excludes node files and the values files of charts.
	OnlyKustomizations, OnlyRenderable, Charts bool
	// Declares reports whether an object declares nodes. If Declares is nil, no objects declare
	// nodes.
	Declares func(o *source.Object) bool
	// Offers reports whether a document declares nodes in a file that is named as a node file only.
	// Mentions reports whether a text may have such a document. If Offers is nil, no document does.
	Offers   func(root *source.Node, objects []*source.Object) bool
	Mentions func(text []byte) bool
	// Defines reports whether an object is a definition that the caller looks for. If Defines is nil, no
	// object is.
	Defines func(o *source.Object) bool
	// Read is called with the name and the text of every file that is read. The name is relative to
	// Root. Read may be nil.
	Read func(name string, text []byte)

	most *most // replaces the limits in tests
}

// most holds the limits for one call to Find: for directory entries, for the size of each file, for
// path elements in kustomizations, for bytes read and for bytes parsed.
type most struct {
	entries, file        int
	steps, bytes, parsed limits.Counter
}

// Found holds everything that Find found. Names are relative to the root and have forward slashes.
// Every list is sorted by name.
type Found struct {
	// Kustomizations holds the kustomizations below the paths, and all kustomizations that these
	// refer to.
	Kustomizations []*Kustomization
	// Roots holds the Kustomizations that are rendered on their own.
	Roots    []*Kustomization
	Charts   []Chart
	Pointers []Pointer
	// Repositories holds the objects that contain repository addresses. Settings holds the files
	// that may contain a ConfigMap or Secret.
	Repositories []*source.Object
	Settings     []string
	// Topologies holds the files that declare nodes, and Offered those that do if they are named.
	Topologies, Offered []string
	// Definitions holds the objects that Options.Defines accepts.
	Definitions []*source.Object
	// Wanted holds what kustomizations take from other repositories, whether there is a copy or not.
	Wanted []pointers.Wanted
	// TestData holds directories below the paths whose names suggest test data. They contain
	// manifests, kustomizations or charts.
	TestData []string
	Unread   []Unread
}

// Kustomization describes the kustomization in a directory.
type Kustomization struct {
	// Dir is the directory. File is the kustomization file in it.
	Dir, File string
	// Component is set if the kind is Component. Below is set if the directory is below the paths.
	Component, Below bool
	// Dirs holds the kustomization directories that this kustomization refers to. Files holds all
	// files that it names. Patches holds the patches among these files. All lists are sorted.
	Dirs, Files, Patches []string
	// Reasons says why this kustomization itself cannot be rendered offline, in file order.
	Reasons []Reason
	// Blocked holds the nearest Reason of each kind. A Reason may belong to this kustomization or
	// to one that it refers to.
	Blocked []Reason

	lines map[string]int // line of the reference to each directory in Dirs
}

// Reason says why a kustomization cannot be rendered offline.
type Reason struct {
	Kind Kind
	// File and Line are the position in the kustomization.
	File string
	Line int
	// Detail is the name that the kustomization refers to, or a description of what is wrong.
	Detail string
}

// Kind is a kind of Reason.
type Kind int

// Values of Kind, in order of decreasing severity.
const (
	Broken  Kind = iota // the kustomization itself cannot be read
	Missing             // a file or directory that does not exist
	Outside             // a path outside the repository
	Remote              // a URL
	Helm                // a Helm chart
	kinds
)

// String describes the kind. Outputs show it before Detail.
func (k Kind) String() string {
	return [...]string{"unusable", "missing", "outside of the repository", "remote", "Helm chart"}[k]
}

// Chart is a Helm chart.
type Chart struct {
	Dir, Name string
	// Library is set for a library chart. Subchart is set if the chart is in another chart's
	// charts/ directory, or if another chart names its path as a dependency.
	Library, Subchart bool
	// Inflated is set if a kustomization uses the chart in helmCharts.
	Inflated bool
	// Values holds values files in or near the chart for environments or tests. It excludes
	// values.yaml. Values is empty if OnlyRenderable or OnlyKustomizations is set.
	Values []string
}

// Pointer is a GitOps object that names what its controller deploys.
type Pointer struct {
	// Kind includes the controller's name, for example Flux Kustomization.
	Kind, Name string
	File       string
	Line       int
	Object     *source.Object
}

// Unread is a file or directory that was not examined. Why gives the reason.
type Unread struct{ Name, Why string }

// finder holds the state of one call to Find.
type finder struct {
	opts   Options
	most   most
	lookup *worktree.Lookup
	reader *worktree.Reader
	found  Found
	dirs   map[string]*Kustomization
	named  map[string]*named // files named like a kustomization file
	charts map[string]bool
	// depended holds chart directories that other charts name as dependencies.
	depended map[string]bool
	// inflated holds the chart directories that helmCharts name.
	inflated map[string]bool
	yaml     map[string][]string // YAML files by directory
}

// Find finds everything below the given paths that can be rendered. The error lists the paths that
// cannot be searched, such as a missing path. Found then contains the results for the other paths.
func Find(o Options) (*Found, error) {
	f := &finder{opts: o, most: most{limits.TreeEntries, limits.File.Bytes, limits.Counter{Most: limits.TreeSteps}, limits.Counter{Most: limits.Run.Bytes}, limits.Counter{Most: limits.TreeParsed}}, lookup: worktree.NewLookup(o.Root), dirs: map[string]*Kustomization{}, named: map[string]*named{}, charts: map[string]bool{}, depended: map[string]bool{}, inflated: map[string]bool{}, yaml: map[string][]string{}}
	f.reader = worktree.NewReader(f.lookup.Root())
	defer f.reader.Close()
	if o.most != nil {
		f.most = *o.most
	}
	walk := source.Options{Dir: o.Dir, Root: o.Root, Ignore: o.Ignore, Tracked: o.Tracked, OwnOnly: o.OwnOnly}
	which := func(base string) bool {
		if o.OnlyKustomizations {
			return source.IsKustomizationFile(base) || o.Charts && base == chartName
		}
		return isYAML(base) || source.IsKustomizationFile(base) || strings.HasSuffix(base, ".json") || strings.HasSuffix(base, ".yaml.gotmpl")
	}
	inputs, over, err := source.Walk(walk, o.Paths, f.most.entries, which)
	if over {
		f.unread(".", "has more than %d entries of directories: name fewer paths", f.most.entries)
	}
	var queue []string
	for _, in := range inputs {
		if in.Problem != "" || !source.IsKustomizationFile(path.Base(in.Name)) {
			continue
		}
		queue = append(queue, path.Dir(in.Name))
	}
	for _, dir := range slices.Compact(slices.Clone(queue)) {
		if k := f.load(dir); k != nil {
			k.Below = true
		}
	}
	for len(queue) > 0 {
		k := f.load(queue[0])
		queue = queue[1:]
		if k == nil {
			continue
		}
		for _, dir := range k.Dirs {
			if _, known := f.dirs[dir]; !known {
				queue = append(queue, dir)
			}
		}
	}
	for _, in := range inputs {
		if !o.OnlyKustomizations || path.Base(in.Name) == chartName {
			f.manifest(in)
		}
	}
	f.finish()
	return &f.found, err
}

func isYAML(base string) bool {
	return strings.HasSuffix(base, ".yaml") || strings.HasSuffix(base, ".yml")
}

// finish computes the roots and blocking reasons, and sorts the result.
func (f *finder) finish() {
	f.found.Kustomizations = slices.SortedFunc(maps.Values(f.dirs), byDir)
	// Objects in patches and chart templates are incomplete.
	patches := map[string]bool{}
	for _, k := range f.found.Kustomizations {
		for _, name := range k.Patches {
			patches[name] = true
		}
	}
	none := func(file string) bool { return patches[file] || f.isTemplate(file) }
	f.found.Pointers = slices.DeleteFunc(f.found.Pointers, func(p Pointer) bool { return none(p.File) })
	f.found.Repositories = slices.DeleteFunc(f.found.Repositories, func(o *source.Object) bool { return none(o.File.Name) })
	f.found.Settings = slices.DeleteFunc(f.found.Settings, none)
	f.found.Topologies = slices.DeleteFunc(f.found.Topologies, none)
	f.found.Offered = slices.DeleteFunc(f.found.Offered, none)
	parts := f.parts()
	f.cycles(parts)
	f.block()
	f.found.Roots = f.rootsOf(parts)
	for i := range f.found.Charts { // set the fields that depend on other charts
		c := &f.found.Charts[i]
		c.Inflated, c.Subchart = f.inflated[c.Dir], f.depended[c.Dir]
		for at := c.Dir; at != "."; at = path.Dir(at) {
			up := path.Dir(at)
			if path.Base(up) == "charts" && (f.charts[path.Dir(up)] || f.entry(path.Join(path.Dir(up), chartName)).Info != nil) {
				c.Subchart = true // the parent chart may be above the paths
			}
		}
	}
	sorting.Stable(f.found.Charts, func(a, b Chart) int { return strings.Compare(a.Dir, b.Dir) })
	if !f.opts.OnlyRenderable && !f.opts.OnlyKustomizations {
		f.environments()
	}
	sorting.Stable(f.found.Pointers, func(a, b Pointer) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	slices.Sort(f.found.Topologies)
	slices.Sort(f.found.Offered)
	sorting.Stable(f.found.Wanted, func(a, b pointers.Wanted) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	slices.Sort(f.found.TestData)
	sorting.Stable(f.found.Unread, func(a, b Unread) int { return strings.Compare(a.Name, b.Name) })
}

// rootsOf returns the kustomizations that are rendered on their own. The argument "parts" holds the
// strongly connected components of the reference graph. A component comes after all components that
// refer to it. If no root reaches a component, its first kustomization that can be a root becomes a
// root.
func (f *finder) rootsOf(parts [][]*Kustomization) (roots []*Kustomization) {
	reached := map[*Kustomization]bool{}
	for _, part := range parts {
		at := slices.IndexFunc(part, func(k *Kustomization) bool { return k.Below && !k.Component })
		if at < 0 || reached[part[at]] {
			continue
		}
		roots = append(roots, part[at])
		f.visit(part[at], reached, f.next, func(*Kustomization) {})
	}
	sorting.Stable(roots, byDir)
	return roots
}

func byDir(a, b *Kustomization) int { return strings.Compare(a.Dir, b.Dir) }

// parts returns the strongly connected components of the reference graph. Each component is sorted.
// It comes before the components that it refers to. The algorithm is Kosaraju's. It visits the
// kustomizations in reverse finishing order. A kustomization without a component starts a new one.
// All other kustomizations that have no component and from which it can be reached join the new
// component.
func (f *finder) parts() (parts [][]*Kustomization) {
	var finished []*Kustomization
	seen := map[*Kustomization]bool{}
	for _, k := range f.found.Kustomizations {
		f.visit(k, seen, f.next, func(k *Kustomization) { finished = append(finished, k) })
	}
	back := f.referrers()
	taken := map[*Kustomization]bool{}
	for _, k := range slices.Backward(finished) {
		if taken[k] {
			continue
		}
		var part []*Kustomization
		f.visit(k, taken, func(k *Kustomization) []*Kustomization { return back[k] }, func(k *Kustomization) { part = append(part, k) })
		sorting.Stable(part, byDir)
		parts = append(parts, part)
	}
	return parts
}

// cycles records an error for the first kustomization in each cycle of references, because
// kustomize rejects cycles.
func (f *finder) cycles(parts [][]*Kustomization) {
	for _, part := range parts {
		first := part[0]
		for _, to := range f.next(first) {
			if _, inPart := slices.BinarySearchFunc(part, to, byDir); inPart {
				first.because(Broken, first.File, first.lines[to.Dir], "refers to itself, by "+to.Dir)
				break
			}
		}
	}
}

// next returns the kustomizations that k refers to.
func (f *finder) next(k *Kustomization) []*Kustomization {
	all := make([]*Kustomization, 0, len(k.Dirs))
	for _, dir := range k.Dirs {
		if to := f.dirs[dir]; to != nil {
			all = append(all, to)
		}
	}
	return all
}

// referrers returns the kustomizations that refer to each kustomization.
func (f *finder) referrers() map[*Kustomization][]*Kustomization {
	back := map[*Kustomization][]*Kustomization{}
	for _, k := range f.found.Kustomizations {
		for _, to := range f.next(k) {
			back[to] = append(back[to], k)
		}
	}
	return back
}

// visit does a depth-first search from a kustomization and skips everything in seen. It calls leave
// for a kustomization after it has visited everything reachable from it. It is not recursive,
// because an attacker can choose the depth of the references.
func (f *finder) visit(from *Kustomization, seen map[*Kustomization]bool, next func(*Kustomization) []*Kustomization, leave func(*Kustomization)) {
	if seen[from] {
		return
	}
	type step struct {
		at   *Kustomization
		rest []*Kustomization
	}
	seen[from] = true
	stack := []step{{from, next(from)}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.rest) == 0 {
			leave(top.at)
			stack = stack[:len(stack)-1]
			continue
		}
		to := top.rest[0]
		top.rest = top.rest[1:]
		if !seen[to] {
			seen[to] = true
			stack = append(stack, step{to, next(to)})
		}
	}
}

// block sets Blocked on every kustomization. For each kind, it uses the nearest reason from the
// kustomization or from one that it refers to. If several reasons are equally near, it uses the
// first by name.
func (f *finder) block() {
	back := f.referrers()
	for kind := range kinds {
		var queue []*Kustomization
		has := map[*Kustomization]Reason{}
		for _, k := range f.found.Kustomizations {
			if i := slices.IndexFunc(k.Reasons, func(r Reason) bool { return r.Kind == kind }); i >= 0 {
				has[k] = k.Reasons[i]
				queue = append(queue, k)
			}
		}
		for ; len(queue) > 0; queue = queue[1:] {
			for _, k := range back[queue[0]] {
				if _, known := has[k]; !known {
					has[k] = has[queue[0]]
					queue = append(queue, k)
				}
			}
		}
		for k, reason := range has {
			k.Blocked = append(k.Blocked, reason)
		}
	}
}
