package model

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// DaemonSetsFirst is a model of the states in which DaemonSet pods are placed before other pods, as
// it happens when a node joins (T26).
type DaemonSetsFirst struct {
	*Model
	// LeftOut lists the DaemonSets that the model leaves out. Each node offers only what their pods
	// leave.
	LeftOut []*workload.Workload
	// of maps workloads that are copied without their required affinity to the originals.
	of map[*workload.Workload]*workload.Workload
}

// Original returns the workload that a workload of the model stands for.
func (f *DaemonSetsFirst) Original(w *workload.Workload) *workload.Workload {
	return cmp.Or(f.of[w], w)
}

// DaemonSetsFirst returns the model in which DaemonSets come first. DaemonSets with required rules,
// with host ports that others use, or with pods that others may preempt stay, and so do those that
// a required rule of another workload may select. Required affinity to them is an exception if they
// satisfy it on each node that the workload may use. The result is nil if no DaemonSet can be left
// out, or if some node has too little room for its DaemonSet pods and running pods.
func (m *Model) DaemonSetsFirst() *DaemonSetsFirst {
	if !slices.ContainsFunc(m.Workloads, func(w *workload.Workload) bool { return w.Kind.PerNode() }) {
		return nil
	}
	out := m.daemonSetsApart()
	if len(out) == 0 {
		return nil
	}
	var ws, leftOut []*workload.Workload
	of := map[*workload.Workload]*workload.Workload{}
	for _, w := range m.Workloads {
		switch {
		case out[w]:
			leftOut = append(leftOut, w)
			continue
		case slices.ContainsFunc(m.Groups[w].Terms, func(t *Term) bool { return t.Hard && t.Use == Affinity && m.served(t, w, out) }):
			c := withoutAffinity(w)
			of[c], w = w, c
		}
		ws = append(ws, w)
	}
	if m.differInPool(leftOut) {
		return nil
	}
	running := map[string][]*Group{}
	for _, w := range m.RunningOnes() {
		running[w.Spec.NodeName] = append(running[w.Spec.NodeName], m.Groups[w])
	}
	m.run.Spend(len(leftOut) * (len(m.Topology.Nodes) + len(m.Topology.Growth)))
	topo := *m.Topology
	topo.Nodes, topo.Growth = slices.Clone(topo.Nodes), slices.Clone(topo.Growth)
	enough := true
	shrink := func(n *topology.Node, passes func(e *Eligibility) Passes) *topology.Node {
		var pods []*Group
		for _, w := range leftOut {
			if passes(m.Eligible(w)).All() {
				pods = append(pods, m.Groups[w])
			}
		}
		_, fits := Without(n, append(pods, running[n.Name]...))
		enough = enough && fits
		n, _ = Without(n, pods)
		return n
	}
	for i, n := range topo.Nodes {
		topo.Nodes[i] = shrink(n, func(e *Eligibility) Passes { return e.Nodes[i] })
	}
	for i, g := range topo.Growth {
		topo.Growth[i].Node = shrink(g.Node, func(e *Eligibility) Passes { return e.Growth[i] })
	}
	if !enough {
		return nil
	}
	first := newModel(m.run, &workload.Set{Workloads: ws, Namespaces: m.Namespaces, Elsewhere: m.elsewhere}, &topo, newPerNodes(&topo, ws), nil)
	first.Apart = m.Apart
	return &DaemonSetsFirst{first, leftOut, of}
}

// withoutAffinity returns a copy of a workload without required affinity.
func withoutAffinity(w *workload.Workload) *workload.Workload {
	c, affinity, near := *w, *w.Spec.Affinity, *w.Spec.Affinity.PodAffinity
	near.RequiredDuringSchedulingIgnoredDuringExecution = nil
	affinity.PodAffinity = &near
	c.Spec.Affinity = &affinity
	return &c
}

// mayLose reports whether pods of others may preempt the pods of a DaemonSet.
func (m *Model) mayLose(w *workload.Workload) bool {
	m.run.Spend(1 + len(m.Workloads)/PerStep)
	return slices.ContainsFunc(m.Workloads, func(o *workload.Workload) bool {
		return (Modelled(m.Groups[o]) || len(o.Early) > 0) && o.MayPreempt(w)
	})
}

