package workload

import (
	"maps"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Priority is the priority of a workload's pods.
type Priority struct {
	Value int64
	// Known is false if the PriorityClass is not declared or its value is a placeholder.
	Known bool
	// Waits is set if the pods never preempt other pods.
	Waits bool
	// Declared says whether the PriorityClass exists. It is unknown if the name of the class, or
	// that of a declared one, is a placeholder.
	Declared diag.Outcome
}

// AtLeast reports whether pods with priority p certainly have at least the other priority.
func (p Priority) AtLeast(o Priority) bool {
	return p.Known && o.Known && p.Value >= o.Value
}

// MayPreempt reports whether pods of w may preempt pods of o (R-Q6).
func (w *Workload) MayPreempt(o *Workload) bool {
	return !w.Priority.Waits && w.Spec.PriorityClassName != o.Spec.PriorityClassName && !o.Priority.AtLeast(w.Priority)
}

// misspelt records a priorityClassName that differs in one or two letters from a PriorityClass that
// exists. If the cluster has no class with the name as it is, the API server rejects all pods (R-P14).
// Names that differ in a number only are those of two classes.
func (w *Workload) misspelt(declared map[string]*source.Object) {
	name := w.Spec.PriorityClassName
	near := diag.Within(name, append(slices.Sorted(maps.Keys(declared)), "system-cluster-critical", "system-node-critical"), min(2, len(name)/4))
	letters := func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}
	if near == "" || strings.Map(letters, near) == strings.Map(letters, name) {
		return
	}
	k, v := w.SpecNode.Field("priorityClassName")
	w.Gated = append(w.Gated, Problem{
		Stage: StageClass, Field: w.Kind.path("spec.priorityClassName"), Span: w.File().FieldSpan(k, v),
		Message: "no PriorityClass with the name " + name + " is declared", Fix: "write priorityClassName: " + near,
	})
}

// priorityOf returns the priority of a workload's pods, given the declared classes by name. The
// entry for "" is the global default. Without one, pods without a class have priority 0. The
// classes named system-* exist in every cluster (pkg/apis/scheduling/v1/helpers.go).
func priorityOf(w *Workload, declared map[string]*source.Object) Priority {
	name := w.Spec.PriorityClassName
	p := Priority{Waits: w.Spec.PreemptionPolicy == "Never", Declared: diag.Always}
	switch o := declared[name]; {
	case name == "system-cluster-critical":
		p.Value, p.Known = 2_000_000_000, true
	case name == "system-node-critical":
		p.Value, p.Known = 2_000_001_000, true
	case o != nil:
		p.Value, p.Known = o.Root.Get("value").Int()
		p.Waits = p.Waits || o.Root.Get("preemptionPolicy").Text() == "Never"
	case name == "" && !slices.Contains(w.Open, "priorityClassName"):
		p.Known = true
	case name == "" || source.Placeholder(name):
		p.Known, p.Declared = name == "", diag.Unknown
	default:
		p.Declared = diag.Never
	}
	return p
}
