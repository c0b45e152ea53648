package disruption

import (
	"cmp"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Survival describes how a node loss affects one workload.
type Survival struct {
	// Key is the topology key and Value is the lost domain. For kubernetes.io/hostname, Value is
	// the name of the lost node.
	Key, Value string
	Meaning    certificate.Meaning
	Verdict    diag.Outcome
	// Pending is the number of pods that are missing at the end. If the verdict is Never, every run
	// leaves at least this many pods missing. If the verdict is Sometimes, at least one run leaves
	// this many pods missing.
	Pending int
	// Why explains an Unknown verdict, or a verdict that does not follow from placement.
	Why  model.Reason
	lost *search.DomainLoss
	// Waits is set if lost pods stay Pending because their volumes can be used only on lost nodes. It
	// is the label of Workload.Pin.
	Waits string
	// Sizes lists the autoscaled workloads with the numbers of pods at which this is the outcome.
	Sizes  []Sized
	choice *choice
	// Beside is set if a search or runs show the verdict, in which Pending pods of others take part.
	Beside bool
	// hit and missed are copied from answer.
	hit    int
	missed bool
}

// Certain returns a lower bound on the number of missing pods. It holds after every loss with the
// given meaning that hits a pod. All losses must have the same key. The result is 0 if no bound is
// known for some loss that may hit a pod.
func Certain(all []Survival, meaning certificate.Meaning) (pods int) {
	for i := range all {
		s := &all[i]
		switch {
		case s.Meaning != meaning || s.missed:
		case s.hit == 0:
			return 0
		case pods == 0 || s.hit < pods:
			pods = s.hit
		}
	}
	return pods
}

// Hits reports whether the loss may hit a pod.
func (s *Survival) Hits() bool { return !s.missed }

// Nodes returns the nodes in the lost domain. For kubernetes.io/hostname it returns all nodes
// whose individual loss has the same outcome.
func (s *Survival) Nodes() []string { return s.lost.Like() }

// Like returns the number of nodes that Nodes returns.
func (s *Survival) Like() int { return s.lost.Alike() }

// Worse reports whether s is worse than o.
func (s *Survival) Worse(o *Survival) bool {
	if a, b := severity(s.Verdict), severity(o.Verdict); a != b {
		return a > b
	}
	return s.Pending > o.Pending
}

// hostname is the topology key whose domains are single nodes.
const hostname = "kubernetes.io/hostname"

// evictions answers questions about nodes that are lost or drained.
type evictions struct{ *shared }

// Survives returns what happens to a workload when it loses one domain of a topology key, which
// is a single node for kubernetes.io/hostname. There is one outcome for each domain or kind of
// node and each meaning (gone and unreachable). There are no outcomes for a DaemonSet, because
// its pods are not placed elsewhere.
func (e evictions) Survives(w *workload.Workload, key string) []Survival {
	return e.AppendSurvives(nil, w, key)
}

// AppendSurvives appends the results of Survives to a slice.
func (e evictions) AppendSurvives(to []Survival, w *workload.Workload, key string) []Survival {
	return e.losses(to, w, key, certificate.Gone, certificate.Unreachable)
}

// Drains returns what happens to a workload when a node is drained, for each kind of node.
func (e evictions) Drains(w *workload.Workload) []Survival {
	return e.losses(nil, w, hostname, certificate.Drained)
}

// lossesNow is like losses, for the numbers of pods that the model has.
func (e evictions) lossesNow(all []Survival, w *workload.Workload, key string, meanings ...certificate.Meaning) []Survival {
	if !e.Judged(w) || w.Kind.PerNode() || model.Certain(w) == 0 {
		return all
	}
	q := e.nodeLoss // survival and drain ask in turn
	if q == nil || q.w != w || q.key != key {
		q = newLoss(e.shared, w, key)
	}
	if clear(q.unsettled); key == hostname {
		e.nodeLoss = q
	}
	all = slices.Grow(all, len(meanings)*len(q.kinds.Losses()))
	everywhere, neighbour := q.room.Within(key), e.m.ByNeighbour(w)
	beside := func(l certificate.Loss, value string) model.Reason {
		if !neighbour.Given() || e.m.PinOf(w).Key != "" {
			return neighbour
		}
		return search.ByNeighbour(e.m, w, model.Certain(w), l, key, value)
	}
	for _, b := range q.kinds.Losses() {
		for _, meaning := range meanings {
			e.m.Run().Spend(5)
			a := q.askForVolumes(b, meaning)
			// New nodes may join the lost ones and have pods, even if the declared ones have none.
			switch open := a.verdict == diag.Always && !a.missed; {
			case a.verdict == diag.Always && (open || e.m.Eligible(w).Growable > 0) && beside(certificate.Loss{Meaning: meaning}, b.Value).Given():
				a.verdict, a.why = diag.Unknown, neighbour
			case !a.missed && a.verdict != diag.Never && attachedOnce(e.m, w) != diag.Never &&
				(model.Certain(w) > 1 || w.SharesClaim || meaning == certificate.Unreachable && w.Attached == diag.Unknown):
				a.verdict, a.why = diag.Unknown, attachReason(w)
			case open && meaning == certificate.Unreachable && w.TightQuota != "": // lost pods still count against the quota
				a.verdict, a.why = diag.Unknown, model.Reason{Cause: model.ByAdmission, Name: w.TightQuota}
			}
			if e.m.Topology.Uncertain(key) { // the domain may have more nodes
				a = answer{verdict: diag.Unknown, why: model.Reason{Cause: model.ByNodeLabel, Name: key}}
			}
			if a.verdict == diag.Unknown && e.m.PinOf(w).Key == "" && slices.Contains([]model.Cause{model.ByBudget, model.BySize, model.ByCrowd}, a.why.Cause) {
				if more, of := q.room.More(b, certificate.Loss{Meaning: meaning}, q.everybody.Roster, model.Certain(w)); more <= len(e.m.Topology.Nodes) {
					if a.why.Count, a.why.Name = more, of; key != hostname {
						a.why.Detail = "elsewhere"
					}
				}
			}
			s := Survival{Key: key, Value: b.Value, lost: b, Meaning: meaning, Verdict: a.verdict, Pending: a.pending, Why: a.why, Waits: a.waits, Beside: a.searched, missed: a.missed}
			if everywhere {
				s.hit = a.hit
			}
			all = append(all, s)
		}
	}
	return all
}

// loss answers questions about how losing a topology key's domains affects one workload.
type loss struct {
	j   *shared
	w   *workload.Workload
	key string
	// ruled lists the workloads that hard rules connect with w. contending adds the workloads that
	// may fill nodes together with it. If there are too many contenders, contending equals ruled.
	ruled, contending []*workload.Workload
	about             *assembly // the assembly of contending
	settled           *loss     // without DaemonSets, computed on demand
	// everybody is the assembly of all contenders. It differs from the field about only if there
	// are too many contenders to search.
	everybody *assembly
	kinds     *search.Kinds
	room      *search.Room
	doubts    byMeaning[model.Reason] // caches what doubt and the counting in settle return
	spares    byMeaning[bool]
	// budgets caches the contenders' budgets for stepwise.
	budgets *heeded
	// pin is the label of Workload.Pin under the present assumption about storage classes, or empty.
	// free holds the undeclared classes whose volumes are assumed to be usable everywhere.
	pin string
	// loose is set if the volumes of w are assumed to be usable everywhere.
	free  map[string]bool
	loose bool
	// unsettled is set if the two runs that show both outcomes were not found for some loss with a
	// meaning. The answer about all these losses is then open, whatever the others show.
	unsettled map[certificate.Meaning]bool
}

// answer is the result for one loss.
type answer struct {
	verdict diag.Outcome
	pending int
	why     model.Reason
	// hit is a lower bound on the number of missing pods after a loss that hits a pod, or 0 if
	// there is no bound. missed is set if the loss cannot hit a pod.
	hit    int
	missed bool
	// later is set if only losses before lead to a run that leaves pods missing.
	later bool
	// waits is as in Survival. searched is set if a search found the verdict. It then depends on where
	// the volumes of other workloads can be used.
	waits    string
	searched bool
}

func newLoss(j *shared, w *workload.Workload, key string) *loss {
	q := &loss{j: j, w: w, key: key, ruled: j.group(w, false), contending: j.group(w, true), unsettled: map[certificate.Meaning]bool{}}
	q.about = j.assembled(q.contending)
	if q.everybody = q.about; j.contendersOf(w, model.Certain(w)) != nil {
		q.everybody = j.assembled(j.contendersOf(w, model.Certain(w)))
	}
	q.kinds = q.about.Kinds(w, q.about.pods, key)
	if q.everybody != q.about && j.crowd(w, model.Certain(w)) != nil { // a run may tell nodes apart that are alike for the rules
		q.kinds = q.everybody.Kinds(w, q.everybody.pods, key)
	}
	q.room = q.kinds.Room(w, model.Certain(w))
	return q
}

// ask answers one question. It considers the declared nodes first. If they do not settle the
// question and pools can grow, it considers all nodes that may exist.
func (q *loss) ask(b *search.DomainLoss, meaning certificate.Meaning) answer {
	l := certificate.Loss{Meaning: meaning}
	if !q.mayHit(b) {
		a := q.atEverySize(b, meaning) // no pod can be on the lost nodes
		if a = q.withoutVictims(b, l, a); a.verdict == diag.Always {
			a.missed = true
		}
		return a
	}
	if why := q.doubt(l); why.Given() {
		return answer{verdict: diag.Unknown, why: why}
	}
	a := q.settle(b, l)
	recreated, grows := l.Returns(q.w), q.j.grows(q.w, model.Certain(q.w))
	switch {
	case a.verdict == diag.Never || a.verdict == diag.Sometimes:
		a = q.preempting(b, l, a)
	case a.verdict == diag.Unknown && !grows && slices.Contains([]model.Cause{"", model.ByCrowd, model.BySize, model.ByPending}, a.why.Cause):
		a = q.leftOver(b, l, a)
	}
	switch a = q.withoutVictims(b, l, a); {
	case a.verdict == diag.Always:
		a = q.atEverySize(b, meaning)
	case grows && (recreated || a.verdict != diag.Sometimes):
		a = q.verdictAtMaximum(b, l, a)
	case a.verdict == diag.Unknown && !a.why.Given():
		a.why = q.j.undecided(q.w)
	}
	switch {
	case a.verdict == diag.Never:
		a.hit = a.pending
	case recreated && q.stranded(b) && a.verdict != diag.Always:
		a.hit = max(a.hit, 1)
	case !recreated && (a.verdict == diag.Sometimes || a.why.Cause == model.ByCrowd):
		a.hit = 1
	}
	if known := a.verdict == diag.Never || a.verdict == diag.Sometimes; known && !recreated {
		switch a.why = by(model.NotRecreated); {
		case len(q.w.Kind.Template) == 0:
			a.why = by(model.Bare)
		case l.Stays(q.w):
			a.why = by(model.NotEvicted)
		case l.Hangs(q.w):
			a.why = model.Reason{Cause: model.Hangs, Name: q.w.AttachedBy.Name}
		}
	}
	if recreated && a.verdict != diag.Always && q.stranded(b) {
		a.waits = q.pin
	}
	return a
}

// mayHit reports whether the lost nodes may have pods of the workload.
func (q *loss) mayHit(b *search.DomainLoss) bool {
	pods := q.j.m.Reached(q.w)
	return q.room.Hit(b) && (pods == nil || slices.ContainsFunc(b.Nodes(), func(name string) bool {
		n, known := q.j.m.IndexOf(name)
		return !known || pods[n] != 0
	}))
}

// withoutVictims returns an answer that still holds when other pods that lose their node may preempt
// pods of w. These find room again if there is room wherever the other pods are.
func (q *loss) withoutVictims(b *search.DomainLoss, l certificate.Loss, a answer) answer {
	if a.verdict != diag.Always || !q.j.mayBePreempted(q.w) || !a.missed && q.fits(b, l, q.everybody.Roster) || q.pin == "" && q.fits(b, l, q.everybody.Roster) || q.recovers(b.Nodes(), l) {
		return a
	}
	return answer{verdict: diag.Unknown, why: by(model.ByPreemption)}
}

// mayBePreempted reports whether some pods that may move have a higher priority than pods of w, and
// may preempt them. Classes with unknown values do not count. The result is cached by class.
func (j *shared) mayBePreempted(w *workload.Workload) bool {
	return lazy.Cached(j.preempted, w.Spec.PriorityClassName, func() bool {
		j.m.Run().Spend(1 + len(j.m.Workloads)/model.PerStep)
		return slices.ContainsFunc(j.m.Workloads, func(o *workload.Workload) bool {
			known := o.Priority.Known && w.Priority.Known
			return known && !o.Kind.PerNode() && o.MayPreempt(w) && model.Modelled(j.m.Group(o))
		})
	})
}

// doubt returns a reason if no loss with the given meaning can be judged. The result is cached by
// meaning.
func (q *loss) doubt(l certificate.Loss) model.Reason {
	return q.doubts.of(l.Meaning, func() model.Reason {
		if why := q.j.unlisted(q.w); why.Given() {
			return why
		}
		// Pods that stay on the lost nodes are missing there, whatever others do.
		if !l.Stays(q.w) && lazy.Cached(q.about.tolerant, l.Meaning, func() bool { return q.j.tolerate(q.about.Workloads(), l) }) {
			if l.Meaning == certificate.Drained {
				return by(model.ByCordon)
			}
			return by(model.ByToleration)
		}
		if why := q.j.reasonDependsOnTransient(q.w); why.Given() {
			return why
		}
		if lacksRequiredPods(q.j.m, q.w) {
			return by(model.ByPending)
		}
		return model.Reason{}
	})
}

// tolerate reports whether some of the workloads tolerate the taint on lost nodes so that the loss is
// not judged. Pods that are not evicted count for spread constraints, unlike pods that terminate (R-T4).
func (j *shared) tolerate(ws []*workload.Workload, l certificate.Loss) bool {
	return slices.ContainsFunc(ws, func(w *workload.Workload) bool { return l.Tolerates(w) || l.Stays(w) && len(j.group(w, false)) > 1 })
}

// byMeaning caches one value per loss meaning. It is a list because there are only a few
// meanings.
type byMeaning[T any] []meant[T]

type meant[T any] struct {
	meaning certificate.Meaning
	value   T
}

// of returns the cached value for a meaning, computing it on first use.
func (b *byMeaning[T]) of(meaning certificate.Meaning, find func() T) T {
	for _, known := range *b {
		if known.meaning == meaning {
			return known.value
		}
	}
	value := find()
	*b = append(*b, meant[T]{meaning, value})
	return value
}

// heeded holds the budgets that evictions respect, and explains why the effect of other budgets
// is unknown. Ignoring those other budgets can only allow additional runs.
type heeded struct {
	guards []certificate.Guard
	open   model.Reason
}

// stepwise returns a loss adapted to a group. If a pod may need or count other pods, or if others may wait
// for its room, the order of evictions and placements matters (T23). A drain then becomes stepwise, and
// budgets guard it.
func (q *loss) stepwise(group []*workload.Workload, l certificate.Loss) certificate.Loss {
	waits := func(w *workload.Workload) bool { return q.j.placed == nil || verdict(q.j.placed, w) != diag.Always }
	l.Stepwise = l.Meaning == certificate.Drained && len(q.j.running) == 0 &&
		(!q.j.hereditary(group) || len(group) > 1 && slices.ContainsFunc(group, func(w *workload.Workload) bool { return waits(w) && !w.Kind.PerNode() }))
	if !l.Stepwise {
		return l
	}
	if q.budgets == nil {
		q.budgets = &heeded{}
		for _, w := range q.contending[:min(len(q.contending), maxTogether)] { // larger groups are not searched
			if w.Kind.PerNode() {
				continue
			}
			x := q.budgets
			answer, refusing, why := q.j.evictable(w)
			budgets := q.j.BudgetsOf(w)
			strategy, _ := w.EvictionStrategy()
			switch {
			case w.Kind.VM && strings.HasPrefix(strategy, "LiveMigrate"): // its pods migrate
				why = by(model.ByTermination)
			case answer == diag.Never:
				x.guards = append(x.guards, certificate.Guard{Workload: w})
			case answer == diag.Sometimes:
				why = model.Reason{Cause: model.ByEviction, Name: refusing[0].String()}
			case answer == diag.Always && len(budgets) > 0:
				if b := &budgets[0]; len(b.Workloads) == 1 && b.SelectsAllOf(w) {
					x.guards = append(x.guards, certificate.Guard{Workload: w, Allowed: b.AllowedMin})
					continue
				}
				why = model.Reason{Cause: model.ByEviction, Name: budgets[0].String()}
				if i := slices.IndexFunc(budgets[0].Workloads, func(o *workload.Workload) bool { return o != w }); i >= 0 {
					why.Workload = budgets[0].Workloads[i]
				}
				x.open = cmp.Or(x.open, why)
			}
			if w != q.w { // Drain judges the other budgets of w itself
				x.open = cmp.Or(x.open, why)
			}
		}
	}
	l.Guards = q.budgets.guards
	return l
}

// among returns a copy of the question with different groups. If there are too many contenders,
// the only possible answer is a Never that follows from the rules alone.
func (q *loss) among(ruled, contending []*workload.Workload) *loss {
	one := *q
	one.ruled, one.contending, one.about = ruled, contending, q.j.assembled(contending)
	one.everybody = one.about
	return &one
}

// preempting returns the part of an answer that still holds when the pods can preempt other pods
// and take their room.
func (q *loss) preempting(b *search.DomainLoss, l certificate.Loss, a answer) answer {
	ruled, contending := q.j.withoutPreemptible(q.w, q.ruled), q.j.withoutPreemptible(q.w, q.contending)
	if contending == nil {
		return a
	}
	if ruled == nil {
		ruled = q.ruled
	}
	if left := q.among(ruled, contending).settle(b, l); left.verdict == diag.Never {
		return left
	}
	return answer{verdict: diag.Unknown, why: by(model.ByPriority)}
}

// verdictAtMaximum returns the verdict that still holds when pools can grow. It returns Never only
// if additional nodes do no harm under any rule. At the maximum size, the verdict must be Never for
// the group and also for w without other workloads. The second condition is needed because at some
// size another member may not fit, and its room is then free.
func (q *loss) verdictAtMaximum(b *search.DomainLoss, l certificate.Loss, a answer) answer {
	open := answer{verdict: diag.Unknown, why: by(model.ByGrowth)}
	if a.verdict != diag.Never || !q.j.hereditary(q.ruled) {
		return open
	}
	larger := q.j.larger()
	if larger == nil || !larger.Judged(q.w) {
		return open
	}
	g, isolated := newLoss(larger, q.w, q.key), []*workload.Workload{q.w}
	g.free = q.free
	g.pin = g.pinnedTo(q.w)
	for _, more := range g.kinds.Losses() {
		// All nodes that the lost node represents must still be equivalent to it.
		if more.Value != b.Value || !contains(more.Like(), b.Like()) {
			continue
		}
		if a := g.settle(more, l); a.verdict == diag.Never && g.among(isolated, isolated).settle(more, l).verdict == diag.Never {
			return a
		}
	}
	return open
}

// contains reports whether the first list contains every element of the second list. Both lists
// must be in the same order.
func contains(all, some []string) bool {
	for _, s := range all {
		if len(some) > 0 && s == some[0] {
			some = some[1:]
		}
	}
	return len(some) == 0
}

// larger returns the judge for all nodes that may exist after pools have grown, or nil if those
// nodes are unknown.
func (j *shared) larger() *shared {
	if j.atMaximum == nil {
		nodes, _, ok := j.m.Grown()
		if !ok {
			return nil
		}
		j.atMaximum = j.other(j.m.Variant(j.m.Workloads, nodes))
	}
	return j.atMaximum
}

// settle tries the cheapest method first. It starts with only the workloads that rules connect. If
// w never recovers among them, it never recovers when more pods are present. If w can recover among
// them, other pods may still take the room. With too many contenders, only counting can show that
// they leave enough room.
func (q *loss) settle(b *search.DomainLoss, l certificate.Loss) answer {
	if q.key == hostname && q.pin == "" && l.Returns(q.w) && q.spares.of(l.Meaning, func() bool { // for any lost node (T16)
		return q.room.FitsAnyway(search.AnyNode, l, q.everybody.Roster, model.Certain(q.w))
	}) {
		return answer{verdict: diag.Always}
	}
	q.j.m.Run().Spend(len(q.kinds.Losses()) / 12) // one check for each kind of node
	a, known := q.quick(b, l)
	if !known {
		if why := q.j.reasonNoTrialDecides(q.w); why.Given() && !q.room.Left(b) { // no node is left for the pods
			return answer{verdict: diag.Never, pending: model.Certain(q.w)}
		} else if why.Given() {
			return answer{verdict: diag.Unknown, why: why}
		}
		if q.settledWithout(b, l) {
			return answer{verdict: diag.Always}
		}
		a = q.stage(q.ruled, b, l)
	}
	tooMany := q.everybody != q.about
	if a.verdict == diag.Never || !tooMany && len(q.contending) == len(q.ruled) {
		return a
	}
	// A verdict based on the rules alone does not settle the question, because other pods may take
	// the room.
	if l.Returns(q.w) && q.fits(b, l, q.everybody.Roster) || known && q.settledWithout(b, l) {
		return answer{verdict: diag.Always}
	}
	if tooMany {
		return answer{verdict: diag.Unknown, why: q.j.crowded(q.everybody)}
	}
	full := q.stage(q.contending, b, l)
	if full.verdict == diag.Unknown && !full.why.Given() {
		full.why = q.j.reasonAboutOthers(q.w, q.contending)
	}
	return full
}

// settledWithout reports whether no pods stay Pending if DaemonSets are left out whose pods stay where
// they are (C16). A result of false proves nothing.
func (q *loss) settledWithout(b *search.DomainLoss, l certificate.Loss) (settled bool) {
	s := q.j.withoutDaemonSets()
	if model.Off("C16") || s == nil || q.pin != "" || s.of[q.w] == nil {
		return false
	}
	if !q.j.half(func() { settled = q.settlesIn(s, b, l) }) {
		q.settled = nil // it was stopped in the middle
		return false
	}
	return settled
}

func (q *loss) settlesIn(s *daemonless, b *search.DomainLoss, l certificate.Loss) bool {
	if q.settled == nil {
		q.settled = newLoss(s.shared, s.of[q.w], q.key)
	}
	g := q.settled
	g.free, g.loose = q.free, q.loose
	left := b.Like()
	for _, x := range g.kinds.Losses() { // the smaller nodes may be alike in other ways
		some := func(name string) bool { return slices.Contains(x.Like(), name) }
		if q.key != hostname && x.Value != b.Value || !slices.ContainsFunc(left, some) {
			continue
		}
		if g.settle(x, l).verdict != diag.Always {
			return false
		}
		left = slices.DeleteFunc(slices.Clone(left), some)
	}
	return len(left) == 0
}

// quick decides by arithmetic over node kinds. The result known is false if that is not enough.
func (q *loss) quick(b *search.DomainLoss, l certificate.Loss) (a answer, known bool) {
	if len(q.j.running) > 0 {
		return answer{}, false
	}
	// Under a spread constraint, pods that cannot all be placed at once may still be placed when
	// a node's pods are evicted one at a time (T23).
	several := l.Meaning == certificate.Drained && q.room.Several(b) && !q.j.hereditary(q.ruled)
	refills := false
	if len(q.ruled) == 1 {
		v, pending, ok := q.room.Single(b, l)
		switch {
		case ok && several && v != diag.Always:
		case ok && q.pin != "" && v != diag.Never && l.Returns(q.w): // volumes restrict where the pods find a node
		case ok && v == diag.Always: // a decision may certify it
			refills = l.Meaning == certificate.Gone || l.Meaning == certificate.Drained && !slices.ContainsFunc(q.j.m.Group(q.w).Terms, func(t *model.Term) bool {
				return t.Hard && t.Use == model.Spread && !t.HonorsTaints() // drained nodes still count
			})
		case ok && v == diag.Unknown:
			return answer{verdict: v, why: by(model.ByPending)}, true
		case ok:
			return answer{verdict: v, pending: pending}, true
		}
	}
	if n := q.room.NeverFits(b, l, q.ruled, several); n > 0 {
		return answer{verdict: diag.Never, pending: n}, true
	}
	about := q.about
	if len(q.ruled) < len(q.contending) {
		about = q.j.assembled(q.ruled)
	}
	if l.Returns(q.w) && (q.fits(b, l, about.Roster) || refills && q.refills(b)) {
		return answer{verdict: diag.Always}, true
	}
	return answer{}, false
}

// refills reports whether a decision shows that the pods all find nodes again without the lost ones, wherever some of
// them are.
func (q *loss) refills(b *search.DomainLoss) bool {
	lost := lists.Set(b.Nodes())
	s := q.j.scene(q.ruled)
	m := q.j.m.Variant(s.ws, slices.DeleteFunc(slices.Clone(q.j.m.Topology.Nodes), func(n *topology.Node) bool { return lost[n.Name] }))
	d := search.Decide(m, q.j.options(briefSteps))
	return verdict(d, s.of[q.w]) == diag.Always && d.Lasting(s.of[q.w])
}
