package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// component is pod groups that have something to do with one another.
type component struct {
	units []int
	pods  int
	// owners are the workloads of the pod groups; owner goes with pod groups. The pods of
	// a DaemonSet are one pod group each and one owner together.
	owners []*workload.Workload
	owner  []int
	at     map[*workload.Workload]int // in owners
	// declared is how many pods there are of each owner.
	declared []int
	// unsure is set if some rule in it depends on what only the cluster knows.
	unsure bool
}

// add takes a pod group in.
func (c *component) add(i int, u *podGroup) {
	owner := u.g.Origin()
	if c.at == nil {
		c.at = map[*workload.Workload]int{}
	}
	at, known := c.at[owner]
	if !known {
		at = len(c.owners)
		c.at[owner] = at
		c.owners, c.declared = append(c.owners, owner), append(c.declared, 0)
	}
	c.declared[at] += u.pods
	c.units, c.owner = append(c.units, i), append(c.owner, at)
	c.pods += u.pods
}

// components splits the pod groups: two are together if a rule of one looks at the
// other, if they want one port, or if they may fill a node between them.
func (a *instance) components() []component {
	parent := make([]int, len(a.units))
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	join := func(i, j int) { parent[find(j)] = find(i) }
	for i, u := range a.units {
		a.m.Run().Spend(1 + len(u.apart)/2)
		for _, x := range u.apart {
			join(i, x.unit)
		}
		for _, j := range u.unsure {
			join(i, j)
		}
		for _, j := range u.company {
			join(i, j.unit)
		}
		for _, c := range u.spreads {
			for _, j := range c.watch {
				join(i, j.unit)
			}
		}
		if u.after != nil {
			join(i, a.unitsOf[u.after.g.Workload][0])
		}
	}
	a.joinPorts(join)
	if a.contend {
		a.joinContending(join)
	}
	by := map[int]int{}
	unsure := map[int]bool{}
	for i, u := range a.units {
		if len(u.unsure) > 0 || u.open {
			unsure[find(i)] = true
		}
	}
	var all []component
	for i, u := range a.units {
		if u.g.Running {
			continue
		}
		root := find(i)
		at, ok := by[root]
		if !ok {
			at = len(all)
			by[root] = at
			all = append(all, component{unsure: unsure[root]})
		}
		all[at].add(i, u)
	}
	return all
}

// joinPorts joins pod groups whose ports clash.
func (a *instance) joinPorts(join func(i, j int)) {
	first := make([]int, len(a.hostPorts))
	for p := range first {
		first[p] = -1
	}
	for i, u := range a.units {
		for _, p := range u.clashes {
			if first[p] < 0 {
				first[p] = i
			}
			join(first[p], i)
		}
	}
}

// joinContending joins pod groups that ask for a resource of a node which could run
// out if all their pods came.
func (a *instance) joinContending(join func(i, j int)) {
	a.m.Run().Spend(len(a.units) * (1 + len(a.nodes)/model.PerStep))
	short := a.shortages()
	first := make([]int, len(a.nodes))
	for n := range first {
		first[n] = -1
	}
	for i, u := range a.units {
		if u.g.Running {
			continue
		}
		for _, n := range u.nodes.list {
			if !a.asksShort(u, short[int(n)*len(a.resources):]) {
				continue
			}
			// One resource that runs short is enough to tie the node's pod groups.
			if first[n] < 0 {
				first[n] = i
			}
			join(first[n], i)
		}
	}
}

func (a *instance) asksShort(u *podGroup, short []bool) bool {
	for r, ask := range u.ask {
		if ask > 0 && short[r] {
			return true
		}
	}
	return false
}

// shortages tells for every node and resource whether it could run out if all
// pods that may go there did.
func (a *instance) shortages() []bool {
	width := len(a.resources)
	a.m.Run().Spend(len(a.units) * (1 + len(a.nodes)*width/(4*model.PerStep)))
	demand := make([]int64, len(a.free))
	for _, u := range a.units {
		if u.g.Running {
			continue
		}
		for _, n := range u.nodes.list {
			for r, ask := range u.ask {
				demand[int(n)*width+r] += ask * int64(u.pods)
			}
		}
	}
	short := make([]bool, len(a.free))
	for i, d := range demand {
		short[i] = d > a.free[i]
	}
	return short
}

