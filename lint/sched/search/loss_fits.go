package search

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// FitsAnyway reports whether a pod of the workload always finds a node, wherever all other pods are
// and whatever rules they have. The other pods include the rest of the workload's pods. If
// FitsAnyway returns true, every repair completes the workload (T16).
//
// A node is open if it accepts a pod when empty. Other pods close an open node by keeping the pod
// off it, either together through their requests, or individually through anti-affinity or spread
// on a key with one domain per node. A coarse key has domains with several nodes. Anti-affinity on
// a coarse key closes all nodes in a domain, whereas a spread over a coarse key always accepts the
// domain with the fewest pods. Therefore:
//   - without a coarse key, more nodes must be open than other pods can close;
//   - with a coarse key in anti-affinity, the number of domains that have more open nodes than
//     other pods can close must exceed the number of pods that close a whole domain;
//   - with a coarse key in a spread, each domain that counts must have more open nodes than other
//     pods can close. If the spread counts only the workload's own pods, this must hold only for
//     enough domains to place all pods with maxSkew in each. A domain with fewer than maxSkew pods
//     always accepts another one, whatever the minimum is.
//
// Pods on unreachable nodes close only the lost nodes and, through anti-affinity, the domains of
// these nodes. Neither these nodes nor these domains are counted as open.
//
// The checker confirms each result of true.
func (r *Room) FitsAnyway(b *DomainLoss, l certificate.Loss, about *Roster, pods int) bool {
	x := r.present(about, pods)
	return r.leavesOpen(b, l, x) && r.confirmed(x, b, certificate.Opening{Meaning: l.Meaning})
}

// confirmed reports whether the checker confirms that other pods leave a node open.
func (r *Room) confirmed(x *contenders, b *DomainLoss, o certificate.Opening) bool {
	if x.checked == nil {
		x.checked = certificate.CheckerOf(r.m).Contenders(r.m, r.p.G.Workload, r.pods, x.of.all)
	}
	if o.Lost, o.One = b.lost, b.any > 0; len(b.lost) < len(b.like) {
		o.Lost, o.One = b.like, true // it stands for the loss of any of these
	}
	err := x.checked.LeaveOpen(o)
	if err != nil {
		r.m.Run().Refuse([]*workload.Workload{r.p.G.Workload}, err)
	}
	return err == nil
}

func (r *Room) leavesOpen(b *DomainLoss, l certificate.Loss, x *contenders) bool {
	switch {
	case !x.counts || model.Off("T16"):
		return false
	case x.over != nil:
		return r.everywhere(b, l, x)
	case x.key != "":
		// Some open node always accepts the pod in two cases. In the first, more domains are safe than there are pods that
		// close a whole domain. A domain is safe if it has more open nodes than other pods can close. In the second case,
		// other pods cannot close all open nodes that have no domain.
		domain := r.domain(x.key)
		unreachable := map[int32]bool{}
		for c := range b.taken {
			unreachable[domain[c]] = l.Meaning == certificate.Unreachable
		}
		seen := map[int32]bool{}
		roomy := 0
		for _, d := range domain {
			if d < 0 || seen[d] || unreachable[d] {
				continue
			}
			if seen[d] = true; r.open(b, domain, d) > r.closed(x, domain, d) {
				roomy++
			}
		}
		if l.Meaning == certificate.Unreachable {
			roomy -= b.any // the lost node may be in any of these domains
		}
		return roomy > x.shut || r.open(b, domain, -1) > r.closed(x, domain, -1)
	default:
		return r.open(b, nil, 0) > r.closed(x, nil, 0)
	}
}

// Returns finds the domain that lost pods must return to if their volumes pin them to a value of the
// key, and reports whether the domain still has a node with room for a pod when empty. If the lost
// nodes belong to several domains and any of these has such a node, known is false.
func (r *Room) Returns(b *DomainLoss, key string) (d int32, left, known bool) {
	if key == corev1.LabelHostname {
		return 0, false, true
	}
	domain := r.domain(key)
	found := map[int32]bool{}
	for c := range b.taken {
		if domain[c] >= 0 {
			d, found[domain[c]] = domain[c], true
		}
	}
	for c := range r.caps {
		left = left || found[domain[c]] && r.caps[c] > 0 && len(r.nodes[c]) > b.taken[int32(c)]
	}
	return d, left, len(found) < 2 || !left
}

