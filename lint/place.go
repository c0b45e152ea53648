package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/sched/simulate"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/upgrade"
	"github.com/schedlint/schedlint/lint/workload"
)

// ErrNoTopology is returned by Place if no node is declared.
var ErrNoTopology = errors.New("no topology: declare the nodes with --topology FILE")

// Place decides for each context whether all its workloads can be placed together. It reports
// unreadable input as a failure and ignores it.
func Place(ctx context.Context, o Options) (*diag.Placements, error) {
	if o.Level == nil {
		o.Level = func(string) diag.Level { return diag.LevelOff }
	}
	r := newRun(ctx, o, placeLosses(&o))
	m := r.load()
	if err := r.failures.err(); err != nil {
		return nil, err
	}
	doc := &diag.Placements{SchemaVersion: "1", Failures: unread(m)}
	reason := func(s *scene) func() *diag.Placement { return func() *diag.Placement { return r.placed(s, r.survive) } }
	each(r, r.clusters.parts(m), reason, func(a *pendingPart[*diag.Placement]) {
		decisions, err := r.decidePart(a, len(m.set.Untracked))
		r.failures.fail(err)
		doc.Decisions = append(doc.Decisions, decisions...)
	})
	if err := r.failures.err(); err != nil {
		return nil, err
	}
	doc.Decisions = nothingToPlace(doc.Decisions)
	doc.Failures = slices.Concat(r.notChecked(), doc.Failures, r.failures.undone)
	doc.Unrendered = r.summary.Unrendered
	return doc, nil
}

// unread returns a failure for each problem in the manifests.
func unread(m *manifests) (all diag.Failures) {
	for _, p := range m.set.Problems {
		if p.LastCounts { // placement uses the last value, as Helm does
			continue
		}
		all = append(all, diag.Failure{
			Stage: diag.StageRead, File: p.Span.File, Line: p.Span.Line, Message: fmt.Sprintf("%s: %s", p.Kind, p.Detail),
		})
	}
	return all
}

// placeLosses returns the topology keys whose losses Place decides about.
func placeLosses(o *Options) []string {
	if len(o.Survive) > 0 {
		return o.Survive
	}
	return defaultLosses()
}

// nothingToPlace gives the verdict "none" to the contexts without pods, and leaves out objects
// without pods that are in no context with a name. If there is no other context and input that may
// contain pods is ignored, it keeps one context, whose verdict is unknown.
func nothingToPlace(all []diag.Placement) []diag.Placement {
	unknown, found := -1, false
	for i := range all {
		d := &all[i]
		pods := func(w diag.PlacementWorkload) bool { return w.Replicas > 0 || d.Verdict != string(diag.Always) }
		if len(d.Unmodelled)+len(d.Invalid) > 0 || slices.ContainsFunc(d.Workloads, pods) {
			found = true
			continue
		}
		if d.Verdict == string(diag.Unknown) {
			unknown = i
		}
		d.Verdict, d.RulesVerdict = string(diag.None), string(diag.None)
	}
	if !found && unknown >= 0 {
		d := all[unknown]
		d.Context, d.Verdict, d.RulesVerdict = "", string(diag.Unknown), string(diag.Unknown)
		return []diag.Placement{d}
	}
	named := slices.DeleteFunc(slices.Clone(all), func(d diag.Placement) bool {
		return d.Verdict == string(diag.None) && len(d.Workloads)+len(d.Invalid) == 0 && d.Cluster+d.Context == ""
	})
	if len(named) == 0 {
		return all
	}
	return named
}

// decidePart returns a decision for each context in a part. The argument untracked is the number of
// files that git does not track.
func (r *run) decidePart(a *pendingPart[*diag.Placement], untracked int) ([]diag.Placement, error) {
	c := a.cluster
	var all []diag.Placement
	for x := range c.Contexts() {
		if len(all) > 0 && r.budget.exceeded(c) {
			last := &all[len(all)-1]
			last.Unknown = append(last.Unknown, r.openQuestions(func(one *summary) {
				one.unanswered(manyContexts, c.objects)
				r.leaveUnplaced(c.objects, one)
			})...)
			break
		}
		s, doc, known := a.known(r)
		if !known {
			s = r.scene(c, x)
		}
		if len(r.failures.errs) > 0 {
			return nil, nil
		}
		if s.nodes.Empty() {
			return nil, ErrNoTopology
		}
		if !known {
			doc = r.placed(s, r.survive)
		}
		units, with := r.clusters.units(s)
		for _, u := range units {
			if _, known := c.judged[u.key(c.seed)]; known || r.budget.objects > limits.ContextObjects {
				continue
			}
			c.judged[u.key(c.seed)] = nil
			us := r.clusters.unitScene(s, u)
			if r.apply(c); len(us.set.Workloads) > 0 {
				alone := r.placed(us, r.survive)
				r.addCaveats(alone, us, untracked, a.leftOut)
				all = append(all, *alone)
			}
		}
		r.addCaveats(doc, s, untracked, a.leftOut)
		doc.IfShared = with
		all = append(all, *doc)
	}
	return all, nil
}

