package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// addApart adds the exclusions that come from the model's Apart pairs instead of terms.
func (b *compiler) addApart() {
	for _, p := range b.m.Apart {
		k := b.key(p.Key)
		of := map[*workload.Workload][]int{}
		b.m.Run().Spend(len(b.units) / model.PerStep)
		for i, u := range b.units {
			if o := u.g.Origin(); o == p.A || o == p.B {
				of[o] = append(of[o], i)
			}
		}
		for _, i := range of[p.A] {
			for _, j := range of[p.B] {
				b.exclude(i, exclusion{k, j, 0})
				b.exclude(j, exclusion{k, i, 0})
			}
		}
	}
}

// Components divides workloads into groups that interact. In the first result, workloads interact
// through hard rules and host ports. In the second result, workloads that may fill a node together
// interact too. The argument extra maps a workload to the number of temporary pods beyond its
// replicas. Neither result includes workloads that take no part in decisions or whose pods run to
// completion.
func Components(m *model.Model, extra map[*workload.Workload]int) (ruled, contending [][]*workload.Workload) {
	m = m.Permanent()
	relax := newRelaxation(nil)
	relax.extra = extra
	for w, n := range extra {
		if !w.Kind.PerNode() {
			relax.count[w] = w.Count.N + n
		}
	}
	s := newState(m.Split(), false, relax)
	ruled = byOwner(interactions{s}.components())
	s.contend = true
	return ruled, byOwner(interactions{s}.components())
}

// byOwner returns each component's workloads. If a DaemonSet's pods are in several components,
// these components form one group.
func byOwner(components []component) [][]*workload.Workload {
	var all [][]*workload.Workload
	in := map[*workload.Workload]int{}
	for _, c := range components {
		root := len(all)
		all = append(all, nil)
		for _, w := range c.owners {
			g, known := in[w]
			if !known {
				g = root
				in[w], all[g] = g, append(all[g], w)
			}
			if g != root {
				for _, o := range all[root] {
					in[o] = g
				}
				all[g], all[root], root = append(all[g], all[root]...), nil, g
			}
		}
	}
	return slices.DeleteFunc(all, func(g []*workload.Workload) bool { return len(g) == 0 })
}

// Few returns nodes that represent all nodes. From each class of nodes that are equivalent for the
// workloads, it returns at most `keep` nodes. `keep` is larger than the number of pods, so more
// nodes are not needed. Nodes with different results of `tell` are not equivalent. `tell` may be
// nil. If rules depend on how many DaemonSet pods are in a domain, Few returns all nodes, because
// DaemonSet pods run on every node.
func Few(m *model.Model, ws []*workload.Workload, keep int, tell func(*topology.Node) string) []*topology.Node {
	if countsDaemons(m, ws) {
		return slices.Clone(m.Topology.Nodes)
	}
	for _, w := range ws {
		for t := range m.Groups[w].Hard(model.Spread) {
			keep = max(keep, t.MinDomains())
		}
	}
	var few []int32
	for _, members := range classes.Of(m, ws, keep, "").Nodes {
		if tell == nil {
			few = append(few, members[:min(keep, len(members))]...)
			continue
		}
		count := map[string]int{}
		for _, n := range members {
			told := tell(m.Topology.Nodes[n])
			if count[told]++; count[told] <= keep {
				few = append(few, n)
			}
		}
	}
	slices.Sort(few)
	nodes := make([]*topology.Node, len(few))
	for i, n := range few {
		nodes[i] = m.Topology.Nodes[n]
	}
	return nodes
}

// countsDaemons reports whether some hard rule depends on DaemonSet pods on several nodes. Such a
// rule belongs to a DaemonSet or may select a DaemonSet's pods. It also concerns several nodes,
// because its domains have several nodes or because it counts the pods in other domains.
func countsDaemons(m *model.Model, ws []*workload.Workload) bool {
	m.Run().Spend(1 + len(ws)/model.PerStep)
	daemons := slices.DeleteFunc(slices.Clone(ws), func(w *workload.Workload) bool { return !perNode(w) })
	return len(daemons) > 0 && slices.ContainsFunc(ws, func(w *workload.Workload) bool {
		m.Run().Spend(1)
		return slices.ContainsFunc(m.Groups[w].Terms, func(t *model.Term) bool {
			return t.Hard && slices.ContainsFunc(daemons, func(d *workload.Workload) bool {
				return w == d && t.Use != model.AntiAffinity || (w == d || m.Peer(t, w, d) != model.No) && !m.NodeByNode(t.Key, nil)
			})
		})
	})
}

// Hereditary reports whether removing pods never makes other pods harder to place under the
// workloads' rules. This is the case if no workload needs peers or has a hard spread.
func Hereditary(m *model.Model, ws []*workload.Workload) bool {
	return !slices.ContainsFunc(ws, func(w *workload.Workload) bool {
		return slices.ContainsFunc(m.Groups[w].Terms, func(t *model.Term) bool { return t.Hard && t.Use != model.AntiAffinity })
	})
}

// HardKeys returns the sorted topology keys of all hard terms with the given use.
func HardKeys(m *model.Model, ws []*workload.Workload, use model.Use) []string {
	var keys []string
	for _, w := range ws {
		for t := range m.Groups[w].Hard(use) {
			keys = append(keys, t.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Alike returns a string that describes everything that affects how the workloads' pods are placed
// on given nodes, for the given pod counts. Groups of workloads with equal strings differ only in
// names. The result is "" if no such description exists. The string's length does not depend on the
// number of workloads.
func Alike(m *model.Model, ws []*workload.Workload, pods func(*workload.Workload) int) string {
	var b strings.Builder
	for _, w := range ws {
		g := m.Groups[w]
		if m.Run().Spend(model.StepsPerGroup); !plain(m, g) || w.Running {
			return ""
		}
		fmt.Fprintf(&b, "%s\x01%s\x01%v\x01%s %v %v %d\n", g.Signature, g.Request, g.HostPorts, w.Kind.Kind, w.Kind.VM, w.Terminating(), pods(w))
		for t := range g.HardTerms() {
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
