package placement

import (
	"fmt"
	"maps"
	"slices"

	"github.com/schedlint/schedlint/lint/workload"
)

// checkRoomy shows for every member that others, and its own pods but one,
// cannot close all of its nodes, or those that the hint names.
func (v *verifier) checkRoomy(c *assertion) error {
	for _, m := range c.members {
		if m.pods == 0 {
			continue
		}
		if len(m.g.HardAffinity()) > 0 || m.g.Spec.NodeName != "" {
			return fmt.Errorf("%v needs more than an open node", m.g.Workload)
		}
		for _, part := range v.shares(m) {
			if closed := v.closed(m, part); closed >= len(part.nodes) {
				return fmt.Errorf("%v: %d of %d nodes may be closed", m.g.Workload, closed, len(part.nodes))
			}
		}
	}
	return nil
}

// reachable are the nodes on which pods of a group may ever be.
func (v *verifier) reachable(g *Group) []int {
	if len(v.running) == 0 {
		return v.sites(g)
	}
	list, known := v.reached[g]
	if !known {
		list = v.lasting(g, v.sites(g))
		v.reached[g] = list
	}
	return list
}

// part is nodes of which one has to stay open while so many own pods are there.
type part struct {
	// id is equal for equal nodes, or "".
	id    string
	nodes []int
	own   int
}

// shares are the nodes of a member: under one spread of its own pods those of
// each domain, as one at the minimum is never refused for skew.
func (v *verifier) shares(m member) []part {
	nodes, id := v.only(m), v.sited(m.g).name
	spreads := slices.DeleteFunc(slices.Clone(m.g.Terms), func(t *Term) bool { return !t.Hard || t.Use != Spread })
	if len(spreads) == 0 {
		if m.open != nil || m.node >= 0 || len(v.running) > 0 {
			id = ""
		}
		if m.open != nil {
			nodes = m.open
		}
		return []part{{id, v.lasting(m.g, nodes), m.pods - 1}}
	}
	t := spreads[0]
	domains := v.m.eligibleDomains(v.m.views[0], m.g, t)
	if len(spreads) > 1 || m.node >= 0 || !v.within(m.g) || len(domains) < t.MinDomains() || len(domains) == 0 {
		return []part{{}} // nothing is shown for that
	}
	share := (m.pods + len(domains) - 1) / len(domains)
	var all []part
	for _, value := range sortedKeys(domains) {
		p := part{own: share - 1, id: id + "|" + t.Key + "=" + value}
		if len(v.running) > 0 {
			p.id = ""
		}
		for _, n := range nodes {
			node := v.m.Topology.Nodes[n]
			if here, ok := node.Labels[t.Key]; ok && here == value && carries(node.Labels, hardKeys(m.g)) {
				p.nodes = append(p.nodes, n)
			}
		}
		p.nodes = v.lasting(m.g, p.nodes)
		all = append(all, p)
	}
	return all
}

// lasting are the nodes that running pods do not close for good.
func (v *verifier) lasting(g *Group, nodes []int) []int {
	if len(v.running) == 0 && len(hardKeys(g)) == 0 {
		return nodes
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(n int) bool { return v.blocked(g, n) })
}

