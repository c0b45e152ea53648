package sizing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/size"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Options say what is asked. All pods must fit in any case.
type Options struct {
	// Rolls and Drains ask whether rollouts complete and drains end. Survives lists the topology keys
	// of the domains whose loss must leave no pod Pending.
	Rolls, Drains bool
	Survives      []string
	// AtMin counts autoscaled workloads with their least number of pods instead of the greatest.
	AtMin bool
	// Max is the greatest number of nodes of pools by name. It overrides what pools declare.
	Max map[string]int
	// Rooms accepts the objects of the workloads whose largest number of pods is asked for. If it is
	// nil, the sizes of pools are.
	Rooms func(*source.Object) bool
	// Candidates lists node files, as the user writes them, whose pools have no nodes yet.
	Candidates []string
}

// Candidate reports whether a pool is declared in one of the files of candidates.
func (o *Options) Candidate(p *topology.Pool) bool {
	return slices.Contains(o.Candidates, p.Declaration.File.Display)
}

// Questions lists what is asked, in words.
func (o *Options) Questions() []string {
	all := []string{asksFits}
	if o.Rolls {
		all = append(all, asksRolls)
	}
	if o.Drains {
		all = append(all, asksDrains)
	}
	if len(o.Survives) > 0 {
		all = append(all, asksSurvives)
	}
	return all
}

// The most decisions and sizes for a context, and the most steps of all decisions. They are
// meant for 60 CPU-seconds.
const (
	mostDecisions = 5_000
	mostSizes     = 1_000_000
	mostSteps     = 400_000_000
)

// Of returns the cheapest sizes of the pools of a topology. The argument factor multiplies the steps
// of the search, and scale sets the budgets of a model. It returns an error if the options do not
// suit the pools.
func Of(o *Options, topo *topology.Topology, set *workload.Set, factor float64, scale func(*model.Model)) (*diag.Sizing, error) {
	if err := check(o, topo); err != nil {
		return nil, err
	}
	z, err := newSizing(o, topo, set, scale)
	if err != nil {
		return nil, err
	}
	out := &diag.Sizing{Pools: []diag.SizedPool{}, Notes: []string{}}
	for i := range z.pools {
		out.Pools = append(out.Pools, z.row(i))
		out.Priced = out.Priced || topo.Pools[i].Spec.Cost != nil
	}
	if rejected := z.rejected(); rejected != nil {
		out.Verdict, out.Why, out.Declared = diag.SizeNone, rejected, string(diag.Never)
		return out, nil
	}
	if open := z.open(); open != nil {
		out.Verdict, out.Why, out.Declared = diag.SizeUnknown, open, string(diag.Unknown)
		return out, nil
	}
	all := z.whole()
	declared := z.decide(all, z.declared())
	if out.Declared = string(declared.Outcome); declared.Outcome != diag.Always {
		z.core(all, z.declared(), &declared)
		out.DeclaredWhy = &declared.Why
	}
	z.search(out, max(0, int(mostSteps*factor)-declared.Steps))
	return out, nil
}

// check returns an error about pools that cannot be sized, or that the options name and no pool has.
func check(o *Options, topo *topology.Topology) error {
	var names []string
	for _, p := range topo.Pools {
		if p.Mixed {
			return fmt.Errorf("the nodes of pool %s may differ from each other: declare pools of equal nodes in a NodeTopology to size them", p.Name)
		}
		names = append(names, p.Name)
	}
	for _, name := range sorting.Keys(o.Max) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("--max %s=%d: no pool has this name%s", name, o.Max[name], diag.Question(diag.Nearest(name, names)))
		}
	}
	for _, name := range o.Candidates {
		if !slices.ContainsFunc(topo.Pools, func(p *topology.Pool) bool { return p.Declaration.File.Display == name }) {
			return fmt.Errorf("--candidates %s: the file declares no pool", name)
		}
	}
	labels := topo.AllNodeLabels()
	for _, p := range topo.Pools {
		for _, n := range topo.Samples(p) {
			labels = append(labels, n.Labels)
		}
	}
	for _, key := range o.Survives {
		if !slices.ContainsFunc(labels, func(of map[string]string) bool { _, has := of[key]; return has }) {
			return fmt.Errorf("no node has the label %s, so its loss cannot be asked about", key)
		}
	}
	if len(topo.Pools) == 0 {
		return fmt.Errorf("no pool is declared: only pools have a size that can be chosen")
	}
	return nil
}

