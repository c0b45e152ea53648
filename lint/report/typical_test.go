package report

import (
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// TestTypically checks the cell about simulated runs. Runs in which a Pending pod can preempt others end open, so
// the cell says how many there are.
func TestTypically(t *testing.T) {
	for want, typical := range map[tableCell]*diag.PlacementTypical{
		{answer: answerNone}: nil,
		{answer: "3 of 8"}:   {Runs: 8, Complete: 3},
		{answer: "3 of 8", note: answerPreempts + " in 5"}: {Runs: 8, Complete: 3, Preempts: 5},
		{answer: "0 of 1", note: answerPreempts + " in 1"}: {Runs: 1, Preempts: 1},
	} {
		if got := typically(&diag.PlacementWorkload{Typical: typical}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
