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
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// stage is a scene on a few representative nodes, which several losses share.
type stage struct {
	*scene
	m       *model.Model
	group   []*workload.Workload
	domains []map[string]bool  // the nodes that are lost together, or nil for losses of any one node
	again   []certificate.Loss // drains and losses of any node that may come before
	history *search.History    // made on demand
}

// play is a loss on a stage.
type play struct {
	*stage
	lost map[string]bool // names of the lost nodes
	loss certificate.Loss
	// values holds the value of the lost nodes for each label that pods are pinned to. It is empty if
	// the lost nodes differ.
	values map[string]string
}

// Search limits. Larger scenes would exceed the step budget.
const (
	lossPods  = 40
	lossNodes = 40
	// historySteps multiplies the step budget of losses and rollouts for a scene with at most fewPods pods. All
	// losses on the scene share the search of its states, and most of them have no other proof.
	historySteps, fewPods = 4, 16
)

// stage answers a question for every member of a group, in group order. Many groups are equivalent,
// so stage caches the answers. The cache key covers everything that affects the answers.
func (q *loss) stage(group []*workload.Workload, b *search.DomainLoss, l certificate.Loss) answer {
	at := slices.Index(group, q.w)
	if l.Meaning == certificate.Drained && len(q.j.running) > 0 && len(search.HardKeys(q.j.m, group, model.Affinity)) > 0 {
		return answer{verdict: diag.Unknown, why: by(model.ByTermination)}
	}
	l = q.stepwise(group, l)
	id := q.j.alike(group) + q.key
	if q.apart(group) {
		for _, x := range q.kinds.Losses() {
			id += " " + x.Value
		}
	} else {
		id += "=" + b.Value
	}
	for i, w := range group {
		if key := q.pinnedTo(w); key != "" {
			id += fmt.Sprintf(" %d=%s", i, key)
		}
	}
	again := q.before(group)
	for _, x := range append(again, l)[0].Guards {
		id += fmt.Sprintf(" %d: %d", slices.Index(group, x.Workload), x.Allowed)
	}
	set := lazy.Cached(q.j.stages, id, func() *stage { return q.set(group, b, again) })
	a := lazy.Cached(q.j.lost, fmt.Sprintf("%s\n%s %s", id, b.Value, l.Meaning), func() []answer { return set.with(b, l, group).answers() })[at]
	if len(q.j.running) > 0 && !q.j.hereditary(group) { // no search follows what comes before, or evicts step by step
		drained := l.Meaning == certificate.Drained
		if drained {
			a.hit = 0
		}
		switch {
		case drained && (a.verdict == diag.Always || a.verdict == diag.Never):
			return answer{verdict: diag.Unknown, why: by(model.ByTermination)}
		case a.verdict == diag.Always:
			return answer{verdict: diag.Unknown, why: by(model.BySize)}
		}
	}
	open := q.budgets != nil && q.budgets.open.Given() // it is not known which drains may come before
	if open && (l.Stepwise && a.verdict == diag.Sometimes || a.later || a.verdict == diag.Always && len(again) > 0) {
		return answer{verdict: diag.Unknown, why: q.budgets.open}
	}
	return a
}

