package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// shares counts the samples of a shape, and how many of them proofs alone decide, and decide
// exactly.
type shares struct{ all, decided, exact int }

// proved is the claim that proofs without search are right: the verdict if there is one, the
// numbers if they are marked exact, and otherwise the bounds.
func (s *shares) proved(m *model.Model, want truth, _ *certificate.Decision) string {
	s.all++
	d := search.DecideWithoutSearch(m)
	if d.Verdict != diag.Unknown {
		s.decided++
		if d.Verdict != want.verdict() {
			return "it is proved to be " + string(d.Verdict)
		}
	}
	if d.MaxPlaced < want.most || d.MinPlaced > want.least {
		return fmt.Sprintf("bounds are %d and %d", d.MinPlaced, d.MaxPlaced)
	}
	if !d.Exact {
		return ""
	}
	s.exact++
	if d.MaxPlaced != want.most || d.MinPlaced != want.least {
		return fmt.Sprintf("numbers are %d and %d", d.MinPlaced, d.MaxPlaced)
	}
	return s.each(m, d)
}

// each is the claim of proved for every single workload.
func (s *shares) each(m *model.Model, d *certificate.Decision) string {
	most, least := make([]int, len(m.Workloads)), make([]int, len(m.Workloads))
	for i, w := range m.Workloads {
		least[i] = w.Count.N
	}
	finals(m, m.Workloads, func(counts [][]int) {
		for i := range counts {
			most[i], least[i] = max(most[i], sum(counts[i])), min(least[i], sum(counts[i]))
		}
	})
	for i, of := range d.Workloads {
		if of.MaxPlaced != most[i] || of.MinPlaced != least[i] {
			return fmt.Sprintf("%s has %d to %d, not %d to %d", of.Workload, least[i], most[i], of.MinPlaced, of.MaxPlaced)
		}
	}
	return ""
}

// demand requires the given percentages of decided and of exact samples.
func (s *shares) demand(t *testing.T, decided, exact int) {
	t.Helper()
	if trials.Few(t) {
		return
	}
	t.Logf("without search %d of %d are decided, %d exactly", s.decided, s.all, s.exact)
	if !enough(s.decided, s.all, decided) || !enough(s.exact, s.all, exact) {
		t.Errorf("too few")
	}
}

// contending returns a contention in which any two workloads exclude each other on one
// key with the given probability.
func (g generator) contending(conflicts int) contention {
	c := g.newContention(2+g.IntN(3), 2, 2+g.IntN(4))
	for u := range c.pods {
		for w := range u + 1 {
			c.keepApart(u, w, g.chance(conflicts))
		}
	}
	for n := range c.domain {
		if c.domain[n] = g.IntN(5); g.chance(10) {
			c.domain[n] = -1
		}
	}
	return c
}

// TestProofsOfOneKey covers workloads that exclude each other on one key.
func TestProofsOfOneKey(t *testing.T) {
	var s shares
	count := hold(t, 250, 401, func(g generator) sample {
		c := g.contending(60)
		return sample{c.nodes("rack", 10), c.workloads("rack"), s.proved}
	})
	s.demand(t, 95, 20)
	count.vary(t, 5, diag.Always, diag.Sometimes, diag.Never)
}

// TestProofsOfOneSlot covers nodes with space for one pod, or for all pods, and workloads that
// exclude each other by host or by port.
func TestProofsOfOneSlot(t *testing.T) {
	var s shares
	count := hold(t, 250, 402, func(g generator) sample {
		c := g.contending(40)
		nodes := ""
		for n := range c.domain {
			c.domain[n] = n
		}
		for n := range c.domain {
			one := contention{c.pods, c.may, c.apart, []int{n}}
			text := one.nodes(hostKey, 1+9*g.IntN(2))
			nodes += strings.Replace(text, "name: n0", fmt.Sprintf("name: n%d", n), 1)
			for u := range c.pods {
				nodes = strings.Replace(nodes, fmt.Sprintf("w%d: \"%t\"", u, c.may[u][0]), fmt.Sprintf("w%d: \"%t\"", u, c.may[u][n]), 1)
			}
		}
		key, port := hostKey, ""
		switch g.IntN(3) {
		case 0:
			key = ""
		case 1:
			port = "containers: [{name: c, image: c, ports: [{containerPort: 80, hostPort: 80}]}]\n"
		}
		manifests := c.workloads(key)
		if port != "" {
			manifests = strings.Replace(manifests, "containers: [{name: c, image: c}]\n", strings.TrimLeft(port, " "), 2)
		}
		return sample{nodes, manifests, s.proved}
	})
	s.demand(t, 85, 25)
	count.vary(t, 5, diag.Always, diag.Sometimes, diag.Never)
}

