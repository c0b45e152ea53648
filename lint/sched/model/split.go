package model

import (
	"slices"

	"github.com/schedlint/schedlint/lint/workload"
)

// maxSplit bounds the pods of a workload that are distinguished.
const maxSplit = 64

// Split returns the model in which each pod that some hard term can distinguish from its
// siblings, by an index or a name of its own, is a workload of its own. It
// returns the model itself if there are no such pods.
func (m *Model) Split() *Model {
	if m.Parts != nil {
		return m.Parts
	}
	asked := m.AskedFor()
	if len(asked) == 0 {
		m.Parts = m
		return m
	}
	set := &workload.Set{Namespaces: m.Namespaces}
	groups := map[*workload.Workload]*Group{}
	for _, w := range m.Workloads {
		pods := podGroups(m.Groups[w], asked)
		if pods == nil {
			pods = []*Group{m.Groups[w]}
		}
		for _, g := range pods {
			set.Workloads, groups[g.Workload] = append(set.Workloads, g.Workload), g
		}
	}
	parts := newModel(m.run, set, m.Topology, m.perNodes, nil) // keeps the pods of one workload in their order
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

// Number fills StandFor and Running on first use.
func (m *Model) Number() {
	if m.StandFor != nil {
		return
	}
	m.StandFor = map[*workload.Workload][]int{}
	for i, w := range m.Workloads {
		m.StandFor[m.Groups[w].Origin()] = append(m.StandFor[m.Groups[w].Origin()], i)
		if w.Running {
			m.Running = append(m.Running, i)
		}
	}
}

// InOrder returns the workloads that represent those of a group, and those at further
// indices, in the order of the model.
func (m *Model) InOrder(group map[*workload.Workload]bool, further []int) []*workload.Workload {
	m.Number()
	places := slices.Clone(further)
	for w := range group {
		places = append(places, m.StandFor[w]...)
	}
	m.run.Spend(len(places))
	slices.Sort(places)
	var all []*workload.Workload
	for _, i := range slices.Compact(places) {
		all = append(all, m.Workloads[i])
	}
	return all
}

// AskedFor returns the labels with a value for each single pod that hard terms ask for.
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

// podGroups returns the pods of a group, each as a group, if they have a label
// that is asked for; otherwise nil.
func podGroups(g *Group, asked map[string]bool) []*Group {
	index := ""
	for _, key := range g.PerPod() {
		if asked[key] {
			index = podIndex
			if key == completionIndex {
				index = key
			}
		}
	}
	if index == "" || !Modelled(g) || g.Count.N > maxSplit {
		return nil
	}
	start, known := 0, true
	if index == podIndex {
		start, known = firstOrdinal(g.Workload)
	}
	if !known {
		return nil
	}
	ordered := index == podIndex && g.Object.Root.At("spec", "podManagementPolicy").Text() != "Parallel"
	pods := []*Group{}
	for i := range g.Count.N {
		w := *g.Workload
		w.Labels = numbered(&w, index, start+i)
		w.Count.N = 1
		pod := *g
		pod.Workload, pod.Whole, pod.Position = &w, g.Workload, i
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

// Before returns the pods of a StatefulSet that have to be in place before one is
// created: all with lower ordinals (R-W11), the last one first.
func Before(m *Model, g *Group) []*workload.Workload {
	var all []*workload.Workload
	for w := g.After; w != nil; w = m.Groups[w].After {
		all = append(all, w)
	}
	return all
}
