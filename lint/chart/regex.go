package chart

import (
	"fmt"
	"reflect"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/schedlint/schedlint/lint/limits"
)

// regexCharge is for a match. The result is no larger than the text.
func regexCharge(b *budget, a []reflect.Value) {
	pattern, text := a[0].String(), a[1].String()
	size, groups := program(pattern)
	b.charge(len(pattern) + size + size*(len(text)+1)/bytesPerStep*(bytesPerStep+2*groups)/bytesPerStep)
}

// regexListCharge is for all matches.
func regexListCharge(b *budget, a []reflect.Value) {
	regexCharge(b, a)
	b.items(a[1].Len() + 1)
}

// program is the number of instructions of a pattern and that of its groups, 0 if it is not one.
func program(pattern string) (size, groups int) {
	if len(pattern) > limits.RegexpBytes {
		panic(limit(fmt.Sprintf("a regular expression has %d bytes, more than the limit of %d", len(pattern), limits.RegexpBytes)))
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, 0
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, 0
	}
	if len(prog.Inst) > limits.RegexpProgram {
		panic(limit(fmt.Sprintf("a regular expression makes %d instructions, more than the limit of %d", len(prog.Inst), limits.RegexpProgram)))
	}
	return len(prog.Inst), prog.NumCap / 2
}

// regexReplaceCharge counts the matches and what replaces them: each $ may stand for a
// whole match.
func regexReplaceCharge(b *budget, a []reflect.Value) {
	regexListCharge(b, a)
	re, err := regexp.Compile(a[0].String())
	if err != nil {
		return
	}
	text, with := a[1].String(), a[2].String()
	found := len(re.FindAllStringIndex(text, -1))
	b.text(limits.Sum(limits.Sum(len(text), times(found, len(with))), times(strings.Count(with, "$"), len(text))))
}
