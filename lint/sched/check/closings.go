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

// blocker describes how pods of one workload can close nodes to another.
type blocker struct {
	g, of *model.Group
	// pods is their number. keys are those on which they close domains; sure are the keys on
	// which they do so wherever a pod is. port is set if they close the node that they are
	// on.
	pods       int
	keys, sure []string
	port       bool
	// tight marks the nodes that they close by taking room there.
	tight []bool
}

// closings bounds how many nodes others can close to a pod.
type closings struct {
	*demand
	sized map[string][]int // by part and key
	tight map[tightKey]*tight
}

// summed bounds how many of some nodes can be closed to a further pod: by each rule, by
// its own spreads and for lack of room.
func (c *closings) summed(m certificate.Member, p part) int {
	skewed := c.skewed(p)
	if skewed >= len(p.nodes) {
		return skewed
	}
	blockers := c.blockers(m, p.own)
	cramped := c.overfilled(m, p, blockers) + skewed
	return c.ruled(p, blockers, len(p.nodes)-cramped) + cramped
}

// closed returns summed if that leaves a node open. Otherwise it also counts by pods:
// each pod that can be in the way closes the most it can from one node, including that
// node if it takes room there. It returns the smaller sum.
func (c *closings) closed(m certificate.Member, p part) int {
	sum := c.summed(m, p)
	once := c.skewed(p)
	if sum < len(p.nodes) || once >= len(p.nodes) {
		return sum
	}
	blockers := c.blockers(m, p.own)
	crampers, tight := c.overcommitters(m, p, blockers)
	for _, b := range blockers {
		if slices.ContainsFunc(crampers, func(o blocker) bool { return o.g == b.g }) {
			b.tight = tight
		}
		once += c.closing(b, p.nodes)
	}
	for _, b := range crampers {
		if !slices.ContainsFunc(blockers, func(o blocker) bool { return o.g == b.g }) {
			b.tight = tight
			once += c.closing(b, p.nodes)
		}
	}
	return min(sum, once)
}

// skewed bounds how many of the nodes own pods close by their spreads: a domain for as
// many of them as the skew allows (T22).
func (c *closings) skewed(p part) int {
	closed := 0
	for _, t := range p.skews {
		closed += greatest(c.sizesOf(p, t.Key), p.own/int(t.Constraint.MaxSkew))
	}
	return closed
}

// blockers returns the workloads that close nodes to a member by a rule.
func (c *closings) blockers(m certificate.Member, own int) []blocker {
	var all []blocker
	for _, w := range c.rivals(m.G) {
		g := c.m.Groups[w]
		b := blocker{g: g, of: m.G, pods: c.coming(g)}
		if g == m.G {
			b.pods = own
		}
		for t := range m.G.Hard(model.AntiAffinity) {
			if slices.Contains(c.selects[t], w) {
				b.keys = append(b.keys, t.Key)
				if c.surely(t, m.G, g) {
					b.sure = append(b.sure, t.Key)
				}
			}
		}
		for _, list := range c.keptOut(m.G) {
			for _, a := range list {
				if a.w == w {
					b.keys, b.sure = append(b.keys, a.key), append(b.sure, a.key)
				}
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

// keptOut returns the workloads whose rules keep a group out of domains, and those that,
// depending on the cluster, may have to stay apart from it (T21).
func (c *closings) keptOut(g *model.Group) [2][]against {
	return [2][]against{c.against[g.Workload], c.doubted[g.Workload]}
}

// rivals returns the workloads that may keep a group out by a rule, each once.
func (c *closings) rivals(g *model.Group) []*workload.Workload {
	seen := map[*workload.Workload]bool{}
	var all []*workload.Workload
	add := func(w *workload.Workload) {
		if o := c.m.Groups[w]; !seen[w] && c.m.Present(o) && !o.Running {
			seen[w] = true
			all = append(all, w)
		}
	}
	for t := range g.Hard(model.AntiAffinity) {
		for _, w := range c.selects[t] {
			add(w)
		}
	}
	for _, list := range c.keptOut(g) {
		for _, a := range list {
			add(a.w)
		}
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

// maxPasses bounds how often ruled goes over the remaining blockers.
const maxPasses = 4

// ruled sums up the nodes that blockers close by rules. Each pod counts the largest
// domain of each key, no domain twice; or, for blockers where that is less, what its pods
// close from where they may be.
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
	sizes := map[string][]int{} // of the domains of each key
	for _, b := range blockers {
		pool(b, 1)
		for _, k := range b.keys {
			if _, known := sizes[k]; !known {
				sizes[k] = c.sizesOf(p, k)
			}
		}
	}
	sum := func() int {
		closed := min(pooled[""], len(nodes))
		for k, list := range sizes {
			closed += greatest(list, pooled[k])
		}
		return closed
	}
	total := sum()
	// As long as many are added up, one more or less may make no difference, so each is
	// tried again once another one has been removed from the sum.
	alone := slices.Repeat([]int{-1}, len(blockers)) // what each closes by itself, -1 before it is known
	out := make([]bool, len(blockers))
	for pass, better := 0, true; better && pass < maxPasses; pass++ {
		better = false
		for i, b := range blockers {
			if out[i] || total < wanted {
				continue
			}
			if alone[i] < 0 {
				alone[i] = c.closing(b, nodes)
			}
			pool(b, -1)
			if less := apart + alone[i] + sum(); less < total {
				total, better, out[i] = less, true, true
				apart += alone[i]
				continue
			}
			pool(b, 1)
		}
	}
	return total
}

// sizesOf returns how many of the nodes are in each domain of a key, the largest first.
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

// greatest returns the sum of the first n of numbers in descending order.
func greatest(list []int, n int) int {
	sum := 0
	for _, x := range list[:min(n, len(list))] {
		sum += x
	}
	return sum
}

// closing returns how many nodes the pods of one blocker close if each is where it closes
// most, on all keys and by its port at once, using no combination of domains twice.
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
			closes = 0
			for _, n := range nodes {
				if own && n == at || slices.ContainsFunc(b.keys, func(k string) bool {
					return model.SameDomain(here, c.m.Topology.Nodes[n], k) && c.closesFrom(b, k, at)
				}) {
					closes++
				}
			}
		}
		list = append(list, closes)
	}
	slices.Sort(list)
	slices.Reverse(list)
	return greatest(list, b.pods)
}

// closesFrom reports whether a pod of a blocker on the given node closes its domain of a
// key: a selector may ask for labels of the node.
func (c *closings) closesFrom(b blocker, key string, at int) bool {
	return slices.Contains(b.sure, key) || slices.ContainsFunc(b.of.Terms, func(t *model.Term) bool {
		return t.Hard && t.Use == model.AntiAffinity && t.Key == key && c.m.Selects(t, b.of.Workload, b.g.Workload, model.Asks{Incoming: true, At: c.m.Topology.Nodes[at]})
	})
}

// tightKey identifies the nodes of a part that may run short of a resource.
type tightKey struct {
	part     string
	resource int
}

// tight holds nodes that may run short of a resource: what they have, least first, and
// the sums of the first n; wanted is the sum of the requests of the pods that may be on
// them, of a DaemonSet one for each.
type tight struct {
	nodes      []int
	in         []bool
	free, sums []int64
	wanted     int64
}

// overfilled bounds on how many of the nodes others can leave too little space: on each
// they take at least what is free there less the request of a pod, plus one. Pods that
// close every node that they are on by a rule are already charged for that.
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
			return len(p.nodes) // the sum overflows
		}
		closed += t.closed(t.wanted-c.exempt(m, p, t, r, blockers), ask)
	}
	return closed
}

