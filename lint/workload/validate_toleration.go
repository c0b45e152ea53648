package workload

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

var (
	tolerationOperators = []string{string(corev1.TolerationOpEqual), string(corev1.TolerationOpExists)}
	taintEffects        = []string{string(corev1.TaintEffectNoSchedule), string(corev1.TaintEffectPreferNoSchedule), string(corev1.TaintEffectNoExecute)}
)

// tolerations checks tolerations (R-V14 to R-V17).
func (c podChecker) tolerations(spec *place) {
	list := spec.field("tolerations")
	for i := range list.len() {
		t := list.item(i)
		if t.broken() {
			continue
		}
		key := t.field("key")
		if s, _ := key.text(); s != "" {
			c.form(c.unchecked, &key, "", labelKey) // R-V14
		}
		c.tolerationOperator(&t, &key)
		c.tolerationEffect(&t)
	}
}

// tolerationOperator checks the operator against key and value (R-V15). Gt and Lt need a feature
// gate that is off, so R-V16 cannot apply.
func (c podChecker) tolerationOperator(t, key *place) {
	operator, value := t.field("operator"), t.field("value")
	if s, _ := operator.text(); s == string(corev1.TolerationOpGt) || s == string(corev1.TolerationOpLt) {
		c.refuse(c.unchecked, &operator, fmt.Sprintf("operator is %q: must be Equal or Exists unless the feature gate TaintTolerationComparisonOperators is enabled", s), "")
		return
	}
	word, ok := c.oneOf(c.unchecked, &operator, true, tolerationOperators)
	if !ok {
		return
	}
	name, known := key.text()
	switch {
	case word == string(corev1.TolerationOpExists):
		if v, ok := value.text(); ok && v != "" {
			c.refuse(c.unchecked, &value, fmt.Sprintf("value is %q: must be empty when operator is Exists", v), "remove value, or set operator: Equal")
		}
	case known && name == "":
		c.refuse(c.unchecked, &operator, found(&operator, "operator")+": must be Exists when key is empty", "set operator: Exists, or add a key")
	default:
		c.form(c.unchecked, &value, "", labelValue)
	}
}

// tolerationEffect checks the effect, alone and with tolerationSeconds (R-V17).
func (c podChecker) tolerationEffect(t *place) {
	effect, seconds := t.field("effect"), t.field("tolerationSeconds")
	word, ok := c.oneOf(c.unchecked, &effect, true, taintEffects)
	if _, set := seconds.value.Int(); !ok || !set || word == string(corev1.TaintEffectNoExecute) {
		return
	}
	at := effect
	if word == "" {
		at = seconds
	}
	c.refuse(c.unchecked, &at, found(&effect, "effect")+": must be NoExecute when tolerationSeconds is set", "set effect: NoExecute, or remove tolerationSeconds")
}
