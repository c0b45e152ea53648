package metamorphic

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
)

// TestLintAgreesWithPlace runs agrees on random examples.
func TestLintAgreesWithPlace(t *testing.T) {
	t.Parallel()
	e, all := linttest.Engine(t), trials.Of(t, 400)
	never, proved := 0, 0
	for seed := range all {
		x := dice{rand.New(rand.NewPCG(uint64(seed), 47))}.example(seed)
		got := ask(t, e, variant{nodes: x.nodes, files: whole(x.docs)})
		if agrees(t, x, got) {
			never++
		}
		proved += proves(t, x, got)
	}
	t.Logf("%d of %d never by rules, %d answers proved", never, all, proved)
	if proved < trials.Share(t, 100) {
		t.Errorf("only %d answers are proved", proved)
	}
	if never < trials.Share(t, 20) {
		t.Errorf("only %d of %d inputs never fit", never, all)
	}
}

// proves checks that the summary of lint counts no answer as proved that place does not prove, and
// returns how many it counts.
func proves(t *testing.T, x example, got answers) (all int) {
	t.Helper()
	fit, roll, drain := map[diag.Outcome]int{}, map[diag.Outcome]int{}, map[diag.Outcome]int{}
	for _, w := range got.place.Workloads {
		fit[diag.Outcome(w.Verdict)]++
		roll[diag.Outcome(w.Change.Rollout.Verdict)]++
		drain[diag.Outcome(w.Change.Drain.Verdict)]++
	}
	for _, q := range []struct {
		name        string
		lint, place map[diag.Outcome]int
	}{{"fit", got.proved.Fit, fit}, {"roll", got.proved.Roll, roll}, {"drain", got.proved.Drain, drain}} {
		for _, o := range []diag.Outcome{diag.Always, diag.Never} {
			if q.lint[o] > q.place[o] && (o == diag.Always || q.name == "fit") {
				t.Errorf("%s: lint says that %d workloads %s %s, and place %d of %v\n%s---\n%s", x.name, q.lint[o], o, q.name, q.place[o], q.place, strings.Join(x.docs, "---\n"), strings.Join(x.nodes, "---\n"))
			}
		}
		all += q.lint[diag.Always]
	}
	return all
}

// agrees checks that lint and place agree. Pods that lint reports as infeasible must never be
// placed. If the rules alone never allow the placement, lint must report it, unless undeclared pods
// may satisfy an affinity or pods terminate by themselves. agrees returns whether the rules alone
// never allow the placement.
func agrees(t *testing.T, x example, got answers) (never bool) {
	t.Helper()
	rulesBind(t, got.place)
	said := slices.ContainsFunc(got.findings, func(f string) bool {
		return slices.ContainsFunc(linttest.Pending, func(rule string) bool { return strings.HasPrefix(f, "error "+rule+" ") })
	})
	v := diag.Outcome(got.place.Verdict)
	for _, w := range got.place.Workloads { // the verdict of the context covers permanent pods only
		if w.Verdict == string(diag.Never) {
			v = diag.Never
		}
	}
	if said && v != diag.Never {
		t.Errorf("%s: lint says that pods stay Pending, and place %s\n%s", x.name, v, strings.Join(got.findings, "\n"))
	}
	if diag.Outcome(got.place.RulesVerdict) != diag.Never {
		return false
	}
	if docs := strings.Join(x.docs, ""); !said && !strings.Contains(docs, "podAffinity") && !strings.Contains(docs, "kind: Job") {
		t.Errorf("%s: place says never, and lint nothing\n%s---\n%s", x.name, strings.Join(x.docs, "---\n"), strings.Join(x.nodes, "---\n"))
	}
	return true
}
