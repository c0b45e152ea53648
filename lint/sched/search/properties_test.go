package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// The properties are statements of the theory about clusters of one shape: which verdicts they can
// have and which arithmetic decides them. The tests compare each property, and the engine's
// decision on the same cluster, with all runs of the filters. The engine's proofs depend on these
// properties.

// sample is one cluster of a shape. claim returns "" if it agrees with the result of all runs and
// the engine's decision, or a description of the difference.
type sample struct {
	nodes, manifests string
	claim            func(m *model.Model, want truth, d *certificate.Decision) string
}

// nothing is the empty claim. With it, hold only compares the engine with enumeration.
func nothing(*model.Model, truth, *certificate.Decision) string { return "" }

// verdicts counts the samples by verdict.
type verdicts map[diag.Outcome]int

// hold compares the claim and the engine with enumeration for many samples.
func hold(t *testing.T, cases int, stream uint64, shape func(g generator) sample) verdicts {
	t.Helper()
	count, skipped := verdicts{}, 0
	for seed := range trials.Seeds(t, trials.AtLeast(t, cases, 100)) {
		s := shape(generator{rand.New(rand.NewPCG(uint64(seed), stream))})
		m, _ := modelOf(t, s.nodes, s.manifests)
		want, ok := enumerate(m, 20000)
		if !ok {
			if skipped++; skipped > 1+cases/100 {
				t.Fatalf("seed %d: too large to enumerate, like %d others\n%s%s", seed, skipped-1, s.nodes, s.manifests)
			}
			continue
		}
		count[want.verdict()]++
		d := search.Decide(m, search.Options{})
		if wrong := disagrees(d, want); wrong != "" {
			t.Fatalf("seed %d: %s\n%s%s", seed, wrong, s.nodes, s.manifests)
		}
		if wrong := s.claim(m, want, d); wrong != "" {
			t.Fatalf("seed %d: the claim does not hold: %s, where runs are %+v\n%s%s", seed, wrong, want, s.nodes, s.manifests)
		}
	}
	t.Log(count)
	return count
}

// disagrees returns a description of where a decision differs from the result of all runs.
func disagrees(d *certificate.Decision, want truth) string {
	if d.Verdict == want.verdict() && d.Exact && d.Total == want.total && d.MaxPlaced == want.most && d.MinPlaced == want.least {
		return ""
	}
	return fmt.Sprintf("the engine says %s, %d to %d of %d, but it is %s, %d to %d of %d",
		d.Verdict, d.MinPlaced, d.MaxPlaced, d.Total, want.verdict(), want.least, want.most, want.total)
}

// slack is the number of samples by which a share may miss its target, because small samples
// deviate more. It does not apply if the target is all samples.
const slack = 3

// enough reports whether n of all are at least the given percentage, within slack.
func enough(n, all, percent int) bool {
	if percent < 100 {
		n += slack
	}
	return n*100 >= all*percent
}

// vary requires that a shape has every one of the given verdicts, each in at least the given
// percentage of the samples. A claim that is tested only on easy clusters proves nothing.
func (c verdicts) vary(t *testing.T, percent int, each ...diag.Outcome) {
	t.Helper()
	if trials.Few(t) {
		return
	}
	all := 0
	for _, n := range c {
		all += n
	}
	for _, v := range each {
		if c[v] == 0 && (percent > 0 || trials.First(t) == 0) || !enough(c[v], all, percent) {
			t.Errorf("the generator is too tame: %v", c)
		}
	}
}

// finals reaches the states in which no more pods of the workloads can be placed, and calls each
// once for every such state, with the pods by workload and node.
func finals(m *model.Model, ws []*workload.Workload, each func(counts [][]int)) {
	counts := make([][]int, len(ws))
	for i := range counts {
		counts[i] = make([]int, len(m.Topology.Nodes))
	}
	finalsFrom(m, ws, counts, each)
}

// finalsFrom is finals with some pods already placed.
func finalsFrom(m *model.Model, ws []*workload.Workload, counts [][]int, each func(counts [][]int)) {
	nodes := m.Topology.Nodes
	seen := map[string]bool{}
	var visit func()
	visit = func() {
		key := fmt.Sprint(counts)
		if seen[key] {
			return
		}
		seen[key] = true
		state, moved := populated(m, ws, counts), false
		for i, w := range ws {
			if sum(counts[i]) == w.Count.N {
				continue
			}
			for n, node := range nodes {
				if state.Filter(w, node) == certificate.Takes {
					moved = true
					counts[i][n]++
					visit()
					counts[i][n]--
				}
			}
		}
		if !moved {
			each(counts)
		}
	}
	visit()
}

