package disruption

import (
	"maps"
	"math"
	"slices"
	"sort"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Budget is a PodDisruptionBudget and its effect on the workloads that it selects.
type Budget struct {
	*workload.Budget
	// Workloads are those whose pods it certainly selects, sorted by name.
	Workloads []*workload.Workload
	// Pods is the number of pods that it certainly selects.
	Pods int
	// AllowedMin and AllowedMax bound how many of them may be evicted while all are
	// healthy, over all sizes that an autoscaler may choose. AllowedMax is Unbounded if
	// there is no upper bound.
	AllowedMin, AllowedMax int
	// WhileSmall is set if it allows no eviction while the autoscaled Workloads have at most
	// UpTo pods, and at least one when they have more.
	WhileSmall bool
	UpTo       int
	// Amount is its requirement at the smallest number of pods; its Of is 0 unless Known is
	// set. Known means that only autoscalers leave a number open.
	Amount workload.Amount
	Known  bool
	// Unscaled is a workload whose controller has no replica count, which the budget needs;
	// it allows no eviction then.
	Unscaled *workload.Workload
	// Idle is set if it certainly selects no pod.
	Idle bool
	// Evicts is set if a drain evicts pods that it certainly selects; pods of a DaemonSet
	// stay.
	Evicts bool
	// covers maps each of Workloads to the pods that it selects, by ordinal.
	covers map[*workload.Workload]model.Pods
}

// Unbounded is the number of pods if there is no upper bound.
const Unbounded = math.MaxInt32

// Budgets judges all PodDisruptionBudgets of the set (R-W19).
func (j *shared) Budgets() []Budget {
	if j.budgets == nil {
		all := []Budget{}
		for _, b := range j.set.Budgets {
			all = append(all, j.budget(b))
		}
		j.budgets = all // only once they are complete
	}
	return j.budgets
}

// tally sums what the disruption controller counts for a budget, as bounds.
type tally struct {
	// low and high hold the counts for the fewest and the most pods.
	low, high count
	// unscaled is a workload whose controller has no replica count; doubtful is set if there
	// may be one; exact is set if all bounds are equal, autoscalers aside.
	unscaled        *workload.Workload
	doubtful, exact bool
	// scaled counts the pods in low that belong to autoscaled workloads.
	scaled int
}

// count holds the healthy pods, the replicas of their controllers, and the surplus of healthy
// pods over these, which is negative if a controller's pods are not all selected.
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
	for _, w := range j.m.Elsewhere() { // may be deployed, unless it declares a listed one again
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

// add counts the pods of a workload that a budget selects, certainly or perhaps, and
// returns how many are certain.
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
		t.high.surplus += most // healthy, but not expected
	case !w.Elsewhere && !model.Modelled(j.m.Group(w)): // its controller expects pods that may not run
		t.low.replicas, t.high.replicas = t.low.replicas+high, t.high.replicas+high
		t.low.surplus, t.high.surplus = t.low.surplus-high, t.high.surplus+most-high
	case selected == model.AllPods:
		t.low.replicas, t.high.replicas = t.low.replicas+low, t.high.replicas+high
	case least > 0:
		t.low.replicas, t.high.replicas = t.low.replicas+low, t.high.replicas+high
		t.low.surplus, t.high.surplus = t.low.surplus+least-high, t.high.surplus+most-low
	default: // its controller counts only if one of its pods is selected
		t.high.replicas += high
		t.low.surplus, t.high.surplus = t.low.surplus-high, t.high.surplus+max(0, most-low)
	}
	return least
}

// sizes bounds the healthy pods of a workload in a state in which all pods run. The bounds
// are exact if they differ only by an autoscaler. Pods that finish or are not recreated
// may be gone, and KubeVirt creates budgets for machines itself.
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
	case w.Finite() || w.Bare() || !model.Modelled(j.m.Group(w)): // or it may never run
		return 0, max(w.Count.N, most(w)), false
	case w.Scale != nil:
		return w.Scale.Min, w.Scale.Max, true
	}
	return w.Count.N, w.Count.N, true
}

// settle computes what a budget allows. The allowed evictions grow monotonically with the
// counts, so the smallest and the largest counts bound them. It mirrors getExpectedPodCount
// and getExpectedScale of pkg/controller/disruption/disruption.go: minAvailable as a number
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

// selects returns which pods of a workload a budget selects, given that both are in one
// namespace. What the budget allows does not matter.
func (j *shared) selects(b *workload.Budget, w *workload.Workload) (model.Pods, model.Answer) {
	if b.SelectsNone {
		return 0, model.No
	}
	if b.SelectorUnknown || slices.Contains(w.Open, "metadata.labels") || slices.ContainsFunc(slices.Collect(maps.Keys(w.Labels)), source.Placeholder) {
		return model.AllPods, model.Maybe
	}
	return model.Cached(j.selectors, b, func() model.PodSelector { return j.m.PodSelector(b.Selector) })(w)
}

