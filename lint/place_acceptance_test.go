package lint_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
)

// misspelt is the topology key of the post's third workload as it was
// published; no node has it.
const misspelt = "topology.kubernetes.io/hostname"

// customApp decides about the three workloads of a post together, on the six
// workers in three zones and the control plane that it describes. The key of
// the third one is written as given.
func customApp(t *testing.T, key string) *diag.Placement {
	t.Helper()
	shared, dir := corpus(t), t.TempDir()
	var paths []string
	for _, part := range []string{"L256.yaml", "L352.yaml", "L428.yaml"} {
		text, err := os.ReadFile(filepath.Join(shared, "corpus", "kubevirt__kubevirt.github.io", "2020-02-25-Advanced-scheduling-with-affinity-rules."+part))
		if err != nil {
			t.Fatal(err)
		}
		if found := strings.Contains(string(text), misspelt); found != (part == "L428.yaml") {
			t.Fatalf("%s names %s: %v", part, misspelt, found)
		}
		if err := os.WriteFile(filepath.Join(dir, part), []byte(strings.ReplaceAll(string(text), misspelt, key)), 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, part)
	}
	doc := place(t, lint.Options{
		Dir: dir, Root: dir, Paths: paths, Topology: []string{filepath.Join(shared, "topologies", "six-nodes-three-zones.yaml")},
	})
	if len(doc.Workloads) != 3 || len(doc.Invalid)+len(doc.Unmodelled) > 0 {
		t.Fatalf("want a decision about three workloads: %+v", doc)
	}
	return doc
}

// TestCustomAppFits decides about the whole application with the key put right:
// whatever the order and the choice of nodes, all pods are placed.
func TestCustomAppFits(t *testing.T) {
	doc := customApp(t, "kubernetes.io/hostname")
	if doc.Verdict != "always" || doc.RulesVerdict != "always" || doc.Stuck != nil {
		t.Errorf("%s (rules alone: %s), stuck: %+v", doc.Verdict, doc.RulesVerdict, doc.Stuck)
	}
	if want := (diag.PlacementPods{Total: 9, MaxPlaced: 9, MinPlaced: 9, Exact: true}); doc.Pods != want || len(doc.Witness) != 9 {
		t.Errorf("%+v, %d witnessed, want %+v", doc.Pods, len(doc.Witness), want)
	}
	for _, w := range doc.Workloads {
		if w.Verdict != "always" || w.Replicas != 3 || w.MinPlaced != 3 || len(w.Core)+len(w.Repairs) > 0 {
			t.Errorf("%+v, want always, 3 of 3, without a core", w)
		}
	}
	for _, step := range doc.Witness {
		if step.Node == "kni-control-plane" {
			t.Errorf("%s is on the tainted control plane", step.Workload)
		}
	}
}

// TestCustomAppAsPublished decides about it as it was published: the appliance
// asks for a topology key that no node has, the other two are not to blame.
func TestCustomAppAsPublished(t *testing.T) {
	doc := customApp(t, misspelt)
	if doc.Verdict != "never" || doc.RulesVerdict != "never" {
		t.Errorf("%s (rules alone: %s), want never", doc.Verdict, doc.RulesVerdict)
	}
	if want := (diag.PlacementPods{Total: 9, MaxPlaced: 6, MinPlaced: 6, Exact: true}); doc.Pods != want {
		t.Errorf("%+v, want %+v", doc.Pods, want)
	}
	for _, w := range doc.Workloads {
		if w.Name == "blackbox" {
			blackboxCore(t, w)
			continue
		}
		if w.Verdict != "always" || w.MinPlaced != 3 || len(w.Core)+len(w.Repairs) > 0 {
			t.Errorf("%+v, want always, 3 of 3, without a core", w)
		}
	}
}

// blackboxCore demands that the core is about the misspelt key, at its place,
// and that there is a way out.
func blackboxCore(t *testing.T, w diag.PlacementWorkload) {
	t.Helper()
	if w.Verdict != "never" || w.MaxPlaced != 0 {
		t.Errorf("%s, at most %d, want never, 0", w.Verdict, w.MaxPlaced)
	}
	named := 0
	for _, c := range w.Core {
		if strings.Contains(c.Text, misspelt) {
			named++
			if c.Field != "podAffinity" || c.File != "L428.yaml" || c.Line != 20 {
				t.Errorf("%+v, want the podAffinity term at L428.yaml:20", c)
			}
		}
	}
	if named != 1 || len(w.Repairs) == 0 {
		t.Errorf("%d members of the core name %s, %d repairs: %+v %q", named, misspelt, len(w.Repairs), w.Core, w.Repairs)
	}
}

// TestCoreNamesTheOthers is about a pod that must be with one that keeps it
// off: neither rule can be met beside the other, so a core has both. The other
// pod is there, so that its being wanted alone is no contradiction.
func TestCoreNamesTheOthers(t *testing.T) {
	e := engine(t)
	nodes := machines(2, "", "x-a", "x-b")
	last := pods("Deployment", "x-last", 1, affinity(near(from(byHost, "app", "x-first"))))
	willing := ask(t, e, variant{nodes: nodes, files: whole([]string{pods("Deployment", "x-first", 1), last})})
	if willing.place.Verdict != "always" {
		t.Errorf("%s without the rule of the other, want always", willing.place.Verdict)
	}
	for _, first := range []string{
		pods("Deployment", "x-first", 1, affinity(away(from(byHost, "app", "x-last")))),
		pods("Deployment", "x-first", 1, affinity(away(from(byZone, "tier", "x-tier")))),
	} {
		unwilling := ask(t, e, variant{nodes: nodes, files: whole([]string{first, last})})
		for _, w := range unwilling.place.Workloads {
			if w.Name != "x-last" {
				continue
			}
			if w.Verdict != "never" || !slices.ContainsFunc(w.Core, func(c diag.PlacementCore) bool {
				return strings.Contains(c.Text, "x-first: required anti-affinity")
			}) {
				t.Errorf("%s, and the core does not name the anti-affinity of x-first: %+v", w.Verdict, w.Core)
			}
		}
	}
}