// AtSize returns a set in which autoscaled workloads have their greatest number of pods, or their least
// one. Where a ResourceQuota may limit these pods, the number is unknown.
func AtSize(set *workload.Set, atMin bool) *workload.Set {
	out := *set
	out.Workloads = slices.Clone(set.Workloads)
	limited := map[string]bool{}
	for _, w := range set.Workloads {
		limited[w.Namespace()] = limited[w.Namespace()] || len(w.Quotas) > 0 || w.Contested != nil || w.TightQuota != ""
	}
	for i, w := range set.Workloads {
		if w.Scale == nil {
			continue
		}
		c := *w
		if c.Count.N, c.Scale = w.Scale.Max, nil; atMin {
			c.Count.N = w.Scale.Min
		}
		c.Count.Known = c.Count.Known && !limited[w.Namespace()]
		out.Workloads[i] = &c
	}
	return &out
}

// open returns why no size is known to hold, if that does not depend on the size.
func (z *sizing) open() *diag.SizeReason {
	all := z.base.NotModeled()
	if len(all) == 0 {
		return nil
	}
	open := z.base.Group(all[0]).Unknown
	if !open.Given() {
		open = model.Reason{Cause: model.ByCount}
	}
	why := reasonAbout(all[0], asksFits, diag.Unknown, message.Reason(open))
	return &why
}

// rejected returns why the API server or a quota rejects the pods of the first such workload: no size is
// enough for it. It returns nil if no workload is rejected.
func (z *sizing) rejected() *diag.SizeReason {
	for _, w := range z.base.Workloads {
		if len(w.Problems) > 0 && !w.Copy && !w.Superseded {
			why := reasonAbout(w, asksFits, diag.Never, w.Problems[0].Field+": "+w.Problems[0].Message)
			return &why
		}
	}
	return nil
}

// row returns the description of a pool before its size is known.
func (z *sizing) row(i int) diag.SizedPool {
	p := z.topo.Pools[i]
	_, given := z.o.Max[p.Name]
	out := diag.SizedPool{Name: p.Name, Declared: z.count(i), Min: z.pools[i].Min, Max: z.pools[i].Max, Derived: !given && !grows(p), Cost: float64(z.pools[i].Cost) / 1e6, Unused: true}
	for w, f := range z.facts {
		out.Unused = out.Unused && (w.Kind.PerNode() || f.room[i] == 0)
	}
	return out
}

// declared returns the declared layout.
func (z *sizing) declared() size.Layout {
	at := make(size.Layout, len(z.pools))
	for i := range at {
		at[i] = z.pools[i].Split(z.count(i))
	}
	return at
}

// count returns the declared number of nodes of a pool.
func (z *sizing) count(i int) int {
	if z.o.Candidate(z.topo.Pools[i]) {
		return 0
	}
	return z.topo.Pools[i].Count
}

// whole returns a part with everything.
func (z *sizing) whole() *part {
	p := &part{fixed: true, set: z.set, ws: z.base.Workloads}
	for i := range z.pools {
		p.pools, p.zonal = append(p.pools, i), append(p.zonal, z.zonal(i, p.ws))
	}
	return p
}

