package disruption_test

import (
	"cmp"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/sched/simulate"
	"github.com/schedlint/schedlint/lint/workload"
)

// foundBySeed holds clusters that fresh seeds found, by family: runs that counted pods which terminate,
// nodes that a spread does not count, pods whose volume stays attached, and nodes that share a hostname; and a judge without
// DaemonSets that indexed an empty group.
var foundBySeed = map[string][]int{"spread": {490292338, 735025515}, "everyday": {490292228}, "volumes-immediate": {490292234, 490292333},
	"anti-affinity": {930971026}, "resources": {735025584}}

// TestSimulatedChanges checks that no simulated change contradicts a verdict, on random clusters.
func TestSimulatedChanges(t *testing.T) {
	type asked struct {
		*simulate.Change
		verdict diag.Outcome
	}
	count := map[string]map[diag.Outcome]int{"rollout": {}, "loss": {}}
	for _, family := range slices.Concat(clusters.Families, []string{"everyday"}) {
		for _, i := range append(foundBySeed[family], slices.Collect(trials.Seeds(t, trials.Of(t, 300)))...) {
			c := clusters.Everyday(uint64(i), 5)
			if family != "everyday" {
				c = clusters.Generate(family, 33, uint64(i))
			}
			nodes, manifests := c.Text()
			m, set := models.Of(t, nodes, manifests)
			for _, node := range m.Topology.Nodes { // else nothing can be said of scores
				list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100"), corev1.ResourceMemory: resource.MustParse("1Ti")}
				for name, amount := range node.Allocatable {
					list[name] = amount
				}
				node.Allocatable = list
			}
			m.Scale(1, 1)
			j := disruption.New(m, set, search.Options{Steps: 20_000})
			var all []asked
			pods := map[*workload.Workload]int{}
			for _, w := range m.Workloads {
				if !j.Judged(w) || w.Kind.PerNode() {
					continue
				}
				if rollouts := j.Rollouts(w); len(rollouts) > 0 {
					r := rollouts[0]
					pods[w] = r.Replicas
					all = append(all, asked{&simulate.Change{Workload: w, Way: r.Way, Pods: r.Replicas, Surge: r.Surge, Unavailable: r.Unavailable}, r.Verdict})
				}
				losses := slices.Concat(j.Survives(w, corev1.LabelHostname), j.Survives(w, corev1.LabelTopologyZone), j.Drains(w))
				for len(losses) > 0 {
					key, meaning := losses[0].Key, losses[0].Meaning
					same := func(s disruption.Survival) bool { return s.Key == key && s.Meaning == meaning }
					var one []disruption.Survival
					verdict := diag.Always
					for _, s := range losses {
						if !same(s) {
							continue
						}
						if one = append(one, s); s.Verdict != diag.Always {
							verdict = diag.Unknown
						}
					}
					if disruption.Certain(one, meaning) > 0 {
						verdict = diag.Never
					}
					if (certificate.Loss{Meaning: meaning}).Recreated(w) {
						all = append(all, asked{&simulate.Change{Workload: w, Key: key, Meaning: meaning}, verdict})
					}
					losses = slices.DeleteFunc(losses, same)
				}
			}
			v, old, fresh := j.Revisions(pods)
			var changes []*simulate.Change
			for _, a := range all {
				if a.Way != "" {
					a.Fresh = fresh[a.Workload]
				}
				a.Workload = cmp.Or(old[a.Workload], a.Workload)
				changes = append(changes, a.Change)
			}
			simulate.Changes(v, changes, simulate.MinRuns)
			for _, a := range all {
				if a.Runs == 0 {
					continue
				}
				if a.verdict == diag.Always && a.Shown > 0 || a.verdict == diag.Never && a.Shown < a.Runs-a.Preempts {
					t.Fatalf("%s case %d: %s %s%s %s is %s, and %d of %d runs leave pods Pending\n%s%s",
						family, i, a.Workload, a.Way, a.Key, a.Meaning, a.verdict, a.Shown, a.Runs, nodes, manifests)
				}
				kind := "rollout"
				if a.Way == "" {
					kind = "loss"
				}
				count[kind][a.verdict]++
			}
		}
	}
	t.Log(count)
	for kind, of := range count {
		if !trials.Few(t) && (of[diag.Always] < 20 || of[diag.Never] < 3) {
			t.Errorf("too little is compared: %s: %v", kind, of)
		}
	}
}
