package check

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// absence is a node loss as the checker represents it.
type absence struct {
	nodes   map[int]bool
	meaning certificate.Meaning
	domains keptDomains // the domains that constraints still count
	// pins caches the values of the lost nodes for each label that pods are pinned to.
	pins map[string]map[string]bool
}

func absenceOf(m *model.Model, l certificate.Loss) *absence {
	x := &absence{map[int]bool{}, l.Meaning, keptDomains{}, map[string]map[string]bool{}}
	for n, node := range m.Topology.Nodes {
		if l.Nodes[node.Name] {
			x.nodes[n] = true
		}
	}
	return x
}

// strands reports whether the volumes of a lost pod cannot be used on node n (R-W35). They can be
// used on nodes that share the value of the pod's pin with a lost node.
func (x *absence) strands(m *model.Model, g *model.Group, n int) bool {
	if x == nil || g.Pin == "" {
		return false
	}
	key := lazy.Cached(x.pins, g.Pin, func() map[string]bool {
		values := map[string]bool{}
		for lost := range x.nodes {
			if value, has := m.Topology.Nodes[lost].Labels[g.Pin]; has && g.Pin != corev1.LabelHostname {
				values[value] = true
			}
		}
		return values
	})
	value, has := m.Topology.Nodes[n].Labels[g.Pin]
	return !has || !key[value]
}

func (x *absence) from(n int) bool { return x != nil && x.nodes[n] }

// losses explores the states before and after a node loss.
type losses struct {
	*states
	l       certificate.Loss
	lost    *absence
	after   map[string]map[string]bool // visited states after the loss, keyed by the workloads in hits
	ends    map[*workload.Workload]*extent
	settled bool
	begun   bool
	// claimed marks the workloads whose answers claim missing pods at the end of every run in which
	// they lose a pod. hits marks the claimed workloads that lose a pod in the current state.
	claimed, hits map[*workload.Workload]bool
}

// extent holds how many of a workload's pods are missing at the end of a run: the fewest and the
// most over all runs, and in hit the fewest over the runs in which the workload loses a pod. hit is
// -1 if there is no such run.
type extent struct{ fewest, most, hit int }

