package chart

import (
	"reflect"
	"text/template/parse"

	"github.com/schedlint/schedlint/lint/chart/template"
	"github.com/schedlint/schedlint/lint/limits"
)

// maxBlocks is how deeply blocks, parentheses and templates may be nested, in a template
// and in all that it includes. Each takes about a kilobyte of the stack.
const maxBlocks = 50_000

const errDepth = limit("include, tpl and template are limited to a depth of 1000")

// limited turns the panic of a limit into an error.
func limited(err *error) {
	switch r := recover().(type) {
	case nil:
	case limit:
		*err = r
	default:
		panic(r)
	}
}

// read notes where a text comes from.
func (t *trace) read(of *template.Template, w *written) { t.sources[of.Source] = w }

// readText notes where a text comes from that tpl is given.
func (t *trace) readText(of *template.Template, text string) {
	w := newWritten("", text)
	t.e.budget.charge(len(w.starts))
	w.lines = t.tracedOf(text)
	t.read(of, w)
}

// nodeOf is what is known of a text or an action.
func (t *trace) nodeOf(of *template.Template, n parse.Node) *node {
	known := t.nodes[n]
	if known == nil {
		w := t.sources[of.Source]
		known = &node{in: w, line: w.lineAt(int(n.Position()))}
		if action, ok := n.(*parse.ActionNode); ok {
			known.action = true
			known.chains = chainsIn(action.Pipe)
		}
		t.nodes[n] = known
	}
	return known
}

// Step charges for what is executed.
func (t *trace) Step(n int) error { return t.e.budget.take(n) }

// Text begins what a text prints.
func (t *trace) Text(of *template.Template, n *parse.TextNode) error {
	t.top().add(segment{node: t.nodeOf(of, n)})
	return nil
}

// Value begins what an action prints, and charges for it.
func (t *trace) Value(of *template.Template, n *parse.ActionNode, v reflect.Value, seen template.Scope) (err error) {
	defer limited(&err)
	if v.IsValid() && !t.e.budget.deep(v, 0) {
		return errCyclic
	}
	s := segment{node: t.nodeOf(of, n)}
	if text, ok := stringOf(v); ok {
		s.value = t.tracedOf(text)
	}
	if s.value == nil {
		t.e.budget.charge(len(s.node.chains) * seen.Steps())
		s.cands = t.scalars(s.node, seen)
	}
	t.top().add(s)
	return nil
}

// Enter counts how deeply template actions are nested.
func (t *trace) Enter() error {
	if t.e.depth >= limits.ChartIncludes {
		return errDepth
	}
	t.e.depth++
	return nil
}

// Leave is the end of what Enter began.
func (t *trace) Leave() { t.e.depth-- }
