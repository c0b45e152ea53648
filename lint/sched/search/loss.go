package search

import (
	"errors"
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Lose starts from every placement of all pods and removes the lost nodes. It explores all repairs
// in every order, within the step budget.
func Lose(m *model.Model, l certificate.Loss, o Options) []certificate.Lost {
	var out []certificate.Lost
	if !m.Run().Within(m.Run().Left(), func() { out = lose(m, l, o) }) {
		m.Run().Stops++
		return unknownLosses(m)
	}
	return out
}

func lose(m *model.Model, l certificate.Loss, o Options) []certificate.Lost {
	steps, check := budget(m, o)
	parts := m.Split()
	if slices.ContainsFunc(m.Workloads, func(w *workload.Workload) bool { return m.Groups[w].Placeable() && l.Tolerates(w) }) {
		return unknownLosses(m)
	}
	s := newLosing(newState(parts, true, nil), l, &steps)
	if s == nil {
		return unknownLosses(m)
	}
	defer s.search.close()
	out := s.answers(s.search.visit(s.search.c.pods))
	if steps < 0 && !s.mixed() {
		m.Run().Stops++
	}
	err := certificate.CheckerOf(parts).Lose(parts, l, out, check)
	if errors.Is(err, certificate.ErrTooLong) && slices.ContainsFunc(out, func(o certificate.Lost) bool { return o.Hit > 0 }) { // without the lower bounds in Hit, the check may be short enough
		for i := range out {
			out[i].Hit = 0
		}
		err = certificate.CheckerOf(parts).Lose(parts, l, out, check)
	}
	switch {
	case errors.Is(err, certificate.ErrTooLong):
		m.Run().Stops++
		return unknownLosses(m)
	case err != nil:
		m.Run().Refuse(m.Workloads, fmt.Errorf("a loss does not hold: %w", err))
		return unknownLosses(m)
	}
	for _, o := range out {
		for i := range o.Stuck {
			o.Stuck[i].Workload = parts.Groups[o.Stuck[i].Workload].Origin()
		}
	}
	return out
}

// losing explores a loss. For each placement of all pods, it explores all ways to place the lost
// pods again on the remaining nodes.
type losing struct {
	certificate.Loss
	*search
	lost []bool // by node
	// remain lists each constraint's domains after the loss. honours marks the constraints that
	// ignore pods on tainted nodes (R-T3).
	remain  map[*constraint][]int
	honours map[*constraint]bool
	// to marks, for each pod group, the nodes to which its lost pods may move. Nil stands for all.
	to      [][]bool
	rest    []int             // for each pod group, the number of lost pods that no controller recreates
	visited map[string]uint64 // states already explored after the loss, with the hits that led to them
	gone    []step            // placements that the loss removed, for moves
	hits    uint64            // bit set of the owners that lose pods in the current state; unused with more than 64 owners
	again   []step
	ends    []ending // by owner
	begun   bool
	// start is the initial step budget. more is the step budget for the search after all verdicts
	// are known. That search looks for runs in which an owner loses a pod.
	start, more int
}

// ending describes the numbers of an owner's pods that are missing at the end of the runs. fewest
// and most are the smallest and the largest number. hit is the smallest number among the runs in
// which the owner loses a pod. struck is set if there is such a run.
type ending struct {
	seen, struck      bool
	fewest, most, hit int
	stuck             []certificate.Move
}

// newLosing prepares the search. It returns nil if the result would depend on facts that only the
// cluster knows.
func newLosing(a *state, l certificate.Loss, steps *int) *losing {
	c, known := a.everything()
	if !known {
		return nil
	}
	s := &losing{Loss: l, lost: make([]bool, len(a.nodes)), remain: map[*constraint][]int{}, honours: map[*constraint]bool{}, visited: map[string]uint64{}, start: *steps}
	for n, node := range a.nodes {
		s.lost[n] = l.Nodes[node.Name]
	}
	a.places = append(a.places, s.lost) // keeps lost nodes from being treated as equivalent to other nodes
	s.to = make([][]bool, len(a.units))
	for i, u := range a.units {
		if s.to[i], known = model.MayMove(u.g.Workload, a.nodes, func(n int) bool { return s.lost[n] }); !known {
			return nil
		}
		if s.to[i] != nil {
			a.places = append(a.places, s.to[i])
		}
	}
	s.search = newSearch(a, c, steps)
	s.rest, s.ends = make([]int, len(c.units)), make([]ending, len(c.owners))
	for _, u := range a.units {
		hard := slices.Collect(u.g.Hard(model.Spread))
		for i, c := range u.spreads { // the domains that still have a counted node after the loss
			s.honours[c] = hard[i].HonorsTaints()
			s.remain[c] = c.domains
			if s.Meaning != certificate.Gone && !s.honours[c] {
				continue
			}
			left := make([]bool, len(c.count))
			for n, counted := range c.counted {
				if counted && !s.lost[n] {
					left[a.domain[c.key][n]] = true
				}
			}
			s.remain[c] = slices.DeleteFunc(slices.Clone(c.domains), func(d int) bool { return !left[d] })
		}
	}
	s.whole = s.loseNodes
	return s
}

// mixed reports whether every owner ends up complete in some run and incomplete in another.
func (s *losing) mixed() bool {
	return !slices.ContainsFunc(s.ends, func(e ending) bool { return !e.seen || e.fewest > 0 || e.most == 0 })
}

// loseNodes starts from a state with all pods placed. It removes the lost nodes, explores all
// repairs, and puts the nodes back. It returns false if the search can stop: the budget is
// exhausted, or every verdict is settled.
func (s *losing) loseNodes() bool {
	s.begun = true
	open := func(e ending) bool { return !e.seen || e.fewest > 0 || e.most == 0 || !e.struck || e.hit > 0 }
	if !slices.ContainsFunc(s.ends, open) {
		return false
	}
	if s.more == 0 && s.mixed() { // finding the hits may take as many steps again
		s.more = s.start - *s.steps + 1_000
		*s.steps = min(*s.steps, s.more)
	}
	if *s.steps -= len(s.a.nodes); *s.steps < 0 {
		return false
	}
	if s.hits = 0; len(s.ends) <= 64 {
		for i, u := range s.c.units {
			for _, n := range s.a.units[u].nodes.list {
				if s.onLost(u, int(n)) > 0 && !s.a.units[u].g.Kind.PerNode() {
					s.hits |= 1 << s.c.owner[i]
				}
			}
		}
	}
	apply := s.applyLoss
	if s.Stepwise {
		apply = s.cordon
	}
	apply(-1)
	s.swap()
	ok := s.repair()
	s.swap()
	apply(1)
	return ok
}

// cordon subtracts the pods on lost nodes from the counts of spread constraints that ignore tainted
// nodes. It can also add the pods back.
func (s *losing) cordon(by int32) {
	for _, i := range s.c.units {
		for _, n := range s.a.units[i].nodes.list {
			for range s.onLost(i, int(n)) {
				s.count(step{i, int(n)}, by, true)
			}
		}
	}
}

// onLost returns how many of a pod group's pods are on a node, or 0 if the node is not lost.
func (s *losing) onLost(i, n int) int32 {
	if !s.lost[n] {
		return 0
	}
	return s.a.in[i][n]
}

// exploreEvictions explores each eviction that is possible next. The result any reports whether
// there is one. ok is false if the budget is exhausted.
func (s *losing) exploreEvictions() (any, ok bool) {
	missing := func(w *workload.Workload) (pods int) { // missing pods of an owner
		for i := range s.c.units {
			if s.c.owners[s.c.owner[i]] == w {
				pods += s.left[i] + s.rest[i]
			}
		}
		return pods
	}
	for i, u := range s.c.units {
		g := s.a.units[u].g
		if g.Kind.PerNode() || !s.Evicts(g, missing) {
			continue
		}
		for _, n := range s.a.units[u].nodes.list {
			if s.onLost(u, int(n)) == 0 {
				continue
			}
			any = true
			if !s.exploreAfterEviction(i, step{u, int(n)}, &s.rest[i]) {
				return true, false
			}
		}
	}
	return any, true
}

// exploreAfterEviction explores the state after a pod is evicted. The old pod may satisfy the
// required affinity of its replacement while it is still terminating. In this case,
// exploreAfterEviction also explores the states in which the replacement is already placed.
func (s *losing) exploreAfterEviction(i int, v step, rest *int) bool {
	was := s.column[v.node]
	g := s.a.units[v.unit].g
	if s.CreatedAgain(g) {
		rest = &s.left[i]
	}
	*rest++
	s.remove(v, -1)
	ok := s.repair()
	s.remove(v, 1)
	if ok && s.Overlaps(g) && len(s.a.units[v.unit].affinityKeys) > 0 {
		ok = s.overlaps(i, v)
	}
	*rest--
	s.column[v.node] = was
	return ok
}

// remove takes a pod off its lost node, or puts it back.
func (s *losing) remove(v step, by int32) {
	s.count(v, -by, true) // the constraints that ignore tainted nodes have already dropped it
	s.a.change(v.unit, v.node, by)
	s.drop(v.node)
}

// overlaps explores the states in which a terminating pod's replacement is already placed. It tries
// each node that accepts the replacement. Only spread constraints ignore a terminating pod (R-A1,
// R-T4, T23).
func (s *losing) overlaps(i int, v step) bool {
	var tried []int32
	for _, n := range s.a.units[v.unit].nodes.list {
		n := int(n)
		was := s.column[n]
		if !s.mayTake(v.unit, n) || slices.Contains(tried, was) {
			continue
		}
		tried = append(tried, was)
		if *s.steps--; *s.steps < 0 {
			return false
		}
		s.ignore(v, -1)
		takes := s.a.takes(v.unit, n)
		s.ignore(v, 1)
		if !takes {
			continue
		}
		s.remove(v, -1)
		ok := s.replace(i, v.unit, n)
		s.remove(v, 1)
		if !ok {
			return false
		}
	}
	return true
}

// ignore subtracts a pod on a lost node from the spread constraints that still count the pod. It
// can also add the pod back.
func (s *losing) ignore(v step, by int32) {
	s.count(v, -by, true)
	s.count(v, by, false)
}

// swap exchanges the constraints' domains with the domains after the loss. A second call restores
// the domains.
func (s *losing) swap() {
	for c, left := range s.remain {
		s.remain[c], c.domains = c.domains, left
	}
}

// applyLoss applies the loss to every pod on the lost nodes if by is -1. If by is 1, it reverts the
// loss.
func (s *losing) applyLoss(by int32) {
	if by > 0 {
		for _, v := range slices.Backward(s.gone) {
			s.applyPodLoss(v, by)
		}
		s.gone = s.gone[:0]
		return
	}
	for i, u := range s.a.units {
		for _, n := range u.nodes.list {
			if !s.lost[n] {
				continue
			}
			pods := int32(0)
			switch {
			case u.g.Running:
				pods = 1
			case s.a.in[i] != nil:
				pods = s.a.in[i][n]
			}
			for range pods {
				s.gone = append(s.gone, step{i, int(n)})
			}
		}
	}
	for _, v := range s.gone {
		s.applyPodLoss(v, by)
	}
}

func (s *losing) applyPodLoss(v step, by int32) {
	u := s.a.units[v.unit]
	daemon := u.g.Kind.PerNode()
	switch {
	case daemon && s.Meaning != certificate.Gone:
		s.count(v, by, true) // the pod stays, because it tolerates the taint
		return
	case s.Meaning == certificate.Unreachable:
		s.count(v, by, false)
	default:
		s.a.change(v.unit, v.node, by)
		s.drop(v.node)
	}
	if u.g.Running || daemon {
		return
	}
	i := slices.Index(s.c.units, v.unit)
	if s.CreatedAgain(u.g) {
		s.left[i] -= int(by)
	} else {
		s.rest[i] -= int(by)
	}
}

// count adds the argument by to the counts of the spread constraints that count pod v. If honouring
// is set, it changes only constraints that ignore pods on tainted nodes.
func (s *losing) count(v step, by int32, honouring bool) {
	for _, c := range s.a.watchers[v.unit] {
		if c.counted[v.node] && s.a.inPlace(v.node, c.place) && (!honouring || s.honours[c.constraint]) {
			c.constraint.count[s.a.domain[c.key][v.node]] += by
		}
	}
}

// waits reports whether a pod group's pods are not created yet, because an earlier group has no
// placed pod.
func (s *losing) waits(u *podGroup) bool {
	for v := u.createdAfter; v != nil; v = v.createdAfter {
		if v.placed == 0 {
			return true
		}
	}
	return false
}

// repair explores all ways to place the lost pods again from the current state. If Stepwise is set,
// it also explores further evictions. It returns false if the budget is exhausted.
func (s *losing) repair() bool {
	if *s.steps -= len(s.a.nodes); *s.steps < 0 {
		return false
	}
	key := string(s.key())
	if seen, known := s.visited[key]; known && s.hits&^seen == 0 {
		return true
	}
	s.visited[key] |= s.hits
	maximal := true
	for i, u := range s.c.units {
		if s.left[i] == 0 || s.waits(s.a.units[u]) {
			continue
		}
		var few [16]int32
		tried := few[:0]
		for _, n := range s.a.units[u].nodes.list {
			n := int(n)
			was := s.column[n]
			if !s.mayTake(u, n) || slices.Contains(tried, was) {
				continue
			}
			tried = append(tried, was)
			if *s.steps--; *s.steps < 0 {
				return false
			}
			if !s.a.takes(u, n) {
				continue
			}
			maximal = false
			if !s.replace(i, u, n) {
				return false
			}
		}
	}
	if s.Stepwise {
		any, ok := s.exploreEvictions()
		if !ok {
			return false
		}
		maximal = maximal && !any
	}
	if maximal {
		s.end()
	}
	return true
}

// mayTake reports whether a lost pod of a pod group may be placed again on a node, as far as the loss
// and the pod's volumes are concerned.
func (s *losing) mayTake(unit, n int) bool {
	return !s.lost[n] && (s.to[unit] == nil || s.to[unit][n])
}

// replace places a lost pod again, explores the resulting state, and removes the pod.
func (s *losing) replace(i, u, n int) bool {
	was := s.column[n]
	s.a.place(u, n)
	s.put(i, n)
	s.left[i]--
	s.again = append(s.again, step{u, n})
	ok := s.repair()
	s.again = s.again[:len(s.again)-1]
	s.left[i]++
	s.column[n] = was
	s.a.unplace(u, n)
	return ok
}

// end records a state in which no more pods can be placed.
func (s *losing) end() {
	missing := make([]int, len(s.ends))
	for i := range s.c.units {
		missing[s.c.owner[i]] += s.left[i] + s.rest[i]
	}
	for _, v := range s.again {
		if s.Hangs(s.a.units[v.unit].g.Workload) {
			missing[s.c.owner[slices.Index(s.c.units, v.unit)]]++
		}
	}
	for k := range s.ends {
		e := &s.ends[k]
		if !e.seen {
			e.seen, e.fewest = true, missing[k]
		}
		e.fewest = min(e.fewest, missing[k])
		if s.hits>>k&1 == 1 && (!e.struck || missing[k] < e.hit) {
			e.struck, e.hit = true, missing[k]
		}
		if missing[k] > e.most {
			if e.most = missing[k]; !s.Stepwise {
				var all []certificate.Move
				add := func(steps []step, gone bool) {
					for _, v := range steps {
						u := s.a.units[v.unit]
						if !gone || !u.g.Running && !u.g.Kind.PerNode() {
							all = append(all, certificate.Move{Workload: u.g.Workload, Node: s.a.nodes[v.node], Gone: gone})
						}
					}
				}
				add(s.path, false)
				add(s.gone, true)
				add(s.again, false)
				e.stuck = all
			}
		}
	}
}

// answers returns the result for each workload. whole is set if the search explored everything.
func (s *losing) answers(whole bool) []certificate.Lost {
	var all []certificate.Lost
	whole = whole && s.begun
	for k, w := range s.c.owners {
		e, o := &s.ends[k], certificate.Lost{Workload: w, Verdict: diag.Unknown}
		switch {
		case e.seen && e.fewest == 0 && e.most > 0:
			o.Verdict, o.Pending, o.Stuck = diag.Sometimes, e.most, e.stuck
			if whole {
				o.Hit = e.hit
			}
		case !whole:
		case e.most == 0:
			o.Verdict = diag.Always
		default:
			o.Verdict, o.Pending = diag.Never, e.fewest
		}
		all = append(all, o)
	}
	return all
}

// unknownLosses returns an unknown verdict for every workload that may be placed.
func unknownLosses(m *model.Model) []certificate.Lost {
	var all []certificate.Lost
	for g := range m.Placeable() {
		all = append(all, certificate.Lost{Workload: g.Workload, Verdict: diag.Unknown})
	}
	return all
}
