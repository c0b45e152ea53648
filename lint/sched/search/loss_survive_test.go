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
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// lone returns a random cluster with one workload, whose rule the arithmetic can judge or nearly
// so.
func (g generator) lone() setting {
	s := setting{}
	for i := range 3 + g.IntN(3) {
		labels := fmt.Sprintf("%s=n%d,rack=%s", hostKey, i, g.pick("x", "y", "z"))
		if !g.chance(8) {
			labels += "," + zoneKey + "=" + g.pick("a", "b", "c")
		}
		s.nodes = append(s.nodes, room(i, labels, g.IntN(4)))
	}
	own := sel("app=web")
	var antis, spreads []string
	if g.chance(40) {
		antis = append(antis, term(g.pick(hostKey, hostKey, zoneKey, "rack"), own))
	}
	if g.chance(75) || len(antis) == 0 {
		more := g.pick("", "", "", ", nodeTaintsPolicy: Honor", ", nodeTaintsPolicy: Honor", ", minDomains: 2", ", minDomains: 3")
		spreads = append(spreads, strings.Replace(tsc(g.pick(hostKey, zoneKey, zoneKey, "rack"), own, more), "maxSkew: 1", "maxSkew: "+g.pick("1", "1", "2", "3"), 1))
	} else if g.chance(40) {
		antis = append(antis, term(g.pick(hostKey, zoneKey), own))
	}
	spec := ruled(antis, nil, spreads)
	if len(antis) == 0 {
		spec = strings.TrimPrefix(spec, "affinity:\n")
	}
	s.shapes = []shape{{g.pick("Deployment", "Deployment", "Deployment", "StatefulSet"), "web", 1 + g.IntN(6-g.IntN(4)), spec}}
	return s
}

// roomy returns a random cluster with more nodes than pods.
func (g generator) roomy() setting {
	s := setting{}
	for i := range 6 {
		labels := fmt.Sprintf("%s=n%d,rack=%s,%s=%s", hostKey, i, g.pick("x", "y"), zoneKey, g.pick("a", "b"))
		s.nodes = append(s.nodes, sized(i, labels, fmt.Sprintf("pods: %q, cpu: %q", fmt.Sprint(1+g.IntN(3)), fmt.Sprint(2+g.IntN(3)))))
	}
	names := []string{"web", "db"}[:1+g.IntN(2)]
	for _, name := range names {
		asks := fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: %q}}}]\n", g.pick("0", "500m", "1", "2"))
		s.shapes = append(s.shapes, shape{"Deployment", name, 1 + g.IntN(3-len(names)), g.lostSpec(name, names) + asks})
	}
	return s
}

// spacious counts the workloads for which the arithmetic promises that a node is always found, and
// compares the promise with all placements and repairs.
func (s setting) spacious(t *testing.T, m *model.Model, truth map[string]map[string]fate) int {
	t.Helper()
	found := 0
	pods := 0
	for _, w := range m.Workloads {
		pods += w.Count.N
	}
	about := search.NewRoster(m, m.Workloads, nil)
	for _, key := range []string{hostKey, zoneKey} {
		k := search.KindsOf(m, m.Workloads, pods, key)
		for _, w := range m.Workloads {
			for _, b := range k.Losses() {
				for _, meaning := range meanings {
					l := certificate.Loss{Meaning: meaning}
					room := k.Room(w, w.Count.N)
					anyNode := key == hostKey && room.FitsAnyway(search.AnyNode, l, about, w.Count.N)
					if !l.Recreated(w) || !anyNode && !room.FitsAnyway(b, l, about, w.Count.N) {
						continue
					}
					found++
					s.meaning, s.lost = meaning, make([]bool, len(s.nodes))
					for i := range s.nodes {
						s.lost[i] = slices.Contains(b.Nodes(), fmt.Sprintf("n%d", i))
					}
					id := fmt.Sprint(s.meaning, s.lost)
					if truth[id] == nil {
						truth[id], _ = s.fates(t)
					}
					if f := truth[id][w.Object.Name]; f.seen && f.most > 0 {
						t.Fatalf("%s %s: there is room for %s, but it is %+v\n%s", key, b.Value, w, f, s)
					}
				}
			}
		}
	}
	return found
}

