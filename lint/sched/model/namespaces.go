package model

import (
	"slices"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

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
