package workload

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/source"
)

// Count is a number of pods.
type Count struct {
	// N is the number; it is meaningless unless Known is set.
	N     int
	Known bool
	// Key and Value are the field that sets the number; nil if a default applies.
	Key, Value *source.Node
	// Why is the origin of the number, if no field states it directly.
	Why string
}

// counter reads the number of pods from an object. It reports no problems; validation does.
type counter func(o *source.Object) Count

func known(n int, why string) Count { return Count{N: n, Known: true, Why: why} }

func onePod(*source.Object) Count { return known(1, "") }

func perNode(*source.Object) Count { return Count{Why: "one pod a node"} }

// field reads a whole number; an absent field has the default.
func field(n *source.Node, name string, absent int) Count {
	key, value := n.Field(name)
	if value.IsNull() {
		return known(absent, fmt.Sprintf("%s is %d by default", name, absent))
	}
	i, ok := value.Int()
	ok = ok && i >= 0 && i <= 1<<31-1
	return Count{N: int(i), Known: ok, Key: key, Value: value}
}

func replicas(o *source.Object) Count { return field(o.Root.Get("spec"), "replicas", 1) }

func jobPods(o *source.Object) Count { return jobCount(o.Root.Get("spec")) }

// jobCount returns min(parallelism, completions), both 1 if unset. Parallelism alone means a work
// queue with that many pods (R-W14).
func jobCount(spec *source.Node) Count {
	if c, is := suspended(spec); is {
		return c
	}
	parallelism, completions := field(spec, "parallelism", 1), field(spec, "completions", 1)
	switch {
	case !parallelism.Known:
		return parallelism
	case !completions.Known:
		return completions
	case completions.Key == nil && parallelism.Key != nil, parallelism.N <= completions.N:
		return parallelism
	}
	return completions
}

func cronPods(o *source.Object) Count {
	spec := o.Root.Get("spec")
	if c, is := suspended(spec); is {
		return c
	}
	return jobCount(spec.At("jobTemplate", "spec"))
}

// suspended returns the count of a Job that creates no pods, or might not.
func suspended(spec *source.Node) (c Count, is bool) {
	k, v := spec.Field("suspend")
	on, _ := v.Bool()
	return Count{Known: on, Key: k, Value: v, Why: "suspended"}, on || v.Placeholder()
}

// vmPods returns 1 unless the machine is declared off (R-W24). A machine that is started manually
// counts as one.
func vmPods(o *source.Object) Count {
	spec := o.Root.Get("spec")
	if k, v := spec.Field("runStrategy"); v.Text() == "Halted" || v.Placeholder() {
		return Count{Known: !v.Placeholder(), Key: k, Value: v}
	}
	k, v := spec.Field("running")
	if on, ok := v.Bool(); ok && !on || v.Placeholder() {
		return Count{Known: ok, Key: k, Value: v}
	}
	return known(1, "")
}
