package disruption

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// crowd holds contenders that may be too many to search together. Instead of a search, it builds
// single runs that place the pods of all contenders. A run can show that some of a workload's pods
// may stay Pending (T25).
type crowd struct {
	*scene
	m *model.Model
	// largest lists the workloads in order of their requests, except DaemonSets. smallest is its
	// reverse.
	largest, smallest, daemons []*workload.Workload
	// settled has what runs show about the loss of a set of nodes.
	settled map[string]*settled
	steps   int // that runs may still take
	// followed has the runs with each loss, and board what they are made on.
	followed map[string]*followed
	board    *board
}

// settled holds what the runs for a loss show. spared marks the workloads that have no pods on the
// lost nodes in some run. pending is the number of a workload's pods that some run leaves Pending.
// tried marks the workloads for which runs were built.
type settled struct {
	spared, tried map[*workload.Workload]bool
	pending       map[*workload.Workload]int
}

// maxCrowd is the maximum number of workloads times nodes for which runs are built. crowdSteps is
// the maximum number of steps for all runs of a crowd.
const (
	maxCrowd   = 5_000
	crowdSteps = 10_000_000
)

// crowd is crowdOf for a workload without hard spread and required affinity. Placing more pods never
// makes room for its pods.
func (j *shared) crowd(w *workload.Workload, pods int) *crowd {
	if !j.hereditary([]*workload.Workload{w}) {
		return nil
	}
	return j.crowdOf(w, pods)
}

// crowdOf returns the contenders of w when it has the given number of pods, or nil if a run would
// prove nothing or take too long.
func (j *shared) crowdOf(w *workload.Workload, pods int) *crowd {
	all := j.everyone(w, pods)
	if len(all) < 2 || len(all)*len(j.m.Topology.Nodes) > maxCrowd || len(j.running) > 0 || j.withoutPreemptible(w, all) != nil {
		return nil
	}
	if pods != model.Certain(w) {
		return j.newCrowd(all, w, pods)
	}
	return lazy.Cached(j.crowds, keyOf(all), func() *crowd { return j.newCrowd(all, w, pods) })
}

// everyone returns all contenders of w when it has the given number of pods, however many.
func (j *shared) everyone(w *workload.Workload, pods int) []*workload.Workload {
	if all := j.contendersOf(w, pods); all != nil {
		return all
	}
	return j.contenders(w, pods)
}

func (j *shared) newCrowd(all []*workload.Workload, w *workload.Workload, pods int) *crowd {
	unlisted := func(o *workload.Workload) bool { return len(search.Unlisted(j.m, o)) > 0 }
	if len(j.doubtsAbout(all).all) > 0 || slices.ContainsFunc(all, unlisted) {
		return nil
	}
	c := &crowd{scene: j.scene(all).with(w, pods), settled: map[string]*settled{}, followed: map[string]*followed{}, steps: j.m.Run().Times(crowdSteps)}
	if c.m = j.m.Variant(c.ws, j.m.Topology.Nodes); c.m.Split() != c.m {
		return nil
	}
	c.sort(nil)
	return c
}

// sort lists the workloads by what one pod requests, without the given one.
func (c *crowd) sort(but *workload.Workload) {
	size := map[*workload.Workload]float64{}
	for _, o := range c.ws {
		g := c.m.Group(o)
		for i := range g.Requests {
			most := int64(1)
			for _, n := range c.m.Offers(g.Requests[i].Name, c.m.Topology.Nodes) {
				if n < math.MaxInt64 {
					most = max(most, n)
				}
			}
			size[o] = max(size[o], float64(g.Requests[i].Amount)/float64(most))
		}
		switch {
		case o == but:
		case o.Kind.PerNode():
			c.daemons = append(c.daemons, o)
		default:
			c.largest = append(c.largest, o)
		}
	}
	slices.SortStableFunc(c.largest, func(a, b *workload.Workload) int {
		return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(c.m.Group(a).Request, c.m.Group(b).Request), cmp.Compare(b.Count.N, a.Count.N))
	})
	c.smallest = slices.Clone(c.largest)
	slices.Reverse(c.smallest)
}

// crowded returns the reason why an answer among too many contenders is unknown.
func (j *shared) crowded(all *assembly) model.Reason {
	if all.Overfull() {
		return by(model.ByPending)
	}
	return by(model.ByCrowd)
}

