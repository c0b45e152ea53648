package search

import (
	"cmp"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// OnceGrownQuestion names the question that OnceGrown answers.
const OnceGrownQuestion = "whether pools can grow for its pods"

// OnceGrown reports whether each Pending pod of a workload can be placed on some node that exists or
// on a node that a pool may add, whatever pods are in place (T33). If it returns false, the answer is
// not known.
func OnceGrown(m *model.Model, w *workload.Workload, c certificate.Grown) (yes bool) {
	if model.Off("T33") || !m.Topology.Elastic() || !m.Groups[w].Placeable() || w.Kind.PerNode() {
		return false
	}
	ws := []*workload.Workload{w}
	m.Ask(ws, OnceGrownQuestion, m.Part(ws), func() {
		if yes = grows(m, w, c); !yes {
			return
		}
		if err := certificate.CheckerOf(m).Grows(m, w, c); err != nil {
			m.Run().Refuse(ws, err)
			yes = false
		}
	})
	return yes
}

// grows is OnceGrown without the check.
func grows(m *model.Model, w *workload.Workload, c certificate.Grown) bool {
	g := m.Groups[w]
	if !g.Placeable() || w.Kind.PerNode() || len(w.Early) > 0 || w.OrdinalReaches != nil {
		return false
	}
	q := onceGrown{Grown: c, m: m, g: g, partial: map[*topology.Pool]bool{}}
	for t := range g.Hard(model.AntiAffinity) {
		for _, o := range m.Others(t, w, true) {
			q.rivals = append(q.rivals, rival{o, t.Key})
		}
	}
	for _, o := range slices.Concat(m.Workloads, m.Elsewhere()) {
		for t := range m.Groups[o].Hard(model.AntiAffinity) {
			if o != w && m.Peer(t, o, w) != model.No {
				q.rivals = append(q.rivals, rival{o, t.Key})
			}
		}
	}
	for i, growth := range m.Topology.Growth {
		if p := growth.Node.Pool; p.MinValues || !q.add(len(m.Topology.Nodes)+i, growth.Node, true) {
			q.partial[p] = true
		}
	}
	if q.holds() {
		return true
	}
	takes := false
	for i, n := range m.Topology.Nodes {
		m.Run().Spend(1)
		if i > 0 && g.Spec.NodeName == "" && n.Pool != nil && n.Pool == m.Topology.Nodes[i-1].Pool && alikeIn(n, m.Topology.Nodes[i-1]) && q.passes(w, i) == q.passes(w, i-1) {
			if takes { // as the last one
				q.supplies = append(q.supplies, supply{n, i, false, q.supplies[len(q.supplies)-1].left})
			}
		} else {
			takes = q.add(i, n, false)
		}
	}
	return q.holds()
}

// onceGrown looks at the nodes that exist or that pools may add for the pods of one workload.
type onceGrown struct {
	certificate.Grown
	m *model.Model
	g *model.Group
	// rivals holds the other workloads that required anti-affinity may keep apart from g, with the
	// topology keys.
	rivals []rival
	// supplies holds the nodes that take a pod as their first one, next to the pods of DaemonSets.
	supplies []supply
	// near is the least number of nodes with pods that required affinity by node selects, once these are
	// placed.
	near int
	// partial holds the pools that may add a node that is not among them.
	partial map[*topology.Pool]bool
}

type rival struct {
	w   *workload.Workload
	key string
}

// supply is a declared node, or a sample of the nodes that a pool may add.
type supply struct {
	*topology.Node
	at    int // in the list of declared nodes and samples
	added bool
	// left is the node without what DaemonSets request.
	left *topology.Node
}

// passes returns the results of a workload's node filters for a declared node or a sample.
func (q *onceGrown) passes(w *workload.Workload, at int) model.Passes {
	e := q.m.Eligible(w)
	if at < len(e.Nodes) {
		return e.Nodes[at]
	}
	return e.Growth[at-len(e.Nodes)]
}

// add adds a node, unless it may be lost, may be no domain of its own, refuses the pods or lacks the
// topology key of a hard spread or affinity.
func (q *onceGrown) add(at int, n *topology.Node, added bool) bool {
	q.m.Run().Spend(len(q.g.Terms) + len(q.m.Workloads))
	lost := q.Lost[0] != "" && slices.Contains([]string{"", q.Lost[1]}, n.Labels[q.Lost[0]])
	if lost || n.Labels[corev1.LabelHostname] != n.Name || !q.passes(q.g.Workload, at).All() || slices.ContainsFunc(q.g.Terms, func(t *model.Term) bool {
		return t.Hard && t.Use != model.AntiAffinity && !model.Carries(n.Labels, []string{t.Key})
	}) {
		return false
	}
	daemons, known := q.daemons(at, n)
	left, enough := model.Without(n, daemons)
	rests, _ := model.Fits(left, q.g.Requests)
	if known = known && enough && rests > 0; known {
		q.supplies = append(q.supplies, supply{n, at, added, left})
	}
	return known
}

// daemons returns the DaemonSets whose pods a node may have before others, or false if they may
// keep the workload's pods away from it.
func (q *onceGrown) daemons(at int, n *topology.Node) (all []*model.Group, known bool) {
	for _, r := range q.g.Requests { // what the pool does not list may be missing
		if _, judged := model.Offered(n, &r); !judged && model.Extended(r.Name) {
			return nil, false
		}
	}
	for _, d := range slices.Concat(q.m.Workloads, q.m.Elsewhere()) {
		o := q.m.Groups[d]
		modelled := model.Modelled(o)
		if !d.Kind.PerNode() || modelled && !q.passes(d, at).All() {
			continue
		}
		if q.ruled(o) || slices.ContainsFunc(q.rivals, func(r rival) bool { return r.w == d }) || !modelled && (n.Allocatable != nil || len(q.g.HostPorts) > 0) {
			return nil, false
		}
		all = append(all, o)
	}
	return all, true
}

// ruled reports whether a rule by node may let a pod of a group close its node to the workload's pods.
func (q *onceGrown) ruled(o *model.Group) bool {
	for t := range q.g.HardTerms() {
		if t.Use != model.Affinity && t.Key == corev1.LabelHostname && q.m.Peer(t, q.g.Workload, o.Workload) != model.No {
			return true
		}
	}
	return slices.ContainsFunc(o.HostPorts, func(p model.HostPort) bool { return slices.ContainsFunc(q.g.HostPorts, p.Conflicts) }) ||
		slices.ContainsFunc(q.rivals, func(r rival) bool { return r.w == o.Workload && r.key == corev1.LabelHostname })
}

// domain is a domain of a topology key, or the nodes without it.
type domain struct {
	value string
	has   bool
}

// open returns the domains of a key in which each Pending pod finds a node, or gets one, although own
// others of the workload's pods may be there. All nodes are in one domain of an empty key. A pool with
// a max, all of whose nodes are in the domain, adds one or is at its max. The domain must then have more
// nodes than other pods can close.
func (q *onceGrown) open(key string, own int) map[domain]bool {
	all, in, open := map[domain][]supply{}, map[*topology.Pool]domain{}, map[domain]bool{}
	partial := maps.Clone(q.partial)
	for _, s := range q.supplies {
		var d domain
		d.value, d.has = s.Labels[key]
		all[d] = append(all[d], s)
		if s.added && lazy.Cached(in, s.Pool, func() domain { return d }) != d {
			partial[s.Pool] = true
		}
		open[d] = open[d] || s.added && s.Pool.Max == topology.Unbounded
	}
	for d, supplies := range all {
		sum := -q.Spare
		for p, at := range in {
			if at == d && !partial[p] {
				sum += p.Max - p.Count
			}
		}
		supplies = slices.DeleteFunc(supplies, func(s supply) bool {
			if !s.added {
				sum++
			}
			return s.added && partial[s.Pool]
		})
		if !open[d] && (sum <= 0 || q.closed(supplies, own) >= int64(sum)*wholeNode) {
			delete(open, d)
		} else {
			open[d] = true
		}
	}
	return open
}

// wholeNode is the least that all pods that close a node count together.
const wholeNode = 1 << 16

// closed returns an upper bound on how many of the given nodes other pods can close, in parts of
// wholeNode. A pod counts for the largest share of what is needed of a resource to close a node, and
// for a whole node at most.
func (q *onceGrown) closed(supplies []supply, own int) (sum int64) {
	if q.m.ByNeighbour(q.g.Workload).Given() {
		return math.MaxInt64
	}
	asks, needed := append(slices.Clone(q.g.Requests), model.Request{Name: corev1.ResourcePods, Amount: 1}), map[corev1.ResourceName]int64{}
	for k, o := range supplies {
		if q.m.Run().Spend(1); k > 0 && o.left == supplies[k-1].left {
			continue
		}
		for i := range asks {
			if has, judged := model.Offered(o.left, &asks[i]); judged {
				name, least := asks[i].Name, has-asks[i].Amount+1
				needed[name] = min(cmp.Or(needed[name], least), least)
			}
		}
	}
	count := func(g *model.Group, pods int) {
		share := int64(0)
		if q.ruled(g) {
			share = wholeNode
		}
		for name, least := range needed {
			part := int64(wholeNode)
			if ask := requested(g, name); ask < min(least, math.MaxInt64/wholeNode) {
				part = ask*wholeNode/least + 1
			}
			share = max(share, part)
		}
		sum += share * int64(pods)
	}
	count(q.g, own)
	for _, w := range slices.Concat(q.m.Workloads, q.m.Elsewhere()) {
		g := q.m.Groups[w]
		q.m.Run().Spend(1 + len(supplies)/model.PerStep)
		reaches := func(o supply) bool {
			return q.m.Chooses(w) || q.passes(w, o.at).All() || w.Spec.NodeName == o.Name
		}
		switch _, pods := w.Pods(); {
		case model.Same(w, q.g.Workload), perNode(w), g.Finite() && !q.g.Finite(), !slices.ContainsFunc(supplies, reaches):
		case !model.Modelled(g) && !g.Finite() && !q.ruled(g):
		case !g.Count.Known:
			return math.MaxInt64
		default:
			count(g, pods)
		}
	}
	return sum
}

// holds decides by the rules. A new node has no pods that rules by node can count. Rules by a larger
// domain must leave a domain in which a pod finds a node. The kubelet of a pod whose manifest names
// the node applies no such rule.
func (q *onceGrown) holds() bool {
	if q.g.Spec.NodeName != "" {
		return len(q.open("", 0)) > 0
	}
	blocking, keys := map[*workload.Workload]bool{}, map[string]bool{}
	blocks := func(o *workload.Workload, key string) {
		if key != corev1.LabelHostname {
			blocking[o], keys[key] = true, true
		}
	}
	var zonal []*model.Term // spread and affinity
	for t := range q.g.HardTerms() {
		own := q.m.Peer(t, q.g.Workload, q.g.Workload)
		switch {
		case t.Use == model.AntiAffinity:
			if own != model.No {
				blocks(q.g.Workload, t.Key)
			}
			continue
		case t.Use == model.Spread && t.Sel.Form != model.FormSet: // never rejects a pod (R-T5)
			continue
		case slices.ContainsFunc(q.m.Others(t, q.g.Workload, true), perNode): // their pods count on a new node
			return false
		case t.Key != corev1.LabelHostname || t.Use == model.Affinity:
			zonal = append(zonal, t)
		}
	}
	for _, r := range q.rivals {
		blocks(r.w, r.key)
	}
	switch {
	case len(zonal)+len(keys) == 0:
		return len(q.open("", q.Pods-1)) > 0
	case len(zonal)+len(keys) > 1:
		return false
	case len(zonal) == 1: // lost nodes that remain, and their pods, may count
		return q.Lost[0] == "" && (zonal[0].Use == model.Spread || q.company(zonal[0])) && q.covers(zonal[0])
	}
	most := 0
	if blocking[q.g.Workload] {
		most = q.Pods - 1
		delete(blocking, q.g.Workload)
	}
	for o := range blocking {
		if !o.Count.Known || o.Kind.PerNode() {
			return false
		}
		_, pods := o.Pods()
		most += max(pods, o.Count.N)
	}
	for key := range keys {
		domains := q.open(key, q.Pods-1)
		if domains[domain{}] {
			if !q.m.Topology.Uncertain(key) {
				return true
			}
			delete(domains, domain{})
		}
		return len(domains) > most
	}
	return true
}

// company reports whether a pod is sure to find other pods that required affinity selects, or needs none.
func (q *onceGrown) company(t *model.Term) bool {
	if q.m.Self(t, q.g.Workload) == model.Yes {
		q.near = 1
	}
	for _, o := range q.m.Others(t, q.g.Workload, false) {
		_, most := o.Pods()
		sure := model.Certain(o)
		if sure < 1 || o.TightQuota != "" || o.Finite() || len(q.m.Groups[o].HardAffinity()) > 0 || q.m.Groups[o].After != nil {
			continue
		}
		if !slices.ContainsFunc(q.m.Groups[o].Terms, func(own *model.Term) bool {
			return own.Hard && own.Use == model.AntiAffinity && own.Key == t.Key && q.m.Peer(own, o, o) == model.Yes
		}) {
			sure = 1 // they may share a node
		}
		if q.near < sure && grows(q.m, o, certificate.Grown{Pods: most}) {
			q.near = sure
		}
	}
	return q.near > 0 && (q.Spare == 0 || t.Key != corev1.LabelHostname && q.m.Self(t, q.g.Workload) == model.Yes)
}

// covers reports whether a pod finds a node in each domain of a term. For required affinity by node,
// other pods must not close all nodes with pods that it selects.
func (q *onceGrown) covers(t *model.Term) bool {
	w := q.g.Workload
	company := q.m.Others(t, w, true)
	values := lists.SetOf(q.supplies, func(o supply) string { return o.Labels[t.Key] })
	own := q.Pods - 1
	if t.Use == model.Spread && len(company) == 0 && len(values) > 0 && len(t.Constraint.MatchLabelKeys) == 0 && q.m.Peer(t, w, w) == model.Yes {
		own /= len(values) // in the domain with the fewest pods
	}
	var open map[domain]bool
	if t.Use == model.Affinity && t.Key == corev1.LabelHostname {
		if len(q.open("", own)) == 0 || q.closed(q.supplies, own) >= int64(q.near)*wholeNode {
			return false
		}
		open = map[domain]bool{}
		for _, s := range q.supplies {
			open[domain{s.Name, true}] = true
		}
	} else {
		open = q.open(t.Key, own)
	}
	q.m.Run().Spend(len(q.m.Topology.Nodes) + len(q.m.Topology.Growth))
	for i, n := range q.m.Topology.All() {
		value, has := n.Labels[t.Key]
		passes, counts := q.passes(w, i), true
		if t.Use == model.Affinity {
			counts = passes.Selector && q.m.Peer(t, w, w) != model.No || slices.ContainsFunc(company, func(o *workload.Workload) bool {
				p := q.passes(o, i)
				return !model.Modelled(q.m.Groups[o]) || p.Name && (p.Selector || o.Running)
			})
		} else {
			counts = (passes.Selector || !t.HonorsAffinity()) && (passes.Taints || !t.HonorsTaints())
		}
		if has && counts && !open[domain{value, true}] {
			return false
		}
	}
	return len(open) > 0 && (t.Use == model.Affinity || len(open) >= t.MinDomains())
}
