package workload

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Budget is a PodDisruptionBudget.
type Budget struct {
	Object *source.Object
	// Selector is the decoded selector and is never nil. An empty selector selects every pod in the
	// namespace. In policy/v1beta1 it selects no pods, so SelectsNone is set.
	Selector    *metav1.LabelSelector
	SelectsNone bool
	// MinAvailable and MaxUnavailable are nil if they are not set.
	MinAvailable, MaxUnavailable *intstr.IntOrString
	// Repeated is set if another declaration of the same object differs.
	Repeated bool
	// Unknown is the reason why the effect of the budget is unknown, or empty.
	Unknown string
	// SelectorUnknown is set if the reason in Unknown concerns the selector.
	SelectorUnknown bool

	selector labels.Selector
}

type budgetSpec struct {
	Selector                   *metav1.LabelSelector `json:"selector"`
	MinAvailable               *intstr.IntOrString   `json:"minAvailable"`
	MaxUnavailable             *intstr.IntOrString   `json:"maxUnavailable"`
	UnhealthyPodEvictionPolicy string                `json:"unhealthyPodEvictionPolicy"`
}

// budget reads a PodDisruptionBudget. A budget without a selector is treated as a patch, because it
// would not select any pods on its own. A later declaration of the same budget replaces an earlier
// one. Otherwise, they would be reported as overlapping budgets.
func (l *loader) budget(o *source.Object) {
	if o.Root.At("spec", "selector").IsNull() {
		l.patch(o)
		return
	}
	l.set.Others++
	l.validateOther(o)
	if o.Root.At("metadata", "ownerReferences").Len() > 0 { // an operator created the budget for its own pods
		l.recordOperated(o)
	}
	b := l.newBudget(o)
	id := [2]string{o.Namespace, o.Name}
	if i, known := l.budgets[id]; known && !o.Root.At("metadata", "name").IsNull() {
		old := l.set.Budgets[i]
		b.Repeated = old.Repeated || !source.Equal(old.Object.Root, o.Root)
		l.set.Budgets[i] = nil // removed in one pass at the end, because there may be many repeated declarations
	}
	l.budgets[id] = len(l.set.Budgets)
	l.set.Budgets = append(l.set.Budgets, b)
}

func (l *loader) newBudget(o *source.Object) *Budget {
	var spec budgetSpec
	found := l.decoder.Decode(o.Root.Get("spec"), &spec)
	b := &Budget{
		Object: o, Selector: spec.Selector, MinAvailable: spec.MinAvailable, MaxUnavailable: spec.MaxUnavailable,
	}
	if b.Selector == nil { // it is absent or has the wrong type
		b.Selector = &metav1.LabelSelector{}
	}
	b.SelectsNone = len(b.Selector.MatchLabels)+len(b.Selector.MatchExpressions) == 0 && o.APIVersion == "policy/v1beta1"
	var err error
	if b.selector, err = metav1.LabelSelectorAsSelector(b.Selector); err != nil {
		b.Unknown, b.selector, b.SelectorUnknown = "the API server refuses its selector", labels.Nothing(), true
	}
	if open := variable(b.Object.Root.At("spec", "selector")); open != "" {
		b.Unknown, b.SelectorUnknown = "selector holds the placeholder "+open, true
	}
	for _, m := range found {
		b.SelectorUnknown = b.SelectorUnknown || !m.Unknown && strings.HasPrefix(m.Path, "selector")
		switch {
		case m.Unknown:
		case m.Placeholder:
			b.Unknown = m.Path + " is the placeholder " + m.Value.Value
		default:
			b.Unknown = m.Path + " is no " + m.Want
		}
	}
	b.amount("minAvailable", b.MinAvailable)
	b.amount("maxUnavailable", b.MaxUnavailable)
	if b.MinAvailable != nil && b.MaxUnavailable != nil {
		b.Unknown = "minAvailable and maxUnavailable are both set, which the API server refuses"
	}
	return b
}

// amount checks that the API server accepts a value. The value must be a non-negative integer or a
// percentage of at most 100% (pkg/apis/policy/validation/validation.go).
func (b *Budget) amount(name string, v *intstr.IntOrString) {
	switch {
	case v == nil:
	case v.Type == intstr.Int && v.IntVal < 0,
		v.Type == intstr.String && len(validation.IsValidPercent(v.StrVal)) > 0,
		v.Type == intstr.String && scaled(v, 100, true) > 100:
		b.Unknown = name + " is " + v.String() + ", which the API server refuses"
	}
}

// variable returns the first placeholder in a tree, or "" if there is none.
func variable(n *source.Node) string {
	if n.Placeholder() {
		return n.Value
	}
	for k, v := range n.Fields() {
		if k.Placeholder() {
			return k.Value
		}
		if found := variable(v); found != "" {
			return found
		}
	}
	for _, item := range n.Items() {
		if found := variable(item); found != "" {
			return found
		}
	}
	return ""
}

// Matches reports whether the budget selects a pod with the given labels in its namespace.
func (b *Budget) Matches(podLabels map[string]string) bool {
	return !b.SelectsNone && b.selector.Matches(labels.Set(podLabels))
}

// Allowed returns how many pods can be evicted at once if all of the expected pods are healthy
// (R-W19). It also returns the field that sets this limit. The results are meaningless if Unknown
// is set. Allowed mirrors getExpectedPodCount and updatePdbStatus in
// pkg/controller/disruption/disruption.go and rounds all percentages up. If neither field is set,
// the budget allows no evictions and the returned Amount is zero.
func (b *Budget) Allowed(expected int) (allowed int, by Amount) {
	switch {
	case b.MaxUnavailable != nil:
		by = Amount{"maxUnavailable", *b.MaxUnavailable, expected, true, true}
		allowed = min(by.Pods(), expected)
	case b.MinAvailable != nil:
		by = Amount{"minAvailable", *b.MinAvailable, expected, true, true}
		allowed = expected - by.Pods()
	}
	return max(0, allowed), by
}

// String returns the budget's kind, namespace and name for use in messages.
func (b *Budget) String() string {
	return "PodDisruptionBudget " + strings.TrimPrefix(b.Object.Namespace+"/"+b.Object.Name, "/")
}

// SelectorText returns the selector in kubectl notation.
func (b *Budget) SelectorText() string { return metav1.FormatLabelSelector(b.Selector) }

// Span returns the location of minAvailable or maxUnavailable. If neither is set, it returns the
// location of the budget's name.
func (b *Budget) Span() diag.Span {
	spec := b.Object.Root.Get("spec")
	for _, name := range []string{"maxUnavailable", "minAvailable"} {
		if k, v := spec.Field(name); !v.IsNull() {
			return b.Object.File.FieldSpan(k, v)
		}
	}
	return b.Object.NameSpan()
}

// SelectorSpan returns the location of the selector or, if it consists of a single label, the
// location of that label.
func (b *Budget) SelectorSpan() diag.Span {
	key, selector := b.Object.Root.Get("spec").Field("selector")
	if match := selector.Get("matchLabels"); match.Len() == 1 && selector.Len() == 1 {
		for k, v := range match.Fields() {
			return b.Object.File.FieldSpan(k, v)
		}
	}
	return b.Object.File.FieldSpan(key, selector)
}
