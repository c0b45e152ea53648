package lint_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
)

// corpus is a collection of other projects' manifests that may lie beside the
// checkout; tests that read it are skipped where it does not, but not by .ci/run.
func corpus(t *testing.T) string {
	dir, err := filepath.Abs("../../shared")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "corpus")); err != nil {
		if os.Getenv("SCHEDLINT_REQUIRE_TOOLS") == "1" {
			t.Fatal("no corpus beside the checkout")
		}
		t.Skip("no corpus beside the checkout")
	}
	return dir
}

// lintFiles writes files into a directory of their own and lints them all.
func lintFiles(t *testing.T, topology string, files map[string]string) *diag.Report {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
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

// TestSevenReplicasOnSixNodes is the question that the project began with.
func TestSevenReplicasOnSixNodes(t *testing.T) {
	if got := errorsOf(lintFiles(t, sixNodes, map[string]string{"web.yaml": webManifest("6", hardHost)})); len(got) > 0 {
		t.Errorf("six replicas on six nodes: %v", got)
	}
	got := errorsOf(lintFiles(t, sixNodes, map[string]string{"web.yaml": webManifest("7", hardHost)}))
	if len(got) != 1 || got[0].Rule != "anti-affinity-exceeds-domains" {
		t.Fatalf("seven replicas on six nodes: %v", got)
	}
	for _, number := range []string{"7 replicas", "6 nodes", "1 pod "} {
		if !strings.Contains(reported(&got[0]), number) {
			t.Errorf("no %q in %q", number, reported(&got[0]))
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

// TestMatchLabelKeys is R-V35 and R-A21.
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

// TestVirtualMachinesInThreeZones lints the three workloads of a post on the
// nodes that it describes: two of them fit, of which one can never roll out, and
// the third one names a topology key that no node has.
func TestVirtualMachinesInThreeZones(t *testing.T) {
	dir := corpus(t)
	post := "corpus/kubevirt__kubevirt.github.io/2020-02-25-Advanced-scheduling-with-affinity-rules."
	report, err := run(t, dir, []string{"topologies/six-nodes-three-zones.yaml"}, post+"L256.yaml", post+"L352.yaml", post+"L428.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if cache := errorsAbout(report, "varnish-cache"); len(cache) != 1 || cache[0].Rule != "rollout-deadlock" || cache[0].Location.Line != 28 {
		t.Errorf("want one error about varnish-cache, got %v", cache)
	}
	errs := errorsAbout(report, "blackbox")
	if len(errs) != 1 || errs[0].Rule != "affinity-never-satisfied" || len(errorsOf(report)) != 2 {
		t.Fatalf("want one error about blackbox, got %v", errorsOf(report))
	}
	if !strings.Contains(reported(&errs[0]), "did you mean kubernetes.io/hostname?") || errs[0].Location.Line != 26 {
		t.Errorf("line %d: %s", errs[0].Location.Line, reported(&errs[0]))
	}
}

// fault is one that is known to be in the corpus: a rule and part of a path.
type fault struct{ rule, path string }

// projects are the directories of the corpus, each the tree of one repository.
func projects(t *testing.T, corpus string) []string {
	t.Helper()
	entries, err := os.ReadDir(corpus)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, e.Name())
		}
	}
	return all
}

// TestCorpus lints some 500 manifests of other projects, one by one: known
// faults are found, and what is known to be right is not reported.
func TestCorpus(t *testing.T) {
	dir := corpus(t)
	for _, topology := range []string{"", "topologies/six-nodes-three-zones.yaml", "topologies/kind-3-workers.yaml", "topologies/eks-3az.yaml", "topologies/bare-metal-no-zone-labels.yaml"} {
		t.Run(topology, func(t *testing.T) {
			var nodes []string
			if topology != "" {
				nodes = []string{topology}
			}
			var found []diag.Diagnostic
			for _, project := range projects(t, filepath.Join(dir, "corpus")) {
				report, err := run(t, dir, nodes, "corpus/"+project)
				if err != nil && !errors.Is(err, lint.ErrNothing) {
					t.Fatal(err)
				}
				found = append(found, report.Diagnostics...)
			}
			faults := knownFaults()
			if topology == "" {
				faults = append(faults, nodeFreeFaults()...)
			}
			for _, f := range faults {
				if !slices.ContainsFunc(found, func(d diag.Diagnostic) bool {
					return d.Rule == f.rule && strings.Contains(d.Location.File, f.path)
				}) {
					t.Errorf("%s not found in %s", f.rule, f.path)
				}
			}
			for _, d := range found {
				for _, trap := range traps() {
					if strings.Contains(d.Location.File, trap.path) && (trap.rule == "" || trap.rule == d.Rule) {
						t.Errorf("%s:%d: %s: %s", d.Location.File, d.Location.Line, d.Rule, d.Message)
					}
				}
			}
		})
	}
}

// knownFaults leaves out what a kustomization of the tree changes: the affinity of
// argocd-server and argocd-repo-server in base, which ha/base patches.
func knownFaults() []fault {
	return []fault{
		{"selector-misses-own-pods", "base/redis/argocd-redis-deployment.yaml"},
		{"selector-misses-own-pods", "base/commit-server/argocd-commit-server-deployment.yaml"},
		{"selector-misses-own-pods", "base/dex/argocd-dex-server-deployment.yaml"},
		{"selector-misses-own-pods", "base/application-controller/argocd-application-controller-statefulset.yaml"},
		{"selector-misses-own-pods", "zookeeper/zookeeper.yaml"},
		{"rejected-by-api", "website/content/en/examples/deployments/deployment-with-capacity-reservation.yaml"},
		{"rejected-by-api", "pods/pod-with-node-affinity.yaml"},
	}
}

func nodeFreeFaults() []fault {
	return []fault{
		{"unknown-topology-key", "at-74cb082b26d8/content/en/examples/deployments/deployment-with-capacity-reservation.yaml"},
		{"unknown-topology-key", "affinity-rules.L428.yaml"},
		{"deprecated-node-label", "demo_1/metrics-server.yaml"},
		{"deprecated-node-label", "supervisorcluster/1.15/cns-csi.yaml"},
		{"deprecated-node-label", "supervisorcluster/1.23/cns-csi.yaml"},
	}
}

// traps are files that look wrong and are not, or not manifests at all.
func traps() []fault {
	return []fault{
		{"", "apitesting/testdata/HEAD"},
		{"", "affinity-rules.L603.yaml"},
		{"", "manifests/ha/base/overlays/"},
		{"", "components/high-availability/patch.yaml"},
		{"", "redis-ha/chart/values.yaml"},
		{"", "podDisruptionBudget"},
		{"rejected-by-api", "website/content/en/examples/pods/pod-with-toleration.yaml"},
		{"rejected-by-api", "install_ha_output"},
		{"anti-affinity-exceeds-domains", "cilium"},
	}
}
