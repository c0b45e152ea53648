package search

import (
	"cmp"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// A component that is too large to try everything is settled by proofs that
// need no search, each of which may fail: that some pod groups cannot all have room
// (never), that no pod group can be overcommitted out (always), and runs that place
// everything or get stuck. What stays open is given as bounds.

// estimate settles a component as far as proofs and runs go. The proofs that
// nobody can be overcommitted out need no complete run: any run is one then.
func (a *instance) estimate(c component) outcome {
	o := a.open(c)
	o.best = a.run(c.units)
	a.undo(o.best)
	if len(o.best) < c.pods {
		a.shortOfRoom(&o)
	}
	switch {
	case o.most < c.pods:
		o.never, o.decided = true, true
	case a.neverStuck(&o):
		o.always, o.decided, o.exact = true, true, len(o.best) == c.pods
		o.least, o.worst = c.pods, o.best
		copy(o.ownLeast, o.ownMost)
	default:
		a.byRuns(&o)
	}
	if !o.decided || o.never {
		o.worst = o.best
	}
	if o.decided && !o.exact {
		a.byNumbers(&o)
	}
	return o
}

// byRuns looks for the runs that show that order matters: by theory where the
// component is a field, else by trying.
func (a *instance) byRuns(o *outcome) {
	if f := a.conflictGraph(o.component); f != nil {
		f.settle(o)
		return
	}
	if len(o.units)*len(a.nodes) <= maxFillers {
		a.repair(o)
	}
	if len(o.best) == o.pods {
		o.worst, o.decided = a.fillers(o.component)
	}
}

// maxRepairs bounds the runs that are tried after the first.
const maxRepairs = 12

// repair looks for a run that places all pods where the first did not: again
// and again, with the pod groups that were left over before the others.
func (a *instance) repair(o *outcome) {
	first, last := map[int]int{}, o.best
	for k := 1; k <= maxRepairs && len(o.best) < o.pods; k++ {
		placed := map[int]int{}
		for _, s := range last {
			placed[s.unit]++
		}
		for _, i := range o.units {
			if placed[i] < a.units[i].pods {
				first[i] = -k
			}
		}
		last = a.runFirst(o.units, first)
		a.undo(last)
		if len(last) > len(o.best) {
			o.best = last
		}
	}
}

// byNumbers finds the exact numbers where that is cheap.
func (a *instance) byNumbers(o *outcome) {
	if o.pods > smallPods || len(a.nodes) > smallNodes {
		return
	}
	if f := a.conflictGraph(o.component); f != nil {
		f.exactly(o)
	}
}

// run is a greedy run: pod groups with the fewest nodes first, those that need
// company after it, spread evenly over their nodes.
func (a *instance) run(units []int) []step { return a.runFirst(units, nil) }

// runFirst is that, but for pod groups with a lower rank, which come before others.
func (a *instance) runFirst(units []int, rank map[int]int) []step {
	a.m.Run().Spend(len(units) * 4)
	order := slices.Clone(units)
	slices.SortStableFunc(order, func(x, y int) int {
		u, v := a.units[x], a.units[y]
		return cmp.Or(cmp.Compare(rank[x], rank[y]), cmp.Compare(len(u.near), len(v.near)), cmp.Compare(len(u.nodes.list), len(v.nodes.list)), cmp.Compare(len(v.apart), len(u.apart)), cmp.Compare(x, y))
	})
	left := map[int]int{}
	for _, i := range order {
		left[i] = a.units[i].pods
	}
	var all []step
	for again := true; again; {
		again = false
		for _, i := range order {
			if left[i] == 0 {
				continue
			}
			run := a.scatter(i, left[i])
			left[i] -= len(run)
			all = append(all, run...)
			// Only company and spread can make room for pods that had none.
			again = again || len(run) > 0 && (left[i] > 0 || a.enables(i))
		}
	}
	return append(all, a.finish(units, left)...)
}

// enables reports whether pods of a pod group can make a node take other pods.
func (a *instance) enables(i int) bool {
	return len(a.watchers[i]) > 0 || len(a.counts[i]) > 0 && a.wanted(i)
}

// wanted reports whether some pod group needs the pods of this one near.
func (a *instance) wanted(i int) bool {
	if a.company == nil {
		a.company = make([]bool, len(a.units))
		for _, u := range a.units {
			for _, j := range u.company {
				a.company[j.unit] = true
			}
		}
	}
	return a.company[i]
}

// scatter places pods of a pod group one to a node, round after round.
func (a *instance) scatter(i, pods int) []step {
	u := a.units[i]
	a.m.Run().Spend(1)
	if len(u.spreads) == 1 {
		return a.fillEvenly(i, u.spreads[0], pods)
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
			n := int(list[(start+k)%len(list)])
			if len(run) < pods && a.takes(i, n) {
				a.place(i, n)
				run = append(run, step{i, n})
				progress = true
			}
		}
	}
	return run
}

