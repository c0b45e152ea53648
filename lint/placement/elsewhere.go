package placement

import (
	"slices"

	"github.com/schedlint/schedlint/lint/workload"
)

// whyElsewhere is why no verdict is given on a workload that only files declare
// which are not deployed together with the others for certain.
const whyElsewhere = "declared only outside of this context"

// addElsewhere takes in workloads that may be there or not. Selectors find them,
// so that nothing is said to match no pod because of what other files may hold;
// they take no part in decisions.
func (m *Model) addElsewhere(all []*workload.Workload) {
	m.elsewhere = make(map[*workload.Workload]bool, len(all))
	for _, w := range all {
		w.Count.Known = false
		m.elsewhere[w] = true
		m.groups[w] = &Group{Workload: w, Terms: terms(w), Unknown: whyElsewhere}
	}
}

// mayBeElsewhere notes that a hard affinity or spread rule may see pods that may be
// there or not: with them the answer may be another one, for better or worse.
func (a *arena) mayBeElsewhere(i int, t *Term) {
	u := a.units[i]
	if len(a.m.elsewhere) == 0 || t.Use == AntiAffinity || u.kubelet {
		return
	}
	for _, list := range a.m.index.candidates(&t.sel) {
		for _, w := range list {
			if a.m.elsewhere[w] && a.m.Peer(t, u.g.Workload, w) != No {
				u.unsure = append(u.unsure, i)
				a.doubts = append(a.doubts, Doubt{Workload: u.g.Workload, Term: t, Target: w})
			}
		}
	}
}

// borrowElsewhere takes over from another model those that hard affinity or spread
// may see: few questions are about any.
func (m *Model) borrowElsewhere(from *Model) {
	if len(from.elsewhere) == 0 {
		return
	}
	var seen []*workload.Workload
	for _, g := range m.groups {
		for _, t := range g.Terms {
			if !t.Hard || t.Use == AntiAffinity {
				continue
			}
			for _, list := range from.index.candidates(&t.sel) {
				for _, w := range list {
					if from.elsewhere[w] && m.Peer(t, g.Workload, w) != No && !slices.Contains(seen, w) {
						seen = append(seen, w)
					}
				}
			}
		}
	}
	if len(seen) > 0 {
		slices.SortFunc(seen, func(a, b *workload.Workload) int { return a.Object.NameSpan().Compare(b.Object.NameSpan()) })
		m.index = newLabelIndex(slices.Concat(m.Workloads, seen))
		m.addElsewhere(seen)
	}
}

// Elsewhere are the workloads that may be there or not.
func (m *Model) Elsewhere() []*workload.Workload {
	var all []*workload.Workload
	for _, w := range m.index.all {
		if m.elsewhere[w] {
			all = append(all, w)
		}
	}
	return all
}
