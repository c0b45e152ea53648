package kustomize

import (
	"maps"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// Result holds what is known of objects, without anything that kustomizations change.
type Result struct {
	Objects []*source.Object
	// Whole holds the objects that may change anywhere; they are not among Objects.
	Whole []*source.Object
	// Changed holds those of Objects with unknown fields.
	Changed []*source.Object
}

// Obscure replaces the fields that kustomizations change by variables. Declares reports whether an
// object is a declaration of its own. An object that no longer is one, with its unknown fields, may
// be anything.
func Obscure(set *source.Set, declares func(*source.Object) bool) Result {
	t := newTree(set)
	if len(t.dirs) == 0 {
		return Result{Objects: set.Objects}
	}
	by := t.byFile()
	var r Result
	for _, o := range set.Objects {
		c := change{object: o}
		for _, e := range by[o.File.Name] {
			if e.selects(o, e.renamed) {
				c.take(&e.effect)
			}
		}
		if !c.whole && len(c.paths)+len(c.labels) == 0 && !c.namespace {
			r.Objects = append(r.Objects, o)
			continue
		}
		if known := c.apply(); c.whole || declares(o) && !declares(known) {
			r.Whole = append(r.Whole, o)
		} else {
			r.Objects = append(r.Objects, known)
			r.Changed = append(r.Changed, known)
		}
	}
	return r
}

// applied is an effect on a file.
type applied struct {
	effect
	renamed bool
}

// byFile returns the effects that reach each file. If there are too many references to follow, any
// file may change anywhere.
func (t *tree) byFile() map[string][]applied {
	by := map[string][]applied{}
	for _, dir := range slices.Sorted(maps.Keys(t.dirs)) {
		k := t.dirs[dir]
		effects := t.effects(k)
		if len(effects) == 0 {
			continue
		}
		if !t.reach(k, func(file string, renamed bool) {
			for _, e := range effects {
				by[file] = append(by[file], applied{e, renamed || k.renames})
			}
		}) {
			for name := range t.files {
				by[name] = append(by[name], applied{effect: effect{selects: everything, whole: true}})
			}
			return by
		}
	}
	return by
}

// change collects what kustomizations change in one object.
type change struct {
	object    *source.Object
	whole     bool
	namespace bool
	paths     [][]string
	labels    []string
}

// take adds an effect. Changing all labels of a pod matters, as selectors of other objects read
// them; changing all labels of another object does not.
func (c *change) take(e *effect) {
	c.whole = c.whole || e.whole
	c.namespace = c.namespace || e.namespace
	for _, at := range e.paths {
		switch n := len(at); {
		case n < 2 || at[n-2] != "metadata" || at[n-1] != "labels":
			c.paths = append(c.paths, at)
		case n > 2 || c.object.Kind == "Pod":
			c.whole = true
		}
	}
	c.labels = append(c.labels, e.labels...)
}

// apply returns a copy of the object with variables for the fields that change.
func (c *change) apply() *source.Object {
	o := *c.object
	for _, at := range c.paths {
		o.Root = c.hidePath(o.Root, at, false)
	}
	if c.labels = slices.Compact(slices.Sorted(slices.Values(c.labels))); len(c.labels) > 0 {
		o.Root = c.hideLabels(o.Root)
	}
	if c.namespace {
		o.Root = rewritten(o.Root, func(_ *source.Node, name string, v *source.Node) *source.Node {
			if name == "namespaces" && v.Kind == source.Sequence { // that terms name
				return v.Variable()
			}
			return v
		})
	}
	return &o
}

// name returns the name of the object, which serves as the place of fields that no file has.
func (c *change) name() *source.Node {
	k, _ := c.object.Root.Get("metadata").Field("name")
	return k
}

// hidePath returns a map with a variable at a path.
func (c *change) hidePath(n *source.Node, at []string, anyName bool) *source.Node {
	name, rest := at[0], at[1:]
	_, v := n.Field(name)
	switch {
	case v == nil && !anyName && !judged[name]:
		return n
	case v == nil:
		return n.With(name, c.name().Variable(), c.name())
	case v.Kind == source.Sequence && containers[name]:
		return n.Replace(name, c.hideResources(v))
	case v.Kind == source.Map && len(rest) > 0:
		return n.Replace(name, c.hidePath(v, rest, named[name]))
	}
	return n.Replace(name, v.Variable())
}

// hideResources returns a list of containers with unknown requests.
func (c *change) hideResources(list *source.Node) *source.Node {
	for i, item := range list.Items() {
		if item.Kind != source.Map {
			continue
		}
		if _, v := item.Field("resources"); v != nil {
			return list.Among(i, item.Replace("resources", v.Variable()))
		}
		return list.Among(i, item.With("resources", c.name().Variable(), c.name()))
	}
	return list.Variable()
}

// rewritten returns n with the result of visit for each field of the maps in it, at any depth.
func rewritten(n *source.Node, visit func(m *source.Node, name string, v *source.Node) *source.Node) *source.Node {
	out := n
	for k, v := range n.Fields() {
		if next := visit(n, k.Value, rewritten(v, visit)); next != v {
			out = out.Replace(k.Value, next)
		}
	}
	for i, item := range n.Items() {
		if next := rewritten(item, visit); next != item {
			out = out.Among(i, next)
		}
	}
	return out
}

// hideLabels adds labels of unknown value to pods and to selectors.
func (c *change) hideLabels(root *source.Node) *source.Node {
	add := func(m *source.Node) *source.Node {
		for _, key := range c.labels {
			if _, v := m.Field(key); v != nil {
				m = m.Replace(key, v.Variable())
			} else {
				m = m.With(key, c.name().Variable(), c.name())
			}
		}
		return m
	}
	return rewritten(root, func(m *source.Node, name string, v *source.Node) *source.Node {
		switch {
		case v == nil || v.Kind != source.Map:
		case name == "labels" || name == "matchLabels":
			return add(v)
		case name == "labelSelector" && v.Get("matchLabels") == nil:
			return v.With("matchLabels", add(v.Emptied()), c.name())
		}
		return v
	})
}

// containers lists lists whose items are merged by name.
var containers = map[string]bool{"containers": true, "initContainers": true}

// named lists maps whose keys are arbitrary.
var named = map[string]bool{"labels": true, "limits": true, "matchLabels": true, "nodeSelector": true, "requests": true}

// judged lists fields that matter if a patch adds them.
var judged = func() map[string]bool {
	m := map[string]bool{}
	for field := range strings.FieldsSeq(`affinity completionMode completions containers domain evictionStrategy hostNetwork initContainers jobTemplate labels
		labelSelector limits matchExpressions matchLabels matchLabelKeys maxReplicaCount maxReplicas maxSurge maxUnavailable metadata minAvailable
		minReadySeconds minReplicaCount minReplicas nodeAffinity nodeName nodeSelector ordinals overhead parallelism partition paused podAffinity
		podAntiAffinity podManagementPolicy ports preferredDuringSchedulingIgnoredDuringExecution priorityClassName replicas
		requests requiredDuringSchedulingIgnoredDuringExecution resources restartPolicy rollingUpdate running runStrategy runtimeClassName
		scaleTargetRef schedulerName schedulingGates selector spec strategy suspend template tolerations topologySpreadConstraints
		type unhealthyPodEvictionPolicy updateStrategy`) {
		m[field] = true
	}
	return m
}()
