package sizing

import (
	"cmp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/size"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// The questions about a size.
const (
	asksFits     = "fits"
	asksRolls    = "rolls"
	asksDrains   = "drains"
	asksSurvives = "survives"
)

// stepsPerPair is the cost of setting a decision up, for each workload and node. It is not counted by
// the model.
const stepsPerPair = 20

// sized returns the topology and the model of a part whose pools have the given numbers of nodes.
func (z *sizing) sized(p *part, at size.Layout) (*model.Model, error) {
	topo, err := z.topo.Sized(func(pool *topology.Pool) []int { return at[slices.Index(z.topo.Pools, pool)] })
	if err != nil {
		return nil, err
	}
	if !p.fixed {
		topo.Nodes = slices.DeleteFunc(topo.Nodes, func(n *topology.Node) bool { return n.Pool == nil })
	}
	m := sched.New(p.set, topo)
	z.scale(m)
	return m, nil
}

// decide decides whether everything that is asked about holds for a part on pools with the given
// numbers of nodes. It asks what place asks, in the same way.
func (z *sizing) decide(p *part, at size.Layout) (a size.Answer) {
	m, err := z.sized(p, at)
	if err != nil {
		return size.Answer{Outcome: diag.Unknown, Why: diag.SizeReason{Text: err.Error()}}
	}
	before := m.Run().Spent()
	defer func() {
		a.Steps = m.Run().Spent() - before + stepsPerPair*(1+len(p.ws))*(1+len(m.Topology.Nodes))
		if len(m.Run().Refused) > 0 { // a bug: nothing is claimed
			a = size.Answer{Outcome: diag.Unknown, Steps: a.Steps, Why: diag.SizeReason{Text: m.Run().Refused[0].Err.Error()}}
		}
	}()
	if m.Topology.Empty() {
		for _, w := range p.ws {
			if f := z.facts[w]; f != nil && !w.Kind.PerNode() && f.pods > 0 {
				text, grow := "there is no node", z.may(p, w)
				if len(grow) == 0 {
					text = "no pool has nodes that its pods can use"
				}
				return size.Answer{Outcome: diag.Never, Below: true, Grow: grow, Why: reasonAbout(w, asksFits, diag.Never, text)}
			}
		}
		return size.Answer{Outcome: diag.Always}
	}
	d := search.Decide(m, search.Options{})
	search.DaemonSetsFirst(m, d, search.Options{})
	fits := z.fits(p, m, d)
	if fits.Outcome == diag.Unknown { // single workloads cost more
		d = search.Decide(m, search.Options{Each: true})
		search.DaemonSetsFirst(m, d, search.Options{Each: true})
		fits = z.fits(p, m, d)
	}
	if fits.Outcome == diag.Never || fits.Outcome == diag.Unknown && len(p.ws) > limits.Rivals || !z.o.Rolls && !z.o.Drains && len(z.o.Survives) == 0 {
		return fits
	}
	// A change may fail wherever the pods are.
	if changes := z.changes(p, m, d); fits.Outcome == diag.Always || changes.Outcome == diag.Never {
		return changes
	}
	return fits
}

// may returns the positions in a part of the pools that take a pod of a workload.
func (z *sizing) may(p *part, w *workload.Workload) []int {
	pools := []int{}
	if z.facts[w] == nil {
		return nil
	}
	for k, i := range p.pools {
		if z.facts[w].room[i] > 0 {
			pools = append(pools, k)
		}
	}
	return pools
}

// fits decides whether all pods are placed in every run. As for place, pods that end may wait, and
// DaemonSet pods may come first.
func (z *sizing) fits(p *part, m *model.Model, d *certificate.Decision) size.Answer {
	open := size.Answer{}
	for i := range d.Workloads {
		w := &d.Workloads[i]
		switch verdict := w.Verdict; {
		case verdict == diag.Always, w.DaemonSetsFirst == diag.Always, verdict == diag.None:
		case w.Workload.Finite() && w.Why.Cause == model.Waits:
		case verdict == diag.Unknown:
			if open.Outcome == "" {
				open = size.Answer{Outcome: diag.Unknown, Grow: z.may(p, w.Workload), Why: reasonAbout(w.Workload, asksFits, diag.Unknown, message.Reason(w.Why))}
			}
		default:
			return z.unfit(p, m, d, w)
		}
	}
	switch {
	case open.Outcome != "" && d.Verdict == diag.Never: // by counting, which names no workload
		open.Outcome, open.Why.Text = diag.Never, "not all pods fit together"
		return open
	case open.Outcome != "":
		return open
	case d.Verdict == diag.Always || d.DaemonSetsFirst == diag.Always || d.Verdict == diag.None:
		return size.Answer{Outcome: diag.Always}
	case d.Verdict == diag.Unknown:
		return size.Answer{Outcome: diag.Unknown, Why: diag.SizeReason{Question: asksFits, Verdict: string(diag.Unknown), Text: "whether all pods fit together is not known"}}
	}
	return size.Answer{Outcome: diag.Never, Why: diag.SizeReason{Question: asksFits, Verdict: string(d.Verdict)}}
}

// unfit returns the failure of a workload whose pods are not all placed in every run, with what it
// covers. The workloads of its component use only the pools that are related to them, and a run of
// them alone shows the failure. Without affinity and spread constraints, nodes that are missing never
// help: what is left of a state without them is a state, and it closes the same nodes.
func (z *sizing) unfit(p *part, m *model.Model, d *certificate.Decision, w *certificate.WorkloadDecision) size.Answer {
	a := size.Answer{Outcome: diag.Never, Grow: z.may(p, w.Workload), Why: reasonAbout(w.Workload, asksFits, w.Verdict, "")}
	group := d.Groups[w.Workload]
	if len(m.Choices()) > 0 || w.Contested != nil || len(group) == 0 {
		return a
	}
	if a.Below = search.Hereditary(m, group); w.Workload.Kind.PerNode() {
		return a
	}
	a.On = []int{}
	for k, i := range p.pools {
		if slices.ContainsFunc(group, func(o *workload.Workload) bool { return z.facts[o] == nil || z.facts[o].related[i] }) {
			a.On = append(a.On, k)
		}
	}
	return a
}

// changes asks about rollouts, drains and losses.
func (z *sizing) changes(p *part, m *model.Model, d *certificate.Decision) size.Answer {
	judge := disruption.New(m, p.set, search.Options{})
	doc := derive.Decision(m, d, judge, func(*workload.Workload) []string { return z.o.Survives })
	open := size.Answer{Outcome: diag.Always}
	for i := range doc.Workloads {
		row := &doc.Workloads[i]
		w := z.named(p, row)
		for _, q := range z.asked(row) {
			switch verdict := diag.Outcome(q.Verdict); verdict {
			case diag.Always, diag.None, "":
			case diag.Unknown:
				if open.Outcome == diag.Always {
					open = size.Answer{Outcome: diag.Unknown, Grow: z.may(p, w), Why: q}
				}
			default:
				return z.changed(p, m, judge, w, q)
			}
		}
	}
	return open
}

// named returns the workload of a row.
func (z *sizing) named(p *part, row *diag.PlacementWorkload) *workload.Workload {
	i := slices.IndexFunc(p.ws, func(w *workload.Workload) bool {
		o := w.Object
		return o.APIVersion == row.APIVersion && o.Kind == row.Kind && o.Namespace == row.Namespace && o.Name == row.Name
	})
	return p.ws[i]
}

// asked returns the answers in a row to the questions that are asked.
func (z *sizing) asked(row *diag.PlacementWorkload) (all []diag.SizeReason) {
	name := row.Kind + " " + row.Name
	if row.Namespace != "" {
		name = row.Kind + " " + row.Namespace + "/" + row.Name
	}
	add := func(question, verdict, text string) {
		all = append(all, diag.SizeReason{Workload: name, Question: question, Verdict: verdict, Text: text})
	}
	c := &row.Change
	if z.o.Rolls {
		add(asksRolls, c.Rollout.Verdict, c.Rollout.Reason)
	}
	if z.o.Drains {
		add(asksDrains, c.Drain.Verdict, c.Drain.Reason)
	}
	for _, s := range c.Survives {
		if s.Meaning == string(certificate.Gone) && slices.Contains(z.o.Survives, s.Key) {
			text := cmp.Or(s.Reason, "the loss of "+lostName(s.Key, s.Value)+" leaves "+counted(s.Pending, "pod")+" Pending")
			add(asksSurvives, s.Verdict, text)
		}
	}
	return all
}

// lostName names a domain that is lost.
func lostName(key, value string) string {
	switch key {
	case corev1.LabelHostname:
		return "node " + value
	case corev1.LabelTopologyZone:
		return "zone " + value
	case corev1.LabelTopologyRegion:
		return "region " + value
	}
	return key + "=" + value
}

// changed returns the failure of a change, with what it covers. Budgets that forbid every eviction do
// so at any size, unless they select DaemonSet pods. Drains and losses that fail also fail with fewer
// nodes if no workload has affinity or a spread constraint: either the pods no longer fit at all, or
// the same node can be lost.
func (z *sizing) changed(p *part, m *model.Model, judge *disruption.Judge, w *workload.Workload, why diag.SizeReason) size.Answer {
	a := size.Answer{Outcome: diag.Never, Grow: z.may(p, w), Why: why}
	if why.Question == asksRolls || len(m.Choices()) > 0 {
		return a
	}
	if why.Question == asksDrains {
		var drain disruption.Drain
		judge.Ask(w, func() { drain = judge.Drain(w) })
		perNode := func(b disruption.Budget) bool {
			return slices.ContainsFunc(b.Workloads, func(o *workload.Workload) bool { return o.Kind.PerNode() })
		}
		if len(drain.Budgets) > 0 && drain.Worst == nil && !slices.ContainsFunc(drain.Budgets, perNode) {
			a.On, a.Grow, a.Below = []int{}, []int{}, true
			return a
		}
	}
	pinned := func(o *workload.Workload) bool { return o.Pin != "" || o.OpenPin != "" || o.Kind.VM }
	a.Below = search.Hereditary(m, p.ws) && !slices.ContainsFunc(p.ws, pinned)
	return a
}

// core adds to a failure of the placement why the pods do not fit on pools with the given numbers of
// nodes. If there are none, a bound says why.
func (z *sizing) core(p *part, at size.Layout, a *size.Answer) {
	if a.Outcome != diag.Never || at == nil || a.Why.Question != asksFits {
		return
	}
	m, err := z.sized(p, at)
	if err != nil || m.Topology.Empty() {
		return
	}
	d := search.Decide(m, search.Options{Each: true})
	search.DaemonSetsFirst(m, d, search.Options{Each: true})
	doc := derive.Decision(m, d, disruption.New(m, p.set, search.Options{}), func(*workload.Workload) []string { return nil })
	for i := range doc.Workloads {
		row := &doc.Workloads[i]
		if z.named(p, row).String() != a.Why.Workload {
			continue
		}
		a.Why.Core = row.Core
		if len(row.Core) == 0 && a.Why.Text == "" {
			a.Why.Text = pendingText(row)
		}
	}
}

// pendingText says how many pods of a workload are placed.
func pendingText(row *diag.PlacementWorkload) string {
	switch {
	case row.MaxPlaced < row.Replicas:
		return "at most " + counted(row.MaxPlaced, "pod") + " of " + strconv.Itoa(row.Replicas) + " fit"
	case row.MinPlaced < row.Replicas:
		return "in some scheduling order, pods stay Pending"
	}
	return ""
}

// counted returns a number with a noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
