package placement

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// defaultNamespace is where objects go that name no namespace, as long as the
// decision is about nothing but what is declared.
const defaultNamespace = "default"

// asks says in which situation a term is evaluated: about the very pod that
// carries it (self), and while that pod is coming in and not yet in place. A
// pod of the target is then at a node, whose zone and region it has as labels.
type asks struct {
	self, incoming bool
	at             *topology.Node
}

// selects is Peer, or Self, for a decision about exactly the declared objects:
// a namespace that is not declared carries its name label only.
func (m *Model) selects(t *Term, owner, target *workload.Workload, when asks) bool {
	m.run.Spend(t.sel.cost())
	if !m.inNamespace(t, owner, target, when.incoming) {
		return false
	}
	if !t.sel.local() {
		return t.sel.matches(owner, target, when.self) == Yes
	}
	answer := Yes
	for i := range t.sel.reqs {
		r := &t.sel.reqs[i]
		if !boundLabel(r.key) || r.own {
			answer = min(answer, r.holds(owner, target, when.self))
			continue
		}
		value, has := target.Labels[r.key]
		if when.at != nil {
			if v, labelled := when.at.Labels[r.key]; labelled {
				value, has = v, true
			}
		}
		answer = min(answer, r.compare(value, has))
	}
	return answer == Yes
}

// local reports whether the selector asks for labels that pods get from their
// node, so that it depends on where a pod is whether it is selected.
func (s *selector) local() bool {
	return slices.ContainsFunc(s.reqs, func(r requirement) bool { return boundLabel(r.key) && !r.own })
}

func namespaceOf(w *workload.Workload) string {
	if ns := w.Namespace(); ns != "" {
		return ns
	}
	return defaultNamespace
}

// inNamespace tells whether the target's namespace is among the term's.
func (m *Model) inNamespace(t *Term, owner, target *workload.Workload, incoming bool) bool {
	ns := namespaceOf(target)
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		return ns == namespaceOf(owner)
	}
	for _, n := range t.Namespaces {
		if n == ns {
			return true
		}
	}
	if t.ns.form == FormNull {
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
	return t.ns.matches(probe, probe, true) == Yes
}

// EveryNamespace reports whether the scheduler takes the term's namespace
// selector to match every namespace, whatever it says.
func (t *Term) EveryNamespace() bool { return t.ns.negative() }

// negative reports whether a namespace selector has nothing but NotIn and
// DoesNotExist. In the terms of a pod that is coming in, v1.36 takes such a
// selector to match every namespace (kubernetes/kubernetes#141526): it looks
// the namespaces up and then matches again, against no labels at all
// (plugins/interpodaffinity/plugin.go, mergeAffinityTermNamespacesIfNotEmpty).
func (s *selector) negative() bool {
	for _, r := range s.reqs {
		if r.op != metav1.LabelSelectorOpNotIn && r.op != metav1.LabelSelectorOpDoesNotExist {
			return false
		}
	}
	return s.form == FormSet
}

// local reports whether one of the terms does.
func local(terms []*Term) bool {
	return slices.ContainsFunc(terms, func(t *Term) bool { return t.sel.local() })
}
