//go:build ci

package lint_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
)

// fault is a known fault of the corpus: a rule and part of a path.
type fault struct{ rule, path string }

// projects returns the directories of the corpus, each the tree of one repository.
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

// TestCorpus lints about 500 manifests of other projects, one by one. Known faults are found, and
// manifests that are known to be correct are not reported.
func TestCorpus(t *testing.T) {
	dir := linttest.Corpus(t)
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
				if n := givenUp(report.Summary.Unknown); n > 0 {
					t.Errorf("%s: %d answers are open for want of steps", project, n)
				}
				if topology != "" {
					placed(t, dir, topology, project)
				}
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

// givenUp counts the questions that exceeded their step budget.
func givenUp(open []diag.Skip) (n int) {
	for _, k := range open {
		if k.Budget {
			n += k.Count
		}
	}
	return n
}

// placed places a project and checks that no question exceeds its step budget.
func placed(t *testing.T, dir, topology, project string) {
	t.Helper()
	doc, err := lint.Place(context.Background(), lint.Options{Dir: dir, Root: dir, Paths: []string{"corpus/" + project}, Topology: []string{topology}, Policy: linttest.Engine(t)})
	if doc == nil {
		t.Fatal(err)
	}
	for _, d := range doc.Decisions {
		if n := givenUp(d.Unknown); n > 0 {
			t.Errorf("%s: placing leaves %d answers open for want of steps", project, n)
		}
	}
}

// knownFaults returns the known faults. It omits the affinity of argocd-server and
// argocd-repo-server in base, because the kustomization ha/base patches it.
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

// traps returns files that look wrong and are not, or that are not manifests.
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

// TestRenderedCorpusPlaces renders every kustomization of other projects and looks up the source of
// every scalar in every result in the same way as for a finding.
func TestRenderedCorpusPlaces(t *testing.T) {
	dir := filepath.Join(linttest.Corpus(t), "corpus")
	var all placeFigures
	for _, project := range projects(t, dir) {
		all.tree(t, filepath.Join(dir, project), nil)
	}
	all.hold(t)
}

// TestRenderedCorpusFindings checks that known faults of other projects are reported on the
// lines that a person would change.
func TestRenderedCorpusFindings(t *testing.T) {
	dir, err := filepath.EvalSymlinks(filepath.Join(linttest.Corpus(t), "corpus"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		project, root string
		nodes         int
		want          string
	}{
		{"argoproj__argo-cd", "manifests/ha/namespace-install", 3, "rollout-deadlock manifests/ha/base/redis-ha/chart/upstream.yaml:1209"},
		{"kubernetes-sigs__metrics-server", "manifests/overlays/release-ha", 1, "anti-affinity-exceeds-domains manifests/components/high-availability/patch.yaml:17"},
		{"kubernetes-sigs__metrics-server", "manifests/overlays/release-ha", 2, ""},
	} {
		nodes := filepath.Join(t.TempDir(), "nodes.yaml")
		if err := os.WriteFile(nodes, []byte(linttest.Workers(c.nodes, 0)), 0o644); err != nil {
			t.Fatal(err)
		}
		report, err := runRendering(t, []string{c.root}, "", nil, filepath.Join(dir, c.project), []string{nodes})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, d := range errorsOf(report) {
			found = append(found, fmt.Sprintf("%s %s:%d", d.Rule, d.Location.File, d.Location.Line))
		}
		if got := strings.Join(found, ", "); got != c.want {
			t.Errorf("%s on %d nodes: errors %q, want %q", c.root, c.nodes, got, c.want)
		}
	}
}

// TestCorpusBaselineOutlivesMoves runs outlivesMoves on the manifests of other projects.
func TestCorpusBaselineOutlivesMoves(t *testing.T) {
	shared := linttest.Corpus(t)
	outlivesMoves(t, filepath.Join(shared, "corpus"), filepath.Join(shared, "topologies", "kind-3-workers.yaml"), 100)
}

// TestCorpusEditsFix runs editsFix on other projects, on several clusters.
func TestCorpusEditsFix(t *testing.T) {
	var all []tree
	shared := linttest.Corpus(t)
	for _, project := range projects(t, filepath.Join(shared, "corpus")) {
		one := tree{project, filepath.Join(shared, "corpus", project), ".", ""}
		all = append(all, one)
		for _, name := range []string{"eks-3az.yaml", "kind-3-workers.yaml"} {
			one.name, one.topology = project+" on "+name, filepath.Join(shared, "topologies", name)
			all = append(all, one)
		}
	}
	editsFix(t, all)
}

// TestCorpusHealthyFactsAreSpared runs spared on other projects.
func TestCorpusHealthyFactsAreSpared(t *testing.T) {
	shared := linttest.Corpus(t)
	for _, project := range projects(t, filepath.Join(shared, "corpus")) {
		spared(t, filepath.Join(shared, "corpus", project), filepath.Join(shared, "topologies", "eks-3az.yaml"))
	}
}