// nobodyCrowdedOut proves that every pod group finds a node in every state: what
// the other pods, and its own but one, can close is less than what it has. A
// pod closes at most the largest domain that is still open of each key on
// which it is kept apart, one node for a port, and nodes for lack of a resource
// only once their space is used up.
func (a *instance) neverStuck(o *outcome) bool {
	if len(o.units)*len(a.nodes) > 5_000_000 {
		return false
	}
	all, near := a.grounded(o.component)
	if all {
		o.proof = certificate.Proof{Kind: certificate.Headroom, Company: near}
	}
	return all
}

// safe proves it for one pod group. Under a hard spread that counts only its own
// pods each domain has to have room for an even share, as a domain at the
// minimum is never refused for skew.
func (a *instance) safe(c component, i int) bool {
	u := a.units[i]
	if spreads := a.binding(i); len(spreads) == 0 {
		nodes := u.nodes.list
		if len(u.keys) > 0 {
			nodes = a.carrying(u)
		}
		return a.closable(c, i, nodes, u.pods-1) < len(nodes)
	}
	if len(u.spreads) > 1 {
		return false
	}
	s := u.spreads[0]
	if s.self != 1 || !slices.Equal(s.watch, []located{{unit: i}}) || len(s.domains) < s.minDomains || len(s.domains) == 0 {
		return false
	}
	if slices.ContainsFunc(u.selfKeys(i), func(k int) bool { return !a.within(u, k, s.key) }) {
		return false // pods of one domain would close nodes of another
	}
	share := (u.pods + len(s.domains) - 1) / len(s.domains)
	by := map[int32][]int32{}
	for _, n := range u.nodes.list {
		if d := a.domain[s.key][n]; d >= 0 {
			by[d] = append(by[d], n)
		}
	}
	for _, d := range s.domains {
		if nodes := by[int32(d)]; a.closable(c, i, nodes, share-1) >= len(nodes) {
			return false
		}
	}
	return true
}

// maxCrowd bounds the pod groups and nodes among which a run that crowds somebody
// out is looked for.
const maxFillers = 400_000

// crowding looks for a run that crowds a pod group out, pod groups with few nodes first.
func (a *instance) fillers(c component) ([]step, bool) {
	if len(c.units)*len(a.nodes) > maxFillers {
		return nil, false
	}
	order := slices.Clone(c.units)
	slices.SortStableFunc(order, func(x, y int) int { return len(a.units[x].nodes.list) - len(a.units[y].nodes.list) })
	for _, i := range order {
		if u := a.units[i]; u.pods == 0 || u.kubelet {
			continue
		}
		if run, ok := a.fillNodes(c, i); ok {
			return run, true
		}
	}
	return nil, false
}

// crowdOut builds such a run for one pod group: on every node that takes it, pods of
// others, those with the largest requests first, until it does not. The filters
// are asked at every step, so what comes out is a run.
func (a *instance) fillNodes(c component, i int) ([]step, bool) {
	a.m.Run().Spend(len(c.units) * 2)
	blockers := slices.DeleteFunc(slices.Clone(c.units), func(j int) bool { return a.units[j].kubelet })
	slices.SortStableFunc(blockers, func(x, y int) int { return cmp.Compare(a.bulk(y), a.bulk(x)) })
	var run []step
	left := make([]int, len(blockers))
	for b, j := range blockers {
		left[b] = a.others(i, j, a.units[i].pods-1)
	}
	nodes := slices.Clone(a.units[i].nodes.list)
	slices.SortStableFunc(nodes, func(x, y int32) int { return cmp.Compare(a.room(int(x)), a.room(int(y))) })
	for _, n := range nodes {
		for a.takes(i, int(n)) {
			at := 0
			for at < len(blockers) && (left[at] == 0 || !a.takes(blockers[at], int(n))) {
				at++
			}
			a.m.Run().Spend(1 + at/model.PerStep)
			if at == len(blockers) {
				a.undo(run)
				return nil, false
			}
			j := blockers[at]
			a.place(j, int(n))
			run = append(run, step{j, int(n)})
			left[at]--
		}
	}
	a.undo(run)
	return a.after(c, run)
}

// bulk and room compare pods and nodes by their first resources, processors in
// most inputs: good enough to choose what to try first.
func (a *instance) bulk(i int) int64 { return a.units[i].ask[0] }
func (a *instance) room(n int) int64 { return a.left(n)[0] }

// finish goes on from the current state until none of what is left fits.
func (a *instance) finish(units []int, left map[int]int) []step {
	var all []step
	for progress := true; progress; {
		progress = false
		for _, i := range units {
			run := a.scatter(i, left[i])
			left[i] -= len(run)
			all = append(all, run...)
			progress = progress || len(run) > 0
		}
	}
	return all
}
