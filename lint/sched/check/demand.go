package check

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// demand computes the requests of pods for the resources of nodes, as far as they
// contend.
type demand struct {
	pairs
	known *ledger // nil before the first use
}

// ledger sums up the requests of all pods that may come to a node: where the sum is more
// than the node has, the resource may run short.
type ledger struct {
	names []corev1.ResourceName
	// wanted and shared are by node and resource: the sum of requests, and the number of
	// workloads; free is what the node has left.
	wanted, free []int64
	shared       []int32
	asked        map[*model.Group][]int64
	// coming lists the groups whose pods may come to nodes.
	coming []*tenancy
}

// asks returns the requests of a pod of a group, by resource of the ledger.
func (l *ledger) asks(g *model.Group) []int64 {
	return model.Cached(l.asked, g, func() []int64 {
		all := make([]int64, len(l.names))
		all[0] = 1
		for _, r := range g.Requests {
			all[slices.Index(l.names, r.Name)] = r.Amount
		}
		return all
	})
}

func (l *ledger) short(n, r int) bool {
	return l.wanted[n*len(l.names)+r] > l.free[n*len(l.names)+r]
}

// ledger returns the ledger, with running pods subtracted from free.
func (d *demand) ledger() *ledger {
	if d.known != nil {
		return d.known
	}
	l := &ledger{names: []corev1.ResourceName{corev1.ResourcePods}, asked: map[*model.Group][]int64{}}
	for _, w := range d.m.Workloads {
		for _, r := range d.m.Groups[w].Requests {
			if !slices.Contains(l.names, r.Name) {
				l.names = append(l.names, r.Name)
			}
		}
	}
	width := len(l.names)
	l.wanted, l.shared, l.free = make([]int64, len(d.on)*width), make([]int32, len(d.on)*width), make([]int64, len(d.on)*width)
	for r, name := range l.names {
		for n, has := range d.m.Offers(name, d.m.Topology.Nodes) {
			if d.on[n] != nil && has != math.MaxInt64 {
				has -= d.on[n].uses(name)
			}
			l.free[n*width+r] = min(has, model.Unbounded<<24) // the maximum where it is not judged
		}
	}
	d.known = l
	tenants := map[tenantsKey]*tenancy{}
	for _, w := range d.m.Workloads {
		g := d.m.Groups[w]
		if n, ok := d.m.IndexOf(g.Spec.NodeName); ok && g.Spec.NodeName != "" {
			asks := l.asks(g) // the kubelet of a bound pod ignores extended resources that it does not know
			for r, name := range l.names {
				if _, listed := d.m.Topology.Nodes[n].Allocatable[name]; !listed && model.Extended(name) {
					asks[r] = 0
				}
			}
		}
		if d.comes(g) {
			d.join(l, tenants, g)
		}
	}
	for _, some := range l.coming {
		d.m.Run().Spend(1 + len(some.nodes)/model.PerStep)
		for _, n := range some.nodes {
			sums := some.wanted
			if some.lone || slices.ContainsFunc(some.apart, func(k string) bool { return model.Carries(d.m.Topology.Nodes[n].Labels, []string{k}) }) {
				sums = some.once
			}
			for r, sum := range sums {
				l.wanted[n*width+r] = added(l.wanted[n*width+r], sum, 1)
				l.shared[n*width+r] += some.groups[r]
			}
		}
	}
	return l
}

// tenantsKey is equal for groups with the same nodes and the same rules about their own pods.

type tenantsKey struct {
	nodes         *sited
	apart         string
	lone, perNode bool
}

// tenancy sums up the requests of groups with the same nodes, by resource of the ledger.
type tenancy struct {
	nodes []int
	// apart lists the keys in whose domains a node takes at most one pod of each group; lone
	// is set if every node does, and perNode if each has one.
	apart         []string
	lone, perNode bool
	// wanted is the sum if a node takes all pods, once that if it takes one of each group;
	// groups is the number of groups that request it.
	wanted, once []int64
	groups       []int32
}

// join adds the requests of the pods of a group to those with the same key; if pods are
// running, each group has its own tenancy.
func (d *demand) join(l *ledger, tenants map[tenantsKey]*tenancy, g *model.Group) {
	asks := l.asks(g)
	once := min(1, max(g.Count.N, d.count(g)))
	if once <= 0 {
		return
	}
	apart, perNode := d.apartOn(g), g.Kind.PerNode()
	id := tenantsKey{d.sited(g), strings.Join(apart, "\x00"), perNode || portsClash(d.m, g, g), perNode}
	some, width := tenants[id], len(asks)
	if some == nil || len(d.running) > 0 {
		some = &tenancy{nodes: d.reachable(g), apart: apart, lone: id.lone, perNode: perNode, wanted: make([]int64, width), once: make([]int64, width), groups: make([]int32, width)}
		tenants[id], l.coming = some, append(l.coming, some)
	}
	for r, ask := range asks {
		if ask > 0 {
			some.wanted[r] = added(some.wanted[r], ask, g.Count.N)
			some.once[r] = added(some.once[r], ask, once)
			some.groups[r]++
		}
	}
}

// lacksRoom reports whether a node has no room for a pod of each of two groups.
func (d *demand) lacksRoom(g, o *model.Group, n int) bool {
	l := d.ledger()
	mine, other := l.asks(g), l.asks(o)
	for r := range mine {
		if mine[r] > 0 && other[r] > 0 && mine[r]+other[r] > l.free[n*len(mine)+r] {
			return true
		}
	}
	return false
}

// slots bounds how many pods of a member a node takes.
func (d *demand) slots(m certificate.Member, n int) int {
	if m.Node >= 0 && n != m.Node || d.blocked(m.G, n) {
		return 0
	}
	most := m.Pods
	if d.contend {
		l := d.ledger()
		for r, ask := range l.asks(m.G) {
			if ask > 0 && l.free[n*len(l.names)+r] < model.Unbounded<<24 {
				most = int(min(int64(most), max(0, l.free[n*len(l.names)+r]/ask)))
			}
		}
	}
	node := d.m.Topology.Nodes[n]
	alone := slices.ContainsFunc(m.G.HostPorts, func(p model.HostPort) bool { return slices.ContainsFunc(m.G.HostPorts, p.Conflicts) })
	for _, k := range d.apartOn(m.G) {
		_, ok := node.Labels[k]
		alone = alone || ok
	}
	if alone {
		most = min(most, 1)
	}
	return most
}
