package diag

import "testing"

func TestFailures(t *testing.T) {
	var all Failures
	if !all.Complete() || all.Internal() {
		t.Error("no failure makes a run incomplete")
	}
	rule := Failure{Stage: StageRule, Rule: "own", File: "own.rego", Line: 3, Message: "divide by zero"}
	for range 3 {
		all.Add(rule)
	}
	if len(all) != 1 || all.Complete() || all.Internal() {
		t.Errorf("%d failures for one that is told three times: %v", len(all), all)
	}
	all.Add(Failure{Stage: StageCheck, Message: "refused", Internal: true})
	if !all.Internal() {
		t.Error("an internal failure is not found among others")
	}
	if !all.HasFailed("own") || all.HasFailed("other") {
		t.Error("the rule that failed is own")
	}
	if r := (&Report{Failures: all}); r.Complete() || !(&Report{}).Complete() {
		t.Error("a report is complete if nothing failed")
	}
	for want, f := range map[string]Failure{
		"own.rego:3: rule own: divide by zero": rule,
		"internal error: refused":              all[1],
		"a.yaml: no such file":                 {File: "a.yaml", Message: "no such file"},
	} {
		if got := f.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
