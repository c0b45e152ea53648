package disruption

import (
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// unlisted is why nothing is known of the pods of a workload: they request an
// extended resource that no node lists, if they do.
func (j *shared) unlisted(w *workload.Workload) model.Reason {
	if names := search.Unlisted(j.m, w); len(names) > 0 {
		return model.Reason{Cause: model.ByResource, Name: string(names[0])}
	}
	return model.Reason{}
}

// beside is what is not known of those that may fill a node with a workload: whether
// their pods fit at all, or whom their rules are about. What the rules alone allow is
// then no answer.
func (j *shared) beside(w *workload.Workload, group []*workload.Workload) model.Reason {
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

// unknown is why it is not judged where the pods of a workload go, if it is not.
func (j *shared) unknown(w *workload.Workload) model.Reason {
	if !j.Judged(w) {
		return by(model.ByPlacement)
	}
	return j.unlisted(w)
}
