package bound

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// RequestFit compares one pod's requests with single empty nodes, counting nodes
// that pass every other filter; a pool that may grow counts as one more node.
// If some of them have no free pod slot, the last of Requests is that slot, as one unit of
// the resource pods.
type RequestFit struct {
	Eligible, Fitting int
	Requests          []ResourceFit
}

// ResourceFit compares one request with those nodes. A node that is not judged
// on the resource fits.
type ResourceFit struct {
	model.Request
	Fitting int
	// LargestNode offers the most of all judged nodes, as declared at LargestSpan.
	LargestNode string
	LargestSpan diag.Span
	largest     resource.Quantity
}

// Largest returns the most that a judged node offers; 0 if none is judged.
func (r *ResourceFit) Largest() string { return r.largest.String() }

// fitKey is equal for workloads whose pods fit in the same way.
type fitKey struct {
	signature, request string
}

// keptFits caches the answers of a model.
type keptFits map[fitKey]*RequestFit

// RequestFits compares the requests of one pod with the eligible nodes.
func RequestFits(m *model.Model, w *workload.Workload) *RequestFit {
	g := m.Groups[w]
	key := fitKey{g.Signature, g.Request}
	kept := *model.KeepForNodes(m, func() *keptFits { return &keptFits{} })
	return model.Cached(kept, key, func() *RequestFit {
		requests := g.Requests
		fit := &RequestFit{Requests: make([]ResourceFit, len(requests))}
		most := make([]int64, len(requests))
		for i, r := range requests {
			fit.Requests[i].Request, most[i] = r, -1
		}
		slot := ResourceFit{Request: model.Request{Name: corev1.ResourcePods, Amount: 1, Quantity: *resource.NewQuantity(1, resource.DecimalSI)}}
		for n, grown := range m.Usable(w) {
			if grown && w.Kind.PerNode() {
				break
			}
			fit.Eligible++
			q, listed := n.Allocatable[corev1.ResourcePods]
			if !listed || q.Value() >= 1 { // a node that does not list how many pods it takes has a slot
				slot.Fitting++
			}
			if listed && q.Cmp(slot.largest) > 0 {
				slot.largest, slot.LargestNode, slot.LargestSpan = q, n.Name, n.Span
			}
			if count, _ := model.Fits(n, requests); count > 0 {
				fit.Fitting++
			}
			for i := range requests {
				r := &fit.Requests[i]
				has, judged := model.Offered(n, &requests[i])
				if !judged || has >= r.Amount {
					r.Fitting++
				}
				if judged && has > most[i] {
					q := n.Allocatable[r.Name]
					most[i], r.largest, r.LargestNode, r.LargestSpan = has, q, n.Name, n.Span
				}
			}
		}
		if slot.Fitting < fit.Eligible {
			fit.Requests = append(fit.Requests, slot)
		}
		return fit
	})
}
