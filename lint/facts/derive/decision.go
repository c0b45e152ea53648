package derive

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// decision builds the document of the place command.
type decision struct {
	*builder
	survivals *survivals
}

// Reference names a workload as placements do: apiVersion/kind/namespace/name.
func Reference(w *workload.Workload) string {
	return strings.Join([]string{w.Object.APIVersion, w.Object.Kind, workload.Space(w.Object.Namespace), w.Object.Name}, "/")
}

// Decision turns a decision into the document that the place command prints, with the judge's
// answers about changes and about the losses that are asked for.
func Decision(m *model.Model, d *certificate.Decision, j *disruption.Judge, survive func(*workload.Workload) []string) *diag.Placement {
	b := newBuilder(Input{Model: m, Survive: survive})
	b.j = j
	if b.prepared = j.Prepare(); !b.prepared {
		m.Run().GiveUp(m.Workloads, askChange)
	}
	doc := &diag.Placement{
		Verdict: string(d.Verdict), RulesVerdict: string(d.RulesVerdict),
		Pods:      diag.PlacementPods{Total: d.Total, MaxPlaced: d.MaxPlaced, MinPlaced: d.MinPlaced, Exact: d.Exact},
		Workloads: make([]diag.PlacementWorkload, 0, len(d.Workloads)), Invalid: []diag.PlacementInvalid{}, Unmodelled: []string{}, Notes: []string{}, Unknown: []diag.Skip{},
	}
	names := map[*workload.Workload]string{}
	doc.Witness = steps(d.Witness, names)
	if d.Stuck != nil {
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
	never, each := false, decision{b, newSurvivals()}
	for i := range d.Workloads {
		w := each.decided(d, &d.Workloads[i])
		w.Change = each.changed(&d.Workloads[i])
		doc.Workloads = append(doc.Workloads, w)
		never = never || d.Workloads[i].Verdict == diag.Never && !d.Workloads[i].Workload.Finite()
	}
	if d.Verdict == diag.Never && !never {
		each.crowded(d, doc)
	}
	slices.SortStableFunc(doc.Workloads, func(a, b diag.PlacementWorkload) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.APIVersion, b.APIVersion))
	})
	if d.Stuck != nil {
		for _, p := range d.Stuck.Pending {
			out := diag.PlacementPending{Workload: Reference(p.Workload), Count: p.Count, Reason: message.Rejected(refusedNodes(p.Reasons))}
			if node := p.Workload.Spec.NodeName; node != "" && !declared(m, node) { // the scheduler ignores it
				out.Orphaned, out.Reason = true, message.Excluded(&model.Exclusion{Kind: model.Undeclared, NodeName: node})
			}
			doc.Stuck.Pending = append(doc.Stuck.Pending, out)
		}
	}
	outside(m, doc)
	doc.Notes = append(append(doc.Notes, openNotes(d)...), quirks(m)...)
	return doc
}

// quirks returns notes on terms that the scheduler reads differently from how they are written. The
// answers follow the scheduler.
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

// maxOpen bounds the open questions that are named.
const maxOpen = 5

// openNotes returns notes on what kept verdicts from being decided.
func openNotes(d *certificate.Decision) []string {
	var notes []string
	for _, q := range d.Doubts {
		notes = append(notes, message.Open(message.Doubt(&q)))
	}
	for i := range d.Workloads {
		if w := &d.Workloads[i]; w.Why.Cause == model.ByGrowth {
			notes = append(notes, message.Open(message.UnlessGrown(w.Workload, w.Why)))
		}
	}
	for i := range d.Over {
		notes = append(notes, message.Open(message.Undecided(&d.Over[i])))
	}
	if more := len(notes) - maxOpen; more > 0 {
		notes = append(notes[:maxOpen], message.Open(message.MoreQuestions(more)))
	}
	return notes
}

