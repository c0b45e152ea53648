package disruption_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// stored returns a random cluster with volumes. Most workloads are StatefulSets with few rules. If the
// argument bound is set, some of their volumes exist.
func (g generator) stored(bound bool) sample {
	s := g.sample("StatefulSet")
	s.running = nil
	s.boxes = s.boxes[:min(len(s.boxes), 4)]
	for i := range s.boxes {
		if s.boxes[i].zone == "" || g.chance(50) {
			s.boxes[i].zone = g.pick("a", "b")
		}
	}
	if g.chance(15) {
		for i := range s.boxes {
			s.boxes[i].zone = "a"
		}
	}
	for i := range s.loads {
		l := &s.loads[i]
		if l.kind = "StatefulSet"; i > 0 && g.chance(40) {
			l.kind = "Deployment"
		}
		l.replicas = min(l.replicas, 3)
		if l.rules = l.rules[:min(len(l.rules), g.IntN(3))]; l.kind == "StatefulSet" && g.chance(80) {
			l.pin = keys[g.IntN(2)]
		}
		if g.chance(30) {
			l.rules = []rule{{use: "spread", key: keys[g.IntN(2)], labels: "app: " + l.name, skew: 1}}
		}
	}
	if g.chance(35) {
		for i := range s.loads {
			if l := &s.loads[i]; i == 0 || g.chance(25) {
				l.once = "once"
				if g.chance(85) {
					l.replicas = 1
				}
			}
		}
	}
	if bound {
		g.bind(&s)
	}
	s.early = g.chance(30)
	return s
}

// bind gives some pods of StatefulSets volumes that exist.
func (g generator) bind(s *sample) {
	for i := range s.loads {
		l := &s.loads[i]
		if l.pin == "" || i > 0 && g.chance(40) {
			continue
		}
		l.bound = bound{key: l.pin, ordered: g.chance(40)}
		for range l.replicas {
			b := s.boxes[g.IntN(len(s.boxes))]
			value := b.zone
			if l.pin == keys[host] {
				value = b.host
			}
			if g.chance(15) {
				value = ""
			}
			l.bound.to = append(l.bound.to, value)
		}
	}
}

// lost returns the outcomes for the first workload of the loss of nodes, whose Node objects are
// deleted, by complete placement.
func (s sample) lost(t *testing.T, is func(box) bool) (all ends, tooMuch bool) {
	t.Helper()
	from, _, _ := s.settle(t, 0, nil)
	left := s.clone()
	left.boxes = slices.DeleteFunc(left.boxes, is)
	w := left.world(t, left.rest(nil))
	w.left = mostAsked
	for _, g := range from.settled {
		on, seen := w.empty(), map[grid]bool{}
		kept := 0
		for n, b := range s.boxes {
			if is(b) {
				continue
			}
			for r := range s.loads {
				on = w.with(on, r, kept, from.on(g, r, n))
			}
			kept++
		}
		// The domain of a volume may have no node left, so the rooms are counted on all nodes before.
		rooms := func(g2 grid, r, n int) bool {
			l := s.loads[r]
			if l.pin == "" {
				return true
			}
			value := w.m.Topology.Nodes[n].Labels[l.pin]
			had, has := 0, 0
			for o, node := range from.m.Topology.Nodes {
				if node.Labels[l.pin] == value {
					had += from.on(g, r, o)
				}
			}
			for o, node := range w.m.Topology.Nodes {
				if node.Labels[l.pin] == value {
					has += w.on(g2, r, o)
				}
			}
			return has < had
		}
		var visit func(g2 grid)
		visit = func(g2 grid) {
			if seen[g2] || w.left <= 0 {
				return
			}
			seen[g2] = true
			moved := false
			for r := range s.loads {
				if w.pods(g2, r) == s.loads[r].replicas {
					continue
				}
				for _, n := range w.takers(g2, r) {
					if rooms(g2, r, n) {
						moved = true
						visit(w.with(g2, r, n, 1))
					}
				}
			}
			switch {
			case moved:
			case w.pods(g2, 0) == s.loads[0].replicas:
				all |= whole
			default:
				all |= stuck
			}
		}
		visit(on)
	}
	return all, from.tooMuch || w.left <= 0 || len(from.settled) == 0
}

