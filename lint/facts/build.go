package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Input is what facts are about.
type Input struct {
	Model *model.Model
	// Set is what the model was made of.
	Set *workload.Set
	// Problems are those of the texts; they belong to no cluster, so give them once.
	Problems []source.Problem
	// Complete asks for facts that say that all is well, too: only a team's own
	// rules may have something to say about them.
	Complete bool
	// Survive tells the topology keys whose domains a workload is to survive the
	// loss of; nil asks for none.
	Survive func(*workload.Workload) []string
	// Skew asks whether rollouts end unevenly, which takes long to find out.
	Skew bool
	// Brief leaves out what takes most steps: what becomes of workloads in a change, and
	// advice, which is tried before it is given.
	Brief bool
	// Answered is shared by contexts with the same nodes: what becomes of a workload
	// in a change is told once if it rests on the same in several. Nil tells it always.
	Answered *Answered
}

// builder collects facts; the id of a fact is the number of its subject.
type builder struct {
	*Facts
	Input
	m *model.Model
	j *disruption.Judge
	// declared counts the workloads that selectors can match.
	declared int
	topo     bool
	complete bool
	// prepared is set once it is known which workloads are judged together.
	prepared bool
	// roomy tells that every node says what room it has.
	roomy bool
	// object names the workload that facts are being built about, once for all.
	object *diag.Object
	// faulty are workloads of which a fact says that pods stay Pending.
	faulty map[*workload.Workload]bool
	// torn are workloads of which a fact says that they do not always fit
	// together.
	orderDependent map[*workload.Workload]bool
	// repairs pays for trying the repairs of each workload in a decision.
	repairs *model.SharedBudget
	// originals are the first workloads that objects stand for: see declaredAs.
	originals map[*source.Object]*workload.Workload
	// nodes keeps the usable nodes of each kind of pod.
	nodes map[*model.Eligibility][]*topology.Node
	// current is what stands behind the facts that are being built, standings by
	// id what stands behind those that are: for an Explainer, which keeps them.
	current   standing
	standings []standing
}

// Notes are sentences that belong to no finding: on workloads that fit only once
// pools have grown, and on selectors that the scheduler reads in its own way.
func (f *Facts) Notes() []string { return f.notes }

// Build tells what is to be said about the workloads of one cluster.
func Build(in Input) *Facts { return build(in).Facts }

func build(in Input) *builder {
	m := in.Model
	b := &builder{Facts: &Facts{settled: Decisions{}}, Input: in, m: m, complete: in.Complete, topo: !m.Topology.Empty(), nodes: map[*model.Eligibility][]*topology.Node{}, faulty: map[*workload.Workload]bool{}, orderDependent: map[*workload.Workload]bool{}}
	for _, p := range in.Problems {
		b.document(p)
	}
	b.roomy, b.answered = b.topo && b.sized(), in.Answered
	for _, w := range m.Workloads {
		if !w.Copy {
			b.declared++
		}
	}
	if in.Set != nil {
		b.j = disruption.New(m, in.Set, search.Options{})
		if in.Answered != nil {
			b.j.ShareAdvice(in.Answered.advice, in.Answered.left)
		}
		brief := in.Brief && b.topo
		if brief {
			b.j.Abandon()
		}
		if b.prepared = !brief && b.j.Prepare(); !b.prepared {
			m.Run().GiveUp(m.Workloads, askChange)
		}
	}
	objects := model.ObjectsOf(m.Workloads)
	fields, placed := m.SharedBudget(objects), m.SharedBudget(objects)
	for _, w := range m.Workloads {
		fields.Ask(w.Object, askFields, func() { b.fields(w) })
		placed.Ask(w.Object, askPlaced, func() { b.workload(w) })
	}
	if in.Set != nil {
		b.fragments(in.Set)
	}
	b.askAll(askCircles, func() {
		for _, c := range bound.Circles(m) {
			b.circle(c)
		}
	})
	if b.topo {
		b.joint()
	}
	if in.Set != nil {
		b.change()
		b.otherRefusals()
	}
	b.notes = append(b.notes, quirks(m)...)
	b.pendings()
	return b
}

