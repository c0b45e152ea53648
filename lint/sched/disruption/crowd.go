package disruption

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
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
	steps                      int // that runs may still take
	// followed has the runs with each loss, and board what they are made on.
	followed map[string]*followed
	board    *board
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
	c := &crowd{scene: j.scene(all).with(w, pods), followed: map[string]*followed{}, steps: j.m.Run().Times(crowdSteps)}
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
		if !c.atOnce(&l) {
			return
		}
		if found := c.follow(c.of[q.w], l, b.Nodes()); found.verdict == diag.Sometimes && !model.Off("T25") {
			a = found
			a.searched = true
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
	if model.Off("T27") || !j.placed.Describes(q.w) || len(j.running) > 0 {
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

// waits reports whether it finds a run that leaves a pod of w Pending. Other pods may be Pending too.
func (c *crowd) waits(w *workload.Workload) (waits bool) {
	c.onBoard(func() {
		for round := 0; round < maxAimed && !waits && c.steps > 0; round++ {
			f := c.filling(rand.New(rand.NewPCG(uint64(round), 3)))
			if f.daemons(every) == nil && len(f.of[w]) == 1 && f.close(f.of[w][0], 1, nil) {
				var run []certificate.Placed
				for _, x := range f.run {
					run = append(run, certificate.Placed{Workload: x.Workload, Node: x.Node})
				}
				waits = certificate.CheckerOf(c.m).Blocks(c.m, run, c.m.Group(w))
			}
			f.undo()
		}
	})
	return waits
}
