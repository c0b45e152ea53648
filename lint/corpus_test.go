//go:build ci

package lint_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
// manifests that are known to be correct are not reported. Reports and decisions have the digests in
// testdata/corpus.txt, so that none changes unnoticed; SCHEDLINT_UPDATE=1 rewrites them.
func TestCorpus(t *testing.T) {
	dir := linttest.Corpus(t)
	all := digests{}
	defer all.compare(t)
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
				key := fmt.Sprintf("%s %s", project, cmp.Or(strings.TrimSuffix(filepath.Base(topology), ".yaml"), "."))
				all.add(t, key, filesOf(t, filepath.Join(dir, "corpus", project), filepath.Join(dir, topology)), []any{report.Diagnostics, report.Accepted, report.Summary, report.Judged, report.Acting})
				if n := givenUp(report.Summary.Unknown); n > 0 {
					t.Errorf("%s: %d answers are open for want of steps", project, n)
				}
				if topology != "" {
					all.add(t, key, nil, placed(t, dir, topology, project))
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
func placed(t *testing.T, dir, topology, project string) *diag.Placements {
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
	return doc
}

// digests holds digests of inputs and outputs, by project and topology. The first is that of the input.
type digests map[string][]string

func (all digests) add(t *testing.T, key string, input []byte, output any) {
	t.Helper()
	text, err := json.Marshal(output)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range [][]byte{input, text} {
		if part != nil {
			all[key] = append(all[key], fmt.Sprintf("%x", sha256.Sum256(part))[:12])
		}
	}
}

// compare compares digests with those of testdata/corpus.txt that have the same input.
func (all digests) compare(t *testing.T) {
	const golden = "testdata/corpus.txt"
	if os.Getenv("SCHEDLINT_UPDATE") != "" {
		var b strings.Builder
		for _, key := range slices.Sorted(maps.Keys(all)) {
			fmt.Fprintln(&b, key, strings.Join(all[key], " "))
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		key, want := fields[0]+" "+fields[1], fields[2:]
		if got := all[key]; len(got) > 0 && got[0] == want[0] {
			if same++; !slices.Equal(got, want) {
				t.Errorf("%s: the report or the decisions differ from %s; SCHEDLINT_UPDATE=1 takes them over", key, golden)
			}
		}
	}
	t.Logf("%d of %d inputs are as in %s", same, len(all), golden)
}

// filesOf returns the names and the contents of all files in a directory, and a further file.
func filesOf(t *testing.T, dir, further string) []byte {
	t.Helper()
	var b bytes.Buffer
	add := func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %d\n%s", strings.TrimPrefix(path, filepath.Dir(filepath.Dir(dir))), len(text), text)
		return err
	}
	if err := filepath.WalkDir(dir, add); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(further); err == nil && info.Mode().IsRegular() {
		if err := add(further, fs.FileInfoToDirEntry(info), nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
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
