package derive

import (
	"fmt"
	"slices"
	"sync"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Input holds the data that facts are built from.
type Input struct {
	Model *model.Model
	// Set holds the workloads and objects that the model was built from.
	Set *workload.Set
	// Problems holds the problems found in the files. They do not belong to any cluster. Callers
	// pass them with one context only.
	Problems []source.Problem
	// Whole reports whether rules outside the core (custom rules, packs and template instances) may
	// read the list or field at a path such as workloads.terms. A list that they read must be
	// complete. It then also has rows for workloads without problems and for unknown outcomes. If
	// Whole is nil, these rules read no lists.
	Whole func(path string) bool
	// Wants reports whether any rule might report a row with the given fields. The fields are
	// alternating names and values. If Wants is nil, no rule reports any row.
	Wants func(list string, fields ...any) bool
	// Origin identifies the cluster context of the facts.
	Origin Origin
	// Survive returns the topology keys of the domains whose loss a workload must survive. If
	// Survive is nil, there are no such keys.
	Survive func(*workload.Workload) []string
	// Asks holds the topology keys of the domains whose loss some rule is about. Every workload is
	// checked against these losses.
	Asks []string
	// Asked reports whether any rule may read an expensive list of facts. If Asked is nil, no rule
	// reads such a list.
	Asked func(list string) bool
	// Brief is set to skip the most expensive work: facts about changes, and advice that must be
	// tested.
	Brief bool
	// Decision returns the decision about all workloads of the context. It is nil if none is to be made.
	Decision func() *certificate.Decision
	// Runs is the number of runs of kube-scheduler to simulate.
	Runs int
	// Answered is shared by contexts with the same nodes. Each answer about a change is then
	// computed and reported only once. If Answered is nil, every context computes its own answers.
	Answered *Answered
}

// Origin identifies a cluster context by name and holds all its documents.
type Origin struct {
	Cluster, Context string
	Objects          []*source.Object
	// Render returns the name of the render that an object comes from, or "". It may be nil.
	Render func(*source.Object) string
}

// builder collects facts. The id of a fact is the 1-based index of its subject in subjects.
type builder struct {
	*Built
	Input
	m *model.Model
	j *disruption.Judge
	// declared counts the workloads that selectors can match.
	declared int
	topo     bool
	// complete is set if any list must be complete. wholes caches the results of Whole.
	complete bool
	wholes   map[string]bool
	// prepared is set after the judge has been told which workloads run together.
	prepared bool
	// roomy is set if every node declares its allocatable resources. Resource checks are reliable
	// only in this case.
	roomy bool
	// faulty holds the workloads whose facts show that pods stay Pending, and told those of facts about
	// several workloads that do.
	faulty, told map[*workload.Workload]bool
	// orderDependent holds the workloads whose pods all fit only in some scheduling orders.
	orderDependent map[*workload.Workload]bool
	// repairs is the step budget for testing repairs. All workloads in a decision share it.
	repairs *model.SharedBudget
	// changing is the budget for questions about changes to workloads. It is created on first use.
	changing *model.SharedBudget
	// rolled holds the rollout outcomes that were found within the budget.
	rolled map[*workload.Workload]diag.Outcome
	// losing and meant are scratch buffers for the losses of one workload.
	losing, meant []disruption.Survival
	// originals maps objects to their first workload (see declaredAs).
	originals map[*source.Object]*workload.Workload
	// skews reports whether a rule may read the list skews. The answer is cached.
	skews func() bool
	// rows maps workloads to the indices of their rows.
	rows map[*workload.Workload]int
	// nodes caches the usable nodes by eligibility.
	nodes map[*model.Eligibility][]*topology.Node
	// labels caches how many usable nodes carry a label.
	labels map[carriedKey]carried
}

// Built holds facts. It also holds a subject for each row.
type Built struct {
	*facts.Facts

	subjects []Subject
	notes    []string
	settled  Decisions
	answered *Answered // nil if no other context has the same nodes
	model    *model.Model
}

// Declared returns the workloads that the facts are about.
func (f *Built) Declared() []*workload.Workload {
	if f.model == nil { // the facts are about suppressions
		return nil
	}
	return f.model.Workloads
}

// Subject returns the subject of the row with the given id.
func (f *Built) Subject(id int) Subject { return f.subjects[id-1] }

// Notes returns notes that do not belong to a finding.
func (f *Built) Notes() []string { return f.notes }

// Facts builds the facts about the workloads of one cluster.
func Facts(in Input) *Built { return build(in).Built }

func newBuilder(in Input) *builder {
	m := in.Model
	b := &builder{
		Built: &Built{Facts: &facts.Facts{}, settled: Decisions{}, answered: in.Answered, model: in.Model}, Input: in, m: m,
		wholes: map[string]bool{}, topo: !m.Topology.Empty(), nodes: map[*model.Eligibility][]*topology.Node{}, rows: map[*workload.Workload]int{},
		labels: map[carriedKey]carried{}, rolled: map[*workload.Workload]diag.Outcome{},
		faulty: map[*workload.Workload]bool{}, told: map[*workload.Workload]bool{}, orderDependent: map[*workload.Workload]bool{},
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
	b.roomy = b.topo &&
		!slices.ContainsFunc(m.Topology.Nodes, func(n *topology.Node) bool { return n.Allocatable == nil }) &&
		!slices.ContainsFunc(m.Topology.Growth, func(g topology.Growth) bool { return g.Node.Allocatable == nil })
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
	// Every workload needs a row if a list refers to workloads by index.
	indexed := slices.ContainsFunc([]string{"workloads", "nodes.workloads", "pools.workloads", "pools.namespaces", "pools.daemonsets"}, b.whole)
	for _, w := range m.Workloads {
		if indexed && !w.Copy && !w.Superseded {
			b.row(w)
		}
		fields.Ask(w.Object, askFields, func() { b.refusals().fields(w) })
		placed.Ask(w.Object, askPlaced, func() { b.workload(w) })
	}
	if in.Set != nil {
		validated := m.SharedBudget(model.ObjectsOf(in.Set.Validated)) // invalid fields of workloads that are validated but never deployed, such as test hooks
		for _, w := range in.Set.Validated {
			validated.Ask(w.Object, askFields, func() { b.refusals().fields(w) })
		}
		terms{b}.fragments(in.Set)
	}
	b.askAll(askCircles, func() {
		for _, c := range bound.Circles(m) {
			joint{b}.circle(c)
		}
	})
	if b.topo {
		var d *certificate.Decision
		if in.Decision != nil && !in.Brief {
			if d = in.Decision(); in.Set != nil {
				b.j.Use(d)
			}
		}
		joint{b}.joint(d)
	}
	if in.Set != nil {
		b.changes().change()
		b.refusals().otherRefusals()
	}
	if !b.askAll(askAttach, joint{b}.attachments) { // with what is known about rollouts
		for _, w := range m.Workloads {
			b.settle(w, func(d *progress) { d.attaches = d.attaches || len(w.Claims) > 0 })
		}
	}
	b.notes = append(b.notes, quirks(m)...)
	b.simulate()
	b.fill()
	b.describe()
	b.pendings()
	return b
}

// The summary uses these names for open questions.
const (
	askFields    = "which of its fields the API server rejects or drops"
	askPlaced    = "whether its pods fit"
	askFragment  = "what its placement fields refer to"
	askRepairs   = "which repairs work"
	askCircles   = "which workloads wait for each other"
	askShortages = "whether resources suffice for several workloads at once"
	askAttach    = "which pods use a volume that is attached to one node at a time"
	askChange    = "rollouts, drains and losses"
	askBudgets   = "which pods disruption budgets select"
)

// askAll asks a question about all workloads at once. It reports whether the question was answered.
func (b *builder) askAll(question string, f func()) bool {
	return b.m.Ask(b.m.Workloads, question, b.m.Altogether(), f)
}

// stepsPerFact is the number of steps charged for turning a fact into a finding. It includes rule
// evaluation and report output.
const stepsPerFact = 600

// subject registers the subject of the next fact and returns the id of that fact. It is a call,
// because a subject is large to copy.
//
//go:noinline
func (b *builder) subject(s Subject) int {
	if b.m != nil {
		b.m.Run().Spend(stepsPerFact)
	}
	b.subjects = append(b.subjects, s)
	return len(b.subjects)
}

// row returns the index of a workload's row, and creates the row if necessary. It returns -1 if w
// is nil or creates no pods.
func (b *builder) row(w *workload.Workload) int {
	if w == nil || w.Fragment || w.Validated {
		return -1
	}
	i, known := b.rows[w]
	if known {
		return i
	}
	for _, o := range b.m.Workloads { // w may be a copy with another number of pods
		if o != w && o.Object == w.Object {
			if i, known = b.rows[o]; known {
				return i
			}
		}
	}
	if i = len(b.Workloads); i == 0 {
		b.Workloads, b.subjects = make([]facts.Workload, 0, len(b.m.Workloads)), slices.Grow(b.subjects, len(b.m.Workloads))
	}
	b.rows[w] = i
	row := facts.Workload{
		Ref: w.String(), Group: w.Object.Group(), Kind: w.Object.Kind, Namespace: w.Object.Namespace, Name: w.Object.Name,
		PodsMax: facts.NoBound, Permanent: !w.Finite() && !w.Kind.PerNode(),
	}
	if w.Operator != "" {
		row.Kind = ""
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

// stepsPerName is the number of steps charged for comparing two names letter by letter.
const stepsPerName = 4

// nearest returns the candidate that the user probably meant instead of name, or "".
func (b *builder) nearest(name string, candidates []string) string {
	b.m.Run().Spend(stepsPerName * len(candidates))
	return diag.Nearest(name, candidates)
}

// suggest returns the node label that the user probably meant instead of key, or "".
func (b *builder) suggest(key string) string {
	b.m.Run().Spend(stepsPerName * b.m.Topology.Keys())
	return b.m.Topology.Suggest(key)
}

// wanted reports whether any rule might report a row with the given fields. The fields are
// alternating names and values. Other rows are left out.
func (b *builder) wanted(list string, fields ...any) bool {
	return b.whole(list) || b.Wants != nil && b.Wants(list, fields...)
}

// lost returns the topology keys of the domains whose loss is checked for a workload.
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

// required reports whether a workload must survive the loss of any domain of key.
func (b *builder) required(w *workload.Workload, key string) bool {
	return b.Survive != nil && slices.Contains(b.Survive(w), key)
}

// whole reports whether a list, or a field of its rows, must be complete.
func (b *builder) whole(path string) bool {
	whole, known := b.wholes[path]
	if !known {
		whole = b.Whole != nil && b.Whole(path)
		b.wholes[path] = whole
	}
	return whole
}

// fieldSpan returns the span of a field of n, or the zero Span.
func fieldSpan(w *workload.Workload, n *source.Node, name string) diag.Span {
	k, v := n.Field(name)
	if k == nil {
		return diag.Span{}
	}
	return w.File().FieldSpan(k, v)
}

// workload adds the remaining facts about a single workload.
func (b *builder) workload(w *workload.Workload) {
	terms{b}.nodeTerms(w)
	g := b.m.Group(w)
	usable := b.usable(w)
	for _, t := range g.Terms {
		if t.Declared() {
			terms{b}.term(w, t, usable)
		}
	}
	terms{b}.nodeLabels(w)
	for _, u := range bound.UnmetAffinity(b.m, w) {
		terms{b}.unmet(w, u, usable)
	}
	limits{b}.placement(w)
}

// Answered caches results for contexts with the same nodes. It remembers answered questions about
// changes, tested advice, and the fixes suggested for each reported fact.
type Answered struct {
	changes map[string]progress
	advice  *disruption.Advice
	fixes   map[string][]diag.Fix
	left    *int
}

// NewAnswered returns an empty cache. Testing advice deducts steps from left, which other caches
// can share.
func NewAnswered(left *int) *Answered {
	return &Answered{changes: map[string]progress{}, advice: disruption.NewAdvice(), fixes: map[string][]diag.Fix{}, left: left}
}

// advice holds the fixes suggested for a row. The string row identifies equal rows in later
// contexts.
type advice struct {
	row   string
	fixes []diag.Fix
}

// advised adds advice to the subject of a workload's row. If an earlier context reported an equal
// row about the same object, its advice is reused. Custom rules may report equal rows differently.
// If there are any, nothing is reused.
func (b *builder) advised(s Subject, w *workload.Workload, row any, advise func(Subject) Subject) Subject {
	if b.Answered == nil || b.complete {
		return advise(s)
	}
	key := fmt.Sprintf("%p %p %T%+v", w.Object, w.SpecNode, row, row)
	fixes, known := b.Answered.fixes[key]
	if known {
		s.Fixes = append(slices.Clip(s.Fixes), fixes...)
		return s
	}
	before := len(s.Fixes)
	s = advise(s)
	s.advised = advice{key, s.Fixes[before:len(s.Fixes):len(s.Fixes)]}
	return s
}

// Found records that a rule reported a fact.
func (f *Built) Found(id int) {
	if a := f.Subject(id).advised; a.row != "" {
		f.answered.fixes[a.row] = a.fixes
	}
}
