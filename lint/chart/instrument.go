package chart

import (
	"fmt"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

// instrument puts hooks into the templates of all files.
func (t *trace) instrument(root *template.Template) error {
	files := map[string]*written{}
	for _, one := range root.Templates() {
		tree := one.Tree
		if tree == nil || tree.Root == nil || t.done[tree] {
			continue
		}
		s := t.e.templates[tree.ParseName]
		if files[s.name] == nil {
			files[s.name] = newWritten(s.file, s.text)
		}
		if err := t.tree(files[s.name], tree); err != nil {
			return err
		}
	}
	return nil
}

// instrumentText puts hooks into a text that tpl is given, and into its definitions.
func (t *trace) instrumentText(own *template.Template, text string) error {
	w := newWritten("", text)
	w.lines = t.tracedOf(text)
	all := append(own.Templates(), own)
	t.e.budget.charge(len(all) + len(w.starts))
	for _, one := range all {
		if one.Tree == nil || one.Tree.Root == nil || t.done[one.Tree] {
			continue
		}
		if err := t.tree(w, one.Tree); err != nil {
			return err
		}
	}
	return nil
}

func (t *trace) tree(w *written, tree *parse.Tree) (err error) {
	t.done[tree] = true
	i := &instrumenter{t: t, in: w}
	i.list(tree.Root, 0)
	return i.err
}

// instrumenter puts hooks into one tree.
type instrumenter struct {
	t   *trace
	in  *written
	err error
}

// maxBlocks is how deeply blocks and parentheses may be nested in a template.
const maxBlocks = 1000

func (i *instrumenter) fail(at parse.Pos, format string, args ...any) {
	if i.err == nil {
		i.err = &Problem{File: i.in.file, Line: i.in.lineAt(int(at)), Detail: fmt.Sprintf(format, args...), Refused: true}
	}
}

// list puts hooks into a list: one at its start counts what is in it.
func (i *instrumenter) list(l *parse.ListNode, depth int) {
	if l == nil {
		return
	}
	if depth > maxBlocks {
		i.fail(l.Pos, "blocks are limited to a depth of %d", maxBlocks)
		return
	}
	out := []parse.Node{nil}
	cost := 1
	for _, n := range l.Nodes {
		cost++
		switch n := n.(type) {
		case *parse.TextNode:
			out = append(out, hook(n.Pos, hookAt, number(i.add(n.Pos, false))), n)
		case *parse.ActionNode:
			cost += i.pipe(n.Pipe, 0)
			i.action(n)
			out = append(out, n)
		case *parse.TemplateNode:
			cost += i.pipe(n.Pipe, 0)
			out = append(out, hook(n.Pos, hookEnter), n, hook(n.Pos, hookLeave))
		case *parse.IfNode:
			cost += i.branch(&n.BranchNode, depth)
			out = append(out, n)
		case *parse.WithNode:
			cost += i.branch(&n.BranchNode, depth)
			out = append(out, n)
		case *parse.RangeNode:
			cost += i.branch(&n.BranchNode, depth)
			out = append(out, n)
		default:
			out = append(out, n)
		}
	}
	out[0] = hook(l.Pos, hookStep, number(cost))
	l.Nodes = out
}

func (i *instrumenter) branch(b *parse.BranchNode, depth int) int {
	i.list(b.List, depth+1)
	i.list(b.ElseList, depth+1)
	return i.pipe(b.Pipe, 0)
}

// add numbers a node.
func (i *instrumenter) add(at parse.Pos, action bool) int {
	i.t.nodes = append(i.t.nodes, &node{in: i.in, line: i.in.lineAt(int(at)), action: action})
	return len(i.t.nodes) - 1
}

// action makes emit the last function of an action that prints.
func (i *instrumenter) action(n *parse.ActionNode) {
	if len(n.Pipe.Decl) > 0 {
		return
	}
	index := i.add(n.Pos, true)
	args := []parse.Node{parse.NewIdentifier(hookEmit).SetPos(n.Pos), number(index), &parse.DotNode{NodeType: parse.NodeDot}}
	names := []string{""}
	all := chainsIn(n.Pipe)
	for at := range all {
		base := slices.Index(names, all[at].base)
		if base < 0 {
			base = len(names)
			names = append(names, all[at].base)
			args = append(args, &parse.VariableNode{NodeType: parse.NodeVariable, Ident: []string{all[at].base}})
		}
		all[at].from = base
	}
	i.t.nodes[index].chains = all
	n.Pipe.Cmds = append(n.Pipe.Cmds, command(n.Pos, args...))
}

// methodCost is what methods of .Files take, in parts of what all files are.
var methodCost = map[string]bool{"Lines": true, "AsConfig": true, "AsSecrets": true, "Glob": true}

// pipe counts what a pipeline has, and finds what templates must not use.
func (i *instrumenter) pipe(p *parse.PipeNode, depth int) (cost int) {
	if p == nil {
		return 0
	}
	if depth > maxBlocks {
		i.fail(p.Pos, "parentheses are limited to a depth of %d", maxBlocks)
		return 0
	}
	for _, c := range p.Cmds {
		for _, arg := range c.Args {
			cost += 1 + i.argument(arg, depth)
		}
	}
	return cost
}

func (i *instrumenter) argument(n parse.Node, depth int) int {
	switch n := n.(type) {
	case *parse.PipeNode:
		return i.pipe(n, depth+1)
	case *parse.IdentifierNode:
		if strings.HasPrefix(n.Ident, "schedlint") {
			i.fail(n.Pos, "function %q not defined", n.Ident)
		}
	case *parse.FieldNode:
		return i.fields(n.Pos, n.Ident)
	case *parse.VariableNode:
		return i.fields(n.Pos, n.Ident[1:])
	case *parse.ChainNode:
		if depth > maxBlocks {
			i.fail(n.Pos, "parentheses are limited to a depth of %d", maxBlocks)
			return 0
		}
		return i.fields(n.Pos, n.Field) + i.argument(n.Node, depth+1)
	}
	return 0
}

// fields counts methods that look at everything, and refuses the one that prints values
// without being counted.
func (i *instrumenter) fields(at parse.Pos, names []string) int {
	cost := len(names)
	for _, name := range names {
		if name == "YAML" {
			i.fail(at, ".YAML is not supported: use toYaml")
		}
		if methodCost[name] {
			cost += i.t.e.fileBytes/bytesPerStep + i.t.e.fileCount
		}
	}
	return cost
}

// hook is an action that calls one of the hooks, at the position of what it is for.
func hook(at parse.Pos, name string, args ...parse.Node) *parse.ActionNode {
	all := append([]parse.Node{parse.NewIdentifier(name).SetPos(at)}, args...)
	call := &parse.PipeNode{NodeType: parse.NodePipe, Pos: at, Cmds: []*parse.CommandNode{command(at, all...)}}
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: at, Pipe: call}
}

func command(at parse.Pos, args ...parse.Node) *parse.CommandNode {
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: at, Args: args}
}

func number(n int) *parse.NumberNode {
	return &parse.NumberNode{NodeType: parse.NodeNumber, IsInt: true, Int64: int64(n), Text: fmt.Sprint(n)}
}
