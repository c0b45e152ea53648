package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/contexts"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/fragments"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/locate"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// run holds the stages of a Run, Place, Explain or Inline call. Each stage has its own state.
type run struct {
	ctx          context.Context
	opts         *Options
	table        workload.Table
	files        *locate.Files
	failures     *failures
	renders      *locate.Renders
	summary      *summary
	budget       *budget
	judge        *judge
	suppressions *suppressions
	clusters     *clusters
	decisions    decisions
	// inRender holds the locations of the findings in renders that were checked separately.
	inRender map[foundAt]bool
	// survive returns the topology keys for which a workload must survive losing a domain.
	survive func(*workload.Workload) []string
}

func newRun(ctx context.Context, o Options, losses []string) *run {
	o.Config = cmp.Or(o.Config, &config.Config{})
	factor := max(o.Steps, 1)
	r := &run{
		ctx: ctx, opts: &o, table: workload.NewTable(), failures: &failures{},
		budget:    &budget{factor: factor, advice: int(limits.AdviceSteps * factor)},
		decisions: decisions{}, inRender: map[foundAt]bool{}, survive: lossesToSurvive(o.Config, losses),
	}
	files := source.Options{
		Dir: o.Dir, Root: o.Root, Stdin: o.Stdin, Overlay: o.Overlay, Tracked: o.Tracked, Tree: o.Tree, Keep: r.table.Read, Drop: workload.Unread,
	}
	if o.whole || o.Policy != nil && o.Policy.Whole("objects.manifest") {
		files.Keep, files.Drop = nil, nil
	}
	r.files = locate.NewFiles(files, o.Paths, o.Config)
	r.files.Copies = o.copies()
	r.renders = locate.NewRenders(r.files)
	r.summary = newSummary(r.renders)
	r.judge = &judge{
		ctx: ctx, policy: o.Policy, levels: newLevels(&o), files: r.files, renders: r.renders, failures: r.failures,
		tally: facts.NewTally(), seen: map[sameFinding]diag.Level{},
	}
	j := r.judge
	s := &suppressions{
		opts: r.opts, files: j.files, renders: j.renders, judge: j, table: r.table,
		inline: map[diag.Span][]int{}, permitted: map[diag.Suppression]bool{}, sources: newSourceComments(j.renders),
	}
	if r.opts.OnlyKnown {
		s.allowed = accept.Allow(r.opts.Known)
	}
	r.suppressions = s
	r.clusters = &clusters{
		opts: r.opts, table: r.table, files: r.files, renders: r.renders, budget: r.budget, summary: r.summary,
		releases:   &releases{o.Config, r.files, r.renders, r.summary, fragments.NewFinder(), map[*source.Object]bool{}, map[given]bool{}},
		topologies: &topologies{files: r.files, renders: r.renders, summary: r.summary, read: map[string]*declaredNodes{}, seen: o.Seen, given: o.Given},
	}
	return r
}

// load reads the manifests and builds the renders.
func (r *run) load() *manifests {
	l := loader{
		ctx: r.ctx, opts: r.opts, table: r.table, files: r.files, renders: r.renders, summary: r.summary, failures: r.failures,
		manifests: manifests{broken: map[string]bool{}, accepting: map[int]bool{}}, given: map[string]bool{}, charts: map[string]bool{}, asWritten: map[string][]*source.Object{},
	}
	return l.load()
}

