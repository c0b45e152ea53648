package workload

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"

	"github.com/schedlint/schedlint/lint/source"
)

// selector checks a label selector (R-V12, R-V30). typed is the decoded selector. The apimachinery
// library decides whether the selector is valid. If it is invalid, the method looks for the
// location of the problem.
func (c *checker) selector(p *place, typed *metav1.LabelSelector) {
	if typed != nil && len(metav1validation.ValidateLabelSelector(typed, metav1validation.LabelSelectorValidationOptions{}, nil)) > 0 {
		c.selectorPlaces(p)
	}
}

func (c *checker) selectorPlaces(p *place) {
	expressions := p.field("matchExpressions")
	c.labels(StageObject, p.field("matchLabels"), "label")
	for i, n := range expressions.value.Items() {
		c.requirement(expressions.item(i, n), &labelOperators, true, StageObject)
	}
}

// labelKeys checks matchLabelKeys and, for an affinity term, mismatchLabelKeys (R-V21 to R-V23,
// R-V35). typed is the labelSelector of the same term.
func (c *checker) labelKeys(term, mismatch *place, typed *metav1.LabelSelector) {
	match := term.field("matchLabelKeys")
	if match.len() == 0 && mismatch.len() == 0 {
		return
	}
	if selector := term.field("labelSelector"); selector.absent() { // R-V21
		if c.partial && selector.mayBeAdded() {
			return
		}
		at := match
		if match.len() == 0 {
			at = mismatch
		}
		c.refuse(c.unchecked, at, at.name+" is set without labelSelector", "add a labelSelector, or remove "+at.name)
		return
	}
	other, first, named := map[string]bool{}, map[string]bool{}, map[string]int{}
	for i, n := range mismatch.value.Items() {
		c.form(c.unchecked, mismatch.item(i, n), "key", labelKey)
		other[n.Text()] = true
	}
	if typed != nil {
		for key := range typed.MatchLabels {
			named[key]++
		}
		for i := range typed.MatchExpressions {
			named[typed.MatchExpressions[i].Key]++
		}
	}
	for i, n := range match.value.Items() {
		key := match.item(i, n)
		s, ok := key.text()
		repeated := first[n.Text()]
		first[n.Text()] = true
		switch {
		case !ok || !c.form(c.unchecked, key, "key", labelKey):
		case other[s]: // R-V23
			c.refuse(c.unchecked, key, fmt.Sprintf("key %q is in both matchLabelKeys and mismatchLabelKeys", s), "remove it from one of them")
		case mismatch.up == nil && c.w.Kubernetes.Before(34): // R-V22: a spread constraint, without a merged selector
			if named[s] > 0 {
				c.refuse(c.unchecked, key, fmt.Sprintf("key %q is in both matchLabelKeys and labelSelector", s), "remove it from one of them")
			}
		case typed == nil:
		// When a pod with the label is created, the API server appends an expression with the
		// label's value to the selector (R-V22). It rejects the pod if the selector already has an
		// expression for the key. For a template, the API server appends nothing. It therefore
		// rejects a template only if the selector itself contains the key twice.
		case named[s] == 0 && repeated && c.carries(s):
			c.refuse(c.created, key, fmt.Sprintf("duplicate key %q in matchLabelKeys: it would appear twice in the merged selector", s), "remove one of them")
		case named[s] == 0 || repeated:
		case named[s] > 1:
			c.refuse(c.unchecked, key, fmt.Sprintf("key %q is in matchLabelKeys and appears %d times in labelSelector", s, named[s]), "remove it from matchLabelKeys")
		case c.carries(s):
			c.refuse(c.created, key, fmt.Sprintf("key %q is in both matchLabelKeys and labelSelector: it would appear twice in the merged selector", s), "remove it from one of them")
		}
	}
}

// carries reports whether the API server finds a label with the key on the pods when it creates
// them. It returns false for a pod that was exported from a cluster, because the selector already
// contains the expression.
func (c *checker) carries(key string) bool {
	if c.created == StageObject && c.w.Object.Root.At("metadata", "uid") != nil {
		return false
	}
	if _, ok := c.w.Labels[key]; ok || slices.Contains(c.w.Kind.NameLabels, key) {
		return true
	}
	added, _ := c.w.Added(key)
	return added
}

