package message

import (
	"encoding/json"
	"os"
	"strings"

	"github.com/schedlint/schedlint/lint/facts"
)

// Values hold what a rule passes with a reason, by name: strings, numbers, booleans and lists of
// strings, in the types of JSON, with numbers as json.Number.
type Values map[string]any

// valueWords words values: the headline, and what to do about it, or "".
type valueWords func(v *values) (headline, help string)

// with returns the words for values.
func with(text valueWords) words {
	return func(_ any, given Values, _ *facts.Facts) (Text, bool) {
		v := values{given: given}
		headline, help := text(&v)
		return Text{Headline: headline, Help: help}, !v.lacking
	}
}

// says returns the words of two patterns.
func says(headline, help string) valueWords {
	return func(v *values) (string, string) { return v.say(headline), v.say(help) }
}

// values reads values by name. One that is missing or of another type reads as empty.
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

// choice returns the words for one of the values that a text may have.
func (v *values) choice(name string, of map[string]string) string {
	words, ok := of[v.text(name)]
	v.lacking = v.lacking || !ok
	return words
}

// say fills in a pattern: ${name} is a text, a number, or a few of a list, ${name thing} counts
// things, and ${name|, } is a list with what separates its members.
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
