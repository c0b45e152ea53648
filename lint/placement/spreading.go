package placement

import (
	"crypto/sha256"
	"slices"
	"strings"
)

// HardAffinity are the required affinity terms of a workload.
func (g *Group) HardAffinity() []*Term {
	var hard []*Term
	for _, t := range g.Terms {
		if t.Use == Affinity && t.Hard {
			hard = append(hard, t)
		}
	}
	return hard
}

// spreadRule is one hard spread constraint against one view.
type spreadRule struct {
	term *Term
	// eligible are the values of the key that count as domains (R-T3): true for
	// those of declared nodes, false for those that only a growing pool would
	// bring. Those may raise the number of domains, but as nobody knows whether
	// they will be there, they never lower the minimum.
	eligible map[string]bool
	// foreign is how many pods of other workloads the selector counts: they may
	// fill the domains that set the minimum.
	foreign int
	// counts is unset where the constraint never rejects for skew: a null or
	// empty selector (R-T5), or one that does not select the pod itself.
	counts bool
}

// hardKeys are the topology keys of all hard spread constraints: only nodes
// that carry all of them count, and only those pass (R-T2, R-T7).
func hardKeys(g *Group) []string { return g.spreadKeys }

// findKeys fills them in, with a text that is equal for equal lists.
func (g *Group) findKeys() {
	for _, t := range g.Terms {
		if t.Use == Spread && t.Hard {
			g.spreadKeys = append(g.spreadKeys, t.Key)
		}
	}
	if len(g.spreadKeys) == 0 {
		return
	}
	g.sortedKeys = slices.Compact(slices.Sorted(slices.Values(g.spreadKeys)))
	g.keysID = shortID(strings.Join(g.spreadKeys, ","))
}

// shortID stands for a text that is kept many times.
func shortID(text string) string {
	if len(text) <= maxID {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return string(sum[:])
}

// maxID bounds texts that stand for lists.
const maxID = 200

// SpreadKeys are those keys, each once.
func (g *Group) SpreadKeys() []string { return g.sortedKeys }

func carries(labels map[string]string, keys []string) bool {
	for _, k := range keys {
		if _, ok := labels[k]; !ok {
			return false
		}
	}
	return true
}

// spreadRule prepares a constraint: its eligible domains follow
// plugins/podtopologyspread/common.go, matchNodeInclusionPolicies.
func (m *Model) spreadRule(v *view, g *Group, t *Term) spreadRule {
	r := spreadRule{term: t, eligible: m.eligibleDomains(v, g, t)}
	// A DaemonSet's pods are pinned to their node, which alone is eligible then,
	// so that skew never stands in their way (R-N31).
	r.counts = t.sel.form == FormSet && m.Self(t, g.Workload) == Yes && m.Peer(t, g.Workload, g.Workload) == Yes && !g.Kind.PerNode()
	for _, o := range m.Others(t, g.Workload, true) {
		if !o.Count.Known {
			r.foreign = Unbounded
		} else {
			r.foreign = min(Unbounded, r.foreign+o.Count.N)
		}
	}
	return r
}

// domainKey identifies the eligible domains of like constraints.
type domainKey struct {
	view                       *view
	signature, key, keys       string
	honorAffinity, honorTaints bool
}

func (m *Model) eligibleDomains(v *view, g *Group, t *Term) map[string]bool {
	keys := hardKeys(g)
	m.run.Spend(len(v.nodes))
	id := domainKey{
		view: v, signature: g.signature, key: t.Key, keys: g.keysID,
		honorAffinity: t.honorsAffinity(), honorTaints: t.honorsTaints(),
	}
	if found := m.domains[id]; found != nil {
		return found
	}
	e, found := m.Eligible(g.Workload), map[string]bool{}
	for i, n := range v.nodes {
		p := v.passes(e, i)
		if carries(n.Labels, keys) && (!id.honorAffinity || p.Selector) && (!id.honorTaints || p.Taints) {
			value := n.Labels[t.Key]
			found[value] = found[value] || v.from[i] >= 0
		}
	}
	m.domains[id] = found
	return found
}
