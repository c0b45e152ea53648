package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// severalSpreads returns a workload with hard spreads over some of three keys, where racks cross
// zones, and up to the given number of other workloads that may block it.
func (g generator) severalSpreads(others int) (nodes, manifests string) {
	for n := range 4 + g.IntN(3) {
		labels := fmt.Sprintf("%s=n%d", hostKey, n)
		if !g.chance(15) {
			labels += fmt.Sprintf(",rack=r%d", g.IntN(5))
		}
		if !g.chance(5) {
			labels += fmt.Sprintf(",%s=z%d", zoneKey, n%2)
		}
		nodes += node(fmt.Sprintf("n%d", n), labels) + fmt.Sprintf("status:\n  allocatable: {cpu: %q, pods: \"5\"}\n", g.pick("1", "2", "3"))
	}
	var spreads []string
	for _, key := range []string{zoneKey, "rack", hostKey} {
		if g.chance(65) {
			spreads = append(spreads, strings.Replace(tsc(key, sel("app=w0"), ""), "maxSkew: 1", "maxSkew: "+g.pick("1", "1", "2", "3"), 1))
		}
	}
	request := func() string {
		return fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: %q}}}]\n", g.pick("100m", "100m", "500m", "1"))
	}
	var own []string
	if g.chance(20) {
		own = append(own, term(g.pick(hostKey, "rack"), sel("app=w0")))
	}
	manifests = named("w0", 2+g.IntN(4), ruled(own, nil, spreads)+request())
	for w := range g.IntN(1 + others) {
		var antis []string
		if g.chance(70) {
			antis = append(antis, term(g.pick(hostKey, hostKey, "rack"), sel("app=w0")))
		}
		manifests += named(fmt.Sprintf("w%d", 1+w), 1, ruled(antis, nil, nil)+request())
	}
	return nodes, manifests
}

// TestSpreadsCloseDomains checks that several spreads are decided by counting. A spread that counts
// only the workload's own pods closes a domain after the domain has as many pods as maxSkew allows.
func TestSpreadsCloseDomains(t *testing.T) {
	var proved proofs
	count := hold(t, 1500, 85, func(g generator) sample {
		nodes, manifests := g.severalSpreads(2)
		return sample{nodes, manifests, proved.hold}
	})
	count.vary(t, 3, diag.Always, diag.Sometimes, diag.Never)
	if !trials.Few(t) && int(proved)*3 < count[diag.Always] {
		t.Errorf("only %d of %v are proved without a search", proved, count)
	}
	t.Log(proved, "proved to be always")
}

// TestFits checks that a workload fits alone if Fits reports so, and that Fits reports half of the
// workloads that do, on clusters where racks cross zones.
func TestFits(t *testing.T) {
	fits, said := 0, 0
	holds := func(m *model.Model, want truth, _ *certificate.Decision) string {
		w := m.Workloads[0]
		if len(m.Groups[w].HardAffinity()) > 0 {
			return "" // Fits does not cover affinity
		}
		if want.most == want.total {
			fits++
		}
		if !bound.Fits(m, w) {
			return ""
		}
		if said++; want.most < want.total {
			return fmt.Sprintf("said to fit, but %d of %d pods do", want.most, want.total)
		}
		return ""
	}
	hold(t, 1500, 86, func(g generator) sample {
		nodes, manifests := g.severalSpreads(0)
		return sample{nodes, manifests, holds}
	})
	if !trials.Few(t) && said*2 < fits {
		t.Errorf("only %d of %d that fit are said to", said, fits)
	}
	t.Log(said, "of", fits, "are said to fit")
	hold(t, 300, 88, func(g generator) sample {
		nodes, manifests := g.ordinals(1)
		return sample{nodes, manifests, holds}
	})
}
