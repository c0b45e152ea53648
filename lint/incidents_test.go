package lint_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
)

var (
	// placeLine states what place reports about one workload of an incident.
	placeLine = regexp.MustCompile(`(?m)^# place (\S+) (\S+): fits (yes|no|may)(?:, rolls (always|sometimes|never|none))?$`)
	fits      = map[string]string{"always": "yes", "never": "no", "sometimes": "may"}
	wanted    = regexp.MustCompile(`# want "([a-z-]+): `)
)

// TestIncidents lints manifests written after publicly reported incidents. schedlint reports the
// cause on the expected line, and does not report it in the manifests that solved the incident.
func TestIncidents(t *testing.T) {
	folders, err := filepath.Glob("../fixtures/incidents/*")
	if err != nil || len(folders) < 20 {
		t.Fatalf("%d incidents: %v", len(folders), err)
	}
	for _, dir := range folders {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, "manifests.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			report, err := run(t, dir, []string{"nodes.yaml"}, "manifests.yaml")
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "manifests.yaml", text, report)
			placedAs(t, dir, text)
			if _, err := os.Stat(filepath.Join(dir, "repaired.yaml")); err == nil {
				repaired(t, dir, text)
			}
		})
	}
}

// placedAs checks the output of place against the header of an incident.
func placedAs(t *testing.T, dir string, text []byte) {
	t.Helper()
	lines := placeLine.FindAllSubmatch(text, -1)
	if want := bytes.Count(text, []byte("\n# place ")); want != len(lines) {
		t.Errorf("%d of %d place lines can be read", len(lines), want)
	}
	if len(lines) == 0 {
		return
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	doc := linttest.Place(t, lint.Options{Dir: abs, Root: abs, Paths: []string{"manifests.yaml"}, Topology: []string{"nodes.yaml"}})
	for _, line := range lines {
		i := slices.IndexFunc(doc.Workloads, func(w diag.PlacementWorkload) bool { return w.Kind == string(line[1]) && w.Name == string(line[2]) })
		if i < 0 {
			t.Errorf("%s: no such workload is placed", line[0])
			continue
		}
		w := doc.Workloads[i]
		if got := fits[w.Verdict]; got != string(line[3]) {
			t.Errorf("%s: place says that it fits: %s", line[0], w.Verdict)
		}
		if rolls := string(line[4]); rolls != "" && w.Change.Rollout.Verdict != rolls {
			t.Errorf("%s: place says that it rolls: %s", line[0], w.Change.Rollout.Verdict)
		}
	}
}

// repaired checks the repair of an incident. At least one expected rule no longer fires, and the
// comments of the repair expect the remaining findings.
func repaired(t *testing.T, dir string, text []byte) {
	t.Helper()
	after, err := os.ReadFile(filepath.Join(dir, "repaired.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	report, err := run(t, dir, []string{"nodes.yaml"}, "repaired.yaml")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "repaired.yaml", after, report)
	gone := slices.ContainsFunc(wanted.FindAllSubmatch(text, -1), func(m [][]byte) bool {
		return !slices.ContainsFunc(report.Diagnostics, func(d diag.Diagnostic) bool { return d.Rule == string(m[1]) })
	})
	if !gone {
		t.Error("the repair repairs nothing")
	}
}