// TestLossesAgreeWithVolumes compares answers about lost nodes and zones with all placements and all
// repairs, where the pods of some workloads stay where their volumes are.
func TestLossesAgreeWithVolumes(t *testing.T) {
	t.Parallel()
	count, open := map[string]int{}, map[model.Cause]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 500)) {
		g := newGenerator(seed, 601)
		s := g.stored(seed%2 == 1)
		key := keys[g.IntN(2)]
		j, m := judge(t, s.nodes(), s.manifests())
		if seed%4 < 2 {
			j.Use(search.Decide(m, search.Options{Each: true}))
		}
		for _, got := range j.Survives(find(t, m, "web"), key) {
			if got.Meaning != certificate.Gone {
				continue
			}
			found, tooMuch := s.lost(t, func(b box) bool {
				if key == keys[host] {
					return b.name == got.Value
				}
				return b.zone == got.Value
			})
			if tooMuch {
				count["?"]++
				continue
			}
			want := map[ends]diag.Outcome{whole: diag.Always, stuck: diag.Never, whole | stuck: diag.Sometimes}[found]
			if got.Verdict == diag.Unknown {
				open[got.Why.Cause]++
				continue
			}
			count[fmt.Sprintf("%s for %s", got.Verdict, want)]++
			if later := got.Verdict == diag.Sometimes && want == diag.Always; got.Verdict != want && !later { // other losses may come before
				t.Errorf("seed %d: loss of %s=%s: %s (%s), want %s%s", seed, key, got.Value, got.Verdict, got.Why.Cause, want, s)
			}
		}
	}
	t.Log(count, open)
	for _, answer := range []diag.Outcome{diag.Always, diag.Never, diag.Sometimes} {
		if count[fmt.Sprintf("%s for %s", answer, answer)] < trials.Share(t, 5) {
			t.Errorf("the generator is too tame: %v", count)
		}
	}
}

// TestDrainsAgreeWithVolumes compares answers about drains with all runs, where the pods of some
// workloads stay where their volumes are.
func TestDrainsAgreeWithVolumes(t *testing.T) {
	t.Parallel()
	drainsAgree(t, 500, func(seed int) sample { return newGenerator(seed, 602).stored(seed%2 == 1) })
}

// TestRolloutsAgreeWithVolumes compares verdicts on updates of StatefulSets with all runs of the
// controller, where each pod stays where its volume is.
func TestRolloutsAgreeWithVolumes(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 500)) {
		g := newGenerator(seed, 603)
		u := updated{way: "in place", sample: g.stored(seed%2 == 1), unavailable: 1 + g.IntN(4)/3}
		u.loads[0].strategy = fmt.Sprintf("updateStrategy: {rollingUpdate: {maxUnavailable: %d}}", u.unavailable)
		u.unavailable = min(u.unavailable, u.loads[0].replicas)
		if l := &u.loads[0]; l.once != "" && g.chance(75) { // as a Deployment
			l.kind, l.pin, l.bound = "Deployment", "", bound{}
			if u.way = g.pick("rolling", "rolling", "recreate"); u.way == "recreate" {
				l.strategy = "strategy: {type: Recreate}"
			} else {
				u.surge, u.unavailable = g.IntN(2), g.IntN(2)
				u.surge = max(u.surge, 1-u.unavailable)
				l.strategy = fmt.Sprintf("strategy: {rollingUpdate: {maxSurge: %d, maxUnavailable: %d}}", u.surge, u.unavailable)
			}
		}
		want, _ := u.outcome(t)
		if slices.ContainsFunc(u.loads[1:], func(l load) bool { return l.pin != "" || l.once != "" }) {
			want = u.from(t, u.start(t, 0)) // volumes of pods that wait are not enumerated
		}
		if want == outside || want == tooMuch {
			count[string(want)]++
			continue
		}
		j, m := judge(t, u.nodes(), u.manifests())
		got := j.Rollouts(find(t, m, "web"))[0]
		count[fmt.Sprintf("%s for %s", got.Verdict, want)]++
		if got.Verdict != want && got.Verdict != diag.Unknown {
			t.Errorf("seed %d: %q (%s), want %q%s", seed, got.Verdict, got.Why.Cause, want, u)
		}
	}
	t.Log(count)
	if count["always for always"] < trials.Share(t, 30) || count["never for never"] < trials.Share(t, 5) {
		t.Errorf("the generator is too tame: %v", count)
	}
}

