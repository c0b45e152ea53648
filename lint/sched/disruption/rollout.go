package disruption

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Rollout is the verdict on updating all pods in a workload.
type Rollout struct {
	workload.Rollout
	// Replicas is the number of pods that the rollout replaces.
	Replicas int
	// Verdict is Always if the rollout completes in every run, Never if it never completes, and
	// Sometimes if it may get stuck. It is "" if nothing replaces the pods, or if the pods cannot
	// all be placed before the rollout begins.
	Verdict diag.Outcome
	// Why explains an Unknown verdict.
	Why model.Reason
	// Core explains, in terms of CoreModel, why the rollout never completes. Stuck lists the moves
	// after which the rollout is stuck. Reasons counts, for each reason, the nodes that then reject
	// a new pod. Each of these fields may be empty.
	Core      *search.Core
	CoreModel *model.Model
	Stuck     []certificate.Move
	Reasons   map[certificate.Reason]int

	// Sizes lists the autoscaled workloads with the numbers of pods at which this is the verdict.
	Sizes  []Sized
	choice *choice

	old, fresh *workload.Workload // the revisions in Stuck
	// placed is set if a verdict of Always rests on placement alone.
	placed bool
	// beside is set if pods of others may wait when the rollout begins. contested is set if a verdict of Never
	// leaves out states in which pods of others wait.
	beside, contested bool
	held
}

// Placed reports whether the rollout completes because all pods fit, however they are placed.
func (r *Rollout) Placed() bool { return r.Verdict == diag.Always && r.placed }

// Crowded reports whether pods of other workloads are Pending when the rollout begins.
func (r *Rollout) Crowded() bool { return r.beside }

// Hangs reports whether new pods are on other nodes than the old ones when the rollout is stuck, and
// cannot start there, because a volume is attached to one node at a time (R-N44).
func (r *Rollout) Hangs() bool {
	old, fresh := r.Left()
	return r.attached && slices.ContainsFunc(fresh, func(n *topology.Node) bool { return !slices.Contains(old, n) })
}

// Fresh reports whether the pod of a move in Stuck is of the new revision.
func (r *Rollout) Fresh(m certificate.Move) bool { return m.Workload == r.fresh }

// Left returns the nodes that the old and the new pods are on when the rollout is stuck.
func (r *Rollout) Left() (old, fresh []*topology.Node) {
	for _, m := range r.Stuck {
		switch {
		case m.Gone:
			i := slices.Index(old, m.Node)
			old = slices.Delete(old, i, i+1)
		case m.Workload == r.old:
			old = append(old, m.Node)
		case m.Workload == r.fresh:
			fresh = append(fresh, m.Node)
		}
	}
	return old, fresh
}

// Rollout judges a rollout of the given number of replicas.
func (u updates) Rollout(w *workload.Workload, replicas int) Rollout {
	return u.withVolumes(w, u.judge(w, replicas))
}

// judge judges a rollout, given what the volumes of the pods mean for new ones.
func (u updates) judge(w *workload.Workload, replicas int) Rollout {
	r := u.withinQuotas(w, u.judgeAtAnySize(w, u.strategy(w, replicas), replicas))
	if why := u.m.ByNeighbour(w); r.Verdict == diag.Always && why.Given() {
		told := r.Way == workload.BothWhole || asksFor(u.m.Group(w), w.Kind.Shared) || u.m.PinOf(w).Key != ""
		if told || search.ByNeighbour(u.m, w, r.Replicas+max(1, r.Surge), certificate.Loss{}, "", "").Given() {
			r.Verdict, r.Why = diag.Unknown, why
		}
	}
	r.held = u.held
	return r
}

