package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// maxFewer and maxMore limit how many replicas a repair may remove and how many nodes it may add.
const (
	maxFewer = 64
	maxMore  = 8
	// maxParts is the maximum number of atoms that are dropped to find repairs.
	maxParts = 12
)

// repairs tries common ways to resolve a contradiction and keeps the successful ones. If no single
// change succeeds, it tries several changes together.
func (q question) repairs(base *relaxation, ws []*workload.Workload, core []Atom) []Repair {
	var repairs []Repair
	for _, w := range ws {
		if q.of == nil || q.of == w {
			repairs = append(repairs, q.fewer(base, w)...)
		}
	}
	for _, atom := range core[:min(len(core), maxParts)] {
		repairs = append(repairs, q.renamed(base, atom)...)
		if without := base.and(atom); q.free(without) && q.possible(without) == model.Yes {
			repairs = append(repairs, Repair{Workload: atom.Workload, Atoms: []Atom{atom}, Opens: []*model.Exclusion{q.opened(atom)}})
		}
	}
	repairs = append(repairs, q.furtherNodes(base, ws)...)
	if len(repairs) == 0 {
		repairs = append(repairs, q.several(base, core)...)
	}
	return slices.CompactFunc(repairs, same)
}

// same reports whether two repairs look alike to a reader. Terms with the same use and key look
// alike. Pods from one workload also look alike.
func same(a, b Repair) bool {
	return a.Workload.String() == b.Workload.String() && a.Replicas == b.Replicas && a.Nodes == b.Nodes && a.Like == b.Like && a.Key == b.Key &&
		slices.EqualFunc(a.Atoms, b.Atoms, func(a, b Atom) bool {
			if a.Workload.String() != b.Workload.String() || a.Part != b.Part || (a.Term == nil) != (b.Term == nil) {
				return false
			}
			return a.Term == nil || a.Term.Use == b.Term.Use && a.Term.Key == b.Term.Key
		})
}

// fewer tries to reduce one workload's replicas.
func (q question) fewer(base *relaxation, w *workload.Workload) []Repair {
	pods := base.pods(q.m.Groups[w])
	if w.Kind.PerNode() {
		return nil
	}
	for n := pods - 1; n > 0 && pods-n <= maxFewer; n-- {
		less := base.clone()
		less.count[w] = n
		if q.possible(less) == model.Yes {
			return []Repair{{Workload: w, Replicas: n}}
		}
	}
	return nil
}

// renamed tries to replace an atom's topology key with the key that was probably meant.
func (q question) renamed(base *relaxation, atom Atom) []Repair {
	if atom.Term == nil {
		return nil
	}
	meant := q.m.Topology.Suggest(atom.Term.Key)
	if meant == "" {
		return nil
	}
	other := base.clone()
	other.keys = map[*model.Term]string{atom.Term: meant}
	if q.possible(other) != model.Yes {
		return nil
	}
	return []Repair{{Workload: atom.Workload, Atoms: []Atom{atom}, Key: meant}}
}

// furtherNodes tries to add a few copies of a node that the pods may already use.
func (q question) furtherNodes(base *relaxation, ws []*workload.Workload) []Repair {
	seen := map[string]bool{}
	var repairs []Repair
	for _, w := range ws {
		if q.of != nil && q.of != w {
			continue
		}
		i := slices.IndexFunc(q.m.Eligible(w).Nodes, model.Passes.All)
		if i < 0 || seen[q.m.Topology.Nodes[i].Name] {
			continue
		}
		like := q.m.Topology.Nodes[i]
		seen[like.Name] = true
		more := base.clone()
		for n := 1; n <= maxMore; n++ {
			more.nodes = append(slices.Clone(more.nodes), model.Another(like, n))
			if q.possible(more) == model.Yes {
				repairs = append(repairs, Repair{Workload: w, Nodes: n, Like: like})
				break
			}
		}
	}
	return repairs
}

// several drops atoms one by one until no contradiction remains. There may be more contradictions
// than the core shows.
func (q question) several(base *relaxation, core []Atom) []Repair {
	var opens []*model.Exclusion
	var given []Atom
	relax := base
	for range maxParts {
		if len(core) == 0 {
			break
		}
		atom := core[0]
		if i := slices.IndexFunc(core, func(a Atom) bool { return a.Term != nil }); i >= 0 {
			atom = core[i]
		}
		relax = relax.and(atom)
		opens, given = append(opens, q.opened(atom)), append(given, atom)
		switch q.possible(relax) {
		case model.Yes:
			return []Repair{{Workload: given[0].Workload, Atoms: given, Opens: opens}}
		case model.Maybe:
			return nil
		}
		core = slices.DeleteFunc(slices.Clone(core), func(a Atom) bool { return a == atom })
		if len(core) == 0 {
			core = q.smaller(relax, relax.remaining(q.members(relax)))
		}
	}
	return nil
}

// members returns the participating workloads in input order.
func (q question) members(relax *relaxation) []*workload.Workload {
	return slices.DeleteFunc(slices.Clone(q.m.Workloads), func(w *workload.Workload) bool { return !relax.only[w] })
}

// opened returns the condition that excludes the most nodes, among the conditions that the atom
// causes. It returns nil if there is no such condition.
func (q question) opened(a Atom) *model.Exclusion {
	kind, ok := openedBy[a.Part]
	if !ok {
		return nil
	}
	all := q.m.Excluded(a.Workload, false)
	if i := slices.IndexFunc(all, func(x model.Exclusion) bool { return x.Kind == kind }); i >= 0 {
		return &all[i]
	}
	return nil
}

// openedBy maps a part that a repair drops to the kind of exclusion that the part causes.
var openedBy = map[Part]model.ExclusionKind{PartSelector: model.LacksLabel, PartTaints: model.Tainted}
