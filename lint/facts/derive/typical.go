package derive

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/simulate"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/workload"
)

// simulate adds to rows how often simulated runs show what they say, and a row for each component of
// which some runs leave out pods. It comes last, so that no other answer lacks the steps.
func (b *builder) simulate() {
	if b.Runs == 0 || !b.topo || b.Brief {
		return
	}
	r := simulate.Runs(b.m, b.Runs)
	for _, c := range r.Components {
		joint{b}.leftOut(c)
	}
	type tally struct {
		*simulate.Component
		*simulate.Tally
	}
	of, ws := map[int]tally{}, make([]*workload.Workload, len(b.Workloads))
	for w, row := range b.rows {
		ws[row] = w
	}
	for _, c := range r.Components {
		for i := range c.Tallies {
			if row, known := b.rows[c.Tallies[i].Workload]; known {
				of[row] = tally{c, &c.Tallies[i]}
			}
		}
	}
	set := func(id int, to *facts.Typical, t facts.Typical) {
		if t.Runs >= simulate.MinRuns {
			*to, b.subjects[id-1].typical = t, t
		}
	}
	for i := range b.Sharing {
		row := &b.Sharing[i]
		if t, known := of[row.W]; known && row.Outcome == diag.Sometimes {
			set(row.ID, &row.Typical, facts.Typical{Runs: t.Runs, Shown: t.OneNode, Preempts: t.Preempts, Without: t.Without})
		}
	}
	for i := range b.Orders {
		row := &b.Orders[i]
		if t, known := of[row.W]; known && t.Without == 0 {
			set(row.ID, &row.Typical, facts.Typical{Runs: t.Runs, Shown: t.LeftOut, Preempts: t.Preempts})
		}
	}
	var all asked
	for i := range b.Rollouts {
		if row := &b.Rollouts[i]; row.Outcome == diag.Sometimes && row.Quota == "" && !b.j.Autoscaled(ws[row.W]) { // simulated runs know no quotas
			all.roll(ws[row.W], workload.Rollout{Way: workload.Way(row.Way), Surge: row.Surge, Unavailable: row.Unavailable}, row.Replicas,
				func(t diag.Typical) { set(row.ID, &row.Typical, facts.Typical(t)) })
		}
	}
	for i := range b.Drains {
		if row := &b.Drains[i]; row.Outcome == diag.Sometimes && row.BlockedBy == "" && !b.j.Autoscaled(ws[row.W]) {
			all.lose(ws[row.W], corev1.LabelHostname, string(certificate.Drained), func(t diag.Typical) { set(row.ID, &row.Typical, facts.Typical(t)) })
		}
	}
	for i := range b.Losses {
		if row := &b.Losses[i]; row.Outcome == diag.Sometimes && !b.j.Autoscaled(ws[row.W]) {
			all.lose(ws[row.W], row.Key, row.Meaning, func(t diag.Typical) { set(row.ID, &row.Typical, facts.Typical(t)) })
		}
	}
	all.simulate(b.j, b.Runs)
}

// asked holds changes to simulate, each once, and what to do with the results.
type asked struct {
	changes []*simulate.Change
	tell    [][]func(diag.Typical)
	known   map[simulate.Change]int
}

func (a *asked) add(x simulate.Change, tell func(diag.Typical)) {
	if a.known == nil {
		a.known = map[simulate.Change]int{}
	}
	i, known := a.known[x]
	if !known {
		i = len(a.changes)
		a.known[x], a.changes, a.tell = i, append(a.changes, &x), append(a.tell, nil)
	}
	a.tell[i] = append(a.tell[i], tell)
}

// roll adds a rollout, unless it is of a DaemonSet: the simulation has no node for each of its new pods.
func (a *asked) roll(w *workload.Workload, how workload.Rollout, pods int, tell func(diag.Typical)) {
	if w.Kind.PerNode() {
		return
	}
	a.add(simulate.Change{Workload: w, Way: how.Way, Pods: pods, Surge: how.Surge, Unavailable: how.Unavailable}, tell)
}

// lose adds a loss. If it may have both meanings, it is one of an unreachable domain.
func (a *asked) lose(w *workload.Workload, key, meaning string, tell func(diag.Typical)) {
	x := simulate.Change{Workload: w, Key: key, Meaning: certificate.Meaning(meaning)}
	if meaning == "both" {
		x.Meaning = certificate.Unreachable
	}
	if (certificate.Loss{Meaning: x.Meaning}).Returns(w) {
		a.add(x, tell)
	}
}

