package check

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// demand adds up the requests of pods that compete for node resources.
type demand struct {
	pairs
	known *ledger // nil before the first use
}

// ledger holds the total requests, per node and resource, of all pods that may land on the node.
// If the total exceeds the free amount, the resource may run short.
type ledger struct {
	names []corev1.ResourceName
	// wanted, shared and free are indexed by node and resource. wanted is the sum of the
	// requests, shared is the number of workloads that request the resource, and free is the
	// amount left on the node.
	wanted, free []int64
	shared       []int32
	// kept is the part of wanted requested by pods that can be on this node only. Like wanted, it is
	// indexed by node and resource.
	kept  []int64
	asked map[*model.Group][]int64
	// coming holds the total requests of workloads that share nodes. Workloads with the same nodes
	// and the same rules about their own pods share an entry, unless pods are running.
	coming []*tenancy
}

// asks returns what one pod of a group requests, in the order of names.
func (l *ledger) asks(g *model.Group) []int64 {
	return lazy.Cached(l.asked, g, func() []int64 {
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

// ledger returns the ledger, and builds it on first use. The free amounts exclude the resources
// that running pods use.
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
	l.kept = make([]int64, len(d.on)*width)
	for r, name := range l.names {
		for n, has := range d.m.Offers(name, d.m.Topology.Nodes) {
			if d.on[n] != nil && has != math.MaxInt64 {
				has -= d.on[n].uses(name)
			}
			l.free[n*width+r] = min(has, model.Unbounded<<24) // the maximum if the amount is not judged
		}
	}
	d.known = l
	tenants := map[tenantsKey]*tenancy{}
	for _, w := range d.m.Workloads {
		g := d.m.Groups[w]
		if n, ok := d.m.IndexOf(g.Spec.NodeName); ok && g.Spec.NodeName != "" {
			asks := l.asks(g) // the kubelet ignores a bound pod's requests for extended resources that it does not know
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
				if some.stays {
					l.kept[n*width+r] = added(l.kept[n*width+r], sum, 1)
				}
			}
		}
	}
	return l
}

// tenantsKey identifies groups with the same nodes and the same rules about their own pods.
type tenantsKey struct {
	nodes       *sited
	apart       string
	lone, stays bool
}

// tenancy adds up the requests of groups with the same nodes, indexed by ledger resource.
type tenancy struct {
	nodes []int
	// apart lists the keys whose domains can have at most one pod per group. lone is set if every
	// node accepts at most one pod per group. stays is set if each pod can be on one node only.
	apart       []string
	lone, stays bool
	// wanted is the sum of requests if one node takes all pods, and once is the sum if a node takes
	// one pod per group. groups is the number of groups that request the resource.
	wanted, once []int64
	groups       []int32
}

// join adds a group's pod requests to the tenancy with the same key. If pods are running, each
// group gets its own tenancy.
func (d *demand) join(l *ledger, tenants map[tenantsKey]*tenancy, g *model.Group) {
	asks := l.asks(g)
	once := min(1, max(g.Count.N, d.count(g)))
	if once <= 0 {
		return
	}
	apart := d.apartOn(g)
	id := tenantsKey{d.sited(g), strings.Join(apart, "\x00"), g.Kind.PerNode() || portsClash(d.m, g, g), stays(g)}
	some, width := tenants[id], len(asks)
	if some == nil || len(d.running) > 0 {
		some = &tenancy{nodes: d.reachable(g), apart: apart, lone: id.lone, stays: id.stays, wanted: make([]int64, width), once: make([]int64, width), groups: make([]int32, width)}
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

// stays reports whether each of a group's pods can be on one node only. Such pods count as placed
// on that node.
func stays(g *model.Group) bool { return g.Kind.PerNode() || g.Spec.NodeName != "" }

// slots returns an upper bound on how many of a member's pods fit on a node.
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

// counting checks proofs that there are too many pods, either for the domains of a key on which
// they exclude each other or for a resource.
type counting struct{ *demand }

// mutual returns an error unless the members always exclude each other on a key and their pods can
// be only on nodes that have the key.
func (k *counting) mutual(about []certificate.Member, key string) error {
	for i, m := range about {
		if m.G.Spec.NodeName != "" {
			return fmt.Errorf("%v is kept out by nobody", m.G.Workload)
		}
		for _, o := range about[:i] {
			if (o.G != m.G || m.Node >= 0) && !(k.excludesAt(m.G, o.G, key, k.only(o)) && k.excludesAt(o.G, m.G, key, k.only(m))) {
				return fmt.Errorf("%v and %v may share a domain of %s", m.G.Workload, o.G.Workload, key)
			}
		}
		for _, n := range k.sites(m.G) {
			if _, ok := k.m.Topology.Nodes[n].Labels[key]; !ok && k.slots(m, n) > 0 {
				return fmt.Errorf("%v may be on %s, which lacks %s", m.G.Workload, k.m.Topology.Nodes[n].Name, key)
			}
		}
	}
	return nil
}

// checkOutweighed checks a proof by weights. A domain's capacity is the largest total weight that a
// single member's pods can have there. The proof holds if all pods together weigh more than the
// capacity of all domains.
func (k *counting) checkOutweighed(c *certificate.Assertion) error {
	if err := k.mutual(c.About, c.Proof.Key); err != nil {
		return err
	}
	total, best := 0, map[string]int{}
	for i, m := range c.About {
		weight := c.Proof.Weights[i]
		total += weight * m.Pods
		most := m.Pods
		if slices.Contains(k.apartOn(m.G), c.Proof.Key) {
			most = 1
		}
		holds := map[string]int{}
		for _, n := range k.sites(m.G) {
			d := k.m.Topology.Nodes[n].Labels[c.Proof.Key]
			holds[d] = min(most, holds[d]+k.slots(m, n))
		}
		for d, pods := range holds {
			best[d] = max(best[d], weight*pods)
		}
	}
	sum := 0
	for _, b := range best {
		sum += b
	}
	if weightless := slices.ContainsFunc(c.Proof.Weights, func(w int) bool { return w < 0 }); weightless || total <= sum {
		return fmt.Errorf("%v weigh %d, and the domains of %s hold %d", certificate.Called(c.About), total, c.Proof.Key, sum)
	}
	return nil
}

// checkOvercommitted compares the requests of members that can use only certain nodes with what these offer, in whole
// pieces.
func (k *counting) checkOvercommitted(c *certificate.Assertion) error {
	l := k.ledger()
	r := slices.Index(l.names, c.Proof.Resource)
	if r < 0 || !k.contend {
		return fmt.Errorf("nobody asks for %s", c.Proof.Resource)
	}
	crammed := lists.Set(c.Proof.Nodes)
	demand, all := int64(0), int64(0)
	unit := max(1, c.Proof.Unit) // a pod that requests less than a piece of it does not count
	inside := map[*sited]bool{}
	for _, m := range c.About {
		at := k.sited(m.G)
		if _, known := inside[at]; !known {
			inside[at] = !slices.ContainsFunc(at.list, func(n int) bool { return !crammed[n] })
		}
		if !inside[at] && !crammed[m.Node] {
			return fmt.Errorf("%v: its pods can use other nodes", m.G.Workload)
		}
		demand = added(demand, l.asks(m.G)[r]/unit, m.Pods)
	}
	for n := range crammed {
		all = added(all, max(0, l.free[n*len(l.names)+r])/unit, 1)
	}
	if demand == math.MaxInt64 || demand <= all {
		return fmt.Errorf("%v ask for %d pieces of %s, and %d are there", certificate.Called(c.About), demand, c.Proof.Resource, all)
	}
	return nil
}