// daemonSetsApart returns the DaemonSets whose pods matter to others only by the room that they take, and by
// required affinity that they satisfy wherever it counts.
func (m *Model) daemonSetsApart() map[*workload.Workload]bool {
	all, ports := map[*workload.Workload]bool{}, map[int32]*workload.Workload{}
	for _, w := range m.Workloads {
		g := m.Groups[w]
		if w.Kind.PerNode() && g.Placeable() && !slices.ContainsFunc(g.Terms, func(t *Term) bool { return t.Hard }) && !m.mayLose(w) {
			all[w] = true
		}
	}
	for _, w := range m.Workloads {
		for _, p := range m.Groups[w].HostPorts {
			if o := ports[p.Port]; o != nil && o != w {
				delete(all, o)
				delete(all, w)
			}
			ports[p.Port] = w
		}
	}
	for before := -1; before != len(all); {
		before = len(all)
		for _, w := range m.Workloads {
			for t := range m.Groups[w].HardTerms() {
				others := m.Others(t, w, true)
				if len(others) == 0 || t.Use == Affinity && m.served(t, w, all) {
					continue
				}
				for _, o := range others {
					delete(all, o)
				}
			}
		}
	}
	return all
}

// served reports whether the pods of some DaemonSets satisfy a required affinity term on each node
// that its workload may use, and no other pods may satisfy it. The other required affinity terms of
// the workload have to be like it.
func (m *Model) served(t *Term, w *workload.Workload, daemons map[*workload.Workload]bool) bool {
	g := m.Groups[w]
	if w.Kind.PerNode() || !g.Placeable() || m.Peer(t, w, w) != No || len(m.Doubts([]*workload.Workload{w})) > 0 {
		return false
	}
	for x := range g.Hard(Affinity) {
		if others := m.Others(x, w, true); len(others) == 0 || slices.ContainsFunc(others, func(o *workload.Workload) bool { return !daemons[o] || m.Peer(x, w, o) != Yes }) {
			return false
		}
	}
	m.run.Spend(len(m.Topology.Nodes) + len(m.Topology.Growth))
	e, others := m.Eligible(w), m.Others(t, w, true)
	on := func(n *topology.Node, passes func(e *Eligibility) Passes) bool {
		_, has := n.Labels[t.Key]
		return !passes(e).All() || has && slices.ContainsFunc(others, func(o *workload.Workload) bool { return passes(m.Eligible(o)).All() })
	}
	for i, n := range m.Topology.Nodes {
		if !on(n, func(e *Eligibility) Passes { return e.Nodes[i] }) {
			return false
		}
	}
	for i, x := range m.Topology.Growth {
		if !on(x.Node, func(e *Eligibility) Passes { return e.Growth[i] }) {
			return false
		}
	}
	return true
}

// differInPool reports whether a DaemonSet may use some nodes of a growing pool but not others.
// Leaving it out would make nodes of the pool differ in size.
func (m *Model) differInPool(daemons []*workload.Workload) bool {
	return slices.ContainsFunc(daemons, func(w *workload.Workload) bool {
		uses := map[*topology.Pool]bool{}
		for i, g := range m.Topology.Growth {
			uses[g.Node.Pool] = m.Eligible(w).Growth[i].All()
		}
		differs := func(n *topology.Node, passes Passes) bool {
			use, grows := uses[n.Pool]
			return grows && use != passes.All()
		}
		m.run.Spend(len(m.Topology.Growth) + len(m.Topology.Nodes))
		for i, g := range m.Topology.Growth {
			if differs(g.Node, m.Eligible(w).Growth[i]) {
				return true
			}
		}
		for i, n := range m.Topology.Nodes {
			if differs(n, m.Eligible(w).Nodes[i]) {
				return true
			}
		}
		return false
	})
}

// Without returns a copy of a node that offers what the groups leave if each has one pod there. It
// returns false if that is not enough for them, or if it is unknown whether the node has what they
// request.
func Without(n *topology.Node, pods []*Group) (*topology.Node, bool) {
	if n.Allocatable == nil && n.Volumes == nil || len(pods) == 0 {
		return n, true
	}
	left := *n
	left.Allocatable, left.Volumes = maps.Clone(n.Allocatable), maps.Clone(n.Volumes)
	take := func(name corev1.ResourceName, amount int64) bool {
		if most, counted := left.Volumes[name]; counted {
			left.Volumes[name] = most - amount
			return most >= amount
		}
		q, listed := left.Allocatable[name]
		if !listed {
			return true
		}
		rest := Amount(name, q) - amount
		left.Allocatable[name] = Quantity(name, rest, q.Format)
		return rest >= 0
	}
	enough := true
	for _, g := range pods {
		enough = take(corev1.ResourcePods, 1) && enough
		for i := range g.Requests {
			r := &g.Requests[i]
			_, judged := Offered(n, r)
			_, listed := n.Allocatable[r.Name]
			known := listed || !judged && !Extended(r.Name) || n.Allocatable == nil || topology.CountsVolumes(r.Name)
			enough = take(r.Name, r.Amount) && enough && known
		}
	}
	return &left, enough
}
