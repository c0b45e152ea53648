package rego

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// guardPrefix begins the names of guarded functions. OPA looks a function up among its own first,
// so a function cannot be replaced under its own name. Instead, guard renames the calls in compiled
// custom rules, and the evaluation gets functions with the new names.
const guardPrefix = "schedlint."

// guard renames the calls of built-in functions in compiled modules. It keeps the operators that
// unify, as OPA knows them by name; their cost is counted as steps.
func guard(modules map[string]*ast.Module) {
	for _, m := range modules {
		ast.NewGenericVisitor(func(x any) bool {
			switch x := x.(type) {
			case *ast.Expr:
				if terms, ok := x.Terms.([]*ast.Term); ok && len(terms) > 0 {
					terms[0] = guarded(terms[0])
				}
				for _, w := range x.With { // a function may be replaced by another one
					w.Target, w.Value = guarded(w.Target), guarded(w.Value)
				}
			case *ast.Term:
				if call, ok := x.Value.(ast.Call); ok && len(call) > 0 {
					call[0] = guarded(call[0])
				}
			}
			return false
		}).Walk(m)
	}
}

// guarded replaces the name of a built-in function by that of the guarded one. Other terms stay.
// All of OPA shares the terms of operators, so guarded never changes a term.
func guarded(t *ast.Term) *ast.Term {
	ref, ok := t.Value.(ast.Ref)
	if !ok {
		return t
	}
	name := ref.String()
	if _, known := bounds()[name]; !known {
		return t
	}
	return &ast.Term{Value: (&ast.Builtin{Name: guardPrefix + name}).Ref(), Location: t.Location}
}

// functions returns the guarded functions for one evaluation. Their keys are their references as
// text, as OPA looks them up: a name that is a keyword, such as contains, is quoted there.
func (m *meter) functions() map[string]*topdown.Builtin {
	all := map[string]*topdown.Builtin{makeValue: m.value()}
	for _, b := range capabilities().Builtins {
		bound, ok := bounds()[b.Name]
		if !ok {
			continue
		}
		decl := *b
		decl.Name = guardPrefix + b.Name
		all[decl.Ref().String()] = &topdown.Builtin{Decl: &decl, Func: m.guarded(b.Name, bound, topdown.GetBuiltin(b.Name))}
	}
	return all
}

// guarded charges for a call before it is made, refuses it if its result would be too large, and
// charges for the result.
func (m *meter) guarded(name string, b bound, f topdown.BuiltinFunc) topdown.BuiltinFunc {
	arity := b.arity
	return func(bctx topdown.BuiltinContext, operands []*ast.Term, iter func(*ast.Term) error) error {
		if bctx.Location != nil {
			m.at = bctx.Location
		}
		args := operands[:min(arity, len(operands))]
		var read size
		for _, arg := range args {
			read = read.plus(b.reads(m, arg))
		}
		m.charge(read.steps())
		if b.work != nil {
			m.charge(b.work(m, args))
		}
		if b.makes != nil {
			m.fits(name, b.makes(m, args))
		}
		return f(bctx, operands, func(result *ast.Term) error {
			if result != nil {
				made := m.outer(result)
				if pair, ok := result.Value.(*ast.Array); ok && name == "walk" && pair.Len() == 2 {
					made = made.plus(m.outer(pair.Elem(0))) // the path to the value
				}
				m.fits(name, made)
				m.charge(made.steps())
			}
			return iter(result)
		})
	}
}

// fits refuses a result that is too large.
func (m *meter) fits(name string, made size) {
	name = strings.TrimPrefix(name, "internal.")
	switch {
	case made.text > maxText:
		m.refuse("%s makes a string of more than 1 MiB", name)
	case made.items > maxItems:
		m.refuse("%s makes a value with more than %d members", name, maxItems)
	}
}
