package lint_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
)

// pending lists the rules that report pods which can never be placed.
var pending = []string{"affinity-never-satisfied", "anti-affinity-exceeds-domains", "circular-affinity", "cluster-too-small", "crowded-out",
	"host-port-exceeds-nodes", "no-eligible-node", "request-exceeds-nodes", "spread-exceeds-skew"}

// TestLintAgreesWithPlace runs agrees on random examples.
func TestLintAgreesWithPlace(t *testing.T) {
	t.Parallel()
	e, all := engine(t), trials.Of(t, 400)
	never := 0
	for seed := range all {
		x := dice{rand.New(rand.NewPCG(uint64(seed), 47))}.example(seed)
		if agrees(t, x, ask(t, e, variant{nodes: x.nodes, files: whole(x.docs)})) {
			never++
		}
	}
	t.Logf("%d of %d never by rules", never, all)
	if never < trials.Share(t, 20) {
		t.Errorf("only %d of %d inputs never fit", never, all)
	}
}

// agrees checks that lint and place agree. Pods that lint reports as infeasible must never be
// placed. If the rules alone never allow the placement, lint must report it, unless undeclared pods
// may satisfy an affinity or pods terminate by themselves. agrees returns whether the rules alone
// never allow the placement.
func agrees(t *testing.T, x example, got answers) (never bool) {
	t.Helper()
	rulesBind(t, got.place)
	said := slices.ContainsFunc(got.findings, func(f string) bool {
		return slices.ContainsFunc(pending, func(rule string) bool { return strings.HasPrefix(f, "error "+rule+" ") })
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
