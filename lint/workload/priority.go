package workload

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sorting"
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

// priorityClass is a PriorityClass, or what pods get that name none.
type priorityClass struct {
	object *source.Object // nil if it is built in
	value  int64
	waits  bool // its pods never preempt others
	// known is false if a field has a placeholder, or if another object with the same name differs.
	known bool
}

func (c *priorityClass) policy() string {
	if c.waits {
		return preemptions[1]
	}
	return preemptions[0]
}

// priorityClasses returns the classes that exist, by name (plugin/pkg/admission/priority/admission.go,
// pkg/apis/scheduling/v1/helpers.go). The entry for "" is the class with globalDefault or, without one,
// priority 0. open lists the classes whose name is a placeholder.
func priorityClasses(objects []*source.Object) (all map[string]*priorityClass, open []*source.Object) {
	all = map[string]*priorityClass{
		"":                        {known: true},
		"system-cluster-critical": {value: 2_000_000_000, known: true},
		"system-node-critical":    {value: 2_000_001_000, known: true},
	}
	defaults := map[string]bool{}
	for _, o := range objects {
		if o.Kind != "PriorityClass" || o.Name == "" || strings.HasPrefix(o.Name, "system-") { // the last are built in
			continue
		}
		if source.Placeholder(o.Name) {
			open = append(open, o)
		}
		c := &priorityClass{object: o}
		policy, global := o.Root.Get("preemptionPolicy"), o.Root.Get("globalDefault")
		c.value, c.known = o.Root.Get("value").Int()
		c.waits, c.known = policy.Text() == "Never", c.known && c.value <= 1_000_000_000 && !policy.Placeholder()
		if other := all[o.Name]; other != nil && (other.value != c.value || other.waits != c.waits) {
			c.known = false
		}
		all[o.Name] = c
		if is, sure := global.Bool(); is {
			defaults[o.Name] = true
		} else if !global.IsNull() && !sure {
			all[""].known = false
		}
	}
	for name := range defaults {
		c := all[name]
		c.known = c.known && len(defaults) == 1 // the API server rejects all but the first
		all[""] = &priorityClass{c.object, c.value, c.waits, c.known && all[""].known}
	}
	return all, open
}

// prioritize sets Priority, and records what the plugin Priority rejects (R-P14). open is as for
// priorityClasses.
func (l *loader) prioritize(w *Workload, classes map[string]*priorityClass, open bool) {
	name := w.Spec.PriorityClassName
	c := classes[name]
	w.Priority = Priority{Waits: w.Spec.PreemptionPolicy == "Never", Declared: diag.Always}
	switch {
	case slices.Contains(w.Open, "priorityClassName"), source.Placeholder(name), c == nil && open:
		w.Priority.Declared = diag.Unknown
		return
	case c == nil:
		w.Priority.Declared = diag.Never
	case c.known:
		w.Priority.Value, w.Priority.Known, w.Priority.Waits = c.value, true, w.Priority.Waits || c.waits
	}
	policy := w.Spec.PreemptionPolicy
	number := c != nil && w.Spec.Priority != nil && !slices.Contains(w.Open, "priority") && int64(*w.Spec.Priority) != c.value
	word := c != nil && slices.Contains(preemptions, policy) && policy != c.policy()
	if c != nil && (!c.known || !number && !word) || w.Running || w.Kind.VM || w.Bare() && w.Object.Root.At("metadata", "uid") != nil {
		return // nothing to reject, or it has been admitted
	}
	at := checker{w: w}
	stage, spec := StagePods, (&place{base: w.Kind.Template, value: w.TemplateNode}).field("spec")
	if w.Bare() {
		stage = StageObject
	}
	if c == nil {
		if class := spec.field("priorityClassName"); l.AllPriorities {
			at.refuse(stage, class, "no PriorityClass with the name "+name+" exists", "")
		} else {
			w.misspelt(classes, class)
		}
		return
	}
	of := "PriorityClass " + name
	switch {
	case c.object != nil:
		of = "PriorityClass " + c.object.Name
	case name == "":
		of = "a pod without a PriorityClass"
	}
	sure := name != "" || l.AllPriorities
	if c.object != nil {
		sure = l.Apart == nil || !l.Apart(c.object, w.Object)
	}
	at.by = c.object
	reject := func(p *place, has string) {
		message := found(p, p.name) + ", but " + of + " has " + has
		if sure {
			at.refuse(stage, p, message, "remove "+p.name)
			return
		}
		w.Gated = append(w.Gated, Problem{Stage: StageClass, Field: p.path(), Span: at.span(p), Message: message, Fix: "remove " + p.name})
		w.Admission = cmp.Or(w.Admission, "the plugin Priority")
	}
	if number {
		reject(spec.field("priority"), strconv.FormatInt(c.value, 10))
	}
	if word {
		reject(spec.field("preemptionPolicy"), c.policy())
	}
}

// misspelt records a priorityClassName that differs in one or two letters from a PriorityClass that
// exists. If the cluster has no class with the name as it is, the API server rejects all pods (R-P14).
// Names that differ in a number only are those of two classes.
func (w *Workload) misspelt(classes map[string]*priorityClass, at *place) {
	name := w.Spec.PriorityClassName
	near := diag.Within(name, sorting.Keys(classes), min(2, len(name)/4))
	letters := func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}
	if near == "" || strings.Map(letters, near) == strings.Map(letters, name) {
		return
	}
	w.Gated = append(w.Gated, Problem{
		Stage: StageClass, Field: at.path(), Span: w.File().FieldSpan(at.key, at.value),
		Message: "no PriorityClass with the name " + name + " is declared", Fix: "write priorityClassName: " + near,
	})
}
