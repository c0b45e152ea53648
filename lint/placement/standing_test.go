package placement_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/placement"
	"github.com/schedlint/schedlint/lint/workload"
)

// TestStandingAgreesWithChecker: what a node says to one more pod is what the
// filters say and what the checker says, which share nothing, in states that
// decisions lead to and after losses of nodes; and every refusal says why. Where
// no run goes on, no node takes a pod that is missing.
func TestStandingAgreesWithChecker(t *testing.T) {
	cases := trials.Of(t, 400)
	seen := map[placement.Reason]int{}
	for seed := range cases {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 771))}
		m, _ := model(t, g.nodes(1+g.IntN(4)), g.several())
		if wrong := standing(m, g, seen); wrong != "" {
			t.Fatalf("seed %d: %s", seed, wrong)
		}
	}
	for _, r := range []placement.Reason{placement.Takes, placement.RefusedByTaint, placement.RefusedByPort, placement.RefusedByResources, placement.RefusedBySpread, placement.RefusedByAffinity} {
		if seen[r] < trials.Share(t, 10) {
			t.Errorf("no node refuses by %q: the generator is too tame: %v", r, seen)
		}
	}
}

func standing(m *placement.Model, g generator, seen map[placement.Reason]int) string {
	d := placement.Decide(m, placement.Options{})
	all := []*placement.Standing{m.Stand(nil), m.Stand(d.Witness, m.Workloads...)}
	lost := m.Topology.Nodes[g.IntN(len(m.Topology.Nodes))].Name
	for _, meaning := range meanings {
		all = append(all, all[1].Lose(placement.Loss{Nodes: map[string]bool{lost: true}, Meaning: meaning}))
	}
	for i, s := range all {
		for _, w := range m.Workloads {
			if !placement.Modelled(m.Group(w)) || w.Running {
				continue
			}
			if wrong := agrees(s, w, seen); wrong != "" {
				return fmt.Sprintf("state %d, %s: %s", i, w, wrong)
			}
			_, missing := s.Count(w)
			if i == 1 && missing > 0 && slices.ContainsFunc(s.Outlook(w), func(o placement.Outlook) bool { return !o.Has && len(o.Refusals) == 0 }) {
				return fmt.Sprintf("%s: a node takes a pod that is missing", w)
			}
		}
	}
	return ""
}

// agrees says where three ways to ask the same differ.
func agrees(s *placement.Standing, w *workload.Workload, seen map[placement.Reason]int) string {
	checked, filtered := s.Checked(w), s.Filtered(w)
	for n, o := range s.Outlook(w) {
		if o.Has {
			continue
		}
		var by []placement.Reason
		for _, r := range o.Refusals {
			if r.Why == "" {
				return fmt.Sprintf("%s refuses for %s and does not say why", o.Node.Name, r.By)
			}
			by = append(by, r.By)
			seen[r.By]++
		}
		first := placement.Takes
		if len(by) > 0 {
			first = by[0]
		}
		seen[first]++
		if (first == placement.Takes) != (checked[n] == placement.Takes) {
			return fmt.Sprintf("%s: %v, and the checker says %q", o.Node.Name, by, checked[n])
		}
		lost := slices.ContainsFunc(o.Refusals, func(r placement.Refusal) bool {
			return r.By == placement.RefusedByNobody || r.By == placement.RefusedByCordon
		})
		if first != placement.Takes && !lost && !slices.Contains(by, checked[n]) {
			return fmt.Sprintf("%s: %v, and the checker says %q", o.Node.Name, by, checked[n])
		}
		if !lost && first != filtered[n] {
			return fmt.Sprintf("%s: %v, and the filters say %q", o.Node.Name, by, filtered[n])
		}
	}
	return ""
}
