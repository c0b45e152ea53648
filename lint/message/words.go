package message

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/facts"
)

// plural formats a count, such as "1 pod" or "2 pods".
func plural(n int, thing string) string { return fmt.Sprintf("%d %s", n, verb(n, thing, thing+"s")) }

// verb returns the argument one if n is 1, and the argument many otherwise.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// upTo lists at most limit things. It also states how many more there are.
func upTo(things []string, limit int) string {
	if more := len(things) - limit; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(things[:limit], ", "), more)
	}
	return strings.Join(things, ", ")
}

// maxNamed is the maximum number of workloads or nodes in a headline.
const maxNamed = 3

// aside puts a remark in parentheses.
func aside(what string) string {
	if what == "" {
		return ""
	}
	return " (" + what + ")"
}

// when returns text if the condition holds, and "" otherwise.
func when(condition bool, text string) string {
	if condition {
		return text
	}
	return ""
}

// dropEmpty drops empty parts.
func dropEmpty(parts ...string) []string {
	return slices.DeleteFunc(parts, func(p string) bool { return p == "" })
}

// about returns the text of a finding about a workload. The first non-empty part is the headline.
func about(ref string, parts ...string) Text {
	parts = dropEmpty(parts...)
	if len(parts) == 0 {
		return Text{}
	}
	return Text{Headline: ref + ": " + parts[0], Details: parts[1:]}
}

// nameMeant asks whether the user meant a different name. The function hint puts the same question
// in parentheses.
func nameMeant(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %s?", name)
}

func hint(name string) string {
	if name == "" {
		return ""
	}
	return " (" + nameMeant(name) + ")"
}

// namesOf joins a few names and states how many more there are. The argument n is the total number,
// which may be larger than the number of names.
func namesOf(named []string, n int) string {
	if more := n - len(named); more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(named, ", "), more)
	}
	return strings.Join(named, ", ")
}

// Values holds the values that a rule passes with a reason, by name. They are strings, booleans,
// numbers (json.Number) and lists of strings, as package json decodes them.
type Values map[string]any

// valueWords returns the headline for the values, and advice or "".
type valueWords func(v *values) (headline, help string)

// with makes a catalogue entry from a function that needs only the values.
func with(text valueWords) words {
	return func(_ any, given Values, _ *facts.Facts) (Text, bool) {
		v := values{given: given}
		headline, help := text(&v)
		return Text{Headline: headline, Help: help}, !v.lacking
	}
}

// says returns a function that expands the patterns for the headline and the help text.
func says(headline, help string) valueWords {
	return func(v *values) (string, string) { return v.say(headline), v.say(help) }
}

// values reads values by name. A value that is missing or has the wrong type reads as empty.
type values struct {
	given   Values
	lacking bool
}

func value[T any](v *values, name string) T {
	is, ok := v.given[name].(T)
	v.lacking = v.lacking || !ok
	return is
}

func (v *values) text(name string) string { return value[string](v, name) }
func (v *values) is(name string) bool     { return value[bool](v, name) }

// count returns a whole number, or the length of a list.
func (v *values) count(name string) int {
	if list, ok := v.given[name].([]any); ok {
		return len(list)
	}
	n, err := value[json.Number](v, name).Int64()
	v.lacking = v.lacking || err != nil
	return int(n)
}

func (v *values) list(name string) (texts []string) {
	for _, one := range value[[]any](v, name) {
		text, ok := one.(string)
		texts, v.lacking = append(texts, text), v.lacking || !ok
	}
	return texts
}

// choice looks up a string value in a table and returns its text.
func (v *values) choice(name string, of map[string]string) string {
	words, ok := of[v.text(name)]
	v.lacking = v.lacking || !ok
	return words
}

// say expands a pattern. It replaces ${name} by a string, a number or the first members of a list.
// It replaces ${name thing} by a number of things. It replaces ${name|, } by a list joined with
// commas.
func (v *values) say(pattern string) string { return os.Expand(pattern, v.part) }

func (v *values) part(part string) string {
	if name, separator, ok := strings.Cut(part, "|"); ok {
		return strings.Join(v.list(name), separator)
	}
	if name, thing, ok := strings.Cut(part, " "); ok {
		return plural(v.count(name), thing)
	}
	switch is := v.given[part].(type) {
	case json.Number:
		return is.String()
	case []any:
		return upTo(v.list(part), maxNamed)
	}
	return v.text(part)
}
