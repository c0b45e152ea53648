package chart

import (
	"math"
	"slices"
	"strings"
	"unsafe"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/limits"
)

// boxOf returns the address that identifies a scalar, or nil if it has none of its own. It is
// that of a string's bytes, or that of the memory to which an interface with a float64 points.
// Templates and functions pass both on. Other numbers and Booleans may share their memory.
func boxOf(v any) *byte {
	switch of := v.(type) {
	case string:
		if len(of) > 1 { // strings of one byte share their addresses
			return unsafe.StringData(of)
		}
	case float64:
		if math.Float64bits(of) >= 256 { // smaller ones share their addresses, such as 0
			return (*[2]*byte)(unsafe.Pointer(&v))[1]
		}
	}
	return nil
}

// valuePath returns the path of a scalar in the merged values, or nil if it is unknown.
func (x *index) valuePath(v any) *fieldPath {
	if at := boxOf(v); at != nil {
		return x.scalars[at]
	}
	return nil
}

// knows reports whether the path of a value or of anything in it is known.
func (x *index) knows(v any, depth int) bool {
	if depth > limits.ChartNesting {
		return false
	}
	if !isContainer(v) {
		return x.valuePath(v) != nil
	}
	if x.pathOf(v) != nil {
		return true
	}
	list, _ := v.([]any)
	for _, item := range list {
		if x.knows(item, depth+1) {
			return true
		}
	}
	for _, item := range tableOf(v) {
		if x.knows(item, depth+1) {
			return true
		}
	}
	return false
}

// copied gives the copy of a map or list the paths of the original. Scalars keep their addresses.
func (x *index) copied(from, to any, depth int) {
	if depth > limits.ChartNesting {
		return
	}
	id, ok := identity(to)
	if was, _ := identity(from); !ok || id == was || x.containers[id] != nil {
		return
	}
	if p := x.pathOf(from); p != nil {
		x.containers[id] = p
	}
	if list, ok := to.([]any); ok {
		if of, _ := from.([]any); len(of) == len(list) {
			for i := range list {
				x.copied(of[i], list[i], depth+1)
			}
		}
		return
	}
	of := tableOf(from)
	for key, v := range tableOf(to) {
		x.copied(of[key], v, depth+1)
	}
}

// merged adds the paths of a map to those of the map into which it was merged. If first is set, its
// values have precedence.
func (x *index) merged(to, from any, first bool, depth int) {
	into, of := tableOf(to), tableOf(from)
	id, ok := identity(to)
	if was, _ := identity(from); depth > limits.ChartNesting || !ok || id == was || into == nil || of == nil {
		return
	}
	p, q := x.containers[id], x.pathOf(from)
	switch {
	case p == q:
	case p == nil:
		x.containers[id] = q
	case q != nil && first:
		x.containers[id] = q.or(p)
	case q != nil:
		x.containers[id] = p.or(q)
	}
	for key, v := range of {
		x.merged(into[key], v, first, depth+1)
	}
}

// maxPaths is the maximum number of paths of a value.
const maxPaths = 4

// or returns a path with all paths of p and then those of q.
func (p *fieldPath) or(q *fieldPath) *fieldPath {
	var all []*fieldPath
	for _, from := range []*fieldPath{p, q} {
		for ; from != nil && len(all) < maxPaths; from = from.other {
			if !slices.ContainsFunc(all, func(known *fieldPath) bool {
				return slices.Equal(known.steps(), from.steps()) && known.fixed == from.fixed
			}) {
				all = append(all, from)
			}
		}
	}
	var joined *fieldPath
	for _, one := range slices.Backward(all) {
		joined = &fieldPath{one.parent, one.key, one.item, joined, one.fixed}
	}
	return joined
}

// parsed gives the values in a parsed text the paths of the text's lines.
func (t *trace) parsed(text string, result any) {
	one := t.tracedOf(text)
	if one == nil || !isContainer(result) || !slices.ContainsFunc(one.lines, func(o origin) bool { return len(o.cands) > 0 }) {
		return
	}
	t.e.budget.charge(len(text) / 2)
	var doc kyaml.Node
	if kyaml.Unmarshal([]byte(text), &doc) == nil && len(doc.Content) == 1 {
		p := &parsing{t, one.lines, strings.Split(text, "\n")}
		p.pair("", doc.Content[0], result, 0)
	}
}

// parsing pairs the nodes of a text with the values parsed from it.
type parsing struct {
	t     *trace
	lines []origin
	texts []string
}

// at returns the path of the value that begins on a line.
func (p *parsing) at(line int, begins bool) *fieldPath {
	if line < 1 || line > len(p.lines) || line > len(p.texts) {
		return nil
	}
	c, _ := pick(p.lines[line-1].cands, p.texts[line-1], begins)
	return c.path
}

// pair pairs a map or list with its node and returns its path. The line with its key may have been
// written in a template. If the values inside have the paths of a map or list with the same key,
// this is its path.
func (p *parsing) pair(key string, n *kyaml.Node, v any, depth int) (inferred *fieldPath) {
	if depth > limits.ChartNesting {
		return nil
	}
	one := func(name string, line int, begins bool, n *kyaml.Node, v any, s step) {
		path := p.at(line, begins)
		if id, ok := identity(v); ok {
			if within := p.pair(name, n, v, depth+1); path == nil {
				path = within
			}
			if path != nil {
				p.t.index.containers[id] = path
			}
		} else if at := boxOf(v); at != nil && path != nil {
			p.t.index.scalars[at] = path
		}
		if path != nil && path.key == s.key && path.item == s.item && path.parent != nil && path.parent.key == key && key != "" {
			inferred = path.parent
		}
	}
	list, isList := v.([]any)
	table := tableOf(v)
	switch {
	case isList && n.Kind == kyaml.SequenceNode && len(n.Content) == len(list):
		for i, item := range n.Content {
			one("", item.Line, isContainer(list[i]), item, list[i], step{item: i})
		}
	case table != nil && n.Kind == kyaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			at := n.Content[i]
			if v, ok := table[at.Value]; ok {
				one(at.Value, at.Line, false, n.Content[i+1], v, step{at.Value, -1})
			}
		}
	}
	return inferred
}
