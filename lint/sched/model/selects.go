package model

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Asks says how a term is evaluated: Self for the very pod that carries it, and
// Incoming while that pod is not yet in place. At is the node of the target's pod, from
// which that pod has its zone and region labels.
type Asks struct {
	Self, Incoming bool
	At             *topology.Node
}

// Selects is Peer, or Self, for a decision about exactly the declared objects:
// a namespace that is not declared carries only its name label.
func (m *Model) Selects(t *Term, owner, target *workload.Workload, when Asks) bool {
	m.run.Spend(t.Sel.Cost())
	if !inNamespace(m, t, owner, target, when.Incoming) {
		return false
	}
	if !t.Sel.Local() {
		return t.Sel.Matches(owner, target, when.Self) == Yes
	}
	answer := Yes
	for i := range t.Sel.Reqs {
		r := &t.Sel.Reqs[i]
		if !BoundLabel(r.Key) || r.Own {
			answer = min(answer, r.holds(owner, target, when.Self))
			continue
		}
		value, has := target.Labels[r.Key]
		if when.At != nil {
			if v, labelled := when.At.Labels[r.Key]; labelled {
				value, has = v, true
			}
		}
		answer = min(answer, r.compare(value, has))
	}
	return answer == Yes
}

// Local reports whether the selector asks for labels that pods get from their node, so that
// it selects a pod or not depending on where the pod is.
func (s *selector) Local() bool {
	return slices.ContainsFunc(s.Reqs, func(r Requirement) bool { return BoundLabel(r.Key) && !r.Own })
}

// inNamespace reports whether the target's namespace is among the term's.
func inNamespace(m *Model, t *Term, owner, target *workload.Workload, incoming bool) bool {
	ns := workload.Space(target.Namespace())
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		return ns == workload.Space(owner.Namespace())
	}
	if slices.Contains(t.Namespaces, ns) {
		return true
	}
	if t.ns.Form == FormNull {
		return false
	}
	if incoming && t.ns.negative() {
		return true
	}
	labels, declared := m.Namespaces[ns]
	if !declared {
		labels = map[string]string{metav1NameLabel: ns}
	}
	probe := &workload.Workload{Labels: labels, Kind: &workload.Kind{}}
	return t.ns.Matches(probe, probe, true) == Yes
}

// EveryNamespace reports whether the scheduler takes the term's namespace
// selector to match every namespace, whatever it says.
func (t *Term) EveryNamespace() bool { return t.ns.negative() }

// negative reports whether a namespace selector has only NotIn and DoesNotExist
// conditions. In the terms of an incoming pod, v1.36 takes such a
// selector to match every namespace (kubernetes/kubernetes#141526): it looks
// the namespaces up and then matches again, against no labels
// (plugins/interpodaffinity/plugin.go, mergeAffinityTermNamespacesIfNotEmpty).
func (s *selector) negative() bool {
	return s.Form == FormSet && !slices.ContainsFunc(s.Reqs, func(r Requirement) bool {
		return r.Op != metav1.LabelSelectorOpNotIn && r.Op != metav1.LabelSelectorOpDoesNotExist
	})
}

// Local reports whether one of the terms has a local selector.
func Local(terms []*Term) bool {
	return slices.ContainsFunc(terms, func(t *Term) bool { return t.Sel.Local() })
}

// openNamespaces takes a workload out of decisions if a placeholder in the name or the labels
// of a namespace decides whether a rule applies: the owner of the rule, or the other workload
// if only the name of its namespace is open.
func (m *Model) openNamespaces() {
	variable := slices.ContainsFunc(m.Workloads, func(w *workload.Workload) bool { return source.Placeholder(w.Namespace()) })
	for _, labels := range m.Namespaces {
		for _, v := range labels {
			variable = variable || source.Placeholder(v)
		}
	}
	for _, w := range m.Workloads {
		for _, t := range m.Groups[w].Terms {
			if t.Hard && (variable || slices.ContainsFunc(t.Namespaces, source.Placeholder) || t.ns.open()) {
				m.openPeers(t, w)
			}
		}
	}
}

func (m *Model) openPeers(t *Term, w *workload.Workload) {
	open := source.Placeholder
	own := open(w.Namespace()) && len(t.Namespaces) == 0 || slices.ContainsFunc(t.Namespaces, source.Placeholder) || t.ns.open()
	for _, list := range m.Index.Candidates(t, w) {
		m.run.Spend(len(list) * t.Sel.Cost())
		for _, o := range list {
			labels := m.Namespaces[o.Namespace()]
			labelled := t.NamespaceSelector != nil && slices.ContainsFunc(SortedKeys(labels), func(k string) bool { return source.Placeholder(labels[k]) })
			if !own && !labelled && !open(o.Namespace()) || selectsNamespace(m, t, w, o.Namespace()) != Maybe || t.Sel.Matches(w, o, false) == No {
				continue
			}
			g := m.Groups[o]
			if own || labelled {
				g = m.Groups[w]
			}
			if !g.Unknown.Given() {
				g.Unknown = Reason{Cause: ByNamespace}
			}
		}
	}
}

// open reports whether a value of the selector is a placeholder.
func (s *selector) open() bool {
	return slices.ContainsFunc(s.Reqs, func(r Requirement) bool { return slices.ContainsFunc(r.Values, source.Placeholder) })
}