// report checks all parts and assembles the report.
func (r *run) report() *diag.Report {
	report := &diag.Report{}
	m := r.load()
	var left *presence
	if r.opts.Compared {
		left = newLeft(m, r.renders, r.table)
		for _, u := range r.opts.Unfollowed {
			if u.Suspended {
				left.suspended[u.Render] = true
			}
		}
		report.Raw, report.Acting, report.Deciding = m.raw(r.table), r.acting(m), r.deciding()
	}
	r.suppressions.gather(m)
	if n := r.suppressions.ignored; n > 0 {
		r.summary.note(fmt.Sprintf("%d suppressions in manifests are ignored (--no-inline-suppressions)", n))
	}
	r.judge.add(derive.Facts(aboutFiles(m.set.Problems)), nil, nil)
	parts, broken := r.clusters.parts(m), m.broken
	m = nil
	facts := func(s *scene) func() *derive.Built {
		input := r.input(s)
		return func() *derive.Built { return derive.Facts(input) }
	}
	each(r, parts, facts, func(a *pendingPart[*derive.Built]) {
		report.Judged = append(report.Judged, a.judged...)
		r.cluster(a)
	})
	notes, errs := locate.Relocate(r.judge.found, r.renders, r.opts.SourceRoot)
	r.summary.note(notes...)
	r.failures.errs = append(r.failures.errs, errs...)
	r.applyAcceptances(report)
	report.Source, report.Display, report.AnswerUnknown = r.files.Text, r.files.Display, r.undecided(left, broken)
	if r.opts.Compared {
		report.WhyUnjudged, report.SubjectGone, report.Quiet = left.whyUnjudged, left.gone, r.judge.problemsOfUnrequested()
	}
	report.Rendered, report.NotRendered, report.Inert = r.renders.Names(), r.renders.Failed, r.suppressions.inert
	report.Failures = append(r.notChecked(), r.failures.undone...)
	return report
}

// notChecked returns a failure if no workload was found and inputs that may contain some are not
// rendered. The absence of findings then means nothing. If findings say so, there is no failure.
func (r *run) notChecked() diag.Failures {
	if text := r.summary.NotRendered(); text != "" && r.summary.Workloads == 0 && r.summary.silent {
		return diag.Failures{{Stage: diag.StageRender, Message: text}}
	}
	return nil
}

// cluster checks one cluster, context by context.
func (r *run) cluster(a *pendingPart[*derive.Built]) {
	c := a.cluster
	c.proved = map[*source.Object]proved{}
	for x := range c.Contexts() {
		if r.budget.exceeded(c) {
			r.summary.unanswered(manyContexts, c.objects)
			r.leaveUnplaced(c.objects, r.summary)
			r.suppressions.sources.partly = true
			r.decisions.meet(c.key(), derive.Unjudged(c.objects))
			break
		}
		s, f, known := a.known(r)
		if !known {
			s = r.scene(c, x)
			input := r.input(s)
			input.Answered = c.answered[s.nodes]
			f = derive.Facts(input)
		}
		r.summary.premises.assume(s.model)
		units, with := r.clusters.units(s)
		r.budget.spent += s.model.Run().Spent()
		if c.entry != "" {
			r.summary.givenUp(s.model)
			if units == nil {
				r.countUnplaced(s, r.summary)
			}
			r.recordRefusals(s)
			for _, found := range r.judge.all(f, c, x.Objects) {
				if !r.inRender[placeOf(&found)] {
					r.judge.addUnlessSeen(&found)
				}
			}
			continue
		}
		r.summary.unknowns(s.set, s.model)
		r.summary.givenUp(s.model)
		if units == nil { // otherwise each unit counts by itself, as for Place
			r.countUnplaced(s, r.summary)
			r.prove(s, f)
		}
		r.recordRefusals(s)
		r.suppressions.recordDecided(f, x.Objects)
		r.decisions.meet(c.key(), f.Decisions())
		var found []accept.Finding
		if units != nil {
			found = r.judgeUnits(s, f, units, with)
			for i := range found {
				r.judge.addUnlessSeen(&found[i])
			}
		} else {
			found = r.judge.add(f, c, x.Objects)
		}
		for i := range found {
			if c.render != "" {
				r.inRender[placeOf(&found[i])] = true
			}
		}
		r.summary.note(f.Notes()...)
		for _, note := range unknownLosses(r.opts, s.nodes) {
			r.summary.note(in(c.name, note))
		}
	}
	r.summary.proved(c.proved)
	c.proved = nil
}

