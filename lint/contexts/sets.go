package contexts

import (
	"maps"
	"path"
	"slices"

	"github.com/schedlint/schedlint/lint/source"
)

// sets is a union-find structure of the sets of alternatives. A branch is named by its path, a set
// by one of its branches: of links each branch to another one of its set, or to itself.
type sets struct {
	of      map[string]string
	members map[string][]string // by set, filled in by leaves
}

// set returns the name of the set to which a branch belongs.
func (s *sets) set(branch string) string {
	for s.of[branch] != branch {
		s.of[branch] = s.of[s.of[branch]]
		branch = s.of[branch]
	}
	return branch
}

// join makes two siblings alternatives.
func (s *sets) join(a, b string) {
	for _, x := range []string{a, b} {
		if s.of[x] == "" {
			s.of[x] = x
		}
	}
	a, b = s.set(a), s.set(b)
	s.of[max(a, b)] = min(a, b)
}

// separateOutputs makes siblings that hold different outputs of a chart alternatives.
func (s *sets) separateOutputs(objects []*source.Object, outputs func(*source.File) []Output) {
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
		s.separate(&group{class: class})
	}
}

// separate makes siblings that declare an object differently alternatives, in every directory that
// has some: all siblings that declare the object, unless all of them declare it equally.
func (s *sets) separate(g *group) {
	const several = -1
	classes := map[string]int{} // by path: the only class at or below it
	children := map[string][]string{}
	for _, file := range slices.Sorted(maps.Keys(g.class)) {
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
	chain := s.chain(file)
	if len(chain) == 0 {
		return ""
	}
	return path.Base(chain[len(chain)-1])
}

// leaves returns the branches that hold no further set, by path.
func (s *sets) leaves() []string {
	s.members = map[string][]string{}
	above := map[string]bool{}
	for _, b := range slices.Sorted(maps.Keys(s.of)) {
		s.members[s.set(b)] = append(s.members[s.set(b)], b)
		for _, at := range s.chain(b) {
			above[at] = above[at] || at != b
		}
	}
	var all []string
	for _, b := range slices.Sorted(maps.Keys(s.of)) {
		if !above[b] {
			all = append(all, b)
		}
	}
	return all
}
