package disruption_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// splittable describes Deployments without rules, each of which can be split into Deployments of one
// pod, and their nodes. The answers about a Deployment and its parts must agree, as the same pods
// take part.
type splittable struct {
	nodes []int // millicores
	cpu   []int // of a pod, by Deployment
	pods  []int
	pool  []string // a node selector, by Deployment
	surge bool     // else a pod is removed before its successor comes
	agent int      // what a DaemonSet asks for, or 0
}

func randomSplittable(r *rand.Rand) splittable {
	s := splittable{surge: r.IntN(2) == 0}
	sum := 0
	for range 3 + r.IntN(3) {
		s.nodes = append(s.nodes, 4000+1000*r.IntN(3)*r.IntN(2))
		sum += s.nodes[len(s.nodes)-1]
	}
	if r.IntN(4) == 0 {
		s.agent = 250
		sum -= s.agent * len(s.nodes)
	}
	total, kinds := 41+r.IntN(80), 2+r.IntN(5)
	unit := sum * (65 + r.IntN(45)) / 100 / total
	for k := range kinds {
		n := total / kinds
		if k == 0 {
			n += total % kinds
		}
		s.pods, s.pool = append(s.pods, n), append(s.pool, "")
		s.cpu = append(s.cpu, max(1, unit*(60+r.IntN(80))/100))
		if r.IntN(3) == 0 {
			s.cpu[k] = unit
		}
		if r.IntN(8) == 0 {
			s.pool[k] = "a"
		}
	}
	return s
}

func (s splittable) text(split bool) (nodes, manifests string) {
	var n, m strings.Builder
	for i, cpu := range s.nodes {
		fmt.Fprintf(&n, "apiVersion: v1\nkind: Node\nmetadata: {name: n%[1]d, labels: {kubernetes.io/hostname: n%[1]d, topology.kubernetes.io/zone: z%[2]d, pool: %[3]q}}\nstatus: {allocatable: {cpu: %[4]dm, memory: 64Gi, pods: 110}}\n---\n",
			i, i%3, []string{"a", "b"}[i%2], cpu)
	}
	add := func(name string, pods, k int) {
		pace, selector := "{maxSurge: 1, maxUnavailable: 0}", ""
		if !s.surge {
			pace = "{maxSurge: 0, maxUnavailable: 1}"
		}
		if s.pool[k] != "" {
			selector = "      nodeSelector: {pool: " + s.pool[k] + "}\n"
		}
		fmt.Fprintf(&m, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %[1]s, namespace: x}\nspec:\n  replicas: %[2]d\n  strategy: {rollingUpdate: %[3]s}\n  selector: {matchLabels: {app: %[1]s}}\n"+
			"  template:\n    metadata: {labels: {app: %[1]s}}\n    spec:\n%[4]s      containers: [{name: c, image: x, resources: {requests: {cpu: %[5]dm}}}]\n---\n", name, pods, pace, selector, s.cpu[k])
	}
	for k, pods := range s.pods {
		if !split {
			add(fmt.Sprintf("w%d", k), pods, k)
			continue
		}
		for i := range pods {
			add(fmt.Sprintf("w%d-%d", k, i), 1, k)
		}
	}
	if s.agent > 0 {
		fmt.Fprintf(&m, agents, fmt.Sprintf("%dm", s.agent))
	}
	return n.String(), m.String()
}

// changes returns the answers about a workload, by question.
func changes(j *disruption.Judge, w *workload.Workload) map[string]diag.Outcome {
	all := map[string]diag.Outcome{"rollout": j.Rollouts(w)[0].Verdict, "drain": j.Drain(w).Answer}
	for _, key := range []string{keys[host], keys[zone]} {
		for _, s := range j.Survives(w, key) {
			names := []string{s.Value}
			if key == keys[host] {
				names = s.Nodes()
			}
			for _, name := range names {
				all[fmt.Sprint("losing ", key, "=", name, " ", s.Meaning)] = s.Verdict
			}
		}
	}
	return all
}

