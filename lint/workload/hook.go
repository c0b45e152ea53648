package workload

import "github.com/schedlint/schedlint/lint/source"

// Uncertain reports whether nobody knows if an object of a judged kind is there, as it is a
// hook: a test is not created until somebody asks for it, and what else stays is left,
// replaced or deleted as its tool has it. A hook whose pods end is there for a time, as
// any finite workload is.
func (t Table) Uncertain(o *source.Object) bool {
	kind := t.Find(o.APIVersion, o.Kind)
	switch {
	case kind == nil:
		return false
	case o.Hook == source.HookStep:
		return !kind.Batch() && kind.Kind != "Pod"
	}
	return o.Hook == source.HookNever
}

// validated takes in a workload that may be there or not. What the API server says of it
// is known all the same.
func (l *loader) validated(w *Workload) {
	w.Validated = true
	l.set.Validated = append(l.set.Validated, w)
	there := *w
	there.Elsewhere, there.Count.Known = true, false
	l.set.Elsewhere = append(l.set.Elsewhere, &there)
}
