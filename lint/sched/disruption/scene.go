package disruption

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// scene is a modified copy of the model, holding copies of the workloads in question.
type scene struct {
	j   *shared
	ws  []*workload.Workload
	of  map[*workload.Workload]*workload.Workload // maps each workload to its copy
	add []model.Apart
}

// scene returns a scene that holds copies of a group's workloads plus the running workloads.
func (j *shared) scene(group []*workload.Workload) *scene {
	j.m.Run().Spend(2 * len(group))
	s := &scene{j: j, of: map[*workload.Workload]*workload.Workload{}}
	for _, w := range group {
		s.ws = append(s.ws, s.copy(w, model.Certain(w)))
		s.of[w] = s.ws[len(s.ws)-1]
	}
	s.ws = append(s.ws, j.running...)
	return s
}

// copy returns a copy of a workload with the given number of pods.
func (s *scene) copy(w *workload.Workload, pods int) *workload.Workload {
	c := *w
	c.Scale, c.Count.N, c.Count.Known = nil, pods, true
	c.Early = nil // its pods have run, so their volumes exist
	return &c
}

// with sets the pod count of a workload's copy and returns the scene.
func (s *scene) with(w *workload.Workload, pods int) *scene {
	s.of[w].Count.N, s.of[w].Count.Known = pods, true
	return s
}

// twin adds pods from a workload's next revision. They differ from the old pods only in the
// labels that distinguish revisions.
func (s *scene) twin(w *workload.Workload, pods int) *workload.Workload {
	old := s.of[w]
	fresh := s.copy(old, pods)
	object := *old.Object // a selector for the workload's own revision must not match the copy
	fresh.Object = &object
	label(old, w.Kind.Shared, "old revision of "+w.String()) // differs from those of other workloads
	label(fresh, w.Kind.Shared, "new revision of "+w.String())
	s.ws = append(s.ws, fresh)
	return fresh
}

// pods returns the total number of pods in the scene.
func (s *scene) pods() int { return podsOf(s.ws) }

// podsOf returns the total number of pods in ws. A DaemonSet counts as two pods, because two
// equivalent nodes are enough to show that its pods exclude each other.
func podsOf(ws []*workload.Workload) int {
	sum := 0
	for _, w := range ws {
		if w.Kind.PerNode() {
			sum += 2
		} else {
			sum += max(w.Count.N, model.Certain(w))
		}
	}
	return sum
}

// model returns the scene's model on a few representative nodes. Nodes for which tell returns
// different strings stay distinct.
func (s *scene) model(tell func(*topology.Node) string) *model.Model {
	group := slices.Clone(s.j.running)
	for w := range s.of {
		group = append(group, w)
	}
	return s.j.m.Variant(s.ws, search.Few(s.j.m, group, s.pods()+1, tell), s.add...)
}

// decide returns the scene's model and the decision on whether its pods are placed. If only the
// verdicts on some workloads are asked for, it takes less effort.
func (s *scene) decide(only ...*workload.Workload) (*model.Model, *certificate.Decision) {
	return s.decideIn(s.j.steps, only...)
}

// decideIn is like decide, but with its own step limit.
func (s *scene) decideIn(steps int, only ...*workload.Workload) (*model.Model, *certificate.Decision) {
	m := s.model(nil)
	return m, search.Decide(m, search.Options{Steps: steps, Only: only})
}

// verdict returns the verdict on one workload.
func verdict(d *certificate.Decision, w *workload.Workload) diag.Outcome {
	return decisionOf(d, w).Verdict
}

// decisionOf returns the part of a decision that concerns one workload. It is a call, because the
// part is large to copy.
//
//go:noinline
func decisionOf(d *certificate.Decision, w *workload.Workload) certificate.WorkloadDecision {
	for i := range d.Workloads {
		if d.Workloads[i].Workload == w {
			return d.Workloads[i]
		}
	}
	return certificate.WorkloadDecision{Verdict: diag.Unknown}
}

// Scene is a placement of pods on all declared nodes. It shows why each node accepts or rejects a
// pod of Next.
type Scene struct {
	*check.Placement
	Next *workload.Workload
	// Old is the part of the workload that is already placed during an update or a migration, or
	// nil.
	Old *workload.Workload
	// Before is the placement before a loss, or nil.
	Before *check.Placement
	// Pods is the workload's pod count in the scene.
	Pods int
}