// addCaveats adds open questions and assumptions to the decision about a context.
func (r *run) addCaveats(doc *diag.Placement, s *scene, untracked int, leftOut string) {
	r.budget.spent += s.model.Run().Spent()
	var premises []string
	doc.Unknown = r.openQuestions(func(one *summary) {
		one.premises.assume(s.model)
		one.unknowns(s.set, s.model)
		one.givenUp(s.model)
		if r.opts.Placements {
			r.countUnplaced(s, one)
		}
		premises = one.premises.notes()
	})
	r.recordRefusals(s)
	if r.opts.Runs > 0 { // last, so that no other answer lacks the steps
		if derive.Typical(doc) && len(s.model.Choices()) == 0 { // simulated runs choose no places for volumes
			derive.AddTypical(doc, simulate.Runs(s.model, r.opts.Runs))
		}
		derive.AddTypicalChanges(doc, s.model, disruption.New(s.model, s.set, search.Options{}), r.opts.Runs)
	}
	for _, pool := range s.nodes.Pools {
		if pool.Spec.Upgrade == nil {
			continue
		}
		answer := upgrade.Of(r.upgraded(s, false), pool, upgrade.SettingsOf(pool))
		for i := range doc.Workloads {
			w := &doc.Workloads[i]
			name := w.Kind + " " + strings.TrimPrefix(w.Namespace+"/"+w.Name, "/")
			one, old := judged(answer, name), w.Change.Upgrade
			if one != nil && (old == nil || diag.Outcome(old.Verdict).Worse(diag.Outcome(one.Verdict)) != diag.Outcome(old.Verdict)) {
				w.Change.Upgrade = one
			}
		}
	}
	if r.opts.Pictures { // last as well
		// They are those for the declared number of nodes if growth leaves an answer open.
		m, about := s.model, doc
		if s.countDoc != nil {
			m, about = s.count(), s.countDoc
		}
		d, j := s.decide(m), disruption.New(m, s.set, search.Options{})
		j.Use(d)
		doc.Picture = derive.Picture(m, d, j, about)
		if grows := message.PictureGrowth(s.nodes.Growth); grows != "" {
			doc.Picture.LeftOut = append(doc.Picture.LeftOut, grows)
		}
	}
	r.locate(doc, s)
	doc.Notes = slices.Concat(doc.Notes, r.caveats(s, untracked, leftOut), premises)
	if len(doc.Workloads) == 0 && (r.summary.NotRendered() != "" || leftOut != "") { // workloads may be in the skipped inputs
		doc.Verdict, doc.RulesVerdict = string(diag.Unknown), string(diag.Unknown)
		doc.Notes = append(doc.Notes, "unknown because no workload was found, and inputs that may contain some are ignored")
	}
}

// locate adds the context of a decision, and moves its cores to the sources.
func (r *run) locate(doc *diag.Placement, s *scene) {
	doc.Cluster, doc.Context = s.cluster.name, cmp.Or(s.cluster.render, s.cluster.entry, s.Name)
	for i := range doc.Workloads {
		for j := range doc.Workloads[i].Core {
			m := &doc.Workloads[i].Core[j]
			m.Location = r.renders.InSources(m.Location)
			m.File, m.Line, m.Column = m.Location.File, m.Location.Line, m.Location.Column
		}
	}
}

// placed returns the decision about a context, or nil if the context has no nodes. The function
// survive returns the topology keys of the losses to decide about. What the decision leaves unknown
// because pools can grow is decided again for the declared nodes.
func (r *run) placed(s *scene, survive func(*workload.Workload) []string) *diag.Placement {
	if s.nodes.Empty() {
		return nil
	}
	s.thorough = true
	on := func(m *model.Model) *diag.Placement {
		return derive.Decision(m, s.decide(m), disruption.New(m, s.set, search.Options{}), survive)
	}
	doc := on(s.model)
	if count := s.count(); count != nil && derive.Open(doc) {
		s.countDoc = on(count)
		derive.AddAtCount(doc, s.countDoc)
	}
	return doc
}

