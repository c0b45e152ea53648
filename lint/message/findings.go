package message

import (
	"maps"

	"github.com/schedlint/schedlint/lint/facts"
)

// Text is the message of a finding. Headline is a single line that can be read on its own. Details
// are further lines. Help is advice for a finding without its own fixes, or "".
type Text struct {
	Headline string
	Details  []string
	Help     string
}

// Catalogue maps each reason that a rule can report to a function that returns the text.
type Catalogue map[string]words

// words returns the text for a row, or for the values that a rule passes along with the row. It
// returns false if the row belongs to the wrong list. It also returns false if a value is missing
// or has the wrong type.
type words func(row any, given Values, in *facts.Facts) (Text, bool)

// NewCatalogue returns the catalogue of all messages.
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

// Finding returns the text for the reason that a rule reports for a row. If the given values are
// nil, the text is made from the row. Finding returns false if the reason does not exist. It also
// returns false if the reason does not fit the row or the values.
func (c Catalogue) Finding(reason string, row any, given Values, in *facts.Facts) (Text, bool) {
	words, known := c[reason]
	if !known {
		return Text{}, false
	}
	return words(row, given, in)
}

// of makes a catalogue entry from a function that describes the rows of one list.
func of[Row any](text func(r *Row, in *facts.Facts) Text) words {
	return func(row any, given Values, in *facts.Facts) (Text, bool) {
		r, ok := row.(*Row)
		if !ok || given != nil {
			return Text{}, false
		}
		return text(r, in), true
	}
}