// withinQuotas returns what a rollout becomes if a ResourceQuota has no room for all its additional
// pods (R-P10). A Deployment whose pods may be missing meanwhile completes nevertheless if it always
// completes without the quota: pods that exist are all available or one of them is Pending, and in
// either case the controller removes the same old pods as without the quota. A rollout that may
// complete or get stuck may do either with fewer terminating old pods, too, unless pods need them
// nearby: they only take room, and hard spread constraints do not count them (R-T4).
func (u updates) withinQuotas(w *workload.Workload, r Rollout) Rollout {
	short := func(q workload.QuotaRoom) bool { return q.Most < r.Replicas } // not even the old pods exist
	if len(w.Quotas) == 0 || r.Verdict == "" || r.Way == workload.NoRollout || r.Unknown.Given() || slices.ContainsFunc(w.Quotas, short) {
		return r
	}
	pods, waits := r.Replicas+r.Surge, r.Way == workload.Rolling && r.Unavailable == 0
	least := r.Replicas + 1
	if r.Way == workload.BothWhole {
		pods, waits = 2*r.Replicas, r.Preview == 0
		least = pods
	}
	needed := slices.ContainsFunc(u.group(w, false), func(o *workload.Workload) bool {
		return slices.ContainsFunc(u.m.Group(o).Terms, func(t *model.Term) bool { return t.Hard && t.Use == model.Affinity && u.m.Peer(t, o, w) != model.No })
	})
	absent := func(o *workload.Workload) bool {
		return o.Object != w.Object && o.Ordered() && (!u.Judged(o) || u.fitting(u.group(o, true)).unfit[o])
	}
	for _, q := range w.Quotas {
		why := model.Reason{Cause: model.ByQuota, Name: q.Name(), Count: q.Most}
		switch {
		case q.Least >= pods && (r.Verdict != diag.Sometimes || !needed || q.Least >= 2*r.Replicas):
		case r.Verdict == diag.Always && r.Unavailable > 0 && q.Least >= r.Replicas && w.Kind.Kind == "Deployment":
		case waits && q.Most < least && !slices.ContainsFunc(q.Beside, absent) && u.limits(&q, w):
			return Rollout{Rollout: r.Rollout, Replicas: r.Replicas, Verdict: diag.Never, Why: why}
		case short(q):
			r = Rollout{Rollout: r.Rollout, Replicas: r.Replicas}
		case r.Verdict != diag.Unknown:
			r = Rollout{Rollout: r.Rollout, Replicas: r.Replicas, Verdict: diag.Unknown, Why: why}
		}
	}
	return r
}

// limits reports whether a ResourceQuota admits no more pods of a workload than it says, as a replay
// shows.
func (j *shared) limits(q *workload.QuotaRoom, w *workload.Workload) bool {
	err := certificate.CheckerOf(j.m).Room(j.m, w, q)
	if err != nil && err != certificate.ErrTooLong {
		j.m.Run().Refuse([]*workload.Workload{w}, err)
	}
	return err == nil
}

// judgeAtAnySize judges a rollout. It considers the declared nodes first. If they do not settle
// the question and pools can grow, it considers all nodes that may exist.
func (u updates) judgeAtAnySize(w *workload.Workload, how workload.Rollout, replicas int) Rollout {
	r := u.judgeOnDeclared(w, how, replicas)
	switch {
	case r.Way == workload.NoRollout || r.Unknown.Given() || u.unknown(w).Given() || !u.grows(w, replicas):
		if r.Verdict == diag.Unknown && slices.Contains([]model.Cause{model.BySize, model.ByBudget, model.ByCrowd, model.ByPending}, r.Why.Cause) {
			u.aside(func() { u.followRollout(w, &r) })
		}
		if r.Verdict == diag.Unknown {
			r.Stuck, r.Reasons = nil, nil
		}
		return r
	case r.Verdict == diag.Always && u.rolls(w, r):
		return r
	}
	if grown := u.larger(); grown != nil && r.Verdict != diag.Always {
		larger := updates{grown, u.held}
		g := larger.judgeOnDeclared(w, how, replicas)
		if g.Verdict == "" {
			return g
		}
		// At some size another workload may not fit, and its room is then free. So Never also
		// requires that w cannot complete the rollout even without other workloads.
		if one := (Rollout{Rollout: how, Replicas: replicas}); g.Verdict == diag.Never && search.Hereditary(u.m, u.group(w, false)) {
			if larger.roll(w, []*workload.Workload{w}, &one); one.Verdict == diag.Never {
				return g
			}
		}
	}
	return Rollout{Rollout: how, Replicas: replicas, Verdict: diag.Unknown, Why: by(model.ByGrowth)}
}

