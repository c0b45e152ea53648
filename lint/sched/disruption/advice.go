package disruption

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// trials answers questions about advice: whether it holds once it is followed.
type trials struct{ *shared }

// Holds reports whether advice works: whether the workload with the edit, and with
// `more` additional nodes like one that it may use, is fully placed in every run,
// completes every rollout and finds room when a node is drained. Advice that the budget
// does not suffice to try does not hold.
func (tr trials) Holds(w *workload.Workload, edit Edit, more int) bool {
	if tr.unready || tr.m.Topology.Empty() {
		return false
	}
	pods := max(model.Certain(w), edit.Pods)
	group, contenders := tr.contenders(w, pods), tr.contendersOf(w, pods)
	key := trialKey{tr.shape(w, pods, group), edit.Name, more}
	try := func() bool { return tr.try(w, edit, group, contenders, more) }
	if key.shape == "" {
		return try()
	}
	return model.Cached(tr.advice.known, key, try)
}

// shape returns the key, cached for further edits, under which trials of a workload with at most
// `pods` pods share their outcome. For an isolated workload it is bound.Shape. For a group it
// hashes all manifests, which only another context can have in common. It is "" if too many contend,
// and if nothing else can have the same key.
func (tr trials) shape(w *workload.Workload, pods int, group []*workload.Workload) string {
	return model.Cached(tr.shapes, sized{w, pods}, func() string {
		switch {
		case tr.contendersOf(w, pods) != nil:
		case len(group) == 1 && len(tr.running) == 0:
			return bound.Shape(tr.m, w, tr.strategy(w, w.Count.N), pods)
		case tr.advice.shared && !slices.ContainsFunc(group, borrows) && !borrows(w):
			sum := sha256.Sum256([]byte(tr.question(w, pods, tr.advice.contents) + tr.advice.contents(w.Object)))
			return string(sum[:])
		}
		return ""
	})
}

// borrows reports whether the pod template of a workload is written in another object.
func borrows(w *workload.Workload) bool { return w.Object.Root.At("spec", "workloadRef") != nil }

// try tries an edit of a workload in its group, with `more` additional nodes. If too many contend,
// if not nil, only counting decides (T16).
func (tr trials) try(w *workload.Workload, edit Edit, group, contenders []*workload.Workload, more int) bool {
	c := *w
	if edit.Make != nil && !edit.Make(&c) {
		return false
	}
	t := &trial{j: tr.shared, w: w, changed: &c, group: group, contenders: contenders, steps: tr.each(group)}
	for i := range more {
		n := tr.oneMore(w)
		if n == nil {
			return false
		}
		n.Name = fmt.Sprintf("%s %d", n.Name, i+1)
		for k, v := range n.Labels {
			if v == ownDomain(k) { // no two of the nodes share it
				n.Labels[k] = fmt.Sprintf("%s %d", v, i+1)
			}
		}
		t.further = append(t.further, n)
	}
	all := t.group
	if t.group = t.with(t.group); t.contenders != nil {
		all = t.contenders
	}
	if len(all) > maxTogether {
		t.declared = t.j.assembled(all).Roster
	} else if t.contenders != nil {
		t.contenders = t.with(t.contenders)
	}
	return t.within(func() bool {
		if holds, known := t.decideByCounting(); known {
			return holds
		}
		m, other := t.world()
		return t.passes(m, other, t.changed)
	})
}

// Change is an edit of one workload.
type Change struct {
	Workload *workload.Workload
	Edit     Edit
}

