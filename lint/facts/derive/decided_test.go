package derive

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
)

// TestEveryListIsDecided checks that each list of facts says when it is complete for an object.
// Without that, suppressions of its rules are never reported as unused, and a question that was
// given up looks as if it had no finding.
func TestEveryListIsDecided(t *testing.T) {
	// Lists about files, about several workloads, or that describe the input.
	others := strings.Fields("documents suppressions crowds orders room circles workloads nodes pools objects capacity quotas limit_ranges runtime_classes")
	known := progress{}.lists()
	for f := range reflect.TypeFor[facts.Facts]().Fields() {
		list := f.Tag.Get("json")
		_, decided := known[list]
		if f.Type.Kind() == reflect.Slice && decided == slices.Contains(others, list) {
			t.Errorf("%s: add it to progress.lists if it is about single objects, else to the exceptions of this test", list)
		}
	}
}

// TestDecisions checks what is said about objects whose questions are open, or that nobody asked about.
func TestDecisions(t *testing.T) {
	object := func(name string) diag.Object { return diag.Object{Kind: "Pod", Namespace: "shop", Name: name} }
	d := Decisions{
		object("open"):    {},
		object("rolls"):   {changed: true, rolls: diag.Never, fits: true},
		object("idle"):    {idle: true},
		object("budget"):  {budget: true},
		object("guarded"): {budget: true, guards: true},
	}
	for _, c := range []struct {
		name          string
		undecided     bool
		rolls, drains diag.Outcome
		fits          bool
	}{
		{"open", true, diag.Unknown, diag.Unknown, false},
		{"rolls", false, diag.Never, diag.Unknown, true},
		{"idle", false, diag.Unknown, diag.Unknown, false},
		{"budget", true, diag.Unknown, diag.Unknown, false},
		{"guarded", false, diag.Unknown, diag.Unknown, false},
		{"absent", false, diag.Unknown, diag.Unknown, false},
	} {
		if rolls, drains, fits := d.Changes(object(c.name)); rolls != c.rolls || drains != c.drains || fits != c.fits {
			t.Errorf("%s: %s %s %v", c.name, rolls, drains, fits)
		}
		if got := d.Undecided(object(c.name), []string{"rollouts"}); got != c.undecided {
			t.Errorf("%s: undecided %v", c.name, got)
		}
		if d.Undecided(object(c.name), nil) != (c.name == "budget") {
			t.Errorf("%s: no list of facts can be undecided", c.name)
		}
	}
}

// TestRowOf checks the outcome of a node, which filters reject the pod, and that each filter is listed once.
func TestRowOf(t *testing.T) {
	by := func(all ...certificate.Reason) (out []check.Refusal) {
		for _, r := range all {
			out = append(out, check.Refusal{By: r})
		}
		return out
	}
	for _, c := range []struct {
		answer  check.NodeAnswer
		outcome string
		filters []string
	}{
		{check.NodeAnswer{Has: true}, diag.RowHas, nil},
		{check.NodeAnswer{Has: true, Refusals: by(certificate.RefusedByResources)}, diag.RowHas, nil},
		{check.NodeAnswer{}, diag.RowTakes, nil},
		{check.NodeAnswer{Refusals: by(check.RefusedByNobody)}, diag.RowGone, nil},
		{check.NodeAnswer{Refusals: by(certificate.RefusedByResources, certificate.RefusedByTaint, certificate.RefusedByResources)}, diag.RowRejects, []string{"NodeResourcesFit", "TaintToleration"}},
	} {
		if row := rowOf(c.answer); row.Outcome != c.outcome || !slices.Equal(row.Filters, c.filters) {
			t.Errorf("%+v: %s by %v, want %s by %v", c.answer, row.Outcome, row.Filters, c.outcome, c.filters)
		}
	}
}
