package derive

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/versions"
	"github.com/schedlint/schedlint/lint/workload"
)

// advisor tests advice on the declared nodes before a finding suggests it.
type advisor struct{ *builder }

// Advice that causes an outage is worse than no advice. Advice that changes a number or a rule must
// therefore leave rollouts and drains possible. A misspelled name is always corrected.

// tries maps kinds of fixes to functions that try one. Each returns the fix, or "" if it does not
// work.
type tries map[search.Kind]func() string

// offer tries fixes in the order of their kinds and adds those that work.
func (b advisor) offer(s Subject, all tries) Subject {
	for _, k := range sorting.Keys(all) {
		if text := all[k](); text != "" {
			s = s.fix("%s", text)
		}
	}
	return s
}

// maxLower limits how many smaller pod counts are tested. maxMore limits how many nodes are tested
// beyond the minimum. maxNodes is the largest number of nodes that advice suggests.
const (
	maxLower = 3
	maxMore  = 2
	maxNodes = 50
)

// holds reports whether a workload can be placed, rolled out and drained after an edit. The edit
// also adds the given number of nodes.
func (b advisor) holds(w *workload.Workload, edit disruption.Edit, more int) bool {
	return b.j != nil && b.j.Holds(w, edit, more)
}

// lower returns an offer to reduce the number of pods.
func (b advisor) lower(w *workload.Workload, l *bound.Limit) func() string {
	return func() string {
		if w.Count.Key == nil || w.Scale != nil {
			return ""
		}
		n, ok := b.largest(w, l.Most, w.Count.N)
		if !ok {
			return ""
		}
		return message.SetReplicas(w.Count.Key.Value, n, l.Most)
	}
}

// largest returns the largest number of pods, up to most, that can be placed, rolled out and
// drained. It is not much smaller than the number asked for.
func (b advisor) largest(w *workload.Workload, most, asked int) (n int, ok bool) {
	for n = most; n >= max(1, search.LeastPods(asked)) && n > most-maxLower; n-- {
		if b.holds(w, disruption.Replicas(n), 0) {
			return n, true
		}
	}
	return 0, false
}

// when returns an offer of a fix that works if the edit does.
func (b advisor) when(w *workload.Workload, edit disruption.Edit, text string) func() string {
	return func() string {
		if b.holds(w, edit, 0) {
			return text
		}
		return ""
	}
}

