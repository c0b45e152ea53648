package workload

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// placeholder reports whether the value of a field is a placeholder. In a field that names a node,
// HOSTNAME is one, too.
func placeholder(field string, n *source.Node) bool {
	return n.Placeholder() || n.Text() == "HOSTNAME" && (field == "nodeName" || field == "hostname" || strings.HasSuffix(field, "/hostname"))
}

// passedBy lists fields, in addition to Unread, that no check reads.
var passedBy = map[string]bool{"annotations": true, "image": true, "imagePullPolicy": true, "imagePullSecrets": true, "status": true}

// askedOfPods and askedOfContainers are the fields of the spec of a pod or machine, and of a
// container, that are read.
var (
	askedOfPods = strings.Fields(`affinity architecture containers domain evictionStrategy hostNetwork initContainers nodeName nodeSelector os overhead
		preemptionPolicy priorityClassName resourceClaims resources restartPolicy runtimeClassName schedulerName schedulingGates
		serviceAccountName tolerations topologySpreadConstraints`)
	askedOfContainers = []string{"name", "ports", "resources", "restartPolicy"}
)

// placeholders collects the placeholders of an object.
type placeholders struct {
	// pod is the pod's spec, or nil.
	pod *source.Node
	// any is set if there are placeholders, including variables of tools.
	any bool
	// whole is set to search all fields, including those that no check reads.
	whole bool
	// texts are the placeholders that are not variables of tools.
	texts map[string]bool
}

// named returns the texts in order.
func (p *placeholders) named() []string { return slices.Sorted(maps.Keys(p.texts)) }

// find looks for placeholders in the value of a field.
func (p *placeholders) find(field string, n *source.Node) {
	if n == nil || n.Kind == source.Scalar {
		p.add(field, n)
		return
	}
	for k, v := range n.Fields() {
		if !p.whole && (passedBy[k.Value] || Unread(k.Value)) {
			continue
		}
		p.add("", k)
		if p.whole || p.asks(field, n, k.Value) {
			p.find(valueOf(n, k), v)
		}
	}
	for _, item := range n.Items() {
		p.find(field, item)
	}
}

// asks reports whether a field of n is read; n is the value of the field of, or an item of it.
func (p *placeholders) asks(of string, n *source.Node, field string) bool {
	switch {
	case n == p.pod:
		return slices.Contains(askedOfPods, field)
	case of == "containers" || of == "initContainers":
		return slices.Contains(askedOfContainers, field)
	}
	return true
}

func (p *placeholders) add(field string, n *source.Node) {
	if !placeholder(field, n) {
		return
	}
	p.any = true
	if !source.IsVariable(n.Value) {
		if p.texts == nil {
			p.texts = map[string]bool{}
		}
		p.texts[n.Value] = true
	}
}

// placeholders records the texts found in an object.
func (l *loader) placeholders(o *source.Object, texts []string) {
	if len(texts) > 0 {
		l.set.Placeholders[o] = append(l.set.Placeholders[o], texts...)
	}
}

// valueOf returns the field that a value in a map belongs to: the values of a requirement belong to
// its key.
func valueOf(n, k *source.Node) string {
	if key := n.Get("key").Text(); k.Value == "values" && key != "" {
		return key
	}
	return k.Value
}

// variables records the placeholders of the object, and the placement fields that contain one. As
// text of the right type they decode like any other value, but the final value is unknown.
func (w *Workload) variables() {
	held := placeholders{pod: w.SpecNode}
	held.find("", w.Object.Root)
	w.Placeholders = append(w.Placeholders, held.named()...)
	w.openResources("resources", w.SpecNode.Get("resources"))
	for _, list := range []string{"containers", "initContainers"} {
		for i, c := range w.SpecNode.Get(list).Items() {
			at := fmt.Sprintf("%s[%d].", list, i)
			w.openResources(at+"resources", c.Get("resources"))
			for j, port := range c.Get("ports").Items() {
				if port.Get("hostIP").Placeholder() {
					w.Open = append(w.Open, fmt.Sprintf("%sports[%d].hostIP", at, j))
				}
			}
		}
	}
	for _, field := range []string{"affinity", "nodeName", "nodeSelector", "runtimeClassName", "tolerations", "topologySpreadConstraints"} {
		n := w.SpecNode.Get(field)
		placing := placeholders{whole: true}
		if placing.find(field, n); placing.any {
			w.variable(field, field, n)
		}
	}
}

// openResources records requests and limits whose resource name is a placeholder.
func (w *Workload) openResources(path string, resources *source.Node) {
	for _, list := range []string{"requests", "limits"} {
		for k := range resources.Get(list).Fields() {
			if k.Placeholder() {
				w.Open = append(w.Open, path+"."+list)
			}
		}
	}
}

// numeral records a word in capitals where a number belongs; only there is it a placeholder.
func (w *Workload) numeral(n *source.Node) {
	if n.Kind == source.Scalar && !n.Placeholder() {
		w.Placeholders = append(w.Placeholders, n.Value)
	}
}

func (w *Workload) variable(path, field string, n *source.Node) {
	if placeholder(field, n) {
		w.Open = append(w.Open, path)
	}
	for k, v := range n.Fields() {
		at := path + "." + k.Value
		if k.Placeholder() {
			w.Open = append(w.Open, at)
		}
		switch k.Value {
		case "labelSelector", "namespaceSelector": // matching handles an unknown value
		default:
			w.variable(at, valueOf(n, k), v)
		}
	}
	for i, item := range n.Items() {
		w.variable(path+"["+strconv.Itoa(i)+"]", field, item)
	}
}
