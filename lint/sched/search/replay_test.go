package search_test

import (
	"testing"

	"github.com/schedlint/schedlint/fixtures/recorded"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// TestRecordedAnswers replays cases with answers recorded from the real scheduler's filters (see
// the oracle): the verdict, and the largest and smallest number of placed pods, in total and for
// each workload.
func TestRecordedAnswers(t *testing.T) {
	open := 0
	recorded.Each(t, "../../../fixtures/oracle/*.txtar", func(t *testing.T, c recorded.Case[answer]) {
		want := c.Want
		m, _ := modelOf(t, c.Nodes, c.Manifests)
		d := search.Decide(m, search.Options{AtOnce: true})
		if !d.Exact { // it depends on the cluster, so there are only bounds
			open++
			if d.Verdict != diag.Unknown && d.Verdict != want.Verdict || d.Total != want.Total || d.MaxPlaced < want.MaxPlaced || d.MinPlaced > want.MinPlaced {
				t.Errorf("%s, within %d to %d of %d; the scheduler says %s, %d to %d of %d",
					d.Verdict, d.MinPlaced, d.MaxPlaced, d.Total, want.Verdict, want.MinPlaced, want.MaxPlaced, want.Total)
			}
			return
		}
		if d.Verdict != want.Verdict || d.Total != want.Total || d.MaxPlaced != want.MaxPlaced || d.MinPlaced != want.MinPlaced {
			t.Errorf("%s, %d to %d of %d; the scheduler says %s, %d to %d of %d",
				d.Verdict, d.MinPlaced, d.MaxPlaced, d.Total, want.Verdict, want.MinPlaced, want.MaxPlaced, want.Total)
		}
		for _, w := range d.Workloads {
			of, ok := want.Workloads[w.Workload.String()]
			if ok && (of.Pods != w.Pods || of.MaxPlaced != w.MaxPlaced || of.MinPlaced != w.MinPlaced) {
				t.Errorf("%s: %d to %d of %d, the scheduler says %d to %d of %d", w.Workload, w.MinPlaced, w.MaxPlaced, w.Pods, of.MinPlaced, of.MaxPlaced, of.Pods)
			}
		}
	})
	if open > 1 {
		t.Errorf("%d cases are left open", open)
	}
}

// answer is the recorded answer of the real scheduler's filters.
type answer struct {
	Verdict   diag.Outcome `json:"verdict"`
	Total     int          `json:"total"`
	MaxPlaced int          `json:"maxPlaced"`
	MinPlaced int          `json:"minPlaced"`
	Workloads map[string]struct {
		Pods      int `json:"pods"`
		MaxPlaced int `json:"maxPlaced"`
		MinPlaced int `json:"minPlaced"`
	} `json:"workloads"`
}
