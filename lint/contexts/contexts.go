package contexts

import (
	"iter"
	"path"
	"slices"

	"github.com/schedlint/schedlint/lint/source"
)

// Context holds objects that are deployed together.
type Context struct {
	// Name is the path of the branch, such as overlays/prod, or "" if there are no alternatives.
	Name string
	// Objects holds all objects of the context, in the order of the input.
	Objects []*source.Object
	// Shared holds those of Objects that come from sets of alternatives to which the branch does
	// not belong: other contexts report on them.
	Shared map[*source.Object]bool

	splitter *splitter
}

// Elsewhere returns objects that are declared only outside of the context, so that it is unknown
// whether the cluster has them.
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
	for _, i := range s.unnamed {
		if !in[s.objects[i]] {
			places = append(places, i)
		}
	}
	return s.at(places)
}

// Division is the result of Split for the objects of one cluster.
type Division struct {
	// whole is the context of all objects if there are no alternatives. Otherwise there are
	// branches, with one context each.
	whole    []*source.Object
	branches []string
	splitter *splitter
	// Branch returns the path element in which the innermost alternatives around a file differ, or
	// "" for a file outside of all alternatives.
	Branch func(file string) string
	// Differing groups objects that several files declare differently, by the last declaration of
	// each file.
	Differing [][]*source.Object
}

// Len returns the number of contexts.
func (d *Division) Len() int { return max(1, len(d.branches)) }

// Contexts makes contexts one by one, as all of them together may hold far more objects than the
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

// Whole makes one context of all objects, ignoring alternatives.
func (d *Division) Whole(objects []*source.Object) {
	d.whole, d.branches, d.splitter, d.Branch = objects, nil, nil, NoBranch
}

// Output is one of the results of rendering a chart. The name distinguishes them.
type Output struct{ Chart, Name string }

// Split divides objects, which are in the order of their files, into contexts. Declares reports
// whether an object is a declaration of its own: an object that only changes another one, such as a
// patch, makes no alternatives. Outputs returns the outputs that a file belongs to; it may be nil
// if there are none.
func Split(objects []*source.Object, declares func(*source.Object) bool, outputs func(*source.File) []Output) Division {
	d := Division{Branch: NoBranch}
	groups := identify(objects, declares)
	sets := &sets{of: map[string]string{}}
	if outputs != nil {
		sets.separateOutputs(objects, outputs)
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

// identity identifies an object. Two declarations with the same identity declare one object.
type identity struct{ group, kind, namespace, name string }

// group holds the declarations of one object, file by file. Class numbers the different contents of
// the last declarations of each file, and kinds counts them.
type group struct {
	objects []*source.Object
	class   map[string]int // by file
	kinds   int
}

// last returns the declarations that count.
func (g *group) last() []*source.Object {
	var all []*source.Object
	for i, o := range g.objects { // those of one file are consecutive
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

// identify gathers the declarations of each object that has several, in the order of the input.
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
		case byID[id] == nil: // few objects have a second one
			byID[id] = &group{objects: []*source.Object{first[id]}}
			all = append(all, byID[id])
		}
		byID[id].objects = append(byID[id].objects, o)
	}
	// Few objects are declared in many ways, so each is compared with one of every class; more than
	// maxKinds of them count as all different, which bounds the comparisons.
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

// steps returns the directories above a path, outermost first, and the path.
func steps(name string) []string {
	var all []string
	for i := range len(name) {
		if name[i] == '/' && i > 0 {
			all = append(all, name[:i])
		}
	}
	return append(all, name)
}
