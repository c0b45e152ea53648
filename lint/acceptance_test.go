package lint_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/lint/diag"
)

// lintFiles writes files into a new directory and lints them all.
func lintFiles(t *testing.T, topology string, files map[string]string) *diag.Report {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var nodes []string
	if topology != "" {
		if err := os.WriteFile(filepath.Join(dir, "nodes.yaml"), []byte(topology), 0o644); err != nil {
			t.Fatal(err)
		}
		nodes = []string{"nodes.yaml"}
	}
	report, err := run(t, dir, nodes, ".")
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func errorsOf(r *diag.Report) []diag.Diagnostic {
	return slices.DeleteFunc(slices.Clone(r.Diagnostics), func(d diag.Diagnostic) bool { return d.Level != diag.LevelError })
}

const sixNodes = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: worker, count: 6}\n"

func webManifest(replicas, affinity string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: " + replicas +
		"\n  selector:\n    matchLabels: {app: web}\n  template:\n    metadata:\n      labels: {app: web}\n    spec:\n" + affinity +
		"      containers:\n      - {name: web, image: example.com/web}\n"
}

const hardHost = `      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - labelSelector:
              matchLabels: {app: web}
            topologyKey: kubernetes.io/hostname
`

const softHost = `      affinity:
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 100
            podAffinityTerm:
              topologyKey: kubernetes.io/hostname
              labelSelector:
                matchLabels: {app: web}
`

// TestSevenReplicasOnSixNodes checks the question that motivated the project.
func TestSevenReplicasOnSixNodes(t *testing.T) {
	if got := errorsOf(lintFiles(t, sixNodes, map[string]string{"web.yaml": webManifest("6", hardHost)})); len(got) > 0 {
		t.Errorf("six replicas on six nodes: %v", got)
	}
	got := errorsOf(lintFiles(t, sixNodes, map[string]string{"web.yaml": webManifest("7", hardHost)}))
	if len(got) != 1 || got[0].Rule != "anti-affinity-exceeds-domains" {
		t.Fatalf("seven replicas on six nodes: %v", got)
	}
	for _, number := range []string{"7 replicas", "6 nodes", "1 pod "} {
		if !strings.Contains(linttest.Text(&got[0]), number) {
			t.Errorf("no %q in %q", number, linttest.Text(&got[0]))
		}
	}
	if at := got[0].Location; at.Line != 16 || at.Column != 13 {
		t.Errorf("at %d:%d, want the first key of the term at 16:13", at.Line, at.Column)
	}
	soft := lintFiles(t, sixNodes, map[string]string{"web.yaml": webManifest("7", softHost)})
	if got := errorsOf(soft); len(got) > 0 {
		t.Errorf("a preference is no error: %v", got)
	}
	if findings(soft) != "6 replicas-share-a-node" {
		t.Errorf("a preference keeps nobody apart: %s", findings(soft))
	}
}

// TestMatchLabelKeys checks R-V35 and R-A21.
func TestMatchLabelKeys(t *testing.T) {
	term := func(use, more string) string {
		return "      affinity:\n        " + use + ":\n          requiredDuringSchedulingIgnoredDuringExecution:\n          - topologyKey: topology.kubernetes.io/zone\n" + more
	}
	got := lintFiles(t, "", map[string]string{"web.yaml": webManifest("1", term("podAffinity", "            matchLabelKeys: [tenant]\n"))})
	if errs := errorsOf(got); len(errs) != 1 || errs[0].Rule != "rejected-by-api" || errs[0].Location.Line != 17 {
		t.Errorf("matchLabelKeys without a labelSelector: %v", errs)
	}
	clean := lintFiles(t, "", map[string]string{"web.yaml": webManifest("1", term("podAntiAffinity", "            labelSelector:\n              matchLabels: {app: web}\n            matchLabelKeys: [pod-template-hash]\n"))})
	if findings(clean) != "" {
		t.Errorf("matchLabelKeys: [pod-template-hash]: %s", findings(clean))
	}
}

// TestVirtualMachinesInThreeZones lints the three workloads of an application. Two of them fit, but
// one of these can never roll out. The third names a topology key that no node has.
func TestVirtualMachinesInThreeZones(t *testing.T) {
	report, err := run(t, "../fixtures/apps", []string{"nodes.yaml"}, "ledger.yaml", "cache.yaml", "scanner.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if cache := errorsAbout(report, "cache"); len(cache) != 1 || cache[0].Rule != "rollout-deadlock" || cache[0].Location.Line != 23 {
		t.Errorf("want one error about cache, got %v", cache)
	}
	errs := errorsAbout(report, "scanner")
	if len(errs) != 1 || errs[0].Rule != "affinity-never-satisfied" || len(errorsOf(report)) != 2 {
		t.Fatalf("want one error about scanner, got %v", errorsOf(report))
	}
	if !strings.Contains(errs[0].Message, rightKey) || errs[0].Location.Line != 19 {
		t.Errorf("line %d: %s", errs[0].Location.Line, errs[0].Message)
	}
}

// errorsAbout returns the errors about one object.
func errorsAbout(r *diag.Report, name string) []diag.Diagnostic {
	return slices.DeleteFunc(errorsOf(r), func(d diag.Diagnostic) bool { return d.Object.Name != name })
}
