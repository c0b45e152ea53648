package disruption

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// crowd holds contenders that may be too many to search together. It does not search. It builds
// single runs with the pods of all of them, to show that some of a workload's pods may stay Pending
// (T25).
type crowd struct {
	*scene
	m *model.Model
	// largest lists the workloads in order of their requests, except DaemonSets. smallest is its
	// reverse.
	largest, smallest, daemons []*workload.Workload
	// plain is set if no hard rule and no host port connects any workloads. Workloads with equal
	// requests then have equal answers.
	plain bool
	found map[string]answer
}

// maxCrowd is the maximum number of workloads times nodes for which runs are built.
const maxCrowd = 5_000

// crowd returns the contenders of w when it has the given number of pods, or nil if a run would
// prove nothing or take too long.
func (j *shared) crowd(w *workload.Workload, pods int) *crowd {
	all := j.everyone(w, pods)
	if len(all) < 2 || len(all)*len(j.m.Topology.Nodes) > maxCrowd || len(j.running) > 0 || j.withoutPreemptible(w, all) != nil {
		return nil
	}
	if pods != model.Certain(w) {
		return j.newCrowd(all, w, pods)
	}
	return model.Cached(j.crowds, keyOf(all), func() *crowd { return j.newCrowd(all, w, pods) })
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
	if !j.hereditary(all) || len(j.doubtsAbout(all).all) > 0 || slices.ContainsFunc(all, unlisted) {
		return nil
	}
	c := &crowd{scene: j.scene(all).with(w, pods), plain: true, found: map[string]answer{}}
	if c.m = j.m.Variant(c.ws, j.m.Topology.Nodes); c.m.Split() != c.m {
		return nil
	}
	size := map[*workload.Workload]float64{}
	for _, o := range c.ws {
		g := c.m.Group(o)
		c.plain = c.plain && len(g.HostPorts) == 0 && !slices.ContainsFunc(g.Terms, func(t *model.Term) bool { return t.Hard })
		for i := range g.Requests {
			most := int64(1)
			for _, n := range c.m.Offers(g.Requests[i].Name, c.m.Topology.Nodes) {
				if n < math.MaxInt64 {
					most = max(most, n)
				}
			}
			size[o] = max(size[o], float64(g.Requests[i].Amount)/float64(most))
		}
		if o.Kind.PerNode() {
			c.daemons = append(c.daemons, o)
		} else {
			c.largest = append(c.largest, o)
		}
	}
	slices.SortStableFunc(c.largest, func(a, b *workload.Workload) int { return cmp.Compare(size[b], size[a]) })
	c.smallest = slices.Clone(c.largest)
	slices.Reverse(c.smallest)
	return c
}

// crowded returns the reason why an answer among too many contenders is unknown.
func (j *shared) crowded(all *assembly) model.Reason {
	if all.Overfull() {
		return by(model.ByPending)
	}
	return by(model.ByCrowd)
}

// leftOver returns Sometimes if a loss that neither counting nor a search settles is harmless in one run and
// leaves pods of w Pending in another. Otherwise it returns the answer unchanged.
func (q *loss) leftOver(b *search.DomainLoss, l certificate.Loss, a answer) answer {
	q.j.aside(func() {
		c := q.j.crowd(q.w, model.Certain(q.w))
		if c == nil || slices.ContainsFunc(c.ws, l.Tolerates) {
			return
		}
		if found := c.lose(c.of[q.w], b.Nodes()); found.verdict == diag.Sometimes {
			a = found
		}
	})
	return a
}

// lose returns Sometimes, with a number of Pending pods, if there are runs of both kinds for the
// loss of the given nodes. Otherwise it returns Unknown.
func (c *crowd) lose(w *workload.Workload, nodes []string) answer {
	id := fmt.Sprintf("%p %q", w, nodes)
	if g := c.m.Group(w); c.plain {
		id = fmt.Sprintf("%s %s %d %q", g.Signature, g.Request, w.Count.N, nodes)
	}
	return model.Cached(c.found, id, func() answer {
		var lost, left []*topology.Node
		for _, n := range c.m.Topology.Nodes {
			if slices.Contains(nodes, n.Name) {
				lost = append(lost, n)
			} else {
				left = append(left, n)
			}
		}
		if !c.spares(w, left) {
			return answer{verdict: diag.Unknown}
		}
		for _, order := range [][]*workload.Workload{c.largest, c.smallest} {
			f := c.filling()
			if !f.closes(w, left, order) {
				continue
			}
			pending := f.left[w]
			if f.each(c.daemons, lost); f.all(w, lost) && f.completes() {
				return answer{verdict: diag.Sometimes, pending: pending}
			}
		}
		return answer{verdict: diag.Unknown}
	})
}

// spares reports whether some placement of all pods has all pods of w on the given nodes.
func (c *crowd) spares(w *workload.Workload, nodes []*topology.Node) bool {
	f := c.filling()
	f.each(c.daemons, c.m.Topology.Nodes)
	return f.all(w, nodes) && f.completes()
}

// waits reports whether some run, in which other pods may stay Pending as well, leaves a pod of w
// Pending.
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

func (f *filling) takes(w *workload.Workload, n *topology.Node) bool {
	f.c.m.Run().Spend(1)
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

// maxRetries is the maximum number of times that completes starts again.
const maxRetries = 12

// completes places all other pods on any nodes and has the checker replay the run. It places the
// largest pods first. If some do not fit, it starts again with them.
func (f *filling) completes() bool {
	begun, order := f.Pods(), slices.Clone(f.c.largest)
	for range maxRetries {
		g := f.c.filling()
		for _, p := range begun {
			g.Place(p.Workload, p.Node)
			g.left[p.Workload]--
		}
		i := slices.IndexFunc(order, func(o *workload.Workload) bool { return !g.all(o, f.c.m.Topology.Nodes) })
		if i < 0 {
			return check.Completes(f.c.m, g.Pods(), func(*topology.Node) bool { return true })
		}
		o := order[i]
		order = slices.Insert(slices.Delete(order, i, i+1), 0, o)
	}
	return false
}