// TestCrowdsAgreeWithFewer compares answers for more than 40 workloads with those about the same
// pods in fewer workloads, which are searched (T16, T25). A Deployment recovers in some run only if
// each of its parts does, and in every run exactly if each of its parts does in every run.
func TestCrowdsAgreeWithFewer(t *testing.T) {
	t.Parallel()
	agree := map[diag.Outcome][]diag.Outcome{
		diag.Always:    {diag.Always, diag.Unknown},
		diag.Sometimes: {diag.Sometimes, diag.Unknown},
		diag.Never:     {diag.Never, diag.Sometimes, diag.Unknown},
	}
	seen := map[string]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 100)) {
		s := randomSplittable(rand.New(rand.NewPCG(25, uint64(seed))))
		nodes, apps := s.text(false)
		m, set := models.Of(t, nodes, apps)
		few := disruption.New(m, set, search.Options{Steps: 2_000}) // few answers need more
		nodes, apps = s.text(true)
		many, parts := judge(t, nodes, apps)
		for _, m := range []*model.Model{m, parts} {
			m.Scale(1, 1) // a search for a core with a thousand times the steps takes gigabytes
		}
		for k := range s.pods {
			whole := changes(few, find(t, m, fmt.Sprintf("w%d", k)))
			for _, i := range []int{0, s.pods[k] - 1} {
				part := find(t, parts, fmt.Sprintf("w%d-%d", k, i))
				for question, got := range changes(many, part) {
					want := whole[question]
					seen[fmt.Sprintf("%s: %s", want, got)]++
					if allowed := agree[want]; allowed != nil && !slices.Contains(allowed, got) {
						t.Errorf("seed %d: %s: %s %s, but %s with fewer workloads\n%+v", seed, part, question, got, want, s)
					}
				}
			}
		}
	}
	t.Log(seen)
	for _, both := range []string{"always: always", "sometimes: sometimes"} {
		if seen[both] == 0 && !trials.Few(t) {
			t.Errorf("no question was %s", both)
		}
	}
}

// TestCrowdsAgreeWithSearch compares runs that leave pods Pending (T25), and losses and rollouts with a proof
// (T27), with an exhaustive search of small clusters. Half of the clusters are tight.
// A sixth have only anti-affinity, a sixth also required affinity and spreads of others, and a sixth any rules.
func TestCrowdsAgreeWithSearch(t *testing.T) {
	t.Parallel()
	count, proved, rolled := map[diag.Outcome]int{}, map[diag.Outcome]int{}, map[diag.Outcome]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 600)) {
		g := newGenerator(seed, 525)
		s := g.sample(g.pick("Deployment", "StatefulSet"))
		s.running = nil
		for i := range s.loads {
			s.loads[i].rules = slices.DeleteFunc(s.loads[i].rules, func(r rule) bool { return r.use != "anti" && (seed%3 == 0 || i == 0 && seed%3 == 1) })
		}
		if seed%2 == 1 {
			s = g.tight()
		}
		j, m := judge(t, s.nodes(), s.manifests())
		d := search.Decide(m, search.Options{Each: true})
		for _, w := range j.Workloads() {
			if !j.Judged(w) || w.Kind.PerNode() {
				continue
			}
			j.Use(nil)
			all := j.Drains(w)
			for _, key := range []string{keys[host], keys[zone]} {
				for _, l := range j.Survives(w, key) {
					if l.Meaning == certificate.Gone || w.Object.Kind == "Deployment" { // its pods are created again
						all = append(all, l)
					}
				}
			}
			for i := range all {
				l := &all[i]
				nodes := []string{l.Value}
				if l.Key == keys[zone] {
					nodes = l.Nodes()
				}
				j.Use(d)
				if j.Recovers(w, l, nodes) {
					if proved[l.Verdict]++; l.Verdict != diag.Always && l.Verdict != diag.Unknown {
						t.Errorf("seed %d: a proof settles the loss of %v (%s) for %s, which is %s%s", seed, nodes, l.Meaning, w, l.Verdict, s)
					}
				}
			}
			j.Use(nil)
			rolls := j.Rollouts(w)
			j.Use(d)
			for i, r := range j.Rollouts(w) {
				if r.Verdict == diag.Always {
					if rolled[rolls[i].Verdict]++; rolls[i].Verdict != diag.Always && rolls[i].Verdict != diag.Unknown {
						t.Errorf("seed %d: a proof settles the rollout of %s, which is %s%s", seed, w, rolls[i].Verdict, s)
					}
				}
			}
			if waits := j.Waits(w); waits {
				if count[placed(m, w)]++; placed(m, w) == diag.Always {
					t.Errorf("seed %d: a run leaves a pod of %s Pending, which is always placed%s", seed, w, s)
				}
			}
		}
	}
	t.Log(count, proved, rolled)
	if n := proved[diag.Always]; n < trials.Share(t, 20) {
		t.Errorf("proofs settle %d losses", n)
	}
	if n := count[diag.Sometimes]; n < trials.Share(t, 20) {
		t.Errorf("runs settle %d placements", n)
	}
}

