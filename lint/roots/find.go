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

// Options say where to look. The zero value of each function takes everything.
type Options struct {
	// Root is the directory that nothing is read outside of, and from which names
	// count. Paths are files and directories, from Dir if they are relative. Root and
	// Dir are absolute.
	Root, Dir string
	Paths     []string
	// Ignore, Tracked and OwnOnly are those of source.Options.
	Ignore  func(name string) bool
	Tracked func(path string) bool
	OwnOnly bool
	// Remotes gives, for URLs as kustomizations write them, names of what is read
	// instead.
	Remotes map[string]string
	// OnlyKustomizations leaves out charts, pointers and files with nodes, OnlyRenderable
	// no pointers. Charts are found all the same if Charts is set.
	OnlyKustomizations, OnlyRenderable, Charts bool
	// Declares reports whether an object declares nodes; nil takes none.
	Declares func(o *source.Object) bool
	// Read, unless it is nil, is handed every file that is read, by its name from Root.
	Read func(name string, text []byte)

	most *most // in place of the limits
}

// most counts entries of directories and bytes of one file, and for one call of Find steps of
// paths that kustomizations name, and bytes of all files that are read and that are parsed.
type most struct {
	entries, file        int
	steps, bytes, parsed limits.Counter
}

// Found is what a tree holds. Names are from the root with forward slashes; every list
// is sorted by name.
type Found struct {
	// Kustomizations are those below the paths and those that they refer to.
	Kustomizations []*Kustomization
	// Roots are those of Kustomizations that are rendered on their own.
	Roots    []*Kustomization
	Charts   []Chart
	Pointers []Pointer
	// Repositories are objects that say where a repository is, and Settings the files
	// that may hold a ConfigMap or a Secret.
	Repositories []*source.Object
	Settings     []string
	Topologies   []string
	// TestData are the directories below the paths that are named like those of test data
	// and hold manifests, kustomizations or charts.
	TestData []string
	Unread   []Unread
}

// Kustomization is the one of a directory.
type Kustomization struct {
	// Dir is the directory and File the file in it.
	Dir, File string
	// Component is set for the kind Component; Below if the directory is below the
	// paths.
	Component, Below bool
	// Dirs are the directories of the kustomizations that it refers to, Files the files
	// that it names, both sorted; Patches are those of Files that are patches.
	Dirs, Files, Patches []string
	// Reasons are what in this kustomization keeps it from rendering offline, in the
	// order of the file.
	Reasons []Reason
	// Blocked are the first Reason of each kind, its own or of what it refers to.
	Blocked []Reason

	lines map[string]int // where it refers to Dirs
}

// Reason is one thing that keeps a kustomization from rendering offline.
type Reason struct {
	Kind Kind
	// File and Line are where the kustomization says it.
	File string
	Line int
	// Detail is what it names, or what is wrong with the file.
	Detail string
}

// Kind is why a kustomization does not render offline.
type Kind int

// What is in the way, the worst first.
const (
	Broken  Kind = iota // the kustomization itself cannot be read
	Missing             // a file or directory that is not there
	Outside             // a path that leads out of the repository
	Remote              // a URL
	Helm                // a Helm chart
	kinds
)

// String names the kind before its Detail.
func (k Kind) String() string {
	return [...]string{"unusable", "missing", "outside of the repository", "remote", "Helm chart"}[k]
}

// Chart is a Helm chart.
type Chart struct {
	Dir, Name string
	// Library is set for a library chart, and Subchart for one in charts/ of another, or that
	// another has as a dependency by path.
	Library, Subchart bool
	// Inflated is set if the helmCharts of a kustomization have it.
	Inflated bool
	// Values are the values files of its environments and tests, beside values.yaml: in the
	// chart or near it. They are left out if OnlyRenderable or OnlyKustomizations is set.
	Values []string
}

// Pointer is an object of a GitOps controller that names what it deploys.
type Pointer struct {
	// Kind has the controller before it, as in Flux Kustomization.
	Kind, Name string
	File       string
	Line       int
	Object     *source.Object
}

// Unread is what was not looked at, with the reason.
type Unread struct{ Name, Why string }

// finder gathers what is found.
type finder struct {
	opts   Options
	most   most
	lookup *worktree.Lookup
	reader *worktree.Reader
	found  Found
	dirs   map[string]*Kustomization
	named  map[string]*named // what has the name of a kustomization, by name
	charts map[string]bool
	// depended are directories that charts have as dependencies by path.
	depended map[string]bool
	// inflated are directories that helmCharts name.
	inflated map[string]bool
	yaml     map[string][]string // files of YAML, by directory
}

// Find looks for what can be rendered below some paths. The error joins what is wrong
// with the paths themselves, such as one that does not exist; Found then has what the
// other paths hold.
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

// finish draws conclusions and sorts.
func (f *finder) finish() {
	f.found.Kustomizations = slices.SortedFunc(maps.Values(f.dirs), byDir)
	f.dropPatches()
	parts := f.parts()
	f.cycles(parts)
	f.block()
	f.found.Roots = f.rootsOf(parts)
	for i := range f.found.Charts { // complete them with what lies above
		c := &f.found.Charts[i]
		c.Inflated, c.Subchart = f.inflated[c.Dir], f.depended[c.Dir]
		for at := c.Dir; at != "."; at = path.Dir(at) {
			up := path.Dir(at)
			if path.Base(up) == "charts" && (f.charts[path.Dir(up)] || f.entry(path.Join(path.Dir(up), chartName)).Info != nil) {
				c.Subchart = true // of one that may be above the paths
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

// dropPatches takes away what patches and templates of charts say: they are no objects
// yet.
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

// rootsOf gives the kustomizations that are rendered on their own. They are taken from
// the strongly connected parts of the references, in an order in which each part comes
// after those that refer to it: a part that no root reaches yet gives its first
// kustomization that may be one.
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

// parts are the strongly connected parts of the references, each sorted, those that refer to
// others first (Kosaraju, Sharir: in the order of finishing, backwards, each part is what
// reaches its first member and is not in an earlier part).
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

// cycles notes kustomizations that refer to themselves, which kustomize refuses.
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

// next are the kustomizations that one refers to.
func (f *finder) next(k *Kustomization) []*Kustomization {
	all := make([]*Kustomization, 0, len(k.Dirs))
	for _, dir := range k.Dirs {
		if to := f.dirs[dir]; to != nil {
			all = append(all, to)
		}
	}
	return all
}

// referrers are, for each kustomization, those that refer to it.
func (f *finder) referrers() map[*Kustomization][]*Kustomization {
	back := map[*Kustomization][]*Kustomization{}
	for _, k := range f.found.Kustomizations {
		for _, to := range f.next(k) {
			back[to] = append(back[to], k)
		}
	}
	return back
}

// visit goes through everything that can be reached and was not seen, and calls leave
// for each once all behind it is done. It keeps its own stack: how deep references go
// is up to whoever writes them.
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

// block gives every kustomization the first reason of each kind that it has or that
// is on the way to what it refers to: the nearest, and of those the first by name.
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
