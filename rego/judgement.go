package rego

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/message"
)

const (
	// maxMessage is the maximum length of a message, detail or help text in bytes. It does not
	// count the note that marks a shortened message.
	maxMessage = 4 << 10
	// maxDetails is the maximum number of details per finding. It does not count the note that says
	// how many are missing.
	maxDetails = 20
	// maxPath is the maximum number of path elements, and maxElement is the maximum length of an
	// element in bytes.
	maxPath, maxElement = 20, 256
)

// judgement converts a member of a rule's report, which must be the result of result.reason,
// result.worded or result.finding. It also returns the values to use in the catalogue's message.
func judgement(r *rule, t *ast.Term) (facts.Judgement, message.Values, error) {
	j := facts.Judgement{Rule: r.id}
	row, _ := t.Value.(ast.Object)
	if row == nil || row.Len() != 3 {
		return j, nil, malformed()
	}
	id, fact := row.Get(ast.InternedTerm("rule")), row.Get(ast.InternedTerm("fact"))
	if id == nil || fact == nil || !id.Equal(ast.StringTerm(r.code.id)) {
		return j, nil, malformed()
	}
	var ok bool
	if j.Fact, ok = wholeNumber(fact); !ok {
		return j, nil, malformed()
	}
	if reason := row.Get(ast.InternedTerm("reason")); reason != nil {
		j.Reason = text(reason)
		return j, nil, nil
	}
	var given message.Values
	fields, said := sayings(&j), row.Get(ast.InternedTerm("said"))
	if said == nil {
		fields, said = givens(&j, &given), row.Get(ast.InternedTerm("given"))
	}
	if said == nil {
		return j, nil, malformed()
	}
	if problem := finding(said, fields); problem != "" {
		return j, nil, refusal{what: "reports a finding " + problem}
	}
	return j, given, nil
}

// finding parses a finding's fields. The first field is required. If a field is invalid, finding
// returns a description of the problem. The description does not quote the value, which may be very
// large.
func finding(said *ast.Term, fields []saying) (problem string) {
	given, ok := said.Value.(ast.Object)
	if !ok {
		return fmt.Sprintf("that is %s; expected an object such as {%q: %s}", kindOf(said), fields[0].name, fields[0].name)
	}
	for _, key := range given.Keys() {
		name, _ := key.Value.(ast.String)
		i := slices.IndexFunc(fields, func(f saying) bool { return f.name == string(name) })
		if i < 0 {
			names := lists.Of(fields, func(f saying) string { return f.name })
			return fmt.Sprintf("with the unknown key %s%s; expected %s", strconv.Quote(cut(text(key))), near(text(key), names), strings.Join(names, ", "))
		}
		if problem := fields[i].read(given.Get(key)); problem != "" {
			return fmt.Sprintf("whose %s %s", fields[i].name, problem)
		}
	}
	if given.Get(ast.StringTerm(fields[0].name)) == nil {
		return fmt.Sprintf("without a %s; add the key %s", fields[0].name, fields[0].name)
	}
	return ""
}

// saying is a key in the argument of result.finding or result.worded. The read function parses the
// key's value. It returns the problem with the value, or "" if the value is valid.
type saying struct {
	name string
	read func(*ast.Term) string
}

// sayings returns the keys that a finding with its own message can have.
func sayings(j *facts.Judgement) []saying {
	return append([]saying{
		{"message", textInto(&j.Message)},
		{"details", func(t *ast.Term) (problem string) { j.Details, problem = details(t); return problem }},
		{"help", textInto(&j.Help)},
	}, placed(j)...)
}

// givens returns the keys that a finding with a message from the catalogue can have.
func givens(j *facts.Judgement, values *message.Values) []saying {
	return append([]saying{
		{"reason", textInto(&j.Reason)},
		{"of_container", func(t *ast.Term) string {
			is, ok := t.Value.(ast.Boolean)
			if j.OfContainer = bool(is); !ok {
				return fmt.Sprintf("is %s; expected true or false", kindOf(t))
			}
			return ""
		}},
		{"values", func(t *ast.Term) (problem string) { *values, problem = valuesOf(t); return problem }},
	}, placed(j)...)
}

