package search

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Unlisted returns the extended resources that the pods of a workload request and that no
// node and no pool of the topology lists, sorted: whether the pods fit on a node that
// they may use, and that lists other resources, is not known (R-N27).
func Unlisted(m *model.Model, w *workload.Workload) []corev1.ResourceName {
	var names []corev1.ResourceName
	for i := range m.Groups[w].Requests {
		if r := &m.Groups[w].Requests[i]; model.Extended(r.Name) && r.Name != workload.KVM && !r.Kubelet && opens(m, w, r) {
			names = append(names, r.Name)
		}
	}
	return names
}

// opens reports whether some node that the pods may use lists resources, while none lists
// this one.
func opens(m *model.Model, w *workload.Workload, r *model.Request) bool {
	for n := range m.Usable(w) {
		if n.Allocatable != nil && !n.Extended.Known(r.Name) {
			return true
		}
	}
	return false
}

// withhold withdraws what was decided about components with pods that request a resource
// which no node lists. The decision took it for unlimited, so an upper bound holds and a
// never stays. Such pods may also be placed nowhere, so for the others only results stay
// that hold whether they are in place or not: an always by a proof that looks at no order
// (see certificate.Decision.Lasting), if none of the others needs or counts them.
func (d *decided) withhold() {
	for i := range d.outcomes {
		o := &d.outcomes[i]
		open := d.a.unlisted(o)
		if len(open) == 0 {
			continue
		}
		lasting := o.decided && o.always && (o.proof.Kind == certificate.Shape || o.proof.Kind == certificate.Headroom) && !d.a.leans(o, open)
		o.unsure, o.exact, o.always, o.least = true, false, false, 0
		o.decided = o.decided && o.never
		o.best, o.worst = nil, nil
		for k, w := range o.owners {
			if !lasting || open[w] {
				o.ownLeast[k] = 0
			}
			o.least += o.ownLeast[k]
		}
	}
}

// unlisted returns the owners of pods in a component that request a resource which no
// node lists, and records a doubt for each.
func (a *instance) unlisted(o *outcome) map[*workload.Workload]bool {
	var open map[*workload.Workload]bool
	for k, i := range o.units {
		names := Unlisted(a.m, a.units[i].g.Workload)
		if owner := o.owners[o.owner[k]]; len(names) > 0 && !open[owner] {
			if open == nil {
				open = map[*workload.Workload]bool{}
			}
			open[owner] = true
			a.doubts = append(a.doubts, model.Doubt{Workload: owner, Resource: names[0]})
		}
	}
	return open
}

// leans reports whether other pods in a component need or count those of the given
// owners.
func (a *instance) leans(o *outcome, on map[*workload.Workload]bool) bool {
	among := func(l located) bool { return on[a.units[l.unit].g.Origin()] }
	for _, i := range o.units {
		u := a.units[i]
		if on[u.g.Origin()] {
			continue
		}
		for _, c := range u.spreads {
			if slices.ContainsFunc(c.watch, among) {
				return true
			}
		}
		if slices.ContainsFunc(u.company, among) {
			return true
		}
	}
	return false
}

// setUnlistedReasons sets the reason of unknown verdicts that depend on a resource which no node
// lists.
func setUnlistedReasons(d *certificate.Decision, m *model.Model) {
	first := map[*workload.Workload]model.Reason{} // of a component, by its first workload
	for i := range d.Workloads {
		w := &d.Workloads[i]
		if w.Verdict != diag.Unknown {
			continue
		}
		if names := Unlisted(m, w.Workload); len(names) > 0 {
			w.Why = model.Reason{Cause: model.ByResource, Name: string(names[0])}
			continue
		}
		group := d.Groups[w.Workload]
		if len(group) == 0 {
			continue
		}
		why, known := first[group[0]]
		if !known {
			why = firstUnlisted(m, group)
			first[group[0]] = why
		}
		if why.Workload != nil {
			w.Why = why
		}
	}
}

// firstUnlisted returns the first resource that workloads request and no node lists; its
// Workload is nil if there is none.
func firstUnlisted(m *model.Model, ws []*workload.Workload) model.Reason {
	for _, w := range ws {
		if names := Unlisted(m, w); len(names) > 0 {
			return model.Reason{Cause: model.ByResource, Name: string(names[0]), Workload: w}
		}
	}
	return model.Reason{}
}
