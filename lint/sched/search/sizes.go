package search

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Sizes lists cluster sizes other than the declared one. Together with the declared size, they
// determine whether all pods in a group are always placed at every size that growing pools may
// have.
type Sizes struct {
	All []Size
	// Every is set if All lists every size that makes a difference to the group. Otherwise, All is
	// sufficient only to decide whether all pods are always placed, by one of the lemmas described
	// at SizesOf.
	Every bool
	// Known is false if there are too many sizes and no lemma applies.
	Known bool
}

// Size is one size of the cluster. IDs are equal for equal sizes.
type Size struct {
	ID    string
	Nodes []*topology.Node
}

// maxSizes is the maximum number of sizes that are decided individually.
const maxSizes = 24

// Grows reports whether some pool may gain a node that makes a difference to the workloads. A node
// makes a difference if it accepts their pods, or if one of their hard spread constraints counts
// it.
func Grows(m *model.Model, ws []*workload.Workload) bool { return len(growing(m, ws)) > 0 }

// SizesOf finds the sizes that have to be decided for a group. The group must be closed: no other
// workload may interact with it at any size. A kind is the set of nodes that a pool may gain in one
// of its zones. spare is the number of nodes of a kind that the question takes away, for example
// one when a node is lost. Lemmas make most sizes unnecessary (T17, T18).
//
// Rules are hereditary if a rule that rejects a pod keeps rejecting it. That means no hard spread
// and no required pod affinity. Suppose that all pods are always placed on nodes N under hereditary
// rules. Then they are also always placed when nodes M are added, in either of two cases.
//
//  1. No node in M shares a required anti-affinity domain with N, and the group has no DaemonSet.
//     Proof: suppose that a run on N and M ends with an unplaced pod p. Its placements on N, taken
//     in the same order, form a run on N. That run can be completed and the rules are hereditary,
//     so p fits on a node in N when only these pods are placed. Pods on M reject nothing on N, so
//     p still fits there at the end of the original run, which is a contradiction.
//  2. M is a single node m that equals a node n in N except for its name, and the domains that n
//     shares with other nodes are nested. Proof: the idea is to look at N once without m, and once
//     with m in place of n. As before, p fits on some node x in N when only the pods on N are
//     present. So a pod q on m rejects p on x, and x and m are in the same domain of a key K. That
//     domain also contains n. Now let the pods on m replace those on n. Except for a name, this is
//     also a state on N, so p fits on some node y. In the original state, a pod on n rejects p on
//     y, so y and n are in the same domain of a key L. If n's domain of K lies within its domain of
//     L, then x is also in the domain of L, and the pod on n rejects p on x. Otherwise, q rejects p
//     on y. Both are contradictions. Finally, let p be the DaemonSet pod for m. Then m plays the
//     part of x when it replaces n. The pod on n that rejects p would also keep the DaemonSet's pod
//     off n, unless it is that pod itself. Therefore a DaemonSet must not keep its own pods apart
//     in a shared domain.
//
// A kind with more than spare declared nodes therefore needs no additional sizes. Neither does a
// kind that shares no domain, if there is no DaemonSet. For every other kind, it is enough to try
// zero nodes and one node, because a second node is like the first.
//
// For one workload with one hard spread over its own pods, any order places min(room, least room +
// maxSkew) pods in each domain, where a domain's room is how many pods fit in it (R-M2). A node
// that equals a declared one adds room to its domain, or adds a domain with as much room as an
// existing one, so the total does not decrease. For kinds without a declared node, both zero nodes
// and one node are tried.
func SizesOf(m *model.Model, ws []*workload.Workload, spare int) Sizes {
	kinds := growing(m, ws)
	switch {
	case len(kinds) == 0:
		return Sizes{Known: true, Every: true}
	case len(m.AskedFor()) > 0: // pods within a workload differ and are created in order
	case Hereditary(m, ws) && nested(m, ws) && !model.Off("T17"):
		return subsets(m, kinds, func(g int) bool {
			return likeDeclared(m, ws, g) <= spare && (sharesDomain(m, ws, g) || slices.ContainsFunc(ws, perNode))
		})
	case spare == 0 && spreadsAlone(m, ws) && !model.Off("T18"):
		return subsets(m, kinds, func(g int) bool { return likeDeclared(m, ws, g) == 0 })
	}
	s := counted(m, kinds, func(g int) int { return m.Topology.Growth[g].Extra })
	s.Every = s.Known
	return s
}

