package derive

import (
	"reflect"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// progress records how far the questions about an object are answered.
type progress struct {
	// judged: its fields were checked. placed: where its pods can go is known. changed: the
	// outcomes of its rollout, drain and migration are known. lost: the outcomes of the losses that
	// it must survive are known. guards: the pods that the budget selects are known.
	judged, placed, changed, lost, guards bool
	// sized is set if every node declares its allocatable resources.
	sized bool
	// budget is set for a disruption budget, idle for a workload that has no pods.
	budget, idle bool
}

// Decisions maps objects to how far they are settled.
type Decisions map[diag.Object]*progress

// Decisions returns the decisions of the facts. They may outlive the facts.
func (f *Built) Decisions() Decisions { return f.settled }

// Unjudged returns decisions for objects that were not checked.
func Unjudged(objects []*source.Object) Decisions {
	d := Decisions{}
	for _, o := range objects {
		d[o.ID()] = &progress{}
	}
	return d
}

// Merge merges the decisions of another context. A question about an object is settled only if all
// contexts with the object settle it.
func (d Decisions) Merge(o Decisions) {
	for id, s := range o {
		known := d[id]
		if known == nil {
			d[id] = s
			continue
		}
		*known = progress{
			judged: known.judged && s.judged, placed: known.placed && s.placed, changed: known.changed && s.changed, lost: known.lost && s.lost,
			guards: known.guards && s.guards, sized: known.sized && s.sized, budget: known.budget || s.budget, idle: known.idle && s.idle,
		}
	}
}

// Undecided reports whether an object exists and some of its questions that the given lists depend on
// are unanswered, so that the absence of findings means nothing.
func (d Decisions) Undecided(o diag.Object, lists []string) bool {
	s, ok := d[o]
	switch {
	case !ok || s.idle:
		return false
	case s.budget:
		return !s.guards
	}
	known := s.lists()
	for _, list := range lists {
		if is, told := known[list]; told && !is {
			return true
		}
	}
	return false
}

// lists maps each list of facts to whether the questions that it depends on are answered. A list
// that is missing here is about several workloads and says nothing about a single one.
func (d progress) lists() map[string]bool {
	return map[string]bool{
		"refusals": d.judged, "unknown_fields": d.judged,
		"sharing": d.placed, "eligibility": d.placed, "requests": d.placed, "anti_affinity": d.placed, "spreads": d.placed,
		"host_ports": d.placed, "affinity": d.placed, "topology_keys": d.placed, "node_labels": d.placed, "selectors": d.placed,
		"node_terms": d.placed, "node_matches": d.placed, "label_keys": d.placed,
		"rollouts": d.changed, "skews": d.changed, "drains": d.changed, "migrations": d.changed, "autoscalers": d.changed, "outer_labels": d.changed,
		"losses": d.lost, "budgets": d.guards,
	}
}

// Decided reports whether all questions about an object that some lists depend on are answered, so
// that the absence of findings means that all is well. Lists that depend on room count as
// unanswered if some node does not declare its allocatable resources.
func (d Decisions) Decided(o diag.Object, lists []string) bool {
	s, ok := d[o]
	if !ok || len(lists) == 0 {
		return false
	}
	known := s.lists()
	for _, list := range lists {
		if !known[list] || !s.sized && takesRoom[list] {
			return false
		}
	}
	return true
}

// takesRoom holds the lists that depend on the room of nodes, among other things.
var takesRoom = map[string]bool{
	"sharing": true, "requests": true, "rollouts": true, "skews": true, "drains": true, "migrations": true, "autoscalers": true, "losses": true,
}

// settle records how far a workload is decided. A workload that is declared several times is
// undecided: the questions about each declaration would involve the others.
func (b *builder) settle(w *workload.Workload, note func(*progress)) {
	id := w.Object.ID()
	d := b.settled[id]
	if d == nil {
		d = &progress{}
		b.settled[id] = d
	}
	note(d)
	if w.Repeated || w.Copy || w.Superseded {
		*d = progress{}
	}
}

// pendings sets the Pending of each subject to the number in its row.
func (f *Built) pendings() {
	for id, row := range f.Rows() {
		if row.Value == nil {
			continue
		}
		for _, name := range []string{"PendingMax", "Pending"} {
			if field := reflect.ValueOf(row.Value).Elem().FieldByName(name); field.IsValid() {
				f.subjects[id-1].Pending = int(field.Int())
			}
		}
	}
	for _, e := range f.Eligibility {
		if e.Outcome == diag.Never {
			f.subjects[e.ID-1].Pending = e.Pods
		}
	}
}

// SuppressionFacts builds the facts about invalid suppressions.
func SuppressionFacts(complaints []accept.Complaint) *Built {
	b := &builder{Built: &Built{Facts: &facts.Facts{}}}
	for _, c := range complaints {
		s := Subject{Location: c.Location}
		if fix := message.SuppressionFix(&c); fix != "" {
			s = s.fix("%s", fix)
		}
		b.Suppressions = append(b.Suppressions, facts.Suppression{
			ID: b.subject(s), Problem: string(c.Problem), By: c.By, Rule: c.Rule, Target: c.Target,
			Reason: c.Reason, Until: c.Until, Dated: accept.IsDate(c.Until), Suggestion: c.Near,
		})
	}
	return b.Built
}
