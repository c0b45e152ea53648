package disruption

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// trials are questions about advice: whether it holds once it is followed.
type trials struct{ *shared }

// Holds reports whether advice can be followed: whether a workload with the edit,
// on the nodes and so many more that are like one of its own, is placed as a whole
// in every run, completes every rollout and finds room when a node is drained. What
// the budget does not suffice for does not hold.
func (tr trials) Holds(w *workload.Workload, edit Edit, more int) bool {
	if tr.unready || tr.m.Topology.Empty() {
		return false
	}
	pods := max(model.Certain(w), edit.Pods)
	group, crowd := tr.contenders(w, pods), tr.crowd(w, pods)
	key := trialKey{tr.shape(w, pods, group), edit.Name, more}
	if key.shape == "" {
		return tr.try(w, edit, group, crowd, more)
	}
	held, known := tr.advice.known[key]
	if !known {
		held = tr.try(w, edit, group, crowd, more)
		tr.advice.known[key] = held
	}
	return held
}

// shape is what a trial of a workload with at most so many pods rests on: several edits
// are tried. It is that of the workload where it is judged by itself. Among others it is
// what is written of all of them, which only another context has in common. It is ""
// where nothing else may have it, and in a crowd.
func (tr trials) shape(w *workload.Workload, pods int, group []*workload.Workload) string {
	key := sized{w, pods}
	shape, known := tr.shapes[key]
	switch {
	case known:
		return shape
	case tr.crowd(w, pods) != nil:
	case len(group) == 1 && len(tr.running) == 0:
		shape = bound.Shape(tr.m, w, tr.strategy(w, w.Count.N), pods)
	case tr.advice.shared && !slices.ContainsFunc(group, borrows) && !borrows(w):
		sum := sha256.Sum256([]byte(tr.question(w, pods, tr.advice.contents) + tr.advice.contents(w.Object)))
		shape = string(sum[:])
	}
	tr.shapes[key] = shape
	return shape
}

// borrows reports whether the template of a workload is written in another object.
func borrows(w *workload.Workload) bool { return w.Object.Root.At("spec", "workloadRef") != nil }

// try tries an edit of a workload among a group, on so many nodes more. Of a crowd, if it is
// one, only counts tell (T16).
func (tr trials) try(w *workload.Workload, edit Edit, group, crowd []*workload.Workload, more int) bool {
	c := *w
	if edit.Make != nil && !edit.Make(&c) {
		return false
	}
	t := &trial{j: tr.shared, w: w, changed: &c, group: group, crowd: crowd, steps: tr.each(group)}
	for i := range more {
		n := tr.oneMore(w)
		if n == nil {
			return false
		}
		n.Name = fmt.Sprintf("%s %d", n.Name, i+1)
		for k, v := range n.Labels {
			if v == ownDomain(k) { // no two of them share it
				n.Labels[k] = fmt.Sprintf("%s %d", v, i+1)
			}
		}
		t.further = append(t.further, n)
	}
	return t.try()
}

// Change is an edit of a workload.
type Change struct {
	Workload *workload.Workload
	Edit     Edit
}

// HoldTogether is Holds for several workloads at once, with all of the changes and
// further nodes: each of the workloads is placed, rolls out and can be drained.
func (tr trials) HoldTogether(ws []*workload.Workload, changes []Change, further []*topology.Node) bool {
	if tr.unready {
		return false
	}
	if len(ws) == 1 && len(changes) == 1 && len(further) == 0 && changes[0].Workload.Object == ws[0].Object && tr.crowd(ws[0], model.Certain(ws[0])) != nil {
		return tr.Holds(ws[0], changes[0].Edit, 0) // by counts alone, which need no model of the crowd
	}
	var group []*workload.Workload
	seen := map[*workload.Workload]bool{}
	crowds := map[groupKey]bool{}
	for _, w := range ws {
		others := tr.contenders(w, model.Certain(w))
		if crowd := tr.crowd(w, model.Certain(w)); crowd != nil {
			if others = crowd; crowds[groupKey{&crowd[0], len(crowd)}] {
				continue
			}
			crowds[groupKey{&crowd[0], len(crowd)}] = true
		}
		tr.m.Run().Spend(1 + len(others))
		for _, o := range append(slices.Clip(others), w) {
			if !seen[o] {
				seen[o], group = true, append(group, o)
			}
		}
	}
	tr.m.Run().Spend(5*len(group) + len(changes))
	current := make(map[*source.Object]*workload.Workload, len(ws))
	for _, w := range ws {
		current[w.Object] = w
	}
	changed := map[*source.Object]*workload.Workload{}
	for _, c := range changes {
		edited := *c.Workload
		if w := current[c.Workload.Object]; w != nil {
			edited = *w
		}
		if c.Edit.Make != nil && !c.Edit.Make(&edited) {
			return false
		}
		current[c.Workload.Object], changed[c.Workload.Object] = &edited, &edited
	}
	ws = slices.Clone(ws)
	for _, list := range [][]*workload.Workload{ws, group} {
		for i, o := range list {
			if w := changed[o.Object]; w != nil {
				list[i] = w
			}
		}
	}
	t := &trial{j: tr.shared, group: group, further: further, steps: tr.m.Each(group)}
	if len(ws) == 1 && len(changed) == 1 {
		t.changed = changed[ws[0].Object]
	}
	return t.within(func() bool {
		if t.changed != nil {
			if holds, known := t.foretold(); known {
				return holds
			}
		}
		m, other := t.world()
		return !slices.ContainsFunc(ws, func(w *workload.Workload) bool { return !t.passes(m, other, w) })
	})
}

