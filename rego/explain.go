package rego

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// explain turns an error of OPA into one error per place, each with file:line.
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
	var errs []error
	for _, e := range list {
		errs = append(errs, errors.New(place(e.Location)+reason(e)))
	}
	return join(errs)
}

func place(l *ast.Location) string {
	if l == nil || l.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", l.File, max(1, l.Row))
}

// reason returns the message without OPA's codes. It lists the valid names if a name is invalid.
func reason(e *ast.Error) string {
	message := oneLine(strings.TrimPrefix(e.Message, "rego_parse_error: "))
	if message == "empty module" {
		return `the file is empty; a rule starts with METADATA and package schedlint.rules["<id>"]`
	}
	if name, ok := strings.CutPrefix(message, "undefined function "); ok {
		name = strings.TrimPrefix(name, "internal.") // print is called internal.print by now
		return "function " + name + " is not available; " + insteadOf(name)
	}
	switch d := e.Details.(type) {
	case *ast.RefErrInvalidDetail:
		if len(d.OneOf) > 0 {
			return noField(d.Ref[d.Pos], d.OneOf)
		}
	case *ast.ParserErrorDetail:
		return message + ": " + cut(strings.TrimSpace(d.Line))
	}
	if e.Details != nil {
		message += ": " + oneLine(strings.Join(e.Details.Lines(), " "))
	}
	return message
}

// oneLine collapses white space to single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// cut shortens a line that is too long for a message.
func cut(line string) string {
	const most = 100
	if len(line) <= most {
		return line
	}
	return strings.ToValidUTF8(line[:most], "") + "..."
}

func noField(have *ast.Term, valid []ast.Value) string {
	var names []string
	for _, v := range valid {
		names = append(names, strings.Trim(v.String(), `"`))
	}
	slices.Sort(names)
	name := strings.Trim(have.String(), `"`)
	if name == "params" && slices.Contains(names, "workloads") {
		return "params does not exist here; a rule declares its parameters in custom.params, and hands them to the functions of a library"
	}
	return fmt.Sprintf("%s does not exist here%s; there are %s", name, near(name, names), strings.Join(names, ", "))
}

// insteadOf says why a function is missing.
func insteadOf(name string) string {
	for _, group := range refused() {
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
