package search

import (
	"cmp"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// maxFewer and maxMore limit how many replicas a repair may remove and how many nodes it may add.
// maxSpare is the number of nodes that it keeps ready beyond those.
const (
	maxFewer = 64
	maxMore  = 8
	maxSpare = 2
	// maxParts is the maximum number of atoms that are dropped to find repairs.
	maxParts = 12
)

// Kind says what a fix changes.
type Kind int

// The kinds of fixes, in the order in which they are tried and offered. An operator takes the first
// one that works, so what keeps the request of the team comes before what weakens it.
const (
	// These keep all that is asked for. The smallest edit comes first.
	CorrectName       Kind = iota // a label key that was probably meant
	MatchLabelKeys                // rules within one revision
	MismatchLabelKeys             // rules that pass over the pods of the same machine
	Tolerate
	Uncordon
	LabelNodes
	LowerRequests
	RaiseSlots
	MoreNodes
	HonorTaints // domains without usable nodes no longer count, but they stay without pods

	// These weaken a rule.
	FewerDomains   // a smaller minDomains
	CountRevisions // new pods may end up unevenly spread
	FreePorts
	MoveVolumes
	Soften

	// These take service away.
	OneUnavailable // during a rollout
	Elsewhere      // another workload leaves the nodes
	FewerPods
)

// kindOf returns the kind of repair that drops an atom.
func kindOf(a Atom) Kind {
	if a.Term != nil {
		return Soften
	}
	return partKinds[a.Part]
}

var partKinds = map[Part]Kind{
	PartSelector: LabelNodes, PartTaints: Tolerate, PartRequests: LowerRequests, PartSlots: RaiseSlots, PartPorts: FreePorts, PartVolumes: MoveVolumes, PartReplicas: Elsewhere,
}

// LeastPods returns the smallest number of pods that advice may suggest instead of the number asked
// for. With less than half of them, the service is a different one.
func LeastPods(asked int) int { return (asked + 1) / 2 }

// without tries to drop one atom. Cordons are dropped on their own as well, because uncordoning a
// node differs from tolerating a taint.
func (q question) without(base *relaxation, atom Atom) (repairs []Repair) {
	without := base.and(atom)
	if !q.free(without) || q.possible(without) != model.Yes {
		return nil
	}
	open := func(x *model.Exclusion) {
		repairs = append(repairs, Repair{Workload: atom.Workload, Atoms: []Atom{atom}, Opens: []*model.Exclusion{x}})
	}
	x := q.opened(atom)
	if x != nil && x.Tolerable() {
		open(x)
	}
	if atom.Part == PartTaints {
		cordoned := q.exclusion(atom, (*model.Exclusion).Cordon)
		if cordoned != nil && q.possible(base.and(Atom{Workload: atom.Workload, Part: partCordons})) == model.Yes {
			open(cordoned)
		}
	}
	if repairs == nil {
		open(x)
	}
	return repairs
}

// same reports whether two repairs look alike to a reader. Terms with the same use and key look
// alike. Pods from one workload also look alike.
func same(a, b Repair) bool {
	return a.Workload.String() == b.Workload.String() && a.Replicas == b.Replicas && a.Nodes == b.Nodes && a.Like == b.Like && a.Key == b.Key &&
		slices.Equal(a.Opens, b.Opens) &&
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
	for n := pods - 1; n >= LeastPods(pods) && pods-n <= maxFewer; n-- {
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
		r := Repair{Workload: w, Like: q.m.Topology.Nodes[i]}
		seen[r.Like.Name] = true
		r.Further, r.Domain = q.copies(w, r.Like, maxMore+maxSpare)
		more := base.clone()
		for r.Nodes = 1; r.Nodes <= maxMore; r.Nodes++ {
			more.nodes = append(slices.Clip(base.nodes), r.Further[:r.Nodes]...)
			if q.possible(more) == model.Yes {
				repairs = append(repairs, r)
				break
			}
		}
	}
	return repairs
}

// copies returns n copies of a node. If a workload spreads its pods over domains of several nodes,
// such as zones, each copy is in the domain that has the fewest nodes for the pods. The result key
// is then the key of these domains. Otherwise it is "".
func (q question) copies(w *workload.Workload, like *topology.Node, n int) (all []*topology.Node, key string) {
	for k := range n {
		all = append(all, model.Another(like, k+1))
	}
	for t := range q.m.Groups[w].Hard(model.Spread) {
		if key == "" && like.Labels[t.Key] != "" && !q.m.NodeByNode(t.Key, nil) {
			key = t.Key
		}
	}
	if key == "" {
		return all, ""
	}
	q.m.Run().Spend(1 + len(q.m.Topology.Nodes)/model.PerStep)
	nodes := map[string]int{}
	for i, p := range q.m.Eligible(w).Nodes {
		if d, has := q.m.Topology.Nodes[i].Labels[key]; has && p.All() {
			nodes[d]++
		} else if has {
			nodes[d] += 0
		}
	}
	f := model.NewFilter(w)
	q.m.Run().Spend(len(nodes) * model.StepsPerTerm)
	domains := slices.DeleteFunc(model.SortedKeys(nodes), func(d string) bool { return !f.Passes(model.In(like, key, d)).All() })
	for i := range all {
		d := slices.MinFunc(domains, func(a, b string) int { return cmp.Compare(nodes[a], nodes[b]) })
		nodes[d]++
		all[i] = model.In(all[i], key, d)
	}
	return all, key
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
// causes. It returns nil if there is no such condition. Taints that pods may tolerate come first,
// and cordons come last.
func (q question) opened(a Atom) *model.Exclusion {
	switch a.Part {
	case PartSelector:
		return q.exclusion(a, func(x *model.Exclusion) bool { return x.Kind == model.LacksLabel })
	case PartTaints:
		return cmp.Or(q.exclusion(a, (*model.Exclusion).Tolerable), q.exclusion(a, func(x *model.Exclusion) bool { return x.Taint != nil && !x.Cordon() }),
			q.exclusion(a, (*model.Exclusion).Cordon))
	}
	return nil
}

// exclusion returns the first condition that excludes nodes from an atom's workload and that the
// function `is` accepts, or nil.
func (q question) exclusion(a Atom, is func(*model.Exclusion) bool) *model.Exclusion {
	all := q.m.Excluded(a.Workload, false)
	for i := range all {
		if is(&all[i]) {
			return &all[i]
		}
	}
	return nil
}
