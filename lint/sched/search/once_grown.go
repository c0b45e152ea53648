package search

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// OnceGrownQuestion names the question that OnceGrown answers.
const OnceGrownQuestion = "whether pools can grow for its pods"

// OnceGrown reports whether each Pending pod of a workload can be placed on some node that exists or
// on a node that an unbounded pool may add, whatever pods are in place (T33). pods is the maximum
// number of the workload's pods at a time. lost is the key and the value of a label of nodes that are
// lost and that pools do not add, or empty. If OnceGrown returns false, the answer is not known.
func OnceGrown(m *model.Model, w *workload.Workload, pods int, lost [2]string) (yes bool) {
	g := m.Groups[w]
	if model.Off("T33") || !slices.ContainsFunc(m.Topology.Growth, unbounded) || !g.Placeable() || w.Kind.PerNode() || m.Chooses(w) || w.OrdinalReaches != nil {
		return false
	}
	ws := []*workload.Workload{w}
	m.Ask(ws, OnceGrownQuestion, m.Part(ws), func() {
		q := onceGrown{m: m, g: g, e: m.Eligible(w), lost: lost}
		for t := range q.g.Hard(model.AntiAffinity) {
			for _, o := range q.m.Others(t, q.g.Workload, true) {
				q.rivals = append(q.rivals, rival{o, t.Key})
			}
		}
		for _, o := range slices.Concat(q.m.Workloads, q.m.Elsewhere()) {
			if o == q.g.Workload {
				continue
			}
			for t := range q.m.Groups[o].Hard(model.AntiAffinity) {
				if q.m.Peer(t, o, q.g.Workload) != model.No {
					q.rivals = append(q.rivals, rival{o, t.Key})
				}
			}
		}
		if q.addable(); len(q.nodes) > 0 {
			yes = q.holds(pods)
		}
		if !yes {
			return
		}
		if err := certificate.CheckerOf(m).Grows(m, w, pods, lost); err != nil {
			m.Run().Refuse(ws, err)
			yes = false
		}
	})
	return yes
}

func unbounded(g topology.Growth) bool {
	return g.Node.Pool.Max == topology.Unbounded && !g.Node.Pool.MinValues
}

// onceGrown looks at the nodes that unbounded pools may add for the pods of one workload.
type onceGrown struct {
	m    *model.Model
	g    *model.Group
	e    *model.Eligibility
	lost [2]string
	// rivals holds the other workloads that required anti-affinity may keep apart from g, with the
	// topology keys.
	rivals []rival
	// nodes holds a sample of each kind of node that takes a pod as its first one, next to the pods
	// of DaemonSets.
	nodes []*topology.Node
}

type rival struct {
	w   *workload.Workload
	key string
}

// addable finds the nodes. Those with a topology key of a hard spread or affinity lack no such key.
func (q *onceGrown) addable() {
	for i, growth := range q.m.Topology.Growth {
		n := growth.Node
		q.m.Run().Spend(len(q.g.Terms) + len(q.m.Workloads))
		switch {
		case n.Labels[corev1.LabelHostname] != n.Name: // not a domain of its own
			continue
		case q.lost[0] != "" && slices.Contains([]string{"", q.lost[1]}, n.Labels[q.lost[0]]): // it may be lost
			continue
		}
		if !unbounded(growth) || !q.e.Growth[i].All() || slices.ContainsFunc(q.g.Terms, func(t *model.Term) bool {
			return t.Hard && t.Use != model.AntiAffinity && !model.Carries(n.Labels, []string{t.Key})
		}) {
			continue
		}
		daemons, known := q.daemons(i)
		left, enough := model.Without(n, daemons)
		if rests, _ := model.Fits(left, q.g.Requests); known && enough && rests > 0 {
			q.nodes = append(q.nodes, n)
		}
	}
}

// daemons returns the DaemonSets whose pods a node may have before others, or false if they may
// keep the workload's pods away from it.
func (q *onceGrown) daemons(i int) (all []*model.Group, known bool) {
	n := q.m.Topology.Growth[i].Node
	for _, r := range q.g.Requests { // what the pool does not list may be missing
		if _, judged := model.Offered(n, &r); !judged && model.Extended(r.Name) {
			return nil, false
		}
	}
	for _, d := range slices.Concat(q.m.Workloads, q.m.Elsewhere()) {
		o := q.m.Groups[d]
		modelled := model.Modelled(o)
		if !d.Kind.PerNode() || modelled && !q.m.Eligible(d).Growth[i].All() {
			continue
		}
		conflicts := slices.ContainsFunc(o.HostPorts, func(p model.HostPort) bool { return slices.ContainsFunc(q.g.HostPorts, p.Conflicts) }) ||
			slices.ContainsFunc(q.rivals, func(r rival) bool { return r.w == d })
		if conflicts || !modelled && (n.Allocatable != nil || len(q.g.HostPorts) > 0) {
			return nil, false
		}
		all = append(all, o)
	}
	return all, true
}

// holds decides by the rules. A new node has no pods that rules by node can count. Rules by a larger
// domain must leave a domain to which a node can be added.
func (q *onceGrown) holds(pods int) bool {
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
		case t.Use == model.Affinity && (t.Key == corev1.LabelHostname || q.m.Self(t, q.g.Workload) != model.Yes):
			return false
		case slices.ContainsFunc(q.m.Others(t, q.g.Workload, true), perNode): // their pods count on a new node
			return false
		case t.Key != corev1.LabelHostname:
			zonal = append(zonal, t)
		}
	}
	for _, r := range q.rivals {
		blocks(r.w, r.key)
	}
	switch {
	case len(zonal)+len(keys) == 0:
		return true
	case len(zonal)+len(keys) > 1:
		return false
	case len(zonal) == 1: // lost nodes that remain, and their pods, may count
		return q.lost[0] == "" && q.covers(zonal[0])
	}
	most := 0
	if blocking[q.g.Workload] {
		most = pods - 1
		delete(blocking, q.g.Workload)
	}
	for o := range blocking {
		if !o.Count.Known || o.Kind.PerNode() {
			return false
		}
		most += o.Count.N
		if o.Scale != nil {
			most += max(o.Scale.Max-o.Count.N, 0)
		}
	}
	for key := range keys {
		domains, free := q.domains(key)
		return free && !q.m.Topology.Uncertain(key) || len(domains) > most
	}
	return true
}

// domains returns the values of a key on the nodes, and whether one of them lacks it.
func (q *onceGrown) domains(key string) (values map[string]bool, lacks bool) {
	values = map[string]bool{}
	for _, n := range q.nodes {
		if v, has := n.Labels[key]; has {
			values[v] = true
		} else {
			lacks = true
		}
	}
	return values, lacks
}

// covers reports whether a node can be added to each domain of a term.
func (q *onceGrown) covers(t *model.Term) bool {
	values, _ := q.domains(t.Key)
	outside := func(n *topology.Node, passes model.Passes) bool {
		v, has := n.Labels[t.Key]
		return has && !values[v] && (passes.Selector || t.Use == model.Affinity || !t.HonorsAffinity())
	}
	q.m.Run().Spend(len(q.m.Topology.Nodes) + len(q.m.Topology.Growth))
	for i, n := range q.m.Topology.Nodes {
		if outside(n, q.e.Nodes[i]) {
			return false
		}
	}
	for i, growth := range q.m.Topology.Growth {
		if outside(growth.Node, q.e.Growth[i]) {
			return false
		}
	}
	return t.Use == model.Affinity || len(values) >= t.MinDomains()
}
