package disruption_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// grid holds the number of pods of each row on each node, row by row.
type grid string

// world holds the state that the enumerator works on. Equal pods form a row, and the reference
// filters decide which nodes take one more pod of a row.
type world struct {
	m     *model.Model
	rows  []row
	taken map[string][]int
	// left is the number of filter calls that are still allowed.
	left int
}

// row is a set of equal pods.
type row struct {
	w          *workload.Workload
	name, text string
	of         int    // index of the load
	pods       int    // number of pods when complete
	alone      []bool // for a DaemonSet, marks the nodes with one pod each
	once       string // a claim that one pod can use at a time
	bound      bound
}

// mostAsked is the maximum number of filter calls for one sample.
const mostAsked = 12_000

// rest returns the rows of all loads except those in but, with all their pods.
func (s sample) rest(but map[int]bool) (rows []row) {
	for i, l := range s.loads {
		if but[i] {
			continue
		}
		r := row{name: l.name, text: l.pod(l.name, l.name, "", ""), of: i, pods: l.replicas, once: l.once, bound: l.bound}
		switch {
		case l.kind == "DaemonSet":
			r.pods = 0
			for _, b := range s.boxes {
				r.alone = append(r.alone, b.takes(l))
				if b.takes(l) {
					r.pods++
				}
			}
		case l.machine():
			for k := range l.replicas {
				id := fmt.Sprintf("%s-%d", l.name, k)
				rows = append(rows, row{name: id, text: l.pod(id, id, "", ""), of: i, pods: 1})
			}
			continue
		}
		rows = append(rows, r)
	}
	return rows
}

// world builds a world from the nodes of the sample and from rows.
func (s sample) world(t *testing.T, rows []row) *world {
	t.Helper()
	text := s.inPlace()
	for i := range rows {
		text += rows[i].text
	}
	_, m := judge(t, s.nodes(), text)
	w := &world{m: m, rows: slices.Clone(rows), taken: map[string][]int{}, left: mostAsked}
	for i := range w.rows {
		w.rows[i].w = find(t, m, rows[i].name)
	}
	return w
}

func (w *world) empty() grid { return grid(make([]byte, len(w.rows)*len(w.m.Topology.Nodes))) }

// on returns the number of pods of a row on a node.
func (w *world) on(g grid, row, n int) int { return int(g[row*len(w.m.Topology.Nodes)+n]) }

// with returns the grid with a changed number of pods of a row on a node.
func (w *world) with(g grid, row, n, by int) grid {
	b := []byte(g)
	b[row*len(w.m.Topology.Nodes)+n] += byte(by)
	return grid(b)
}

// pods returns the number of placed pods of a row.
func (w *world) pods(g grid, row int) (n int) {
	for i := range w.m.Topology.Nodes {
		n += w.on(g, row, i)
	}
	return n
}

// takers returns the nodes that take one more pod of a row.
func (w *world) takers(g grid, row int) []int {
	id := fmt.Sprint(row, g)
	if known, ok := w.taken[id]; ok {
		return known
	}
	w.left--
	state := check.NewState(w.m)
	for r := range w.rows {
		for n, node := range w.m.Topology.Nodes {
			for range w.on(g, r, n) {
				state.Place(w.rows[r].w, node)
			}
		}
	}
	var all []int
	inUse := false // the pods that the enumerator places have no claims
	for r := range w.rows {
		inUse = inUse || w.rows[r].once != "" && w.rows[r].once == w.rows[row].once && w.pods(g, r) > 0
	}
	for n, node := range w.m.Topology.Nodes {
		if alone := w.rows[row].alone; alone != nil && (!alone[n] || w.on(g, row, n) > 0) {
			continue
		}
		if !inUse && state.Filter(w.rows[row].w, node) == certificate.Takes {
			all = append(all, n)
		}
	}
	w.taken[id] = all
	return all
}

