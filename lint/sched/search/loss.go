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

// Lose goes through all placements of all pods, loses nodes after each, and
// goes through all repairs, within the budget. The order of repairs is free.
func Lose(m *model.Model, l certificate.Loss, o Options) []certificate.Lost {
	var out []certificate.Lost
	if !m.Run().Within(m.Run().Left(), func() { out = lose(m, l, o) }) {
		m.Run().Stops++
		return open(l, m)
	}
	return out
}

func lose(m *model.Model, l certificate.Loss, o Options) []certificate.Lost {
	steps, check := budget(m, o)
	parts := m.Split()
	if !told(l, m) {
		return open(l, m)
	}
	s := newLosing(newState(parts, true, nil), l, &steps)
	if s == nil {
		return open(l, m)
	}
	defer s.search.close()
	out := s.answers(s.search.visit(s.search.c.pods))
	if steps < 0 {
		m.Run().Stops++
	}
	switch err := certificate.CheckerOf(parts).Lose(parts, l, out, check); {
	case errors.Is(err, certificate.ErrTooLong):
		m.Run().Stops++
		return open(l, m)
	case err != nil:
		m.Run().Refuse(m.Workloads, fmt.Errorf("a loss does not hold: %w", err))
		return open(l, m)
	}
	for _, o := range out {
		for i := range o.Stuck {
			o.Stuck[i].Workload = parts.Groups[o.Stuck[i].Workload].Origin()
		}
	}
	return out
}

// losing explores a loss: how all pods can be placed, and from each such state
// without the lost nodes how those that were lost can be placed again.
type losing struct {
	certificate.Loss
	*search
	lost []bool // by node
	// remain are the domains of a constraint after the loss; honours tells which
	// constraints do not count the pods on tainted nodes (R-T3).
	remain  map[*constraint][]int
	honours map[*constraint]bool
	rest    []int // pods of each pod group that nobody creates again
	visited map[string]bool
	gone    []step // what the loss took, for the moves
	again   []step
	ends    []ending // by owner
	begun   bool
}

// ending is how many pods of an owner are missing in the end.
type ending struct {
	seen         bool
	fewest, most int
	stuck        []certificate.Move
}

// newLosing is nil if what the search would say depends on what only the
// cluster knows.
func newLosing(a *state, l certificate.Loss, steps *int) *losing {
	c := component{}
	for i, u := range a.units {
		if len(u.unsure) > 0 || len(Unlisted(a.m, u.g.Workload)) > 0 {
			return nil
		}
		if !u.g.Running {
			c.add(i, u)
		}
	}
	s := &losing{Loss: l, lost: make([]bool, len(a.nodes)), remain: map[*constraint][]int{}, honours: map[*constraint]bool{}, visited: map[string]bool{}}
	for n, node := range a.nodes {
		s.lost[n] = l.Nodes[node.Name]
	}
	a.places = append(a.places, s.lost) // a lost node is like no other
	s.search = newSearch(a, c, steps)
	s.rest, s.ends = make([]int, len(c.units)), make([]ending, len(c.owners))
	for _, u := range a.units {
		s.constraints(u)
	}
	s.whole = s.loseNodes
	return s
}

// constraints finds out which domains the constraints of a pod group have after the
// loss: those with a node that counts still.
func (s *losing) constraints(u *podGroup) {
	hard := slices.DeleteFunc(slices.Clone(u.g.Terms), func(t *model.Term) bool { return t.Use != model.Spread || !t.Hard })
	for i, c := range u.spreads {
		s.honours[c] = hard[i].HonorsTaints()
		s.remain[c] = c.domains
		if s.Meaning != certificate.Gone && !s.honours[c] {
			continue
		}
		left := make([]bool, len(c.count))
		for n, counted := range c.counted {
			if counted && !s.lost[n] {
				left[s.a.domain[c.key][n]] = true
			}
		}
		s.remain[c] = slices.DeleteFunc(slices.Clone(c.domains), func(d int) bool { return !left[d] })
	}
}

// settled reports whether nothing more can be found out.
func (s *losing) settled() bool {
	return !slices.ContainsFunc(s.ends, func(e ending) bool { return !e.seen || e.fewest > 0 || e.most == 0 })
}

