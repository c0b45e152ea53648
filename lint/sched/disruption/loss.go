package disruption

import (
	"cmp"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// Survival is the outcome for one workload after a loss of nodes.
type Survival struct {
	// Key is the topology key and Value its lost domain; for kubernetes.io/hostname Value
	// is the name of the one lost node.
	Key, Value string
	Meaning    certificate.Meaning
	Verdict    diag.Outcome
	// Pending is the number of pods that are missing in the end: at least so many if the
	// verdict is Never; if it is Sometimes, so many in some run.
	Pending int
	// Why gives the reason for a verdict besides placement, or for having no verdict.
	Why  model.Reason
	lost *search.DomainLoss
	// hit and missed are those of answer.
	hit    int
	missed bool
}

// Certain returns how many pods are missing at least, in every run, after any loss with the
// meaning that hits a pod; all losses have the same key. It is 0 if that is not known for some
// loss that may hit a pod.
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

// Nodes returns the nodes of the domain; for kubernetes.io/hostname it returns all nodes
// whose individual loss has the same outcome.
func (s *Survival) Nodes() []string { return s.lost.Like() }

// Like returns the number of Nodes.
func (s *Survival) Like() int { return s.lost.Alike() }

// Worse reports whether one outcome is worse than another.
func (s *Survival) Worse(o *Survival) bool {
	if a, b := severity(s.Verdict), severity(o.Verdict); a != b {
		return a > b
	}
	return s.Pending > o.Pending
}

// hostname is the key whose domains are single nodes.
const hostname = "kubernetes.io/hostname"

// evictions answers questions about nodes that are lost or drained.
type evictions struct{ *shared }

// Survives returns the outcomes for a workload when one domain of a key is lost, or
// one node for the key kubernetes.io/hostname: an answer for each domain, or each kind of
// node, and each meaning, gone and unreachable. A DaemonSet has no pods to be placed
// elsewhere, so it gets no answers.
func (e evictions) Survives(w *workload.Workload, key string) []Survival {
	return e.AppendSurvives(nil, w, key)
}

// AppendSurvives appends what Survives returns.
func (e evictions) AppendSurvives(to []Survival, w *workload.Workload, key string) []Survival {
	return e.losses(to, w, key, certificate.Gone, certificate.Unreachable)
}

// Drains returns the outcomes for a workload when a node is drained, for each kind
// of node.
func (e evictions) Drains(w *workload.Workload) []Survival {
	return e.losses(nil, w, hostname, certificate.Drained)
}

func (e evictions) losses(all []Survival, w *workload.Workload, key string, meanings ...certificate.Meaning) []Survival {
	if !e.Judged(w) || w.Kind.PerNode() || model.Certain(w) == 0 {
		return all
	}
	q := newLoss(e.shared, w, key)
	all = slices.Grow(all, len(meanings)*len(q.kinds.Losses()))
	everywhere, neighbour := q.room.Within(key), e.m.ByNeighbour(w)
	for _, b := range q.kinds.Losses() {
		for _, meaning := range meanings {
			e.m.Run().Spend(5)
			a := q.ask(b, meaning)
			switch open := a.verdict == diag.Always && !a.missed; {
			case open && neighbour.Given():
				a.verdict, a.why = diag.Unknown, neighbour
			case open && meaning == certificate.Unreachable && w.TightQuota != "": // lost pods count until they are gone
				a.verdict, a.why = diag.Unknown, model.Reason{Cause: model.ByAdmission, Name: w.TightQuota}
			}
			s := Survival{Key: key, Value: b.Value, lost: b, Meaning: meaning, Verdict: a.verdict, Pending: a.pending, Why: a.why, missed: a.missed}
			if everywhere {
				s.hit = a.hit
			}
			all = append(all, s)
		}
	}
	return all
}

// loss answers the questions about one workload and the losses by one key.
type loss struct {
	j   *shared
	w   *workload.Workload
	key string
	// ruled lists those that hard rules connect with the workload, contending also those
	// that may fill nodes with it. If too many contend, contending equals ruled.
	ruled, contending []*workload.Workload
	about             *assembly // of contending
	// everybody equals about, or has all contenders if too many workloads may fill nodes with this
	// one.
	everybody *assembly
	kinds     *search.Kinds
	room      *search.Room
	doubts    byMeaning[model.Reason] // results of doubt and spare, cached
	spares    byMeaning[bool]
	// budgets are those of contending, computed on demand.
	budgets *heeded
}

// answer is the result about one loss.
type answer struct {
	verdict diag.Outcome
	pending int
	why     model.Reason
	// hit is a lower bound of the missing pods if one was lost, where 0 promises nothing;
	// missed is set if no pod can be lost.
	hit    int
	missed bool
}

func newLoss(j *shared, w *workload.Workload, key string) *loss {
	q := &loss{j: j, w: w, key: key, ruled: j.group(w, false), contending: j.group(w, true)}
	q.about = j.assembled(q.contending)
	if q.everybody = q.about; j.contendersOf(w, model.Certain(w)) != nil {
		q.everybody = j.assembled(j.contendersOf(w, model.Certain(w)))
	}
	q.kinds = q.about.Kinds(w, q.about.pods, key)
	q.room = q.kinds.Room(w, model.Certain(w))
	return q
}

// ask answers one question: on the declared nodes first and, if that does not suffice
// and pools may grow, on all nodes that may exist.
func (q *loss) ask(b *search.DomainLoss, meaning certificate.Meaning) answer {
	l := certificate.Loss{Meaning: meaning}
	if !q.room.Hit(b) {
		a := q.atEverySize(b, meaning) // none of its pods is there, so none is lost
		a.missed = a.verdict == diag.Always
		return a
	}
	if why := q.doubt(l); why.Given() {
		return answer{verdict: diag.Unknown, why: why}
	}
	a := q.settle(b, l)
	if a.verdict == diag.Never || a.verdict == diag.Sometimes {
		a = q.preempting(b, l, a)
	}
	recreated, grows := l.Recreated(q.w), q.j.grows(q.w, model.Certain(q.w))
	switch {
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
	case !recreated && (a.verdict == diag.Sometimes || a.why.Cause == model.ByCrowd):
		a.hit = 1
	}
	if known := a.verdict == diag.Never || a.verdict == diag.Sometimes; known && !recreated {
		if a.why = by(model.NotRecreated); len(q.w.Kind.Template) == 0 {
			a.why = by(model.Bare)
		}
	}
	return a
}

// doubt returns why no loss of a meaning can be judged, if so; cached by meaning.
func (q *loss) doubt(l certificate.Loss) model.Reason {
	return q.doubts.of(l.Meaning, func() model.Reason {
		if why := q.j.unlisted(q.w); why.Given() {
			return why
		}
		if q.about.tolerates(l) {
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

// byMeaning caches a value for each meaning of a loss; there are only a few.
type byMeaning[T any] []meant[T]

type meant[T any] struct {
	meaning certificate.Meaning
	value   T
}

// of returns the value for a meaning and computes it the first time.
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

// heeded holds the budgets that evictions respect, and the reason why other budgets are open;
// ignoring those only adds runs.
type heeded struct {
	guards []certificate.Guard
	open   model.Reason
}

// stepwise returns a loss for a group. A drain is stepwise, with budgets as guards, if a pod may
// need or count others: then the order of evictions and placements matters (T23).
func (q *loss) stepwise(group []*workload.Workload, l certificate.Loss) certificate.Loss {
	l.Stepwise = l.Meaning == certificate.Drained && len(q.j.running) == 0 && !q.j.hereditary(group)
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
			switch {
			case w.Kind.VM && w != q.w:
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
			if w != q.w { // Drain judges what the budgets of the workload in question leave open
				x.open = cmp.Or(x.open, why)
			}
		}
	}
	l.Guards = q.budgets.guards
	return l
}

// among returns the question among other workloads only; if too many contend, Never follows from the
// rules alone.
func (q *loss) among(ruled, contending []*workload.Workload) *loss {
	one := *q
	one.ruled, one.contending, one.about = ruled, contending, q.j.assembled(contending)
	one.everybody = one.about
	return &one
}

// preempting returns the verdict that still holds if the pods may preempt others and take
// their room.
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

// verdictAtMaximum returns the verdict that still holds where pools may grow: Never, if it is Never
// on as many nodes as there may be, for the workload in isolation as well, and more nodes
// are never worse under all rules. Never among others alone does not suffice: at some
// size one of them may not fit and leave its room.
func (q *loss) verdictAtMaximum(b *search.DomainLoss, l certificate.Loss, a answer) answer {
	open := answer{verdict: diag.Unknown, why: by(model.ByGrowth)}
	if a.verdict != diag.Never || !q.j.hereditary(q.ruled) {
		return open
	}
	larger := q.j.larger()
	if larger == nil {
		return open
	}
	g, isolated := newLoss(larger, q.w, q.key), []*workload.Workload{q.w}
	for _, more := range g.kinds.Losses() {
		// All nodes that the lost one represents still have to be equivalent to it.
		if more.Value != b.Value || !contains(more.Like(), b.Like()) {
			continue
		}
		if a := g.settle(more, l); a.verdict == diag.Never && g.among(isolated, isolated).settle(more, l).verdict == diag.Never {
			return a
		}
	}
	return open
}

// contains reports whether one list contains another; both are in the same order.
func contains(all, some []string) bool {
	for _, s := range all {
		if len(some) > 0 && s == some[0] {
			some = some[1:]
		}
	}
	return len(some) == 0
}

// larger returns the judge on all nodes that growing pools may have; nil if these are
// unknown.
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

// settle tries the cheapest method first. It first asks about the workloads connected by
// rules alone: if this one never recovers among them, it does not among more pods either. If it
// may recover, others may take the room; if too many contend, only counting can rule that out.
func (q *loss) settle(b *search.DomainLoss, l certificate.Loss) answer {
	if q.spare(l) {
		return answer{verdict: diag.Always}
	}
	q.j.m.Run().Spend(len(q.kinds.Losses()) / 12) // a look at each kind of node
	a := q.quick(b, l)
	if a == nil {
		if why := q.j.reasonNoTrialDecides(q.w); why.Given() && !q.room.Left(b) { // no node is left for the pods
			return answer{verdict: diag.Never, pending: model.Certain(q.w)}
		} else if why.Given() {
			return answer{verdict: diag.Unknown, why: why}
		}
		found := q.stage(q.ruled, b, l)
		a = &found
	}
	tooMany := q.everybody != q.about
	if a.verdict == diag.Never || !tooMany && len(q.contending) == len(q.ruled) {
		return *a
	}
	// What the rules alone allow is no answer: others may take the room.
	if l.Recreated(q.w) && q.room.FitsAnyway(b, l, q.everybody.Roster, model.Certain(q.w)) {
		return answer{verdict: diag.Always}
	}
	if tooMany {
		return answer{verdict: diag.Unknown, why: by(model.ByCrowd)}
	}
	full := q.stage(q.contending, b, l)
	if full.verdict == diag.Unknown && !full.why.Given() {
		full.why = q.j.reasonAboutOthers(q.w, q.contending)
	}
	return full
}

// quick decides by arithmetic over kinds of nodes, or returns nil.
func (q *loss) quick(b *search.DomainLoss, l certificate.Loss) *answer {
	if len(q.j.running) > 0 {
		return nil
	}
	// Pods of one node that are evicted one at a time may find places under a spread that they do
	// not find all at once (T23).
	several := l.Meaning == certificate.Drained && q.room.Several(b) && !q.j.hereditary(q.ruled)
	if len(q.ruled) == 1 {
		v, pending, ok := q.room.Single(b, l)
		switch {
		case ok && several && v != diag.Always:
		case ok && v == diag.Unknown:
			return &answer{verdict: v, why: by(model.ByPending)}
		case ok:
			return &answer{verdict: v, pending: pending}
		}
	}
	if n := q.room.NeverFits(b, l, q.ruled); n > 0 && !several {
		return &answer{verdict: diag.Never, pending: n}
	}
	about := q.about
	if len(q.ruled) < len(q.contending) {
		about = q.j.assembled(q.ruled)
	}
	if l.Recreated(q.w) && q.room.FitsAnyway(b, l, about.Roster, model.Certain(q.w)) {
		return &answer{verdict: diag.Always}
	}
	return nil
}
