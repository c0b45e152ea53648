package report

import (
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// TestJUnitRoom checks that a finding after the last byte of room has a message, but no text.
func TestJUnitRoom(t *testing.T) {
	written := func(room int) (all [2]*junitFailure) {
		r := &diag.Report{Diagnostics: []diag.Diagnostic{{Rule: "a", Message: "first"}, {Rule: "b", Message: "second"}}}
		w := &junitWriter{text: textWriter{src: newSources(r), display: r.Display, verbose: true}, seen: map[junitCase]int{}, room: room}
		for i := range all {
			all[i] = w.finding(&r.Diagnostics[i]).Failure
		}
		return all
	}
	first := len(written(maxBodies)[0].XML)
	for room, want := range map[int]bool{first: false, first + 1: true} {
		if all := written(room); first == 0 || all[1].Message == "" || (all[1].XML != "") != want {
			t.Errorf("room for %d of %d bytes: %q, %q", room, first, all[1].Message, all[1].XML)
		}
	}
}
