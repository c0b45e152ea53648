package main

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// excuses are known differences: conditions on a case under which the two
// sides may differ, each with why. An entry goes when the difference goes.
var excuses = []struct {
	name  string
	holds func(*Cluster, *Ours) bool
}{
	{"open: whether a term selects a pod is not known from manifests", func(c *Cluster, o *Ours) bool { return o.open(c) }},
	{"labels of the zone are copied onto bound pods (R-P7)", readsBoundLabels},
	{"kubernetes#141526: NotIn and DoesNotExist in an incoming pod's namespaceSelector match every namespace", everyNamespace},
	{"a DaemonSet whose template names a node", daemonWithNode},
	{"the index label is on pods of Indexed Jobs only", plainJobIndex},
	{"a kubelet passes over extended resources that the node does not list", missingExtended},
}

// excuse is the first excuse that a case has.
func excuse(c *Cluster, o *Ours) string {
	for _, e := range excuses {
		if e.holds(c, o) {
			return e.name
		}
	}
	return ""
}

// readsBoundLabels reports whether a selector reads a label that admission
// sets at binding.
func readsBoundLabels(c *Cluster, _ *Ours) bool {
	read := false
	c.selectors(func(s *metav1.LabelSelector) {
		for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
			_, ok := s.MatchLabels[key]
			read = read || ok || slices.ContainsFunc(s.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool { return e.Key == key })
		}
	})
	return read
}

// everyNamespace reports whether a namespaceSelector asks for nothing but the
// absence of labels.
func everyNamespace(c *Cluster, _ *Ours) bool {
	odd := false
	for _, class := range c.Classes() {
		for _, t := range requiredTerms(class.Pod) {
			s := t.NamespaceSelector
			odd = odd || s != nil && len(s.MatchLabels) == 0 && len(s.MatchExpressions) > 0 && !slices.ContainsFunc(s.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool {
				return e.Operator == metav1.LabelSelectorOpIn || e.Operator == metav1.LabelSelectorOpExists
			})
		}
	}
	return odd
}

// daemonWithNode reports whether pods of a DaemonSet are bound by their template.
func daemonWithNode(c *Cluster, o *Ours) bool {
	for _, w := range o.Workloads {
		if w.Kind.PerNode() && w.Spec.NodeName != "" {
			return true
		}
	}
	return false
}

// plainJobIndex reports whether a selector reads the index of Job pods. Keys
// that are not on a pod leave no trace on it, so the manifests tell.
func plainJobIndex(c *Cluster, o *Ours) bool {
	for _, w := range o.Workloads {
		for _, t := range o.Model.Group(w).Terms {
			if w.Kind.Finite() && slices.Contains(slices.Concat(t.MatchKeys, t.MismatchKeys), batchv1.JobCompletionIndexAnnotation) {
				return true
			}
		}
	}
	return false
}

// missingExtended reports whether a pod that names its node asks for an
// extended resource that the node, which lists others, does not.
func missingExtended(c *Cluster, _ *Ours) bool {
	for _, class := range c.Classes() {
		if !class.Bound {
			continue
		}
		for _, container := range slices.Concat(class.Pod.Spec.Containers, class.Pod.Spec.InitContainers) {
			for name := range container.Resources.Limits {
				if strings.Contains(string(name), "/") {
					return true
				}
			}
		}
	}
	return false
}

// beyond are parts of validation that our side does not claim, by the field
// that the API server names.
var beyond = []string{
	"containers.image", "containers.name", "containers: Required value", "ontainers.restartPolicy", "spec.restartPolicy", "metadata.name: ",
	"Job spec.selector", "maxUnavailable", "StatefulSet metadata.labels: ",
}

// claimed reports whether a refusal is one that our side is to find.
func claimed(kind, cause string) bool {
	return !slices.ContainsFunc(beyond, func(part string) bool { return strings.Contains(kind+" "+cause, part) })
}
