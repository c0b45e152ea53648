package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/render"
)

// expander substitutes variables as Flux does (fluxcd/pkg: envsubst). It does not change
// expressions with an unknown value.
type expander struct {
	vars *render.Variables
	text string
	// work counts the bytes processed in all objects of a render.
	work *int
}

// errExpression is the error for an expression that Flux cannot parse.
var errExpression = errors.New("cannot be read as ${name} or one of the forms that Flux knows; write $${ for a literal ${")

// mostNested is the maximum nesting depth of expressions.
const mostNested = 20

var errExpansion = refusal("takes more than " + strconv.Itoa(limits.Substituted>>20) + " MiB of text to substitute, which is the limit of a render")

// expand substitutes the variables in text and adds the cost to work.
func expand(text string, vars *render.Variables, work *int) (string, error) {
	e := &expander{vars: vars, text: text, work: work}
	var out strings.Builder
	for at := 0; at < len(text); {
		next := strings.IndexByte(text[at:], '$')
		if next < 0 {
			out.WriteString(text[at:])
			break
		}
		out.WriteString(text[at : at+next])
		at += next
		switch rest := text[at:]; {
		case strings.HasPrefix(rest, "$$"):
			out.WriteByte('$')
			at += 2
		case strings.HasPrefix(rest, "${"):
			value, end, known, err := e.expression(at+2, 0)
			if err != nil {
				return "", err
			}
			if !known {
				value = text[at:end]
			}
			out.WriteString(value)
			at = end
		default:
			out.WriteByte('$')
			at++
		}
	}
	return out.String(), nil
}

// charge adds bytes to the cost. It returns an error if the cost exceeds the limit.
func (e *expander) charge(bytes int) error {
	if *e.work += bytes; *e.work > limits.Substituted {
		return errExpansion
	}
	return nil
}

// expression parses an expression after its ${. It returns the value, the offset after the
// expression, and whether the value is known.
func (e *expander) expression(at, depth int) (value string, end int, known bool, err error) {
	if depth > mostNested {
		return "", 0, false, errExpression
	}
	length := strings.HasPrefix(e.text[at:], "#")
	if length {
		at++
	}
	name := e.text[at:]
	if end := strings.IndexFunc(name, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }); end >= 0 {
		name = name[:end]
	}
	at += len(name)
	if name == "" {
		return "", 0, false, errExpression
	}
	op := operator{none: true}
	if i := slices.IndexFunc(operators, func(o operator) bool { return strings.HasPrefix(e.text[at:], o.text) }); i >= 0 {
		op = operators[i]
		op.sign = op.text
	}
	if length {
		if op.sign != "" {
			return "", 0, false, errExpression
		}
		op.sign = "length"
	}
	at += len(op.text)
	args, end, whole, err := e.arguments(at, op, depth)
	if err != nil {
		return "", 0, false, err
	}
	v, known := e.vars.Given[name]
	value = v.Value
	if err := e.charge(len(value) + end - at); err != nil {
		return "", 0, false, err
	}
	switch {
	case op.sign == "" || !known && (!op.fallback || e.vars.Open || slices.Contains(e.vars.Unknown, name)): // a default applies if nothing sets the variable
		return value, end, known, nil
	case op.fallback && value != "":
		return value, end, true, nil
	case !whole:
		return "", end, false, nil
	}
	value, known = op.apply(value, args)
	return value, end, known, e.charge(len(value))
}

// operator is the operator of an expression.
type operator struct {
	text, sign string
	// between is the separator of two arguments, or 0 if the operator takes only one. The field
	// none is set if the operator takes no argument.
	between  byte
	none     bool
	fallback bool // supplies a default for a variable that is unset or empty
}

// operators lists Flux's operators, longer ones first. All operators that supply a default have the
// same effect in Flux.
var operators = []operator{
	{text: ":=", fallback: true}, {text: ":-", fallback: true}, {text: ":?", fallback: true}, {text: ":+", fallback: true}, {text: "=", fallback: true},
	{text: ":", between: ':'},
	{text: "//", between: '/'}, {text: "/#", between: '/'}, {text: "/%", between: '/'}, {text: "/", between: '/'},
	{text: "##"}, {text: "#"}, {text: "%%"}, {text: "%"},
	{text: ",,", none: true}, {text: ",", none: true}, {text: "^^", none: true}, {text: "^", none: true},
}

