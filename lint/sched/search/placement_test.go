package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// TestStandingAgreesWithChecker compares the explained refusals of each node for one more pod with
// the first filter that the checker finds, in states that decisions lead to and after losses of
// nodes. Every refusal must have a kind. After a run that cannot continue, no node must take a
// missing pod.
func TestStandingAgreesWithChecker(t *testing.T) {
	cases := trials.Of(t, 400)
	seen := map[certificate.Reason]int{}
	for seed := range trials.Seeds(t, cases) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 771))}
		m, _ := modelOf(t, g.nodes(1+g.IntN(4)), g.several())
		if wrong := standing(m, g, seen); wrong != "" {
			t.Fatalf("seed %d: %s", seed, wrong)
		}
	}
	for _, r := range []certificate.Reason{certificate.Takes, certificate.RefusedByTaint, certificate.RefusedByPort, certificate.RefusedByResources, certificate.RefusedBySpread, certificate.RefusedByAffinity} {
		if seen[r] < trials.Share(t, 10) {
			t.Errorf("no node refuses by %q: the generator is too tame: %v", r, seen)
		}
	}
}

// TestNumbersOfDerivedModels checks that a model with other workloads does not keep the indices of the
// model that it comes from.
func TestNumbersOfDerivedModels(t *testing.T) {
	var text strings.Builder
	for _, name := range []string{"a", "b", "c"} {
		text.WriteString("---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name + "-job}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}\n")
		text.WriteString("---\n" + strings.ReplaceAll(deployment(1, "")+"\n", "name: web,", "name: "+name+","))
	}
	m, _ := modelOf(t, largeNodes(2), text.String())
	m.Number()
	for _, d := range []*model.Model{m.Permanent(), search.Merge(m), search.Merge(m.Permanent())} {
		d.Number()
		n := 0
		for w, at := range d.StandFor {
			for _, i := range at {
				if n++; i >= len(d.Workloads) || d.Groups[d.Workloads[i]].Origin() != w {
					t.Errorf("of %v, number %d is not %s", d.Workloads, i, w)
				}
			}
		}
		if n != len(d.Workloads) || n == len(m.Workloads) {
			t.Errorf("%d numbers for %v", n, d.Workloads)
		}
	}
}

func standing(m *model.Model, g generator, seen map[certificate.Reason]int) string {
	d := search.Decide(m, search.Options{})
	all := []*check.Placement{check.NewPlacement(m, nil), check.NewPlacement(m, d.Witness, m.Workloads...)}
	lost := m.Topology.Nodes[g.IntN(len(m.Topology.Nodes))].Name
	for _, meaning := range meanings {
		all = append(all, all[1].Lose(certificate.Loss{Nodes: map[string]bool{lost: true}, Meaning: meaning}))
	}
	for i, s := range all {
		for _, w := range m.Workloads {
			if !model.Modelled(m.Group(w)) || w.Running {
				continue
			}
			if wrong := agrees(s, w, seen); wrong != "" {
				return fmt.Sprintf("state %d, %s: %s", i, w, wrong)
			}
			_, missing := s.Count(w)
			if i == 1 && missing > 0 && slices.ContainsFunc(s.Answers(w), func(o check.NodeAnswer) bool { return !o.Has && len(o.Refusals) == 0 }) {
				return fmt.Sprintf("%s: a node takes a pod that is missing", w)
			}
		}
	}
	return ""
}

// agrees returns a description of where the two answers differ.
func agrees(s *check.Placement, w *workload.Workload, seen map[certificate.Reason]int) string {
	checked := s.Checked(w)
	for n, o := range s.Answers(w) {
		if o.Has {
			continue
		}
		var by []certificate.Reason
		for _, r := range o.Refusals {
			if r.Kind == "" {
				return fmt.Sprintf("%s refuses for %s and does not say why", o.Node.Name, r.By)
			}
			by = append(by, r.By)
			seen[r.By]++
		}
		first := certificate.Takes
		if len(by) > 0 {
			first = by[0]
		}
		seen[first]++
		if (first == certificate.Takes) != (checked[n] == certificate.Takes) {
			return fmt.Sprintf("%s: %v, and the checker says %q", o.Node.Name, by, checked[n])
		}
		lost := slices.ContainsFunc(o.Refusals, func(r check.Refusal) bool {
			return r.By == check.RefusedByNobody || r.By == certificate.RefusedByCordon
		})
		if first != certificate.Takes && !lost && !slices.Contains(by, checked[n]) {
			return fmt.Sprintf("%s: %v, and the checker says %q", o.Node.Name, by, checked[n])
		}
	}
	return ""
}
