package build

import (
	"cmp"
	"fmt"
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

// decision makes the document of the place command.
type decision struct{ *builder }

// Reference names a workload as placements do: apiVersion/kind/namespace/name.
func Reference(w *workload.Workload) string {
	namespace := w.Object.Namespace
	if namespace == "" {
		namespace = "default"
	}
	return strings.Join([]string{w.Object.APIVersion, w.Object.Kind, namespace, w.Object.Name}, "/")
}

// Decision turns a decision into the document that the place command prints,
// with what the judge says of change, and of the losses that are asked for.
func Decision(m *model.Model, d *certificate.Decision, j *disruption.Judge, survive func(*workload.Workload) []string) *diag.Placement {
	b := newBuilder(Input{Model: m, Survive: survive})
	b.j = j
	if b.prepared = j.Prepare(); !b.prepared {
		m.Run().GiveUp(m.Workloads, askChange)
	}
	doc := &diag.Placement{
		Verdict: string(d.Verdict), RulesVerdict: string(d.RulesVerdict),
		Pods:      diag.PlacementPods{Total: d.Total, MaxPlaced: d.MaxPlaced, MinPlaced: d.MinPlaced, Exact: d.Exact},
		Workloads: []diag.PlacementWorkload{}, Witness: steps(d.Witness), Invalid: []diag.PlacementInvalid{}, Unmodelled: []string{}, Notes: []string{}, Unknown: []diag.Skip{},
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
	never := false
	for i := range d.Workloads {
		w := decision{b}.decided(d, &d.Workloads[i])
		w.Change = decision{b}.changed(&d.Workloads[i])
		doc.Workloads = append(doc.Workloads, w)
		never = never || d.Workloads[i].Verdict == diag.Never && !d.Workloads[i].Workload.Finite()
	}
	if d.Verdict == diag.Never && !never {
		decision{b}.crowded(d, doc)
	}
	slices.SortStableFunc(doc.Workloads, func(a, b diag.PlacementWorkload) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.APIVersion, b.APIVersion))
	})
	if d.Stuck != nil {
		doc.Stuck = &diag.PlacementStuck{Placements: steps(d.Stuck.Placements), Pending: []diag.PlacementPending{}}
		for _, p := range d.Stuck.Pending {
			doc.Stuck.Pending = append(doc.Stuck.Pending, pending(m, p))
		}
	}
	outside(m, doc)
	doc.Notes = append(append(doc.Notes, open(d)...), quirks(m)...)
	return doc
}

// quirks tells of terms that the scheduler reads otherwise than they are
// written, which answers follow.
func quirks(m *model.Model) []string {
	var notes []string
	for _, w := range m.Workloads {
		for _, t := range m.Group(w).Terms {
			if t.Hard && t.EveryNamespace() && model.Modelled(m.Group(w)) {
				notes = append(notes, fmt.Sprintf("the namespaceSelector (%s) of the required %s of %s on %s matches every namespace for incoming pods: Kubernetes v1.36 treats a selector of only NotIn and DoesNotExist that way (kubernetes/kubernetes#141526)",
					t.NamespaceText(), t.Use, w, t.Key))
			}
		}
	}
	if more := len(notes) - maxOpen; more > 0 {
		notes = append(notes[:maxOpen], fmt.Sprintf("%s with the same problem", plural(more, "more namespaceSelector")))
	}
	return notes
}

// maxOpen bounds the open questions that are named.
const maxOpen = 5

// open says what kept a verdict from being decided.
func open(d *certificate.Decision) []string {
	var notes []string
	for _, q := range d.Doubts {
		notes = append(notes, "open: "+doubt(&q))
	}
	for i := range d.Workloads {
		if w := &d.Workloads[i]; w.Why.Cause == model.ByGrowth {
			notes = append(notes, fmt.Sprintf("open: whether all pods of %s can be scheduled %s", w.Workload, message.Reason(w.Why)))
		}
	}
	for _, o := range d.Over {
		notes = append(notes, fmt.Sprintf("open: %s of %s (%s) %s", plural(o.Pods, "pod"), plural(len(o.Workloads), "workload"), few(o.Workloads), overrun[o.Cause]))
	}
	if more := len(notes) - maxOpen; more > 0 {
		notes = append(notes[:maxOpen], fmt.Sprintf("open: %s", plural(more, "more question")))
	}
	return notes
}

// overrun says why a component is not decided.
var overrun = map[model.Cause]string{
	model.ByBudget: "could not be decided within the budget: raise --steps",
	model.BySize:   "are too many to search, and no proof applies",
	model.ByFault:  "are undecided because of an internal error: the checker rejects the result",
}

// doubt is a hard term that leaves an answer open, in words.
func doubt(q *model.Doubt) string {
	if q.Resource != "" {
		return fmt.Sprintf("whether pods of %s fit depends on %s, which no node lists", q.Workload, q.Resource)
	}
	rule := fmt.Sprintf("the required %s of %s on %s", q.Term.Use, q.Workload, q.Term.Key)
	switch q.Cause() {
	case model.ByVariable:
		return fmt.Sprintf("whether %s selects pods of %s depends on the label %s, whose value contains a variable", rule, q.Target, q.Key)
	case model.ByFinite:
		return fmt.Sprintf("%s depends on pods of %s, which run to completion", rule, q.Target)
	case model.ByUnknown:
		return fmt.Sprintf("%s depends on pods of %s, which are not modeled: %s", rule, q.Target, message.Reason(q.Why))
	}
	return fmt.Sprintf("whether %s selects pods of %s depends on the label %s, whose value is set at run time", rule, q.Target, q.Key)
}

