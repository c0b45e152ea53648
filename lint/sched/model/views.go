package model

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/topology"
)

// View is one size that the cluster may have: the declared nodes, or those and all nodes
// that growing pools may add in every zone at once. The latter is more than they can ever
// add, and SpreadRule ignores any way in which an added node could make things worse,
// so a bound over the larger view is never too low.
type View struct {
	Nodes []*topology.Node
	// From is the index in Topology.Nodes, or -1-index in Topology.Growth.
	From []int
	// pools are the growing pools, at their maximum size.
	pools []PoolSize
	// Partial is set if some pool may grow beyond the nodes of the view.
	Partial bool
}

// maxGrown bounds the added nodes of one zone of a pool in a view. If a pool may grow
// beyond that, nothing is declared impossible.
const maxGrown = 5000

// maxView bounds the added nodes of all pools together, in the same way.
const maxView = 20_000

func newView(topo *topology.Topology, grown bool) *View {
	v := &View{Nodes: make([]*topology.Node, 0, len(topo.Nodes)), From: make([]int, 0, len(topo.Nodes))}
	for i, n := range topo.Nodes {
		v.Nodes, v.From = append(v.Nodes, n), append(v.From, i)
	}
	for i, g := range topo.Growth {
		p := g.Node.Pool
		if !grown {
			break
		}
		if size := (PoolSize{p.Name, p.Max}); len(v.pools) == 0 || v.pools[len(v.pools)-1] != size {
			v.pools = append(v.pools, size)
		}
		more := min(g.Extra, maxGrown, maxView+len(topo.Nodes)-len(v.Nodes))
		v.Partial = v.Partial || g.Extra > more
		for k := range more {
			v.Nodes, v.From = append(v.Nodes, Another(g.Node, k)), append(v.From, -1-i)
		}
	}
	return v
}

// Grown returns the nodes that exist if every pool grows to its maximum in all its zones
// at once, and the sizes of the pools. It is not ok if no pool grows, or if one grows
// beyond the nodes of a view.
func (m *Model) Grown() (nodes []*topology.Node, growth []PoolSize, ok bool) {
	if len(m.Views) < 2 || m.Views[1].Partial {
		return nil, nil, false
	}
	return m.Views[1].Nodes, m.Views[1].Growth(), true
}

// Another returns a further node of a pool, which differs only in its name and hostname label.
func Another(n *topology.Node, k int) *topology.Node {
	if k == 0 {
		return n
	}
	more := *n
	more.Name = fmt.Sprintf("%s+%d", n.Name, k)
	if n.Labels[corev1.LabelHostname] == n.Name {
		more.Labels = maps.Clone(n.Labels)
		more.Labels[corev1.LabelHostname] = more.Name
	}
	return &more
}

// GrownBy returns the declared nodes and the given number of additional nodes of a pool,
// taken from its zones in turn.
func GrownBy(m *Model, p *topology.Pool, more int) []*topology.Node {
	nodes := slices.Clone(m.Topology.Nodes)
	var kinds []*topology.Node
	for _, g := range m.Topology.Growth {
		if g.Node.Pool == p {
			kinds = append(kinds, g.Node)
		}
	}
	for k := range more {
		nodes = append(nodes, Another(kinds[k%len(kinds)], k/len(kinds)))
	}
	return nodes
}

// Passes returns the outcome of the filters for the i-th node of the view.
func (v *View) Passes(e *Eligibility, i int) Passes {
	if from := v.From[i]; from >= 0 {
		return e.Nodes[from]
	} else {
		return e.Growth[-1-from]
	}
}

// Growth returns the sizes of growing pools in the view; nil without growth.
func (v *View) Growth() []PoolSize { return v.pools }

// PoolSize is a pool, by name, and a number of nodes.
type PoolSize struct {
	Pool  string
	Nodes int
}
