package model

import (
	"crypto/sha256"
	"iter"
	"slices"
)

// HardAffinity returns the required affinity terms of a workload.
func (g *Group) HardAffinity() []*Term { return slices.Collect(g.Hard(Affinity)) }

// Hard yields the hard terms of one use.
func (g *Group) Hard(use Use) iter.Seq[*Term] {
	return func(yield func(*Term) bool) {
		for _, t := range g.Terms {
			if t.Use == use && t.Hard && !yield(t) {
				return
			}
		}
	}
}

// HardTerms yields the hard terms.
func (g *Group) HardTerms() iter.Seq[*Term] {
	return func(yield func(*Term) bool) {
		for _, t := range g.Terms {
			if t.Hard && !yield(t) {
				return
			}
		}
	}
}

// SpreadRule is one hard spread constraint applied to one view.
type SpreadRule struct {
	Term *Term
	// Eligible holds the values of the key that count as domains (R-T3): true for
	// values of declared nodes, false for values that only a growing pool would
	// add. The latter may raise the number of domains but never lower the minimum, because
	// it is unknown whether they will exist.
	Eligible map[string]bool
	// Foreign counts the pods of other workloads that the selector selects: they may
	// fill the domains that set the minimum.
	Foreign int
	// Counts is unset if the constraint never rejects for skew: a null or
	// empty selector (R-T5), or one that does not select the pod itself.
	Counts bool
}

// HardKeys returns the topology keys of all hard spread constraints: only nodes
// that carry all of them count, and only those pass (R-T2, R-T7).
func HardKeys(g *Group) []string { return g.spreadKeys }

// ShortID returns a text, or a hash of a long one, to use as an identifier that is stored often.
func ShortID(text string) string {
	if len(text) <= maxID {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return string(sum[:])
}

// maxID bounds the texts that ShortID keeps.
const maxID = 200

// SpreadKeys returns the keys of all hard spread constraints, sorted and without repeats.
func (g *Group) SpreadKeys() []string { return g.sortedKeys }

// Carries reports whether labels contain all keys.
func Carries(labels map[string]string, keys []string) bool {
	for _, k := range keys {
		if _, ok := labels[k]; !ok {
			return false
		}
	}
	return true
}

// SpreadRule prepares a constraint: its eligible domains follow
// plugins/podtopologyspread/common.go, matchNodeInclusionPolicies.
func (m *Model) SpreadRule(v *View, g *Group, t *Term) SpreadRule {
	r := SpreadRule{Term: t, Eligible: eligibleDomains(m, v, g, t)}
	// A DaemonSet's pods are pinned to their node, which is then the only eligible one,
	// so skew never rejects them (R-N31).
	r.Counts = t.Sel.Form == FormSet && m.Self(t, g.Workload) == Yes && m.Peer(t, g.Workload, g.Workload) == Yes && !g.Kind.PerNode()
	for _, o := range m.Others(t, g.Workload, true) {
		if !o.Count.Known {
			r.Foreign = Unbounded
		} else {
			r.Foreign = min(Unbounded, r.Foreign+o.Count.N)
		}
	}
	return r
}

// DomainKey identifies the eligible domains that equal constraints share.
type DomainKey struct {
	view                       *View
	Signature, Key, Keys       string
	HonorAffinity, HonorTaints bool
}

func eligibleDomains(m *Model, v *View, g *Group, t *Term) map[string]bool {
	id := DomainKey{
		view: v, Signature: g.Signature, Key: t.Key, Keys: g.KeysID,
		HonorAffinity: t.HonorsAffinity(), HonorTaints: t.HonorsTaints(),
	}
	if found := m.domains[id]; found != nil {
		return found
	}
	m.run.Spend(1 + len(v.Nodes))
	keys := HardKeys(g)
	e, found := m.Eligible(g.Workload), map[string]bool{}
	for i, n := range v.Nodes {
		p := v.Passes(e, i)
		if Carries(n.Labels, keys) && (!id.HonorAffinity || p.Selector) && (!id.HonorTaints || p.Taints) {
			value := n.Labels[t.Key]
			found[value] = found[value] || v.From[i] >= 0
		}
	}
	m.domains[id] = found
	return found
}
