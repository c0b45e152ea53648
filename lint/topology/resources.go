package topology

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Extended has the extended resources (R-N26) that the nodes and pools of a topology list. A
// resource that none of them lists may still come from a scheduler extender or from dynamic
// resource allocation (R-N27), so the lists are incomplete unless the configuration declares them
// complete. A nil Extended means complete lists.
type Extended struct {
	// Complete is set if every list of allocatable names all resources of its node.
	Complete bool
	listed   map[corev1.ResourceName]bool
}

// Known reports whether a node that does not list a resource certainly lacks it: another node or
// pool lists it, or all lists are complete.
func (x *Extended) Known(name corev1.ResourceName) bool {
	return x == nil || x.Complete || x.listed[name]
}

// Names returns the resources with a domain that some node or pool lists, sorted.
func (x *Extended) Names() []string {
	if x == nil {
		return nil
	}
	var names []string
	for name := range x.listed {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return names
}

// add records a list of allocatable.
func (x *Extended) add(list corev1.ResourceList) {
	for name := range list {
		if strings.Contains(string(name), "/") {
			x.listed[name] = true
		}
	}
}

// always returns the resources that a kubelet reports for every node
// (pkg/kubelet/nodestatus/setters.go MachineInfo).
func always() []corev1.ResourceName {
	return []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods}
}

// isWhole reports whether a Node's list is whole, so that a native resource missing from it is 0
// (R-N23). An API server sets metadata.uid, which is not written by hand. Without it the list
// counts as whole if it has the resources that a kubelet reports for every node. A shorter list may
// be written by hand, with the resources that matter to its author.
func isWhole(uid string, list corev1.ResourceList) bool {
	if len(list) == 0 {
		return false
	}
	return uid != "" || !slices.ContainsFunc(always(), func(name corev1.ResourceName) bool {
		_, ok := list[name]
		return !ok
	})
}
