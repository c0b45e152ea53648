package chart

import (
	"reflect"
	"slices"
	"strings"
	"text/template/parse"
)

// chain is a chain of fields in an action, such as $x.image.tag: a base, which is the dot
// or a variable, and names. from is the index of the base among what emit is given.
type chain struct {
	base  string // "" is the dot
	names []string
	from  int
}

// passing are functions that print a value that they are given, or another form of it.
// What others print is computed, even where it happens to be the value of a field.
var passing = strings.Fields(`quote squote toString toYaml toJson int int64 float64 default coalesce or required tpl
	trim trimSuffix trimPrefix trimAll trunc lower upper print indent nindent ternary get index`)

// chainsIn adds the chains of a pipeline whose value it may print.
func chainsIn(p *parse.PipeNode, all []chain) []chain {
	for _, c := range p.Cmds {
		args := c.Args
		if f, ok := args[0].(*parse.IdentifierNode); ok {
			if !slices.Contains(passing, f.Ident) {
				return nil
			}
			if f.Ident == "ternary" { // which prints the condition never
				all, args = nil, args[:min(len(args), 3)]
			}
		}
		for _, arg := range args {
			all = chainOf(arg, all)
		}
	}
	return all
}

func chainOf(arg parse.Node, all []chain) []chain {
	switch n := arg.(type) {
	case *parse.FieldNode:
		return append(all, chain{names: n.Ident})
	case *parse.VariableNode:
		return append(all, chain{base: n.Ident[0], names: n.Ident[1:]})
	case *parse.PipeNode:
		return append(all, chainsIn(n, nil)...)
	}
	return all
}

// scalars are the places of the fields that an action names and whose value is the one
// that it prints.
func (t *trace) scalars(n *node, bases []reflect.Value, printed reflect.Value) []candidate {
	var all []candidate
	for _, c := range n.chains {
		if len(c.names) == 0 || c.from >= len(bases) {
			continue
		}
		if p, value := t.follow(bases[c.from], c.names); p != nil {
			all = append(all, t.index.sources.scalar(p, value)...)
		}
	}
	return all
}

// follow walks a chain through maps, and gives the path and the value that it leads to.
func (t *trace) follow(base reflect.Value, names []string) (*fieldPath, any) {
	base = concrete(base)
	if !base.IsValid() || !base.CanInterface() {
		return nil, nil
	}
	v := base.Interface()
	for _, name := range names[:len(names)-1] {
		v = tableOf(v)[name]
	}
	last := names[len(names)-1]
	if p := t.index.pathOf(v); p != nil {
		return p.of(last), tableOf(v)[last]
	}
	return nil, nil
}
