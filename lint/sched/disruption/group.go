package disruption

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// assembly is a group beside what is running, for questions about one of its members.
type assembly struct {
	*search.Roster
	// pods is how many pods there are, by podsOf.
	pods int
	// tolerant is whether some member does not mind a loss, once asked.
	tolerant map[certificate.Meaning]bool
	// hereditary caches search.Hereditary for a large group.
	hereditary bool
}

// assembled is the assembly of a group, which is kept where it is large: each of its
// members asks for it.
func (j *shared) assembled(group []*workload.Workload) *assembly {
	if len(group) <= maxTogether {
		return j.assemble(group)
	}
	key := groupKey{&group[0], len(group)}
	a := j.assemblies[key]
	if a == nil {
		a = j.assemble(group)
		a.hereditary = search.Hereditary(j.m, group)
		j.assemblies[key] = a
	}
	return a
}

// hereditary reports whether search.Hereditary holds of a group.
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

// tolerates reports whether some member does not mind a loss.
func (a *assembly) tolerates(l certificate.Loss) bool {
	does, known := a.tolerant[l.Meaning]
	if !known {
		does = slices.ContainsFunc(a.Workloads(), l.Tolerates)
		a.tolerant[l.Meaning] = does
	}
	return does
}

// doubts are those about the rules of a group.
type doubts struct {
	all []model.Doubt
	// leaning is why none of its questions is about the pods alone that are there for
	// good, open what foretold says of its members.
	leaning, open model.Reason
}

// doubts are those of the group with which a workload has to do by rules.
func (j *shared) doubts(w *workload.Workload) *doubts { return j.doubtsAbout(j.group(w, false)) }

// doubtsAbout finds those of a group, which are kept where it is large.
func (j *shared) doubtsAbout(group []*workload.Workload) *doubts {
	large := len(group) > maxTogether
	if large {
		if known := j.doubtsOf[groupKey{&group[0], len(group)}]; known != nil {
			return known
		}
	}
	d := &doubts{all: j.m.Permanent().Doubts(group)}
	if i := slices.IndexFunc(d.all, func(x model.Doubt) bool { return x.Key == "" }); i >= 0 {
		d.leaning = by(d.all[i].Cause())
	}
	if large {
		d.open = first(d.all, j.taken)
		j.doubtsOf[groupKey{&group[0], len(group)}] = d
	}
	return d
}

// first is the first doubt about a rule of one of some workloads that is about another of
// them, or about pods that take no part.
func first(all []model.Doubt, among func(*workload.Workload) bool) model.Reason {
	for i := range all {
		if d := &all[i]; among(d.Workload) && (d.Key == "" || among(d.Target)) {
			return by(d.Cause())
		}
	}
	return model.Reason{}
}

// leans is why a question about a workload cannot be asked of the pods that are
// there for good, if it cannot: a rule of its group counts on others.
func (j *shared) leans(w *workload.Workload) model.Reason { return j.doubts(w).leaning }

// foretold is why no trial tells what becomes of a workload of a large group: a rule of
// the group may be about others of it or not, whatever is tried. Of a workload that no
// node takes more is known, and pods that no node takes have no part in it.
func (j *shared) foretold(w *workload.Workload) model.Reason {
	if len(j.group(w, false)) <= maxTogether || !j.taken(w) {
		return model.Reason{}
	}
	return j.doubts(w).open
}

// doubtful is why an answer about a workload among others may not hold: whether a rule of
// some of them is about another one is not known. The labels by which a question tells
// pods apart are no values that a rule asks for, but those of the pods may be. Members of
// the group that do not fit are not among the others (see sound).
func (j *shared) doubtful(w *workload.Workload, among []*workload.Workload) model.Reason {
	all := j.doubts(w).all
	if len(all) == 0 {
		return model.Reason{}
	}
	in := make(map[*workload.Workload]bool, len(among))
	for _, o := range among {
		in[o] = true
	}
	j.m.Run().Spend(len(among) + len(all))
	return first(all, func(o *workload.Workload) bool { return in[o] || o.Running })
}

// taken reports whether some node takes a pod of a workload when it is empty.
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