// TestProofsOfOneSidedRules covers terms that apply only to pods already placed. Their namespace
// selector matches every namespace while their own pod is being scheduled, but does not match the
// namespace of the other pods afterwards (R-A2).
func TestProofsOfOneSidedRules(t *testing.T) {
	var s shares
	count := hold(t, 250, 403, func(g generator) sample {
		c := g.contending(70)
		sided := g.IntN(len(c.pods))
		text := strings.ReplaceAll(c.workloads("rack"), fmt.Sprintf("labelSelector: {matchLabels: {app: \"w%d\"}}", sided),
			fmt.Sprintf("labelSelector: {matchLabels: {app: \"w%d\"}}, namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [d]}]}", sided))
		return sample{c.nodes("rack", 10), text, s.proved}
	})
	s.demand(t, 90, 15)
	count.vary(t, 5, diag.Always, diag.Sometimes, diag.Never)
}

// TestProofsOfColouring covers workloads of one pod each.
func TestProofsOfColouring(t *testing.T) {
	var s shares
	count := hold(t, 200, 404, func(g generator) sample {
		c := g.graph(3+g.IntN(4), 2+g.IntN(2), 30+g.IntN(50))
		return sample{c.nodes(hostKey, 10), c.workloads(hostKey), s.proved}
	})
	s.demand(t, 95, 20)
	count.vary(t, 5, diag.Always, diag.Sometimes, diag.Never)
}

// TestProofsOfSharedNodes covers three workloads that all exclude each other, on nodes with
// different numbers of slots for each workload.
func TestProofsOfSharedNodes(t *testing.T) {
	var s shares
	hold(t, 250, 405, func(g generator) sample {
		_, nodes, manifests := g.newExclusive()
		return sample{nodes, manifests, s.proved}
	})
	s.demand(t, 70, 25)
}

// TestProofsOfRequests covers workloads that only request resources.
func TestProofsOfRequests(t *testing.T) {
	var s shares
	count := hold(t, 250, 406, func(g generator) sample {
		c := g.newContention(2+g.IntN(2), 3, 2+g.IntN(2))
		for n := range c.domain {
			c.domain[n] = n
		}
		text := c.workloads("")
		for range c.pods {
			text = strings.Replace(text, "containers: [{name: c, image: c}]\n", fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: \"%d\"}}}]\n", 1+g.IntN(3)), 1)
		}
		return sample{strings.ReplaceAll(c.nodes(hostKey, 3), "pods:", fmt.Sprintf("cpu: \"%d\", pods:", 2+g.IntN(5))), text, s.proved}
	})
	s.demand(t, 80, 20)
	count.vary(t, 5, diag.Always, diag.Sometimes, diag.Never)
}

// TestOnePodClosesOnce covers two workloads that exclude each other by zone and by rack. A pod
// closes nodes on both keys at once, but not a zone in one place and a rack in another.
func TestOnePodClosesOnce(t *testing.T) {
	nodes := ""
	for i, at := range [][2]int{{1, 2}, {1, 1}, {2, 0}} {
		nodes += room(i, fmt.Sprintf("%s=%d,rack=%d", zoneKey, at[0], at[1]), 10)
	}
	web := sel("app=web")
	manifests := named("web", 1, "") + named("db", 1, anti(term(zoneKey, web), term("rack", web)))
	m, _ := modelOf(t, nodes, manifests)
	if d := search.DecideWithoutSearch(m); d.Verdict != diag.Always || !d.Exact {
		t.Errorf("%s, exact %t", d.Verdict, d.Exact)
	}
}

