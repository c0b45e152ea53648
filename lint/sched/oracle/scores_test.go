package main

import (
	"os"
	"strconv"
	"testing"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/fixtures/trials"
)

// TestScores compares the nodes that the scheduler scores best with ours, on the
// way of random runs of softened cases. SCHEDLINT_STATES sets how many states of
// each family are compared.
func TestScores(t *testing.T) {
	want := trials.AtLeast(t, 300, 30)
	if n, err := strconv.Atoi(os.Getenv("SCHEDLINT_STATES")); err == nil {
		want = n
	}
	comparer := newComparer(options{walks: 2})
	for _, family := range clusters.Families {
		if family == "invalid" {
			continue
		}
		t.Run(family, func(t *testing.T) {
			compared, failed, cases := 0, 0, 0
			for i := range trials.Seeds(t, 40*want) {
				if compared >= want || failed >= 3 {
					break
				}
				c := clusters.Generate(family, 3, uint64(i))
				list, services := soften(c, 5)
				nodes, manifests := c.Text()
				r, err := comparer.CompareScores(t.Context(), nodes, manifests, services, list)
				if err != nil {
					t.Fatal(err)
				}
				compared += r.Filters
				cases++
				for _, f := range r.Findings {
					failed++
					t.Errorf("case %d: %s: %s\n%s%s%s", i, f.Kind, f.Text, nodes, manifests, services)
				}
			}
			t.Logf("%d states of %d cases", compared, cases)
		})
	}
}
