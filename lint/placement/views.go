package placement

import (
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// view is one size that the cluster may have: the declared nodes, and for some
// of the growing pools their whole room to grow in every zone at once. That is
// more than they can ever be, so a bound over views is never too low.
type view struct {
	nodes []*topology.Node
	// from is the index in Topology.Nodes, or -1-index in Topology.Growth.
	from []int
	// pools names the pools that count at their max.
	pools []string
}

// maxViews bounds the sizes that are looked at: every set of up to four
// growing pools, else all of them together or none.
const maxViews = 16

// maxGrown bounds the further nodes of one zone of a pool. No verdict can
// depend on more: beyond it the views are not used to refute anything.
const maxGrown = 2000

func newViews(topo *topology.Topology) []*view {
	if topo.Empty() {
		return nil
	}
	var pools []*topology.Pool
	for _, g := range topo.Growth {
		if len(pools) == 0 || pools[len(pools)-1] != g.Node.Pool {
			pools = append(pools, g.Node.Pool)
		}
	}
	sets := 1 << len(pools)
	if len(pools) > 4 {
		sets = 2
	}
	var views []*view
	for set := range sets {
		grown := map[*topology.Pool]bool{}
		for i, p := range pools {
			grown[p] = set&(1<<i) != 0 || len(pools) > 4 && set == 1
		}
		views = append(views, newView(topo, grown))
	}
	return views
}

func newView(topo *topology.Topology, grown map[*topology.Pool]bool) *view {
	v := &view{}
	for i, n := range topo.Nodes {
		v.nodes, v.from = append(v.nodes, n), append(v.from, i)
	}
	for i, g := range topo.Growth {
		p := g.Node.Pool
		if !grown[p] {
			continue
		}
		if text := fmt.Sprintf("%s at %d", p.Name, p.Max); len(v.pools) == 0 || v.pools[len(v.pools)-1] != text {
			v.pools = append(v.pools, text)
		}
		for k := range min(g.Extra, maxGrown) {
			v.nodes, v.from = append(v.nodes, another(g.Node, k)), append(v.from, -1-i)
		}
	}
	return v
}

// another is a further node of a pool: alike but for its name.
func another(n *topology.Node, k int) *topology.Node {
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

// passes is the outcome of the filters for the i-th node of the view.
func (v *view) passes(e *Eligibility, i int) Passes {
	if from := v.from[i]; from >= 0 {
		return e.Nodes[from]
	} else {
		return e.Growth[-1-from]
	}
}

// growth says at which size pools were counted, or "".
func (v *view) growth() string { return strings.Join(v.pools, ", ") }

// site is an eligible node and how many pods of one workload it holds.
type site struct {
	node *topology.Node
	cap  int
}

// sites are the eligible nodes of a view that hold at least one pod.
func (m *Model) sites(v *view, w *workload.Workload, requests []Request, ports bool) []site {
	e := m.Eligible(w)
	var all []site
	for i, n := range v.nodes {
		if !v.passes(e, i).All() {
			continue
		}
		most, _ := Fits(n, requests)
		if ports || w.Kind.PerNode() {
			most = min(most, 1)
		}
		if most > 0 {
			all = append(all, site{node: n, cap: most})
		}
	}
	return all
}