// FitsPinned is like FitsAnyway for pods that can only move to nodes with the same value of a label.
// A spread constraint on that label that counts only the workload's own pods does not keep them out
// (T30). If other rules concern domains with several nodes, FitsPinned proves nothing.
func (r *Room) FitsPinned(b *DomainLoss, about *Roster, pods int, key string) bool {
	x := r.present(about, pods)
	d, left, known := r.Returns(b, key)
	if model.Off("T30") || !x.counts || x.shut > 0 || x.over != nil && (x.over.Key != key || !x.own) || !left || !known {
		return false
	}
	domain := r.domain(key)
	return r.open(b, domain, d) > r.closed(x, domain, d) && r.confirmed(x, b, certificate.Opening{Key: key, Near: r.nodes[slices.Index(domain, d)][0]})
}

// FitsInEach reports whether one more pod always finds a node in each domain of the key in which pods
// may run, wherever the other pods are. If pods only return to their domains, a spread constraint
// that counts only the workload's own pods does not keep them out, as in FitsPinned.
func (r *Room) FitsInEach(about *Roster, pods int, key string, returns bool) bool {
	x := r.present(about, pods)
	kept := returns && x.over != nil && x.over.Key == key && x.own && !model.Off("T30")
	if key == corev1.LabelHostname || !x.counts || x.shut > 0 || x.over != nil && !kept {
		return false
	}
	domain := r.domain(key)
	for c, most := range r.caps {
		if most == 0 {
			continue
		}
		closed, open := r.closed(x, domain, domain[c]), 1 // the node alone is its domain
		if domain[c] >= 0 {
			open = r.open(NoLoss, domain, domain[c])
		}
		if open <= closed || !r.confirmed(x, NoLoss, certificate.Opening{Key: key, Near: r.nodes[c][0]}) {
			return false
		}
	}
	return true
}

// contenders describes the other pods that are present when a pod of the workload looks for a node.
type contenders struct {
	of *Roster
	// checked confirms what the counts show, or is nil.
	checked certificate.Contenders
	// counts is false if counting proves nothing.
	counts bool
	// key is the only anti-affinity key that has several nodes in a domain, and shut counts the
	// pods that close one of its domains. over is the only spread constraint with such a key, and
	// own is set if that constraint counts no other workload's pods.
	key  string
	shut int
	over *model.Term
	own  bool
	// pods is the number of other pods. apart counts those that close a node through a rule.
	pods, apart int
	// asked is the sum of the other pods' requests for each resource in Room.asks. daemons is the
	// part that DaemonSet pods request on each node.
	asked, daemons []int64
	// demands has the greatest common divisor of their requests, and of the pod's own.
	demands []classes.Demand
}

// present returns the description of the other pods, which it caches for each roster.
func (r *Room) present(about *Roster, pods int) *contenders {
	for _, x := range r.others {
		if x.of == about {
			return x
		}
	}
	x := r.contenders(about, pods)
	r.others = append(r.others, x)
	return x
}

