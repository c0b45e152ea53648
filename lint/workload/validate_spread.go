package workload

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

var (
	whenUnsatisfiable = []string{string(corev1.DoNotSchedule), string(corev1.ScheduleAnyway)}
	inclusionPolicies = []string{string(corev1.NodeInclusionPolicyHonor), string(corev1.NodeInclusionPolicyIgnore)}
)

// spread checks topologySpreadConstraints (R-V24 to R-V30).
func (c podChecker) spread(spec *place) {
	constraints, typed := spec.field("topologySpreadConstraints"), c.w.Spec.TopologySpreadConstraints
	pairs := map[[2]string]int{}
	for i := range min(constraints.len(), len(typed)) {
		t := constraints.item(i)
		if t.broken() {
			continue
		}
		c.spreadKey(&t)
		c.spreadAction(&t)
		for _, name := range [...]string{"nodeAffinityPolicy", "nodeTaintsPolicy"} { // R-V29
			if policy := t.field(name); !policy.absent() {
				c.oneOf(c.unchecked, &policy, false, inclusionPolicies)
			}
		}
		selector := t.field("labelSelector")
		c.selector(&selector, typed[i].LabelSelector)
		c.labelKeys(&t, &place{}, typed[i].LabelSelector)
		c.repeated(&t, pairs, i)
	}
}

// spreadKey checks maxSkew (R-V24) and topologyKey (R-V25). Only virt-api checks the form of the
// key.
func (c podChecker) spreadKey(t *place) {
	skew, key := t.field("maxSkew"), t.field("topologyKey")
	if n, ok := skew.number(); ok && n <= 0 {
		c.refuse(StageObject, &skew, found(&skew, "maxSkew")+": must be at least 1", "set maxSkew: 1")
	}
	s, ok := key.text()
	switch {
	case ok && s == "":
		c.refuse(StageObject, &key, found(&key, "topologyKey")+": must name a node label", "set topologyKey, for example topology.kubernetes.io/zone")
	case ok && c.w.Kind.VM:
		c.form(StageObject, &key, "", labelKey)
	}
}

// spreadAction checks whenUnsatisfiable (R-V26) and minDomains (R-V28).
func (c podChecker) spreadAction(t *place) {
	action, domains := t.field("whenUnsatisfiable"), t.field("minDomains")
	word, ok := c.oneOf(StageObject, &action, false, whenUnsatisfiable)
	if domains.absent() {
		return
	}
	switch n, known := domains.number(); {
	case ok && word == string(corev1.ScheduleAnyway):
		c.refuse(c.unchecked, &domains, "minDomains is set with whenUnsatisfiable ScheduleAnyway: can only be set with DoNotSchedule", "remove minDomains")
	case known && n <= 0:
		c.refuse(c.unchecked, &domains, found(&domains, "minDomains")+": must be at least 1", "remove minDomains")
	}
}

// repeated finds a pair of topologyKey and whenUnsatisfiable that an earlier constraint has
// (R-V27).
func (c podChecker) repeated(t *place, seen map[[2]string]int, i int) {
	key, action := t.field("topologyKey"), t.field("whenUnsatisfiable")
	k, ok := key.text()
	a, known := action.text()
	if !ok || !known || k == "" || a == "" {
		return
	}
	pair := [2]string{k, a}
	if j, both := seen[pair]; both {
		c.refuse(StageObject, &key, fmt.Sprintf("same topologyKey %[2]q and whenUnsatisfiable %[3]s as constraint [%[1]d]: the pair must be unique", j, k, a), "remove one of them")
	} else {
		seen[pair] = i
	}
}
