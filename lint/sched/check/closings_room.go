package check

import (
	"math"
	"slices"
	"sort"

	"github.com/schedlint/schedlint/lint/sched/certificate"
)

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
