package placement

import (
	"slices"

	"github.com/schedlint/schedlint/lint/workload"
)

// told reports whether a loss can be judged in a model at all.
func (l Loss) told(m *Model) bool {
	return !slices.ContainsFunc(m.Workloads, func(w *workload.Workload) bool {
		return Modelled(m.groups[w]) && !w.Running && l.Bears(w)
	})
}

// open is the answer where nothing is known.
func (l Loss) open(m *Model) []Lost {
	var all []Lost
	for _, w := range m.Workloads {
		if g := m.groups[w]; Modelled(g) && !w.Running {
			all = append(all, Lost{Workload: w, Verdict: Undetermined})
		}
	}
	return all
}
