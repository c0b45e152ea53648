package check

import (
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// blocker is what pods of one workload can do to the nodes of another.
type blocker struct {
	g, of *model.Group
	// pods is how many there are, keys those on which they close domains, of
	// which sure ones do so wherever a pod is; port is set if they close the node
	// that they are on.
	pods       int
	keys, sure []string
	port       bool
	// tight are the nodes that they close by taking room there.
	tight []bool
}

// closings bound how many nodes others can close to a pod.
type closings struct {
	*demand
	sized map[string][]int // by part and key
	tight map[tightKey]*tight
}

func newClosings(d *demand) *closings {
	return &closings{d, map[string][]int{}, map[tightKey]*tight{}}
}

// tightKey names the nodes of a part that may run short of a resource.
type tightKey struct {
	part     string
	resource int
}

// tight are nodes that may run short of a resource: what they have, least first, and the
// sums from none on; wanted is what the pods that may be on them ask for.
type tight struct {
	nodes      []int
	in         []bool
	free, sums []int64
	wanted     int64
}

// closed bounds how many of some nodes can be closed to a further pod.
func (c *closings) closed(m certificate.Member, p part) int {
	nodes := p.nodes
	blockers := c.blockers(m, p.own)
	cramped := c.overfilled(m, p, blockers)
	sum := c.ruled(p, blockers, len(nodes)-cramped) + cramped
	if sum < len(nodes) {
		return sum
	}
	// The other way round: every pod that can be in the way closes what it can at
	// most where it is, its own node included if it takes room there.
	crampers, tight := c.crampers(m, p, blockers)
	once := 0
	for _, b := range blockers {
		if slices.ContainsFunc(crampers, func(o blocker) bool { return o.g == b.g }) {
			b.tight = tight
		}
		once += c.closing(b, nodes)
	}
	for _, b := range crampers {
		if !slices.ContainsFunc(blockers, func(o blocker) bool { return o.g == b.g }) {
			b.tight = tight
			once += c.closing(b, nodes)
		}
	}
	return min(sum, once)
}

// blockers are the workloads that close nodes to a member by a rule.
func (c *closings) blockers(m certificate.Member, own int) []blocker {
	var all []blocker
	for _, w := range c.rivals(m.G) {
		g := c.m.Groups[w]
		b := blocker{g: g, of: m.G, pods: c.coming(g)}
		if g == m.G {
			b.pods = own
		}
		for _, t := range m.G.Terms {
			if t.Hard && t.Use == model.AntiAffinity && slices.Contains(c.selects[t], w) {
				b.keys = append(b.keys, t.Key)
				if c.surely(t, m.G, g) {
					b.sure = append(b.sure, t.Key)
				}
			}
		}
		for _, a := range c.against[m.G.Workload] {
			if a.w == w {
				b.keys, b.sure = append(b.keys, a.key), append(b.sure, a.key)
			}
		}
		slices.Sort(b.keys)
		b.keys = slices.Compact(b.keys)
		if g == m.G && m.Node >= 0 { // the others are on other nodes
			b.port, b.pods = false, c.beside(m, b.keys)
		}
		for _, p := range m.G.HostPorts {
			b.port = b.port || slices.ContainsFunc(g.HostPorts, p.Conflicts)
		}
		if b.pods > 0 && (b.port || len(b.keys) > 0) {
			all = append(all, b)
		}
	}
	return all
}

// rivals are the workloads that may keep a group out by a rule, each once.
func (c *closings) rivals(g *model.Group) []*workload.Workload {
	seen := map[*workload.Workload]bool{}
	var all []*workload.Workload
	add := func(w *workload.Workload) {
		if o := c.m.Groups[w]; !seen[w] && c.m.Present(o) && !o.Running {
			seen[w] = true
			all = append(all, w)
		}
	}
	for _, t := range g.Terms {
		if t.Hard && t.Use == model.AntiAffinity {
			for _, w := range c.selects[t] {
				add(w)
			}
		}
	}
	for _, a := range c.against[g.Workload] {
		add(a.w)
	}
	if len(g.HostPorts) > 0 {
		for _, w := range c.m.Workloads {
			if portsClash(c.m, g, c.m.Groups[w]) {
				add(w)
			}
		}
	}
	return all
}

// maxPasses is how often ruled goes over the blockers that are left.
const maxPasses = 4

// ruled sums up what blockers close by rules: each pod the largest domain of
// each key, no domain twice, or what its pods close from where they may be, for
// those blockers of which that is less.
func (c *closings) ruled(p part, blockers []blocker, wanted int) int {
	nodes := p.nodes
	pooled, apart := map[string]int{}, 0
	pool := func(b blocker, by int) {
		for _, k := range b.keys {
			pooled[k] += by * b.pods
		}
		if b.port {
			pooled[""] += by * b.pods
		}
	}
	for _, b := range blockers {
		pool(b, 1)
	}
	sizes := c.sizes(p, blockers)
	sum := func() int {
		closed := min(pooled[""], len(nodes))
		for k, list := range sizes {
			closed += greatest(list, pooled[k])
		}
		return closed
	}
	total := sum()
	// As long as many are added up, one more or less may make no difference, so each is
	// tried again once another one has been taken out.
	left, better := slices.Clone(blockers), true
	for pass := 0; better && pass < maxPasses; pass++ {
		better = false
		left = slices.DeleteFunc(left, func(b blocker) bool {
			if total < wanted {
				return false
			}
			pool(b, -1)
			alone := c.closing(b, nodes)
			if less := apart + alone + sum(); less < total {
				total, better = less, true
				apart += alone
				return true
			}
			pool(b, 1)
			return false
		})
	}
	return total
}

// sizes are how many of the nodes are in each domain of the blockers' keys, the
// largest first.
func (c *closings) sizes(p part, blockers []blocker) map[string][]int {
	all := map[string][]int{}
	for _, b := range blockers {
		for _, k := range b.keys {
			if _, known := all[k]; !known {
				all[k] = c.sizesOf(p, k)
			}
		}
	}
	return all
}

func (c *closings) sizesOf(p part, key string) []int {
	id := p.id + "|" + key
	if list, known := c.sized[id]; known && p.id != "" {
		return list
	}
	count := map[string]int{}
	for _, n := range p.nodes {
		if value, ok := c.m.Topology.Nodes[n].Labels[key]; ok {
			count[value]++
		}
	}
	list := slices.Sorted(maps.Values(count))
	slices.Reverse(list)
	if p.id != "" {
		c.sized[id] = list
	}
	return list
}

// greatest is the sum of the n first of numbers that begin with the greatest.
func greatest(list []int, n int) int {
	sum := 0
	for _, x := range list[:min(n, len(list))] {
		sum += x
	}
	return sum
}

// closing is what the pods of one blocker close if each is where it closes most,
// on all keys and by its port at once, no place with the same domains twice.
func (c *closings) closing(b blocker, nodes []int) int {
	in := c.marked(nodes)
	sizes := make([]map[string]int, len(b.keys))
	for i, k := range b.keys {
		sizes[i] = map[string]int{}
		for _, n := range nodes {
			if value, ok := c.m.Topology.Nodes[n].Labels[k]; ok {
				sizes[i][value]++
			}
		}
	}
	seen := map[string]bool{}
	var list []int
	for _, at := range c.reachable(b.g) {
		here := c.m.Topology.Nodes[at]
		id, closes, carried := "", 0, 0
		for i, k := range b.keys {
			value, ok := here.Labels[k]
			if id += "\x00"; ok && c.closesFrom(b, k, at) {
				id += "=" + value
				carried++
				closes += sizes[i][value]
			}
		}
		own := in[at] && (b.port || b.tight != nil && b.tight[at])
		if own {
			id += "\x00" + here.Name
			closes = max(closes, 1)
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		if carried > 1 || carried > 0 && own { // domains may overlap
			closes = c.overlapping(b, at, own, nodes)
		}
		list = append(list, closes)
	}
	slices.Sort(list)
	slices.Reverse(list)
	return greatest(list, b.pods)
}

// closesFrom tells whether a pod of a blocker closes the domain of a key in which
// it is: a selector may ask for labels of its node.
func (c *closings) closesFrom(b blocker, key string, at int) bool {
	return slices.Contains(b.sure, key) || slices.ContainsFunc(b.of.Terms, func(t *model.Term) bool {
		return t.Hard && t.Use == model.AntiAffinity && t.Key == key && c.m.Selects(t, b.of.Workload, b.g.Workload, model.Asks{Incoming: true, At: c.m.Topology.Nodes[at]})
	})
}

// overlapping counts the nodes that one pod of a blocker closes from where it
// is.
func (c *closings) overlapping(b blocker, at int, own bool, nodes []int) int {
	here, closes := c.m.Topology.Nodes[at], 0
	for _, n := range nodes {
		if own && n == at || slices.ContainsFunc(b.keys, func(k string) bool {
			return model.SameDomain(here, c.m.Topology.Nodes[n], k) && c.closesFrom(b, k, at)
		}) {
			closes++
		}
	}
	return closes
}

// overfilled bounds how many of the nodes others can leave too little space on: on each
// they take at least what is free there less what a pod asks, and one unit more. Pods
// that close every node that they are on by a rule are charged for that already.
func (c *closings) overfilled(m certificate.Member, p part, blockers []blocker) int {
	if !c.contend {
		return 0
	}
	l, closed := c.ledger(), 0
	for r, ask := range l.asks(m.G) {
		if ask == 0 {
			continue
		}
		t := c.tightOf(p, r)
		if len(t.nodes) == 0 {
			continue
		}
		if t.sums[len(t.nodes)] == math.MaxInt64 || t.wanted == math.MaxInt64 {
			return len(p.nodes) // too much to add up
		}
		closed += t.closed(t.wanted-c.exempt(m, p, t, r, blockers), ask)
	}
	return closed
}

// closed is on how many of the nodes a demand leaves less than a pod asks for: on those
// that have less to begin with, and then on those with the least.
func (t *tight) closed(demand, ask int64) int {
	count := 0
	for count < len(t.free) && t.free[count] < ask {
		count++
	}
	return count + sort.Search(len(t.free)-count, func(k int) bool {
		return t.sums[count+k+1]-t.sums[count]-int64(k+1)*(ask-1) > demand
	})
}

// tightOf are the nodes of a part that may run short of a resource.
func (c *closings) tightOf(p part, r int) *tight {
	id := tightKey{p.id, r}
	if known := c.tight[id]; known != nil && p.id != "" {
		return known
	}
	l := c.ledger()
	width := len(l.names)
	t := &tight{sums: []int64{0}}
	for _, n := range p.nodes {
		if l.short(n, r) {
			t.nodes, t.free = append(t.nodes, n), append(t.free, l.free[n*width+r])
		}
	}
	slices.Sort(t.free)
	for _, free := range t.free {
		t.sums = append(t.sums, added(t.sums[len(t.sums)-1], max(0, free), 1))
	}
	t.in = c.marked(t.nodes)
	if len(t.nodes) > 0 {
		t.wanted = c.wants(t, r)
	}
	c.m.Run().Spend(1 + len(p.nodes)/2)
	if p.id != "" {
		c.tight[id] = t
	}
	return t
}

// wants is what all pods ask for that may be on tight nodes.
func (c *closings) wants(t *tight, r int) int64 {
	sum := int64(0)
	for _, some := range c.ledger().coming {
		c.m.Run().Spend(1)
		switch {
		case some.groups[r] == 0:
		case some.perNode:
			sum = added(sum, some.once[r], t.among(some.nodes))
		case slices.ContainsFunc(some.nodes, func(n int) bool { return t.in[n] }):
			sum = added(sum, some.wanted[r], 1)
		}
	}
	return sum
}

// among is how many of some nodes are tight.
func (t *tight) among(nodes []int) int {
	count := 0
	for _, n := range nodes {
		if t.in[n] {
			count++
		}
	}
	return count
}

// comingTo is how many pods of a group, which may be on tight nodes, there are for them:
// a DaemonSet has one for each.
func (c *closings) comingTo(g *model.Group, t *tight) int {
	if !g.Kind.PerNode() {
		return c.coming(g)
	}
	return t.among(c.reachable(g))
}

// comes reports whether pods of a group are still to be placed, and some are.
func (c *closings) comes(g *model.Group) bool {
	return model.Modelled(g) && !g.Running && !c.barren(g)
}

// added is sum + ask*pods, or the largest number if that is larger.
func added(sum, ask int64, pods int) int64 {
	if ask > 0 && int64(pods) > (math.MaxInt64-sum)/ask {
		return math.MaxInt64
	}
	return sum + ask*int64(pods)
}

// exempt is what is wanted of tight nodes but not in the member's way: what its own pods
// ask for that come after it, and those that close all their nodes by a rule.
func (c *closings) exempt(m certificate.Member, p part, t *tight, r int, blockers []blocker) int64 {
	l := c.ledger()
	sum := int64(0)
	own := m.Node < 0 && c.comes(m.G) && c.reaches(m.G, t.in)
	for _, b := range blockers {
		if !c.comes(b.g) || !c.rules(b, p) || !c.reaches(b.g, t.in) {
			continue
		}
		sum += l.asks(b.g)[r] * int64(c.comingTo(b.g, t))
		own = own && b.g != m.G
	}
	if own {
		sum += l.asks(m.G)[r] * int64(c.coming(m.G)-p.own)
	}
	return sum
}

// rules reports whether a pod of a blocker closes each node of a part that it is on.
func (c *closings) rules(b blocker, p part) bool {
	return slices.ContainsFunc(b.sure, func(k string) bool {
		covered := 0
		for _, size := range c.sizesOf(p, k) {
			covered += size
		}
		return covered == len(p.nodes)
	})
}

// crampers are those who may be on some of the nodes that may run short of what they and
// the member ask for, and do not close all of the nodes that they are on by a rule; the
// nodes are marked.
func (c *closings) crampers(m certificate.Member, p part, blockers []blocker) ([]blocker, []bool) {
	if !c.contend {
		return nil, nil
	}
	l := c.ledger()
	marked := make([]bool, len(c.on))
	var short []*tight
	var asked []int
	for r, ask := range l.asks(m.G) {
		if ask == 0 {
			continue
		}
		t := c.tightOf(p, r)
		for _, n := range t.nodes {
			marked[n] = true
		}
		short, asked = append(short, t), append(asked, r)
	}
	var all []blocker
	for _, w := range c.m.Workloads {
		g := c.m.Groups[w]
		c.m.Run().Spend(1)
		if !c.comes(g) {
			continue
		}
		b := blocker{g: g, pods: c.coming(g)}
		if g == m.G && m.Node < 0 {
			b.pods = p.own
		}
		reaches := func(t *tight) bool { return l.asks(g)[asked[slices.Index(short, t)]] > 0 && c.reaches(g, t.in) }
		ruled := slices.ContainsFunc(blockers, func(o blocker) bool { return o.g == g && c.rules(o, p) })
		if b.pods > 0 && !ruled && slices.ContainsFunc(short, reaches) {
			all = append(all, b)
		}
	}
	return all, marked
}
