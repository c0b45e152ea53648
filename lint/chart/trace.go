package chart

import (
	"bytes"
	"reflect"
	"slices"
	"sort"
	"strings"
	"text/template/parse"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/chart/template"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
)

// trace records which template node printed which part of a string.
//
// Before a node prints, trace records the current length of the frame's text. It identifies a
// string by the address of its bytes. The address stays the same when templates pass the string on.
type trace struct {
	e       *engine
	frames  []*frame
	sources map[*template.Source]*written
	nodes   map[parse.Node]*node
	texts   map[*byte]*traced
	index   *index
	// condition is the innermost if action that is being executed, or nil.
	condition *condition
	// omitted holds the if actions that left out a workload, and makes whether a branch has one.
	omitted []omission
	makes   map[*parse.ListNode]bool
}

// omission is an if action that left out a workload.
type omission struct {
	at *node
	*condition
}

// frame is a string that is being printed. It is the output of a template file, include or tpl.
type frame struct {
	text     bytes.Buffer
	segments []segment
	// called is the outermost template action that is being executed, or nil. calls counts the
	// nested ones.
	called *node
	calls  int
}

// segment is the output of one node. It ends at the offset of the next segment.
type segment struct {
	from  int
	node  *node
	value *traced     // set if an action prints a string with known origins
	cands []candidate // set if an action prints a value
	// called is the template action in the frame's own template that leads to node, or nil.
	called    *node
	condition *condition
}

// written is the text of a template file, or an argument of tpl.
type written struct {
	file   string
	starts []int   // offsets of the lines
	lines  *traced // origins of an argument of tpl, or nil if unknown
}

// node is a text node or an action of a template.
type node struct {
	in     *written
	line   int
	action bool
	chains []chain // of an action
}

// origin is the position in the templates at which a line was written. The field "in" is nil if the
// position is unknown.
type origin struct {
	in    *written
	line  int
	exact bool
	cands []candidate
	// call is the node in the outermost template of the frame that led to the line.
	call      *node
	condition *condition
}

// condition is an if action that is being executed. paths and values are those of the fields in its
// condition.
type condition struct {
	outer  *condition
	paths  []*fieldPath
	values []any
	told   *Condition // see (*trace).told; done is set if it is known
	done   bool
}

// traced is a string with the origin of each of its lines.
type traced struct {
	text  string // keeps the address from being reused
	lines []origin
}

func (t *trace) top() *frame { return t.frames[len(t.frames)-1] }

// add begins a segment. It replaces the previous segment if that one is empty.
func (f *frame) add(s segment) {
	s.from, s.called = f.text.Len(), f.called
	if n := len(f.segments); n > 0 && f.segments[n-1].from == s.from {
		f.segments[n-1] = s
		return
	}
	f.segments = append(f.segments, s)
}

func stringOf(v reflect.Value) (string, bool) {
	if v = concrete(v); v.Kind() == reflect.String {
		return v.String(), true
	}
	return "", false
}

// lineAt returns the line number of an offset, counted from 1.
func (w *written) lineAt(offset int) int { return sort.SearchInts(w.starts, offset+1) }

func newWritten(file, text string) *written {
	w := &written{file: file, starts: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			w.starts = append(w.starts, i+1)
		}
	}
	return w
}

// origins returns the origins of the lines of a manifest.
func (t *trace) origins(f *frame) []Origin {
	lines := t.lines(f)
	if n := len(lines); n > 0 && (f.text.Len() == 0 || f.text.Bytes()[f.text.Len()-1] == '\n') {
		lines = lines[:n-1]
	}
	all := make([]Origin, len(lines))
	texts := strings.Split(string(withoutNoValue(f.text.Bytes())), "\n")
	for i, o := range lines {
		all[i] = Origin{Template: o.in.file, Line: o.line, Exact: o.exact, Values: chosen(o.cands, texts[i], false), Item: chosen(o.cands, texts[i], true), Condition: t.told(o.condition)}
		if o.call != nil && o.call.in.file != "" {
			all[i].Call = Place{File: o.call.in.file, Line: o.call.line}
		}
	}
	return all
}

