package message

import (
	"fmt"
	"slices"
	"strings"
)

// plural counts things: "1 pod", "2 pods".
func plural(n int, thing string) string { return fmt.Sprintf("%d %s", n, verb(n, thing, thing+"s")) }

// verb returns the form that agrees with n things.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// upTo names up to limit things, and says how many more there are.
func upTo(things []string, limit int) string {
	if more := len(things) - limit; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(things[:limit], ", "), more)
	}
	return strings.Join(things, ", ")
}

// maxNamed bounds the workloads or nodes that a headline names.
const maxNamed = 3

// aside puts a remark into parentheses.
func aside(what string) string {
	if what == "" {
		return ""
	}
	return " (" + what + ")"
}

// when returns a text on a condition.
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

// about returns the text of a finding about a workload: the first non-empty part is the headline.
func about(ref string, parts ...string) Text {
	parts = dropEmpty(parts...)
	if len(parts) == 0 {
		return Text{}
	}
	return Text{Headline: ref + ": " + parts[0], Details: parts[1:]}
}

// nameMeant asks whether a name is misspelt; hint is the same question inside a sentence.
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

// namesOf lists n things by a few names and the number of the others.
func namesOf(named []string, n int) string {
	if more := n - len(named); more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(named, ", "), more)
	}
	return strings.Join(named, ", ")
}