func placed(j *facts.Judgement) []saying {
	return []saying{
		{"path", func(t *ast.Term) (problem string) { j.Path, problem = pathOf(t); return problem }},
		{"level", func(t *ast.Term) (problem string) { j.Level, problem = levelOf(t); return problem }},
	}
}

// valuesOf parses the values to use in a message from the catalogue.
func valuesOf(t *ast.Term) (message.Values, string) {
	value, err := ast.JSON(t.Value)
	if values, ok := value.(map[string]any); err == nil && ok {
		return values, ""
	}
	return nil, fmt.Sprintf("are %s; expected an object with strings as keys", kindOf(t))
}

// textInto returns a function that parses a non-empty string.
func textInto(into *string) func(*ast.Term) string {
	return func(t *ast.Term) string {
		s, ok := t.Value.(ast.String)
		switch {
		case !ok:
			return fmt.Sprintf("is %s; expected a string", kindOf(t))
		case strings.TrimSpace(string(s)) == "":
			return "is empty; expected a sentence"
		}
		*into = shortened(string(s))
		return ""
	}
}

// details parses the extra lines that a rule adds to a message. It drops empty lines.
func details(t *ast.Term) (lines []string, problem string) {
	list, ok := t.Value.(*ast.Array)
	if !ok {
		return nil, fmt.Sprintf("are %s; expected an array of strings", kindOf(t))
	}
	more := 0
	for i := range list.Len() {
		line, ok := list.Elem(i).Value.(ast.String)
		switch {
		case !ok:
			return nil, fmt.Sprintf("hold %s at index %d; expected strings", kindOf(list.Elem(i)), i)
		case line == "":
		case len(lines) < maxDetails:
			lines = append(lines, shortened(string(line)))
		default:
			more++
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more details", more))
	}
	return lines, ""
}

// pathOf parses the path from a row to one of its fields.
func pathOf(t *ast.Term) (elements []string, problem string) {
	list, ok := t.Value.(*ast.Array)
	switch {
	case !ok:
		return nil, fmt.Sprintf("is %s; expected an array of keys and indices", kindOf(t))
	case list.Len() > maxPath:
		return nil, fmt.Sprintf("has %d elements; expected at most %d", list.Len(), maxPath)
	}
	for i := range list.Len() {
		key, isText := list.Elem(i).Value.(ast.String)
		n, isIndex := wholeNumber(list.Elem(i))
		switch {
		case isIndex && n >= 0:
			elements = append(elements, strconv.Itoa(n))
		case !isText:
			return nil, fmt.Sprintf("holds %s at index %d; expected keys and indices", kindOf(list.Elem(i)), i)
		case len(key) > maxElement:
			return nil, fmt.Sprintf("has %d bytes at index %d; expected at most %d", len(key), i, maxElement)
		default:
			elements = append(elements, string(key))
		}
	}
	return elements, ""
}

// levelOf parses a level that applies to one finding only.
func levelOf(t *ast.Term) (diag.Level, string) {
	level := diag.Level(text(t))
	if level.Rank() > 0 {
		return level, ""
	}
	names := []string{string(diag.LevelError), string(diag.LevelWarning), string(diag.LevelNote)}
	return "", fmt.Sprintf("is no level%s; expected %s", near(text(t), names), strings.Join(names, ", "))
}

func wholeNumber(t *ast.Term) (int, bool) {
	n, ok := t.Value.(ast.Number)
	if !ok || magnitude(string(n)) > maxDigits {
		return 0, false
	}
	return n.Int()
}

// kindOf returns the name of a value's type.
func kindOf(t *ast.Term) string {
	switch name := ast.ValueName(t.Value); name {
	case "null":
		return name
	case "array", "object":
		return "an " + name
	case "string", "number", "boolean", "set":
		return "a " + name
	}
	return "an unknown value"
}

// shortened cuts a message that is too long. It never splits a character.
func shortened(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	end := maxMessage
	for range utf8.UTFMax - 1 {
		if utf8.RuneStart(message[end]) {
			break
		}
		end--
	}
	return fmt.Sprintf("%s ... (%d bytes more)", message[:end], len(message)-end)
}

// malformed returns an error for an invalid report member. The error does not quote the member,
// which may be very large.
func malformed() error {
	return refusal{what: "reports something that is no finding of its own; write " + reportForm}
}
