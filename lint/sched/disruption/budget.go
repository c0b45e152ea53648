package disruption

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Budget is a PodDisruptionBudget and its effect on the workloads that it selects.
type Budget struct {
	*workload.Budget
	// Workloads lists the workloads with pods that the budget is certain to select, sorted by name.
	Workloads []*workload.Workload
	// Pods is the number of pods that the budget is certain to select.
	Pods int
	// AllowedMin and AllowedMax bound the number of evictions that the budget allows while all pods
	// are healthy. They hold for any size that an autoscaler can choose. AllowedMax is Unbounded if
	// there is no upper bound.
	AllowedMin, AllowedMax int
	// WhileSmall is set if autoscaling decides whether the budget allows an eviction. It allows
	// none while the Workloads have UpTo pods or fewer, and at least one when they have more.
	WhileSmall bool
	UpTo       int
	// Amount is the budget's requirement at the smallest number of pods. Known is set if all
	// numbers are exact except the autoscaler's choice. Amount.Of is 0 unless Known is set and there is
	// only one number of pods.
	Amount workload.Amount
	Known  bool
	// Unscaled is a selected workload whose controller has no replica count, or nil. A budget that
	// needs the count then allows no evictions.
	Unscaled *workload.Workload
	// Idle is set if the budget is certain to select no pods.
	Idle bool
	// Evicts is set if a drain evicts pods that the budget is certain to select. DaemonSet pods are
	// not evicted by a drain.
	Evicts bool
	// covers maps each workload in Workloads to its selected pods, by ordinal.
	covers map[*workload.Workload]model.Pods
}

// Unbounded means that a number of pods has no upper bound.
const Unbounded = math.MaxInt32

// Budgets judges every PodDisruptionBudget in the set (R-W19).
func (j *shared) Budgets() []Budget {
	if j.budgets == nil {
		all := []Budget{}
		all = append(all, lists.Of(j.set.Budgets, j.budget)...)
		j.budgets = all // do not cache a partial result
	}
	return j.budgets
}

// tally holds lower and upper bounds on the numbers that the disruption controller computes.
type tally struct {
	// low and high are the counts for the smallest and the largest number of pods.
	low, high count
	// unscaled is a selected workload whose controller has no replica count. doubtful is set if
	// there may be such a workload. exact is set if only autoscaling makes the lower and upper
	// bounds differ.
	unscaled        *workload.Workload
	doubtful, exact bool
	// lone is a selected Job or bare pod, or nil. While its pods exist, they have no replica count.
	lone *workload.Workload
	// scaled is the number of pods in low that belong to autoscaled workloads.
	scaled int
}

// count holds the number of healthy pods and the total replica count of their controllers. surplus
// is healthy minus replicas. It is negative if the budget selects only some of a controller's pods.
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
			out.Evicts = out.Evicts || (least > 0 || w.Scale != nil) && !w.Kind.PerNode() && !w.Finite()
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
	for _, w := range j.m.Elsewhere() { // may be deployed, unless a declared workload is the same object
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

// add counts a workload's pods that a budget selects. If sure is false, the budget may select none
// of them. add returns the number of pods that are certain to be selected.
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
	owned := w.Kind.Kind == "Pod" && w.Object.Root.At("metadata", "ownerReferences").Len() > 0
	if sure && most > 0 && (w.Kind.Batch() || w.Kind.Kind == "Pod" && !owned) && w.Count.Known && !w.Refused() && t.lone == nil {
		t.lone = w
	}
	switch {
	case w.Kind.PerNode() || w.Kind.Batch() || w.Kind.VM:
		if t.doubtful = t.doubtful || most > 0; least > 0 && t.unscaled == nil {
			t.unscaled = w
		}
	case w.Kind.Kind == "Pod":
		if t.high.surplus += most; owned { // a bare pod counts as healthy but not as expected
			t.doubtful, t.high.replicas = true, max(1, t.high.replicas)
		}
	case !w.Elsewhere && !model.Modelled(j.m.Group(w)): // the controller expects pods that may not run
		t.low.replicas, t.high.replicas = t.low.replicas+high, t.high.replicas+high
		t.low.surplus, t.high.surplus = t.low.surplus-high, t.high.surplus+most-high
	case selected == model.AllPods:
		t.low.replicas, t.high.replicas = t.low.replicas+low, t.high.replicas+high
	case least > 0:
		t.low.replicas, t.high.replicas = t.low.replicas+low, t.high.replicas+high
		t.low.surplus, t.high.surplus = t.low.surplus+least-high, t.high.surplus+most-low
	default: // the controller counts only if the budget selects one of its pods
		t.high.replicas += high
		t.low.surplus, t.high.surplus = t.low.surplus-high, t.high.surplus+max(0, most-low)
	}
	return least
}

