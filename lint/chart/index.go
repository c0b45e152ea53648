package chart

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"
	"unsafe"

	"github.com/schedlint/schedlint/lint/chart/chartutil"
	"github.com/schedlint/schedlint/lint/chart/template"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
)

// index maps values to their paths in the merged values of the chart. It identifies a value by its
// address, because templates pass on maps, lists and strings without copying them.
type index struct {
	containers map[container]*fieldPath
	scalars    map[*byte]*fieldPath // by address
	sources    *sources
}

// container is the address of a map or of the first item of a list.
type container struct {
	at  unsafe.Pointer // keeps the container alive
	len int            // length of a list, or -1 for a map
}

// fieldPath is the path of a value. It consists of the path of the enclosing map or list and the
// key or index of the value. The path of the root has no parent.
type fieldPath struct {
	parent *fieldPath
	key    string // key in a map
	item   int    // index in a list, or -1 for a key
	// other is a further path of the value, with lower precedence, or nil. A map into which others
	// were merged has several.
	other *fieldPath
	// fixed is set instead of all other fields if only the position of the value is known.
	fixed Place
}

// step is one element of a path.
type step struct {
	key  string
	item int
}

// steps returns the elements of a path, starting at the root.
func (p *fieldPath) steps() []step {
	var all []step
	for ; p != nil && p.parent != nil; p = p.parent {
		all = append(all, step{p.key, p.item})
	}
	slices.Reverse(all)
	return all
}

func (p *fieldPath) of(key string) *fieldPath { return p.child(step{key, -1}) }

func (p *fieldPath) at(item int) *fieldPath { return p.child(step{item: item}) }

// child returns the path of a value in a map or list, or nil if p is nil.
func (p *fieldPath) child(s step) *fieldPath {
	if p == nil || p.fixed != (Place{}) {
		return nil
	}
	return &fieldPath{parent: p, key: s.key, item: s.item, other: p.other.child(s)}
}

// add adds a value and everything in it. If a value occurs at several paths, the first one in key
// order is kept. Globals, for example, occur at several paths.
func (x *index) add(v any, p *fieldPath, depth int) {
	if depth > limits.ChartNesting {
		return
	}
	if at := boxOf(v); at != nil {
		x.scalars[at] = cmp.Or(x.scalars[at], p)
		return
	}
	id, ok := identity(v)
	if !ok || x.containers[id] != nil {
		return
	}
	x.containers[id] = p
	if list, ok := v.([]any); ok {
		for i, item := range list {
			x.add(item, p.at(i), depth+1)
		}
		return
	}
	table := tableOf(v)
	for _, key := range sorting.Keys(table) {
		x.add(table[key], p.of(key), depth+1)
	}
}

// identity returns the address of a map or list. An empty list has no address.
func identity(v any) (container, bool) {
	if list, ok := v.([]any); ok {
		return container{unsafe.Pointer(unsafe.SliceData(list)), len(list)}, len(list) > 0
	}
	if table := tableOf(v); table != nil {
		return container{reflect.ValueOf(table).UnsafePointer(), -1}, true
	}
	return container{}, false
}

// tableOf returns v as a map, or nil if it is not a map.
func tableOf(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return v
	case chartutil.Values:
		return v
	}
	return nil
}

func isContainer(v any) bool {
	_, list := v.([]any)
	return list || tableOf(v) != nil
}

// pathOf returns the path of a map or list. It returns nil if v is not part of the merged values.
func (x *index) pathOf(v any) *fieldPath {
	id, ok := identity(v)
	if !ok {
		return nil
	}
	return x.containers[id]
}

// chain is a field chain in an action, such as $x.image.tag. The base is the dot or a variable.
// rivals lists strings that the action may print instead of the value. If the value equals a rival,
// it is unknown which of them was printed.
type chain struct {
	base   string // "" for the dot
	names  []string
	rivals []string
}

// outcome describes what a pipeline may print. The field chains lists field chains whose values it
// may print. The field texts lists literal strings. The field open is set if the pipeline may print
// anything else.
type outcome struct {
	chains []chain
	texts  []string
	open   bool
}

