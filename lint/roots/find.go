package roots

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Options holds the input of Find. The zero value of each function accepts everything.
type Options struct {
	// Root is the directory outside of which nothing is read, and which names are relative to.
	// Paths are files and directories; relative ones are relative to Dir. Root and Dir are
	// absolute.
	Root, Dir string
	Paths     []string
	// Ignore, Tracked and OwnOnly have the same meaning as in source.Options.
	Ignore  func(name string) bool
	Tracked func(path string) bool
	OwnOnly bool
	// Remotes maps URLs, as kustomizations write them, to the names of local replacements.
	Remotes map[string]string
	// OnlyKustomizations leaves out pointers, files with nodes and, unless Charts is set, charts.
	// OnlyRenderable leaves out files with nodes and the values files of charts.
	OnlyKustomizations, OnlyRenderable, Charts bool
	// Declares reports whether an object declares nodes; nil accepts none.
	Declares func(o *source.Object) bool
	// Read is called for every file that is read, with its name relative to Root. It may be nil.
	Read func(name string, text []byte)

	most *most // replaces the limits in tests
}

// most limits the entries of directories, the bytes of one file and, for one call of Find, the
// steps of paths that kustomizations name, the bytes that are read and the bytes that are parsed.
type most struct {
	entries, file        int
	steps, bytes, parsed limits.Counter
}

// Found is the result of Find. Names are relative to the root and have forward slashes; every list
// is sorted by name.
type Found struct {
	// Kustomizations holds those below the paths and those that they refer to.
	Kustomizations []*Kustomization
	// Roots holds the Kustomizations that are rendered on their own.
	Roots    []*Kustomization
	Charts   []Chart
	Pointers []Pointer
	// Repositories holds objects that contain the address of a repository, and Settings the files
	// that may contain a ConfigMap or a Secret.
	Repositories []*source.Object
	Settings     []string
	Topologies   []string
	// TestData holds the directories below the paths that have a typical name of test data and
	// contain manifests, kustomizations or charts.
	TestData []string
	Unread   []Unread
}

// Kustomization is the kustomization of a directory.
type Kustomization struct {
	// Dir is its directory, and File its file in that directory.
	Dir, File string
	// Component is set for the kind Component, and Below if the directory is below the paths.
	Component, Below bool
	// Dirs holds the directories of the kustomizations that it refers to, and Files the files that
	// it names; both are sorted. Patches holds those of Files that are patches.
	Dirs, Files, Patches []string
	// Reasons holds what prevents this kustomization from rendering offline, in the order of the
	// file.
	Reasons []Reason
	// Blocked holds the first Reason of each kind, from this kustomization or from one that it
	// refers to.
	Blocked []Reason

	lines map[string]int // the lines of the references to Dirs
}

// Reason is something that prevents a kustomization from rendering offline.
type Reason struct {
	Kind Kind
	// File and Line are its place in the kustomization.
	File string
	Line int
	// Detail is the name in the kustomization, or what is wrong with the file.
	Detail string
}

// Kind is a kind of Reason.
type Kind int

// Kinds of reasons, the worst first.
const (
	Broken  Kind = iota // the kustomization itself cannot be read
	Missing             // a file or directory that does not exist
	Outside             // a path that leads out of the repository
	Remote              // a URL
	Helm                // a Helm chart
	kinds
)

// String names the kind; outputs put it before Detail.
func (k Kind) String() string {
	return [...]string{"unusable", "missing", "outside of the repository", "remote", "Helm chart"}[k]
}

// Chart is a Helm chart.
type Chart struct {
	Dir, Name string
	// Library is set for a library chart. Subchart is set for a chart in charts/ of another one, or
	// that another one has as a dependency by path.
	Library, Subchart bool
	// Inflated is set if the helmCharts of a kustomization use it.
	Inflated bool
	// Values holds the values files for its environments and tests except values.yaml, in the chart
	// or near it. It is empty with OnlyRenderable or OnlyKustomizations.
	Values []string
}

// Pointer is an object of a GitOps controller that names what it deploys.
type Pointer struct {
	// Kind begins with the controller, for example Flux Kustomization.
	Kind, Name string
	File       string
	Line       int
	Object     *source.Object
}

// Unread is a file or directory that was not examined, with the reason.
type Unread struct{ Name, Why string }