// leftOver judges a loss that neither counting nor a search settles. It returns Always if a proof
// shows that the pods of w find room on the nodes that are left, and Sometimes if the loss is
// harmless in one run and leaves pods of w Pending in another. Otherwise it returns the answer
// unchanged.
func (q *loss) leftOver(b *search.DomainLoss, l certificate.Loss, a answer) answer {
	if q.unsettled[l.Meaning] {
		return a
	}
	q.j.aside(func() {
		returns := l.Returns(q.w)
		if returns && q.recovers(b.Nodes(), l) {
			a = answer{verdict: diag.Always}
			return
		}
		c := q.j.crowdOf(q.w, model.Certain(q.w))
		if c == nil || slices.ContainsFunc(c.ws, l.Tolerates) {
			return
		}
		found := answer{verdict: diag.Unknown}
		if returns && q.j.hereditary([]*workload.Workload{q.w}) {
			found = c.lose(c.of[q.w], b.Nodes())
		}
		if found.verdict == diag.Unknown && c.atOnce(&l) {
			found = c.follow(c.of[q.w], l, b.Nodes())
		}
		if found.verdict == diag.Sometimes {
			a = found
		}
	})
	q.unsettled[l.Meaning] = a.verdict == diag.Unknown
	return a
}

// recovers reports whether a proof shows that the pods of w find room on the nodes that are left,
// wherever the other pods are (T27).
func (q *loss) recovers(nodes []string, l certificate.Loss) bool {
	left := q.lasting(nodes, l)
	if left != nil && q.pin != "" {
		at, known := q.j.m.IndexOf(nodes[0])
		left = slices.DeleteFunc(slices.Clone(left), func(n int) bool {
			all := q.j.m.Topology.Nodes
			return !known || q.pin == hostname || !model.SameDomain(all[n], all[at], q.pin)
		})
		return len(left) > 0 && len(nodes) == 1 && !spreads(q.j.m.Group(q.w)) && q.j.placed.Keeps(q.j.m.Run(), q.w, left, 0)
	}
	return left != nil && q.j.placed.Keeps(q.j.m.Run(), q.w, left, 0)
}

// lasting returns the nodes that are left after a loss, if what the rules of all contenders allow
// there stays the same (T27). Otherwise it returns nil. Pods on unreachable nodes still count for
// anti-affinity, so that must not reach beyond a node.
func (q *loss) lasting(nodes []string, l certificate.Loss) []int {
	j := q.j
	if !j.placed.Describes(q.w) || len(j.running) > 0 {
		return nil
	}
	all := j.everyone(q.w, model.Certain(q.w))
	return lazy.Cached(j.unaffected, fmt.Sprintf("%p %d %s %s %d %s", &all[0], len(all), l.Meaning, q.key, len(nodes), nodes[0]), func() (left []int) {
		if j.tolerate(all, l) || l.Meaning == certificate.Unreachable && search.SharesDomains(j.m, all) {
			return nil
		}
		lost := func(i int) bool { return slices.Contains(nodes, j.m.Topology.Nodes[i].Name) }
		for i := range j.m.Topology.Nodes {
			if !lost(i) {
				left = append(left, i)
			}
		}
		return left
	})
}

// lose judges the loss of the given nodes. It returns Sometimes with a number of Pending pods if
// one run has no pods of w on these nodes, and another run leaves pods of w Pending. Otherwise it
// returns Unknown. It keeps what the runs show about other workloads.
func (c *crowd) lose(w *workload.Workload, nodes []string) answer {
	known := lazy.Cached(c.settled, fmt.Sprintf("%q", nodes), func() *settled {
		return &settled{map[*workload.Workload]bool{}, map[*workload.Workload]bool{}, map[*workload.Workload]int{}}
	})
	if !known.tried[w] && c.steps > 0 {
		known.tried[w] = true
		defer func(before int) { c.steps -= c.m.Run().Spent() - before }(c.m.Run().Spent())
		c.try(w, nodes, known)
	}
	if pending := known.pending[w]; pending > 0 && known.spared[w] {
		return answer{verdict: diag.Sometimes, pending: pending}
	}
	return answer{verdict: diag.Unknown}
}

// try builds runs of both kinds for w.
func (c *crowd) try(w *workload.Workload, nodes []string, known *settled) {
	var lost, left []*topology.Node
	for _, n := range c.m.Topology.Nodes {
		if slices.Contains(nodes, n.Name) {
			lost = append(lost, n)
		} else {
			left = append(left, n)
		}
	}
	if !known.spared[w] {
		f := c.filling()
		if f.each(c.daemons, c.m.Topology.Nodes); f.all(w, left) {
			if run := f.completed(); run != nil {
				known.spare(c, run, lost)
			}
		}
	}
	for _, order := range [][]*workload.Workload{c.largest, c.smallest} {
		if !known.spared[w] || known.pending[w] > 0 {
			break
		}
		f := c.filling()
		if !f.closes(w, left, order) {
			continue
		}
		if f.each(c.daemons, lost); f.all(w, lost) {
			if run := f.completed(); run != nil {
				// Workloads that have pods on the lost nodes and are refused by all others because of the pods there.
				f, on := c.filling(), map[*workload.Workload]int{}
				for _, p := range run {
					if slices.Contains(lost, p.Node) {
						on[p.Workload]++
					} else {
						f.Place(p.Workload, p.Node)
					}
				}
				for _, o := range c.largest {
					if on[o] > 0 && known.pending[o] == 0 && search.Hereditary(c.m, []*workload.Workload{o}) && !slices.ContainsFunc(left, func(n *topology.Node) bool { return f.takes(o, n) }) {
						known.pending[o] = on[o]
					}
				}
			}
		}
	}
}

