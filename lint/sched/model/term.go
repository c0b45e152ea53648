package model

import (
	"cmp"
	"crypto/sha256"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Use says whether a term is for affinity, anti-affinity or spreading.
type Use string

// The kinds of terms. Spread marks a topology spread constraint.
const (
	AntiAffinity Use = "anti-affinity"
	Affinity     Use = "affinity"
	Spread       Use = "spread"
)

// Term is one pod affinity term, pod anti-affinity term or spread constraint.
type Term struct {
	Use Use
	// Hard is set if the term filters nodes. Other terms only score them.
	Hard bool
	Key  string
	// Weight is the weight of a soft affinity or anti-affinity term.
	Weight int32
	// Node is the YAML map with topologyKey and labelSelector, or nil.
	Node *source.Node
	// MatchKeys and MismatchKeys hold the fields matchLabelKeys and mismatchLabelKeys.
	MatchKeys, MismatchKeys []string
	// Constraint is set for spread constraints only.
	Constraint *corev1.TopologySpreadConstraint
	// Namespaces and NamespaceSelector are set for affinity and anti-affinity terms only.
	Namespaces        []string
	NamespaceSelector *metav1.LabelSelector

	Sel selector
	ns  selector
	// Claim is set instead of a selector of labels if the term is not declared but follows from a
	// claim that one pod can use at a time: it keeps other pods that use the claim out of the whole
	// cluster (R-N36).
	Claim string

	// Origin is set if Split made the term's pod a separate workload. It is the term of the
	// declared workload.
	Origin *Term
}

// Declared reports whether the manifest contains the term.
func (t *Term) Declared() bool { return t.Claim == "" }

// Form returns the form of the label selector, including merged keys.
func (t *Term) Form() Form { return t.Sel.Form }

// Selector formats the label selector in kubectl notation.
func (t *Term) Selector() string { return t.Sel.String() }

// Asks reports whether the label selector, including merged keys, has a condition on the label.
func (t *Term) Asks(key string) bool {
	return slices.ContainsFunc(t.Sel.Reqs, func(r Requirement) bool { return r.Key == key })
}

// SortedKeys returns the keys of a map in sorted order.
func SortedKeys[V any](m map[string]V) []string { return sorting.Keys(m) }

const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

// terms returns a workload's terms in the order affinity, anti-affinity, spread.
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
	for _, claim := range w.OncePod {
		i := slices.IndexFunc(w.Claims, func(c *workload.Claim) bool { return c.Name == claim })
		all = append(all, &Term{
			Use: AntiAffinity, Hard: true, Key: topology.Cluster, Claim: claim, Node: w.Claims[i].Node,
			Sel: selector{Form: FormSet, Reqs: []Requirement{{Op: metav1.LabelSelectorOpExists, Claim: claim}}},
		})
	}
	return all
}

// nth returns the i-th item in a list, or nil if there is none. A term that proposed advice adds
// has no item.
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
		t := affinityTerm(w, use, &soft[i].PodAffinityTerm, at, false)
		t.Weight = soft[i].Weight
		all = append(all, t)
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

// HonorsAffinity reports whether a spread constraint counts only nodes that match the pod's node
// affinity. This is the default.
func (t *Term) HonorsAffinity() bool {
	p := t.Constraint.NodeAffinityPolicy
	return p == nil || *p == corev1.NodeInclusionPolicyHonor
}

// HonorsTaints reports whether a spread constraint counts only nodes whose taints the pod
// tolerates. This is not the default.
func (t *Term) HonorsTaints() bool {
	p := t.Constraint.NodeTaintsPolicy
	return p != nil && *p == corev1.NodeInclusionPolicyHonor
}

// MinDomains returns the minDomains of a spread constraint, which is 1 by default (R-T6).
func (t *Term) MinDomains() int {
	if d := t.Constraint.MinDomains; d != nil {
		return int(*d)
	}
	return 1
}

// Peer returns whether a term of an owner's pod selects a pod of the target. If the owner and the
// target are the same workload, these are two different pods.
func (m *Model) Peer(t *Term, owner, target *workload.Workload) Answer {
	m.run.Spend(1)
	within := selectsNamespace(m, t, owner, target.Namespace())
	if within == No {
		return No
	}
	m.run.Spend(t.Sel.Cost())
	return min(t.Sel.Matches(owner, target, false), within)
}

// Self returns whether the term selects the pod that has the term. The answer determines whether
// the first pod can be placed, and how the pod changes the skew (R-A12, R-T7).
func (m *Model) Self(t *Term, owner *workload.Workload) Answer {
	m.run.Spend(t.Sel.Cost())
	return min(t.Sel.Matches(owner, owner, true), selectsNamespace(m, t, owner, owner.Namespace()))
}