func (r *Room) contenders(about *Roster, pods int) *contenders {
	x := &contenders{of: about}
	if !bound.RulesApplyAlike(r.p.G) || len(r.p.G.HardAffinity()) > 0 {
		return x
	}
	w := r.p.G.Workload
	near := about.near(w)
	daemons := about.daemons(corev1.ResourcePods) > 0 || slices.ContainsFunc(about.running, perNode)
	if daemons && (len(r.p.G.HostPorts) > 0 || len(about.running) > 0 || slices.ContainsFunc(near, r.ruledBy)) {
		return x
	}
	var shuts bool
	if x.key, x.shut, shuts = r.shutting(near, pods); !shuts {
		return x
	}
	for _, t := range r.p.Spreads {
		if !r.coarse(t.Key) {
			continue
		}
		if x.key != "" || x.over != nil { // more than one coarse key
			return x
		}
		x.over = t
	}
	if r.asks == nil {
		requests := append([]model.Request{{Name: corev1.ResourcePods, Amount: 1}}, r.p.G.Requests...)
		r.m.Run().Spend(len(requests) * (1 + len(r.nodes)/2))
		r.asks = make([]closableNodes, 0, len(requests))
		for _, q := range requests {
			r.asks = append(r.asks, closableNodes{r.offered(q.Name), q.Amount})
		}
	}
	x.counts, x.own = true, x.over != nil && r.own(x.over, near)
	own := pods - 1
	x.pods = about.pods(w, own)
	x.asked, x.daemons, x.demands = make([]int64, len(r.asks)), make([]int64, len(r.asks)), make([]classes.Demand, len(r.asks))
	for i, a := range r.asks {
		x.asked[i], x.daemons[i] = about.asked(w, own, a.name), about.daemons(a.name)
		x.demands[i] = about.demand(a.name).With(a.ask, 1)
	}
	for _, o := range about.running { // each of them may fill its whole node
		n := podsOf(o, w, own)
		x.pods += n
		if at, known := r.m.IndexOf(o.Spec.NodeName); known && r.caps[r.of[at]] > 0 {
			x.apart += n
		}
	}
	if len(r.p.G.HostPorts) > 0 || len(r.m.Apart) > 0 { // any other pod may have conflicting ports or rules
		x.apart += about.pods(w, own)
		return x
	}
	for _, o := range near {
		if !o.Running && r.closes(o) {
			x.apart += podsOf(o, w, own)
		}
	}
	return x
}

// NoLoss is a DomainLoss that loses no nodes.
var NoLoss = &DomainLoss{}

// AlwaysFits reports whether a pod of w always finds a node after a loss (T16). It assumes that the
// given number of w's pods, the pods of the other workloads in about, and all running pods may be
// on any nodes. The argument ruled must list all workloads that rules connect with w. A false
// result proves nothing.
func AlwaysFits(w *workload.Workload, ruled, about *Roster, b *DomainLoss, l certificate.Loss, pods int) bool {
	room := ruled.Kinds(w, ruled.pods(w, pods), corev1.LabelHostname).Room(w, pods)
	return room.FitsAnyway(b, l, about, pods)
}

// More returns how many more nodes, each like one that takes a pod when empty, make FitsAnyway true. If
// a key is returned, each of its values needs as many. More returns 0 if that cannot be said so simply.
func (r *Room) More(b *DomainLoss, l certificate.Loss, about *Roster, pods int) (n int, key string) {
	x := r.present(about, pods)
	if !x.counts || x.key != "" || model.Off("T16") {
		return 0, ""
	}
	for _, o := range slices.Concat(about.near(r.p.G.Workload), []*workload.Workload{r.p.G.Workload}) {
		for t := range r.m.Groups[o].HardTerms() {
			if t.Key != corev1.LabelHostname && !r.coarse(t.Key) { // further nodes may share a domain with others
				return 0, ""
			}
		}
	}
	open := r.open(b, nil, 0)
	if x.over != nil {
		key, open = x.over.Key, math.MaxInt
		for c, d := range r.domain(key) {
			switch lost := b.taken[int32(c)] == len(r.nodes[c]); {
			case d < 0, lost && l.Meaning != certificate.Gone:
				return 0, ""
			case !lost:
				open = min(open, r.open(b, r.domain(key), d))
			}
		}
	}
	closed := x.apart
	for i, a := range r.asks {
		least := int64(math.MaxInt64) // that others must request on a node to close it
		for _, o := range a.sizes {
			if r.caps[o.kind] > 0 {
				least = min(least, x.demands[i].Ceil(o.has-x.daemons[i]-a.ask+1))
			}
		}
		if least <= 0 {
			return 0, ""
		}
		closed += int(x.asked[i] / least)
	}
	return max(0, min(closed, x.pods)+1-open), key
}

// AlwaysReturns is like AlwaysFits for pods that only return to the domains of the key that they left,
// as their volumes are there (T30).
func AlwaysReturns(w *workload.Workload, all *Roster, key string) bool {
	pods := w.Count.N
	return all.Kinds(w, all.pods(w, pods), corev1.LabelHostname).Room(w, pods).FitsInEach(all, pods, key, true)
}

// coarse reports whether some domain of a key contains several nodes.
func (r *Room) coarse(key string) bool {
	return slices.ContainsFunc(r.domain(key), func(d int32) bool { return d >= 0 })
}

