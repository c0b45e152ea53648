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

// blocker describes how one workload's pods can block nodes, which means making the nodes reject
// another workload's pods.
type blocker struct {
	g, of *model.Group
	// pods is the number of pods in g. keys lists the topology keys for which a pod of g blocks
	// its domain. sure lists the keys for which it does so on any node. port is set if the pods
	// block their node with a host port.
	pods       int
	keys, sure []string
	port       bool
	// tight marks the nodes that the pods can block by using up resources.
	tight []bool
}

// closings computes upper bounds on how many of a member's nodes other pods can block.
type closings struct {
	*demand
	sized map[string][]int // by part and key
	tight map[tightKey]*tight
	// costs caches the cost of filling a node, by what it depends on (see covering).
	costs map[string]int64
}

// summed returns an upper bound on how many nodes in a part can be blocked for a member's next
// pod. It adds up the nodes blocked by rules, by the member's own spread constraints and by lack
// of resources.
func (c *closings) summed(m certificate.Member, p part) int {
	p.more = m.Pods > c.coming(m.G)
	skewed := c.skewed(p)
	if skewed >= len(p.nodes) {
		return skewed
	}
	blockers := c.blockers(m, p.own)
	enough := len(p.nodes) - skewed - c.ruled(p, blockers, len(p.nodes)-skewed)
	cramped := c.overfilled(m, p, blockers, enough) + skewed
	return c.ruled(p, blockers, len(p.nodes)-cramped) + cramped
}

