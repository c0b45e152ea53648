package workload

import (
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/recorded"
)

// TestRecordedRefusals compares the results with recorded results of the API server's own
// validation (see the oracle): each object is refused at the same stage, or accepted.
func TestRecordedRefusals(t *testing.T) {
	type answer struct {
		Objects int
		Refused map[string]struct{ Stage Stage }
	}
	recorded.Each(t, "../../fixtures/oracle/validation/*.txtar", func(t *testing.T, c recorded.Case[answer]) {
		compareRefusals(t, loadSet(t, c.Manifests), c.Want.Objects, func(name string) Stage { return c.Want.Refused[name].Stage })
	})
}

// compareRefusals compares the first problem of each object with the stage at which the API server
// refuses the object.
func compareRefusals(t *testing.T, set *Set, objects int, want func(string) Stage) {
	t.Helper()
	problems := map[string][]Problem{}
	for _, w := range set.Workloads {
		problems[w.String()] = w.Problems
	}
	for _, r := range set.Refusals {
		problems[r.Object.Kind+" "+r.Object.Namespace+"/"+r.Object.Name] = r.Problems
	}
	if read := len(set.Workloads) + set.Others; read != objects || len(set.Skipped) > 0 {
		t.Errorf("%d of %d objects are read, skipped: %+v", read, objects, set.Skipped)
	}
	for _, name := range set.names() {
		stage := Stage("")
		if found := problems[name]; len(found) > 0 {
			stage = found[0].Stage
		}
		if stage != want(name) {
			t.Errorf("%s: the API server says %q, got %q: %+v", name, want(name), stage, problems[name])
		}
	}
}

// names returns the names of all validated objects of a set.
func (s *Set) names() []string {
	var all []string
	for _, w := range s.Workloads {
		all = append(all, w.String())
	}
	for _, b := range s.Budgets {
		all = append(all, "PodDisruptionBudget "+strings.TrimPrefix(b.Object.Namespace+"/"+b.Object.Name, "/"))
	}
	for _, r := range s.Refusals {
		all = append(all, r.Object.Kind+" "+r.Object.Namespace+"/"+r.Object.Name)
	}
	return all
}