// shutting returns the only coarse anti-affinity key, and how many pods can each close one of its
// domains to the workload. ok is false if there are several such keys.
func (r *Room) shutting(group []*workload.Workload, pods int) (key string, shut int, ok bool) {
	w := r.p.G.Workload
	for _, o := range group {
		shuts := false
		see := func(of, other *workload.Workload) bool {
			for t := range r.m.Groups[of].Hard(model.AntiAffinity) {
				if !r.coarse(t.Key) || r.m.Peer(t, of, other) == model.No {
					continue
				}
				if key != "" && key != t.Key {
					return false
				}
				key, shuts = t.Key, true
			}
			return true
		}
		if !see(w, o) || !see(o, w) {
			return "", 0, false
		}
		if shuts {
			shut += podsOf(o, w, pods-1)
		}
	}
	return key, shut, true
}

// open counts the nodes that accept a pod when empty, among all nodes or only those in domain d.
func (r *Room) open(b *DomainLoss, domain []int32, d int32) int {
	r.m.Run().Spend(1 + len(r.nodes)/model.PerStep)
	sum := 0
	for c, most := range r.caps {
		if most > 0 && (domain == nil || domain[c] == d) {
			sum += len(r.nodes[c]) - b.taken[int32(c)]
		}
	}
	return sum - b.any
}

// ruledBy reports whether o is a DaemonSet that hard rules connect with the room's workload. In
// that case, requests alone do not determine where the DaemonSet's pods run.
func (r *Room) ruledBy(o *workload.Workload) bool {
	w := r.p.G.Workload
	rules := func(of, other *workload.Workload) bool {
		return slices.ContainsFunc(r.m.Groups[of].Terms, func(t *model.Term) bool { return t.Hard && r.m.Peer(t, of, other) != model.No })
	}
	return o.Kind.PerNode() && (rules(w, o) || rules(o, w))
}

// closes reports whether a rule allows a pod of workload o to close the node that it runs on.
func (r *Room) closes(o *workload.Workload) bool {
	w := r.p.G.Workload
	r.m.Run().Spend(1 + 2*len(r.m.Groups[o].Terms))
	rules := func(of, other *workload.Workload, spreads bool) bool {
		return slices.ContainsFunc(r.m.Groups[of].Terms, func(t *model.Term) bool {
			closes := t.Use == model.AntiAffinity || spreads && t.Use == model.Spread && !r.coarse(t.Key) // a coarse spread closes domains, not nodes
			return t.Hard && closes && r.m.Peer(t, of, other) != model.No
		})
	}
	return rules(w, o, true) || rules(o, w, false)
}

// requested returns how much of a resource one of the group's pods requests.
func requested(g *model.Group, name corev1.ResourceName) int64 {
	if name == corev1.ResourcePods {
		return 1
	}
	for i := range g.Requests {
		if g.Requests[i].Name == name {
			return g.Requests[i].Amount
		}
	}
	return 0
}

// closed returns an upper bound on how many nodes other pods close, among all nodes or only those
// in domain d. A pod that closes a node through a rule closes only its own node. The pods' requests
// can also fill nodes. For each resource, the bound fills the nodes with the smallest amounts first
// (T6). What the pods on a node request is a multiple of their greatest common divisor (T19).
func (r *Room) closed(x *contenders, domain []int32, d int32) int {
	sum, full := x.apart, 0
	for i, a := range r.asks {
		left := x.asked[i]
		r.m.Run().Spend(1 + len(a.sizes)/model.PerStep)
		for _, o := range a.sizes {
			if r.caps[o.kind] == 0 || domain != nil && domain[o.kind] != d {
				continue // no pod fits there anyway
			}
			takes := x.demands[i].Ceil(o.has - x.daemons[i] - a.ask + 1)
			if takes <= 0 {
				full += o.nodes
				continue
			}
			nodes := min(left/takes, int64(o.nodes))
			if nodes == 0 {
				break // all remaining nodes need even more
			}
			sum, left = sum+int(nodes), left-nodes*takes
		}
	}
	return full + min(sum, x.pods)
}

