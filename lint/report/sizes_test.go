package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// TestSizeVerdict checks that an answer that is not final says how much is open, and why.
func TestSizeVerdict(t *testing.T) {
	for want, one := range map[string]diag.Sizing{
		"3 nodes; minimal: no cheaper size is enough":                  {Verdict: diag.SizeMinimal, Nodes: 3},
		"1 node, cost 2.5; minimal: no cheaper size is enough":         {Verdict: diag.SizeMinimal, Nodes: 1, Priced: true, Cost: 2.5},
		"3 nodes; cheapest found, 1 cheaper size undecided":            {Verdict: diag.SizeFound, Nodes: 3, Undecided: 1},
		"3 nodes; cheapest found, more than 2 cheaper sizes undecided": {Verdict: diag.SizeFound, Nodes: 3, Undecided: 2, More: true},
		"no size is enough":                      {Verdict: diag.SizeNone, Nodes: 3},
		"not known":                              {Verdict: diag.SizeUnknown},
		"not known, 1 size undecided":            {Verdict: diag.SizeUnknown, Undecided: 1},
		"not known, more than 4 sizes undecided": {Verdict: diag.SizeUnknown, Undecided: 4, More: true},
		"not known, 2 sizes undecided (the search ended at its limit of 9 steps)": {Verdict: diag.SizeUnknown, Undecided: 2, Spent: "9 steps"},
	} {
		if got := sizeVerdict(&one); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestRoomEnds checks what is said about workloads for which no number of pods was found to be too large.
func TestRoomEnds(t *testing.T) {
	for want, w := range map[string]diag.WorkloadRoom{
		"web 2 5 more is not known: the search ended at its limit of steps": {Most: 5, Spent: true},
		"web 2 6 the autoscaler's maximum":                                  {Most: 6, Scaled: true},
		"web 2 7 no more were asked about":                                  {Most: 7},
	} {
		w.Workload, w.Pods = "web", 2
		var out bytes.Buffer
		roomsText(&out, &diag.Sizes{}, &diag.Sizing{Workloads: []diag.WorkloadRoom{w}})
		if got := strings.Join(strings.Fields(out.String()), " "); !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestUpgradeText checks the answer, what was asked, and that ten reasons are shown.
func TestUpgradeText(t *testing.T) {
	reasons := func(n int) (all []diag.UpgradeReason) {
		for i := range n {
			all = append(all, diag.UpgradeReason{Text: fmt.Sprintf("reason %d", i+1)})
		}
		return all
	}
	for _, test := range []struct {
		atMin bool
		one   diag.Upgrade
		want  []string
	}{
		{false, diag.Upgrade{Verdict: "none"}, []string{"upgrade of pool web: the pool has no nodes\n", "only drained nodes are cordoned; autoscaled workloads at their maximum\n"}},
		{true, diag.Upgrade{Verdict: "always", Cordon: "all", Zone: "any"}, []string{"yes, all nodes", "in any zone, all old nodes are cordoned; autoscaled workloads at their minimum\n"}},
		{false, diag.Upgrade{Verdict: "never", Why: reasons(10)}, []string{"no, it stops", "  reason 10\n"}},
		{false, diag.Upgrade{Verdict: "unknown", Why: reasons(11)}, []string{"web: not known\n", "  reason 10\n  and 1 further reason\n"}},
	} {
		test.one.Pool = "web"
		var out bytes.Buffer
		upgradeText(&out, &diag.Upgrades{AtMin: test.atMin}, &test.one)
		unfolded := strings.ReplaceAll(out.String(), "\n  ", " ")
		for _, want := range test.want {
			if !strings.Contains(out.String(), want) && !strings.Contains(unfolded, want) {
				t.Errorf("%q is missing in\n%s", want, out.String())
			}
		}
		if len(test.one.Why) <= 10 && strings.Contains(out.String(), "further") {
			t.Errorf("a reason is left out in\n%s", out.String())
		}
	}
}
