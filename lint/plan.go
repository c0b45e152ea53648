package lint

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/upgrade"
	"github.com/schedlint/schedlint/lint/workload"
)

// Plan decides for each context whether all nodes of a pool can be replaced. Clusters without the
// pool are left out; it returns an error if no cluster has it. It reports unreadable input as a failure
// and ignores it. If atMin is set, autoscaled workloads count with their least number of pods.
func Plan(ctx context.Context, o Options, pool string, atMin bool) (*diag.Upgrades, error) {
	if o.Level == nil {
		o.Level = func(string) diag.Level { return diag.LevelOff }
	}
	o.Survive = nil // the configuration asks for no losses
	r := newRun(ctx, o, nil)
	m := r.load()
	if err := r.failures.err(); err != nil {
		return nil, err
	}
	doc := &diag.Upgrades{SchemaVersion: "1", AtMin: atMin, Upgrades: []diag.Upgrade{}}
	var names []string // of pools in clusters without the pool
	found := false
	parts := r.clusters.parts(m)
	for i, p := range parts {
		c := r.clusters.divide(p)
		r.apply(c)
		leftOut := r.summary.leftOut()
		for x := range c.Contexts() {
			s := r.scene(c, x)
			if err := r.failures.err(); err != nil {
				return nil, err
			}
			if s.nodes.Empty() {
				return nil, ErrNoTopology
			}
			at := slices.IndexFunc(s.nodes.Pools, func(p *topology.Pool) bool { return p.Name == pool })
			if at < 0 {
				names = append(names, lists.Of(s.nodes.Pools, func(p *topology.Pool) string { return p.Name })...)
				continue
			}
			if found = true; len(s.set.Workloads) == 0 {
				continue
			}
			one := r.planned(s, s.nodes.Pools[at], atMin)
			one.Notes = append(one.Notes, r.caveats(s, len(m.set.Untracked), leftOut)...)
			doc.Upgrades = append(doc.Upgrades, *one)
		}
		r.progress(i+1, len(parts))
	}
	if !found {
		return nil, fmt.Errorf("no pool has the name %s%s", pool, diag.Question(diag.Nearest(pool, names)))
	}
	doc.Failures = slices.Concat(r.notChecked(), unread(m), r.failures.undone)
	doc.Unrendered = r.summary.Unrendered
	return doc, r.failures.err()
}

// judged returns the part of an answer about a pool that is about one workload, or nil if the workload
// has no pods there.
func judged(answer *diag.Upgrade, name string) *diag.PlacementJudgement {
	if !slices.Contains(answer.Asked, name) {
		return nil
	}
	reason := func(format string, args ...any) string {
		return fmt.Sprintf("pool %s: ", answer.Pool) + fmt.Sprintf(format, args...)
	}
	if answer.Verdict == string(diag.Always) {
		return &diag.PlacementJudgement{Verdict: answer.Verdict}
	}
	for _, why := range answer.Why {
		if why.Workload == name {
			text := why.Text
			if budget := why.Unnamed(); budget != "" {
				text = budget + ": " + text
			}
			return &diag.PlacementJudgement{Verdict: answer.Verdict, Reason: reason("%s", text)}
		}
	}
	first := answer.Why[0]
	switch {
	case first.Workload == "":
		return &diag.PlacementJudgement{Verdict: string(diag.Unknown), Reason: reason("%s", first.Text)}
	case answer.Verdict == string(diag.Never):
		return &diag.PlacementJudgement{Verdict: string(diag.Unknown), Reason: reason("%s stops the upgrade", first.Workload)}
	}
	return &diag.PlacementJudgement{Verdict: string(diag.Unknown), Reason: reason("it is not known whether %s stops the upgrade", first.Workload)}
}

// upgraded returns the cluster of a context for questions about upgrades.
func (r *run) upgraded(s *scene, atMin bool) *upgrade.Cluster {
	return &upgrade.Cluster{Topology: s.nodes, Set: s.set, AtMin: atMin, Factor: r.budget.factor, Scale: func(m *model.Model) { m.Scale(r.opts.Steps, r.budget.share()) }}
}

// planned decides about a pool in a context.
func (r *run) planned(s *scene, pool *topology.Pool, atMin bool) *diag.Upgrade {
	c := r.upgraded(s, atMin)
	settings := upgrade.SettingsOf(pool)
	one := upgrade.Of(c, pool, settings)
	one.Suffices = append(one.Suffices, upgrade.Suffices(c, pool, settings, one)...)
	if open := s.unplaced(); one.Verdict == string(diag.Always) && len(open) > 0 {
		one.Verdict, one.Why = string(diag.Unknown), open
	}
	one.Cluster, one.Context = s.cluster.name, cmp.Or(s.cluster.render, s.cluster.entry, s.Name)
	for i := range one.Why {
		why := &one.Why[i]
		why.Location = r.renders.InSources(why.Location)
		why.File, why.Line = why.Location.File, why.Location.Line
	}
	return one
}

// unplaced lists the workloads of a context whose pods are rejected, never all fit or are not modeled. How
// an upgrade ends for them is not known.
func (s *scene) unplaced() (all []diag.UpgradeReason) {
	add := func(w *workload.Workload, text string) {
		all = append(all, diag.UpgradeReason{Workload: w.String(), Text: text, Location: w.CountSpan()})
	}
	for _, w := range s.model.Workloads {
		if len(w.Problems) > 0 && !w.Copy && !w.Superseded {
			add(w, w.Problems[0].Field+": "+w.Problems[0].Message)
		}
	}
	for _, w := range s.model.NotModeled() {
		add(w, message.Reason(cmp.Or(s.model.Group(w).Unknown, model.Reason{Cause: model.ByCount})))
	}
	for _, w := range s.decide(s.model).Workloads {
		if w.Verdict == diag.Never {
			add(w.Workload, message.Reason(model.Reason{Cause: model.Unplaced}))
		}
	}
	return all
}
