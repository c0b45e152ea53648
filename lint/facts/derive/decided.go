package derive

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// progress records which questions about an object have been answered.
type progress struct {
	// judged is set when the fields of the object have been checked. placed is set when it is known
	// where its pods can run. changed is set when the outcomes of rollout, drain and migration are
	// known. lost is set when the outcomes of all required losses are known. guards is set when it
	// is known which pods a disruption budget selects.
	judged, placed, changed, lost, guards bool
	// attaches is set if it is not known whether only one node at a time can use one of its claims.
	attaches bool
	// sized is set if every node declares its allocatable resources.
	sized bool
	// rolls and drains are the outcomes of its rollout and its drain. They are "" if they are not known.
	// fits is set if the rollout shows that all its pods fit.
	rolls, drains diag.Outcome
	fits          bool
	// budget is set for a disruption budget. idle is set for a workload without pods.
	budget, idle bool
}

// Decisions records for each object which questions have been answered.
type Decisions map[diag.Object]*progress

// Decisions returns the decisions that were made while the facts were built. It holds no reference
// to the facts, so that their memory can be freed.
func (f *Built) Decisions() Decisions { return f.settled }

// Changes returns the outcomes of a workload's rollout and drain. An outcome that is not known for
// certain is unknown. The result fits is true if the rollout shows that all pods fit.
func (d Decisions) Changes(o diag.Object) (rolls, drains diag.Outcome, fits bool) {
	s := d[o]
	if s == nil {
		return diag.Unknown, diag.Unknown, false
	}
	return cmp.Or(s.rolls, diag.Unknown), cmp.Or(s.drains, diag.Unknown), s.fits
}

// Unjudged returns decisions for objects that were not checked.
func Unjudged(objects []*source.Object) Decisions {
	d := Decisions{}
	for _, o := range objects {
		d[o.ID()] = &progress{}
	}
	return d
}

// Merge merges the decisions of another context into d. A question about an object counts as
// answered only if every context that contains the object has an answer.
func (d Decisions) Merge(o Decisions) {
	for id, s := range o {
		known := d[id]
		if known == nil {
			d[id] = s
			continue
		}
		*known = progress{
			judged: known.judged && s.judged, placed: known.placed && s.placed, changed: known.changed && s.changed, lost: known.lost && s.lost,
			guards: known.guards && s.guards, attaches: known.attaches || s.attaches, sized: known.sized && s.sized, budget: known.budget || s.budget, idle: known.idle && s.idle,
			rolls: known.rolls.Worse(s.rolls), drains: known.drains.Worse(s.drains), fits: known.fits && s.fits,
		}
	}
}

// Undecided reports whether one of the given lists depends on an open question about an object. If
// so, the absence of findings about the object means nothing. For an unknown object it returns
// false.
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

// lists reports for each list of facts whether all questions that it depends on have been answered.
// It leaves out lists about groups of workloads.
func (d progress) lists() map[string]bool {
	return map[string]bool{
		"refusals": d.judged, "unknown_fields": d.judged,
		"sharing": d.placed, "eligibility": d.placed, "requests": d.placed, "anti_affinity": d.placed, "spreads": d.placed,
		"host_ports": d.placed, "affinity": d.placed, "topology_keys": d.placed, "node_labels": d.placed, "selectors": d.placed,
		"node_terms": d.placed, "node_matches": d.placed, "label_keys": d.placed,
		"rollouts": d.changed, "skews": d.changed, "drains": d.changed, "migrations": d.changed, "autoscalers": d.changed, "outer_labels": d.changed,
		"losses": d.lost, "budgets": d.guards, "attachments": d.placed && !d.attaches,
	}
}

// Decided reports whether all questions about an object that the given lists depend on have been
// answered. If so, the absence of findings means that the object has no problems. If a node does
// not declare its allocatable resources, lists that depend on them count as unanswered.
func (d Decisions) Decided(o diag.Object, lists []string) bool {
	s, ok := d[o]
	if !ok || len(lists) == 0 {
		return false
	}
	known := s.lists()
	return !slices.ContainsFunc(lists, func(list string) bool { return !known[list] || !s.sized && takesRoom[list] })
}

// takesRoom holds the names of the lists whose facts depend on node resources.
var takesRoom = map[string]bool{
	"sharing": true, "requests": true, "attachments": true, "rollouts": true, "skews": true, "drains": true, "migrations": true, "autoscalers": true, "losses": true,
}

// settle records answers to questions about a workload. A workload with several declarations stays
// undecided, because an answer about one declaration may depend on the others.
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
			f.subjects[e.ID-1].Pending = e.Pods - e.Most
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
