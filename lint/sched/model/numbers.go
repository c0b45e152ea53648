package model

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/topology"
)

// domainNumbers numbers the domains of the declared nodes for one key.
type domainNumbers struct {
	domain []int32
	size   int
}

// Numbered returns the number of each node's domain of a key, or -1 for nodes without the
// key, and the number of domains. It caches the result for the declared nodes.
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

// Offers returns the amount of a resource on each node, or math.MaxInt64 if the node is not
// judged on it; for the resource pods it returns the nodes' pod slots.
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