// BudgetsOf returns the budgets that certainly select pods of a workload.
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

// evictable decides whether the budgets of a workload allow evicting its pods while all
// pods run: Never, with the budgets that refuse; Sometimes, with one that refuses at some
// sizes; or Unknown, with the reason.
func (j *shared) evictable(w *workload.Workload) (answer diag.Outcome, refusing []Budget, why model.Reason) {
	answer = diag.Always
	budgets := j.BudgetsOf(w)
	open := func(r model.Reason) {
		if answer != diag.Unknown {
			answer, refusing, why = diag.Unknown, nil, r
		}
	}
	repeated := func(b Budget) bool { return b.Repeated }
	var once, twice model.Pods // those that one budget selects, and those that several do
	for i := range budgets {
		pods := budgets[i].covers[w]
		once, twice = once|pods, twice|once&pods
	}
	if all := slices.DeleteFunc(slices.Clone(budgets), func(b Budget) bool { return b.covers[w]&twice == 0 }); len(all) > 0 {
		if !w.Repeated && !slices.ContainsFunc(all, repeated) {
			return diag.Never, all, model.Reason{}
		}
		open(model.Reason{Cause: model.ByOtherBudget, Name: all[0].String()})
	}
	for i, b := range budgets {
		switch {
		case b.covers[w].Below(model.Certain(w)) == 0: // it may select none of its pods
			open(model.Reason{Cause: model.ByOtherBudget, Name: b.String()})
		case b.AllowedMax == 0:
			return diag.Never, budgets[i : i+1], model.Reason{}
		case b.WhileSmall && answer == diag.Always:
			answer, refusing = diag.Sometimes, budgets[i:i+1]
		case !b.WhileSmall && b.AllowedMin == 0:
			open(model.Reason{Cause: model.ByEviction, Name: b.String(), Detail: b.Unknown})
		}
		// If the pods of another workload do not all fit, fewer are healthy than the budget counts.
		other := slices.IndexFunc(b.Workloads, func(o *workload.Workload) bool {
			group := j.group(o, true)
			return o != w && len(group) > 0 && j.unfit(group)[o]
		})
		if other >= 0 {
			open(model.Reason{Cause: model.ByEviction, Name: b.String(), Workload: b.Workloads[other]})
		}
	}
	for _, b := range j.PossibleBudgets(w) {
		if b.Elsewhere && (j.set.Alternatives[b.Object] || j.declared()[1][identity(w)]) { // of another declaration
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

// identity returns the group, kind, namespace and name of a workload's object.
func identity(w *workload.Workload) [4]string {
	return [4]string{w.Object.Group(), w.Object.Kind, w.Object.Namespace, w.Object.Name}
}

// declared returns the objects of the deployed workloads, and of those that may be deployed.
// An object is in both if files that need not be deployed together declare it again.
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

// Possible is a budget whose allowance is unknown, and which may or may not select the pods
// of a workload.
type Possible struct {
	*workload.Budget
	// Selects is set if it certainly selects them.
	Selects bool
	// Elsewhere is set if it need not be deployed together with the workload.
	Elsewhere bool
}

// PossibleBudgets returns the budgets beyond BudgetsOf that may select pods of a workload:
// budgets with a variable, in a namespace that is left open, or in files that need not be
// deployed together with the workload.
func (j *shared) PossibleBudgets(w *workload.Workload) (all []Possible) {
	for i, list := range [][]*workload.Budget{j.set.Budgets, j.set.BudgetsElsewhere} {
		j.m.Run().Spend(4 * len(list))
		for _, b := range list {
			home := b.Object.Namespace == w.Object.Namespace
			if !home && !openNamespace(b.Object.Namespace) && !openNamespace(w.Object.Namespace) {
				continue
			}
			certain := home && i == 0
			if _, answer := j.selects(b, w); answer == model.Maybe || answer == model.Yes && (!certain || b.Unknown != "") {
				all = append(all, Possible{b, certain && answer == model.Yes, i == 1})
			}
		}
	}
	return all
}

// openNamespace reports whether the namespace is left to a later tool.
func openNamespace(name string) bool { return name == "" || source.Placeholder(name) }

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

// lacksRequiredPods reports whether the pods of a workload require pods nearby that do not exist, and
// their own do not count: then their placement is unknown.
func lacksRequiredPods(m *model.Model, w *workload.Workload) bool {
	return w.Spec.NodeName == "" && slices.ContainsFunc(m.Group(w).HardAffinity(), func(t *model.Term) bool {
		return m.Self(t, w) == model.No && len(m.Others(t, w, true)) == 0
	})
}
