package sizing

import (
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/size"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// sizing holds what a search for the sizes of the pools of one context needs.
type sizing struct {
	o    *Options
	topo *topology.Topology
	set  *workload.Set
	// scale sets the step budgets of a model.
	scale func(*model.Model)
	pools []size.Pool // with all their zones
	// base is a model of one node of each pool and zone, beside the nodes outside of pools. of holds
	// the indices of its nodes by pool. The last entry has the nodes outside of pools, which count
	// like a pool that has one size.
	base *model.Model
	of   [][]int
	// facts holds what is known about each workload, in the order of base.Workloads.
	facts map[*workload.Workload]*demand
}

// demand says which pools matter to a workload.
type demand struct {
	// room holds how many pods an empty node of each pool takes beside the DaemonSets, 0 if none may
	// run there. related is set for the pools whose sizes the placement of the pods may depend on.
	room    []int
	related []bool
	pods    int
}

// part is a set of workloads and the pools that matter to them. Workloads and pools of different
// parts do not affect each other, so the sizes of each part are found by itself.
type part struct {
	pools []int // indices in sizing.pools
	fixed bool  // the nodes outside of pools belong to the part
	set   *workload.Set
	ws    []*workload.Workload
	// zonal is set for the pools whose zones matter. Of others, all layouts are equal.
	zonal []bool
}

// newSizing returns what a search needs. The numbers of pods in the set must be those that are asked
// about.
func newSizing(o *Options, topo *topology.Topology, set *workload.Set, scale func(*model.Model)) (*sizing, error) {
	z := &sizing{o: o, topo: topo, set: set, scale: scale, facts: map[*workload.Workload]*demand{}}
	one, err := topo.Sized(func(p *topology.Pool) []int { return slices.Repeat([]int{1}, len(p.ZoneNames())) })
	if err != nil {
		return nil, err
	}
	z.base = sched.New(set, one)
	z.scale(z.base)
	z.of = make([][]int, len(topo.Pools)+1)
	for n, node := range z.base.Topology.Nodes {
		i := slices.Index(one.Pools, node.Pool)
		if node.Pool == nil {
			i = len(topo.Pools)
		}
		z.of[i] = append(z.of[i], n)
	}
	for _, w := range z.base.Workloads {
		if z.counts(w) {
			// A hard spread constraint counts nodes whose taints its pods do not tolerate, and possibly all nodes.
			g, passes := z.base.Group(w), z.base.Eligible(w).Nodes
			f := &demand{room: make([]int, len(z.of)), related: make([]bool, len(z.of)), pods: g.Count.N}
			for i, nodes := range z.of {
				for _, n := range nodes {
					if passes[n].All() {
						fits := z.room(i, z.base.Topology.Nodes[n], g)
						f.related[i], f.room[i] = true, max(f.room[i], fits)
					}
					for t := range g.Hard(model.Spread) {
						f.related[i] = f.related[i] || !t.HonorsAffinity() || passes[n].Name && passes[n].Selector
					}
				}
			}
			z.facts[w] = f
		}
	}
	for i, p := range topo.Pools {
		limits, err := z.limits(i, p)
		if err != nil {
			return nil, err
		}
		z.pools = append(z.pools, limits)
	}
	return z, nil
}

// counts reports whether the pods of a workload take part in decisions.
func (z *sizing) counts(w *workload.Workload) bool { return z.base.Group(w).Placeable() }

// room returns how many pods of a group an empty node takes beside the pods of DaemonSets.
func (z *sizing) room(pool int, n *topology.Node, g *model.Group) int {
	most, _ := model.Fits(n, g.Requests)
	if g.Kind.PerNode() {
		return min(most, 1)
	}
	for _, r := range append(slices.Clip(model.Written(g.Requests)), model.Request{Name: corev1.ResourcePods, Amount: 1}) {
		if has, known := offered(n, r.Name); known && !topology.CountsVolumes(r.Name) {
			most = min(most, int(max(0, has-z.taken(n, r.Name))/r.Amount))
		}
	}
	return most
}

// offered returns how much of a resource a node has, if that is known. The resource pods stands for
// the pod slots of the node.
func offered(n *topology.Node, name corev1.ResourceName) (amount int64, known bool) {
	if name == corev1.ResourcePods {
		q, known := n.Allocatable[name]
		return q.Value(), known
	}
	return model.Offered(n, &model.Request{Name: name})
}

// amountOf returns how much of a resource one pod takes.
func amountOf(g *model.Group, name corev1.ResourceName) int64 {
	if name == corev1.ResourcePods {
		return 1
	}
	for _, r := range g.Requests {
		if r.Name == name {
			return r.Amount
		}
	}
	return 0
}

// taken returns how much of a resource DaemonSets take on a node.
func (z *sizing) taken(n *topology.Node, name corev1.ResourceName) (sum int64) {
	at := slices.Index(z.base.Topology.Nodes, n)
	for _, w := range z.base.Workloads {
		if w.Kind.PerNode() && z.counts(w) && z.base.Eligible(w).Nodes[at].All() {
			sum += amountOf(z.base.Group(w), name)
		}
	}
	return sum
}

// limits returns the least and the greatest size of a pool.
func (z *sizing) limits(i int, p *topology.Pool) (size.Pool, error) {
	out := size.Pool{Cost: millionths(p), Zones: len(p.ZoneNames())}
	if p.Spec.Zones != nil && z.count(i) > 0 {
		for _, name := range p.ZoneNames() {
			out.Declared = append(out.Declared, p.Spec.Zones[name])
		}
	}
	switch {
	case p.Spec.Min != nil:
		out.Min = *p.Spec.Min
	case p.Min < p.Count && !z.o.Candidate(p):
		out.Min = p.Min
	}
	most, given := z.o.Max[p.Name]
	switch {
	case given && most < out.Min:
		return out, fmt.Errorf("--max %s=%d: the pool has at least %d nodes", p.Name, most, out.Min)
	case given:
		out.Max = most
	case grows(p):
		out.Max = p.Max
	default:
		if out.Max = z.enough(i, out.Zones); out.Max > 0 {
			out.Max = max(out.Max, z.count(i))
		}
		out.Max = max(out.Min, out.Max)
	}
	return out, nil
}

// grows reports whether a pool declares its greatest size.
func grows(p *topology.Pool) bool {
	return (p.Spec.Max != nil || p.Max > p.Count) && p.Max < topology.Unbounded
}

// millionths returns the cost of a node of a pool in millionths, 1 by default.
func millionths(p *topology.Pool) int64 {
	if p.Spec.Cost == nil {
		return 1e6
	}
	return int64(math.Round(min(float64(*p.Spec.Cost), 1e9) * 1e6))
}

// mostDerived limits the greatest size of a pool that follows from requests.
const mostDerived = 1000

// enough returns a number of nodes of a pool beyond which no pod needs a further one: others that may
// run there, wherever they are, leave a node open to it. A node is closed if others take more of a
// resource than a pod leaves, or if a rule keeps the pod away from one of the others. Each closes one
// node, or its zone.
func (z *sizing) enough(pool, zones int) int {
	pods, apart := 0, 0
	used := map[corev1.ResourceName]float64{}
	var here []*workload.Workload
	for _, w := range z.base.Workloads {
		if f := z.facts[w]; f != nil && f.room[pool] > 0 && !w.Kind.PerNode() {
			here = append(here, w)
		}
	}
	node := z.node(pool)
	for _, w := range here {
		g, n := z.base.Group(w), z.facts[w].pods
		n += w.Rollout(n).Surge
		if pods += n; len(g.HostPorts) > 0 || slices.ContainsFunc(g.Terms, func(t *model.Term) bool { return t.Hard }) {
			apart += n
		}
		for _, r := range z.limiting(node, g) {
			used[r.name] += float64(n) * r.part
		}
	}
	most := 0
	for _, w := range here {
		closed := 0.0
		for _, r := range z.limiting(node, z.base.Group(w)) {
			closed += used[r.name] / max(1-r.part, 1e-9)
		}
		most = max(most, int(min(closed, float64(pods)))+1)
	}
	if most == 0 {
		return 0
	}
	most = min(most+apart, pods+1)
	if z.o.Drains || slices.Contains(z.o.Survives, corev1.LabelHostname) {
		most++
	}
	if zones > 1 {
		zonal := func(w *workload.Workload) bool {
			return !slices.Contains([]string{"", corev1.LabelHostname}, z.base.PinOf(w).Key)
		}
		if slices.ContainsFunc(here, zonal) { // a pod that goes back to its volume needs the node there
			most *= zones
		} else if slices.ContainsFunc(z.o.Survives, func(key string) bool { return key != corev1.LabelHostname }) {
			most += most/(zones-1) + 1
		}
		most = (most + zones - 1) / zones * zones
	}
	return min(most, mostDerived)
}

// node returns a node of a pool.
func (z *sizing) node(pool int) *topology.Node { return z.base.Topology.Nodes[z.of[pool][0]] }

// fraction is the part of what a node offers beside its DaemonSets that one pod takes.
type fraction struct {
	name corev1.ResourceName
	part float64
}

func (z *sizing) limiting(n *topology.Node, g *model.Group) (all []fraction) {
	for _, r := range append(slices.Clip(model.Written(g.Requests)), model.Request{Name: corev1.ResourcePods, Amount: 1}) {
		if has, known := offered(n, r.Name); known && has-z.taken(n, r.Name) > 0 {
			all = append(all, fraction{r.Name, min(1, float64(r.Amount)/float64(has-z.taken(n, r.Name)))})
		}
	}
	return all
}

// parts divides workloads and pools into sets that do not affect each other. There is one part if
// pods beside the model may take room, or if pods are in place already.
func (z *sizing) parts() []*part {
	n := len(z.of)
	sets := model.NewSets(n + len(z.base.Workloads))
	at := map[*workload.Workload]int{}
	for i, w := range z.base.Workloads {
		at[w] = n + i
	}
	if slices.ContainsFunc(z.base.Workloads, func(w *workload.Workload) bool { return w.Running }) {
		return []*part{z.whole()}
	}
	spaces := map[string]int{} // of workloads that a quota may connect
	shared := -1               // a workload that shares a claim
	for _, w := range z.base.Workloads {
		f := z.facts[w]
		if f == nil {
			continue
		}
		g := z.base.Group(w)
		for t := range g.HardTerms() {
			for _, o := range z.base.Others(t, w, true) {
				if i, declared := at[o]; declared {
					sets.Join(at[w], i)
				}
			}
		}
		if w.Kind.PerNode() && len(slices.Collect(g.HardTerms())) == 0 {
			continue // each of its pods affects one node
		}
		for i, related := range f.related {
			if related {
				sets.Join(at[w], i)
			}
		}
		if len(w.Quotas) > 0 || w.Contested != nil || w.TightQuota != "" {
			if other, is := spaces[w.Namespace()]; is {
				sets.Join(at[w], other)
			}
			spaces[w.Namespace()] = at[w]
		}
		if w.SharesClaim {
			if shared >= 0 {
				sets.Join(at[w], shared)
			}
			shared = at[w]
		}
	}
	judge := disruption.New(z.base, z.set, search.Options{})
	for i := range judge.Budgets() {
		for _, w := range judge.Budgets()[i].Workloads {
			if j, declared := at[w]; declared {
				sets.Join(at[judge.Budgets()[i].Workloads[0]], j)
			}
		}
	}
	return z.collect(sets, at)
}

// collect returns the parts of connected pools and workloads, in the order of their first pools.
// DaemonSets belong to each part with a pool that they use.
func (z *sizing) collect(sets model.Sets, at map[*workload.Workload]int) (all []*part) {
	by := map[int]*part{}
	of := func(i int) *part {
		root := sets.Of(i)
		if by[root] == nil {
			by[root] = &part{}
			all = append(all, by[root])
		}
		return by[root]
	}
	for i := range z.of {
		switch p := of(i); {
		case i < len(z.pools):
			p.pools = append(p.pools, i)
		default:
			p.fixed = len(z.of[i]) > 0
		}
	}
	for _, w := range z.base.Workloads {
		f := z.facts[w]
		if f == nil {
			continue
		}
		alone := w.Kind.PerNode() && len(slices.Collect(z.base.Group(w).HardTerms())) == 0
		if !alone {
			p := of(at[w])
			p.ws = append(p.ws, w)
			continue
		}
		seen := map[*part]bool{}
		for i, related := range f.related {
			if p := of(i); related && !seen[p] {
				seen[p] = true
				p.ws = append(p.ws, w)
			}
		}
	}
	for _, p := range all {
		set := *z.set
		set.Workloads = p.ws
		p.set = &set
		for _, i := range p.pools {
			p.zonal = append(p.zonal, z.zonal(i, p.ws))
		}
	}
	return all
}

// zonal reports whether it may matter to workloads in which zones a pool has its nodes.
func (z *sizing) zonal(pool int, ws []*workload.Workload) bool {
	differ := map[string]bool{}
	first := z.node(pool).Labels
	for _, n := range z.of[pool] {
		labels := z.base.Topology.Nodes[n].Labels
		for _, of := range []map[string]string{first, labels} {
			for key := range of {
				if key != corev1.LabelHostname && first[key] != labels[key] && labels[key] != z.base.Topology.Nodes[n].Name {
					differ[key] = true
				}
			}
		}
	}
	if len(differ) == 0 {
		return false
	}
	if slices.ContainsFunc(z.o.Survives, func(key string) bool { return differ[key] }) {
		return true
	}
	return slices.ContainsFunc(ws, func(w *workload.Workload) bool {
		if len(w.Claims)+len(w.Reaches)+len(w.Early) > 0 || w.OrdinalReaches != nil || w.Pin != "" || w.OpenPin != "" {
			return true
		}
		return slices.ContainsFunc(slices.Concat(nodeKeys(w), termKeys(z.base.Group(w))), func(key string) bool { return differ[key] })
	})
}

// nodeKeys returns the keys of the node labels that the pods of a workload select.
func nodeKeys(w *workload.Workload) []string {
	keys := slices.Sorted(maps.Keys(w.Spec.NodeSelector))
	if a := w.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, e := range t.MatchExpressions {
				keys = append(keys, e.Key)
			}
		}
	}
	return keys
}

// termKeys returns the topology keys of the hard rules of a group.
func termKeys(g *model.Group) (keys []string) {
	for t := range g.HardTerms() {
		keys = append(keys, t.Key)
	}
	return keys
}

// full returns the numbers of nodes of all pools by zone for a layout of the pools of a part. Other
// pools have none.
func (z *sizing) full(p *part, at size.Layout) size.Layout {
	if at == nil {
		return nil
	}
	all := make(size.Layout, len(z.pools))
	for i := range all {
		all[i] = make([]int, z.pools[i].Zones)
	}
	for k, i := range p.pools {
		if all[i] = at[k]; !p.zonal[k] {
			all[i] = z.pools[i].Split(at[k][0])
		}
	}
	return all
}

// reasonAbout describes a workload in the reason for an answer.
func reasonAbout(w *workload.Workload, question string, verdict diag.Outcome, text string) diag.SizeReason {
	return diag.SizeReason{Workload: w.String(), Question: question, Verdict: string(verdict), Text: text}
}
