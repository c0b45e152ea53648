package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/placement"
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
	d := placement.Decide(ours.Model, placement.Options{Steps: c.Steps})
	r.Undetermined = d.Verdict == placement.Undetermined
	r.numbers(truth, d)
	if err := c.witness(ctx, r, cluster, ours, truth, d); err != nil {
		return err
	}
	return c.stuck(ctx, r, cluster, ours, truth, d)
}

// numbers compares verdicts and how many pods are placed.
func (r *Report) numbers(truth *Truth, d *placement.Decision) {
	if !r.Undetermined && string(d.Verdict) != string(truth.Verdict) {
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
		name := w.Workload.Object.Kind + " " + w.Workload.Object.Namespace + "/" + w.Workload.Object.Name
		span, ok := truth.Series[name]
		if !ok && w.Pods == 0 {
			continue
		}
		wrong := w.MaxPlaced < span.Max || w.MinPlaced > span.Min || d.Exact && (w.MaxPlaced != span.Max || w.MinPlaced != span.Min)
		if w.Pods != span.Pods || wrong {
			cause := fmt.Sprintf("pods %v most %d least %d", w.Pods == span.Pods, cmp.Compare(w.MaxPlaced, span.Max), cmp.Compare(w.MinPlaced, span.Min))
			r.find("workload", cause, "%s: scheduler %d to %d of %d, we %d to %d of %d", name, span.Min, span.Max, span.Pods, w.MinPlaced, w.MaxPlaced, w.Pods)
		}
	}
}

// witness replays our run that places most through the real filters.
func (c *Comparer) witness(ctx context.Context, r *Report, cluster *Cluster, ours *Ours, truth *Truth, d *placement.Decision) error {
	if len(r.Findings) > 0 || r.Undetermined && len(d.Witness) == 0 {
		return nil
	}
	replayed, err := c.replay(ctx, cluster, ours, d.Witness, func([]int) bool { return true })
	if err != nil {
		return err
	}
	switch {
	case !replayed:
		r.find("witness", "refused", "the scheduler does not allow our run %s", path(d.Witness))
	case d.Verdict != placement.Never && !r.Undetermined && len(d.Witness) != truth.Total:
		r.find("witness", "incomplete", "our run places %d of %d: %s", len(d.Witness), truth.Total, path(d.Witness))
	case d.Verdict == placement.Never && d.Exact && len(d.Witness) != truth.MaxPlaced:
		r.find("witness", "not the most", "our run places %d of %d: %s", len(d.Witness), truth.MaxPlaced, path(d.Witness))
	}
	return nil
}

// stuck replays our run that ends with pods left over.
func (c *Comparer) stuck(ctx context.Context, r *Report, cluster *Cluster, ours *Ours, truth *Truth, d *placement.Decision) error {
	if d.Stuck == nil {
		if len(r.Findings) == 0 && !r.Undetermined && d.Verdict != placement.Always {
			r.find("stuck", "absent", "the verdict is %s and no run ends stuck", d.Verdict)
		}
		return nil
	}
	maximal := func(left []int) bool {
		x := &explorer{world: c.World, classes: cluster.Classes(), left: left}
		for i, class := range x.classes {
			if x.pending(i) && slices.Contains(c.World.Filter(ctx, class), "") {
				return false
			}
		}
		return true
	}
	replayed, err := c.replay(ctx, cluster, ours, d.Stuck.Placements, maximal)
	if err != nil {
		return err
	}
	pending := 0
	for _, p := range d.Stuck.Pending {
		pending += p.Count
	}
	switch {
	case !replayed:
		r.find("stuck", "not stuck", "the scheduler does not allow our stuck run, or goes on after it: %s", path(d.Stuck.Placements))
	case len(d.Stuck.Placements)+pending != truth.Total || pending == 0:
		r.find("stuck", "sum", "%d placed and %d pending are not %d", len(d.Stuck.Placements), pending, truth.Total)
	}
	return nil
}

// replay places pods in order, each through the real filters. Where a workload
// has pods that differ, any choice among them will do. It tells whether some
// choice goes through and ends well.
func (c *Comparer) replay(ctx context.Context, cluster *Cluster, ours *Ours, run []placement.Placed, good func(left []int) bool) (bool, error) {
	if err := c.World.Load(cluster); err != nil {
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
	return next(0), nil
}

// path is a run as text.
func path(run []placement.Placed) string {
	text := ""
	for _, p := range run {
		text += p.Workload.Object.Name + "@" + p.Node.Name + " "
	}
	return text
}