// passing lists functions that print one of their arguments, possibly in another form. All other
// functions compute their result. A computed result does not come from a field, even if it equals
// the field's value.
var passing = strings.Fields(`quote squote toString toYaml toJson int int64 float64 required tpl
	trim trimSuffix trimPrefix trimAll trunc lower upper print indent nindent get index`)

// choosing contains the functions that print their first nonempty argument. It maps each name to a
// function that returns the arguments in the order in which they are checked.
var choosing = map[string]func(args []outcome) []outcome{
	"coalesce": func(args []outcome) []outcome { return args },
	"or":       func(args []outcome) []outcome { return args },
	"default":  func(args []outcome) []outcome { slices.Reverse(args); return args },
}

// outcomeIn returns the possible output of a pipeline.
func outcomeIn(p *parse.PipeNode) outcome {
	var piped []outcome
	for _, c := range p.Cmds {
		name, nodes := "", c.Args
		if f, ok := nodes[0].(*parse.IdentifierNode); ok {
			name, nodes = f.Ident, nodes[1:]
		}
		args := lists.Of(nodes, outcomeOf)
		piped = []outcome{printedBy(name, append(args, piped...))}
	}
	return piped[0]
}

// printedBy returns the possible output of a function, given the possible values of its arguments.
func printedBy(name string, args []outcome) outcome {
	switch order := choosing[name]; {
	case order != nil:
		var all outcome // the function prints the first argument that is not empty
		for _, arg := range order(args) {
			all = all.with(arg.against(all))
		}
		return all
	case name == "ternary" && len(args) == 3:
		return args[0].against(args[1]).with(args[1].against(args[0]))
	case name != "" && !slices.Contains(passing, name), name == "" && len(args) > 1: // a method with arguments
		return outcome{open: true}
	}
	var all outcome
	for _, arg := range args {
		all = all.with(arg)
	}
	all.open = all.open || name == "get" || name == "index"
	return all
}

func (p outcome) with(other outcome) outcome {
	return outcome{slices.Concat(p.chains, other.chains), slices.Concat(p.texts, other.texts), p.open || other.open}
}

// against returns a copy of p with the strings of rival added to the rivals of each chain. If
// rival.open is set, any string may be a rival. The copy then has no chains.
func (p outcome) against(rival outcome) outcome {
	if rival.open {
		p.chains = nil
	}
	p.chains = slices.Clone(p.chains)
	for i := range p.chains {
		p.chains[i].rivals = slices.Concat(p.chains[i].rivals, rival.texts)
	}
	return p
}

func outcomeOf(arg parse.Node) outcome {
	switch n := arg.(type) {
	case *parse.DotNode:
		return outcome{chains: []chain{{}}, open: true}
	case *parse.FieldNode:
		return outcome{chains: []chain{{names: n.Ident}}}
	case *parse.VariableNode:
		return outcome{chains: []chain{{base: n.Ident[0], names: n.Ident[1:]}}, open: len(n.Ident) == 1}
	case *parse.PipeNode:
		return outcomeIn(n)
	case *parse.StringNode:
		return outcome{texts: []string{n.Text}}
	case *parse.NumberNode, *parse.BoolNode:
		return outcome{texts: []string{n.String()}}
	}
	return outcome{open: true}
}

// chainsIn appends all field chains in a condition.
func chainsIn(all []chain, n parse.Node) []chain {
	pipe, ok := n.(*parse.PipeNode)
	if !ok {
		return append(all, outcomeOf(n).chains...)
	}
	for _, c := range pipe.Cmds {
		for _, arg := range c.Args {
			all = chainsIn(all, arg)
		}
	}
	return all
}

// follow returns the value of a field chain and its path, or nil if it is unknown.
func (t *trace) follow(c chain, seen template.Scope) (*fieldPath, any) {
	base := seen.Dot
	if c.base != "" {
		base = seen.Variable(c.base)
	}
	if base = concrete(base); !base.IsValid() || !base.CanInterface() {
		return nil, nil
	}
	v, within := base.Interface(), (*fieldPath)(nil)
	for i, name := range c.names {
		table := tableOf(v)
		if table == nil {
			return nil, nil
		}
		if i == len(c.names)-1 {
			within = t.index.pathOf(v).of(name)
		}
		v = table[name]
	}
	if own := t.index.valuePath(v); own != nil {
		within = own
	}
	return within, v
}