// judgeOnDeclared judges a rollout on the declared nodes, among all workloads that contend for
// them. If that gives no verdict, the rules alone may still give one. They may show that the
// rollout never completes, or that each new pod can use the room of the old pod that it replaces
// (C12).
func (u updates) judgeOnDeclared(w *workload.Workload, how workload.Rollout, replicas int) Rollout {
	r := Rollout{Rollout: how, Replicas: replicas}
	switch {
	case r.Way == workload.NoRollout:
		return r
	case r.Unknown.Given():
		r.Verdict, r.Why = diag.Unknown, model.Reason{Cause: model.ByStrategy, Strategy: r.Unknown}
		return r
	case u.unknown(w).Given():
		r.Verdict, r.Why = diag.Unknown, u.unknown(w)
		return r
	case u.free() && u.roomy(w, replicas, r.Surge):
		r.Verdict, r.placed = diag.Always, true
		return r
	}
	if r.Why = u.reasonDependsOnTransient(w); r.Why.Given() {
		r.Verdict = diag.Unknown
		return r
	}
	if lacksRequiredPods(u.m, w) {
		return r // its pods are never placed before the rollout
	}
	group, contenders := u.contenders(w, replicas), u.contendersOf(w, replicas)
	if u.free() && len(group) > 0 && u.spacious(w, u.assembled(group).Roster, u.contendersOrGroup(group, contenders), &r) || contenders != nil && u.rolling(w, contenders, &r).keeps() {
		r.Verdict, r.placed = diag.Always, true
		return r
	}
	if r.Why = u.reasonNoTrialDecides(w); r.Why.Given() {
		r.Verdict = diag.Unknown
		return r
	}
	late := func(o *workload.Workload) bool { return o.Kind.PerNode() && verdict(u.placed, o) != diag.Always } // they may wait when it begins
	if s := u.withoutDaemonSets(); s != nil && !model.Off("C16") && u.free() && s.of[w] != nil && u.placed != nil && !slices.ContainsFunc(u.everyone(w, replicas), late) {
		var left Rollout
		if u.half(func() { left = updates{shared: s.shared}.judgeOnDeclared(s.of[w], how, replicas) }) && left.Verdict == diag.Always && !left.beside {
			return left
		}
	}
	if contenders == nil {
		u.roll(w, group, &r)
	}
	if own := u.group(w, false); contenders != nil || r.Verdict == diag.Unknown && !r.Why.Given() && len(group) > len(own) {
		u.byRules(w, own, &r)
		waiting := slices.ContainsFunc(contenders, u.mayWait) // pods that wait may take the room (C12)
		if r.Verdict == diag.Always && contenders == nil {
			if u.placed != nil && slices.ContainsFunc(group, func(o *workload.Workload) bool { return verdict(u.placed, o) == diag.Never }) {
				r.Why = by(model.ByPending)
			}
			waiting = r.Why.Given() || u.fitting(group).verdict != diag.Always
		}
		if r.Verdict == diag.Always && (waiting || u.reasonAboutOthers(w, group).Given()) {
			r.Verdict = diag.Unknown
		}
		if r.Verdict == diag.Unknown && contenders != nil {
			r.Why = u.crowded(u.assembled(contenders))
		}
	}
	if contenders == nil && (r.Why.Cause == model.ByPending || r.contested) {
		late := Rollout{Rollout: how, Replicas: replicas, Verdict: diag.Unknown, Why: by(model.ByPending)}
		u.beside(w, group, &late)
		if late.Verdict != diag.Never && r.contested { // it also gets stuck where no pods of others wait
			late.Stuck, late.Reasons, late.old, late.fresh, late.beside = r.Stuck, r.Reasons, r.old, r.fresh, false
		}
		if !r.contested || late.Verdict != diag.Never {
			r = late
		}
	}
	if left := u.withoutPreemptible(w, group); left != nil && (r.Verdict == diag.Never || r.Verdict == diag.Sometimes) {
		r = Rollout{Rollout: how, Replicas: replicas}
		if u.roll(w, left, &r); r.Verdict != diag.Never || r.contested {
			return Rollout{Rollout: how, Replicas: replicas, Verdict: diag.Unknown, Why: by(model.ByPriority)}
		}
	}
	if r.Verdict == diag.Unknown {
		r.Why = cmp.Or(r.Why, u.reasonAboutOthers(w, group), u.undecided(w))
	}
	return r
}