func perNode(w *workload.Workload) bool { return w.Kind.PerNode() }

// growing returns the indices of the kinds that make a difference to the workloads.
func growing(m *model.Model, ws []*workload.Workload) []int {
	var kinds []int
	for g, growth := range m.Topology.Growth {
		if slices.ContainsFunc(ws, func(w *workload.Workload) bool { // the node accepts pods, or counts as a domain of a hard spread (R-T2, R-T3)
			passes, keys := m.Eligible(w).Growth[g], model.HardKeys(m.Groups[w])
			return passes.All() || slices.ContainsFunc(m.Groups[w].Terms, func(t *model.Term) bool {
				return t.Use == model.Spread && t.Hard && model.Carries(growth.Node.Labels, keys) &&
					!(t.HonorsAffinity() && !passes.Selector) && !(t.HonorsTaints() && !passes.Taints)
			})
		}) {
			kinds = append(kinds, g)
		}
	}
	return kinds
}

// likeDeclared counts the declared nodes that, for a group, are equivalent to the nodes of a kind.
// Such nodes are in the same pool and zone, accept the same pods and have no running pods.
func likeDeclared(m *model.Model, ws []*workload.Workload, g int) int {
	node, count := m.Topology.Growth[g].Node, 0
	for i, n := range m.Topology.Nodes {
		occupies := func(w *workload.Workload) bool { return w.Running && w.Spec.NodeName == n.Name }
		free := n.Pool == node.Pool && alikeIn(n, node) && !slices.ContainsFunc(m.Workloads, occupies)
		if free && !slices.ContainsFunc(ws, func(w *workload.Workload) bool {
			e := m.Eligible(w)
			return e.Nodes[i] != e.Growth[g]
		}) {
			count++
		}
	}
	return count
}

// alikeIn reports whether two nodes from one pool are in the same zone and therefore differ only in
// their names.
func alikeIn(a, b *topology.Node) bool {
	for k, v := range a.Labels {
		if v != a.Name && b.Labels[k] != v {
			return false
		}
	}
	return len(a.Labels) == len(b.Labels)
}

// sharesDomain reports whether a node of a kind shares a required anti-affinity domain with a
// declared node or a node of another kind.
func sharesDomain(m *model.Model, ws []*workload.Workload, g int) bool {
	node := m.Topology.Growth[g].Node
	others := slices.Delete(OneOfEach(m), len(m.Topology.Nodes)+g, len(m.Topology.Nodes)+g+1)
	return slices.ContainsFunc(HardKeys(m, ws, model.AntiAffinity), func(k string) bool {
		return slices.ContainsFunc(others, func(n *topology.Node) bool { return model.SameDomain(n, node, k) })
	})
}

// OneOfEach returns the declared nodes plus one node of each kind that a pool may gain.
func OneOfEach(m *model.Model) []*topology.Node {
	nodes := slices.Clone(m.Topology.Nodes)
	for _, g := range m.Topology.Growth {
		nodes = append(nodes, g.Node)
	}
	return nodes
}

