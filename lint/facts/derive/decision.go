package derive

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// decision builds the document of the place command.
type decision struct {
	*builder
	survivals *survivals
}

// Reference returns the name of a workload in a placement document, in the form
// apiVersion/kind/namespace/name.
func Reference(w *workload.Workload) string {
	return strings.Join([]string{w.Object.APIVersion, w.Object.Kind, workload.Space(w.Object.Namespace), w.Object.Name}, "/")
}

// Decision builds the document that the place command prints. It adds the judge's answers about
// changes. It also adds answers about the loss of domains. The function survive returns the
// topology keys of these domains.
func Decision(m *model.Model, d *certificate.Decision, j *disruption.Judge, survive func(*workload.Workload) []string) *diag.Placement {
	b := newBuilder(Input{Model: m, Survive: survive})
	b.j = j
	j.Use(d)
	if b.prepared = j.Prepare(); !b.prepared {
		m.Run().GiveUp(m.Workloads, askChange)
	}
	doc := &diag.Placement{
		Verdict: string(d.Verdict), RulesVerdict: string(d.RulesVerdict), DaemonSetsFirst: string(d.DaemonSetsFirst),
		Pods:      diag.PlacementPods{Total: d.Total, MaxPlaced: d.MaxPlaced, MinPlaced: d.MinPlaced, Exact: d.Exact},
		Workloads: make([]diag.PlacementWorkload, 0, len(d.Workloads)), Invalid: []diag.PlacementInvalid{}, Unmodelled: []string{}, Notes: []string{}, Unknown: []diag.Skip{},
	}
	names := map[*workload.Workload]string{}
	doc.Witness = steps(d.Witness, names)
	if d.Stuck != nil && len(m.Topology.Nodes) > 0 {
		doc.Stuck = &diag.PlacementStuck{Placements: doc.Witness, Pending: []diag.PlacementPending{}}
		if !slices.Equal(d.Stuck.Placements, d.Witness) {
			doc.Stuck.Placements = steps(d.Stuck.Placements, names)
		}
	}
	for _, o := range d.Over {
		if o.Cause == model.ByBudget {
			m.Run().GiveUp(o.Workloads, search.TogetherQuestion)
		}
	}
	objects := make([]*source.Object, len(d.Workloads))
	for i := range d.Workloads {
		objects[i] = d.Workloads[i].Workload.Object
	}
	b.repairs = m.SharedBudget(objects)
	never, grows, each := false, false, decision{b, newSurvivals()}
	doc.OnceGrown = len(m.NotModeled()) == 0
	for i := range d.Workloads {
		w := each.decided(d, &d.Workloads[i])
		w.Change = each.changed(&d.Workloads[i])
		w.OnceGrown = each.onceGrown(d.Workloads[i].Workload, &w)
		doc.OnceGrown = doc.OnceGrown && (w.Verdict == string(diag.Always) || slices.Contains(w.OnceGrown, disruption.Fits))
		grows = grows || len(w.OnceGrown) > 0
		doc.Workloads = append(doc.Workloads, w)
		never = never || d.Workloads[i].Verdict == diag.Never && d.Workloads[i].Why.Cause != model.ByPreemption && !d.Workloads[i].Workload.Finite()
		if d.Workloads[i].Verdict == diag.Never { // also of pods that finish, which the joint decision leaves out
			doc.Verdict, doc.DaemonSetsFirst = string(diag.Never), ""
		}
		if d.Workloads[i].RulesVerdict == diag.Never {
			doc.RulesVerdict = string(diag.Never)
		}
	}
	if doc.OnceGrown = doc.OnceGrown && grows; grows {
		doc.Notes = append(doc.Notes, message.AssumesGrowth)
	}
	if d.Verdict == diag.Never && !never {
		each.crowded(d, doc)
	}
	sorting.Stable(doc.Workloads, func(a, b diag.PlacementWorkload) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.APIVersion, b.APIVersion))
	})
	if doc.Stuck != nil {
		for _, p := range d.Stuck.Pending {
			out := diag.PlacementPending{Workload: Reference(p.Workload), Count: p.Count, Reason: message.Rejected(refusedNodes(p.Reasons))}
			if node := p.Workload.Spec.NodeName; node != "" && !declared(m, node) { // the scheduler ignores it
				out.Orphaned, out.Reason = true, message.Excluded(&model.Exclusion{Kind: model.Undeclared, NodeName: node})
			}
			doc.Stuck.Pending = append(doc.Stuck.Pending, out)
		}
	}
	outside(m, d, doc)
	doc.Notes = append(append(doc.Notes, openNotes(m, d, doc)...), quirks(m)...)
	return doc
}