// TestFollowedRunsAgreeWithSearch compares what runs through a loss show (T25) with a search for all runs,
// under rules of all kinds.
func TestFollowedRunsAgreeWithSearch(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 1500)) {
		g := newGenerator(seed, 527)
		s := g.sample(g.pick("Deployment", "StatefulSet"))
		s.running = nil
		j, _ := judge(t, s.nodes(), s.manifests())
		for _, w := range j.Workloads() {
			if !j.Judged(w) || w.Kind.PerNode() {
				continue
			}
			all := j.Drains(w)
			for _, key := range []string{keys[host], keys[zone]} {
				all = j.AppendSurvives(all, w, key)
			}
			for i := range all {
				l := &all[i]
				nodes := []string{l.Value}
				if l.Key == keys[zone] {
					nodes = l.Nodes()
				}
				shown := j.Follows(w, l, nodes)
				count[fmt.Sprint(l.Meaning, " ", l.Verdict, " ", shown)]++
				if shown == diag.Sometimes && l.Verdict != diag.Sometimes && l.Verdict != diag.Unknown {
					t.Errorf("seed %d: runs show both outcomes of the loss of %v (%s) for %s, which is %s%s", seed, nodes, l.Meaning, w, l.Verdict, s)
				}
			}
		}
	}
	t.Log(count)
	for _, meaning := range []certificate.Meaning{certificate.Gone, certificate.Unreachable, certificate.Drained} {
		if n := count[fmt.Sprint(meaning, " sometimes sometimes")]; n < trials.Share(t, 100) {
			t.Errorf("runs settle %d losses (%s)", n, meaning)
		}
	}
}

// TestFollowedRolloutsAgreeWithSearch compares what runs of rollouts show (T25) with a search for all runs.
func TestFollowedRolloutsAgreeWithSearch(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 3000)) {
		s := newGenerator(seed, 528).rolling().sample
		s.running = nil
		j, m := judge(t, s.nodes(), s.manifests())
		for _, r := range j.Rollouts(find(t, m, "web")) {
			if r.Way != workload.Rolling {
				continue
			}
			shown := j.FollowsRollout(find(t, m, "web"), &r)
			count[fmt.Sprintf("%q %s", r.Verdict, shown)]++
			if shown == diag.Sometimes && r.Verdict != diag.Sometimes && r.Verdict != diag.Unknown {
				t.Errorf("seed %d: runs show both outcomes of a rollout that is %q%s", seed, r.Verdict, s)
			}
		}
	}
	t.Log(count)
	if n := count[`"sometimes" sometimes`]; n < trials.Share(t, 40) {
		t.Errorf("runs settle %d rollouts", n)
	}
}

// TestCheckerRefusesShorterRuns leaves out a move of a run with a loss or a rollout. The checker must refuse
// each of these runs.
func TestCheckerRefusesShorterRuns(t *testing.T) {
	t.Parallel()
	tried := map[string]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 400)) {
		g := newGenerator(seed, 529)
		s := g.rolling().sample
		s.running = nil
		j, m := judge(t, s.nodes(), s.manifests())
		for what, run := range j.Runs(find(t, m, "web")) {
			if err := run.Check(run.Moves); err != nil {
				t.Errorf("seed %d: %s: %v%s", seed, what, err, s)
			}
			for i, x := range run.Moves {
				last := i == len(run.Moves)-1
				if lost := !strings.HasPrefix(what, "rollout"); !last && i >= run.Whole && !(lost && x.Gone) {
					continue // the others may be a run
				} else if lost && i < run.Whole && x.Workload.Object.Name != "web" && !run.Needs(i) {
					continue // the others are a run in which this pod waits
				}
				tried[what]++
				if run.Check(slices.Delete(slices.Clone(run.Moves), i, i+1)) == nil {
					t.Errorf("seed %d: %s: without move %d of %d%s", seed, what, i, len(run.Moves), s)
				}
			}
		}
	}
	t.Log(tried)
	for _, what := range []string{"gone", "unreachable", "drained", "rollout"} {
		if tried[what] < trials.Share(t, 100) {
			t.Errorf("%d runs are shorter: %s", tried[what], what)
		}
	}
}

// placed returns the verdict on whether a workload's pods are placed.
func placed(m *model.Model, w *workload.Workload) diag.Outcome {
	for _, d := range search.Decide(m, search.Options{Steps: 20_000}).Workloads {
		if d.Workload == w {
			return d.Verdict
		}
	}
	return diag.Unknown
}
