package check

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
)

// rolls explores the states of a rollout with the checker's filters. It adds the controller's moves
// to the embedded type, which explores placements.
type rolls struct {
	*states
	r          certificate.Rollout
	old, fresh int // indices of the members
	replicas   int // of the old pods
	all        int // of the new pods
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
			s.fresh, s.all, pods = len(s.members), pods, 0
		}
		s.join(g, pods)
	}
	if s.classify(); r.Waits {
		s.whole, s.ended = nil, func() {
			if s.left[s.old] == 0 {
				s.goOn()
			}
		}
	}
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
	key := s.key()
	if s.visited[key] || s.steps <= 0 || s.stalled && s.done {
		return
	}
	s.visited[key] = true
	at := func(n int) (old, fresh int) { return s.on[n][s.old], s.on[n][s.fresh] }
	t := turn{r: s.r, replicas: s.replicas, all: s.all, nodes: s.v.m.Topology.Nodes}
	for n := range s.on {
		t.count(at(n))
	}
	if t.split() {
		return // not all old pods run before the rollout
	}
	s.begun = true
	if t.done() {
		s.done = true
		return
	}
	comes, goes := t.steps()
	moved := false
	var tried []int32
	for n := range s.on {
		column := s.column(n)
		if slices.Contains(tried, column) {
			continue
		}
		tried = append(tried, column)
		if s.steps--; comes && t.reaches(n, at) && s.v.refuses(s.members[s.fresh].G, n) == certificate.Takes {
			moved = true
			s.step(s.fresh, n, 1)
		}
		if goes && s.on[n][s.old] > 0 {
			moved = true
			s.step(s.old, n, -1)
		}
		for i := range s.members {
			if g := s.members[i].G; s.r.Waits && i != s.old && i != s.fresh && s.left[i] > 0 && (s.members[i].Node < 0 || s.members[i].Node == n) && !s.v.waits(g) && s.v.refuses(g, n) == certificate.Takes {
				moved = true
				s.step(i, n, 1)
			}
		}
	}
	s.stalled = s.stalled || !moved && s.steps > 0
}

// step makes a move, explores the states that follow, and reverts the move.
func (s *rolls) step(member, n, by int) {
	s.put(member, n, by)
	s.goOn()
	s.put(member, n, -by)
}

// replayRoll checks the run of a stuck rollout, and stores in out why no new pod fits.
func replayRoll(m *model.Model, r certificate.Rollout, out *certificate.Rolled) error {
	done, reasons, err := followRoll(m, r, out.Stuck)
	if err == nil && done {
		err = fmt.Errorf("%s: the rollout is done after the last move", r.Fresh)
	}
	out.Reasons = reasons
	return err
}

// FollowRoll replays a run of a rollout.
func (Checker) FollowRoll(m *model.Model, r certificate.Rollout, run []certificate.Move) (done bool, reasons map[certificate.Reason]int, err error) {
	return followRoll(m, r, run)
}

// followRoll replays a run of a rollout. All pods but the new ones must be in place before the controller
// makes its first move, and it must be able to make each.
func followRoll(m *model.Model, r certificate.Rollout, run []certificate.Move) (done bool, reasons map[certificate.Reason]int, err error) {
	v := newNodeSets(nil, m, true)
	group := func(move certificate.Move) *model.Group {
		for _, w := range m.Workloads {
			if g := m.Groups[w]; g.Origin() == move.Workload && (g.Whole == nil || (v.placed[w] == 0) == !move.Gone) {
				return g
			}
		}
		return nil
	}
	on := map[int][2]int{} // old and new pods by node
	at := func(n int) (old, fresh int) { return on[n][0], on[n][1] }
	t := turn{}
	now := func() {
		t = turn{r: r, nodes: m.Topology.Nodes, replicas: t.replicas, all: t.all}
		for _, pods := range on {
			t.count(pods[0], pods[1])
		}
	}
	var next *model.Group
	for _, w := range m.Workloads {
		switch g := m.Groups[w]; g.Origin() {
		case r.Old:
			t.replicas = v.count(g)
		case r.Fresh:
			next, t.all = g, v.count(g)
		}
	}
	if next == nil {
		return false, nil, fmt.Errorf("%s: no new pod is in the model", r.Fresh)
	}
	begun := false
	for i, move := range run {
		n, ok := m.IndexOf(move.Node.Name)
		g := group(move)
		if !ok || g == nil {
			return false, nil, fmt.Errorf("move %d: no such node or workload", i)
		}
		if fresh := move.Workload == r.Fresh; fresh || move.Gone {
			for o := range m.Placeable() {
				if !begun && o.Origin() != r.Fresh && v.placed[o.Workload] != v.count(o) && (!r.Waits || o.Origin() == r.Old || v.finds(o)) {
					return false, nil, fmt.Errorf("move %d: not all pods of %s are in place", i, o.Workload)
				}
			}
			begun = true
			now()
			if comes, goes := t.steps(); fresh && (move.Gone || !comes || !t.reaches(n, at)) || move.Gone && (move.Workload != r.Old || !goes || on[n][0] == 0) {
				return false, nil, fmt.Errorf("move %d: the controller does not make it", i)
			}
		} else if begun && !r.Waits {
			return false, nil, fmt.Errorf("move %d: the pods of %s are in place", i, move.Workload)
		}
		if move.Gone {
			v.remove(g, n)
			on[n] = [2]int{on[n][0] - 1, on[n][1]}
			continue
		}
		if v.placed[g.Workload] == v.count(g) || g.Kind.PerNode() && v.pods(n, g.Workload) > 0 {
			return false, nil, fmt.Errorf("move %d: no pod of %s is left for %s", i, move.Workload, move.Node.Name)
		}
		if why := v.refuses(g, n); why != certificate.Takes || v.waits(g) {
			return false, nil, fmt.Errorf("move %d: %s refuses %s on %s", i, why, move.Workload, move.Node.Name)
		}
		v.add(g, n)
		switch move.Workload {
		case r.Old:
			on[n] = [2]int{on[n][0] + 1, on[n][1]}
		case r.Fresh:
			on[n] = [2]int{on[n][0], on[n][1] + 1}
		}
	}
	now()
	comes, goes := t.steps()
	for o := range m.Placeable() {
		if r.Waits && o.Origin() != r.Old && o.Origin() != r.Fresh && v.placed[o.Workload] < v.count(o) && v.finds(o) {
			return false, nil, fmt.Errorf("%s: a pod of %s still fits after the last move", r.Fresh, o.Workload)
		}
	}
	switch {
	case t.done():
		return true, nil, nil
	case r.Whole && t.old < t.replicas:
		return false, nil, fmt.Errorf("%s: not all old pods run", r.Old)
	case goes || t.split():
		return false, nil, fmt.Errorf("%s: the rollout is not stuck after the last move", r.Fresh)
	case !comes:
		return false, nil, nil
	}
	refused := map[certificate.Reason]int{}
	for n := range m.Topology.Nodes {
		if !t.reaches(n, at) {
			continue
		}
		why := v.refuses(next, n)
		if why == certificate.Takes {
			return false, nil, fmt.Errorf("%s: a new pod still fits after the last move", r.Fresh)
		}
		refused[why]++
	}
	return false, refused, nil
}