// The questions that may be given up, as the summary names them.
const (
	askFields    = "which of its fields the API server rejects or drops"
	askPlaced    = "whether its pods fit"
	askFragment  = "what its placement fields refer to"
	askRepairs   = "which repairs work"
	askCircles   = "which workloads wait for each other"
	askShortages = "whether resources suffice for several workloads at once"
	askChange    = "rollouts, drains and losses"
	askBudgets   = "which pods disruption budgets select"
)

// askAll asks a question about all workloads, which may be given up.
func (b *builder) askAll(question string, f func()) bool {
	return b.m.Ask(b.m.Workloads, question, b.m.Altogether(), f)
}

// stepsPerFact is what a fact costs until it is a finding in the report: rules are
// evaluated about it, and every format writes it.
const stepsPerFact = 600

// subject registers what stands behind the next fact and gives its id.
func (b *builder) subject(s Subject) int {
	if b.m != nil {
		b.m.Run().Spend(stepsPerFact)
	}
	s.Object = b.object
	b.subjects, b.standings = append(b.subjects, s), append(b.standings, b.current)
	return len(b.subjects)
}

// stepsPerName is for comparing two names letter by letter.
const stepsPerName = 4

// nearest is what was probably meant by a name, or "".
func (b *builder) nearest(name string, candidates []string) string {
	b.m.Run().Spend(stepsPerName * len(candidates))
	return diag.Nearest(name, candidates)
}

// suggest is the label of a node that was probably meant by a key, or "".
func (b *builder) suggest(key string) string {
	b.m.Run().Spend(stepsPerName * b.m.Topology.Keys())
	return b.m.Topology.Suggest(key)
}

// spare reports whether a fact need not be listed.
func (b *builder) spare(healthy bool) bool { return healthy && !b.complete }

// about makes the facts that follow be about a workload.
func (b *builder) about(w *workload.Workload) {
	id := w.Object.ID()
	b.object = &id
}

// about is a subject in a workload's file.
func about(w *workload.Workload, at diag.Span) Subject {
	if at.IsZero() {
		at = w.CountSpan()
	}
	return Subject{Location: at}
}

func (s Subject) related(at diag.Span, format string, args ...any) Subject {
	if !at.IsZero() {
		s.Related = append(s.Related, diag.Related{Location: at, Message: fmt.Sprintf(format, args...)})
	}
	return s
}

// node points at a node, once for all nodes that are declared in one place.
func (s Subject) node(n *topology.Node, what string) Subject {
	for _, r := range s.Related {
		if r.Location == n.Span {
			return s
		}
	}
	if n.Pool != nil && n.Pool.Count > 1 {
		return s.related(n.Span, "pool %s: %s %s", n.Pool.Name, n.Name, what)
	}
	return s.related(n.Span, "%s %s", n.Name, what)
}

func (s Subject) fix(format string, args ...any) Subject {
	s.Fixes = append(s.Fixes, diag.Fix{Description: fmt.Sprintf(format, args...)})
	return s
}

// fieldSpan is the place of a field of n, or the zero Span.
func fieldSpan(w *workload.Workload, n *source.Node, name string) diag.Span {
	k, v := n.Field(name)
	if k == nil {
		return diag.Span{}
	}
	return w.File().FieldSpan(k, v)
}

// document turns a problem of a text into a fact.
func (b *builder) document(p source.Problem) {
	s := Subject{Location: p.Span}
	if !p.First.IsZero() {
		s = s.related(p.First, "%s is first defined here", p.Detail)
	}
	b.Documents = append(b.Documents, Document{ID: b.subject(s), Problem: string(p.Kind), Detail: p.Detail, FirstLine: p.First.Line})
}

