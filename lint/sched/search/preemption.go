package search

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Preemption changes the verdicts of a decision that depend on declared priorities (T34): pods that
// find no node may preempt pods of lower priority, which then have to find another one.
func Preemption(m *model.Model, d *certificate.Decision, o Options) {
	ranked := func(w *workload.Workload) bool { return w.Priority.Known && w.Priority.Value != 0 }
	if len(m.RunningOnes())+len(m.Apart)+len(d.Chosen) > 0 || !slices.ContainsFunc(m.Workloads, ranked) {
		return
	}
	p := preemption{m, d, o, map[int64]*certificate.Decision{}, map[*workload.Workload]certificate.WorkloadDecision{}}
	if !m.Run().Within(m.Altogether(), p.decide) || len(p.then) == 0 {
		return
	}
	all, least := true, 0
	for i := range d.Workloads {
		w := &d.Workloads[i]
		if then, changed := p.then[w.Workload]; changed {
			*w = then
			if then.Verdict == diag.Unknown && d.Verdict == diag.Sometimes {
				d.Verdict = diag.Unknown
			}
		}
		if all, least = all && w.Verdict == diag.Always, least+w.MinPlaced; w.Verdict == diag.Never {
			d.Verdict = diag.Never
		}
	}
	d.MinPlaced, d.Stuck, d.DaemonSetsFirst = max(d.MinPlaced, min(least, d.MaxPlaced)), nil, ""
	if all {
		d.Verdict = diag.Always
	} else {
		d.Witness = nil // other pods may preempt its pods
	}
}

type preemption struct {
	m       *model.Model
	d       *certificate.Decision
	options Options
	above   map[int64]*certificate.Decision                     // without the pods of lower priority
	then    map[*workload.Workload]certificate.WorkloadDecision // the verdicts that change
}

func (p *preemption) decide() {
	for _, w := range p.d.Workloads {
		if (w.Verdict == diag.Sometimes || w.Verdict == diag.Unknown) && p.preempts(&w) {
			w.Preempts, w.Verdict, w.DaemonSetsFirst, w.Why, w.MinPlaced, w.MaxPlaced = true, diag.Always, "", model.Reason{}, w.Pods, w.Pods
			p.then[w.Workload] = w
		}
	}
	for _, w := range p.d.Workloads {
		group := p.d.Groups[w.Workload]
		if w.Verdict == diag.Never || p.then[w.Workload].Preempts {
			continue
		}
		// first lists w and the workloads of higher priority whose pods all run in the end. loses is set if
		// pods of w may be preempted.
		first, loses := []*workload.Workload{w.Workload}, false
		for _, o := range p.d.Workloads {
			switch preempts := p.then[o.Workload].Preempts; {
			case !outranks(o.Workload, w.Workload) || !slices.Contains(group, o.Workload):
			case preempts || o.Verdict == diag.Always && Hereditary(p.m, group):
				first, loses = append(first, o.Workload), loses || preempts && !o.Workload.Kind.PerNode()
			default:
				loses = loses || o.Verdict != diag.Always && !o.Workload.Priority.Waits && !o.Workload.Kind.PerNode()
			}
		}
		if w.Verdict == diag.Always && (!loses || Hereditary(p.m, group)) {
			continue
		}
		if loses && !Hereditary(p.m, group) {
			w.MinPlaced = 0
		}
		if w.Verdict != diag.Always && len(first) > 1 && !w.Workload.Finite() && Hereditary(p.m, first) {
			if e := Decide(p.m.Beside(first), p.options); e.Verdict == diag.Never {
				w.Verdict, w.DaemonSetsFirst, w.Why = diag.Never, "", model.Reason{Cause: model.ByPreemption}
				w.MaxPlaced = max(w.MinPlaced, min(w.MaxPlaced, w.Pods-1, e.MaxPlaced-(e.Total-w.Pods)))
				p.then[w.Workload] = w
				continue
			}
		}
		if loses && !(Hereditary(p.m, group) && p.shares(&w)) {
			w.Verdict, w.DaemonSetsFirst, w.Why = diag.Unknown, "", model.Reason{Cause: model.ByPreemption}
			p.then[w.Workload] = w
		}
	}
}

