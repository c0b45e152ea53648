package sizing

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// most10 is how many times the pods of a workload without an autoscaler are counted.
const most10 = 10

// Rooms returns for each workload that Options.Rooms accepts how many pods it can have on the declared
// nodes: the largest number up to which every number keeps the answers yes of all workloads. Counts are
// decided one by one, because answers are not monotone. Workloads that have another answer today are
// not asked about. The limit is the maximum of the autoscaler, or ten times today's number. The arguments
// are those of Of, and the set is that before AtSize.
func Rooms(o *Options, topo *topology.Topology, set *workload.Set, factor float64, scale func(*model.Model)) ([]diag.WorkloadRoom, error) {
	if err := check(o, topo); err != nil {
		return nil, err
	}
	sized := AtSize(set, o.AtMin)
	z, err := newSizing(o, topo, sized, scale)
	if err != nil {
		return nil, err
	}
	left := int(mostSteps * factor)
	var all []diag.WorkloadRoom
	for i, w := range set.Workloads {
		if w.Kind.PerNode() || w.Finite() || w.Bare() || w.Fragment || !o.Rooms(w.Object) {
			continue
		}
		room := diag.WorkloadRoom{Workload: w.String(), Pods: w.Count.N, Limit: max(1, w.Count.N) * most10}
		if w.Scale != nil {
			room.Pods, room.Limit, room.Scaled = w.Scale.Min, w.Scale.Max, true
		}
		room.Most = room.Pods
		switch open := z.base.Group(sized.Workloads[i]).Unknown; {
		case open.Given():
			why := reasonAbout(w, asksFits, diag.Unknown, message.Reason(open))
			room.Why, room.Today = &why, true
		case !w.Count.Known && w.Scale == nil:
			why := reasonAbout(w, asksFits, diag.Unknown, message.Reason(model.Reason{Cause: model.ByCount}))
			room.Why, room.Today = &why, true
		default:
			z.raise(&room, z.partOf(sized.Workloads[i]), sized.Workloads[i], &left)
		}
		all = append(all, room)
	}
	return all, nil
}

// partOf returns the part of a workload.
func (z *sizing) partOf(w *workload.Workload) *part {
	for _, p := range z.parts() {
		if slices.ContainsFunc(p.ws, func(o *workload.Workload) bool { return o.Object == w.Object }) {
			return p
		}
	}
	return z.whole()
}

// raise raises the number of pods until an answer is no longer yes. It subtracts the steps from left.
func (z *sizing) raise(room *diag.WorkloadRoom, p *part, w *workload.Workload, left *int) {
	ask := func(n int) (map[[2]string]diag.SizeReason, []diag.SizeReason) {
		set := *p.set
		set.Workloads = slices.Clone(p.set.Workloads)
		for i, o := range set.Workloads {
			if o.Object == w.Object {
				c := *o
				c.Count.N, c.Scale = n, nil
				set.Workloads[i] = &c
			}
		}
		return z.answers(p, &set, left)
	}
	today, _ := ask(room.Pods)
	no := func(q diag.SizeReason) bool {
		return q.Verdict != string(diag.Always) && q.Verdict != string(diag.None) && q.Verdict != ""
	}
	for key, q := range today {
		if key[0] == room.Workload && no(q) && (room.Why == nil || q.Question < room.Why.Question) {
			why := q
			room.Why, room.Today = &why, true
		}
	}
	if room.Why != nil {
		return
	}
	for n := room.Pods + 1; n <= room.Limit; n++ {
		if *left <= 0 {
			room.Spent = true
			return
		}
		_, answers := ask(n)
		for _, q := range answers {
			if was, asked := today[[2]string{q.Workload, q.Question}]; no(q) && asked && !no(was) {
				room.Why = &q
				return
			}
		}
		room.Most = n
	}
}

// answers returns what place answers about the workloads of a part on the declared nodes, by workload and
// question and in order.
func (z *sizing) answers(p *part, set *workload.Set, left *int) (map[[2]string]diag.SizeReason, []diag.SizeReason) {
	at := z.declared()
	topo, err := z.topo.Sized(func(pool *topology.Pool) []int { return at[slices.Index(z.topo.Pools, pool)] })
	if err != nil {
		return nil, []diag.SizeReason{{Question: asksFits, Verdict: string(diag.Unknown), Text: err.Error()}}
	}
	m := sched.New(set, topo)
	z.scale(m)
	before := m.Run().Spent()
	d := search.Decide(m, search.Options{Each: true})
	search.DaemonSetsFirst(m, d, search.Options{Each: true})
	doc := derive.Decision(m, d, disruption.New(m, set, search.Options{}), func(*workload.Workload) []string { return z.o.Survives })
	*left -= m.Run().Spent() - before + stepsPerPair*(1+len(set.Workloads))*(1+len(topo.Nodes))
	by := map[[2]string]diag.SizeReason{}
	var all []diag.SizeReason
	for i := range doc.Workloads {
		row := &doc.Workloads[i]
		w := z.named(p, row)
		fits := reasonAbout(w, asksFits, diag.Outcome(row.Verdict), row.Why)
		switch {
		case row.DaemonSetsFirst == string(diag.Always), w.Finite() && row.Verdict == string(diag.Unknown):
			fits.Verdict = string(diag.Always)
		case fits.Text == "":
			fits.Text = pendingText(row)
		}
		if fits.Verdict == string(diag.Never) || fits.Verdict == string(diag.Sometimes) {
			fits.Core = row.Core
		}
		for _, q := range append([]diag.SizeReason{fits}, z.asked(row)...) {
			q.Workload = w.String()
			key := [2]string{q.Workload, q.Question}
			if was, twice := by[key]; !twice || was.Verdict == string(diag.Always) || was.Verdict == "" {
				by[key] = q
			}
			all = append(all, q)
		}
	}
	if len(m.Run().Refused) > 0 { // a bug: nothing is claimed
		all = append(all, diag.SizeReason{Verdict: string(diag.Unknown), Text: m.Run().Refused[0].Err.Error()})
		by[[2]string{}] = diag.SizeReason{}
	}
	return by, all
}