// fields tells which fields of a workload the API server refuses or drops.
func (b *builder) fields(w *workload.Workload) {
	b.about(w)
	b.settle(w, func(*settled) {})
	b.because(w, func(x *Explainer) diag.Account { return x.still(w) })
	for _, p := range slices.Concat(w.Gated, w.Problems) {
		b.refusal(w.String(), about(w, p.Span), p)
	}
	for _, u := range w.Unknown {
		b.unknownField(w, u)
	}
	b.settle(w, func(d *settled) { d.judged = true })
}

// workload tells everything else about one workload by itself.
func (b *builder) workload(w *workload.Workload) {
	b.about(w)
	b.because(w, func(x *Explainer) diag.Account { return x.still(w) })
	b.nodeTerms(w)
	g := b.m.Group(w)
	usable := b.usable(w)
	for _, t := range g.Terms {
		b.term(w, t, usable)
	}
	b.nodeLabels(w)
	b.because(w, func(x *Explainer) diag.Account { return x.alone(w) })
	for _, u := range bound.UnmetAffinity(b.m, w) {
		b.unmet(w, u, usable)
	}
	b.placement(w)
}

// refusal tells of a field that the API server refuses, now or with a gate.
func (b *builder) refusal(object string, s Subject, p workload.Problem) {
	if p.Fix != "" {
		s = s.fix("%s", p.Fix)
	}
	stage := string(p.Stage)
	if p.Gate != "" {
		stage = "gate"
	}
	b.Refusals = append(b.Refusals, Refusal{ID: b.subject(s), Workload: object, Stage: stage, Gate: p.Gate, Field: p.Field, Reason: p.Message})
}

// otherRefusals tells of objects without pods that the API server refuses.
func (b *builder) otherRefusals() {
	var objects []*source.Object
	for _, r := range b.Set.Refusals {
		objects = append(objects, r.Object)
	}
	purse := b.m.SharedBudget(objects)
	for _, r := range b.Set.Refusals {
		id := r.Object.ID()
		switch d := b.settled[id]; {
		case purse.Ask(r.Object, askFields, func() { b.refused(r) }):
		case d != nil:
			d.judged, d.guards = false, false
		default:
			b.settled[id] = &settled{}
		}
	}
}

func (b *builder) refused(r workload.Refusal) {
	id := r.Object.ID()
	b.object = &id
	b.because(nil, func(*Explainer) diag.Account {
		return diag.Account{Notes: []string{"it creates no pods, so no node is checked"}}
	})
	name := r.Object.Kind + " " + strings.TrimPrefix(r.Object.Namespace+"/"+r.Object.Name, "/")
	for _, p := range r.Problems {
		b.refusal(name, Subject{Location: p.Span}, p)
	}
}

func (b *builder) unknownField(w *workload.Workload, u workload.UnknownField) {
	s := about(w, u.Span)
	if u.Suggestion != "" && !strings.Contains(u.Suggestion, ".") {
		s.Fixes = []diag.Fix{writeAt(w, u.KeySpan, u.Suggestion)}
	}
	b.UnknownFields = append(b.UnknownFields, UnknownField{ID: b.subject(s), Workload: w.String(), Field: u.Field, Suggestion: u.Suggestion})
}

// circle tells of a workload that waits for one that waits for it.
func (b *builder) circle(c bound.Circle) {
	w := c.Workload
	b.about(w)
	b.because(w, func(x *Explainer) diag.Account { return x.together(w, c.Path, "") })
	b.faulty[w] = true
	t := b.m.Group(w).HardAffinity()[0]
	at := fieldSpan(w, t.Node, "labelSelector")
	if at.IsZero() {
		at = w.File().ItemSpan(t.Node)
	}
	s := about(w, at)
	fact := Circle{Workload: w.String(), Member: c.Member}
	for i, o := range c.Path {
		fact.Members = append(fact.Members, o.String())
		if i > 0 && o != w {
			s = s.related(o.Object.NameSpan(), "%s waits as well", o)
		}
	}
	s = s.fix("make one of the required affinity terms preferred")
	fact.ID = b.subject(s)
	b.Circles = append(b.Circles, fact)
}
