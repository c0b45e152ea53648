package disruption_test

import (
	"slices"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/workload"
)

// migrating returns a random sample whose first workload consists of machines.
func (g generator) migrating() sample {
	machines := func() string { return g.pick("VirtualMachine", "VirtualMachineInstanceReplicaSet") }
	s := g.sample(machines())
	for i := range s.loads {
		l := &s.loads[i]
		if i > 0 && l.kind == "Deployment" && g.chance(60) {
			l.kind = machines()
		}
		if !l.machine() {
			continue
		}
		l.port = false
		if l.replicas = min(l.replicas, 3); l.kind == "VirtualMachine" {
			l.replicas = 1
		}
		for k := range l.rules {
			r := &l.rules[k]
			if g.chance(15) {
				r.labels = "kubevirt.io: virt-launcher" // all machines of the namespace (R-W21)
			}
			if r.match = false; r.use == "anti" && g.chance(40) {
				r.mismatch = true
			}
		}
	}
	return s
}

// migrates tries every machine in every complete placement. A second pod with the same labels has
// to find another node while the first pod is still in place (R-W25).
func (s sample) migrates(t *testing.T) (answer diag.Outcome, tooMuch bool) {
	t.Helper()
	from := s.start(t, 0)
	from.tooMuch = from.tooMuch || from.unclear || from.fits && len(from.complete) == 0
	if len(from.complete) == 0 {
		return diag.None, from.tooMuch
	}
	some, all := false, true
	for _, g := range from.complete {
		for r := range from.rows {
			if from.rows[r].of != 0 {
				continue
			}
			others := slices.DeleteFunc(slices.Clone(from.takers(g, r)), func(n int) bool { return from.on(g, r, n) > 0 })
			some, all = some || len(others) > 0, all && len(others) > 0
		}
	}
	switch {
	case all:
		return diag.Always, from.tooMuch
	case some:
		return diag.Sometimes, from.tooMuch
	}
	return diag.Never, from.tooMuch
}

// TestMigrationAgreesWithPlacements compares answers about migrations with all machines in all
// placements.
func TestMigrationAgreesWithPlacements(t *testing.T) {
	draw := func(seed int) sample { return newGenerator(seed, 502).migrating() }
	said := func(j *disruption.Judge, w *workload.Workload) diag.Outcome { return j.Migration(w).Answer }
	agree(t, 300, draw, sample.migrates, said, diag.Always, diag.Never, diag.Sometimes, diag.None)
}

// agree compares the judge's answers about the first workloads of random samples with the correct
// answers. It fails if one of the answers is rare.
func agree(t *testing.T, cases int, draw func(seed int) sample, truth func(sample, *testing.T) (diag.Outcome, bool),
	said func(*disruption.Judge, *workload.Workload) diag.Outcome, answers ...diag.Outcome) {
	t.Helper()
	count, open := map[diag.Outcome]int{}, map[diag.Outcome]int{}
	for seed := range trials.Seeds(t, trials.Of(t, cases)) {
		s := draw(seed)
		want, tooMuch := truth(s, t)
		if tooMuch {
			count["?"]++
			continue
		}
		j, m := judge(t, s.nodes(), s.manifests())
		got := said(j, find(t, m, "web"))
		if got == diag.Unknown {
			open[want]++
			continue
		}
		count[want]++
		if got != want {
			t.Errorf("seed %d: %s, want %s%s", seed, got, want, s)
		}
	}
	t.Logf("%v, unknown %v", count, open)
	tame(t, count, answers...)
}

// tame fails if some answer is rare.
func tame(t *testing.T, count map[diag.Outcome]int, answers ...diag.Outcome) {
	t.Helper()
	for _, a := range answers {
		if count[a] < trials.Share(t, 5) {
			t.Errorf("the generator is too tame: %d are %s", count[a], a)
		}
	}
}
