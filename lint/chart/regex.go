package chart

import (
	"fmt"
	"reflect"
	"regexp"
	"regexp/syntax"
	"strings"
)

// What a regular expression may be: matching takes as many steps as its program has
// instructions for each byte of the text.
const (
	maxPattern = 10_000
	maxProgram = 50_000
)

// regexSize charges for a match. The result is no larger than the text.
func regexSize(e *engine, a []reflect.Value) int {
	pattern, text := a[0].String(), a[1].String()
	e.budget.charge(program(pattern)*(len(text)+1)/bytesPerStep + 1)
	return len(text)
}

// program is the number of instructions of a pattern, 0 if it is not one.
func program(pattern string) int {
	if len(pattern) > maxPattern {
		panic(limit(fmt.Sprintf("a regular expression has %d bytes, more than the limit of %d", len(pattern), maxPattern)))
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0
	}
	if len(prog.Inst) > maxProgram {
		panic(limit(fmt.Sprintf("a regular expression makes %d instructions, more than the limit of %d", len(prog.Inst), maxProgram)))
	}
	return len(prog.Inst)
}

// regexReplaceSize counts the matches and what replaces them: each $ may stand for a
// whole match.
func regexReplaceSize(e *engine, a []reflect.Value) int {
	size := regexSize(e, a)
	re, err := regexp.Compile(a[0].String())
	if err != nil {
		return size
	}
	text, with := a[1].String(), a[2].String()
	found := len(re.FindAllStringIndex(text, -1))
	return size + times(found, len(with)) + times(strings.Count(with, "$"), len(text))
}
