package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// decide compares verdicts, numbers and runs.
func (c *Comparer) decide(ctx context.Context, r *Report, cluster *Cluster, ours *Ours) error {
	truth, err := Explore(ctx, c.World, cluster, c.States)
	if errors.Is(err, ErrTooLarge) {
		r.Discarded = true
		return nil
	}
	if err != nil {
		return err
	}
	r.Truth = truth
	if err := c.bounds(ctx, r, cluster, ours, truth); err != nil || len(r.Findings) > 0 {
		return err
	}
	rules := truth
	if cluster.contended() {
		free, err := c.World.rules(ctx, cluster)
		if err == nil {
			rules, err = Explore(ctx, c.World, free, c.States)
		}
		if errors.Is(err, ErrTooLarge) {
			rules = nil
		} else if err != nil {
			return err
		}
	}
	// A budget that ends early may leave things open, but nothing may be wrong.
	for _, steps := range []int{c.Steps, 1, 60, 600} {
		d := search.Decide(ours.Model, search.Options{Steps: steps, AtOnce: true, Each: true})
		if steps == c.Steps {
			if r.Undetermined = d.Verdict == diag.Unknown; r.Undetermined {
				r.Why = why(d)
			}
		}
		if err := c.decision(ctx, r, cluster, ours, d, truth, rules); err != nil {
			return err
		}
		if len(r.Findings) > 0 {
			r.Findings[0].Text = fmt.Sprintf("with %d steps: %s", steps, r.Findings[0].Text)
			return nil
		}
	}
	return nil
}

// decision compares one decision with what exploration found.
func (c *Comparer) decision(ctx context.Context, r *Report, cluster *Cluster, ours *Ours, d *certificate.Decision, truth, rules *Truth) error {
	r.numbers(truth, d)
	if rules != nil {
		r.rules(rules, d)
	}
	if len(r.Findings) > 0 {
		return nil
	}
	if err := c.witness(ctx, r, cluster, ours, truth, d); err != nil {
		return err
	}
	return c.stuck(ctx, r, cluster, ours, truth, d)
}

// rules compares the verdicts on rules alone.
func (r *Report) rules(rules *Truth, d *certificate.Decision) {
	if d.RulesVerdict != diag.Unknown && string(d.RulesVerdict) != string(rules.Verdict) {
		r.find("rules", string(rules.Verdict)+"/"+string(d.RulesVerdict), "without contention the scheduler says %s (%d to %d of %d), we %s", rules.Verdict, rules.MinPlaced, rules.MaxPlaced, rules.Total, d.RulesVerdict)
		return
	}
	for _, w := range d.Workloads {
		name := nameIn(w.Workload)
		span, ok := rules.Series[name]
		if want := span.verdict(); ok && w.RulesVerdict != diag.Unknown && string(w.RulesVerdict) != string(want) {
			r.find("rules", "workload "+string(want)+"/"+string(w.RulesVerdict), "%s: without contention %d to %d of %d, we %s", name, span.Min, span.Max, span.Pods, w.RulesVerdict)
		}
	}
}

// nameIn is how a Cluster names a workload.
func nameIn(w *workload.Workload) string {
	return w.Object.Kind + " " + w.Object.Namespace + "/" + w.Object.Name
}

// numbers compares verdicts and how many pods are placed.
func (r *Report) numbers(truth *Truth, d *certificate.Decision) {
	if d.Verdict != diag.Unknown && string(d.Verdict) != string(truth.Verdict) {
		r.find("verdict", string(truth.Verdict)+"/"+string(d.Verdict), "scheduler %s (%d to %d of %d), we %s (%d to %d of %d)",
			truth.Verdict, truth.MinPlaced, truth.MaxPlaced, truth.Total, d.Verdict, d.MinPlaced, d.MaxPlaced, d.Total)
		return
	}
	wrong := d.MaxPlaced < truth.MaxPlaced || d.MinPlaced > truth.MinPlaced || d.Exact && (d.MaxPlaced != truth.MaxPlaced || d.MinPlaced != truth.MinPlaced)
	if d.Total != truth.Total || wrong {
		cause := fmt.Sprintf("total %v most %d least %d", d.Total == truth.Total, cmp.Compare(d.MaxPlaced, truth.MaxPlaced), cmp.Compare(d.MinPlaced, truth.MinPlaced))
		r.find("placed", cause, "scheduler %d to %d of %d, we %d to %d of %d (exact: %v)", truth.MinPlaced, truth.MaxPlaced, truth.Total, d.MinPlaced, d.MaxPlaced, d.Total, d.Exact)
		return
	}
	for _, w := range d.Workloads {
		name := nameIn(w.Workload)
		span, ok := truth.Series[name]
		if !ok && w.Pods == 0 {
			continue
		}
		wrong := w.MaxPlaced < span.Max || w.MinPlaced > span.Min || d.Exact && (w.MaxPlaced != span.Max || w.MinPlaced != span.Min)
		if w.Pods != span.Pods || wrong {
			cause := fmt.Sprintf("pods %v most %d least %d", w.Pods == span.Pods, cmp.Compare(w.MaxPlaced, span.Max), cmp.Compare(w.MinPlaced, span.Min))
			r.find("workload", cause, "%s: scheduler %d to %d of %d, we %d to %d of %d", name, span.Min, span.Max, span.Pods, w.MinPlaced, w.MaxPlaced, w.Pods)
		}
		if want := span.verdict(); ok && w.Verdict != diag.Unknown && string(w.Verdict) != string(want) {
			r.find("workload", string(want)+"/"+string(w.Verdict), "%s: scheduler %d to %d of %d, we %s", name, span.Min, span.Max, span.Pods, w.Verdict)
		}
	}
}

