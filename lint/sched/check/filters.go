package check

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// filters applies the scheduler's filters to a pod and a node, given the pods in place.
type filters struct {
	books
	// contend is false if pods do not compete for resources.
	contend bool
	// eligibles caches the domains that each constraint counts.
	eligibles keptDomains
	// offers caches how much of the requested resources the nodes offer.
	offers []offers
	// about is the group of the last call. passes holds its node-level filter results.
	about  *model.Group
	passes []model.Passes
}

func newFilters(b books, contend bool) filters {
	f := filters{books: b, contend: contend}
	if b.absent != nil {
		f.eligibles = b.absent.domains
	} else {
		f.eligibles = *model.KeepForNodes(b.m, func() *keptDomains { return &keptDomains{} })
	}
	return f
}

// refuses returns the first filter that rejects a pod of g on a node, or Takes.
func (f *filters) refuses(g *model.Group, n int) certificate.Reason {
	f.m.Run().Spend(1 + len(g.Terms)/2)
	switch r := f.atNode(g, n); {
	case g.Spec.NodeName != "":
		return r
	case (r == certificate.Takes || r == certificate.RefusedByVolume || r == certificate.RefusedByZone) && f.claimed(g) != "":
		return certificate.RefusedByRestrictions
	case r != certificate.Takes:
		return r
	}
	return f.byRules(g, f.m.Topology.Nodes[n], n)
}

// atNode applies the filters that depend only on the node, its free resources and its free ports.
func (f *filters) atNode(g *model.Group, n int) certificate.Reason {
	if f.about != g {
		f.about, f.passes = g, f.m.Eligible(g.Workload).Nodes
	}
	if r := reason(f.passes[n]); r != certificate.Takes {
		return r
	}
	if f.absent.from(n) {
		return certificate.RefusedByTaint
	}
	if f.absent.strands(f.m, g, n) {
		return certificate.RefusedByVolume
	}
	if f.portTaken(g, n) {
		return certificate.RefusedByPort
	}
	on := f.on[n]
	if !f.contend { // compare the pod with the empty node
		on = nil
	}
	by := certificate.Takes
	if r, short := on.lacks(g, func(name corev1.ResourceName, kubelet bool) (int64, bool) { return f.offered(n, name, kubelet) }); short {
		by = shortOf(r)
	}
	switch {
	case by != certificate.Takes:
		return by
	case !f.passes[n].Volume:
		return certificate.RefusedByVolume
	case !f.passes[n].Zone:
		return certificate.RefusedByZone
	}
	return certificate.Takes
}

// shortOf returns the filter that rejects a pod because a request does not fit. A nil request stands
// for a pod slot.
func shortOf(r *model.Request) certificate.Reason {
	switch {
	case r == nil || !topology.CountsVolumes(r.Name):
		return certificate.RefusedByResources
	case topology.Driver(r.Name) != "":
		return certificate.RefusedByLimits
	}
	return certificate.RefusedByVolume
}

// byRules applies the filters that depend on other pods.
func (f *filters) byRules(g *model.Group, node *topology.Node, n int) certificate.Reason {
	if f.repelled(g, node) {
		return certificate.RefusedByAffinity
	}
	for _, t := range g.Terms {
		if t.Hard && t.Use == model.Spread && !(model.Carries(node.Labels, model.HardKeys(g)) && f.skew(g, t, n).allowed()) {
			return certificate.RefusedBySpread
		}
	}
	if f.unmet(g, node) != nil {
		return certificate.RefusedByAffinity
	}
	return certificate.Takes
}

// claimed returns the pod's ReadWriteOncePod claim that a placed pod already uses, or ""
// (plugins/volumerestrictions/volume_restrictions.go; R-N36).
func (f *filters) claimed(g *model.Group) string {
	for _, claim := range g.OncePod {
		f.m.Run().Spend(len(f.users[claim]))
		if slices.ContainsFunc(f.users[claim], func(w *workload.Workload) bool {
			return f.placed[w] > 0 && workload.Space(w.Namespace()) == workload.Space(g.Namespace())
		}) {
			return claim
		}
	}
	return ""
}

// portTaken reports whether a pod in place uses a host port that the pod requests.
func (f *filters) portTaken(g *model.Group, n int) bool {
	if f.on[n] == nil || len(g.HostPorts) == 0 {
		return false
	}
	f.m.Run().Spend(len(f.on[n].ports) * len(g.HostPorts) / model.PerStep)
	for taken, pods := range f.on[n].ports {
		if pods > 0 && slices.ContainsFunc(g.HostPorts, taken.Conflicts) {
			return true
		}
	}
	return false
}

