package disruption_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// amounts holds pods, cores and MiB of memory. In a quota, a negative amount is not counted.
type amounts [3]int

// takes returns what one pod of a load takes of a quota.
func (l load) takes() amounts { return amounts{1, l.cpu, l.memory} }

// limited is a sample whose namespace has a ResourceQuota.
type limited struct {
	updated
	hard amounts
}

// refuses reports whether the quota counts an amount that the pods of a load do not name.
func (s limited) refuses(l load) bool {
	return l.cpu+l.memory == 0 && (s.hard[1] >= 0 || s.hard[2] >= 0)
}

// admits reports whether the quota has room for one more pod of a load, beside made pods of each load
// and the running ones.
func (s limited) admits(of int, made func(of int) int) bool {
	if s.refuses(s.loads[of]) {
		return false
	}
	more := s.loads[of].takes()
	for k, hard := range s.hard {
		used := more[k]
		for _, l := range s.running {
			used += l.takes()[k]
		}
		for i, l := range s.loads {
			used += made(i) * l.takes()[k]
		}
		if hard >= 0 && used > hard {
			return false
		}
	}
	return true
}

func (s limited) nodesAndManifests() (nodes, manifests string) {
	var hard []string
	for k, text := range []string{`pods: "%d"`, `requests.cpu: "%d"`, "requests.memory: %dMi"} {
		if s.hard[k] >= 0 {
			hard = append(hard, fmt.Sprintf(text, s.hard[k]))
		}
	}
	return s.nodes(), s.manifests() + "---\n{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {" + strings.Join(hard, ", ") + "}}}\n"
}

func (s limited) String() string {
	nodes, manifests := s.nodesAndManifests()
	return "\n" + nodes + manifests
}

// limited adds small amounts to the loads and a quota that is near to what all pods take.
func (g generator) limited(u updated) limited {
	s := limited{updated: u, hard: amounts{-1, -1, -1}}
	s.boxes = s.boxes[:1+g.IntN(min(4, len(s.boxes)))]
	for i := range s.running {
		s.running[i].node, s.running[i].cpu, s.running[i].memory = s.boxes[0].name, g.IntN(2), 1
	}
	counted := 1 + g.IntN(7)
	sum := amounts{}
	add := func(l load, pods int) {
		for k, n := range l.takes() {
			sum[k] += n * pods
		}
	}
	for i := range s.loads {
		l := &s.loads[i]
		if i > 0 {
			l.kind = g.pick("Deployment", "Deployment", "StatefulSet")
		}
		l.cpu, l.memory = g.IntN(3), g.IntN(3)
		if g.chance(10) {
			l.cpu = 4
		}
		if l.cpu+l.memory == 0 && !g.chance(10) {
			l.memory = 1
		}
		add(*l, l.replicas)
	}
	for _, l := range s.running {
		add(l, 1)
	}
	most := s.loads[0].takes()
	for k := range s.hard {
		if counted&(1<<k) != 0 {
			by := []int{0, 0, 0, 1, 1, 2, 3, s.loads[0].replicas, 2 * s.loads[0].replicas, -1, -2, -4}[g.IntN(12)]
			if s.hard[k] = max(0, sum[k]+by*max(1, most[k])+g.IntN(2)*g.IntN(2)); len(s.running) > 0 && g.chance(20) {
				s.hard[k] = 0
			}
		}
	}
	return s
}

// each visits all states in which the controllers create no more pods and the scheduler places none.
// Each pod is created while the quota has room for it, in any order, and placed at any time after. An
// autoscaler then adds pods to the first load, when all pods of the loads in whole run. It returns
// false if there are too many states.
func (s limited) each(t *testing.T, added int, whole [3]bool, end func(w *world, made [3]int8, on grid)) bool {
	t.Helper()
	w := s.world(t, s.rest(nil))
	type state struct {
		made  [3]int8
		on    grid
		added int
	}
	seen := map[state]bool{}
	var visit func(at state)
	visit = func(at state) {
		if seen[at] || w.left <= 0 {
			return
		}
		seen[at] = true
		moved, creates, runs := false, false, true // a pod to come
		for r := range w.rows {
			placed, made, pods := w.pods(at.on, r), int(at.made[r]), w.rows[r].pods
			runs = runs && (placed >= pods || !whole[r])
			if r == 0 {
				pods += at.added
			}
			waits := s.loads[r].kind == "StatefulSet" && placed < made // for the pod before
			if made < pods && !waits && s.admits(r, func(of int) int { return int(at.made[of]) }) {
				next := at
				next.made[r]++
				moved, creates = true, true
				visit(next)
			}
			creates = creates || waits && made < pods && len(w.takers(at.on, r)) > 0
			if placed == made {
				continue
			}
			for _, n := range w.takers(at.on, r) {
				next := at
				next.on = w.with(at.on, r, n, 1)
				moved = true
				visit(next)
			}
		}
		if !creates && at.added < added && runs {
			visit(state{at.made, at.on, added})
		} else if !moved && at.added == added {
			end(w, at.made, at.on)
		}
	}
	visit(state{on: w.empty()})
	return w.left > 0
}