// trial is one piece of advice on probation.
type trial struct {
	j          *shared
	w, changed *workload.Workload
	group      []*workload.Workload
	crowd      []*workload.Workload // of which only counts tell
	// declared is the group as it is declared where it is large, or the crowd; about is the
	// one of the trial, ruled those of it that rules connect with the workload, or all.
	declared, about, ruled *search.Roster
	further                []*topology.Node // beside the declared ones
	steps                  int              // that the group has for it
}

// try puts the changed workload in its place.
func (t *trial) try() bool {
	all := t.group
	if t.group = t.with(t.group); t.crowd != nil {
		all = t.crowd
	}
	if len(all) > maxTogether {
		t.declared = t.j.assembled(all).Roster
	} else if t.crowd != nil {
		t.crowd = t.with(t.crowd)
	}
	return t.within(func() bool {
		if holds, known := t.foretold(); known {
			return holds
		}
		m, other := t.world()
		return t.passes(m, other, t.changed)
	})
}

// with is a list with the changed workload in its place.
func (t *trial) with(list []*workload.Workload) []*workload.Workload {
	list = slices.Clone(list)
	if i := slices.Index(list, t.w); i >= 0 {
		list[i] = t.changed
		return list
	}
	return append(list, t.changed)
}

// within asks a question about the trial: it does not hold if the budget of its group
// or of all advice does not suffice. At least half of what is left stays for the question
// that the advice belongs to.
func (t *trial) within(f func() bool) (holds bool) {
	run, all := t.j.m.Run(), t.j.advice.left
	steps := min(t.steps, run.Left()/2)
	if all != nil {
		steps = min(steps, *all)
		defer func(before int) { *all -= run.Spent() - before }(run.Spent())
	}
	return run.Within(steps, func() { holds = f() }) && holds
}

// world is the model of a trial, on few nodes that stand for all, and who judges it.
func (t *trial) world() (*model.Model, *shared) {
	t.j.m.Run().Spend(2 * stepsPerMember * len(t.group)) // several questions follow
	ws := append(slices.Clone(t.group), t.j.running...)
	few := search.Few(t.j.m.Beside(ws), ws, podsOf(ws)+t.surge()+2, nil)
	m := t.j.m.Variant(ws, append(few, t.further...))
	return m, t.j.other(m)
}

// surge is how many pods a rollout of the workloads adds at the most.
func (t *trial) surge() int {
	most := 1
	for _, w := range t.group {
		if !w.Kind.PerNode() {
			how := w.Rollout(w.Count.N)
			if most = max(most, how.Surge); how.Way == workload.BothWhole {
				most = max(most, w.Count.N)
			}
		}
	}
	return most
}

// passes reports whether a workload of a trial is placed, rolls out and can be drained.
func (t *trial) passes(m *model.Model, other *shared, w *workload.Workload) bool {
	if !other.Judged(w) {
		return false
	}
	rolls := false // which says that all pods are placed before, too
	for _, r := range (updates{other}).Rollouts(w) {
		if r.Verdict != diag.Always && r.Verdict != "" {
			return false
		}
		rolls = rolls || r.Verdict == diag.Always
	}
	if !rolls {
		if d := search.Decide(m, other.options(other.steps)); verdict(d, w) != diag.Always {
			return false
		}
	}
	if len(m.Topology.Nodes) < 2 || w.Bare() {
		return true
	}
	return !slices.ContainsFunc(evictions{other}.Drains(w), func(s Survival) bool { return s.Verdict != diag.Always })
}

// Advice is what trials of advice have shown: judges of the same nodes may share it.
type Advice struct {
	known map[trialKey]bool
	// shared is set if several judges have it, which then know objects by their contents.
	shared bool
	digest *source.Digester
	texts  map[*source.Object]string
	// left is how many steps there are for trials, nil for no bound but that of each.
	left *int
}

// contents stands for all that is written of an object.
func (a *Advice) contents(o *source.Object) string {
	text, known := a.texts[o]
	if !known {
		text = fmt.Sprintf("%x %q", a.digest.Sum(o.Root), o.Namespace)
		a.texts[o] = text
	}
	return text
}

// trialKey is what the outcome of a trial rests on, for a workload by itself.
type trialKey struct {
	shape, edit string
	more        int
}

// NewAdvice is advice of which nothing has been tried.
func NewAdvice() *Advice {
	return &Advice{known: map[trialKey]bool{}, digest: source.NewDigester(), texts: map[*source.Object]string{}}
}

// ShareAdvice makes a judge use what another one of the same nodes has tried. The trials
// of all that share the number left take so many steps, then no advice holds: answers
// come before advice.
func (tr trials) ShareAdvice(a *Advice, left *int) {
	a.shared, a.left = true, left
	tr.advice = a
}
