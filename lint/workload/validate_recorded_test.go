package workload

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestRecordedRefusals replays what the API server's own validation said of
// objects (see the oracle): each is refused, at the same stage, or accepted.
func TestRecordedRefusals(t *testing.T) {
	files, err := filepath.Glob("../../fixtures/oracle/validation/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded cases: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]string{}
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			var want struct {
				Objects int
				Refused map[string]struct{ Stage Stage }
			}
			if err := json.Unmarshal([]byte(parts["expect.json"]), &want); err != nil {
				t.Fatal(err)
			}
			compareRefusals(t, loadSet(t, parts["manifests.yaml"]), want.Objects, func(name string) Stage { return want.Refused[name].Stage })
		})
	}
}

// compareRefusals holds the first problem of each object against the stage at
// which the API server refuses it.
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

// names are those of all objects of a set that are validated.
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
