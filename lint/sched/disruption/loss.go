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

// Survival is what becomes of one workload when nodes are lost.
type Survival struct {
	// Key is the topology key of which a domain is lost, and Value the domain;
	// for kubernetes.io/hostname Value is the name of the one node that is lost.
	Key, Value string
	Meaning    certificate.Meaning
	Verdict    diag.Outcome
	// Pending is how many pods are missing in the end: at least so many if the
	// verdict is Never; if it is OrderDependent, so many in some run.
	Pending int
	// Why is on what the verdict rests beyond placement, or why there is none.
	Why  model.Reason
	lost *search.DomainLoss
	// hit and missed are as in answer.
	hit    int
	missed bool
}

// Certain is how many pods are missing at least, in every run, after the worst of those
// losses by one key that have a meaning: each hits no pod, or leaves so many missing if it
// hits one. It is 0 if that is not known.
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

// Nodes are all nodes of the domain; for kubernetes.io/hostname those like
// the one that is lost: of the loss of each of them alone the same is true.
func (s *Survival) Nodes() []string { return s.lost.Like() }

// Like is how many nodes Nodes names.
func (s *Survival) Like() int { return s.lost.Alike() }

// Worse reports whether one outcome is worse than another.
func (s *Survival) Worse(o *Survival) bool {
	if a, b := severity(s.Verdict), severity(o.Verdict); a != b {
		return a > b
	}
	return s.Pending > o.Pending
}

// hostname is the key of which a domain is a single node.
const hostname = "kubernetes.io/hostname"

// evictions are questions about nodes that are lost or drained.
type evictions struct{ *shared }

// Survives says what becomes of a workload when a node is lost, for the key
// kubernetes.io/hostname, or else a domain of the key: one answer for each kind
// of node, or each domain, and each meaning, gone and unreachable. A DaemonSet has no
// pods to be placed elsewhere, so nothing is said of it.
func (e evictions) Survives(w *workload.Workload, key string) []Survival {
	return e.AppendSurvives(nil, w, key)
}

// AppendSurvives appends what Survives says.
func (e evictions) AppendSurvives(to []Survival, w *workload.Workload, key string) []Survival {
	return e.losses(to, w, key, certificate.Gone, certificate.Unreachable)
}

// Drains says what becomes of a workload when a node is drained, for each kind
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

// loss is the questions about one workload and the losses by one key.
type loss struct {
	j   *shared
	w   *workload.Workload
	key string
	// ruled are those that hard rules connect with the workload, contending those
	// that may fill nodes with it as well, or the same. Of a crowd contending is ruled.
	ruled, contending []*workload.Workload
	about             *assembly // of contending
	// everybody is about, or the crowd where those that may fill nodes with the workload
	// are too many for contending.
	everybody *assembly
	kinds     *search.Kinds
	room      *search.Room
	doubts    byMeaning[model.Reason] // what doubt and spare say, once asked
	spares    byMeaning[bool]
	// budgets are those of contending, once asked for.
	budgets *heeded
}

// answer is what is known of one loss.
type answer struct {
	verdict diag.Outcome
	pending int
	why     model.Reason
	// hit is how many pods are missing at least if one was lost, 0 is no promise; missed is
	// set if none can be.
	hit    int
	missed bool
}

func newLoss(j *shared, w *workload.Workload, key string) *loss {
	q := &loss{j: j, w: w, key: key, ruled: j.group(w, false), contending: j.group(w, true)}
	q.about = j.assembled(q.contending)
	if q.everybody = q.about; j.crowd(w, model.Certain(w)) != nil {
		q.everybody = j.assembled(j.crowd(w, model.Certain(w)))
	}
	q.kinds = q.about.Kinds(w, q.about.pods, key)
	q.room = q.kinds.Room(w, model.Certain(w))
	return q
}

// ask answers one question: on the declared nodes, and if that is not enough
// and pools may grow, on all that there may be.
func (q *loss) ask(b *search.DomainLoss, meaning certificate.Meaning) answer {
	l := certificate.Loss{Meaning: meaning}
	if !q.room.Hit(b) {
		a := q.atEverySize(b, meaning) // no pod of it is there, so none is lost
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
		a = q.grow(b, l, a)
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

// doubt is why no loss of a meaning can be judged, if so; found out once for all of them.
func (q *loss) doubt(l certificate.Loss) model.Reason {
	return q.doubts.of(l.Meaning, func() model.Reason { return q.doubtful(l) })
}

// byMeaning keeps what was found out about losses of each meaning, of which there are few.
type byMeaning[T any] []struct {
	meaning certificate.Meaning
	value   T
}

// of finds it out the first time.
func (b *byMeaning[T]) of(meaning certificate.Meaning, find func() T) T {
	for _, known := range *b {
		if known.meaning == meaning {
			return known.value
		}
	}
	value := find()
	*b = append(*b, struct {
		meaning certificate.Meaning
		value   T
	}{meaning, value})
	return value
}

func (q *loss) doubtful(l certificate.Loss) model.Reason {
	if why := q.j.unlisted(q.w); why.Given() {
		return why
	}
	if q.about.tolerates(l) {
		return by(model.ByToleration)
	}
	if why := q.j.leans(q.w); why.Given() {
		return why
	}
	if lonely(q.j.m, q.w) {
		return by(model.ByPending)
	}
	return model.Reason{}
}

// heeded are budgets that evictions heed, and why nothing more is known of them than that
// evictions without any have more runs.
type heeded struct {
	guards []certificate.Guard
	open   model.Reason
}

// stepwise is a drain as a question about a group. Where a pod may need others, or count
// them, it matters which are evicted first, and what is placed meanwhile (T23).
func (q *loss) stepwise(group []*workload.Workload, l certificate.Loss) certificate.Loss {
	l.Stepwise = l.Meaning == certificate.Drained && len(q.j.running) == 0 && !q.j.hereditary(group)
	if !l.Stepwise || q.budgets != nil {
		if l.Stepwise {
			l.Guards = q.budgets.guards
		}
		return l
	}
	q.budgets = &heeded{}
	for _, w := range q.contending[:min(len(q.contending), maxTogether)] { // of more nothing is searched
		if !w.Kind.PerNode() {
			q.heed(w)
		}
	}
	l.Guards = q.budgets.guards
	return l
}

// heed takes in the budgets of a workload. What the own ones of that in question leave open
// is asked elsewhere.
func (q *loss) heed(w *workload.Workload) {
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
			return
		}
		why = model.Reason{Cause: model.ByEviction, Name: budgets[0].String()}
		if i := slices.IndexFunc(budgets[0].Workloads, func(o *workload.Workload) bool { return o != w }); i >= 0 {
			why.Workload = budgets[0].Workloads[i]
		}
		x.open = cmp.Or(x.open, why)
	}
	if w != q.w {
		x.open = cmp.Or(x.open, why)
	}
}