// shares reports whether the pods of a workload are sometimes placed beside those of equal or higher
// priority, where all of higher priority always are. Pods of lower priority make no difference then.
func (p *preemption) shares(w *certificate.WorkloadDecision) bool {
	e := p.notBelow(w.Workload)
	group := e.Groups[w.Workload]
	return !slices.ContainsFunc(e.Workloads, func(o certificate.WorkloadDecision) bool {
		if o.Workload == w.Workload {
			return o.Verdict != diag.Sometimes
		}
		return o.Verdict != diag.Always && o.Workload.MayPreempt(w.Workload) && slices.Contains(group, o.Workload)
	})
}

// notBelow decides without the pods of lower priority than those of w.
func (p *preemption) notBelow(w *workload.Workload) *certificate.Decision {
	return lazy.Cached(p.above, w.Priority.Value, func() *certificate.Decision {
		o := p.options
		o.Each = true
		return Decide(p.m.Beside(slices.DeleteFunc(slices.Clone(p.m.Workloads), func(o *workload.Workload) bool { return outranks(w, o) })), o)
	})
}

// preempts reports whether all pods of a workload run in the end because they preempt pods of lower
// priority. Without these, every run places them, and no rule between the two looks beyond a node.
// Where a rule is not hereditary, this must hold for all pods that are left, and none of them may
// preempt another.
func (p *preemption) preempts(w *certificate.WorkloadDecision) bool {
	lower := func(o *workload.Workload) bool { return outranks(w.Workload, o) }
	if !p.mayTake(w.Workload, lower) || w.Workload.Finite() || w.Contested != nil || !slices.ContainsFunc(p.m.Workloads, lower) { // also those that take no part in decisions
		return false
	}
	e := p.notBelow(w.Workload)
	i := slices.IndexFunc(e.Workloads, func(o certificate.WorkloadDecision) bool { return o.Workload == w.Workload })
	group := e.Groups[w.Workload]
	return i >= 0 && e.Workloads[i].Verdict == diag.Always && (Hereditary(p.m, group) || !slices.ContainsFunc(group, func(o *workload.Workload) bool {
		return !p.mayTake(o, lower) || slices.ContainsFunc(group, o.MayPreempt)
	}))
}

// outranks reports whether the pods of w surely have a higher priority than those of o.
func outranks(w, o *workload.Workload) bool {
	return w.Priority.Known && o.Priority.Known && w.Priority.Value > o.Priority.Value
}

// mayTake reports whether pods of w may preempt others, and a node takes them once it has no pods of
// certain workloads.
func (p *preemption) mayTake(w *workload.Workload, from func(*workload.Workload) bool) bool {
	m, g := p.m, p.m.Group(w)
	m.Run().Spend(1 + len(m.Workloads)/model.PerStep)
	byNode := func(t *model.Term, owner, target *workload.Workload) bool {
		return m.Peer(t, owner, target) == model.No || t.Use == model.AntiAffinity && (t.Key == corev1.LabelHostname || !m.Topology.Elastic()) && m.NodeByNode(t.Key, nil)
	}
	return !w.Priority.Waits && w.Spec.NodeName == "" && !slices.ContainsFunc(g.Requests, func(r model.Request) bool { return topology.CountsVolumes(r.Name) }) &&
		!slices.ContainsFunc(m.Workloads, func(o *workload.Workload) bool {
			if !from(o) {
				return false
			}
			for t := range g.HardTerms() {
				if !byNode(t, w, o) {
					return true
				}
			}
			for t := range m.Group(o).Hard(model.AntiAffinity) {
				if !byNode(t, o, w) {
					return true
				}
			}
			return false
		})
}