// few names some workloads.
func few(ws []*workload.Workload) string {
	var names []string
	for i, w := range ws {
		if i == maxRelated && len(ws) > maxRelated+1 {
			return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", len(ws)-i)
		}
		names = append(names, w.String())
	}
	return strings.Join(names, ", ")
}

func steps(run []certificate.Placed) []diag.PlacementStep {
	all := make([]diag.PlacementStep, len(run))
	for i, p := range run {
		all[i] = diag.PlacementStep{Workload: Reference(p.Workload), Node: p.Node.Name, Zone: p.Node.Labels[corev1.LabelTopologyZone]}
	}
	return all
}

// pending is pods that are left over. Those that are bound to a node which is not
// declared are no business of the scheduler.
func pending(m *model.Model, p certificate.Pending) diag.PlacementPending {
	out := diag.PlacementPending{Workload: Reference(p.Workload), Count: p.Count, Reason: reason(p.Reasons)}
	if node := p.Workload.Spec.NodeName; node != "" && !declared(m, node) {
		out.Orphaned, out.Reason = true, message.Excluded(&model.Exclusion{Kind: model.Undeclared, NodeName: node})
	}
	return out
}

// reason counts the nodes by the filter that refuses the pod there.
func reason(reasons map[certificate.Reason]int) string {
	var keys []certificate.Reason
	for k := range reasons {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b certificate.Reason) int {
		return cmp.Or(cmp.Compare(reasons[b], reasons[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, k := range keys {
		parts = append(parts, fmt.Sprintf("%s rejected by %s", plural(reasons[k], "node"), k))
	}
	return strings.Join(parts, ", ")
}

func (b decision) decided(d *certificate.Decision, w *certificate.WorkloadDecision) diag.PlacementWorkload {
	o := w.Workload.Object
	out := diag.PlacementWorkload{
		APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Replicas: w.Pods,
		Verdict: string(w.Verdict), RulesVerdict: string(w.RulesVerdict), MaxPlaced: w.MaxPlaced, MinPlaced: w.MinPlaced, Reason: string(w.Why.Cause), Why: whyUndecided(w.Why),
		Core: []diag.PlacementCore{}, Repairs: []string{},
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

// whyUndecided is why a verdict is unknown, in words; "" where the verdict itself or a
// note says it.
func whyUndecided(r model.Reason) string {
	switch r.Cause {
	case model.Waits, model.ByResource, model.ByGrowth:
		return ""
	}
	return message.Reason(r)
}

// overcommitted gives every workload of a core that is about several that core.
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

// explained is a core in words: its terms, then its other parts, then how many
// pods there are.
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
		text := plural(pods, "pod")
		if len(ws) > 1 {
			text = w.String() + ": " + text
		}
		list = append(list, coreMember(place(w, w.CountSpan()), "replicas", text))
	}
	return list
}

// place is where something stands: at the name of the workload where it stands
// nowhere.
func place(w *workload.Workload, span diag.Span) diag.Span {
	if span.IsZero() {
		return w.Object.NameSpan()
	}
	return span
}

func coreMember(span diag.Span, field, text string) diag.PlacementCore {
	return diag.PlacementCore{File: span.File, Line: span.Line, Column: span.Column, Field: field, Text: text, Location: span}
}

// atomAt is where an atom stands, its field and what it says.
func atomAt(m *model.Model, a search.Atom) (at diag.Span, field, text string) {
	w, spec := a.Workload, a.Workload.SpecNode
	if a.Term != nil {
		return place(w, w.File().ItemSpan(a.Term.Node)), termField(a.Term), fmt.Sprintf("%s: %s selects %s", w, message.Term(a.Term), a.Term.Selector())
	}
	switch a.Part {
	case "selector":
		span := fieldSpan(w, spec, "nodeSelector")
		if span.IsZero() {
			span = fieldSpan(w, spec.Get("affinity"), "nodeAffinity")
		}
		return place(w, span), "nodeSelector", w.String() + ": " + excludedText(m, w)
	case "taints":
		return place(w, fieldSpan(w, spec, "tolerations")), "tolerations", w.String() + ": " + excludedText(m, w)
	case "requests":
		return place(w, firstRequest(m, w)), "resources", w.String() + ": one pod requests " + requestsText(m.Group(w).Requests)
	case "slots":
		return place(w, w.CountSpan()), "pods", w.String() + ": each pod uses one pod slot of its node"
	case "ports":
		text, span := portSpan(w, m.Group(w).HostPorts)
		return place(w, span), "hostPort", w.String() + ": host port " + text
	}
	return place(w, w.CountSpan()), "replicas", fmt.Sprintf("%s: %s", w, plural(w.Count.N, "pod"))
}

// requestsText is what one pod asks for, as it is written.
func requestsText(all []model.Request) string {
	var parts []string
	for i := range all {
		parts = append(parts, fmt.Sprintf("%s %s", &all[i].Quantity, all[i].Name))
	}
	return strings.Join(parts, ", ")
}

func termField(t *model.Term) string {
	return map[model.Use]string{model.AntiAffinity: "podAntiAffinity", model.Affinity: "podAffinity", model.Spread: "topologySpreadConstraints"}[t.Use]
}

func firstRequest(m *model.Model, w *workload.Workload) diag.Span {
	for _, r := range m.Group(w).Requests {
		if span := requestSpan(w, r.Name); !span.IsZero() {
			return span
		}
	}
	return diag.Span{}
}

func excludedText(m *model.Model, w *workload.Workload) string {
	var parts []string
	for _, x := range m.Excluded(w, true) {
		parts = append(parts, message.Exclusion(&x))
	}
	return strings.Join(parts, "; ")
}

// outside lists what takes no part in the decision.
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