// TestRolloutsAgreeWithAttachments compares verdicts on updates of workloads whose pods all use one
// claim with all runs of the controller, where a volume is attached to one node at a time.
func TestRolloutsAgreeWithAttachments(t *testing.T) {
	t.Parallel()
	count, open := map[diag.Outcome]int{}, map[diag.Outcome]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 500)) {
		g := newGenerator(seed, 604)
		u := updates[g.pick("rolling", "rolling", "rolling", "recreate", "both")](g)
		l := &u.loads[0]
		if l.claim = g.pick("zonal", "local", "free"); l.claim != "free" || g.chance(70) {
			l.replicas = 1
		}
		u.unavailable = min(u.unavailable, l.replicas)
		if g.chance(50) {
			l.rules = l.rules[:min(1, len(l.rules))]
		}
		if g.chance(40) {
			for i := range u.boxes {
				u.boxes[i].cpu, u.boxes[i].pods = -1, -1
			}
		}
		u.against(t, seed, count, open)
	}
	t.Log(count, open)
	for _, answer := range []diag.Outcome{diag.Always, diag.Never, diag.Sometimes} {
		if count[answer] < trials.Share(t, 10) {
			t.Errorf("the generator is too tame: %v", count)
		}
	}
}

// TestUnreachableNodesKeepVolumes compares answers about unreachable nodes with all placements. A new
// pod does not start while its volume is attached to the node of the old one.
func TestUnreachableNodesKeepVolumes(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 300)) {
		g := newGenerator(seed, 605)
		s := g.sample("Deployment")
		s.running = nil
		s.loads[0].replicas, s.loads[0].claim = 1, g.pick("free", "zonal")
		for i := range s.loads {
			if rules := &s.loads[i].rules; len(*rules) > 1 && g.chance(70) {
				*rules = (*rules)[:1]
			}
		}
		key := keys[g.IntN(2)]
		from, _, _ := s.settle(t, 0, nil)
		if from.tooMuch || len(from.settled) == 0 {
			continue
		}
		j, m := judge(t, s.nodes(), s.manifests())
		if seed%2 == 0 {
			j.Use(search.Decide(m, search.Options{Each: true}))
		}
		for _, got := range j.Survives(find(t, m, "web"), key) {
			if got.Meaning != certificate.Unreachable {
				continue
			}
			ends := map[bool]bool{} // whether the pod is on a lost node
			for _, on := range from.settled {
				for n, b := range s.boxes {
					if from.on(on, 0, n) > 0 {
						ends[b.name == got.Value || key != keys[host] && b.zone == got.Value] = true
					}
				}
			}
			want := map[[2]bool]diag.Outcome{{true, false}: diag.Never, {false, true}: diag.Always, {true, true}: diag.Sometimes}[[2]bool{ends[true], ends[false]}]
			count[fmt.Sprintf("%s for %s", got.Verdict, want)]++
			if later := got.Verdict == diag.Sometimes && want == diag.Always; got.Verdict != diag.Unknown && got.Verdict != want && !later { // other losses may come before
				t.Errorf("seed %d: loss of %s=%s: %s, want %s%s", seed, key, got.Value, got.Verdict, want, s)
			}
		}
	}
	t.Log(count)
	for _, answer := range []diag.Outcome{diag.Always, diag.Never, diag.Sometimes} {
		if count[fmt.Sprintf("%s for %s", answer, answer)] < trials.Share(t, 10) {
			t.Errorf("the generator is too tame: %v", count)
		}
	}
}
