package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
)

// TestRefusalCostsOneComponent checks that a failed certificate leaves its component unknown and is
// reported, while the other components keep their verdicts.
func TestRefusalCostsOneComponent(t *testing.T) {
	m, _ := modelOf(t, `
apiVersion: schedlint.dev/v1alpha1
kind: NodeTopology
pools:
- {name: a, count: 2, labels: {for: a}, allocatable: {cpu: "4", pods: "110"}}
- {name: b, count: 2, labels: {for: b}, allocatable: {cpu: "4", pods: "110"}}
`, apartOn("a", 3)+"---\n"+apartOn("b", 2))
	m.Run().OnRefusal = nil
	got := search.HoldFalse(m)
	if want := []diag.Outcome{diag.Unknown, diag.Always}; !slices.Equal(got, want) {
		t.Errorf("verdicts %v, want %v", got, want)
	}
	if refused := m.Run().Refused; len(refused) != 1 || len(refused[0].Objects) != 1 || refused[0].Objects[0].Name != "a" {
		t.Errorf("refused: %v", refused)
	}
}

// TestRunCostsItsComponent checks that a failed run leaves only its own component unknown and is
// reported, while the other components keep their verdicts and the rest of the run still holds.
func TestRunCostsItsComponent(t *testing.T) {
	m, _ := modelOf(t, sixNodes, apartOn("a", 3)+"---\n"+apartOn("b", 2))
	m.Run().OnRefusal = nil
	d := search.ConfirmFalse(m, "a")
	for i, want := range []diag.Outcome{diag.Unknown, diag.Always} {
		if w := &d.Workloads[i]; w.Verdict != want || w.MaxPlaced != w.Pods {
			t.Errorf("%s: %s with at most %d pods, want %s", w.Workload, w.Verdict, w.MaxPlaced, want)
		}
	}
	if d.Verdict != diag.Unknown || len(d.Witness) != 2 || d.MinPlaced != 2 || d.MaxPlaced != 5 {
		t.Errorf("%s with %d pods placed, %d to %d", d.Verdict, len(d.Witness), d.MinPlaced, d.MaxPlaced)
	}
	if refused := m.Run().Refused; len(refused) != 1 || len(refused[0].Objects) != 1 || refused[0].Objects[0].Name != "a" {
		t.Errorf("refused: %v", refused)
	}
}

// TestFaultCostsOneQuestion checks that a panic leaves only its question open, is reported, and
// says where it occurred. A question that runs out of steps is not a fault.
func TestFaultCostsOneQuestion(t *testing.T) {
	m, _ := modelOf(t, sixNodes, apartOn("a", 3)+"---\n"+apartOn("b", 2))
	m.Run().OnRefusal = nil
	var nothing *certificate.Decision
	purse := m.SharedBudget([]*source.Object{m.Workloads[0].Object})
	for what, ask := range map[string]func(f func()) bool{
		"Ask":   func(f func()) bool { return m.Ask(m.Workloads[:1], "q", 1000, f) },
		"Purse": func(f func()) bool { return purse.Ask(m.Workloads[0].Object, "q", f) },
	} {
		m.Run().Refused, m.Run().GivenUp = nil, nil
		if !ask(func() {}) || ask(func() { nothing.Total++ }) || !ask(func() {}) {
			t.Errorf("%s: a fault is not told from an answer", what)
		}
		refused := m.Run().Refused
		if len(refused) != 1 || !refused[0].Failed || !strings.Contains(refused[0].Err.Error(), "nil pointer dereference (") ||
			!strings.Contains(refused[0].Err.Error(), "run_test.go:") || refused[0].Objects[0] != m.Workloads[0].Object {
			t.Errorf("%s: %+v", what, refused)
		}
		if ask(func() { m.Run().Spend(1 << 40) }) || len(m.Run().Refused) != 1 || len(m.Run().GivenUp) != 1 {
			t.Errorf("%s: steps that are over count as a fault", what)
		}
	}
}

const sixNodes = `
apiVersion: schedlint.dev/v1alpha1
kind: NodeTopology
pools:
- {name: a, count: 3, labels: {for: a}, allocatable: {cpu: "4", pods: "110"}}
- {name: b, count: 3, labels: {for: b}, allocatable: {cpu: "4", pods: "110"}}
`

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