// sizes returns bounds on the number of healthy pods in a workload while all its pods run. The
// bounds are exact if only an autoscaler makes them differ. The lower bound is 0 for pods that
// finish or are not recreated, because they may be gone. Nothing is known about virtual machines,
// because KubeVirt creates their budgets itself.
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
	case w.Finite() || w.Bare() || !model.Modelled(j.m.Group(w)): // it may never run
		return 0, most(w), false
	}
	low, high = w.Pods()
	return low, high, true
}

// settle computes how many evictions a budget allows. The smallest and the largest pod counts give
// the bounds. settle mirrors getExpectedPodCount and getExpectedScale in
// pkg/controller/disruption/disruption.go. If minAvailable is a number, the controller counts the
// selected pods. Otherwise it uses the replica count of each pod's controller, and fails if that
// controller has no scale subresource. A pod without a controller counts as healthy but not as
// expected (R-W19, R-W32).
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
	if t.low.healthy == 0 && t.low.replicas == 0 && t.high.healthy > 0 { // without pods there is nothing to evict
		t.low.healthy, t.low.replicas, out.Pods = 1, 1, 1
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
	if n, _ := b.Allowed(Unbounded); !counts && n > 0 && t.lone != nil && t.high.replicas == 0 { // there are no replicas as long as there are pods
		out.Unscaled, out.AllowedMin, out.AllowedMax, out.Known, out.Evicts = cmp.Or(out.Unscaled, t.lone), 0, 0, true, true
	}
	if !out.Known || t.low.healthy != t.high.healthy { // what it says holds at each number of pods
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

// selects returns the pods of a workload that a budget's selector selects, ignoring namespaces.
func (j *shared) selects(b *workload.Budget, w *workload.Workload) (model.Pods, model.Answer) {
	if b.SelectsNone {
		return 0, model.No
	}
	if b.SelectorUnknown || slices.Contains(w.Open, "metadata.labels") || slices.ContainsFunc(slices.Collect(maps.Keys(w.Labels)), source.Placeholder) {
		return model.AllPods, model.Maybe
	}
	return lazy.Cached(j.selectors, b, func() model.PodSelector { return j.m.PodSelector(b.Selector) })(w)
}

// BudgetsOf returns the budgets that are certain to select pods of a workload.
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
	return lists.Of(j.selecting[w], func(i int) Budget { return budgets[i] })
}

// SelectsAllOf reports whether a budget selects all pods of a workload.
func (b *Budget) SelectsAllOf(w *workload.Workload) bool { return b.covers[w] == model.AllPods }

// Shares reports whether some pod of a workload is selected by both budgets.
func (b *Budget) Shares(o *Budget, w *workload.Workload) bool { return b.covers[w]&o.covers[w] != 0 }

// evictable decides whether a workload's budgets allow its pods to be evicted while all pods run.
// If the answer is Never, refusing lists the budgets that forbid eviction. If it is Sometimes,
// refusing has a budget that forbids eviction at some sizes. If it is Unknown, why is the reason.
func (j *shared) evictable(w *workload.Workload) (answer diag.Outcome, refusing []Budget, why model.Reason) {
	answer = diag.Always
	budgets := j.BudgetsOf(w)
	open := func(r model.Reason) {
		if answer != diag.Unknown {
			answer, refusing, why = diag.Unknown, nil, r
		}
	}
	repeated := func(b Budget) bool { return b.Repeated }
	var once, twice model.Pods // pods selected by at least one budget, and by more than one
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
		case b.covers[w].Below(max(1, model.Certain(w))) == 0: // it may select none of the workload's pods
			open(model.Reason{Cause: model.ByOtherBudget, Name: b.String()})
		case b.AllowedMax == 0:
			return diag.Never, budgets[i : i+1], model.Reason{}
		case b.WhileSmall && answer == diag.Always:
			answer, refusing = diag.Sometimes, budgets[i:i+1]
		case !b.WhileSmall && b.AllowedMin == 0:
			open(model.Reason{Cause: model.ByEviction, Name: b.String(), Detail: b.Unknown})
		}
		// If another workload does not fully fit, fewer pods are healthy than the budget counts.
		other := slices.IndexFunc(b.Workloads, func(o *workload.Workload) bool {
			group := j.group(o, true)
			return o != w && len(group) > 0 && j.fitting(group).unfit[o]
		})
		if other >= 0 {
			open(model.Reason{Cause: model.ByEviction, Name: b.String(), Workload: b.Workloads[other]})
		}
	}
	for _, b := range j.PossibleBudgets(w) {
		if !b.Alternative {
			open(b.Reason())
		}
	}
	return answer, refusing, why
}

