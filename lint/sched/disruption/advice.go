package disruption

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// trials answers questions about advice by applying it to a copy of the model.
type trials struct{ *shared }

// Holds reports whether an edit fixes a workload. The edited workload gets `more` additional
// nodes, each like one that its pods can use. Holds returns true if the workload is then fully
// placed in every run, completes every rollout, and can be rescheduled when a node is drained. It
// returns false if the step budget runs out during the trial.
func (tr trials) Holds(w *workload.Workload, edit Edit, more int) bool {
	if tr.unready || tr.m.Topology.Empty() {
		return false
	}
	pods := max(model.Certain(w), edit.Pods)
	c := *w
	if edit.Make != nil && !edit.Make(&c) {
		return false
	}
	group, contenders := tr.contenders(w, pods), tr.contendersOf(w, pods)
	key := trialKey{tr.shape(w, pods, group), edit.Name, more}
	var met []*workload.Workload
	if !tr.aside(func() { met = tr.met(w, &c) }) {
		return false
	}
	if len(met) > 0 {
		if all := union(group, contenders, met); contenders != nil || len(all) > maxTogether || podsOf(all) > maxPods {
			contenders = all
		} else {
			group = all
		}
	}
	steps := tr.each(group)
	if edit.Brief {
		steps /= briefShare
	}
	try := func() bool { return tr.try(w, &c, group, contenders, more, edit.Label, steps) }
	if key.shape == "" || len(met) > 0 {
		return try()
	}
	return lazy.Cached(tr.advice.known, key, try)
}

