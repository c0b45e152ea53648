package workload

import (
	"math"

	"github.com/schedlint/schedlint/lint/source"
)

// outer has the checks around the pod template of one kind.
type outer struct {
	// spec is the path to the map that contains the other fields.
	spec []string
	// counts are the fields with numbers of pods.
	counts []string
	// update checks how the object creates or replaces its pods; may be nil.
	update func(c objectChecker, spec *place)
	// word is a field that allows only words; it may be absent.
	word  string
	words []string
	// selected is the path to the labels that spec.selector must match.
	selected []string
}

var (
	specPath      = []string{"spec"}
	jobPath       = []string{"spec", "jobTemplate", "spec"}
	templateLabel = []string{"spec", "template", "metadata", "labels"}
	machineLabel  = []string{"spec", "virtualMachineTemplate", "metadata", "labels"}
	podNumbers    = []string{"replicas"}
	jobNumbers    = []string{"parallelism", "completions"}
	completion    = []string{"NonIndexed", indexedMode}
	management    = []string{"OrderedReady", "Parallel"}
)

var outers = map[string]outer{
	"Deployment":                       {spec: specPath, counts: podNumbers, update: objectChecker.deployment, selected: templateLabel},
	"ReplicaSet":                       {spec: specPath, counts: podNumbers, selected: templateLabel},
	"ReplicationController":            {spec: specPath, counts: podNumbers, selected: templateLabel},
	"StatefulSet":                      {spec: specPath, counts: podNumbers, update: objectChecker.statefulSet, word: "podManagementPolicy", words: management, selected: templateLabel},
	"DaemonSet":                        {spec: specPath, update: objectChecker.daemonSet, selected: templateLabel},
	"Job":                              {spec: specPath, counts: jobNumbers, update: objectChecker.job, word: "completionMode", words: completion},
	"CronJob":                          {spec: jobPath, counts: jobNumbers, update: objectChecker.cronJob, word: "completionMode", words: completion},
	"VirtualMachineInstanceReplicaSet": {spec: specPath, counts: podNumbers, selected: templateLabel},
	"VirtualMachinePool":               {spec: specPath, counts: podNumbers, selected: machineLabel},
}

// objectChecker validates fields around a pod template, and objects without one.
type objectChecker struct{ *checker }

// object checks the fields around the pod template. None of them is decoded, so values of a wrong
// type are reported here as well.
func (c objectChecker) object() {
	root := c.w.Object.Root
	c.identity()
	if len(c.w.Kind.Template) > 0 {
		at := place{value: root}
		metadata := at.field("metadata")
		labels := metadata.field("labels")
		c.isTextMap(&labels)
		c.labels(StageObject, &labels, "label")
	}
	o, ok := outers[c.w.Kind.Kind]
	if !ok {
		return
	}
	spec := place{base: o.spec, value: root.At(o.spec...)}
	for _, name := range o.counts {
		p := spec.field(name)
		c.wholeNumber(&p)
	}
	if o.word != "" {
		if p := spec.field(o.word); c.isText(&p) {
			c.oneOf(StageObject, &p, true, o.words)
		}
	}
	if o.selected != nil {
		c.selects(&spec, root.At(o.selected...))
	}
	if o.update != nil {
		o.update(c, &spec)
	}
}

// wholeNumber checks a number that must be whole and, except for machines, not negative.
func (c *checker) wholeNumber(p *place) {
	n, ok := p.value.Int()
	switch {
	case p.absent():
	case p.value.PlaceholderOfNumber():
		c.w.numeral(p.value)
	case !ok:
		c.w.mistyped(p.path(), p.key, p.value, "whole number")
		if p.value.Quoted {
			c.w.Problems[len(c.w.Problems)-1].Fix = "remove the quotes"
		}
	case n > math.MaxInt32 || n < math.MinInt32:
		c.refuse(StageObject, p, found(p, p.name)+": must fit in a 32-bit integer", "")
	case n < 0 && !c.w.Kind.VM:
		c.refuse(StageObject, p, found(p, p.name)+": must not be negative", "")
	}
}

// is reports whether a field that must be a map or list is one, and records a problem if it is not.
func (c *checker) is(p *place, kind source.Kind) bool {
	if p.absent() || p.value.Kind == kind {
		return true
	}
	if !p.value.Placeholder() {
		c.w.mistyped(p.path(), p.key, p.value, kind.String())
	}
	return false
}

// isText does the same for strings.
func (c *checker) isText(p *place) bool {
	_, ok := p.text()
	if !ok && !p.value.Placeholder() {
		c.w.mistyped(p.path(), p.key, p.value, "string")
	}
	return ok
}

// isTextMap does the same for maps of strings.
func (c *checker) isTextMap(p *place) bool {
	ok := c.is(p, source.Map)
	for k, v := range p.value.Fields() {
		at := p.entry(k, v)
		ok = c.isText(&at) && !k.Placeholder() && ok
	}
	return ok
}
