package build

import (
	"slices"
	"sync"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
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
	// Whole reports whether rules beside the built-in ones may look at a list of facts, or
	// at a field of its rows as in workloads.terms. Such a list is whole: it says what is
	// well and what is unknown, too. Nil stands for none.
	Whole func(path string) bool
	// Wants reports whether a rule may report a row of a list, as far as some of its fields
	// say: their names and values in turn. Nil stands for none.
	Wants func(list string, fields ...any) bool
	// Origin is what the facts are about.
	Origin Origin
	// Survive tells the topology keys whose domains a workload is to survive the
	// loss of; nil asks for none.
	Survive func(*workload.Workload) []string
	// Asks are topology keys that rules ask about: what becomes of every workload after
	// the loss of one of their domains.
	Asks []string
	// Asked reports whether a rule may look at a list of facts that takes long to find
	// out; nil asks for none.
	Asked func(list string) bool
	// Brief leaves out what takes most steps: what becomes of workloads in a change, and
	// advice, which is tried before it is given.
	Brief bool
	// Answered is shared by contexts with the same nodes: what becomes of a workload
	// in a change is told once if it rests on the same in several. Nil tells it always.
	Answered *Answered
}

// Origin is what facts are about: the context of a cluster, by the names of both, and all
// its documents.
type Origin struct {
	Cluster, Context string
	Objects          []*source.Object
	// Render names the render that an object comes from, or is ""; nil for none.
	Render func(*source.Object) string
}

// builder collects facts; the id of a fact is the number of its subject.
type builder struct {
	*Built
	Input
	m *model.Model
	j *disruption.Judge
	// declared counts the workloads that selectors can match.
	declared int
	topo     bool
	// complete is set if some list of questions is whole, known by whether a list is.
	complete bool
	wholes   map[string]bool
	// prepared is set once it is known which workloads are judged together.
	prepared bool
	// roomy tells that every node says what room it has.
	roomy bool
	// faulty are workloads of which a fact says that pods stay Pending.
	faulty map[*workload.Workload]bool
	// orderDependent are workloads of which a fact says that they do not always fit
	// together.
	orderDependent map[*workload.Workload]bool
	// repairs pays for trying the repairs of each workload in a decision.
	repairs *model.SharedBudget
	// changing pays for what becomes of each workload in changes, once asked.
	changing *model.SharedBudget
	// rolled are the outcomes of rollouts that were asked about, but for those given up.
	rolled map[*workload.Workload]diag.Outcome
	// losing and meant are room for what becomes of one workload.
	losing, meant []disruption.Survival
	// originals are the first workloads that objects stand for: see declaredAs.
	originals map[*source.Object]*workload.Workload
	// skews reports whether a rule may look at skews, which is found out once.
	skews func() bool
	// rows are the indices of the workloads that rows refer to.
	rows map[*workload.Workload]int
	// nodes keeps the usable nodes of each kind of pod.
	nodes map[*model.Eligibility][]*topology.Node
	// labels are what was found out about labels of usable nodes.
	labels map[carriedKey]carried
}

// Built is facts with what stands behind them.
type Built struct {
	*facts.Facts

	subjects []Subject
	notes    []string
	settled  Decisions
	answered *Answered // nil where no other context has the same nodes
	model    *model.Model
}

// Declared are the workloads that the facts are about.
func (f *Built) Declared() []*workload.Workload {
	if f.model == nil { // about suppressions
		return nil
	}
	return f.model.Workloads
}

// Subject is what stands behind the row with that id.
func (f *Built) Subject(id int) Subject { return f.subjects[id-1] }

// Notes are sentences that belong to no finding: on workloads that fit only once
// pools have grown, and on selectors that the scheduler reads in its own way.
func (f *Built) Notes() []string { return f.notes }

// Facts tells what is to be said about the workloads of one cluster.
func Facts(in Input) *Built { return build(in).Built }

func newBuilder(in Input) *builder {
	m := in.Model
	b := &builder{
		Built: &Built{Facts: &facts.Facts{}, settled: Decisions{}, answered: in.Answered, model: in.Model}, Input: in, m: m,
		wholes: map[string]bool{}, topo: !m.Topology.Empty(), nodes: map[*model.Eligibility][]*topology.Node{}, rows: map[*workload.Workload]int{},
		labels: map[carriedKey]carried{}, rolled: map[*workload.Workload]diag.Outcome{},
		faulty: map[*workload.Workload]bool{}, orderDependent: map[*workload.Workload]bool{},
	}
	b.complete = slices.ContainsFunc(questions(), b.whole)
	b.skews = sync.OnceValue(func() bool { return in.Asked != nil && in.Asked("skews") })
	for _, w := range m.Workloads {
		if !w.Copy {
			b.declared++
		}
	}
	return b
}

