package search

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// headroom proves that other pods cannot close all nodes to a pod group in a component. A pod
// closes a node to a group by keeping the group's pods off the node.
type headroom struct {
	*state
	c component
	// demand is the sum of all requests in the component, by resource. It omits pods that can be on
	// one node only. These pods count as placed on that node.
	demand []int64
	// prices holds, by pod group, the prices that prove that its pods find a node (T24). It is nil if
	// the component is too large to try prices.
	prices map[int][]certificate.Prices
	// daemons holds, by a DaemonSet and what its node is like, the pod group that was tried.
	daemons map[string]int
	// patterns holds the patterns that are known for fillers of the same pod group.
	patterns map[string]*[]pattern
	// recent holds prices that have proved something, to be tried for others.
	recent []recent
	// shared holds the fillers of a place that all pod groups share (see everybody).
	shared map[*place]*fillers
	// unproved and unshown hold the requests of pod groups for which no proof, or no run, was found.
	unproved, unshown map[attempt][][]int64
	// solutions holds the solutions of knapsacks. cost and took are kept for the next one.
	solutions map[string]solution
	cost      []int64
	took      []bool
	// coarse is set for a large component: only verdicts are of interest, and pods that differ little
	// count as alike.
	coarse  bool
	options Options
	// thorough is set if a packing may look for prices, and even if runs follow an evenPlan.
	thorough, even bool
	// after holds the nodes that remain after a loss. It is nil if no pods have been removed.
	after *leftOver
	// result is the result of proveNeverStuck, or nil if it has not run yet.
	result *neverStuckResult
}

func newHeadroom(a *state, c component, coarse bool) *headroom {
	h := &headroom{
		state: a, c: c, coarse: coarse, daemons: map[string]int{}, patterns: map[string]*[]pattern{},
		shared: map[*place]*fillers{}, solutions: map[string]solution{},
	}
	if !coarse {
		h.prices = map[int][]certificate.Prices{}
	}
	return h
}

// recent holds prices, and the place where they have proved something.
type recent struct {
	certificate.Prices
	on *place
}

// neverStuckResult lists the pod groups that never get stuck. all is set if the list includes every
// pod group. near is set if some pod group needs peers.
type neverStuckResult struct {
	proved map[int]bool
	// least holds how many pods of other pod groups are placed at least.
	least     map[int]int
	all, near bool
}

// sum adds up the requests of all pods in the component.
func (h *headroom) sum() {
	h.m.Run().Spend(1 + len(h.c.units)*(1+len(h.resources)/model.PerStep))
	h.demand = make([]int64, len(h.resources))
	for _, i := range h.c.units {
		if h.unplaceable[i] || h.units[i].stays() {
			continue
		}
		for r, ask := range h.units[i].ask {
			h.demand[r] = classes.Sum(h.demand[r], ask, h.units[i].pods)
		}
	}
}

// closable returns an upper bound on how many nodes in a place can be closed to the pod group's
// next pod. own is the number of the group's pods that are already placed. They close domains
// through the given spread constraints.
func (h *headroom) closable(i int, p *place, own int, spreads ...*constraint) int {
	u := h.units[i]
	h.m.Run().Spend(1 + len(u.exclusions)/2)
	closed := 0
	for _, s := range spreads {
		closed += h.divide(p, s.key).largestSum(own / s.maxSkew)
	}
	if closed >= len(p.nodes) {
		return closed
	}
	if len(u.clashes) > 0 {
		h.m.Run().Spend(len(h.units) * (1 + len(u.clashes)/model.PerStep))
		for j, v := range h.units {
			if u.clashesWith(v) {
				closed += h.others(i, j, own)
			}
		}
	}
	if !h.contend {
		return closed + newClosing(h.state, i, p, own).most(len(p.nodes)-closed)
	}
	ruled := h.ruled(u, p)
	filled := h.overcommittable(i, p, own, ruled)
	if closed+filled < len(p.nodes) {
		all := closed + filled + newClosing(h.state, i, p, own).most(len(p.nodes)-closed-filled)
		if all < len(p.nodes) || h.prices == nil || model.Off("T24") {
			return all
		}
	} else if h.prices == nil || model.Off("T24") {
		return closed + filled // the remaining count is more expensive
	}
	closed += newClosing(h.state, i, p, own).most(len(p.nodes) - closed)
	if closed >= len(p.nodes) {
		return closed + filled
	}
	var f *fillers
	if h.coarse && !u.stays() {
		f = h.everybody(i, p)
	} else {
		f = h.newFillers(i, p, own, ruled)
	}
	wanted := len(p.nodes) - closed
	most, paid := f.lowest(p, wanted, h.thorough)
	if most < wanted {
		paid.Nodes, paid.Own = len(p.nodes), own
		h.prices[i] = append(h.prices[i], paid)
		if h.thorough && len(h.recent) < mostRecent || h.coarse && len(h.recent) < mostCoarse {
			h.recent = append(h.recent, recent{paid, p})
		}
	}
	return closed + min(filled, most)
}

