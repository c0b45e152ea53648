package placement_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/schedlint/schedlint/lint/placement"
)

// TestRefusalCostsOneComponent: a certificate that does not hold leaves its component
// open and is told; the others keep their verdicts.
func TestRefusalCostsOneComponent(t *testing.T) {
	m, _ := model(t, `
apiVersion: schedlint.dev/v1alpha1
kind: NodeTopology
pools:
- {name: a, count: 2, labels: {for: a}, allocatable: {cpu: "4", pods: "110"}}
- {name: b, count: 2, labels: {for: b}, allocatable: {cpu: "4", pods: "110"}}
`, apartOn("a", 3)+"---\n"+apartOn("b", 2))
	m.Run().OnRefusal = nil
	got := placement.HoldFalse(m)
	if want := []placement.Verdict{placement.Undetermined, placement.Always}; !slices.Equal(got, want) {
		t.Errorf("verdicts %v, want %v", got, want)
	}
	if refused := m.Run().Refused; len(refused) != 1 || len(refused[0].Workloads) != 1 || refused[0].Workloads[0].Object.Name != "a" {
		t.Errorf("refused: %v", refused)
	}
}

// TestRunCostsItsComponent: a run that does not hold leaves the component open that is
// at fault in it, and is told; the others keep their verdicts, and the rest of the run
// still holds.
func TestRunCostsItsComponent(t *testing.T) {
	m, _ := model(t, `
apiVersion: schedlint.dev/v1alpha1
kind: NodeTopology
pools:
- {name: a, count: 3, labels: {for: a}, allocatable: {cpu: "4", pods: "110"}}
- {name: b, count: 3, labels: {for: b}, allocatable: {cpu: "4", pods: "110"}}
`, apartOn("a", 3)+"---\n"+apartOn("b", 2))
	m.Run().OnRefusal = nil
	d := placement.ConfirmFalse(m, "a")
	for i, want := range []placement.Verdict{placement.Undetermined, placement.Always} {
		if w := &d.Workloads[i]; w.Verdict != want || w.MaxPlaced != w.Pods {
			t.Errorf("%s: %s with at most %d pods, want %s", w.Workload, w.Verdict, w.MaxPlaced, want)
		}
	}
	if d.Verdict != placement.Undetermined || len(d.Witness) != 2 || d.MinPlaced != 2 || d.MaxPlaced != 5 {
		t.Errorf("%s with %d pods placed, %d to %d", d.Verdict, len(d.Witness), d.MinPlaced, d.MaxPlaced)
	}
	if refused := m.Run().Refused; len(refused) != 1 || len(refused[0].Workloads) != 1 || refused[0].Workloads[0].Object.Name != "a" {
		t.Errorf("refused: %v", refused)
	}
}

func apartOn(name string, replicas int) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      nodeSelector: {for: %[1]s}
      containers: [{name: c, image: c}]
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: %[1]s}}}
`, name, replicas)
}
