package disruption

import (
	"errors"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// Spacious reports whether counting alone proves that a rollout completes.
func (j *Judge) Spacious(w *workload.Workload, r Rollout) bool {
	u := j.updates
	group := u.contenders(w, r.Replicas)
	return u.spacious(w, u.assembled(group).Roster, u.contendersOrGroup(group, u.contendersOf(w, r.Replicas)), &r)
}

// Counted returns the verdict that counting alone gives on a rollout, whatever other pods request.
func (j *Judge) Counted(w *workload.Workload, r Rollout) diag.Outcome {
	return j.updates.counted(w, j.updates.group(w, false), &r)
}

// WithoutDaemonSets returns the verdict on a rollout while the pods of DaemonSets stay where they are,
// or "" if there are no such DaemonSets.
func (j *Judge) WithoutDaemonSets(w *workload.Workload, r Rollout) diag.Outcome {
	s := j.updates.withoutDaemonSets()
	if s == nil || s.of[w] == nil {
		return ""
	}
	if out := (updates{shared: s.shared}).judgeOnDeclared(s.of[w], r.Rollout, r.Replicas); !out.beside {
		return out.Verdict
	}
	return diag.Unknown
}

// LossesWithoutDaemonSets returns pairs of verdicts on losses and drains: with all workloads, and while
// the pods of DaemonSets stay where they are. The second is Always or Unknown.
func (j *Judge) LossesWithoutDaemonSets(w *workload.Workload, key string) (pairs [][2]diag.Outcome) {
	if j.evictions.withoutDaemonSets() == nil || !j.Judged(w) {
		return nil
	}
	q := newLoss(j.evictions.shared, w, key)
	for _, b := range q.kinds.Losses() {
		for _, meaning := range []certificate.Meaning{certificate.Gone, certificate.Unreachable, certificate.Drained} {
			if l := (certificate.Loss{Meaning: meaning}); q.mayHit(b) && !q.doubt(l).Given() {
				without := diag.Unknown
				if q.settledWithout(b, l) {
					without = diag.Always
				}
				all := newLoss(j.evictions.shared, w, key)
				all.j.settled = new(*daemonless)
				pairs = append(pairs, [2]diag.Outcome{all.settle(b, l).verdict, without})
				all.j.settled = nil
			}
		}
	}
	return pairs
}

// Follows returns what runs that are followed through a loss show about w (T25).
func (j *Judge) Follows(w *workload.Workload, s *Survival, nodes []string) diag.Outcome {
	l := certificate.Loss{Meaning: s.Meaning}
	c := j.evictions.crowdOf(w, model.Certain(w))
	if c == nil || slices.ContainsFunc(c.ws, l.Tolerates) || !c.atOnce(&l) {
		return diag.Unknown
	}
	return c.follow(c.of[w], l, nodes).verdict
}

// FollowsRollout returns what runs of a rollout of w show (T25).
func (j *Judge) FollowsRollout(w *workload.Workload, r *Rollout) diag.Outcome {
	out := Rollout{Rollout: r.Rollout, Replicas: r.Replicas, Verdict: diag.Unknown}
	j.updates.followRollout(w, &out)
	return out.Verdict
}

// Run is a run with a change. Whole is the number of moves that place all pods before it.
type Run struct {
	Moves []certificate.Move
	Whole int
	Check func([]certificate.Move) error
	m     *model.Model
}

// Needs reports whether the state before the change needs one of the moves: without it, some node
// takes its pod.
func (r Run) Needs(move int) bool {
	b, all := search.NewBoard(r.m), map[*workload.Workload]int{}
	for i, u := range b.Units() {
		all[u.Group.Workload] = i
	}
	for i, x := range r.Moves[:r.Whole] {
		if n, _ := r.m.IndexOf(x.Node.Name); i != move {
			b.Move(all[x.Workload], n, 1)
		}
	}
	unit := all[r.Moves[move].Workload]
	return slices.ContainsFunc(b.Units()[unit].Nodes, func(n int32) bool { return b.Takes(unit, int(n)) })
}

// Runs returns runs with the loss of the first node by meaning, and a run of a rollout of w.
func (j *Judge) Runs(w *workload.Workload) map[string]Run {
	all := map[string]Run{}
	whole := func(run []certificate.Move, other *workload.Workload) int {
		i := slices.IndexFunc(run, func(x certificate.Move) bool { return x.Gone || x.Workload == other })
		if i < 0 {
			return len(run)
		}
		return i
	}
	c := j.evictions.crowdOf(w, model.Certain(w))
	for _, meaning := range []certificate.Meaning{certificate.Gone, certificate.Unreachable, certificate.Drained} {
		l := certificate.Loss{Meaning: meaning}
		if c == nil || slices.ContainsFunc(c.ws, l.Tolerates) || !c.atOnce(&l) {
			continue
		}
		c.follow(c.of[w], l, []string{c.m.Topology.Nodes[0].Name})
		for _, f := range c.followed {
			run := f.good[c.of[w]]
			if _, err := certificate.CheckerOf(c.m).Follow(c.m, f.loss, run); run != nil && f.loss.Meaning == meaning && err == nil {
				all[string(meaning)] = Run{run, whole(run, nil), func(run []certificate.Move) error {
					missing, err := certificate.CheckerOf(c.m).Follow(c.m, f.loss, run)
					if _, ran := missing[c.of[w]]; err == nil && !ran {
						return errors.New("not all of the pods ran before the loss")
					}
					return err
				}, c.m}
			}
		}
	}
	r := j.Rollouts(w)[0]
	if x := j.updates.runsOf(w, &r); x != nil && r.Way == workload.Rolling && x.good != nil {
		all["rollout"] = Run{x.good, whole(x.good, x.ask.Fresh), func(run []certificate.Move) error {
			_, _, err := certificate.CheckerOf(x.m).FollowRoll(x.m, x.ask, run)
			return err
		}, x.m}
	}
	return all
}

// Waits reports whether a run leaves pods of w Pending (T25).
func (j *Judge) Waits(w *workload.Workload) bool {
	all := j.evictions.everyone(w, model.Certain(w))
	if len(all) == 0 || len(j.evictions.running) > 0 || !search.Hereditary(j.updates.m, []*workload.Workload{w}) {
		return false
	}
	c := j.evictions.newCrowd(all, w, model.Certain(w))
	return c != nil && c.waits(c.of[w])
}

// Recovers reports whether the proofs of the decision in use settle a loss (T27).
func (j *Judge) Recovers(w *workload.Workload, l *Survival, nodes []string) bool {
	return newLoss(j.evictions.shared, w, l.Key).recovers(nodes, certificate.Loss{Meaning: l.Meaning})
}

// Workloads returns the workloads of the model.
func (j *Judge) Workloads() []*workload.Workload { return j.updates.m.Workloads }
