package derive

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Subject holds the object, location and explanation of a row. Rules do not see it.
type Subject struct {
	Object   *diag.Object // nil for a finding about a file without objects
	Location diag.Span
	Related  []diag.Related
	Fixes    []diag.Fix
	// Pending is the number of pods that stay Pending according to the row.
	Pending int
	// Fold is the cause that the finding shares with those about other workloads of its namespace, or
	// "" (see diag.Diagnostic).
	Fold string

	typical facts.Typical

	// described is the field that the row describes, or zero if that is the location. A team's own
	// rules report their findings there. Built-in rules report theirs at the location, which is the
	// cause.
	described diag.Span
	// written is the YAML node at which the paths of findings start, or nil. It belongs to file.
	written *source.Node
	file    *source.File

	advised advice
	explain explanation
}

// Typical says how often simulated runs show what the row says, or nil.
func (s *Subject) Typical() *diag.Typical {
	if s.typical.Runs == 0 {
		return nil
	}
	t := diag.Typical(s.typical)
	return &t
}

// explanation holds the workload of a row, and the function that builds the row's account.
type explanation struct {
	of      *workload.Workload
	account account
}

// account builds a row's node-by-node explanation on demand.
type account func(*Explainer) diag.Account

// noteOnly returns an account that does not check any nodes and explains why.
func noteOnly(why string) account {
	return func(*Explainer) diag.Account { return diag.Account{Notes: []string{why}} }
}

// about returns a subject for a workload, located in its file.
func about(w *workload.Workload, at diag.Span) Subject {
	if at.IsZero() {
		at = w.CountSpan()
	}
	if w.Within != "" {
		return Subject{Location: at}.of(w).withAccount(nil, noteOnly(message.ByChart))
	}
	if w.Fragment {
		return Subject{Location: at}.of(w).withAccount(nil, noteOnly(message.ByController))
	}
	s := Subject{Location: at}.of(w).withAccount(w, func(x *Explainer) diag.Account { return x.still(w) }).as(w.Object.File, w.Object.Root)
	if w.Operator != "" {
		s = s.related(w.Object.NameSpan(), "%s", message.MadeBy(w.Operator))
	}
	return s
}

// alone returns a subject with an account that ignores all other workloads.
func alone(w *workload.Workload, at diag.Span) Subject {
	return about(w, at).withAccount(w, func(x *Explainer) diag.Account {
		a, open := x.unavailable(w)
		if open {
			return a
		}
		if !model.Modelled(x.b.m.Group(w)) || w.Running {
			return x.still(w, message.EachByItself)
		}
		j := x.judge()
		s := j.Alone(w, w.Count.N)
		placed, missing := s.Count(s.Next)
		if missing == 0 {
			return x.still(w, message.FitAlone)
		}
		a.Tables = append(a.Tables, x.table(w, message.NextPodAlone(w, placed, missing), s.Answers(s.Next)))
		a.Repairs = x.b.advisor().repairTexts([]*workload.Workload{w}, x.judge().Repairs(w, w.Count.N))
		a.Yield = message.AllScheduled(w)
		return a
	})
}

// of sets the subject's object to the object of w.
func (s Subject) of(w *workload.Workload) Subject { return s.in(w.Object.ID()) }

// in sets the subject's object.
func (s Subject) in(id diag.Object) Subject {
	s.Object = &id
	return s
}

// as sets the YAML node at which the paths of findings start.
func (s Subject) as(file *source.File, n *source.Node) Subject {
	s.file, s.written = file, n
	return s
}

// InOwnWords returns the subject for a finding in the words of a team's own rule.
func (s Subject) InOwnWords() Subject {
	if !s.described.IsZero() {
		s.Location = s.described
		s.Related = slices.DeleteFunc(slices.Clone(s.Related), func(r diag.Related) bool { return r.Location == s.described })
	}
	return s
}

// At returns the span of the field at a path relative to the subject. If there is no such field, it
// returns the span of the nearest existing parent. A path refers to a list item by its index or by
// its name.
func (s Subject) At(path []string) diag.Span {
	at, n := s.Location, s.written
	for _, name := range path {
		key, next := step(n, name)
		switch {
		case next == nil:
			return at
		case key == nil:
			at = s.file.ItemSpan(next)
		default:
			at = s.file.FieldSpan(key, next)
		}
		n = next
	}
	return at
}

// step follows one element of a path. In a list, it returns the item with the given index or name.
// In a map, it returns the field with the given name, together with the field's key.
func step(n *source.Node, name string) (key, next *source.Node) {
	if n == nil || n.Kind != source.Sequence {
		return n.Field(name)
	}
	items := n.Items()
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(items) {
		return nil, items[i]
	}
	for _, item := range items {
		if item.Get("name").Text() == name {
			return nil, item
		}
	}
	return nil, nil
}

// withAccount sets the account of a subject.
func (s Subject) withAccount(w *workload.Workload, a account) Subject {
	s.explain = explanation{w, a}
	return s
}

func (s Subject) related(at diag.Span, format string, args ...any) Subject {
	if !at.IsZero() {
		s.Related = append(s.Related, diag.Related{Location: at, Message: fmt.Sprintf(format, args...)})
	}
	return s
}

// quota adds the place of a ResourceQuota that limits a workload's pods.
func (s Subject) quota(w *workload.Workload, why model.Reason) Subject {
	i := slices.IndexFunc(w.Quotas, func(q workload.QuotaRoom) bool { return q.Name() == why.Name })
	return s.related(w.Quotas[i].Quota.NameSpan(), "%s", message.QuotaAllows(why.Name, why.Count))
}