// judgeUnits checks a context with several units, first each unit separately and then all units
// together. A finding that appears only for all units together becomes a warning about units that
// may share a cluster. A finding that appears only for a single unit counts if the check of all
// units may have missed it. There are three possible causes: the search gave up, limits in another
// unit make the answer unknown, or the same rule has a finding at a different location.
func (r *run) judgeUnits(joint *scene, f *derive.Built, units []unit, with []string) (all []accept.Finding) {
	c, fresh := joint.cluster, 0
	alone := map[foundAt]bool{}
	for _, u := range units {
		key := u.key(c.seed)
		found, known := c.judged[key]
		if !known && r.budget.objects <= limits.ContextObjects {
			s := r.clusters.unitScene(joint, u)
			r.apply(c)
			if len(s.set.Workloads) > 0 {
				fresh++
			}
			own := derive.Facts(r.input(s))
			found = r.judge.all(own, c, s.Objects)
			r.countUnplaced(s, r.summary)
			r.budget.spent += s.model.Run().Spent()
			r.prove(s, own)
			r.recordRefusals(s)
			c.judged[key] = found
		}
		for i := range found {
			alone[placeOf(&found[i])] = true
		}
	}
	r.summary.Contexts += fresh - 1
	if r.budget.objects > limits.ContextObjects { // too many units to judge separately
		r.leaveUnplaced(joint.Objects, r.summary)
		return r.judge.all(f, c, joint.Objects)
	}
	open := func(u model.Unanswered) bool { return u.Cause != model.ByClass }
	gaveUp := slices.ContainsFunc(joint.model.Run().GivenUp, open) || r.budget.brief() || disruption.Crowded(joint.set)
	both, across := map[foundAt]bool{}, map[string]bool{}
	for _, found := range r.judge.all(f, c, joint.Objects) {
		if at := placeOf(&found); alone[at] { // already reported with the unit's message
			both[at] = true
			continue
		}
		across[found.Rule] = true
		r.clusters.weakenToShared(&found, with)
		all = append(all, found)
	}
	limited := map[string]bool{} // units with workloads that are undecided because of limits in another unit
	for _, w := range joint.model.Workloads {
		if joint.model.Group(w).Unknown.Cause == model.ByAdmission {
			limited[r.clusters.unit(w.Object.File.Name)] = true
		}
	}
	for _, u := range units {
		for _, found := range c.judged[u.key(c.seed)] {
			if gaveUp || limited[u.name] || across[found.Rule] || both[placeOf(&found)] {
				all = append(all, found)
			}
		}
	}
	return all
}

// countUnplaced counts the unknown placements of a context in a summary, and all of them if the options
// ask for them. Otherwise it leaves out those of objects about which the summary says already what is not
// known, and those that the size of a growing pool decides.
func (r *run) countUnplaced(s *scene, to *summary) {
	if s.nodes.Empty() {
		return
	}
	each, together := derive.Undecided(s.model, s.decide(s.model))
	at := map[*workload.Workload]diag.Outcome{} // verdicts for the declared nodes
	if count := s.count(); count != nil && len(each)+len(together) > 0 {
		for _, w := range s.decide(count).Workloads {
			at[w.Workload] = w.Verdict
		}
		open, _ := derive.Undecided(count, s.decide(count))
		each = slices.DeleteFunc(each, func(w certificate.WorkloadDecision) bool {
			return (r.opts.Placements || at[w.Workload] != diag.Never) && !slices.ContainsFunc(open, func(o certificate.WorkloadDecision) bool { return o.Workload == w.Workload })
		})
		if s.decide(count).Verdict != diag.Unknown {
			together = nil
		}
	}
	for _, w := range each {
		if !r.opts.Placements && (to.about[w.Workload.Object] || w.Why.Cause == model.ByGrowth && at[w.Workload] != diag.Never) {
			continue
		}
		if w.Why.Cause == model.ByClass {
			to.premises.miss(w.Why.Name)
		}
		to.unplaced("placement: "+message.Reason(w.Why), w.Workload.Object)
	}
	for _, o := range together {
		if !r.opts.Placements && slices.ContainsFunc(o.Workloads, func(w *workload.Workload) bool { return to.about[w.Object] }) {
			continue
		}
		to.unplaced("placement together: "+message.Reason(model.Reason{Cause: o.Cause}), model.ObjectsOf(o.Workloads)...)
	}
}

// leaveUnplaced counts objects with an unknown placement because there are too many contexts.
func (r *run) leaveUnplaced(objects []*source.Object, to *summary) {
	if r.opts.Placements && r.summary.TopologyDeclared {
		to.unplaced("placement: "+overBudget+manyContexts, objects...)
	}
}

