package disruption_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// scaled is a sample with an autoscaler for some loads.
type scaled struct {
	sample
	least, most []int // by load; equal without an autoscaler
	budget      string
}

// scaled adds autoscalers and a disruption budget.
func (g generator) scaled(s sample) scaled {
	out := scaled{sample: s}
	for i, l := range s.loads {
		least, most := l.replicas, l.replicas
		if l.kind != "DaemonSet" && (i == 0 || g.chance(40)) {
			least = g.IntN(3)
			if most = least + 1 + g.IntN(2); i == 0 && g.chance(30) {
				most += 2 + g.IntN(5) // not each number is judged
			}
		}
		out.least, out.most = append(out.least, least), append(out.most, most)
	}
	if g.chance(40) {
		out.budget = "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, " +
			g.pick("minAvailable: 1", "minAvailable: 2", "minAvailable: 50%", "maxUnavailable: 1", "maxUnavailable: 0", "maxUnavailable: 30%") + "}}\n"
	}
	return out
}

// autoscaled returns the manifests with autoscalers. A minimum of 0 takes a ScaledObject.
func (s scaled) autoscaled() string {
	text := s.manifests() + s.budget
	for i, l := range s.loads {
		if s.least[i] == s.most[i] {
			continue
		}
		version, kind, limits := "autoscaling/v2", "HorizontalPodAutoscaler", "minReplicas: %d, maxReplicas: %d"
		if s.least[i] == 0 {
			version, kind, limits = "keda.sh/v1alpha1", "ScaledObject", "minReplicaCount: %d, maxReplicaCount: %d"
		}
		text += fmt.Sprintf("---\n{apiVersion: %s, kind: %s, metadata: {name: %s}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: %s, name: %s}, "+limits+"}}\n", version, kind, l.name, l.kind, l.name, s.least[i], s.most[i])
	}
	return text
}

// outcomes returns the answers about changes of a workload.
func outcomes(j *disruption.Judge, w *workload.Workload) map[string]diag.Outcome {
	all := map[string]diag.Outcome{"drain": j.Drain(w).Answer}
	var rolls []diag.Outcome
	for _, r := range j.Rollouts(w) {
		if r.Verdict != "" {
			rolls = append(rolls, r.Verdict)
		}
	}
	all["rollout"] = together(rolls)
	for _, key := range []string{keys[host], keys[zone]} {
		for _, meaning := range []certificate.Meaning{certificate.Gone, certificate.Unreachable} {
			losses := slices.DeleteFunc(j.Survives(w, key), func(s disruption.Survival) bool { return s.Meaning != meaning })
			var each []diag.Outcome
			for _, s := range losses {
				each = append(each, s.Verdict)
			}
			verdict := diag.None
			switch worst, _ := disruption.Worst(losses); {
			case disruption.Certain(losses, meaning) > 0 || worst != nil && worst.Verdict == diag.Never:
				verdict = diag.Never
			case slices.Contains(each, diag.Sometimes):
				verdict = diag.Sometimes
			case slices.Contains(each, diag.Unknown):
				verdict = diag.Unknown
			case len(each) > 0:
				verdict = diag.Always
			}
			all[fmt.Sprintf("loss of %s, %s", key, meaning)] = verdict
		}
	}
	return all
}

// together combines the answers at several numbers of pods.
func together(all []diag.Outcome) diag.Outcome {
	differs := func(v diag.Outcome) func(diag.Outcome) bool { return func(o diag.Outcome) bool { return o != v } }
	switch {
	case len(all) == 0:
		return diag.None
	case !slices.ContainsFunc(all, differs(all[0])):
		return all[0]
	case slices.Contains(all, diag.Never) || slices.Contains(all, diag.Sometimes):
		return diag.Sometimes
	}
	return diag.Unknown
}

// sizes returns how many numbers of pods the autoscalers may set.
func (s scaled) sizes() int {
	n := 1
	for i := range s.least {
		n *= s.most[i] - s.least[i] + 1
	}
	return n
}

// TestAutoscalersAgreeWithFixedCounts compares answers about autoscaled workloads with those about the
// same workloads with each number of pods that fits and that the autoscalers may choose: a yes holds at
// each of them, a no at none is a yes, and a may has both or is a may at one.
func TestAutoscalersAgreeWithFixedCounts(t *testing.T) {
	t.Parallel()
	count := map[diag.Outcome]int{}
	found := []int{29, 5000046, 5000231} // fewer pods than the declared ones fit, or some never do for other reasons
	for _, seed := range append(found, slices.Collect(trials.Seeds(t, trials.Of(t, 400)))...) {
		g := newGenerator(seed, 815)
		s := g.scaled(g.sample(g.pick("Deployment", "Deployment", "StatefulSet")))
		if sizes := s.sizes(); sizes > 12 && !trials.Full(t) {
			continue // each takes up to four seconds
		}
		manifests := s.autoscaled()
		j, m := judge(t, s.nodes(), manifests)
		got := outcomes(j, find(t, m, "web"))
		at := map[string]map[diag.Outcome]bool{}
		s.least[0] = max(1, s.least[0]) // there is no question about no pods
		next, first := slices.Clone(s.least), false
		for more := true; more; {
			fixed := s.sample
			fixed.loads = slices.Clone(s.loads)
			same := true
			for i := range next {
				declared := min(max(s.loads[i].replicas, s.least[i]), s.most[i])
				same = same && next[i] == declared
				fixed.loads[i].replicas = next[i]
			}
			j, m := judge(t, fixed.nodes(), fixed.manifests()+s.budget)
			d := search.Decide(m, search.Options{Steps: 100_000})
			first = first || len(at) == 0 && d.Verdict == diag.Never // for other reasons than the numbers
			exceeds := slices.ContainsFunc(d.Workloads, func(w certificate.WorkloadDecision) bool {
				i := slices.IndexFunc(s.loads, func(l load) bool { return l.name == w.Workload.Object.Name })
				return w.Verdict == diag.Never && i >= 0 && next[i] > s.least[i]
			})
			if same || !exceeds && (first || d.Verdict != diag.Never) {
				for question, v := range outcomes(j, find(t, m, "web")) {
					if at[question] == nil {
						at[question] = map[diag.Outcome]bool{}
					}
					at[question][v] = true
				}
			}
			more = false
			for i := range next {
				if next[i] < s.most[i] {
					next[i]++
					more = true
					break
				}
				next[i] = s.least[i]
			}
		}
		for question, v := range got {
			count[v]++
			yes, may, no := at[question][diag.Always], at[question][diag.Sometimes], at[question][diag.Never]
			if v == diag.Always && (may || no) || v == diag.Never && yes || v == diag.Sometimes && yes && !may && !no && !at[question][diag.Unknown] {
				t.Errorf("seed %d: %s is %s, at fixed numbers %v\n%s%s", seed, question, v, at[question], s.nodes(), manifests)
			}
		}
	}
	t.Log(count)
	for v, n := range map[diag.Outcome]int{diag.Always: 300, diag.Sometimes: 300, diag.Never: 200} {
		if count[v] < trials.Share(t, n) {
			t.Errorf("the generator is too tame: %d are %q", count[v], v)
		}
	}
}