// loseNodes loses the nodes in a state with all pods in place, and puts them back
// when all repairs were tried; false if the budget is over.
func (s *losing) loseNodes() bool {
	s.begun = true
	if s.settled() {
		return false
	}
	if *s.steps -= len(s.a.nodes); *s.steps < 0 {
		return false
	}
	s.lose(-1)
	s.swap()
	ok := s.repair()
	s.swap()
	s.lose(1)
	return ok
}

// swap exchanges the domains of constraints for those after the loss.
func (s *losing) swap() {
	for c, left := range s.remain {
		s.remain[c], c.domains = c.domains, left
	}
}

// lose takes the pods off the lost nodes, or puts them back if by is 1.
func (s *losing) lose(by int32) {
	if by > 0 {
		for _, v := range slices.Backward(s.gone) {
			s.leave(v, by)
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
		s.leave(v, by)
	}
}

// leave is the loss of one pod, or its return.
func (s *losing) leave(v step, by int32) {
	u := s.a.units[v.unit]
	daemon := u.g.Kind.PerNode()
	switch {
	case daemon && s.Meaning != certificate.Gone:
		s.count(v, by, true) // it stays, and tolerates the taint
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

// count lets constraints that counted a pod forget it, or only those that do
// not count pods on tainted nodes.
func (s *losing) count(v step, by int32, honouring bool) {
	for _, c := range s.a.watchers[v.unit] {
		if c.counted[v.node] && s.a.lies(v.node, c.place) && (!honouring || s.honours[c.constraint]) {
			c.constraint.count[s.a.domain[c.key][v.node]] += by
		}
	}
}

// waits reports whether a pod is not created yet for want of others.
func (s *losing) waits(u *podGroup) bool {
	for v := u.after; v != nil; v = v.after {
		if v.placed == 0 {
			return true
		}
	}
	return false
}

// repair explores from a state after the loss; false if the budget is over.
func (s *losing) repair() bool {
	if *s.steps -= len(s.a.nodes); *s.steps < 0 {
		return false
	}
	key := string(s.key())
	if s.visited[key] {
		return true
	}
	s.visited[key] = true
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
			if s.lost[n] || slices.Contains(tried, was) {
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
	if maximal {
		s.end()
	}
	return true
}

// replace places a pod again, goes on and takes it away.
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

// end takes note of a state in which nothing can be placed any more.
func (s *losing) end() {
	missing := make([]int, len(s.ends))
	for i := range s.c.units {
		missing[s.c.owner[i]] += s.left[i] + s.rest[i]
	}
	for k := range s.ends {
		e := &s.ends[k]
		if !e.seen {
			e.seen, e.fewest = true, missing[k]
		}
		e.fewest = min(e.fewest, missing[k])
		if missing[k] > e.most {
			e.most, e.stuck = missing[k], s.moves()
		}
	}
}

// moves are the run that led here, of pods that are told apart each as its own.
func (s *losing) moves() []certificate.Move {
	var all []certificate.Move
	add := func(steps []step, gone bool) {
		for _, v := range steps {
			u := s.a.units[v.unit]
			if gone && (u.g.Running || u.g.Kind.PerNode()) {
				continue
			}
			all = append(all, certificate.Move{Workload: u.g.Workload, Node: s.a.nodes[v.node], Gone: gone})
		}
	}
	add(s.path, false)
	add(s.gone, true)
	add(s.again, false)
	return all
}

// answers are what is known of each workload; whole is set if everything was
// explored.
func (s *losing) answers(whole bool) []certificate.Lost {
	var all []certificate.Lost
	for k, w := range s.c.owners {
		all = append(all, s.ends[k].answer(w, whole && s.begun))
	}
	return all
}

func (e *ending) answer(w *workload.Workload, whole bool) certificate.Lost {
	switch {
	case e.seen && e.fewest == 0 && e.most > 0:
		return certificate.Lost{Workload: w, Verdict: diag.Sometimes, Pending: e.most, Stuck: e.stuck}
	case !whole:
		return certificate.Lost{Workload: w, Verdict: diag.Unknown}
	case e.most == 0:
		return certificate.Lost{Workload: w, Verdict: diag.Always}
	}
	return certificate.Lost{Workload: w, Verdict: diag.Never, Pending: e.fewest}
}