// populated returns the state with the given numbers of pods of each workload on each
// node.
func populated(m *model.Model, ws []*workload.Workload, counts [][]int) *check.State {
	state := check.NewState(m)
	for i, w := range ws {
		for n, c := range counts[i] {
			for range c {
				state.Place(w, m.Topology.Nodes[n])
			}
		}
	}
	return state
}

func sum(list []int) int {
	total := 0
	for _, n := range list {
		total += n
	}
	return total
}

// sized returns node number i with the given resources.
func sized(i int, labels, offers string) string {
	return node(fmt.Sprintf("n%d", i), labels) + "status: {allocatable: {" + offers + "}}\n"
}

// room returns a node with space for the given number of pods.
func room(i int, labels string, pods int) string {
	return sized(i, labels, fmt.Sprintf("pods: %q", fmt.Sprint(pods)))
}

// named returns a Deployment with the given name, which is also the app label of its
// pods.
func named(name string, replicas int, spec string) string {
	text := strings.ReplaceAll(deployment(replicas, spec), "name: web,", "name: "+name+",")
	return "---\n" + strings.ReplaceAll(text, "{app: web}", "{app: "+name+"}")
}

// apart returns a spec that keeps pods of one workload apart on each of the keys.
func apart(keys ...string) string {
	var list []string
	for _, key := range keys {
		list = append(list, term(key, sel("app=web")))
	}
	return ruled(list, nil, nil)
}

// TestPropertyT1 covers one workload whose pods keep apart on nested keys, on nodes with slots. The
// sets of placed pods are those of a laminar matroid, so all maximal sets have the same size.
func TestPropertyT1(t *testing.T) {
	count := hold(t, 400, 101, func(g generator) sample {
		nodes, regions := "", g.chance(80) // of region 2, which otherwise has no label
		for i := range 2 + g.IntN(4) {
			region := g.pick("1", "2")
			labels := []string{fmt.Sprintf("%s=n%d", hostKey, i), zoneKey + "=" + region + g.pick("a", "b"), "region=" + region}
			if region == "2" && !regions {
				labels = labels[:2]
			}
			if g.chance(15) {
				labels = slices.Delete(labels, 1, 2)
			}
			nodes += room(i, strings.Join(labels, ","), g.IntN(4))
		}
		keys := slices.DeleteFunc([]string{hostKey, zoneKey, "region"}, func(key string) bool { return g.chance(50) })
		return sample{nodes, deployment(1+g.IntN(5), apart(keys...)), func(_ *model.Model, want truth, _ *certificate.Decision) string {
			if want.least != want.most {
				return "maximal placements differ in size"
			}
			return ""
		}}
	})
	count.vary(t, 10, diag.Always, diag.Never)
}

// TestPropertyT1b covers keys that cross. A pod keeps out at most one other pod for each key. So
// with k keys every run places at least 1/k of the pods that the best run places, and no better
// guarantee is possible.
func TestPropertyT1b(t *testing.T) {
	for _, keys := range [][]string{{zoneKey, "rack"}, {zoneKey, "rack", "row"}} {
		t.Run(fmt.Sprint(len(keys), " keys"), func(t *testing.T) {
			differ, tight := 0, 0
			count := hold(t, 800, uint64(110+len(keys)), func(g generator) sample {
				nodes := ""
				for i := range 3 + g.IntN(4) {
					labels := ""
					for _, key := range keys {
						labels += key + "=" + g.pick("1", "2", "3") + ","
					}
					nodes += room(i, labels, 1+g.IntN(2))
				}
				return sample{nodes, deployment(1+g.IntN(4), apart(keys...)), func(_ *model.Model, want truth, _ *certificate.Decision) string {
					if want.least < want.most {
						differ++
					}
					if want.least*len(keys) == want.most {
						tight++
					}
					if want.least*len(keys) < want.most {
						return fmt.Sprintf("a run places less than 1/%d of the best", len(keys))
					}
					return ""
				}}
			})
			t.Logf("%d differ, %d as far as they may", differ, tight)
			if least := trials.Share(t, 1); differ < least || tight < least {
				t.Errorf("the generator is too tame: %d differ, %d as far as they may", differ, tight)
			}
			count.vary(t, 5, diag.Always, diag.Sometimes, diag.Never)
		})
	}
}

