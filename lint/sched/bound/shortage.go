package bound

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Shortage describes a resource that is too scarce for pods that are confined to certain nodes.
type Shortage struct {
	Resource corev1.ResourceName
	// Workloads lists the workloads that own the pods, in descending order of demand. Pods is the
	// number of pods. At least Pending of them stay Pending.
	Workloads     []*workload.Workload
	Pods, Pending int
	// Nodes is the number of nodes that the pods may use.
	Nodes int
	// Requested is the sum of the pods' requests. Offered is the sum of the nodes' amounts. If Each
	// is not zero, too many pods request at least Each. Only Slots such pods fit.
	Requested, Offered, Each resource.Quantity
	Slots                    int
	// Growth lists the assumed pool sizes, or is nil if no pool was grown.
	Growth []model.PoolSize
}

// Shortages compares requests with node resources for every set of nodes to which pods are
// confined. It compares the sum of the requests, and the number of pods with at least a given
// request (a Hall condition). It ignores pods that run to completion and faulty workloads.
func Shortages(m *model.Model, faulty map[*workload.Workload]bool) []Shortage {
	b := balanceOf(m.Permanent(), faulty)
	if len(b.rows) < 2 {
		return nil
	}
	requested := map[corev1.ResourceName]bool{}
	for _, r := range b.rows {
		for _, q := range model.Written(r.g.Requests) {
			requested[q.Name] = true
		}
	}
	var all []Shortage
	for _, name := range append(sorting.Keys(requested), corev1.ResourcePods) {
		for i := range b.sets {
			if s, ok := b.short(name, &b.sets[i]); ok {
				all = append(all, s)
				break
			}
		}
	}
	return all
}

// balance holds demand and supply per set of nodes.
type balance struct {
	m    *model.Model
	view *model.View
	// sets lists the node sets to which pods are confined, and the union of these sets. The
	// smallest set comes first.
	sets []confined
	rows []claimant
	// used holds the requests of running pods for each node in the view.
	used []map[corev1.ResourceName]int64
}

// confined represents a set of nodes as a bit set.
type confined struct {
	nodes []uint64
	size  int
}

func (c *confined) has(n int) bool { return c.nodes[n/64]&(1<<(n%64)) != 0 }

// claimant is a workload that requires space on a set of nodes.
type claimant struct {
	g   *model.Group
	set *confined
	// pods is 0 for a DaemonSet, which has one pod on each of its nodes.
	pods int
}

// maxSets is the maximum number of node sets that are checked individually.
const maxSets = 200

func balanceOf(m *model.Model, faulty map[*workload.Workload]bool) *balance {
	b := &balance{m: m, view: m.Views[len(m.Views)-1]}
	b.used = make([]map[corev1.ResourceName]int64, len(b.view.Nodes))
	by := map[string]*confined{}
	all := confined{nodes: make([]uint64, (len(b.view.Nodes)+63)/64)}
	for _, w := range m.Workloads {
		g := m.Groups[w]
		switch {
		case g.Running && model.Modelled(g):
			b.take(g)
		case model.Lasting(g) && !faulty[w]:
			set := lazy.Cached(by, g.Signature, func() *confined { // the nodes in the view that the pods may use
				e := m.Eligible(w)
				nodes := make([]uint64, (len(b.view.Nodes)+63)/64)
				for n := range b.view.Nodes {
					if b.view.Passes(e, n).All() {
						nodes[n/64] |= 1 << (n % 64)
					}
				}
				return &confined{nodes: nodes}
			})
			for i, bits := range set.nodes {
				all.nodes[i] |= bits
			}
			row := claimant{g: g, set: set}
			if !g.Kind.PerNode() {
				row.pods = model.Certain(g.Workload)
			}
			b.rows = append(b.rows, row)
		}
	}
	if len(by) <= maxSets {
		for _, id := range model.SortedKeys(by) {
			b.add(*by[id])
		}
	}
	b.add(all)
	return b
}

// add adds a set, unless it is empty or already listed, and keeps the sets sorted by size.
func (b *balance) add(set confined) {
	set.size = 0
	for _, word := range set.nodes {
		set.size += bits.OnesCount64(word)
	}
	if set.size == 0 || slices.ContainsFunc(b.sets, func(o confined) bool { return slices.Equal(o.nodes, set.nodes) }) {
		return
	}
	b.sets = append(b.sets, set)
	sorting.Stable(b.sets, func(x, y confined) int { return cmp.Compare(x.size, y.size) })
}

