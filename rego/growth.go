package rego

import (
	"math/big"
	"regexp/syntax"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// text returns the value of a string term, or "" for any other term. Functions reject arguments of
// a wrong type themselves.
func text(t *ast.Term) string {
	s, _ := t.Value.(ast.String)
	return string(s)
}

// members returns the values in an array, a set or an object.
func members(t *ast.Term) []*ast.Term {
	var all []*ast.Term
	switch v := t.Value.(type) {
	case *ast.Array:
		v.Foreach(func(t *ast.Term) { all = append(all, t) })
	case ast.Set:
		all = v.Slice()
	case ast.Object:
		v.Foreach(func(_, value *ast.Term) { all = append(all, value) })
	}
	return all
}

// joined returns the size of the result of concat.
func joined(m *meter, args []*ast.Term) size {
	all := members(args[1])
	made := int64(len(text(args[0]))) * int64(max(0, len(all)-1))
	for _, t := range all {
		made += m.outer(t).text
	}
	return size{text: made}
}

// replaced returns an upper bound on the size of the result of replace.
func replaced(_ *meter, args []*ast.Term) size {
	s, old, with := text(args[0]), text(args[1]), text(args[2])
	return size{text: int64(len(s)) + int64(strings.Count(s, old))*int64(max(0, len(with)-len(old)))}
}

// replacedAll returns an upper bound on the size of the result of strings.replace_n. It assumes
// that the shortest pattern matches everywhere and is replaced by the longest replacement.
func replacedAll(_ *meter, args []*ast.Term) size {
	patterns, ok := args[0].Value.(ast.Object)
	if !ok {
		return size{}
	}
	shortest, longest := int64(maxText), int64(0)
	patterns.Foreach(func(pattern, with *ast.Term) {
		shortest, longest = min(shortest, int64(len(text(pattern)))), max(longest, int64(len(text(with))))
	})
	n := int64(len(text(args[1])))
	return size{text: n + (n/max(1, shortest)+1)*longest}
}

// replacedPattern returns an upper bound on the size of the result of regex.replace. It assumes
// one replacement per character. The matches do not overlap, so each group that the replacement
// names adds at most the length of the string.
func replacedPattern(_ *meter, args []*ast.Term) size {
	n, with := int64(len(text(args[0]))), text(args[2])
	return size{text: n + (n+1)*int64(len(with)) + n*int64(strings.Count(with, "$"))}
}

// written returns an upper bound on the size of a template string. Its string parts are copied.
// The values of an expression in it are the members of a set.
func written(_ *meter, args []*ast.Term) size {
	var made size
	for _, part := range members(args[0]) {
		if _, ok := part.Value.(ast.String); ok {
			made.text += int64(len(text(part)))
			continue
		}
		for _, value := range members(part) {
			made.text += plain(value)
		}
	}
	return made
}

// plain returns the length of a string without quotes, or an upper bound on the length of another
// value.
func plain(t *ast.Term) int64 {
	if s, ok := t.Value.(ast.String); ok {
		return int64(len(s))
	}
	return length(t)
}

// marshalled returns an upper bound on the size of the result of json.marshal.
func marshalled(_ *meter, args []*ast.Term) size { return size{text: length(args[0])} }

// length returns an upper bound on the length of a value in JSON or Rego.
func length(t *ast.Term) int64 {
	const punctuation = 6 // brackets, comma and colon, set() or a word such as false
	switch v := t.Value.(type) {
	case ast.String:
		return 2 + escaped(string(v))
	case ast.Number:
		return int64(len(v))
	}
	n := int64(punctuation)
	for _, member := range members(t) {
		n += length(member) + punctuation
	}
	if object, ok := t.Value.(ast.Object); ok {
		object.Foreach(func(key, _ *ast.Term) { n += length(key) })
	}
	return n
}

// escaped returns an upper bound on the length of a string with escape sequences.
func escaped(s string) int64 {
	const longest = 6 // \u0000
	n := int64(len(s))
	for _, c := range []byte(s) {
		if c < ' ' || c == '<' || c == '>' || c == '&' || c >= 0x7f {
			n += longest - 1
		} else if c == '"' || c == '\\' {
			n++
		}
	}
	return n
}

// parts returns the number of parts that a separator splits a string into.
func parts(_ *meter, args []*ast.Term) size {
	return size{items: int64(strings.Count(text(args[0]), text(args[1]))) + 1}
}

// submatches returns an upper bound on the size of the result of regex.find_all_string_submatch_n.
// It assumes that every group of the pattern matches at every character.
func submatches(_ *meter, args []*ast.Term) size {
	return size{items: (int64(len(text(args[1]))) + 1) * int64(strings.Count(text(args[0]), "(")+1)}
}

// added returns the sum of the sizes of two values.
func added(m *meter, args []*ast.Term) size { return m.outer(args[0]).plus(m.outer(args[1])) }

// flattened returns the size of a value plus the sizes of its members.
func flattened(m *meter, args []*ast.Term) size {
	all := members(args[0])
	made := size{items: int64(len(all))}
	for _, t := range all {
		made.items += m.outer(t).items
	}
	return made
}

// counted returns the size of the result of numbers.range.
func counted(m *meter, args []*ast.Term) size {
	from, ok := integer(args[0])
	to, both := integer(args[1])
	if !ok || !both {
		return size{}
	}
	n := from.Sub(to, from)
	if n.Abs(n); !n.IsInt64() {
		return size{items: maxItems + 1}
	}
	return size{items: n.Int64() + 1}
}

func integer(t *ast.Term) (*big.Int, bool) {
	n, ok := t.Value.(ast.Number)
	if !ok {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok || !r.IsInt() {
		return nil, false
	}
	return r.Num(), true
}

// multiplied refuses a product whose digits would fill memory.
func multiplied(m *meter, args []*ast.Term) int64 {
	var digits int64
	for _, t := range members(args[0]) {
		if n, ok := t.Value.(ast.Number); ok && len(n) > 1 {
			digits += magnitude(string(n))
		}
	}
	if digits > maxDigits {
		m.refuse("makes a number with more than %d digits", maxDigits)
	}
	return 0
}

// parsed returns the work of json.unmarshal. JSON text can have a member for every second byte.
func parsed(_ *meter, args []*ast.Term) int64 { return int64(len(text(args[0]))) / 2 }

// product returns the work of searching for one value at every position in another.
func product(m *meter, args []*ast.Term) int64 {
	a, b := m.outer(args[0]), m.outer(args[1])
	return (a.text + a.items) * (b.text + b.items) / 1024
}

// searching returns the work of comparing a value with every member of an array.
func searching(value int) func(*meter, []*ast.Term) int64 {
	return func(m *meter, args []*ast.Term) int64 {
		among := args[len(args)-1]
		if _, ok := among.Value.(ast.Set); ok {
			return 0 // sets find a member without a search
		}
		return m.whole(args[value]).steps() * m.outer(among).items
	}
}

// Limits on patterns.
const (
	maxGlob    = 1000   // bytes
	maxPattern = 10_000 // bytes, and instructions of the compiled regular expression
)

// globbing returns the work of glob.match.
func globbing(m *meter, args []*ast.Term) int64 {
	pattern, match := int64(len(text(args[0]))), int64(len(text(args[2])))
	if pattern > maxGlob {
		m.refuse("uses a glob pattern of more than %d bytes", maxGlob)
	}
	return pattern * match / textStep
}

// matching returns the work of matching a regular expression, which is at most its compiled size
// times the length of the string. Its arguments are the indices of the two operands.
func matching(pattern, match int) func(*meter, []*ast.Term) int64 {
	return func(m *meter, args []*ast.Term) int64 {
		return m.pattern(text(args[pattern])) * (int64(len(text(args[match]))) + 1) / textStep
	}
}

// pattern returns the number of instructions of a compiled regular expression.
func (m *meter) pattern(p string) int64 {
	if len(p) > maxPattern {
		m.refuse("uses a regular expression of more than %d bytes", maxPattern)
	}
	n, known := m.patterns[p]
	if !known {
		n = instructions(p)
		m.patterns[p] = n
		m.charge(n)
	}
	if n > maxPattern {
		m.refuse("uses a regular expression of more than %d instructions", maxPattern)
	}
	return n
}

func instructions(p string) int64 {
	parsed, err := syntax.Parse(p, syntax.Perl)
	if err != nil {
		return 1
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 1
	}
	return int64(len(program.Inst))
}

// guardPrefix is the prefix of the names of guarded functions. OPA prefers its own functions to
// functions with the same names that are passed to a query. Therefore, guard renames the calls in
// compiled custom rules, and each evaluation passes functions with the new names.
const guardPrefix = "schedlint."

// guard renames the calls of built-in functions in compiled modules. It does not rename the
// operators for unification, because OPA identifies them by name. Their cost is counted in steps.
func guard(modules map[string]*ast.Module) {
	for _, m := range modules {
		ast.NewGenericVisitor(func(x any) bool {
			switch x := x.(type) {
			case *ast.Expr:
				if terms, ok := x.Terms.([]*ast.Term); ok && len(terms) > 0 {
					terms[0] = guarded(terms[0])
				}
				for _, w := range x.With { // with may replace a function by another one
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

// guarded returns a term with the name of the guarded function if t is the name of a built-in
// function. Otherwise it returns t. It never modifies t, because all of OPA shares the terms for
// operators.
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

// functions returns the guarded functions for one evaluation. OPA looks them up by the text form
// of their references, in which a keyword such as contains is quoted.
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

// guarded returns a function that charges for a call of f, refuses the call if its result would be
// too large, and charges for the result.
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
					made = made.plus(m.outer(pair.Elem(0))) // size of the path to the value
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