// updates answers questions about rollouts.
type updates struct {
	*shared
	held
}

// held says how the volume that all pods of a workload use restricts new pods while old ones run.
type held struct {
	// attached is set if new pods on other nodes hang (R-N44). New pods can only use nodes that have
	// the value of the old pod's node for the label pin, if it is not empty (R-W35).
	attached bool
	pin      string
}

func (h held) free() bool { return h == held{} }

// byRules judges a rollout by a group's rules alone. The verdict is an answer only if other pods on
// the nodes cannot change it. There are three such cases: the rollout never completes, the pods
// never fit before it, or new pods take the room of the pods that they replace (C12). In all other
// cases the verdict is Unknown.
func (u updates) byRules(w *workload.Workload, group []*workload.Workload, r *Rollout) {
	v := diag.Unknown
	if u.free() && !model.Off("C12") {
		v = u.counted(w, group, r)
	}
	switch v {
	case diag.Always:
		r.Verdict = v
		return
	case diag.Never:
		r.Verdict = ""
		return
	case diag.Unknown:
		if u.roll(w, group, r); r.Verdict == diag.Never && !r.contested || r.Verdict == "" {
			return
		}
	}
	*r = Rollout{Rollout: r.Rollout, Replicas: r.Replicas, Verdict: diag.Unknown}
}

// counted judges a rollout by counting. The result is Never if the pods never fit before the
// rollout. It is Always if each old pod leaves before its replacement looks for a node. The
// replacement can then use the old pod's room, whatever other pods request (C12). The result is
// Sometimes if the rules allow the rollout but other pods may take the room (T1, T3, T16).
func (u updates) counted(w *workload.Workload, group []*workload.Workload, r *Rollout) diag.Outcome {
	told := asksFor(u.m.Group(w), w.Kind.Shared)
	about := u.assembled(group)
	switch {
	case u.doubtful(w, group).Given():
		return diag.Unknown
	case len(group) > 1 && u.spacious(w, about.Roster, about.Roster, r):
		return diag.Sometimes
	case told || len(group) > 1 || len(u.running) > 0 || r.Way == workload.PerNode || r.Way == workload.BothWhole:
		return diag.Unknown
	}
	first := r.Way != workload.Rolling || r.Unavailable > 0
	if w.Kind.PerNode() { // each pod returns to its node
		s := u.scene(group)
		if _, d := s.decide(); search.Hereditary(u.m, group) && verdict(d, s.of[w]) != diag.Sometimes {
			return verdict(d, s.of[w])
		}
		return diag.Unknown
	}
	q := u.rolling(w, group, r)
	fit := func(pods int) diag.Outcome {
		switch known := q.decide(pods); {
		case known.lasting || known.verdict == diag.Never:
			return known.verdict
		default:
			return diag.Unknown
		}
	}
	switch v := fit(r.Replicas); {
	case v != diag.Always || first:
		return v
	case fit(r.Replicas+1) == diag.Always:
		return diag.Sometimes
	}
	return diag.Unknown
}