// node adds the declaration of a node as a related location. A declaration shared by several nodes
// is added only once.
func (s Subject) node(n *topology.Node, what string) Subject {
	for _, r := range s.Related {
		if r.Location == n.Span {
			return s
		}
	}
	return s.related(n.Span, "%s", message.AtNode(n, what))
}

// fix adds a fix without edits. It is a call, because a subject is large to copy.
//
//go:noinline
func (s Subject) fix(format string, args ...any) Subject {
	s.Fixes = append(s.Fixes, diag.Fix{Description: fmt.Sprintf(format, args...)})
	return s
}

// write returns a fix that replaces the text of a scalar.
func write(w *workload.Workload, n *source.Node, text string) diag.Fix {
	return writeAt(w, w.File().Span(n), text)
}

// writeAt returns a fix that replaces a scalar. It keeps the quotes, because JSON requires them.
func writeAt(w *workload.Workload, at diag.Span, text string) diag.Fix {
	fix := diag.Fix{Description: message.Set(text)}
	line := []rune(w.File().Line(at.Line))
	if i := at.Column - 1; i >= 0 && i < len(line) && (line[i] == '"' || line[i] == '\'') {
		text = string(line[i]) + text + string(line[i])
	}
	fix.Edits = []diag.Edit{{Location: at, NewText: text}}
	return fix
}

// safe marks a fix as safe to apply without approval, or records why the fix is not safe. A safe
// edit affects nothing else. The edited manifest can still be applied to a cluster that already has
// the object.
func safe(w *workload.Workload, n *source.Node, fix diag.Fix) diag.Fix {
	e := &fix.Edits[0]
	if start, end, ok := w.File().Range(e.Location); ok { // within one line
		e.OldText = string(w.File().Text[start:end])
	}
	made := w.Object.Made()
	switch {
	case w.File().Recoded:
		fix.Withheld = message.WithheldRecoded
	case w.Within != "":
		fix.Withheld = message.WithheldValues
	case w.Fragment, w.Operator != "":
		fix.Withheld = message.WithheldFragment
	case w.Kind.Batch():
		fix.Withheld = message.WithheldJob
	case n.Shared:
		fix.Withheld = message.WithheldShared
	case n.Placeholder() || e.OldText != n.Value && e.OldText != `"`+n.Value+`"` && e.OldText != "'"+n.Value+"'":
		fix.Withheld = message.WithheldNoPlainText
	case made != "":
		fix.Withheld = message.WithheldMade(made)
	default:
		fix.Safe = true
	}
	return fix
}

// amountOf converts an amount to the form that rules see.
func amountOf(a *workload.Amount) facts.Amount {
	if a.Field == "" {
		return facts.Amount{}
	}
	return facts.Amount{Field: a.Field, Value: a.Value.String(), Written: a.Written, Of: a.Of, RoundedUp: a.Up, Pods: a.Pods()}
}

func arithmeticOf(a *workload.Arithmetic) facts.Arithmetic {
	return facts.Arithmetic{
		Strategy: string(a.Strategy), Surge: amountOf(&a.Surge), Unavailable: amountOf(&a.Unavailable),
		Correction: string(a.Correction), Pods: a.Pods, Preview: int(a.Preview),
	}
}

// termRule converts a term to the form that rules see. The argument w is the index of the term's
// workload.
func termRule(w int, t *model.Term) facts.Rule {
	if t.Claim != "" {
		return facts.Rule{W: w, Use: "claim", Hard: true, Key: t.Claim}
	}
	return facts.Rule{W: w, Use: string(t.Use), Hard: t.Hard, Key: t.Key}
}

// limitOf converts a limit to the form that rules see. The argument w is the index of the limited
// workload. If l is nil, there is no limit.
func limitOf(w int, l *bound.Limit) facts.Limit {
	if l == nil {
		return facts.Limit{By: "none", Rules: []facts.Rule{}}
	}
	rules := []facts.Rule{}
	for _, t := range l.Terms {
		if r := termRule(w, t); !slices.Contains(rules, r) {
			rules = append(rules, r)
		}
	}
	return facts.Limit{
		By: string(l.By), Fit: l.Most, Rules: rules, Domains: l.Domains, Eligible: l.Eligible, Resource: string(l.Binding),
	}
}

// placed describes where the pods of a workload or of one revision run. The argument nodes holds
// one entry per pod. The result counts all nodes, but names only a few of them.
func placed(w int, revision string, nodes []*topology.Node) facts.Placed {
	p := facts.Placed{W: w, Revision: revision, Pods: len(nodes)}
	at := map[*topology.Node]int{}
	for _, n := range nodes {
		i, known := at[n]
		if !known {
			i = len(at)
			at[n] = i
			if i <= message.MaxPlaces {
				p.On = append(p.On, facts.NodePods{Node: n.Name})
			}
		}
		if i < len(p.On) {
			p.On[i].Pods++
		}
	}
	p.Nodes = len(at)
	return p
}

// runningAt describes where the pods run when a rollout is stuck.
func runningAt(w int, r *disruption.Rollout) []facts.Placed {
	old, fresh := r.Left()
	all := []facts.Placed{}
	if len(old) > 0 {
		all = append(all, placed(w, "old", old))
	}
	if len(fresh) > 0 {
		all = append(all, placed(w, "new", fresh))
	}
	return all
}
