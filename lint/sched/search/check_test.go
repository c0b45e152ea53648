package search_test

import (
	"slices"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// TestCheckerRefusesFalseProofs claims that small random clusters are always or never placed, with
// every kind of proof. The checker must accept no proof of a false claim, and some proofs of every
// kind for true claims.
func TestCheckerRefusesFalseProofs(t *testing.T) {
	cases := trials.Of(t, 2500)
	taken := map[string]int{}
	for seed := range trials.Seeds(t, cases) {
		text, m, want := enumerated(t, seed, 37)
		if m == nil {
			continue
		}
		for _, never := range []bool{false, true} {
			kinds, ok := search.Accepted(m, never)
			if !ok {
				continue
			}
			claim := diag.Always
			if never {
				claim = diag.Never
			}
			if want.verdict() != claim && len(kinds) > 0 {
				t.Fatalf("seed %d: %v prove %s of what is %s\n%s", seed, kinds, claim, want.verdict(), text)
			}
			if want.verdict() == claim && !slices.Contains(kinds, "explored") {
				t.Errorf("seed %d: going through all states does not show %s\n%s", seed, claim, text)
			}
			for _, kind := range kinds {
				taken[kind]++
			}
		}
	}
	t.Log(taken)
	for _, kind := range []string{"explored", "shape", "roomy", "limit", "outweighed", "crammed"} {
		if taken[kind] < trials.Share(t, 100) {
			t.Errorf("no proof of the kind %s is ever taken: %v", kind, taken)
		}
	}
}