// mostRecent is the maximum number of prices that are tried for other pod groups. In a large
// component, it is mostCoarse, and prices are tried for pod groups with the same nodes.
const mostRecent, mostCoarse = 4, 64

// ruled marks the component's pod groups whose pods close their own node by a rule. This must hold
// on every node in the place.
func (h *headroom) ruled(u *podGroup, p *place) map[int]bool {
	ruled := map[int]bool{}
	for _, x := range u.exclusions {
		_, included := slices.BinarySearch(h.c.units, x.unit)
		if x.place == 0 && included && h.divide(p, x.key).whole {
			ruled[x.unit] = true
		}
	}
	return ruled
}

// overcommittable returns an upper bound on how many nodes in a place other pods can fill until too
// little space is left. Filling a node takes at least its free amount minus the pod's request, plus
// one (T6). Pods whose rules close every node that they run on are counted elsewhere.
func (h *headroom) overcommittable(i int, p *place, own int, ruled map[int]bool) int {
	u := h.units[i]
	closed := 0
	for r, ask := range u.ask {
		if ask == 0 {
			continue
		}
		h.m.Run().Spend(1 + len(ruled)/model.PerStep)
		demand := h.demand[r]
		if demand == math.MaxInt64 {
			return len(p.nodes)
		}
		for j := range ruled {
			if j != i && !h.unplaceable[j] && !h.units[j].stays() {
				demand -= h.units[j].ask[r] * int64(h.units[j].pods)
			}
		}
		if u.stays() { // free amounts no longer include its request
			closed += h.space(p, r).closableCount(demand, 0)
			continue
		}
		if !h.unplaceable[i] {
			demand -= ask * int64(u.pods)
		}
		if !ruled[i] {
			demand += ask * int64(own)
		}
		closed += h.space(p, r).closableCount(demand, ask)
	}
	return closed
}

// proveNeverStuck proves that pod groups find a node in every state. The proof for a group counts
// the nodes that the other pods and all but one of the group's own pods can close. They must be
// fewer than the group's nodes. A pod closes at most the largest remaining domain for each key of
// its exclusions, and one node through a host port. Pods close further nodes by using up a
// resource.
//
// The first groups to be proved have no required affinity. All pods of a proved group end up
// placed. A group with required affinity is proved if it finds a node near any pod of a proved
// group. A proof that depends on peers does not cover states from which pods were removed.
func (h *headroom) proveNeverStuck() *neverStuckResult {
	if h.result != nil {
		return h.result
	}
	h.sum()
	proved, all := map[int]bool{}, true
	// alone is set if no proof rests on another.
	alone := !slices.ContainsFunc(h.c.units, func(i int) bool { return len(h.units[i].affinityKeys) > 0 || h.units[i].createdAfter != nil })
	var waiting []int
	for _, i := range h.c.units {
		switch u := h.units[i]; {
		case u.pods == 0:
		case u.kubelet, len(u.affinityKeys) > 0 && u.g.Kind.PerNode(), h.unplaceable[i]:
			all = false
		case len(u.affinityKeys) > 0:
			waiting = append(waiting, i)
		case !all && alone && !h.asked(h.units[i].g.Origin()):
		case h.proveAlone(i, u.pods):
			proved[i] = true
		default:
			all = false
		}
	}
	near := len(waiting) > 0
	for progress := true; progress && len(waiting) > 0; {
		before := len(waiting)
		waiting = slices.DeleteFunc(waiting, func(i int) bool {
			if !model.Off("T14") && h.proveWithOthers(i, proved) {
				proved[i] = true
			}
			return proved[i]
		})
		progress = len(waiting) < before
	}
	h.result = &neverStuckResult{proved, map[int]int{}, all && len(waiting) == 0, near}
	return h.result
}

