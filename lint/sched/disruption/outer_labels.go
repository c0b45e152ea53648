package disruption

import (
	"maps"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Asks finds a term that asks for the label with the given key, and that would select the
// pods of a machine if they carried the labels of the machine object itself; nil if there
// is no such term (R-W21).
func (j *shared) Asks(w *workload.Workload, key string) (*workload.Workload, *model.Term) {
	labelled := *w
	labelled.Labels = maps.Clone(w.Labels)
	if labelled.Labels == nil {
		labelled.Labels = map[string]string{}
	}
	for k, l := range w.OuterLabels() {
		labelled.Labels[k] = l.Value
	}
	for _, o := range j.m.Workloads {
		if o.Copy || o.Superseded {
			continue
		}
		for _, t := range j.m.Group(o).Terms {
			target := &labelled
			if !t.Asks(key) || j.m.Peer(t, o, w) != model.No {
				continue
			}
			if j.m.Peer(t, o, target) == model.Yes {
				return o, t
			}
		}
	}
	return nil, nil
}