// HoldTogether reports whether several changes and additional nodes work together:
// each of the workloads is placed, rolls out and can be drained.
func (tr trials) HoldTogether(ws []*workload.Workload, changes []Change, further []*topology.Node) bool {
	if tr.unready {
		return false
	}
	if len(ws) == 1 && len(changes) == 1 && len(further) == 0 && changes[0].Workload.Object == ws[0].Object && tr.contendersOf(ws[0], model.Certain(ws[0])) != nil {
		return tr.Holds(ws[0], changes[0].Edit, 0) // counting decides, so the contenders need no model
	}
	var group []*workload.Workload
	seen := map[*workload.Workload]bool{}
	added := map[groupKey]bool{}
	for _, w := range ws {
		others := tr.contenders(w, model.Certain(w))
		if contenders := tr.contendersOf(w, model.Certain(w)); contenders != nil {
			if others = contenders; added[keyOf(contenders)] {
				continue
			}
			added[keyOf(contenders)] = true
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
			if holds, known := t.decideByCounting(); known {
				return holds
			}
		}
		m, other := t.world()
		return !slices.ContainsFunc(ws, func(w *workload.Workload) bool { return !t.passes(m, other, w) })
	})
}

// trial is the state of trying one piece of advice.
type trial struct {
	j          *shared
	w, changed *workload.Workload
	group      []*workload.Workload
	contenders []*workload.Workload // judged by counting only
	// declared lists the group, if it is large, or the contenders, both as declared; about lists the
	// workloads of the trial, and ruled those connected to the changed one by rules, or all.
	declared, about, ruled *search.Roster
	further                []*topology.Node // in addition to the declared ones
	steps                  int              // that the group may spend on it
}

// with returns a copy of a list with the changed workload in place of the original.
func (t *trial) with(list []*workload.Workload) []*workload.Workload {
	list = slices.Clone(list)
	if i := slices.Index(list, t.w); i >= 0 {
		list[i] = t.changed
		return list
	}
	return append(list, t.changed)
}

// within runs f within the budget of the group and of all advice; if that does not suffice,
// the trial does not hold. At least half of what is left remains for the question that
// the advice belongs to.
func (t *trial) within(f func() bool) (holds bool) {
	run, all := t.j.m.Run(), t.j.advice.left
	steps := min(t.steps, run.Left()/2)
	if all != nil {
		steps = min(steps, *all)
		defer func(before int) { *all -= run.Spent() - before }(run.Spent())
	}
	return run.Within(steps, func() { holds = f() }) && holds
}

// world returns a model of the trial on a few representative nodes, and a judge for it.
func (t *trial) world() (*model.Model, *shared) {
	t.j.m.Run().Spend(2 * stepsPerMember * len(t.group)) // several questions follow
	ws := append(slices.Clone(t.group), t.j.running...)
	surge := 1 // the most pods that a rollout of one of the workloads adds
	for _, w := range t.group {
		if !w.Kind.PerNode() {
			how := w.Rollout(w.Count.N)
			if surge = max(surge, how.Surge); how.Way == workload.BothWhole {
				surge = max(surge, w.Count.N)
			}
		}
	}
	few := search.Few(t.j.m.Beside(ws), ws, podsOf(ws)+surge+2, nil)
	m := t.j.m.Variant(ws, append(few, t.further...))
	return m, t.j.other(m)
}

