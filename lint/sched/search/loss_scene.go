package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Hereditary reports whether the rules of all these workloads are such that fewer pods
// are never worse: none needs company, or depends on where others are.
func Hereditary(m *model.Model, ws []*workload.Workload) bool {
	return !slices.ContainsFunc(ws, func(w *workload.Workload) bool {
		return slices.ContainsFunc(m.Groups[w].Terms, func(t *model.Term) bool { return t.Hard && t.Use != model.AntiAffinity })
	})
}

// HardKeys returns the topology keys of all hard terms of the given use, sorted.
func HardKeys(m *model.Model, ws []*workload.Workload, use model.Use) []string {
	var keys []string
	for _, w := range ws {
		for _, t := range m.Groups[w].Terms {
			if t.Hard && t.Use == use {
				keys = append(keys, t.Key)
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Alike returns a description of workloads with so many pods each: everything that
// decides what may happen to them on given nodes. Groups with equal descriptions differ
// only in names. The result is "" where that cannot be described so simply, and short
// however many there are.
func Alike(m *model.Model, ws []*workload.Workload, pods func(*workload.Workload) int) string {
	var b strings.Builder
	for _, w := range ws {
		g := m.Groups[w]
		if m.Run().Spend(model.StepsPerGroup); !plain(m, g) || w.Running {
			return ""
		}
		fmt.Fprintf(&b, "%s\x01%s\x01%v\x01%s %v %v %d\n", g.Signature, g.Request, g.HostPorts, w.Kind.Kind, w.Kind.VM, w.Terminating(), pods(w))
		for _, t := range g.Terms {
			if !t.Hard {
				continue
			}
			fmt.Fprintf(&b, "%s %q %v %v", t.Use, t.Key, t.Form(), m.Self(t, w))
			if t.Use == model.Spread {
				fmt.Fprintf(&b, " %d %d %v %v", t.Constraint.MaxSkew, t.MinDomains(), t.HonorsAffinity(), t.HonorsTaints())
			}
			m.Run().Spend(4 * len(ws))
			for _, o := range ws {
				if m.Peer(t, w, o) == model.Maybe || m.Selects(t, w, o, model.Asks{Incoming: true}) != m.Selects(t, w, o, model.Asks{}) {
					return ""
				}
				fmt.Fprint(&b, " ", m.Peer(t, w, o), m.Selects(t, w, o, model.Asks{}))
			}
			b.WriteByte('\n')
		}
	}
	return model.ShortID(b.String())
}
