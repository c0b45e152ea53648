package disruption

import (
	"crypto/sha256"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// stage is a scene plus the nodes that it loses.
type stage struct {
	*scene
	m     *model.Model
	group []*workload.Workload
	lost  map[string]bool // names of the lost nodes
	loss  certificate.Loss
	// values holds the value of the lost nodes for each label that pods are pinned to. It is empty if
	// the lost nodes differ.
	values map[string]string
}

// Search limits. Larger scenes would exceed the step budget.
const (
	lossPods  = 40
	lossNodes = 40
	// hitSteps divides the step budget for a search that only examines the workloads that lose a
	// pod.
	hitSteps = 40
)

// stage answers a question for every member of a group, in group order. Many groups are equivalent,
// so stage caches the answers. The cache key covers everything that affects the answers.
func (q *loss) stage(group []*workload.Workload, b *search.DomainLoss, l certificate.Loss) answer {
	at := slices.Index(group, q.w)
	if l.Meaning == certificate.Drained && len(q.j.running) > 0 && len(search.HardKeys(q.j.m, group, model.Affinity)) > 0 {
		return answer{verdict: diag.Unknown, why: by(model.ByTermination)}
	}
	l = q.stepwise(group, l)
	id := q.j.alike(group) + q.key + "=" + b.Value + " " + string(l.Meaning)
	for _, x := range l.Guards {
		id += fmt.Sprintf(" %d: %d", slices.Index(group, x.Workload), x.Allowed)
	}
	for i, w := range group {
		if key := q.pinnedTo(w); key != "" {
			id += fmt.Sprintf(" %d=%s", i, key)
		}
	}
	a := lazy.Cached(q.j.lost, id, func() []answer { return q.set(group, b, l).answers() })[at]
	unordered := l.Meaning == certificate.Drained && !l.Stepwise && !q.j.hereditary(group) // other orders of evictions may end in another way
	if unordered {
		if a.hit = 0; a.verdict == diag.Always || a.verdict == diag.Never {
			return answer{verdict: diag.Unknown, why: by(model.ByTermination)}
		}
	}
	if l.Stepwise && q.budgets.open.Given() && (a.verdict == diag.Always || a.verdict == diag.Sometimes) {
		return answer{verdict: diag.Unknown, why: q.budgets.open}
	}
	return a
}

// alike returns a description that is equal for groups that differ only in names. If there is no
// such description, it returns a hash of the names.
func (j *shared) alike(group []*workload.Workload) string {
	return lazy.Cached(j.described, keyOf(group), func() string {
		if len(j.running) == 0 {
			if id := search.Alike(j.m, group, model.Certain); id != "" {
				return id
			}
		}
		names := sha256.New()
		for _, w := range group {
			fmt.Fprintln(names, w.Object.APIVersion, w)
		}
		return string(names.Sum(nil))
	})
}

// set places a group on a few representative nodes, including the lost ones.
func (q *loss) set(group []*workload.Workload, b *search.DomainLoss, l certificate.Loss) *stage {
	out := lists.Set(b.Nodes())
	s := &stage{scene: q.j.scene(group), group: group, lost: map[string]bool{}, values: map[string]string{}}
	for _, w := range group {
		c := s.of[w]
		switch c.Pin = q.pinnedTo(w); {
		case q.loose && w == q.w:
			c.OrdinalReaches = nil
		case q.j.m.PinOf(w).Bound: // filters keep each pod where its volume is
			c.Pin = ""
		}
		if c.Pin != "" {
			s.values[c.Pin] = ""
		}
	}
	keys := sorting.Keys(s.values)
	for _, key := range keys {
		first := true
		for _, n := range q.j.m.Topology.Nodes {
			switch value := n.Labels[key]; {
			case !out[n.Name]:
			case first:
				s.values[key], first = value, false
			case value != s.values[key]:
				s.values[key] = ""
			}
		}
	}
	s.m = s.model(func(n *topology.Node) string {
		if out[n.Name] {
			return "lost"
		}
		near := ""
		for _, key := range keys {
			near += fmt.Sprint(n.Labels[key] == s.values[key])
		}
		return near
	})
	for _, n := range s.m.Topology.Nodes {
		if out[n.Name] {
			s.lost[n.Name] = true
		}
	}
	s.loss = certificate.Loss{Nodes: s.lost, Meaning: l.Meaning, Stepwise: l.Stepwise}
	for _, x := range l.Guards {
		if c := s.of[x.Workload]; c != nil {
			s.loss.Guards = append(s.loss.Guards, certificate.Guard{Workload: c, Allowed: x.Allowed})
		}
	}
	return s
}

// answers tries the methods in order of cost, cheapest first.
func (s *stage) answers() []answer {
	all := make([]answer, len(s.group))
	for i := range all {
		all[i].verdict = diag.Unknown
	}
	if s.j.hereditary(s.group) && !model.Off("T7") {
		s.onRemaining(all)
	}
	open := func(a answer) bool { return a.verdict == diag.Unknown }
	large := s.pods() > lossPods || len(s.m.Topology.Nodes) > lossNodes
	switch mixed := func(a answer) bool { return a.verdict == diag.Sometimes }; {
	case slices.ContainsFunc(all, open):
	case !large && slices.ContainsFunc(all, mixed): // find out what happens to the workloads that lose a pod
		s.search(all, s.j.steps/hitSteps)
		return all
	default:
		return all
	}
	why := model.BySize
	if large {
		if len(s.j.m.Permanent().Doubts(s.group)) > 0 {
			return all
		}
	} else {
		// If the group's pods never all fit, there is no placement before the loss.
		why = model.ByPending
		before, known := s.j.fittings[keyOf(s.group)]
		fits := len(before.unfit) == 0
		if !known || fits {
			s.search(all, s.j.steps/4)
		}
		if !known && slices.ContainsFunc(all, open) {
			fits = true // assume so if the budget runs out
			s.j.aside(func() {
				_, d := s.j.scene(s.group).decide()
				fits = d.Verdict != diag.Never
			})
		}
		if fits {
			return all
		}
	}
	for i := range all {
		if open(all[i]) {
			all[i].why = by(why)
		}
	}
	return all
}

// search tries all placements and repairs within the given number of steps. It sets the answers
// that are still unknown.
func (s *stage) search(all []answer, steps int) {
	found := map[*workload.Workload]certificate.Lost{}
	for _, o := range search.Lose(s.m, s.loss, s.j.options(steps)) {
		found[o.Workload] = o
	}
	for i, w := range s.group {
		o, known := found[s.of[w]]
		switch {
		case !known:
		case all[i].verdict == diag.Unknown:
			all[i] = answer{verdict: o.Verdict, pending: o.Pending, hit: o.Hit, searched: true}
		case all[i].verdict == diag.Sometimes:
			all[i].hit, all[i].searched = o.Hit, all[i].searched || o.Hit > 0
		}
	}
}

// without removes the given nodes from the scene and decides the rest.
func (s *stage) without(nodes map[string]bool) *certificate.Decision {
	left := slices.DeleteFunc(slices.Clone(s.m.Topology.Nodes), func(n *topology.Node) bool { return nodes[n.Name] })
	m := s.j.m.Variant(s.ws, left, s.add...)
	m.Unordered = true
	return search.Decide(m, s.j.options(s.j.steps))
}

// onRemaining decides the scene on the remaining nodes. If fewer pods are never worse, this settles
// every answer (T7). After a repair, the pods on the remaining nodes form a valid placement on the
// smaller cluster. A pod that is rejected there is also rejected when more pods are in place. So a
// workload that is complete in every run on the remaining nodes is complete after every repair. A
// workload that is complete in no such run is never complete after a repair.
//
// Pods on unreachable nodes still keep other pods away, but only in anti-affinity domains that
// contain a lost node. onRemaining omits those domains and, transitively, all domains that share a
// node with them. The omitted nodes do not affect the other nodes, so the result also holds when
// unreachable nodes are present.
func (s *stage) onRemaining(all []answer) {
	if !slices.ContainsFunc(s.m.Topology.Nodes, func(n *topology.Node) bool { return !s.lost[n.Name] }) {
		for i, w := range s.group {
			if !w.Kind.PerNode() && model.Certain(w) > 0 {
				all[i] = answer{verdict: diag.Never, pending: model.Certain(w)}
			}
		}
		return
	}
	d := s.without(s.lost)
	sure := d
	unreachable := s.lost
	if s.loss.Meaning == certificate.Unreachable {
		unreachable = s.unreachable()
	}
	if len(unreachable) > len(s.lost) {
		if sure = nil; len(unreachable) < len(s.m.Topology.Nodes) {
			sure = s.without(unreachable)
		}
	}
	for i, w := range s.group {
		c := s.of[w]
		switch {
		case verdict(d, c) == diag.Never:
			of := decisionOf(d, c)
			all[i] = answer{verdict: diag.Never, pending: max(1, of.Pods-of.MaxPlaced)}
		case sure != nil && verdict(sure, c) == diag.Always && s.loss.Returns(w) && (c.Pin == "" || s.comesBack(c, unreachable)):
			all[i] = answer{verdict: diag.Always}
		case d.Verdict == diag.Always || d.Verdict == diag.Sometimes:
			if n := s.stuck(d, c); n > 0 {
				all[i] = answer{verdict: diag.Sometimes, pending: n}
			}
		}
	}
}

// comesBack reports whether a lost pod of the workload always finds a node that can use its volumes,
// on nodes other than the given ones (T30). One pod is a workload of its own that only these nodes
// accept. The rest may be on any node.
func (s *stage) comesBack(w *workload.Workload, without map[string]bool) bool {
	value := s.values[w.Pin]
	if w.Pin == hostname || value == "" {
		return false
	}
	rest, one := *w, *w
	object := *w.Object
	one.Object = &object
	label(&rest, w.Kind.Shared, "revision of "+w.String())
	label(&one, w.Kind.Shared, "revision of "+w.String())
	rest.Count.N, one.Count.N = w.Count.N-1, 1
	rest.OrdinalReaches, one.OrdinalReaches = nil, nil
	at := corev1.NodeSelectorRequirement{Key: w.Pin, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}
	one.Reaches = append(slices.Clip(one.Reaches), workload.Reach{By: w.Object, Affinity: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{at}}},
	}})
	ws := slices.DeleteFunc(slices.Clone(s.ws), func(o *workload.Workload) bool { return o == w })
	if ws = append(ws, &one); rest.Count.N > 0 {
		ws = append(ws, &rest)
	}
	left := slices.DeleteFunc(slices.Clone(s.m.Topology.Nodes), func(n *topology.Node) bool { return without[n.Name] })
	return verdict(search.Decide(s.j.m.Variant(ws, left, s.add...), s.j.options(s.j.steps)), &one) == diag.Always
}

