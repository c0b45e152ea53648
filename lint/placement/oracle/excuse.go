package main

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

// excuses are known differences: conditions on a case under which the two
// sides may differ, each with why. An entry goes when the difference goes.
var excuses = []struct {
	name  string
	holds func(*Cluster, *Ours) bool
}{
	{"the index label is on pods of Indexed Jobs only", plainJobIndex},
	{"a node that running pods have overcommitted takes pods that ask for nothing of what is short", overcommitted},
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

// plainJobIndex reports whether a selector reads the index of Job pods. Keys
// that are not on a pod leave no trace on it, so our terms tell.
func plainJobIndex(c *Cluster, o *Ours) bool {
	read := false
	c.selectors(func(s *metav1.LabelSelector) {
		read = read || reads(s, batchv1.JobCompletionIndexAnnotation)
	})
	for _, w := range o.Workloads {
		for _, t := range o.Model.Group(w).Terms {
			read = read || slices.Contains(slices.Concat(t.MatchKeys, t.MismatchKeys), batchv1.JobCompletionIndexAnnotation)
		}
	}
	return read && slices.ContainsFunc(c.Series, func(s *Series) bool { return strings.Contains(s.Name, "Job ") })
}

// overcommitted reports whether pods in place ask for more than their node has.
func overcommitted(c *Cluster, _ *Ours) bool {
	for _, n := range c.Nodes {
		left := n.Status.Allocatable.DeepCopy()
		for _, p := range c.Running {
			if p.Spec.NodeName != n.Name {
				continue
			}
			for name, q := range resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{}) {
				rest := left[name]
				rest.Sub(q)
				left[name] = rest
				if rest.Sign() < 0 {
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
	"Job spec.selector", "StatefulSet metadata.labels: ", "StatefulSet spec.updateStrategy.rollingUpdate.maxUnavailable",
}

// claimed reports whether a refusal is one that our side is to find.
func claimed(kind, cause string) bool {
	return !slices.ContainsFunc(beyond, func(part string) bool { return strings.Contains(kind+" "+cause, part) })
}