// roomy is a fast check that settles most workloads. It returns true if three conditions hold: no
// other workload contends, there is room for all pods that may exist at once, and every rule that
// separates old pods from new ones also separates pods of one revision.
func (u updates) roomy(w *workload.Workload, replicas, surge int) bool {
	against := slices.ContainsFunc(u.m.Group(w).Terms, func(t *model.Term) bool {
		return t.Hard && slices.ContainsFunc(w.Kind.Shared, t.Asks) && u.m.Peer(t, w, w) != model.Yes
	})
	return !against && len(u.contenders(w, replicas)) == 1 && u.contendersOf(w, replicas) == nil && len(u.running) == 0 && !w.Kind.PerNode() && bound.FitsLoosely(u.m, w, replicas+max(1, surge))
}

// roll judges a rollout within one group and stores the result in r.
func (u updates) roll(w *workload.Workload, group []*workload.Workload, r *Rollout) {
	q := u.rolling(w, group, r)
	if q.lasts() { // wherever the pods of others are, also of those that do not all fit
		r.Verdict, r.placed = diag.Always, true
		return
	}
	if fit := u.withoutUnfit(w, group); len(fit) < len(group) {
		q.group, q.known = fit, map[int]*decided{}
	}
	open := u.doubtful(w, q.group).Given()
	if q.lasts() {
		r.Verdict, r.placed = diag.Always, true
	} else if q.uniform() && q.returns() {
		r.Verdict = diag.Always
	} else if rest := q.decide(r.Replicas); rest.verdict == diag.Never {
		r.Verdict = ""
	} else if r.Verdict = diag.Unknown; !open {
		switch r.Verdict = q.verdict(rest); {
		case r.placed:
		case rest.d.Verdict == diag.Never: // pods that wait may take the room
			r.Verdict, r.Why = diag.Unknown, by(model.ByPending)
		case r.Verdict == diag.Always && q.someWait():
			r.Verdict, r.Why = diag.Unknown, by(model.ByPending)
		}
	}
	r.contested = r.Verdict == diag.Never && (u.waiting(group, q.group) || r.Stuck != nil && q.someWait()) && !u.alone(w, group, r)
	if u.waiting(group, q.group) && exists(r.Verdict) {
		*r = Rollout{Rollout: r.Rollout, Replicas: r.Replicas, Verdict: diag.Unknown, Why: by(model.ByPending)}
	}
}

// mayWait reports whether no proof shows that all pods of a workload are placed in every order.
func (j *shared) mayWait(w *workload.Workload) bool {
	return j.placed == nil || verdict(j.placed, w) != diag.Always
}

// someWait reports whether pods of other workloads of the group may wait while all pods of the workload run.
func (q *rolling) someWait() bool {
	return len(q.group) > 1 && q.decide(q.Replicas).d.Verdict != diag.Always
}

// beside judges a rollout that begins where all pods of the workload run and pods of others may wait, by
// searching all its states. It leaves r as it is if pods may preempt others, if a quota may keep pods from
// being created or a volume may tie them to nodes, or if the search gives no answer.
func (u updates) beside(w *workload.Workload, group []*workload.Workload, r *Rollout) {
	q := &rolling{j: u.shared, w: w, group: group, Rollout: &Rollout{Rollout: r.Rollout, Replicas: r.Replicas, held: u.held}, known: map[int]*decided{}, waits: true}
	if !u.free() || w.Kind.PerNode() || len(u.running) > 0 || u.doubtful(w, group).Given() || slices.ContainsFunc(group, u.limited) {
		return
	}
	if v := q.explore(); v != diag.Unknown {
		*r, r.Verdict, r.beside = *q.Rollout, v, true
	}
}

// limited reports whether something besides rules and requests can keep a workload's pods from a node: preemption, a
// quota or a volume.
func (j *shared) limited(w *workload.Workload) bool {
	return j.mayBePreempted(w) || len(w.Quotas)+len(w.Claims) > 0 || w.TightQuota != ""
}

// alone reports whether a rollout never completes even without the other workloads.
func (u updates) alone(w *workload.Workload, group []*workload.Workload, r *Rollout) bool {
	one := Rollout{Rollout: r.Rollout, Replicas: r.Replicas}
	if search.Hereditary(u.m, group) {
		u.roll(w, []*workload.Workload{w}, &one)
	}
	return one.Verdict == diag.Never
}

