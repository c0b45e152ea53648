package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// contention is a set of workloads that block each other in the domains of one key.
type contention struct {
	pods   []int    // of each workload
	may    [][]bool // which nodes a workload may use
	apart  [][]bool // which workloads, or pods of one workload, are never in one domain
	domain []int    // of each node; -1 for a node without a domain
}

// newContention returns workloads with at most the given number of pods, each of which may use some
// of the nodes. The caller sets the domains and the exclusions.
func (g generator) newContention(workloads, pods, nodes int) contention {
	c := contention{domain: make([]int, nodes)}
	for range workloads {
		may := make([]bool, nodes)
		for n := range may {
			may[n] = g.chance(70)
		}
		c.pods, c.may, c.apart = append(c.pods, 1+g.IntN(pods)), append(c.may, may), append(c.apart, make([]bool, workloads))
	}
	return c
}

// nodes returns the nodes of the contention. A label marks the workloads that may use each node.
func (c contention) nodes(key string, pods int) string {
	text := ""
	for n, d := range c.domain {
		var labels []string
		if d >= 0 {
			labels = append(labels, fmt.Sprintf("%s=d%d", key, d))
		}
		for i := range c.pods {
			labels = append(labels, fmt.Sprintf("w%d=%t", i, c.may[i][n]))
		}
		text += room(n, strings.Join(labels, ","), pods)
	}
	return text
}

// workloads returns the workloads of the contention. If key is not empty, one of any two workloads
// that are kept apart has an anti-affinity term on it.
func (c contention) workloads(key string) string {
	var b strings.Builder
	for u, pods := range c.pods {
		var terms []string
		for w := range u + 1 {
			if key != "" && c.apart[u][w] {
				terms = append(terms, term(key, sel(fmt.Sprintf("app=w%d", w))))
			}
		}
		b.WriteString(named(fmt.Sprintf("w%d", u), pods, ruled(terms, nil, nil)+fmt.Sprintf("nodeSelector: {w%d: \"true\"}\n", u)))
	}
	return b.String()
}

// keepApart sets whether pods of two workloads are kept apart.
func (c contention) keepApart(u, w int, is bool) { c.apart[u][w], c.apart[w][u] = is, is }

// getsStuck reports whether a pod of a workload can get stuck: every domain that the pod might use
// can hold a different pod that keeps it out. Those pods are in different domains, so they do not
// block each other.
func (c contention) getsStuck(u int) bool {
	var domains, blockers []int // the latter as the workload of each
	for n, d := range c.domain {
		if !c.may[u][n] {
			continue
		}
		if d < 0 {
			return false
		}
		if !slices.Contains(domains, d) {
			domains = append(domains, d)
		}
	}
	for w, pods := range c.pods {
		if w == u {
			pods-- // the one that stays unplaced
		}
		for range pods {
			if c.apart[u][w] {
				blockers = append(blockers, w)
			}
		}
	}
	return covered(len(domains), len(blockers), func(d, b int) bool {
		return slices.ContainsFunc(c.reach(blockers[b]), func(n int) bool { return c.domain[n] == domains[d] })
	})
}