// onceGrown lists the questions to which the answer is yes once pools have grown, among those that
// have another answer.
func (b decision) onceGrown(w *workload.Workload, out *diag.PlacementWorkload) []string {
	c := &out.Change
	certain := map[string]bool{
		disruption.Fits: out.Verdict == string(diag.Always), disruption.Rolls: c.Rollout.Verdict == string(diag.Always), disruption.Drains: c.Drain.Verdict == string(diag.Always),
	}
	for name, key := range map[string]string{disruption.SurvivesNode: corev1.LabelHostname, disruption.SurvivesZone: corev1.LabelTopologyZone} {
		certain[name] = !slices.ContainsFunc(c.Survives, func(s diag.PlacementSurvival) bool { return s.Key == key && s.Verdict != string(diag.Always) })
	}
	return lists.Where(b.j.OnceGrown(w), func(name string) bool { return !certain[name] })
}

// quirks returns notes on terms that the scheduler interprets in an unexpected way.
func quirks(m *model.Model) []string {
	var notes []string
	for _, w := range m.Workloads {
		for _, t := range m.Group(w).Terms {
			if t.Hard && t.EveryNamespace() && model.Modelled(m.Group(w)) {
				notes = append(notes, message.EveryNamespace(t, w))
			}
		}
	}
	if more := len(notes) - maxOpen; more > 0 {
		notes = append(notes[:maxOpen], message.MoreSelectors(more))
	}
	return notes
}

// maxOpen is the maximum number of open questions listed in notes.
const maxOpen = 5

// openNotes returns notes that explain why verdicts are unknown, and what may keep pods waiting.
func openNotes(m *model.Model, d *certificate.Decision, doc *diag.Placement) []string {
	var notes []string
	fits := map[string]bool{} // once pools have grown
	for _, w := range doc.Workloads {
		fits[strings.Join([]string{w.APIVersion, w.Kind, workload.Space(w.Namespace), w.Name}, "/")] = slices.Contains(w.OnceGrown, disruption.Fits)
	}
	for _, q := range d.Doubts {
		notes = append(notes, message.Open(message.Doubt(&q)))
	}
	for i := range d.Workloads {
		if w := &d.Workloads[i]; w.Why.Cause == model.ByGrowth && !fits[Reference(w.Workload)] {
			notes = append(notes, message.Open(message.UnlessGrown(w.Workload, w.Why)))
		}
	}
	for i := range d.Over {
		notes = append(notes, message.Open(message.Undecided(&d.Over[i])))
	}
	if more := len(notes) - maxOpen; more > 0 {
		notes = append(notes[:maxOpen], message.Open(message.MoreQuestions(more)))
	}
	var late []*workload.Workload
	for i := range d.Workloads {
		if w := &d.Workloads[i]; w.Workload.Kind.PerNode() && w.DaemonSetsFirst == diag.Always && !w.Preempts {
			late = append(late, w.Workload)
		}
	}
	if len(late) > 0 {
		notes = append(notes, message.ShutOut(late))
	}
	var unheard []*workload.Workload
	for i := range d.Workloads {
		w := d.Workloads[i].Workload
		if slices.ContainsFunc(m.Group(w).Terms, func(t *model.Term) bool { return t.Unheard() && m.Self(t, w) != model.Yes }) && d.Workloads[i].Verdict != diag.Never {
			unheard = append(unheard, w)
		}
	}
	if len(unheard) > 0 {
		notes = append(notes, message.Unheard(unheard))
	}
	return notes
}

