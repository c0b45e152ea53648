package check

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// rolls explores the states of a rollout with the checker's filters. It adds the controller's moves
// to the embedded type, which explores placements.
type rolls struct {
	*states
	r          certificate.Rollout
	old, fresh int // indices of the members
	replicas   int
	visited    map[string]bool
	begun      bool
	stalled    bool
	done       bool
}

// Roll checks a rollout verdict by exploring all states. It checks the verdict's moves by applying
// the filters.
func (Checker) Roll(m *model.Model, r certificate.Rollout, out *certificate.Rolled, steps int) error {
	if out.Verdict == diag.Unknown {
		return nil
	}
	if out.Verdict != diag.Always {
		if err := replayRoll(m, r, out); err != nil {
			return err
		}
	}
	v := newNodeSets(nil, m, true)
	s := &rolls{r: r, old: -1, fresh: -1, visited: map[string]bool{}}
	s.states = &states{v: v, seen: map[string]bool{}, steps: steps, whole: func() { s.goOn() }}
	for g := range m.Placeable() {
		pods := v.count(g)
		switch g.Origin() {
		case r.Old:
			s.old, s.replicas = len(s.members), pods
		case r.Fresh:
			s.fresh, pods = len(s.members), 0
		}
		s.join(g, pods)
	}
	s.classify()
	s.visit()
	switch {
	case s.stalled && out.Verdict == diag.Always, s.done && out.Verdict == diag.Never:
		return fmt.Errorf("%s: a rollout ends otherwise than %s", r.Old, out.Verdict)
	case s.stalled && s.done:
		return nil
	case s.steps <= 0:
		return certificate.ErrTooLong
	case !s.begun || out.Verdict == diag.Sometimes:
		return fmt.Errorf("%s: no rollout ends as %s says", r.Old, out.Verdict)
	}
	return nil
}

// join adds a group's pods. A DaemonSet gets one member per node.
func (s *states) join(g *model.Group, pods int) {
	if len(s.on) == 0 {
		s.on = make([][]int, len(s.v.m.Topology.Nodes))
	}
	add := func(m certificate.Member) {
		s.members, s.left = append(s.members, m), append(s.left, m.Pods)
		for n := range s.on {
			s.on[n] = append(s.on[n], 0)
		}
	}
	if !g.Kind.PerNode() {
		add(certificate.Member{G: g, Pods: pods, Node: -1})
		return
	}
	for n, p := range s.v.m.Eligible(g.Workload).Nodes {
		if p.All() {
			add(certificate.Member{G: g, Pods: 1, Node: n})
		}
	}
}

// goOn explores how a rollout can continue from the current state.
func (s *rolls) goOn() {
	s.begun = true
	key := s.key()
	if s.visited[key] || s.steps <= 0 || s.stalled && s.done {
		return
	}
	s.visited[key] = true
	old, fresh := s.sum(s.old), s.sum(s.fresh)
	if old == 0 && fresh == s.replicas {
		s.done = true
		return
	}
	comes, goes := steps(s.r, s.replicas, old, fresh)
	moved := false
	tried := map[string]bool{}
	for n := range s.on {
		column := s.column(n)
		if tried[column] {
			continue
		}
		tried[column] = true
		if s.steps--; comes && s.v.refuses(s.members[s.fresh].G, n) == certificate.Takes {
			moved = true
			s.step(s.fresh, n, 1)
		}
		if goes && s.on[n][s.old] > 0 {
			moved = true
			s.step(s.old, n, -1)
		}
	}
	s.stalled = s.stalled || !moved && s.steps > 0
}

func (s *rolls) sum(member int) int {
	sum := 0
	for n := range s.on {
		sum += s.on[n][member]
	}
	return sum
}

// step makes a move, explores the states that follow, and reverts the move.
func (s *rolls) step(member, n, by int) {
	s.put(member, n, by)
	s.goOn()
	s.put(member, n, -by)
}

// replayRoll checks each move of a stuck rollout. No move may be possible after the last one.
// replayRoll stores in out why no new pod fits.
func replayRoll(m *model.Model, r certificate.Rollout, out *certificate.Rolled) error {
	v := newNodeSets(nil, m, true)
	group := func(move certificate.Move) *model.Group {
		for _, w := range m.Workloads {
			if g := m.Groups[w]; g.Origin() == move.Workload && (g.Whole == nil || (v.placed[w] == 0) == !move.Gone) {
				return g
			}
		}
		return nil
	}
	old, fresh := 0, 0
	for i, move := range out.Stuck {
		n, ok := m.IndexOf(move.Node.Name)
		g := group(move)
		switch {
		case !ok || g == nil:
			return fmt.Errorf("move %d: no such node or workload", i)
		case move.Gone && v.pods(n, g.Workload) == 0:
			return fmt.Errorf("move %d: no pod of %s is on %s", i, move.Workload, move.Node.Name)
		case move.Gone:
			v.remove(g, n)
			old--
			continue
		}
		if why := v.refuses(g, n); why != certificate.Takes {
			return fmt.Errorf("move %d: %s refuses %s on %s", i, why, move.Workload, move.Node.Name)
		}
		v.add(g, n)
		switch move.Workload {
		case r.Old:
			old++
		case r.Fresh:
			fresh++
		}
	}
	at := slices.IndexFunc(m.Workloads, func(w *workload.Workload) bool { return m.Groups[w].Origin() == r.Fresh })
	if at >= 0 {
		out.Reasons = v.reasons(m.Groups[m.Workloads[at]])
	}
	if at < 0 || out.Reasons[certificate.Takes] > 0 {
		return fmt.Errorf("%s: a new pod still fits after the last move", r.Fresh)
	}
	replicas := v.count(m.Groups[m.Workloads[at]])
	if comes, goes := steps(r, replicas, old, fresh); goes || !comes && fresh == replicas {
		return fmt.Errorf("%s: the rollout is not stuck after the last move", r.Fresh)
	}
	return nil
}

// steps returns which moves the controller can make next. It can create a new pod (comes) if the
// total stays within replicas plus surge. It can delete an old pod (goes) if enough pods remain
// (R-W5, R-W6, R-W8, R-W31).
func steps(r certificate.Rollout, replicas, old, fresh int) (comes, goes bool) {
	total := old + fresh
	comes = fresh < replicas && total-replicas < r.Surge && (!r.Empty || old == 0)
	switch {
	case old == 0:
	case r.Whole:
		goes = fresh >= replicas
	case r.Empty:
		goes = true
	default:
		goes = replicas-total < r.Unavailable
	}
	return comes, goes
}