func build(in Input) *builder {
	m := in.Model
	b := newBuilder(in)
	for _, p := range in.Problems {
		b.document(p)
	}
	b.roomy = b.topo && sized(b.m)
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
		if b.indexed() && !w.Copy && !w.Superseded {
			b.row(w)
		}
		fields.Ask(w.Object, askFields, func() { b.refusals().fields(w) })
		placed.Ask(w.Object, askPlaced, func() { b.workload(w) })
	}
	if in.Set != nil {
		b.refusals().validated(in.Set)
		terms{b}.fragments(in.Set)
	}
	b.askAll(askCircles, func() {
		for _, c := range bound.Circles(m) {
			joint{b}.circle(c)
		}
	})
	if b.topo {
		joint{b}.joint()
	}
	if in.Set != nil {
		b.changes().change()
		b.refusals().otherRefusals()
	}
	b.notes = append(b.notes, quirks(m)...)
	b.fill()
	b.describe()
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
	b.subjects = append(b.subjects, s)
	return len(b.subjects)
}

// indexed reports whether every workload has a row: lists refer to them by their index.
func (b *builder) indexed() bool {
	return slices.ContainsFunc([]string{"workloads", "nodes.workloads", "pools.workloads", "pools.namespaces"}, b.whole)
}

// row is the index of the row of a workload, which is made when the first other row
// refers to it: -1 for an object that creates no pods.
func (b *builder) row(w *workload.Workload) int {
	if w == nil || w.Fragment || w.Validated {
		return -1
	}
	i, known := b.rows[w]
	if known {
		return i
	}
	i = len(b.Workloads)
	b.rows[w] = i
	row := facts.Workload{
		Ref: w.String(), Group: w.Object.Group(), Kind: w.Object.Kind, Namespace: w.Object.Namespace, Name: w.Object.Name,
		PodsMax: facts.NoBound, Permanent: !w.Finite() && !w.Kind.PerNode(),
	}
	if w.Count.Known {
		row.PodsMin, row.PodsMax = w.Count.N, w.Count.N
	}
	if w.Scale != nil {
		row.PodsMin, row.PodsMax = w.Scale.Min, w.Scale.Max
	}
	b.subjects = append(b.subjects, alone(w, w.CountSpan()))
	row.ID = len(b.subjects)
	b.Workloads = append(b.Workloads, row)
	return i
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

// wanted reports whether a rule may report a row of a list, as far as some of its fields say: their
// names and values in turn. Only a rule judges, so a row is left out for what the rules say alone.
func (b *builder) wanted(list string, fields ...any) bool {
	return b.whole(list) || b.Wants != nil && b.Wants(list, fields...)
}

// lost are the topology keys whose losses a workload is asked about.
func (b *builder) lost(w *workload.Workload) []string {
	var keys []string
	if b.Survive != nil {
		keys = b.Survive(w)
	}
	if len(b.Asks) == 0 {
		return keys
	}
	keys = slices.Concat(keys, b.Asks)
	slices.Sort(keys)
	return slices.Compact(keys)
}

// required reports whether a workload is required to survive the losses of a key.
func (b *builder) required(w *workload.Workload, key string) bool {
	return b.Survive != nil && slices.Contains(b.Survive(w), key)
}

// whole reports whether a list is to be whole, or a field of its rows.
func (b *builder) whole(path string) bool {
	whole, known := b.wholes[path]
	if !known {
		whole = b.Whole != nil && b.Whole(path)
		b.wholes[path] = whole
	}
	return whole
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
		s = s.related(p.First, "%s", message.FirstDefined(p.Detail))
	}
	d := facts.Document{ID: b.subject(s), Problem: string(p.Kind), Detail: p.Detail, LastCounts: p.LastCounts, Merged: p.Merged}
	if p.First.File == p.Span.File {
		d.FirstLine = p.First.Line
	}
	b.Documents = append(b.Documents, d)
}

// workload tells everything else about one workload by itself.
func (b *builder) workload(w *workload.Workload) {
	terms{b}.nodeTerms(w)
	g := b.m.Group(w)
	usable := b.usable(w)
	for _, t := range g.Terms {
		terms{b}.term(w, t, usable)
	}
	terms{b}.nodeLabels(w)
	for _, u := range bound.UnmetAffinity(b.m, w) {
		terms{b}.unmet(w, u, usable)
	}
	limits{b}.placement(w)
}