// steps converts placed pods to placement steps. The map names caches workload references.
func steps(run []certificate.Placed, names map[*workload.Workload]string) []diag.PlacementStep {
	all := make([]diag.PlacementStep, len(run))
	for i, p := range run {
		if names[p.Workload] == "" {
			names[p.Workload] = Reference(p.Workload)
		}
		all[i] = diag.PlacementStep{Workload: names[p.Workload], Node: p.Node.Name, Zone: p.Node.Labels[corev1.LabelTopologyZone]}
	}
	return all
}

func (b decision) decided(d *certificate.Decision, w *certificate.WorkloadDecision) diag.PlacementWorkload {
	o := w.Workload.Object
	out := diag.PlacementWorkload{
		APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Replicas: w.Pods,
		Verdict: string(w.Verdict), RulesVerdict: string(w.RulesVerdict), DaemonSetsFirst: string(w.DaemonSetsFirst), Preempts: w.Preempts, MaxPlaced: w.MaxPlaced, MinPlaced: w.MinPlaced, Reason: string(w.Why.Cause),
		Core: []diag.PlacementCore{}, Repairs: []string{}, Paused: w.Workload.Paused(),
	}
	switch w.Why.Cause {
	case model.Waits, model.ByResource, model.ByGrowth: // the verdict or a note already reports it
	default:
		out.Why = message.Reason(w.Why)
	}
	switch {
	case w.Contested != nil:
		out.Why = message.DependsOnOrder(w.Contested, w.Pods)
	case w.Early != nil && w.Verdict == diag.Sometimes:
		out.Why = message.DependsOnEarly(w.Early)
	case w.Verdict == diag.Never && b.m.Chooses(w.Workload):
		out.Why = message.WhereverMade(w.Workload.Early[0])
	}
	if c, own := d.Stands(w.Workload); w.Verdict == diag.Never && c != nil { // a repair may help for this choice alone
		if core := search.Explain(c.Model, own, c.Decision); core != nil {
			out.Core = explained(c.Model, []*workload.Workload{own}, core)
		}
	} else if w.Verdict == diag.Never && w.Why.Cause != model.ByPreemption {
		m := b.m
		if len(m.Topology.Nodes) == 0 {
			m = m.Variant(m.Workloads, search.OneOfEach(m))
		}
		if core := search.Explain(m, w.Workload, d); core != nil {
			ws := []*workload.Workload{w.Workload}
			out.Core = explained(m, ws, core)
			b.repairs.Ask(o, askRepairs, func() { out.Repairs = b.advisor().repairTexts(ws, core.Repairs) })
		}
	}
	return out
}

// crowded adds the core and the repairs of each conflict to the decision about each workload in the
// conflict.
func (b decision) crowded(d *certificate.Decision, doc *diag.Placement) {
	repairs := []string{}
	for _, c := range d.Chosen {
		if c.Verdict != diag.Never {
			continue
		}
		if ws, core := search.ExplainTogether(c.Model, c.Decision); core != nil {
			for i := range doc.Workloads {
				if _, own := d.Stands(d.Workloads[i].Workload); slices.Contains(ws, own) {
					doc.Workloads[i].Core = explained(c.Model, ws, core)
				}
			}
			return
		}
	}
	ws, core := search.ExplainTogether(b.m, d)
	if core == nil || d.Chosen != nil {
		return
	}
	b.m.Ask(ws, askRepairs, b.m.Part(ws), func() { repairs = b.advisor().repairTexts(ws, core.Repairs) })
	for i := range doc.Workloads { // still in the order of the decision
		if slices.Contains(ws, d.Workloads[i].Workload) {
			doc.Workloads[i].Core, doc.Workloads[i].Repairs = explained(b.m, ws, core), repairs
		}
	}
}

