package disruption_test

import (
	"slices"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// repaired returns the sample after applying a remedy.
func (u updated) repaired(r search.Kind) updated {
	u.sample = u.clone()
	web := &u.loads[0]
	switch r {
	case search.MatchLabelKeys:
		for i := range web.rules {
			if web.rules[i].use == "anti" {
				web.rules[i].match = true
			}
		}
	case search.CountRevisions:
		for i := range web.rules {
			if web.rules[i].use == "spread" {
				web.rules[i].match = false
			}
		}
	case search.OneUnavailable:
		if u.unavailable = 1; u.way == "per node" {
			u.way, u.surge = "in place", 0
		}
	case search.MoreNodes:
		for _, b := range u.boxes {
			if b.takes(*web) {
				u.boxes = append(u.boxes, b.apart(*web))
				break
			}
		}
	}
	return u
}

// apart returns a copy of a node with its own domains for the keys that keep the pods of a
// workload apart.
func (b box) apart(l load) box {
	b.name, b.host = "new", "new"
	for _, r := range l.rules {
		switch {
		case r.use == "anti" && r.key == keys[zone] && b.zone != "":
			b.zone = "new"
		case r.use == "anti" && r.key == keys[rack] && b.rack != "":
			b.rack = "new"
		}
	}
	return b
}

// TestRemediesHold applies every remedy to the manifests or the nodes, and then enumerates all
// rollouts.
func TestRemediesHold(t *testing.T) {
	count, undecided := map[search.Kind]int{}, 0
	for _, way := range []string{"rolling", "both"} {
		for seed := range trials.Seeds(t, trials.Of(t, 300)) {
			u := updates[way](newGenerator(seed, 505))
			j, m := judge(t, u.nodes(), u.manifests())
			web := find(t, m, "web")
			got := j.Rollouts(web)[0]
			if got.Verdict != diag.Never && got.Verdict != diag.Sometimes {
				continue
			}
			remedies := j.Remedies(web, &got)
			if !slices.IsSorted(remedies) {
				t.Errorf("seed %d: %v is not in the order of the kinds", seed, remedies)
			}
			for _, r := range remedies {
				want := u.repaired(r).verdict(t)
				if want == tooMuch || want == outside {
					undecided++
					continue
				}
				count[r]++
				if want != diag.Always {
					t.Errorf("seed %d: kind %d of %s surge %d, unavailable %d makes it %q%s", seed, r, way, u.surge, u.unavailable, want, u)
				}
			}
		}
	}
	t.Log(count, undecided)
	for _, r := range []search.Kind{search.MatchLabelKeys, search.OneUnavailable, search.MoreNodes} {
		if count[r] < trials.Share(t, 5) {
			t.Errorf("the generator is too tame: %d of kind %d", count[r], r)
		}
	}
}
