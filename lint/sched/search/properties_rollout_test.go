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

// A rollout replaces the pods of a Deployment by pods of its next generation (R-W5). In these tests
// the two generations are separate workloads. The filters distinguish them only by
// pod-template-hash, like the pods of two ReplicaSets.

// rollout is one test case. A deleted pod is gone at once.
type rollout struct {
	nodes, spec                  string
	replicas, surge, unavailable int
}

func (r rollout) String() string {
	return fmt.Sprintf("%d replicas, surge %d, unavailable %d: %s%s", r.replicas, r.surge, r.unavailable, r.nodes, r.spec)
}

// ending sums up all rollouts of one test case, from every placement of all old pods.
type ending struct {
	begun       bool // some placement of all old pods exists
	stuck, done bool // some rollout cannot continue, some completes
	skewed      bool // some completes with zones that differ by more than one pod
	states      int  // number of states reached
}

const mostNodes = 6

// moment is one state: pods on each node, and new pods without a node.
type moment struct {
	old, fresh [mostNodes]int
	pending    int
}

// rolling explores the states of a rollout.
type rolling struct {
	rollout
	m     *model.Model
	ws    []*workload.Workload // the old generation and the new
	seen  map[moment]bool
	takes map[moment][]bool // nodes that take a new pod, by pods in place
	end   ending
}

// run reaches every state of the rollout, whichever node the scheduler picks and whichever old pod
// the controller deletes.
func (r rollout) run(t *testing.T) ending {
	t.Helper()
	m, set := modelOf(t, r.nodes, r.generation("web-old")+r.generation("web-new"))
	s := &rolling{rollout: r, m: m, ws: set.Workloads, seen: map[moment]bool{}, takes: map[moment][]bool{}}
	finals(m, s.ws[:1], func(counts [][]int) {
		if sum(counts[0]) == r.replicas {
			s.end.begun = true
			var start moment
			copy(start.old[:], counts[0])
			s.visit(start)
		}
	})
	s.end.states = len(s.seen)
	return s.end
}

func (r rollout) generation(name string) string {
	return "---\n" + strings.Replace(deployment(r.replicas, r.spec), "name: web,", "name: "+name+",", 1)
}

// visit explores from one state. The controller creates a new pod or deletes an old one, within its
// limits, or the scheduler places a new pod.
func (s *rolling) visit(now moment) {
	if s.seen[now] {
		return
	}
	s.seen[now] = true
	old, fresh := sum(now.old[:]), sum(now.fresh[:])
	if old == 0 && fresh == s.replicas {
		s.end.done = true
		s.end.skewed = s.end.skewed || s.skew(now) > 1
		return
	}
	moved := false
	move := func(next moment) {
		moved = true
		s.visit(next)
	}
	if fresh+now.pending < s.replicas && old+fresh+now.pending < s.replicas+s.surge {
		next := now
		next.pending++
		move(next)
	}
	for n := range s.m.Topology.Nodes {
		if now.pending > 0 && s.take(now)[n] {
			next := now
			next.pending--
			next.fresh[n]++
			move(next)
		}
		if now.old[n] > 0 && old+fresh > s.replicas-s.unavailable {
			next := now
			next.old[n]--
			move(next)
		}
	}
	s.end.stuck = s.end.stuck || !moved
}

// take reports for each node whether it takes a new pod.
func (s *rolling) take(now moment) []bool {
	now.pending = 0
	if known := s.takes[now]; known != nil {
		return known
	}
	state := populated(s.m, s.ws, [][]int{now.old[:], now.fresh[:]})
	takes := make([]bool, len(s.m.Topology.Nodes))
	for n, node := range s.m.Topology.Nodes {
		takes[n] = state.Filter(s.ws[1], node) == certificate.Takes
	}
	s.takes[now] = takes
	return takes
}

// skew returns the largest difference in the number of new pods between two zones.
func (s *rolling) skew(now moment) int {
	count := map[string]int{}
	for n, node := range s.m.Topology.Nodes {
		count[node.Labels[zoneKey]] += now.fresh[n]
	}
	least, most := s.replicas, 0
	for _, c := range count {
		least, most = min(least, c), max(most, c)
	}
	return most - least
}

