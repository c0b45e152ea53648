package classes

import (
	"encoding/binary"
	"math"
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

// usable returns how much of a resource the pods can use.
func (s *sizing) usable(i int, has int64) int64 {
	return s.demands[i].Usable(has)
}

// differs reports whether the usable amount differs within a range of sizes.
func (s *sizing) differs(i int, r sizeRange) bool {
	return s.usable(i, r.least) != s.usable(i, r.most)
}

// describe appends the sizes as far as the pods can use them.
func (s *sizing) describe(text []byte, sizes []int64) []byte {
	if s.each != nil {
		return binary.AppendVarint(text, s.count(sizes))
	}
	for i, has := range sizes {
		text = binary.AppendVarint(text, s.usable(i, has))
	}
	return text
}

// count returns how many pods with equal requests a node takes.
func (s *sizing) count(sizes []int64) int64 {
	count := int64(math.MaxInt64)
	for i, each := range s.each {
		if each > 0 && sizes[i] != math.MaxInt64 {
			count = min(count, max(0, s.usable(i, sizes[i]))/each)
		}
	}
	return count
}

// appendID appends a text that identifies the sizing.
func (s *sizing) appendID(text []byte) []byte {
	for i := range s.demands {
		text = binary.AppendVarint(binary.AppendVarint(text, s.demands[i].grain), s.demands[i].total)
	}
	for _, each := range s.each {
		text = binary.AppendVarint(text, each)
	}
	return text
}