// maxBlocks is the maximum nesting depth of blocks, parentheses and templates, including included
// templates. A level takes about a kilobyte of stack.
const maxBlocks = 50_000

const errDepth = limit("include, tpl and template are limited to a depth of 1000")

// limited turns a panic into an error if the panic value is a limit.
func limited(err *error) {
	switch r := recover().(type) {
	case nil:
	case limit:
		*err = r
	default:
		panic(r)
	}
}

// nodeOf returns the record of a text node or an action.
func (t *trace) nodeOf(of *template.Template, n parse.Node) *node {
	known := t.nodes[n]
	if known == nil {
		w := t.sources[of.Source]
		known = &node{in: w, line: w.lineAt(int(n.Position()))}
		switch n := n.(type) {
		case *parse.ActionNode:
			known.action = true
			known.chains = outcomeIn(n.Pipe).chains
		case *parse.IfNode:
			known.chains = chainsIn(nil, n.Pipe)
		}
		t.nodes[n] = known
	}
	return known
}

// Step charges for n steps in advance.
func (t *trace) Step(n int) error { return t.e.budget.take(n) }

// Text begins the segment of a text node.
func (t *trace) Text(of *template.Template, n *parse.TextNode) error {
	t.top().add(segment{node: t.nodeOf(of, n), condition: t.condition})
	return nil
}

// Value begins the segment of an action and charges for its value.
func (t *trace) Value(of *template.Template, n *parse.ActionNode, v reflect.Value, seen template.Scope) (err error) {
	defer limited(&err)
	if v.IsValid() && !t.e.budget.deep(v, 0) {
		return errCyclic
	}
	s := segment{node: t.nodeOf(of, n), condition: t.condition}
	if text, ok := stringOf(v); ok {
		s.value = t.tracedOf(text)
	} else if one := concrete(v); one.Kind() == reflect.Float64 {
		s.cands = t.index.sources.scalar(t.index.valuePath(one.Interface()), one.Interface())
	}
	if s.value == nil && s.cands == nil {
		t.e.budget.charge(len(s.node.chains) * seen.Steps())
		// A field whose value an action may have printed is a candidate, unless its value equals a rival.
		var all []candidate
		for _, c := range s.node.chains {
			p, v := t.follow(c, seen)
			for _, found := range t.index.sources.scalar(p, v) {
				if !slices.ContainsFunc(c.rivals, func(r string) bool { return same(r, found.scalar) }) {
					all = append(all, found)
				}
			}
		}
		s.cands = all
	}
	t.top().add(s)
	return nil
}

// Branch begins an if action.
func (t *trace) Branch(of *template.Template, n *parse.IfNode, omitted *parse.ListNode, seen template.Scope) (err error) {
	defer limited(&err)
	at, c := t.nodeOf(of, n), &condition{outer: t.condition}
	t.e.budget.charge(len(at.chains) * seen.Steps())
	for _, one := range at.chains {
		if p, v := t.follow(one, seen); p != nil && !isContainer(v) {
			c.paths, c.values = append(c.paths, p), append(c.values, v)
		}
	}
	t.condition = c
	if len(c.paths) > 0 && len(t.omitted) < maxOmitted && lazy.Cached(t.makes, omitted, func() bool { return makesPods(omitted) }) {
		t.omitted = append(t.omitted, omission{at, c})
	}
	return nil
}

// maxOmitted is the maximum number of if actions that are recorded because they leave out workloads.
const maxOmitted = 1000

// workload matches the kind of an object that makes pods.
var workload = lazy.Regexp(`(?m)^kind: "?(Deployment|StatefulSet|DaemonSet|ReplicaSet|Job|CronJob|Pod)"?\s*$`)

// makesPods reports whether a branch has the text of a workload.
func makesPods(l *parse.ListNode) bool {
	if l == nil {
		return false
	}
	for _, n := range l.Nodes {
		if text, ok := n.(*parse.TextNode); ok && workload().Match(text.Text) {
			return true
		}
	}
	return false
}

