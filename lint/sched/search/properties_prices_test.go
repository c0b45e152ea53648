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
	"github.com/schedlint/schedlint/lint/workload"
)

// filling returns a few nodes and workloads that contend for two resources. Some have a DaemonSet
// beside them, some keep their pods apart or spread them over zones.
func (g generator) filling() (nodes, manifests string) {
	for i := range 2 + g.IntN(2) {
		nodes += sized(i, fmt.Sprintf("%s=z%d", zoneKey, i%2), fmt.Sprintf("pods: \"%d\", cpu: \"%d\", memory: \"%d\"", 3+g.IntN(4), 3+g.IntN(4), 3+g.IntN(4)))
	}
	ask := func() string {
		return fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: \"%d\", memory: \"%d\"}}}]\n", g.IntN(4), g.IntN(4))
	}
	for i := range 2 + g.IntN(2) {
		name, rules := fmt.Sprintf("w%d", i), ""
		switch g.IntN(6) {
		case 0:
			rules = ruled([]string{term(hostKey, sel("app="+name))}, nil, nil)
		case 1:
			rules = ruled(nil, nil, []string{tsc(zoneKey, sel("app="+name), "")})
		}
		manifests += named(name, 1+g.IntN(3), rules+ask())
	}
	if g.chance(50) {
		manifests += strings.Replace(strings.Replace(named("agent", 1, ask()), "kind: Deployment", "kind: DaemonSet", 1), "  replicas: 1\n", "", 1)
	}
	return nodes, manifests
}

// span holds how few and how many pods of a workload a maximal state places.
type span struct{ least, most int }

// uneven returns zones of one or two nodes, a workload with a spread over them, and others that
// contend with it for CPU.
func (g generator) uneven() (nodes, manifests string) {
	zones := 2 + g.IntN(2)
	for i := range zones + g.IntN(2) {
		nodes += sized(i, fmt.Sprintf("%s=z%d", zoneKey, i%zones), fmt.Sprintf("pods: \"9\", cpu: \"%d\"", 2+g.IntN(4)))
	}
	for i := range 2 + g.IntN(2) {
		name, rules := fmt.Sprintf("w%d", i), ""
		if i == 0 || g.chance(30) {
			rules = ruled(nil, nil, []string{tsc(zoneKey, sel("app="+name), "")})
		}
		manifests += named(name, 1+g.IntN(4), rules+fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: \"%d\"}}}]\n", 1+g.IntN(2)))
	}
	return nodes, manifests
}

// TestPropertyT24 compares workloads that contend for two resources with all runs.
func TestPropertyT24(t *testing.T) {
	compareEach(t, 600, 224, generator.filling, diag.Always, diag.Sometimes, diag.Never)
}

// TestPropertyT22 compares workloads that spread over zones with all runs.
func TestPropertyT22(t *testing.T) {
	compareEach(t, 600, 226, generator.uneven, diag.Always, diag.Sometimes)
}

