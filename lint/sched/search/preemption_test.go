package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// prioritized returns a cluster whose pods have priorities.
func (g generator) prioritized() (nodes, manifests string) {
	for i := range 2 + g.IntN(2) {
		nodes += sized(i, fmt.Sprintf("%s=n%d,%s=%s", hostKey, i, zoneKey, g.pick("a", "b")), fmt.Sprintf("pods: \"4\", cpu: \"%d\"", 2+g.IntN(3)))
	}
	for _, class := range []string{"low, namespace: d}, value: -10}", "high}, value: 100}", "top}, value: 200}", "polite}, value: 50, preemptionPolicy: Never}"} {
		manifests += "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: " + strings.Replace(class, ", namespace: d", "", 1) + "\n"
	}
	apps := []string{"web", "db", "cache"}[:2+g.IntN(2)]
	for _, name := range apps {
		var antis, spreads []string
		if g.chance(30) {
			antis = append(antis, term(g.pick(hostKey, hostKey, zoneKey), sel("app="+g.pick(apps...))))
		}
		if g.chance(20) {
			spreads = append(spreads, tsc(g.pick(zoneKey, hostKey), sel("app="+g.pick(name, name, apps[0])), ""))
		}
		spec := ruled(antis, nil, spreads) + g.pick("", "priorityClassName: low\n", "priorityClassName: low\n", "priorityClassName: high\n", "priorityClassName: high\n", "priorityClassName: top\n", "priorityClassName: polite\n")
		spec += fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: \"%d\"}}}]\n", 1+g.IntN(3))
		manifests += named(name, 1+g.IntN(3), spec)
	}
	return nodes, manifests
}

// preempted follows all runs in which Pending pods preempt pods of lower priority on a node, as many as they
// like. It returns the fewest and the most pods of each workload in a state where nothing more happens.
func preempted(m *model.Model, limit int) (fewest, most []int, ok bool) {
	nodes, ws := m.Topology.Nodes, m.Workloads
	for range ws {
		fewest, most = append(fewest, 1<<30), append(most, -1)
	}
	seen, ok := map[string]bool{}, true
	var visit func(pods [][]int)
	visit = func(pods [][]int) {
		if key := fmt.Sprint(pods); !ok || seen[key] {
			return
		} else if seen[key] = true; len(seen) > limit {
			ok = false
			return
		}
		state := func() *check.State {
			s := check.NewState(m)
			for i, w := range ws {
				for n, c := range pods[i] {
					for range c {
						s.Place(w, nodes[n])
					}
				}
			}
			return s
		}
		sum := func(i int) (all int) {
			for _, c := range pods[i] {
				all += c
			}
			return all
		}
		ended, s := true, state()
		for i, w := range ws {
			if sum(i) == w.Count.N {
				continue
			}
			fits := false
			for n := range nodes {
				if s.Filter(w, nodes[n]) == certificate.Takes {
					fits, ended = true, false
					pods[i][n]++
					visit(pods)
					pods[i][n]--
				}
			}
			if fits || w.Priority.Waits {
				continue
			}
			for n := range nodes {
				var remove func(o int, any bool)
				remove = func(o int, any bool) {
					if o == len(ws) {
						if any && state().Filter(w, nodes[n]) == certificate.Takes {
							ended = false
							pods[i][n]++
							visit(pods)
							pods[i][n]--
						}
						return
					}
					remove(o+1, any)
					if had := pods[o][n]; ws[o].Priority.Value < w.Priority.Value && had > 0 {
						for pods[o][n] = had - 1; pods[o][n] >= 0; pods[o][n]-- {
							remove(o+1, true)
						}
						pods[o][n] = had
					}
				}
				remove(0, false)
			}
		}
		if ended {
			for i := range ws {
				fewest[i], most[i] = min(fewest[i], sum(i)), max(most[i], sum(i))
			}
		}
	}
	all := make([][]int, len(ws))
	for i := range all {
		all[i] = make([]int, len(nodes))
	}
	visit(all)
	return fewest, most, ok
}

// TestPropertyT34 compares verdicts where priorities decide with all runs of small clusters.
func TestPropertyT34(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 4000)) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 34))}
		nodes, manifests := g.prioritized()
		m, _ := modelOf(t, nodes, manifests)
		fewest, most, ok := preempted(m, 3000)
		if !ok {
			continue
		}
		d := search.Decide(m, search.Options{Each: true})
		search.DaemonSetsFirst(m, d, search.Options{Each: true})
		search.Preemption(m, d, search.Options{Each: true})
		for i, w := range m.Workloads {
			for _, v := range d.Workloads {
				if v.Workload != w {
					continue
				}
				kind := string(v.Verdict)
				if v.Preempts {
					kind += ", preempts"
				} else if v.Why.Cause != "" {
					kind += ", " + string(v.Why.Cause)
				}
				count[kind]++
				if fewest[i] < v.MinPlaced || most[i] > v.MaxPlaced || v.Verdict == diag.Always && fewest[i] < w.Count.N || v.Verdict == diag.Never && most[i] == w.Count.N {
					t.Errorf("seed %d: %s is %s with %d to %d of %d, and runs end with %d to %d\n%s%s", seed, w, kind, v.MinPlaced, v.MaxPlaced, v.Pods, fewest[i], most[i], nodes, manifests)
				}
			}
		}
	}
	t.Log(count)
	for _, kind := range []string{"always, preempts", "never, preemption"} {
		if count[kind] < trials.Share(t, 100) {
			t.Errorf("%d verdicts are %q", count[kind], kind)
		}
	}
}