// tightOf returns the nodes of a part that may run short of a resource.
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
		for _, some := range l.coming {
			c.m.Run().Spend(1)
			switch {
			case some.groups[r] == 0:
			case some.perNode:
				t.wanted = added(t.wanted, some.once[r], t.among(some.nodes))
			case slices.ContainsFunc(some.nodes, func(n int) bool { return t.in[n] }):
				t.wanted = added(t.wanted, some.wanted[r], 1)
			}
		}
	}
	c.m.Run().Spend(1 + len(p.nodes)/2)
	if p.id != "" {
		c.tight[id] = t
	}
	return t
}

// among returns how many of the nodes are tight.
func (t *tight) among(nodes []int) int {
	count := 0
	for _, n := range nodes {
		if t.in[n] {
			count++
		}
	}
	return count
}

// added returns sum + ask*pods, or the largest number if that overflows.
func added(sum, ask int64, pods int) int64 {
	if ask > 0 && int64(pods) > (math.MaxInt64-sum)/ask {
		return math.MaxInt64
	}
	return sum + ask*int64(pods)
}

// exempt returns the demand on tight nodes that cannot block the member: the requests of
// its own later pods, and those of pods that close all their nodes by a rule.
func (c *closings) exempt(m certificate.Member, p part, t *tight, r int, blockers []blocker) int64 {
	l := c.ledger()
	sum := int64(0)
	own := m.Node < 0 && c.comes(m.G) && c.reaches(m.G, t.in)
	for _, b := range blockers {
		if !c.comes(b.g) || !c.rules(b, p) || !c.reaches(b.g, t.in) {
			continue
		}
		pods := c.coming(b.g)
		if b.g.Kind.PerNode() {
			pods = t.among(c.reachable(b.g))
		}
		sum += l.asks(b.g)[r] * int64(pods)
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

// overcommitters returns the workloads that may be on nodes which may run short of something
// that they and the member request, and that do not close all of their nodes by a rule.
// It also marks these nodes.
func (c *closings) overcommitters(m certificate.Member, p part, blockers []blocker) ([]blocker, []bool) {
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

// closed returns on how many of the nodes a demand leaves less than a pod requests: on
// those that have less to begin with, and then on those with the least.
func (t *tight) closed(demand, ask int64) int {
	count := 0
	for count < len(t.free) && t.free[count] < ask {
		count++
	}
	return count + sort.Search(len(t.free)-count, func(k int) bool {
		return t.sums[count+k+1]-t.sums[count]-int64(k+1)*(ask-1) > demand
	})
}
