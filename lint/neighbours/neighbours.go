package neighbours

import (
	"cmp"
	"maps"
	"slices"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Index indexes objects by the labels of their pods. It holds all workloads, and one object for
// each namespace and each other kind that may create pods.
type Index struct {
	table   workload.Table
	objects []*source.Object
	byLabel map[label][]int
	// byKey maps a label key to the objects that have this label with an unknown value. A
	// controller or a later tool sets such a value.
	byKey map[string][]int
	// always holds the objects that any selector may match, including objects of other kinds that
	// may create pods.
	always []int
	// makers holds the kind and namespace of each object that is not a workload but may create
	// pods.
	makers map[maker]bool
}

type maker struct{ group, kind, namespace string }

type label struct{ key, value string }

// New returns an index of objects.
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

// deepest is the maximum depth at which labels and selectors are searched in an object. Anything
// deeper is assumed to match.
const deepest = 20

// label indexes all labels in an object, both its own labels and the labels of its pods.
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

// reach describes the objects that the selectors in a part may match. A part is the objects of a
// render or of a unit.
type reach struct {
	// labels holds one required label for each selector, with every value that the selector allows.
	// any is set if a selector may match objects without any of these labels.
	labels map[label]bool
	any    bool
	// namespaces holds the part's namespaces. anywhere is set if a term may select pods in other
	// namespaces.
	namespaces map[string]bool
	anywhere   bool
}

// look collects the pod selectors in n.
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

// selector records one label that a selector requires, with each value that the selector allows.
// One required label is enough to find all objects that the selector may match.
func (of *reach) selector(n *source.Node) {
	if n.IsNull() || n.Kind != source.Map {
		return // absent, or a string with another meaning
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

// Of returns the objects outside a part that selectors in the part may match.
func (n *Index) Of(part []*source.Object) []*source.Object {
	of := &reach{labels: map[label]bool{}, namespaces: map[string]bool{}}
	own := map[*source.Object]bool{}
	for _, o := range part {
		own[o] = true
		of.namespaces[namespaceOf(o)] = true
		if o.Kind != "Service" { // what a Service selects changes no answer
			of.look(o.Root, 0)
		}
	}
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
	var all []*source.Object
	for _, i := range slices.Compact(which) {
		if o := n.objects[i]; !own[o] && (of.anywhere || of.namespaces[namespaceOf(o)]) {
			all = append(all, o)
		}
	}
	return all
}

// namespaceOf returns the namespace that an object is applied to by default.
func namespaceOf(o *source.Object) string { return cmp.Or(o.Namespace, "default") }
