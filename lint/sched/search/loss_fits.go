package search

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// FitsAnyway reports that there is always a node for a pod of the workload, wherever the
// pods of others and pods-1 of its own are and whatever the rules of the others: then it
// is complete after every repair (T16). A node takes a pod when empty, and is open as
// long as others do not close it: together by what they request, or one by one by
// anti-affinity and spread on a key with one domain per node. Anti-affinity on a coarse
// key, whose domains hold several nodes, closes all nodes of a domain; and a domain with
// the fewest pods passes a spread over such domains. So
//   - without a coarse key, more nodes must take the pod than others can close;
//   - with one in anti-affinity, that must hold in more domains than there are pods that
//     close a domain;
//   - with one in a spread, it must hold in each domain that counts; or, if the spread counts
//     only own pods, in enough domains to hold all pods with maxSkew each, as a domain with
//     fewer pods takes one more whatever the minimum is.
//
// Pods of unreachable nodes close no more than the lost nodes and, by anti-affinity, the
// domains of these, which are left out.
func (r *Room) FitsAnyway(b *DomainLoss, l certificate.Loss, about *Roster, pods int) bool {
	if r.others == nil || r.others.of != about {
		r.others = r.contenders(about, pods)
	}
	switch x := r.others; {
	case !x.counts:
		return false
	case x.over != nil:
		return r.everywhere(b, l, x)
	case x.key != "":
		return r.somewhere(b, l, x)
	default:
		return r.open(b, nil, 0) > r.closed(x, nil, 0)
	}
}

// contenders describes the other pods that are present while a pod of the workload looks for a
// node.
type contenders struct {
	of *Roster
	// counts is unset where counting proves nothing.
	counts bool
	// key is the only coarse key of anti-affinity, and shut the number of pods that close a
	// domain of it; over is the only spread over a coarse key, and own is set if it counts
	// no pods of others.
	key  string
	shut int
	over *model.Term
	own  bool
	// pods is the number of pods; apart counts those that close a node by a rule.
	pods, apart int
	// asked is the sum of their requests, by resource of the room, and daemons what the
	// DaemonSets among them take of each node.
	asked, daemons []int64
}

func (r *Room) contenders(about *Roster, pods int) *contenders {
	x := &contenders{of: about}
	if !bound.QuickApplies(r.p.G) || len(r.p.G.HardAffinity()) > 0 {
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
		if x.key != "" || x.over != nil { // several coarse keys
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
	x.asked, x.daemons = make([]int64, len(r.asks)), make([]int64, len(r.asks))
	for i, a := range r.asks {
		x.asked[i], x.daemons[i] = about.asked(w, own, a.name), about.daemons(a.name)
	}
	for _, o := range about.running { // each may take all the room of its node
		n := podsOf(o, w, own)
		x.pods += n
		if at, known := r.m.IndexOf(o.Spec.NodeName); known && r.caps[r.of[at]] > 0 {
			x.apart += n
		}
	}
	if len(r.p.G.HostPorts) > 0 || len(r.m.Apart) > 0 { // any other pod may have the same
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

// NoLoss is the loss of no node.
var NoLoss = &DomainLoss{}

// AlwaysFits reports that there is always a node for a pod of w after a loss, with the
// given number of its pods and those of the others in about present, wherever they are,
// in addition to running pods (T16). ruled lists the workloads that rules connect with w,
// or all. False proves nothing.
func AlwaysFits(w *workload.Workload, ruled, about *Roster, b *DomainLoss, l certificate.Loss, pods int) bool {
	room := ruled.Kinds(w, ruled.pods(w, pods), corev1.LabelHostname).Room(w, pods)
	return room.FitsAnyway(b, l, about, pods)
}

// coarse reports whether domains of a key hold several nodes.
func (r *Room) coarse(key string) bool {
	return slices.ContainsFunc(r.domain(key), func(d int32) bool { return d >= 0 })
}

// shutting returns the only coarse key of anti-affinity, and how many pods shut a domain
// of it to the workload; ok is false if there are several keys.
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

// open counts the nodes that take a pod when empty, of all kinds or of those in one
// domain.
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

// ruledBy reports whether another workload is a DaemonSet that hard rules connect with
// that of the room: then more than requests decides where its pods are.
func (r *Room) ruledBy(o *workload.Workload) bool {
	w := r.p.G.Workload
	rules := func(of, other *workload.Workload) bool {
		return slices.ContainsFunc(r.m.Groups[of].Terms, func(t *model.Term) bool { return t.Hard && r.m.Peer(t, of, other) != model.No })
	}
	return o.Kind.PerNode() && (rules(w, o) || rules(o, w))
}

// closes reports whether a pod of the given workload closes the node that it is on by a
// rule.
func (r *Room) closes(o *workload.Workload) bool {
	w := r.p.G.Workload
	r.m.Run().Spend(1 + 2*len(r.m.Groups[o].Terms))
	rules := func(of, other *workload.Workload, spreads bool) bool {
		return slices.ContainsFunc(r.m.Groups[of].Terms, func(t *model.Term) bool {
			return t.Hard && (t.Use == model.AntiAffinity || spreads && t.Use == model.Spread) && r.m.Peer(t, of, other) != model.No
		})
	}
	return rules(w, o, true) || rules(o, w, false)
}

// requested returns the request of a pod of a group for a resource.
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

// closed bounds the nodes, of all kinds or of those in one domain, that other pods close:
// each of some pods closes its node by a rule, and all together close as many as their
// requests for some resource suffice to leave too little on (T6).
func (r *Room) closed(x *contenders, domain []int32, d int32) int {
	sum, full := x.apart, 0
	for i, a := range r.asks {
		left := x.asked[i]
		r.m.Run().Spend(1 + len(a.sizes)/model.PerStep)
		for _, o := range a.sizes {
			if r.caps[o.kind] == 0 || domain != nil && domain[o.kind] != d {
				continue // where no pod fits anyway
			}
			takes := o.has - x.daemons[i] - a.ask + 1
			if takes <= 0 {
				full += o.nodes
				continue
			}
			nodes := min(left/takes, int64(o.nodes))
			if nodes == 0 {
				break // the remaining nodes need more to be closed
			}
			sum, left = sum+int(nodes), left-nodes*takes
		}
	}
	return full + min(sum, x.pods)
}

// somewhere reports that more domains than can be shut have more open nodes than others
// close, or that the nodes in no domain do.
func (r *Room) somewhere(b *DomainLoss, l certificate.Loss, x *contenders) bool {
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
		roomy -= b.any // its domain may be one of these
	}
	return roomy > x.shut || r.open(b, domain, -1) > r.closed(x, domain, -1)
}

// everywhere reports that each domain of a constraint has more open nodes than others
// close, and so has the one with the fewest pods. If the constraint counts only the
// workload's own pods, enough domains to hold all pods with maxSkew each will do.
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
		if d == alone { // one domain per node; other kinds may have such domains too
			domains += len(r.nodes[c])
			continue
		}
		if seen[d] {
			continue
		}
		if seen[d] = true; nodes[d] <= b.any {
			return false // it may no longer be a domain
		}
		if domains++; open[d]-b.any > r.closed(x, domain, d) {
			roomy++
		}
	}
	return roomy > 0 && roomy == domains && domains >= t.MinDomains() || x.own && roomy*int(t.Constraint.MaxSkew) >= r.pods
}
