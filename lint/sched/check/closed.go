package check

import (
	"maps"
	"slices"

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

// closed bounds how many of some nodes can be closed to a further pod.
func (v *verifier) closed(m certificate.Member, p part) int {
	nodes := p.nodes
	blockers := v.blockers(m, p.own)
	cramped, crampers, tight := v.overfilled(m, nodes, p.own, blockers)
	sum := v.ruled(p, blockers, len(nodes)-cramped) + cramped
	if sum < len(nodes) {
		return sum
	}
	// The other way round: every pod that can be in the way closes what it can at
	// most where it is, its own node included if it takes room there.
	once := 0
	for _, b := range blockers {
		if slices.ContainsFunc(crampers, func(o blocker) bool { return o.g == b.g }) {
			b.tight = tight
		}
		once += v.closing(b, nodes)
	}
	for _, b := range crampers {
		if !slices.ContainsFunc(blockers, func(o blocker) bool { return o.g == b.g }) {
			b.tight = tight
			once += v.closing(b, nodes)
		}
	}
	return min(sum, once)
}

// blockers are the workloads that close nodes to a member by a rule.
func (v *verifier) blockers(m certificate.Member, own int) []blocker {
	var all []blocker
	for _, w := range v.rivals(m.G) {
		g := v.m.Groups[w]
		b := blocker{g: g, of: m.G, pods: v.count(g)}
		if g == m.G {
			b.pods = own
		}
		for _, t := range m.G.Terms {
			if t.Hard && t.Use == model.AntiAffinity && slices.Contains(v.selects[t], w) {
				b.keys = append(b.keys, t.Key)
				if v.surely(t, m.G, g) {
					b.sure = append(b.sure, t.Key)
				}
			}
		}
		for _, a := range v.against[m.G.Workload] {
			if a.w == w {
				b.keys, b.sure = append(b.keys, a.key), append(b.sure, a.key)
			}
		}
		slices.Sort(b.keys)
		b.keys = slices.Compact(b.keys)
		if g == m.G && m.Node >= 0 { // the others are on other nodes
			b.port, b.pods = false, v.beside(m, b.keys)
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
func (v *verifier) rivals(g *model.Group) []*workload.Workload {
	seen := map[*workload.Workload]bool{}
	var all []*workload.Workload
	add := func(w *workload.Workload) {
		if o := v.m.Groups[w]; !seen[w] && v.m.Present(o) && !o.Running {
			seen[w] = true
			all = append(all, w)
		}
	}
	for _, t := range g.Terms {
		if t.Hard && t.Use == model.AntiAffinity {
			for _, w := range v.selects[t] {
				add(w)
			}
		}
	}
	for _, a := range v.against[g.Workload] {
		add(a.w)
	}
	if len(g.HostPorts) > 0 {
		for _, w := range v.m.Workloads {
			if v.portsClash(g, v.m.Groups[w]) {
				add(w)
			}
		}
	}
	return all
}

// beside is how many pods of a DaemonSet are on other nodes in a domain of the
// member's node.
func (v *verifier) beside(m certificate.Member, keys []string) int {
	count := 0
	for _, n := range v.sites(m.G) {
		if n != m.Node && slices.ContainsFunc(keys, func(k string) bool { return model.SameDomain(v.m.Topology.Nodes[n], v.m.Topology.Nodes[m.Node], k) }) {
			count++
		}
	}
	return count
}

func (v *verifier) count(g *model.Group) int {
	if g.Kind.PerNode() {
		return len(v.sites(g))
	}
	return g.Count.N
}

// ruled sums up what blockers close by rules: each pod the largest domain of
// each key, no domain twice, or what its pods close from where they may be, for
// those blockers of which that is less.
func (v *verifier) ruled(p part, blockers []blocker, wanted int) int {
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
	sizes := v.sizes(p, blockers)
	sum := func() int {
		closed := min(pooled[""], len(nodes))
		for k, list := range sizes {
			closed += greatest(list, pooled[k])
		}
		return closed
	}
	total := sum()
	for _, b := range blockers {
		if total < wanted {
			break
		}
		pool(b, -1)
		alone := v.closing(b, nodes)
		if less := apart + alone + sum(); less < total {
			total = less
			apart += alone
			continue
		}
		pool(b, 1)
	}
	return total
}

// sizes are how many of the nodes are in each domain of the blockers' keys, the
// largest first.
func (v *verifier) sizes(p part, blockers []blocker) map[string][]int {
	all := map[string][]int{}
	for _, b := range blockers {
		for _, k := range b.keys {
			if _, known := all[k]; !known {
				all[k] = v.sizesOf(p, k)
			}
		}
	}
	return all
}

func (v *verifier) sizesOf(p part, key string) []int {
	id := p.id + "|" + key
	if list, known := v.sized[id]; known && p.id != "" {
		return list
	}
	count := map[string]int{}
	for _, n := range p.nodes {
		if value, ok := v.m.Topology.Nodes[n].Labels[key]; ok {
			count[value]++
		}
	}
	list := slices.Sorted(maps.Values(count))
	slices.Reverse(list)
	if p.id != "" {
		v.sized[id] = list
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
func (v *verifier) closing(b blocker, nodes []int) int {
	in := v.marked(nodes)
	sizes := make([]map[string]int, len(b.keys))
	for i, k := range b.keys {
		sizes[i] = map[string]int{}
		for _, n := range nodes {
			if value, ok := v.m.Topology.Nodes[n].Labels[k]; ok {
				sizes[i][value]++
			}
		}
	}
	seen := map[string]bool{}
	var list []int
	for _, at := range v.reachable(b.g) {
		here := v.m.Topology.Nodes[at]
		id, closes, carried := "", 0, 0
		for i, k := range b.keys {
			value, ok := here.Labels[k]
			if id += "\x00"; ok && v.closesFrom(b, k, at) {
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
			closes = v.overlapping(b, at, own, nodes)
		}
		list = append(list, closes)
	}
	slices.Sort(list)
	slices.Reverse(list)
	return greatest(list, b.pods)
}

// closesFrom tells whether a pod of a blocker closes the domain of a key in which
// it is: a selector may ask for labels of its node.
func (v *verifier) closesFrom(b blocker, key string, at int) bool {
	return slices.Contains(b.sure, key) || slices.ContainsFunc(b.of.Terms, func(t *model.Term) bool {
		return t.Hard && t.Use == model.AntiAffinity && t.Key == key && v.m.Selects(t, b.of.Workload, b.g.Workload, model.Asks{Incoming: true, At: v.m.Topology.Nodes[at]})
	})
}

// overlapping counts the nodes that one pod of a blocker closes from where it
// is.
func (v *verifier) overlapping(b blocker, at int, own bool, nodes []int) int {
	here, closes := v.m.Topology.Nodes[at], 0
	for _, n := range nodes {
		if own && n == at || slices.ContainsFunc(b.keys, func(k string) bool {
			return model.SameDomain(here, v.m.Topology.Nodes[n], k) && v.closesFrom(b, k, at)
		}) {
			closes++
		}
	}
	return closes
}

func (v *verifier) marked(nodes []int) []bool {
	in := make([]bool, len(v.on))
	for _, n := range nodes {
		in[n] = true
	}
	return in
}

// reaches tells whether pods of a group may be on one of the marked nodes.
func (v *verifier) reaches(g *model.Group, in []bool) bool {
	return slices.ContainsFunc(v.reachable(g), func(n int) bool { return in[n] })
}
