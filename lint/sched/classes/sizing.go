package classes

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// sizing is the demand of some pods for each resource and, if all pods have equal requests,
// those of one pod: then nodes that take the same number of pods are equivalent.
type sizing struct {
	demands []Demand
	each    []int64
}

// sizingOf returns the sizing of workloads with at most that many pods on a node. It is valid
// until the next call.
func (all *tables) sizingOf(m *model.Model, ws []*workload.Workload, resources []string, pods int) sizing {
	at := func(name corev1.ResourceName) int { return slices.Index(resources, string(name)) }
	all.most = slices.Grow(all.most[:0], len(resources))[:len(resources)]
	all.demands = slices.Grow(all.demands[:0], len(resources))[:len(resources)]
	clear(all.most)
	clear(all.demands)
	most, s := all.most, sizing{demands: all.demands}
	same := true
	for _, w := range ws {
		g := m.Groups[w]
		same = same && g.Request == m.Groups[ws[0]].Request
		for i := range g.Requests {
			r := &g.Requests[i]
			n := at(r.Name)
			s.demands[n] = s.demands[n].With(r.Amount, 1)
			most[n] = max(most[n], r.Amount)
		}
	}
	slots := at(corev1.ResourcePods)
	s.demands[slots], most[slots] = Demand{grain: 1}, 1
	for i := range s.demands {
		s.demands[i].total = Sum(0, most[i], pods)
	}
	if same {
		s.each = most
	}
	return s
}

// describe appends the sizes as far as the pods can use them.
func (s *sizing) describe(text []byte, sizes []int64) []byte {
	if s.each != nil { // how many pods with equal requests a node takes
		count := int64(math.MaxInt64)
		for i, each := range s.each {
			if each > 0 && sizes[i] != math.MaxInt64 {
				count = min(count, max(0, s.demands[i].Usable(sizes[i]))/each)
			}
		}
		return binary.AppendVarint(text, count)
	}
	for i, has := range sizes {
		text = binary.AppendVarint(text, s.demands[i].Usable(has))
	}
	return text
}

// Demand is the demand of some pods for a resource. Any set of these pods requests a multiple
// of the grain, so only the largest multiple within a node's amount is usable, and never
// more than the total. Nodes with the same usable amount are equivalent for the pods
// (T19). The zero Demand is that of pods that request nothing.
type Demand struct {
	grain, total int64
}

// With returns the demand with a number of further pods that each request an amount.
func (d Demand) With(ask int64, pods int) Demand {
	if ask <= 0 || pods <= 0 {
		return d
	}
	a, b := d.grain, ask
	for b > 0 {
		a, b = b, a%b
	}
	return Demand{grain: a, total: Sum(d.total, ask, pods)}
}

// Sum returns sum + ask*pods, or the largest int64 if that overflows.
func Sum(sum, ask int64, pods int) int64 {
	high, more := bits.Mul64(uint64(ask), uint64(pods))
	if high > 0 || more > uint64(math.MaxInt64-sum) {
		return math.MaxInt64
	}
	return sum + int64(more)
}

// Usable returns how much of a node's amount the pods can use at most. It is unlimited if the
// node is not judged.
func (d Demand) Usable(has int64) int64 {
	if d.grain == 0 || has <= 0 || has == math.MaxInt64 {
		return has
	}
	return min(has-has%d.grain, d.total)
}
