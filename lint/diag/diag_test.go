package diag

import (
	"fmt"
	"slices"
	"testing"
)

// ascending holds findings in ascending order. Each is greater than the one before it in the part
// that its comment names, and smaller in all later parts.
var ascending = []Diagnostic{
	order("a", 9, 9, LevelError, "z", "z", nil, "z", 9),
	order("b", 1, 9, LevelError, "z", "z", nil, "z", 9),          // file
	order("b", 2, 8, LevelNote, "z", "z", nil, "z", 9),           // line
	order("b", 2, 9, LevelError, "z", "z", nil, "z", 9),          // column
	order("b", 2, 9, LevelWarning, "z", "z", nil, "z", 9),        // a better level
	order("b", 2, 9, LevelNote, "a", "z", nil, "z", 9),           // a better level
	order("b", 2, 9, LevelNote, "b", "a", []string{"z"}, "z", 9), // rule
	order("b", 2, 9, LevelNote, "b", "b", nil, "z", 9),           // message
	order("b", 2, 9, LevelNote, "b", "b", []string{"a"}, "z", 9), // details
	order("b", 2, 9, LevelNote, "b", "b", []string{"b"}, "a", 9), // details
	order("b", 2, 9, LevelNote, "b", "b", []string{"b"}, "b", 8), // object
	order("b", 2, 9, LevelNote, "b", "b", []string{"b"}, "b", 9), // end
}

func order(file string, line, column int, l Level, rule, message string, details []string, name string, end int) Diagnostic {
	return Diagnostic{
		Rule: rule, Level: l, Message: message, Details: details, Object: Object{Name: name},
		Location: Span{File: file, Line: line, Column: column, EndLine: line, EndColumn: end},
	}
}

// TestCompare compares every pair of the findings in both directions.
func TestCompare(t *testing.T) {
	for i := range ascending {
		for j := range ascending {
			want := 0
			if i != j {
				want = map[bool]int{true: -1, false: 1}[i < j]
			}
			if got := ascending[i].Compare(&ascending[j]); got != want {
				t.Errorf("%d and %d: %d, want %d", i, j, got, want)
			}
		}
	}
	for name, change := range map[string]func(d *Diagnostic){
		"kind":      func(d *Diagnostic) { d.Object.Kind = "z" },
		"namespace": func(d *Diagnostic) { d.Object.Namespace = "z" },
		"cluster":   func(d *Diagnostic) { d.Cluster = "z" },
		"render":    func(d *Diagnostic) { d.Render = "z" },
	} {
		a, b := ascending[0], ascending[0]
		change(&b)
		if a.Compare(&b) != -1 || b.Compare(&a) != 1 {
			t.Errorf("the %s makes no difference", name)
		}
	}
}

func TestSpan(t *testing.T) {
	if !(Span{}).IsZero() || !(Span{File: "a.yaml"}).IsZero() || (Span{Line: 1}).IsZero() {
		t.Error("a span names a place if it has a line")
	}
	spans := []Span{
		{"a", 9, 9, 9, 9}, {"b", 1, 9, 9, 9}, {"b", 2, 1, 9, 9}, {"b", 2, 2, 3, 9}, {"b", 2, 2, 4, 1}, {"b", 2, 2, 4, 2},
	}
	for i := range spans {
		if i > 0 && (spans[i-1].Compare(spans[i]) != -1 || spans[i].Compare(spans[i-1]) != 1) {
			t.Errorf("%+v does not come before %+v", spans[i-1], spans[i])
		}
		if spans[i].Compare(spans[i]) != 0 {
			t.Errorf("%+v differs from itself", spans[i])
		}
	}
}