// placement builds a placement of the scene on all declared nodes. It places the settled pods
// first, then the pods of the given workloads in order.
func (s *scene) placement(settled []certificate.Placed, then ...*workload.Workload) *check.Placement {
	return check.NewPlacement(s.j.m.Variant(s.ws, s.j.m.Topology.Nodes, s.add...), settled, then...)
}

// furthest returns the placement with the most pods that a search can find within the budget.
func (s *scene) furthest() []certificate.Placed {
	return search.Decide(s.j.m.Variant(s.ws, s.j.m.Topology.Nodes, s.add...), s.j.options(s.j.steps)).Witness
}

// rest returns a placement of the scene that omits the given workloads.
func (s *scene) rest(without ...*workload.Workload) []certificate.Placed {
	ws := s.ws
	s.ws = slices.DeleteFunc(slices.Clone(ws), func(w *workload.Workload) bool { return slices.Contains(without, w) })
	settled := s.furthest()
	s.ws = ws
	return settled
}

// others returns the scene's workloads except the running ones and the given ones.
func (s *scene) others(but ...*workload.Workload) []*workload.Workload {
	return slices.DeleteFunc(slices.Clone(s.ws), func(w *workload.Workload) bool { return w.Running || slices.Contains(but, w) })
}

// views builds scenes that explain findings.
type views struct{ *shared }

// Alone shows a workload that shares the nodes only with running pods and the pods that its own
// rules count or require.
func (v views) Alone(w *workload.Workload, pods int) *Scene {
	s := v.scene([]*workload.Workload{w}).with(w, pods)
	s.ws = append(s.ws, v.helpers(w)...)
	c := s.of[w]
	if w.Kind.PerNode() {
		c.Count = w.Count
	}
	return &Scene{Placement: s.placement(s.furthest(), append([]*workload.Workload{c}, s.others(c)...)...), Next: c, Pods: pods}
}

// Repairs returns tested repairs for a workload that cannot be fully placed even with the nodes
// to itself.
func (v views) Repairs(w *workload.Workload, pods int) []search.Repair {
	s := v.scene([]*workload.Workload{w}).with(w, pods)
	s.ws = append(s.ws, v.helpers(w)...)
	m := v.m.Variant(s.ws, v.m.Topology.Nodes)
	d := search.Decide(m, v.options(v.steps))
	if w.Kind.PerNode() || verdict(d, s.of[w]) != diag.Never {
		return nil
	}
	if core := search.Explain(m, s.of[w], d); core != nil {
		return core.Repairs
	}
	return nil
}

// Together shows all workloads that take part in decisions.
func (v views) Together() *check.Placement {
	d := search.Decide(v.m, v.options(0))
	return check.NewPlacement(v.m, d.Witness, v.m.Workloads...)
}

// Scaled shows a workload at its autoscaler's maximum, together with the workloads that contend
// for its nodes.
func (v views) Scaled(w *workload.Workload) *Scene {
	s := v.scene(v.everyone(w, w.Scale.Max)).with(w, w.Scale.Max)
	c := s.of[w]
	return &Scene{Placement: s.placement(s.furthest(), append(s.others(c), c)...), Next: c, Pods: w.Scale.Max}
}

// Updated shows a workload during an update. If the state in which the rollout is stuck is known,
// it shows that state. Otherwise, if the strategy keeps all old pods until a new pod runs, it shows
// them all in place. If the strategy does not keep them, it returns nil.
func (v views) Updated(w *workload.Workload, r *Rollout) *Scene {
	if r.choice != nil {
		v, w = views{r.choice.shared}, r.choice.of[w]
	}
	s := v.scene(v.withoutUnfit(w, v.contenders(w, r.Replicas))).with(w, r.Replicas)
	old := s.of[w]
	fresh := s.twin(w, r.Replicas)
	out := &Scene{Next: fresh, Old: old, Pods: r.Replicas}
	if settled, ok := s.stuckAt(r, fresh); ok {
		out.Placement = s.placement(settled)
		return out
	}
	if r.Unavailable > 0 && r.Way != workload.BothWhole {
		return nil
	}
	out.Placement = s.placement(s.rest(fresh), append(s.others(fresh), fresh)...)
	return out
}

