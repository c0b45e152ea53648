package lint

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/upgrade"
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
				for _, p := range s.nodes.Pools {
					names = append(names, p.Name)
				}
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

// planned decides about a pool in a context.
func (r *run) planned(s *scene, pool *topology.Pool, atMin bool) *diag.Upgrade {
	c := &upgrade.Cluster{Topology: s.nodes, Set: s.set, AtMin: atMin, Factor: r.budget.factor, Scale: func(m *model.Model) { m.Scale(r.opts.Steps, r.budget.share()) }}
	settings := upgrade.SettingsOf(pool)
	one := upgrade.Of(c, pool, settings)
	one.Suffices = append(one.Suffices, upgrade.Suffices(c, pool, settings, one)...)
	one.Cluster, one.Context = s.cluster.name, cmp.Or(s.cluster.render, s.cluster.entry, s.Name)
	for i := range one.Why {
		why := &one.Why[i]
		why.Location = r.renders.InSources(why.Location)
		why.File, why.Line = why.Location.File, why.Location.Line
	}
	return one
}