// finds reports whether some node takes another pod of a group.
func (v *nodeSets) finds(g *model.Group) bool {
	for n := range v.m.Topology.Nodes {
		has := g.Kind.PerNode() && v.pods(n, g.Workload) > 0
		if !has && !v.waits(g) && v.refuses(g, n) == certificate.Takes {
			return true
		}
	}
	return false
}

// turn is a state of a rollout: who runs, and what the controller can do next.
type turn struct {
	r                certificate.Rollout
	replicas, all    int // of the old and of the new pods
	nodes            []*topology.Node
	old, fresh       int
	beside, together int // new pods on nodes with old pods, and the most on one node
	spots            int // nodes with old pods
}

// count adds the pods of one node.
func (t *turn) count(old, fresh int) {
	if t.old, t.fresh, t.together = t.old+old, t.fresh+fresh, max(t.together, fresh); old > 0 {
		t.beside, t.spots = t.beside+fresh, t.spots+1
	}
}

// attached reports whether all pods use a volume that is attached to one node at a time (R-N44).
func (t *turn) attached() bool { return t.r.Fresh.Attached == diag.Always }

// split reports whether some old pods hang, because others use their volume on another node.
func (t *turn) split() bool { return t.attached() && t.spots > 1 }

// ready returns the number of new pods that run. The old pods keep the volume until all are gone.
func (t *turn) ready() int {
	switch {
	case !t.attached():
		return t.fresh
	case t.old > 0:
		return t.beside
	}
	return t.together
}

// done reports whether all new pods run and no old one has to stay. None has to beside a whole set of new ones.
func (t *turn) done() bool {
	return (t.old == 0 || t.r.Whole) && t.fresh == t.all && t.ready() == t.fresh
}

// reaches reports whether a new pod may come to node n: if it is of a DaemonSet, to one without such a pod (R-W17),
// and otherwise to one where it can use the volume of the old pods (R-W35).
func (t *turn) reaches(n int, at func(n int) (old, fresh int)) bool {
	if old, fresh := at(n); t.r.Fresh.Kind.PerNode() {
		return old+fresh == 0
	}
	key := t.r.Fresh.Pin
	if key == "" || !t.r.Fresh.SharedPin {
		return true
	}
	value, has := t.nodes[n].Labels[key]
	for o := range t.nodes {
		if old, _ := at(o); old > 0 && has && t.nodes[o].Labels[key] == value {
			return true
		}
	}
	return false
}

// steps returns which moves the controller can make next. It can create a new pod (comes) if the
// total stays within replicas plus surge. It can delete an old pod (goes) if enough pods run
// (R-W5, R-W6, R-W8, R-W31).
func (t *turn) steps() (comes, goes bool) {
	comes = t.fresh < t.all && t.old+t.fresh-t.replicas < t.r.Surge && (!t.r.Empty || t.old == 0)
	switch {
	case t.old == 0:
	case t.r.Whole:
		goes = t.ready() >= t.all
	case t.r.Empty:
		goes = true
	default:
		goes = t.replicas-t.old-t.ready() < t.r.Unavailable
	}
	return comes, goes
}