// rolling returns the state to judge a rollout within one group.
func (u updates) rolling(w *workload.Workload, group []*workload.Workload, r *Rollout) *rolling {
	r.held = u.held
	q := &rolling{j: u.shared, w: w, group: group, Rollout: r, known: map[int]*decided{}, raised: r.Replicas}
	if r.Way == workload.Rolling && r.Unavailable == 0 {
		q.raised++
	}
	return q
}

// lasts reports whether a pod always finds a node beside all the others of the rollout. This implies
// that the pods fit before it.
func (q *rolling) lasts() bool {
	return q.keeps() || q.uniform() && q.decide(q.raised).lasting
}

// keeps reports whether the proofs about all workloads show that the rollout lasts.
func (q *rolling) keeps() bool {
	return q.uniform() && len(q.j.running) == 0 && q.j.placed.Keeps(q.j.m.Run(), q.w, nil, q.raised-q.w.Count.N)
}

// uniform reports whether nothing distinguishes old pods from new ones, and no rule is in doubt.
func (q *rolling) uniform() bool {
	return q.free() && q.alike() && !q.j.doubtful(q.w, q.group).Given()
}

// alike reports whether all rules treat old and new pods the same. The strategy must also limit
// replacements only by its surge and unavailable numbers.
func (q *rolling) alike() bool {
	tells := func(o *workload.Workload) bool { return asksFor(q.j.m.Group(o), q.w.Kind.Shared) }
	return q.Way != workload.PerNode && q.Way != workload.BothWhole && !slices.ContainsFunc(q.group, tells)
}

// returns reports whether each new pod of a DaemonSet finds the room of the old one on its node, as no
// other pod waits for it (C12). All pods of the group run before that, which needs a placement of them.
func (q *rolling) returns() bool {
	if model.Off("C12") || !q.w.Kind.PerNode() || len(q.j.running) > 0 || slices.ContainsFunc(q.j.m.Group(q.w).Terms, func(t *model.Term) bool { return t.Hard && t.Use != model.AntiAffinity }) {
		return false
	}
	return q.decide(q.Replicas).d.Verdict == diag.Always
}

// exists reports whether a verdict is about a placement of all pods.
func exists(v diag.Outcome) bool { return v == diag.Always || v == diag.Sometimes }

// rolling holds the state while a rollout is judged within one group.
type rolling struct {
	*Rollout
	j     *shared
	w     *workload.Workload
	group []*workload.Workload
	// raised is the smallest number of pods that exist while a new pod looks for a node,
	// including that new pod (R-W7, C8).
	raised int
	known  map[int]*decided // by number of pods
	skewed bool
	waits  bool // pods of other workloads may wait
}

// decided is the decision for a certain number of equal pods.
type decided struct {
	pods    int
	verdict diag.Outcome
	lasting bool // Always, whatever happened before
	m       *model.Model
	d       *certificate.Decision
	copy    *workload.Workload
}

// scene returns the scene of the group. What volumes mean for the pods of w is not part of it (see
// withVolumes).
func (q *rolling) scene() *scene {
	s := q.j.scene(q.group)
	s.of[q.w].OrdinalReaches = nil
	return s
}

// decide decides whether the given number of pods can be placed, as if they all had the same
// revision.
func (q *rolling) decide(pods int) *decided {
	return lazy.Cached(q.known, pods, func() *decided {
		s := q.scene().with(q.w, pods)
		c := s.of[q.w]
		m, d := s.decide(c)
		known := &decided{pods: pods, verdict: verdict(d, c), m: m, d: d, copy: c}
		known.lasting = known.verdict == diag.Always && (d.Lasting(c) || q.shrinks())
		return known
	})
}

