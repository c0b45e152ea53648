package workload

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/schedlint/schedlint/lint/source"
)

// Ways to update.
const (
	rollingUpdate = "RollingUpdate"
	recreate      = "Recreate"
	onDelete      = "OnDelete"
)

var (
	deploymentUpdates = []string{rollingUpdate, recreate}
	setUpdates        = []string{rollingUpdate, onDelete}
)

// amount is a number or a percentage.
type amount struct {
	n   int
	set bool
}

// rolling reads the type of an update and its rollingUpdate. Only a rolling update may have one; a
// DaemonSet with OnDelete ignores it.
func (c objectChecker) rolling(strategy *place, words []string, strict bool) (p place, ok bool) {
	kind := strategy.field("type")
	p = strategy.field("rollingUpdate")
	if !c.is(strategy, source.Map) || !c.is(&p, source.Map) || !c.isText(&kind) {
		return p, false
	}
	word, ok := c.oneOf(StageObject, &kind, true, words)
	if !ok || word == "" || word == rollingUpdate {
		return p, ok
	}
	if !strict { // ignored, but decoded nevertheless
		surge, unavailable := p.field("maxSurge"), p.field("maxUnavailable")
		c.isAmount(&surge)
		c.isAmount(&unavailable)
	} else if !p.absent() {
		c.refuse(StageObject, &p, fmt.Sprintf("rollingUpdate is set with type %s: can only be set with %s", word, rollingUpdate), "remove rollingUpdate")
	}
	return p, false
}

// deployment checks the strategy of a Deployment (R-V38). An absent amount is 25%, so only two
// explicit zeros are zero.
func (c objectChecker) deployment(spec *place) {
	strategy := spec.field("strategy")
	p, ok := c.rolling(&strategy, deploymentUpdates, true)
	if !ok {
		return
	}
	surge, unavailable := p.field("maxSurge"), p.field("maxUnavailable")
	s, sok := c.amount(&surge, false)
	u, uok := c.amount(&unavailable, true)
	if sok && uok && s.set && u.set && s.n == 0 && u.n == 0 {
		c.refuse(StageObject, &unavailable, found(&unavailable, "maxUnavailable")+": must not be 0 when maxSurge is 0", "set maxUnavailable: 1 or maxSurge: 1")
	}
}

// daemonSet checks the update strategy of a DaemonSet: exactly one of the two amounts must be above
// 0, and maxUnavailable is 1 if it is absent (R-V38).
func (c objectChecker) daemonSet(spec *place) {
	strategy := spec.field("updateStrategy")
	p, ok := c.rolling(&strategy, setUpdates, false)
	if !ok {
		return
	}
	surge, unavailable := p.field("maxSurge"), p.field("maxUnavailable")
	s, sok := c.amount(&surge, true)
	u, uok := c.amount(&unavailable, true)
	switch {
	case !sok || !uok:
	case s.n != 0 && !u.set:
		c.refuse(StageObject, &surge, found(&surge, "maxSurge")+" and maxUnavailable defaults to 1: one of them must be 0", "set maxUnavailable: 0")
	case s.n != 0 && u.n != 0:
		c.refuse(StageObject, &surge, found(&surge, "maxSurge")+" and maxUnavailable is "+unavailable.value.Value+": one of them must be 0", "set one of them to 0")
	case u.set && u.n == 0 && s.n == 0:
		c.refuse(StageObject, &unavailable, found(&unavailable, "maxUnavailable")+": must not be 0 when maxSurge is 0", "set one of them to 1 or more")
	}
}

// statefulSet checks the update strategy of a StatefulSet (R-V38). maxUnavailable is decoded, but
// dropped before validation unless its gate is on (pkg/registry/apps/statefulset/strategy.go,
// dropStatefulSetDisabledFields).
func (c objectChecker) statefulSet(spec *place) {
	strategy := spec.field("updateStrategy")
	p, ok := c.rolling(&strategy, setUpdates, true)
	if !ok {
		return
	}
	unavailable, partition := p.field("maxUnavailable"), p.field("partition")
	c.wholeNumber(&partition)
	if !c.isAmount(&unavailable) {
		return
	}
	before := len(c.w.Problems)
	if u, ok := c.amount(&unavailable, true); ok && u.set && u.n == 0 {
		c.refuse(StageObject, &unavailable, found(&unavailable, "maxUnavailable")+": must be greater than 0", "set maxUnavailable: 1")
	}
	c.moveToGated("MaxUnavailableStatefulSet", before)
}

// moveToGated moves the problems from an index on to Gated, because only a feature gate causes them.
func (c objectChecker) moveToGated(gate string, from int) {
	for _, p := range c.w.Problems[from:] {
		p.Gate = gate
		c.w.Gated = append(c.w.Gated, p)
	}
	c.w.Problems = c.w.Problems[:from]
}

// amount reads a number or percentage and checks it by itself; a capped one must not be greater
// than 100%.
func (c *checker) amount(p *place, capped bool) (a amount, ok bool) {
	switch n, _ := p.value.Int(); {
	case p.absent():
		return a, true
	case !c.isAmount(p):
		return a, false
	case p.value.Type == source.String:
		return c.percentage(p, capped)
	case n < 0:
		c.refuse(StageObject, p, found(p, p.name)+": must not be negative", "")
		return a, false
	default:
		return amount{int(n), true}, true
	}
}

// isAmount reports whether a value can be decoded as an amount, and records a problem if it cannot.
func (c *checker) isAmount(p *place) bool {
	switch n, ok := p.value.Int(); {
	case p.absent():
		return true
	case p.value.Placeholder():
		return false
	case p.value.Kind == source.Scalar && p.value.Type == source.String:
		return true
	case !ok:
		c.w.mistyped(p.path(), p.key, p.value, "whole number or percentage")
		return false
	case n != int64(int32(n)):
		c.refuse(StageObject, p, found(p, p.name)+": must fit in a 32-bit integer", "")
		return false
	}
	return true
}

func (c *checker) percentage(p *place, capped bool) (a amount, ok bool) {
	s := p.value.Value
	if len(validation.IsValidPercent(s)) > 0 {
		fix := ""
		if _, err := strconv.ParseUint(s, 10, 31); err == nil {
			fix = "remove the quotes"
		}
		c.refuse(StageObject, p, found(p, p.name)+": must be an integer or a percentage such as 25%", fix)
		return a, false
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(s, "%"))
	if capped && n > 100 {
		c.refuse(StageObject, p, found(p, p.name)+": must not be greater than 100%", "")
		return a, false
	}
	return amount{n, true}, true
}