// held compares all answers about the losses of a cluster with all placements and repairs, and
// counts the answers.
func (s setting) held(t *testing.T, count map[string]int) (spacious int) {
	t.Helper()
	m, set := modelOf(t, s.before(), s.manifests())
	j := disruption.New(m, &workload.Set{}, search.Options{})
	truth := map[string]map[string]fate{}
	for _, w := range set.Workloads {
		for _, a := range slices.Concat(j.Survives(w, hostKey), j.Survives(w, zoneKey), j.Drains(w)) {
			for _, one := range a.Nodes() {
				s.meaning, s.lost = a.Meaning, make([]bool, len(s.nodes))
				for i := range s.nodes {
					s.lost[i] = a.Key == hostKey && one == fmt.Sprintf("n%d", i) || a.Key != hostKey && slices.Contains(a.Nodes(), fmt.Sprintf("n%d", i))
				}
				id := fmt.Sprint(s.meaning, s.lost)
				if truth[id] == nil {
					truth[id], _ = s.fates(t)
				}
				f := truth[id][w.Object.Name]
				if !f.seen {
					continue // nothing is lost
				}
				count[fmt.Sprint(a.Meaning, " ", a.Verdict)]++
				switch {
				case a.Verdict == diag.Unknown:
				case a.Verdict == diag.Sometimes && f.verdict() == diag.Always: // other losses may come before
					count["later"]++
				case a.Verdict != f.verdict():
					t.Fatalf("%s %s: %s is %s, want %s %+v\n%s", a.Key, a.Value, w, a.Verdict, f.verdict(), f, s)
				case a.Verdict == diag.Never && (a.Pending < 1 || a.Pending > f.fewest), a.Verdict == diag.Sometimes && (a.Pending < 1 || a.Pending > w.Count.N):
					t.Fatalf("%s %s: %s has %d pending, want %+v\n%s", a.Key, a.Value, w, a.Pending, f, s)
				}
				if a.Key != hostKey {
					break
				}
			}
		}
	}
	return s.spacious(t, m, truth)
}

// TestSurvivesZoneOutage covers kubernetes/kubernetes#116978: 9 pods in 3 zones with maxSkew 1. If
// a zone is deleted, the other zones take its 3 pods. If its nodes are unreachable, the zone counts
// as empty, so no other zone may take more pods, unless the constraint honors taints.
func TestSurvivesZoneOutage(t *testing.T) {
	for _, v := range []struct {
		more    string
		room    int
		meaning certificate.Meaning
		verdict diag.Outcome
		pending int
	}{
		{"", 5, certificate.Gone, diag.Always, 0},
		{"", 4, certificate.Gone, diag.Never, 1}, // 8 places
		{"", 5, certificate.Unreachable, diag.Never, 3},
		{"", 4, certificate.Unreachable, diag.Never, 3},
		{", nodeTaintsPolicy: Honor", 5, certificate.Unreachable, diag.Always, 0},
		{", nodeTaintsPolicy: Honor", 4, certificate.Unreachable, diag.Never, 1},
	} {
		nodes := ""
		for zone := range 3 {
			nodes += room(2*zone, fmt.Sprintf("%s=z%d,%s=n%d", zoneKey, zone, hostKey, 2*zone), 2) +
				room(2*zone+1, fmt.Sprintf("%s=z%d,%s=n%d", zoneKey, zone, hostKey, 2*zone+1), v.room-2)
		}
		m, set := modelOf(t, nodes, deployment(9, spread(tsc(zoneKey, sel("app=web"), v.more))))
		rows := 0
		for _, a := range disruption.New(m, &workload.Set{}, search.Options{}).Survives(set.Workloads[0], zoneKey) {
			if a.Meaning != v.meaning {
				continue
			}
			rows++
			if a.Verdict != v.verdict || a.Pending != v.pending || a.Like() != 2 {
				t.Errorf("%+v: %+v", v, a)
			}
			lost := certificate.Loss{Nodes: map[string]bool{a.Nodes()[0]: true, a.Nodes()[1]: true}, Meaning: v.meaning}
			if got := search.NewHistory(m, []map[string]bool{lost.Nodes}, nil, search.Options{}).Lose(lost, search.Options{})[0]; got.Verdict != v.verdict || got.Pending != v.pending {
				t.Errorf("%+v: a search finds %+v", v, got)
			}
		}
		if rows != 3 {
			t.Errorf("%+v: %d answers for 3 zones", v, rows)
		}
	}
}

