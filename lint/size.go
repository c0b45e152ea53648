package lint

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sizing"
)

// Size finds for each context the cheapest sizes of the pools for which everything that is asked
// holds. Contexts are sized one by one. It reports unreadable input as a failure and ignores it. If
// write is set, it also returns the node files with these sizes.
func Size(ctx context.Context, o Options, asked *sizing.Options, write bool) (*diag.Sizes, []FixedFile, error) {
	if o.Level == nil {
		o.Level = func(string) diag.Level { return diag.LevelOff }
	}
	o.Survive = nil // the configuration asks for no further losses
	r := newRun(ctx, o, nil)
	m := r.load()
	if err := r.failures.err(); err != nil {
		return nil, nil, err
	}
	var files []FixedFile
	doc := &diag.Sizes{SchemaVersion: "1", For: asked.Questions(), Survives: slices.Clone(asked.Survives), AtMin: asked.AtMin, Sizes: []diag.Sizing{}}
	parts := r.clusters.parts(m)
	for i, p := range parts {
		p.topology = append(slices.Clip(p.topology), asked.Candidates...)
		c := r.clusters.divide(p)
		r.apply(c)
		leftOut := r.summary.leftOut()
		for x := range c.Contexts() {
			s := r.scene(c, x)
			if err := r.failures.err(); err != nil {
				return nil, nil, err
			}
			if s.nodes.Empty() && len(s.nodes.Pools) == 0 {
				return nil, nil, ErrNoTopology
			}
			if len(s.set.Workloads) == 0 {
				continue
			}
			one, err := r.sized(s, asked)
			if err != nil {
				return nil, nil, err
			}
			if asked.Rooms != nil && len(one.Workloads) == 0 {
				continue
			}
			one.Notes = append(one.Notes, r.caveats(s, len(m.set.Untracked), leftOut)...)
			doc.Sizes = append(doc.Sizes, *one)
			if write && (one.Verdict == diag.SizeMinimal || one.Verdict == diag.SizeFound) {
				if len(doc.Sizes) > 1 {
					return nil, nil, errSeveral
				}
				if files, err = r.writeSizes(asked, s.nodes, one); err != nil {
					return nil, nil, err
				}
			}
		}
		r.progress(i+1, len(parts))
	}
	doc.Failures = slices.Concat(r.notChecked(), unread(m), r.failures.undone)
	doc.Unrendered = r.summary.Unrendered
	return doc, files, r.failures.err()
}

// errSeveral is returned if it is not clear which sizes to write.
var errSeveral = errors.New("--write needs a single context: name the paths that are deployed to these nodes")

// sized sizes the pools of a context.
func (r *run) sized(s *scene, asked *sizing.Options) (*diag.Sizing, error) {
	was := s.set
	s.set = sizing.AtSize(was, asked.AtMin)
	s.placed = map[*model.Model]*certificate.Decision{}
	r.clusters.modelled(s)
	scale := func(m *model.Model) { m.Scale(r.opts.Steps, r.budget.share()) }
	one, err := &diag.Sizing{Pools: []diag.SizedPool{}, Notes: []string{}}, error(nil)
	if asked.Rooms != nil {
		one.Workloads, err = sizing.Rooms(asked, s.nodes, was, r.budget.factor, scale)
	} else {
		one, err = sizing.Of(asked, s.nodes, s.set, r.budget.factor, scale)
	}
	if err != nil {
		return nil, err
	}
	one.Cluster, one.Context = s.cluster.name, cmp.Or(s.cluster.render, s.cluster.entry, s.Name)
	locate := func(why *diag.SizeReason) {
		for i := range why.Core {
			core := &why.Core[i]
			core.Location = r.renders.InSources(core.Location)
			core.File, core.Line, core.Column = core.Location.File, core.Location.Line, core.Location.Column
		}
	}
	for _, why := range []*diag.SizeReason{one.Why, one.DeclaredWhy} {
		if why != nil {
			locate(why)
		}
	}
	for i := range one.Workloads {
		if why := one.Workloads[i].Why; why != nil {
			locate(why)
		}
	}
	for i := range one.Pools {
		if why := one.Pools[i].Less; why != nil {
			locate(why)
		}
	}
	r.summary.premises.assume(s.model)
	one.Notes = append(one.Notes, r.summary.premises.notes()...)
	return one, nil
}
