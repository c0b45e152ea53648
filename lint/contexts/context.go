package contexts

import (
	"maps"
	"slices"

	"github.com/schedlint/schedlint/lint/source"
)

// splitter makes the contexts of some sets of alternatives. Its work for one context grows with the
// size of that context and the number of sets, not with all objects.
type splitter struct {
	*sets
	objects []*source.Object
	place   map[*source.Object]int // in objects
	chains  [][]string             // of each object
	// inside holds the indices of the objects by the innermost branch around them. Each object is
	// also in all branches around that one.
	inside map[string][]int
	// byID holds the indices by identity, unnamed those of objects without one.
	byID    map[identity][]int
	unnamed []int
	// common holds, by set, one of each object that all its branches declare equally.
	common map[string][]*source.Object
}

func newSplitter(all *sets, objects []*source.Object, groups []*group) *splitter {
	s := &splitter{
		sets: all, objects: objects, place: make(map[*source.Object]int, len(objects)), chains: make([][]string, len(objects)),
		inside: map[string][]int{}, byID: map[identity][]int{}, common: map[string][]*source.Object{},
	}
	chains := map[string][]string{} // by file
	for i, o := range objects {
		chain, known := chains[o.File.Name]
		if !known {
			chain = all.chain(o.File.Name)
			chains[o.File.Name] = chain
		}
		s.place[o], s.chains[i] = i, chain
		s.inside[innermost(chain)] = append(s.inside[innermost(chain)], i)
		if id, named := identityOf(o); named {
			s.byID[id] = append(s.byID[id], i)
		} else {
			s.unnamed = append(s.unnamed, i)
		}
	}
	for _, g := range groups {
		s.share(g)
	}
	return s
}

// innermost returns the last branch of a chain, or "" if there is none.
func innermost(chain []string) string {
	if len(chain) == 0 {
		return ""
	}
	return chain[len(chain)-1]
}

// share finds the sets whose branches all declare an object equally. The first declaration in such
// a set is common to its branches.
func (s *splitter) share(g *group) {
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

// context returns the context of one branch.
func (s *splitter) context(branch string) Context {
	c := Context{Name: branch, Shared: map[*source.Object]bool{}, splitter: s}
	own := s.chain(branch)
	places := slices.Clone(s.inside[""])
	mine := map[string]bool{}
	for _, b := range own {
		places = append(places, s.inside[b]...)
		mine[s.set(b)] = true
	}
	for _, set := range slices.Sorted(maps.Keys(s.common)) {
		if mine[set] {
			continue // another branch of a set to which this one belongs
		}
		for _, o := range s.common[set] {
			i := s.place[o]
			foreign := slices.IndexFunc(s.chains[i], func(b string) bool { return !slices.Contains(own, b) }) // the outermost branch that is
			if foreign >= 0 && s.set(s.chains[i][foreign]) == set {
				places = append(places, i)
				c.Shared[o] = true
			}
		}
	}
	c.Objects = s.at(places)
	return c
}

// at returns the objects with some indices, in the order of the input.
func (s *splitter) at(places []int) (all []*source.Object) {
	slices.Sort(places)
	for _, i := range places {
		all = append(all, s.objects[i])
	}
	return all
}
