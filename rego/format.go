package rego

import (
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

const (
	// maxWidth is the largest width that package fmt obeys.
	maxWidth = 1_000_000
	// remark bounds the text that fmt writes about a verb that does not fit its argument.
	remark = 64
)

// printed bounds what sprintf makes: the width and the argument of each verb. Arguments are used in
// order, each once, unless the format has indexes.
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
			if odd { // such as quotes or hexadecimal digits
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

// verb is one directive of a format: its flags, width and precision, and its letter.
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

// widths returns the sum of the width and the precision of a verb. An asterisk takes one from an
// argument.
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
