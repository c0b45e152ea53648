package source

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/lazy"
)

// yttControl is a comment that ytt runs: a load, a function, a branch, a loop, an
// assignment or an annotation. A file with one is a template.
var yttControl = lazy.Regexp(`^[ \t]*#@(?:[ \t]+(?:load\(.*\)|def[ \t]+\w+\(.*\)[ \t]*:|(?:if|elif|for|while)(?:/end)?[ \t(].*:|else[ \t]*:|end|\w+[ \t]*=[^=].*)[ \t]*(?:#.*)?\r?\n?$|(?:assert|data|library|overlay|schema|template|yaml)/[a-z])`)

// yttExpression is a comment behind a key or a dash, from which ytt computes the value.
var yttExpression = lazy.Regexp(`^` + unquoted + `*[:-][ \t]+(` + yttSign + `.*\S)`)

// yttSign begins an expression of ytt.
const yttSign = "#@ "

// computed is a value that ytt computes, and the column of its expression.
type computed struct {
	text   string
	column int
}

// yttCode tells whether a text is a template of ytt, and which values ytt computes, by
// line. To YAML all of it is comments.
func yttCode(text []byte) (template bool, values map[int]computed) {
	if !bytes.Contains(text, []byte("#@")) {
		return false, nil
	}
	values = map[int]computed{}
	number, quote := 0, byte(0)
	for line, inBlock := range blockLines(text) {
		number++
		if inBlock {
			continue
		}
		if quote == 0 && yttControl().Match(line) {
			return true, nil
		}
		if m := yttExpression().FindSubmatchIndex(line); m != nil && quote == 0 {
			values[number] = computed{string(line[m[2]:m[3]]), 1 + utf8.RuneCount(line[:m[2]])}
		}
		quote = openQuote(line, quote)
	}
	return false, values
}

// openQuote is the quote that is open at the end of a line, if one was at its start; 0 for
// none. A quote opens only where a value begins.
func openQuote(line []byte, quote byte) byte {
	begins := true
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote == '"' && c == '\\':
			i++
		case quote == c && quote != 0:
			quote = 0 // it opens again where it is doubled
		case quote != 0:
		case begins && (c == '"' || c == '\''):
			quote = c
		case c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return 0
		default:
			begins = strings.IndexByte("[{,:-", c) >= 0 || begins && (c == ' ' || c == '\t')
		}
	}
	return quote
}
