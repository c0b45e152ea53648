package rego

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/types"
)

// makeValue is the name of the function that turns an array, object or set with variables into a
// value.
const makeValue = guardPrefix + "value"

// hoister turns literals with variables into values before they are used. OPA binds variables to
// unevaluated literals and expands each literal at its first use. In a chain such as x := [a, a], y
// := [x, x], each assignment doubles the size of the expanded term. Without hoister, a rule could
// therefore exhaust memory in a single step, which nothing can interrupt. Values do not grow like
// this, because they share their members.
type hoister struct{ last int }

// hoist rewrites all bodies in compiled modules.
func hoist(modules map[string]*ast.Module) {
	var h hoister
	for _, m := range modules {
		for _, r := range m.Rules {
			for ; r != nil; r = r.Else {
				bound := ast.NewVarSet(ast.DefaultRootDocument.Value.(ast.Var), ast.InputRootDocument.Value.(ast.Var))
				for _, arg := range r.Head.Args {
					bound.Update(vars(arg))
				}
				r.Body = h.body(r.Body, bound)
				// A literal result becomes a value at the end of the body.
				for _, t := range []**ast.Term{&r.Head.Key, &r.Head.Value} {
					if *t == nil || !literal(*t) {
						continue
					}
					made, v := h.made(*t)
					made.Index = len(r.Body)
					r.Body, *t = append(r.Body, made), v
				}
			}
		}
	}
}

// made returns a new variable and an expression that assigns a literal's value to it.
func (h *hoister) made(t *ast.Term) (*ast.Expr, *ast.Term) {
	h.last++
	v := ast.VarTerm(fmt.Sprintf("__schedlint%d__", h.last))
	v.Location = t.Location
	op := ast.NewTerm((&ast.Builtin{Name: makeValue}).Ref())
	return &ast.Expr{Terms: []*ast.Term{op, t, v}, Location: t.Location, Generated: true}, v
}

// body rewrites a body. The variables in bound already have values when the body starts.
func (h *hoister) body(body ast.Body, bound ast.VarSet) ast.Body {
	bound = bound.Copy()
	var all ast.Body
	add := func(e *ast.Expr) {
		e.Index = len(all)
		all = append(all, e)
	}
	for _, e := range body {
		ast.NewGenericVisitor(func(x any) bool {
			switch x := x.(type) {
			case *ast.ArrayComprehension:
				x.Body = h.body(x.Body, bound)
			case *ast.SetComprehension:
				x.Body = h.body(x.Body, bound)
			case *ast.ObjectComprehension:
				x.Body = h.body(x.Body, bound)
			case *ast.Every:
				inner := bound.Copy()
				inner.Update(vars(x.Value))
				if x.Key != nil {
					inner.Update(vars(x.Key))
				}
				x.Body = h.body(x.Body, inner)
			default:
				return false
			}
			return true
		}).Walk(e)
		for _, made := range h.literals(e, bound) {
			add(made)
		}
		add(e)
		if !e.Negated {
			bound.Update(vars(e))
		}
	}
	return all
}

// literals replaces the literal operands of an expression with variables. It does not replace
// literals with unbound variables, because such literals are patterns.
func (h *hoister) literals(e *ast.Expr, bound ast.VarSet) (made []*ast.Expr) {
	terms, ok := e.Terms.([]*ast.Term)
	if !ok {
		return nil
	}
	for i, t := range terms[1:] {
		if !literal(t) || len(vars(t).Diff(bound)) > 0 {
			continue
		}
		one, v := h.made(t)
		one.With = e.With
		made, terms[i+1] = append(made, one), v
	}
	return made
}

// literal reports whether a term is a collection of constants and variables with at least one
// variable.
func literal(t *ast.Term) bool {
	switch t.Value.(type) {
	case *ast.Array, ast.Object, ast.Set:
	default:
		return false
	}
	plain, variables := true, false
	ast.WalkTerms(t, func(t *ast.Term) bool {
		switch t.Value.(type) {
		case ast.Var:
			variables = true
		case ast.Ref, ast.Call, *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
			plain = false
		}
		return !plain
	})
	return plain && variables
}

// vars returns the variables in an expression or term, excluding those inside comprehensions and
// "every" expressions.
func vars(x any) ast.VarSet {
	v := ast.NewVarVisitor().WithParams(ast.VarVisitorParams{SkipClosures: true, SkipRefCallHead: true})
	v.Walk(x)
	return v.Vars()
}

// value returns the makeValue function for an evaluation.
func (m *meter) value() *topdown.Builtin {
	return &topdown.Builtin{
		Decl: &ast.Builtin{Name: makeValue, Decl: types.NewFunction(types.Args(types.A), types.A)},
		Func: func(bctx topdown.BuiltinContext, operands []*ast.Term, iter func(*ast.Term) error) error {
			if bctx.Location != nil {
				m.at = bctx.Location
			}
			made := tour{meter: m, limit: maxItems, verb: "makes"}
			made.term(operands[0], 0)
			m.charge(made.items/walked + made.text/textStep/walked)
			return iter(operands[0])
		},
	}
}