// explained describes the parts of a core. Terms come first and pod counts come last.
func explained(m *model.Model, ws []*workload.Workload, core *search.Core) []diag.PlacementCore {
	list := []diag.PlacementCore{}
	for _, terms := range []bool{true, false} {
		for _, atom := range core.Atoms {
			if (atom.Term != nil) == terms {
				list = append(list, coreMember(atomAt(m, atom)))
			}
		}
	}
	for _, w := range ws {
		pods := w.Count.N
		if w.Kind.PerNode() {
			pods = m.Eligible(w).Count
		}
		list = append(list, coreMember(place(w, w.CountSpan()), "replicas", message.Replicated(w, pods, len(ws) > 1)))
	}
	return list
}

// place returns span, or the span of the workload's name if span is zero.
func place(w *workload.Workload, span diag.Span) diag.Span {
	if span.IsZero() {
		return w.Object.NameSpan()
	}
	return span
}

func coreMember(span diag.Span, field, text string) diag.PlacementCore {
	return diag.PlacementCore{File: span.File, Line: span.Line, Column: span.Column, Field: field, Text: text, Location: span}
}

// atomAt returns the span, the field and a description of one part of a core.
func atomAt(m *model.Model, a search.Atom) (at diag.Span, field, text string) {
	at, field, names := atomPlace(m, a)
	return place(a.Workload, at), field, message.Core(&a, names)
}

// atomPlace returns the span and the field of one part of a core, and the names to include in its
// description.
func atomPlace(m *model.Model, a search.Atom) (at diag.Span, field, names string) {
	w, spec := a.Workload, a.Workload.SpecNode
	switch {
	case a.Term != nil && !a.Term.Declared():
		return w.File().ItemSpan(a.Term.Node), "volumes", ""
	case a.Term != nil:
		field = map[model.Use]string{model.AntiAffinity: "podAntiAffinity", model.Affinity: "podAffinity", model.Spread: "topologySpreadConstraints"}[a.Term.Use]
		return w.File().ItemSpan(a.Term.Node), field, ""
	}
	switch a.Part {
	case search.PartSelector:
		span := fieldSpan(w, spec, "nodeSelector")
		if span.IsZero() {
			span = fieldSpan(w, spec.Get("affinity"), "nodeAffinity")
		}
		return span, "nodeSelector", excludedText(m, w)
	case search.PartTaints:
		return fieldSpan(w, spec, "tolerations"), "tolerations", excludedText(m, w)
	case search.PartRequests:
		requests := slices.DeleteFunc(slices.Clone(model.Written(m.Group(w).Requests)), volume)
		for _, r := range requests {
			if at = requestSpan(w, r.Name); !at.IsZero() {
				break
			}
		}
		return at, "resources", message.Requests(requests)
	case search.PartSlots:
		return w.CountSpan(), "pods", ""
	case search.PartVolumes:
		counted := slices.DeleteFunc(slices.Clone(m.Group(w).Requests), func(r model.Request) bool { return !volume(r) })
		for _, r := range counted {
			if at = requestSpan(w, r.Name); !at.IsZero() {
				return at, "volumes", message.Volumes(w, counted)
			}
		}
		return w.Claims[0].Span, "volumes", message.Volumes(w, counted)
	case search.PartPorts:
		text, span := portSpan(w, m.Group(w).HostPorts)
		return span, "hostPort", text
	}
	return w.CountSpan(), "replicas", ""
}

func volume(r model.Request) bool { return topology.CountsVolumes(r.Name) }

func excludedText(m *model.Model, w *workload.Workload) string {
	return message.Exclusions(m.Excluded(w, true))
}

