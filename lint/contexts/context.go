package contexts

import (
	"slices"

	"github.com/schedlint/schedlint/lint/source"
)

// splitter makes the contexts of some sets of alternatives.
type splitter struct {
	*sets
	objects []*source.Object
	groups  []*group
	chains  [][]string // of each object
	// common are, by set, the objects that all its branches declare equally.
	common map[string]map[*source.Object]bool
}

// context is that of one branch.
func (s *splitter) context(branch string) Context {
	c := Context{Name: branch, Shared: map[*source.Object]bool{}}
	own := s.chain(branch)
	there := map[identity]bool{}
	var rest []*source.Object
	for i, o := range s.objects {
		in, shared := s.holds(own, o, s.chains[i])
		if !in {
			rest = append(rest, o)
			continue
		}
		if id, named := identityOf(o); named {
			there[id] = true
		}
		if shared {
			c.Shared[o] = true
		}
		c.Objects = append(c.Objects, o)
	}
	for _, o := range rest {
		if id, named := identityOf(o); !named || !there[id] {
			c.Elsewhere = append(c.Elsewhere, o)
		}
	}
	return c
}

// holds reports whether an object with that chain is in the context of a branch
// whose own chain is given, and whether it is there because all alternatives of
// another set declare it.
func (s *splitter) holds(own []string, o *source.Object, chain []string) (in, shared bool) {
	i := slices.IndexFunc(chain, func(b string) bool { return !slices.Contains(own, b) })
	if i < 0 {
		return true, false
	}
	set := s.set(chain[i])
	if slices.ContainsFunc(own, func(b string) bool { return s.set(b) == set }) {
		return false, false // another branch of a set to which this one belongs
	}
	return s.declaredByAll(set)[o], true
}

// declaredByAll are the objects that all branches of a set declare equally, one
// of each.
func (s *splitter) declaredByAll(set string) map[*source.Object]bool {
	if known := s.common[set]; known != nil {
		return known
	}
	all := map[*source.Object]bool{}
	for _, g := range s.groups {
		if o := s.inAll(g, set); o != nil {
			all[o] = true
		}
	}
	s.common[set] = all
	return all
}

// inAll is the first declaration of an object in some branch of a set if every
// branch declares it and all declare it equally, else nil.
func (s *splitter) inAll(g *group, set string) (first *source.Object) {
	if len(g.objects) < len(s.members[set]) {
		return nil
	}
	in := map[string]bool{}
	for _, o := range g.last() {
		chain := s.chain(o.File.Name)
		i := slices.IndexFunc(chain, func(b string) bool { return s.set(b) == set })
		if i < 0 {
			continue
		}
		if first == nil {
			first = o
		}
		if g.class[o.File.Name] != g.class[first.File.Name] {
			return nil
		}
		in[chain[i]] = true
	}
	if len(in) < len(s.members[set]) {
		return nil
	}
	return first
}
