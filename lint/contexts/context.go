package contexts

import (
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
)

// splitter builds contexts from sets of alternatives. The time to build one context depends on the
// size of the context and the number of sets, not on the total number of objects.
type splitter struct {
	*sets
	objects []*source.Object
	place   map[*source.Object]int // index in objects
	chains  [][]string             // the branches around each object
	// inside maps each branch to the indices of its objects, without those in inner branches.
	inside map[string][]int
	// byID maps identities to the indices of their declarations. unnamed lists the indices of
	// objects without an identity.
	byID    map[identity][]int
	unnamed []int
	// common maps each set to the objects that all branches of the set declare equally. It has one
	// declaration for each object.
	common map[string][]*source.Object
}

func newSplitter(all *sets, objects []*source.Object, groups []*group) *splitter {
	s := &splitter{
		sets: all, objects: objects, place: make(map[*source.Object]int, len(objects)), chains: make([][]string, len(objects)),
		inside: map[string][]int{}, byID: map[identity][]int{}, common: map[string][]*source.Object{},
	}
	chains := map[string][]string{} // by file
	for i, o := range objects {
		chain := lazy.Cached(chains, o.File.Name, func() []string { return all.chain(o.File.Name) })
		s.place[o], s.chains[i] = i, chain
		s.inside[innermost(chain)] = append(s.inside[innermost(chain)], i)
		if id, named := identityOf(o); named {
			s.byID[id] = append(s.byID[id], i)
		} else {
			s.unnamed = append(s.unnamed, i)
		}
	}
	for _, g := range groups {
		// An object is common for each set whose branches all declare it equally.
		type declared struct {
			first   *source.Object
			differs bool
			in      map[string]bool
		}
		by := map[string]*declared{}
		for _, o := range g.last() {
			for _, b := range s.chains[s.place[o]] {
				set := s.set(b)
				d := by[set]
				if d == nil {
					d = &declared{first: o, in: map[string]bool{}}
					by[set] = d
				}
				d.differs = d.differs || g.class[o.File.Name] != g.class[d.first.File.Name]
				d.in[b] = true
			}
		}
		for set, d := range by {
			if !d.differs && len(d.in) == len(s.members[set]) {
				s.common[set] = append(s.common[set], d.first)
			}
		}
	}
	return s
}

// innermost returns the last branch of a chain, or "" if the chain is empty.
func innermost(chain []string) string {
	if len(chain) == 0 {
		return ""
	}
	return chain[len(chain)-1]
}

// context builds the context for one branch.
func (s *splitter) context(branch string) Context {
	c := Context{Name: branch, Shared: map[*source.Object]bool{}, splitter: s}
	own := s.chain(branch)
	places := slices.Clone(s.inside[""])
	mine := map[string]bool{}
	for _, b := range own {
		places = append(places, s.inside[b]...)
		mine[s.set(b)] = true
	}
	for _, set := range sorting.Keys(s.common) {
		if mine[set] {
			continue // this branch has its own declarations
		}
		for _, o := range s.common[set] {
			i := s.place[o]
			foreign := slices.IndexFunc(s.chains[i], func(b string) bool { return !slices.Contains(own, b) }) // outermost other branch
			if foreign >= 0 && s.set(s.chains[i][foreign]) == set {
				places = append(places, i)
				c.Shared[o] = true
			}
		}
	}
	c.Objects = s.at(places)
	return c
}

// at returns the objects with the given indices, in input order.
func (s *splitter) at(places []int) []*source.Object {
	slices.Sort(places)
	return lists.Of(places, func(i int) *source.Object { return s.objects[i] })
}

// sets is a union-find structure for sets of alternatives. A branch is identified by its path, and
// a set by the path of one of its branches. In the map named of, each branch refers to another
// branch in its set, or to itself.
type sets struct {
	of      map[string]string
	members map[string][]string // by set, filled by leaves
}

// set returns the path that identifies the set of a branch.
func (s *sets) set(branch string) string {
	for s.of[branch] != branch {
		s.of[branch] = s.of[s.of[branch]]
		branch = s.of[branch]
	}
	return branch
}

// join puts two siblings in the same set of alternatives.
func (s *sets) join(a, b string) {
	for _, x := range []string{a, b} {
		if s.of[x] == "" {
			s.of[x] = x
		}
	}
	a, b = s.set(a), s.set(b)
	s.of[max(a, b)] = min(a, b)
}

// separate looks in every directory for siblings that declare the group's object. If their
// declarations differ, the siblings become alternatives.
func (s *sets) separate(g *group) {
	const several = -1
	classes := map[string]int{} // by path: the only class in it, or several
	children := map[string][]string{}
	for _, file := range sorting.Keys(g.class) {
		for _, at := range steps(file) {
			class, known := classes[at]
			if !known {
				children[parent(at)] = append(children[parent(at)], at)
				class = g.class[file]
			}
			if class != g.class[file] {
				class = several
			}
			classes[at] = class
		}
	}
	for _, siblings := range children {
		first := classes[siblings[0]]
		if first != several && !slices.ContainsFunc(siblings, func(c string) bool { return classes[c] != first }) {
			continue
		}
		for _, c := range siblings[1:] {
			s.join(siblings[0], c)
		}
	}
}

// chain returns the branches around a file, outermost first.
func (s *sets) chain(file string) []string {
	return slices.DeleteFunc(steps(file), func(at string) bool { return s.of[at] == "" })
}

// element returns the last path element of the innermost branch around a file.
func (s *sets) element(file string) string {
	branch := innermost(s.chain(file))
	return branch[strings.LastIndexByte(branch, '/')+1:]
}

// leaves returns the branches that contain no other set, sorted by path.
func (s *sets) leaves() []string {
	s.members = map[string][]string{}
	above := map[string]bool{}
	for _, b := range sorting.Keys(s.of) {
		s.members[s.set(b)] = append(s.members[s.set(b)], b)
		for _, at := range s.chain(b) {
			above[at] = above[at] || at != b
		}
	}
	return lists.Where(sorting.Keys(s.of), func(b string) bool { return !above[b] })
}