// repairTexts describes the repairs that work. Pods that run to completion are never rolled out or
// drained. They only need to be placed.
func (b advisor) repairTexts(ws []*workload.Workload, repairs []search.Repair) []string {
	list := []string{}
	finite := !slices.ContainsFunc(ws, func(w *workload.Workload) bool { return !w.Finite() })
	for _, r := range repairs {
		text := message.Repair(&r)
		if !finite {
			text = b.repair(ws, &r)
		}
		if text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// repair describes a repair for workloads that do not all fit. After the repair, it must be
// possible to roll out and drain all of them. If necessary, repair suggests fewer replicas or more
// nodes than r. It returns "" if nothing works. A corrected topology key is always described.
func (b advisor) repair(ws []*workload.Workload, r *search.Repair) string {
	if b.j == nil {
		return ""
	}
	switch {
	case r.Replicas > 0:
		for n := r.Replicas; n >= search.LeastPods(r.Workload.Count.N) && n > r.Replicas-maxLower; n-- {
			if b.j.HoldTogether(ws, []disruption.Change{{Workload: r.Workload, Edit: disruption.Replicas(n)}}, nil) {
				if n < r.Replicas {
					return message.FewerReplicas(r.Workload, n, r.Replicas)
				}
				return message.Repair(r)
			}
		}
		return ""
	case r.Nodes > 0:
		for n := r.Nodes; n <= min(r.Nodes+maxMore, len(r.Further)); n++ {
			if b.j.HoldTogether(ws, nil, r.Further[:n]) {
				more := *r
				more.Nodes = n
				return message.Repair(&more)
			}
		}
		return ""
	case r.Key != "":
		write := disruption.TopologyKey(r.Atoms[0].Term.Key, r.Key)
		if !b.j.HoldTogether(ws, []disruption.Change{{Workload: r.Workload, Edit: write}}, nil) {
			return message.RepairStuck(r)
		}
		return message.Repair(r)
	}
	var changes []disruption.Change
	for i, a := range r.Atoms {
		if a.Term != nil && a.Term.OwnKey(a.Workload) != "" { // a mistake, even if something else is in the way, too
			return message.Repair(r)
		}
		a.Workload = b.declaredAs(a.Workload)
		if edit, ok := b.givenUp(&a, r.Opens[i]); ok {
			changes = append(changes, disruption.Change{Workload: a.Workload, Edit: edit})
		}
	}
	if len(changes) > 0 && !b.j.HoldTogether(ws, changes, nil) {
		return ""
	}
	return message.Repair(r)
}

// declaredAs returns the workload of the model that has the same object as w. If there is none, it
// returns w.
func (b advisor) declaredAs(w *workload.Workload) *workload.Workload {
	if b.originals == nil {
		b.originals = map[*source.Object]*workload.Workload{}
		for _, o := range slices.Backward(b.m.Workloads) { // the first one wins
			b.originals[o.Object] = o
		}
	}
	if o := b.originals[w.Object]; o != nil {
		return o
	}
	return w
}

// givenUp returns the edit that removes a part of a core. It returns false if there are several
// ways to remove the part. For example, requests can be lowered in many ways. It also returns false
// for cordons, because they are no part of the workload.
func (b advisor) givenUp(a *search.Atom, opens *model.Exclusion) (edit disruption.Edit, ok bool) {
	switch {
	case a.Term != nil && !a.Term.Declared():
		return disruption.OwnClaims(), true
	case a.Term != nil:
		return disruption.Soft(a.Term.Use, a.Term.Key), true
	case a.Part == "selector":
		return disruption.AnyNode(), true
	case a.Part == "ports":
		return disruption.NoHostPorts(), true
	case a.Part == "taints" && opens != nil && !opens.Cordon():
		return disruption.Tolerate(opens.Taint), true
	}
	return disruption.Edit{}, false
}

// nodesToAdd returns an offer to add the smallest number of nodes on which the pods can be placed,
// rolled out and drained.
func (b advisor) nodesToAdd(w *workload.Workload, edit disruption.Edit, least int, text func(n int) string) func() string {
	return func() string {
		for n := least; n <= min(least+maxMore, maxNodes); n++ {
			if b.holds(w, edit, n) {
				return text(n)
			}
		}
		return ""
	}
}

// apart adds advice for replicas that share a node. It suggests a hard rule if the hard rule does
// not block rollouts or drains. Otherwise it suggests a preferred rule.
func (b advisor) apart(s Subject, w *workload.Workload) Subject {
	var rule message.Apart
	switch {
	case b.holds(w, disruption.SpreadOnNodes(false), 0):
	case b.holds(w, disruption.SpreadOnNodes(true), 0):
		rule.Honor = true
		if len(w.Kind.Shared) > 0 {
			rule.RevisionLabel = w.Kind.Shared[0]
		}
	default:
		return s.fix("%s", message.KeepApart(message.Apart{Soft: true}))
	}
	rule.AntiAffinity = b.holds(w, disruption.ApartOnNodes(), 0)
	return s.fix("%s", message.KeepApart(rule))
}

// softSpread makes the hard spread constraints on a key soft.
func softSpread(key string) disruption.Edit { return disruption.Soft(model.Spread, key) }

// corrected returns the fix for a misspelled topology key. The corrected rule may block rollouts or
// drains. The fix then includes a further change that prevents this, if there is one.
func (b advisor) corrected(w *workload.Workload, t *model.Term, key string) diag.Fix {
	value := t.Node.Get("topologyKey")
	fix := safe(w, value, write(w, value, key))
	edit := disruption.TopologyKey(t.Key, key)
	switch {
	case !t.Hard || t.Use == model.Affinity || !b.topo || w.Fragment || b.holds(w, edit, 0):
	case len(w.Kind.Shared) > 0 && (t.Use == model.Spread || versions.AffinityKeys().Keeps(w.Kubernetes) == diag.Always) && b.holds(w, disruption.Both(edit, disruption.PerRevision()), 0):
		fix.Description += message.AndPerRevision(w.Kind.Shared[0])
	case t.Use == model.AntiAffinity && b.holds(w, disruption.SoftAntiAffinity(), 0), t.Use == model.Spread && b.holds(w, softSpread(t.Key), 0):
		fix.Description += message.AndSoften(t.Use)
	}
	return fix
}

// toleration adds advice to tolerate the taint that excludes nodes. If this is not enough for
// rollouts and drains, the advice also lowers the number of pods or adds nodes. Pods that run to
// completion are never rolled out or drained. They only need to be placed.
func (b advisor) toleration(s Subject, w *workload.Workload, x *model.Exclusion) Subject {
	tolerate := disruption.Tolerate(x.Taint)
	if w.Finite() || b.holds(w, tolerate, 0) {
		return s.fix("%s", message.Tolerate(x))
	}
	for n := w.Count.N - 1; n >= max(search.LeastPods(w.Count.N), w.Count.N-maxLower) && w.Count.Key != nil && w.Scale == nil; n-- {
		if b.holds(w, disruption.Both(tolerate, disruption.Replicas(n)), 0) {
			return s.fix("%s", message.TolerateWith(x, w.Count.Key.Value, n))
		}
	}
	return s.fix("%s", message.AddUntainted(x))
}

func (b *builder) advisor() advisor { return advisor{b} }
