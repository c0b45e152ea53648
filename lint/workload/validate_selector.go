package workload

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"

	"github.com/schedlint/schedlint/lint/source"
)

// selector checks a label selector (R-V12, R-V30); typed is its decoded value. apimachinery
// decides, and the walk that follows finds the location: it skips fields that cannot be judged.
func (c *checker) selector(p *place, typed *metav1.LabelSelector) {
	if typed != nil && len(metav1validation.ValidateLabelSelector(typed, metav1validation.LabelSelectorValidationOptions{}, nil)) > 0 {
		c.selectorPlaces(p)
	}
}

func (c *checker) selectorPlaces(p *place) {
	labels, expressions := p.field("matchLabels"), p.field("matchExpressions")
	c.labels(StageObject, &labels, "label")
	for i := range expressions.len() {
		e := expressions.item(i)
		c.requirement(&e, &labelOperators, true, StageObject)
	}
}

// labelKeys checks matchLabelKeys and, for an affinity term, mismatchLabelKeys; typed is the
// labelSelector beside them (R-V21 to R-V23, R-V35).
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
			at = *mismatch
		}
		c.refuse(c.unchecked, &at, at.name+" is set without labelSelector", "add a labelSelector, or remove "+at.name)
		return
	}
	for i := range mismatch.len() {
		key := mismatch.item(i)
		c.form(c.unchecked, &key, "key", labelKey)
	}
	other := firsts(mismatch)
	merge := merging{first: firsts(&match), named: names(typed)}
	for i := range match.len() {
		key := match.item(i)
		s, ok := key.text()
		_, both := other[s]
		switch {
		case !ok || !c.form(c.unchecked, &key, "key", labelKey):
		case both: // R-V23
			c.refuse(c.unchecked, &key, fmt.Sprintf("key %q is in both matchLabelKeys and mismatchLabelKeys", s), "remove it from one of them")
		case typed != nil:
			c.checkMergeConflict(&key, s, &merge)
		}
	}
}

// firsts returns the index of the first occurrence of each text in a list.
func firsts(list *place) map[string]int {
	all := map[string]int{}
	for i, n := range list.value.Items() {
		if _, known := all[n.Text()]; !known {
			all[n.Text()] = i
		}
	}
	return all
}

// names counts how often a selector names each key.
func names(selector *metav1.LabelSelector) map[string]int {
	all := map[string]int{}
	if selector == nil {
		return all
	}
	for key := range selector.MatchLabels {
		all[key]++
	}
	for i := range selector.MatchExpressions {
		all[selector.MatchExpressions[i].Key]++
	}
	return all
}

// merging has the data that the keys of matchLabelKeys are checked against: their first
// occurrences, and the keys of the selector.
type merging struct{ first, named map[string]int }

// checkMergeConflict checks a key of matchLabelKeys against the selector (R-V22). When a pod that has the label
// is created, its value is appended to the selector as an expression; an expression on a key that
// already occurs is refused. A template is not merged, so there only a selector that itself names
// the key twice is refused.
func (c *checker) checkMergeConflict(at *place, key string, with *merging) {
	n, repeated := with.named[key], with.first[key] < at.index
	switch {
	case n == 0 && repeated && c.carries(key):
		c.refuse(c.created, at, fmt.Sprintf("duplicate key %q in matchLabelKeys: it would appear twice in the merged selector", key), "remove one of them")
	case n == 0 || repeated:
	case n > 1:
		c.refuse(c.unchecked, at, fmt.Sprintf("key %q is in matchLabelKeys and appears %d times in labelSelector", key, n), "remove it from matchLabelKeys")
	case c.carries(key):
		c.refuse(c.created, at, fmt.Sprintf("key %q is in both matchLabelKeys and labelSelector: it would appear twice in the merged selector", key), "remove it from one of them")
	}
}

// carries reports whether the pods are created with a label with the key. A pod read back from a
// cluster already has the merged selector, and nothing is merged into it again.
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

