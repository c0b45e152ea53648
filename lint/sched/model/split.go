package model

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/workload"
)

// maxSplit is the maximum number of pods per workload that the model can tell apart.
const maxSplit = 64

// Split returns a model in which certain pods are separate workloads. A hard term can distinguish
// each of these pods by an index or name, or its volumes are bound to other nodes. If there are no
// such pods, Split returns the model
// itself.
func (m *Model) Split() *Model {
	if m.Parts != nil {
		return m.Parts
	}
	asked := m.AskedFor()
	if len(asked) == 0 && !slices.ContainsFunc(m.Workloads, func(w *workload.Workload) bool { return w.OrdinalReaches != nil }) {
		m.Parts = m
		return m
	}
	set := &workload.Set{Namespaces: m.Namespaces}
	groups := map[*workload.Workload]*Group{}
	for _, w := range m.Workloads {
		pods := m.podGroups(m.Groups[w], asked)
		if pods == nil {
			pods = []*Group{m.Groups[w]}
		}
		for _, g := range pods {
			set.Workloads, groups[g.Workload] = append(set.Workloads, g.Workload), g
		}
	}
	parts := newModel(m.run, set, m.Topology, m.perNodes, nil) // keeps each workload's pods in order
	parts.Apart, parts.absent = m.Apart, m.absent
	for w, g := range groups {
		if g.Whole != nil {
			g.Terms = parts.Groups[w].Terms
			for i, t := range g.Terms {
				t.Origin = m.Groups[g.Whole].Terms[i]
			}
		}
		parts.Groups[w] = g
	}
	parts.Parts, m.Parts = parts, parts
	return parts
}

// Running returns the indices of the running workloads.
func (m *Model) Running() []int {
	m.Number()
	return m.running
}

// Number computes StandFor and the result of Running on first use.
func (m *Model) Number() {
	if m.StandFor != nil {
		return
	}
	m.StandFor, m.running = map[*workload.Workload][]int{}, nil
	for i, w := range m.Workloads {
		m.StandFor[m.Groups[w].Origin()] = append(m.StandFor[m.Groups[w].Origin()], i)
		if w.Running {
			m.running = append(m.running, i)
		}
	}
}

// InOrder returns the workloads that represent a group's members, and the workloads at the indices
// in further. The result is in model order.
func (m *Model) InOrder(group map[*workload.Workload]bool, further []int) []*workload.Workload {
	m.Number()
	places := slices.Clone(further)
	for w := range group {
		places = append(places, m.StandFor[w]...)
	}
	m.run.Spend(len(places))
	slices.Sort(places)
	return lists.Of(slices.Compact(places), func(i int) *workload.Workload { return m.Workloads[i] })
}

// AskedFor returns the label keys in hard terms' selectors whose values differ from pod to pod.
func (m *Model) AskedFor() map[string]bool {
	asked := map[string]bool{}
	for _, w := range m.Workloads {
		for _, t := range m.Groups[w].Terms {
			for _, r := range t.Sel.Reqs {
				if t.Hard && (Ordinal(r.Key) || r.Key == PodName) {
					asked[r.Key] = true
				}
			}
		}
	}
	return asked
}

// podGroups returns one group for each pod in g if one of the asked keys has a different value on
// every pod, or if the pods' volumes differ in the nodes that can use them. Otherwise it returns
// nil.
func (m *Model) podGroups(g *Group, asked map[string]bool) []*Group {
	index := ""
	for _, key := range g.PerPod() {
		if asked[key] {
			index = podIndex
			if key == completionIndex {
				index = key
			}
		}
	}
	if g.OrdinalReaches != nil {
		index = podIndex
	}
	if index == "" || !Modelled(g) || g.Count.N > maxSplit {
		return nil
	}
	start, known := 0, true
	if index == podIndex {
		start, known = g.FirstOrdinal()
	}
	if !known {
		return nil
	}
	ordered := !m.Unordered && index == podIndex && g.Object.Root.At("spec", "podManagementPolicy").Text() != "Parallel"
	pods := []*Group{}
	for i := range g.Count.N {
		w := *g.Workload
		w.Labels = numbered(&w, index, start+i)
		w.Count.N = 1
		if w.OrdinalReaches != nil {
			w.Reaches, w.OrdinalReaches = slices.Concat(w.Reaches, w.OrdinalReaches.At(start+i)), nil
		}
		pod := *g
		pod.Workload, pod.Whole, pod.Position = &w, g.Workload, i
		if g.OrdinalReaches != nil {
			pod.Signature = signature(&w)
		}
		if ordered && i > 0 {
			pod.After = pods[i-1].Workload
		}
		pods = append(pods, &pod)
	}
	return pods
}

// Origin returns the workload as declared.
func (g *Group) Origin() *workload.Workload {
	if g.Whole != nil {
		return g.Whole
	}
	return g.Workload
}

// Before returns the StatefulSet pods that must be in place before a pod is created. These are the
// pods with lower ordinals, in descending order (R-W11).
func Before(m *Model, g *Group) []*workload.Workload {
	var all []*workload.Workload
	for w := g.After; w != nil; w = m.Groups[w].After {
		all = append(all, w)
	}
	return all
}

// Pods is a set of pods from one workload. Bit i represents the i-th pod. AllPods contains all pods
// of any workload.
type Pods uint64

// AllPods is the set of all pods in a workload.
const AllPods Pods = 1<<maxSplit - 1

// Below returns how many of the first n pods are in the set.
func (p Pods) Below(n int) int {
	if p == AllPods {
		return n
	}
	return bits.OnesCount64(uint64(p & (1<<min(n, maxSplit) - 1)))
}

// PodSelector is a function that returns the pods in a workload that a label selector selects,
// ignoring namespaces.
type PodSelector func(w *workload.Workload) (Pods, Answer)

// PodSelector compiles the selector of an object that has no pods of its own, such as a
// PodDisruptionBudget. It distinguishes StatefulSet pods by index and name if there are at most
// maxSplit of them (R-W2).
func (m *Model) PodSelector(s *metav1.LabelSelector) PodSelector {
	sel := newSelector(s)
	apart := false
	for _, r := range sel.Reqs {
		apart = apart || r.Key == podIndex || r.Key == PodName
	}
	return func(w *workload.Workload) (Pods, Answer) {
		m.run.Spend(3 + sel.Cost())
		answer := sel.Matches(w, w, false)
		n := w.Count.N
		if w.Scale != nil {
			n = w.Scale.Max
		}
		start, known := w.FirstOrdinal()
		if answer != Maybe || !apart || w.Kind.Kind != "StatefulSet" || !w.Count.Known || n > maxSplit || !known {
			return AllPods, answer
		}
		m.run.Spend(n * sel.Cost())
		var some Pods
		for i := range n {
			pod := *w
			pod.Labels = numbered(w, podIndex, start+i)
			switch sel.Matches(&pod, &pod, false) {
			case Maybe:
				return AllPods, Maybe
			case Yes:
				some |= 1 << i
			}
		}
		switch some.Below(n) {
		case 0:
			return 0, No
		case n:
			return AllPods, Yes
		}
		return some, Yes
	}
}

// numbered returns the labels on a workload's pod with the given index (R-W2).
func numbered(w *workload.Workload, index string, n int) map[string]string {
	labels := maps.Clone(w.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	if labels[index] = strconv.Itoa(n); index == podIndex {
		labels[PodName] = fmt.Sprintf("%s-%d", w.Object.Name, n)
	}
	return labels
}
