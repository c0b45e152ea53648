package search

import (
	"cmp"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
)

// greedyRuns builds runs greedily, either to place all pods or to leave a pod without a node.
type greedyRuns struct{ *state }

// maxRepairs is the maximum number of runs that repair tries.
const maxRepairs = 12

// runFirst returns a greedy run that spreads each pod group over its nodes. Pod groups with a lower
// rank come first. Within a rank, groups without affinity come before groups with affinity. After
// that, groups with fewer nodes come first.
func (g greedyRuns) runFirst(units []int, rank map[int]int) []step {
	g.m.Run().Spend(len(units) * 4)
	order := slices.Clone(units)
	slices.SortStableFunc(order, func(x, y int) int {
		u, v := g.units[x], g.units[y]
		return cmp.Or(cmp.Compare(rank[x], rank[y]), cmp.Compare(len(u.affinityKeys), len(v.affinityKeys)), cmp.Compare(len(u.nodes.list), len(v.nodes.list)), cmp.Compare(len(v.exclusions), len(u.exclusions)), cmp.Compare(x, y))
	})
	left := map[int]int{}
	for _, i := range order {
		left[i] = g.units[i].pods
	}
	var all []step
	for again := true; again; {
		again = false
		for _, i := range order {
			if left[i] == 0 {
				continue
			}
			run := g.scatter(i, left[i])
			left[i] -= len(run)
			all = append(all, run...)
			// Only a new peer or a spread constraint can make a node accept a pod that it rejected
			// before.
			again = again || len(run) > 0 && (left[i] > 0 || len(g.watchers[i]) > 0 || len(g.counts[i]) > 0 && g.wanted(i))
		}
	}
	return append(all, g.finish(units, left)...)
}

// scatter places a pod group's pods in rounds, with at most one pod per node in each round.
func (g greedyRuns) scatter(i, pods int) []step {
	u := g.units[i]
	g.m.Run().Spend(1)
	if len(u.spreads) == 1 {
		return g.fillEvenly(i, u.spreads[0], pods)
	}
	list := u.nodes.list
	start := 0
	if len(list) > 0 {
		start = i * 31 % len(list)
	}
	var run []step
	for progress := true; progress && len(run) < pods; {
		progress = false
		for k := range list {
			if len(run) == pods {
				break
			}
			if n := int(list[(start+k)%len(list)]); g.takes(i, n) {
				g.place(i, n)
				run = append(run, step{i, n})
				progress = true
			}
		}
	}
	return run
}

// maxFillers is the maximum size of a component in fillers. The size is the number of pod groups
// times the number of nodes.
const maxFillers = 400_000

// fillers looks for a run that leaves one of the component's pods without a node. It tries pod
// groups with few nodes first.
func (g greedyRuns) fillers(c component) ([]step, bool) {
	if len(c.units)*len(g.nodes) > maxFillers {
		return nil, false
	}
	order := slices.Clone(c.units)
	slices.SortStableFunc(order, func(x, y int) int { return len(g.units[x].nodes.list) - len(g.units[y].nodes.list) })
	for _, i := range order {
		if u := g.units[i]; u.pods == 0 || u.kubelet {
			continue
		}
		if run, ok := g.fillNodes(c, i); ok {
			return run, true
		}
	}
	return nil, false
}

// fillNodes builds a run that leaves a pod of group i without a node. On every node that accepts a
// pod of i, it places other groups' pods until the node rejects a pod of i. Pods with the largest
// requests come first. fillNodes applies the filters at every step, so the run is valid.
func (g greedyRuns) fillNodes(c component, i int) ([]step, bool) {
	g.m.Run().Spend(len(c.units) * 2)
	blockers := slices.DeleteFunc(slices.Clone(c.units), func(j int) bool { return g.units[j].kubelet })
	slices.SortStableFunc(blockers, func(x, y int) int { return cmp.Compare(g.bulk(y), g.bulk(x)) })
	var run []step
	left := make([]int, len(blockers))
	for b, j := range blockers {
		left[b] = g.others(i, j, g.units[i].pods-1)
	}
	nodes := slices.Clone(g.units[i].nodes.list)
	slices.SortStableFunc(nodes, func(x, y int32) int { return cmp.Compare(g.room(int(x)), g.room(int(y))) })
	for _, n := range nodes {
		for g.takes(i, int(n)) {
			at := 0
			for at < len(blockers) && (left[at] == 0 || !g.takes(blockers[at], int(n))) {
				at++
			}
			g.m.Run().Spend(1 + at/model.PerStep)
			if at == len(blockers) {
				g.undo(run)
				return nil, false
			}
			j := blockers[at]
			g.place(j, int(n))
			run = append(run, step{j, int(n)})
			left[at]--
		}
	}
	g.undo(run)
	return g.after(c, run)
}

// finish continues from the current state until no more pods fit.
func (g greedyRuns) finish(units []int, left map[int]int) []step {
	var all []step
	for progress := true; progress; {
		progress = false
		for _, i := range units {
			run := g.scatter(i, left[i])
			left[i] -= len(run)
			all = append(all, run...)
			progress = progress || len(run) > 0
		}
	}
	return all
}

// after returns a run that starts with the given pods, in any order, and continues until no more
// pods fit. It also reports whether any pods are unplaced.
func (g greedyRuns) after(c component, start []step) ([]step, bool) {
	var run []step
	for left := start; len(left) > 0; {
		before := len(left)
		left = slices.DeleteFunc(slices.Clone(left), func(s step) bool {
			if !g.takes(s.unit, s.node) {
				return false // a spread constraint may want other pods first
			}
			g.place(s.unit, s.node)
			run = append(run, s)
			return true
		})
		if len(left) == before {
			g.undo(run)
			return nil, false
		}
	}
	left := map[int]int{}
	for _, i := range c.units {
		left[i] = g.units[i].pods
	}
	for _, s := range run {
		left[s.unit]--
	}
	run = append(run, g.finish(c.units, left)...)
	g.undo(run)
	return run, len(run) < c.pods
}
