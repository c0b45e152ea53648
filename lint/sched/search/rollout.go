package search

import (
	"errors"
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Roll explores all states of a rollout within the step budget. Deleted pods disappear at once,
// because waiting for a terminating pod only delays a new one (R-W5). A terminating pod still
// counts for affinity (R-A1). If a new pod may need a terminating pod nearby, the verdict is
// unknown unless the search finds both outcomes.
func Roll(m *model.Model, r certificate.Rollout, o Options) (out certificate.Rolled) {
	if !m.Run().Within(m.Run().Left(), func() { out = roll(m, r, o) }) {
		m.Run().Stops++
		return certificate.Rolled{Verdict: diag.Unknown}
	}
	return out
}

func roll(m *model.Model, r certificate.Rollout, o Options) certificate.Rolled {
	steps, check := budget(m, o)
	parts := m.Split()
	s := newRolling(newState(parts, true, nil), r, &steps)
	if s == nil {
		return certificate.Rolled{Verdict: diag.Unknown}
	}
	defer s.search.close()
	out := s.outcome()
	if out.Verdict == diag.Unknown {
		if steps < 0 {
			m.Run().Stops++
		}
		return certificate.Rolled{Verdict: diag.Unknown, Skewed: out.Skewed}
	}
	switch err := certificate.CheckerOf(parts).Roll(parts, r, &out, check); {
	case errors.Is(err, certificate.ErrTooLong):
		m.Run().Stops++
		return certificate.Rolled{Verdict: diag.Unknown}
	case err != nil:
		m.Run().Refuse([]*workload.Workload{r.Old}, fmt.Errorf("a rollout does not hold: %w", err))
		return certificate.Rolled{Verdict: diag.Unknown}
	}
	return out
}

// rolling explores a rollout. From every placement of the old pods, it explores all moves of the
// controller and the scheduler.
type rolling struct {
	certificate.Rollout
	*search
	old, fresh int // indices of the old and the new pod group
	replicas   int // of the old pods
	all        int // of the new pods
	visited    map[string]bool
	moved      []step // unit -1-u stands for the removal of a pod of unit u
	stuck      []step // the first sequence of moves after which nothing can move
	begun      bool
	stalled    bool
	done       bool
	skewed     bool
}

// newRolling prepares the search. The old pods and the new pods must each form one pod group, and
// both groups must have the same size unless old pods stay until all new ones run. Otherwise,
// newRolling returns nil. It also returns nil if the result would depend on facts that only the
// cluster knows.
func newRolling(a *state, r certificate.Rollout, steps *int) *rolling {
	old, fresh := a.unitsOf[r.Old], a.unitsOf[r.Fresh]
	if len(old) != 1 || len(fresh) != 1 || r.Old.Kind.PerNode() || !r.Whole && a.units[old[0]].pods != a.units[fresh[0]].pods {
		return nil
	}
	c, known := a.everything()
	if !known {
		return nil
	}
	if r.Fresh.SharedPin && r.Fresh.Pin != "" { // nodes of different domains are not equivalent
		in := map[string][]bool{}
		for n, node := range a.nodes {
			if value, has := node.Labels[r.Fresh.Pin]; has {
				lazy.Cached(in, value, func() []bool { return make([]bool, len(a.nodes)) })[n] = true
			}
		}
		for _, value := range model.SortedKeys(in) {
			a.places = append(a.places, in[value])
		}
	}
	s := &rolling{Rollout: r, search: newSearch(a, c, steps), old: old[0], fresh: fresh[0], replicas: a.units[old[0]].pods, all: a.units[fresh[0]].pods, visited: map[string]bool{}}
	s.left[s.index(s.fresh)] = 0
	s.short, s.whole = r.Waits, func() bool { return a.units[s.old].placed < s.replicas || s.goOn() }
	return s
}

// outcome explores all states.
func (s *rolling) outcome() certificate.Rolled {
	whole := s.search.visit(s.search.c.pods - s.a.units[s.fresh].pods)
	out := certificate.Rolled{Verdict: s.verdict(whole), Skewed: s.skewed && whole}
	for _, v := range s.stuck {
		gone := v.unit < 0
		if gone {
			v.unit = -1 - v.unit
		}
		out.Stuck = append(out.Stuck, certificate.Move{Workload: s.a.units[v.unit].g.Origin(), Node: s.a.nodes[v.node], Gone: gone})
	}
	return out
}

func (s *rolling) index(unit int) int { return slices.Index(s.c.units, unit) }

// verdict returns the rollout's verdict. If both old pods and other pods are peers of the new pods,
// the verdict may be unknown, because a terminating old pod may be the only peer in its domain. If
// only old and new pods are peers, all peers are in one domain.
func (s *rolling) verdict(whole bool) diag.Outcome {
	old, others := false, false
	for _, c := range s.a.units[s.fresh].peers {
		old = old || c.unit == s.old
		others = others || c.unit != s.old && c.unit != s.fresh
	}
	switch {
	case s.stalled && s.done:
		return diag.Sometimes
	case !whole || !s.begun || old && others && !s.Empty && !s.Whole:
		return diag.Unknown
	case s.stalled:
		return diag.Never
	}
	return diag.Always
}

// goOn continues the exploration from the current state. It returns false if the search can stop:
// the budget is exhausted, or both outcomes have been found.
func (s *rolling) goOn() bool {
	if s.stalled && s.done {
		return false // both outcomes have been found
	}
	if *s.steps -= len(s.a.nodes); *s.steps < 0 {
		return false
	}
	key := string(s.key())
	if s.visited[key] {
		return true
	}
	s.visited[key] = true
	old, fresh := s.a.units[s.old].placed, s.a.units[s.fresh].placed
	ready, together := s.ready()
	if old > 0 && !together { // not all old pods run
		return true
	}
	s.begun = true
	if (old == 0 || s.Whole) && fresh == s.all && ready == fresh { // nothing keeps old pods beside a whole set of new ones
		s.done = true
		s.skewed = s.skewed || s.uneven()
		return true
	}
	moved := false
	if fresh < s.all && old+fresh < s.replicas+s.Surge && !(s.Empty && old > 0) { // the controller creates another new pod
		some, ok := s.add(s.fresh)
		if !ok {
			return false
		}
		moved = some
	}
	if old > 0 && !s.Whole && (s.Empty || old+ready > s.replicas-s.Unavailable) { // the controller deletes an old pod
		moved = true
		if !s.retire() {
			return false
		}
	}
	if s.Waits {
		some, ok := s.fill()
		if moved = moved || some; !ok {
			return false
		}
	}
	if !moved && !s.stalled {
		s.stalled = true
		s.stuck = append(slices.Clone(s.path), s.moved...)
	}
	return true
}

// ready returns how many new pods run. If the pods use a volume that is attached to one node at a
// time, those on other nodes than the old pods hang, and without old pods those that are not on one
// node (R-N44). The result together is false if old pods hang.
func (s *rolling) ready() (pods int, together bool) {
	fresh, old := s.a.units[s.fresh].placed, s.a.units[s.old].placed
	if s.Fresh.Attached != diag.Always {
		return fresh, true
	}
	most := 0
	for n, in := range s.a.in[s.old] {
		switch news := int(s.a.in[s.fresh][n]); {
		case int(in) == old && (old > 0 || news > most):
			most, together = news, true
		}
	}
	return most, together
}

// follows reports whether the volume of the old pods can be used on a node (R-W35).
func (s *rolling) follows(n int) bool {
	if !s.Fresh.SharedPin || s.Fresh.Pin == "" {
		return true
	}
	value, has := s.a.nodes[n].Labels[s.Fresh.Pin]
	return has && slices.ContainsFunc(s.a.units[s.old].nodes.list, func(o int32) bool {
		return s.a.in[s.old][o] > 0 && s.a.nodes[o].Labels[s.Fresh.Pin] == value
	})
}

// fill places a waiting pod of each other workload on each node that accepts it, and explores each
// resulting state.
func (s *rolling) fill() (moved, ok bool) {
	for i, u := range s.c.units {
		if u == s.old || u == s.fresh || s.left[i] == 0 {
			continue
		}
		s.left[i]--
		some, ok := s.add(u)
		s.left[i]++
		if moved = moved || some; !ok {
			return moved, false
		}
	}
	return moved, true
}

// add places a pod of a pod group on each node that accepts it, and explores each resulting state.
func (s *rolling) add(u int) (moved, ok bool) {
	var tried []int32
	for _, n := range s.a.units[u].nodes.list {
		n := int(n)
		was := s.column[n]
		if slices.Contains(tried, was) {
			continue
		}
		tried = append(tried, was)
		if *s.steps--; *s.steps < 0 {
			return false, false
		}
		if u == s.fresh && !s.follows(n) || !s.a.takes(u, n) {
			continue
		}
		moved = true
		s.a.place(u, n)
		s.put(s.index(u), n)
		s.moved = append(s.moved, step{u, n})
		ok := s.goOn()
		s.moved = s.moved[:len(s.moved)-1]
		s.column[n] = was
		s.a.unplace(u, n)
		if !ok {
			return true, false
		}
	}
	return moved, true
}

// retire removes each old pod in turn, and explores each resulting state.
func (s *rolling) retire() bool {
	var tried []int32
	for n, pods := range s.a.in[s.old] {
		was := s.column[n]
		if pods == 0 || slices.Contains(tried, was) {
			continue
		}
		tried = append(tried, was)
		s.a.unplace(s.old, n)
		s.drop(n)
		s.moved = append(s.moved, step{-1 - s.old, n})
		ok := s.goOn()
		s.moved = s.moved[:len(s.moved)-1]
		s.column[n] = was
		s.a.place(s.old, n)
		if !ok {
			return false
		}
	}
	return true
}

// uneven reports whether the new pods, counted alone, violate one of their spread constraints.
func (s *rolling) uneven() bool {
	for _, c := range s.a.units[s.fresh].spreads {
		if !slices.ContainsFunc(c.watch, func(w located) bool { return w.unit == s.fresh }) || len(c.domains) == 0 {
			continue
		}
		count := map[int]int{}
		for n, pods := range s.a.in[s.fresh] {
			if c.counted[n] {
				count[int(s.a.domain[c.key][n])] += int(pods)
			}
		}
		least, most := s.replicas, 0
		for _, d := range c.domains {
			least, most = min(least, count[d]), max(most, count[d])
		}
		if most-least > c.maxSkew {
			return true
		}
	}
	return false
}
