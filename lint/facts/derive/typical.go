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
	"github.com/schedlint/schedlint/lint/sched/simulate"
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
	var changes []*simulate.Change
	var tell []func()
	ask := func(id int, to *facts.Typical, x simulate.Change, w int) {
		x.Workload = ws[w]
		changes = append(changes, &x)
		tell = append(tell, func() { set(id, to, facts.Typical{Runs: x.Runs, Shown: x.Shown, Preempts: x.Preempts}) })
	}
	for i := range b.Rollouts {
		if row := &b.Rollouts[i]; row.Outcome == diag.Sometimes {
			ask(row.ID, &row.Typical, simulate.Change{Way: workload.Way(row.Way), Pods: row.Replicas, Surge: row.Surge, Unavailable: row.Unavailable}, row.W)
		}
	}
	for i := range b.Drains {
		if row := &b.Drains[i]; row.Outcome == diag.Sometimes && row.BlockedBy == "" {
			ask(row.ID, &row.Typical, simulate.Change{Key: corev1.LabelHostname, Meaning: certificate.Drained}, row.W)
		}
	}
	for i := range b.Losses {
		if row := &b.Losses[i]; row.Outcome == diag.Sometimes && row.Recreated {
			meaning := certificate.Meaning(row.Meaning)
			if row.Meaning == "both" {
				meaning = certificate.Unreachable
			}
			ask(row.ID, &row.Typical, simulate.Change{Key: row.Key, Meaning: meaning}, row.W)
		}
	}
	if len(changes) == 0 {
		return
	}
	pods := map[*workload.Workload]int{}
	for _, x := range changes {
		if x.Way != "" {
			pods[x.Workload] = x.Pods
		}
	}
	m, old, fresh := b.j.Revisions(pods)
	for _, x := range changes {
		if x.Way != "" {
			x.Fresh = fresh[x.Workload]
		}
		x.Workload = cmp.Or(old[x.Workload], x.Workload)
	}
	simulate.Changes(m, changes, b.Runs)
	for _, f := range tell {
		f()
	}
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
			w.Typical = of[strings.Join([]string{w.APIVersion, w.Kind, workload.Space(w.Namespace), w.Name}, "/")]
		}
	}
	slices.SortStableFunc(whole.LeftOut, func(a, b diag.PlacementLeftOut) int {
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