// mayStart reports whether the volumes of the next pod of a row can be used on a node. In order, that
// is the pod with the lowest ordinal that is not placed. In parallel, it is any pod whose volume is in
// the node's domain, and the pods without a volume can take what the others leave.
func (w *world) mayStart(g grid, row, n int) bool {
	b := w.rows[row].bound
	if len(b.to) == 0 {
		return true
	}
	nodes, placed := w.m.Topology.Nodes, map[string]int{}
	for o := range nodes {
		placed[nodes[o].Labels[b.key]] += w.on(g, row, o)
	}
	value := nodes[n].Labels[b.key]
	if b.ordered {
		to := b.to[w.pods(g, row)]
		return to == "" || to == value
	}
	placed[value]++
	open := 0
	for _, to := range b.to {
		if to == "" {
			open++
		}
	}
	for v, pods := range placed {
		own := 0
		for _, to := range b.to {
			if to == v && v != "" {
				own++
			}
		}
		open -= max(0, pods-own)
	}
	return open >= 0
}

// reach visits all states that result from placing all pods in any order and on any node. It calls
// each for every state in which no more pods can be placed.
func (w *world) reach(each func(g grid, complete bool)) {
	w.reachFrom(w.empty(), map[grid]bool{}, each)
}

// reachFrom is like reach, but starts from a state with some pods in place and skips states that
// were seen before.
func (w *world) reachFrom(from grid, seen map[grid]bool, each func(g grid, complete bool)) {
	var visit func(g grid)
	visit = func(g grid) {
		if seen[g] || w.left <= 0 {
			return
		}
		seen[g] = true
		moved, complete := false, true
		for r := range w.rows {
			if w.pods(g, r) == w.rows[r].pods {
				continue
			}
			complete = false
			for _, n := range w.takers(g, r) {
				if w.mayStart(g, r, n) {
					moved = true
					visit(w.with(g, r, n, 1))
				}
			}
		}
		if !moved {
			each(g, complete)
		}
	}
	visit(from)
}

// start describes the situation before a change: the world with the loads that fit, and all
// complete placements. Like the judge, it leaves out a load that never fits together with the
// others, because that is reported separately. It keeps such a load if the load in question
// depends on its pods.
type start struct {
	*world
	without  map[int]bool
	complete []grid
	settled  []grid    // states in which no more pods can be placed and all pods of the load in question run
	made     [][3]int8 // under a quota, the pods of each load that exist, by complete placement
	// fits is set if all pods of the load in question can be placed, and tooMuch if there are too
	// many states. unclear is set if one term of the load requires pods that do not fit but
	// another affinity term excludes them, so that they do not count.
	fits, tooMuch, unclear bool
}

func (s sample) start(t *testing.T, of int) start {
	t.Helper()
	out, most, wanted := s.settle(t, of, nil)
	if out.tooMuch {
		return out // more pods may be placed than it has seen
	}
	drop := map[int]bool{}
	for i := range s.loads {
		strained := len(out.complete) == 0 && i != of && most[i] < wanted[i]
		some, all := s.asks(of, i)
		drop[i] = strained && !some
		out.unclear = out.unclear || strained && some && !all
	}
	if out.unclear {
		return out
	}
	if slices.Contains(slices.Collect(maps.Values(drop)), true) {
		out, _, _ = s.settle(t, of, drop)
	}
	return out
}

// settle returns the start without some loads. For each load, most is the largest number of pods
// that can be placed, and wanted is the required number.
func (s sample) settle(t *testing.T, of int, but map[int]bool) (out start, most, wanted map[int]int) {
	t.Helper()
	out = start{world: s.world(t, s.rest(but)), without: but}
	most, wanted = map[int]int{}, map[int]int{}
	out.reach(func(g grid, complete bool) {
		if complete {
			out.complete = append(out.complete, g)
		}
		placed, whole := map[int]int{}, true
		for r := range out.rows {
			placed[out.rows[r].of] += out.pods(g, r)
			whole = whole && (out.rows[r].of != of && out.rows[r].alone == nil || out.pods(g, r) == out.rows[r].pods)
		}
		if whole {
			out.settled = append(out.settled, g)
		}
		for i, n := range placed {
			most[i] = max(most[i], n)
		}
	})
	for _, r := range out.rows {
		wanted[r.of] += r.pods
	}
	out.fits, out.tooMuch = most[of] == wanted[of], out.left <= 0
	return out, most, wanted
}

// asks reports whether a load requires the pods of another load nearby or counts them. some is set
// if any term does, and all if all its affinity terms do.
func (s sample) asks(of, other int) (some, all bool) {
	all = true
	for _, r := range s.loads[of].rules {
		selects := r.use != "anti" && r.selects(s.loads[other])
		some, all = some || selects, all && (selects || r.use != "aff")
	}
	return some, all
}
