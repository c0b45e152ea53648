package search

import (
	"fmt"
	"maps"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// merge returns the model in which indistinguishable workloads are one: no rule of theirs
// or of others is about them, and they request the same on the same nodes. A state then
// counts their pods on each node, whichever they are. It returns the model itself if
// there are none; unmerge, deal and share translate back.
func merge(m *model.Model) *model.Model {
	classes := equals(m)
	if len(classes) == len(m.Workloads) {
		return m
	}
	p := *m
	p.Workloads, p.Groups, p.Members, p.Kept = nil, maps.Clone(m.Groups), map[*workload.Workload][]*workload.Workload{}, map[any]any{}
	for _, members := range classes {
		w := members[0]
		if len(members) > 1 {
			one, g := *w, *m.Groups[w]
			one.Count.N = 0
			for _, o := range members {
				one.Count.N += o.Count.N
			}
			w, g.Workload = &one, &one
			p.Groups[w], p.Members[w] = &g, members
		}
		p.Workloads = append(p.Workloads, w)
	}
	p.Index, p.Parts, p.WithoutFinite = model.NewLabelIndex(p.Workloads), &p, &p
	return &p
}

// equals returns the workloads in classes with equal pods, in the order of the model.
func equals(m *model.Model) [][]*workload.Workload {
	ruled := map[*workload.Workload]bool{} // those with a hard rule, or selected by one
	for _, p := range m.Apart {
		ruled[p.A], ruled[p.B] = true, true
	}
	for _, w := range m.Workloads {
		for t := range m.Groups[w].HardTerms() {
			ruled[w] = true
			for _, list := range m.Index.Candidates(t, w) {
				for _, o := range list {
					ruled[o] = ruled[o] || m.Peer(t, w, o) != model.No || m.Selects(t, w, o, model.Asks{Incoming: true})
				}
			}
		}
	}
	at := map[string]int{}
	var classes [][]*workload.Workload
	for _, w := range m.Workloads {
		g := m.Groups[w]
		plain := g.Placeable() && g.Whole == nil && !g.Kind.PerNode() && g.Count.N > 0 && !g.Terminating()
		if !plain || ruled[w] || len(g.HostPorts) > 0 || g.Spec.NodeName != "" {
			classes = append(classes, []*workload.Workload{w})
			continue
		}
		id := fmt.Sprintf("%s|%s", g.Signature, g.Request)
		if i, known := at[id]; known {
			classes[i] = append(classes[i], w)
			continue
		}
		at[id] = len(classes)
		classes = append(classes, []*workload.Workload{w})
	}
	return classes
}

// unmerge replaces merged workloads by their members.
func unmerge(m *model.Model, ws []*workload.Workload) []*workload.Workload {
	if len(m.Members) == 0 {
		return ws
	}
	var all []*workload.Workload
	for _, w := range ws {
		if members := m.Members[w]; members != nil {
			all = append(all, members...)
		} else {
			all = append(all, w)
		}
	}
	return all
}

// deal distributes the pods of a run among the members of each class, in turn until each
// has all of its own: in a run they are interchangeable.
func deal(m *model.Model, run []certificate.Placed) []certificate.Placed {
	if len(m.Members) == 0 {
		return run
	}
	run = slices.Clone(run)
	given := map[*workload.Workload]int{}
	for i, p := range run {
		k := given[p.Workload]
		given[p.Workload]++
		for _, w := range m.Members[p.Workload] {
			if k < w.Count.N {
				run[i].Workload = w
				break
			}
			k -= w.Count.N
		}
	}
	return run
}

// share derives the tally of each member of a class: all pods placed at most may be its
// own, but of those placed at least only what the others leave.
func share(m *model.Model, all map[*workload.Workload]tally) {
	for class, members := range m.Members {
		t := all[class]
		for _, w := range members {
			n, others := w.Count.N, t.pods-w.Count.N
			own := t
			own.pods, own.most, own.least = n, min(n, t.most), max(0, t.least-others)
			own.best, own.worst = min(n, t.best), max(0, t.worst-others)
			all[w] = own
		}
	}
}