// selects checks the object's own selector against its pod labels (R-V37).
func (c *checker) selects(spec *place, labels *source.Node) {
	p := spec.field("selector")
	if p.absent() {
		if c.w.Object.Kind == "ReplicationController" && labels.Len() == 0 && whollyWritten(c.w.SpecNode) {
			c.refuse(StageObject, p, "selector is missing: cannot default to the template's labels, because there are none", "add labels to the template")
		}
		if c.w.Kind.Selects && c.w.Object.APIVersion == "apps/v1" {
			c.refuse(StageObject, p, "selector is missing: must match the template's labels", suggestLabels("add a selector with matchLabels", labels))
		}
		return
	}
	if c.w.Object.Kind == "ReplicationController" { // its selector is a plain map
		if c.isTextMap(p) {
			c.matches(p, labels)
		}
		return
	}
	match, expressions := p.field("matchLabels"), p.field("matchExpressions")
	if !c.is(p, source.Map) || !c.isTextMap(match) {
		return
	}
	typed, ok := c.requirements(expressions)
	before := len(c.w.Problems)
	c.selectorPlaces(p)
	switch {
	case !ok || len(c.w.Problems) > before:
	case c.w.Kind.Selects && match.value.Len()+len(typed) == 0:
		c.refuse(StageObject, p, "selector has neither matchLabels nor matchExpressions: must match the template's labels", repairEmptySelector(p.value, labels))
	case c.matches(match, labels):
		for i, n := range expressions.value.Items() {
			selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: typed[i : i+1]})
			if err != nil || selector.Matches(labelSet{labels}) || unknownLabel(labels, typed[i].Key) {
				continue
			}
			c.refuse(StageObject, expressions.item(i, n), "selector "+selector.String()+" does not match the template's labels", "")
			return
		}
	}
}

// requirements reads matchExpressions from the YAML tree. ok is false if any part of them is
// unknown.
func (c *checker) requirements(p *place) (all []metav1.LabelSelectorRequirement, ok bool) {
	ok = c.is(p, source.Sequence)
	for i, n := range p.value.Items() {
		e := p.item(i, n)
		key, operator, values := e.field("key"), e.field("operator"), e.field("values")
		ok = c.is(e, source.Map) && c.is(values, source.Sequence) && c.isText(key) && c.isText(operator) && ok
		r := metav1.LabelSelectorRequirement{Key: key.value.Text(), Operator: metav1.LabelSelectorOperator(operator.value.Text())}
		for i, v := range values.value.Items() {
			ok = c.isText(values.item(i, v)) && ok
			r.Values = append(r.Values, v.Text())
		}
		all = append(all, r)
	}
	return all, ok
}

// repairEmptySelector returns the fix for a selector without requirements. The author may have put
// the labels directly below selector by mistake.
func repairEmptySelector(selector, labels *source.Node) string {
	for k := range selector.Fields() {
		if k.Value != "matchLabels" && k.Value != "matchExpressions" {
			return "move " + k.Value + " under matchLabels"
		}
	}
	return suggestLabels("add matchLabels", labels)
}

// suggestLabels returns a fix that mentions the first of the labels as an example, or "" if there
// are no labels.
func suggestLabels(repair string, labels *source.Node) string {
	for k, v := range labels.Fields() {
		return fmt.Sprintf("%s, such as %s: %s", repair, k.Value, v.Text())
	}
	return ""
}

// matches checks that matchLabels agrees with the template labels.
func (c *checker) matches(p *place, labels *source.Node) bool {
	for k, v := range p.value.Fields() {
		value := labels.Get(k.Value)
		if value != nil && value.Text() == v.Text() || unknownLabel(labels, k.Value) {
			continue
		}
		has := "has no label " + k.Value
		if value != nil {
			has = "has " + k.Value + "=" + value.Text()
		}
		c.refuse(StageObject, p.entry(k, v), fmt.Sprintf("selector requires %s=%s, but the template %s", k.Value, v.Text(), has), "use the same value in both")
		return false
	}
	return true
}

// unknownLabel reports whether a label's value is unknown. This is the case if the value or any
// label key is a placeholder. It is also the case if the value or the map has the wrong type.
func unknownLabel(labels *source.Node, key string) bool {
	if !labels.IsNull() && labels.Kind != source.Map {
		return true
	}
	for k, v := range labels.Fields() {
		if k.Placeholder() || k.Value == key && (v.Placeholder() || v.Kind != source.Scalar || v.Type != source.String && v.Type != source.Null) {
			return true
		}
	}
	return false
}

// labelSet implements labels.Labels, the interface that selectors match, for labels in a YAML file.
type labelSet struct{ node *source.Node }

func (s labelSet) Has(key string) bool { return s.node.Get(key) != nil }

func (s labelSet) Get(key string) string { return s.node.Get(key).Text() }

func (s labelSet) Lookup(key string) (string, bool) { return s.Get(key), s.Has(key) }