// decide returns the engine's verdict on one generation with the given replicas, and checks it
// against all runs.
func (r rollout) decide(t *testing.T, replicas int) diag.Outcome {
	t.Helper()
	r.replicas = replicas
	m, _ := modelOf(t, r.nodes, r.generation("web"))
	want, ok := enumerate(m, 20000)
	d := search.Decide(m, search.Options{})
	if wrong := disagrees(d, want); !ok || wrong != "" {
		t.Fatalf("%s: %s", r, wrong)
	}
	return d.Verdict
}

// paces lists limits of a rollout. They must not both be 0.
var paces = []struct{ surge, unavailable int }{{1, 0}, {2, 0}, {3, 0}, {0, 1}, {0, 2}, {1, 1}, {2, 1}, {1, 2}}

// domains returns one node in each of count domains of a key. A second node in one of the zones
// does not help pods with anti-affinity by zone.
func domains(key string, count int) string {
	nodes := ""
	for n := range count {
		nodes += node(fmt.Sprintf("n%d", n), fmt.Sprintf("%s=d%d", key, n))
	}
	if key == zoneKey {
		nodes += node("more", key+"=d0")
	}
	return nodes
}

// TestPropertyC8 covers pods with anti-affinity on one key, which also applies between old and new
// pods. Only a spare domain, or a pod that may be missing, lets the rollout continue.
func TestPropertyC8(t *testing.T) {
	settings, never := 0, 0
	for _, key := range []string{hostKey, zoneKey} {
		for replicas := 1; replicas <= 3; replicas++ {
			for spare := range 3 {
				for _, pace := range paces {
					r := rollout{domains(key, replicas+spare), apart(key), replicas, pace.surge, min(pace.unavailable, replicas)}
					completes := r.unavailable >= 1 || spare >= 1
					end := r.run(t)
					if !end.begun || end.stuck == completes || end.done != completes {
						t.Errorf("%s: %+v, want completes %t", r, end, completes)
					}
					if r.foretold(t) != completes {
						t.Errorf("%s: completes %t, but the engine foretells otherwise", r, completes)
					}
					settings++
					if !completes {
						never++
					}
				}
			}
		}
	}
	t.Logf("%d of %d settings never complete", never, settings)
}

// foretold reports whether the engine predicts that a rollout without changes completes, for rules
// under which removing pods never makes it harder to place others. There must be space for one more
// replica, unless one may be missing.
func (r rollout) foretold(t *testing.T) bool {
	t.Helper()
	if r.unavailable > 0 {
		return r.decide(t, r.replicas) == diag.Always
	}
	return r.decide(t, r.replicas+1) == diag.Always
}

// TestPropertyRolloutForetold is C8 for keys that cross, which need a decision. If all placements
// of the replicas succeed, a rollout completes in every run if and only if all placements of one
// more replica succeed.
func TestPropertyRolloutForetold(t *testing.T) {
	count := map[bool]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 150)) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 308))}
		nodes := ""
		for i := range 3 + g.IntN(4) {
			nodes += node(fmt.Sprintf("n%d", i), fmt.Sprintf("%s=%d,rack=%d", zoneKey, g.IntN(4), g.IntN(4)))
		}
		pace := paces[g.IntN(len(paces))]
		r := rollout{nodes, apart(zoneKey, "rack"), 1 + g.IntN(3), pace.surge, pace.unavailable}
		r.unavailable = min(r.unavailable, r.replicas)
		if r.decide(t, r.replicas) != diag.Always {
			continue
		}
		end, foretold := r.run(t), r.foretold(t)
		count[foretold]++
		if end.stuck == foretold {
			t.Errorf("%s: %+v, but the engine foretells %t", r, end, foretold)
		}
	}
	t.Log(count)
	if least := trials.Share(t, 5); count[false] < least || count[true] < least {
		t.Errorf("the generator is too tame: %v", count)
	}
}