// steps converts a run. The map names caches references.
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
		Verdict: string(w.Verdict), RulesVerdict: string(w.RulesVerdict), MaxPlaced: w.MaxPlaced, MinPlaced: w.MinPlaced, Reason: string(w.Why.Cause),
		Core: []diag.PlacementCore{}, Repairs: []string{}, Paused: w.Workload.Paused(),
	}
	switch w.Why.Cause {
	case model.Waits, model.ByResource, model.ByGrowth: // the verdict itself or a note says it
	default:
		out.Why = message.Reason(w.Why)
	}
	if w.Verdict == diag.Never {
		if core := search.Explain(b.m, w.Workload, d); core != nil {
			ws := []*workload.Workload{w.Workload}
			out.Core = explained(b.m, ws, core)
			b.repairs.Ask(o, askRepairs, func() { out.Repairs = b.advisor().repairTexts(ws, core.Repairs) })
		}
	}
	return out
}

// crowded gives a core about several workloads to each of them.
func (b decision) crowded(d *certificate.Decision, doc *diag.Placement) {
	ws, core := search.ExplainTogether(b.m, d)
	if core == nil {
		return
	}
	repairs := []string{}
	b.m.Ask(ws, askRepairs, b.m.Part(ws), func() { repairs = b.advisor().repairTexts(ws, core.Repairs) })
	for i := range doc.Workloads { // still in the order of the decision
		if slices.Contains(ws, d.Workloads[i].Workload) {
			doc.Workloads[i].Core, doc.Workloads[i].Repairs = explained(b.m, ws, core), repairs
		}
	}
}

// explained describes a core: its terms, then its other parts, then the numbers of pods.
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

// place returns a span, or the name of the workload if the span is zero.
func place(w *workload.Workload, span diag.Span) diag.Span {
	if span.IsZero() {
		return w.Object.NameSpan()
	}
	return span
}

func coreMember(span diag.Span, field, text string) diag.PlacementCore {
	return diag.PlacementCore{File: span.File, Line: span.Line, Column: span.Column, Field: field, Text: text, Location: span}
}

// atomAt returns the place of an atom, its field and its description.
func atomAt(m *model.Model, a search.Atom) (at diag.Span, field, text string) {
	at, field, names := atomPlace(m, a)
	return place(a.Workload, at), field, message.Core(&a, names)
}

// atomPlace returns the span and the field of an atom, and what it names there.
func atomPlace(m *model.Model, a search.Atom) (at diag.Span, field, names string) {
	w, spec := a.Workload, a.Workload.SpecNode
	if a.Term != nil {
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
		requests := m.Group(w).Requests
		for _, r := range requests {
			if at = requestSpan(w, r.Name); !at.IsZero() {
				break
			}
		}
		return at, "resources", message.Requests(requests)
	case search.PartSlots:
		return w.CountSpan(), "pods", ""
	case search.PartPorts:
		text, span := portSpan(w, m.Group(w).HostPorts)
		return span, "hostPort", text
	}
	return w.CountSpan(), "replicas", ""
}

func excludedText(m *model.Model, w *workload.Workload) string {
	return message.Exclusions(m.Excluded(w, true))
}

// outside lists the workloads that the decision leaves out.
func outside(m *model.Model, doc *diag.Placement) {
	for _, w := range m.Workloads {
		g := m.Group(w)
		switch {
		case w.Copy || w.Superseded:
		case w.Refused():
			for _, p := range w.Problems {
				doc.Invalid = append(doc.Invalid, diag.PlacementInvalid{Workload: Reference(w), Field: p.Field, Message: p.Message})
			}
		case g.Unknown.Given():
			doc.Unmodelled = append(doc.Unmodelled, Reference(w)+": "+message.Reason(g.Unknown))
		case !w.Count.Known && !w.Kind.PerNode():
			doc.Unmodelled = append(doc.Unmodelled, Reference(w)+": "+message.Reason(model.Reason{Cause: model.ByCount}))
		}
	}
	slices.SortStableFunc(doc.Invalid, func(a, b diag.PlacementInvalid) int {
		return cmp.Or(cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Field, b.Field))
	})
	slices.Sort(doc.Unmodelled)
}