// everywhere reports whether every domain of a constraint has more open nodes than other pods can
// close. The domain with the fewest pods then has an open node. If the constraint counts only the
// workload's own pods, some domains may lack open nodes. There must then be enough other domains to
// place all pods with maxSkew in each.
func (r *Room) everywhere(b *DomainLoss, l certificate.Loss, x *contenders) bool {
	t := x.over
	domains, roomy := 0, 0
	domain := r.domain(t.Key)
	open, nodes := map[int32]int{}, map[int32]int{}
	for c, most := range r.caps {
		if nodes[domain[c]] += len(r.nodes[c]); most > 0 {
			open[domain[c]] += len(r.nodes[c]) - b.taken[int32(c)]
		}
	}
	forget := l.Meaning == certificate.Gone || t.HonorsTaints()
	e := r.m.Eligible(r.p.G.Workload)
	seen := map[int32]bool{}
	for c, d := range domain {
		p := e.Nodes[r.nodes[c][0]]
		left := !forget || b.taken[int32(c)] < len(r.nodes[c])
		if !left || d == -1 || t.HonorsTaints() && !p.Taints || t.HonorsAffinity() && !p.Selector {
			continue
		}
		if d == alone { // each node is a domain; other kinds may have such domains too
			domains += len(r.nodes[c])
			continue
		}
		if seen[d] {
			continue
		}
		if seen[d] = true; nodes[d] <= b.any {
			return false // it may no longer count as a domain
		}
		if domains++; open[d]-b.any > r.closed(x, domain, d) {
			roomy++
		}
	}
	return roomy > 0 && roomy == domains && domains >= t.MinDomains() || x.own && roomy*int(t.Constraint.MaxSkew) >= r.pods
}

// zone stands for one or more domains of a spread constraint that a loss affects equally.
type zone struct {
	count int // number of domains
	// before and left are the numbers of pods that fit in a domain before and after the loss. lost
	// is the number of pods that can be on the domain's lost nodes.
	before, left, lost int
	stays              bool // still a domain after the loss
}

// shares describes one spread constraint that counts only one workload's pods.
type shares struct {
	pods, skew int
	zones      []zone
	// level is the smallest number of pods that fit in any domain after the loss. floor is that
	// number before the loss. Each is 0 if there are fewer domains than minDomains requires at that
	// time.
	level, floor int
}

// spread decides the outcome of a loss for a workload with one spread constraint that counts only
// the workload's own pods. Anti-affinity, if any, limits each node to one pod (T3). Let c be the
// number of pods that fit in a domain, and let m be the smallest c of all domains.
//
// The constraint never rejects a pod in a domain with the fewest pods, because one more pod exceeds
// the minimum by only 1. So when no more pods can be placed, that domain is full and the minimum is
// m. Every other domain is full, has m + maxSkew pods, or had more from the start. The result does
// not depend on the order: a domain with y surviving pods ends with max(y, min(c, m + maxSkew))
// pods.
//
// The placements before the loss are all vectors x with x <= c and x <= min x + maxSkew. Filling
// the domains level by level can reach each of these placements. The lost nodes hold some part of
// x, between the smallest and the largest part that the node sizes allow.
func (r *Room) spread(b *DomainLoss, l certificate.Loss) (v diag.Outcome, pending int, ok bool) {
	t := r.p.Spreads[0]
	if !r.own(t, nil) || slices.ContainsFunc(r.p.Keys, r.coarse) {
		return "", 0, false
	}
	s := r.shares(t, b, l)
	worst, best, sure, found := s.missing(l.Returns(r.p.G.Workload))
	switch {
	case !found:
		return diag.Unknown, 0, true
	case worst == 0:
		return diag.Always, 0, s.lasting()
	case best > 0:
		return diag.Never, best, true
	}
	return diag.Sometimes, worst, sure
}

