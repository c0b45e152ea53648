package main

import (
	"os"
	"strconv"
	"testing"

	"github.com/schedlint/schedlint/fixtures/clusters"
)

// TestScores compares the nodes that the scheduler scores best with ours, on the
// way of random runs of softened cases. SCHEDLINT_STATES sets how many states of
// each family are compared.
func TestScores(t *testing.T) {
	want := 300
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
			for i := 0; compared < want && failed < 3 && i < 40*want; i++ {
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
