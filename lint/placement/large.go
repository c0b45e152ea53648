package placement

import (
	"cmp"
	"math"
	"slices"
)

// A component that is too large to try everything is settled by proofs that
// need no search, each of which may fail: that some units cannot all have room
// (never), that no unit can be crowded out (always), and runs that place
// everything or get stuck. What stays open is given as bounds.

// estimate settles a component as far as proofs and runs go.
func (a *arena) estimate(c component) outcome {
	o := outcome{component: c, ownMost: make([]int, len(c.owners)), ownLeast: make([]int, len(c.owners))}
	for k, i := range c.units {
		o.ownMost[c.owner[k]] += a.units[i].pods
	}
	o.most = c.pods
	a.shortOfRoom(&o)
	o.best = a.run(c.units)
	a.undo(o.best)
	switch {
	case o.most < c.pods:
		o.never, o.decided = true, true
	case a.nobodyCrowdedOut(c):
		o.always, o.decided, o.exact = true, true, len(o.best) == c.pods
		o.least, o.worst = c.pods, o.best
		copy(o.ownLeast, o.ownMost)
	case len(o.best) == c.pods:
		o.worst, o.decided = a.crowding(c)
	}
	if !o.decided || o.never {
		o.worst = o.best
	}
	return o
}

// run is a greedy run: units with the fewest nodes first, those that need
// company after it, spread evenly over their nodes.
func (a *arena) run(units []int) []step {
	order := slices.Clone(units)
	slices.SortStableFunc(order, func(x, y int) int {
		u, v := a.units[x], a.units[y]
		return cmp.Or(cmp.Compare(len(u.near), len(v.near)), cmp.Compare(len(u.nodes.list), len(v.nodes.list)), cmp.Compare(len(v.apart), len(u.apart)), cmp.Compare(x, y))
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

// enables reports whether pods of a unit can make a node take other pods.
func (a *arena) enables(i int) bool {
	return len(a.watchers[i]) > 0 || len(a.counts[i]) > 0 && a.wanted(i)
}

// wanted reports whether some unit needs the pods of this one near.
func (a *arena) wanted(i int) bool {
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

// scatter places pods of a unit one to a node, round after round.
func (a *arena) scatter(i, pods int) []step {
	u := a.units[i]
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

// shortOfRoom lowers the most by what cannot have room whatever the others do.
func (a *arena) shortOfRoom(o *outcome) {
	for k, i := range o.units {
		u := a.units[i]
		if len(u.near)+len(u.spreads) > 0 || u.after != nil || u.somewhere() || !a.nest(u, u.selfKeys(i)) {
			continue
		}
		run := a.fill(i, u.nodes.list, u.pods)
		a.undo(run)
		o.most -= u.pods - len(run)
		o.ownMost[o.owner[k]] -= u.pods - len(run)
	}
	if o.most == o.pods {
		o.most -= a.clique(o.units)
	}
}

// somewhere reports whether pods of the unit are kept out at some places only.
func (u *unit) somewhere() bool {
	return slices.ContainsFunc(u.apart, func(x exclusion) bool { return x.place != 0 })
}

// clique is by how many pods a set of units that all exclude one another on one
// key has too few domains: each domain holds pods of one of them at most, and
// one pod of a unit that excludes itself.
func (a *arena) clique(units []int) int {
	best := 0
	for k := range a.keys {
		var members []int
		domains := map[int32]bool{}
		need := 0
		for _, i := range units {
			u := a.units[i]
			if u.pods == 0 || u.kubelet || !slices.ContainsFunc(u.apart, func(x exclusion) bool { return x.key == k }) || !a.excludesAll(i, k, members) || !a.allCarry(u, k) {
				continue
			}
			members = append(members, i)
			if slices.Contains(u.apart, exclusion{k, i, 0}) {
				need += u.pods
			} else {
				need++
			}
			for _, n := range u.nodes.list {
				domains[a.domain[k][n]] = true
			}
		}
		best = max(best, need-len(domains))
	}
	return best
}

// excludesAll reports whether a unit and each of the members keep each other
// out: whichever comes second. An exclusion may be one-sided, where the
// scheduler reads a namespace selector in two ways.
func (a *arena) excludesAll(i, key int, members []int) bool {
	if len(members) == 0 {
		return true
	}
	apart := map[int]bool{}
	for _, x := range a.units[i].apart {
		if x.key == key && x.place == 0 && slices.Contains(a.units[x.unit].apart, exclusion{key, i, 0}) {
			apart[x.unit] = true
		}
	}
	return !slices.ContainsFunc(members, func(j int) bool { return !apart[j] })
}

func (a *arena) allCarry(u *unit, key int) bool {
	return !slices.ContainsFunc(u.nodes.list, func(n int32) bool { return a.domain[key][n] < 0 })
}

// nobodyCrowdedOut proves that every unit finds a node in every state: what
// the other pods, and its own but one, can close is less than what it has. A
// pod closes at most the largest domain that is still open of each key on
// which it is kept apart, one node for a port, and nodes for lack of a resource
// only once their space is used up.
func (a *arena) nobodyCrowdedOut(c component) bool {
	if len(c.units)*len(a.nodes) > 5_000_000 {
		return false
	}
	for _, i := range c.units {
		u := a.units[i]
		if u.pods > 0 && (u.kubelet || len(u.near) > 0 || !a.safe(c, i)) {
			return false
		}
	}
	return true
}

// safe proves it for one unit. Under a hard spread that counts only its own
// pods each domain has to have room for an even share, as a domain at the
// minimum is never refused for skew.
func (a *arena) safe(c component, i int) bool {
	u := a.units[i]
	switch len(u.spreads) {
	case 0:
		return a.closable(c, i, u.nodes.list, u.pods-1) < len(u.nodes.list)
	case 1:
	default:
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

// others is how many pods of a unit can be in the way of a further pod of u,
// of which own are placed already.
func (a *arena) others(i, j, own int) int {
	if i == j {
		return own
	}
	if a.units[j].g.Running {
		return 1
	}
	return a.units[j].pods
}

// closable bounds how many of some of the unit's nodes can be closed to one more
// of its pods, if own of them are there.
func (a *arena) closable(c component, i int, nodes []int32, own int) int {
	u := a.units[i]
	closers := map[int]int{} // by key: pods that close a domain
	for _, x := range u.apart {
		closers[x.key] += a.others(i, x.unit, own)
	}
	closed := 0
	for key, pods := range closers {
		sizes := map[int32]int{}
		for _, n := range nodes {
			if d := a.domain[key][n]; d >= 0 {
				sizes[d]++
			}
		}
		closed += largest(sizes, pods)
	}
	if len(u.clashes) > 0 {
		for j, v := range a.units {
			if slices.ContainsFunc(v.ports, func(p int) bool { return slices.Contains(u.clashes, p) }) {
				closed += a.others(i, j, own)
			}
		}
	}
	if a.contend {
		closed += a.crampable(c, i, nodes, own)
	}
	return closed
}

// largest is the sum of the n largest sizes.
func largest(sizes map[int32]int, n int) int {
	list := make([]int, 0, len(sizes))
	for _, s := range sizes {
		list = append(list, s)
	}
	slices.SortFunc(list, func(x, y int) int { return y - x })
	sum := 0
	for _, s := range list[:min(n, len(list))] {
		sum += s
	}
	return sum
}

// crampable bounds how many of the unit's nodes others can leave too little
// space on: each takes at least what is free there less what a pod asks, and
// one unit more.
func (a *arena) crampable(c component, i int, nodes []int32, own int) int {
	u := a.units[i]
	closed := 0
	for r, ask := range u.ask {
		if ask == 0 {
			continue
		}
		demand := int64(0)
		for _, j := range c.units {
			demand += a.units[j].ask[r] * int64(a.others(i, j, own))
		}
		var need []int64
		for _, n := range nodes {
			if free := a.left(int(n))[r]; free != math.MaxInt64 {
				need = append(need, free-ask+1)
			}
		}
		slices.Sort(need)
		for _, t := range need {
			if demand < t {
				break
			}
			demand -= t
			closed++
		}
	}
	return closed
}

// maxCrowd bounds the units and nodes among which a run that crowds somebody
// out is looked for.
const maxCrowd = 400_000

// crowding looks for a run that crowds a unit out, units with few nodes first.
func (a *arena) crowding(c component) ([]step, bool) {
	if len(c.units)*len(a.nodes) > maxCrowd {
		return nil, false
	}
	order := slices.Clone(c.units)
	slices.SortStableFunc(order, func(x, y int) int { return len(a.units[x].nodes.list) - len(a.units[y].nodes.list) })
	for _, i := range order {
		if u := a.units[i]; u.pods == 0 || u.kubelet {
			continue
		}
		if run, ok := a.crowdOut(c, i); ok {
			return run, true
		}
	}
	return nil, false
}

// crowdOut builds such a run for one unit: on every node that takes it, pods of
// others, those with the largest requests first, until it does not. The filters
// are asked at every step, so what comes out is a run.
func (a *arena) crowdOut(c component, i int) ([]step, bool) {
	blockers := slices.DeleteFunc(slices.Clone(c.units), func(j int) bool { return a.units[j].kubelet })
	slices.SortStableFunc(blockers, func(x, y int) int { return cmp.Compare(a.bulk(y), a.bulk(x)) })
	var run []step
	left := map[int]int{}
	for _, j := range blockers {
		left[j] = a.others(i, j, a.units[i].pods-1)
	}
	nodes := slices.Clone(a.units[i].nodes.list)
	slices.SortStableFunc(nodes, func(x, y int32) int { return cmp.Compare(a.room(int(x)), a.room(int(y))) })
	for _, n := range nodes {
		for a.takes(i, int(n)) {
			at := slices.IndexFunc(blockers, func(j int) bool { return left[j] > 0 && a.takes(j, int(n)) })
			if at < 0 {
				a.undo(run)
				return nil, false
			}
			j := blockers[at]
			a.place(j, int(n))
			run = append(run, step{j, int(n)})
			left[j]--
		}
	}
	rest := map[int]int{}
	for _, j := range c.units {
		rest[j] = a.units[j].pods
	}
	for _, s := range run {
		rest[s.unit]--
	}
	run = append(run, a.finish(c.units, rest)...)
	a.undo(run)
	return run, len(run) < c.pods
}

// bulk and room compare pods and nodes by their first resources, processors in
// most inputs: good enough to choose what to try first.
func (a *arena) bulk(i int) int64 { return a.units[i].ask[0] }
func (a *arena) room(n int) int64 { return a.left(n)[0] }

// finish goes on from the current state until none of what is left fits.
func (a *arena) finish(units []int, left map[int]int) []step {
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
