package check

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// grown checks that a node can be added for each Pending pod of a workload (T33).
type grown struct {
	m *model.Model
	g *model.Group
	// all holds the workloads that have pods or may have some. daemons holds the DaemonSets.
	all, daemons []*workload.Workload
	// nodes holds the samples of nodes that pools can add and that take a pod of g before pods of others.
	nodes []*topology.Node
	// between caches apart.
	between map[*workload.Workload][]string
}

// Grows returns an error if it does not follow that a node can be added for each Pending pod of w. pods
// and lost are as in search.OnceGrown.
func (Checker) Grows(m *model.Model, w *workload.Workload, pods int, lost [2]string) error {
	o := &grown{m: m, g: m.Groups[w], all: slices.Concat(m.Workloads, m.Elsewhere()), between: map[*workload.Workload][]string{}}
	if !o.g.Placeable() || w.Kind.PerNode() || w.OrdinalReaches != nil {
		return fmt.Errorf("%s: it is not known where its pods start", w)
	}
	for _, d := range o.all {
		if d.Kind.PerNode() {
			o.daemons = append(o.daemons, d)
		}
	}
	for _, growth := range m.Topology.Growth {
		n, p := growth.Node, growth.Node.Pool
		value, has := n.Labels[lost[0]]
		stays := lost[0] == "" || has && value != "" && value != lost[1]
		if m.Run().Spend(1 + len(o.daemons)); p.Max == topology.Unbounded && !p.MinValues && stays && o.takes(n) {
			o.nodes = append(o.nodes, n)
		}
	}
	if len(o.nodes) == 0 {
		return fmt.Errorf("%s: no pool can add a node for its pods", w)
	}
	wide, err := o.wide()
	if err != nil || wide == nil {
		return err
	}
	if wide.Use == model.AntiAffinity {
		return o.outnumber(wide.Key, pods)
	}
	if lost[0] != "" {
		return fmt.Errorf("%s: pods on lost nodes may count", w)
	}
	// A pool can add a node in every domain that the term counts.
	values := lists.SetOf(o.nodes, func(n *topology.Node) string { return n.Labels[wide.Key] })
	f := model.NewFilter(o.g.Workload)
	for _, n := range o.m.Topology.All() {
		o.m.Run().Spend(1)
		value, has := n.Labels[wide.Key]
		if counts := wide.Use == model.Affinity || !wide.HonorsAffinity() || f.Passes(n).Selector; has && counts && !values[value] {
			return fmt.Errorf("%s: no node can be added where %s is %s", o.g.Workload, wide.Key, value)
		}
	}
	if wide.Use == model.Spread && len(values) < wide.MinDomains() {
		return fmt.Errorf("%s: pools span %d of %d domains of %s", o.g.Workload, len(values), wide.MinDomains(), wide.Key)
	}
	return nil
}

// takes reports whether a new node takes a pod whichever DaemonSets have a pod there.
func (o *grown) takes(n *topology.Node) bool {
	p := model.NewFilter(o.g.Workload).Passes(n)
	if !p.All() || n.Labels[corev1.LabelHostname] != n.Name {
		return false
	}
	sums := map[corev1.ResourceName]int64{corev1.ResourcePods: 1}
	for _, r := range o.g.Requests {
		sums[r.Name] += r.Amount
		if _, judged := model.Offered(n, &r); !judged && model.Extended(r.Name) {
			return false
		}
	}
	for _, d := range o.daemons {
		g := o.m.Groups[d]
		switch modelled := model.Modelled(g); {
		case modelled && !model.NewFilter(d).Passes(n).All():
			continue
		case !modelled && (len(n.Allocatable) > 0 || len(o.g.HostPorts) > 0), len(o.apart(d)) > 0:
			return false
		}
		for _, port := range g.HostPorts {
			if slices.ContainsFunc(o.g.HostPorts, port.Conflicts) {
				return false
			}
		}
		sums[corev1.ResourcePods]++
		for _, r := range g.Requests {
			sums[r.Name] += r.Amount
		}
	}
	for _, r := range append(slices.Clone(o.g.Requests), model.Request{Name: corev1.ResourcePods}) {
		if has, judged := model.Offered(n, &r); judged && has < sums[r.Name] {
			return false
		}
	}
	return true
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
		case t.Use == model.Affinity && o.m.Self(t, o.g.Workload) != model.Yes:
			return nil, fmt.Errorf("%s: its pods need others by %s", o.g.Workload, t.Key)
		case t.Use == model.Affinity || t.Key != corev1.LabelHostname:
			found[fmt.Sprint(i)] = t
		}
	}
	delete(found, "apart by "+corev1.LabelHostname)
	for _, t := range found {
		only = t
	}
	if len(found) > 1 || only != nil && only.Key == corev1.LabelHostname {
		return nil, fmt.Errorf("%s: %d rules may keep its pods from new nodes", o.g.Workload, len(found))
	}
	return only, nil
}

// carried keeps the nodes that have a key, and reports whether there are any.
func (o *grown) carried(key string) bool {
	o.nodes = slices.DeleteFunc(o.nodes, func(n *topology.Node) bool { return !model.Carries(n.Labels, []string{key}) })
	return len(o.nodes) > 0
}

// outnumber checks that the new nodes span more domains of a key than other pods can block, or that one
// of them is in no domain.
func (o *grown) outnumber(key string, pods int) error {
	values := map[string]bool{}
	for _, n := range o.nodes {
		value, has := n.Labels[key]
		if !has && !o.m.Topology.Uncertain(key) {
			return nil
		}
		if has {
			values[value] = true
		}
	}
	most := 0
	for _, other := range o.all {
		switch {
		case !slices.Contains(o.apart(other), key):
			continue
		case other == o.g.Workload:
			most += pods - 1
			continue
		case !other.Count.Known:
			return fmt.Errorf("%s: the number of pods of %s is not known", o.g.Workload, other)
		}
		most += other.Count.N
		if other.Scale != nil {
			most += max(0, other.Scale.Max-other.Count.N)
		}
	}
	if len(values) <= most {
		return fmt.Errorf("%s: %d pods may be in the way in %d domains of %s", o.g.Workload, most, len(values), key)
	}
	return nil
}