// repelled reports whether an anti-affinity term keeps the pod off the node. The term can belong
// to the pod or to pods in place.
func (f *filters) repelled(g *model.Group, node *topology.Node) bool {
	f.m.Run().Spend(len(f.against[g.Workload]) / 2)
	for _, a := range f.against[g.Workload] {
		if value, ok := node.Labels[a.key]; ok && a.key != topology.Cluster && f.here[place3{a.w, a.key, value}] > 0 {
			return true
		}
	}
	for _, t := range g.Terms {
		value, ok := node.Labels[t.Key]
		if !ok || !t.Hard || t.Use != model.AntiAffinity || !t.Declared() {
			continue
		}
		f.m.Run().Spend(len(f.selects[t]))
		for _, w := range f.selects[t] {
			if f.in([]*model.Term{t}, g, w, t.Key, value) {
				return true
			}
		}
	}
	return false
}

// in reports whether a domain contains a pod of w that all of the given terms select.
func (f *filters) in(terms []*model.Term, g *model.Group, w *workload.Workload, key, value string) bool {
	return f.here[place3{w, key, value}] > 0 && f.selectedOn(terms, g, w, func(n *topology.Node) bool {
		here, ok := n.Labels[key]
		return ok && here == value
	})
}

// selectedOn reports whether all terms select a placed pod of w on one of the given nodes. The
// caller ensures that w has a pod there. A term with a condition on node labels may select the pod
// on some nodes only.
func (f *filters) selectedOn(terms []*model.Term, g *model.Group, w *workload.Workload, among func(*topology.Node) bool) bool {
	if !model.Local(terms) {
		return selectedByAll(f.m, terms, g, w, nil)
	}
	for n, node := range f.m.Topology.Nodes {
		if among(node) && f.pods(n, w) > 0 && selectedByAll(f.m, terms, g, w, node) {
			return true
		}
	}
	return false
}

// offered is like model.Offered for a declared node, but caches the amounts of all nodes.
func (f *filters) offered(n int, name corev1.ResourceName, kubelet bool) (int64, bool) {
	if kubelet {
		return model.Offered(f.m.Topology.Nodes[n], &model.Request{Name: name, Kubelet: true})
	}
	i := slices.IndexFunc(f.offers, func(o offers) bool { return o.name == name })
	if i < 0 {
		i, f.offers = len(f.offers), append(f.offers, offers{name, f.m.Offers(name, f.m.Topology.Nodes)})
	}
	has := f.offers[i].byNode[n]
	return has, has != math.MaxInt64
}

// offers holds how much of a resource each node offers, as returned by model.Model.Offers.
type offers struct {
	name   corev1.ResourceName
	byNode []int64
}

// lacks reports whether a node with this load has too little room for a pod of g. It also returns
// the first request that does not fit. If all pod slots are taken, that request is nil. The
// function offered returns the amount on the empty node, and whether the amount is known.
func (l *load) lacks(g *model.Group, offered func(name corev1.ResourceName, kubelet bool) (int64, bool)) (r *model.Request, short bool) {
	if has, judged := offered(corev1.ResourcePods, false); judged && has-l.uses(corev1.ResourcePods) < 1 {
		return nil, true
	}
	for i := range g.Requests {
		r := &g.Requests[i]
		if has, judged := offered(r.Name, r.Kubelet); judged && has-l.uses(r.Name) < r.Amount {
			return r, true
		}
	}
	return nil, false
}

// unmet returns a required affinity term that a node does not satisfy, or nil if there is none. A
// pod satisfies the terms only if all terms select it.
func (f *filters) unmet(g *model.Group, node *topology.Node) *model.Term {
	hard := g.HardAffinity()
	first, anyone, missed := true, false, (*model.Term)(nil)
	for _, t := range hard {
		value, ok := node.Labels[t.Key]
		if !ok {
			return t
		}
		first = first && f.m.Selects(t, g.Workload, g.Workload, model.Asks{Self: true, Incoming: true})
		found := false
		f.m.Run().Spend(len(f.selects[t]))
		for _, w := range f.selects[t] {
			found = found || f.in(hard, g, w, t.Key, value)
			anyone = anyone || f.total[keyOf{w, t.Key}] > 0 && f.selectedOn(hard, g, w, func(n *topology.Node) bool {
				_, ok := n.Labels[t.Key]
				return ok
			})
		}
		if !found && missed == nil {
			missed = t
		}
	}
	if !anyone && first {
		return nil
	}
	return missed
}

func selectedByAll(m *model.Model, hard []*model.Term, g *model.Group, w *workload.Workload, at *topology.Node) bool {
	return !slices.ContainsFunc(hard, func(t *model.Term) bool { return !m.Selects(t, g.Workload, w, model.Asks{Incoming: true, At: at}) })
}

