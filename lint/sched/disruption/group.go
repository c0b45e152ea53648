package disruption

import (
	"slices"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// assembly is a group together with the running workloads.
type assembly struct {
	*search.Roster
	// pods is the pod count as computed by podsOf.
	pods int
	// tolerant caches, for each kind of loss, whether some workload in the group tolerates it.
	tolerant map[certificate.Meaning]bool
	// hereditary caches the result of search.Hereditary for a large group.
	hereditary bool
}

// assembled returns a group's assembly. It caches the assembly of a large group for the other
// members.
func (j *shared) assembled(group []*workload.Workload) *assembly {
	if len(group) <= maxTogether {
		return j.assemble(group)
	}
	return lazy.Cached(j.assemblies, keyOf(group), func() *assembly {
		a := j.assemble(group)
		a.hereditary = search.Hereditary(j.m, group)
		return a
	})
}

// hereditary is search.Hereditary with a cache for large groups.
func (j *shared) hereditary(group []*workload.Workload) bool {
	if len(group) <= maxTogether {
		return search.Hereditary(j.m, group)
	}
	return j.assembled(group).hereditary
}

func (j *shared) assemble(group []*workload.Workload) *assembly {
	return &assembly{
		Roster: search.NewRoster(j.m, group, j.running), pods: podsOf(group) + podsOf(j.running), tolerant: map[certificate.Meaning]bool{},
	}
}

// doubts holds the rules in a group that may or may not apply to certain pods.
type doubts struct {
	all []model.Doubt
	// transientReason explains why no question about the group can be limited to permanent pods.
	// open is the result of reasonNoTrialDecides for the group's members. Both may be empty.
	transientReason, open model.Reason
}

// doubts returns the doubts about the workloads that hard rules connect with w.
func (j *shared) doubts(w *workload.Workload) *doubts { return j.doubtsAbout(j.group(w, false)) }

// doubtsAbout returns the doubts about a group. For a large group the result is cached.
func (j *shared) doubtsAbout(group []*workload.Workload) *doubts {
	large := len(group) > maxTogether
	if large {
		if known := j.doubtsOf[keyOf(group)]; known != nil {
			return known
		}
	}
	d := &doubts{all: j.m.Permanent().Doubts(group)}
	if i := slices.IndexFunc(d.all, func(x model.Doubt) bool { return x.Key == "" }); i >= 0 {
		d.transientReason = by(d.all[i].Cause())
	}
	if large {
		d.open = first(d.all, j.taken)
		j.doubtsOf[keyOf(group)] = d
	}
	return d
}

// first returns the reason for the first doubt about one of the given workloads. The doubtful rule
// must apply to another of these workloads or to pods that take no part in decisions.
func first(all []model.Doubt, among func(*workload.Workload) bool) model.Reason {
	for i := range all {
		if d := &all[i]; among(d.Workload) && (d.Key == "" || among(d.Target)) {
			return by(d.Cause())
		}
	}
	return model.Reason{}
}

// reasonDependsOnTransient returns a reason if a question about a workload cannot be limited to
// permanent pods. A rule in the workload's group then depends on other pods.
func (j *shared) reasonDependsOnTransient(w *workload.Workload) model.Reason {
	return j.doubts(w).transientReason
}

// reasonNoTrialDecides returns a reason if no trial can answer a question about w. A trial cannot
// do so in a large group in which a rule may or may not apply to some members. Members that fit on
// no node are ignored, because their pods are never placed.
func (j *shared) reasonNoTrialDecides(w *workload.Workload) model.Reason {
	if len(j.group(w, false)) <= maxTogether || !j.taken(w) {
		return model.Reason{}
	}
	return j.doubts(w).open
}

// doubtful returns a reason if it is unknown whether a rule of one of the given workloads applies
// to another one. Running pods are included. An answer about w together with these workloads may
// then be wrong. The caller omits workloads that do not fit (see withoutUnfit).
func (j *shared) doubtful(w *workload.Workload, among []*workload.Workload) model.Reason {
	all := j.doubts(w).all
	if len(all) == 0 {
		return model.Reason{}
	}
	in := lists.Set(among)
	j.m.Run().Spend(len(among) + len(all))
	return first(all, func(o *workload.Workload) bool { return in[o] || o.Running })
}

// taken reports whether a workload's pod fits on some empty node.
func (j *shared) taken(w *workload.Workload) bool {
	if w.Running {
		return true
	}
	e, g := j.m.Eligible(w), j.m.Group(w)
	for i, n := range j.m.Topology.Nodes {
		j.m.Run().Spend(1)
		if e.Nodes[i].All() && model.Holds(n, g) {
			return true
		}
	}
	return false
}

// by returns a reason with a cause and no details.
func by(cause model.Cause) model.Reason { return model.Reason{Cause: cause} }

// undecided returns the reason why a question about a workload has no answer. A rule is ambiguous,
// the step budget ran out, or the question is too large.
func (j *shared) undecided(w *workload.Workload) model.Reason {
	if all := j.doubts(w).all; len(all) > 0 {
		return by(all[0].Cause())
	}
	if j.m.Run().Stops == j.stops {
		return by(model.BySize)
	}
	return by(model.ByBudget)
}

// unlisted returns a reason if a workload's pods request an extended resource that no node lists.
// The placement of the pods is then unknown.
func (j *shared) unlisted(w *workload.Workload) model.Reason {
	if names := search.Unlisted(j.m, w); len(names) > 0 {
		return model.Reason{Cause: model.ByResource, Name: string(names[0])}
	}
	return model.Reason{}
}

// reasonAboutOthers returns a reason if too little is known about the workloads that may fill a
// node together with w. It may be unknown whether their pods fit, or which pods their rules select.
// The rules of w's own group then do not settle the question.
func (j *shared) reasonAboutOthers(w *workload.Workload, group []*workload.Workload) model.Reason {
	for _, o := range group {
		if names := search.Unlisted(j.m, o); o != w && len(names) > 0 {
			return model.Reason{Cause: model.ByResource, Name: string(names[0]), Workload: o}
		}
	}
	if d := j.doubtsAbout(group); len(d.all) > 0 {
		return by(d.all[0].Cause())
	}
	return model.Reason{}
}

// unknown returns a reason if the placement of a workload's pods cannot be judged.
func (j *shared) unknown(w *workload.Workload) model.Reason {
	switch {
	case w.OrdinalReaches != nil && j.m.PinOf(w).Vague:
		return model.Reason{Cause: model.ByVolume, Name: "volumes that differ from pod to pod"}
	case w.Contested != nil:
		return j.m.Group(w).Unknown
	case !j.Judged(w):
		return by(model.ByPlacement)
	}
	return j.unlisted(w)
}

// withoutPreemptible returns a group without the workloads whose pods may be preempted for w. The
// scheduler may preempt lower-priority pods whose rules or requests block a pod (R-Q6). Pods with
// another PriorityClass count as such unless the declared values show that they are not. Workloads
// that w needs stay in the group. It returns nil if there is nothing to omit.
func (j *shared) withoutPreemptible(w *workload.Workload, group []*workload.Workload) []*workload.Workload {
	left := slices.DeleteFunc(slices.Clone(group), func(o *workload.Workload) bool {
		return w.MayPreempt(o) && !needs(j.m, w, o)
	})
	if len(left) == len(group) {
		return nil
	}
	return left
}
