package contexts

import (
	"iter"
	"path"
	"slices"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/source"
)

// Context holds objects that are deployed together.
type Context struct {
	// Name is the path of the branch, such as overlays/prod, or "" if there are no alternatives.
	Name string
	// Objects lists all objects of the context in input order.
	Objects []*source.Object
	// Shared marks objects from sets of alternatives to which the branch does not belong. Findings
	// about these objects are reported in other contexts.
	Shared map[*source.Object]bool

	splitter *splitter
}

// Elsewhere returns the objects that are declared only outside the context. It is unknown whether
// the cluster has them.
func (c *Context) Elsewhere() []*source.Object {
	s := c.splitter
	if s == nil {
		return nil
	}
	there := make(map[identity]bool, len(c.Objects))
	in := make(map[*source.Object]bool, len(c.Objects))
	for _, o := range c.Objects {
		in[o] = true
		if id, named := identityOf(o); named {
			there[id] = true
		}
	}
	var places []int
	for id, all := range s.byID {
		if !there[id] {
			places = append(places, all...)
		}
	}
	places = append(places, lists.Where(s.unnamed, func(i int) bool { return !in[s.objects[i]] })...)
	return s.at(places)
}

// Division is the result of Split for the objects of one cluster.
type Division struct {
	// whole holds the objects of the only context if there are no alternatives. Otherwise there is
	// one context for each branch in branches.
	whole    []*source.Object
	branches []string
	splitter *splitter
	// Branch returns the path element that distinguishes the innermost alternatives around a
	// file, or "" for a file outside all alternatives.
	Branch func(file string) string
	// Differing has one group for each object that files declare differently. The group contains
	// the last declaration in each file.
	Differing [][]*source.Object
}

// Len returns the number of contexts.
func (d *Division) Len() int { return max(1, len(d.branches)) }

// Contexts yields one context at a time, because together they may hold far more objects than the
// input.
func (d *Division) Contexts() iter.Seq[Context] {
	return func(yield func(Context) bool) {
		if len(d.branches) == 0 {
			yield(Context{Objects: d.whole})
			return
		}
		for _, b := range d.branches {
			if !yield(d.splitter.context(b)) {
				return
			}
		}
	}
}

// Whole replaces the contexts with a single one that contains all objects, regardless of
// alternatives.
func (d *Division) Whole(objects []*source.Object) {
	d.whole, d.branches, d.splitter, d.Branch = objects, nil, nil, NoBranch
}

// Output is one of the results of rendering a chart. Name distinguishes it from the chart's other
// outputs.
type Output struct{ Chart, Name string }

// Split divides objects into contexts. The objects must be sorted by file. declares reports whether
// an object is declared in its own right rather than as a patch of another object. Patches never
// turn their files into alternatives. outputs returns the chart outputs that a file belongs to, and
// may be nil if there are none.
func Split(objects []*source.Object, declares func(*source.Object) bool, outputs func(*source.File) []Output) Division {
	d := Division{Branch: NoBranch}
	groups := identify(objects, declares)
	sets := &sets{of: map[string]string{}}
	if outputs != nil {
		// Siblings are alternatives if they contain different outputs of the same chart.
		charts, numbers := map[string]map[string]int{}, map[Output]int{}
		for i, o := range objects {
			if i > 0 && objects[i-1].File == o.File {
				continue
			}
			for _, out := range outputs(o.File) {
				if _, known := numbers[out]; !known {
					numbers[out] = len(numbers)
				}
				if charts[out.Chart] == nil {
					charts[out.Chart] = map[string]int{}
				}
				charts[out.Chart][o.File.Name] = numbers[out]
			}
		}
		for _, class := range charts {
			sets.separate(&group{class: class})
		}
	}
	for _, g := range groups {
		if g.kinds > 1 {
			d.Differing = append(d.Differing, g.last())
			sets.separate(g)
		}
	}
	if len(sets.of) == 0 {
		d.whole = objects
		return d
	}
	d.Branch, d.branches = sets.element, sets.leaves()
	d.splitter = newSplitter(sets, objects, groups)
	return d
}

// NoBranch is the Branch of a Division without alternatives.
func NoBranch(string) string { return "" }

// identity identifies an object. Two declarations with the same identity declare the same object.
type identity struct{ group, kind, namespace, name string }

// group holds the declarations of one object in file order. class identifies the content of the
// last declaration in each file. Equal contents have the same class, and kinds is the number of
// classes.
type group struct {
	objects []*source.Object
	class   map[string]int // by file
	kinds   int
}

// last returns the last declaration in each file, which overrides any earlier ones in that file.
func (g *group) last() []*source.Object {
	var all []*source.Object
	for i, o := range g.objects { // declarations in one file are consecutive
		if i+1 == len(g.objects) || g.objects[i+1].File != o.File {
			all = append(all, o)
		}
	}
	return all
}

func identityOf(o *source.Object) (identity, bool) {
	named := !o.Root.At("metadata", "name").IsNull()
	return identity{o.Group(), o.Kind, o.Namespace, o.Name}, named
}

// identify returns a group for each object that is declared more than once, in input order.
func identify(objects []*source.Object, declares func(*source.Object) bool) []*group {
	first := make(map[identity]*source.Object, len(objects))
	byID := map[identity]*group{}
	var all []*group
	for _, o := range objects {
		id, named := identityOf(o)
		switch {
		case !named || !declares(o):
			continue
		case first[id] == nil:
			first[id] = o
			continue
		case byID[id] == nil: // most objects have only one declaration
			byID[id] = &group{objects: []*source.Object{first[id]}}
			all = append(all, byID[id])
		}
		byID[id].objects = append(byID[id].objects, o)
	}
	// Compare each declaration with one representative of every class, because most objects have
	// few classes. Once there are maxKinds classes, give each further declaration its own class,
	// which limits the comparisons.
	for _, g := range all {
		g.class = map[string]int{}
		var of []*source.Object
		for _, o := range g.last() {
			class := slices.IndexFunc(of, func(x *source.Object) bool { return source.Equal(x.Root, o.Root) })
			if len(of) >= maxKinds || class < 0 {
				class = len(of)
				of = append(of, o)
			}
			g.class[o.File.Name] = class
		}
		g.kinds = len(of)
	}
	return all
}

const maxKinds = 100

// parent returns the directory of a path, or "" at the top.
func parent(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return ""
}

// steps returns the directories above a path, outermost first, followed by the path itself.
func steps(name string) []string {
	var all []string
	for i := range len(name) {
		if name[i] == '/' && i > 0 {
			all = append(all, name[:i])
		}
	}
	return append(all, name)
}
