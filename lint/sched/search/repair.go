package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// maxFewer and maxMore bound by how many replicas fewer, or nodes more, repairs
// are looked for.
const (
	maxFewer = 64
	maxMore  = 8
	// maxParts bounds the parts of a core that are tried as repairs.
	maxParts = 12
)

// repairs tries the usual ways out of a contradiction and keeps those that
// work. Where none does by itself, several together do.
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
			repairs = append(repairs, Repair{Text: q.repair(atom), Workload: atom.Workload, Atoms: []Atom{atom}})
		}
	}
	repairs = append(repairs, q.furtherNodes(base, ws)...)
	if len(repairs) == 0 {
		repairs = append(repairs, q.several(base, core)...)
	}
	return slices.CompactFunc(repairs, func(a, b Repair) bool { return a.Text == b.Text })
}

// fewer tries fewer replicas of one workload.
func (q question) fewer(base *relaxation, w *workload.Workload) []Repair {
	pods := w.Count.N
	if n, ok := base.count[w]; ok {
		pods = n
	}
	if w.Kind.PerNode() {
		return nil
	}
	for n := pods - 1; n > 0 && pods-n <= maxFewer; n-- {
		less := base.clone()
		less.count[w] = n
		if q.possible(less) == model.Yes {
			return []Repair{{Text: fmt.Sprintf("set replicas of %s to %d", w, n), Workload: w, Replicas: n}}
		}
	}
	return nil
}

// renamed tries the topology key that was probably meant.
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
	text := fmt.Sprintf("set topologyKey: %s for the %s of %s on %s", meant, atom.Term.Use, atom.Workload, atom.Term.Key)
	return []Repair{{Text: text, Workload: atom.Workload, Atoms: []Atom{atom}, Key: meant}}
}

// furtherNodes tries a few nodes more like one that pods may use.
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
				repairs = append(repairs, Repair{Text: moreNodes(n, like.Name), Workload: w, Nodes: n, Like: like})
				break
			}
		}
	}
	return repairs
}

// several gives up parts of contradictions one after the other until nothing is
// left of them: a core is one reason, and there may be more.
func (q question) several(base *relaxation, core []Atom) []Repair {
	var steps []string
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
		steps, given = append(steps, q.repair(atom)), append(given, atom)
		switch q.possible(relax) {
		case model.Yes:
			return []Repair{{Text: strings.Join(steps, ", and "), Workload: given[0].Workload, Atoms: given}}
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

// members are the workloads that take part, in the order of the input.
func (q question) members(relax *relaxation) []*workload.Workload {
	var all []*workload.Workload
	for _, w := range q.m.Workloads {
		if relax.only[w] {
			all = append(all, w)
		}
	}
	return all
}

// repair says in words how to give up an atom.
func (q question) repair(a Atom) string {
	switch {
	case a.Term != nil && a.Term.Use == model.Spread:
		return fmt.Sprintf("set whenUnsatisfiable: ScheduleAnyway for the spread of %s on %s", a.Workload, a.Term.Key)
	case a.Term != nil:
		return fmt.Sprintf("make the %s of %s on %s preferred", a.Term.Use, a.Workload, a.Term.Key)
	}
	switch a.kind {
	case atomSelector:
		return q.open(a.Workload, "label nodes to match the node selector or node affinity of "+a.Workload.String()+", or relax it", func(x *model.Exclusion) string {
			if label, ok := strings.CutPrefix(x.One, "lacks the label "); ok {
				return fmt.Sprintf("label %s with %s, or relax the node selector of %s", few(x), label, a.Workload)
			}
			return ""
		})
	case atomTaints:
		return q.open(a.Workload, "tolerate the taints that exclude "+a.Workload.String()+", or remove them", func(x *model.Exclusion) string {
			if x.Taint == nil {
				return ""
			}
			return fmt.Sprintf("tolerate the taint %s:%s of %s in %s, or remove it", x.Taint.Key, x.Taint.Effect, few(x), a.Workload)
		})
	case atomRequests:
		return "lower the requests of " + a.Workload.String()
	case atomSlots:
		return "raise the pod limit of the nodes that " + a.Workload.String() + " can use"
	case atomPorts:
		return "remove the host ports of " + a.Workload.String()
	}
	return "run " + a.Workload.String() + " elsewhere"
}

// open names the nodes that a repair would open, or says it in general.
func (q question) open(w *workload.Workload, general string, say func(*model.Exclusion) string) string {
	all := q.m.Excluded(w, false)
	for i := range all {
		if text := say(&all[i]); text != "" {
			return text
		}
	}
	return general
}

// few names some of the nodes of an exclusion.
func few(x *model.Exclusion) string {
	var names []string
	for _, n := range x.Nodes[:min(3, len(x.Nodes))] {
		names = append(names, n.Name)
	}
	text := strings.Join(names, ", ")
	if more := len(x.Nodes) - 3; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// moreNodes asks for nodes that are equivalent to one.
func moreNodes(n int, like string) string {
	if n == 1 {
		return "add 1 more node like " + like
	}
	return fmt.Sprintf("add %d more nodes like %s", n, like)
}
