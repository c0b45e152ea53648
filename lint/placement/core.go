package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/workload"
)

// Atom is one member of a core: a term, or another part of a workload.
type Atom struct {
	Workload *workload.Workload
	// Term is set for terms, else Part says which part it is: selector, taints,
	// requests, ports or replicas.
	Term *Term
	Part string
	kind atomKind
}

// Core is a smallest set of rules, numbers and node facts that cannot be met
// together: with any one of them left out, all pods of the workload can be
// placed. Repairs are ways out, each of them tried.
type Core struct {
	Atoms   []Atom
	Repairs []string
}

var parts = []struct {
	kind atomKind
	name string
}{{atomSelector, "selector"}, {atomTaints, "taints"}, {atomRequests, "requests"}, {atomPorts, "ports"}, {atomReplicas, "replicas"}}

// coreSteps bounds each decision while a core is made smaller.
const coreSteps = 200_000

// maxTogether bounds the workloads among which a core is looked for.
const maxTogether = 40

// leaveOut is a relaxation that leaves nothing out yet.
func leaveOut(group map[*workload.Workload]bool) *relaxation {
	return &relaxation{terms: map[*Term]bool{}, parts: map[*workload.Workload]map[atomKind]bool{}, count: map[*workload.Workload]int{}, only: group}
}

// Explain gives the core of a workload whose pods can never all be placed.
// The others of its component take part in the contradiction; nil if the budget
// does not allow to make it small.
func (m *Model) Explain(w *workload.Workload, d *Decision) *Core {
	group := map[*workload.Workload]bool{w: true}
	relax := leaveOut(group)
	if m.possible(w, relax) != No { // not by itself: the others have a part in it
		if group = d.together(w); len(group) > maxTogether {
			return nil
		}
		if relax = leaveOut(group); m.possible(w, relax) != No {
			return nil
		}
	}
	var core []Atom
	for _, atom := range m.atoms(w, group) {
		without := relax.and(atom)
		switch m.possible(w, without) {
		case No: // still impossible: the atom has no part in it
			relax = without
		case Yes:
			core = append(core, atom)
		case Maybe:
			return nil
		}
	}
	return &Core{Atoms: core, Repairs: m.repairs(w, group, core)}
}

// together are the workloads of one component with w.
func (d *Decision) together(w *workload.Workload) map[*workload.Workload]bool {
	group := map[*workload.Workload]bool{w: true}
	for _, o := range d.groups[w] {
		group[o] = true
	}
	return group
}

// atoms lists what may be left out, the parts of others first, so that the core
// keeps to the workload itself where it can.
func (m *Model) atoms(w *workload.Workload, group map[*workload.Workload]bool) []Atom {
	var own, others []Atom
	for _, o := range m.Workloads {
		if !group[o] {
			continue
		}
		var list []Atom
		for _, p := range parts {
			if p.kind != atomReplicas || o != w { // without its own pods nothing is asked
				list = append(list, Atom{Workload: o, Part: p.name, kind: p.kind})
			}
		}
		for _, t := range m.groups[o].Terms {
			if t.Hard {
				list = append(list, Atom{Workload: o, Term: t})
			}
		}
		if o == w {
			own = list
		} else {
			others = append(others, list...)
		}
	}
	return append(others, own...)
}

// and is the relaxation with one atom more left out.
func (r *relaxation) and(atom Atom) *relaxation {
	more := &relaxation{terms: maps.Clone(r.terms), parts: maps.Clone(r.parts), count: maps.Clone(r.count), only: r.only, nodes: r.nodes}
	switch {
	case atom.Term != nil:
		more.terms[atom.Term] = true
	case atom.kind == atomReplicas:
		more.count[atom.Workload] = 0
	default:
		kinds := maps.Clone(more.parts[atom.Workload])
		if kinds == nil {
			kinds = map[atomKind]bool{}
		}
		kinds[atom.kind] = true
		more.parts[atom.Workload] = kinds
	}
	return more
}

// possible tells whether some run places all pods of w.
func (m *Model) possible(w *workload.Workload, relax *relaxation) Answer {
	steps := coreSteps
	d := decideArena(newArena(m.split(), true, relax), &steps)
	t := d.tallies()[w]
	switch {
	case t.unclear && t.most < t.pods:
		return Maybe
	case t.most >= t.pods:
		return Yes
	}
	return No
}

// repairs tries the usual ways out and keeps those that work.
func (m *Model) repairs(w *workload.Workload, group map[*workload.Workload]bool, core []Atom) []string {
	base := leaveOut(group)
	works := func(r *relaxation) bool { return m.possible(w, r) == Yes }
	var repairs []string
	for n := w.Count.N - 1; n > 0 && !w.Kind.PerNode() && w.Count.N-n <= 64; n-- {
		fewer := *base
		fewer.count = map[*workload.Workload]int{w: n}
		if works(&fewer) {
			repairs = append(repairs, fmt.Sprintf("set replicas of %s to %d", w, n))
			break
		}
	}
	for _, atom := range core {
		if without := base.and(atom); works(without) {
			repairs = append(repairs, atom.repair())
		}
	}
	if more := m.furtherNodes(w, base, works); more != "" {
		repairs = append(repairs, more)
	}
	return repairs
}

// furtherNodes tries up to eight nodes more like one that the pods may use.
func (m *Model) furtherNodes(w *workload.Workload, base *relaxation, works func(*relaxation) bool) string {
	e := m.Eligible(w)
	i := slices.IndexFunc(e.Nodes, Passes.All)
	if i < 0 {
		return ""
	}
	like := m.Topology.Nodes[i]
	more := *base
	for n := 1; n <= 8; n++ {
		more.nodes = append(slices.Clone(more.nodes), another(like, n))
		if works(&more) {
			return fmt.Sprintf("add %d more of the kind of node %s", n, like.Name)
		}
	}
	return ""
}

func (a Atom) repair() string {
	switch {
	case a.Term != nil && a.Term.Use == Spread:
		return fmt.Sprintf("set whenUnsatisfiable: ScheduleAnyway for the spread of %s on %s", a.Workload, a.Term.Key)
	case a.Term != nil:
		return fmt.Sprintf("make the %s of %s on %s preferred", a.Term.Use, a.Workload, a.Term.Key)
	}
	return map[atomKind]string{
		atomSelector: "label nodes as the node selector or node affinity of " + a.Workload.String() + " asks, or relax it",
		atomTaints:   "tolerate the taints that keep " + a.Workload.String() + " off, or remove them",
		atomRequests: "lower the requests of " + a.Workload.String(),
		atomPorts:    "drop the host ports of " + a.Workload.String(),
		atomReplicas: "run " + a.Workload.String() + " elsewhere",
	}[a.kind]
}

// String names the atom.
func (a Atom) String() string {
	if a.Term != nil {
		return strings.TrimSpace(fmt.Sprintf("required %s on %s", a.Term.Use, a.Term.Key))
	}
	return a.Part
}
