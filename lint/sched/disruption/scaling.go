package disruption

import (
	"slices"
	"sort"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Limit returns the rule that prevents `pods` pods of a workload from being placed. It assumes that
// all pools are at their maximum size and that the workload has the cluster to itself. Only the
// workloads whose pods w counts or requires nearby are also present, because they may make room for
// it. Limit returns nil if there is no such rule or the workload is not judged.
func (up scaling) Limit(w *workload.Workload, pods int) *bound.Limit {
	c := *w
	c.Scale, c.Count.N, c.Count.Known = nil, pods, true
	ws := append(up.helpers(w), &c)
	m := up.m.Beside(ws)
	if e := m.Eligible(&c); !m.Judged(&c) || e.Count+e.Growable == 0 {
		return nil
	}
	for _, l := range bound.Capacity(m, &c) {
		if l.Exceeded {
			return &l
		}
	}
	return nil
}

// helpers returns copies of the workloads whose pods w counts or requires nearby, each with its
// maximum number of pods.
func (j *shared) helpers(w *workload.Workload) (all []*workload.Workload) {
	seen := map[*workload.Workload]bool{}
	for _, t := range j.m.Group(w).Terms {
		if !t.Hard || t.Use == model.AntiAffinity {
			continue
		}
		for _, o := range j.m.Others(t, w, true) {
			if seen[o] {
				continue
			}
			seen[o] = true
			c := *o
			if c.Count.N = max(o.Count.N, most(o)); o.Kind.PerNode() {
				c.Count.Known = false // one pod on each node
			}
			all = append(all, &c)
		}
	}
	return all
}

// Scaling is the verdict on the maximum number of pods that an autoscaler can request.
type Scaling struct {
	Answer diag.Outcome
	// Limit is the rule that prevents the pods from fitting, or nil if the workload's own rules
	// do not explain it.
	Limit *bound.Limit
	// Most is the largest number of pods that fit. It is set if not all pods fit.
	Most int
	// Pool is a growing pool, and Size is the smallest node count at which the maximum fits. Pool
	// is "" if the size was not determined.
	Pool string
	Size int
	Why  model.Reason
}

// scaling answers questions about autoscalers.
type scaling struct{ *shared }

// Scaling judges a workload at its autoscaler's maximum (R-W18, R-P10).
func (up scaling) Scaling(w *workload.Workload) Scaling {
	s := up.judge(w)
	absent := func(o *workload.Workload) bool { return o.Object != w.Object && o.Ordered() && !up.runs(o, w) }
	for _, q := range w.Quotas {
		switch {
		case s.Answer == diag.None || q.Least >= w.Scale.Max || s.Answer == diag.Never && s.Most <= q.Most:
		case q.Most < w.Scale.Max && !slices.ContainsFunc(q.Beside, absent) && up.limits(&q, w):
			s = Scaling{Answer: diag.Never, Most: q.Most, Why: model.Reason{Cause: model.ByQuota, Name: q.Name(), Count: q.Most}}
		case s.Answer != diag.Never:
			s = Scaling{Answer: diag.Unknown, Why: model.Reason{Cause: model.ByAdmission, Name: q.Name()}}
		}
	}
	return s
}

// runs reports whether all pods of a workload are placed in every run, both before the autoscaler of w adds
// its pods and after. A StatefulSet does not create its next pod while one is Pending, and a pod that does not
// exist uses no quota.
func (up scaling) runs(o, w *workload.Workload) bool {
	c := up.contention(w, w.Scale.Max)
	group := c.groups[o]
	if !up.Judged(o) || c.large[keyOf(group)] {
		return false
	}
	always := func(s *scene) bool {
		_, d := s.decide()
		return verdict(d, s.of[o]) == diag.Always
	}
	s := up.scene(group)
	return always(s) && (s.of[w] == nil || always(up.scene(group).with(w, w.Scale.Max)))
}

// judge judges a workload at its autoscaler's maximum if no ResourceQuota limits its pods.
func (up scaling) judge(w *workload.Workload) Scaling {
	switch {
	case w.Scale == nil:
		return Scaling{Answer: diag.None}
	case up.unknown(w).Given():
		return Scaling{Answer: diag.Unknown, Why: up.unknown(w)}
	}
	if why := up.reasonDependsOnTransient(w); why.Given() {
		return Scaling{Answer: diag.Unknown, Why: why}
	}
	if why := up.reasonNoTrialDecides(w); why.Given() { // only a limit from the workload's own rules is known
		if l := up.Limit(w, w.Scale.Max); l != nil {
			return Scaling{Answer: diag.Never, Limit: l, Most: l.Most}
		}
		return Scaling{Answer: diag.Unknown, Why: why}
	}
	s := up.scene(up.contenders(w, w.Scale.Max)).with(w, w.Scale.Max)
	_, d := s.decide()
	c := s.of[w]
	if l := up.Limit(w, w.Scale.Max); l != nil {
		most := l.Most
		if !up.grows(w, w.Scale.Max) { // other workloads may leave less room
			most = min(most, decisionOf(d, c).MaxPlaced)
		}
		return Scaling{Answer: diag.Never, Limit: l, Most: most}
	}
	answer := verdict(d, c)
	group, contenders := up.contenders(w, w.Scale.Max), up.contendersOf(w, w.Scale.Max)
	if contenders != nil && (answer == diag.Sometimes || answer == diag.Always) {
		ruled, gone := up.assembled(group).Roster, certificate.Loss{Meaning: certificate.Gone}
		if !search.AlwaysFits(w, ruled, up.contendersOrGroup(group, contenders), search.NoLoss, gone, w.Scale.Max) {
			if !up.grows(w, w.Scale.Max) && up.waits(w) {
				return Scaling{Answer: diag.Sometimes, Why: by(model.ByOrder)}
			}
			return Scaling{Answer: diag.Unknown, Why: by(model.ByCrowd)}
		}
		answer = diag.Always
	}
	switch answer {
	case diag.Always:
		if up.grows(w, w.Scale.Max) && !up.holdsAtEverySize(w, w.Scale.Max, 0, func(at *shared, _ []*workload.Workload, _ bool) bool {
			return at == up.shared || scaling{at}.judge(w).Answer == diag.Always
		}) {
			return Scaling{Answer: diag.Unknown, Why: by(model.ByGrowth)}
		}
		if why := up.m.ByNeighbour(w); why.Given() {
			return Scaling{Answer: diag.Unknown, Why: why}
		}
		return Scaling{Answer: diag.Always}
	case diag.Sometimes:
		// There are more nodes, or no state in which all pods run.
		if up.grows(w, w.Scale.Max) || !exists(up.fitting(group).verdict) {
			return Scaling{Answer: diag.Sometimes, Why: by(model.ByOrder)}
		}
		for _, o := range group {
			for _, q := range o.Quotas {
				if q.Least < model.Certain(o) { // perhaps not all pods exist
					return Scaling{Answer: diag.Unknown, Why: model.Reason{Cause: model.ByAdmission, Name: q.Name()}}
				}
			}
		}
		if d.Verdict == diag.Never { // the pods of all others run, and stay
			return Scaling{Answer: diag.Never, Most: min(decisionOf(d, c).MaxPlaced, w.Scale.Max-1), Why: by(model.ByContention)}
		}
		return up.raised(w, group)
	case diag.Never:
		if up.withoutPreemptible(w, up.contenders(w, w.Scale.Max)) != nil {
			return Scaling{Answer: diag.Unknown, Why: by(model.ByPriority)}
		}
		if up.grows(w, w.Scale.Max) {
			return up.begins(w)
		}
		why := by(model.ByContention)
		if len(group) == 1 && contenders == nil {
			why = by(model.ByItself)
		}
		return Scaling{Answer: diag.Never, Most: decisionOf(d, c).MaxPlaced, Why: why}
	}
	return Scaling{Answer: diag.Unknown, Why: up.undecided(w)}
}

// raised judges a workload that fits at its autoscaler's maximum in some runs. The autoscaler adds pods to
// a cluster in which the minimum and all other pods run, so it searches all states from there.
func (up scaling) raised(w *workload.Workload, group []*workload.Workload) Scaling {
	least := max(1, model.Certain(w))
	s := up.scene(group).with(w, least)
	more := s.copy(s.of[w], w.Scale.Max-least)
	s.ws = append(s.ws, more)
	out := search.Roll(s.model(nil), certificate.Rollout{Old: s.of[w], Fresh: more, Surge: more.Count.N, Whole: true}, up.options(up.steps))
	switch out.Verdict {
	case diag.Sometimes:
		return Scaling{Answer: out.Verdict, Why: by(model.ByOrder)}
	case diag.Never:
		return Scaling{Answer: out.Verdict, Most: w.Scale.Max - 1, Why: by(model.ByContention)}
	case diag.Always:
		return Scaling{Answer: out.Verdict}
	}
	return Scaling{Answer: diag.Unknown, Why: up.undecided(w)}
}

// waits reports whether contenders that are too many to search can leave a pod Pending at an
// autoscaler's maximum (T25).
func (up scaling) waits(w *workload.Workload) (waits bool) {
	up.aside(func() {
		c := up.crowd(w, w.Scale.Max)
		waits = c != nil && !model.Off("T25") && c.waits(c.of[w])
	})
	return waits
}

// begins finds the smallest pool size at which an autoscaler's maximum fits. If several pools can
// grow for the pods, there is no single answer.
func (up scaling) begins(w *workload.Workload) Scaling {
	s := Scaling{Answer: diag.Unknown, Why: by(model.ByGrowth)}
	e := up.m.Eligible(w)
	var pools []*topology.Pool
	extra := 0
	for i, g := range up.m.Topology.Growth {
		if e.Growth[i].All() && !slices.Contains(pools, g.Node.Pool) {
			pools, extra = append(pools, g.Node.Pool), g.Extra
		}
	}
	if len(pools) != 1 {
		return s
	}
	group := up.groupAtAnySize(w, w.Scale.Max)
	if up.contendersOf(w, w.Scale.Max) != nil || len(up.contendersGrown(w, w.Scale.Max)) > 0 {
		return s
	}
	fits := func(k int) bool {
		scene := up.scene(group).with(w, w.Scale.Max)
		m := up.m.Variant(scene.ws, model.GrownBy(up.m, pools[0], k))
		d := search.Decide(m, up.options(up.steps))
		v := verdict(d, scene.of[w])
		return v == diag.Always || v == diag.Sometimes
	}
	k := sort.Search(extra+1, fits)
	if k > extra {
		return Scaling{Answer: diag.Unknown, Why: by(model.ByLargestSize)}
	}
	s.Pool, s.Size = pools[0].Name, pools[0].Count+k
	s.Why = model.Reason{Cause: model.ByPoolSize, Name: s.Pool, Count: s.Size}
	return s
}

// groupAtAnySize returns the workloads that are judged together with w at any cluster size. A
// node that a pool may add can connect workloads that no declared node connects.
func (j *shared) groupAtAnySize(w *workload.Workload, pods int) []*workload.Workload {
	if !j.m.Topology.Elastic() {
		return nil
	}
	if j.withOneMoreOfEach == nil {
		j.withOneMoreOfEach = j.other(j.m.Variant(j.m.Workloads, search.OneOfEach(j.m)))
	}
	return j.withOneMoreOfEach.contenders(w, pods)
}

// contendersGrown returns the contenders if there are too many to search at some cluster size but
// not on the declared nodes. Otherwise it returns nil.
func (j *shared) contendersGrown(w *workload.Workload, pods int) []*workload.Workload {
	if j.groupAtAnySize(w, pods) == nil || j.contendersOf(w, pods) != nil {
		return nil
	}
	return j.withOneMoreOfEach.contendersOf(w, pods)
}

// grows reports whether some pool can add a node that affects w or a workload that is judged
// together with it.
func (j *shared) grows(w *workload.Workload, pods int) bool {
	return j.Judged(w) && (search.Grows(j.m, j.groupAtAnySize(w, pods)) || search.Grows(j.m, j.contendersGrown(w, pods)))
}

// holdsAtEverySize reports whether the function `yes` returns true at every cluster size with
// `pods` pods of w. If it tries only representative sizes, it calls the function with `every` set
// to false. In that case, the function must return true only if placement alone proves the answer
// for all contending workloads.
func (j *shared) holdsAtEverySize(w *workload.Workload, pods, spare int, yes func(at *shared, group []*workload.Workload, every bool) bool) bool {
	group := j.groupAtAnySize(w, pods)
	sizes := search.SizesOf(j.m, group, spare)
	if !sizes.Known || len(j.contendersGrown(w, pods)) > 0 || !sizes.Every && j.contendersOf(w, pods) != nil {
		return false
	}
	return yes(j, group, sizes.Every) && !slices.ContainsFunc(sizes.All, func(s search.Size) bool {
		at := lazy.Cached(j.bySize, s.ID, func() *shared { return j.other(j.m.Variant(j.m.Workloads, s.Nodes)) })
		return !yes(at, group, sizes.Every)
	})
}

// allMayFit reports whether every workload in a group was kept, so that none was dropped for not
// fitting (see withoutUnfit). At another size a dropped workload might fit and take room from the
// others.
func (j *shared) allMayFit(group []*workload.Workload) bool {
	if len(group) == 1 {
		return true
	}
	_, d := j.scene(group).decide()
	return d.Verdict != diag.Never
}

// atEverySize completes an answer that is Always on the declared nodes. It returns Always if the
// answer is the same at every size, or else Unknown.
func (q *loss) atEverySize(b *search.DomainLoss, meaning certificate.Meaning) answer {
	if q.j.grows(q.w, model.Certain(q.w)) && !q.survives(b, meaning) {
		return answer{verdict: diag.Unknown, why: by(model.ByGrowth)}
	}
	return answer{verdict: diag.Always}
}

// survives reports whether a loss that is harmless on the declared nodes is harmless at every size.
// This includes the loss of nodes that a pool may add. If only representative sizes are tried,
// three more conditions apply. The pods must always be placed on the remaining nodes (T7). Lost
// pods must be recreated. Unreachable nodes must not share domains with other nodes, because their
// pods still count there. None of this matters to pods that are on none of the lost nodes at any
// size.
func (q *loss) survives(b *search.DomainLoss, meaning certificate.Meaning) bool {
	l := certificate.Loss{Meaning: meaning}
	stays := q.j.m.Eligible(q.w).Growable == 0 && !q.room.Hit(b)
	return q.j.holdsAtEverySize(q.w, model.Certain(q.w), 1, func(at *shared, group []*workload.Workload, every bool) bool {
		switch {
		case !every && stays:
			return true // the pods are on none of the lost nodes at any size
		case !every && (!l.Returns(q.w) || meaning == certificate.Unreachable && search.SharesDomains(q.j.m, group)):
			return false
		case at == q.j && every:
			return true
		case at == q.j: // if the lost node was added by a pool, all declared nodes remain
			s := q.j.scene(group)
			_, d := s.decide()
			return verdict(d, s.of[q.w]) == diag.Always && q.placedOnRemaining(group, b, l)
		}
		if !at.Judged(q.w) {
			return false
		}
		o := newLoss(at, q.w, q.key)
		o.free = q.free
		o.pin = o.pinnedTo(q.w)
		return !slices.ContainsFunc(o.kinds.Losses(), func(more *search.DomainLoss) bool {
			return q.covers(b, more) && (o.ask(more, meaning).verdict != diag.Always || !every && !o.placedOnRemaining(group, more, l))
		})
	})
}

// placedOnRemaining reports whether all pods are always placed on the nodes that survive a loss.
func (q *loss) placedOnRemaining(group []*workload.Workload, b *search.DomainLoss, l certificate.Loss) bool {
	s := q.set(group, b, nil).with(b, l, group)
	c := s.of[q.w]
	return verdict(s.without(s.lost), c) == diag.Always && (c.Pin == "" || s.comesBack(c, s.lost))
}

// covers reports whether the answer for the loss b on the declared nodes also covers the loss
// `more` at another cluster size. It does if b represents `more`, or if `more` affects additional
// nodes only.
func (q *loss) covers(b, more *search.DomainLoss) bool {
	like, others := b.Like(), more.Like()
	if slices.ContainsFunc(others, func(name string) bool { return slices.Contains(like, name) }) {
		return true
	}
	return !slices.ContainsFunc(q.j.m.Topology.Nodes, func(n *topology.Node) bool { return slices.Contains(others, n.Name) })
}