// outcome is what is known of one component: how many pods are placed over all
// its maximal states, of all pod groups together and of each by itself.
type outcome struct {
	component
	most, least int
	// ownMost and ownLeast go with component.owners.
	ownMost, ownLeast []int
	// always is set if every maximal state is complete, never if none is, and
	// decided if that is known for certain. Where exact is unset most and least
	// are bounds: no more, and no fewer, can be placed.
	always, never, decided, exact bool
	// large is set if it is not decided and no budget would do, spent if the budget
	// was over, refuted if a certificate did not hold.
	large, spent, refuted bool
	// best and worst are runs that place most and least pods; stuck is one that
	// places less than all, if there is one.
	best, worst []step
	// proof is why it is always or never.
	proof certificate.Proof
}

// step is one placement.
type step struct{ unit, node int }

// search explores all states that can be reached, as far as the budget goes.
type search struct {
	c     component
	left  []int // pods of each pod group that are still to be placed
	seen  map[string]bool
	path  []step
	out   outcome
	first bool
	steps *int // what is left of the budget
	// whole, if set, is asked to go on from every state in which all pods are in
	// place; it is false if the budget is over.
	whole func() bool
	columns
}

// newSearch makes a search ready from the current state of the instance.
func (a *instance) newSearch(c component, steps *int) *search {
	for _, i := range c.units {
		a.in[i] = make([]int32, len(a.nodes))
	}
	s := &search{c: c, seen: map[string]bool{}, first: true, steps: steps, columns: newColumns(a, c)}
	s.out = outcome{component: c, ownMost: make([]int, len(c.owners)), ownLeast: make([]int, len(c.owners)), least: c.pods, never: true, always: true}
	s.left = make([]int, len(c.units))
	for i, u := range c.units {
		s.left[i] = a.units[u].pods
		s.out.ownLeast[c.owner[i]] += s.left[i]
	}
	return s
}

// explore runs the search from the current state of the instance.
func (a *instance) explore(c component, steps *int) outcome {
	s := a.newSearch(c, steps)
	defer s.close()
	s.out.decided = s.visit(c.pods)
	s.out.exact = s.out.decided
	if s.out.always || s.out.never {
		s.out.proof.Kind = certificate.Explored
	}
	return s.out
}

// close gives up what the instance keeps for a search.
func (s *search) close() {
	for _, i := range s.c.units {
		s.a.in[i] = nil
	}
}

// visit explores from here; false if the budget is over.
func (s *search) visit(left int) bool {
	s.a.m.Run().Spend(2 + len(s.a.nodes)/model.PerStep)
	if *s.steps -= len(s.a.nodes); *s.steps < 0 {
		return false
	}
	key := s.key()
	if s.seen[string(key)] {
		return true
	}
	s.seen[string(key)] = true
	maximal := true
	for i, u := range s.c.units {
		if s.left[i] == 0 {
			continue
		}
		var few [16]int32
		tried := few[:0]
		for _, n := range s.a.units[u].nodes.list {
			n := int(n)
			was := s.column[n]
			if slices.Contains(tried, was) {
				continue // like nodes take alike, and one is enough
			}
			tried = append(tried, was)
			if *s.steps--; *s.steps < 0 {
				return false
			}
			if !s.a.takes(u, n) {
				continue
			}
			maximal = false
			s.a.place(u, n)
			s.left[i]--
			s.path = append(s.path, step{u, n})
			s.put(i, n)
			ok := s.visit(left - 1)
			s.column[n] = was
			s.path = s.path[:len(s.path)-1]
			s.left[i]++
			s.a.unplace(u, n)
			if !ok {
				return false
			}
		}
	}
	if maximal {
		s.maximal(left)
	}
	return !maximal || left > 0 || s.whole == nil || s.whole()
}

// maximal takes note of a state in which no pod can be placed any more.
func (s *search) maximal(left int) {
	placed := s.c.pods - left
	o := &s.out
	if s.first || placed > o.most {
		o.most, o.best = placed, slices.Clone(s.path)
	}
	if s.first || placed < o.least {
		o.least, o.worst = placed, slices.Clone(s.path)
	}
	own := make([]int, len(s.c.owners))
	for i, u := range s.c.units {
		own[s.c.owner[i]] += s.a.units[u].pods - s.left[i]
	}
	for i, got := range own {
		o.ownMost[i], o.ownLeast[i] = max(o.ownMost[i], got), min(o.ownLeast[i], got)
	}
	o.never = o.never && left > 0
	o.always = o.always && left == 0
	s.first = false
}