// NeverFits returns a lower bound on how many pods are missing at the end of every run. 0 means
// that nothing is proved. It uses the room on the nodes that remain, and each spread constraint that
// counts only the workload's own pods, as if there were no other rule. This is sound because a run that
// completes under more rules also completes under fewer. If several pods are evicted one at a time, only
// the room counts (T23).
func (r *Room) NeverFits(b *DomainLoss, l certificate.Loss, group []*workload.Workload, several bool) int {
	if !bound.QuickApplies(r.p.G) || !plain(r.m, r.p.G) {
		return 0
	}
	fewest := max(0, r.pods-r.room(nil, func(c int32) int { return len(r.nodes[c]) - b.taken[c] }))
	if several {
		return fewest
	}
	for _, t := range r.p.Spreads {
		if !r.own(t, group) {
			continue
		}
		if _, best, _, found := r.shares(t, b, l).missing(l.Returns(r.p.G.Workload)); found {
			fewest = max(fewest, best)
		}
	}
	return fewest
}

// own reports whether a constraint counts the workload's own pods but no other workload's pods in
// the group.
func (r *Room) own(t *model.Term, group []*workload.Workload) bool {
	w := r.p.G.Workload
	return t.Sel.Form == model.FormSet && r.m.Self(t, w) == model.Yes && r.m.Peer(t, w, w) == model.Yes &&
		!slices.ContainsFunc(group, func(o *workload.Workload) bool { return o != w && r.m.Peer(t, w, o) != model.No })
}

func (r *Room) shares(t *model.Term, b *DomainLoss, l certificate.Loss) *shares {
	s := &shares{pods: r.pods, skew: int(t.Constraint.MaxSkew), zones: r.zones(t, b, l.Meaning == certificate.Gone || t.HonorsTaints())}
	before, after, had, has := s.pods, s.pods, 0, 0
	for i := range s.zones {
		z := &s.zones[i]
		z.before, z.left, z.lost = min(z.before, s.pods), min(z.left, s.pods), min(z.lost, s.pods)
		had, before = had+z.count, min(before, z.before)
		if z.stays {
			has, after = has+z.count, min(after, z.left)
		}
	}
	if had >= t.MinDomains() {
		s.floor = before
	}
	if has >= max(1, t.MinDomains()) {
		s.level = after
	}
	return s
}

// zones returns the constraint's domains, considering only nodes that carry the keys of all
// constraints (R-T2). If forget is set, lost nodes no longer count, and a domain that has no other
// nodes disappears.
func (r *Room) zones(t *model.Term, b *DomainLoss, forget bool) []zone {
	r.m.Run().Spend(len(r.nodes))
	e, domain, keys := r.m.Eligible(r.p.G.Workload), r.domain(t.Key), model.HardKeys(r.p.G)
	by, order := map[int32]*zone{}, []int32{}
	var all []zone
	for c, nodes := range r.nodes {
		p := e.Nodes[nodes[0]]
		if !model.Carries(r.m.Topology.Nodes[nodes[0]].Labels, keys) || t.HonorsTaints() && !p.Taints || t.HonorsAffinity() && !p.Selector {
			continue
		}
		most, taken := r.per(c), b.taken[int32(c)]
		if domain[c] == alone {
			all = append(all, zone{count: taken, before: most, lost: most, stays: !forget}, zone{count: len(nodes) - taken, before: most, left: most, stays: true})
			continue
		}
		z := by[domain[c]]
		if z == nil {
			z = &zone{count: 1}
			by[domain[c]], order = z, append(order, domain[c])
		}
		z.before += most * len(nodes)
		z.left += most * (len(nodes) - taken)
		z.lost += most * taken
		z.stays = z.stays || !forget || taken < len(nodes)
	}
	for _, d := range order {
		all = append(all, *by[d])
	}
	return slices.DeleteFunc(all, func(z zone) bool { return z.count == 0 })
}

// target returns how many pods a domain has once a repair has filled it.
func (s *shares) target(z *zone) int {
	if !z.stays {
		return 0
	}
	return min(z.left, s.level+s.skew)
}

// lasting reports whether all pods are in place after a repair, however many were in each domain before the
// loss. Earlier losses can leave other numbers of pods in the domains than placing pods does.
func (s *shares) lasting() bool { return s.filled() >= s.pods }

// filled returns how many pods all domains have at least after a repair, if there are so many.
func (s *shares) filled() (sum int) {
	for i := range s.zones {
		sum += s.target(&s.zones[i]) * s.zones[i].count
	}
	return sum
}

// most returns how many pods a domain may have before the loss if every domain has at least m.
func (s *shares) most(z *zone, m int) int { return min(z.before, m+s.skew) }