// passes reports whether a workload of the trial is placed, rolls out and can be drained.
func (t *trial) passes(m *model.Model, other *shared, w *workload.Workload) bool {
	if !other.Judged(w) {
		return false
	}
	rolls := false // which implies that all pods are placed before the rollout
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

// Advice caches the outcomes of trials; judges of the same nodes may share it.
type Advice struct {
	known map[trialKey]bool
	// shared is set if several judges use it; objects are then compared by content.
	shared bool
	digest *source.Digester
	texts  map[*source.Object]string
	// left is the number of steps left for trials, or nil if only each trial is bounded.
	left *int
}

// contents returns a hash of an object's manifest and namespace.
func (a *Advice) contents(o *source.Object) string {
	return model.Cached(a.texts, o, func() string { return fmt.Sprintf("%x %q", a.digest.Sum(o.Root), o.Namespace) })
}

// trialKey identifies a trial by everything that its outcome depends on.
type trialKey struct {
	shape, edit string
	more        int
}

// NewAdvice returns an empty Advice.
func NewAdvice() *Advice {
	return &Advice{known: map[trialKey]bool{}, digest: source.NewDigester(), texts: map[*source.Object]string{}}
}

// ShareAdvice makes the judge use trials of another judge of the same nodes. All judges
// that share `left` spend their trials from it; once it is used up no advice holds, because
// answers come before advice.
func (tr trials) ShareAdvice(a *Advice, left *int) {
	a.shared, a.left = true, left
	tr.advice = a
}

// Question returns a key of everything that the answers about a workload depend on, except
// the nodes: all workloads with which it is judged, the pods that their hard rules may
// select, and the budgets that may select its pods. Contexts of one cluster with the same key
// have the same answers. The workload, its autoscaler and budgets are identified by object,
// because findings point at their lines, and other workloads by content.
func (tr trials) Question(w *workload.Workload) string {
	return tr.question(w, most(w), func(o *source.Object) string {
		if o == w.Object || w.Scale != nil && o == w.Scale.Object || o.Kind == "PodDisruptionBudget" {
			return fmt.Sprintf("%p", o)
		}
		return tr.advice.contents(o)
	})
}

// question returns the text of a Question for at most that many pods of the workload; name
// identifies an object.
func (tr trials) question(w *workload.Workload, pods int, name func(*source.Object) string) string {
	q := question{j: tr.shared, name: name}
	group := slices.Concat(tr.group(w, false), tr.group(w, true), tr.contenders(w, pods), tr.running, []*workload.Workload{w})
	for i, o := range group {
		if !slices.Contains(group[:i], o) {
			q.member(o)
		}
	}
	for _, contenders := range [][]*workload.Workload{tr.contendersOf(w, model.Certain(w)), tr.contendersOf(w, pods)} {
		if contenders != nil {
			q.WriteString("crowd " + model.Cached(tr.digests, keyOf(contenders), func() string { // a hash of the manifests
				sum := sha256.New()
				for _, w := range contenders {
					fmt.Fprintln(sum, w, tr.advice.contents(w.Object))
					if borrows(w) {
						fmt.Fprintf(sum, "%p", w.SpecNode)
					}
				}
				return string(sum.Sum(nil))
			}) + "\n")
		}
	}
	for _, b := range tr.BudgetsOf(w) {
		fmt.Fprintf(&q, "budget %s %v %d %d %d", name(b.Object), b.Known, b.AllowedMin, b.AllowedMax, b.UpTo)
		q.objects(b.Workloads)
	}
	for _, b := range tr.PossibleBudgets(w) {
		fmt.Fprintf(&q, "perhaps %s %v\n", name(b.Object), b.Selects)
	}
	return q.String()
}

// question builds the text of a Question.
type question struct {
	strings.Builder
	j    *shared
	name func(*source.Object) string
}

func (q *question) objects(ws []*workload.Workload) {
	for _, w := range ws {
		q.WriteString(" " + q.name(w.Object))
	}
	q.WriteByte('\n')
}

// member adds a workload and the workloads that its hard rules may select. The content of its
// object does not include a template that is written in another object.
func (q *question) member(w *workload.Workload) {
	q.WriteString(q.name(w.Object))
	if borrows(w) {
		fmt.Fprintf(q, " %p", w.SpecNode)
	}
	if w.Scale != nil {
		q.WriteString(" by " + q.name(w.Scale.Object))
	}
	for t := range q.j.m.Group(w).HardTerms() {
		q.objects(q.j.m.Others(t, w, true))
		if t.NamespaceSelector != nil {
			fmt.Fprint(q, q.j.m.Namespaces)
		}
		if t.Use == model.Affinity {
			fmt.Fprint(q, q.j.m.Self(t, w))
		}
	}
	q.WriteByte('\n')
}