// reach returns the nodes that a workload may use.
func (c contention) reach(w int) []int {
	var nodes []int
	for n, may := range c.may[w] {
		if may {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// covered reports whether a matching covers everything on the left. It looks for one augmenting
// path after another.
func covered(left, right int, joined func(l, r int) bool) bool {
	partner := slices.Repeat([]int{-1}, right)
	var seen []bool
	var augment func(l int) bool
	augment = func(l int) bool {
		for r := range right {
			if seen[r] || !joined(l, r) {
				continue
			}
			seen[r] = true
			if partner[r] < 0 || augment(partner[r]) {
				partner[r] = l
				return true
			}
		}
		return false
	}
	for l := range left {
		seen = make([]bool, right)
		if !augment(l) {
			return false
		}
	}
	return true
}

// matched is the claim that a workload can get stuck if and only if the matching exists for it.
func (c contention) matched(m *model.Model, _ truth, d *certificate.Decision) string {
	stuck := make([]bool, len(c.pods))
	finals(m, m.Workloads, func(counts [][]int) {
		for u, pods := range c.pods {
			stuck[u] = stuck[u] || sum(counts[u]) < pods
		}
	})
	for u, pods := range c.pods {
		if stuck[u] != c.getsStuck(u) {
			return fmt.Sprintf("w%d can get stuck: %t, but the matching says %t", u, stuck[u], c.getsStuck(u))
		}
		if of := d.Workloads[u]; stuck[u] != (of.MinPlaced < pods) {
			return fmt.Sprintf("w%d can get stuck: %t, but the engine places at least %d of %d", u, stuck[u], of.MinPlaced, pods)
		}
	}
	return ""
}

// TestPropertyOneSlot covers nodes with one slot each. A workload can get stuck if and only if the other
// pods can take all its nodes.
func TestPropertyOneSlot(t *testing.T) {
	count := hold(t, 200, 202, func(g generator) sample {
		c := g.newContention(2+g.IntN(3), 2, 3+g.IntN(3))
		for u := range c.pods {
			for w := range c.pods {
				c.apart[u][w] = true // by the slots, not by a term
			}
		}
		for n := range c.domain {
			c.domain[n] = n
		}
		return sample{c.nodes(hostKey, 1), c.workloads(""), c.matched}
	})
	count.vary(t, 5, diag.Always, diag.Sometimes, diag.Never)
}

// TestPropertyOneKey covers workloads that exclude each other on one key. The matching is the same,
// between domains and pods of the workloads that exclude the given one.
func TestPropertyOneKey(t *testing.T) {
	count := hold(t, 250, 208, func(g generator) sample {
		c := g.newContention(2+g.IntN(3), 2, 2+g.IntN(3))
		for u := range c.pods {
			for w := range u + 1 {
				c.keepApart(u, w, g.chance(60))
			}
		}
		for n := range c.domain {
			if c.domain[n] = g.IntN(4); g.chance(10) {
				c.domain[n] = -1
			}
		}
		return sample{c.nodes("rack", 10), c.workloads("rack"), c.matched}
	})
	count.vary(t, 5, diag.Always, diag.Sometimes, diag.Never)
}

// mixed returns two or three workloads that may have requests. Each workload may exclude itself and
// the others, each pair on its own key.
func (g generator) mixed(ask func() string) string {
	names := []string{"web", "db", "cache"}[:2+g.IntN(2)]
	text := ""
	for i, name := range names {
		var terms []string
		for _, other := range names[:i+1] {
			if g.chance(50) {
				terms = append(terms, term(g.pick(hostKey, zoneKey, "rack"), sel("app="+other)))
			}
		}
		text += named(name, 1+g.IntN(2), ruled(terms, nil, nil)+ask())
	}
	return text
}

// places returns nodes in random zones and racks with the given resources.
func (g generator) places(nodes int, offers func() string) string {
	text := ""
	for i := range nodes {
		text += sized(i, fmt.Sprintf("%s=n%d,%s=%d,rack=%d", hostKey, i, zoneKey, g.IntN(3), g.IntN(3)), offers())
	}
	return text
}

// certified compares proofs without search with the truth, and counts how many samples with an
// always verdict are proved.
type certified struct{ proved, always int }

func (c *certified) claim(m *model.Model, want truth, _ *certificate.Decision) string {
	if want.verdict() == diag.Always {
		c.always++
	}
	switch v := search.DecideWithoutSearch(m).Verdict; {
	case v != diag.Unknown && v != want.verdict():
		return "it is proved to be " + string(v)
	case v == diag.Always:
		c.proved++
	}
	return ""
}

// TestPropertyT6 covers several keys and two resources. Every certificate without search must be
// right.
func TestPropertyT6(t *testing.T) {
	var c certified
	count := hold(t, 400, 206, func(g generator) sample {
		nodes := g.places(1+g.IntN(4), func() string {
			return fmt.Sprintf("pods: \"10\", cpu: \"%d\", memory: \"%d\"", 3+g.IntN(4), 3+g.IntN(4))
		})
		return sample{nodes, g.mixed(func() string {
			return fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: \"%d\", memory: \"%d\"}}}]\n", g.IntN(3), 1+g.IntN(2))
		}), c.claim}
	})
	t.Logf("%d of %d certified", c.proved, c.always)
	if !trials.Few(t) && c.proved*3 < c.always {
		t.Errorf("only %d of %d are certified", c.proved, c.always)
	}
	count.vary(t, 5, diag.Always, diag.Sometimes, diag.Never)
}

// TestPropertyT9 covers several keys only. Counting the domains that other pods can close must be
// sound and miss little.
func TestPropertyT9(t *testing.T) {
	var c certified
	count := hold(t, 250, 209, func(g generator) sample {
		nodes := g.places(3+g.IntN(3), func() string { return "pods: \"10\"" })
		return sample{nodes, g.mixed(func() string { return "" }), c.claim}
	})
	t.Logf("%d of %d missed", c.always-c.proved, c.always)
	if missed := c.always - c.proved; (missed-slack)*20 > c.always {
		t.Errorf("%d of %d are missed", c.always-c.proved, c.always)
	}
	count.vary(t, 5, diag.Always, diag.Sometimes, diag.Never)
}
