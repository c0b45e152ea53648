package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// limited returns pools that say how much cpu their nodes have, exactly, at most, or not at all.
func (g generator) limited() (text string, most []int) {
	text = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n"
	for i := range 2 + g.IntN(2) {
		text += fmt.Sprintf("- {name: p%d, labels: {pool: %s, rack: %s}, zones: {%s: %d, %s: 1}", i, g.pick("p", "q"), g.pick("x", "z"), g.pick("a", "b"), 1+g.IntN(2), g.pick("c", "d"))
		switch g.IntN(5) {
		case 0:
		case 1:
			text += fmt.Sprintf(", allocatable: {cpu: %d, pods: %d}", 1+g.IntN(4), 1+g.IntN(3))
		default:
			most = append(most, 1+g.IntN(3))
			text += fmt.Sprintf(", capacity: {cpu: %[1]d}, taints: [{key: most, value: '%[1]d', effect: NoSchedule}]", most[len(most)-1])
		}
		text += "}\n"
	}
	return text, most
}

// TestCapacity covers nodes that declare capacity but not allocatable (R-S21). Verdicts are the same as
// if the nodes declared no resources and a taint kept larger pods off. Pods that never fit do not fit
// either if the nodes offer exactly their capacity, or less.
func TestCapacity(t *testing.T) {
	t.Parallel()
	count := map[diag.Outcome]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 2000)) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 611))}
		nodes, most := g.limited()
		var b strings.Builder
		for w := range 2 + g.IntN(2) {
			name, other := fmt.Sprintf("w%d", w), fmt.Sprintf("w%d", g.IntN(2))
			var antis, affs, spreads []string
			key := g.pick(hostKey, hostKey, zoneKey, "rack")
			switch g.IntN(5) {
			case 0, 1:
				antis = append(antis, term(key, sel("app="+g.pick(name, other))))
			case 2:
				affs = append(affs, term(key, sel("app="+g.pick(name, other))))
			case 3:
				spreads = append(spreads, tsc(key, sel("app="+name), ""))
			}
			request, tolerated := g.pick("100m", "1", "2", "3", "4"), ""
			for most := range 4 {
				if r := resource.MustParse(request); r.CmpInt64(int64(most)) <= 0 {
					tolerated += fmt.Sprintf("{key: most, value: '%d'}, ", most)
				}
			}
			b.WriteString(named(name, 1+g.IntN(2), ruled(antis, affs, spreads)+
				fmt.Sprintf("tolerations: [%s{key: all, operator: Exists}]\ncontainers: [{name: c, image: c, resources: {requests: {cpu: %q}}}]\n", tolerated, request)))
		}
		manifests := b.String()
		without := nodes
		for _, a := range most {
			without = strings.Replace(without, fmt.Sprintf(", capacity: {cpu: %d}", a), "", 1)
		}
		f, _ := modelOf(t, without, manifests)
		manifests = strings.ReplaceAll(manifests, "{key: all,", "{key: most,")
		m, _ := modelOf(t, nodes, manifests)
		d, free := search.Decide(m, search.Options{Each: true}), search.Decide(f, search.Options{Each: true})
		for i, w := range d.Workloads {
			was := free.Workloads[i].Verdict
			count[w.Verdict]++
			if w.Verdict != was {
				t.Fatalf("seed %d: %s is %s, and %s with taints\n%s%s", seed, w.Workload, w.Verdict, was, nodes, manifests)
			}
		}
		if d.Verdict != free.Verdict {
			t.Fatalf("seed %d: %s, and %s with taints\n%s%s", seed, d.Verdict, free.Verdict, nodes, manifests)
		}
		for range 2 {
			exact := nodes
			for _, a := range most {
				exact = strings.Replace(exact, fmt.Sprintf("capacity: {cpu: %d}", a), fmt.Sprintf("allocatable: {cpu: %d, pods: 10}", a-g.IntN(2)*g.IntN(a+1)), 1)
			}
			e, _ := modelOf(t, exact, manifests)
			reached, _ := runs(e)
			for i, w := range d.Workloads {
				if w.MaxPlaced < reached[i] || w.Verdict == diag.Never && reached[i] == w.Pods {
					t.Fatalf("seed %d: %s is %s with at most %d pods, but %d are placed\n%s%s", seed, w.Workload, w.Verdict, w.MaxPlaced, reached[i], exact, manifests)
				}
			}
		}
	}
	t.Log(count)
	for _, v := range []diag.Outcome{diag.Always, diag.Sometimes, diag.Never} {
		if count[v] < trials.Share(t, 100) {
			t.Errorf("the generator is too tame: %v", count)
		}
	}
}