// verdict tries cheap decisions before searching all states.
func (q *rolling) verdict(rest *decided) diag.Outcome {
	switch {
	case q.Way == workload.PerNode:
		// If the rules apply to one node at a time, each node is a separate question. All nodes can then be updated one
		// after another if old and new pods can be on all nodes at once (R-W17).
		s := q.scene()
		fresh := s.twin(q.w, 0)
		m, d := s.decide()
		nodes := q.nodeByNode()
		switch {
		case nodes && impossible(d, q.known[q.Replicas].d, fresh, s.of[q.w]):
			q.Core, q.CoreModel = coreOf(m, d, fresh), m
			return diag.Never
		case verdict(d, fresh) == diag.Always && (nodes || q.shrinks()):
			q.placed = true
			return diag.Always
		}
		return diag.Unknown
	case q.alike():
		raised := q.decide(q.raised)
		// Before the first old pod can be removed, a new pod has to run alongside all the old
		// ones.
		if raised.pods > rest.pods && impossible(raised.d, rest.d, raised.copy) {
			q.Core, q.CoreModel = coreOf(raised.m, raised.d, raised.copy), raised.m
			return diag.Never
		}
		return q.explore()
	case !q.free():
		return q.explore()
	case q.shrinks():
		return q.first((*rolling).twins, (*rolling).explore)
	}
	return q.first((*rolling).counted, (*rolling).explore, (*rolling).twins) // placement alone seldom decides here
}

// revisions returns a scene with all the old and all the new pods of the workload.
func (q *rolling) revisions() (s *scene, fresh *workload.Workload) {
	s = q.scene().with(q.w, q.Replicas)
	return s, s.twin(q.w, q.Replicas)
}

// briefSteps is a step limit that is enough for counting, but rarely for a search.
const briefSteps = 2_000

// counted is like twins, but it returns Always only if counting proves that there is always room.
func (q *rolling) counted() diag.Outcome {
	s, fresh := q.revisions()
	_, d := s.decideIn(briefSteps, fresh, s.of[q.w])
	if verdict(d, fresh) == diag.Always && verdict(d, s.of[q.w]) == diag.Always && d.Lasting(fresh) {
		q.placed = true
		return diag.Always
	}
	return diag.Unknown
}

// first returns the first verdict other than Unknown.
func (q *rolling) first(ways ...func(*rolling) diag.Outcome) diag.Outcome {
	for _, way := range ways {
		if v := way(q); v != diag.Unknown {
			return v
		}
	}
	return diag.Unknown
}

// twins judges a rollout if rules distinguish old pods from new ones, or if both run side by side
// at full size.
func (q *rolling) twins() diag.Outcome {
	s, fresh := q.revisions()
	m, d := s.decide(fresh, s.of[q.w])
	if verdict(d, fresh) == diag.Always && verdict(d, s.of[q.w]) == diag.Always && (d.Lasting(fresh) || q.shrinks()) {
		q.placed = true
		return diag.Always
	}
	if q.Way != workload.BothWhole {
		if q.Unavailable > 0 {
			return diag.Unknown
		}
		fresh.Count.N = 1 // the first new pod
		m, d = s.decide(fresh, s.of[q.w])
	}
	if impossible(d, q.known[q.Replicas].d, fresh, s.of[q.w]) {
		q.Core, q.CoreModel = coreOf(m, d, fresh), m
		return diag.Never
	}
	return diag.Unknown
}

// nodeByNode reports whether the pods' own rules make each node a separate question. All other
// workloads stay in place. A hard spread constraint considers only the node that its pod is pinned
// to, unless its policy ignores node affinity. If old pods satisfy an affinity rule, the old pod on
// the node itself satisfies it.
func (q *rolling) nodeByNode() bool {
	for _, t := range q.j.m.Group(q.w).Terms {
		tells := slices.ContainsFunc(q.w.Kind.Shared, t.Asks)
		if !t.Hard || !tells && q.j.m.Peer(t, q.w, q.w) == model.No {
			continue
		}
		ignores := t.Use == model.Spread && t.Constraint.NodeAffinityPolicy != nil && *t.Constraint.NodeAffinityPolicy == corev1.NodeInclusionPolicyIgnore
		if ignores || t.Use == model.Affinity && tells || t.Use == model.AntiAffinity && !q.j.m.NodeByNode(t.Key, q.w) {
			return false
		}
	}
	return true
}

