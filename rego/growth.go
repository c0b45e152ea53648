package rego

import (
	"math/big"
	"regexp/syntax"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// text returns a string term's value, or "" if the term is not a string. No error is needed,
// because OPA rejects arguments of the wrong type.
func text(t *ast.Term) string {
	s, _ := t.Value.(ast.String)
	return string(s)
}

// members returns the values in an array, set or object.
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

// joined returns the size of a concat result.
func joined(m *meter, args []*ast.Term) size {
	all := members(args[1])
	made := int64(len(text(args[0]))) * int64(max(0, len(all)-1))
	for _, t := range all {
		made += m.outer(t).text
	}
	return size{text: made}
}

// replaced returns an upper bound on the size of a replace result.
func replaced(_ *meter, args []*ast.Term) size {
	s, old, with := text(args[0]), text(args[1]), text(args[2])
	return size{text: int64(len(s)) + int64(strings.Count(s, old))*int64(max(0, len(with)-len(old)))}
}

// replacedAll returns an upper bound on the size of a strings.replace_n result. In the worst case,
// the shortest pattern matches everywhere and is replaced with the longest replacement.
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

// replacedPattern returns an upper bound on the size of a regex.replace result. It assumes one
// replacement per character. Because matches do not overlap, all insertions of one group together
// are at most as long as the string.
func replacedPattern(_ *meter, args []*ast.Term) size {
	n, with := int64(len(text(args[0]))), text(args[2])
	return size{text: n + (n+1)*int64(len(with)) + n*int64(strings.Count(with, "$"))}
}

// written returns an upper bound on the size of an evaluated template string. In the argument,
// literal parts are strings, and each expression is the set of its values.
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

// plain returns a string's length excluding quotes, or an upper bound on the length of any other
// value.
func plain(t *ast.Term) int64 {
	if s, ok := t.Value.(ast.String); ok {
		return int64(len(s))
	}
	return length(t)
}

// marshalled returns an upper bound on the size of a json.marshal result.
func marshalled(_ *meter, args []*ast.Term) size { return size{text: length(args[0])} }

// length returns an upper bound on a value's length when written as JSON or Rego.
func length(t *ast.Term) int64 {
	const punctuation = 6 // brackets, comma and colon, or set(), or a word such as false
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

// escaped returns an upper bound on a string's length after escaping.
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

// parts returns how many parts a separator splits a string into.
func parts(_ *meter, args []*ast.Term) size {
	return size{items: int64(strings.Count(text(args[0]), text(args[1]))) + 1}
}

// submatches returns an upper bound on the size of a regex.find_all_string_submatch_n result. It
// assumes that every group matches at every character.
func submatches(_ *meter, args []*ast.Term) size {
	return size{items: (int64(len(text(args[1]))) + 1) * int64(strings.Count(text(args[0]), "(")+1)}
}

// added returns the sum of the sizes of two values.
func added(m *meter, args []*ast.Term) size { return m.outer(args[0]).plus(m.outer(args[1])) }

// flattened returns a value's size plus the sizes of its members.
func flattened(m *meter, args []*ast.Term) size {
	all := members(args[0])
	made := size{items: int64(len(all))}
	for _, t := range all {
		made.items += m.outer(t).items
	}
	return made
}

// counted returns the size of a numbers.range result.
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

// multiplied rejects a multiplication if its result could have more than maxDigits digits.
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

// parsed returns the cost of json.unmarshal. In the worst case, every second byte of the JSON text
// is a member.
func parsed(_ *meter, args []*ast.Term) int64 { return int64(len(text(args[0]))) / 2 }

// product returns the cost of searching for one value at every position of a second value.
func product(m *meter, args []*ast.Term) int64 {
	a, b := m.outer(args[0]), m.outer(args[1])
	return (a.text + a.items) * (b.text + b.items) / 1024
}

// searching returns the cost of comparing a value with every member of an array.
func searching(value int) func(*meter, []*ast.Term) int64 {
	return func(m *meter, args []*ast.Term) int64 {
		among := args[len(args)-1]
		if _, ok := among.Value.(ast.Set); ok {
			return 0 // looking up a set member takes no search
		}
		return m.whole(args[value]).steps() * m.outer(among).items
	}
}

// Limits on patterns.
const (
	maxGlob    = 1000   // bytes
	maxPattern = 10_000 // bytes, and also instructions in the compiled regular expression
)

// globbing returns the cost of glob.match.
func globbing(m *meter, args []*ast.Term) int64 {
	pattern, match := int64(len(text(args[0]))), int64(len(text(args[2])))
	if pattern > maxGlob {
		m.refuse("uses a glob pattern of more than %d bytes", maxGlob)
	}
	return pattern * match / textStep
}

// matching returns the cost of matching a regular expression, which is at most its compiled size
// times the length of the string. The parameters pattern and match are the argument indices of the
// expression and the string.
func matching(pattern, match int) func(*meter, []*ast.Term) int64 {
	return func(m *meter, args []*ast.Term) int64 {
		return m.pattern(text(args[pattern])) * (int64(len(text(args[match]))) + 1) / textStep
	}
}

// pattern returns how many instructions a regular expression compiles to.
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

// guardPrefix is the prefix of guarded functions' names. Guarded functions need new names, because
// a query cannot replace one of OPA's own functions.
const guardPrefix = "schedlint."

// guard renames calls of built-in functions in compiled modules. It does not rename unification
// operators, because OPA identifies them by name. Unification already counts as a step.
func guard(modules map[string]*ast.Module) {
	for _, m := range modules {
		ast.NewGenericVisitor(func(x any) bool {
			switch x := x.(type) {
			case *ast.Expr:
				if terms, ok := x.Terms.([]*ast.Term); ok && len(terms) > 0 {
					terms[0] = guarded(terms[0])
				}
				for _, w := range x.With { // a with modifier can replace one function with another
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

// guarded returns a renamed copy of t if t is the name of a built-in function, and t itself
// otherwise. It never modifies t, because OPA shares one term between all uses of an operator.
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

// functions returns the guarded functions for an evaluation. OPA looks up a function by its
// reference as text. In that text, keywords such as contains are quoted.
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

// guarded wraps f. The wrapper charges for each call and its result. It rejects the call if the
// result would be too large.
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

// fits ends the evaluation if a function's result would be too large.
func (m *meter) fits(name string, made size) {
	name = strings.TrimPrefix(name, "internal.")
	switch {
	case made.text > maxText:
		m.refuse("%s makes a string of more than 1 MiB", name)
	case made.items > maxItems:
		m.refuse("%s makes a value with more than %d members", name, maxItems)
	}
}