// TestSort checks that Sort drops duplicates and counts levels from zero each time.
func TestSort(t *testing.T) {
	all := append(slices.Clone(ascending), ascending[2], ascending[4], ascending[0])
	slices.Reverse(all)
	r := &Report{Diagnostics: all, Accepted: []Diagnostic{ascending[1], ascending[0], ascending[1]}}
	for range 2 {
		r.Sort()
		if !slices.EqualFunc(r.Diagnostics, ascending, func(a, b Diagnostic) bool { return a.Compare(&b) == 0 }) {
			t.Fatalf("sorted: %+v", r.Diagnostics)
		}
		if got, want := fmt.Sprint(r.Summary.Errors, r.Summary.Warnings, r.Summary.NoteFindings, r.Summary.Accepted), "3 1 8 2"; got != want {
			t.Errorf("%s errors, warnings, notes and accepted findings, want %s", got, want)
		}
	}
}

// TestReportMerge checks that findings of several renders count once, whether accepted or not.
func TestReportMerge(t *testing.T) {
	one := Diagnostic{Rule: "r", Level: LevelWarning, Written: Object{Name: "web"}, Location: Span{File: "a", Line: 1}}
	var all []Diagnostic
	for _, render := range []string{"b", "a"} {
		d := one
		d.Render = render
		all = append(all, d)
	}
	r := &Report{Diagnostics: slices.Clone(all), Accepted: slices.Clone(all)}
	r.Merge()
	if len(r.Diagnostics) != 1 || len(r.Accepted) != 1 || r.Summary.Warnings != 1 || r.Summary.Accepted != 1 {
		t.Errorf("%d findings, %d accepted, %+v", len(r.Diagnostics), len(r.Accepted), r.Summary)
	}
	if !slices.Equal(r.Accepted[0].Renders, []string{"a", "b"}) {
		t.Errorf("in the renders %q", r.Accepted[0].Renders)
	}
}

func TestWorst(t *testing.T) {
	for _, row := range []struct {
		levels []Level
		want   Level
	}{
		{nil, ""},
		{[]Level{LevelNote}, LevelNote},
		{[]Level{LevelNote, LevelWarning, LevelNote}, LevelWarning},
		{[]Level{LevelError, LevelWarning}, LevelError},
		{[]Level{LevelOff}, ""},
	} {
		r := &Report{}
		for _, l := range row.levels {
			r.Diagnostics = append(r.Diagnostics, Diagnostic{Level: l})
		}
		if got := r.Worst(); got != row.want {
			t.Errorf("of %q %q is the worst, want %q", row.levels, got, row.want)
		}
	}
}

// TestUnsettled checks that the open questions that --fail-on-unknown selects fail a run.
func TestUnsettled(t *testing.T) {
	label, steps, place := Skip{Reason: "a label", Count: 1}, Skip{Reason: "steps", Count: 1, Budget: true}, Skip{Reason: "a crowd", Count: 1, Placement: true}
	for _, row := range []struct {
		open                           []Skip
		none, budget, placement, total bool
	}{
		{nil, false, false, false, false},
		{[]Skip{label}, false, false, false, true},
		{[]Skip{label, steps}, false, true, false, true},
		{[]Skip{place}, false, false, true, false},
		{[]Skip{place, label}, false, false, true, true},
	} {
		for fail, want := range map[string]bool{FailNone: row.none, "": row.none, FailBudget: row.budget, FailPlacement: row.placement, FailAny: row.total} {
			if got := Unsettled(row.open, fail); got != want {
				t.Errorf("%v with %q: %t, want %t", row.open, fail, got, want)
			}
		}
	}
}

// TestUnjudged checks that skipped input that may contain workloads is returned if no workload was
// judged.
func TestUnjudged(t *testing.T) {
	s := Summary{Skipped: []Skip{{Reason: "template", MayHoldWorkloads: true}, {Reason: "CRD schema"}, {Reason: "hidden directory", MayHoldWorkloads: true}}}
	if got := s.Unjudged(); len(got) != 2 || got[0].Reason != "template" || got[1].Reason != "hidden directory" {
		t.Errorf("got %+v", got)
	}
	if len(s.Skipped) != 3 || s.Skipped[1].Reason != "CRD schema" {
		t.Errorf("what was skipped is changed: %+v", s.Skipped)
	}
	s.Workloads = 1
	if got := s.Unjudged(); got != nil {
		t.Errorf("got %+v beside a workload", got)
	}
}