// fits returns whether the pods of each load can be placed, or nil if there are too many states.
func (s limited) fits(t *testing.T) map[string]diag.Outcome {
	t.Helper()
	verdicts := map[string]diag.Outcome{}
	known := s.each(t, 0, [3]bool{}, func(w *world, _ [3]int8, on grid) {
		for r := range w.rows {
			now, name := diag.Never, w.rows[r].name
			if w.pods(on, r) == w.rows[r].pods {
				now = diag.Always
			}
			if was := verdicts[name]; was != "" && was != now {
				now = diag.Sometimes
			}
			verdicts[name] = now
		}
	})
	if !known {
		return nil
	}
	return verdicts
}

// TestQuotaAgreesWithPlacements compares verdicts in a namespace with a ResourceQuota with all orders
// in which its pods are created and placed.
func TestQuotaAgreesWithPlacements(t *testing.T) {
	t.Parallel()
	count, open := map[diag.Outcome]int{}, map[diag.Outcome]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 5000)) {
		g := newGenerator(seed, 811)
		s := g.limited(updated{sample: g.sample("Deployment")})
		want := s.fits(t)
		if want == nil {
			count[tooMuch]++
			continue
		}
		nodes, manifests := s.nodesAndManifests()
		_, m := judge(t, nodes, manifests)
		d := search.Decide(m, search.Options{Each: true})
		got := map[string]diag.Outcome{}
		for _, v := range d.Workloads {
			got[v.Workload.Object.Name] = v.Verdict
		}
		for name, want := range want {
			if v := got[name]; v == "" || v == diag.Unknown {
				open[want]++
			} else if count[v]++; v != want {
				t.Errorf("seed %d: %s fits %q, want %q%s", seed, name, v, want, s)
			}
		}
	}
	t.Logf("%v, undetermined %v", count, open)
	for _, v := range []diag.Outcome{diag.Always, diag.Sometimes, diag.Never} {
		if count[v] < trials.Share(t, 300) {
			t.Errorf("the generator is too tame: %d are %q", count[v], v)
		}
	}
}

// TestQuotaAgreesWithScaling compares answers about autoscalers in a namespace with a ResourceQuota
// with all orders in which pods are created and placed. The autoscaler adds its pods when those
// of all loads run that ever do.
func TestQuotaAgreesWithScaling(t *testing.T) {
	t.Parallel()
	count, open := map[diag.Outcome]int{}, map[diag.Outcome]int{}
	found := []int{930975060} // a StatefulSet waits until the autoscaler adds pods
	for _, seed := range append(found, slices.Collect(trials.Seeds(t, trials.Of(t, 5000)))...) {
		g := newGenerator(seed, 813)
		s := g.limited(updated{sample: g.sample("Deployment")})
		pods := s.loads[0].replicas + 1
		s.loads[0].replicas = 1 + g.IntN(min(2, pods-1))
		most, least := 0, pods
		var some, all [3]bool // loads whose pods all run in some state
		s.each(t, 0, [3]bool{}, func(w *world, _ [3]int8, on grid) {
			for r := range w.rows {
				some[r] = some[r] || w.pods(on, r) == w.rows[r].pods
			}
		})
		s.each(t, 0, [3]bool{}, func(w *world, _ [3]int8, on grid) {
			if !slices.ContainsFunc([]int{0, 1, 2}[:len(w.rows)], func(r int) bool { return some[r] && w.pods(on, r) < w.rows[r].pods }) {
				all = some
			}
		})
		known := s.each(t, pods-s.loads[0].replicas, all, func(w *world, _ [3]int8, on grid) {
			most, least = max(most, w.pods(on, 0)), min(least, w.pods(on, 0))
		})
		if !known {
			count[tooMuch]++
			continue
		}
		want := outcomeOf(least, most, pods)
		nodes, manifests := s.nodesAndManifests()
		j, m := judge(t, nodes, manifests+scalerOf(s.loads[0].replicas, pods))
		got := j.Scaling(find(t, m, "web"))
		if got.Answer == diag.Unknown {
			open[want]++
			continue
		}
		if got.Why.Cause == model.ByQuota {
			count["by quota"]++
		}
		if got.Answer == diag.Sometimes && (want == diag.Never || slices.Contains(all[:len(s.loads)], false)) {
			// The autoscaler may add pods before those of a StatefulSet exist, or all others never run.
			early := s
			early.loads = slices.Clone(s.loads)
			early.loads[0].replicas = pods
			want = early.fits(t)["web"]
		}
		if count[want]++; got.Answer != want || want == diag.Never && got.Most < most {
			t.Errorf("seed %d: %+v, want %s of %d, most %d%s", seed, got, want, pods, most, s)
		}
	}
	t.Logf("%v, unknown %v", count, open)
	for v, n := range map[diag.Outcome]int{diag.Always: 300, diag.Sometimes: 20, diag.Never: 300, "by quota": 300} {
		if count[v] < trials.Share(t, n) {
			t.Errorf("the generator is too tame: %d are %q", count[v], v)
		}
	}
}

