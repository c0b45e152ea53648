package placement

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/workload"
)

// defaultNamespace is where objects go that name no namespace, as long as the
// decision is about nothing but what is declared.
const defaultNamespace = "default"

// asks says in which situation a term is evaluated: about the very pod that
// carries it (self), and while that pod is coming in and not yet in place.
type asks struct{ self, incoming bool }

// selects is Peer, or Self, for a decision about exactly the declared objects:
// a namespace that is not declared carries its name label only.
func (m *Model) selects(t *Term, owner, target *workload.Workload, when asks) bool {
	return t.sel.matches(owner, target, when.self) == Yes && m.inNamespace(t, owner, target, when.incoming)
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