// Undecided returns the workloads for which a decision leaves unknown whether all pods are placed,
// with the reasons. If that is known for each of them, it returns the components for which it is
// unknown whether all pods are placed in one run. What is known if DaemonSets start first counts as
// known. So does the placement of pods that wait for capacity, because they run later.
func Undecided(m *model.Model, d *certificate.Decision) (each []certificate.WorkloadDecision, together []certificate.Overrun) {
	for i := range d.Workloads {
		if w := d.Workloads[i]; w.Verdict == diag.Unknown && w.DaemonSetsFirst == "" && w.Why.Cause != model.Waits {
			each = append(each, w)
		}
	}
	for _, w := range m.Workloads {
		if why := notModeled(m, d, w); why.Given() {
			each = append(each, certificate.WorkloadDecision{Workload: w, Verdict: diag.Unknown, Why: why})
		}
	}
	if d.Verdict == diag.Unknown && d.DaemonSetsFirst == "" && len(each) == 0 {
		together = d.Over
	}
	return each, together
}

// notModeled returns why a workload that the API server accepts takes no part in a decision, if the
// decision does not say so.
func notModeled(m *model.Model, d *certificate.Decision, w *workload.Workload) model.Reason {
	row := func(o certificate.WorkloadDecision) bool { return o.Workload == w }
	switch g := m.Group(w); {
	case w.Copy || w.Superseded || w.Refused() || m.Chooses(w) || w.Contested != nil && slices.ContainsFunc(d.Workloads, row): // the decision has a row
		return model.Reason{}
	case !g.Unknown.Given() && !w.Count.Known && !w.Kind.PerNode():
		return model.Reason{Cause: model.ByCount}
	default:
		return g.Unknown
	}
}

// outside adds the workloads that were left out of the decision to the document.
func outside(m *model.Model, d *certificate.Decision, doc *diag.Placement) {
	for _, w := range m.Workloads {
		if why := notModeled(m, d, w); why.Given() {
			doc.Unmodelled = append(doc.Unmodelled, Reference(w)+": "+message.Reason(why))
		}
		if w.Copy || w.Superseded {
			continue
		}
		for _, p := range w.Problems {
			doc.Invalid = append(doc.Invalid, diag.PlacementInvalid{Workload: Reference(w), Field: p.Field, Message: p.Message})
		}
	}
	if len(doc.Invalid) > 0 { // pods that are rejected are never placed
		doc.Verdict, doc.DaemonSetsFirst = string(diag.Never), ""
	}
	sorting.Stable(doc.Invalid, func(a, b diag.PlacementInvalid) int {
		return cmp.Or(cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Field, b.Field))
	})
	slices.Sort(doc.Unmodelled)
}

// changed answers the questions about changes to a workload. If the pods can never all fit, drains
// get the answer "none".
func (b decision) changed(d *certificate.WorkloadDecision) diag.PlacementChange {
	w := d.Workload
	budget, unfit := message.Reason(model.Reason{Cause: model.ByBudget}), message.Reason(model.Reason{Cause: model.Unplaced})
	open := diag.PlacementJudgement{Verdict: string(diag.Unknown), Reason: budget}
	out := diag.PlacementChange{Drain: open, Migrate: open, Autoscale: open}
	out.Rollout = diag.PlacementRollout{Verdict: string(diag.Unknown), Reason: budget}
	out.Survives = []diag.PlacementSurvival{}
	for _, key := range b.lost(w) {
		out.Survives = append(out.Survives, diag.PlacementSurvival{Key: key, Meaning: string(certificate.Gone), Verdict: string(diag.Unknown), Reason: budget})
	}
	if b.prepared {
		b.changes().asks(w,
			func(w *workload.Workload) { out.Rollout = b.rolls(w) }, func(w *workload.Workload) { out.Survives = b.survives(w) },
			func(w *workload.Workload) { out.Drain = b.drains(w) }, func(w *workload.Workload) { out.Migrate = b.migrates(w) },
			func(w *workload.Workload) { out.Autoscale = b.scales(w) })
	}
	if d.Verdict != diag.Never {
		return out
	}
	out.Survives = slices.Clone(out.Survives)
	for i := range out.Survives {
		s := &out.Survives[i]
		s.Verdict, s.Pending, s.Reason = string(diag.Never), max(s.Pending, d.Pods-d.MaxPlaced), unfit
	}
	out.Drain = diag.PlacementJudgement{Verdict: string(diag.None), Reason: unfit}
	if outlives(w) && out.Rollout.Verdict == string(diag.Always) { // that is about numbers of pods that an autoscaler may choose
		out.Rollout = diag.PlacementRollout{Verdict: string(diag.None), Reason: unfit}
	}
	return out
}