// TestFewOfMany covers seven workloads that exclude each other. Four of them have only three nodes.
func TestFewOfMany(t *testing.T) {
	nodes, manifests := "", ""
	for i := range 60 {
		nodes += room(i, fmt.Sprintf("%s=n%d,pool=%c", hostKey, i, "aaab"[min(i, 3)]), 2)
	}
	for i := range 7 {
		rule := ruled([]string{term(hostKey, fmt.Sprintf(", labelSelector: {matchExpressions: [{key: app, operator: NotIn, values: [w%d]}]}", i))}, nil, []string{strings.Replace(tsc(hostKey, sel(fmt.Sprintf("app=w%d", i)), ""), "maxSkew: 1", "maxSkew: 5", 1)})
		manifests += named(fmt.Sprintf("w%d", i), 1, fmt.Sprintf("nodeSelector: {pool: %c}\n", "aaaabbb"[i])+rule)
	}
	m, _ := modelOf(t, nodes, manifests)
	if d := search.DecideWithoutSearch(m); d.Verdict != diag.Never || d.MaxPlaced != 6 {
		t.Errorf("%s, at most %d", d.Verdict, d.MaxPlaced)
	}
}

// TestWheel covers a cycle of five workloads and a sixth that excludes them all. Three nodes are
// not enough, and six more workloads do not change that.
func TestWheel(t *testing.T) {
	c := generator{rand.New(rand.NewPCG(1, 1))}.graph(12, 3, 0)
	for u := 1; u <= 5; u++ {
		c.keepApart(u, u%5+1, true)
	}
	for u := range 12 {
		c.keepApart(0, u, u > 0)
	}
	m, _ := modelOf(t, c.nodes(hostKey, 100), c.workloads(hostKey))
	if d := search.Decide(m, search.Options{}); d.Verdict != diag.Never || d.MaxPlaced != 11 || !d.Exact {
		t.Errorf("%s, %d to %d, exact %t", d.Verdict, d.MinPlaced, d.MaxPlaced, d.Exact)
	}
}

// TestGraphs covers conflict graphs around the density at which three nodes stop being enough.
// The search must decide all of them.
func TestGraphs(t *testing.T) {
	t.Parallel()
	count := verdicts{}
	exact := 0
	for percent := 22; percent <= 36; percent += 2 {
		for seed := range trials.AtLeast(t, 8, 1) {
			g := generator{rand.New(rand.NewPCG(uint64(seed), uint64(900+percent)))}
			c := g.graph(14, 3, percent)
			m, _ := modelOf(t, c.nodes(hostKey, 100), c.workloads(hostKey))
			d, want := search.Decide(m, search.Options{}), c.verdict()
			if count[want]++; d.Verdict != want {
				t.Errorf("%d %%, seed %d: %s, want %s", percent, seed, d.Verdict, want)
			}
			if d.Exact {
				exact++
			}
		}
	}
	t.Logf("%v, %d exactly", count, exact)
	count.vary(t, 10, diag.Sometimes, diag.Never)
}

// TestOverlap covers workloads that share nodes with one slot each. 21 pods may use only 20 of the
// nodes, although each workload can be placed alone and there are enough nodes in total.
func TestOverlap(t *testing.T) {
	nodes, manifests := "", ""
	for n := range 60 {
		nodes += room(n, fmt.Sprintf("a=%t,b=%t,c=%t,d=true", n < 14, n >= 6 && n < 20, n%2 == 0 && n < 20), 1)
	}
	for i, pods := range []int{8, 8, 5, 30} {
		manifests += named(fmt.Sprintf("w%d", i), pods, fmt.Sprintf("nodeSelector: {%c: \"true\"}\n", 'a'+i))
	}
	m, _ := modelOf(t, nodes, manifests)
	if d := search.Decide(m, search.Options{}); d.Verdict != diag.Never || d.MaxPlaced != 50 {
		t.Errorf("%s, at most %d of %d", d.Verdict, d.MaxPlaced, d.Total)
	}
}

// TestWeights covers seven workloads that exclude each other by host, on nodes that hold several
// pods of some workloads and fewer of others.
func TestWeights(t *testing.T) {
	nodes, manifests := "", ""
	for n := range 60 {
		nodes += sized(n, fmt.Sprintf("%s=n%d", hostKey, n), fmt.Sprintf("pods: \"10\", cpu: \"%d\"", 2+n%2*2))
	}
	for w := range 7 {
		var terms []string
		for o := range w {
			terms = append(terms, term(hostKey, sel(fmt.Sprintf("app=w%d", o))))
		}
		manifests += named(fmt.Sprintf("w%d", w), 14, ruled(terms, nil, nil)+fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: \"%d\"}}}]\n", 1+w%2*3))
	}
	m, _ := modelOf(t, nodes, manifests)
	if d := search.Decide(m, search.Options{}); d.Verdict != diag.Never {
		t.Errorf("%s, at most %d of %d", d.Verdict, d.MaxPlaced, d.Total)
	}
}
