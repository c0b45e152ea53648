package disruption_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// said returns all answers about changes to one workload.
func (s sample) said(t *testing.T, name string) string {
	t.Helper()
	j, m := judge(t, s.nodes(), s.manifests())
	web := find(t, m, name)
	text := ""
	for _, r := range j.Rollouts(web) {
		text += fmt.Sprintf("rollout %q, ", r.Verdict)
		if r.Verdict == diag.Never || r.Verdict == diag.Sometimes {
			of := slices.DeleteFunc(j.Remedies(web, &r), func(r search.Kind) bool { return r == search.MoreNodes }) // depends on node names
			text += fmt.Sprintf("remedies %v, ", of)
		}
	}
	d, l := j.Drain(web), j.Limit(web, web.Count.N+1)
	text += fmt.Sprintf("migration %s, drain %s", j.Migration(web).Answer, d.Answer)
	if l != nil {
		text += fmt.Sprintf(", limit %d", l.Most)
	}
	return text
}

// others maps names to other ways of writing the same cluster. No answer may depend on them.
var others = map[string]func(g generator, s sample) sample{
	"a stranger": func(g generator, s sample) sample {
		s.loads = append(s.loads, load{kind: g.pick("Deployment", "StatefulSet"), name: "stranger", replicas: 1 + g.IntN(3)})
		for i := range s.boxes {
			s.boxes[i].pods = -1 // it takes no slot from another pod
		}
		return s
	},
	"other names": func(g generator, s sample) sample {
		names := []string{"web", "db", "cache"}
		fresh := map[string]string{}
		for i, k := range g.Perm(len(names)) {
			fresh[names[i]] = fmt.Sprintf("%c-app", 'a'+k)
		}
		rename := func(text string) string {
			for was, now := range fresh {
				text = strings.Replace(text, "app: "+was, "app: "+now, 1)
			}
			return text
		}
		for i := range s.loads {
			s.loads[i].name = fresh[s.loads[i].name]
		}
		for _, list := range [][]load{s.loads, s.running} {
			for i := range list {
				for k := range list[i].rules {
					list[i].rules[k].labels = rename(list[i].rules[k].labels)
				}
			}
		}
		for i, k := range g.Perm(len(s.boxes)) {
			name := fmt.Sprintf("node-%c", 'a'+k)
			for r := range s.running {
				if s.running[r].node == s.boxes[i].name {
					s.running[r].node = name
				}
			}
			s.boxes[i].name, s.boxes[i].host = name, name
		}
		return s
	},
	"another order": func(g generator, s sample) sample {
		g.Shuffle(len(s.loads), func(a, b int) { s.loads[a], s.loads[b] = s.loads[b], s.loads[a] })
		g.Shuffle(len(s.boxes), func(a, b int) { s.boxes[a], s.boxes[b] = s.boxes[b], s.boxes[a] })
		for i := range s.loads {
			rules := s.loads[i].rules
			g.Shuffle(len(rules), func(a, b int) { rules[a], rules[b] = rules[b], rules[a] })
		}
		return s
	},
}

// TestVerdictsDependOnNothingElse writes clusters in other ways and checks that the answers stay
// the same.
func TestVerdictsDependOnNothingElse(t *testing.T) {
	t.Parallel()
	kinds := []string{"rolling", "rolling", "in place", "both", "per node", "machines"}
	for what, other := range others {
		t.Run(what, func(t *testing.T) {
			differs := map[string]int{}
			for seed := range trials.Seeds(t, trials.Of(t, 80)) {
				g := newGenerator(seed, 506)
				var s sample
				if kind := g.pick(kinds...); kind == "machines" {
					s = g.migrating()
				} else {
					s = updates[kind](g).sample
				}
				if what == "a stranger" {
					for i := range s.boxes {
						s.boxes[i].pods = -1
					}
				}
				changed := other(g, s.clone())
				name := "web"
				if what == "other names" {
					name = changed.loads[0].name
				}
				was, now := s.said(t, "web"), changed.said(t, name)
				if differs[was]++; was != now {
					t.Errorf("seed %d: %s, but with %s %s%s%s", seed, was, what, now, s, changed)
				}
			}
			if len(differs) < trials.Share(t, 20) {
				t.Errorf("the generator is too tame: %v", differs)
			}
		})
	}
}

// TestMoreNodesAreNoWorse adds a node with its own domains where no rule can make it harmful. It
// checks that the outcome of a rollout that always completes does not become never.
func TestMoreNodesAreNoWorse(t *testing.T) {
	count := map[string]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 150)) {
		g := newGenerator(seed, 507)
		u := updates[g.pick("rolling", "in place", "both", "recreate")](g)
		for i := range u.loads {
			u.loads[i].rules = slices.DeleteFunc(u.loads[i].rules, func(r rule) bool { return r.use != "anti" })
		}
		verdict := func(s sample) diag.Outcome {
			j, m := judge(t, s.nodes(), s.manifests())
			return j.Rollouts(find(t, m, "web"))[0].Verdict
		}
		was := verdict(u.sample)
		if from := u.start(t, 0); from.tooMuch || len(from.complete) == 0 || len(from.without) > 0 {
			continue // other workloads that did not fit may now fit
		}
		more := u.clone()
		more.boxes = append(more.boxes, box{name: "new", host: "new", zone: "new", rack: "new", pool: g.pick("p", "q"), cpu: -1, pods: -1})
		now := verdict(more)
		count[fmt.Sprintf("%q to %q", was, now)]++
		if was == diag.Always && now == diag.Never {
			t.Errorf("seed %d: %s with a further node%s", seed, now, u)
		}
	}
	t.Log(count)
}
