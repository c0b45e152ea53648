package lint_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// pending are the rules that say that pods can never be placed.
var pending = []string{"affinity-never-satisfied", "anti-affinity-exceeds-domains", "circular-affinity", "cluster-too-small", "crowded-out",
	"host-port-exceeds-nodes", "no-eligible-node", "request-exceeds-nodes", "spread-exceeds-skew"}

// TestLintAgreesWithPlace: both commands answer from one source. What lint calls
// infeasible is never placed, and what the rules alone never let be placed is a
// finding, unless undeclared pods might give the company that is missing, or
// pods end by themselves.
func TestLintAgreesWithPlace(t *testing.T) {
	e := engine(t)
	list, random := slices.Concat(examples(), bounded(), crowds()), 400
	if testing.Short() {
		random = 100
	}
	for seed := range random {
		list = append(list, dice{rand.New(rand.NewPCG(uint64(seed), 47))}.example(seed))
	}
	never := 0
	for _, x := range list {
		got := ask(t, e, variant{nodes: x.nodes, files: whole(x.docs)})
		said := slices.ContainsFunc(got.findings, func(f string) bool {
			return slices.ContainsFunc(pending, func(rule string) bool { return strings.HasPrefix(f, "error "+rule+" ") })
		})
		v := diag.Outcome(got.place.Verdict)
		for _, w := range got.place.Workloads { // the whole is about pods that stay
			if w.Verdict == string(diag.Never) {
				v = diag.Never
			}
		}
		if said && v != diag.Never {
			t.Errorf("%s: lint says that pods stay Pending, and place %s\n%s", x.name, v, strings.Join(got.findings, "\n"))
		}
		if diag.Outcome(got.place.RulesVerdict) != diag.Never {
			continue
		}
		never++
		if !said && !strings.Contains(strings.Join(x.docs, ""), "podAffinity") && !strings.Contains(strings.Join(x.docs, ""), "kind: Job") {
			t.Errorf("%s: place says never, and lint nothing\n%s---\n%s", x.name, strings.Join(x.docs, "---\n"), strings.Join(x.nodes, "---\n"))
		}
	}
	t.Logf("%d never by rules", never)
	if never < len(list)/20 {
		t.Errorf("only %d of %d inputs never fit", never, len(list))
	}
}
