package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/workload"
)

// Hereditary reports whether the rules of all these workloads are such that
// fewer pods are never worse: none wants company, or asks where others are.
func (m *Model) Hereditary(ws []*workload.Workload) bool {
	return !slices.ContainsFunc(ws, func(w *workload.Workload) bool {
		return slices.ContainsFunc(m.groups[w].Terms, func(t *Term) bool { return t.Hard && t.Use != AntiAffinity })
	})
}

// HardKeys are the topology keys of all hard terms of some use.
func (m *Model) HardKeys(ws []*workload.Workload, use Use) []string {
	var keys []string
	for _, w := range ws {
		for _, t := range m.groups[w].Terms {
			if t.Hard && t.Use == use {
				keys = append(keys, t.Key)
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Alike describes workloads with so many pods each, one after the other: what
// it takes to know all that may happen to them on given nodes. Two groups with
// equal descriptions differ in names only. It is "" where that is not so simple, and
// short however many there are.
func (m *Model) Alike(ws []*workload.Workload, pods func(*workload.Workload) int) string {
	var b strings.Builder
	for _, w := range ws {
		g := m.groups[w]
		if m.run.Spend(stepsPerGroup); !m.plain(g) || w.Running {
			return ""
		}
		fmt.Fprintf(&b, "%s\x01%s\x01%v\x01%s %v %v %d\n", g.signature, g.request, g.HostPorts, w.Kind.Kind, w.Kind.VM, w.Terminating(), pods(w))
		for _, t := range g.Terms {
			if !t.Hard {
				continue
			}
			fmt.Fprintf(&b, "%s %q %v %v", t.Use, t.Key, t.Form(), m.Self(t, w))
			if t.Use == Spread {
				fmt.Fprintf(&b, " %d %d %v %v", t.Constraint.MaxSkew, t.MinDomains(), t.honorsAffinity(), t.honorsTaints())
			}
			m.run.Spend(4 * len(ws))
			for _, o := range ws {
				if m.Peer(t, w, o) == Maybe || m.selects(t, w, o, asks{incoming: true}) != m.selects(t, w, o, asks{}) {
					return ""
				}
				fmt.Fprint(&b, " ", m.Peer(t, w, o), m.selects(t, w, o, asks{}))
			}
			b.WriteByte('\n')
		}
	}
	return shortID(b.String())
}