// stuck tries to construct a run that leaves pods of w Pending. It returns their number, or 0 if it
// finds no such run. The run starts with a stuck placement on the remaining nodes and puts all
// other pods on the lost nodes. The loss removes those other pods. stuck requires that the
// remaining nodes can hold all pods. A pod that is not recreated is missing as soon as its node is
// lost.
func (s *stage) stuck(d *certificate.Decision, w *workload.Workload) int {
	lost := func(n *topology.Node) bool { return s.lost[n.Name] }
	if len(d.Witness) != d.Total || !completes(s.m, d.Witness, lost) {
		return 0
	}
	if !s.loss.Returns(w) {
		for _, n := range s.m.Topology.Nodes {
			if s.lost[n.Name] && completes(s.m, []certificate.Placed{{Workload: w, Node: n}}, func(*topology.Node) bool { return true }) {
				return 1
			}
		}
		return 0
	}
	if d.Stuck == nil || !completes(s.m, d.Stuck.Placements, lost) {
		return 0
	}
	for _, p := range d.Stuck.Pending {
		if p.Workload == w {
			return p.Count
		}
	}
	return 0
}

// completes reports whether it can extend a run until all pods are in place, using only nodes for which
// `on` returns true. The checker replays the run. Pods are placed one by one without backtracking, so a
// false result is inconclusive.
func completes(m *model.Model, begun []certificate.Placed, on func(*topology.Node) bool) bool {
	if m.Split() != m {
		return false
	}
	b := newBoard(m)
	left, run := make([]int, len(b.units)), slices.Clone(begun)
	for u := range b.units {
		left[u] = b.units[u].Pods
	}
	for _, p := range begun {
		n, _ := m.IndexOf(p.Node.Name)
		i := slices.IndexFunc(b.of[p.Workload], func(u int) bool { return left[u] > 0 && slices.Contains(b.units[u].Nodes, int32(n)) })
		if i < 0 {
			return false
		}
		left[b.of[p.Workload][i]]--
		b.Move(b.of[p.Workload][i], n, 1)
	}
	for moved := true; moved; {
		moved = false
		for u := range b.units {
			for _, n := range b.units[u].Nodes {
				for on(m.Topology.Nodes[n]) && left[u] > 0 && b.Takes(u, int(n)) {
					b.Move(u, int(n), 1)
					left[u]--
					run = append(run, certificate.Placed{Workload: b.units[u].Group.Workload, Node: m.Topology.Nodes[n]})
					moved = true
				}
			}
		}
	}
	return slices.Max(append(left, 0)) == 0 && certificate.CheckerOf(m).Replay(m, run) == nil
}

// unreachable returns the lost nodes and, transitively, all nodes that share an anti-affinity
// domain with one of them.
func (s *stage) unreachable() map[string]bool {
	all := map[string]bool{}
	for name := range s.lost {
		all[name] = true
	}
	keys := search.HardKeys(s.j.m, s.group, model.AntiAffinity)
	taken := map[[2]string]bool{}
	for grows := true; grows; {
		grows = false
		for _, n := range s.m.Topology.Nodes {
			for _, key := range keys {
				value, ok := n.Labels[key]
				if id := [2]string{key, value}; ok && all[n.Name] && !taken[id] {
					taken[id], grows = true, true
				} else if ok && taken[id] && !all[n.Name] {
					all[n.Name], grows = true, true
				}
			}
		}
	}
	return all
}
