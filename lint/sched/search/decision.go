package search

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// join replaces the single-pod workloads created by model.Split with the original workloads.
func join(d *certificate.Decision, parts *model.Model) {
	whole := func(w *workload.Workload) *workload.Workload {
		if g := parts.Groups[w]; g != nil {
			return g.Origin()
		}
		return w // it takes no part
	}
	for i := range d.Witness {
		d.Witness[i].Workload = whole(d.Witness[i].Workload)
	}
	for i := range d.Doubts {
		if d.Doubts[i].Resource == "" { // doubts about a resource already name their owner
			d.Doubts[i].Workload, d.Doubts[i].Target = whole(d.Doubts[i].Workload), whole(d.Doubts[i].Target)
		}
	}
	if d.Stuck == nil {
		return
	}
	for i := range d.Stuck.Placements {
		d.Stuck.Placements[i].Workload = whole(d.Stuck.Placements[i].Workload)
	}
	var pending []certificate.Pending
	for _, p := range d.Stuck.Pending {
		p.Workload = whole(p.Workload)
		if last := len(pending) - 1; last >= 0 && pending[last].Workload == p.Workload {
			pending[last].Count += p.Count // the first entry explains all of them
			continue
		}
		pending = append(pending, p)
	}
	d.Stuck.Pending = pending
}

// decision assembles the verdicts on the workloads of m.
func (d *decided) decision(m *model.Model, rules *decided) *certificate.Decision {
	out := &certificate.Decision{Verdict: d.whole(), RulesVerdict: rules.whole(), Exact: true, Groups: map[*workload.Workload][]*workload.Workload{}, Brief: map[*workload.Workload]bool{}}
	stuck := false
	for i := range d.outcomes {
		o := &d.outcomes[i]
		owners := unmerge(d.a.m, o.owners)
		for _, w := range owners {
			out.Groups[w] = owners
			out.Brief[w] = out.Brief[w] || o.proof.NeedsPeers || o.proof.Kind != certificate.Shape && o.proof.Kind != certificate.Headroom
		}
		out.Total += o.pods
		out.MaxPlaced += o.most
		out.MinPlaced += o.least
		out.Exact = out.Exact && o.exact
		out.Witness = append(out.Witness, deal(d.a.m, d.a.placed(o.best))...)
		stuck = stuck || o.decided && len(o.worst) < o.pods
	}
	out.Describe(d.proofs, d.seeker(), d.a.contend)
	out.Doubts, out.Over = d.a.doubts, d.overruns()
	mine, ruled := d.tallies(), rules.tallies()
	most := 0 // the largest number of pods that the rules alone allow
	for i := range rules.outcomes {
		most += rules.outcomes[i].most
	}
	out.MaxPlaced = min(out.MaxPlaced, most)
	out.Short = rules.short(d.short(nil))
	if out.RulesVerdict == diag.Never {
		out.Verdict = diag.Never
	}
	doubts := &doubtsOf{all: out.Doubts, first: map[*workload.Workload]int{}, groups: map[*workload.Workload]model.Cause{}}
	for i, x := range out.Doubts {
		if _, known := doubts.first[x.Workload]; !known {
			doubts.first[x.Workload] = i
		}
	}
	for g := range m.Placeable() {
		w, t := g.Workload, mine[g.Workload]
		t.most = min(t.most, ruled[w].most) // resources never permit what the rules forbid
		verdict := certificate.WorkloadDecision{
			Workload: w, Pods: t.pods, Verdict: t.verdict(), RulesVerdict: ruled[w].verdict(), MaxPlaced: t.most, MinPlaced: t.least,
		}
		if verdict.Verdict == diag.Unknown {
			verdict.Why.Cause = doubts.cause(out.Groups[w], w, t)
		}
		out.Workloads = append(out.Workloads, verdict)
	}
	// If any component is undecided, a stuck run of the other components is not maximal for the
	// whole model.
	if stuck && !slices.ContainsFunc(d.outcomes, func(o outcome) bool { return !o.decided || o.unsure }) {
		out.Stuck = d.stuck()
	}
	return out
}

// short adds the components whose pods can never all be placed to a list. It skips a component if one of
// its workloads is already listed.
func (d *decided) short(all []certificate.Short) []certificate.Short {
	in := map[*workload.Workload]bool{}
	for i := range all {
		maps.Copy(in, lists.Set(all[i].Workloads))
	}
	for i := range d.outcomes {
		o := &d.outcomes[i]
		owners := unmerge(d.a.m, o.owners)
		if o.never && !slices.ContainsFunc(owners, func(w *workload.Workload) bool { return in[w] }) {
			all = append(all, certificate.Short{Workloads: owners, Pods: o.pods, Most: min(o.most, o.pods-1)})
		}
	}
	return all
}

// doubtsOf lists all doubts about the rules. first maps each workload to its first doubt, as an
// index into all.
type doubtsOf struct {
	all   []model.Doubt
	first map[*workload.Workload]int
	// groups caches the cause for a component's workloads, keyed by the first of them.
	groups map[*workload.Workload]model.Cause
}