func (b *balance) take(g *model.Group) {
	n := slices.IndexFunc(b.view.Nodes, func(n *topology.Node) bool { return n.Name == g.Spec.NodeName })
	if n < 0 {
		return
	}
	if b.used[n] == nil {
		b.used[n] = map[corev1.ResourceName]int64{}
	}
	b.used[n][corev1.ResourcePods]++
	for _, r := range g.Requests {
		b.used[n][r.Name] += r.Amount
	}
}

// short reports whether a set of nodes has too little of a resource for the pods confined to it.
func (b *balance) short(name corev1.ResourceName, set *confined) (Shortage, bool) {
	b.m.Run().Spend(len(b.view.Nodes) + len(b.rows)*(1+len(set.nodes)/model.PerStep))
	free, total, ok := b.free(name, set)
	if !ok {
		return Shortage{}, false
	}
	var claims []claim
	var format resource.Format
	demand := int64(0)
	for _, r := range b.rows {
		each, written := b.asks(r.g, name)
		pods := r.confinedTo(set)
		if each == 0 || pods == 0 {
			continue
		}
		if pods > int((math.MaxInt64-demand)/each) {
			return Shortage{}, false // exceeds int64
		}
		format = cmp.Or(format, written)
		demand += each * int64(pods)
		claims = append(claims, claim{r.g.Workload, pods, each})
	}
	if len(claims) < 2 {
		return Shortage{}, false // the limits of the single workload explain this better
	}
	s := Shortage{Resource: name, Nodes: set.size, Growth: b.view.Growth()}
	s.Offered, s.Requested = model.Quantity(name, total, format), model.Quantity(name, demand, format)
	if demand > total {
		s.Pending = leftOver(claims, demand-total)
	} else {
		each := s.overcommitted(claims, free)
		if each == 0 {
			return Shortage{}, false
		}
		s.Each = model.Quantity(name, each, format)
		claims = slices.DeleteFunc(claims, func(c claim) bool { return c.each < each })
	}
	sorting.Stable(claims, func(x, y claim) int { return cmp.Compare(y.each*int64(y.pods), x.each*int64(x.pods)) })
	for _, c := range claims {
		s.Workloads, s.Pods = append(s.Workloads, c.w), s.Pods+c.pods
	}
	return s, len(s.Workloads) > 1
}

// confinedTo returns how many of the claimant's pods can only run on nodes in the set.
func (r *claimant) confinedTo(set *confined) int {
	inside, outside := 0, 0
	for i, word := range r.set.nodes {
		inside += bits.OnesCount64(word & set.nodes[i])
		outside += bits.OnesCount64(word &^ set.nodes[i])
	}
	switch {
	case r.g.Kind.PerNode():
		return inside
	case outside == 0:
		return r.pods
	}
	return 0
}

// free returns how much of a resource is free on each node in a set, and the sum. ok is false if
// some amount is unknown or if a pool may grow beyond the view.
func (b *balance) free(name corev1.ResourceName, set *confined) (each []int64, sum int64, ok bool) {
	for n, node := range b.view.Nodes {
		if !set.has(n) {
			continue
		}
		has, judged := model.Offered(node, &model.Request{Name: name})
		if !judged || b.view.Partial && b.view.From[n] < 0 {
			return nil, 0, false
		}
		has = max(0, has-b.used[n][name])
		if sum += has; sum < 0 {
			return nil, 0, false
		}
		each = append(each, has)
	}
	return each, sum, true
}

// leftOver returns the minimum number of pods that must be removed before the rest may fit.
func leftOver(claims []claim, excess int64) int {
	largest := slices.Clone(claims)
	sorting.Stable(largest, func(x, y claim) int { return cmp.Compare(y.each, x.each) })
	pods := 0
	for _, c := range largest {
		need := int((excess + c.each - 1) / c.each)
		if need <= c.pods {
			return pods + need
		}
		pods += c.pods
		excess -= c.each * int64(c.pods)
	}
	return pods
}