// omissions returns the values that leave out workloads.
func (t *trace) omissions() []Omission {
	var all []Omission
	for _, o := range t.omitted {
		if c := t.told(o.condition); c != nil && o.at.in.file != "" {
			one := Omission{Template: o.at.in.file, Places: c.Places}
			if !slices.ContainsFunc(all, func(known Omission) bool {
				return known.Template == one.Template && slices.Equal(known.Places, one.Places)
			}) {
				all = append(all, one)
			}
		}
	}
	return all
}

// Join ends the if action that Branch began.
func (t *trace) Join() { t.condition = t.condition.outer }

// told returns the conditions of a line in the form of the result. It leaves out those whose values
// are set nowhere.
func (t *trace) told(c *condition) *Condition {
	switch {
	case c == nil:
		return nil
	case c.done:
		return c.told
	}
	c.done, c.told = true, t.told(c.outer)
	var places []Place
	for i, p := range c.paths {
		for _, found := range t.index.sources.scalar(p, c.values[i]) {
			if !slices.Contains(places, found.place) {
				places = append(places, found.place)
			}
		}
	}
	if len(places) > 0 {
		c.told = &Condition{c.told, places}
	}
	return c.told
}

// Enter begins a level of nested templates.
func (t *trace) Enter(of *template.Template, n *parse.TemplateNode) error {
	if t.e.depth >= limits.ChartIncludes {
		return errDepth
	}
	t.e.depth++
	f := t.top()
	if f.calls++; f.calls == 1 {
		f.called = t.nodeOf(of, n)
	}
	return nil
}

// Leave ends the level that Enter began.
func (t *trace) Leave() {
	t.e.depth--
	f := t.top()
	if f.calls--; f.calls == 0 {
		f.called = nil
	}
}

// walk walks a value and its toYaml output in parallel. It records where the value on each line was
// set.
type walk struct {
	t     *trace
	texts []string
	lines []origin
	found bool
}

// walk pairs a YAML node with a value. p is the path of the value, or nil if it is unknown.
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
				w.value(nil, item, list[i], p.at(i), depth)
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
			w.value(key, n.Content[i+1], value, p.of(key.Value), depth)
		}
	}
}

// value pairs the YAML of one field or item with its value.
func (w *walk) value(key, n *kyaml.Node, v any, p *fieldPath, depth int) {
	if own := w.t.index.pathOf(v); own != nil {
		p = own
	}
	if n.Kind != kyaml.ScalarNode {
		if key != nil {
			// The line with its key gets the position of a map or list.
			if found, ok := w.t.index.sources.container(p, n.Kind); ok {
				w.set(key.Line, candidate{place: found.at(found.key), path: p})
			}
		}
		w.walk(n, v, p, depth+1)
		return
	}
	if own := w.t.index.valuePath(v); own != nil {
		p = own
	}
	for _, c := range w.t.index.sources.scalar(p, v) {
		first := n.Line
		if key != nil {
			first = key.Line
		}
		for line := first; line <= first+strings.Count(n.Value, "\n") && line <= len(w.texts); line++ {
			w.set(line, candidate{place: c.place, path: p})
		}
	}
}

// item records the position of a map in a list for the line on which the map begins.
func (w *walk) item(n *kyaml.Node, p *fieldPath) {
	if p == nil || p.parent == nil || p.item < 0 || len(n.Content) == 0 {
		return
	}
	found, ok := w.t.index.sources.container(p, kyaml.MappingNode)
	if !ok || found.value == nil {
		return
	}
	of := plain(found.value)
	if key, _ := found.in.child(of, step{n.Content[0].Value, -1}, 0); key == nil {
		return // a function has added the first entry
	}
	if of.Style&kyaml.FlowStyle == 0 {
		of = of.Content[0] // an anchor may be several lines further up
	}
	w.set(n.Line, candidate{place: found.at(of), path: p, begins: true})
}

// set records a candidate for a line of the text, counted from 1.
func (w *walk) set(line int, c candidate) {
	o := &w.lines[line-1]
	w.found = true
	c.whole = w.texts[line-1]
	o.cands = append(o.cands, c)
}
