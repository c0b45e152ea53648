package derive

import (
	"cmp"
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
	// Asked as the place command asks, with budgets of its own.
	as := decision{newBuilder(Input{Model: b.m, Set: b.Set, Survive: b.Input.Survive, Asks: b.Asks}), newSurvivals()}
	as.j, as.prepared, as.rows, as.Built.Facts.Workloads = b.j, true, b.rows, b.Built.Facts.Workloads
	reads := func(field string) bool { return b.whole("workloads.answers." + field) }
	fits := map[*workload.Workload]diag.Outcome{}
	if reads("fits") || reads("drains") || reads("survives") {
		d := search.Decide(b.m, search.Options{})
		for i := range d.Workloads {
			fits[d.Workloads[i].Workload] = d.Workloads[i].Verdict
		}
	}
	for _, w := range b.m.Workloads {
		if row, known := all[w]; known && b.m.Judged(w) {
			row.Fits = cmp.Or(fits[w], row.Fits)
			b.answer(as, w, &row)
			all[w] = row
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

// answer fills in the answers about changes to a workload, as far as some rule reads them.
func (b *builder) answer(as decision, w *workload.Workload, row *facts.Answers) {
	var questions []func(*workload.Workload)
	ask := func(field string, f func(*workload.Workload)) {
		if b.whole("workloads.answers." + field) {
			questions = append(questions, f)
		}
	}
	ask("rolls", func(w *workload.Workload) {
		outcome, known := b.rolled[w]
		if !known {
			_, outcome = worst(filterStarted(b.j.Rollouts(w)))
		}
		row.Rolls = outcome
	})
	ask("survives", func(w *workload.Workload) {
		rows := slices.Clone(row.Survives)
		for i := 0; outlives(w) && i < len(rows); i++ {
			all := b.j.Survives(w, rows[i].Key)
			rows[i].Gone, rows[i].Unreachable = worstOf(all, certificate.Gone), worstOf(all, certificate.Unreachable)
		}
		row.Survives = rows
	})
	ask("drains", func(w *workload.Workload) { row.Drains = diag.Outcome(as.drains(w).Verdict) })
	ask("migrates", func(w *workload.Workload) { row.Migrates = b.j.Migration(w).Answer })
	ask("autoscales", func(w *workload.Workload) { row.Autoscales = b.j.Scaling(w).Answer })
	as.changes().asks(w, questions...)
	if row.Fits == diag.Never && outlives(w) { // like place: there is nothing to drain
		row.Drains = diag.None
		for i := range row.Survives {
			row.Survives[i].Gone, row.Survives[i].Unreachable = diag.Never, diag.Never
		}
	}
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
