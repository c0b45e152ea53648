package sizing

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/size"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/workload"
)

// maxBounded is the most pools for which bounds are computed, and maxPoolSets the most sets of pools.
const (
	maxBounded  = 60
	maxPoolSets = 60
)

// bounds returns numbers of nodes that a part needs at least. They hold in every layout: a size that
// misses one has pods that stay Pending.
func (z *sizing) bounds(p *part) (all []size.Bound) {
	if len(z.of) > maxBounded {
		return nil
	}
	var ws []*workload.Workload
	for _, w := range p.ws {
		if !w.Kind.PerNode() && !w.Finite() && w.Spec.NodeName == "" && z.facts[w] != nil && z.facts[w].pods > 0 {
			ws = append(ws, w)
			all = append(all, z.ownBounds(p, w)...)
		}
	}
	for _, set := range z.poolSets(ws) {
		all = append(all, z.sumBounds(p, ws, set)...)
	}
	return all
}

// mask returns the pools, as a set of bits, that a workload may use.
func (z *sizing) mask(w *workload.Workload) (set uint64) {
	for i, room := range z.facts[w].room {
		if room > 0 {
			set |= 1 << i
		}
	}
	return set
}

// poolSets returns sets of pools that workloads are confined to: those of each workload, the unions of
// two of them, and all.
func (z *sizing) poolSets(ws []*workload.Workload) (sets []uint64) {
	known, every := map[uint64]bool{}, uint64(0)
	add := func(set uint64) {
		if !known[set] && set != 0 && len(sets) < maxPoolSets {
			known[set], sets = true, append(sets, set)
		}
	}
	for _, w := range ws {
		add(z.mask(w))
		every |= z.mask(w)
	}
	add(every)
	for i, own := range slices.Clone(sets) {
		for _, other := range slices.Clone(sets)[:i] {
			add(own | other)
		}
	}
	return sets
}

// surging returns 1 if a rollout of a workload creates a pod before it removes one.
func (z *sizing) surging(w *workload.Workload) int {
	if r := w.Rollout(z.facts[w].pods); z.o.Rolls && r.Way == workload.Rolling && r.Surge > 0 && r.Unavailable == 0 && !r.Unknown.Given() {
		return 1
	}
	return 0
}

// moves reports whether the pods of a workload must find a second node, because a drain or the loss of
// a node is asked about.
func (z *sizing) moves(w *workload.Workload) bool {
	return (z.o.Drains || slices.Contains(z.o.Survives, corev1.LabelHostname)) && !w.Bare() && !w.Running && !w.Kind.VM
}

// ownBounds returns the bounds that follow from the pods of one workload: each node takes so many, or
// one if they are kept apart.
func (z *sizing) ownBounds(p *part, w *workload.Workload) (all []size.Bound) {
	f, g := z.facts[w], z.base.Group(w)
	room, need := slices.Clone(f.room), f.pods+z.surging(w)
	text := counted(need, "pod") + " must run at the same time"
	if z.apart(w, g) {
		for i := range room {
			room[i] = min(room[i], 1)
		}
		need = f.pods
		text = "no node takes two of " + counted(need, "pod")
		if z.moves(w) {
			need++
			text += ", and a node may be drained or lost"
		}
	} else if z.moves(w) {
		each := make([]int, len(room))
		for i := range room {
			each[i] = min(room[i], 1)
		}
		all = append(all, z.bound(p, w, each, 2, "a node may be drained or lost, so a second one must take the pods"))
	}
	return append(all, z.bound(p, w, room, need, text))
}

// apart reports whether no node takes two pods of a workload.
func (z *sizing) apart(w *workload.Workload, g *model.Group) bool {
	named := func(i int) bool {
		n := z.base.Topology.Nodes[i]
		return n.Labels[corev1.LabelHostname] == n.Name
	}
	for t := range g.Hard(model.AntiAffinity) {
		if t.Key != corev1.LabelHostname || z.base.Self(t, w) != model.Yes {
			continue
		}
		return !slices.ContainsFunc(z.of, func(nodes []int) bool {
			return slices.ContainsFunc(nodes, func(i int) bool { return !named(i) })
		})
	}
	return false
}

// bound returns the bound that the pools of a part, with what each of their nodes contributes, must
// add up to a number. The nodes outside of pools contribute as well.
func (z *sizing) bound(p *part, w *workload.Workload, each []int, need int, text string) size.Bound {
	b := size.Bound{Each: make([]int64, len(p.pools)), Least: int64(need), Why: reasonAbout(w, asksFits, diag.Never, text)}
	for k, i := range p.pools {
		b.Each[k] = int64(each[i])
	}
	if p.fixed {
		last := len(z.of) - 1
		b.Least -= int64(each[last]) * int64(len(z.of[last]))
	}
	return b
}

// sumBounds returns the bounds that follow from what the pods that are confined to some pools request
// together.
func (z *sizing) sumBounds(p *part, ws []*workload.Workload, set uint64) (all []size.Bound) {
	sums, extra := map[corev1.ResourceName]int64{}, map[corev1.ResourceName]int64{}
	var most *workload.Workload // the one with most pods, for the reason
	for _, w := range ws {
		if z.mask(w)&^set != 0 || z.mask(w) == 0 {
			continue
		}
		if most == nil || z.facts[w].pods > z.facts[most].pods {
			most = w
		}
		g := z.base.Group(w)
		for _, r := range append(slices.Clip(model.Written(g.Requests)), model.Request{Name: corev1.ResourcePods, Amount: 1}) {
			sums[r.Name] += r.Amount * int64(z.facts[w].pods)
			extra[r.Name] = max(extra[r.Name], r.Amount*int64(z.surging(w)))
		}
	}
	for _, name := range sorting.Keys(sums) {
		if b, known := z.sumBound(p, set, name, sums[name]+extra[name]); known {
			b.Why = diag.SizeReason{Question: asksFits, Verdict: string(diag.Never), Workload: most.String(),
				Text: fmt.Sprintf("with others that may use the same nodes only, the pods request %s of %s, more than these nodes have beside DaemonSets", amountText(name, sums[name]+extra[name]), name)}
			all = append(all, b)
		}
	}
	return all
}

func (z *sizing) sumBound(p *part, set uint64, name corev1.ResourceName, need int64) (b size.Bound, known bool) {
	b = size.Bound{Each: make([]int64, len(p.pools)), Least: need}
	for i := range z.of {
		if set&(1<<i) == 0 {
			continue
		}
		for at, n := range z.of[i] {
			node := z.base.Topology.Nodes[n]
			has, known := offered(node, name)
			if !known {
				return b, false
			}
			left := max(0, has-z.taken(node, name))
			k := slices.Index(p.pools, i)
			switch {
			case k >= 0 && at == 0:
				b.Each[k] = left
			case k >= 0:
				b.Each[k] = max(b.Each[k], left)
			case p.fixed:
				b.Least -= left
			}
		}
	}
	return b, true
}

// amountText formats an amount in the unit of the scheduler.
func amountText(name corev1.ResourceName, amount int64) string {
	format := resource.DecimalSI
	if name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage {
		format = resource.BinarySI
	}
	q := model.Quantity(name, amount, format)
	return q.String()
}
