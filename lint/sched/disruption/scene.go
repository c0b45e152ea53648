package disruption

import (
	"maps"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// scene is copies of workloads, of which a question is asked.
type scene struct {
	j   *shared
	ws  []*workload.Workload
	of  map[*workload.Workload]*workload.Workload // the copy of each workload
	add []model.Apart
}

// scene copies a group, and the pods that are in place.
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

// copy is a workload with another number of pods.
func (s *scene) copy(w *workload.Workload, pods int) *workload.Workload {
	c := *w
	c.Scale, c.Count.N, c.Count.Known = nil, pods, true
	return &c
}

// with sets the number of pods of a workload.
func (s *scene) with(w *workload.Workload, pods int) *scene {
	s.of[w].Count.N, s.of[w].Count.Known = pods, true
	return s
}

// twin adds pods of a controller's next revision of a workload: alike but for
// the labels that tell revisions apart.
func (s *scene) twin(w *workload.Workload, pods int) *workload.Workload {
	old := s.of[w]
	fresh := s.copy(old, pods)
	object := *old.Object // another one to selectors that ask for the own revision
	fresh.Object = &object
	for _, c := range []struct {
		w        *workload.Workload
		revision string
	}{{old, "old revision"}, {fresh, "new revision"}} { // no value that a label can have, so it is nobody else's
		c.w.Labels = maps.Clone(c.w.Labels)
		for _, key := range w.Kind.Shared {
			if _, set := w.Labels[key]; !set {
				c.w.Labels[key] = c.revision
			}
		}
	}
	s.ws = append(s.ws, fresh)
	return fresh
}

// pods counts the pods of a scene.
func (s *scene) pods() int { return podsOf(s.ws) }

// podsOf counts the pods of workloads. Those that every node has count as two: where
// they keep one another off, two nodes that are alike show it as well as many.
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

// model is the scene on few nodes that stand for all; tell keeps nodes apart.
func (s *scene) model(tell func(*topology.Node) string) *model.Model {
	group := slices.Clone(s.j.running)
	for w := range s.of {
		group = append(group, w)
	}
	return s.j.m.Variant(s.ws, search.Few(s.j.m, group, s.pods()+1, tell), s.add...)
}

// decide decides about a scene.
func (s *scene) decide() (*model.Model, *certificate.Decision) { return s.decideIn(s.j.steps) }

// decideIn decides within a budget.
func (s *scene) decideIn(steps int) (*model.Model, *certificate.Decision) {
	m := s.model(nil)
	return m, search.Decide(m, s.j.options(steps))
}

// verdict is that about one workload of a decision.
func verdict(d *certificate.Decision, w *workload.Workload) diag.Outcome {
	for i := range d.Workloads {
		if d.Workloads[i].Workload == w {
			return d.Workloads[i].Verdict
		}
	}
	return diag.Unknown
}
