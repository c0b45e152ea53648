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

// scene holds the copies of workloads that a question is asked about.
type scene struct {
	j   *shared
	ws  []*workload.Workload
	of  map[*workload.Workload]*workload.Workload // the copy of each workload
	add []model.Apart
}

// scene copies the workloads of a group and adds the running ones.
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

// copy returns a copy of a workload with another number of pods.
func (s *scene) copy(w *workload.Workload, pods int) *workload.Workload {
	c := *w
	c.Scale, c.Count.N, c.Count.Known = nil, pods, true
	return &c
}

// with sets the number of pods of a workload and returns the scene.
func (s *scene) with(w *workload.Workload, pods int) *scene {
	s.of[w].Count.N, s.of[w].Count.Known = pods, true
	return s
}

// twin adds pods of the next revision of a workload, which differ only in the labels that
// distinguish revisions.
func (s *scene) twin(w *workload.Workload, pods int) *workload.Workload {
	old := s.of[w]
	fresh := s.copy(old, pods)
	object := *old.Object // so that selectors which ask for the own revision see another one
	fresh.Object = &object
	for _, c := range []struct {
		w        *workload.Workload
		revision string
	}{{old, "old revision"}, {fresh, "new revision"}} { // not a valid label value, so no other workload has it
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

// podsOf counts the pods of workloads. A DaemonSet counts as two pods: if its pods exclude
// each other, two equivalent nodes show it as well as many.
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

// model returns the scene on a few representative nodes; tell keeps nodes apart.
func (s *scene) model(tell func(*topology.Node) string) *model.Model {
	group := slices.Clone(s.j.running)
	for w := range s.of {
		group = append(group, w)
	}
	return s.j.m.Variant(s.ws, search.Few(s.j.m, group, s.pods()+1, tell), s.add...)
}

// decide decides the scene.
func (s *scene) decide() (*model.Model, *certificate.Decision) { return s.decideIn(s.j.steps) }

// decideIn decides the scene within a number of steps.
func (s *scene) decideIn(steps int) (*model.Model, *certificate.Decision) {
	m := s.model(nil)
	return m, search.Decide(m, s.j.options(steps))
}

// verdict returns the verdict of a decision about one workload.
func verdict(d *certificate.Decision, w *workload.Workload) diag.Outcome {
	return decisionOf(d, w).Verdict
}

// decisionOf returns the part of a decision about one workload.
func decisionOf(d *certificate.Decision, w *workload.Workload) certificate.WorkloadDecision {
	if i := slices.IndexFunc(d.Workloads, func(o certificate.WorkloadDecision) bool { return o.Workload == w }); i >= 0 {
		return d.Workloads[i]
	}
	return certificate.WorkloadDecision{Verdict: diag.Unknown}
}
