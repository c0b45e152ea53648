package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// askedHash is a template hash in selectors. Only the cluster knows which pods have it.
const askedHash = "pod-template-hash=6c9f7d8b5"

// doubtful returns a small cluster with a rule about pods with askedHash.
func (g generator) doubtful() (nodes, manifests string, workloads int) {
	for n := range 3 + g.IntN(2) {
		labels := fmt.Sprintf("%s=n%d,%s=z%d", hostKey, n, zoneKey, n%3)
		nodes += node(fmt.Sprintf("n%d", n), labels) + fmt.Sprintf("status:\n  allocatable: {cpu: %q, pods: \"5\"}\n", g.pick("1", "2", "3"))
	}
	workloads = 2 + g.IntN(2)
	asks := g.IntN(workloads)
	var b strings.Builder
	for w := range workloads {
		name := fmt.Sprintf("w%d", w)
		var antis, affs, spreads []string
		key := g.pick(hostKey, hostKey, zoneKey)
		switch g.IntN(6) {
		case 0, 1:
			antis = append(antis, term(key, sel("app="+g.pick(name, "w0", "w1"))))
		case 2:
			spreads = append(spreads, tsc(key, sel("app="+name), ""))
		}
		if w == asks {
			about := sel(g.pick(askedHash, "app=w0,"+askedHash, "app=w1,"+askedHash))
			switch key := g.pick(hostKey, hostKey, zoneKey); g.IntN(8) {
			case 0:
				affs = append(affs, term(key, about))
			case 1:
				spreads = []string{tsc(key, about, "")}
			default:
				antis = append(antis, term(key, about))
			}
		}
		b.WriteString(named(name, 1+g.IntN(2), ruled(antis, affs, spreads)+
			fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: %q}}}]\n", g.pick("100m", "100m", "500m", "1"))))
	}
	return nodes, b.String(), workloads
}

// TestProofsHoldHoweverDoubtsEnd covers rules for which only the cluster knows which pods they
// select. An answer about a workload that is given anyway must be right for every choice of pods
// with the label (T21).
func TestProofsHoldHoweverDoubtsEnd(t *testing.T) {
	t.Parallel()
	count := map[diag.Outcome]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 500)) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 510))}
		nodes, manifests, workloads := g.doubtful()
		m, _ := modelOf(t, nodes, manifests)
		d := search.Decide(m, search.Options{})
		if len(d.Doubts) == 0 {
			continue
		}
		for of := range 1 << workloads {
			text := manifests
			for w := range workloads {
				if of>>w&1 == 1 {
					own := fmt.Sprintf("{labels: {app: w%d}}", w)
					if text = strings.Replace(text, own, strings.Replace(own, "}}", ", "+strings.Replace(askedHash, "=", ": ", 1)+"}}", 1), 1); text == manifests {
						t.Fatal("no labels of a template")
					}
				}
			}
			if of == 0 {
				text = strings.ReplaceAll(manifests, "6c9f7d8b5", "none-has-it") // no hash has this form
			}
			r, _ := modelOf(t, nodes, text)
			most, least := runs(r)
			for i, w := range d.Workloads {
				if count[w.Verdict]++; w.MaxPlaced < most[i] || w.MinPlaced > least[i] {
					t.Fatalf("seed %d: %s has %d to %d pods, not %d to %d, if those of %b have the hash\n%s%s", seed, w.Workload, least[i], most[i], w.MinPlaced, w.MaxPlaced, of, nodes, manifests)
				}
			}
		}
	}
	t.Log(count)
	for _, v := range []diag.Outcome{diag.Always, diag.Unknown} {
		if count[v] < trials.Share(t, 300) {
			t.Errorf("the generator is too tame: %v", count)
		}
	}
}

// runs returns the most and the fewest placed pods of each workload over all runs.
func runs(m *model.Model) (most, least []int) {
	most, least = make([]int, len(m.Workloads)), make([]int, len(m.Workloads))
	for i, w := range m.Workloads {
		least[i] = w.Count.N
	}
	finals(m, m.Workloads, func(counts [][]int) {
		for i := range counts {
			most[i], least[i] = max(most[i], sum(counts[i])), min(least[i], sum(counts[i]))
		}
	})
	return most, least
}
