package rego

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
)

// refusal explains why a rule's evaluation was ended or why its report was rejected. When a rule
// exceeds a limit, the meter panics with a refusal. Canceling would be too slow, because OPA checks
// for cancellation only between steps, and a step can be long.
type refusal struct {
	at   *ast.Location // nil if the whole rule is at fault
	what string
	// limit is set if the rule exceeded a limit that also applies to built-in rules.
	limit bool
}

// Error describes the failure in words that follow the rule's name, such as "takes too much
// memory".
func (r refusal) Error() string { return r.what }

// failure describes a rule that failed. The failure of a built-in rule is described as a bug in
// schedlint, unless a limit or a configured parameter may be the cause. The description omits a
// built-in rule's file, because users cannot see it.
func failure(r *rule, err error) diag.Failure {
	f := diag.Failure{Stage: diag.StageRule, Rule: r.id, File: r.file, Line: 1, Message: err.Error()}
	at := (*ast.Location)(nil)
	var refused refusal
	var failed *topdown.Error
	switch {
	case errors.As(err, &refused):
		at = refused.at
	case topdown.IsCancel(err) || errors.Is(err, context.DeadlineExceeded):
		refused.limit = true
		f.Message = tooLong
	case errors.As(err, &failed):
		at, f.Message = failed.Location, failed.Message
	}
	if at != nil && at.File != "" {
		f.File, f.Line = at.File, max(1, at.Row)
	}
	if !r.own {
		f.File, f.Line, f.Internal = "", 0, !refused.limit && !r.configured
	}
	return f
}

const tooLong = "runs too long; let it visit only the facts of its own list"

const (
	// maxWidth is the largest width that package fmt accepts.
	maxWidth = 1_000_000
	// remark is the maximum length of the text that fmt prints if an argument has the wrong type
	// for its verb.
	remark = 64
)

// printed returns an upper bound on the size of a sprintf result. The bound is the sum of the
// lengths of the format and the arguments and the widths of all verbs. With explicit indexes, any
// verb may print the longest argument. The bound then adds that argument's length for each verb.
func printed(_ *meter, args []*ast.Term) size {
	verbs := verbsOf(text(args[0]))
	var indexed, odd bool
	made := int64(len(text(args[0])))
	for _, v := range verbs {
		indexed = indexed || strings.ContainsAny(v.flags, "[*")
		odd = odd || !strings.ContainsRune("sdvtfFgGeE%", v.verb)
		made += widths(v.flags) + remark
	}
	var largest int64
	for _, value := range members(args[1]) {
		n := plain(value) + remark
		switch v := value.Value.(type) {
		case ast.String:
			if odd { // for example, quotes or hexadecimal digits
				n = remark + 5*escaped(string(v))
			}
		case ast.Number:
			n += magnitude(string(v))
		}
		made, largest = made+n, max(largest, n)
	}
	if indexed {
		made += largest * int64(len(verbs))
	}
	return size{text: made}
}

// verb is a formatting directive. Its flags include the width and the precision.
type verb struct {
	flags string
	verb  rune
}

func verbsOf(format string) (all []verb) {
	for {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			return all
		}
		format = format[at+1:]
		end := strings.IndexFunc(format, func(r rune) bool { return !strings.ContainsRune("+-# 0123456789.*[]", r) })
		if end < 0 {
			return append(all, verb{flags: format})
		}
		letter := []rune(format[end:min(len(format), end+4)])[0]
		all = append(all, verb{format[:end], letter})
		format = format[end:]
		if letter == '%' {
			format = format[1:]
		}
	}
}

// widths returns the sum of a verb's width and precision. It counts an asterisk as maxWidth,
// because the actual number comes from an argument.
func widths(flags string) int64 {
	var sum int64
	for _, part := range strings.FieldsFunc(flags, func(r rune) bool { return r != '*' && (r < '0' || r > '9') }) {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n > maxWidth {
			n = maxWidth
		}
		sum += n
	}
	return sum
}

// explain splits an OPA error into one error per position. Each message starts with file:line.
func explain(err error) error {
	var list ast.Errors
	var one *ast.Error
	switch {
	case errors.As(err, &one):
		list = ast.Errors{one}
	case !errors.As(err, &list):
		return err
	}
	list.Sort()
	errs := lists.Of(list, func(e *ast.Error) error { return errors.New(place(e.Location) + reason(e)) })
	return join(errs)
}

func place(l *ast.Location) string {
	if l == nil || l.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", l.File, max(1, l.Row))
}

// reason returns an OPA error's message without the error code. If the error is about an invalid
// name, the message lists the valid ones.
func reason(e *ast.Error) string {
	message := oneLine(strings.TrimPrefix(e.Message, "rego_parse_error: "))
	if message == "empty module" {
		return `the file is empty; a rule starts with METADATA and package schedlint.rules["<id>"]`
	}
	if name, ok := strings.CutPrefix(message, "undefined function "); ok {
		name = strings.TrimPrefix(name, "internal.") // by now, OPA has renamed print to internal.print
		return "function " + name + " is not available; " + insteadOf(name)
	}
	switch d := e.Details.(type) {
	case *ast.RefErrInvalidDetail:
		if len(d.OneOf) > 0 {
			names := lists.Of(d.OneOf, func(v ast.Value) string { return strings.Trim(v.String(), `"`) })
			slices.Sort(names)
			name := strings.Trim(d.Ref[d.Pos].String(), `"`)
			if name == "params" && slices.Contains(names, "workloads") {
				return "params does not exist here; a rule declares its parameters in custom.params, and hands them to the functions of a library"
			}
			if slices.Contains(strings.Fields("apiVersion kind metadata parameters review spec"), name) && slices.Contains(names, "workloads") {
				return name + " does not exist here; a policy of another tool is a library with the METADATA schemas: - input: schema.any, which a rule calls with an input of its own"
			}
			return fmt.Sprintf("%s does not exist here%s; there are %s", name, near(name, names), strings.Join(names, ", "))
		}
	case *ast.ParserErrorDetail:
		return message + ": " + cut(strings.TrimSpace(d.Line))
	}
	if e.Details != nil {
		message += ": " + oneLine(strings.Join(e.Details.Lines(), " "))
	}
	return message
}

// oneLine replaces each run of white space with a single space.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// cut shortens a line to fit into a message.
func cut(line string) string {
	const most = 100
	if len(line) <= most {
		return line
	}
	return strings.ToValidUTF8(line[:most], "") + "..."
}

// insteadOf explains why rules may not call a function.
func insteadOf(name string) string {
	for _, group := range refused {
		for form := range strings.FieldsSeq(group.names) {
			open := strings.HasSuffix(form, ".") || strings.HasSuffix(form, "_")
			if name == form || open && strings.HasPrefix(name, form) {
				return group.why
			}
		}
	}
	if hint := near(name, allowed()); hint != "" {
		return strings.Trim(hint, " ()")
	}
	return "see https://www.openpolicyagent.org/docs/policy-reference for what OPA has"
}