// missing tries every possible minimum m of the domains' pod counts before the loss. The result
// worst is the number of pods missing after a loss from the worst placement. The result best is a
// lower bound on that number for the best placement, and sure is set if the best placement leaves
// no pods missing. A placement with minimum m exists if the workload has enough pods to put m in
// each domain, and if the domains can hold all of its pods.
func (s *shares) missing(recreated bool) (worst, best int, sure, found bool) {
	best = s.pods
	for m := 0; m <= s.floor; m++ {
		least, most := 0, 0
		for i := range s.zones {
			least, most = least+m*s.zones[i].count, most+s.most(&s.zones[i], m)*s.zones[i].count
		}
		if least > s.pods || most < s.pods {
			continue
		}
		found = true
		worst = max(worst, s.worst(m, recreated))
		low, exact := s.best(m, recreated)
		best = min(best, low)
		sure = sure || exact && low == 0
	}
	return worst, best, sure, found
}

// fill puts at least m pods in each domain and places the workload's other pods at the lowest cost.
// It returns the total cost. The given function returns the cost of x pods in a domain.
func (s *shares) fill(m int, of func(z *zone, x int) int) int {
	cost, free, rest := 0, 0, s.pods
	for i := range s.zones {
		z := &s.zones[i]
		base, top := of(z, m), s.most(z, m)
		cost += base * z.count
		rest -= m * z.count
		// A domain's cost is a convex function of its pod count, with slopes 0 and 1.
		paid := of(z, top) - base
		free += (top - m - paid) * z.count
	}
	return cost + max(0, rest-free)
}

// worst returns how many pods are missing after a loss from the worst placement in which every
// domain has at least m pods. If more pods survive in a domain than a repair would place there, the
// surplus is a gain. The worst placement gains the fewest pods.
func (s *shares) worst(m int, recreated bool) int {
	if !recreated { // losing the most pods leaves the fewest survivors
		return s.pods - s.fill(m, func(z *zone, x int) int { return max(0, x-z.lost) })
	}
	gained := s.fill(m, func(z *zone, x int) int {
		if !z.stays {
			return 0
		}
		return max(0, x-z.lost-s.target(z))
	})
	return max(0, s.pods-s.filled()-gained)
}

// best considers the best placement in which every domain has at least m pods. It returns a lower
// bound on how many pods are missing after a loss, and whether some placement attains the bound.
// The bound follows from three facts. The loss removes at least the smallest possible number of
// pods. A repair brings back at most as many pods as it would if each domain had m pods. In the
// end, no domain has more pods than a repair gives it or than it had from the start.
func (s *shares) best(m int, recreated bool) (low int, exact bool) {
	lost := s.fill(m, func(z *zone, x int) int { return max(0, x-z.left) })
	if !recreated || lost == 0 {
		return lost, true
	}
	back, fullest := 0, 0
	for i := range s.zones {
		z := &s.zones[i]
		back += max(0, s.target(z)-min(m, z.left)) * z.count
		if z.stays {
			fullest += max(s.target(z), min(s.most(z, m), z.left)) * z.count
		}
	}
	if back == 0 {
		return lost, true
	}
	return max(0, lost-back, s.pods-fullest), s.even(m) == 0
}

// even returns how many pods are missing after a loss from one particular placement. In that
// placement, each domain has m pods. As many of the other pods as possible are on remaining nodes,
// and the rest are on lost nodes.
func (s *shares) even(m int) int {
	rest := s.pods
	for i := range s.zones {
		rest -= m * s.zones[i].count
	}
	missing := s.pods
	// First fill the domains with the pods that fit on their remaining nodes, then with the pods
	// that the lost nodes must hold.
	place := func(x, upTo int) int {
		more := max(0, min(rest, upTo-x))
		rest -= more
		return x + more
	}
	var counts []int
	var of []*zone
	for i := range s.zones {
		for range s.zones[i].count {
			of = append(of, &s.zones[i])
			counts = append(counts, place(m, min(s.most(&s.zones[i], m), s.zones[i].left)))
		}
	}
	for i, z := range of {
		counts[i] = place(counts[i], s.most(z, m))
		if z.stays {
			missing -= max(min(counts[i], z.left), s.target(z))
		}
	}
	return max(0, missing)
}
