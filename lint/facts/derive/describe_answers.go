package derive

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// answers returns the answers about each workload, as far as some rule reads them.
func (b *builder) answers() map[*workload.Workload]facts.Answers {
	if !b.whole("workloads.answers") {
		return nil
	}
	all := map[*workload.Workload]facts.Answers{}
	for w := range b.rows {
		all[w] = b.unanswered(w)
	}
	if !b.topo || b.j == nil || !b.prepared {
		return all
	}
	a := answering{builder: newBuilder(Input{Model: b.m, Set: b.Set, Survive: b.Input.Survive, Asks: b.Asks}), asked: b}
	a.j, a.prepared, a.rows, a.Built.Facts.Workloads = b.j, true, b.rows, b.Built.Facts.Workloads
	a.decide()
	for _, w := range b.m.Workloads {
		if row, known := all[w]; known && b.m.Judged(w) {
			all[w] = a.answer(w, row)
		}
	}
	return all
}

// unanswered returns a row where every answer that applies is unknown.
func (b *builder) unanswered(w *workload.Workload) facts.Answers {
	row := facts.Answers{
		Fits: diag.Unknown, Rolls: diag.Unknown, Drains: diag.Unknown, Migrates: diag.None, Autoscales: diag.None, Survives: []facts.Survives{},
	}
	if w.Kind.VM {
		row.Migrates = diag.Unknown
	}
	if w.Scale != nil {
		row.Autoscales = diag.Unknown
	}
	survives := diag.Unknown
	if !outlives(w) {
		row.Rolls, row.Drains, survives = diag.None, diag.None, diag.None
		if w.Kind.PerNode() {
			row.Rolls = diag.Unknown
		}
	}
	for _, key := range b.lost(w) {
		row.Survives = append(row.Survives, facts.Survives{Key: key, Gone: survives, Unreachable: survives})
	}
	return row
}

// outlives reports whether pods of a workload are recreated on other nodes: pods that run to
// completion, or that belong to their node, are not.
func outlives(w *workload.Workload) bool { return !w.Finite() && !w.Kind.PerNode() }

// answering answers questions as the place command does, with budgets of its own.
type answering struct {
	*builder
	// asked is the builder that knows which answers are read.
	asked *builder
	fits  map[*workload.Workload]diag.Outcome
}

// decide decides all workloads together, if some answer depends on that.
func (a *answering) decide() {
	reads := func(field string) bool { return a.asked.whole("workloads.answers." + field) }
	a.fits = map[*workload.Workload]diag.Outcome{}
	if !reads("fits") && !reads("drains") && !reads("survives") {
		return
	}
	d := search.Decide(a.m, search.Options{})
	for i := range d.Workloads {
		a.fits[d.Workloads[i].Workload] = d.Workloads[i].Verdict
	}
}

// answer fills in the row of a workload that is judged.
func (a *answering) answer(w *workload.Workload, row facts.Answers) facts.Answers {
	reads := func(field string) bool { return a.asked.whole("workloads.answers." + field) }
	if fits, known := a.fits[w]; known {
		row.Fits = fits
	}
	var questions []func(*workload.Workload)
	ask := func(field string, f func(*workload.Workload)) {
		if reads(field) {
			questions = append(questions, f)
		}
	}
	as := decision{a.builder, newSurvivals()}
	ask("rolls", func(w *workload.Workload) { row.Rolls = a.rolls(w) })
	ask("survives", func(w *workload.Workload) { row.Survives = a.survives(w, row.Survives) })
	ask("drains", func(w *workload.Workload) { row.Drains = diag.Outcome(as.drains(w).Verdict) })
	ask("migrates", func(w *workload.Workload) { row.Migrates = a.j.Migration(w).Answer })
	ask("autoscales", func(w *workload.Workload) { row.Autoscales = a.j.Scaling(w).Answer })
	a.changes().asks(w, questions...)
	if row.Fits == diag.Never && outlives(w) { // like place: there is nothing to drain
		row.Drains = diag.None
		row.Survives = slices.Clone(row.Survives)
		for i := range row.Survives {
			row.Survives[i].Gone, row.Survives[i].Unreachable = diag.Never, diag.Never
		}
	}
	return row
}

// rolls returns the outcome of a rollout.
func (a *answering) rolls(w *workload.Workload) diag.Outcome {
	if outcome, known := a.asked.rolled[w]; known {
		return outcome
	}
	_, outcome := worst(filterStarted(a.j.Rollouts(w)))
	return outcome
}

// survives returns the worst outcome of each loss that is asked about, for both meanings.
func (a *answering) survives(w *workload.Workload, rows []facts.Survives) []facts.Survives {
	rows = slices.Clone(rows)
	if !outlives(w) {
		return rows
	}
	for i := range rows {
		all := a.j.Survives(w, rows[i].Key)
		rows[i].Gone = worstOf(all, certificate.Gone)
		rows[i].Unreachable = worstOf(all, certificate.Unreachable)
	}
	return rows
}

// worstOf returns the worst outcome of the losses of one meaning. It is unknown if there are none,
// for example because no node has the key.
func worstOf(all []disruption.Survival, meaning certificate.Meaning) diag.Outcome {
	worst := (*disruption.Survival)(nil)
	for i := range all {
		if s := &all[i]; s.Meaning == meaning && (worst == nil || s.Worse(worst)) {
			worst = s
		}
	}
	if worst == nil {
		return diag.Unknown
	}
	if disruption.Certain(all, meaning) > 0 {
		return diag.Never
	}
	return worst.Verdict
}