// Lose checks answers about a loss by exploring all states. It checks the runs in the answers by
// applying the filters.
func (Checker) Lose(m *model.Model, l certificate.Loss, out []certificate.Lost, steps int) error {
	if !slices.ContainsFunc(out, func(o certificate.Lost) bool { return o.Verdict != diag.Unknown }) {
		return nil
	}
	s := &losses{
		l: l, lost: absenceOf(m, l), after: map[string]map[string]bool{},
		ends: map[*workload.Workload]*extent{}, claimed: map[*workload.Workload]bool{},
	}
	for _, o := range out {
		if s.claimed[o.Workload] = o.Hit > 0; o.Verdict == diag.Sometimes && !l.Stepwise {
			if err := replayLoss(m, s.lost, l, o); err != nil {
				return err
			}
		}
	}
	s.states = &states{v: newNodeSets(nil, m, true), seen: map[string]bool{}, steps: steps, whole: func() { s.loseNodes() }}
	for g := range m.Placeable() {
		s.join(g, s.v.count(g))
	}
	s.classify()
	for n := range s.lost.nodes {
		s.class[n] += " lost"
	}
	s.visit()
	whole := s.steps > 0 && s.begun
	for _, o := range out {
		e := cmp.Or(s.ends[o.Workload], &extent{hit: -1})
		mixed := e.fewest == 0 && e.most > 0
		switch {
		case o.Hit > 0 && (o.Verdict != diag.Sometimes || e.hit >= 0 && e.hit < o.Hit):
			return fmt.Errorf("%s: fewer than %d pods are missing in some run in which it lost one", o.Workload, o.Hit)
		case o.Hit > 0 && !whole:
			return certificate.ErrTooLong
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

// loseNodes explores the states after the loss, starting from a state with all pods in place.
func (s *losses) loseNodes() {
	s.begun = true
	if s.settled || s.steps <= 0 {
		return
	}
	v := newNodeSets(s.lost, s.v.m, true)
	var hits []byte
	s.hits = map[*workload.Workload]bool{}
	for i, m := range s.members {
		w := m.G.Origin()
		if !s.claimed[w] || m.G.Kind.PerNode() {
			continue
		}
		for n := range s.lost.nodes {
			s.hits[w] = s.hits[w] || s.on[n][i] > 0
		}
	}
	for _, m := range s.members {
		hits = fmt.Append(hits, s.hits[m.G.Origin()])
	}
	if s.after[string(hits)] == nil {
		s.after[string(hits)] = map[string]bool{}
	}
	after := &states{v: v, members: s.members, left: make([]int, len(s.members)), class: s.class, columns: make([]string, len(s.on)), seen: s.after[string(hits)], steps: s.steps}
	rest := make([]int, len(s.members)) // pods that no controller recreates
	for n, pods := range s.on {
		on := make([]int, len(pods))
		for i, count := range pods {
			if count == 0 {
				continue
			}
			g := s.members[i].G
			for range count {
				if s.l.Stepwise {
					v.add(g, n)
				} else {
					v.survive(g, n)
				}
			}
			if on[i] = count; s.l.Stepwise || !s.lost.nodes[n] || g.Kind.PerNode() {
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
	gone := slices.Clone(after.left)
	after.ended = func() {
		missing := slices.Clone(after.left)
		for i, m := range s.members {
			if s.l.Hangs(m.G.Workload) { // new pods do not start
				missing[i] = gone[i]
			}
		}
		s.end(missing, rest)
	}
	if s.l.Stepwise {
		after.further = func() bool { return s.evict(after, rest) }
	}
	after.visit()
	s.steps = after.steps
}

// evict explores the states after each eviction that the budgets allow on a lost node. It reports
// whether there is such an eviction.
func (s *losses) evict(after *states, rest []int) (any bool) {
	missing := func(w *workload.Workload) (pods int) {
		for i, m := range after.members {
			if m.G.Origin() == w {
				pods += after.left[i] + rest[i]
			}
		}
		return pods
	}
	for i, m := range after.members {
		if m.G.Kind.PerNode() || !s.l.Evicts(m.G, missing) {
			continue
		}
		for n := range after.on {
			if !s.lost.nodes[n] || after.on[n][i] == 0 {
				continue
			}
			any = true
			if !s.l.CreatedAgain(m.G) {
				s.leave(after, i, n, &rest[i])
				continue
			}
			if s.leave(after, i, n, &after.left[i]); s.l.Overlaps(m.G) {
				// A terminating pod's successor may be placed already. Spread constraints do not count a terminating pod (R-A1, R-T4).
				g := after.members[i].G
				for x := range after.on {
					after.steps--
					after.v.tally(g, n, -1)
					takes := after.v.refuses(g, x) == certificate.Takes && !after.v.waits(g)
					after.v.tally(g, n, 1)
					if takes {
						after.put(i, x, 1)
						s.leave(after, i, n, &after.left[i])
						after.put(i, x, -1)
					}
				}
			}
		}
	}
	return any
}

// leave explores the states after a pod has left a node.
func (s *losses) leave(after *states, i, n int, missing *int) {
	*missing++
	after.change(i, n, -1)
	after.v.remove(after.members[i].G, n)
	after.visit()
	after.v.add(after.members[i].G, n)
	after.change(i, n, 1)
	*missing--
}

// end records how many pods are missing in a state where no more pods can be placed.
func (s *losses) end(left, rest []int) {
	missing := map[*workload.Workload]int{}
	for i, m := range s.members {
		missing[m.G.Origin()] += left[i] + rest[i]
	}
	s.settled = true
	for w, pods := range missing {
		e := s.ends[w]
		if e == nil {
			e = &extent{fewest: pods, hit: -1}
			s.ends[w] = e
		}
		e.fewest, e.most = min(e.fewest, pods), max(e.most, pods)
		if s.hits[w] && (e.hit < 0 || pods < e.hit) {
			e.hit = pods
		}
		s.settled = s.settled && e.fewest == 0 && e.most > 0 && !s.claimed[w]
	}
}

// replayLoss checks a run that leaves pods missing.
func replayLoss(m *model.Model, lost *absence, l certificate.Loss, o certificate.Lost) error {
	missing, err := follow(m, lost, l, o.Stuck)
	if pending := missing[o.Workload]; err == nil && (pending != o.Pending || pending == 0) {
		return fmt.Errorf("%s: %d pods are missing, not %d", o.Workload, pending, o.Pending)
	}
	return err
}

// Follow replays a run with a loss, and returns the number of missing pods by workload.
func (Checker) Follow(m *model.Model, l certificate.Loss, run []certificate.Move) (map[*workload.Workload]int, error) {
	return follow(m, absenceOf(m, l), l, run)
}

// follow replays a run with a loss. The run must place all pods before the loss, and no guard may keep
// one of the lost pods. After the last move, no more pods may fit.
func follow(m *model.Model, lost *absence, l certificate.Loss, run []certificate.Move) (map[*workload.Workload]int, error) {
	v, after := newNodeSets(nil, m, true), newNodeSets(lost, m, true)
	missing, hung, struck := map[*model.Group]int{}, map[*model.Group]int{}, false
	pending := map[*workload.Workload]int{}
	type spot struct {
		g *model.Group
		n int
	}
	hit := map[spot]int{} // pods on lost nodes that are still to go
	for i, move := range run {
		n, ok := m.IndexOf(move.Node.Name)
		g := m.Groups[move.Workload]
		switch {
		case !ok || g == nil:
			return nil, fmt.Errorf("move %d: no such node or pod", i)
		case move.Gone && hit[spot{g, n}] > 0:
			hit[spot{g, n}]--
			if missing[g]++; !l.Evicts(g, func(w *workload.Workload) int { return pending[w] }) {
				return nil, fmt.Errorf("move %d: a budget keeps a pod of %s", i, g.Workload)
			}
			pending[g.Origin()]++
			struck = true
		case move.Gone:
			return nil, fmt.Errorf("move %d: no pod of %s on %s is lost", i, move.Workload, move.Node.Name)
		case !struck:
			if why := v.refuses(g, n); why != certificate.Takes || v.waits(g) {
				return nil, fmt.Errorf("move %d: %s refuses %s on %s", i, why, move.Workload, move.Node.Name)
			}
			v.add(g, n)
			if after.survive(g, n); lost.nodes[n] && !g.Kind.PerNode() {
				hit[spot{g, n}]++
			}
		default:
			if why := after.refuses(g, n); why != certificate.Takes || missing[g] == 0 || !l.CreatedAgain(g) || after.waits(g) {
				return nil, fmt.Errorf("move %d: %s refuses %s on %s", i, why, move.Workload, move.Node.Name)
			}
			if missing[g]--; l.Hangs(g.Workload) {
				hung[g]++
			}
			after.add(g, n)
		}
	}
	clear(pending)
	for s, pods := range hit {
		if pods > 0 {
			return nil, fmt.Errorf("a pod of %s stays on a lost node", s.g.Workload)
		}
	}
	for g := range m.Placeable() {
		if v.placed[g.Workload] != v.count(g) {
			return nil, fmt.Errorf("%s: not all pods are in place before the loss", g.Workload)
		}
		pending[g.Origin()] += missing[g] + hung[g]
		if missing[g] > 0 && l.CreatedAgain(g) && !after.waits(g) && after.reasons(g)[certificate.Takes] > 0 {
			return nil, fmt.Errorf("%s: a pod still fits after the last move", g.Workload)
		}
	}
	return pending, nil
}
