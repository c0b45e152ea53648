package model

import (
	"cmp"
	"crypto/sha256"
	"iter"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Use is the purpose of a term.
type Use string

// The uses.
const (
	AntiAffinity Use = "anti-affinity"
	Affinity     Use = "affinity"
	Spread       Use = "spread"
)

// Term is one pod affinity or anti-affinity term or one spread constraint.
type Term struct {
	Use Use
	// Hard terms filter, soft ones only score.
	Hard bool
	Key  string
	// Node is the map that holds topologyKey and labelSelector.
	Node *source.Node
	// MatchKeys and MismatchKeys are matchLabelKeys and mismatchLabelKeys.
	MatchKeys, MismatchKeys []string
	// Constraint is set for spread constraints.
	Constraint *corev1.TopologySpreadConstraint
	// Namespaces and NamespaceSelector are those of an affinity term.
	Namespaces        []string
	NamespaceSelector *metav1.LabelSelector

	Sel selector
	ns  selector
	// Origin is the same term of the unsplit workload, if this is the term of one of its pods.
	Origin *Term
}

// Form returns the kind of the label selector, merged keys included.
func (t *Term) Form() Form { return t.Sel.Form }

// Selector formats the label selector as kubectl does.
func (t *Term) Selector() string { return t.Sel.String() }

// Asks reports whether the label selector, merged keys included, has a
// condition on a label.
func (t *Term) Asks(key string) bool {
	return slices.ContainsFunc(t.Sel.Reqs, func(r Requirement) bool { return r.Key == key })
}

// SortedKeys returns the keys of a map in order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

// terms returns the terms of a workload: affinity, anti-affinity, spread.
func terms(w *workload.Workload) []*Term {
	var all []*Term
	if a := w.Spec.Affinity; a != nil {
		if p := a.PodAffinity; p != nil {
			all = append(all, affinityTerms(w, Affinity, "podAffinity", p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)...)
		}
		if p := a.PodAntiAffinity; p != nil {
			all = append(all, affinityTerms(w, AntiAffinity, "podAntiAffinity", p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)...)
		}
	}
	items := w.SpecNode.Get("topologySpreadConstraints").Items()
	for i := range w.Spec.TopologySpreadConstraints {
		c := &w.Spec.TopologySpreadConstraints[i]
		t := &Term{
			Use: Spread, Hard: c.WhenUnsatisfiable == corev1.DoNotSchedule, Key: c.TopologyKey, Node: nth(items, i),
			MatchKeys: c.MatchLabelKeys, Constraint: c, Sel: newSelector(c.LabelSelector),
		}
		t.Sel.merge(w, c.MatchLabelKeys, metav1.LabelSelectorOpIn)
		all = append(all, t)
	}
	return all
}

// nth returns an item of a list, or nil: terms of advice that is tried are written
// nowhere.
func nth(items []*source.Node, i int) *source.Node {
	if i < len(items) {
		return items[i]
	}
	return nil
}

func affinityTerms(w *workload.Workload, use Use, field string, hard []corev1.PodAffinityTerm, soft []corev1.WeightedPodAffinityTerm) []*Term {
	node := w.SpecNode.At("affinity", field)
	var all []*Term
	items := node.Get(required).Items()
	for i := range hard {
		all = append(all, affinityTerm(w, use, &hard[i], nth(items, i), true))
	}
	items = node.Get(preferred).Items()
	for i := range soft {
		item := nth(items, i)
		at := cmp.Or(item.Get("podAffinityTerm"), item)
		all = append(all, affinityTerm(w, use, &soft[i].PodAffinityTerm, at, false))
	}
	return all
}

func affinityTerm(w *workload.Workload, use Use, p *corev1.PodAffinityTerm, at *source.Node, hard bool) *Term {
	t := &Term{
		Use: use, Hard: hard, Key: p.TopologyKey, Node: at, MatchKeys: p.MatchLabelKeys, MismatchKeys: p.MismatchLabelKeys,
		Namespaces: p.Namespaces, NamespaceSelector: p.NamespaceSelector, Sel: newSelector(p.LabelSelector), ns: newSelector(p.NamespaceSelector),
	}
	t.Sel.merge(w, p.MatchLabelKeys, metav1.LabelSelectorOpIn)
	t.Sel.merge(w, p.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
	return t
}

// HonorsAffinity reports whether a spread constraint counts only nodes that match the pod's
// node affinity, which is the default.
func (t *Term) HonorsAffinity() bool {
	p := t.Constraint.NodeAffinityPolicy
	return p == nil || *p == corev1.NodeInclusionPolicyHonor
}

// HonorsTaints reports whether a spread constraint counts only nodes whose taints the pod
// tolerates, which is not the default.
func (t *Term) HonorsTaints() bool {
	p := t.Constraint.NodeTaintsPolicy
	return p != nil && *p == corev1.NodeInclusionPolicyHonor
}

// MinDomains returns minDomains of a spread constraint, 1 by default (R-T6).
func (t *Term) MinDomains() int {
	if d := t.Constraint.MinDomains; d != nil {
		return int(*d)
	}
	return 1
}

// Peer returns whether the term of owner selects another pod of target: a pod of
// another workload, or a second pod of its own.
func (m *Model) Peer(t *Term, owner, target *workload.Workload) Answer {
	m.run.Spend(1)
	within := selectsNamespace(m, t, owner, target.Namespace())
	if within == No {
		return No
	}
	m.run.Spend(t.Sel.Cost())
	return min(t.Sel.Matches(owner, target, false), within)
}

// Self returns whether the term selects the very pod that carries it, which decides
// bootstrapping and skew (R-A12, R-T7).
func (m *Model) Self(t *Term, owner *workload.Workload) Answer {
	m.run.Spend(t.Sel.Cost())
	return min(t.Sel.Matches(owner, owner, true), selectsNamespace(m, t, owner, owner.Namespace()))
}

// Labels returns whether the label selector alone selects another pod of the
// same workload.
func (t *Term) Labels(owner *workload.Workload) Answer { return t.Sel.Matches(owner, owner, false) }

// OwnNamespace returns whether the workload's own namespace is among the term's.
func (m *Model) OwnNamespace(t *Term, owner *workload.Workload) Answer {
	answer := selectsNamespace(m, t, owner, owner.Namespace())
	if answer == No && owner.Object.NamespaceAssumed {
		return Maybe
	}
	return answer
}

// selectsNamespace returns whether a namespace is among a term's (R-A2, R-A3). A
// spread constraint counts only in its own namespace (R-T4). An undeclared
// namespace name on either side leaves the answer open, unless both are
// undeclared: then one applier chooses the same for both.
func selectsNamespace(m *Model, t *Term, owner *workload.Workload, ns string) Answer {
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		return sameNamespace(owner.Namespace(), ns)
	}
	answer := No
	for _, n := range t.Namespaces {
		answer = max(answer, sameNamespace(n, ns))
	}
	if t.ns.negative() {
		return Yes // as v1.36 does
	}
	return max(answer, selectsByLabels(m, &t.ns, ns))
}

func sameNamespace(a, b string) Answer {
	switch {
	case a == b:
		return Yes
	case a == "" || b == "" || source.Placeholder(a) || source.Placeholder(b):
		return Maybe
	}
	return No
}

// selectsByLabels returns whether a namespace selector selects a namespace. Of an undeclared
// namespace only the name label is known.
func selectsByLabels(m *Model, s *selector, ns string) Answer {
	switch s.Form {
	case FormNull:
		return No
	case FormEmpty:
		return Yes
	}
	labels, declared := m.Namespaces[ns]
	if declared && ns != "" {
		probe := &workload.Workload{Labels: labels, Kind: &workload.Kind{}}
		return s.Matches(probe, probe, true)
	}
	probe := &workload.Workload{Labels: map[string]string{}, Kind: &workload.Kind{}}
	if ns != "" {
		probe.Labels[metav1NameLabel] = ns
	}
	answer := Yes
	for i := range s.Reqs {
		if s.Reqs[i].Key == metav1NameLabel && ns != "" {
			answer = min(answer, s.Reqs[i].holds(probe, probe, true))
		} else {
			answer = min(answer, Maybe)
		}
	}
	return answer
}

const metav1NameLabel = corev1.LabelMetadataName

// Pairs returns the labels that the selector requires with a single
// value.
func (t *Term) Pairs() [][2]string {
	var pairs [][2]string
	for _, r := range t.Sel.Reqs {
		if r.Op == metav1.LabelSelectorOpIn && len(r.Values) == 1 {
			pairs = append(pairs, [2]string{r.Key, r.Values[0]})
		}
	}
	return pairs
}

// Keys returns the keys of all labels that the selector has conditions on.
func (t *Term) Keys() []string {
	var keys []string
	for _, r := range t.Sel.Reqs {
		keys = append(keys, r.Key)
	}
	return keys
}

// NamespaceText formats the namespace selector as kubectl does.
func (t *Term) NamespaceText() string { return t.ns.String() }

// FragmentTerms returns the terms of placement fields that belong to no workload. Only the
// topology key of such a term is meaningful, because an operator decides which pods the
// term applies to.
func FragmentTerms(w *workload.Workload) []*Term { return terms(w) }

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
	return Cached(m.domains, id, func() map[string]bool {
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
		return found
	})
}
