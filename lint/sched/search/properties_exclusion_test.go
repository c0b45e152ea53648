package search_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// exclusive is a set of three workloads of which no two share a node. It holds the slots that each
// node has for each workload, and the number of pods of each.
type exclusive struct {
	slots [][3]int
	want  [3]int
}

// assignable tries every way to assign each of the nodes from n on to one workload.
func (e exclusive) assignable(n int, left [3]int) bool {
	if left[0] <= 0 && left[1] <= 0 && left[2] <= 0 {
		return true
	}
	if n == len(e.slots) {
		return false
	}
	for w := range left {
		rest := left
		rest[w] -= e.slots[n][w]
		if e.assignable(n+1, rest) {
			return true
		}
	}
	return false
}

// outweighed reports whether some weights refute the placement: the pods outweigh the nodes even if
// every node goes to the workload whose pods weigh the most there.
func (e exclusive) outweighed() bool {
	for x := range 64 {
		weight := [3]int{x % 4, x / 4 % 4, x / 16}
		supply, demand := 0, 0
		for w, pods := range e.want {
			demand += weight[w] * pods
		}
		for _, slots := range e.slots {
			supply += max(weight[0]*slots[0], weight[1]*slots[1], weight[2]*slots[2])
		}
		if supply < demand {
			return true
		}
	}
	return false
}

// newExclusive gives the workloads different requests and the nodes different resources, so that
// each node has a different number of slots for each workload.
func (g generator) newExclusive() (e exclusive, nodes, manifests string) {
	var asks [3]int
	for w := range asks {
		asks[w], e.want[w] = 1+g.IntN(3), 1+g.IntN(1+g.IntN(3))
		var terms []string
		for o := range w {
			terms = append(terms, term(hostKey, sel(fmt.Sprintf("app=w%d", o))))
		}
		spec := ruled(terms, nil, nil) + fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: \"%d\"}}}]\n", asks[w])
		manifests += named(fmt.Sprintf("w%d", w), e.want[w], spec)
	}
	for n := range 3 + g.IntN(3) {
		cpu, pods := 1+g.IntN(6), 1+g.IntN(4)
		var slots [3]int
		for w := range slots {
			slots[w] = min(pods, cpu/asks[w])
		}
		e.slots = append(e.slots, slots)
		nodes += sized(n, fmt.Sprintf("%s=n%d", hostKey, n), fmt.Sprintf("cpu: \"%d\", pods: \"%d\"", cpu, pods))
	}
	return e, nodes, manifests
}

// TestPropertyMutualExclusion covers three workloads that all exclude each other, on nodes with
// different numbers of slots for each. All pods can be placed if and only if the nodes can be
// divided among the workloads, and weights that refute this must be right.
func TestPropertyMutualExclusion(t *testing.T) {
	refuted := 0
	count := hold(t, 250, 301, func(g generator) sample {
		e, nodes, manifests := g.newExclusive()
		return sample{nodes, manifests, func(_ *model.Model, want truth, _ *certificate.Decision) string {
			shared := e.assignable(0, e.want)
			if want.complete != shared {
				return fmt.Sprintf("the nodes can be shared out: %t", shared)
			}
			if e.outweighed() {
				refuted++
			}
			if shared && e.outweighed() {
				return "weights refute what can be shared out"
			}
			return ""
		}}
	})
	t.Logf("weights up to 3 refute %d of %d", refuted, count[diag.Never])
	if !trials.Few(t) && refuted*2 < count[diag.Never] {
		t.Errorf("weights refute only %d of %d", refuted, count[diag.Never])
	}
	count.vary(t, 5, diag.Always, diag.Sometimes, diag.Never)
}

// graph returns a contention of one-pod workloads on nodes that are each one domain. Any two of the
// workloads are kept apart with the given probability.
func (g generator) graph(workloads, nodes, percent int) contention {
	c := contention{domain: make([]int, nodes)}
	for n := range nodes {
		c.domain[n] = n
	}
	for range workloads {
		may := make([]bool, nodes)
		for n := range may {
			may[n] = true
		}
		c.pods, c.may, c.apart = append(c.pods, 1), append(c.may, may), append(c.apart, make([]bool, workloads))
	}
	for u := range workloads {
		for w := range u {
			c.keepApart(u, w, g.chance(percent))
		}
	}
	return c
}

// colourable reports whether the workloads that have no color yet can be colored so that no two
// workloads that are kept apart have the same color.
func (c contention) colourable(colours []int) bool {
	u := len(colours)
	if u == len(c.pods) {
		return true
	}
	for colour := range c.domain {
		free := true
		for w, has := range colours {
			free = free && !(has == colour && c.apart[u][w])
		}
		if free && c.colourable(append(colours, colour)) {
			return true
		}
	}
	return false
}

// TestPropertyColouring covers workloads of one pod. The nodes are colors, so all pods can be
// placed if and only if the conflict graph can be colored.
func TestPropertyColouring(t *testing.T) {
	count := hold(t, 200, 302, func(g generator) sample {
		c := g.graph(3+g.IntN(3), 2+g.IntN(2), 60)
		return sample{c.nodes(hostKey, 10), c.workloads(hostKey), func(m *model.Model, want truth, d *certificate.Decision) string {
			if want.complete != c.colourable(nil) {
				return fmt.Sprintf("the conflicts can be coloured: %t", c.colourable(nil))
			}
			return c.matched(m, want, d)
		}}
	})
	count.vary(t, 5, diag.Always, diag.Sometimes, diag.Never)
}

// TestPropertyLargeColouring covers graphs that are too large to enumerate. Coloring and the
// matching for each workload together give the verdict.
func TestPropertyLargeColouring(t *testing.T) {
	count := verdicts{}
	for _, size := range []struct{ workloads, percent int }{{9, 25}, {10, 35}, {11, 65}, {14, 80}} {
		for seed := range 4 {
			g := generator{rand.New(rand.NewPCG(uint64(seed), uint64(303+size.workloads)))}
			c := g.graph(size.workloads, 3, size.percent)
			m, _ := modelOf(t, c.nodes(hostKey, 100), c.workloads(hostKey))
			want := c.verdict()
			count[want]++
			if d := search.Decide(m, search.Options{}); d.Verdict != want {
				t.Errorf("%d workloads, seed %d: %s, want %s\n%s", size.workloads, seed, d.Verdict, want, c.workloads(hostKey))
			}
		}
	}
	t.Log(count)
	count.vary(t, 10, diag.Sometimes, diag.Never)
}

// verdict returns the verdict on one-pod workloads that have no rules except their conflicts.
func (c contention) verdict() diag.Outcome {
	if !c.colourable(nil) {
		return diag.Never
	}
	for u := range c.pods {
		if c.getsStuck(u) {
			return diag.Sometimes
		}
	}
	return diag.Always
}
