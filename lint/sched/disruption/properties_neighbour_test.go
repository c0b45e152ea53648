package disruption_test

import (
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// hide excludes one workload other than web from decisions, by making its number of pods, the
// value of a node rule, or another fact that its placement depends on unknown.
func (g generator) hide(s sample) sample {
	out := s
	out.loads = append([]load(nil), s.loads...)
	l := &out.loads[1+g.IntN(len(s.loads)-1)]
	ways := []string{"schedulingGates: [{name: g}]", "schedulerName: other", "count", `tolerations: [{key: "${KEY}", operator: Exists}]`}
	if l.tolerates {
		ways = ways[:3]
	}
	if l.pool == "" {
		ways = append(ways, `nodeSelector: {pool: "${POOL}"}`)
	}
	if g.chance(50) { // where its disk is
		ways = []string{"volumes: [{name: d, gcePersistentDisk: {pdName: d}}]"}
	}
	if l.hidden = g.pick(ways...); l.hidden == "count" && l.kind == "DaemonSet" {
		l.hidden = ways[0]
	}
	return out
}

// nowhere returns a copy in which web counts all pods by a label that no node has.
func (s sample) nowhere() sample {
	s = s.clone()
	for i := range s.boxes {
		s.boxes[i].rack = ""
	}
	s.loads[0].rules = append(s.loads[0].rules, rule{use: "spread", key: keys[rack], labels: "all: pods", skew: 1})
	return s
}

// yes returns the answers about a workload, by question.
func (s sample) yes(t *testing.T, name string) map[string]diag.Outcome {
	j, m := judge(t, s.nodes(), s.manifests())
	w := find(t, m, name)
	all := map[string]diag.Outcome{}
	for _, d := range search.Decide(m, search.Options{Steps: 400_000}).Workloads {
		if d.Workload == w {
			all["fits"] = d.Verdict
		}
	}
	all["rolls"], all["drains"] = j.Rollouts(w)[0].Verdict, j.Drain(w).Answer
	for _, key := range []string{"kubernetes.io/hostname", "topology.kubernetes.io/zone"} {
		for _, s := range j.Survives(w, key) {
			all[key+" "+s.Value+" "+string(s.Meaning)] = s.Verdict
		}
	}
	return all
}

// TestYesHoldsWithNeighbours checks positive answers about a workload while a neighbour takes no
// part in decisions. It compares them with the answers when everything about the neighbour is
// known, for one possible value. Pods that are never placed cannot be drained.
func TestYesHoldsWithNeighbours(t *testing.T) {
	t.Parallel()
	held, open := 0, 0
	for seed := range trials.Seeds(t, trials.Of(t, 4000)) {
		g := newGenerator(seed, 733)
		s := g.sample("Deployment")
		if s.running = nil; len(s.loads) < 2 {
			continue
		}
		if g.chance(10) {
			s = s.nowhere()
		}
		hidden := g.hide(s)
		truth, answers := s.yes(t, "web"), hidden.yes(t, "web")
		if truth["fits"] == diag.Never && answers["fits"] != diag.Never && answers["drains"] == diag.Always {
			t.Errorf("seed %d: drains, but the pods are never placed%s", seed, hidden)
		}
		for what, said := range answers {
			switch _, asked := truth[what]; {
			case !asked: // another node represents the lost one
			case said == diag.Unknown:
				open++
			case said != diag.Always:
			case truth[what] == diag.Always || truth[what] == diag.Unknown:
				held++
			default:
				t.Errorf("seed %d: %s: yes, but %s once all is known%s", seed, what, truth[what], hidden)
			}
		}
		_, m := judge(t, hidden.nodes(), hidden.manifests())
		if d := search.Decide(m, search.Options{}); d.Verdict == diag.Always || d.Verdict == diag.Sometimes || d.RulesVerdict == diag.Always {
			t.Errorf("seed %d: the whole is %s (by rules %s)%s", seed, d.Verdict, d.RulesVerdict, hidden)
		}
	}
	t.Log(held, "yes,", open, "not known")
	if held < trials.Share(t, 20) || open < trials.Share(t, 20) {
		t.Errorf("the generator is too tame: %d yes, %d not known", held, open)
	}
}
