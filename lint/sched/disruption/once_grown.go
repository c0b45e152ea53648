package disruption

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Answers that OnceGrown lists.
const (
	Fits         = "fits"
	Rolls        = "rolls"
	Drains       = "drains"
	SurvivesNode = "survives-node"
	SurvivesZone = "survives-zone"
)

// OnceGrown lists the questions about a workload to which the answer is yes if an autoscaler adds
// each node that a Pending pod needs (T33). Pods with volumes may be tied to a zone after their
// first start, so only their first placement is judged.
func (j *Judge) OnceGrown(w *workload.Workload) (yes []string) {
	j.m.Run().Within(j.m.Part([]*workload.Workload{w}), func() {
		j.onceGrown(w, func(question string) { yes = append(yes, question) })
	})
	return yes
}

func (j *Judge) onceGrown(w *workload.Workload, yes func(question string)) {
	pods := model.Certain(w)
	if pods == 0 || !search.OnceGrown(j.m, w, certificate.Grown{Pods: most(w)}) {
		return
	}
	yes(Fits)
	if len(w.Claims) > 0 || w.TightQuota != "" || w.Kind.VM || w.Finite() || w.Bare() || j.shared.unknown(w).Given() {
		return
	}
	completes := func(r Rollout) bool {
		return r.Way != workload.NoRollout && !r.Unknown.Given() && search.OnceGrown(j.m, w, certificate.Grown{Pods: r.Replicas + r.Surge})
	}
	if !slices.ContainsFunc(j.Rollouts(w), func(r Rollout) bool { return !completes(r) }) {
		yes(Rolls)
	}
	fits := func(o *workload.Workload) bool {
		return search.OnceGrown(j.m, o, certificate.Grown{Pods: most(o), Spare: 1})
	}
	if allowed, _, _ := j.evictable(w); allowed == diag.Always && fits(w) && !slices.ContainsFunc(j.BudgetsOf(w), func(b Budget) bool { return !all(b.Workloads, fits) }) {
		yes(Drains)
	}
	// Pods on an unreachable node count for anti-affinity, and some are not created again.
	survives := func(spare int, lost [2]string) bool {
		return search.OnceGrown(j.m, w, certificate.Grown{Pods: 2 * most(w), Spare: spare, Lost: lost})
	}
	if !(certificate.Loss{Meaning: certificate.Unreachable}).Recreated(w) || !survives(1, [2]string{}) {
		return
	}
	yes(SurvivesNode)
	zones := lists.SetOf(j.m.Topology.All(), func(n *topology.Node) string { return n.Labels[corev1.LabelTopologyZone] })
	delete(zones, "")
	for zone := range zones {
		if !survives(0, [2]string{corev1.LabelTopologyZone, zone}) {
			return
		}
	}
	yes(SurvivesZone)
}

func all(ws []*workload.Workload, holds func(*workload.Workload) bool) bool {
	return !slices.ContainsFunc(ws, func(w *workload.Workload) bool { return !holds(w) })
}