// asked reports whether the verdict on a workload is asked for.
func (h *headroom) asked(w *workload.Workload) bool { return h.options.asks(h.m, w) }

// proveDespiteDoubts is proveNeverStuck for a component with rules that may or may not select
// certain pods. It assumes that each such rule excludes the pods that it may select (T21). It
// proves nothing about pod groups that need peers or whose own rules are uncertain in another way.
func (h *headroom) proveDespiteDoubts() {
	was := make([][]exclusion, len(h.c.units))
	for k, i := range h.c.units {
		u := h.units[i]
		h.m.Run().Spend(1 + (len(u.exclusions)+len(u.maybe))/model.PerStep)
		was[k] = u.exclusions
		u.exclusions = slices.Concat(u.exclusions, u.maybe)
	}
	defer func() {
		for k, i := range h.c.units {
			h.units[i].exclusions = was[k]
		}
	}()
	h.sum()
	h.result = &neverStuckResult{proved: map[int]bool{}, least: map[int]int{}}
	for _, i := range h.c.units {
		u := h.units[i]
		if u.pods > 0 && !u.kubelet && !u.open && !u.vague && len(u.affinityKeys) == 0 && h.proveAlone(i, u.pods) {
			h.result.proved[i] = true
		}
	}
}

// proveWithOthers proves that a pod group that needs peers never gets stuck. There are two cases.
// In the first, some peer group is certain to be placed, and wherever its pods are, not all nodes
// near them can be closed. In the second, the group's first pod needs no peer, and near any pod of
// any possible peer group some node stays open.
func (h *headroom) proveWithOthers(i int, proved map[int]bool) bool {
	u := h.units[i]
	if len(h.binding(i)) > 0 {
		return false
	}
	known := map[string]bool{}
	openAt := func(p *place) bool {
		return !slices.ContainsFunc(h.corners(p, u.affinityKeys), func(n int32) bool { return !h.openNear(i, n, known) })
	}
	open := func(j located) bool {
		v := h.units[j.unit]
		return v.pods == 0 || openAt(h.all(v))
	}
	for _, j := range u.peers {
		if v := h.units[j.unit]; j.unit != i && j.place == 0 && proved[j.unit] && h.created(v, proved) && v.pods > 0 && open(j) {
			return true
		}
	}
	p := h.carriers(u)
	return u.first && !slices.ContainsFunc(u.peers, func(j located) bool { return j.unit != i && !open(j) }) &&
		h.closable(i, p, u.pods-1) < len(p.nodes) &&
		openAt(p)
}

// created reports whether the proof already covers every pod group that must be placed before u's
// pods are created. Groups that it does not cover might themselves be waiting for u's pods.
func (h *headroom) created(u *podGroup, proved map[int]bool) bool {
	for v := u.createdAfter; v != nil; v = v.createdAfter {
		if !proved[h.unitsOf[v.g.Workload][0]] {
			return false
		}
	}
	return true
}

