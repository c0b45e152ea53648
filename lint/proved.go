package lint

import (
	"cmp"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// proved holds the answers about a workload in all its contexts so far.
type proved struct {
	fits, rolls, drains diag.Outcome
	single              bool
}

// eachWorkloads is the maximum number of workloads in a context in which lint asks about each of them that
// the decision about all leaves open. Only place asks in larger contexts.
const eachWorkloads = 200

// prove adds the answers about the workloads of a context to those of its cluster. The facts already
// say how rollouts and drains end. If rollouts show that the pods of all workloads fit, there is
// nothing left to decide.
func (r *run) prove(s *scene, f *derive.Built) {
	all := s.cluster.proved
	if s.nodes.Empty() || all == nil {
		return
	}
	fits, open := map[*workload.Workload]diag.Outcome{}, false
	for _, w := range s.set.Workloads {
		rolls, drains, placed := f.Decisions().Changes(w.Object.ID())
		switch {
		case w.Copy || w.Superseded || w.Running || w.Refused():
			continue
		case w.Finite() || w.Count.Known && model.Certain(w) == 0 && !w.Kind.PerNode():
			rolls, drains = diag.None, diag.None
		}
		fits[w] = diag.Always
		open = open || !placed || w.Kind.PerNode()
		old, known := all[w.Object]
		if !known {
			old = proved{fits: diag.None, rolls: diag.None, drains: diag.None}
		}
		single := !w.Kind.PerNode() && !w.Finite() && w.Count.Known && model.Certain(w) == 1
		all[w.Object] = proved{old.fits, old.rolls.Worse(rolls), old.drains.Worse(drains), old.single || single}
	}
	if open {
		verdicts := map[*workload.Workload]diag.Outcome{}
		for _, w := range s.decide(s.model).Workloads {
			verdicts[w.Workload] = w.Verdict
		}
		for w := range fits {
			fits[w] = cmp.Or(verdicts[w], diag.Unknown)
		}
	}
	for w, fit := range fits {
		p := all[w.Object]
		p.fits = p.fits.Worse(fit)
		all[w.Object] = p
	}
}

// proved adds the answers about the workloads of a cluster to the summary.
func (s *summary) proved(all map[*source.Object]proved) {
	if !s.TopologyDeclared {
		return
	}
	if s.Proved == nil {
		s.Proved = &diag.Proved{Fit: map[diag.Outcome]int{}, Roll: map[diag.Outcome]int{}, Drain: map[diag.Outcome]int{}}
	}
	for _, p := range all {
		s.Proved.Workloads++
		s.Proved.Fit[p.fits]++
		s.Proved.Roll[p.rolls]++
		s.Proved.Drain[p.drains]++
		if p.single {
			s.Proved.SingleReplica++
		}
	}
}