// arguments parses the arguments up to the closing brace. The result "whole" is true if all
// arguments are known.
func (e *expander) arguments(at int, op operator, depth int) (args []string, end int, whole bool, err error) {
	whole = true
	var arg strings.Builder
	for at < len(e.text) {
		switch c := e.text[at]; {
		case c == '}' && op.between == '/' && len(args) == 0:
			return nil, 0, false, errExpression
		case c == '}':
			return append(args, arg.String()), at + 1, whole, nil
		case op.none:
			return nil, 0, false, errExpression
		case c == op.between && len(args) == 0:
			args = append(args, arg.String())
			arg.Reset()
			at++
		case strings.HasPrefix(e.text[at:], "${"):
			value, after, known, err := e.expression(at+2, depth+1)
			if err != nil {
				return nil, 0, false, err
			}
			whole = whole && known
			arg.WriteString(value)
			at = after
		default:
			arg.WriteByte(c)
			at++
		}
	}
	return nil, 0, false, errExpression
}

// apply returns the value of an expression. known is false if schedlint does not support the
// operator.
func (o operator) apply(s string, args []string) (value string, known bool) {
	arg, with := args[0], ""
	if len(args) > 1 {
		with = args[1]
	}
	if o.fallback {
		return arg, true
	}
	if strings.ContainsAny(arg, `*?[\`) {
		return "", false // the argument is a pattern
	}
	switch o.sign {
	case "length":
		return strconv.Itoa(len(s)), true
	case ":":
		return part(s, args)
	case "//":
		if (strings.Count(s, arg)+1)*len(with)+len(s) > limits.Substituted {
			return "", false
		}
		return strings.ReplaceAll(s, arg, with), true
	case "/":
		return strings.Replace(s, arg, with, 1), true
	case "/#":
		if rest, ok := strings.CutPrefix(s, arg); ok && len(args) > 1 {
			return with + rest, true
		}
	case "/%":
		if rest, ok := strings.CutSuffix(s, arg); ok && len(args) > 1 {
			return rest + with, true
		}
	case "#", "##":
		return strings.TrimPrefix(s, arg), true
	case "%", "%%":
		return strings.TrimSuffix(s, arg), true
	default:
		return cased(o.sign, s), true
	}
	return s, true
}

// part evaluates ${name:offset} and ${name:offset:length}. Offset and length are in bytes.
func part(s string, args []string) (string, bool) {
	at, err := strconv.Atoi(args[0])
	if err != nil {
		return s, true
	}
	if at < 0 {
		at = max(0, len(s)+at)
	}
	rest := s[min(at, len(s)):]
	if len(args) == 1 {
		return rest, true
	}
	n, err := strconv.Atoi(args[1])
	switch {
	case err != nil:
		return s, true
	case n < 0:
		return "", false
	}
	return rest[:min(n, len(rest))], true
}

// cased changes the case of the first letter or of all letters.
func cased(sign, s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if s == "" {
		return ""
	}
	switch sign {
	case ",,":
		return strings.ToLower(s)
	case "^^":
		return strings.ToUpper(s)
	case ",":
		return string(unicode.ToLower(r)) + s[n:]
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// substituteKey is a label or annotation that disables substitution for an object (fluxcd/pkg:
// kustomize).
const substituteKey = "kustomize.toolkit.fluxcd.io/substitute"

// variables returns the variables to substitute in the result, or nil if there is nothing to
// substitute.
func (p *plan) variables() *render.Variables {
	if p.root.Overlay == nil || p.root.Overlay.Variables == nil {
		return nil
	}
	v := p.root.Overlay.Variables
	if len(v.Given)+len(v.Unknown) == 0 && !v.Open {
		return nil // without variables, Flux changes nothing
	}
	return v
}

// substituted substitutes the variables in the text of an object. doc is the parsed text.
func (r *results) substituted(doc *yaml.Node, text []byte) ([]byte, error) {
	vars := r.p.variables()
	keeps := func(where string) bool {
		return nodeText(field(field(doc, "metadata"), where), substituteKey) == "disabled"
	}
	if vars == nil || doc == nil || keeps("labels") || keeps("annotations") {
		return text, nil
	}
	after, err := expand(string(text), vars, &r.p.work)
	if err != nil {
		is := identityOf(doc)
		return nil, fmt.Errorf("substituting variables in %s %s: %w", shown(is.kind), shown(is.name), err)
	}
	if after == string(text) {
		return text, nil
	}
	parsed, err := parse([]byte(after))
	if err == nil {
		err = parsed.err
	}
	if err == nil && (len(parsed.docs) != 1 || !isMapping(parsed.docs[0])) {
		err = fmt.Errorf("expected one YAML document, found %d", len(parsed.docs))
	}
	if err != nil {
		is := identityOf(doc)
		return nil, fmt.Errorf("%s %s with its variables substituted: %w", shown(is.kind), shown(is.name), err)
	}
	return []byte(after), nil
}

// spot is a position in the text of an object.
type spot struct{ line, column int }

// moveMarks updates the marks in r.marks[from:] after the substitution of variables. The mark of an
// unchanged value moves to the new position of the value. If a scalar consists of a single
// variable, its mark refers to the position at which the variable is set. All other marks are
// dropped.
func (r *results) moveMarks(from int, before, after *yaml.Node) {
	moved := map[spot]spot{}
	var given []render.Mark
	r.sameValues(before, after, 0, func(a, b *yaml.Node) {
		if value, ok := scalarOf(a); ok && value.same(b) {
			moved[spot{r.line + a.Line, a.Column}] = spot{r.line + b.Line, b.Column}
		} else if at, ok := r.variable(a, b); ok {
			given = append(given, at)
		}
	})
	kept := r.marks[:from]
	for _, mark := range r.marks[from:] {
		if to, ok := moved[spot{mark.Line, mark.Column}]; ok {
			mark.Line, mark.Column = to.line, to.column
			kept = append(kept, mark)
		}
	}
	r.marks = append(kept, given...)
}

// sameValues calls f for each pair of scalars at the same path in two trees.
func (r *results) sameValues(a, b *yaml.Node, depth int, f func(a, b *yaml.Node)) {
	if a == nil || b == nil || a.Kind != b.Kind || depth > maxNesting {
		return
	}
	if a.Kind == yaml.ScalarNode {
		f(a, b)
		return
	}
	if len(a.Content) != len(b.Content) {
		return
	}
	for i := range a.Content {
		r.sameValues(a.Content[i], b.Content[i], depth+1, f)
	}
}

// onlyVariable matches a scalar that consists of a single variable.
var onlyVariable = lazy.Regexp(`^\$\{([\pL\pN_]+)(?:[:=][^{}]*)?\}$`)

// variable returns the mark of a scalar whose value comes from a variable.
func (r *results) variable(a, b *yaml.Node) (render.Mark, bool) {
	name := onlyVariable().FindStringSubmatch(a.Value)
	if name == nil {
		return render.Mark{}, false
	}
	v, given := r.p.variables().Given[name[1]]
	if !given || v.Line == 0 || v.Value != b.Value || v.Value == "" {
		return render.Mark{}, false
	}
	return render.Mark{Line: r.line + b.Line, Column: b.Column, File: r.m.fileNamed(v.File), At: v.Line, AtColumn: v.Column, Variable: true}, true
}

// counted adds a mark for the replica count that an overlay sets on an object. names holds the
// object's name in the sources if it is known.
func (r *results) counted(root *yaml.Node, names []string) {
	o, n := r.p.root.Overlay, field(field(root, "spec"), "replicas")
	if o == nil || n == nil || len(names) == 0 {
		return
	}
	v, given := o.Counts[names[0]]
	if given && v.Line > 0 && v.Value == n.Value {
		r.marks = append(r.marks, render.Mark{Line: r.line + n.Line, Column: n.Column, File: r.m.fileNamed(v.File), At: v.Line, AtColumn: v.Column, Variable: true})
	}
}

// fileNamed returns the index of a file, and adds the file if it is new.
func (m *marker) fileNamed(name string) int {
	if i := slices.Index(m.files, name); i >= 0 {
		return i
	}
	return m.file(name)
}