// input returns the input for the facts of a context.
func (r *run) input(s *scene) derive.Input {
	s.thorough = r.opts.Placements
	origin := derive.Origin{Cluster: s.cluster.name, Context: cmp.Or(s.cluster.render, s.cluster.entry, s.Name), Objects: s.Objects}
	origin.Render = func(o *source.Object) string {
		if x := r.renders.Results[o.File.Name]; x != nil {
			return x.Name
		}
		return ""
	}
	return derive.Input{
		Decision: func() *certificate.Decision { return s.decide(s.model) },
		Model:    s.model, Set: s.set, Whole: r.opts.Policy.Whole, Wants: r.opts.Policy.Wants, Survive: r.survive, Asks: r.opts.Policy.Losses(), Asked: r.judge.asks, Brief: r.budget.brief(),
		Origin: origin, Runs: r.opts.Runs,
	}
}

// manyContexts describes an open question about an object. There are too many contexts to answer it
// in all of them.
const manyContexts = "what becomes of it in further contexts: there are too many"

// recordRefusals records a failure for each answer that the checker rejected. It also records a
// failure for each answer that an internal fault prevented.
func (r *run) recordRefusals(s *scene) {
	for _, x := range s.model.Run().Refused {
		what := "the checker refuses an answer, which is left open: "
		if x.Failed {
			what = "schedlint failed while answering a question, which is left open: "
		}
		f := diag.Failure{Stage: diag.StageCheck, Internal: true, Message: what + x.Err.Error()}
		if len(x.Objects) > 0 {
			s := r.renders.InSources(x.Objects[0].NameSpan())
			f.File, f.Line = s.File, s.Line
		}
		r.failures.leave(f)
	}
}

// decisions maps the key of each part to the questions that have been answered about its objects.
type decisions map[string]derive.Decisions

// meet merges a context's decisions into the decisions of its part. A question about an object is
// decided in the part only if it is decided in every context that contains the object.
func (d decisions) meet(part string, of derive.Decisions) {
	if d[part] == nil {
		d[part] = derive.Decisions{}
	}
	d[part].Merge(of)
}

// of returns the decisions for the part that a finding belongs to.
func (d decisions) of(found *diag.Diagnostic) derive.Decisions {
	return d[(&part{name: found.Cluster, render: found.Render}).key()]
}

// failures collects invocation errors and work that could not be done. Neither of them stops the
// run.
type failures struct {
	errs   []error
	undone diag.Failures
}

// fail adds an error, unless it is nil.
func (f *failures) fail(err error) {
	if err != nil {
		f.errs = append(f.errs, err)
	}
}

// leave records work that was not done, without duplicates.
func (f *failures) leave(work diag.Failure) { f.undone.Add(work) }

// err joins the errors without duplicates. Clusters that share a broken topology have the same
// errors.
func (f *failures) err() error {
	seen := map[string]bool{}
	return errors.Join(slices.DeleteFunc(slices.Clone(f.errs), func(err error) bool {
		repeated := seen[err.Error()]
		seen[err.Error()] = true
		return repeated
	})...)
}

// Clusters are analyzed concurrently and reported in order. While one cluster is reported, the next
// ones are read and analyzed. The errors and notes from reading a cluster are kept until the
// cluster is reported. A cluster's budget depends on the clusters before it. If a cluster started
// with too large a budget, it is analyzed again. The output is the same as in a sequential run.

// pendingPart is a part whose analysis may start before the parts before it are reported.
type pendingPart[T any] struct {
	cluster *cluster
	judged  []diag.Judged
	// leftOut describes the input that was skipped so far.
	leftOut string
	// scene is the only context of the cluster. It is nil if the cluster has several contexts. Such
	// contexts share answers, so they are analyzed only when it is the cluster's turn.
	scene *scene
	made  chan partOutcome[T]
}

// partOutcome is the result of analyzing a context, or the panic that stopped the analysis.
type partOutcome[T any] struct {
	out      T
	panicked any
	stack    []byte
}

// effects holds errors, notes and an object count from reading a part, until they are added to the
// run. Other counters are added immediately, because their order does not matter.
type effects struct {
	errs    []error
	notes   []string
	objects int
}

// fail adds an error, unless it is nil.
func (e *effects) fail(err error) {
	if err != nil {
		e.errs = append(e.errs, err)
	}
}

// apply adds the errors, notes and object count from reading a cluster to the run, and clears them
// in the cluster.
func (r *run) apply(c *cluster) {
	r.failures.errs = append(r.failures.errs, c.effects.errs...)
	r.summary.note(c.effects.notes...)
	r.budget.objects += c.effects.objects
	c.effects = effects{}
}

