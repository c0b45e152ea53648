package disruption

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// The functions below decide by counting alone, before anything is tried: that there is always
// room (T16), or that required peers never exist.

// spacious reports whether one more pod finds a node at every moment of a rollout,
// whatever happened before: beside all other pods of the group, and as many pods of both
// revisions as the strategy allows (T16). If pools may grow, it says yes only for hereditary
// rules.
func (u updates) spacious(w *workload.Workload, ruled, about *search.Roster, r *Rollout) bool {
	told := slices.ContainsFunc(u.m.Group(w).Terms, func(t *model.Term) bool {
		return t.Hard && t.Use == model.AntiAffinity && slices.ContainsFunc(w.Kind.Shared, t.Asks)
	})
	if told || r.Way == workload.PerNode || u.m.Topology.Elastic() && !search.Hereditary(u.m, ruled.Workloads()) {
		return false
	}
	pods := r.Replicas + max(1, r.Surge)
	if r.Way == workload.BothWhole {
		pods = 2 * r.Replicas
	}
	return search.AlwaysFits(w, ruled, about, search.NoLoss, certificate.Loss{}, pods)
}

// contendersOrGroup returns the roster of the contenders, if they are too many, or else of the group.
func (j *shared) contendersOrGroup(group, contenders []*workload.Workload) *search.Roster {
	if contenders != nil {
		group = contenders
	}
	return j.assembled(group).Roster
}

// decideByCounting decides a trial by counting; known is false if it has to be tried.
func (t *trial) decideByCounting() (holds, known bool) {
	defer t.j.m.Guest(t.changed)()
	all := t.group
	if t.contenders != nil {
		all = t.contenders
	}
	if t.about = t.declared; t.about == nil {
		t.about = search.NewRoster(t.j.m, all, t.j.running)
	}
	if t.ruled = t.about; t.contenders != nil {
		t.ruled = search.NewRoster(t.j.m, t.group, t.j.running)
	}
	switch {
	case t.spare(t.changed):
		return true, true
	case t.contenders != nil || lacksRequiredPods(t.j.m, t.changed):
		return false, true
	case t.w != nil && t.j.reasonNoTrialDecides(t.w).Given():
		return false, true
	}
	return false, false
}

// spare reports whether one more pod of a workload of the trial always finds a node, at every
// moment of a rollout and with any node drained (T16). False decides nothing.
func (t *trial) spare(w *workload.Workload) bool {
	if len(t.further) > 0 || t.j.m.Topology.Elastic() || w.Kind.PerNode() ||
		!t.j.Judged(w) || t.j.unlisted(w).Given() || len(t.j.m.Doubts([]*workload.Workload{w})) > 0 {
		return false
	}
	for _, n := range slices.Compact([]int{model.Certain(w), most(w)}) {
		r := Rollout{Rollout: w.Rollout(n), Replicas: n}
		if n == 0 || r.Unknown.Given() || !(updates{t.j}).spacious(w, t.ruled, t.about, &r) {
			return false
		}
	}
	drained := certificate.Loss{Meaning: certificate.Drained}
	return !slices.ContainsFunc(t.group, drained.Tolerates) && search.AlwaysFits(w, t.ruled, t.about, search.AnyNode, drained, model.Certain(w))
}

// spare reports whether the pods always find a node whichever node is lost (T16).
func (q *loss) spare(l certificate.Loss) bool {
	if q.key != hostname || !l.Recreated(q.w) {
		return false
	}
	return q.spares.of(l.Meaning, func() bool {
		return q.room.FitsAnyway(search.AnyNode, l, q.everybody.Roster, model.Certain(q.w))
	})
}

// lacksRequiredPods reports whether the pods of a workload require pods nearby that do not exist, and
// their own do not count: then their placement is unknown.
func lacksRequiredPods(m *model.Model, w *workload.Workload) bool {
	return w.Spec.NodeName == "" && slices.ContainsFunc(m.Group(w).HardAffinity(), func(t *model.Term) bool {
		return m.Self(t, w) == model.No && len(m.Others(t, w, true)) == 0
	})
}
