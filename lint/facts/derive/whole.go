package derive

import (
	"cmp"
	"reflect"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// questions returns the names of all lists that can be completed. Most complete lists have a row
// for each workload. The outcome of the row is "none" if the question does not apply. It is
// "unknown" if there is no answer.
func questions() []string {
	names := lists.Of(perWorkload(), func(q question) string { return q.list })
	return append(names, "topology_keys", "node_labels", "selectors", "node_terms", "node_matches", "label_keys", "budgets", "attachments")
}

// emptyRow holds the values of a row that is added to complete a list.
type emptyRow struct {
	w       int
	outcome diag.Outcome
	cause   string
}

// question is a list with an outcome for each workload.
type question struct {
	list string
	// change is set if the question is about a change, such as a rollout or the loss of a node.
	// Such questions are skipped for workloads whose pods do not fit.
	change bool
	// arises reports whether the question applies to a workload. If not, the workload gets a row
	// with the outcome "none". If bare is set, it gets no row.
	arises func(b *builder, w *workload.Workload) bool
	bare   bool
	// add adds one or more rows for a workload.
	add func(b *builder, w *workload.Workload, r emptyRow)
}

func perWorkload() []question {
	permanent := func(_ *builder, w *workload.Workload) bool {
		return !w.Finite() && !w.Kind.PerNode() && (!w.Count.Known || w.Count.N > 1)
	}
	each := func(*builder, *workload.Workload) bool { return true }
	lasting := func(_ *builder, w *workload.Workload) bool { return !w.Finite() }
	return []question{
		{"sharing", false, permanent, false, func(b *builder, w *workload.Workload, r emptyRow) {
			b.Sharing = append(b.Sharing, facts.Sharing{ID: b.at(w, w.CountSpan()), W: r.w, Outcome: r.outcome})
		}},
		{"eligibility", false, each, false, func(b *builder, w *workload.Workload, r emptyRow) {
			b.Eligibility = append(b.Eligibility, facts.Eligibility{ID: b.at(w, w.CountSpan()), W: r.w, Outcome: r.outcome})
		}},
		{"requests", false, func(b *builder, w *workload.Workload) bool { return len(model.Requests(w)) > 0 }, true, addRequests},
		{"anti_affinity", false, hardTerm(model.AntiAffinity), true, func(b *builder, w *workload.Workload, r emptyRow) {
			b.AntiAffinity = append(b.AntiAffinity, facts.AntiAffinity{ID: b.at(w, w.CountSpan()), W: r.w, Outcome: r.outcome, Keys: keysOf(b, w, model.AntiAffinity)})
		}},
		{"spreads", false, hardTerm(model.Spread), true, addSpreads},
		{"host_ports", false, func(b *builder, w *workload.Workload) bool { return len(b.m.Group(w).HostPorts) > 0 }, true, addHostPorts},
		{"room", false, each, false, func(b *builder, w *workload.Workload, r emptyRow) {
			b.Room = append(b.Room, facts.Room{ID: b.at(w, w.CountSpan()), W: r.w, Outcome: r.outcome, Cause: "pods"})
		}},
		{"rollouts", true, lasting, false, func(b *builder, w *workload.Workload, r emptyRow) {
			s := about(w, w.CountSpan())
			s.described = updating(w, diag.Span{})
			b.Rollouts = append(b.Rollouts, facts.Rollout{ID: b.subject(s), W: r.w, Outcome: r.outcome, Cause: r.cause, Way: string(workload.NoRollout), Limit: limitOf(-1, nil)})
		}},
		{"skews", true, hardTerm(model.Spread), false, func(b *builder, w *workload.Workload, r emptyRow) {
			b.Skews = append(b.Skews, facts.Skew{ID: b.at(w, w.CountSpan()), W: r.w, Outcome: r.outcome})
		}},
		{"losses", true, func(_ *builder, w *workload.Workload) bool { return !w.Bare() && !w.Finite() && !w.Kind.PerNode() }, false, addLosses},
		{"drains", true, func(b *builder, w *workload.Workload) bool {
			return !w.Finite() && !w.Kind.PerNode() && (!b.topo || len(b.m.Topology.Nodes) > 1)
		}, false, func(b *builder, w *workload.Workload, r emptyRow) {
			b.Drains = append(b.Drains, facts.Drain{ID: b.at(w, w.CountSpan()), W: r.w, Outcome: r.outcome})
		}},
		{"migrations", true, func(_ *builder, w *workload.Workload) bool { return w.Kind.VM }, true, func(b *builder, w *workload.Workload, r emptyRow) {
			b.Migrations = append(b.Migrations, facts.Migration{ID: b.at(w, w.CountSpan()), W: r.w, Outcome: r.outcome, Cause: r.cause, Limit: limitOf(-1, nil)})
		}},
		{"autoscalers", true, func(_ *builder, w *workload.Workload) bool { return w.Scale != nil }, true, func(b *builder, w *workload.Workload, r emptyRow) {
			b.Autoscalers = append(b.Autoscalers, facts.Autoscaler{
				ID: b.at(w, w.CountSpan()), W: r.w, Outcome: r.outcome, Cause: r.cause, Object: scalerName(w), Rivals: []string{}, Min: w.Scale.Min, Max: w.Scale.Max, Default: w.Scale.MaxDefault, Limit: limitOf(-1, nil),
			})
		}},
	}
}

// hardTerm returns a function that reports whether a workload has a hard term with the given use.
func hardTerm(use model.Use) func(*builder, *workload.Workload) bool {
	return func(b *builder, w *workload.Workload) bool { return len(keysOf(b, w, use)) > 0 }
}

// keysOf returns the topology keys of the hard terms with the given use.
func keysOf(b *builder, w *workload.Workload, use model.Use) []string {
	var keys []string
	for _, t := range b.m.Group(w).Terms {
		if t.Hard && t.Use == use && t.Declared() {
			keys = append(keys, t.Key)
		}
	}
	return keys
}

func addRequests(b *builder, w *workload.Workload, r emptyRow) {
	for _, q := range model.Requests(w) {
		row := facts.Request{ID: b.at(w, requestSpan(w, q.Name)), W: r.w, Outcome: r.outcome, Resource: string(q.Name), Request: q.Quantity.String(), PerNode: w.Kind.PerNode()}
		b.Requests = append(b.Requests, row)
	}
}

func addSpreads(b *builder, w *workload.Workload, r emptyRow) {
	for _, t := range b.m.Group(w).Terms {
		if t.Hard && t.Use == model.Spread {
			row := facts.Spread{ID: b.at(w, w.File().ItemSpan(t.Node)), W: r.w, Outcome: r.outcome, Key: t.Key, MaxSkew: int(t.Constraint.MaxSkew), MinDomains: t.MinDomains()}
			b.Spreads = append(b.Spreads, row)
		}
	}
}

func addHostPorts(b *builder, w *workload.Workload, r emptyRow) {
	port := b.m.Group(w).HostPorts[0]
	b.HostPorts = append(b.HostPorts, facts.HostPort{ID: b.at(w, w.CountSpan()), W: r.w, Outcome: r.outcome, Port: int(port.Port), Protocol: string(port.Protocol)})
}

func addLosses(b *builder, w *workload.Workload, r emptyRow) {
	for _, key := range b.lost(w) {
		row := facts.Loss{ID: b.at(w, w.CountSpan()), W: r.w, Outcome: r.outcome, Cause: r.cause, Key: key, Required: b.required(w, key), Meaning: "both", Pods: model.Certain(w)}
		b.Losses = append(b.Losses, row)
	}
}

// at registers a subject for a workload at a span and returns the id for its row.
func (b *builder) at(w *workload.Workload, span diag.Span) int { return b.subject(about(w, span)) }

// fill adds rows for missing workloads to each list that must be complete.
func (b *builder) fill() {
	for _, q := range perWorkload() {
		if !b.whole(q.list) {
			continue
		}
		present := b.present(q.list)
		for _, w := range b.m.Workloads {
			if w.Copy || w.Superseded || present[b.row(w)] || q.bare && !q.arises(b, w) {
				continue
			}
			r := emptyRow{w: b.row(w)}
			r.outcome, r.cause = b.defaultOutcome(q, w)
			q.add(b, w, r)
		}
	}
}

// present returns the indices of the workloads that have a row in a list.
func (b *builder) present(list string) map[int]bool {
	ws := map[int]bool{}
	all := reflect.ValueOf(b.Built.Facts).Elem()
	for i := range all.NumField() {
		if all.Type().Field(i).Tag.Get("json") == list {
			for j := range all.Field(i).Len() {
				ws[int(all.Field(i).Index(j).FieldByName("W").Int())] = true
			}
		}
	}
	return ws
}

// defaultOutcome returns the outcome and cause for a workload without a row.
func (b *builder) defaultOutcome(q question, w *workload.Workload) (diag.Outcome, string) {
	g := b.m.Group(w)
	switch {
	case !q.arises(b, w) || !w.Kind.PerNode() && w.Count.Known && w.Count.N == 0 && w.Scale == nil:
		return diag.None, ""
	case !b.topo:
		return diag.Unknown, string(model.ByPlacement)
	case !b.m.Judged(w):
		return diag.Unknown, string(cmp.Or(g.Unknown.Cause, model.ByCount))
	case q.change && b.faulty[w]:
		return diag.None, string(model.Unplaced)
	case q.change && (!b.prepared || b.orderDependent[w] || !b.j.Judged(w)):
		return diag.Unknown, string(model.ByPlacement)
	case q.change && !b.settled[w.Object.ID()].changed:
		return diag.Unknown, string(model.ByBudget)
	case !q.change && b.m.MaybeApart(w):
		return diag.Unknown, string(model.ByLabel)
	}
	return diag.None, ""
}
