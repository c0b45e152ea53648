package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostileNames are names that would be markup, script, hidden text or a wide page if anything took them
// for more than text.
var hostileNames = []string{
	`<img src=x onerror="window.hacked=1">`, `</script><script>window.hacked=1</script>`, `"'><svg onload=alert(1)>`,
	"a\u202egnp.exe\u2066", "<!--", `]]>{{alert(1)}}`, "\u2028window.hacked=1//", strings.Repeat("long-", 60),
}

// hostileCluster writes a cluster whose zones, pools, nodes, taints and workloads have hostile names.
func hostileCluster(t testing.TB, dir string) {
	t.Helper()
	var nodes, manifests strings.Builder
	for i, name := range hostileNames {
		fmt.Fprintf(&nodes, "---\napiVersion: v1\nkind: Node\nmetadata: {name: %[1]q, labels: {topology.kubernetes.io/zone: %[1]q, kubernetes.io/hostname: %[1]q}}\nspec: {taints: [{key: example.com/t, value: %[1]q, effect: PreferNoSchedule}]}\nstatus: {allocatable: {cpu: \"2\", pods: \"4\"}}\n", name)
		fmt.Fprintf(&manifests, "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %q, namespace: %q}\nspec:\n  replicas: 3\n  selector: {matchLabels: {app: a%d}}\n  template:\n    metadata: {labels: {app: a%d}}\n    spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 900m}}}]}\n", name, name, i, i)
	}
	for name, text := range map[string]string{"nodes.yaml": nodes.String(), "manifests/<b>all.yaml": manifests.String()} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWritePageTrees writes the clusters that .ci/page draws.
func TestWritePageTrees(t *testing.T) {
	dir := os.Getenv("SCHEDLINT_PAGE_TREES")
	if dir == "" {
		dir = t.TempDir()
	} else {
		largeCluster(t, filepath.Join(dir, "large"), 5000, 1500)
	}
	hostileCluster(t, filepath.Join(dir, "hostile"))
	if _, err := os.Stat(filepath.Join(dir, "hostile", "nodes.yaml")); err != nil {
		t.Error(err)
	}
}
