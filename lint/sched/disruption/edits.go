package disruption

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Edit is a change of a workload that advice proposes; it is applied to a copy.
type Edit struct {
	// Name identifies the edit: edits of equal name do the same to equal workloads.
	Name string
	// Pods is the number of pods that it sets, or 0.
	Pods int
	// Make edits a copy of a workload and reports whether anything changed. Nil changes
	// nothing.
	Make func(*workload.Workload) bool
}

// Replicas returns an edit that sets the number of pods.
func Replicas(n int) Edit {
	return Edit{fmt.Sprint("replicas ", n), n, func(w *workload.Workload) bool {
		w.Count.N, w.Count.Known, w.Scale = n, true, nil
		return n > 0
	}}
}

// SpreadOnNodes returns an edit that adds a hard spread constraint over nodes. With
// revisions set, it spreads each revision separately and does not count nodes whose
// taints the pods do not tolerate.
func SpreadOnNodes(revisions bool) Edit {
	return Edit{fmt.Sprint("spread ", revisions), 0, func(w *workload.Workload) bool {
		c := corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: own(w),
		}
		if revisions {
			honor := corev1.NodeInclusionPolicyHonor
			c.NodeTaintsPolicy = &honor
			c.MatchLabelKeys = w.Kind.Shared[:min(1, len(w.Kind.Shared))]
		}
		w.Spec.TopologySpreadConstraints = append(slices.Clone(w.Spec.TopologySpreadConstraints), c)
		return len(w.Labels) > 0
	}}
}

// ApartOnNodes returns an edit that adds required anti-affinity between the workload's pods over nodes.
func ApartOnNodes() Edit { return Edit{"apartOnNodes", 0, apartOnNodes} }

func apartOnNodes(w *workload.Workload) bool {
	a := &corev1.Affinity{}
	if w.Spec.Affinity != nil {
		a = w.Spec.Affinity.DeepCopy()
	}
	if a.PodAntiAffinity == nil {
		a.PodAntiAffinity = &corev1.PodAntiAffinity{}
	}
	list := &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	*list = append(*list, corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: own(w)})
	w.Spec.Affinity = a
	return len(w.Labels) > 0
}

// own returns a selector of the workload's own pods.
func own(w *workload.Workload) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: maps.Clone(w.Labels)}
}

// Both returns an edit that applies two edits.
func Both(a, b Edit) Edit {
	return Edit{a.Name + " and " + b.Name, max(a.Pods, b.Pods), func(w *workload.Workload) bool { return a.Make(w) && b.Make(w) }}
}

// SoftAntiAffinity returns an edit that drops required anti-affinity, as if it were only
// preferred.
func SoftAntiAffinity() Edit { return Edit{"softAntiAffinity", 0, softAntiAffinity} }

func softAntiAffinity(w *workload.Workload) bool {
	if w.Spec.Affinity == nil || w.Spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	a := w.Spec.Affinity.DeepCopy()
	a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
	w.Spec.Affinity = a
	return true
}

// EachSpread returns an edit of the hard spread constraints on a key; name describes what
// the edit does.
func EachSpread(name, key string, edit func(*corev1.TopologySpreadConstraint)) Edit {
	return Edit{name + " " + key, 0, func(w *workload.Workload) bool {
		c := respread(w, func(t *corev1.TopologySpreadConstraint) bool {
			applies := t.TopologyKey == key && t.WhenUnsatisfiable == corev1.DoNotSchedule
			if applies {
				edit(t)
			}
			return applies
		})
		if c != nil {
			*w = *c
		}
		return c != nil
	}}
}

// TopologyKey returns an edit that replaces a topology key in spread constraints and required terms.
func TopologyKey(from, to string) Edit {
	return Edit{"key " + from + " " + to, 0, func(w *workload.Workload) bool {
		spreads, changed := slices.Clone(w.Spec.TopologySpreadConstraints), false
		swap := func(key *string) {
			if *key == from {
				*key, changed = to, true
			}
		}
		for i := range spreads {
			swap(&spreads[i].TopologyKey)
		}
		w.Spec.TopologySpreadConstraints = spreads
		if w.Spec.Affinity != nil {
			a := w.Spec.Affinity.DeepCopy()
			if p := a.PodAffinity; p != nil {
				for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
					swap(&p.RequiredDuringSchedulingIgnoredDuringExecution[i].TopologyKey)
				}
			}
			if p := a.PodAntiAffinity; p != nil {
				for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
					swap(&p.RequiredDuringSchedulingIgnoredDuringExecution[i].TopologyKey)
				}
			}
			w.Spec.Affinity = a
		}
		return changed
	}}
}

// PerRevision returns an edit that limits required anti-affinity and hard spread to pods of
// the same revision.
func PerRevision() Edit { return Edit{"perRevision", 0, perRevision} }

func perRevision(w *workload.Workload) (changed bool) {
	for _, edit := range []func(*workload.Workload) *workload.Workload{revisionsApart, revisionsCounted} {
		if c := edit(w); c != nil {
			*w, changed = *c, true
		}
	}
	return changed
}

// Soft returns an edit that makes hard spread on a key soft, or drops required terms of a use on that key.
func Soft(use model.Use, key string) Edit {
	if use == model.Spread {
		return EachSpread("soft", key, func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway })
	}
	return Edit{fmt.Sprint("soft ", use, " ", key), 0, func(w *workload.Workload) bool {
		if w.Spec.Affinity == nil {
			return false
		}
		a := w.Spec.Affinity.DeepCopy()
		var list *[]corev1.PodAffinityTerm
		switch {
		case use == model.AntiAffinity && a.PodAntiAffinity != nil:
			list = &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		case use == model.Affinity && a.PodAffinity != nil:
			list = &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		default:
			return false
		}
		before := len(*list)
		*list = slices.DeleteFunc(*list, func(t corev1.PodAffinityTerm) bool { return t.TopologyKey == key })
		w.Spec.Affinity = a
		return len(*list) < before
	}}
}

// Tolerate returns an edit that adds a toleration of a taint.
func Tolerate(taint *corev1.Taint) Edit {
	return Edit{"tolerate " + taint.Key + " " + string(taint.Effect), 0, func(w *workload.Workload) bool {
		w.Spec.Tolerations = append(slices.Clone(w.Spec.Tolerations), corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpExists, Effect: taint.Effect})
		return true
	}}
}

// AnyNode returns an edit that drops the node selector and the node affinity.
func AnyNode() Edit {
	return Edit{"anyNode", 0, func(w *workload.Workload) bool {
		w.Spec.NodeSelector = nil
		if w.Spec.Affinity != nil {
			a := w.Spec.Affinity.DeepCopy()
			a.NodeAffinity = nil
			w.Spec.Affinity = a
		}
		return true
	}}
}

// NoHostPorts returns an edit that drops host ports and the host network.
func NoHostPorts() Edit { return Edit{"noHostPorts", 0, noHostPorts} }

func noHostPorts(w *workload.Workload) bool {
	w.Spec.HostNetwork = false
	for _, list := range []*[]workload.Container{&w.Spec.Containers, &w.Spec.InitContainers} {
		*list = slices.Clone(*list)
		for i := range *list {
			ports := slices.Clone((*list)[i].Ports)
			for p := range ports {
				ports[p].HostPort = 0
			}
			(*list)[i].Ports = ports
		}
	}
	return true
}