// spare notes which workloads have no pods on the lost nodes.
func (s *settled) spare(c *crowd, run []certificate.Placed, lost []*topology.Node) {
	hit := map[*workload.Workload]bool{}
	for _, p := range run {
		hit[p.Workload] = hit[p.Workload] || slices.Contains(lost, p.Node)
	}
	for _, o := range c.largest {
		s.spared[o] = s.spared[o] || !hit[o]
	}
}

// waits reports whether some run leaves a pod of w Pending. Other pods may be Pending in that run
// too.
func (c *crowd) waits(w *workload.Workload) bool {
	return slices.ContainsFunc([][]*workload.Workload{c.largest, c.smallest}, func(order []*workload.Workload) bool {
		f := c.filling()
		return f.closes(w, c.m.Topology.Nodes, order) && certificate.CheckerOf(c.m).Blocks(c.m, f.Pods(), c.m.Group(w))
	})
}

// filling is a run of a crowd's pods. Each pod passes the filters when it is placed.
type filling struct {
	*check.State
	c    *crowd
	left map[*workload.Workload]int // pods that are not placed yet
}

func (c *crowd) filling() *filling {
	f := &filling{check.NewState(c.m), c, map[*workload.Workload]int{}}
	c.m.Run().Spend(model.StepsPerReplay + len(c.ws))
	for _, o := range c.largest {
		f.left[o] = o.Count.N
	}
	return f
}

// stepsPerFilter is the step cost of applying the checker's filters to a pod and a node.
const stepsPerFilter = 4

func (f *filling) takes(w *workload.Workload, n *topology.Node) bool {
	f.c.m.Run().Spend(stepsPerFilter)
	return f.Filter(w, n) == certificate.Takes
}

// put places a pod of w on a node if the node takes one and more than `keep` pods are left.
func (f *filling) put(w *workload.Workload, n *topology.Node, keep int) bool {
	if f.left[w] <= keep || !f.takes(w, n) {
		return false
	}
	f.Place(w, n)
	f.left[w]--
	return true
}

// each places one pod of each DaemonSet on each node.
func (f *filling) each(daemons []*workload.Workload, nodes []*topology.Node) {
	for _, w := range daemons {
		for _, n := range nodes {
			if f.takes(w, n) {
				f.Place(w, n)
			}
		}
	}
}

// all places all remaining pods of w on the given nodes, if they fit there.
func (f *filling) all(w *workload.Workload, nodes []*topology.Node) bool {
	for _, n := range nodes {
		for f.put(w, n, 0) {
		}
	}
	return f.left[w] == 0
}

// closes places pods on each of the given nodes until it refuses w. It keeps at least one pod of w
// back.
func (f *filling) closes(w *workload.Workload, nodes []*topology.Node, order []*workload.Workload) bool {
	f.each(f.c.daemons, nodes)
	for _, n := range nodes {
		at := 0 // a node that refuses a pod also refuses it later
		for f.takes(w, n) {
			for at < len(order) {
				keep := 0
				if order[at] == w {
					keep = 1
				}
				if f.put(order[at], n, keep) {
					break
				}
				at++
			}
			if at == len(order) {
				return false
			}
		}
	}
	return true
}

// maxRetries is the maximum number of times that completed starts again.
const maxRetries = 12

// completed places all other pods on any nodes and returns the run, or nil. It places the largest
// pods first. If some do not fit, it starts again with them. The checker replays the run.
func (f *filling) completed() []certificate.Placed {
	begun, order := f.Pods(), slices.Clone(f.c.largest)
	for range maxRetries {
		g := f.c.filling()
		for _, p := range begun {
			g.Place(p.Workload, p.Node)
			g.left[p.Workload]--
		}
		i := slices.IndexFunc(order, func(o *workload.Workload) bool { return !g.all(o, f.c.m.Topology.Nodes) })
		if i < 0 {
			if run := g.Pods(); check.Completes(f.c.m, run, func(*topology.Node) bool { return false }) {
				return run
			}
			return nil
		}
		o := order[i]
		order = slices.Insert(slices.Delete(order, i, i+1), 0, o)
	}
	return nil
}
