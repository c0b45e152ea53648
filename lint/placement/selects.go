package placement

import "github.com/schedlint/schedlint/lint/workload"

// defaultNamespace is where objects go that name no namespace, as long as the
// decision is about nothing but what is declared.
const defaultNamespace = "default"

// selects is Peer, or Self, for a decision about exactly the declared objects:
// a namespace that is not declared carries its name label only, and a value
// that a controller adds is like no value that a manifest names.
func (m *Model) selects(t *Term, owner, target *workload.Workload, self bool) bool {
	return t.sel.matches(owner, target, self) == Yes && m.inNamespace(t, owner, target)
}

func namespaceOf(w *workload.Workload) string {
	if ns := w.Namespace(); ns != "" {
		return ns
	}
	return defaultNamespace
}

// inNamespace tells whether the target's namespace is among the term's.
func (m *Model) inNamespace(t *Term, owner, target *workload.Workload) bool {
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
	labels, declared := m.Namespaces[ns]
	if !declared {
		labels = map[string]string{metav1NameLabel: ns}
	}
	probe := &workload.Workload{Labels: labels, Kind: &workload.Kind{}}
	return t.ns.matches(probe, probe, true) == Yes
}
