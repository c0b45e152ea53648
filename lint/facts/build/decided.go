package build

import (
	"reflect"
	"slices"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// settled is how far the questions about an object are answered.
type settled struct {
	// judged: its fields were looked at. placed: where its pods can go is known;
	// changed: and what becomes of them in a rollout, a drain, a migration; lost:
	// and after the losses that it is to survive. guards: whom the budget selects.
	judged, placed, changed, lost, guards bool
	// sized: every node says what room it has for them.
	sized bool
	// budget is set if it is one, idle if it has no pods for anything to befall.
	budget, idle bool
}

// Decisions tell of objects how far they are settled.
type Decisions map[diag.Object]*settled

// Decisions are those of the facts; they may outlive them.
func (f *Built) Decisions() Decisions { return f.settled }

// Unjudged are the decisions about objects that were not looked at.
func Unjudged(objects []*source.Object) Decisions {
	d := Decisions{}
	for _, o := range objects {
		d[o.ID()] = &settled{}
	}
	return d
}

// Meet takes in the decisions of another context: what is settled has to be
// settled in all that hold an object.
func (d Decisions) Meet(o Decisions) {
	for id, s := range o {
		known := d[id]
		if known == nil {
			d[id] = s
			continue
		}
		*known = settled{
			judged: known.judged && s.judged, placed: known.placed && s.placed, changed: known.changed && s.changed, lost: known.lost && s.lost,
			guards: known.guards && s.guards, sized: known.sized && s.sized, budget: known.budget || s.budget, idle: known.idle && s.idle,
		}
	}
}

// Open reports whether an object is there and something is not known that lists
// of facts would tell of it, so that no finding means nothing.
func (d Decisions) Open(o diag.Object, lists []string) bool {
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

// lists tells what has to be known of an object for a list of facts to be whole.
// One that is not there is about several workloads, whose part nobody can tell.
func (d settled) lists() map[string]bool {
	return map[string]bool{
		"refusals": d.judged, "unknown_fields": d.judged,
		"sharing": d.placed, "eligibility": d.placed, "requests": d.placed, "anti_affinity": d.placed, "spreads": d.placed,
		"host_ports": d.placed, "affinity": d.placed, "topology_keys": d.placed, "node_labels": d.placed, "selectors": d.placed,
		"node_terms": d.placed, "node_matches": d.placed, "label_keys": d.placed,
		"rollouts": d.changed, "skews": d.changed, "drains": d.changed, "migrations": d.changed, "autoscalers": d.changed, "outer_labels": d.changed,
		"losses": d.lost, "budgets": d.guards,
	}
}

// Decided reports whether everything is known that some lists of facts tell of
// an object, so that no finding means that all is well. What depends on room is
// not, where some node does not say what it has.
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

// takesRoom are the lists that tell of the room of nodes, among other things.
var takesRoom = map[string]bool{
	"sharing": true, "requests": true, "rollouts": true, "skews": true, "drains": true, "migrations": true, "autoscalers": true, "losses": true,
}

// settle notes how far a workload is decided. One that is declared several times
// is not: each declaration would be asked about the others.
func (b *builder) settle(w *workload.Workload, note func(*settled)) {
	id := w.Object.ID()
	d := b.settled[id]
	if d == nil {
		d = &settled{}
		b.settled[id] = d
	}
	note(d)
	if w.Repeated || w.Copy || w.Superseded {
		*d = settled{}
	}
}

// sized reports whether every node says what room it has.
func sized(m *model.Model) bool {
	return !slices.ContainsFunc(m.Topology.Nodes, func(n *topology.Node) bool { return n.Allocatable == nil }) &&
		!slices.ContainsFunc(m.Topology.Growth, func(g topology.Growth) bool { return g.Node.Allocatable == nil })
}

// pendings gives the subjects the numbers of pods that their rows say are Pending.
func (f *Built) pendings() {
	for id, row := range f.Rows() {
		if row.Value != nil {
			f.subjects[id-1].Pending = pendingIn(reflect.ValueOf(row.Value).Elem())
		}
	}
	for _, e := range f.Eligibility {
		if e.Outcome == diag.Never {
			f.subjects[e.ID-1].Pending = e.Pods
		}
	}
}

// pendingIn is the number of pods that a row says are Pending, 0 if it says nothing.
func pendingIn(row reflect.Value) int {
	for _, name := range []string{"Pending", "PendingMax"} {
		if field := row.FieldByName(name); field.IsValid() {
			return int(field.Int())
		}
	}
	return 0
}

// Complain tells what is wrong with suppressions.
func Complain(complaints []accept.Complaint) *Built {
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
