package topology

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/sorting"
)

// ZoneNames returns the zones of a pool in the order of its declaration. A pool without zones has the
// single name "".
func (p *Pool) ZoneNames() []string {
	if p.Spec.Zones == nil {
		return []string{""}
	}
	names := sorting.Keys(p.Spec.Zones)
	declared := []string{}
	for k := range p.Declaration.Node.Get("zones").Fields() {
		declared = append(declared, k.Value)
	}
	if sorted := slices.Sorted(slices.Values(declared)); slices.Equal(sorted, names) {
		return declared
	}
	return names
}

// Samples returns a node of each zone of a pool, in the order of ZoneNames, whether or not the pool
// has nodes there.
func (t *Topology) Samples(p *Pool) (all []*Node) {
	for _, zone := range p.ZoneNames() {
		n := poolNode(p, p.Spec, zone, 0)
		n.Extended = t.Extended
		all = append(all, n)
	}
	return all
}

// Sized returns a topology whose pools have other numbers of nodes and cannot grow. The function
// zones returns the number of nodes of a pool in each of its zones, in the order of ZoneNames. Nodes
// outside of pools stay. No pool may be Mixed. It returns an error if two nodes get the same name or
// there are too many.
func (t *Topology) Sized(zones func(*Pool) []int) (*Topology, error) {
	sized := *t
	sized.Nodes, sized.Growth, sized.Pools = nil, nil, nil
	names := map[string]bool{}
	add := func(n *Node) error {
		if names[n.Name] {
			return fmt.Errorf("two nodes have the name %s", n.Name)
		}
		if len(sized.Nodes) == maxNodes {
			return fmt.Errorf("the pools add up to more than %d nodes", maxNodes)
		}
		names[n.Name] = true
		sized.Nodes = append(sized.Nodes, n)
		return nil
	}
	for _, n := range t.Nodes {
		if n.Pool == nil {
			if err := add(n); err != nil {
				return nil, err
			}
		}
	}
	for _, was := range t.Pools {
		p, counts := *was, zones(was)
		p.Count = 0
		for _, n := range counts {
			p.Count += n
		}
		p.Min, p.Max = p.Count, p.Count
		sized.Pools = append(sized.Pools, &p)
		for z, zone := range p.ZoneNames() {
			for i := range counts[z] {
				n := poolNode(&p, p.Spec, zone, i)
				n.Extended = t.Extended
				if err := add(n); err != nil {
					return nil, err
				}
			}
		}
	}
	slices.SortFunc(sized.Nodes, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
	return &sized, nil
}
