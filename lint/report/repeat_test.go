package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// repeated returns a report in which many files have the same finding. Its summary has more
// entries than fit on twelve lines.
func repeated(files int) *diag.Report {
	r := &diag.Report{}
	for i := range files {
		at := diag.Span{File: fmt.Sprintf("f%03d.yaml", i), Line: 3, Column: 1, EndLine: 3, EndColumn: 2}
		r.Diagnostics = append(r.Diagnostics,
			diag.Diagnostic{Rule: "same", Level: diag.LevelError, Message: "says the same", Location: at},
			diag.Diagnostic{Rule: "own", Level: diag.LevelWarning, Message: "is about " + at.File, Location: at})
		r.Summary.Notes = append(r.Summary.Notes, "a note on "+at.File)
		for _, list := range []*[]diag.Skip{&r.Summary.NotJudged, &r.Summary.Repeated, &r.Summary.Unknown} {
			*list = append(*list, diag.Skip{Reason: "a reason that " + at.File + " has", Count: i + 1, Places: []string{at.File + ":1"}})
		}
	}
	r.Sort()
	return r
}

func TestOnce(t *testing.T) {
	const files = 46
	for _, format := range []string{"text", "markdown"} {
		short := string(written(t, format, repeated(files), Options{}))
		if n := strings.Count(short, "says the same"); n != 1 {
			t.Errorf("%s: the same finding is shown %d times", format, n)
		}
		if !strings.Contains(short, "and 45 more places (--all shows them)") {
			t.Errorf("%s does not count the other places:\n%s", format, short)
		}
		if n := strings.Count(short, "is about "); n != files {
			t.Errorf("%s: %d of %d findings that differ are shown", format, n, files)
		}
		if n := strings.Count(string(written(t, format, repeated(files), Options{All: true})), "says the same"); n != files {
			t.Errorf("%s: all shows %d of %d places", format, n, files)
		}
	}
	var doc struct{ Diagnostics []diag.Diagnostic }
	if err := json.Unmarshal(written(t, "json", repeated(files), Options{}), &doc); err != nil || len(doc.Diagnostics) != 2*files {
		t.Errorf("json has %d of %d findings: %v", len(doc.Diagnostics), 2*files, err)
	}
}

func TestSummaryFits(t *testing.T) {
	for _, files := range []int{1, 3, 100} {
		r := repeated(files)
		r.Diagnostics = nil
		short := string(written(t, "text", r, Options{}))
		if n := strings.Count(short, "\n"); n > 12 {
			t.Errorf("%d entries: a summary of %d lines:\n%s", files, n, short)
		}
		long := string(written(t, "text", r, Options{Verbose: true}))
		if n := strings.Count(long, ".yaml:1"); n != 3*files {
			t.Errorf("%d entries: verbose lists %d of %d places", files, n, 3*files)
		}
	}
}
