package model

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/topology"
)

// domainNumbers are the domains of the declared nodes for one key.
type domainNumbers struct {
	domain []int32
	size   int
}

// Numbered numbers the domains of a key: -1 for nodes without it. The numbers
// of the declared nodes are kept, as every decision asks for them again.
func (m *Model) Numbered(key string, nodes []*topology.Node) ([]int32, int) {
	if found, ok := m.numbers[key]; ok && len(nodes) == len(m.Topology.Nodes) {
		return found.domain, found.size
	}
	values := map[string]int32{}
	domain := make([]int32, len(nodes))
	for n, node := range nodes {
		v, ok := node.Labels[key]
		if !ok {
			domain[n] = -1
			continue
		}
		d, seen := values[v]
		if !seen {
			d = int32(len(values))
			values[v] = d
		}
		domain[n] = d
	}
	if len(nodes) == len(m.Topology.Nodes) {
		m.numbers[key] = domainNumbers{domain, len(values)}
	}
	return domain, len(values)
}

// Offers is what the nodes have of a resource, math.MaxInt64 where it is not
// judged; for pods it is their slots.
func (m *Model) Offers(name corev1.ResourceName, nodes []*topology.Node) []int64 {
	if found, ok := m.offered[name]; ok && len(nodes) == len(m.Topology.Nodes) {
		return found
	}
	all := make([]int64, len(nodes))
	for n, node := range nodes {
		amount, judged := Offered(node, &Request{Name: name})
		if all[n] = amount; !judged {
			all[n] = math.MaxInt64
		}
	}
	if len(nodes) == len(m.Topology.Nodes) {
		m.offered[name] = all
	}
	return all
}