// stepsPerRow is the number of steps charged for storing and writing a row of the document.
const stepsPerRow = 50

// survivals caches the answers about losses. Workloads with equal answers share one list.
type survivals struct {
	seed  maphash.Seed
	known map[uint64][]diag.PlacementSurvival
	// asked and rows are scratch buffers. asked holds the answers about one workload and key. rows
	// holds all rows of one workload.
	asked []disruption.Survival
	rows  []diag.PlacementSurvival
}

func newSurvivals() *survivals {
	return &survivals{seed: maphash.MakeSeed(), known: map[uint64][]diag.PlacementSurvival{}}
}

// list returns the current rows. If an earlier list has equal rows, list returns that one.
func (s *survivals) list() []diag.PlacementSurvival {
	hash := uint64(len(s.rows))
	for i := range s.rows {
		hash = hash*31 + maphash.Comparable(s.seed, s.rows[i])
	}
	if known, ok := s.known[hash]; ok && slices.Equal(known, s.rows) {
		return known
	}
	list := append(make([]diag.PlacementSurvival, 0, len(s.rows)), s.rows...)
	s.known[hash] = list
	return list
}

// survives returns the answers about losing a domain for each requested topology key. Callers must
// not modify the list, because other workloads may share it.
func (b decision) survives(w *workload.Workload) []diag.PlacementSurvival {
	rows := b.survivals.rows[:0]
	for _, key := range b.lost(w) {
		b.survivals.asked = b.j.AppendSurvives(b.survivals.asked[:0], w, key)
		gone, unreachable := disruption.Certain(b.survivals.asked, certificate.Gone), disruption.Certain(b.survivals.asked, certificate.Unreachable)
		for i := range b.survivals.asked {
			s := &b.survivals.asked[i]
			b.m.Run().Spend(stepsPerRow)
			b.noteOpen(w, s.Verdict, s.Why)
			out := diag.PlacementSurvival{Key: key, Value: s.Value, Meaning: string(s.Meaning), Verdict: string(s.Verdict), Pending: s.Pending, Replicas: s.Pods(w), Reason: message.Reason(s.Why), Waits: message.WaitsFor(s.Waits)}
			if out.Waits != "" && out.Reason == "" {
				out.Reason = message.WaitsForVolume(out.Waits)
			}
			if out.Reason == "" && s.Verdict != diag.Always {
				out.Reason = message.Beside(w, s.Sizes)
			}
			n := gone
			if s.Meaning == certificate.Unreachable {
				n = unreachable
			}
			if n > 0 && s.Hits() && s.Verdict != diag.Never {
				out.WhereItRuns, out.Verdict, out.Pending = true, string(diag.Sometimes), max(out.Pending, n)
			}
			if key == corev1.LabelHostname {
				out.Like = s.Like() - 1
			}
			rows = append(rows, out)
		}
	}
	b.survivals.rows = rows
	return b.survivals.list()
}

