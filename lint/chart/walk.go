package chart

import (
	"strings"
	"unsafe"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/limits"
)

// walk walks a value together with the text that toYaml made from it, and records for each line
// where its value is set.
type walk struct {
	t     *trace
	texts []string
	lines []origin
	found bool
}

// walk pairs a node of the text with a value. p is the path of the value, or nil if it is not
// known.
func (w *walk) walk(n *kyaml.Node, v any, p *fieldPath, depth int) {
	if depth > limits.ChartNesting {
		return
	}
	if own := w.t.index.pathOf(v); own != nil {
		p = own
	}
	if list, ok := v.([]any); ok {
		if n.Kind == kyaml.SequenceNode && len(n.Content) == len(list) {
			for i, item := range n.Content {
				w.value(nil, item, list[i], childOf(p, step{item: i}), depth)
			}
		}
		return
	}
	table := tableOf(v)
	if n.Kind != kyaml.MappingNode || table == nil {
		return
	}
	w.item(n, p)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if value, ok := table[key.Value]; ok {
			w.value(key, n.Content[i+1], value, childOf(p, step{key.Value, -1}), depth)
		}
	}
}

func childOf(p *fieldPath, s step) *fieldPath {
	switch {
	case p == nil:
		return nil
	case s.item >= 0:
		return p.at(s.item)
	}
	return p.of(s.key)
}

// value pairs one entry with its value.
func (w *walk) value(key, n *kyaml.Node, v any, p *fieldPath, depth int) {
	if own := w.t.index.pathOf(v); own != nil {
		p = own
	}
	if n.Kind != kyaml.ScalarNode {
		if key != nil {
			w.container(key.Line, n.Kind, p)
		}
		w.walk(n, v, p, depth+1)
		return
	}
	if text, ok := v.(string); ok {
		if own := w.t.index.textPath(text); own != nil {
			p = own
		}
	}
	if p == nil {
		return
	}
	for _, c := range w.t.index.sources.scalar(p, v) {
		first := n.Line
		if key != nil {
			first = key.Line
		}
		for line := first; line <= first+strings.Count(n.Value, "\n") && line <= len(w.texts); line++ {
			w.set(line, candidate{place: c.place})
		}
	}
}

// container records the place of a line that has only a key.
func (w *walk) container(line int, kind kyaml.Kind, p *fieldPath) {
	if p == nil {
		return
	}
	found, ok := w.t.index.sources.find(p)
	switch {
	case !ok:
	case found.value == nil:
		w.set(line, candidate{place: Place{File: found.file}})
	case plain(found.value).Kind == kind:
		w.set(line, candidate{place: Place{found.file, found.key.Line, found.key.Column}})
	}
}

// item records the place of the line on which a list item begins that is a table.
func (w *walk) item(n *kyaml.Node, p *fieldPath) {
	if p == nil || p.parent == nil || p.item < 0 || len(n.Content) == 0 {
		return
	}
	found, ok := w.t.index.sources.find(p)
	if !ok || found.value == nil {
		return
	}
	of := plain(found.value)
	if of.Kind != kyaml.MappingNode || len(of.Content) == 0 {
		return
	}
	if of.Style&kyaml.FlowStyle == 0 {
		of = of.Content[0] // an anchor may be several lines above
	}
	w.set(n.Line, candidate{place: Place{found.file, of.Line, of.Column}, begins: true})
}

// set records a place for a line of the text, counted from 1.
func (w *walk) set(line int, c candidate) {
	o := &w.lines[line-1]
	w.found = true
	c.whole = w.texts[line-1]
	o.cands = append(o.cands, c)
}

// textPath returns the path of a text in the values.
func (x *index) textPath(text string) *fieldPath {
	if len(text) < 2 {
		return nil
	}
	return x.texts[unsafe.StringData(text)]
}
