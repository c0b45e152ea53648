package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/topology"
)

// view is one size that the cluster may have: the declared nodes, or those and
// the whole room of growing pools in every zone at once. That is more than
// they can ever be, and what a further node could spoil is left out of account
// (see spreadRule), so a bound over the larger view is never too low.
type view struct {
	nodes []*topology.Node
	// from is the index in Topology.Nodes, or -1-index in Topology.Growth.
	from []int
	// pools names the pools that count at their max.
	pools []string
	// partial is set if some pool may grow beyond what the view holds.
	partial bool
}

// maxGrown bounds the further nodes of one zone of a pool that a view holds.
// Where a pool may grow beyond that nothing is said to be impossible.
const maxGrown = 5000

// maxView bounds those of all pools together, in the same way.
const maxView = 20_000

func newViews(topo *topology.Topology) []*view {
	if topo.Empty() {
		return nil
	}
	views := []*view{newView(topo, false)}
	if topo.Elastic() {
		views = append(views, newView(topo, true))
	}
	return views
}

func newView(topo *topology.Topology, grown bool) *view {
	v := &view{}
	for i, n := range topo.Nodes {
		v.nodes, v.from = append(v.nodes, n), append(v.from, i)
	}
	for i, g := range topo.Growth {
		p := g.Node.Pool
		if !grown {
			break
		}
		if text := fmt.Sprintf("%s at %d", p.Name, p.Max); len(v.pools) == 0 || v.pools[len(v.pools)-1] != text {
			v.pools = append(v.pools, text)
		}
		more := min(g.Extra, maxGrown, maxView+len(topo.Nodes)-len(v.nodes))
		v.partial = v.partial || g.Extra > more
		for k := range more {
			v.nodes, v.from = append(v.nodes, Another(g.Node, k)), append(v.from, -1-i)
		}
	}
	return v
}

// Grown are the nodes that there are if every pool grows as far as it may in
// all its zones at once, and at which size the pools count. It is not ok where
// no pool grows, or one beyond what a view holds.
func (m *Model) Grown() (nodes []*topology.Node, growth string, ok bool) {
	if len(m.views) < 2 || m.views[1].partial {
		return nil, "", false
	}
	return m.views[1].nodes, m.views[1].growth(), true
}

// Another is a further node of a pool: alike but for its name.
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

// GrownBy are the declared nodes and so many more of a pool, in turn over its
// zones.
func (m *Model) GrownBy(p *topology.Pool, more int) []*topology.Node {
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

// siteSet is the sites of one kind of pod in one view. Many workloads ask the
// same of it, so answers are kept.
type siteSet struct {
	sites []site
	most  map[string]int
	rooms map[string]map[string]int
}

func newSiteSet(sites []site) *siteSet {
	return &siteSet{sites: sites, most: map[string]int{}, rooms: map[string]map[string]int{}}
}

// apart is the bound of apart for the whole set.
func (s *siteSet) apart(keys []string) int {
	id := strings.Join(keys, ",")
	most, ok := s.most[id]
	if !ok {
		most = apart(s.sites, keys)
		s.most[id] = most
	}
	return most
}

// room is how many pods fit into each domain of a key.
func (s *siteSet) room(key string, keys []string) map[string]int {
	id := key + "|" + strings.Join(keys, ",")
	room := s.rooms[id]
	if room == nil {
		by, _ := domains(s.sites, key)
		room = make(map[string]int, len(by))
		for value, group := range by {
			room[value] = apart(group, keys)
		}
		s.rooms[id] = room
	}
	return room
}

// largest is the most pods that one site holds under keys, and the first that
// holds so many.
func (s *siteSet) largest(keys []string) (most int, node string) {
	for i := range s.sites {
		if n := s.sites[i].apart(keys); n > most {
			most, node = n, s.sites[i].node.Name
		}
	}
	return most, node
}

// apart is what one site holds: one pod if it carries one of the keys.
func (s *site) apart(keys []string) int {
	for _, k := range keys {
		if _, ok := s.node.Labels[k]; ok {
			return min(s.cap, 1)
		}
	}
	return s.cap
}

// mode says what limits the sites of a set.
type mode struct {
	// fit leaves out nodes that are too small for one pod, room counts how many
	// pods fit by resources, ports lets one pod be on a node.
	fit, room, ports bool
	// keys stands for the labels that a node needs to be a site: those of all hard
	// spread constraints, or none.
	keys string
}

// setKey identifies a siteSet.
type setKey struct {
	view               *view
	signature, request string
	mode               mode
}

// maxKept bounds the sites that are kept for workloads which ask the same.
const maxKept = 500_000

// set gives the sites of a view for the pods of a workload.
func (m *Model) set(v *view, g *Group, how mode) *siteSet {
	key := setKey{view: v, signature: g.signature, mode: how}
	if how.fit {
		key.request = g.request
	}
	if s := m.sets[key]; s != nil {
		return s
	}
	m.run.Spend(len(v.nodes) * (1 + len(g.Requests)))
	e := m.Eligible(g.Workload)
	var keys []string
	if how.keys != "" {
		keys = hardKeys(g)
	}
	var sites []site
	for i, n := range v.nodes {
		if !v.passes(e, i).All() || !carries(n.Labels, keys) {
			continue
		}
		most := Unbounded
		if how.fit {
			if most, _ = Fits(n, g.Requests); most == 0 {
				continue
			}
		}
		if !how.room {
			most = Unbounded
		}
		if how.ports || g.Kind.PerNode() {
			most = min(most, 1)
		}
		sites = append(sites, site{node: n, cap: most})
	}
	s := newSiteSet(sites)
	if m.kept += len(sites); m.kept > maxKept {
		clear(m.sets)
		m.kept = len(sites)
	}
	m.sets[key] = s
	return s
}
