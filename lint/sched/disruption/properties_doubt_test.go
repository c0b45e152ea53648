package disruption_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// doubtful returns a random update with a rule that asks for a template hash.
func doubtful(seed int) updated {
	g := newGenerator(seed, 509)
	u := updates["rolling"](g)
	u.running = nil // a drain would remove them
	for i := range u.loads {
		u.loads[i].kind = "Deployment"
		u.loads[i].replicas = min(u.loads[i].replicas, 3)
		u.loads[i].rules = u.loads[i].rules[:min(1, len(u.loads[i].rules))]
	}
	u.unavailable = min(u.unavailable, u.loads[0].replicas)
	r := rule{use: g.pick("anti", "anti", "anti", "anti", "spread", "aff"), key: keys[g.IntN(3)], skew: 1}
	r.labels = g.pick("app: web, ", "app: web, ", "") + "pod-template-hash: " + askedHash
	who := &u.loads[g.IntN(len(u.loads))]
	if r.use != "anti" {
		who.rules = nil
	}
	who.rules = append(who.rules, r)
	return u
}

// readings returns the update and copies of it, in each of which a different revision has the
// hash.
func (u updated) readings() (all []updated) {
	all = append(all, u)
	for i := range u.loads {
		for _, is := range []string{"old", "new"} {
			if i > 0 && is == "new" { // no such revision exists
				continue
			}
			v := u
			v.sample = u.clone()
			v.loads[i].hashed = is
			all = append(all, v)
		}
	}
	return all
}

// TestAnswersHoldHoweverDoubtsEnd checks rollouts and drains for which only the cluster knows
// which pods a rule selects. It compares the answers with the runs of each possible reading.
func TestAnswersHoldHoweverDoubtsEnd(t *testing.T) {
	t.Parallel()
	rollout := func(u updated, t *testing.T) (diag.Outcome, bool) {
		v := u.verdict(t)
		return v, v == outside || v == tooMuch
	}
	drain := func(u updated, t *testing.T) (diag.Outcome, bool) { return u.drained(t) }
	for what, q := range map[string]struct {
		truth func(updated, *testing.T) (diag.Outcome, bool)
		said  func(*disruption.Judge, *workload.Workload) (diag.Outcome, model.Reason)
	}{
		"rollout": {rollout, func(j *disruption.Judge, w *workload.Workload) (diag.Outcome, model.Reason) {
			r := j.Rollouts(w)[0]
			return r.Verdict, r.Why
		}},
		"drain": {drain, func(j *disruption.Judge, w *workload.Workload) (diag.Outcome, model.Reason) {
			d := j.Drain(w)
			return d.Answer, d.Why
		}},
	} {
		t.Run(what, func(t *testing.T) {
			count := map[diag.Outcome]int{}
			for seed := range trials.Seeds(t, trials.Of(t, 600)) {
				u := doubtful(seed)
				j, m := judge(t, u.nodes(), u.manifests())
				got, why := q.said(j, find(t, m, "web"))
				if count[got]++; got == diag.Unknown {
					if why.Cause == model.ByBudget || why.Cause == model.BySize {
						t.Errorf("seed %d: open for %s%s", seed, why.Cause, u)
					}
					continue
				}
				for _, v := range u.readings() {
					if want, none := q.truth(v, t); !none && want != got {
						t.Errorf("seed %d: %q, but %q if %s%s", seed, got, want, v.hashes(), u)
					}
				}
			}
			t.Log(count)
			for _, v := range []diag.Outcome{diag.Always, diag.Unknown} {
				if count[v] < trials.Share(t, 20) {
					t.Errorf("the generator is too tame: %d are %s", count[v], v)
				}
			}
		})
	}
}

// hashes describes which pods have the hash that the rule asks for.
func (u updated) hashes() string {
	var all []string
	for _, l := range u.loads {
		if l.hashed != "" {
			all = append(all, fmt.Sprintf("%s pods of %s have the hash", l.hashed, l.name))
		}
	}
	return strings.Join(append(all, "no other has the hash"), ", ")
}

// TestEitherRevisionMayHaveTheHash checks that other workloads may block all pods of the next
// revision, if these have the hash that a rule of the others asks for.
func TestEitherRevisionMayHaveTheHash(t *testing.T) {
	u := updated{way: "rolling", unavailable: 1, sample: sample{
		boxes: []box{bare(0, "a", -1), bare(1, "b", -1), bare(2, "c", -1)},
		loads: []load{
			{kind: "Deployment", name: "web", replicas: 2, strategy: "strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}"},
			{kind: "Deployment", name: "db", replicas: 3, rules: []rule{{use: "anti", key: keys[zone], labels: "app: web, pod-template-hash: " + askedHash}}},
		},
	}}
	if v := u.verdict(t); v != diag.Always {
		t.Errorf("no pod has the hash: %s", v)
	}
	j, m := judge(t, u.nodes(), u.manifests())
	if r := j.Rollout(find(t, m, "web"), 2); r.Verdict != diag.Unknown || r.Why.Cause != model.ByLabel {
		t.Errorf("%s, %s", r.Verdict, r.Why.Cause)
	}
	u.loads[0].hashed = "new"
	if v := u.verdict(t); v != diag.Sometimes {
		t.Errorf("new pods have the hash: %s", v)
	}
}

// TestLargeGroupsAreForetold checks a group of many workloads in which a rule of one may select
// any other. Counting proves the answers that hold whichever pods the rule selects. For all other
// answers the label is the reason. The cost per workload does not grow with the number of
// workloads.
func TestLargeGroupsAreForetold(t *testing.T) {
	for _, v := range []struct {
		key  string
		want diag.Outcome
		why  model.Cause
	}{{keys[zone], diag.Unknown, model.ByLabel}, {keys[host], diag.Always, ""}} {
		cost := func(workloads int) int {
			s := sample{loads: []load{{kind: "Deployment", name: "web", replicas: 4, rules: []rule{{use: "anti", key: v.key, labels: "pod-template-hash: " + askedHash}}}}}
			for i := range 20 {
				s.boxes = append(s.boxes, bare(i, []string{"a", "b", "c"}[i%3], -1))
			}
			for i := range workloads {
				name := fmt.Sprintf("light-%d", i)
				s.loads = append(s.loads, load{kind: "Deployment", name: name, replicas: 2, rules: []rule{{use: "anti", key: keys[host], labels: "app: " + name}}})
			}
			j, m := judge(t, s.nodes(), s.manifests())
			j.Prepare()
			before := 0
			for i, w := range m.Workloads {
				if i == 1 { // the first one pays for the shared setup
					before = m.Run().Spent()
				}
				if w.Object.Name == "web" {
					continue
				}
				j.Ask(w, func() {
					if r := j.Rollout(w, 2); r.Verdict != v.want || r.Why.Cause != v.why {
						t.Errorf("%s %s: rollout %s, %s", v.key, w, r.Verdict, r.Why.Cause)
					}
					if d := j.Drain(w); d.Answer != v.want || d.Why.Cause != v.why {
						t.Errorf("%s %s: drain %s, %s", v.key, w, d.Answer, d.Why.Cause)
					}
				})
			}
			return (m.Run().Spent() - before) / workloads
		}
		if few, many := cost(60), cost(600); many > 2*few {
			t.Errorf("%s: each of 60 workloads takes %d steps, of 600 %d", v.key, few, many)
		}
	}
}
