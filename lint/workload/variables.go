package workload

import (
	"slices"
	"strconv"

	"github.com/schedlint/schedlint/lint/source"
)

// variables records the fields that place pods and are still a variable of a
// later tool: as text of the right type they decode like any other value, but
// nothing is known of what they will say.
func (w *Workload) variables() {
	for _, field := range []string{"affinity", "nodeName", "nodeSelector", "tolerations", "topologySpreadConstraints"} {
		if n := w.SpecNode.Get(field); varies(n) {
			w.variable(field, n)
		}
	}
}

// varies reports whether some text in a field is a variable.
func varies(n *source.Node) bool {
	if n.Placeholder() {
		return true
	}
	for k, v := range n.Fields() {
		if k.Placeholder() || varies(v) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items(), varies)
}

func (w *Workload) variable(path string, n *source.Node) {
	if n.Placeholder() {
		w.Open = append(w.Open, path)
	}
	for k, v := range n.Fields() {
		at := path + "." + k.Value
		if k.Placeholder() {
			w.Open = append(w.Open, at)
		}
		switch k.Value {
		case "labelSelector", "namespaceSelector": // matching reads an unknown value as such
		default:
			w.variable(at, v)
		}
	}
	for i, item := range n.Items() {
		w.variable(path+"["+strconv.Itoa(i)+"]", item)
	}
}