// skew holds the numbers that a spread constraint compares for one more pod. here is the number of
// pods in the new pod's domain, and self is the number that the new pod adds there. The other
// fields are the smallest number in any domain and the number of domains.
type skew struct {
	t                             *model.Term
	here, self, smallest, domains int
}

func (s skew) allowed() bool { return s.here+s.self-s.smallest <= int(s.t.Constraint.MaxSkew) }

// skew returns the counts for a node that has the keys of all hard spread constraints.
func (f *filters) skew(g *model.Group, t *model.Term, n int) skew {
	node := f.m.Topology.Nodes[n]
	counts, domains := f.counts[t], map[string]bool(nil)
	if g.Kind.PerNode() {
		domains = map[string]bool{}
		for i, other := range f.m.Topology.Nodes {
			if f.counted(g, t, i, n) {
				domains[other.Labels[t.Key]] = true
			}
		}
	} else {
		domains = f.domains(g, t)
	}
	if pinnedSpread(g, t) {
		sum := 0
		for _, w := range f.selects[t] {
			if t.Sel.Form == model.FormSet && !w.Terminating() && f.m.Selects(t, g.Workload, w, model.Asks{Incoming: true, At: node}) {
				sum += f.pods(n, w)
			}
		}
		counts = map[string]int{node.Labels[t.Key]: sum}
	}
	smallest := 0
	if len(domains) > 0 && len(domains) >= t.MinDomains() {
		smallest = model.Unbounded
		for value := range domains {
			smallest = min(smallest, counts[value])
		}
	}
	self := 0
	if t.Sel.Form == model.FormEmpty || f.m.Selects(t, g.Workload, g.Workload, model.Asks{Self: true, Incoming: true}) {
		self = 1
	}
	return skew{t, counts[node.Labels[t.Key]], self, smallest, len(domains)}
}

// pinnedSpread reports whether a constraint counts only the pod's own node. This is the case for
// DaemonSet pods if the constraint honors their node affinity, which pins each pod to a node
// (R-N31).
func pinnedSpread(g *model.Group, t *model.Term) bool {
	return g.Kind.PerNode() && t.HonorsAffinity()
}

// reasons counts the nodes by their reason for rejecting one more pod. It omits nodes that already
// have their DaemonSet pod.
func (f *filters) reasons(g *model.Group) map[certificate.Reason]int {
	count := map[certificate.Reason]int{}
	for n := range f.m.Topology.Nodes {
		if g.Kind.PerNode() && f.pods(n, g.Workload) > 0 {
			continue
		}
		count[f.refuses(g, n)]++
	}
	return count
}

// domainsKey identifies the constraints that count the same nodes and domains.
type domainsKey struct {
	signature, key, keys      string
	affinity, taints, perNode bool
}

// keptDomains caches domains, because many workloads have equal constraints. A cache is valid for
// the nodes of one model, or for the nodes that one loss leaves.
type keptDomains map[domainsKey]map[string]bool

// domains returns the key's values on the nodes that the constraint counts.
func (f *filters) domains(g *model.Group, t *model.Term) map[string]bool {
	id := domainsKey{g.Signature, t.Key, g.KeysID, t.HonorsAffinity(), t.HonorsTaints(), g.Kind.PerNode()}
	return lazy.Cached(f.eligibles, id, func() map[string]bool {
		known := map[string]bool{}
		for n, node := range f.m.Topology.Nodes {
			if f.counted(g, t, n, -1) {
				known[node.Labels[t.Key]] = true
			}
		}
		if f.absent == nil {
			f.m.Run().Spend(len(f.m.Topology.Nodes))
		}
		return known
	})
}

// run returns how many pods, up to limit, a run of a single workload places on the given nodes. The
// run continues while some node accepts a pod. Afterwards, the pods are removed.
func (f *filters) run(g *model.Group, nodes []int, limit int) int {
	var at []int
	for progress := true; progress && len(at) < limit; {
		progress = false
		for _, n := range nodes {
			if len(at) < limit && f.refuses(g, n) == certificate.Takes {
				f.add(g, n)
				at = append(at, n)
				progress = true
			}
		}
	}
	for _, n := range at {
		f.remove(g, n)
	}
	return len(at)
}

// blocked reports whether running pods or node facts keep a group off a node permanently. Missing
// peers and the pod counts in other domains do not count as permanent.
func (f *filters) blocked(g *model.Group, n int) bool {
	switch f.refuses(g, n) {
	case certificate.Takes:
		return false
	case certificate.RefusedBySpread: // a constraint never counts a node that lacks one of the keys
		return !model.Carries(f.m.Topology.Nodes[n].Labels, model.HardKeys(g))
	case certificate.RefusedByAffinity:
		return f.repelled(g, f.m.Topology.Nodes[n])
	}
	return true
}
