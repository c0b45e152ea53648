package disruption_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// large returns a random sample with many nodes of few kinds, two of which are rare. In half of
// the samples the memory of nodes differs by a few MiB, like in a dump of a live cluster, and pods
// request an amount that only some kinds have.
func (g generator) large(kind string) sample {
	s := g.sample(kind)
	s.running = nil
	if g.chance(40) {
		s.loads = s.loads[:1]
	}
	for i := range s.loads {
		l := &s.loads[i]
		if g.chance(70) { // otherwise it rarely fits
			l.rules = l.rules[:min(1, len(l.rules))]
		}
		l.cpu, l.memory, l.pool = g.IntN(2), []int{0, 0, 250, 256}[g.IntN(4)], g.pick("scarce", "scarce", "p", "")
	}
	kinds := make([]box, 4)
	for i := range kinds {
		if kinds[i] = g.nodeKind("p"); i < 2 {
			kinds[i].pool = "scarce"
		}
		if i%2 == 1 && g.chance(40) { // differs from the previous kind in one size
			other := kinds[i]
			kinds[i] = kinds[i-1]
			switch g.IntN(3) {
			case 0:
				kinds[i].cpu = other.cpu
			case 1:
				kinds[i].pods = other.pods
			case 2:
				kinds[i].memory = other.memory
			}
		}
	}
	s.boxes = nil
	live, scarce := g.chance(50), 3+g.IntN(4)
	for i := range 9 + g.IntN(7) {
		b := kinds[i%2]
		if i >= scarce {
			b = kinds[2+i%2]
		}
		b.name = fmt.Sprintf("n%d", i)
		b.host = b.name
		if live {
			b.memory += g.IntN(24<<10) - 8<<10
			b.more = fmt.Sprintf(", example.com/serial: s%08x", g.Uint32())
		}
		s.boxes = append(s.boxes, b)
	}
	return s
}

// nodeKind returns the properties that all nodes of a kind share.
func (g generator) nodeKind(pool string) box {
	return box{zone: g.pick("a", "b", "c"), rack: g.pick("r", "s"), pool: pool, taint: g.chance(10), cpu: 1 + g.IntN(3), pods: g.IntN(4), memory: 256 << g.IntN(3) << 10}
}

// apart returns the same cluster with a rule that distinguishes all nodes. The rule asks for a
// label that pods get from their nodes, so every value matters, and each node has its own value.
// The rule selects no pods, so it changes no answer.
func (s sample) apart() sample {
	const region = "topology.kubernetes.io/region"
	s = s.clone()
	for i := range s.boxes {
		s.boxes[i].more += fmt.Sprintf(", %s: r%d", region, i)
	}
	for i := range s.loads {
		s.loads[i].rules = append(s.loads[i].rules, rule{use: "anti", key: region, labels: "app: nobody"})
	}
	return s
}

// answers returns the answers about the first workload, by question: its rollouts, the drain and
// the loss of each node, and the loss of each zone. It omits questions that exhaust the budget,
// because they have only the answers that follow from the rules alone.
func (s sample) answers(t *testing.T) map[string]string {
	t.Helper()
	m, set := models.Of(t, s.nodes(), s.manifests())
	j := disruption.New(m, set, search.Options{Steps: 5000})
	web := find(t, m, "web")
	all := map[string]string{}
	ask := func(question func(map[string]string)) {
		stops, some := m.Run().Stops, map[string]string{}
		if question(some); m.Run().Stops == stops {
			maps.Copy(all, some)
		}
	}
	ask(func(to map[string]string) {
		for _, r := range j.Rollouts(web) {
			to["rollout"] = string(r.Verdict)
		}
	})
	survivals := func(what string, list []disruption.Survival, to map[string]string) {
		for _, l := range list {
			lost := []string{l.Value}
			if l.Key == keys[host] {
				lost = l.Nodes()
			}
			for _, value := range lost {
				to[fmt.Sprintf("%s %s %s", what, l.Meaning, value)] = string(l.Verdict)
			}
		}
	}
	ask(func(to map[string]string) { survivals("loss", j.Survives(web, keys[host]), to) })
	ask(func(to map[string]string) { survivals("loss", j.Survives(web, keys[zone]), to) })
	ask(func(to map[string]string) { survivals("drain", j.Drains(web), to) })
	return all
}

// unknown marks an answer that is not compared.
const unknown = string(diag.Unknown)

// TestClassesChangeNoAnswer compares the answers about clusters with many nodes of few kinds with
// the answers when all nodes are distinguished.
func TestClassesChangeNoAnswer(t *testing.T) {
	t.Parallel()
	cases := trials.Of(t, 130)
	count := map[string]int{}
	for seed := range trials.Seeds(t, cases) {
		g := newGenerator(seed, 514)
		s := g.large("Deployment")
		s.loads[0].strategy = fmt.Sprintf("strategy: {rollingUpdate: {maxSurge: %d, maxUnavailable: %d}}", 1+g.IntN(2), g.IntN(2))
		merged, apart := s.answers(t), s.apart().answers(t)
		for asked, want := range apart {
			got, answered := merged[asked]
			if !answered || got == unknown || want == unknown {
				count["open"]++
				continue
			}
			what, _, _ := strings.Cut(asked, " ")
			if count[what+" "+want]++; got != want {
				t.Errorf("seed %d: %s: %s, with all nodes told apart %s%s", seed, asked, got, want, s)
				break
			}
		}
	}
	t.Log(count)
	for what, fewest := range map[string]int{ // out of 130 cases
		"rollout always": 20, "rollout never": 2, "rollout sometimes": 1, "loss always": 600, "loss never": 130, "loss sometimes": 30,
		"drain always": 260, "drain never": 40, "drain sometimes": 3,
	} {
		if n := count[what]; n < trials.Share(t, fewest) {
			t.Errorf("the generator is too tame: %d times %s", n, what)
		}
	}
}