// openNear reports whether other pods leave at least one of the pod group's nodes open near a given
// node. A node is near if it shares the domains of all affinity keys with the given node.
func (h *headroom) openNear(i int, at int32, known map[string]bool) bool {
	u := h.units[i]
	id := make([]byte, 0, 32)
	for _, k := range u.affinityKeys {
		id = binary.AppendVarint(id, int64(h.domain[k][at]))
		if h.domain[k][at] < 0 {
			return false
		}
	}
	open, asked := known[string(id)]
	if !asked {
		all := h.carriers(u)
		p := h.placeOf(placeID{u.nodes, all.id.carried, fmt.Sprint(u.affinityKeys, id)}, func() []int32 {
			return slices.DeleteFunc(slices.Clone(all.nodes), func(n int32) bool {
				return slices.ContainsFunc(u.affinityKeys, func(k int) bool { return h.domain[k][n] != h.domain[k][at] })
			})
		})
		open = h.closable(i, p, u.pods-1) < len(p.nodes)
		known[string(id)] = open
	}
	return open
}

// sure returns a proved minimum of placed pods for each pod group (T21). If the component has a
// DaemonSet, the result omits pod groups that need peers.
func (h *headroom) sure() map[int]int {
	if slices.ContainsFunc(h.c.units, func(i int) bool { return h.units[i].kubelet }) {
		return nil
	}
	perNode := slices.ContainsFunc(h.c.units, func(i int) bool { return h.units[i].g.Kind.PerNode() })
	if h.result == nil {
		return nil // the budget was already exhausted
	}
	proved, least := h.result.proved, map[int]int{}
	for _, i := range h.c.units {
		u := h.units[i]
		if !h.created(u, proved) || len(u.affinityKeys) > 0 && perNode {
			continue
		}
		if proved[i] {
			least[i] = u.pods
		} else if h.result.least[i] > 0 {
			least[i] = h.result.least[i]
		}
	}
	return least
}

// proveAlone proves that at least the given number of pods of a group without affinity are placed.
// Each hard spread that counts only the group's own pods is used in one of two ways. It closes a
// domain only if the domain has as many of these pods as maxSkew allows (T22). Or it is enough that
// each domain has room for an even share, because the spread never rejects a pod in the domain with
// the fewest pods. Only one spread is used in the second way.
func (h *headroom) proveAlone(i, pods int) bool {
	all := h.after.among(h.carriers(h.units[i]))
	spreads := h.binding(i)
	if pods > h.units[i].pods {
		spreads = h.units[i].spreads
	}
	// Whether a DaemonSet's spread counts the pods of a node may depend on the node's labels.
	local := func(t *model.Term) bool { return t.Hard && t.Use == model.Spread && t.Sel.Local() }
	if g := h.units[i].g; g.Kind.PerNode() && slices.ContainsFunc(g.Terms, local) {
		return false
	}
	if len(spreads) > mostSpreads || slices.ContainsFunc(spreads, func(s *constraint) bool {
		return slices.ContainsFunc(s.watch, func(j located) bool { return j.unit != i })
	}) {
		return false
	}
	if h.closable(i, all, pods-1, spreads...) < len(all.nodes) {
		return true
	}
	for k, s := range spreads {
		if !model.Off("T22") && h.proveByShares(i, pods, s, all, slices.Delete(slices.Clone(spreads), k, k+1)) {
			return true
		}
	}
	return false
}

// mostSpreads is the maximum number of a workload's spread constraints that one proof combines.
const mostSpreads = 8

// proveByShares is the alternative proof in proveAlone, based on the even shares of spread s.
func (h *headroom) proveByShares(i, pods int, s *constraint, all *place, others []*constraint) bool {
	u, domains := h.units[i], len(s.domains)
	by := h.divided(all, s.key)
	if s.self != 1 || !slices.Equal(s.watch, []located{{unit: i}}) || domains < s.minDomains || len(by) < domains {
		return false
	}
	keys := u.selfKeys(i)
	for _, o := range others {
		keys = append(keys, o.key)
	}
	if slices.ContainsFunc(keys, func(k int) bool { return !h.within(u, k, s.key) }) {
		return false // pods in one domain would close nodes in another
	}
	return !slices.ContainsFunc(s.domains, func(d int) bool {
		p := by[int32(d)]
		return p == nil || h.closable(i, p, (pods-1)/domains, others...) >= len(p.nodes)
	})
}
