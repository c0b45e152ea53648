package change

import (
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// TestAnnounce checks how many suppressions without effect are listed, and that the others are counted.
func TestAnnounce(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "f:", maxInert: "f:", maxInert + 1: "and 1 more not in main", maxInert + 5: "and 5 more not in main"} {
		r := &diag.Report{Display: func(file string) string { return file }}
		silence := diag.Silence{Message: "accepts nothing", Location: diag.Span{File: "f", Line: 2, Column: 3}}
		(&From{revision: "main", inert: slices.Repeat([]diag.Silence{silence}, n)}).Announce(r)
		notes := r.Summary.Notes
		if len(notes) != min(n, maxInert+1) || n > 0 && !strings.HasPrefix(notes[len(notes)-1], want) {
			t.Errorf("%d suppressions: %q", n, notes)
		}
	}
}