// nested reports whether the domains of required anti-affinity keys are nested, and no DaemonSet
// keeps its own pods apart in a domain with several nodes. The domains include one additional node
// of each kind.
func nested(m *model.Model, ws []*workload.Workload) bool {
	nodes := OneOfEach(m)
	keys := slices.DeleteFunc(HardKeys(m, ws, model.AntiAffinity), func(k string) bool { return single(nodes, k) })
	for i, k := range keys {
		for _, l := range keys[:i] {
			if !refines(nodes, k, l) && !refines(nodes, l, k) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(ws, func(w *workload.Workload) bool {
		return perNode(w) && slices.ContainsFunc(m.Groups[w].Terms, func(t *model.Term) bool {
			return t.Hard && slices.Contains(keys, t.Key) && m.Peer(t, w, w) != model.No
		})
	})
}

// single reports whether no two nodes share a domain of a key, even after pools have grown.
func single(nodes []*topology.Node, key string) bool {
	seen := map[string]bool{}
	for _, n := range nodes {
		v, ok := n.Labels[key]
		if ok && (seen[v] || n.Pool != nil && v != n.Name) {
			return false
		}
		seen[v] = seen[v] || ok
	}
	return true
}

// SharesDomains reports whether any nodes share a domain of the workloads' required anti-affinity
// keys, or may share one after pools have grown.
func SharesDomains(m *model.Model, ws []*workload.Workload) bool {
	nodes := OneOfEach(m)
	return slices.ContainsFunc(HardKeys(m, ws, model.AntiAffinity), func(k string) bool { return !single(nodes, k) })
}

// refines reports whether each domain of the fine key lies in one domain of the coarse key.
func refines(nodes []*topology.Node, fine, coarse string) bool {
	in := map[string]string{}
	for _, n := range nodes {
		v, ok := n.Labels[fine]
		outer, has := n.Labels[coarse]
		if outer = fmt.Sprint(has, outer); !ok {
			continue
		}
		if known, seen := in[v]; seen && known != outer {
			return false
		}
		in[v] = outer
	}
	return true
}

// spreadsAlone reports whether a group is one workload with one hard spread over its own pods. Any
// anti-affinity must be on keys whose domains are single nodes.
func spreadsAlone(m *model.Model, ws []*workload.Workload) bool {
	if len(ws) != 1 || perNode(ws[0]) {
		return false
	}
	spreads, nodes := 0, OneOfEach(m)
	for _, t := range m.Groups[ws[0]].Terms {
		switch {
		case !t.Hard:
		case m.Peer(t, ws[0], ws[0]) != model.Yes || t.Use == model.Affinity || len(m.Others(t, ws[0], true)) > 0:
			return false
		case t.Use == model.AntiAffinity && !single(nodes, t.Key):
			return false
		case t.Use == model.Spread:
			spreads++
		}
	}
	return spreads == 1
}

// subsets returns the sizes with zero or one node of each needed kind.
func subsets(m *model.Model, kinds []int, needed func(g int) bool) Sizes {
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(g int) bool { return !needed(g) })
	return counted(m, kinds, func(int) int { return 1 })
}

// counted returns the sizes with up to most(g) additional nodes of each kind g, within the limit of
// its pool. It omits the declared size.
func counted(m *model.Model, kinds []int, most func(g int) int) Sizes {
	vectors := [][]int{nil}
	for _, g := range kinds {
		var longer [][]int
		for _, v := range vectors {
			left := m.Topology.Growth[g].Extra
			for i, k := range v {
				if m.Topology.Growth[kinds[i]].Node.Pool == m.Topology.Growth[g].Node.Pool {
					left -= k
				}
			}
			for k := range min(most(g), left) + 1 {
				longer = append(longer, append(slices.Clone(v), k))
			}
			if len(longer) > maxSizes+1 {
				return Sizes{}
			}
		}
		vectors = longer
	}
	s := Sizes{Known: true}
	for _, v := range vectors[1:] { // the first vector adds no node
		size := Size{Nodes: slices.Clone(m.Topology.Nodes)}
		for i, g := range kinds {
			for k := range v[i] {
				size.Nodes = append(size.Nodes, model.Another(m.Topology.Growth[g].Node, k))
			}
			size.ID += fmt.Sprintf("%d+%d ", g, v[i])
		}
		s.All = append(s.All, size)
	}
	return s
}

// overSizes withdraws verdicts on the declared nodes that another size of a growing cluster may
// refute. An always verdict must hold at every size (see Sizes). A never verdict holds only if some
// pods stay unplaced at every size, and a sometimes verdict if all sizes agree. Workloads in lonely
// wait for pods that are never placed, at any size (T20).
func overSizes(d *certificate.Decision, m *model.Model, o Options, lonely map[*workload.Workload]bool) {
	if !m.Topology.Elastic() {
		return
	}
	q := growth{m: m, options: o, lonely: lonely, of: map[*workload.Workload]*certificate.WorkloadDecision{}}
	for i := range d.Workloads {
		q.of[d.Workloads[i].Workload] = &d.Workloads[i]
	}
	q.running = m.RunningOnes()
	// One additional node of each kind represents all sizes at which workloads may interact.
	_, groups := Components(m.Variant(m.Workloads, OneOfEach(m), m.Apart...), nil)
	verdict, rules := diag.Always, diag.Always
	d.Short = nil
	for _, ws := range groups {
		if Grows(m, ws) {
			q.judge(ws)
		} else { // no pool may grow for the group
			here := q.decide(ws, m.Topology.Nodes)
			q.verdict, q.rules = here.Verdict, here.RulesVerdict
		}
		// A workload without a decision is open at some size, so only a workload that is never placed
		// by itself decides about its group.
		known := slices.DeleteFunc(slices.Clone(ws), func(w *workload.Workload) bool { return q.of[w] == nil })
		if len(known) < len(ws) {
			q.verdict, q.rules = diag.Unknown, diag.Unknown
			for _, w := range known {
				q.verdict, q.rules = worse(q.verdict, q.of[w].Verdict), worse(q.rules, q.of[w].RulesVerdict)
			}
		}
		verdict, rules = worse(verdict, q.verdict), worse(rules, q.rules)
		if q.verdict == diag.Never {
			pods := 0
			for _, w := range known {
				pods += q.of[w].Pods
			}
			d.Short = append(d.Short, certificate.Short{Workloads: known, Pods: pods, Most: pods - 1})
		}
	}
	d.Verdict, d.RulesVerdict = verdict, rules
	if q.moved { // bounds that hold at every size are those of the workloads, added up
		d.Exact, d.MinPlaced, d.MaxPlaced = false, 0, 0
		for i := range d.Workloads {
			if w := &d.Workloads[i]; !w.Workload.Finite() || o.AtOnce {
				d.MinPlaced, d.MaxPlaced = d.MinPlaced+w.MinPlaced, d.MaxPlaced+w.MaxPlaced
			}
		}
		if verdict == diag.Never {
			d.MaxPlaced = min(d.MaxPlaced, d.Total-1)
		}
	}
}

// worse returns the combined verdict for two groups.
func worse(a, b diag.Outcome) diag.Outcome {
	for _, v := range []diag.Outcome{diag.Never, diag.Unknown, diag.Sometimes} {
		if a == v || b == v {
			return v
		}
	}
	return diag.Always
}

// maxGrowth is the maximum number of nodes that are added to decide conflicts for grown pools.
const maxGrowth = 500

// growth decides one group of workloads at a time, at each size that the cluster may have.
type growth struct {
	m       *model.Model
	options Options
	running []*workload.Workload
	lonely  map[*workload.Workload]bool
	of      map[*workload.Workload]*certificate.WorkloadDecision
	// verdict and rules are the verdicts for the most recent group.
	verdict, rules diag.Outcome
	// moved is set if bounds on the placed pods of some workloads may differ from those of the declared nodes.
	moved bool
}

func (q *growth) decide(ws []*workload.Workload, nodes []*topology.Node) *certificate.Decision {
	return Decide(q.m.Variant(slices.Concat(ws, q.running), nodes), q.options)
}

// answers holds the answer for each workload in a group. The entry for nil is about the whole group.
type answers map[*workload.Workload]answer

// answer holds two verdicts, the second without resource requests, and bounds on the number of placed
// pods.
type answer struct {
	verdicts    [2]diag.Outcome
	most, least int
}

func answersOf(d *certificate.Decision) answers {
	a := answers{nil: {[2]diag.Outcome{d.Verdict, d.RulesVerdict}, d.MaxPlaced, d.MinPlaced}}
	for i := range d.Workloads {
		w := &d.Workloads[i]
		a[w.Workload] = answer{[2]diag.Outcome{w.Verdict, w.RulesVerdict}, w.MaxPlaced, w.MinPlaced}
	}
	return a
}

// judge decides a group at all sizes, and withdraws the verdicts on its workloads that do not hold
// at every size.
func (q *growth) judge(ws []*workload.Workload) {
	sizes := SizesOf(q.m, ws, 0)
	// largest holds the verdicts after every pool has grown to its max, for groups with hereditary
	// rules. Under such rules, additional nodes never reduce how many pods can be placed: in some
	// run, the DaemonSet pods on the additional nodes come after the other workloads' pods and take
	// nothing from them. However, the verdict on the DaemonSet itself, or on a group that contains
	// it, may be worse at an intermediate size.
	var largest answers
	if nodes, _, ok := q.m.Grown(); ok && Hereditary(q.m, ws) && len(nodes)-len(q.m.Topology.Nodes) <= maxGrowth {
		largest = answersOf(q.decide(ws, nodes))
	}
	var others []answers // at sizes other than the declared one
	for _, s := range sizes.All {
		others = append(others, answersOf(q.decide(ws, s.Nodes)))
	}
	// hold withdraws a verdict that may not hold at every size. A never verdict stays in three
	// cases: a bound proves it, all sizes agree and none was left out, or it is monotone and holds
	// at the largest size.
	hold := func(v diag.Outcome, w *workload.Workload, rules int, bounded, monotone bool) diag.Outcome {
		same := !slices.ContainsFunc(others, func(a answers) bool { return a[w].verdicts[rules] != v })
		switch {
		case v == diag.Always && sizes.Known && same:
		case v == diag.Never && (bounded || sizes.Every && same || monotone && largest[w].verdicts[rules] == diag.Never):
		case v == diag.Always, v == diag.Never, v == diag.Sometimes && !(sizes.Every && same):
			return diag.Unknown
		}
		return v
	}
	here := q.decide(ws, q.m.Topology.Nodes)
	alone := !slices.ContainsFunc(ws, perNode)
	// Pods on nodes that share no domain with the declared ones reject nothing there (the first case of
	// SizesOf), so at least as many are placed as on the declared nodes alone.
	steady := alone && Hereditary(q.m, ws) && !slices.ContainsFunc(growing(q.m, ws), func(g int) bool { return sharesDomain(q.m, ws, g) })
	q.verdict, q.rules = hold(here.Verdict, nil, 0, false, alone), hold(here.RulesVerdict, nil, 1, false, alone)
	for _, w := range ws {
		out := q.of[w]
		if out == nil {
			continue
		}
		// The capacity limit for a single workload assumes that pools are at their max, so it holds
		// at every size.
		nowhere := q.lonely[w] || fitsNowhere(q.m, w)
		limited, most, least := nowhere, out.Pods, 0
		if !nowhere && !perNode(w) && q.m.Judged(w) && q.m.Eligible(w).Count+q.m.Eligible(w).Growable > 0 {
			for _, l := range bound.Capacity(q.m, w) {
				if l.Exceeded {
					limited, most = true, min(most, l.Most)
				}
			}
		}
		verdict := hold(out.Verdict, w, 0, limited, !perNode(w))
		switch {
		case verdict != out.Verdict:
			out.Verdict, out.Why, most = verdict, model.Reason{Cause: model.ByGrowth}, out.Pods
		case verdict == diag.Always || nowhere:
			most, least = out.MaxPlaced, out.MinPlaced
		case sizes.Every:
			most, least = out.MaxPlaced, out.MinPlaced
			for _, a := range others {
				most, least = max(most, a[w].most), min(least, a[w].least)
			}
		case verdict == diag.Never:
			if most = min(most, out.Pods-1); largest != nil && !perNode(w) {
				most = min(most, largest[w].most)
			}
			if steady {
				least = out.MinPlaced
			}
		}
		q.moved = q.moved || most != out.MaxPlaced || least != out.MinPlaced
		out.MaxPlaced, out.MinPlaced = most, least
		out.RulesVerdict = hold(out.RulesVerdict, w, 1, nowhere, !perNode(w))
		if out.Verdict == diag.Never {
			q.verdict = diag.Never
		}
		if out.RulesVerdict == diag.Never {
			q.rules = diag.Never
		}
	}
	other := func(a answers) bool { return a[nil].most != here.MaxPlaced || a[nil].least != here.MinPlaced }
	q.moved = q.moved || len(ws) > 1 && q.verdict != diag.Always && (!sizes.Every || slices.ContainsFunc(others, other))
}

// fitsNowhere reports whether some of a workload's pods find no node that is large enough, at any
// size and even if the nodes are empty.
func fitsNowhere(m *model.Model, w *workload.Workload) bool {
	e := m.Eligible(w)
	if perNode(w) { // its pods are bound to their nodes
		for i, n := range m.Topology.Nodes {
			if e.Nodes[i].All() && !model.Holds(n, m.Groups[w]) {
				return true
			}
		}
		return false
	}
	return w.Count.N > 0 && bound.RequestFits(m, w).Fitting == 0
}