func (a *asked) simulate(j *disruption.Judge, runs int) {
	if len(a.changes) == 0 {
		return
	}
	pods := map[*workload.Workload]int{}
	for _, x := range a.changes {
		if x.Way != "" {
			pods[x.Workload] = x.Pods
		}
	}
	m, old, fresh := j.Revisions(pods)
	for _, x := range a.changes {
		if x.Way != "" {
			x.Fresh = fresh[x.Workload]
		}
		x.Workload = cmp.Or(old[x.Workload], x.Workload)
	}
	simulate.Changes(m, a.changes, runs)
	for i, x := range a.changes {
		for _, tell := range a.tell[i] {
			if x.Runs >= simulate.MinRuns {
				tell(diag.Typical{Runs: x.Runs, Shown: x.Shown, Preempts: x.Preempts})
			}
		}
	}
}

// AddTypicalChanges adds what simulated runs show to the answers about changes that are sometimes yes.
func AddTypicalChanges(doc *diag.Placement, m *model.Model, j *disruption.Judge, runs int) {
	of := map[string]*workload.Workload{}
	for _, w := range m.Workloads {
		of[Reference(w)] = w
	}
	const sometimes = string(diag.Sometimes)
	var all asked
	for i := range doc.Workloads {
		d := &doc.Workloads[i]
		w := of[reference(d)]
		if w == nil || j.Autoscaled(w) { // simulated runs have the declared pods
			continue
		}
		if c := &d.Change; c.Rollout.Verdict == sometimes {
			all.roll(w, w.Rollout(model.Certain(w)), model.Certain(w), func(t diag.Typical) { c.Rollout.Typical = &t })
		}
		if slices.ContainsFunc(d.Change.Survives, func(s diag.PlacementSurvival) bool { return s.Verdict == sometimes }) {
			d.Change.Survives = slices.Clone(d.Change.Survives) // workloads may share it
		}
		for k := range d.Change.Survives {
			if s := &d.Change.Survives[k]; s.Verdict == sometimes {
				all.lose(w, s.Key, s.Meaning, func(t diag.Typical) { s.Typical = &t })
			}
		}
		if c := &d.Change; c.Drain.Verdict == sometimes && c.Drain.ByPlacement {
			all.lose(w, corev1.LabelHostname, string(certificate.Drained), func(t diag.Typical) { c.Drain.Typical = &t })
		}
	}
	all.simulate(j, runs)
}

// reference is Reference of the workload that a decision is about.
func reference(w *diag.PlacementWorkload) string {
	return strings.Join([]string{w.APIVersion, w.Kind, workload.Space(w.Namespace), w.Name}, "/")
}

// uncertain reports whether pods may stay Pending, but need not. Only then do simulated runs add to a
// verdict.
func uncertain(verdict string) bool { return verdict == string(diag.Sometimes) || unknown(verdict) }

// Typical reports whether simulated runs would add to the verdicts in a document.
func Typical(doc *diag.Placement) bool {
	return uncertain(doc.Verdict) || slices.ContainsFunc(doc.Workloads, func(w diag.PlacementWorkload) bool { return uncertain(w.Verdict) })
}

// AddTypical adds to uncertain verdicts what simulated runs of the scheduler do. They change no
// verdict.
func AddTypical(doc *diag.Placement, r *simulate.Result) {
	why := r.Why
	of := map[string]*diag.PlacementTypical{}
	whole := &diag.PlacementTypical{}
	for _, c := range r.Components {
		if c.Why.Given() {
			why = cmp.Or(why, c.Why)
			continue
		}
		for _, t := range c.Tallies {
			o := t.Workload.Object
			of[Reference(t.Workload)] = &diag.PlacementTypical{Runs: c.Runs, Complete: c.Runs - c.Preempts - t.LeftOut, Preempts: c.Preempts}
			if t.LeftOut > 0 {
				whole.LeftOut = append(whole.LeftOut, diag.PlacementLeftOut{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Runs: t.LeftOut, Pods: t.Missing})
			}
		}
	}
	for i := range doc.Workloads {
		if w := &doc.Workloads[i]; uncertain(w.Verdict) {
			w.Typical = of[reference(w)]
		}
	}
	sorting.Stable(whole.LeftOut, func(a, b diag.PlacementLeftOut) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	whole.Runs, whole.Complete, whole.Preempts = r.Together()
	if why.Given() {
		whole.Reason = message.Reason(why)
	}
	if uncertain(doc.Verdict) && (whole.Runs > 0 || why.Given()) {
		doc.Typical = whole
	}
}