// compareEach decides workloads without a search and compares each of them with all runs. It also
// claims of workloads that may get stuck that they never do, by random prices. The
// checker must accept none.
func compareEach(t *testing.T, tries int, salt uint64, random func(generator) (nodes, manifests string), vary ...diag.Outcome) {
	known, coarse, all, claims := 0, 0, 0, 0
	count := verdicts{}
	for seed := range trials.Seeds(t, trials.AtLeast(t, tries, 50)) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), salt))}
		nodes, manifests := random(g)
		m, _ := modelOf(t, nodes, manifests)
		spans := map[*workload.Workload]span{}
		if _, ok := enumerateEach(m, 20000, func(placed map[*workload.Workload]int) {
			widen(spans, placed)
		}); !ok {
			continue
		}
		for _, w := range search.DecideCoarsely(m).Workloads {
			s := spans[w.Workload]
			if w.Verdict != diag.Unknown && w.Verdict != s.verdict(w.Pods) || w.MinPlaced > s.least || w.MaxPlaced < s.most {
				t.Fatalf("seed %d, coarsely: %v is %s, %d to %d of %d, but it is %d to %d\n%s%s", seed, w.Workload, w.Verdict, w.MinPlaced, w.MaxPlaced, w.Pods, s.least, s.most, nodes, manifests)
			}
			if w.Verdict != diag.Unknown {
				coarse++
			}
		}
		d := search.DecideWithoutSearch(m)
		for _, w := range d.Workloads {
			s := spans[w.Workload]
			want := s.verdict(w.Pods)
			count[want]++
			if w.Verdict != diag.Unknown && w.Verdict != want || w.MinPlaced > s.least || w.MaxPlaced < s.most {
				t.Fatalf("seed %d: %v is %s, %d to %d of %d, but it is %s, %d to %d\n%s%s", seed, w.Workload, w.Verdict, w.MinPlaced, w.MaxPlaced, w.Pods, want, s.least, s.most, nodes, manifests)
			}
			if all++; w.Verdict != diag.Unknown {
				known++
			}
			for range 12 {
				if s.least == w.Pods || w.Workload.Kind.PerNode() {
					break
				}
				if claims++; search.AcceptsPrices(m, w.Workload, s.least+1, g.prices(m)) {
					t.Fatalf("seed %d: prices prove %d pods of %v, but a run places %d\n%s%s", seed, s.least+1, w.Workload, s.least, nodes, manifests)
				}
			}
		}
	}
	t.Logf("%d of %d are decided, %d coarsely, %d false claims: %v", known, all, coarse, claims, count)
	if !enough(known, all, 95) || !enough(coarse, all, 60) {
		t.Errorf("only %d of %d are decided, %d coarsely", known, all, coarse)
	}
	count.vary(t, 3, vary...)
}

// prices returns random prices, or prices of what pods request.
func (g generator) prices(m *model.Model) certificate.Prices {
	p := certificate.Prices{Of: map[*model.Group]int64{}, Fit: g.chance(50)}
	random, by := g.chance(30), g.IntN(2)
	for _, o := range m.Workloads {
		of := m.Groups[o]
		p.Of[of] = int64(g.IntN(5))
		if !random && by < len(of.Requests) {
			p.Of[of] = of.Requests[by].Amount
		}
	}
	return p
}

// widen extends the spans so that they contain the numbers of placed pods.
func widen(spans map[*workload.Workload]span, placed map[*workload.Workload]int) {
	for w, n := range placed {
		s, seen := spans[w]
		if !seen {
			s = span{n, n}
		}
		spans[w] = span{min(s.least, n), max(s.most, n)}
	}
}

// verdict returns the verdict on a workload with so many pods.
func (s span) verdict(pods int) diag.Outcome {
	switch {
	case s.least == pods:
		return diag.Always
	case s.most < pods:
		return diag.Never
	}
	return diag.Sometimes
}

// TestKnapsack compares the cheapest items with those of all subsets.
func TestKnapsack(t *testing.T) {
	m, _ := modelOf(t, sized(0, "", "pods: \"9\""), named("w", 1, "containers: [{name: c, image: c}]\n"))
	for seed := range trials.Seeds(t, trials.AtLeast(t, 20_000, 2_000)) {
		g := rand.New(rand.NewPCG(uint64(seed), 230))
		need, width, exact := 1+g.IntN(9), 1+g.IntN(4), g.IntN(2) == 0
		top := need
		if exact {
			top += g.IntN(4)
		}
		var items [][3]int
		for range 1 + g.IntN(6) {
			items = append(items, [3]int{1 + g.IntN(6), g.IntN(width + 1), g.IntN(9)})
		}
		want := int64(-1)
		for set := range 1 << len(items) {
			size, beside, price := 0, 0, int64(0)
			for k, i := range items {
				if set>>k&1 == 1 {
					size, beside, price = size+i[0], beside+i[1], price+int64(i[2])
				}
			}
			if size >= need && (size <= top || !exact) && beside < width && (want < 0 || price < want) {
				want = price
			}
		}
		got, took := search.Cheapest(m, need, top, width, exact, items)
		sum := int64(0)
		for k, took := range took {
			if took {
				sum += int64(items[k][2])
			}
		}
		if got != want || took != nil && sum != want {
			t.Fatalf("seed %d: need %d, top %d, width %d, exact %t, %v: got %d for %v, want %d", seed, need, top, width, exact, items, got, took, want)
		}
	}
}