// shape returns the cache key for trials that run at most `pods` pods of a workload. Trials with
// the same key have the same outcome. For an isolated workload the key is bound.Shape. For a group
// it is a hash of all the manifests, so only a trial in another context can have the same key. The
// key is "" if too many workloads contend or if no other trial can have the same key.
func (tr trials) shape(w *workload.Workload, pods int, group []*workload.Workload) string {
	return lazy.Cached(tr.shapes, sized{w, pods}, func() string {
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

// borrows reports whether a workload's pod template is in another object.
func borrows(w *workload.Workload) bool { return w.Object.Root.At("spec", "workloadRef") != nil }

// met returns further workloads that the edited workload may contend with, and all that contend
// with those. The edit may let its pods use nodes that the original pods cannot use.
func (tr trials) met(w, edited *workload.Workload) (met []*workload.Workload) {
	defer tr.m.Guest(edited)()
	was, is := tr.m.Eligible(w), tr.m.Eligible(edited)
	if was == is {
		return nil
	}
	var opened []int
	for i, p := range is.Nodes {
		if p.All() && !was.Nodes[i].All() {
			opened = append(opened, i)
		}
	}
	for _, o := range tr.m.Workloads {
		if !takesPart(tr.m.Group(o)) || o == w || slices.Contains(met, o) {
			continue
		}
		e := tr.m.Eligible(o)
		tr.m.Run().Spend(1 + len(opened)/model.PerStep)
		if slices.ContainsFunc(opened, func(i int) bool { return e.Nodes[i].All() }) {
			met = union(met, tr.contenders(o, model.Certain(o)), tr.contendersOf(o, model.Certain(o)))
		}
	}
	return met
}

// union returns the members of all lists, each of them once.
func union(lists ...[]*workload.Workload) (all []*workload.Workload) {
	seen := map[*workload.Workload]bool{}
	for _, w := range slices.Concat(lists...) {
		if !seen[w] {
			seen[w], all = true, append(all, w)
		}
	}
	return all
}

// briefShare divides the steps of a trial whose edit is Brief.
const briefShare = 64

// try replaces a workload in its group by an edited copy and adds `more` nodes, with a label if one
// is given. If contenders is not nil, there are too many workloads to search, and the trial is
// decided by counting alone (T16).
func (tr trials) try(w, edited *workload.Workload, group, contenders []*workload.Workload, more int, label [2]string, steps int) bool {
	t := &trial{j: tr.shared, w: w, changed: edited, group: group, contenders: contenders, steps: steps}
	for i := range more {
		n := tr.oneMore(w)
		if n == nil {
			return false
		}
		if label[0] != "" {
			n = model.In(n, label[0], label[1])
		}
		n.Name = fmt.Sprintf("%s %d", n.Name, i+1)
		for k, v := range n.Labels {
			if v == ownDomain(k) { // no two of the new nodes share a domain
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

// HoldTogether reports whether several changes and additional nodes work when applied together.
// Every changed workload must be placed, roll out and be drainable.
func (tr trials) HoldTogether(ws []*workload.Workload, changes []Change, further []*topology.Node) bool {
	if tr.unready {
		return false
	}
	if len(ws) == 1 && len(changes) == 1 && len(further) == 0 && changes[0].Workload.Object == ws[0].Object && tr.contendersOf(ws[0], model.Certain(ws[0])) != nil {
		return tr.Holds(ws[0], changes[0].Edit, 0) // counting decides, so the contenders need no model
	}
	var group, met []*workload.Workload
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
		if i := slices.IndexFunc(tr.m.Workloads, func(o *workload.Workload) bool { return o.Object == edited.Object }); i >= 0 {
			met = union(met, tr.met(tr.m.Workloads[i], &edited))
		}
	}
	group = union(group, met)
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

// trial is one attempt to apply a piece of advice.
type trial struct {
	j          *shared
	w, changed *workload.Workload
	group      []*workload.Workload
	contenders []*workload.Workload // judged by counting only
	// declared lists the contenders before the change, or the group if there are no contenders. It
	// is nil if the list would have at most maxTogether entries. The field about lists all
	// workloads in the trial. The field ruled lists those that rules connect to the changed one.
	// The last two are equal unless contenders are judged by counting.
	declared, about, ruled *search.Roster
	further                []*topology.Node // added to the declared nodes
	steps                  int              // the step budget of the trial
}

// with returns a copy of list in which the changed workload replaces the original.
func (t *trial) with(list []*workload.Workload) []*workload.Workload {
	list = slices.Clone(list)
	if i := slices.Index(list, t.w); i >= 0 {
		list[i] = t.changed
		return list
	}
	return append(list, t.changed)
}

// within runs f with the steps that are left for the group and for all advice. It returns false if
// they run out. It reserves at least half of the remaining budget for the question that prompted
// the advice.
func (t *trial) within(f func() bool) (holds bool) {
	run, all := t.j.m.Run(), t.j.advice.left
	steps := min(t.steps, run.Left()/2)
	if all != nil {
		steps = min(steps, *all)
		defer func(before int) { *all -= run.Spent() - before }(run.Spent())
	}
	return run.Within(steps, func() { holds = f() }) && holds
}

// world returns a model of the trial on a few representative nodes, along with its judge.
func (t *trial) world() (*model.Model, *shared) {
	t.j.m.Run().Spend(2 * stepsPerMember * len(t.group)) // because several questions follow
	ws := append(slices.Clone(t.group), t.j.running...)
	surge := 1 // the maximum number of extra pods in a rollout
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

// passes reports whether a workload in the trial is placed, rolls out and can be drained.
func (t *trial) passes(m *model.Model, other *shared, w *workload.Workload) bool {
	if !other.Judged(w) {
		return false
	}
	rolls := false // a completed rollout implies that all pods were placed before it
	for _, r := range (updates{shared: other}).Rollouts(w) {
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

// Advice caches trial outcomes. Judges with the same nodes can share it.
type Advice struct {
	known map[trialKey]bool
	// shared is set if several judges use the cache. Objects are then compared by content instead
	// of by address.
	shared bool
	digest *source.Digester
	texts  map[*source.Object]string
	// left is the number of steps left for all trials, or nil if only individual trials are
	// limited.
	left *int
}

// contents returns a hash of an object's manifest and namespace.
func (a *Advice) contents(o *source.Object) string {
	return lazy.Cached(a.texts, o, func() string { return fmt.Sprintf("%x %q", a.digest.Sum(o.Root), o.Namespace) })
}

// trialKey identifies a trial by its inputs.
type trialKey struct {
	shape, edit string
	more        int
}

// NewAdvice returns an empty Advice.
func NewAdvice() *Advice {
	return &Advice{known: map[trialKey]bool{}, digest: source.NewDigester(), texts: map[*source.Object]string{}}
}

// ShareAdvice makes the judge use another judge's trial cache. Both judges must have the same
// nodes. All judges that share `left` charge their trials to it. Once it is used up, all further
// advice is withheld so that the remaining steps go to the questions themselves.
func (tr trials) ShareAdvice(a *Advice, left *int) {
	a.shared, a.left = true, left
	tr.advice = a
}

// Question returns a cache key for the answers about a workload. The key covers everything that the
// answers depend on except the nodes: all workloads judged together with it, the pods that their
// hard rules may select, and the budgets that may select its pods. If two contexts of one cluster
// have the same key, they have the same answers. The workload, its autoscaler and its budgets are
// identified by address, because findings refer to their lines. Other workloads are identified by
// content.
func (tr trials) Question(w *workload.Workload) string {
	return tr.question(w, most(w), func(o *source.Object) string {
		if o == w.Object || w.Scale != nil && o == w.Scale.Object || o.Kind == "PodDisruptionBudget" {
			return fmt.Sprintf("%p", o)
		}
		return tr.advice.contents(o)
	})
}

// question builds the key for Question, with at most `pods` pods for the workload. The argument
// name is a function that identifies an object.
func (tr trials) question(w *workload.Workload, pods int, name func(*source.Object) string) string {
	var q strings.Builder
	objects := func(ws []*workload.Workload) {
		for _, w := range ws {
			q.WriteString(" " + name(w.Object))
		}
		q.WriteByte('\n')
	}
	group := slices.Concat(tr.group(w, false), tr.group(w, true), tr.contenders(w, pods), tr.running, []*workload.Workload{w})
	for i, o := range group { // include the workloads that hard rules may select
		if slices.Contains(group[:i], o) {
			continue
		}
		q.WriteString(name(o.Object))
		if borrows(o) { // the template is not part of the object's content
			fmt.Fprintf(&q, " %p", o.SpecNode)
		}
		if o.Scale != nil {
			q.WriteString(" by " + name(o.Scale.Object))
		}
		q.WriteString(tr.m.Group(o).Request + workload.ReachText(o.AllReaches()))
		for _, c := range o.Claims {
			if c.Static != nil { // which volumes there are differs between contexts with the same nodes
				fmt.Fprintf(&q, " %p", c.Static.Volumes)
			}
		}
		for t := range tr.m.Group(o).HardTerms() {
			objects(tr.m.Others(t, o, true))
			if t.NamespaceSelector != nil {
				fmt.Fprint(&q, tr.m.Namespaces)
			}
			if t.Use == model.Affinity {
				fmt.Fprint(&q, tr.m.Self(t, o))
			}
		}
		q.WriteByte('\n')
	}
	for _, contenders := range [][]*workload.Workload{tr.contendersOf(w, model.Certain(w)), tr.contendersOf(w, pods)} {
		if contenders != nil {
			q.WriteString("crowd " + lazy.Cached(tr.digests, keyOf(contenders), func() string { // a hash of the manifests
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
		objects(b.Workloads)
	}
	for _, b := range tr.PossibleBudgets(w) {
		fmt.Fprintf(&q, "perhaps %s %v\n", name(b.Object), b.Selects)
	}
	return q.String()
}