// closed returns summed if that leaves a node available. Otherwise it also adds up the nodes pod by
// pod, and returns the smaller sum. In the second sum, each blocking pod counts the most nodes that
// it can block from one node. If the pod uses up resources, this includes the node that it is on.
func (c *closings) closed(m certificate.Member, p part) int {
	p.more = m.Pods > c.coming(m.G)
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

// skewed returns an upper bound on how many nodes a member's own pods block through its spread
// constraints. A domain is blocked only once it has as many of the member's pods as the maximum
// skew (T22).
func (c *closings) skewed(p part) int {
	closed := 0
	for _, t := range p.skews {
		closed += greatest(c.sizesOf(p, t.Key), p.own/int(t.Constraint.MaxSkew))
	}
	return closed
}

// blockers returns the workloads with a rule by which their pods block nodes for a member.
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
		if g == m.G && m.Node >= 0 { // the group's other pods are on other nodes
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

// keptOut returns two lists. The first has the workloads whose rules keep a group out of domains.
// The second has the workloads that may have to stay apart from the group. Only the cluster knows
// the facts that decide this (T21).
func (c *closings) keptOut(g *model.Group) [2][]against {
	return [2][]against{c.against[g.Workload], c.doubted[g.Workload]}
}

// rivals returns the workloads that may keep a group off a node because of a rule or a host port,
// without duplicates.
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

// maxPasses is the maximum number of passes that ruled makes over the remaining blockers.
const maxPasses = 4

// ruled returns an upper bound on how many nodes the blockers block by rules. It assumes that, for
// each key, all blocking pods are in different domains, and that these are the largest domains. The
// method closing may give a smaller bound for a blocker, based on the nodes that its pods may be
// on. ruled then uses that bound.
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
	sizes := map[string][]int{} // the domain sizes of each key
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
	// While many blockers are in the sum, removing one of them may make no difference. So each
	// blocker is tried again after another one has been removed.
	alone := slices.Repeat([]int{-1}, len(blockers)) // result of closing, or -1 if unknown
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

// sizesOf returns how many of the part's nodes are in each domain of a key, in descending order.
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

// greatest returns the sum of the first n numbers in a descending list.
func greatest(list []int, n int) int {
	sum := 0
	for _, x := range list[:min(n, len(list))] {
		sum += x
	}
	return sum
}

// closing returns how many nodes one blocker's pods block when each pod is where it blocks the
// most nodes, counting all keys and its port. No two pods use the same combination of domains.
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
		if carried > 1 || carried > 0 && own { // the domains may overlap
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

// closesFrom reports whether a blocker's pod on the given node blocks the node's domain of a key.
// The answer depends on the node if a selector asks for node labels.
func (c *closings) closesFrom(b blocker, key string, at int) bool {
	return slices.Contains(b.sure, key) || slices.ContainsFunc(b.of.Terms, func(t *model.Term) bool {
		return t.Hard && t.Use == model.AntiAffinity && t.Key == key && c.m.Selects(t, b.of.Workload, b.g.Workload, model.Asks{Incoming: true, At: c.m.Topology.Nodes[at]})
	})
}

// tightKey identifies the nodes in a part that may run short of one resource.
type tightKey struct {
	part     string
	resource int
}

// tight holds the nodes that may run short of a resource. free lists, in ascending order, how much
// of the resource these nodes have left after the pods that can be nowhere else. sums[n] is the sum
// of the first n amounts, counting negative ones as 0. wanted is the total request of all other
// pods that may use these nodes.
type tight struct {
	nodes      []int
	in         []bool
	free, sums []int64
	wanted     int64
}

// overfilled returns an upper bound on how many nodes other pods can leave with too little of a
// resource for the member's pod. To block a node in this way, other pods must use more than the
// node's free amount minus the pod's request. Pods that block each of their nodes by a rule are
// counted elsewhere. It does not look for a lower bound than one below enough.
func (c *closings) overfilled(m certificate.Member, p part, blockers []blocker, enough int) int {
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
		if stays(m.G) {
			ask = 0 // what is left no longer includes its request
		}
		closed += t.closed(t.wanted-c.exempt(m, p, t, r, blockers), ask)
	}
	for _, meant := range []bool{true, false} {
		for _, prices := range m.Prices {
			if meant == (prices.Own == p.own && prices.Nodes == len(p.nodes)) && closed >= enough {
				closed = min(closed, c.filled(m, p, blockers, prices))
			}
		}
	}
	return closed
}

// tightOf returns the nodes in a part that may run short of a resource, cached by part.
func (c *closings) tightOf(p part, r int) *tight {
	id := tightKey{p.id, r}
	if p.more && p.id != "" {
		id.part += "\x00more"
	}
	if known := c.tight[id]; known != nil && p.id != "" {
		return known
	}
	l := c.ledger()
	width := len(l.names)
	t := &tight{sums: []int64{0}}
	for _, n := range p.nodes {
		if p.more || l.short(n, r) {
			t.nodes, t.free = append(t.nodes, n), append(t.free, l.free[n*width+r]-l.kept[n*width+r])
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
			case some.groups[r] == 0 || some.stays:
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

// added returns sum + ask*pods, or math.MaxInt64 if that overflows.
func added(sum, ask int64, pods int) int64 {
	if ask > 0 && int64(pods) > (math.MaxInt64-sum)/ask {
		return math.MaxInt64
	}
	return sum + ask*int64(pods)
}

// exempt returns the part of the demand on tight nodes that must not count toward blocking the
// member: the requests of the member's own later pods, and of pods that block all their nodes by a
// rule.
func (c *closings) exempt(m certificate.Member, p part, t *tight, r int, blockers []blocker) int64 {
	l := c.ledger()
	sum := int64(0)
	own := !stays(m.G) && c.comes(m.G) && c.reaches(m.G, t.in)
	for _, b := range blockers {
		if stays(b.g) || !c.comes(b.g) || !c.rules(b, p) || !c.reaches(b.g, t.in) {
			continue
		}
		sum += l.asks(b.g)[r] * int64(c.coming(b.g))
		own = own && b.g != m.G
	}
	if own {
		sum += l.asks(m.G)[r] * int64(c.coming(m.G)-p.own)
	}
	return sum
}

// rules reports whether each of a blocker's pods blocks its own node by a rule. This must hold on
// every node in the part.
func (c *closings) rules(b blocker, p part) bool {
	return slices.ContainsFunc(b.sure, func(k string) bool {
		covered := 0
		for _, size := range c.sizesOf(p, k) {
			covered += size
		}
		return covered == len(p.nodes)
	})
}

// overcommitters returns the workloads that, on some node in a part, may use up a resource that the
// member requests. It omits workloads that block all their nodes by a rule. It also marks the nodes
// that may run short.
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

// closed returns the largest number of nodes on which a given total demand can leave less than one
// pod requests. Nodes that already have less count first, followed by those with the smallest free
// amounts.
func (t *tight) closed(demand, ask int64) int {
	count := 0
	for count < len(t.free) && t.free[count] < ask {
		count++
	}
	return count + sort.Search(len(t.free)-count, func(k int) bool {
		return t.sums[count+k+1]-t.sums[count]-int64(k+1)*(ask-1) > demand
	})
}
