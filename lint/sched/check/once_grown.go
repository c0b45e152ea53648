package check

import (
	"fmt"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// grown checks that each Pending pod of a workload finds a node or gets one (T33).
type grown struct {
	certificate.Grown
	m *model.Model
	g *model.Group
	// all holds the workloads that have pods or may have some. daemons holds the DaemonSets.
	all, daemons []*workload.Workload
	// nodes holds the nodes and the samples of nodes that pools can add, if they take a pod of g before
	// pods of others. Of each resource, free holds what the first pod leaves.
	nodes []*topology.Node
	free  map[*topology.Node]map[corev1.ResourceName]int64
	// between caches apart.
	between map[*workload.Workload][]string
}

// Grows returns an error if it does not follow that each Pending pod of w finds a node that exists or
// that can be added.
func (Checker) Grows(m *model.Model, w *workload.Workload, c certificate.Grown) error {
	o := &grown{Grown: c, m: m, g: m.Groups[w], all: slices.Concat(m.Workloads, m.Elsewhere()), free: map[*topology.Node]map[corev1.ResourceName]int64{}, between: map[*workload.Workload][]string{}}
	if !o.g.Placeable() || w.Kind.PerNode() || len(w.Early) > 0 || w.OrdinalReaches != nil {
		return fmt.Errorf("%s: it is not known where its pods start", w)
	}
	for _, d := range o.all {
		if d.Kind.PerNode() {
			o.daemons = append(o.daemons, d)
		}
	}
	all := m.Topology.All()
	for i, n := range all {
		value, has := n.Labels[c.Lost[0]]
		stays := c.Lost[0] == "" || has && value != "" && value != c.Lost[1]
		if i > 0 && w.Spec.NodeName == "" && equalInPool(n, all[i-1]) {
			o.free[n] = o.free[all[i-1]]
		} else {
			m.Run().Spend(1 + len(o.daemons))
			o.free[n] = o.takes(n)
		}
		if stays && o.free[n] != nil {
			o.nodes = append(o.nodes, n)
		}
	}
	var wide *model.Term
	if w.Spec.NodeName == "" { // otherwise only the kubelet looks at the pod
		var err error
		if wide, err = o.wide(); err != nil {
			return err
		}
	}
	if wide == nil {
		if len(o.lasting("", c.Pods-1)) == 0 {
			return fmt.Errorf("%s: no pool can add a node for its pods, or other pods fill all nodes", w)
		}
		return nil
	}
	if wide.Use == model.AntiAffinity {
		return o.outnumber(wide.Key)
	}
	if c.Lost[0] != "" {
		return fmt.Errorf("%s: pods on lost nodes may count", w)
	}
	return o.everywhere(wide)
}

// everywhere checks that the pods find a node in every domain that a term counts.
func (o *grown) everywhere(t *model.Term) error {
	w, own, company := o.g.Workload, o.Pods-1, []*workload.Workload{}
	for _, other := range o.all {
		if other != w && !model.Same(other, w) && o.m.Peer(t, w, other) != model.No {
			company = append(company, other)
		}
	}
	if t.Use == model.Spread && len(company)+len(t.Constraint.MatchLabelKeys) == 0 && o.m.Peer(t, w, w) == model.Yes {
		own /= max(1, len(lists.SetOf(o.nodes, func(n *topology.Node) string { return n.Labels[t.Key] }))) // a domain with the fewest has no more
	}
	byHost, f, lasting := t.Use == model.Affinity && t.Key == corev1.LabelHostname, model.NewFilter(w), map[string]bool{}
	if !byHost {
		lasting = o.lasting(t.Key, own)
	}
	if t.Use == model.Affinity {
		by, self := o.beside(t, company), o.m.Self(t, w) == model.Yes
		if by == 0 && !self {
			return fmt.Errorf("%s: its pods need others by %s", w, t.Key)
		}
		if byHost { // the pods that it selects are on so many nodes
			closed, known := o.closed(o.nodes, own)
			if !known || len(o.lasting("", own)) == 0 || closed.Cmp(big.NewRat(int64(max(by, 1)), 1)) >= 0 {
				return fmt.Errorf("%s: other pods may close all nodes with pods that its pods need", w)
			}
			lasting = lists.SetOf(o.nodes, func(n *topology.Node) string { return "in " + n.Name })
		}
		if o.Spare > 0 && (byHost || !self) {
			return fmt.Errorf("%s: the pods that its pods need may be lost", w)
		}
	}
	for _, n := range o.m.Topology.All() {
		o.m.Run().Spend(1 + len(company))
		value, has := n.Labels[t.Key]
		p := f.Passes(n)
		counts := t.Use == model.Affinity && p.Selector && o.m.Peer(t, w, w) != model.No || t.Use == model.Spread && (p.Selector || !t.HonorsAffinity()) && (p.Taints || !t.HonorsTaints())
		if t.Use == model.Affinity { // the pods of others
			counts = counts || slices.ContainsFunc(company, func(other *workload.Workload) bool {
				at := other.Spec.NodeName
				return at == n.Name || !model.Modelled(o.m.Groups[other]) || at == "" && model.NewFilter(other).Passes(n).Selector
			})
		}
		if has && counts && !lasting["in "+value] {
			return fmt.Errorf("%s: no node can be added where %s is %s, or other pods fill all of them", w, t.Key, value)
		}
	}
	if len(lasting) == 0 || t.Use == model.Spread && len(lasting) < t.MinDomains() {
		return fmt.Errorf("%s: pods find a node in %d domains of %s, which are not enough", w, len(lasting), t.Key)
	}
	return nil
}

// beside returns on how many nodes at least pods are that a term selects, once all of them are placed. It
// looks at workloads whose pods need no others.
func (o *grown) beside(t *model.Term, company []*workload.Workload) (most int) {
	for _, other := range company {
		g := o.m.Groups[other]
		least, all := other.Pods()
		if o.m.Peer(t, o.g.Workload, other) != model.Yes || other.TightQuota != "" || other.Finite() || least == 0 || g.After != nil {
			continue
		}
		apart := slices.ContainsFunc(g.Terms, func(own *model.Term) bool {
			return own.Hard && own.Use == model.AntiAffinity && own.Key == t.Key && o.m.Peer(own, other, other) == model.Yes
		})
		needs := slices.ContainsFunc(g.Terms, func(own *model.Term) bool { return own.Hard && own.Use == model.Affinity })
		if !apart {
			least = 1
		}
		if least > most && !needs && (Checker{}).Grows(o.m, other, certificate.Grown{Pods: all}) == nil {
			most = least
		}
	}
	return most
}

// lasting returns the domains of a key, or "" for the nodes without it, in which an unbounded pool adds
// nodes, or which keep more nodes than pods can close. These pods are those of other workloads and a
// number of the workload's own. What a pool adds up to its max counts if all of it is in the domain.
func (o *grown) lasting(key string, own int) map[string]bool {
	in := func(n *topology.Node) string {
		if value, has := n.Labels[key]; has {
			return "in " + value
		}
		return ""
	}
	takes, kept, added, samples := lists.Set(o.nodes), map[string][]*topology.Node{}, map[string][]*topology.Node{}, map[*topology.Pool][]*topology.Node{}
	more, lasting := map[string]int{}, map[string]bool{}
	for _, n := range o.m.Topology.Nodes {
		if takes[n] {
			kept[in(n)] = append(kept[in(n)], n)
		}
	}
	for _, growth := range o.m.Topology.Growth {
		n := growth.Node
		samples[n.Pool] = append(samples[n.Pool], n)
		if takes[n] && n.Pool.Max == topology.Unbounded && !n.Pool.MinValues {
			lasting[in(n)] = true
		}
	}
	for p, all := range samples {
		id := in(all[0])
		if p.Max != topology.Unbounded && !p.MinValues && !slices.ContainsFunc(all, func(n *topology.Node) bool { return !takes[n] || in(n) != id }) {
			added[id], more[id] = append(added[id], all...), more[id]+p.Max-p.Count
		}
	}
	for id := range lists.SetOf(o.nodes, in) {
		enough := func(nodes []*topology.Node, have int) bool {
			closed, known := o.closed(nodes, own)
			return known && closed.Cmp(big.NewRat(int64(max(0, have-o.Spare)), 1)) < 0
		}
		if enough(added[id], more[id]) || enough(slices.Concat(added[id], kept[id]), more[id]+len(kept[id])) {
			lasting[id] = true
		}
	}
	return lasting
}

// closed returns an upper bound on how many of some nodes pods can close: each pod at most one by a
// rule, and together those for which they request enough of a resource. A pod weighs as much as the
// largest part of what has to be requested.
func (o *grown) closed(nodes []*topology.Node, own int) (sum *big.Rat, known bool) {
	if o.m.ByNeighbour(o.g.Workload).Given() {
		return nil, false
	}
	sum = new(big.Rat)
	least := map[corev1.ResourceName]int64{} // what has to be requested to close a node
	for _, n := range nodes {
		o.m.Run().Spend(1)
		for name, free := range o.free[n] {
			if before, known := least[name]; !known || free < before-1 {
				least[name] = free + 1
			}
		}
	}
	add := func(g *model.Group, pods int) {
		weight, one := new(big.Rat), big.NewRat(1, 1)
		for _, r := range append(slices.Clone(g.Requests), model.Request{Name: corev1.ResourcePods, Amount: 1}) {
			if of := least[r.Name]; of > 0 && big.NewRat(r.Amount, of).Cmp(weight) > 0 {
				weight = big.NewRat(r.Amount, of)
			}
		}
		if o.meets(g) || weight.Cmp(one) > 0 {
			weight = one
		}
		sum.Add(sum, new(big.Rat).Mul(weight, big.NewRat(int64(pods), 1)))
	}
	add(o.g, own)
	for _, other := range o.all {
		g := o.m.Groups[other]
		f := model.NewFilter(other)
		o.m.Run().Spend(1 + len(nodes))
		switch _, pods := other.Pods(); {
		case other.Kind.PerNode(), other.Finite() && !o.g.Finite(), model.Same(other, o.g.Workload):
		case !model.Modelled(g) && !o.meets(g) && !other.Finite():
		case !o.m.Chooses(other) && !slices.ContainsFunc(nodes, func(n *topology.Node) bool { return f.Passes(n).All() || f.Bound() && other.Spec.NodeName == n.Name }):
		case !other.Count.Known:
			return nil, false
		default:
			add(g, pods)
		}
	}
	return sum, true
}

// meets reports whether a rule by node may keep a pod of g off a node because of a pod of the other
// group there.
func (o *grown) meets(other *model.Group) bool {
	if slices.Contains(o.apart(other.Workload), corev1.LabelHostname) {
		return true
	}
	for _, port := range other.HostPorts {
		if slices.ContainsFunc(o.g.HostPorts, port.Conflicts) {
			return true
		}
	}
	return slices.ContainsFunc(o.g.Terms, func(t *model.Term) bool {
		return t.Hard && t.Use == model.Spread && t.Key == corev1.LabelHostname && o.m.Peer(t, o.g.Workload, other.Workload) != model.No
	})
}

// equalInPool reports whether two nodes of a pool differ in nothing but their names.
func equalInPool(a, b *topology.Node) bool {
	if a.Pool == nil || a.Pool != b.Pool || len(a.Labels) != len(b.Labels) || len(a.Taints) != len(b.Taints) || a.Unschedulable != b.Unschedulable {
		return false
	}
	for key, value := range a.Labels {
		if of := b.Labels[key]; of != value && (value != a.Name || of != b.Name) {
			return false
		}
	}
	return true
}

// takes returns what a pod leaves of a node, whichever DaemonSets have a pod there, or nil if the node
// may not take it.
func (o *grown) takes(n *topology.Node) map[corev1.ResourceName]int64 {
	p := model.NewFilter(o.g.Workload).Passes(n)
	if !p.All() || n.Labels[corev1.LabelHostname] != n.Name {
		return nil
	}
	sums := map[corev1.ResourceName]int64{corev1.ResourcePods: 1}
	for _, r := range o.g.Requests {
		sums[r.Name] += r.Amount
		if _, judged := model.Offered(n, &r); !judged && model.Extended(r.Name) {
			return nil
		}
	}
	for _, d := range o.daemons {
		g := o.m.Groups[d]
		switch modelled := model.Modelled(g); {
		case modelled && !model.NewFilter(d).Passes(n).All():
			continue
		case !modelled && (len(n.Allocatable) > 0 || len(o.g.HostPorts) > 0), len(o.apart(d)) > 0, o.meets(g):
			return nil
		}
		sums[corev1.ResourcePods]++
		for _, r := range g.Requests {
			sums[r.Name] += r.Amount
		}
	}
	free := map[corev1.ResourceName]int64{}
	for _, r := range append(slices.Clone(o.g.Requests), model.Request{Name: corev1.ResourcePods}) {
		if has, judged := model.Offered(n, &r); judged {
			if free[r.Name] = has - sums[r.Name]; has < sums[r.Name] {
				return nil
			}
		}
	}
	return free
}

// apart returns the keys of the required anti-affinity that may keep pods of g and another workload
// from each other.
func (o *grown) apart(other *workload.Workload) []string {
	return lazy.Cached(o.between, other, func() (keys []string) {
		from := func(a, b *workload.Workload) {
			for _, t := range o.m.Groups[a].Terms {
				if t.Hard && t.Use == model.AntiAffinity && o.m.Peer(t, a, b) != model.No {
					keys = append(keys, t.Key)
				}
			}
		}
		if other == o.g.Workload || !model.Same(other, o.g.Workload) {
			from(o.g.Workload, other)
		}
		if other != o.g.Workload {
			from(other, o.g.Workload)
		}
		return keys
	})
}

// wide returns the one rule that can keep a pod off a new node because of pods on other nodes, or nil
// if there is no such rule. It returns an error if there are several, or if the new node itself may
// break a rule.
func (o *grown) wide() (only *model.Term, err error) {
	found := map[string]*model.Term{}
	for _, other := range o.all {
		for _, key := range o.apart(other) {
			found["apart by "+key] = &model.Term{Use: model.AntiAffinity, Key: key}
		}
	}
	for i, t := range o.g.Terms {
		if !t.Hard || t.Use == model.AntiAffinity || t.Use == model.Spread && t.Sel.Form != model.FormSet {
			continue
		}
		for _, d := range o.daemons {
			if o.m.Peer(t, o.g.Workload, d) != model.No {
				return nil, fmt.Errorf("%s: a rule by %s may count the pods of %s", o.g.Workload, t.Key, d)
			}
		}
		if !o.carried(t.Key) {
			return nil, fmt.Errorf("%s: a node may lack %s", o.g.Workload, t.Key)
		}
		switch {
		case t.Use == model.Affinity || t.Key != corev1.LabelHostname:
			found[fmt.Sprint(i)] = t
		}
	}
	delete(found, "apart by "+corev1.LabelHostname)
	for _, t := range found {
		only = t
	}
	if len(found) > 1 {
		return nil, fmt.Errorf("%s: %d rules may keep its pods from new nodes", o.g.Workload, len(found))
	}
	return only, nil
}

// carried keeps the nodes that have a key, and reports whether there are any.
func (o *grown) carried(key string) bool {
	o.nodes = slices.DeleteFunc(o.nodes, func(n *topology.Node) bool { return !model.Carries(n.Labels, []string{key}) })
	return len(o.nodes) > 0
}

// outnumber checks that the pods find a node in more domains of a key than other pods can block, or
// outside of them.
func (o *grown) outnumber(key string) error {
	values := o.lasting(key, o.Pods-1)
	if values[""] && !o.m.Topology.Uncertain(key) {
		return nil
	}
	delete(values, "")
	most := 0
	for _, other := range o.all {
		switch {
		case !slices.Contains(o.apart(other), key):
			continue
		case other == o.g.Workload:
			most += o.Pods - 1
			continue
		case !other.Count.Known:
			return fmt.Errorf("%s: the number of pods of %s is not known", o.g.Workload, other)
		}
		_, pods := other.Pods()
		most += max(pods, other.Count.N)
	}
	if len(values) <= most {
		return fmt.Errorf("%s: %d pods may be in the way in %d domains of %s", o.g.Workload, most, len(values), key)
	}
	return nil
}