// blocker is what pods of one workload can do to the nodes of another.
type blocker struct {
	g, of *Group
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
func (v *verifier) closed(m member, p part) int {
	nodes := p.nodes
	blockers := v.blockers(m, p.own)
	cramped, crampers, tight := v.cramped(m, nodes, p.own, blockers)
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
func (v *verifier) blockers(m member, own int) []blocker {
	var all []blocker
	for _, w := range v.rivals(m.g) {
		g := v.m.groups[w]
		b := blocker{g: g, of: m.g, pods: v.count(g)}
		if g == m.g {
			b.pods = own
		}
		for _, t := range m.g.Terms {
			if t.Hard && t.Use == AntiAffinity && slices.Contains(v.selects[t], w) {
				b.keys = append(b.keys, t.Key)
				if v.surely(t, m.g, g) {
					b.sure = append(b.sure, t.Key)
				}
			}
		}
		for _, a := range v.against[m.g.Workload] {
			if a.w == w {
				b.keys, b.sure = append(b.keys, a.key), append(b.sure, a.key)
			}
		}
		slices.Sort(b.keys)
		b.keys = slices.Compact(b.keys)
		if g == m.g && m.node >= 0 { // the others are on other nodes
			b.port, b.pods = false, v.beside(m, b.keys)
		}
		for _, p := range m.g.HostPorts {
			b.port = b.port || slices.ContainsFunc(g.HostPorts, p.Conflicts)
		}
		if b.pods > 0 && (b.port || len(b.keys) > 0) {
			all = append(all, b)
		}
	}
	return all
}

// rivals are the workloads that may keep a group out by a rule, each once.
func (v *verifier) rivals(g *Group) []*workload.Workload {
	seen := map[*workload.Workload]bool{}
	var all []*workload.Workload
	add := func(w *workload.Workload) {
		if o := v.m.groups[w]; !seen[w] && v.m.present(o) && !o.Running {
			seen[w] = true
			all = append(all, w)
		}
	}
	for _, t := range g.Terms {
		if t.Hard && t.Use == AntiAffinity {
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
			if v.portsClash(g, v.m.groups[w]) {
				add(w)
			}
		}
	}
	return all
}

// beside is how many pods of a DaemonSet are on other nodes in a domain of the
// member's node.
func (v *verifier) beside(m member, keys []string) int {
	count := 0
	for _, n := range v.sites(m.g) {
		if n != m.node && slices.ContainsFunc(keys, func(k string) bool { return sameDomain(v.m.Topology.Nodes[n], v.m.Topology.Nodes[m.node], k) }) {
			count++
		}
	}
	return count
}

func (v *verifier) count(g *Group) int {
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
	return slices.Contains(b.sure, key) || slices.ContainsFunc(b.of.Terms, func(t *Term) bool {
		return t.Hard && t.Use == AntiAffinity && t.Key == key && v.m.selects(t, b.of.Workload, b.g.Workload, asks{incoming: true, at: v.m.Topology.Nodes[at]})
	})
}

// overlapping counts the nodes that one pod of a blocker closes from where it
// is.
func (v *verifier) overlapping(b blocker, at int, own bool, nodes []int) int {
	here, closes := v.m.Topology.Nodes[at], 0
	for _, n := range nodes {
		if own && n == at || slices.ContainsFunc(b.keys, func(k string) bool {
			return sameDomain(here, v.m.Topology.Nodes[n], k) && v.closesFrom(b, k, at)
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
func (v *verifier) reaches(g *Group, in []bool) bool {
	return slices.ContainsFunc(v.reachable(g), func(n int) bool { return in[n] })
}

// cramped bounds how many of the nodes others can leave too little space on, and
// names them: on each they take at least what is free there less what a pod
// asks, and one unit more. Pods that close every node that they are on by a
// rule are charged for that already.
func (v *verifier) cramped(m member, nodes []int, own int, blockers []blocker) (int, []blocker, []bool) {
	if !v.contend {
		return 0, nil, nil
	}
	l := v.books()
	mine, width := l.asks(m.g), len(l.names)
	closed := 0
	all := make([]bool, len(v.on))
	crampers := map[*workload.Workload]blocker{}
	for r, ask := range mine {
		var need []int64
		var tight []int
		for _, n := range nodes {
			if ask > 0 && l.short(n, r) {
				need, tight = append(need, l.free[n*width+r]-ask+1), append(tight, n)
				all[n] = true
			}
		}
		if len(tight) == 0 {
			continue
		}
		demand := int64(0)
		for _, b := range v.askers(m, tight, nodes, own, r, blockers) {
			demand += l.asks(b.g)[r] * int64(b.pods)
			crampers[b.g.Workload] = b
		}
		slices.Sort(need)
		for _, t := range need {
			if demand < t {
				break
			}
			demand -= t
			closed++
		}
	}
	var list []blocker
	for _, w := range v.m.Workloads {
		if b, ok := crampers[w]; ok {
			list = append(list, b)
		}
	}
	return closed, list, all
}

// askers are those who may be on some of the tight nodes, ask for the resource,
// and do not close all of the nodes that they are on by a rule.
func (v *verifier) askers(m member, tight, nodes []int, own, r int, blockers []blocker) []blocker {
	l, in := v.books(), v.marked(tight)
	var all []blocker
	for _, w := range v.m.Workloads {
		g := v.m.groups[w]
		if !Modelled(g) || g.Running || l.asks(g)[r] == 0 || !v.reaches(g, in) {
			continue
		}
		b := blocker{g: g, pods: v.count(g)}
		if g == m.g && m.node < 0 {
			b.pods = own
		}
		rules := slices.ContainsFunc(blockers, func(o blocker) bool {
			return o.g == g && slices.ContainsFunc(o.sure, func(k string) bool {
				return !slices.ContainsFunc(nodes, func(n int) bool { return !carries(v.m.Topology.Nodes[n].Labels, []string{k}) })
			})
		})
		if b.pods > 0 && !rules {
			all = append(all, b)
		}
	}
	return all
}

// blocked reports whether running pods keep a group off a node for good: the
// filters refuse it before anything else is placed, and not for want of company
// or of pods elsewhere.
func (v *verifier) blocked(g *Group, n int) bool {
	switch v.refuses(g, n) {
	case Takes:
		return false
	case RefusedBySpread: // a node without one of the keys is never even counted
		return !carries(v.m.Topology.Nodes[n].Labels, hardKeys(g))
	case RefusedByAffinity:
		return v.repelled(g, v.m.Topology.Nodes[n])
	}
	return true
}