// alone is the question about the workload by itself.
func (q *loss) alone() *loss {
	one := *q
	one.ruled, one.contending = []*workload.Workload{q.w}, []*workload.Workload{q.w}
	one.about = q.j.assembled(one.contending)
	one.everybody = one.about
	return &one
}

// preempting is what is left of a verdict where the pods may take the room of
// others.
func (q *loss) preempting(b *search.DomainLoss, l certificate.Loss, a answer) answer {
	ruled, contending := q.j.yielding(q.w, q.ruled), q.j.yielding(q.w, q.contending)
	if contending == nil {
		return a
	}
	if ruled == nil {
		ruled = q.ruled
	}
	alone := *q
	alone.ruled, alone.contending, alone.about = ruled, contending, q.j.assembled(contending)
	alone.everybody = alone.about // of a crowd it is never by the rules alone
	if left := alone.settle(b, l); left.verdict == diag.Never {
		return left
	}
	return answer{verdict: diag.Unknown, why: by(model.ByPriority)}
}

// grow is what is left of a verdict where pools may grow: never, if it is never
// on as many nodes as there may be, also for the workload by itself, and all rules
// are such that more nodes are never worse. Among others that is not enough: at some
// size one of them may not fit, and leave its room.
func (q *loss) grow(b *search.DomainLoss, l certificate.Loss, a answer) answer {
	open := answer{verdict: diag.Unknown, why: by(model.ByGrowth)}
	if a.verdict != diag.Never || !q.j.hereditary(q.ruled) {
		return open
	}
	larger := q.j.larger()
	if larger == nil {
		return open
	}
	g := newLoss(larger, q.w, q.key)
	for _, more := range g.kinds.Losses() {
		// All nodes for which the one that is lost stands have to be like it still.
		if more.Value != b.Value || !contains(more.Like(), b.Like()) {
			continue
		}
		if a := g.settle(more, l); a.verdict == diag.Never && g.alone().settle(more, l).verdict == diag.Never {
			return a
		}
	}
	return open
}

// contains reports whether one list has all of another, both in one order.
func contains(all, some []string) bool {
	for _, s := range all {
		if len(some) > 0 && s == some[0] {
			some = some[1:]
		}
	}
	return len(some) == 0
}

// larger judges on all nodes that growing pools may have; nil where that is
// not known.
func (j *shared) larger() *shared {
	if j.grown == nil {
		nodes, _, ok := j.m.Grown()
		if !ok {
			return nil
		}
		j.grown = j.other(j.m.Variant(j.m.Workloads, nodes))
	}
	return j.grown
}

// settle tries the cheapest means first. What has to do with the workload by
// rules alone is asked first: if it never recovers then, it does not with more
// pods about; and where too many fill its nodes with it, that is the answer.
func (q *loss) settle(b *search.DomainLoss, l certificate.Loss) answer {
	if q.spare(l) {
		return answer{verdict: diag.Always}
	}
	q.j.m.Run().Spend(len(q.kinds.Losses()) / 12) // a look at each kind of node
	a := q.quick(b, l)
	if a == nil {
		if why := q.j.foretold(q.w); why.Given() {
			return q.untried(b, why)
		}
		found := q.stage(q.ruled, b, l)
		a = &found
	}
	crowd := q.everybody != q.about
	if a.verdict == diag.Never || !crowd && len(q.contending) == len(q.ruled) {
		return *a
	}
	// What the rules alone allow is no answer: others may take the room.
	if l.Recreated(q.w) && q.room.FitsAnyway(b, l, q.everybody.Roster, model.Certain(q.w)) {
		return answer{verdict: diag.Always}
	}
	if crowd {
		return answer{verdict: diag.Unknown, why: by(model.ByCrowd)}
	}
	full := q.stage(q.contending, b, l)
	if full.verdict == diag.Unknown && !full.why.Given() {
		full.why = q.j.beside(q.w, q.contending)
	}
	return full
}

// untried is what is known of a loss without a trial (see foretold): that the pods have
// no node then.
func (q *loss) untried(b *search.DomainLoss, why model.Reason) answer {
	if !q.room.Left(b) {
		return answer{verdict: diag.Never, pending: model.Certain(q.w)}
	}
	return answer{verdict: diag.Unknown, why: why}
}

// quick is arithmetic over kinds of nodes; nil if it does not tell.
func (q *loss) quick(b *search.DomainLoss, l certificate.Loss) *answer {
	if len(q.j.running) > 0 {
		return nil
	}
	// Evicted one at a time, pods of one node may find places by a spread that all of them at
	// once do not (T23).
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