// TestSurvives compares answers about losses with all placements and repairs.
func TestSurvives(t *testing.T) {
	t.Parallel()
	for name, shape := range map[string]func(g generator) setting{"lone": generator.lone, "several": generator.losing, "roomy": generator.roomy} {
		t.Run(name, func(t *testing.T) {
			cases, count := trials.Of(t, map[string]int{"lone": 400, "several": 120, "roomy": 150}[name]), map[string]int{}
			spacious := 0
			for seed := range trials.Seeds(t, cases) {
				s := shape(generator{rand.New(rand.NewPCG(uint64(seed), 402))})
				spacious += s.held(t, count)
			}
			t.Log(count, spacious)
			if name == "roomy" {
				if spacious < 2*cases {
					t.Errorf("the generator is too tame: in %d cases there is room in any case", spacious)
				}
				return
			}
			for _, meaning := range meanings {
				for _, v := range []diag.Outcome{diag.Always, diag.Sometimes, diag.Never} {
					// With one simple rule, every run loses the same number of pods, unless pods of
					// unreachable nodes count.
					even := name == "lone" && v == diag.Sometimes && meaning != certificate.Unreachable
					if !even && count[fmt.Sprint(meaning, " ", v)] < cases/20 {
						t.Errorf("the generator is too tame: %v", count)
					}
				}
			}
		})
	}
}

// TestSurvivesGrowth checks pools that may grow: a report that pods never find a node must hold on
// all nodes that the pools may have.
func TestSurvivesGrowth(t *testing.T) {
	pool := func(zones string, most int) string {
		return fmt.Sprintf("apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- name: p\n  zones: {%s}\n  max: %d\n", zones, most)
	}
	for _, v := range []struct {
		zones   string
		most    int
		spec    string
		verdict diag.Outcome
		why     model.Cause
	}{
		{"a: 1, b: 1", 2, apart(hostKey), diag.Never, ""},
		{"a: 1, b: 1", 3, apart(hostKey), diag.Unknown, model.ByGrowth},
		{"a: 1, b: 1", 3, apart(zoneKey), diag.Never, ""}, // more nodes in the zone that is left
		{"a: 2, b: 1", 4, spread(spreadOver(zoneKey, 1)), diag.Always, ""},
	} {
		m, set := modelOf(t, pool(v.zones, v.most), deployment(2, v.spec))
		for _, a := range disruption.New(m, &workload.Set{}, search.Options{}).Survives(set.Workloads[0], zoneKey) {
			if a.Meaning == certificate.Gone && (a.Verdict != v.verdict || a.Why.Cause != v.why) {
				t.Errorf("%+v: %+v", v, a)
			}
		}
	}
}

// TestSurvivesNotCreatedAgain covers pods that no controller creates a second time, and pods that
// tolerate the taint of a loss.
func TestSurvivesNotCreatedAgain(t *testing.T) {
	nodes := room(0, hostKey+"=n0", 2) + room(1, hostKey+"=n1", 2)
	sts := strings.Replace(deployment(1, ""), "kind: Deployment", "kind: StatefulSet", 1)
	for _, v := range []struct {
		manifest string
		meaning  certificate.Meaning
		verdict  diag.Outcome
		why      bool
	}{
		{sts, certificate.Gone, diag.Always, false},
		{sts, certificate.Unreachable, diag.Sometimes, true},
		{sts, certificate.Drained, diag.Always, false},
		{pod("one", "d", "app=one", "", ""), certificate.Gone, diag.Sometimes, true},
		{deployment(1, "tolerations: [{operator: Exists}]"), certificate.Gone, diag.Always, false},
		{deployment(1, "tolerations: [{operator: Exists}]"), certificate.Unreachable, diag.Sometimes, true}, // not evicted
		{deployment(1, "tolerations: [{operator: Exists, effect: NoSchedule}]"), certificate.Unreachable, diag.Unknown, true},
		{deployment(1, "tolerations: [{operator: Exists}]"), certificate.Drained, diag.Unknown, true},
	} {
		m, set := modelOf(t, nodes, v.manifest)
		j := disruption.New(m, &workload.Set{}, search.Options{})
		for _, a := range append(j.Survives(set.Workloads[0], hostKey), j.Drains(set.Workloads[0])...) {
			if a.Meaning == v.meaning && (a.Verdict != v.verdict || a.Why.Given() != v.why || a.Like() != 2) {
				t.Errorf("%+v: %+v", v, a)
			}
		}
	}
}
