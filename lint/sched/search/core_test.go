package search_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// TestCores asks for the core of everything that never fits on small random clusters. There must be
// a core, it must be minimal, and it must have a repair.
func TestCores(t *testing.T) {
	cases := trials.Of(t, 1500)
	single, together := 0, 0
	found := []int{490292375, 490292821, 930972178} // a running pod left out; a DaemonSet's own taints dropped; a DaemonSet in two groups
	for _, seed := range append(found, slices.Collect(trials.Seeds(t, cases))...) {
		text, m, want := enumerated(t, seed, 31)
		if m == nil || want.verdict() != diag.Never {
			continue
		}
		d := search.Decide(m, search.Options{})
		alone := false
		for _, w := range d.Workloads {
			if w.Verdict == diag.Never {
				alone = true
				single++
				minimal(t, seed, text, m, w.Workload, d, []*workload.Workload{w.Workload}, search.Explain(m, w.Workload, d))
			}
		}
		if !alone {
			together++
			ws, core := search.ExplainTogether(m, d)
			minimal(t, seed, text, m, nil, d, ws, core)
		}
	}
	t.Logf("%d cores of one workload, %d of several", single, together)
	if single < cases/20 || together < cases/100 {
		t.Errorf("the generator is too tame: %d cores of one workload, %d of several", single, together)
	}
}

func minimal(t *testing.T, seed int, text string, m *model.Model, of *workload.Workload, d *certificate.Decision, ws []*workload.Workload, core *search.Core) {
	t.Helper()
	if core == nil {
		t.Fatalf("seed %d: no core\n%s", seed, text)
	}
	if len(core.Repairs) == 0 {
		t.Errorf("seed %d: no repair\n%s", seed, text)
	}
	if wrong := search.CoreIsMinimal(m, of, d, ws, core); wrong != "" {
		t.Errorf("seed %d: %s\n%s", seed, wrong, text)
	}
}

// TestCountedCores compares answers by counting, for pods without rules about other pods, with
// decided instances, on small random clusters.
func TestCountedCores(t *testing.T) {
	cases := trials.Of(t, 300)
	asked, yes := 0, 0
	for seed := range trials.Seeds(t, cases) {
		nodes, manifests := generator{rand.New(rand.NewPCG(uint64(seed), 503))}.followers()
		m, _ := modelOf(t, nodes, manifests)
		for _, w := range m.Workloads {
			a, y, wrong := search.Counted(m, w, 12)
			if asked, yes = asked+a, yes+y; wrong != "" {
				t.Fatalf("seed %d: %s\n%s%s", seed, wrong, nodes, manifests)
			}
		}
	}
	t.Logf("%d answers by counts, %d of them that all pods are placed", asked, yes)
	if yes < 100*cases || asked-yes < 100*cases {
		t.Errorf("the generator is too tame: %d answers by counts, %d of them that all pods are placed", asked, yes)
	}
}