// cause returns why the verdict on a workload is unknown: a certificate failed, the component is
// too large, the budget ran out, or else a rule of the workload or of another workload in its group
// is in doubt.
func (d *doubtsOf) cause(group []*workload.Workload, w *workload.Workload, t tally) model.Cause {
	switch {
	case t.refuted:
		return model.ByFault
	case !t.unsure && t.large:
		return model.BySize
	case !t.unsure:
		return model.ByBudget
	}
	if i, own := d.first[w]; own {
		return d.all[i].Cause()
	}
	if len(group) == 0 {
		return model.ByLabel
	}
	return lazy.Cached(d.groups, group[0], func() model.Cause {
		first := len(d.all)
		for _, o := range group {
			if i, doubtful := d.first[o]; doubtful {
				first = min(first, i)
			}
		}
		if first == len(d.all) {
			return model.ByLabel
		}
		return d.all[first].Cause()
	})
}

func (d *decided) overruns() []certificate.Overrun {
	var all []certificate.Overrun
	for i := range d.outcomes {
		if o := &d.outcomes[i]; !o.decided && !o.unsure {
			cause := model.ByBudget
			switch {
			case o.refuted:
				cause = model.ByFault
			case o.large && !o.spent:
				cause = model.BySize
			}
			all = append(all, certificate.Overrun{Workloads: unmerge(d.a.m, o.owners), Pods: o.pods, Cause: cause})
		}
	}
	return all
}

// stuck concatenates the worst runs of all components. The checker later adds why the remaining
// pods fit nowhere.
func (d *decided) stuck() *certificate.Stuck {
	s := &certificate.Stuck{}
	got := map[*workload.Workload]int{}
	for _, o := range d.outcomes {
		for _, p := range deal(d.a.m, d.a.placed(o.worst)) {
			s.Placements = append(s.Placements, p)
			got[p.Workload]++
		}
	}
	pods := map[*workload.Workload]int{}
	for _, u := range d.a.units {
		if !u.g.Running {
			pods[u.g.Workload] += u.pods
			for _, w := range d.a.m.Members[u.g.Workload] {
				pods[w] = w.Count.N
			}
		}
	}
	for _, w := range unmerge(d.a.m, d.a.m.Workloads) {
		if got[w] < pods[w] {
			s.Pending = append(s.Pending, certificate.Pending{Workload: w, Count: pods[w] - got[w]})
		}
	}
	return s
}

// Unlisted returns, in sorted order, the extended resources that the workload's pods request but no
// node or pool in the topology lists. If the pods may use a node that lists other resources, it is
// unknown whether they fit there (R-N27).
func Unlisted(m *model.Model, w *workload.Workload) []corev1.ResourceName {
	var names []corev1.ResourceName
	for i := range m.Groups[w].Requests {
		if r := &m.Groups[w].Requests[i]; model.Extended(r.Name) && r.Name != workload.KVM && !r.Kubelet && opens(m, w, r) {
			names = append(names, r.Name)
		}
	}
	return names
}

// opens reports whether some node that the pods may use lists resources, but not this one.
func opens(m *model.Model, w *workload.Workload, r *model.Request) bool {
	for n := range m.Usable(w) {
		if n.Allocatable != nil && !n.Extended.Known(r.Name) {
			return true
		}
	}
	return false
}

// withhold withdraws results for components whose pods request a resource that no node lists. The
// decision treated the resource as unlimited, so upper bounds and never verdicts remain valid. But
// it is uncertain whether the requesting pods can be placed at all. Results for the component's
// other pods must therefore hold with and without the requesting pods. An always verdict meets this
// condition if its proof does not depend on the order (see certificate.Decision.Lasting), and if no
// other pod needs or counts the requesting ones.
func (d *decided) withhold() {
	for i := range d.outcomes {
		o := &d.outcomes[i]
		var open map[*workload.Workload]bool // the owners of the uncertain pods, with a doubt for each
		for k, i := range o.units {
			names := Unlisted(d.a.m, d.a.units[i].g.Workload)
			if owner := o.owners[o.owner[k]]; len(names) > 0 && !open[owner] {
				if open == nil {
					open = map[*workload.Workload]bool{}
				}
				open[owner] = true
				d.a.doubts = append(d.a.doubts, model.Doubt{Workload: owner, Resource: names[0]})
			}
		}
		if len(open) == 0 {
			continue
		}
		lasting := o.decided && o.always && (o.proof.Kind == certificate.Shape || o.proof.Kind == certificate.Headroom) && !d.a.leans(o, open)
		o.unsure, o.exact, o.always, o.least = true, false, false, 0
		o.decided = o.decided && o.never
		o.best, o.worst, o.shown = nil, nil, nil
		for k, w := range o.owners {
			if !lasting || open[w] {
				o.ownLeast[k] = 0
			}
			o.least += o.ownLeast[k]
		}
	}
}

// leans reports whether any other pods in a component need the given owners' pods as peers or count
// them in a spread.
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
		if slices.ContainsFunc(u.peers, among) {
			return true
		}
	}
	return false
}

// firstUnlisted returns the first resource that the workloads request but no node lists. The
// result's Workload is nil if there is no such resource.
func firstUnlisted(m *model.Model, ws []*workload.Workload) model.Reason {
	for _, w := range ws {
		if names := Unlisted(m, w); len(names) > 0 {
			return model.Reason{Cause: model.ByResource, Name: string(names[0]), Workload: w}
		}
	}
	return model.Reason{}
}
