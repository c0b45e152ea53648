package source

import (
	"bytes"
	"fmt"
)

// tally counts what a text, or all texts of a run, are made of. Documents are those
// of YAML and JSON, empty ones too, and the items of Lists; values are the keys,
// scalars, maps and lists, with those that aliases repeat; suppressions are comments
// and annotations that may be one.
type tally struct{ bytes, documents, values, problems, suppressions int }

// bounds are what one file and one run may have. Both zero are the defaults.
type bounds struct{ file, run tally }

// defaultBounds are well above the largest real input: a dump of 10,000 Deployments
// has 10,000 documents, about 4,000,000 values and no problem. What 10 MB can hold
// below them takes less than 10 s and 1 GiB.
func defaultBounds() bounds {
	return bounds{
		file: tally{bytes: 64 << 20, documents: 100_000, values: 16_000_000, problems: 1_000, suppressions: 10_000},
		run:  tally{bytes: 1 << 30, documents: 1_000_000, values: 32_000_000, problems: 10_000, suppressions: 100_000},
	}
}

// plus is the sum of two tallies.
func (t tally) plus(o tally) tally {
	return tally{t.bytes + o.bytes, t.documents + o.documents, t.values + o.values, t.problems + o.problems, t.suppressions + o.suppressions}
}

// beyond says which bound is exceeded; "" if none is.
func (t tally) beyond(most tally) string {
	for _, row := range [...]struct {
		has, most int
		what      string
	}{
		{t.bytes, most.bytes, "bytes"},
		{t.documents, most.documents, "documents and items of Lists"},
		{t.values, most.values, "values"},
		{t.problems, most.problems, "mistakes in its text"},
		{t.suppressions, most.suppressions, "suppressions"},
	} {
		if row.has > row.most {
			return fmt.Sprintf("more than %d %s", row.most, row.what)
		}
	}
	return ""
}

// denseValues is how many values a text may have however short it is. A longer one
// may have one for every four bytes, as no manifest has more than one for every six.
const denseValues = 4_000_000

// of are the bounds of a file for one text.
func (t tally) of(text []byte) tally {
	t.values = min(t.values, max(denseValues, len(text)/4))
	return t
}

// tooMuch is a file that is not read because of a bound.
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
