package model

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// A pool may declare capacity of a resource without allocatable. A pod that requests more never runs
// there. Nothing else follows (R-S21). Searches and checks compare
// requests with the amounts of nodes resource by resource. The pod therefore also requests 1 unit of
// a made-up resource. These nodes have 0 units of it, and other nodes any amount.

// beyond is the prefix of made-up resources. No pod can request a name with spaces.
const beyond = "capacity for "

func exceeding(name corev1.ResourceName) bool { return strings.HasPrefix(string(name), beyond) }

// exceeds reports whether a node never has as much as a pod requests. The kubelet ignores some
// requests of a pod whose manifest names the node.
func exceeds(n *topology.Node, r *Request) bool {
	most, is := n.AtMost(r.Name)
	return is && Amount(r.Name, most) < r.Amount && !(r.Kubelet && Extended(r.Name)) && r.Name != workload.KVM
}

// exceeded reports the same for the request behind a made-up resource.
func exceeded(n *topology.Node, name corev1.ResourceName) bool {
	r := Exceeding(name)
	return r != nil && exceeds(n, r)
}

// Exceeding returns the request behind a made-up resource, or nil for any other resource.
func Exceeding(name corev1.ResourceName) *Request {
	text, is := strings.CutPrefix(string(name), beyond)
	amount, of, _ := strings.Cut(text, " of ")
	most, err := strconv.ParseInt(amount, 10, 64)
	if !is || err != nil {
		return nil
	}
	return &Request{Name: corev1.ResourceName(of), Amount: most}
}

// Written returns the requests without those of made-up resources.
func Written(requests []Request) []Request {
	stands := func(r Request) bool { return exceeding(r.Name) }
	if !slices.ContainsFunc(requests, stands) {
		return requests
	}
	return slices.DeleteFunc(slices.Clone(requests), stands)
}

// limited returns one node for each capacity that nodes declare.
func limited(topo *topology.Topology) (some []*topology.Node) {
	if topo.Empty() {
		return nil
	}
	pools := map[*topology.Pool]bool{}
	for _, n := range topo.All() {
		if len(n.Capacity) > 0 && !pools[n.Pool] {
			some = append(some, n)
			pools[n.Pool] = true
		}
	}
	return some
}
