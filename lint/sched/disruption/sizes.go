package disruption

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// groupAtAnySize returns the workloads with which one is judged at any size of the cluster: a
// node that a pool may gain can connect workloads that no declared node does.
func (j *shared) groupAtAnySize(w *workload.Workload, pods int) []*workload.Workload {
	if !j.m.Topology.Elastic() {
		return nil
	}
	if j.withOneMoreOfEach == nil {
		j.withOneMoreOfEach = j.other(j.m.Variant(j.m.Workloads, search.OneOfEach(j.m)))
	}
	return j.withOneMoreOfEach.contenders(w, pods)
}

// contendersGrown returns the crowd that may arise at some size, if the declared nodes have no
// crowd.
func (j *shared) contendersGrown(w *workload.Workload, pods int) []*workload.Workload {
	if j.groupAtAnySize(w, pods) == nil || j.contendersOf(w, pods) != nil {
		return nil
	}
	return j.withOneMoreOfEach.contendersOf(w, pods)
}

// grows reports whether some pool may grow by a node that makes a difference to a
// workload or to those with which it is judged.
func (j *shared) grows(w *workload.Workload, pods int) bool {
	return j.Judged(w) && (search.Grows(j.m, j.groupAtAnySize(w, pods)) || search.Grows(j.m, j.contendersGrown(w, pods)))
}

// holdsAtEverySize reports whether the answer about so many pods of a workload is yes at every size of
// the cluster. If only a few sizes represent the rest, `every` is false, and the yes has to
// rest on placement alone, for all workloads that contend.
func (j *shared) holdsAtEverySize(w *workload.Workload, pods, spare int, yes func(at *shared, group []*workload.Workload, every bool) bool) bool {
	group := j.groupAtAnySize(w, pods)
	sizes := search.SizesOf(j.m, group, spare)
	if !sizes.Known || len(j.contendersGrown(w, pods)) > 0 || !sizes.Every && j.contendersOf(w, pods) != nil {
		return false
	}
	return yes(j, group, sizes.Every) && !slices.ContainsFunc(sizes.All, func(s search.Size) bool {
		at := cached(j.bySize, s.ID, func() *shared { return j.other(j.m.Variant(j.m.Workloads, s.Nodes)) })
		return !yes(at, group, sizes.Every)
	})
}

// allMayFit reports whether no workload of a group is left out because it does not fit (see
// sound): at another size it may fit, and take room from the others.
func (j *shared) allMayFit(group []*workload.Workload) bool {
	if len(group) == 1 {
		return true
	}
	_, d := j.scene(group).decide()
	return d.Verdict != diag.Never
}

// atEverySize returns the answer to a question that is Always on the declared nodes: Always
// at every size, or Unknown.
func (q *loss) atEverySize(b *search.DomainLoss, meaning certificate.Meaning) answer {
	if q.j.grows(q.w, model.Certain(q.w)) && !q.survives(b, meaning) {
		return answer{verdict: diag.Unknown, why: by(model.ByGrowth)}
	}
	return answer{verdict: diag.Always}
}

// survives reports whether the outcome of a loss on the declared nodes holds at every
// size, including the loss of nodes that a pool may gain. If only some sizes are tried,
// more is required: with hereditary rules pods survive if they are always placed on the
// remaining nodes (T7), which a few sizes decide. Pods that are not recreated must not be
// able to use additional nodes, and unreachable nodes keep refusing pods in the domains
// that they share with others.
func (q *loss) survives(b *search.DomainLoss, meaning certificate.Meaning) bool {
	l := certificate.Loss{Meaning: meaning}
	stays := q.j.m.Eligible(q.w).Growable == 0 && !q.room.Hit(b)
	return q.j.holdsAtEverySize(q.w, model.Certain(q.w), 1, func(at *shared, group []*workload.Workload, every bool) bool {
		switch {
		case !every && stays:
			return true // its pods are on none of the lost nodes at any size
		case !every && (!l.Recreated(q.w) || meaning == certificate.Unreachable && search.SharesDomains(q.j.m, group)):
			return false
		case at == q.j && every:
			return true
		case at == q.j: // all declared nodes remain if the lost node is one that a pool gained
			s := q.j.scene(group)
			_, d := s.decide()
			return verdict(d, s.of[q.w]) == diag.Always && q.placedOnRemaining(group, b, l)
		}
		o := newLoss(at, q.w, q.key)
		return !slices.ContainsFunc(o.kinds.Losses(), func(more *search.DomainLoss) bool {
			return q.covers(b, more) && (o.ask(more, meaning).verdict != diag.Always || !every && !o.placedOnRemaining(group, more, l))
		})
	})
}

// placedOnRemaining reports whether all pods are always placed on the nodes that a loss leaves.
func (q *loss) placedOnRemaining(group []*workload.Workload, b *search.DomainLoss, l certificate.Loss) bool {
	s := q.set(group, b, l)
	return verdict(s.without(s.lost), s.of[q.w]) == diag.Always
}

// covers reports whether a loss on the declared nodes answers for one at another size: it
// represents that loss, or the other is of additional nodes only.
func (q *loss) covers(b, more *search.DomainLoss) bool {
	like, others := b.Like(), more.Like()
	if slices.ContainsFunc(others, func(name string) bool { return slices.Contains(like, name) }) {
		return true
	}
	return !slices.ContainsFunc(q.j.m.Topology.Nodes, func(n *topology.Node) bool { return slices.Contains(others, n.Name) })
}
