package disruption

import (
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// unlisted returns a reason if the placement of a workload's pods is unknown because they
// request an extended resource that no node lists.
func (j *shared) unlisted(w *workload.Workload) model.Reason {
	if names := search.Unlisted(j.m, w); len(names) > 0 {
		return model.Reason{Cause: model.ByResource, Name: string(names[0])}
	}
	return model.Reason{}
}

// reasonAboutOthers returns what is unknown about the workloads that may fill a node with one: whether
// their pods fit, or which pods their rules select. Then a verdict by the rules alone is no
// answer.
func (j *shared) reasonAboutOthers(w *workload.Workload, group []*workload.Workload) model.Reason {
	for _, o := range group {
		if names := search.Unlisted(j.m, o); o != w && len(names) > 0 {
			return model.Reason{Cause: model.ByResource, Name: string(names[0]), Workload: o}
		}
	}
	if d := j.doubtsAbout(group); len(d.all) > 0 {
		return by(d.all[0].Cause())
	}
	return model.Reason{}
}

// unknown returns why the placement of a workload's pods is not judged, if it is not.
func (j *shared) unknown(w *workload.Workload) model.Reason {
	if !j.Judged(w) {
		return by(model.ByPlacement)
	}
	return j.unlisted(w)
}
