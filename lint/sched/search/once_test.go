package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

const threeNodes = `
apiVersion: schedlint.dev/v1alpha1
kind: NodeTopology
pools: [{name: p, count: 3, allocatable: {cpu: "4", memory: 8Gi, pods: 20}}]
`

// sharing returns Deployments with the given replicas that share a claim with an access mode.
func sharing(mode string, replicas ...int) string {
	text := fmt.Sprintf(`---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: free}, provisioner: nfs.csi.k8s.io, volumeBindingMode: WaitForFirstConsumer}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: d}, spec: {storageClassName: free, accessModes: [%s], resources: {requests: {storage: 1Gi}}}}
`, mode)
	for i, n := range replicas {
		text += requesting(string(rune('a'+i)), n, "cpu: 100m", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]")
	}
	return text
}

// TestCheckerKnowsClaims makes the mistakes of a search that does not know that one pod at a time can
// use a ReadWriteOncePod claim. The checker must refuse what it says.
func TestCheckerKnowsClaims(t *testing.T) {
	for _, replicas := range [][]int{{2}, {3}, {1, 1}, {1, 2}} {
		m, _ := models.Of(t, threeNodes, sharing("ReadWriteOncePod", replicas...))
		free, _ := models.Of(t, threeNodes, sharing("ReadWriteMany", replicas...))
		wrong := search.Decide(free, search.Options{})
		if wrong.Verdict != diag.Always {
			t.Fatalf("%v: %s without the rule", replicas, wrong.Verdict)
		}
		of := func(w *workload.Workload) *workload.Workload { return m.Workloads[slices.Index(free.Workloads, w)] }
		for i := range wrong.Witness {
			p := &wrong.Witness[i]
			n, _ := m.IndexOf(p.Node.Name)
			p.Workload, p.Node = of(p.Workload), m.Topology.Nodes[n]
		}
		if err := (check.Checker{}).Verify(m, wrong); err == nil || !strings.Contains(err.Error(), string(certificate.RefusedByRestrictions)) {
			t.Errorf("%v: the checker says %v of a run that places all pods", replicas, err)
		}
		if kinds, ok := search.Accepted(m, false); !ok || len(kinds) > 0 {
			t.Errorf("%v: %v prove that all pods are placed", replicas, kinds)
		}
		if kinds, _ := search.Accepted(m, true); !slices.Contains(kinds, "explored") || !slices.Contains(kinds, "outweighed") {
			t.Errorf("%v: only %v prove that not all pods are placed", replicas, kinds)
		}
		right := search.Decide(m, search.Options{})
		if right.Verdict != diag.Never || right.MaxPlaced != 1 || right.MinPlaced != 1 {
			t.Errorf("%v: %s, %d to %d placed", replicas, right.Verdict, right.MinPlaced, right.MaxPlaced)
		}
	}
}

// TestCheckerKnowsClaimsInRollouts does the same for rollouts. The two workloads are the revisions.
func TestCheckerKnowsClaimsInRollouts(t *testing.T) {
	for _, c := range []struct {
		rollout certificate.Rollout
		want    diag.Outcome
	}{
		{certificate.Rollout{Surge: 1}, diag.Never}, {certificate.Rollout{Unavailable: 1}, diag.Always},
		{certificate.Rollout{Surge: 1, Unavailable: 1}, diag.Always}, {certificate.Rollout{Surge: 1, Whole: true}, diag.Never},
		{certificate.Rollout{Unavailable: 1, Empty: true}, diag.Always},
	} {
		ask := func(m *model.Model) certificate.Rollout {
			r := c.rollout
			r.Old, r.Fresh = m.Workloads[0], m.Workloads[1]
			return r
		}
		m, _ := models.Of(t, threeNodes, sharing("ReadWriteOncePod", 1, 1))
		out := search.Roll(m, ask(m), search.Options{})
		if out.Verdict != c.want {
			t.Errorf("%+v: %s, want %s", c.rollout, out.Verdict, c.want)
		}
		if err := (check.Checker{}).Roll(m, ask(m), &certificate.Rolled{Verdict: diag.Always}, certificate.CheckSteps); (err == nil) != (c.want == diag.Always) {
			t.Errorf("%+v: the checker says %v of a rollout that always completes", c.rollout, err)
		}
	}
}
