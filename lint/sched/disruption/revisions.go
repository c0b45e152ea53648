package disruption

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Revisions returns a model in which some workloads have old pods, as many as given, and pods of the
// next revision. The other workloads are those of the judge's model.
func (j *shared) Revisions(pods map[*workload.Workload]int) (m *model.Model, old, fresh map[*workload.Workload]*workload.Workload) {
	s := &scene{j: j, of: map[*workload.Workload]*workload.Workload{}}
	for _, w := range j.m.Workloads {
		if n, asked := pods[w]; asked {
			s.of[w] = s.copy(w, n)
			w = s.of[w]
		}
		s.ws = append(s.ws, w)
	}
	fresh = map[*workload.Workload]*workload.Workload{}
	for _, w := range j.m.Workloads {
		if n, asked := pods[w]; asked {
			fresh[w] = s.twin(w, n)
		}
	}
	if len(fresh) == 0 {
		return j.m, nil, nil
	}
	return j.m.Variant(s.ws, j.m.Topology.Nodes, slices.Clone(j.m.Apart)...), s.of, fresh
}
