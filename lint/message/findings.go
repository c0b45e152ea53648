package message

import (
	"maps"

	"github.com/schedlint/schedlint/lint/facts"
)

// Text is a finding in words: one line that is complete by itself, further lines, and what to do
// about it, if that does not follow from the fact.
type Text struct {
	Headline string
	Details  []string
	Help     string
}

// Catalogue has the words of all reasons that rules report.
type Catalogue map[string]words

// words words a row, or the values that a rule passes with it; false if the row belongs to another
// list, or a value is missing or of another type.
type words func(row any, given Values, in *facts.Facts) (Text, bool)

// NewCatalogue returns the catalogue.
func NewCatalogue() Catalogue {
	all := Catalogue{}
	for _, part := range []map[string]words{limitFindings(), changeFindings(), termFindings()} {
		maps.Copy(all, part)
	}
	for reason, text := range packFindings() {
		all[reason] = with(text)
	}
	return all
}

// Finding words the reason that a rule reports for a row, from the row or, unless they are nil, from
// values; false if there is no such reason, or if it does not fit the row or the values.
func (c Catalogue) Finding(reason string, row any, given Values, in *facts.Facts) (Text, bool) {
	words, known := c[reason]
	if !known {
		return Text{}, false
	}
	return words(row, given, in)
}

// of returns the words for rows of one list.
func of[Row any](text func(r *Row, in *facts.Facts) Text) words {
	return func(row any, given Values, in *facts.Facts) (Text, bool) {
		r, ok := row.(*Row)
		if !ok || given != nil {
			return Text{}, false
		}
		return text(r, in), true
	}
}