// TestPropertyC11 is C8 with the default limits of a Deployment.
func TestPropertyC11(t *testing.T) {
	for _, v := range []struct {
		replicas, unavailable int
		completes             bool
		states                int
	}{
		{3, 0, false, 2}, // all old, and then a new one that is pending
		{4, 1, true, 0},
	} {
		r := rollout{domains(hostKey, v.replicas), apart(hostKey), v.replicas, 1, v.unavailable}
		end := r.run(t)
		if end.done != v.completes || end.stuck == v.completes || v.states > 0 && end.states != v.states {
			t.Errorf("%s: %+v", r, end)
		}
		if r.foretold(t) != v.completes {
			t.Errorf("%s: the engine foretells %t", r, !v.completes)
		}
	}
}

// tally counts the test cases of a rollout by how they end.
type tally struct{ settings, stuck, never, skewed int }

// add runs a test case, unless the old pods cannot be placed, and checks the engine's decision on
// the first generation.
func (c *tally) add(t *testing.T, r rollout) {
	t.Helper()
	end := r.run(t)
	if !end.begun {
		return
	}
	r.decide(t, r.replicas)
	c.settings++
	if end.stuck {
		c.stuck++
	}
	if !end.done {
		c.never++
	}
	if end.skewed {
		c.skewed++
	}
}

// zonal returns two constraints over zones: both counts both generations together, and each counts
// every generation separately.
func zonal() (both, each string) {
	return spread(tsc(zoneKey, sel("app=web"), "")), spread(tsc(zoneKey, sel("app=web"), ", matchLabelKeys: [pod-template-hash]"))
}

// TestPropertyC9 covers a spread over zones that have space for all pods. No rollout gets stuck,
// but if the old pods count too, the new ones can end up uneven.
func TestPropertyC9(t *testing.T) {
	t.Parallel()
	countsBoth, countsEach := zonal()
	var both, each tally
	for zones := 2; zones <= 3; zones++ {
		for _, replicas := range trials.Sample(t, []int{1, 2, 3, 4, 5}, 3) {
			for _, pace := range paces {
				nodes, unavailable := domains(zoneKey, zones), min(pace.unavailable, replicas)
				both.add(t, rollout{nodes, countsBoth, replicas, pace.surge, unavailable})
				each.add(t, rollout{nodes, countsEach, replicas, pace.surge, unavailable})
			}
		}
	}
	t.Logf("both generations counted %+v, each by itself %+v", both, each)
	if both.stuck > 0 || each.stuck > 0 {
		t.Error("a rollout gets stuck though there is room for everything")
	}
	if both.skewed == 0 || each.skewed > 0 {
		t.Error("only where both generations count may the new one end up uneven")
	}
}

// TestPropertyC10 is C9 on small nodes, where a rollout can get stuck under both constraints.
// Counting each generation separately keeps the new pods even but gets stuck more often.
func TestPropertyC10(t *testing.T) {
	t.Parallel()
	countsBoth, countsEach := zonal()
	var both, each tally
	for _, slots := range [][]int{{1, 2}, {1, 3}, {2, 2}, {2, 3}, {3, 3}, {1, 1, 2}, {1, 2, 2}, {1, 2, 3}, {2, 2, 2}, {2, 2, 3}} {
		nodes := ""
		for zone, pods := range slots {
			nodes += room(zone, fmt.Sprintf("%s=%d", zoneKey, zone), pods)
		}
		for _, replicas := range trials.Sample(t, []int{2, 3, 4}, 2) {
			for _, pace := range paces {
				unavailable := min(pace.unavailable, replicas)
				both.add(t, rollout{nodes, countsBoth, replicas, pace.surge, unavailable})
				each.add(t, rollout{nodes, countsEach, replicas, pace.surge, unavailable})
			}
		}
	}
	t.Logf("both generations counted %+v, each by itself %+v", both, each)
	if both.stuck == 0 || each.stuck <= both.stuck {
		t.Error("both can get stuck, and more do where each generation counts by itself")
	}
	if both.skewed == 0 || each.skewed > 0 {
		t.Error("only where both generations count may the new one end up uneven")
	}
}