func (b decision) drains(w *workload.Workload) diag.PlacementJudgement {
	d := b.j.Drain(w)
	b.noteOpen(w, d.Answer, d.Why)
	out := diag.PlacementJudgement{Verdict: string(d.Answer), Reason: message.Reason(d.Why)}
	switch {
	case len(d.Budgets) > 1:
		out.Reason = message.ManyBudgets(len(d.Budgets))
	case len(d.Budgets) == 1:
		out.Reason = message.NoDisruptions(&d.Budgets[0])
	case d.Evicts && !d.Why.Given():
		out.Reason = message.StrategyRefuses
	case d.Worst != nil:
		out.Reason, out.ByPlacement, out.Waits = message.Drained(&d, d.Worst.Pods(w)), true, message.WaitsFor(d.Worst.Waits)
		if out.Waits != "" {
			out.Reason += ": " + message.WaitsForVolume(out.Waits)
		}
		if beside := message.Beside(w, d.Worst.Sizes); beside != "" {
			out.Reason += ", " + beside
		}
		if d.Next != nil {
			out.Reason += message.ThenNoDisruptions(d.Next.String(), message.Budget(d.Next))
		}
	}
	return out
}

// rolls describes the rollout with the worst outcome.
func (b decision) rolls(w *workload.Workload) diag.PlacementRollout {
	all := b.j.Rollouts(w)
	if some := filterStarted(all); len(some) > 0 {
		all = some
	}
	if len(all) == 0 {
		return diag.PlacementRollout{Verdict: "none"}
	}
	r, outcome := worst(all)
	out := diag.PlacementRollout{Verdict: string(outcome), Surge: r.Surge, Unavailable: r.Unavailable}
	switch r.Verdict {
	case "":
		if r.Way != workload.NoRollout {
			out.Reason = message.Reason(model.Reason{Cause: model.Unplaced})
		}
	case diag.Unknown:
		b.noteOpen(w, r.Verdict, r.Why)
		out.Reason = message.Reason(r.Why)
	case diag.Never, diag.Sometimes:
		at, scaler := scaleOf(w, r.Replicas)
		parts := []string{message.Scale(at, scaler, r.Replicas), message.Beside(w, r.Sizes), message.Arithmetic(&r.Arithmetic)}
		if r.Core != nil {
			parts = append(parts, b.coreText(w, r.CoreModel, r.Core))
		}
		limit := limitOf(b.row(w), b.j.Limit(w, r.Replicas+1))
		parts = append(parts, message.AtMost(&limit))
		if r.Why.Cause == model.ByQuota {
			parts = append(parts, message.Reason(r.Why))
		}
		if len(r.Stuck) > 0 {
			claim := ""
			if r.Hangs() {
				claim = w.AttachedBy.Name
			}
			parts = append(parts, message.Stuck(runningAt(b.row(w), r), refusedNodes(r.Reasons), claim))
		}
		out.Reason = strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
	}
	return out
}

// coreText describes the rules in a core.
func (b decision) coreText(w *workload.Workload, m *model.Model, core *search.Core) string {
	t := b.changes().core(w, m, core)
	return strings.Join(message.Rules(b.Facts, b.row(w), t.rules), ", ")
}

func (b decision) migrates(w *workload.Workload) diag.PlacementJudgement {
	m := b.j.Migration(w)
	b.noteOpen(w, m.Answer, m.Why)
	out := diag.PlacementJudgement{Verdict: string(m.Answer), Reason: message.Reason(m.Why)}
	if m.Device != nil {
		out.Reason = message.KeptBy(m.Device)
	}
	if m.Core != nil {
		out.Reason = message.NoTarget(b.coreText(w, m.CoreModel, m.Core))
	}
	if m.Answer == diag.Sometimes {
		out.Reason = message.DependsOnMachines
	}
	return out
}

func (b decision) scales(w *workload.Workload) diag.PlacementJudgement {
	s := b.j.Scaling(w)
	b.noteOpen(w, s.Answer, s.Why)
	out := diag.PlacementJudgement{Verdict: string(s.Answer), Reason: message.Reason(s.Why)}
	if s.Limit != nil {
		limit := limitOf(b.row(w), s.Limit)
		out.Reason = message.ScalesBeyond(s.Most, w.Scale.Max, &limit)
	}
	return out
}
