package main

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	v1helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"
)

// complete makes up for what nodes do not declare. A scheduler reads that as
// nothing, a linter as unknown: a node gets plenty of every resource that it
// does not list, but for extended resources on a node that lists others, and for all on
// one whose list has what a kubelet reports of every node.
func (c *Cluster) complete() {
	names := c.resourceNames()
	for _, n := range c.Nodes {
		given := n.Status.Allocatable
		all := given.DeepCopy()
		if all == nil {
			all = corev1.ResourceList{}
		}
		for name := range names {
			if _, listed := given[name]; !listed && !whole(given) && (len(given) == 0 || !v1helper.IsExtendedResourceName(name)) {
				all[name] = apiresource.MustParse("1000000Gi")
			}
		}
		if _, listed := given[corev1.ResourcePods]; !listed {
			all[corev1.ResourcePods] = apiresource.MustParse("100000")
		}
		n.Status.Allocatable = all
	}
}

// resourceNames are all resources that pods ask for.
func (c *Cluster) resourceNames() map[corev1.ResourceName]bool {
	names := map[corev1.ResourceName]bool{}
	for _, p := range c.pods() {
		lists := []corev1.ResourceList{p.Spec.Overhead}
		if p.Spec.Resources != nil {
			lists = append(lists, p.Spec.Resources.Requests)
		}
		for _, container := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
			lists = append(lists, container.Resources.Requests)
		}
		for _, l := range lists {
			for name := range l {
				names[name] = true
			}
		}
	}
	return names
}

// whole reports whether a list has what a kubelet reports of every node.
func whole(list corev1.ResourceList) bool {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods} {
		if _, ok := list[name]; !ok {
			return false
		}
	}
	return true
}