// stuckAt returns the pods that are in place when a rollout is stuck. It translates them from the
// rollout's scene to s, which has the same workloads. It returns false if the pods are unknown or
// use undeclared nodes.
func (s *scene) stuckAt(r *Rollout, fresh *workload.Workload) (settled []certificate.Placed, ok bool) {
	as := map[*workload.Workload]*workload.Workload{r.fresh: fresh}
	for _, m := range r.Stuck {
		to := as[m.Workload]
		for w, c := range s.of {
			if to == nil && w.Object == m.Workload.Object {
				to = c
			}
		}
		if to == nil || !slices.Contains(s.j.m.Topology.Nodes, m.Node) {
			return nil, false
		}
		p := certificate.Placed{Workload: to, Node: m.Node}
		if !m.Gone {
			settled = append(settled, p)
		} else if i := slices.Index(settled, p); i >= 0 {
			settled = slices.Delete(settled, i, i+1)
		}
	}
	return settled, len(r.Stuck) > 0
}

// Moving shows a migration: all machines are in place, and one machine's second pod looks for a
// node. It returns nil if there are too many machines to tell apart.
func (v views) Moving(w *workload.Workload) *Scene {
	machines := model.Certain(w)
	s := v.scene(v.withoutUnfit(w, v.group(w, true)))
	source, target, ok := s.migration(w, machines)
	if !ok {
		return nil
	}
	return &Scene{Placement: s.placement(s.rest(target), append(s.others(target), target)...), Next: target, Old: source, Pods: machines}
}

// maxLost is the maximum number of losses that Lost tries.
const maxLost = 20

// Lost shows a workload after a node loss or a drain. All pods were in place before the loss, and
// as many lost pods as possible have found nodes again. If several losses have the same outcome as
// worst, Lost considers those that hit the workload in this placement. It chooses the one whose
// number of missing pods is closest to the verdict. It returns nil if no loss hits the workload.
func (v views) Lost(w *workload.Workload, all []Survival, worst *Survival) (*Scene, *certificate.Loss) {
	if worst.choice != nil {
		v, w = views{worst.choice.shared}, worst.choice.of[w]
	}
	s := v.scene(v.everyone(w, model.Certain(w)))
	c := s.of[w]
	for o, own := range s.of {
		if o.OrdinalReaches != nil { // the scene does not tell the pods apart
			own.Pin = v.m.PinOf(o).Key
		}
	}
	before := s.placement(s.furthest(), s.others()...)
	var best *Scene
	var loss *certificate.Loss
	least, tries := 0, 0
	for _, l := range losses(all, worst) {
		if !slices.ContainsFunc(before.On(c), func(n *topology.Node) bool { return l.Nodes[n.Name] }) {
			continue
		}
		out := &Scene{Placement: before.Lose(l, append(s.others(c), c)...), Before: before, Next: c, Pods: model.Certain(w)}
		_, missing := out.Count(c)
		if far := max(missing, worst.Pending) - min(missing, worst.Pending); best == nil || far < least {
			best, loss, least = out, &l, far
		}
		if tries++; least == 0 || tries == maxLost {
			break
		}
	}
	return best, loss
}

// losses returns the individual losses with the same outcome as worst.
func losses(all []Survival, worst *Survival) []certificate.Loss {
	var same []certificate.Loss
	for _, s := range all {
		if s.Verdict != worst.Verdict || s.Pending != worst.Pending || s.Meaning != worst.Meaning {
			continue
		}
		sets := [][]string{s.Nodes()}
		if s.Key == hostname {
			sets = nil
			sets = append(sets, lists.Of(s.Nodes(), func(n string) []string { return []string{n} })...)
		}
		for _, set := range sets {
			l := certificate.Loss{Nodes: map[string]bool{}, Meaning: s.Meaning}
			for _, n := range set {
				l.Nodes[n] = true
			}
			same = append(same, l)
		}
	}
	return same
}
