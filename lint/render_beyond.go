package lint

import (
	"slices"

	"github.com/schedlint/schedlint/lint/source"
)

// neighbours are the objects of all renders and of the rest of the tree: workloads by the
// labels in them, one of each kind and namespace of what else may make pods.
type neighbours struct {
	objects []*source.Object
	byLabel map[label][]int
	makers  []int
}

type label struct{ key, value string }

func newNeighbours(r *run) *neighbours {
	n := &neighbours{byLabel: map[label][]int{}}
	makers := map[[3]string]bool{}
	add := func(objects []*source.Object) {
		for _, o := range objects {
			if !r.table.Relevant(o.APIVersion, o.Kind) {
				continue
			}
			i := len(n.objects)
			if r.table.Find(o.APIVersion, o.Kind) == nil {
				kind := [3]string{o.Group(), o.Kind, o.Namespace}
				if makers[kind] {
					continue
				}
				makers[kind] = true
				n.makers = append(n.makers, i)
			}
			n.objects = append(n.objects, o)
			n.label(i, o.Root, 0)
		}
	}
	add(r.loose)
	for _, x := range r.rendered {
		add(x.objects)
	}
	return n
}

// deepest bounds how far into an object labels and selectors are looked for; what lies
// deeper may say anything.
const deepest = 20

// label notes all labels in an object, its own and those of its pods.
func (n *neighbours) label(i int, node *source.Node, depth int) {
	if node == nil || depth > deepest {
		return
	}
	for k, v := range node.Fields() {
		if k.Value == "labels" {
			for key, value := range v.Fields() {
				at := label{key.Value, value.Value}
				if all := n.byLabel[at]; len(all) == 0 || all[len(all)-1] != i {
					n.byLabel[at] = append(all, i)
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
		of.labels[label{key.Value, value.Value}] = true
		return
	}
	for _, e := range n.Get("matchExpressions").Items() {
		if e.Get("operator").Text() == "In" {
			for _, value := range e.Get("values").Items() {
				of.labels[label{e.Get("key").Text(), value.Value}] = true
			}
			return
		}
	}
	of.any = true
}

// beyond are the objects outside of a part that may be deployed with it, as far as they
// matter to it: nobody knows. Where the configuration says what a cluster consists of
// there are none.
func (r *run) beyond(p part) []*source.Object {
	if len(r.rendered) == 0 || p.name != "" {
		return nil
	}
	if r.around == nil {
		r.around = newNeighbours(r)
	}
	n, of := r.around, reachOf(p.objects)
	which := slices.Clone(n.makers)
	if of.any {
		for i := range n.objects {
			which = append(which, i)
		}
	}
	for at := range of.labels {
		which = append(which, n.byLabel[at]...)
	}
	slices.Sort(which)
	own := map[*source.Object]bool{}
	for _, o := range p.objects {
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
