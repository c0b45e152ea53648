package neighbours

import (
	"maps"
	"slices"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Index is objects by the labels of their pods: all workloads, and one of each kind and
// namespace of what else may make pods.
type Index struct {
	table   workload.Table
	objects []*source.Object
	byLabel map[label][]int
	// byKey are those with a label whose value is not in the manifest, as a controller or
	// a later tool sets it.
	byKey map[string][]int
	// always are those that any selector may find, and what else may make pods.
	always []int
	// makers are the kinds and namespaces of what is no workload and may make pods.
	makers map[maker]bool
}

type maker struct{ group, kind, namespace string }

type label struct{ key, value string }

// New indexes objects.
func New(table workload.Table, objects ...[]*source.Object) *Index {
	n := &Index{table: table, byLabel: map[label][]int{}, byKey: map[string][]int{}, makers: map[maker]bool{}}
	for _, some := range objects {
		for _, o := range some {
			n.add(o)
		}
	}
	return n
}

func (n *Index) add(o *source.Object) {
	if !n.table.Relevant(o.APIVersion, o.Kind) {
		return
	}
	i, row := len(n.objects), n.table.Find(o.APIVersion, o.Kind)
	if row == nil {
		of := maker{o.Group(), o.Kind, o.Namespace}
		if n.makers[of] {
			return
		}
		n.makers[of] = true
		n.always = append(n.always, i)
	} else {
		for _, key := range slices.Concat(slices.Collect(maps.Keys(row.Fixed)), row.NameLabels, row.Shared, row.PerPod) {
			n.byKey[key] = append(n.byKey[key], i)
		}
	}
	n.objects = append(n.objects, o)
	n.label(i, o.Root, 0)
}

// deepest bounds how far into an object labels and selectors are looked for; what lies
// deeper may say anything.
const deepest = 20

// label notes all labels in an object, its own and those of its pods.
func (n *Index) label(i int, node *source.Node, depth int) {
	if node == nil {
		return
	}
	if depth > deepest {
		n.always = append(n.always, i)
		return
	}
	for k, v := range node.Fields() {
		if k.Value == "labels" {
			for key, value := range v.Fields() {
				switch at := (label{key.Value, value.Value}); {
				case key.Placeholder():
					n.always = append(n.always, i)
				case value.Placeholder():
					n.byKey[at.key] = append(n.byKey[at.key], i)
				default:
					n.byLabel[at] = append(n.byLabel[at], i)
				}
			}
			continue
		}
		n.label(i, v, depth+1)
	}
	for _, item := range node.Items() {
		n.label(i, item, depth+1)
	}
}

// reach is what the selectors of a part may find.
type reach struct {
	// labels are those that some selector asks for; any is set if one may do without.
	labels map[label]bool
	any    bool
	// namespaces are those of the part; anywhere is set if a term may look into others.
	namespaces map[string]bool
	anywhere   bool
}

func reachOf(objects []*source.Object) *reach {
	of := &reach{labels: map[label]bool{}, namespaces: map[string]bool{}}
	for _, o := range objects {
		of.namespaces[namespaceOf(o)] = true
		of.look(o.Root, 0)
	}
	return of
}

// look looks for selectors of pods.
func (of *reach) look(n *source.Node, depth int) {
	if depth > deepest {
		of.any, of.anywhere = true, true
		return
	}
	for k, v := range n.Fields() {
		switch k.Value {
		case "namespaceSelector", "namespaces":
			of.anywhere = true
		case "labelSelector", "selector":
			of.selector(v)
		default:
			of.look(v, depth+1)
		}
	}
	for _, item := range n.Items() {
		of.look(item, depth+1)
	}
}

// selector notes what a selector asks for: one of its labels is enough to find all that it
// may select.
func (of *reach) selector(n *source.Node) {
	if n.IsNull() || n.Kind != source.Map {
		return // nothing, or a text of another meaning
	}
	for key, value := range n.Get("matchLabels").Fields() {
		if key.Placeholder() || value.Placeholder() {
			continue
		}
		of.labels[label{key.Value, value.Value}] = true
		return
	}
	for _, e := range n.Get("matchExpressions").Items() {
		values := e.Get("values").Items()
		if e.Get("operator").Text() == "In" && !e.Get("key").Placeholder() && !slices.ContainsFunc(values, (*source.Node).Placeholder) {
			for _, value := range values {
				of.labels[label{e.Get("key").Text(), value.Value}] = true
			}
			return
		}
	}
	of.any = true
}

// Of are the objects outside of a part that its selectors may find.
func (n *Index) Of(part []*source.Object) []*source.Object {
	of := reachOf(part)
	which := slices.Clone(n.always)
	if of.any {
		for i := range n.objects {
			which = append(which, i)
		}
	}
	for at := range of.labels {
		which = append(append(which, n.byLabel[at]...), n.byKey[at.key]...)
	}
	slices.Sort(which)
	own := map[*source.Object]bool{}
	for _, o := range part {
		own[o] = true
	}
	var all []*source.Object
	for _, i := range slices.Compact(which) {
		if o := n.objects[i]; !own[o] && (of.anywhere || of.namespaces[namespaceOf(o)]) {
			all = append(all, o)
		}
	}
	return all
}

// namespaceOf is where an object is applied to if nothing else is said.
func namespaceOf(o *source.Object) string {
	if o.Namespace == "" {
		return "default"
	}
	return o.Namespace
}