// TestQuotaAgreesWithRuns compares verdicts on rollouts in a namespace with a ResourceQuota with all
// runs of the controllers' loops.
func TestQuotaAgreesWithRuns(t *testing.T) {
	t.Parallel()
	count, open := map[diag.Outcome]int{}, map[diag.Outcome]int{}
	tight := 0
	found := []int{735026071, 735029103} // the quota refuses pods of another workload
	for _, seed := range append(found, slices.Collect(trials.Seeds(t, trials.Of(t, 5000)))...) {
		g := newGenerator(seed, 812)
		way := g.pick("rolling", "rolling", "rolling", "rolling", "recreate", "in place", "both")
		s := g.limited(updates[way](g))
		want := s.rolls(t)
		if want == outside || want == tooMuch {
			count[want]++
			continue
		}
		nodes, manifests := s.nodesAndManifests()
		j, m := judge(t, nodes, manifests)
		web := find(t, m, "web")
		rollout := j.Rollouts(web)[0]
		got := rollout.Verdict
		if got == diag.Unknown {
			open[want]++
			continue
		}
		alone := func(of int) int { return []int{s.loads[0].replicas - 1, 0, 0}[of] }
		if got == diag.Never && want == "" && rollout.Why.Cause == model.ByQuota && s.admits(0, alone) {
			count["never begins"]++ // whether the old pods fit is not known, but no new pod is created
			continue
		}
		if got == diag.Sometimes && s.exceeded() {
			count["without some"]++ // left out are workloads that need more than the quota has
			continue
		}
		if len(web.Quotas) > 0 {
			tight++
		}
		if count[want]++; got != want {
			t.Errorf("seed %d: %s, surge %d, unavailable %d: %q, want %q%s", seed, s.way, s.surge, s.unavailable, got, want, s)
		}
	}
	t.Logf("%v, undetermined %v, %d with a tight quota", count, open, tight)
	for v, n := range map[diag.Outcome]int{"": 100, diag.Always: 500, diag.Sometimes: 5, diag.Never: 100} {
		if count[v] < trials.Share(t, n) {
			t.Errorf("the generator is too tame: %d are %q", count[v], v)
		}
	}
}

