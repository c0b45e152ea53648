package upgrade

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// mostChanged limits the budgets and workloads that one change concerns.
const mostChanged = 4

// Suffices returns changes that make the answer about a pool always, each by itself: surge nodes instead
// of missing ones, one node at a time, budgets that allow one eviction, one more replica, and one more
// node in the pool. Each change is decided like the pool itself. More surge nodes alone never suffice:
// every set of usable nodes stays possible.
func Suffices(c *Cluster, pool *topology.Pool, s Settings, answer *diag.Upgrade) (all []string) {
	if answer.Verdict != string(diag.Never) && answer.Verdict != string(diag.Unknown) {
		return nil
	}
	holds := func(c *Cluster, pool *topology.Pool, s Settings) bool {
		return Of(c, pool, s).Verdict == string(diag.Always)
	}
	if more := s; s.Unavailable > 0 {
		if more.Surge, more.Unavailable = s.Surge+s.Unavailable, 0; holds(c, pool, more) {
			all = append(all, fmt.Sprintf("surge: %d, unavailable: 0", more.Surge))
		}
	}
	if one := s; s.Surge+s.Unavailable > 1 {
		if one.Surge, one.Unavailable = 1, 0; holds(c, pool, one) {
			all = append(all, "surge: 1, unavailable: 0 (one node at a time)")
		}
	}
	if names, set := c.allowing(answer); len(names) > 0 {
		changed := *c
		changed.Set = set
		if holds(&changed, pool, s) {
			all = append(all, "maxUnavailable: 1 in "+strings.Join(names, ", "))
		}
	}
	if names, set := c.replicated(answer); len(names) > 0 {
		changed := *c
		changed.Set = set
		if holds(&changed, pool, s) {
			all = append(all, "one more replica of "+strings.Join(names, ", "))
		}
	}
	if topo, larger, zone := c.enlarged(pool); topo != nil {
		changed := *c
		changed.Topology = topo
		if holds(&changed, larger, s) {
			all = append(all, "one more node in pool "+pool.Name+zone)
		}
	}
	return all
}

// allowing returns a set in which the budgets that an answer names allow one eviction.
func (c *Cluster) allowing(answer *diag.Upgrade) (names []string, set *workload.Set) {
	for _, why := range answer.Why {
		if why.Budget != "" && !slices.Contains(names, why.Budget) {
			names = append(names, why.Budget)
		}
	}
	out := *c.Set
	out.Budgets = slices.Clone(out.Budgets)
	one, changed := intstr.FromInt32(1), 0
	for i, b := range out.Budgets {
		if slices.Contains(names, b.String()) {
			x := *b
			x.MinAvailable, x.MaxUnavailable = nil, &one
			out.Budgets[i] = &x
			changed++
		}
	}
	if changed != len(names) || changed > mostChanged {
		return nil, nil
	}
	return names, &out
}

// replicated returns a set in which the workloads that an answer names have one more pod.
func (c *Cluster) replicated(answer *diag.Upgrade) (names []string, set *workload.Set) {
	for _, why := range answer.Why {
		if why.Workload != "" && !slices.Contains(names, why.Workload) {
			names = append(names, why.Workload)
		}
	}
	out := *c.Set
	out.Workloads = slices.Clone(out.Workloads)
	changed := 0
	for i, w := range out.Workloads {
		if slices.Contains(names, w.String()) && w.Scale == nil && w.Kind.Kind != "Pod" && !w.Kind.VM && !w.Finite() && w.Count.Known && !w.Copy && !w.Superseded {
			x := *w
			x.Count.N++
			out.Workloads[i] = &x
			changed++
		}
	}
	if changed != len(names) || changed > mostChanged {
		return nil, nil
	}
	return names, &out
}

// enlarged returns a topology with one more node in a pool, in the zone with the fewest nodes. It
// returns nil if pools may grow or differ.
func (c *Cluster) enlarged(pool *topology.Pool) (topo *topology.Topology, larger *topology.Pool, zone string) {
	if c.Topology.Elastic() || slices.ContainsFunc(c.Topology.Pools, func(p *topology.Pool) bool { return p.Mixed }) {
		return nil, nil, ""
	}
	p, spec, more := *pool, *pool.Spec, *c.Topology
	if p.Spec = &spec; spec.Zones != nil {
		names := p.ZoneNames()
		name := slices.MinFunc(names, func(a, b string) int { return spec.Zones[a] - spec.Zones[b] })
		spec.Zones = maps.Clone(spec.Zones)
		spec.Zones[name]++
		zone = ", in zone " + name
	}
	p.Count++
	more.Pools = slices.Clone(more.Pools)
	more.Pools[slices.Index(more.Pools, pool)] = &p
	sized, err := more.Sized(func(o *topology.Pool) []int { return declaredNodes(o) })
	if err != nil {
		return nil, nil, ""
	}
	i := slices.IndexFunc(sized.Pools, func(o *topology.Pool) bool { return o.Name == pool.Name })
	return sized, sized.Pools[i], zone
}
