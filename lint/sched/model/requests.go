package model

import (
	"cmp"
	"maps"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelpers "k8s.io/component-helpers/resource"

	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Unbounded is the number of pods that fit when nothing limits them.
const Unbounded = math.MaxInt32

// Request is one pod's request for a resource. Amount is in the scheduler's unit: millicores for
// CPU, and whole units for any other resource (R-N26).
type Request struct {
	Name   corev1.ResourceName
	Amount int64
	// Quantity is the amount as written in the manifest.
	Quantity resource.Quantity
	// Kubelet is set for pods whose manifest names their node. The kubelet ignores such a pod's
	// request for an extended resource that the node does not list
	// (pkg/kubelet/lifecycle/predicate.go, removeMissingExtendedResources).
	Kubelet bool
}

// Amount converts a quantity to the scheduler's unit, rounded up.
func Amount(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// Extended reports whether a resource is an extended resource. The resource's name then has a
// domain that does not belong to Kubernetes (R-N26).
func Extended(name corev1.ResourceName) bool {
	s := string(name)
	return !exceeding(name) && strings.Contains(s, "/") && !strings.Contains(s, "kubernetes.io/") && !strings.HasPrefix(s, "requests.")
}

// Requests returns the resources that one pod requests, sorted by name. It combines containers,
// init containers, overhead and pod-level resources with the scheduler's own code
// (component-helpers/resource PodRequests; R-N24). It omits zero amounts, because they have no
// effect.
func Requests(w *workload.Workload) []Request {
	sums := podRequests(w)
	if len(sums) == 0 {
		return nil
	}
	all := make([]Request, 0, len(sums))
	for name, q := range sums {
		if a := Amount(name, q); a > 0 {
			all = append(all, Request{Name: name, Amount: a, Quantity: q, Kubelet: w.Spec.NodeName != ""})
		}
	}
	sorting.Stable(all, func(a, b Request) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return all
}

// podRequests returns the requests that the scheduler counts for a pod. The caller must not change
// the result, because it may belong to a container.
func podRequests(w *workload.Workload) corev1.ResourceList {
	s := &w.Spec
	if len(s.Containers) == 1 && len(s.InitContainers) == 0 && len(s.Overhead) == 0 && s.Resources == nil {
		return s.Containers[0].Requested()
	}
	return resourcehelpers.PodRequests(s.Pod(), resourcehelpers.PodResourcesOptions{})
}

// ScoredRequests returns the CPU in millicores and the memory in bytes that a pod counts with in the
// score of NodeResourcesFit. A container without a request counts with a small one. The score of
// an incoming pod ignores pod-level requests, but that of a pod in place does not
// (pkg/scheduler/framework/types.go, getNonMissingContainerRequests; R-B5).
func ScoredRequests(w *workload.Workload) (incoming, placed [2]int64) {
	assumed := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("200Mi")}
	pod := w.Spec.Pod()
	of := func(skip bool) [2]int64 {
		sums := resourcehelpers.PodRequests(pod, resourcehelpers.PodResourcesOptions{NonMissingContainerRequests: assumed, SkipPodLevelResources: skip})
		return [2]int64{Amount(corev1.ResourceCPU, sums[corev1.ResourceCPU]), Amount(corev1.ResourceMemory, sums[corev1.ResourceMemory])}
	}
	incoming = of(true)
	if resourcehelpers.IsPodLevelRequestsSet(pod) {
		requested := resourcehelpers.PodRequests(pod, resourcehelpers.PodResourcesOptions{})
		maps.DeleteFunc(assumed, func(name corev1.ResourceName, _ resource.Quantity) bool {
			_, has := requested[name]
			return has
		})
	}
	return incoming, of(false)
}

// Offered returns how much of a resource a node has. The result judged is false if the amount is
// unknown. This is the case for a node that declares no resources, unless the request exceeds the most
// that it has. If the node lists other resources but not this one, lacks decides.
func Offered(n *topology.Node, r *Request) (amountOffered int64, judged bool) {
	if exceeding(r.Name) {
		return 0, exceeded(n, r.Name)
	}
	if most, is := n.AtMost(r.Name); is {
		return Amount(r.Name, most), exceeds(n, r)
	}
	if topology.CountsVolumes(r.Name) {
		most, counted := n.Volumes[r.Name]
		return most, counted
	}
	if n.Allocatable == nil {
		return 0, false
	}
	q, ok := n.Allocatable[r.Name]
	if !ok {
		return 0, lacks(n, r)
	}
	return Amount(r.Name, q), true
}

// Listed returns the amount of a resource as the node declares it.
func Listed(n *topology.Node, name corev1.ResourceName) resource.Quantity {
	if topology.CountsVolumes(name) {
		return *resource.NewQuantity(n.Volumes[name], resource.DecimalSI)
	}
	if most, is := n.AtMost(name); is {
		return most
	}
	return n.Allocatable[name]
}

// lacks reports whether a node has none of a resource that it does not list (R-N23). The node lacks
// an extended resource if another node lists it or if all nodes' lists are complete. It lacks a
// native resource if its own list is complete. There are two exceptions. The kubelet ignores a
// bound pod's requests for unknown extended resources. The device that KubeVirt itself requests
// never counts against a node.
func lacks(n *topology.Node, r *Request) bool {
	if Extended(r.Name) {
		return r.Name != workload.KVM && !r.Kubelet && n.Extended.Known(r.Name)
	}
	return n.Whole && native(r.Name)
}

// native reports whether a resource is not an extended resource but is counted by the scheduler.
// The scheduler ignores all other names without a domain (pkg/scheduler/util IsScalarResourceName;
// R-N26). Pod slots are not requests.
func native(name corev1.ResourceName) bool {
	s := string(name)
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return true
	}
	return strings.HasPrefix(s, "hugepages-") || strings.Contains(s, "kubernetes.io/") || strings.HasPrefix(s, "attachable-volumes-")
}

// Fits returns how many pods with these requests fit on an empty node. It also returns the resource
// that limits this number. The resource "pods" stands for the node's pod slots (R-N22).
func Fits(n *topology.Node, requests []Request) (int, corev1.ResourceName) {
	most, binds := int64(Unbounded), corev1.ResourceName("")
	if q, ok := n.Allocatable[corev1.ResourcePods]; ok {
		most, binds = q.Value(), corev1.ResourcePods
	}
	for i := range requests {
		r := &requests[i]
		if has, judged := Offered(n, r); judged && has/r.Amount < most {
			most, binds = has/r.Amount, r.Name
		}
	}
	return int(max(most, 0)), binds
}

// HostPort is a port that a pod uses on its node.
type HostPort struct {
	Port     int32
	Protocol string
	IP       string
}

// hostPorts returns the ports that a pod uses on its node. These are the host ports in containers
// and sidecars (pkg/scheduler/util GetHostPorts; R-N19) and, with hostNetwork, every declared
// port (defaultHostNetworkPorts; R-N21).
func hostPorts(w *workload.Workload) []HostPort {
	var ports []HostPort
	add := func(c workload.Container) {
		for _, p := range c.Ports {
			port := HostPort{Port: p.HostPort, Protocol: cmp.Or(p.Protocol, "TCP"), IP: cmp.Or(p.HostIP, "0.0.0.0")}
			if port.Port == 0 && w.Spec.HostNetwork {
				port.Port = p.ContainerPort
			}
			if port.Port > 0 {
				ports = append(ports, port)
			}
		}
	}
	for _, c := range w.Spec.Containers {
		add(c)
	}
	for _, c := range w.Spec.InitContainers {
		if c.RestartPolicy == "Always" {
			add(c)
		}
	}
	return ports
}

// String formats the request in the scheduler's unit.
func (r Request) String() string { return string(r.appendText(nil)) }

func (r *Request) appendText(to []byte) []byte {
	return strconv.AppendInt(append(append(to, r.Name...), '='), r.Amount, 10)
}

// Conflicts reports whether two pods that use these two ports cannot run on one node
// (kube-scheduler framework HostPortInfo.CheckConflict; R-N20).
func (p HostPort) Conflicts(o HostPort) bool {
	return p.Port == o.Port && p.Protocol == o.Protocol && (p.IP == o.IP || p.IP == "0.0.0.0" || o.IP == "0.0.0.0")
}

// Quantity converts an amount in the scheduler's unit to a quantity.
func Quantity(name corev1.ResourceName, amount int64, format resource.Format) resource.Quantity {
	if name == corev1.ResourceCPU {
		return *resource.NewMilliQuantity(amount, cmp.Or(format, resource.DecimalSI))
	}
	return *resource.NewQuantity(amount, cmp.Or(format, resource.DecimalSI))
}
