package workload

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	hardTerms = "requiredDuringSchedulingIgnoredDuringExecution"
	softTerms = "preferredDuringSchedulingIgnoredDuringExecution"
)

// affinity checks the three kinds of affinity.
func (c podChecker) affinity(spec *place) {
	affinity := spec.field("affinity")
	if affinity.absent() {
		return
	}
	node, pod, anti := affinity.field("nodeAffinity"), affinity.field("podAffinity"), affinity.field("podAntiAffinity")
	c.nodeAffinity(&node)
	typed := c.w.Spec.Affinity
	if typed != nil && typed.PodAffinity != nil {
		c.podAffinity(&pod, typed.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, typed.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if typed != nil && typed.PodAntiAffinity != nil {
		c.podAffinity(&anti, typed.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, typed.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

// nodeAffinity checks required terms (R-V3 to R-V9) and preferred ones, whose values may be
// anything (R-V7).
func (c podChecker) nodeAffinity(p *place) {
	hard, soft := p.field(hardTerms), p.field(softTerms)
	terms := hard.field("nodeSelectorTerms")
	if !hard.absent() && !hard.broken() && !terms.brokenList() && terms.len() == 0 { // R-V3
		message := "nodeSelectorTerms is empty: must have at least one node selector term"
		if terms.absent() {
			message = "nodeSelectorTerms is missing: must have at least one node selector term"
		}
		c.refuse(StageObject, &terms, message, "")
	}
	for i := range terms.len() {
		term := terms.item(i)
		c.nodeTerm(&term, true)
	}
	for i := range soft.len() {
		item := soft.item(i)
		if item.broken() {
			continue
		}
		c.weight(&item)
		term := item.field("preference")
		c.nodeTerm(&term, false)
	}
}

// weight checks the weight of a preferred term (R-V10).
func (c podChecker) weight(item *place) {
	weight := item.field("weight")
	if n, ok := weight.number(); ok && (n < 1 || n > 100) {
		c.refuse(StageObject, &weight, found(&weight, "weight")+": must be in the range 1-100", "")
	}
}

func (c podChecker) nodeTerm(term *place, labelValues bool) {
	expressions, fields := term.field("matchExpressions"), term.field("matchFields")
	for i := range expressions.len() {
		e := expressions.item(i)
		c.requirement(&e, &nodeOperators, labelValues, c.unchecked)
	}
	for i := range fields.len() {
		f := fields.item(i)
		c.fieldRequirement(&f)
	}
}

// operators has the operators of one kind of requirement, with the number of values that each
// takes.
type operators struct {
	names []string
	arity []arity
}

// arity is the number of values that an operator takes.
type arity struct {
	min, max int
	must     string
}

var (
	some = arity{1, 1 << 30, "needs at least one value"}
	one  = arity{1, 1, "needs exactly one value"}
	none = arity{0, 0, "takes no values"}

	labelOperators = operators{[]string{"In", "NotIn", "Exists", "DoesNotExist"}, []arity{some, some, none, none}}
	nodeOperators  = operators{[]string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}, []arity{some, some, none, none, one, one}}
	fieldOperators = operators{[]string{"In", "NotIn"}, []arity{one, one}}
)

// requirement checks one matchExpressions entry of a node or label selector (R-V4 to R-V7, R-V9,
// R-V12). Like the API server, it does not check whether Gt and Lt compare with a number.
func (c *checker) requirement(e *place, of *operators, labelValues bool, values Stage) {
	if e.broken() {
		return
	}
	key := e.field("key")
	c.form(StageObject, &key, "", labelKey)
	if !c.arity(e, of) || !labelValues {
		return
	}
	list := e.field("values")
	for i := range list.len() {
		item := list.item(i)
		c.form(values, &item, "value", labelValue)
	}
}

// arity checks the operator and the number of values.
func (c *checker) arity(e *place, of *operators) bool {
	operator, values := e.field("operator"), e.field("values")
	word, ok := c.oneOf(StageObject, &operator, false, of.names)
	if !ok || values.brokenList() {
		return ok
	}
	takes := of.arity[slices.Index(of.names, word)]
	n := values.len()
	if n >= takes.min && n <= takes.max {
		return true
	}
	count := fmt.Sprintf("has %d entries", n)
	switch {
	case values.absent():
		count = "is missing"
	case n == 1:
		count = "has 1 entry"
	}
	c.refuse(StageObject, &values, fmt.Sprintf("values %s: operator %s %s", count, word, takes.must), "")
	return false
}

// fieldRequirement checks one matchFields entry (R-V8).
func (c podChecker) fieldRequirement(f *place) {
	if f.broken() {
		return
	}
	key := f.field("key")
	s, ok := key.text()
	if ok && s != metav1.ObjectNameField {
		c.refuse(StageObject, &key, found(&key, "key")+": must be "+metav1.ObjectNameField, "")
	}
	if !c.arity(f, &fieldOperators) || !ok || s != metav1.ObjectNameField {
		return
	}
	list := f.field("values")
	for i := range list.len() {
		item := list.item(i)
		c.form(StageObject, &item, "node name", subdomain)
	}
}

// podAffinity checks podAffinity or podAntiAffinity; hard and soft are its decoded terms.
func (c podChecker) podAffinity(p *place, hard []corev1.PodAffinityTerm, soft []corev1.WeightedPodAffinityTerm) {
	terms, weighted := p.field(hardTerms), p.field(softTerms)
	for i := range min(terms.len(), len(hard)) {
		term := terms.item(i)
		c.podTerm(&term, &hard[i])
	}
	for i := range min(weighted.len(), len(soft)) {
		item := weighted.item(i)
		term := item.field("podAffinityTerm")
		if item.broken() {
			continue
		}
		if inner := item.field("topologyKey"); term.absent() && !inner.absent() {
			c.refuse(StageObject, &term, "podAffinityTerm is missing: a preferred term needs weight and podAffinityTerm",
				"nest the term's fields under podAffinityTerm")
			continue
		}
		c.weight(&item)
		c.podTerm(&term, &soft[i].PodAffinityTerm)
	}
}

// podTerm checks one term of pod (anti-)affinity.
func (c podChecker) podTerm(term *place, typed *corev1.PodAffinityTerm) {
	if term.broken() {
		return
	}
	key := term.field("topologyKey")
	if s, ok := key.text(); ok && s == "" { // R-V11
		c.refuse(StageObject, &key, found(&key, "topologyKey")+": must name a node label", "set topologyKey, for example kubernetes.io/hostname")
	} else if ok {
		c.form(StageObject, &key, "", labelKey)
	}
	labels, namespaces, names := term.field("labelSelector"), term.field("namespaceSelector"), term.field("namespaces")
	c.selector(&labels, typed.LabelSelector)         // R-V12
	c.selector(&namespaces, typed.NamespaceSelector) // R-V12
	for i := range names.len() {                     // R-V13
		item := names.item(i)
		c.form(StageObject, &item, "namespace", dnsLabel)
	}
	mismatch := term.field("mismatchLabelKeys")
	c.labelKeys(term, &mismatch, typed.LabelSelector)
}
