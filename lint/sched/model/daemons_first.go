package model

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// DaemonSetsFirst returns a model of the states in which DaemonSet pods are placed before other
// pods on their nodes, as it happens when a node joins. The model leaves out the DaemonSets, and
// each node offers only what their pods leave (T26). DaemonSets with rules, with host ports that
// others use, or with pods that others may preempt stay. The result is nil if no DaemonSet can be
// left out, or if some node has too little room for its DaemonSet pods and running pods.
func (m *Model) DaemonSetsFirst() (first *Model, leftOut []*workload.Workload) {
	if !slices.ContainsFunc(m.Workloads, func(w *workload.Workload) bool { return w.Kind.PerNode() }) {
		return nil, nil
	}
	related := m.related()
	var ws []*workload.Workload
	for _, w := range m.Workloads {
		g := m.Groups[w]
		if w.Kind.PerNode() && g.Placeable() && !related[w] && !slices.ContainsFunc(g.Terms, func(t *Term) bool { return t.Hard }) && !m.mayLose(w) {
			leftOut = append(leftOut, w)
		} else {
			ws = append(ws, w)
		}
	}
	if len(leftOut) == 0 || m.differInPool(leftOut) {
		return nil, nil
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
		return nil, nil
	}
	first = newModel(m.run, &workload.Set{Workloads: ws, Namespaces: m.Namespaces, Elsewhere: m.elsewhere}, &topo, newPerNodes(&topo, ws), nil)
	first.Apart = m.Apart
	return first, leftOut
}

// mayLose reports whether pods of others may preempt the pods of a DaemonSet.
func (m *Model) mayLose(w *workload.Workload) bool {
	m.run.Spend(1 + len(m.Workloads)/PerStep)
	return slices.ContainsFunc(m.Workloads, func(o *workload.Workload) bool {
		return (Modelled(m.Groups[o]) || len(o.Early) > 0) && o.MayPreempt(w)
	})
}

// related returns the workloads that another workload's hard term may select, or whose host ports
// another workload uses.
func (m *Model) related() map[*workload.Workload]bool {
	all, ports := map[*workload.Workload]bool{}, map[int32]*workload.Workload{}
	for _, w := range m.Workloads {
		g := m.Groups[w]
		for t := range g.HardTerms() {
			for _, o := range m.Others(t, w, true) {
				all[o] = true
			}
		}
		for _, p := range g.HostPorts {
			if o := ports[p.Port]; o != nil && o != w {
				all[o], all[w] = true, true
			}
			ports[p.Port] = w
		}
	}
	return all
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