// rolls returns the outcome over all runs of the rollout from all complete placements. A workload
// whose first pod the quota never admits has no pods, so placements are complete without it.
func (s limited) rolls(t *testing.T) diag.Outcome {
	t.Helper()
	s.loads = slices.Clone(s.loads)
	for i := range s.loads[1:] {
		if !s.admits(i+1, func(int) int { return 0 }) {
			s.loads[i+1].replicas = 0
		}
	}
	from := s.start(t, 0)
	switch {
	case from.tooMuch:
		return tooMuch
	case from.unclear || len(from.without) > 0: // pods that wait are not enumerated here
		return outside
	}
	if s.exceeded() {
		from.without, from.complete, from.fits = nil, nil, false
		known := s.each(t, 0, [3]bool{}, func(w *world, made [3]int8, on grid) {
			if w.pods(on, 0) == w.rows[0].pods {
				from.complete, from.made, from.fits = append(from.complete, on), append(from.made, made), true
			}
		})
		if !known {
			return tooMuch
		}
	} else {
		var made [3]int8
		for i, l := range s.loads {
			if made[i] = int8(l.replicas); from.without[i] && l.kind == "StatefulSet" {
				made[i] = 1 // the first pod is not placed
			}
		}
		from.made = slices.Repeat([][3]int8{made}, len(from.complete))
	}
	switch {
	case !from.fits:
		return ""
	case len(from.complete) == 0:
		return outside
	}
	return s.rolling(t, from, s.way, s.surge, s.unavailable, &s).verdict()
}

// exceeded reports whether the quota has no room for all pods.
func (s limited) exceeded() bool {
	for i, l := range s.loads {
		one := func(of int) int {
			if of == i {
				return l.replicas - 1
			}
			return s.loads[of].replicas
		}
		if l.replicas > 0 && !s.admits(i, one) {
			return true
		}
	}
	return false
}

// TestScalingWithinQuota compares answers about an autoscaler with what a quota leaves it.
func TestScalingWithinQuota(t *testing.T) {
	t.Parallel()
	const nodes = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: [{name: pool, count: 4, allocatable: {cpu: 8, pods: 110}}]\n"
	const apart = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}, "
	deployment := func(name, fields, spec string, pods int) string {
		return fmt.Sprintf("---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {%sreplicas: %d, selector: {matchLabels: {app: %s}}, template: {metadata: {labels: {app: %s}}, spec: {%scontainers: [{name: c, image: c}]}}}}\n", name, fields, pods, name, name, spec)
	}
	for _, test := range []struct {
		name, db, spec string
		quota, most    int
		answer         diag.Outcome
	}{
		{"room", "", "", 8, 0, diag.Always},
		{"none", "", "", 7, 5, diag.Never},
		{"room unless a paused workload goes on", "paused: true, ", "", 6, 0, diag.Unknown},
		{"none without a paused workload", "paused: true, ", "", 5, 5, diag.Never},
		{"fewer nodes than room", "", apart, 7, 4, diag.Never},
		{"less room than nodes", "", apart, 5, 3, diag.Never},
	} {
		j, m := judge(t, nodes, deployment("web", "", test.spec, 2)+deployment("db", test.db, "", 2)+
			scalerOf(1, 6)+
			fmt.Sprintf("---\n{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: %d}}}\n", test.quota))
		if s := j.Scaling(find(t, m, "web")); s.Answer != test.answer || s.Most != test.most {
			t.Errorf("%s: got %v, at most %d, want %v, at most %d", test.name, s.Answer, s.Most, test.answer, test.most)
		}
	}
}

// TestRoom plants mistakes: it asks the check whether a quota limits a workload to fewer pods than it
// does.
func TestRoom(t *testing.T) {
	t.Parallel()
	checked := 0
	for seed := range trials.Seeds(t, trials.Of(t, 1000)) {
		g := newGenerator(seed, 814)
		s := g.limited(updated{sample: g.sample("Deployment")})
		nodes, manifests := s.nodesAndManifests()
		_, m := judge(t, nodes, manifests)
		one := slices.Max(s.hard[:]) == s.hard[0]+s.hard[1]+s.hard[2]+2 // one amount is counted
		for _, w := range m.Workloads {
			for _, q := range w.Quotas {
				if w.Running || w.Admission != "" || q.Most < 1 {
					continue
				}
				checked++
				if err := (check.Checker{}).Room(m, w, &q); err != nil {
					t.Errorf("seed %d: %v%s", seed, err, s)
				}
				if q.Most--; (check.Checker{}).Room(m, w, &q) == nil && one {
					t.Errorf("seed %d: %d pods are enough%s", seed, q.Most, s)
				}
				other, object := *w, *w.Object
				other.Object = &object
				if q.Beside = append(slices.Clone(q.Beside), &other); (check.Checker{}).Room(m, w, &q) == nil {
					t.Errorf("seed %d: a workload that is not declared takes part", seed)
				}
			}
		}
	}
	if checked < trials.Share(t, 300) {
		t.Errorf("the generator is too tame: %d", checked)
	}
}