// scene loads a context of the cluster that is being reported.
func (r *run) scene(c *cluster, x contexts.Context) *scene {
	s := r.clusters.scene(c, x)
	r.apply(c)
	return s
}

// each processes parts in order. If a part has only one context, each calls reason to get a
// function and runs the function concurrently, using all processors. When it is the part's turn,
// each calls told.
func each[T any](r *run, parts []part, reason func(*scene) func() T, told func(*pendingPart[T])) {
	var begun []*pendingPart[T]
	all := len(parts)
	r.progress(0, all)
	for len(parts) > 0 || len(begun) > 0 {
		for len(parts) > 0 && len(begun) < runtime.GOMAXPROCS(0) {
			p := parts[0]
			parts[0] = part{} // lets each part be freed once it is judged
			parts, begun = parts[1:], append(begun, begin(r, p, reason))
		}
		turn := begun[0]
		begun[0], begun = nil, begun[1:]
		r.apply(turn.cluster)
		told(turn)
		r.progress(all-len(parts)-len(begun), all)
	}
}

// progress reports how many of all parts are done.
func (r *run) progress(done, all int) {
	if r.opts.Progress != nil {
		r.opts.Progress(done, all)
	}
}

// begin reads a part and starts to analyze it.
func begin[T any](r *run, p part, reason func(*scene) func() T) *pendingPart[T] {
	a := &pendingPart[T]{cluster: r.clusters.divide(p)}
	if r.opts.Compared && p.entry == "" {
		// The workloads and disruption budgets that were checked.
		add := func(o *source.Object) {
			j := diag.Judged{Object: o.ID(), Location: r.clusters.renders.InSources(o.NameSpan())}
			if x := r.renders.Results[o.File.Name]; x != nil {
				j.Render = x.Name
			}
			a.judged = append(a.judged, j)
		}
		for _, w := range a.cluster.whole.Workloads {
			add(w.Object)
		}
		for _, b := range a.cluster.whole.Budgets {
			add(b.Object)
		}
	}
	a.leftOut = r.summary.leftOut()
	if a.cluster.Len() > 1 || r.budget.brief() {
		return a
	}
	for x := range a.cluster.Contexts() {
		a.scene = r.clusters.scene(a.cluster, x)
	}
	if a.scene == nil {
		return a
	}
	a.made = make(chan partOutcome[T], 1)
	work := reason(a.scene)
	go func() {
		var m partOutcome[T]
		defer func() {
			if m.panicked = recover(); m.panicked != nil {
				m.stack = debug.Stack()
			}
			a.made <- m
		}()
		m.out = work()
	}()
	return a
}

// known returns the result for a part with only one context if the result was computed before the
// part's turn. It returns false if there is no result or if its budget was too large.
func (a *pendingPart[T]) known(r *run) (s *scene, out T, holds bool) {
	if a.made == nil {
		return nil, out, false
	}
	m := <-a.made
	if m.panicked != nil {
		panic(fmt.Sprintf("%v\n%s", m.panicked, m.stack))
	}
	if r.budget.brief() {
		return nil, out, false
	}
	return a.scene, m.out, true
}

// budget limits the total cost of the contexts of a run. A few files can produce very many
// contexts.
type budget struct {
	// factor scales every step budget.
	factor float64
	// spent is the number of steps that the contexts have used so far. advice is the number of
	// steps left for trying advice.
	spent, advice int
	// objects is the number of objects counted so far. It includes objects that might be deployed
	// together with a part. In a cluster with several contexts or units, an object counts once in
	// each of them.
	objects int
}

// brakedShare is the fraction of the normal step budget that each context gets after the run has
// used up limits.RunSteps.
const brakedShare = 0.01

// brief reports whether the next context should skip the most expensive questions.
func (b *budget) brief() bool { return float64(b.spent) > limits.RunSteps*b.factor }

// share returns the fraction of the normal step budget that the next context gets.
func (b *budget) share() float64 {
	if b.brief() {
		return brakedShare
	}
	return 1
}

// exceeded reports whether to skip the remaining contexts of a cluster.
func (b *budget) exceeded(c *cluster) bool { return c.Len() > 1 && b.objects > limits.ContextObjects }
