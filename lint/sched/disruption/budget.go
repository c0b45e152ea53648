package disruption

import (
	"maps"
	"math"
	"slices"
	"sort"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Budget is what a PodDisruptionBudget means for the workloads that it selects.
type Budget struct {
	*workload.Budget
	// Workloads are those of which it certainly selects pods, in the order of their names.
	Workloads []*workload.Workload
	// Pods is the number of pods that it certainly selects.
	Pods int
	// AllowedMin and AllowedMax bound how many of them may be evicted while all are
	// healthy, over the sizes that autoscalers keep. AllowedMax is Unbounded if nothing
	// bounds it.
	AllowedMin, AllowedMax int
	// WhileSmall is set if it allows no eviction while the autoscaled Workloads have at most
	// UpTo pods, and some once they have more.
	WhileSmall bool
	UpTo       int
	// Amount is what it demands of the fewest pods, of 0 unless Known is set: all numbers but
	// those of autoscalers are certain.
	Amount workload.Amount
	Known  bool
	// Unscaled is a workload whose pods have no controller with a number of replicas,
	// which the budget needs: it allows no eviction then.
	Unscaled *workload.Workload
	// Idle is set if it certainly selects no pod.
	Idle bool
	// Evicts is set if a drain evicts some of the pods that it selects for certain, as those
	// of a DaemonSet stay.
	Evicts bool
	// covers are the pods of each of Workloads that it selects, by their ordinals.
	covers map[*workload.Workload]model.Pods
}

// Unbounded is a number of pods that nothing bounds from above.
const Unbounded = math.MaxInt32

// Budgets judges all disruption budgets of the set (R-W19).
func (j *shared) Budgets() []Budget {
	if j.budgets == nil {
		all := []Budget{}
		for _, b := range j.set.Budgets {
			all = append(all, j.budget(b))
		}
		j.budgets = all // once they are whole
	}
	return j.budgets
}

// tally adds up what the disruption controller counts for a budget, within bounds.
type tally struct {
	// low and high are with as few pods as possible, and with as many.
	low, high count
	// unscaled is a workload of which the pods have no number of replicas, doubtful that
	// there may be one, and exact that all bounds but those of autoscalers are equal.
	unscaled        *workload.Workload
	doubtful, exact bool
	// scaled counts the pods in low of workloads that have an autoscaler.
	scaled int
}

// count is the healthy pods, the replicas of their controllers, and how many healthy pods
// there are beyond these: fewer than 0 if not all pods of a controller are selected.
type count struct{ healthy, replicas, surplus int }

func (j *shared) budget(b *workload.Budget) Budget {
	out := Budget{Budget: b, AllowedMax: Unbounded, covers: map[*workload.Workload]model.Pods{}}
	t := tally{exact: true}
	neighbours, doubt := 0, b.Unknown != ""
	j.m.Run().Spend(len(j.m.Workloads)/4 + len(j.m.Elsewhere())/4)
	count := func(w *workload.Workload) {
		pods, answer := j.selects(b, w)
		switch sure := answer == model.Yes && b.Unknown == "" && !w.Elsewhere; {
		case answer == model.No:
		case sure:
			out.Workloads, out.covers[w] = append(out.Workloads, w), pods
			least := t.add(j, w, pods, true)
			out.Pods += least
			out.Evicts = out.Evicts || least > 0 && !w.Kind.PerNode() && !w.Finite()
		default:
			doubt = true
			t.add(j, w, pods, false)
		}
	}
	for _, w := range j.m.Workloads {
		if w.Object.Namespace == b.Object.Namespace && !w.Copy && !w.Superseded {
			neighbours++
			count(w)
		}
	}
	for _, w := range j.m.Elsewhere() { // which may be there, if it is not another declaration of the same
		if w.Object.Namespace == b.Object.Namespace && !j.declared()[0][identity(w)] {
			count(w)
		}
	}
	out.Idle = len(out.Workloads) == 0 && !doubt && neighbours > 0 && !j.set.Operates(b.Object.Namespace)
	if b.Unknown == "" && len(out.Workloads) > 0 {
		t.settle(&out)
	}
	return out
}

// add counts the pods that a budget selects of a workload, certainly or perhaps. It returns
// how many there are for certain.
func (t *tally) add(j *shared, w *workload.Workload, selected model.Pods, sure bool) int {
	low, high, exact := j.sizes(w)
	t.exact = t.exact && exact && sure
	if !sure {
		low = 0
	}
	least, most := selected.Below(low), selected.Below(high)
	t.low.healthy, t.high.healthy = t.low.healthy+least, t.high.healthy+most
	if w.Scale != nil {
		t.scaled += least
		t.exact = t.exact && selected == model.AllPods
	}
	switch {
	case w.Kind.PerNode() || w.Kind.Batch() || w.Kind.VM:
		if t.doubtful = t.doubtful || most > 0; least > 0 && t.unscaled == nil {
			t.unscaled = w
		}
	case w.Kind.Kind == "Pod":
		t.doubtful = t.doubtful || w.Object.Root.At("metadata", "ownerReferences").Len() > 0
		t.high.surplus += most // which nobody expects
	case !w.Elsewhere && !model.Modelled(j.m.Group(w)): // its controller expects pods that may not run
		t.low.replicas, t.high.replicas = t.low.replicas+high, t.high.replicas+high
		t.low.surplus, t.high.surplus = t.low.surplus-high, t.high.surplus+most-high
	case selected == model.AllPods:
		t.low.replicas, t.high.replicas = t.low.replicas+low, t.high.replicas+high
	case least > 0:
		t.low.replicas, t.high.replicas = t.low.replicas+low, t.high.replicas+high
		t.low.surplus, t.high.surplus = t.low.surplus+least-high, t.high.surplus+most-low
	default: // its controller counts only if it has a pod that is selected
		t.high.replicas += high
		t.low.surplus, t.high.surplus = t.low.surplus-high, t.high.surplus+max(0, most-low)
	}
	return least
}

// sizes bounds how many healthy pods a workload has, from a state in which all run. They
// are exact if only an autoscaler tells them apart. Pods that end by themselves or are not
// recreated may be gone, and KubeVirt makes budgets for machines itself.
func (j *shared) sizes(w *workload.Workload) (low, high int, exact bool) {
	switch {
	case w.Kind.PerNode() && j.m.Judged(w):
		e := j.m.Eligible(w)
		high = e.Count
		for i, g := range j.m.Topology.Growth {
			if e.Growth[i].All() {
				high += g.Extra
			}
		}
		return e.Count, high, high == e.Count
	case w.Elsewhere || w.Refused() || w.Kind.VM || !w.Count.Known:
		return 0, Unbounded, false
	case w.Finite() || w.Bare() || !model.Modelled(j.m.Group(w)): // or it may not run at all
		return 0, max(w.Count.N, most(w)), false
	case w.Scale != nil:
		return w.Scale.Min, w.Scale.Max, true
	}
	return w.Count.N, w.Count.N, true
}

// settle computes what a budget allows from what it selects. Its inputs only grow from the
// smallest to the largest, and so does what it allows. It mirrors getExpectedPodCount and
// getExpectedScale of pkg/controller/disruption/disruption.go: minAvailable as a number
// counts the selected pods; anything else needs the replicas of each pod's controller, and
// fails for pods whose controller has no scale subresource. A pod without a controller is
// not expected, but healthy (R-W19, R-W32).
func (t *tally) settle(out *Budget) {
	b := out.Budget
	counts := b.MaxUnavailable == nil && b.MinAvailable != nil && b.MinAvailable.Type == intstr.Int
	allowed := func(c count) (int, workload.Amount) {
		if counts {
			return b.Allowed(c.healthy)
		}
		n, by := b.Allowed(c.replicas)
		if c.replicas == 0 || by.Field == "" {
			return 0, by
		}
		return max(0, n+c.surplus), by
	}
	out.AllowedMin, out.Amount = allowed(t.low)
	out.AllowedMax, _ = allowed(t.high)
	out.AllowedMax = min(out.AllowedMax, Unbounded)
	out.Known = t.exact && out.Pods > 0
	if !counts && t.doubtful {
		out.AllowedMin, out.Known = 0, false
		if out.Unscaled = t.unscaled; out.Unscaled != nil {
			out.AllowedMax, out.Known = 0, true
		}
	}
	if !out.Known {
		out.Amount.Of = 0
	}
	if !out.Known || out.AllowedMin > 0 || out.AllowedMax == 0 {
		return
	}
	more := sort.Search(t.high.healthy-t.low.healthy, func(n int) bool {
		at := t.low
		at.healthy, at.replicas = at.healthy+n, at.replicas+n
		n, _ = allowed(at)
		return n > 0
	})
	out.WhileSmall, out.UpTo = true, t.scaled+more-1
}

// selects tells which pods of a workload a budget selects if both are in one namespace. What
// the budget allows does not matter.
func (j *shared) selects(b *workload.Budget, w *workload.Workload) (model.Pods, model.Answer) {
	if b.SelectsNone {
		return 0, model.No
	}
	if b.SelectorUnknown || slices.Contains(w.Open, "metadata.labels") || slices.ContainsFunc(slices.Collect(maps.Keys(w.Labels)), source.Placeholder) {
		return model.AllPods, model.Maybe
	}
	if j.selectors == nil {
		j.selectors = map[*workload.Budget]model.PodSelector{}
	}
	of, known := j.selectors[b]
	if !known {
		of = j.m.PodSelector(b.Selector)
		j.selectors[b] = of
	}
	return of(w)
}

// BudgetsOf are the budgets that select the pods of a workload.
func (j *shared) BudgetsOf(w *workload.Workload) []Budget {
	budgets := j.Budgets()
	if j.selecting == nil {
		by := map[*workload.Workload][]int{}
		for i, b := range budgets {
			for _, w := range b.Workloads {
				by[w] = append(by[w], i)
			}
		}
		j.selecting = by
	}
	var all []Budget
	for _, i := range j.selecting[w] {
		all = append(all, budgets[i])
	}
	return all
}

// SelectsAllOf reports whether a budget selects all pods of a workload.
func (b *Budget) SelectsAllOf(w *workload.Workload) bool { return b.covers[w] == model.AllPods }

// Shares reports whether two budgets select the same pod of a workload.
func (b *Budget) Shares(o *Budget, w *workload.Workload) bool { return b.covers[w]&o.covers[w] != 0 }

// rivals are those of some budgets that select a pod of a workload which another of them
// selects as well.
func rivals(budgets []Budget, w *workload.Workload) []Budget {
	var once, twice model.Pods
	for i := range budgets {
		pods := budgets[i].covers[w]
		once, twice = once|pods, twice|once&pods
	}
	return slices.DeleteFunc(slices.Clone(budgets), func(b Budget) bool { return b.covers[w]&twice == 0 })
}

// evictable tells whether the budgets of a workload allow its pods to be evicted while all
// pods run: never, with those that refuse it; sometimes, with one that refuses it at some
// sizes; or not known, with the reason.
func (j *shared) evictable(w *workload.Workload) (answer diag.Outcome, refusing []Budget, why model.Reason) {
	answer = diag.Always
	budgets := j.BudgetsOf(w)
	open := func(r model.Reason) {
		if answer != diag.Unknown {
			answer, refusing, why = diag.Unknown, nil, r
		}
	}
	repeated := func(b Budget) bool { return b.Repeated }
	if all := rivals(budgets, w); len(all) > 0 {
		if !w.Repeated && !slices.ContainsFunc(all, repeated) {
			return diag.Never, all, model.Reason{}
		}
		open(model.Reason{Cause: model.ByOtherBudget, Name: all[0].String()})
	}
	for i, b := range budgets {
		switch {
		case b.covers[w].Below(model.Certain(w)) == 0: // it selects none of the fewest pods
			open(model.Reason{Cause: model.ByOtherBudget, Name: b.String()})
		case b.AllowedMax == 0:
			return diag.Never, budgets[i : i+1], model.Reason{}
		case b.WhileSmall && answer == diag.Always:
			answer, refusing = diag.Sometimes, budgets[i:i+1]
		case !b.WhileSmall && b.AllowedMin == 0:
			open(model.Reason{Cause: model.ByEviction, Name: b.String(), Detail: b.Unknown})
		}
		if other := j.unhealthy(&b, w); other != nil {
			open(model.Reason{Cause: model.ByEviction, Name: b.String(), Workload: other})
		}
	}
	for _, b := range j.PossibleBudgets(w) {
		if b.Elsewhere && (j.set.Alternatives[b.Object] || j.declared()[1][identity(w)]) { // it goes with another declaration
			continue
		}
		if b.Selects {
			open(model.Reason{Cause: model.ByEviction, Name: b.String(), Detail: b.Unknown})
		} else {
			open(model.Reason{Cause: model.ByOtherBudget, Name: b.String()})
		}
	}
	return answer, refusing, why
}

// identity is the group, kind, namespace and name of the object of a workload.
func identity(w *workload.Workload) [4]string {
	return [4]string{w.Object.Group(), w.Object.Kind, w.Object.Namespace, w.Object.Name}
}

// declared are the objects of the workloads that are there, and of those that may be: some
// are in both, declared again in files that need not be deployed together.
func (j *shared) declared() [2]map[[4]string]bool {
	if j.objects[0] == nil {
		for i, list := range [][]*workload.Workload{j.m.Workloads, j.m.Elsewhere()} {
			j.objects[i] = map[[4]string]bool{}
			for _, w := range list {
				j.objects[i][identity(w)] = true
			}
		}
	}
	return j.objects
}

// unhealthy returns another workload of a budget whose pods do not all fit, so that fewer
// are healthy than the budget counts, or nil.
func (j *shared) unhealthy(b *Budget, w *workload.Workload) *workload.Workload {
	for _, o := range b.Workloads {
		if group := j.group(o, true); o != w && len(group) > 0 && j.unfit(group)[o] {
			return o
		}
	}
	return nil
}