// Labels returns whether the label selector, ignoring namespaces, selects another pod from the
// same workload.
func (t *Term) Labels(owner *workload.Workload) Answer { return t.Sel.Matches(owner, owner, false) }

// OwnKey returns the key in matchLabelKeys of an affinity that selects no pods because of it, or "". Only
// pods of the owner have their value of the label, and the rest of the selector excludes them (R-A18).
func (t *Term) OwnKey(owner *workload.Workload) string {
	i := slices.IndexFunc(t.Sel.Reqs, func(r Requirement) bool { return r.Own && r.Op == metav1.LabelSelectorOpIn })
	if t.Use != Affinity || i < 0 || t.Labels(owner) != No {
		return ""
	}
	return t.Sel.Reqs[i].Key
}

// OwnNamespace returns whether the term applies to the workload's own namespace.
func (m *Model) OwnNamespace(t *Term, owner *workload.Workload) Answer {
	answer := selectsNamespace(m, t, owner, owner.Namespace())
	if answer == No && owner.Object.NamespaceAssumed {
		return Maybe
	}
	return answer
}

// selectsNamespace returns whether a term applies to a namespace (R-A2, R-A3). A spread constraint
// applies only to its own namespace (R-T4). If neither the owner nor the target declares a
// namespace, the answer is Yes, because the tool that applies the manifests uses one namespace for
// both. If only one of the two namespaces is unknown, the answer is Maybe.
func selectsNamespace(m *Model, t *Term, owner *workload.Workload, ns string) Answer {
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		return sameNamespace(owner.Namespace(), ns)
	}
	answer := No
	for _, n := range t.Namespaces {
		answer = max(answer, sameNamespace(n, ns))
	}
	if t.ns.negative() {
		return Yes // v1.36 does the same
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

// selectsByLabels returns whether a namespace selector selects a namespace. If the namespace is
// not declared, only its name label is known.
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

// Pairs returns the key and value for each label that the selector requires to have a single
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
	return lists.Of(t.Sel.Reqs, func(r Requirement) string { return r.Key })
}

// NamespaceText formats the namespace selector in kubectl notation.
func (t *Term) NamespaceText() string { return t.ns.String() }

// FragmentTerms returns the terms in placement fields that belong to no workload. Only a term's
// topology key is meaningful. An operator decides which pods the term applies to.
func FragmentTerms(w *workload.Workload) []*Term { return terms(w) }

// HardAffinity returns the group's required affinity terms.
func (g *Group) HardAffinity() []*Term { return slices.Collect(g.Hard(Affinity)) }

// Hard yields the hard terms with the given use.
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
	// Eligible has an entry for each value of the key that counts as a domain (R-T3). The entry is
	// true if a declared node has the value, and false if only a growing pool may add it. A domain
	// that may be added can raise the number of domains but never lowers the minimum.
	Eligible map[string]bool
	// Foreign is the number of pods from other workloads that match the selector. They can fill
	// the domains with the fewest pods.
	Foreign int
	// Counts is false if the constraint never rejects a pod for skew. This is the case if its
	// selector is null or empty (R-T5) or does not select the pod itself.
	Counts bool
}

// HardKeys returns the topology keys of all hard spread constraints. Nodes that lack one of the
// keys do not count for the constraints and do not pass them (R-T2, R-T7). Pods that are bound to a node
// by name pass all constraints (R-P8).
func HardKeys(g *Group) []string { return g.spreadKeys }

// ShortID returns a string that identifies the text and takes little memory. A long text is hashed.
func ShortID(text string) string {
	if len(text) <= maxID {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return string(sum[:])
}

// maxID is the maximum length of a string that ShortID does not hash.
const maxID = 200

// SpreadKeys returns the keys in all hard spread constraints, in sorted order and without
// duplicates.
func (g *Group) SpreadKeys() []string { return g.sortedKeys }

// Carries reports whether a set of labels has all the given keys.
func Carries(labels map[string]string, keys []string) bool {
	for _, k := range keys {
		if _, ok := labels[k]; !ok {
			return false
		}
	}
	return true
}

// SpreadRule applies a constraint to a view. Its eligible domains follow
// plugins/podtopologyspread/common.go, matchNodeInclusionPolicies.
func (m *Model) SpreadRule(v *View, g *Group, t *Term) SpreadRule {
	r := SpreadRule{Term: t, Eligible: eligibleDomains(m, v, g, t)}
	// Each DaemonSet pod is pinned to its node, so skew never rejects it (R-N31).
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

// DomainKey identifies constraints that have the same eligible domains.
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
	return lazy.Cached(m.domains, id, func() map[string]bool {
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