// search finds the sizes of all parts and adds them to the output.
func (z *sizing) search(out *diag.Sizing, steps int) {
	sizes, decisions, parts := make([]int, len(z.pools)), mostDecisions, z.parts()
	out.Verdict = diag.SizeMinimal
	for i := range sizes {
		sizes[i] = z.pools[i].Min
	}
	var why *diag.SizeReason
	for _, p := range parts {
		q := &size.Problem{Bounds: z.bounds(p), Decide: func(at size.Layout) size.Answer { return z.decide(p, z.full(p, at)) }}
		for k, i := range p.pools {
			pool := z.pools[i]
			if !p.zonal[k] {
				pool.Zones, pool.Declared = 1, nil
			}
			q.Pools = append(q.Pools, pool)
		}
		q.Steps, q.Decisions, q.Visits = steps, decisions, mostSizes
		r := size.Search(q)
		steps, decisions = max(0, steps-r.Steps), max(0, decisions-r.Decisions)
		out.Decisions += r.Decisions
		out.Undecided += r.Undecided
		out.More = out.More || r.More
		out.Spent = cmp.Or(out.Spent, r.Spent)
		if r.Size == nil {
			verdict := diag.SizeUnknown
			if r.Minimal() {
				verdict = diag.SizeNone
			}
			if out.Verdict != diag.SizeNone { // no size of a part is enough
				z.core(p, z.full(p, r.Most.At), &r.Most)
				out.Verdict, why = verdict, &r.Most.Why
			}
			continue
		}
		for k, i := range p.pools {
			sizes[i] = r.Size[k]
			if less := r.Less[k]; less.Outcome != diag.None {
				z.core(p, z.full(p, less.At), &less)
				less.Why.Verdict = string(less.Outcome)
				out.Pools[i].Less = &less.Why
			}
		}
		if !r.Minimal() && out.Verdict == diag.SizeMinimal {
			out.Verdict = diag.SizeFound
		}
	}
	if out.Why = why; why != nil {
		for i := range out.Pools {
			out.Pools[i].Less = nil
		}
		return
	}
	cost := int64(0)
	for i, n := range sizes {
		p := &out.Pools[i]
		p.Nodes = n
		out.Nodes += n
		cost += int64(n) * z.pools[i].Cost
		for k, name := range z.topo.Pools[i].ZoneNames() {
			if name != "" {
				p.Zones = append(p.Zones, diag.ZoneSize{Zone: name, Nodes: z.pools[i].Split(n)[k]})
			}
		}
		p.Slack = z.slack(i, n)
	}
	out.Cost = float64(cost) / 1e6
	if len(parts) > 1 {
		// They do not affect each other, so another answer than unknown or always is a bug, and nothing is claimed.
		at := make(size.Layout, len(sizes))
		for i, n := range sizes {
			at[i] = z.pools[i].Split(n)
		}
		switch a := z.decide(z.whole(), at); a.Outcome {
		case diag.Always:
		case diag.Never:
			out.Verdict, out.Why = diag.SizeUnknown, &a.Why
			out.Notes = append(out.Notes, "pools that do not affect each other have another answer together: this is a bug in schedlint")
		default:
			out.Notes = append(out.Notes, "decided for pools that do not affect each other, one by one; for all pools at once, the step budget does not allow an answer")
		}
	}
}

// slack says how full the nodes of a pool are.
func (z *sizing) slack(i, n int) (all []diag.SizeSlack) {
	requested := map[corev1.ResourceName]int64{}
	for w, f := range z.facts {
		if w.Kind.PerNode() || f.room[i] == 0 || w.Finite() {
			continue
		}
		only := true
		for k, room := range f.room {
			only = only && (room == 0 || k == i)
		}
		g := z.base.Group(w)
		for _, r := range append(slices.Clip(model.Written(g.Requests)), model.Request{Name: corev1.ResourcePods, Amount: 1}) {
			if !only {
				requested[r.Name] += 0 // the resource is listed
				continue
			}
			requested[r.Name] += r.Amount * int64(f.pods)
		}
	}
	node := z.node(i)
	for _, name := range sorting.Keys(requested) {
		has, known := offered(node, name)
		if !known || topology.CountsVolumes(name) || strings.Contains(string(name), " ") {
			continue
		}
		taken := z.taken(node, name)
		row := diag.SizeSlack{Resource: string(name), Each: amountText(name, has), Requested: amountText(name, requested[name]), Offered: amountText(name, max(0, has-taken)*int64(n))}
		if taken > 0 {
			row.DaemonSets = amountText(name, taken)
		}
		all = append(all, row)
	}
	return all
}
