package chart

import (
	"reflect"
	"text/template/parse"
)

// chain is a chain of fields in an action, such as $x.image.tag: a base, which is the dot
// or a variable, and names. from is the index of the base among what emit is given.
type chain struct {
	base  string // "" is the dot
	names []string
	from  int
}

// chainsIn adds the chains of a pipeline, but not those of variables that it declares.
func chainsIn(p *parse.PipeNode, all []chain) []chain {
	for _, c := range p.Cmds {
		for _, arg := range c.Args {
			switch n := arg.(type) {
			case *parse.FieldNode:
				all = append(all, chain{names: n.Ident})
			case *parse.VariableNode:
				all = append(all, chain{base: n.Ident[0], names: n.Ident[1:]})
			case *parse.PipeNode:
				all = chainsIn(n, all)
			}
		}
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