// witness replays our run that places most through the real filters.
func (c *Comparer) witness(ctx context.Context, r *Report, cluster *Cluster, ours *Ours, truth *Truth, d *certificate.Decision) error {
	if d.Verdict == diag.Unknown && len(d.Witness) == 0 {
		return nil
	}
	replayed, err := c.replay(ctx, cluster, ours, d.Witness, func([]int) bool { return true })
	if err != nil {
		return err
	}
	switch {
	case !replayed:
		r.find("witness", "refused", "the scheduler does not allow our run %s", path(d.Witness))
	case d.Verdict != diag.Never && d.Verdict != diag.Unknown && len(d.Witness) != truth.Total:
		r.find("witness", "incomplete", "our run places %d of %d: %s", len(d.Witness), truth.Total, path(d.Witness))
	case d.Verdict == diag.Never && d.Exact && len(d.Witness) != truth.MaxPlaced:
		r.find("witness", "not the most", "our run places %d of %d: %s", len(d.Witness), truth.MaxPlaced, path(d.Witness))
	}
	return nil
}

// stuck replays our run that ends with pods left over.
func (c *Comparer) stuck(ctx context.Context, r *Report, cluster *Cluster, ours *Ours, truth *Truth, d *certificate.Decision) error {
	if d.Stuck == nil {
		// A small budget need not find one.
		if d.Exact && d.Verdict != diag.Unknown && d.Verdict != diag.Always {
			r.find("stuck", "absent", "the verdict is %s and no run ends stuck", d.Verdict)
		}
		return nil
	}
	pending, named := 0, map[string]bool{}
	for _, p := range d.Stuck.Pending {
		pending += p.Count
		named[nameIn(p.Workload)] = true
	}
	// Where something is left open, the run is one of the rest.
	whole := true
	for _, w := range d.Workloads {
		if w.Verdict == diag.Unknown {
			whole = false
			delete(named, nameIn(w.Workload))
		}
	}
	maximal := func(left []int) bool {
		x := &explorer{world: c.World, classes: cluster.Classes(), left: left}
		for i, class := range x.classes {
			if x.pending(i) && (whole || named[class.Series.Name]) && slices.Contains(c.World.Filter(ctx, class), "") {
				return false
			}
		}
		return true
	}
	replayed, err := c.replay(ctx, cluster, ours, d.Stuck.Placements, maximal)
	if err != nil {
		return err
	}
	switch {
	case !replayed:
		r.find("stuck", "not stuck", "the scheduler does not allow our stuck run, or goes on after it: %s", path(d.Stuck.Placements))
	case whole && len(d.Stuck.Placements)+pending != truth.Total || pending == 0:
		r.find("stuck", "sum", "%d placed and %d pending are not %d", len(d.Stuck.Placements), pending, truth.Total)
	}
	return nil
}

// replay places pods in order, each through the real filters. Where a workload
// has pods that differ, any choice among them will do, as among the places of volumes. It tells
// whether some choice goes through and ends well.
func (c *Comparer) replay(ctx context.Context, cluster *Cluster, ours *Ours, run []certificate.Placed, good func(left []int) bool) (bool, error) {
	choices, err := cluster.choices()
	if err != nil {
		return false, err
	}
	x := &explorer{world: c.World, classes: cluster.Classes()}
	for _, class := range x.classes {
		x.left = append(x.left, class.Count)
	}
	var next func(i int) bool
	next = func(i int) bool {
		if i == len(run) {
			return good(x.left)
		}
		node := slices.Index(ours.Nodes, run[i].Node)
		for k, class := range x.classes {
			if ours.Workloads[class.Series.Name] != run[i].Workload || !x.pending(k) || c.World.Filter(ctx, class)[node] != "" {
				continue
			}
			x.left[k]--
			c.World.Place(class, node)
			ok := next(i + 1)
			c.World.Remove(class, node)
			x.left[k]++
			if ok {
				return true
			}
		}
		return false
	}
	for _, choice := range choices {
		if err := c.World.Load(choice); err != nil || next(0) {
			return err == nil, err
		}
	}
	return false, nil
}

// path is a run as text.
func path(run []certificate.Placed) string {
	text := ""
	for _, p := range run {
		text += p.Workload.Object.Name + "@" + p.Node.Name + " "
	}
	return text
}

// why is what leaves a verdict open: labels, or the budget.
func why(d *certificate.Decision) string {
	keys := map[string]bool{}
	for _, doubt := range d.Doubts {
		keys[string(doubt.Term.Use)+" "+doubt.Key] = true
	}
	if len(keys) == 0 {
		return "budget"
	}
	return strings.Join(slices.Sorted(maps.Keys(keys)), ", ")
}