// finder collects the result.
type finder struct {
	opts   Options
	most   most
	lookup *worktree.Lookup
	reader *worktree.Reader
	found  Found
	dirs   map[string]*Kustomization
	named  map[string]*named // files with the name of a kustomization
	charts map[string]bool
	// depended holds the directories that charts have as dependencies by path.
	depended map[string]bool
	// inflated holds the directories that helmCharts name.
	inflated map[string]bool
	yaml     map[string][]string // YAML files by directory
}

// Find finds what can be rendered below some paths. The error joins the errors of the paths
// themselves, such as one that does not exist; Found then still contains the result for the other
// paths.
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
		return isYAML(base) || source.IsKustomizationFile(base) || strings.HasSuffix(base, ".json")
	}
	inputs, over, err := source.Walk(walk, o.Paths, f.most.entries, which)
	if over {
		f.unread(".", "has more than %d entries of directories: name fewer paths", f.most.entries)
	}
	f.kustomizations(inputs)
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

// finish computes roots and reasons, and sorts the result.
func (f *finder) finish() {
	f.found.Kustomizations = slices.SortedFunc(maps.Values(f.dirs), byDir)
	f.dropPatches()
	parts := f.parts()
	f.cycles(parts)
	f.block()
	f.found.Roots = f.rootsOf(parts)
	for i := range f.found.Charts { // complete those that are below another one
		c := &f.found.Charts[i]
		c.Inflated, c.Subchart = f.inflated[c.Dir], f.depended[c.Dir]
		for at := c.Dir; at != "."; at = path.Dir(at) {
			up := path.Dir(at)
			if path.Base(up) == "charts" && (f.charts[path.Dir(up)] || f.entry(path.Join(path.Dir(up), chartName)).Info != nil) {
				c.Subchart = true // the chart around it may be above the paths
			}
		}
	}
	slices.SortFunc(f.found.Charts, func(a, b Chart) int { return strings.Compare(a.Dir, b.Dir) })
	if !f.opts.OnlyRenderable && !f.opts.OnlyKustomizations {
		f.environments()
	}
	slices.SortStableFunc(f.found.Pointers, func(a, b Pointer) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	slices.Sort(f.found.Topologies)
	slices.Sort(f.found.TestData)
	slices.SortStableFunc(f.found.Unread, func(a, b Unread) int { return strings.Compare(a.Name, b.Name) })
}

// dropPatches removes objects in patches and in templates of charts, which are not objects yet.
func (f *finder) dropPatches() {
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
}

// rootsOf returns the kustomizations that are rendered on their own. It takes the strongly
// connected components of the references in an order in which each one follows those that refer to
// it. From a component that no root reaches yet, it takes the first kustomization that may be a
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
	slices.SortFunc(roots, byDir)
	return roots
}

func byDir(a, b *Kustomization) int { return strings.Compare(a.Dir, b.Dir) }

// parts returns the strongly connected components of the references, each sorted; those that refer
// to others come first. It is the algorithm of Kosaraju and Sharir: in reverse order of finishing,
// each component consists of what reaches its first member and is not in an earlier component.
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
		slices.SortFunc(part, byDir)
		parts = append(parts, part)
	}
	return parts
}

// cycles records kustomizations that refer to themselves, which kustomize rejects.
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

// next returns the kustomizations that one refers to.
func (f *finder) next(k *Kustomization) []*Kustomization {
	all := make([]*Kustomization, 0, len(k.Dirs))
	for _, dir := range k.Dirs {
		if to := f.dirs[dir]; to != nil {
			all = append(all, to)
		}
	}
	return all
}

// referrers maps each kustomization to those that refer to it.
func (f *finder) referrers() map[*Kustomization][]*Kustomization {
	back := map[*Kustomization][]*Kustomization{}
	for _, k := range f.found.Kustomizations {
		for _, to := range f.next(k) {
			back[to] = append(back[to], k)
		}
	}
	return back
}

// visit visits everything that can be reached and was not seen, and calls leave for each one after
// everything behind it. It uses its own stack, because an attacker chooses the depth of references.
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

// block gives every kustomization the nearest reason of each kind, from itself or from what it
// refers to. Of several equally near ones it takes the first by name.
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