// apart reports whether all losses share a stage. Losses of domains do if the group's rules tell the domains
// apart anyway. If not, there are fewer states with each domain on a stage of its own.
func (q *loss) apart(group []*workload.Workload) bool {
	for _, use := range []model.Use{model.Spread, model.AntiAffinity, model.Affinity} {
		if slices.Contains(search.HardKeys(q.j.m, group, use), q.key) {
			return true
		}
	}
	return q.key == hostname
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

// before returns the drains and losses that may come before a loss, if they lead to states that placing pods
// alone does not.
func (q *loss) before(group []*workload.Workload) []certificate.Loss {
	if len(q.j.running) > 0 || q.j.hereditary(group) {
		return nil
	}
	return []certificate.Loss{q.stepwise(group, certificate.Loss{Meaning: certificate.Drained}), {Meaning: certificate.Gone}, {Meaning: certificate.Unreachable}}
}

// set places a group on a few representative nodes, including the lost ones.
func (q *loss) set(group []*workload.Workload, b *search.DomainLoss, again []certificate.Loss) *stage {
	s := &stage{scene: q.j.scene(group), group: group}
	var pins []string
	for _, w := range group {
		c := s.of[w]
		switch c.Pin = q.pinnedTo(w); {
		case q.loose && w == q.w:
			c.OrdinalReaches = nil
		case q.j.m.PinOf(w).Bound: // filters keep each pod where its volume is
			c.Pin = ""
		}
		if c.Pin != "" && !slices.Contains(pins, c.Pin) {
			pins = append(pins, c.Pin)
		}
	}
	losses, kind := []*search.DomainLoss{b}, map[string]string{}
	if q.apart(group) {
		losses = q.kinds.Losses()
	}
	for i, x := range losses {
		for _, name := range x.Like() {
			kind[name] = fmt.Sprint(i)
		}
		if q.key != hostname {
			s.domains = append(s.domains, lists.Set(x.Nodes()))
		}
	}
	s.m = s.model(func(n *topology.Node) string {
		told := kind[n.Name]
		for _, key := range pins {
			told += fmt.Sprintf(" %q", n.Labels[key])
		}
		return told
	})
	for _, l := range again {
		s.again = append(s.again, s.guarded(l, group))
	}
	return s
}

// guarded returns a loss with the guards of the scene's copies of a group's workloads.
func (s *stage) guarded(l certificate.Loss, group []*workload.Workload) certificate.Loss {
	guards := l.Guards
	l.Guards = nil
	for _, x := range guards {
		if i := slices.Index(group, x.Workload); i >= 0 {
			l.Guards = append(l.Guards, certificate.Guard{Workload: s.of[s.group[i]], Allowed: x.Allowed})
		}
	}
	return l
}

// with returns a loss on the stage of a group that is alike.
func (s *stage) with(b *search.DomainLoss, l certificate.Loss, group []*workload.Workload) *play {
	p := &play{stage: s, lost: map[string]bool{}, loss: s.guarded(l, group), values: map[string]string{}}
	out := lists.Set(b.Nodes())
	first := true
	for _, n := range s.m.Topology.Nodes {
		if !out[n.Name] {
			continue
		}
		p.lost[n.Name] = true
		for _, c := range s.ws {
			if value := n.Labels[c.Pin]; c.Pin != "" && first {
				p.values[c.Pin] = value
			} else if c.Pin != "" && p.values[c.Pin] != value {
				p.values[c.Pin] = ""
			}
		}
		first = false
	}
	p.loss.Nodes = p.lost
	return p
}

// answers tries the methods in order of cost, cheapest first.
func (s *play) answers() []answer {
	all := make([]answer, len(s.group))
	for i := range all {
		all[i].verdict = diag.Unknown
	}
	if s.j.hereditary(s.group) && !model.Off("T7") {
		s.onRemaining(all)
	}
	open := func(a answer) bool { return a.verdict == diag.Unknown }
	large := s.pods() > lossPods || len(s.m.Topology.Nodes) > lossNodes
	if !slices.ContainsFunc(all, open) {
		return all
	}
	why := model.BySize
	if large {
		if len(s.j.m.Permanent().Doubts(s.group)) > 0 {
			return all
		}
	} else {
		// If the group's pods never all fit, the workload in question may never have all of its pods.
		why = model.ByPending
		before, known := s.j.fittings[keyOf(s.group)]
		fits := len(before.unfit) == 0
		steps := s.j.steps / 4
		if len(s.again) > 0 && s.pods() <= fewPods {
			steps = historySteps * s.j.steps
		}
		s.search(all, steps)
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
func (s *play) search(all []answer, steps int) {
	found := map[*workload.Workload]certificate.Lost{}
	if s.history == nil {
		s.history = search.NewHistory(s.m, s.domains, s.again, s.j.options(steps))
	}
	for _, o := range s.history.Lose(s.loss, s.j.options(steps)) {
		found[o.Workload] = o
	}
	for i, w := range s.group {
		if o, known := found[s.of[w]]; known && all[i].verdict == diag.Unknown {
			all[i] = answer{verdict: o.Verdict, pending: o.Pending, hit: o.Hit, later: o.Later, searched: true}
		}
	}
}

// without removes the given nodes from the scene and decides the rest.
func (s *play) without(nodes map[string]bool) *certificate.Decision {
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
func (s *play) onRemaining(all []answer) {
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
		}
	}
}

// comesBack reports whether a lost pod of the workload always finds a node that can use its volumes,
// on nodes other than the given ones (T30). One pod is a workload of its own that only these nodes
// accept. The rest may be on any node.
func (s *play) comesBack(w *workload.Workload, without map[string]bool) bool {
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

// unreachable returns the lost nodes and, transitively, all nodes that share an anti-affinity
// domain with one of them.
func (s *play) unreachable() map[string]bool {
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
