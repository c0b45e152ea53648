package lint_test

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// liveNodes returns nodes as in the dump of a live cluster.
func liveNodes(r *rand.Rand, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(pooledNode(r, i))
	}
	return b.String()
}

// liveWorkloads returns Deployments for live nodes.
func liveWorkloads(r *rand.Rand, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(pooledWorkload(r, i))
	}
	return b.String()
}

// TestLiveNodesAreDecided checks that no question about the workloads of a live cluster exceeds its
// step budget because all nodes differ (T19). Answers that are unknown because too many workloads
// compete would be unknown on equal nodes as well, and so would placements for which there is no proof.
func TestLiveNodesAreDecided(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(16, 1))
	dir := t.TempDir()
	linttest.Put(t, filepath.Join(dir, "nodes.yaml"), liveNodes(r, trials.AtLeast(t, 400, 120)))
	linttest.Put(t, filepath.Join(dir, "apps.yaml"), liveWorkloads(r, trials.AtLeast(t, 400, 60)))
	report, err := runFor(t, "", []string{"kubernetes.io/hostname", "topology.kubernetes.io/zone"}, dir, []string{"nodes.yaml"}, "apps.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, open := range report.Summary.Unknown {
		noProof := open.Placement && !open.Budget // as place says
		if !noProof && !strings.HasPrefix(open.Reason, message.Reason(model.Reason{Cause: model.ByCrowd})) {
			t.Errorf("open: %v", open)
		}
	}
	if diag.Unsettled(report.Summary.Unknown, "budget") {
		t.Error("a budget was not enough")
	}
}
