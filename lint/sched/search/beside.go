package search

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// beside caches the roster of all permanent pods of a model. The roster is nil if one of them is not
// known well enough.
type beside struct{ roster *Roster }

// besideOf returns the roster of all permanent pods, including those of workloads that take no part in
// decisions because it is not known which nodes they can use.
func besideOf(m *model.Model) *Roster {
	return model.Keep(m, func() *beside {
		all := m.NotModeled()
		for _, w := range all {
			places := []model.Cause{model.ByVolume, model.ByClass, model.ByNodeLabel}
			if !slices.Contains(places, m.Groups[w].Unknown.Cause) || !w.Count.Known || w.Scale != nil || perNode(w) || w.OpenClass() || w.Admission != "" {
				return &beside{}
			}
		}
		all = slices.Clone(all)
		for g := range m.Placeable() {
			if !g.Finite() {
				all = append(all, g.Workload)
			}
		}
		return &beside{NewRoster(m, all, m.RunningOnes())}
	}).roster
}

// ByNeighbour returns the reason why an always verdict does not hold if workloads take no part in
// decisions, or an empty reason. The verdict holds if a pod of w always finds a node, wherever the pods
// of these workloads and all others are (T16). The argument pods is the number of pods of w. If key is
// not empty, the domain with the given value is lost, or any node for kubernetes.io/hostname.
func ByNeighbour(m *model.Model, w *workload.Workload, pods int, l certificate.Loss, key, value string) model.Reason {
	why := m.ByNeighbour(w)
	if !why.Given() || w.Finite() || perNode(w) || m.Topology.Elastic() {
		return why
	}
	about := besideOf(m)
	if about == nil {
		return why
	}
	kinds, lost := about.Kinds(w, about.pods(w, pods), key), NoLoss
	switch key {
	case "":
	case corev1.LabelHostname:
		lost = AnyNode
	default:
		i := slices.IndexFunc(kinds.Losses(), func(b *DomainLoss) bool { return b.Value == value })
		if i < 0 {
			return why
		}
		lost = kinds.Losses()[i]
	}
	if kinds.Room(w, pods).FitsAnyway(lost, l, about, pods) {
		return model.Reason{}
	}
	return why
}