// selects checks the selector of the object itself against the labels of the pods that it creates
// (R-V37).
func (c objectChecker) selects(spec *place, labels *source.Node) {
	p := spec.field("selector")
	if p.absent() {
		if c.w.Object.Kind == "ReplicationController" && labels.Len() == 0 && whollyWritten(c.w.SpecNode) {
			c.refuse(StageObject, &p, "selector is missing: cannot default to the template's labels, because there are none", "add labels to the template")
		}
		if c.w.Kind.Selects && c.w.Object.APIVersion == "apps/v1" {
			c.refuse(StageObject, &p, "selector is missing: must match the template's labels", repairMissingSelector(labels))
		}
		return
	}
	if c.w.Object.Kind == "ReplicationController" { // a plain map
		if c.isTextMap(&p) {
			c.matches(&p, labels)
		}
		return
	}
	match, expressions := p.field("matchLabels"), p.field("matchExpressions")
	if !c.is(&p, source.Map) || !c.isTextMap(&match) {
		return
	}
	typed, ok := c.requirements(&expressions)
	before := len(c.w.Problems)
	c.selectorPlaces(&p)
	switch {
	case !ok || len(c.w.Problems) > before:
	case c.w.Kind.Selects && match.value.Len()+len(typed) == 0:
		c.refuse(StageObject, &p, "selector has neither matchLabels nor matchExpressions: must match the template's labels", repairEmptySelector(p.value, labels))
	case c.matches(&match, labels):
		c.expressionsMatch(&expressions, typed, labels)
	}
}

// requirements reads matchExpressions, which are not decoded here; ok is false if a part is
// unknown.
func (c *checker) requirements(p *place) (all []metav1.LabelSelectorRequirement, ok bool) {
	ok = c.is(p, source.Sequence)
	for i := range p.len() {
		e := p.item(i)
		key, operator, values := e.field("key"), e.field("operator"), e.field("values")
		ok = c.is(&e, source.Map) && c.is(&values, source.Sequence) && c.isText(&key) && c.isText(&operator) && ok
		r := metav1.LabelSelectorRequirement{Key: key.value.Text(), Operator: metav1.LabelSelectorOperator(operator.value.Text())}
		for i := range values.len() {
			v := values.item(i)
			ok = c.isText(&v) && ok
			r.Values = append(r.Values, v.value.Text())
		}
		all = append(all, r)
	}
	return all, ok
}

// repairMissingSelector returns the repair of a missing selector.
func repairMissingSelector(labels *source.Node) string {
	for k, v := range labels.Fields() {
		return fmt.Sprintf("add a selector with matchLabels, such as %s: %s", k.Value, v.Text())
	}
	return ""
}

// repairEmptySelector returns the repair of a selector without requirements, or with labels one level too high.
func repairEmptySelector(selector, labels *source.Node) string {
	for k := range selector.Fields() {
		if k.Value != "matchLabels" && k.Value != "matchExpressions" {
			return "move " + k.Value + " under matchLabels"
		}
	}
	for k, v := range labels.Fields() {
		return fmt.Sprintf("add matchLabels, such as %s: %s", k.Value, v.Text())
	}
	return ""
}

// matches compares matchLabels with the labels of the template.
func (c objectChecker) matches(p *place, labels *source.Node) bool {
	for k, v := range p.value.Fields() {
		value := labels.Get(k.Value)
		if value != nil && value.Text() == v.Text() || unknownLabel(labels, k.Value) {
			continue
		}
		at := p.entry(k, v)
		has := "has no label " + k.Value
		if value != nil {
			has = "has " + k.Value + "=" + value.Text()
		}
		c.refuse(StageObject, &at, fmt.Sprintf("selector requires %s=%s, but the template %s", k.Value, v.Text(), has), "use the same value in both")
		return false
	}
	return true
}

// unknownLabel reports whether the value of a label is unknown: its value or any key is a variable,
// or it is of a wrong type and reported as such.
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

func (c objectChecker) expressionsMatch(p *place, requirements []metav1.LabelSelectorRequirement, labels *source.Node) {
	set := labelSet{labels}
	for i := range requirements {
		selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: requirements[i : i+1]})
		if err != nil || selector.Matches(set) || unknownLabel(labels, requirements[i].Key) {
			continue
		}
		at := p.item(i)
		c.refuse(StageObject, &at, "selector "+selector.String()+" does not match the template's labels", "")
		return
	}
}

// labelSet adapts labels in a file to the interface that selectors match against.
type labelSet struct{ node *source.Node }

func (s labelSet) Has(key string) bool { return s.node.Get(key) != nil }

func (s labelSet) Get(key string) string { return s.node.Get(key).Text() }

func (s labelSet) Lookup(key string) (string, bool) { return s.Get(key), s.Has(key) }
