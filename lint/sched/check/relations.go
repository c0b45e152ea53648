package check

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// relations holds which workloads the hard terms select and, by workload, whose
// anti-affinity selects it and whose spread counts it.
type relations struct {
	selects map[*model.Term][]*workload.Workload
	// keys are those of all hard terms, in order; looked lists the keys by which some term
	// selects a workload's pods.
	keys    []string
	looked  map[*workload.Workload][]string
	against map[*workload.Workload][]against
	// migrating lists the entries of against that come from a migration, not from a term
	// (R-W25).
	migrating map[*workload.Workload][]against
	watched   map[*workload.Workload][]watch
	// doubted lists pairs that anti-affinity of either side keeps apart or not, as only the
	// cluster knows; vague marks workloads with such a rule of another use.
	doubted map[*workload.Workload][]against
	vague   map[*workload.Workload]bool
}

type against struct {
	w   *workload.Workload
	key string
}

type watch struct {
	g *model.Group
	t *model.Term
}

// related computes which terms select which workloads, once for all checks.
func related(m *model.Model) *relations {
	return model.Keep(m, func() *relations {
		all := &relations{
			selects: map[*model.Term][]*workload.Workload{}, looked: map[*workload.Workload][]string{}, watched: map[*workload.Workload][]watch{},
			against: map[*workload.Workload][]against{}, migrating: map[*workload.Workload][]against{},
			doubted: map[*workload.Workload][]against{}, vague: map[*workload.Workload]bool{},
		}
		for _, w := range m.Workloads {
			if g := m.Groups[w]; m.Present(g) {
				all.learn(m, g)
			}
		}
		for _, p := range m.Apart { // exclusions that are not from terms of a manifest
			all.keys = append(all.keys, p.Key)
			m.Number()
			for _, i := range m.StandFor[p.A] {
				for _, j := range m.StandFor[p.B] {
					x, y := m.Workloads[i], m.Workloads[j]
					for _, pair := range [][2]*workload.Workload{{x, y}, {y, x}} {
						a := against{pair[1], p.Key}
						all.against[pair[0]] = append(all.against[pair[0]], a)
						all.migrating[pair[0]] = append(all.migrating[pair[0]], a)
						all.look(pair[0], p.Key)
					}
				}
			}
		}
		slices.Sort(all.keys)
		all.keys = slices.Compact(all.keys)
		return all
	})
}

// maySelect reports whether a term selects pods of a group on some node that takes one of
// them when empty.
func maySelect(m *model.Model, t *model.Term, g, o *model.Group) bool {
	if !t.Sel.Local() {
		return m.Selects(t, g.Workload, o.Workload, model.Asks{Incoming: true})
	}
	for n, p := range m.Eligible(o.Workload).Nodes {
		node := m.Topology.Nodes[n]
		if (o.Running && p.Name || p.All() && model.Holds(node, o)) && m.Selects(t, g.Workload, o.Workload, model.Asks{Incoming: true, At: node}) {
			return true
		}
	}
	return false
}

// learn records whom the hard terms of a group select.
func (v *relations) learn(m *model.Model, g *model.Group) {
	for t := range g.HardTerms() {
		v.keys = append(v.keys, t.Key)
		m.Run().Spend(model.StepsPerTerm)
		for o := range m.Doubtful(t, g.Workload) { // whom it may select, as only the cluster knows
			switch {
			case !m.Present(m.Groups[o]):
			case t.Use != model.AntiAffinity:
				v.vague[g.Workload] = true
			default:
				v.doubted[g.Workload] = append(v.doubted[g.Workload], against{o, t.Key})
				if o != g.Workload {
					v.doubted[o] = append(v.doubted[o], against{g.Workload, t.Key})
				}
			}
		}
		for _, list := range m.Index.Candidates(t, g.Workload) {
			for _, o := range list {
				if !m.Present(m.Groups[o]) {
					continue
				}
				if maySelect(m, t, g, m.Groups[o]) {
					v.selects[t] = append(v.selects[t], o)
					if t.Use == model.Spread {
						v.watched[o] = append(v.watched[o], watch{g, t})
					} else {
						v.look(o, t.Key)
					}
				}
				if t.Use == model.AntiAffinity && m.Selects(t, g.Workload, o, model.Asks{}) {
					v.against[o] = append(v.against[o], against{g.Workload, t.Key})
					v.look(g.Workload, t.Key)
				}
			}
		}
	}
}

// look records that a term selects pods of a workload by the domains of a key.
func (v *relations) look(w *workload.Workload, key string) {
	if !slices.Contains(v.looked[w], key) {
		v.looked[w] = append(v.looked[w], key)
	}
}
