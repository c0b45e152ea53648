package check

import (
	"cmp"
	"fmt"
	"maps"
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

// history explores the states before and after losses.
type history struct {
	*states
	m *model.Model
	// domains are the nodes that are lost together, or nil if losses are of any one node.
	domains []map[string]bool
	again   []certificate.Loss
	// settled lists the states in which no more pods can be placed: the pods of each member by node. The
	// first `placed` of them are those that placing pods leads to, all if complete is set. known has their
	// keys, and those of the states to which lost nodes have returned.
	settled  [][][]int
	placed   int
	complete bool
	known    map[string]bool
	// closed is set when all states are known, also those after losses. spent is set if that takes too
	// many steps.
	closed, spent bool
	afters        map[string]*after
	returned      [][][]int // states to which lost nodes have returned
}

// question is a loss that is explored.
type question struct {
	certificate.Loss
	seen map[string]map[string]bool // states after the loss, by the workloads in hits
	ends map[*workload.Workload]*extent
	// claimed marks the workloads whose answers claim missing pods at the end of every run in which
	// they lose a pod. hits marks the claimed workloads that lose a pod in the current state.
	claimed, hits map[*workload.Workload]bool
	// whole marks the workloads all of whose pods ran before the loss.
	whole map[*workload.Workload]bool
}

// extent holds how many of a workload's pods are missing at the end of a run: the fewest and the
// most over all runs, and in hit the fewest over the runs in which the workload loses a pod. hit is
// -1 if there is no such run.
type extent struct{ fewest, most, hit int }

// after holds the state after certain nodes are lost.
type after struct {
	*states
	lost *absence
	rest []int // pods that no controller recreates
}

// History returns a checker of answers about losses, which explores all states.
func (Checker) History(m *model.Model, domains []map[string]bool, again []certificate.Loss) certificate.History {
	return &history{m: m, domains: domains, again: again, known: map[string]bool{}, afters: map[string]*after{}}
}

// Check checks answers about a loss.
func (h *history) Check(l certificate.Loss, out []certificate.Lost, steps int) error {
	if !slices.ContainsFunc(out, func(o certificate.Lost) bool { return o.Verdict != diag.Unknown }) {
		return nil
	}
	if h.states == nil {
		h.begin(steps)
	}
	q := &question{Loss: l, seen: map[string]map[string]bool{}, ends: map[*workload.Workload]*extent{}, claimed: map[*workload.Workload]bool{}}
	for _, o := range out {
		q.claimed[o.Workload] = o.Hit > 0
	}
	h.steps = steps
	at := h.alike(l)
	mixed := func(e *extent) bool { return e != nil && e.fewest == 0 && e.most > 0 }
	settled := func() bool {
		return len(q.ends) > 0 && !slices.ContainsFunc(out, func(o certificate.Lost) bool {
			return o.Verdict != diag.Unknown && (!mixed(q.ends[o.Workload]) || q.claimed[o.Workload])
		})
	}
	for _, on := range h.settled[:h.placed] {
		if !settled() {
			h.follow(q, on, at)
		}
	}
	whole := h.complete && h.steps > 0 && h.placed > 0
	first := map[*workload.Workload]extent{}
	for w, e := range q.ends {
		first[w] = *e
	}
	later := func(o certificate.Lost) bool { // about the states after other losses, too
		return o.Verdict == diag.Always || o.Verdict == diag.Sometimes && !mixed(q.ends[o.Workload])
	}
	if whole && len(h.again) > 0 && slices.ContainsFunc(out, later) {
		if whole = h.close(); whole {
			for _, on := range h.settled[h.placed:] {
				h.follow(q, on, at)
			}
			whole = h.steps > 0
		}
	}
	for _, o := range out {
		e := cmp.Or(q.ends[o.Workload], &extent{})
		begun, tried := first[o.Workload] // from states that placing pods leads to
		switch {
		case o.Hit > 0 && (o.Verdict != diag.Sometimes || tried && begun.hit >= 0 && begun.hit < o.Hit):
			return fmt.Errorf("%s: fewer than %d pods are missing in some run in which it lost one", o.Workload, o.Hit)
		case o.Hit > 0 && !whole:
			return certificate.ErrTooLong
		case o.Verdict == diag.Unknown, mixed(e) && o.Verdict == diag.Sometimes:
			continue
		case e.most > 0 && o.Verdict == diag.Always, tried && begun.fewest == 0 && o.Verdict == diag.Never:
			return fmt.Errorf("%s: the loss ends otherwise than %s", o.Workload, o.Verdict)
		case !whole:
			return certificate.ErrTooLong
		case o.Verdict == diag.Sometimes, o.Verdict == diag.Never && (o.Pending < 1 || o.Pending > begun.fewest):
			return fmt.Errorf("%s: no loss ends as %s with %d pending says", o.Workload, o.Verdict, o.Pending)
		}
	}
	return nil
}

// begin finds the states with all pods in place that placing pods leads to.
func (h *history) begin(steps int) {
	h.states = &states{v: newNodeSets(nil, h.m, true), seen: map[string]bool{}, steps: steps, ended: func() { h.reach(h.on, h.left) }}
	for g := range h.m.Placeable() {
		h.join(g, h.v.count(g))
	}
	h.classify()
	for n, node := range h.m.Topology.Nodes {
		for i, names := range h.domains {
			if names[node.Name] {
				h.class[n] += fmt.Sprintf(" %d", i)
			}
		}
	}
	h.visit()
	h.placed, h.complete = len(h.settled), h.states.steps > 0
}

// reach records a state in which no more pods can be placed, unless it is known or no workload has all of
// its pods.
func (h *history) reach(on [][]int, left []int) {
	if !h.some(left) {
		return
	}
	if copied, fresh := h.record(on, ""); fresh {
		h.settled = append(h.settled, copied)
	}
}

// some reports whether some workload and each DaemonSet has all of its pods.
func (h *history) some(left []int) bool {
	missing := map[*workload.Workload]int{}
	for i, m := range h.members {
		if missing[m.G.Origin()] += left[i]; m.G.Kind.PerNode() && left[i] > 0 {
			return false
		}
	}
	return slices.Contains(slices.Collect(maps.Values(missing)), 0)
}

// record returns a copy of a state if the state is new.
func (h *history) record(on [][]int, kind string) (copied [][]int, fresh bool) {
	key := kind + "|" + columnsKey(len(on), func(n int) int32 { return h.number(n, on[n]) })
	if h.known[key] {
		return nil, false
	}
	h.known[key] = true
	for n := range on {
		copied = append(copied, slices.Clone(on[n]))
	}
	return copied, true
}

// settle places Pending pods after lost nodes have returned.
func (h *history) settle(on [][]int) {
	fill := func(by int) {
		for n, pods := range on {
			for i, count := range pods {
				for range count {
					h.put(i, n, by)
				}
			}
		}
	}
	fill(1)
	h.visit()
	fill(-1)
}

// close finds all states, also those after losses. It returns false if the steps do not suffice.
func (h *history) close() bool {
	if h.closed || h.spent {
		return h.closed
	}
	asked := h.steps
	h.steps = h.m.Run().Times(closingSteps)
	var all []*question
	for _, l := range h.again {
		all = append(all, &question{Loss: l, seen: map[string]map[string]bool{}})
	}
	var any [][]int
	for n := range h.class {
		any = append(any, []int{n})
	}
	for i := 0; i < len(h.settled) && h.steps > 0; i++ {
		for _, q := range all {
			h.follow(q, h.settled[i], any)
		}
		for _, on := range h.returned {
			h.settle(on)
		}
		h.returned = nil
	}
	h.closed, h.spent = h.steps > 0, h.steps <= 0
	h.steps = asked
	return h.closed
}

// closingSteps is the maximum number of steps for finding all states.
const closingSteps = 1_000_000

// alike lists the sets of nodes that a loss may mean in a state, where equivalent nodes may have other
// pods.
func (h *history) alike(l certificate.Loss) (all [][]int) {
	var nodes []int
	for n, node := range h.m.Topology.Nodes {
		if l.Nodes[node.Name] {
			nodes = append(nodes, n)
		}
	}
	if h.domains != nil || len(nodes) == 0 {
		return [][]int{nodes}
	}
	for n, class := range h.class {
		if class == h.class[nodes[0]] {
			all = append(all, []int{n})
		}
	}
	return all
}

// follow explores a loss that starts in a state, for each of the given sets of nodes. Nodes with equal
// pods are alike.
func (h *history) follow(q *question, on [][]int, sets [][]int) {
	var tried []int32
	for _, nodes := range sets {
		if h.steps <= 0 {
			return
		}
		if len(nodes) == 1 {
			id := h.number(nodes[0], on[nodes[0]])
			if slices.Contains(tried, id) {
				continue
			}
			tried = append(tried, id)
		}
		h.lose(q, on, lazy.Cached(h.afters, fmt.Sprint(q.Meaning, nodes), func() *after { return h.after(q.Meaning, nodes) }))
	}
}

// after returns a state without pods in which nodes are lost.
func (h *history) after(meaning certificate.Meaning, nodes []int) *after {
	l := certificate.Loss{Nodes: map[string]bool{}, Meaning: meaning}
	for _, n := range nodes {
		l.Nodes[h.m.Topology.Nodes[n].Name] = true
	}
	a := &after{lost: absenceOf(h.m, l), rest: make([]int, len(h.members))}
	a.states = &states{v: newNodeSets(a.lost, h.m, true), members: h.members, left: make([]int, len(h.members)), class: slices.Clone(h.class), columns: make([]int32, len(h.on)), numbers: h.numbers}
	for range h.on {
		a.on = append(a.on, make([]int, len(h.members)))
	}
	for n := range a.lost.nodes {
		a.class[n] += " lost"
	}
	return a
}

// lose explores the states after a loss that starts in a settled state.
func (h *history) lose(q *question, on [][]int, a *after) {
	var hits []byte
	q.hits = map[*workload.Workload]bool{}
	for i, m := range h.members {
		w := m.G.Origin()
		for n := range a.lost.nodes {
			q.hits[w] = q.hits[w] || q.claimed[w] && !m.G.Kind.PerNode() && on[n][i] > 0
		}
	}
	q.whole = map[*workload.Workload]bool{}
	clear(a.left)
	clear(a.rest)
	for i, m := range h.members {
		a.left[i] = m.Pods
		for n := range on {
			a.left[i] -= on[n][i]
		}
		if w := m.G.Origin(); a.left[i] > 0 {
			q.whole[w] = false
		} else if _, known := q.whole[w]; !known {
			q.whole[w] = true
		}
	}
	for _, m := range h.members {
		hits = fmt.Append(hits, q.hits[m.G.Origin()], q.whole[m.G.Origin()])
	}
	a.states.seen = lazy.Cached(q.seen, string(hits), func() map[string]bool { return map[string]bool{} })
	set := func(by int) {
		for n, pods := range on {
			if !slices.Equal(a.on[n], pods) {
				copy(a.on[n], pods)
				a.columns[n] = 0
			}
			for i, count := range pods {
				g := h.members[i].G
				for range count {
					if q.Stepwise {
						a.v.enter(g, n, by)
					} else {
						a.v.survive(g, n, by)
					}
				}
				switch {
				case q.Stepwise || !a.lost.nodes[n] || g.Kind.PerNode():
					continue
				case q.CreatedAgain(g):
					a.left[i] += count
				default:
					a.rest[i] += count
				}
				if q.Meaning != certificate.Unreachable {
					a.on[n][i], a.columns[n] = 0, 0
				}
			}
		}
	}
	set(1)
	gone := slices.Clone(a.left)
	a.ended = func() { h.end(q, a, gone) }
	if a.further = nil; q.Stepwise {
		a.further = func() bool { return q.evict(a) }
	}
	a.states.steps = h.steps
	a.visit()
	h.steps = a.states.steps
	set(-1)
}

// evict explores the states after each eviction that the budgets allow on a lost node. It reports
// whether there is such an eviction.
func (q *question) evict(a *after) (any bool) {
	missing := func(w *workload.Workload) (pods int) {
		for i, m := range a.members {
			if m.G.Origin() == w {
				pods += a.left[i] + a.rest[i]
			}
		}
		return pods
	}
	for i, m := range a.members {
		if m.G.Kind.PerNode() || !q.Evicts(m.G, missing) {
			continue
		}
		for n := range a.on {
			if !a.lost.nodes[n] || a.on[n][i] == 0 {
				continue
			}
			any = true
			if !q.CreatedAgain(m.G) {
				a.leave(i, n, &a.rest[i])
				continue
			}
			if a.leave(i, n, &a.left[i]); q.Overlaps(m.G) {
				// A terminating pod's successor may be placed already. Spread constraints do not count a terminating pod (R-A1, R-T4).
				for x := range a.on {
					a.states.steps--
					a.v.tally(m.G, n, -1)
					takes := a.v.refuses(m.G, x) == certificate.Takes && !a.v.waits(m.G)
					a.v.tally(m.G, n, 1)
					if takes {
						a.put(i, x, 1)
						a.leave(i, n, &a.left[i])
						a.put(i, x, -1)
					}
				}
			}
		}
	}
	return any
}

// leave explores the states after a pod has left a node.
func (a *after) leave(i, n int, missing *int) {
	*missing++
	a.change(i, n, -1)
	a.v.remove(a.members[i].G, n)
	a.visit()
	a.v.add(a.members[i].G, n)
	a.change(i, n, 1)
	*missing--
}

// end records how many pods are missing in a state where no more pods can be placed. If a workload has all of
// its pods, the lost nodes return.
func (h *history) end(q *question, a *after, gone []int) {
	missing := map[*workload.Workload]int{}
	for i, m := range h.members {
		pods := a.left[i] + a.rest[i]
		if q.Hangs(m.G.Workload) { // new pods do not start
			pods = gone[i] + a.rest[i]
		}
		missing[m.G.Origin()] += pods
	}
	if q.ends == nil && slices.Contains(slices.Collect(maps.Values(missing)), 0) {
		on := slices.Clone(a.on)
		for n := range a.lost.nodes {
			on[n] = slices.Clone(on[n])
			for i, m := range h.members {
				if q.Meaning == certificate.Unreachable && !m.G.Kind.PerNode() {
					on[n][i] = 0 // they terminated
				}
			}
		}
		if copied, fresh := h.record(on, "returned "); fresh {
			h.returned = append(h.returned, copied)
		}
	}
	for w, pods := range missing {
		if q.ends == nil || !q.whole[w] {
			continue
		}
		e := q.ends[w]
		if e == nil {
			e = &extent{fewest: pods, hit: -1}
			q.ends[w] = e
		}
		e.fewest, e.most = min(e.fewest, pods), max(e.most, pods)
		if q.hits[w] && (e.hit < 0 || pods < e.hit) {
			e.hit = pods
		}
	}
}

// Follow replays a run with a loss, and returns the number of missing pods by workload.
func (Checker) Follow(m *model.Model, l certificate.Loss, run []certificate.Move) (map[*workload.Workload]int, error) {
	return follow(m, absenceOf(m, l), l, run)
}

// follow replays a run with a loss. No more pods may fit before the loss and after the last move, and no guard
// may keep one of the lost pods. It returns how many pods of each workload are missing at the end. A workload
// is left out if not all of its pods ran before the loss.
func follow(m *model.Model, lost *absence, l certificate.Loss, run []certificate.Move) (map[*workload.Workload]int, error) {
	v, after := newNodeSets(nil, m, true), newNodeSets(lost, m, true)
	// The pods that are Pending, and those that are not created again or do not start.
	pending, missing := map[*model.Group]int{}, map[*workload.Workload]int{}
	type spot struct {
		g *model.Group
		n int
	}
	hit, struck := map[spot]int{}, false // pods on lost nodes that are still to go
	partly := map[*workload.Workload]bool{}
	settled := func(v *nodeSets, when string) error {
		for g, pods := range pending {
			if pods > 0 && !v.waits(g) && v.reasons(g)[certificate.Takes] > 0 {
				return fmt.Errorf("%s: a pod still fits %s", g.Workload, when)
			}
		}
		return nil
	}
	strike := func() error {
		for g := range m.Placeable() {
			if pending[g] = v.count(g) - v.placed[g.Workload]; pending[g] > 0 {
				partly[g.Origin()] = true
			}
			missing[g.Origin()] += pending[g]
		}
		struck = true
		return settled(v, "before the loss")
	}
	for i, move := range run {
		n, ok := m.IndexOf(move.Node.Name)
		g := m.Groups[move.Workload]
		if !ok || g == nil {
			return nil, fmt.Errorf("move %d: no such node or pod", i)
		}
		if move.Gone && !struck {
			if err := strike(); err != nil {
				return nil, err
			}
		}
		switch {
		case move.Gone && hit[spot{g, n}] == 0:
			return nil, fmt.Errorf("move %d: no pod of %s on %s is lost", i, move.Workload, move.Node.Name)
		case move.Gone:
			hit[spot{g, n}]--
			if !l.Evicts(g, func(w *workload.Workload) int { return missing[w] }) {
				return nil, fmt.Errorf("move %d: a budget keeps a pod of %s", i, g.Workload)
			}
			if missing[g.Origin()]++; l.CreatedAgain(g) {
				pending[g]++
			}
		case !struck:
			if why := v.refuses(g, n); why != certificate.Takes || v.waits(g) {
				return nil, fmt.Errorf("move %d: %s refuses %s on %s", i, why, move.Workload, move.Node.Name)
			}
			v.add(g, n)
			if after.survive(g, n, 1); lost.nodes[n] && !g.Kind.PerNode() {
				hit[spot{g, n}]++
			}
		default:
			if why := after.refuses(g, n); why != certificate.Takes || pending[g] == 0 || after.waits(g) {
				return nil, fmt.Errorf("move %d: %s refuses %s on %s", i, why, move.Workload, move.Node.Name)
			}
			if pending[g]--; !l.Hangs(g.Workload) {
				missing[g.Origin()]--
			}
			after.add(g, n)
		}
	}
	for s, pods := range hit {
		if pods > 0 {
			return nil, fmt.Errorf("a pod of %s stays on a lost node", s.g.Workload)
		}
	}
	if !struck {
		if err := strike(); err != nil {
			return nil, err
		}
	}
	maps.DeleteFunc(missing, func(w *workload.Workload, _ int) bool { return partly[w] })
	return missing, settled(after, "after the last move")
}
