package metamorphic

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
)

// threeZones decides about the three workloads of an application together, on six workers in
// three zones and a control plane. The third one gets the given topology key.
func threeZones(t *testing.T, key string) *diag.Placement {
	t.Helper()
	apps, dir := filepath.Join("..", "..", "fixtures", "apps"), t.TempDir()
	paths := []string{"ledger.yaml", "cache.yaml", "scanner.yaml"}
	for _, name := range append(slices.Clone(paths), "nodes.yaml") {
		text, err := os.ReadFile(filepath.Join(apps, name))
		if err != nil {
			t.Fatal(err)
		}
		if found := strings.Contains(string(text), "topology.kubernetes.io/hostname"); found != (name == "scanner.yaml") {
			t.Fatalf("%s names %s: %v", name, "topology.kubernetes.io/hostname", found)
		}
		linttest.Put(t, filepath.Join(dir, name), strings.ReplaceAll(string(text), "topology.kubernetes.io/hostname", key))
	}
	doc := linttest.Place(t, lint.Options{Dir: dir, Root: dir, Paths: paths, Topology: []string{"nodes.yaml"}})
	if len(doc.Workloads) != 3 || len(doc.Invalid)+len(doc.Unmodelled) > 0 {
		t.Fatalf("want a decision about three workloads: %+v", doc)
	}
	return doc
}

// TestThreeZonesFit decides about the application with the correct key: for any order and any
// choice of nodes, all pods are placed.
func TestThreeZonesFit(t *testing.T) {
	doc := threeZones(t, byHost)
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
		if step.Node == "control-plane" {
			t.Errorf("%s is on the tainted control plane", step.Workload)
		}
	}
}

// TestThreeZonesMisspelt decides about the original application. The appliance asks for a topology
// key that no node has, and the other two workloads are not affected.
func TestThreeZonesMisspelt(t *testing.T) {
	doc := threeZones(t, "topology.kubernetes.io/hostname")
	if doc.Verdict != "never" || doc.RulesVerdict != "never" {
		t.Errorf("%s (rules alone: %s), want never", doc.Verdict, doc.RulesVerdict)
	}
	if want := (diag.PlacementPods{Total: 9, MaxPlaced: 6, MinPlaced: 6, Exact: true}); doc.Pods != want {
		t.Errorf("%+v, want %+v", doc.Pods, want)
	}
	for _, w := range doc.Workloads {
		if w.Name == "scanner" {
			scannerCore(t, w)
			continue
		}
		if w.Verdict != "always" || w.MinPlaced != 3 || len(w.Core)+len(w.Repairs) > 0 {
			t.Errorf("%+v, want always, 3 of 3, without a core", w)
		}
	}
}

// scannerCore checks that the core is the misspelled key, with its location, and that a repair is
// offered.
func scannerCore(t *testing.T, w diag.PlacementWorkload) {
	t.Helper()
	if w.Verdict != "never" || w.MaxPlaced != 0 {
		t.Errorf("%s, at most %d, want never, 0", w.Verdict, w.MaxPlaced)
	}
	named := 0
	for _, c := range w.Core {
		if strings.Contains(c.Text, "topology.kubernetes.io/hostname") {
			named++
			if c.Field != "podAffinity" || c.File != "scanner.yaml" || c.Line != 17 {
				t.Errorf("%+v, want the podAffinity term at scanner.yaml:17", c)
			}
		}
	}
	if named != 1 || len(w.Repairs) == 0 {
		t.Errorf("%d members of the core name %s, %d repairs: %+v %q", named, "topology.kubernetes.io/hostname", len(w.Repairs), w.Core, w.Repairs)
	}
}

// TestCoreNamesTheOthers checks a pod that must be on the same node as a pod that excludes it. Each
// rule can be met without the other, so a core has both. The other pod exists, so the requirement
// alone is not a contradiction.
func TestCoreNamesTheOthers(t *testing.T) {
	e := linttest.Engine(t)
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
