package source

import (
	"bytes"
	"cmp"

	"github.com/schedlint/schedlint/lint/limits"
)

// mostOf returns the limits of a file for one text.
func (o *Options) mostOf(text []byte) limits.Cost {
	most := *cmp.Or(o.file, &limits.File)
	most.Values = min(most.Values, max(limits.DenseValues, len(text)/limits.BytesPerValue))
	return most
}

// tooMuch reports a file that is not read because it has more than a limit.
func tooMuch(what string, line int) textError {
	return textError{problem: Unreadable, line: max(line, 1), column: 1, detail: "has " + what + ", so it is not checked: split it"}
}

// crowded finds the line of a text up to which it may have more values than allowed:
// each begins at a line or behind a sign of structure, most of which are text like
// any other in a block. The parser holds all values of a document at once and takes
// hundreds of bytes for each, so it does not get to see such a text.
func crowded(text []byte, values int) (line int, ok bool) {
	if len(text) <= values {
		return 0, false
	}
	n := 0
	for i, c := range text {
		switch c {
		case '\n', '\r', ',', ':', '[', '{':
			n++
		case '-', '?':
			if i+1 == len(text) || bytes.IndexByte(inWords, text[i+1]) < 0 {
				n++
			}
		}
		if n > values {
			return 1 + bytes.Count(text[:i], []byte("\n")), true
		}
	}
	return 0, false
}

// inWords are characters behind which a dash is part of a word.
var inWords = []byte("-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
