package placement

import (
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// RequestFit is how one pod's requests fit single empty nodes, counting nodes
// that pass every other filter; pools that may grow count with one node more.
type RequestFit struct {
	Eligible, Fitting int
	Requests          []ResourceFit
}

// ResourceFit is one request against those nodes. A node that is not judged
// on the resource fits.
type ResourceFit struct {
	Request
	Fitting int
	// Largest is the most that a judged node offers, LargestNode which one.
	Largest, LargestNode string
	LargestSpan          diag.Span
}

// RequestFits compares the requests of one pod with the eligible nodes.
func (m *Model) RequestFits(w *workload.Workload) RequestFit {
	requests := m.groups[w].Requests
	fit := RequestFit{Requests: make([]ResourceFit, len(requests))}
	most := make([]int64, len(requests))
	for i, r := range requests {
		fit.Requests[i].Request, most[i] = r, -1
	}
	e := m.Eligible(w)
	look := func(n *topology.Node) {
		fit.Eligible++
		if count, _ := Fits(n, requests); count > 0 {
			fit.Fitting++
		}
		for i := range requests {
			r := &fit.Requests[i]
			has, judged := offered(n, &requests[i])
			if !judged || has >= r.Amount {
				r.Fitting++
			}
			if judged && has > most[i] {
				q := n.Allocatable[r.Name]
				most[i], r.Largest, r.LargestNode, r.LargestSpan = has, q.String(), n.Name, n.Span
			}
		}
	}
	for i, p := range e.Nodes {
		if p.All() {
			look(m.Topology.Nodes[i])
		}
	}
	for i, p := range e.Growth {
		if p.All() && !w.Kind.PerNode() {
			look(m.Topology.Growth[i].Node)
		}
	}
	return fit
}