// identity returns the group, kind, namespace and name of a workload's object.
func identity(w *workload.Workload) [4]string {
	return [4]string{w.Object.Group(), w.Object.Kind, w.Object.Namespace, w.Object.Name}
}

// declared returns two sets of identities: the deployed workloads, and the workloads that may be
// deployed. An object is in both sets if separately deployable files declare it twice.
func (j *shared) declared() [2]map[[4]string]bool {
	if j.objects[0] == nil {
		for i, list := range [][]*workload.Workload{j.m.Workloads, j.m.Elsewhere()} {
			j.objects[i] = lists.SetOf(list, identity)
		}
	}
	return j.objects
}

// Possible is a budget with an unknown effect. Either it may or may not select a workload's pods,
// or it allows an unknown number of evictions.
type Possible struct {
	*workload.Budget
	// Selects is set if the budget is certain to select the pods.
	Selects bool
	// Alternative is set if the budget comes with another declaration of the workload.
	Alternative bool
}

// Reason says what is unknown.
func (p Possible) Reason() model.Reason {
	if p.Selects {
		return model.Reason{Cause: model.ByEviction, Name: p.String(), Detail: p.Unknown}
	}
	return model.Reason{Cause: model.ByOtherBudget, Name: p.String()}
}

// PossibleBudgets returns the budgets that may select a workload's pods but are not in BudgetsOf.
// Either a field or the namespace is unknown, or the budget and the workload can be deployed
// separately.
func (j *shared) PossibleBudgets(w *workload.Workload) (all []Possible) {
	for i, list := range [][]*workload.Budget{j.set.Budgets, j.set.BudgetsElsewhere} {
		j.m.Run().Spend(4 * len(list))
		for _, b := range list {
			home := b.Object.Namespace == w.Object.Namespace
			if !home && !openNamespace(b.Object.Namespace) && !openNamespace(w.Object.Namespace) {
				continue
			}
			if (b.SelectorUnknown || source.Placeholder(b.Object.Namespace)) && !source.Placeholder(w.Object.Namespace) && !b.Object.Reaches(w.Object) {
				continue
			}
			certain := home && i == 0
			if _, answer := j.selects(b, w); answer == model.Maybe || answer == model.Yes && (!certain || b.Unknown != "") {
				all = append(all, Possible{b, certain && answer == model.Yes, i == 1 && (j.set.Alternatives[b.Object] || j.declared()[1][identity(w)])})
			}
		}
	}
	return all
}

// openNamespace reports whether a later tool sets the namespace.
func openNamespace(name string) bool { return name == "" || source.Placeholder(name) }

// The functions below decide by counting, before any search. They prove that there is always room
// (T16), or that required peers never exist.

// spacious reports whether one more pod finds a node at every moment of a rollout. It counts all
// other pods in the group and the largest number of old and new pods that the strategy allows
// (T16). If pools can grow, it returns true only if all rules are hereditary.
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

// contendersOrGroup returns the contenders' roster if there are too many contenders to search.
// Otherwise it returns the group's roster.
func (j *shared) contendersOrGroup(group, contenders []*workload.Workload) *search.Roster {
	if contenders != nil {
		group = contenders
	}
	return j.assembled(group).Roster
}

// decideByCounting decides a trial by counting. If known is false, the caller must run the trial.
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

// spare reports whether one more pod of a workload always finds a node (T16). This includes every
// moment of a rollout and the drain of any one node. A false result is inconclusive.
func (t *trial) spare(w *workload.Workload) bool {
	if len(t.further) > 0 || t.j.m.Topology.Elastic() || w.Kind.PerNode() || t.j.m.PinOf(w).Key != "" ||
		!t.j.Judged(w) || t.j.unlisted(w).Given() || len(t.j.m.Doubts([]*workload.Workload{w})) > 0 {
		return false
	}
	for _, n := range slices.Compact([]int{model.Certain(w), most(w)}) {
		r := Rollout{Rollout: w.Rollout(n), Replicas: n}
		if n == 0 || r.Unknown.Given() || !(updates{shared: t.j}).spacious(w, t.ruled, t.about, &r) {
			return false
		}
	}
	drained := certificate.Loss{Meaning: certificate.Drained}
	return !slices.ContainsFunc(t.group, drained.Tolerates) && search.AlwaysFits(w, t.ruled, t.about, search.AnyNode, drained, model.Certain(w))
}

// lacksRequiredPods reports whether a workload requires nearby pods that no workload has. The
// placement of its pods is then unknown.
func lacksRequiredPods(m *model.Model, w *workload.Workload) bool {
	return w.Spec.NodeName == "" && slices.ContainsFunc(m.Group(w).HardAffinity(), func(t *model.Term) bool {
		return m.Self(t, w) == model.No && len(m.Others(t, w, true)) == 0
	})
}
