package check

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// absence is a loss of nodes as the checker sees it.
type absence struct {
	nodes   map[int]bool
	meaning certificate.Meaning
	domains map[*model.Term]map[string]bool // that constraints have still
}

func (x *absence) from(n int) bool { return x != nil && x.nodes[n] }

// hides tells whether a constraint does not count a node for the loss of it.
func (x *absence) hides(t *model.Term, n int) bool {
	return x.from(n) && (x.meaning == certificate.Gone || t.HonorsTaints())
}

func (x *absence) eligible(b *books, g *model.Group, t *model.Term) map[string]bool {
	if x.domains[t] == nil {
		x.domains[t] = map[string]bool{}
		for n, node := range b.m.Topology.Nodes {
			if b.counted(g, t, n, n) {
				x.domains[t][node.Labels[t.Key]] = true
			}
		}
	}
	return x.domains[t]
}

// losses goes through the states of a loss, as rolls does through a rollout.
type losses struct {
	*states
	l       certificate.Loss
	lost    *absence
	after   map[string]bool // states after the loss
	ends    map[*workload.Workload]*extent
	settled bool
	begun   bool
}

// extent is the fewest and the most pods that are missing in the end.
type extent struct{ fewest, most int }

// checkLoss holds answers about a loss against all its states, and runs against
// the filters.
func checkLoss(m *model.Model, l certificate.Loss, out []certificate.Lost, steps int) error {
	if !slices.ContainsFunc(out, func(o certificate.Lost) bool { return o.Verdict != diag.Unknown }) {
		return nil
	}
	s := &losses{l: l, lost: &absence{map[int]bool{}, l.Meaning, map[*model.Term]map[string]bool{}}, after: map[string]bool{}, ends: map[*workload.Workload]*extent{}}
	for n, node := range m.Topology.Nodes {
		if l.Nodes[node.Name] {
			s.lost.nodes[n] = true
		}
	}
	for _, o := range out {
		if o.Verdict == diag.Sometimes {
			if err := replayLoss(m, s.lost, l, o); err != nil {
				return err
			}
		}
	}
	s.states = &states{v: newNodeSets(nil, m, true), seen: map[string]bool{}, steps: steps, whole: func() { s.loseNodes() }}
	for _, w := range m.Workloads {
		if g := m.Groups[w]; model.Modelled(g) && !w.Running {
			s.join(g, s.v.count(g))
		}
	}
	s.classify()
	for n := range s.lost.nodes {
		s.class[n] += " lost"
	}
	s.visit()
	return s.hold(out)
}

// hold compares answers with what was found.
func (s *losses) hold(out []certificate.Lost) error {
	whole := s.steps > 0 && s.begun
	for _, o := range out {
		e := s.ends[o.Workload]
		if e == nil {
			e = &extent{}
		}
		mixed := e.fewest == 0 && e.most > 0
		switch {
		case o.Verdict == diag.Unknown, mixed && o.Verdict == diag.Sometimes:
			continue
		case mixed, e.most > 0 && o.Verdict == diag.Always, s.begun && e.fewest == 0 && o.Verdict == diag.Never:
			return fmt.Errorf("%s: the loss ends otherwise than %s", o.Workload, o.Verdict)
		case !whole:
			return certificate.ErrTooLong
		case o.Verdict == diag.Sometimes, o.Verdict == diag.Never && (o.Pending < 1 || o.Pending > e.fewest):
			return fmt.Errorf("%s: no loss ends as %s with %d pending says", o.Workload, o.Verdict, o.Pending)
		}
	}
	return nil
}

// loseNodes explores what follows on a loss in a state with all pods in place.
func (s *losses) loseNodes() {
	s.begun = true
	if s.settled || s.steps <= 0 {
		return
	}
	v := newNodeSets(s.lost, s.v.m, true)
	after := &states{v: v, members: s.members, left: make([]int, len(s.members)), class: s.class, columns: make([]string, len(s.on)), seen: s.after, steps: s.steps}
	rest := make([]int, len(s.members)) // pods that nobody creates again
	for n, pods := range s.on {
		on := make([]int, len(pods))
		for i, count := range pods {
			g := s.members[i].G
			for range count {
				v.survive(g, n)
			}
			if on[i] = count; !s.lost.nodes[n] || g.Kind.PerNode() {
				continue
			}
			if s.l.CreatedAgain(g) {
				after.left[i] += count
			} else {
				rest[i] += count
			}
			if s.l.Meaning != certificate.Unreachable {
				on[i] = 0
			}
		}
		after.on = append(after.on, on)
	}
	after.ended = func() { s.end(after.left, rest) }
	after.visit()
	s.steps = after.steps
}

// end takes note of a state in which nothing can be placed any more.
func (s *losses) end(left, rest []int) {
	missing := map[*workload.Workload]int{}
	for i, m := range s.members {
		missing[m.G.Origin()] += left[i] + rest[i]
	}
	s.settled = true
	for w, pods := range missing {
		e := s.ends[w]
		if e == nil {
			e = &extent{fewest: pods}
			s.ends[w] = e
		}
		e.fewest, e.most = min(e.fewest, pods), max(e.most, pods)
		s.settled = s.settled && e.fewest == 0 && e.most > 0
	}
}

// replayLoss checks the run that leaves pods missing: all pods are placed, the
// loss takes what it takes, and nothing can be placed after the last move.
func replayLoss(m *model.Model, lost *absence, l certificate.Loss, o certificate.Lost) error {
	v, after := newNodeSets(nil, m, true), newNodeSets(lost, m, true)
	missing, struck := map[*model.Group]int{}, false
	for i, move := range o.Stuck {
		n, ok := m.IndexOf(move.Node.Name)
		g := m.Groups[move.Workload]
		switch {
		case !ok || g == nil:
			return fmt.Errorf("move %d: no such node or pod", i)
		case move.Gone && lost.nodes[n]:
			struck = true
			missing[g]++
		case move.Gone:
			return fmt.Errorf("move %d: %s is not lost", i, move.Node.Name)
		case !struck:
			if why := v.refuses(g, n); why != certificate.Takes || v.waits(g) {
				return fmt.Errorf("move %d: %s refuses %s on %s", i, why, move.Workload, move.Node.Name)
			}
			v.add(g, n)
			after.survive(g, n)
		default:
			if why := after.refuses(g, n); why != certificate.Takes || missing[g] == 0 || !l.CreatedAgain(g) || after.waits(g) {
				return fmt.Errorf("move %d: %s refuses %s on %s", i, why, move.Workload, move.Node.Name)
			}
			missing[g]--
			after.add(g, n)
		}
	}
	return stuckAfter(m, v, after, missing, l, o)
}

// stuckAfter checks how such a run ends.
func stuckAfter(m *model.Model, v, after *nodeSets, missing map[*model.Group]int, l certificate.Loss, o certificate.Lost) error {
	pending := 0
	for _, w := range m.Workloads {
		g := m.Groups[w]
		if !model.Modelled(g) || w.Running {
			continue
		}
		if v.placed[w] != v.count(g) {
			return fmt.Errorf("%s: not all pods are in place before the loss", w)
		}
		if g.Origin() == o.Workload {
			pending += missing[g]
		}
		if missing[g] > 0 && l.CreatedAgain(g) && !after.waits(g) && after.reasons(g)[certificate.Takes] > 0 {
			return fmt.Errorf("%s: a pod still fits after the last move", w)
		}
	}
	if pending != o.Pending || pending == 0 {
		return fmt.Errorf("%s: %d pods are missing, not %d", o.Workload, pending, o.Pending)
	}
	return nil
}
