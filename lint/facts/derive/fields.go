package derive

import (
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// refusals builds the facts about fields that the API server rejects, drops or does not recognize.
type refusals struct{ *builder }

// fields adds facts about the fields of a workload that the API server rejects or drops.
func (b refusals) fields(w *workload.Workload) {
	b.settle(w, func(*progress) {})
	for _, p := range slices.Concat(w.Gated, w.Problems) {
		b.refusal(w, w.String(), about(w, p.Span), p)
	}
	for _, u := range w.Unknown {
		b.unknownField(w, u)
	}
	b.settle(w, func(d *progress) { d.judged = true })
}

// refusal adds a fact about a field that the API server rejects. The rejection may depend on a
// feature gate. For an object that creates no pods, w is nil.
func (b refusals) refusal(w *workload.Workload, object string, s Subject, p workload.Problem) {
	if p.Fix != "" {
		s = s.fix("%s", p.Fix)
	}
	if p.By != nil {
		at := p.By.NameSpan()
		if k, v := p.By.Root.At("metadata", "labels").Field(workload.Enforce); k != nil {
			at = p.By.File.FieldSpan(k, v)
		}
		s = s.related(at, "%s", message.RejectsPods(p.By.Kind, p.By.Name))
	}
	b.Refusals = append(b.Refusals, facts.Refusal{ID: b.subject(s), W: b.row(w), Object: object, Stage: string(p.Stage), Gate: p.Gate, Field: p.Field, Values: w != nil && w.Within != "", Reason: p.Message})
}

// otherRefusals adds facts about rejected objects that create no pods.
func (b refusals) otherRefusals() {
	objects := lists.Of(b.Set.Refusals, func(r workload.Refusal) *source.Object { return r.Object })
	purse := b.m.SharedBudget(objects)
	for _, r := range b.Set.Refusals {
		id := r.Object.ID()
		switch d := b.settled[id]; {
		case purse.Ask(r.Object, askFields, func() {
			name := r.Object.Kind + " " + strings.TrimPrefix(r.Object.Namespace+"/"+r.Object.Name, "/")
			for _, p := range r.Problems {
				b.refusal(nil, name, Subject{Location: p.Span}.in(id).withAccount(nil, noteOnly(message.NoPods)), p)
			}
		}):
		case d != nil:
			d.judged, d.guards = false, false
		default:
			b.settled[id] = &progress{}
		}
	}
}

func (b refusals) unknownField(w *workload.Workload, u workload.UnknownField) {
	s := about(w, u.Span)
	if u.Suggestion != "" && !strings.Contains(u.Suggestion, ".") {
		s.Fixes = []diag.Fix{writeAt(w, u.KeySpan, u.Suggestion)}
	}
	b.UnknownFields = append(b.UnknownFields, facts.UnknownField{ID: b.subject(s), W: b.row(w), Object: w.String(), Values: w.Within != "", Field: u.Field, Suggestion: u.Suggestion})
}

func (b *builder) refusals() refusals { return refusals{b} }