// explore judges the rollout by searching all its states.
func (q *rolling) explore() diag.Outcome {
	s, fresh := q.revisions()
	var tell func(*topology.Node) string
	for _, c := range []*workload.Workload{s.of[q.w], fresh} {
		if c.Pin, c.Attached = q.pin, diag.Never; q.attached {
			c.Attached = diag.Always
		}
	}
	if q.pin != "" && q.pin != hostname {
		tell = func(n *topology.Node) string { return n.Labels[q.pin] }
	}
	m := s.model(tell)
	ask := certificate.Rollout{Old: s.of[q.w], Fresh: fresh, Surge: q.Surge, Unavailable: q.Unavailable, Waits: q.waits}
	switch q.Way {
	case workload.Recreate:
		ask.Unavailable, ask.Empty = q.Replicas, true
	case workload.BothWhole:
		ask.Surge, ask.Whole = q.Replicas, true
	}
	steps := q.j.steps
	if podsOf(q.group) <= fewPods {
		steps *= historySteps
	}
	out := search.Roll(m, ask, q.j.options(steps))
	q.Stuck, q.Reasons, q.old, q.fresh, q.skewed = out.Stuck, out.Reasons, ask.Old, ask.Fresh, out.Skewed
	return out.Verdict
}

// shrinks reports whether removing some of the workload's pods never hurts its other pods. This
// holds if the workload has no hard spread constraint, and no workload in the group requires these
// pods nearby or counts them. Any set of placed pods could then have been placed in any order.
func (q *rolling) shrinks() bool {
	for _, o := range q.group {
		for _, t := range q.j.m.Group(o).Terms {
			if t.Hard && t.Use != model.AntiAffinity && (o == q.w && t.Use == model.Spread || q.j.m.Peer(t, o, q.w) != model.No) {
				return false
			}
		}
	}
	return true
}

// rolls reports whether a rollout completes at every pool size, given its result on the declared
// nodes.
func (u updates) rolls(w *workload.Workload, here Rollout) bool {
	return u.holdsAtEverySize(w, here.Replicas, 0, func(at *shared, group []*workload.Workload, every bool) bool {
		r := here
		if at != u.shared {
			r = updates{at, u.held}.judgeOnDeclared(w, here.Rollout, here.Replicas)
		}
		return r.Verdict == diag.Always && (every || r.placed && at.allMayFit(group))
	})
}

// skewSteps is the maximum number of filters applied while searching for rollouts that end with
// uneven counts.
const skewSteps = 100_000

// Skews reports whether a completed rollout can leave the new pods beyond the maximum skew of a
// hard constraint that also counts the old pods (C9). It returns false if the search runs out of
// steps.
func (u updates) Skews(w *workload.Workload, replicas int) bool {
	how := w.Rollout(replicas)
	hard := slices.ContainsFunc(u.m.Group(w).Terms, func(t *model.Term) bool { return t.Hard && t.Use == model.Spread })
	if model.Off("C9") || !hard || how.Way == workload.PerNode || how.Way == workload.NoRollout {
		return false
	}
	brief := *u.shared
	brief.steps = skewSteps
	q := &rolling{j: &brief, w: w, group: u.group(w, false), Rollout: &Rollout{Rollout: how, Replicas: replicas}, known: map[int]*decided{}}
	return q.explore() == diag.Always && q.skewed
}

// Tighter reports whether a rollout may get stuck once the workload's hard spread constraints
// ignore other revisions' pods (C10).
func (f fixes) Tighter(w *workload.Workload, replicas int) bool {
	own := revisionsCounted(w)
	if own == nil {
		return false
	}
	group, tooMany := swapped(f.group(w, false), w, own), f.contendersOf(w, replicas) != nil
	return !f.completes(own, group, tooMany, f.m.Topology.Nodes, w.Rollout(replicas), replicas)
}
