package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// DaemonSetsFirst adds to a decision the verdicts that hold if each DaemonSet pod is placed before
// other pods on its node, where they differ from the verdicts for every order (T26). The assumption
// also settles verdicts for every order: a run under it is a run, and in a run that places all
// pods, the DaemonSet pods can as well come first.
func DaemonSetsFirst(m *model.Model, d *certificate.Decision, o Options) {
	if model.Off("T26") || d.Verdict != diag.Sometimes && d.Verdict != diag.Unknown {
		return
	}
	var first *model.DaemonSetsFirst
	if !m.Run().Within(m.Altogether(), func() { first = m.DaemonSetsFirst() }) || first == nil {
		return
	}
	// In some runs of first, the pods of other DaemonSets are not placed first.
	others := slices.ContainsFunc(first.Workloads, func(w *workload.Workload) bool { return w.Kind.PerNode() && model.Modelled(first.Group(w)) })
	e := Decide(first.Model, o)
	verdicts := map[*workload.Workload]diag.Outcome{}
	for _, w := range first.LeftOut {
		verdicts[w] = diag.Always
	}
	for i := range e.Workloads {
		verdicts[first.Original(e.Workloads[i].Workload)] = e.Workloads[i].Verdict
	}
	compare := func(any *diag.Outcome, then diag.Outcome) diag.Outcome {
		if *any == diag.Unknown && then == diag.Sometimes {
			*any = then
		}
		if *any == diag.Never || *any == then || then == diag.Unknown || then == diag.Sometimes && others {
			return ""
		}
		return then
	}
	for i := range d.Workloads {
		w := &d.Workloads[i]
		if w.Why.Cause == model.Waits {
			continue
		}
		if w.DaemonSetsFirst = compare(&w.Verdict, verdicts[w.Workload]); w.Verdict != diag.Unknown {
			w.Why = model.Reason{}
		}
	}
	if e.Verdict == diag.Never {
		d.Verdict, d.MaxPlaced = diag.Never, min(d.MaxPlaced, d.Total-1)
		d.Short = append(d.Short, shortBeside(d, e, first)...)
	}
	if d.DaemonSetsFirst = compare(&d.Verdict, e.Verdict); d.Verdict == diag.Sometimes && d.Stuck == nil && e.Stuck != nil && d.Chosen == nil {
		d.Stuck = unshrunk(m, first, e.Stuck)
	}
}

// shortBeside returns the components of a decision for DaemonSets first, with the DaemonSets whose pods
// are already placed there.
func shortBeside(d, e *certificate.Decision, first *model.DaemonSetsFirst) (all []certificate.Short) {
	for _, s := range e.Short {
		in := lists.Set(first.LeftOut)
		for _, w := range s.Workloads {
			in[first.Original(w)] = true
		}
		short := certificate.Short{}
		for i := range d.Workloads {
			if w := &d.Workloads[i]; in[w.Workload] {
				short.Workloads, short.Pods = append(short.Workloads, w.Workload), short.Pods+w.Pods
			}
		}
		short.Most = short.Pods - 1
		all = append(all, short)
	}
	return all
}

// unshrunk returns a run of a model without some DaemonSets as a run that places their pods first.
func unshrunk(m *model.Model, first *model.DaemonSetsFirst, s *certificate.Stuck) *certificate.Stuck {
	out := &certificate.Stuck{Pending: slices.Clone(s.Pending)}
	for i := range out.Pending {
		out.Pending[i].Workload = first.Original(out.Pending[i].Workload)
	}
	for _, w := range first.LeftOut {
		for n, grown := range m.Usable(w) {
			if !grown {
				out.Placements = append(out.Placements, certificate.Placed{Workload: w, Node: n})
			}
		}
	}
	for _, p := range s.Placements {
		if n, ok := m.IndexOf(p.Node.Name); ok {
			out.Placements = append(out.Placements, certificate.Placed{Workload: first.Original(p.Workload), Node: m.Topology.Nodes[n]})
		}
	}
	if err := certificate.CheckerOf(m).Certify(m.Permanent(), out); err != nil {
		m.Run().Refuse(m.Workloads, err)
		return nil
	}
	return out
}
