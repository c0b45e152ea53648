package engine

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/render"
)

// expander substitutes variables like Flux (fluxcd/pkg: envsubst). An expression with an unknown
// value stays unchanged.
type expander struct {
	vars *render.Variables
	text string
	// work counts the bytes that were examined, in all texts of a render.
	work *int
}

// errExpression is the error about an expression that Flux cannot parse.
var errExpression = errors.New("cannot be read as ${name} or one of the forms that Flux knows; write $${ for a literal ${")

// mostNested limits how deep expressions are nested.
const mostNested = 20

var errExpansion = refusal("takes more than " + strconv.Itoa(limits.Substituted>>20) + " MiB of text to substitute, which is the limit of a render")

// expand substitutes the variables of a text and adds the cost to work.
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

// charge counts bytes and returns an error if they exceed the limit.
func (e *expander) charge(bytes int) error {
	if *e.work += bytes; *e.work > limits.Substituted {
		return errExpansion
	}
	return nil
}

// expression parses an expression after its ${ and returns its value, its end, and whether the
// value is known.
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
	case op.sign == "" || !known && (!op.fallback || e.vars.Open || slices.Contains(e.vars.Unknown, name)): // a default counts if nothing sets the variable
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
	// between separates two arguments; 0 if there is only one. none is set if there are no
	// arguments.
	between  byte
	none     bool
	fallback bool // a default for a variable that is unset or empty
}

// operators lists the operators of Flux, longer ones first. Flux treats all operators that set a
// default alike.
var operators = []operator{
	{text: ":=", fallback: true}, {text: ":-", fallback: true}, {text: ":?", fallback: true}, {text: ":+", fallback: true}, {text: "=", fallback: true},
	{text: ":", between: ':'},
	{text: "//", between: '/'}, {text: "/#", between: '/'}, {text: "/%", between: '/'}, {text: "/", between: '/'},
	{text: "##"}, {text: "#"}, {text: "%%"}, {text: "%"},
	{text: ",,", none: true}, {text: ",", none: true}, {text: "^^", none: true}, {text: "^", none: true},
}

// arguments parses up to the closing brace; whole is set if all arguments are known.
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

// apply returns the value of an expression; known is false for forms that are not supported here.
func (o operator) apply(s string, args []string) (value string, known bool) {
	arg, with := args[0], ""
	if len(args) > 1 {
		with = args[1]
	}
	if o.fallback {
		return arg, true
	}
	if strings.ContainsAny(arg, `*?[\`) {
		return "", false // has a pattern
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

// part evaluates ${name:offset} or ${name:offset:length}, in bytes.
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