// overcommitted returns an amount that too many pods request: counted node by node, the pods that
// request at least this amount do not all fit. It returns 0 if there is no such amount.
func (s *Shortage) overcommitted(claims []claim, free []int64) int64 {
	sizes := slices.Clone(claims)
	sorting.Stable(sizes, func(x, y claim) int { return cmp.Compare(y.each, x.each) })
	pods := 0
	for i, c := range sizes {
		pods += c.pods
		if i+1 < len(sizes) && sizes[i+1].each == c.each {
			continue
		}
		slots := 0
		for _, has := range free {
			slots += int(min(has/c.each, int64(pods)))
		}
		if pods > slots {
			s.Slots, s.Pending = slots, pods-slots
			return c.each
		}
	}
	return 0
}

// ignores reports whether the request of a group's pods for a resource does not count: for a pod whose
// manifest names its node, the kubelet ignores extended resources that the node does not list
// (pkg/kubelet/lifecycle/predicate.go, removeMissingExtendedResources).
func ignores(m *model.Model, g *model.Group, name corev1.ResourceName) bool {
	n, known := m.IndexOf(g.Spec.NodeName)
	if !known || !model.Extended(name) {
		return false
	}
	_, listed := m.Topology.Nodes[n].Allocatable[name]
	return !listed
}

// asks returns how much of a resource one of the group's pods requests.
func (b *balance) asks(g *model.Group, name corev1.ResourceName) (int64, resource.Format) {
	if name == corev1.ResourcePods {
		return 1, resource.DecimalSI
	}
	i := slices.IndexFunc(g.Requests, func(r model.Request) bool { return r.Name == name })
	if i < 0 || ignores(b.m, g, name) {
		return 0, ""
	}
	return g.Requests[i].Amount, g.Requests[i].Quantity.Format
}

// claim describes one workload's demand for a resource on a set of nodes.
type claim struct {
	w    *workload.Workload
	pods int
	each int64
}

// RequestFit compares one pod's requests with each empty node. It counts the nodes that pass every
// other filter. A pool that may grow counts as one more node in each zone. If some node has no pod
// slot, the last entry of Requests is a request for one unit of the resource "pods".
type RequestFit struct {
	Eligible, Fitting int
	Requests          []ResourceFit
}

// ResourceFit compares one request with the eligible nodes. A node with an unknown amount of the
// resource counts as large enough.
type ResourceFit struct {
	model.Request
	Fitting int
	// LargestNode is the node that offers the most. It is declared at LargestSpan.
	LargestNode string
	LargestSpan diag.Span
	// Largest is the largest known amount on a node, or 0 if no amount is known. It is without
	// Reserved, which the pool of the node reserves.
	Largest, Reserved resource.Quantity
	// AtMost is set if the node has Largest before it reserves some of it.
	AtMost bool
}

// fitKey is the same for workloads whose pods fit on the same nodes.
type fitKey struct {
	signature, request string
}

// keptFits caches the results for one model.
type keptFits map[fitKey]*RequestFit

// RequestFits compares one pod's requests with the eligible nodes.
func RequestFits(m *model.Model, w *workload.Workload) *RequestFit {
	g := m.Groups[w]
	key := fitKey{g.Signature, g.Request}
	kept := *model.KeepForNodes(m, func() *keptFits { return &keptFits{} })
	return lazy.Cached(kept, key, func() *RequestFit {
		requests := model.Written(g.Requests)
		fit := &RequestFit{Requests: make([]ResourceFit, len(requests))}
		most := make([]int64, len(requests))
		for i, r := range requests {
			fit.Requests[i].Request, most[i] = r, -1
		}
		one := model.Request{Name: corev1.ResourcePods, Amount: 1, Quantity: *resource.NewQuantity(1, resource.DecimalSI)}
		slot := ResourceFit{Request: one}
		for n, grown := range m.Usable(w) {
			if grown && w.Kind.PerNode() {
				break
			}
			fit.Eligible++
			q, listed := n.Allocatable[corev1.ResourcePods]
			if !listed || q.Value() >= 1 { // a node that does not list its pod capacity always has a slot
				slot.Fitting++
			}
			if listed && q.Cmp(slot.Largest) > 0 {
				slot.Largest, slot.Reserved, slot.LargestNode, slot.LargestSpan = q, n.Reserved[corev1.ResourcePods], n.Name, n.Span
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
					q := model.Listed(n, r.Name)
					_, r.AtMost = n.AtMost(r.Name)
					most[i], r.Largest, r.Reserved, r.LargestNode, r.LargestSpan = has, q, n.Reserved[r.Name], n.Name, n.Span
				}
			}
		}
		if slot.Fitting < fit.Eligible {
			fit.Requests = append(fit.Requests, slot)
		}
		return fit
	})
}
