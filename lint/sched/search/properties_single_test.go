package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// followers returns workloads with affinity to other workloads that may not be placed either. Other
// workloads compete with them for nodes.
func (g generator) followers() (nodes, manifests string) {
	for n := range 2 + g.IntN(2) {
		labels := fmt.Sprintf("%s=n%d,%s=z%d", hostKey, n, zoneKey, n%2)
		nodes += node(fmt.Sprintf("n%d", n), labels) + fmt.Sprintf("status:\n  allocatable: {cpu: %q, pods: \"3\"}\n", g.pick("1", "2", "3"))
	}
	var b strings.Builder
	workloads := 3 + g.IntN(2)
	for w := range workloads {
		var antis, affs []string
		key := g.pick(hostKey, zoneKey)
		switch g.IntN(5) {
		case 0, 1, 2:
			affs = append(affs, term(key, sel(fmt.Sprintf("app=w%d", g.IntN(workloads+1)))))
			if g.chance(20) {
				affs = append(affs, term(key, sel(fmt.Sprintf("app=w%d", g.IntN(workloads)))))
			}
		case 3:
			antis = append(antis, term(key, sel(fmt.Sprintf("app=w%d", g.IntN(workloads)))))
		}
		b.WriteString(named(fmt.Sprintf("w%d", w), 1+g.IntN(2), ruled(antis, affs, nil)+
			fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: %q}}}]\n", g.pick("500m", "1", "2"))))
	}
	return nodes, b.String()
}

// eachBy counts the verdicts on single workloads that proofs alone reach, and compares them with
// all runs.
type eachBy map[diag.Outcome]int

func (c eachBy) proved(m *model.Model, _ truth, _ *certificate.Decision) string {
	d := search.DecideWithoutSearch(m)
	most, least := make([]int, len(m.Workloads)), make([]int, len(m.Workloads))
	for i, w := range m.Workloads {
		least[i] = w.Count.N
	}
	finals(m, m.Workloads, func(counts [][]int) {
		for i := range counts {
			most[i], least[i] = max(most[i], sum(counts[i])), min(least[i], sum(counts[i]))
		}
	})
	for i, of := range d.Workloads {
		if of.MaxPlaced < most[i] || of.MinPlaced > least[i] {
			return fmt.Sprintf("%s has %d to %d pods, not %d to %d", of.Workload, least[i], most[i], of.MinPlaced, of.MaxPlaced)
		}
		c["all"]++
		if c[of.Verdict]++; d.Verdict != diag.Always && of.Verdict == diag.Always {
			c["single"]++
		}
		if most[i] == 0 && of.MaxPlaced == 0 {
			c["none"]++
		}
	}
	return ""
}

// TestCompanyNeverComes checks that pods whose required peer is never placed are never placed
// either, and take up no resources (T20).
func TestCompanyNeverComes(t *testing.T) {
	c := eachBy{}
	hold(t, 1500, 501, func(g generator) sample {
		nodes, manifests := g.followers()
		return sample{nodes, manifests, c.proved}
	})
	t.Log(c)
	if !trials.Few(t) && !enough(c["none"], c["all"], 20) {
		t.Errorf("%d workloads without company are proved to be placed nowhere", c["none"])
	}
}

// TestOneAmongOthers checks that a workload that others cannot keep out is always placed, even if
// the others are not (T21).
func TestOneAmongOthers(t *testing.T) {
	c := eachBy{}
	hold(t, 2000, 502, func(g generator) sample {
		nodes, manifests := g.companions()
		if g.chance(50) {
			e := g.newContention(3, 2, 4)
			for u := range e.pods {
				for w := range u + 1 {
					e.keepApart(u, w, g.chance(40))
				}
			}
			nodes, manifests = e.nodes("rack", 3), e.workloads("rack")
		}
		return sample{nodes, manifests, c.proved}
	})
	t.Log(c)
	if !trials.Few(t) && !enough(c["single"], c["all"], 5) {
		t.Errorf("%d workloads are proved to be always placed beside others that are not", c["single"])
	}
}

// TestOverfull checks that pods confined to nodes with too little for all of them are not all
// placed, and that the checker accepts the proof (T12).
func TestOverfull(t *testing.T) {
	shown := 0
	count := hold(t, 1000, 503, func(g generator) sample {
		nodes := ""
		for n := range 3 {
			nodes += node(fmt.Sprintf("n%d", n), fmt.Sprintf("%s=n%d,pool=p%d", hostKey, n, n%2)) + fmt.Sprintf("status:\n  allocatable: {cpu: %q, pods: \"3\"}\n", g.pick("1", "1500m", "2"))
		}
		var b strings.Builder
		for w := range 2 + g.IntN(2) {
			spec := fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: %q}}}]\n", g.pick("500m", "700m", "1"))
			if g.chance(60) {
				spec += fmt.Sprintf("nodeSelector: {pool: p%d}\n", g.IntN(2))
			}
			if g.chance(20) {
				spec += ruled([]string{term(hostKey, sel(fmt.Sprintf("app=w%d", g.IntN(w+1))))}, nil, nil)
			}
			b.WriteString(named(fmt.Sprintf("w%d", w), 1+g.IntN(3), spec))
		}
		return sample{nodes, b.String(), func(m *model.Model, want truth, d *certificate.Decision) string {
			pods, err := search.Overfull(m)
			if err != nil {
				return err.Error()
			}
			if pods > 0 {
				shown++
			}
			if want.most > d.Total-pods {
				return fmt.Sprintf("%d pods are left over at least", pods)
			}
			return ""
		}}
	})
	if !trials.Few(t) && !enough(shown, count[diag.Never], 30) {
		t.Errorf("shown of %d of %v", shown, count)
	}
}