// spreadOver returns one constraint over the workload's own pods.
func spreadOver(key string, skew int) string {
	return strings.Replace(tsc(key, sel("app=web"), ""), "maxSkew: 1", fmt.Sprint("maxSkew: ", skew), 1)
}

// zones returns nodes with slots in random zones, and the slots of the zones that have a node.
func (g generator) zones(nodes, zones, slots int) (string, map[string]int) {
	text, capacity := "", map[string]int{}
	for i := range nodes {
		zone, pods := fmt.Sprint(g.IntN(zones)), g.IntN(slots+1)
		text += room(i, fmt.Sprintf("%s=%s,%s=n%d", zoneKey, zone, hostKey, i), pods)
		capacity[zone] += pods
	}
	return text, capacity
}

// TestPropertyT3 covers one spread key and capacities. The smallest domain fills up in every run
// and limits all other domains to its size plus the skew.
func TestPropertyT3(t *testing.T) {
	count := hold(t, 400, 103, func(g generator) sample {
		nodes, capacity := g.zones(2+g.IntN(3), 3, 3)
		skew, replicas := 1+g.IntN(2), 1+g.IntN(7)
		smallest := 100
		for _, c := range capacity {
			smallest = min(smallest, c)
		}
		most := 0
		for _, c := range capacity {
			most += min(c, smallest+skew)
		}
		return sample{nodes, deployment(replicas, spread(spreadOver(zoneKey, skew))), func(_ *model.Model, want truth, _ *certificate.Decision) string {
			if want.most != min(most, replicas) || want.least != want.most {
				return fmt.Sprintf("the closed form gives %d", min(most, replicas))
			}
			return ""
		}}
	})
	count.vary(t, 10, diag.Always, diag.Never)
}

// TestPropertyT4 covers a spread over zones and over hosts at once. Even the runs of one workload
// can end in different ways, so it must be searched.
func TestPropertyT4(t *testing.T) {
	count := hold(t, 1000, 104, func(g generator) sample {
		nodes, _ := g.zones(4+g.IntN(3), 3, 3)
		spec := spread(spreadOver(zoneKey, 1+g.IntN(2)), spreadOver(hostKey, 1+g.IntN(2)))
		return sample{nodes, deployment(2+g.IntN(8), spec), nothing}
	})
	count.vary(t, 0, diag.Always, diag.Sometimes, diag.Never)
}

// TestPropertySelfAffinity covers pods with affinity to their own workload. The first pod picks the domain
// and all others are bound to it.
func TestPropertySelfAffinity(t *testing.T) {
	near := ruled(nil, []string{term(zoneKey, sel("app=web"))}, nil)
	count := hold(t, 400, 105, func(g generator) sample {
		nodes, capacity := g.zones(1+g.IntN(4), 3, 3)
		nodes += room(9, "", 5) // without the key it takes no such pod
		replicas := 1 + g.IntN(5)
		largest, stuck := 0, false
		for _, c := range capacity {
			largest = max(largest, c)
			stuck = stuck || c > 0 && c < replicas
		}
		stuck = stuck || largest == 0
		return sample{nodes, deployment(replicas, near), func(_ *model.Model, want truth, _ *certificate.Decision) string {
			if want.complete != (largest >= replicas) || want.stuck != stuck {
				return fmt.Sprintf("the closed form gives complete %t, stuck %t", largest >= replicas, stuck)
			}
			return ""
		}}
	})
	count.vary(t, 10, diag.Always, diag.Sometimes, diag.Never)
	t.Run("pins to the smallest domain", func(t *testing.T) {
		nodes := room(0, zoneKey+"=large", 3) + room(1, zoneKey+"=small", 1)
		m, _ := modelOf(t, nodes, deployment(3, near))
		want, _ := enumerate(m, 1000)
		if (want != truth{total: 3, most: 3, least: 1, complete: true, stuck: true}) {
			t.Errorf("the filters give %+v", want)
		}
		d := search.Decide(m, search.Options{})
		if wrong := disagrees(d, want); wrong != "" {
			t.Fatal(wrong)
		}
		if len(d.Stuck.Placements) != 1 || d.Stuck.Placements[0].Node.Name != "n1" {
			t.Errorf("the stuck run is %v, not one pod in the small zone", d.Stuck.Placements)
		}
	})
}