// count returns the model for the declared number of nodes, or nil if no pool can grow.
func (s *scene) count() *model.Model {
	if s.atCount == nil {
		s.atCount = s.model.AtCount()
	}
	return s.atCount
}

// decide decides the placement of all workloads in a context, on the nodes of the given model.
func (s *scene) decide(m *model.Model) *certificate.Decision {
	return lazy.Cached(s.placed, m, func() *certificate.Decision {
		o := search.Options{Each: s.thorough || len(s.set.Workloads) <= eachWorkloads}
		d := search.Decide(m, o)
		search.DaemonSetsFirst(m, d, o)
		search.Preemption(m, d, o)
		return d
	})
}

// unlisted returns the resources that pods request and that some node may have without listing them.
func unlisted(m *model.Model) []string {
	names := map[string]bool{}
	for g := range m.Placeable() {
		requests := model.Written(g.Requests)
		for i := range requests {
			r := &requests[i]
			if _, known := names[string(r.Name)]; !known && !model.Extended(r.Name) && !topology.CountsVolumes(r.Name) {
				names[string(r.Name)] = slices.ContainsFunc(m.Topology.All(), func(n *topology.Node) bool {
					_, judged := model.Offered(n, r)
					return !judged
				})
			}
		}
	}
	maps.DeleteFunc(names, func(_ string, open bool) bool { return !open })
	return slices.Sorted(maps.Keys(names))
}

// caveats returns notes on the assumptions of a decision and on the input that it ignores. The
// argument leftOut describes input that was skipped before or while the part was read.
func (r *run) caveats(s *scene, untracked int, leftOut string) []string {
	notes := []string{"assumes any scheduling order and any feasible node per pod, no rescheduling, and only the declared objects"}
	if names := unlisted(s.model); len(names) > 0 {
		notes = append(notes, "nodes that list no "+strings.ReplaceAll(enumerated(names), " and ", " or ")+" are assumed to have enough")
	}
	notes = append(notes, unknownLosses(r.opts, s.nodes)...)
	if name := r.renders.Assumed[s.cluster.render]; name != "" {
		notes = append(notes, "assumes the release name "+name)
	}
	if untracked > 0 {
		notes = append(notes, fmt.Sprintf("files not tracked by git are ignored: %d", untracked))
	}
	if n := len(s.set.Validated); n > 0 {
		notes = append(notes, fmt.Sprintf("test and skipped hooks are ignored: %d", n))
	}
	named := func(w *workload.Workload) bool { return workload.Space(w.Namespace()) != workload.Space("") }
	bare := func(w *workload.Workload) bool { return w.Namespace() == "" }
	if slices.ContainsFunc(s.model.Workloads, named) && slices.ContainsFunc(s.model.Workloads, bare) {
		notes = append(notes, "objects without a namespace count as in namespace default")
	}
	if n := len(s.model.Elsewhere()); n > 0 {
		notes = append(notes, fmt.Sprintf("workloads in other contexts or changed by a kustomization are ignored: %d", n))
	}
	paused, dropping := 0, 0
	for _, w := range s.model.Workloads {
		if w.Paused() {
			paused++
		}
		if slices.ContainsFunc(w.Gated, func(p workload.Problem) bool { return p.Stage == workload.StageVersion }) {
			dropping++
		}
	}
	if dropping > 0 {
		notes = append(notes, fmt.Sprintf("workloads with fields that Kubernetes %s drops, as lint reports: %d", s.set.Kubernetes, dropping))
	}
	if paused > 0 {
		notes = append(notes, fmt.Sprintf(pausedNote, paused))
	}
	scaled := func(w *workload.Workload) bool { return w.Scale != nil && w.Scale.Max > w.Scale.Min }
	if slices.ContainsFunc(s.model.Workloads, scaled) {
		notes = append(notes, "answers about changes hold at every number of pods that fits within the limits of autoscalers")
	}
	if n := r.summary.Unrendered; n > 0 {
		notes = append(notes, fmt.Sprintf("inputs that are not rendered are ignored: %d", n))
	}
	if leftOut != "" {
		notes = append(notes, "skipped: "+leftOut)
	}
	for _, group := range s.set.Repeated {
		notes = append(notes, fmt.Sprintf("%s %s is declared %d times; the last declaration applies", group[0].Kind, group[0].Name, len(group)))
	}
	return notes
}

// openQuestions runs count on an empty summary and returns the open questions that it adds.
func (r *run) openQuestions(count func(one *summary)) []diag.Skip {
	one := newSummary(r.renders)
	count(one)
	return one.whole().Unknown
}
