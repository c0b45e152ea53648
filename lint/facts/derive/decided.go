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

// progress records which questions about an object are answered.
type progress struct {
	// judged means that the object's fields were checked, placed that the possible nodes of its
	// pods are known, changed that the outcomes of its rollout, drain and migration are known, lost
	// that the outcomes of the losses that it must survive are known, and guards that the pods that
	// the budget selects are known.
	judged, placed, changed, lost, guards bool
	// sized is set if every node declares its allocatable resources.
	sized bool
	// budget is set for a disruption budget, idle for a workload that has no pods.
	budget, idle bool
}

// Decisions maps objects to the questions about them that are answered.
type Decisions map[diag.Object]*progress

// Decisions returns the decisions made while building the facts. They remain valid after the facts
// are dropped.
func (f *Built) Decisions() Decisions { return f.settled }

// Unjudged returns decisions for objects that were not checked.
func Unjudged(objects []*source.Object) Decisions {
	d := Decisions{}
	for _, o := range objects {
		d[o.ID()] = &progress{}
	}
	return d
}

// Merge merges the decisions of another context into d. A question about an object is settled only
// if it is settled in every context that contains the object.
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

// Undecided reports whether an object exists but a question that the given lists depend on is
// unanswered for it. The absence of findings about the object then means nothing.
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

// lists maps each list of facts to whether the questions that it depends on are answered. Lists
// about several workloads are missing, because they do not describe a single one.
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

// Decided reports whether all questions that the given lists depend on are answered for an object.
// The absence of findings then means that the object has no problem. Lists that depend on node
// resources count as unanswered if a node does not declare its allocatable resources.
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

// takesRoom holds the lists that depend on the resources of nodes, among other things.
var takesRoom = map[string]bool{
	"sharing": true, "requests": true, "rollouts": true, "skews": true, "drains": true, "migrations": true, "autoscalers": true, "losses": true,
}

// settle records answers to questions about a workload. A workload that is declared several times
// stays undecided, because questions about one declaration would involve the others.
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

// pendings copies the number of Pending pods from each row to its subject.
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
