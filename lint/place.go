package lint

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/schedlint/schedlint/lint/change"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/placement"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// ErrNoTopology is returned by Place if no node is declared.
var ErrNoTopology = errors.New("no topology: declare the nodes with --topology FILE")

// Place decides whether the workloads of one cluster can be placed together.
// Documents that cannot be read are errors here, as a decision about the rest
// would be one about something else.
func Place(ctx context.Context, o Options, budget placement.Options) (*diag.Placement, error) {
	if o.Config == nil {
		o.Config = &config.Config{}
	}
	losses := o.Survive
	if len(losses) == 0 {
		losses = defaultLosses()
	}
	r := newRun(ctx, o, losses)
	r.load()
	for _, p := range r.set.Problems {
		r.fail(fmt.Errorf("%s:%d: %s: %s", r.display(p.Span.File), p.Span.Line, p.Kind, p.Detail))
	}
	parts := r.clusters()
	if len(parts) > 1 {
		var names []string
		for _, p := range parts {
			names = append(names, p.name)
		}
		r.fail(fmt.Errorf("the paths belong to several clusters (%s): a decision is about one, so give the paths of one", strings.Join(names, ", ")))
	}
	if err := errors.Join(r.errs...); err != nil {
		return nil, err
	}
	set := workload.Load(r.table, parts[0].objects)
	topo := r.topology(parts[0], set.Topologies)
	if err := errors.Join(r.errs...); err != nil {
		return nil, err
	}
	if topo.Empty() {
		return nil, ErrNoTopology
	}
	m := placement.NewModel(set, topo)
	doc := facts.Decision(m, placement.Decide(m, budget), change.New(m, set, budget), r.survive)
	doc.Notes = append(doc.Notes, r.caveats(set, topo)...)
	return doc, nil
}

// caveats are the notes on what a decision takes for granted and leaves out.
func (r *run) caveats(set *workload.Set, topo *topology.Topology) []string {
	notes := []string{"order and choice among passing nodes are free, nothing moves afterwards, and nothing undeclared is assumed to exist"}
	notes = append(notes, unknownLosses(&r.Options, topo)...)
	if n := len(r.set.Untracked); n > 0 {
		notes = append(notes, fmt.Sprintf("files that git does not track do not count: %d left out", n))
	}
	if left := r.leftOut(set); left != "" {
		notes = append(notes, "skipped and not part of this decision: "+left)
	}
	for _, group := range set.Repeated {
		notes = append(notes, fmt.Sprintf("%s %s is declared %d times, the last one counts", group[0].Kind, group[0].Name, len(group)))
	}
	return notes
}
