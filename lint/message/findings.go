package message

import (
	"maps"

	"github.com/schedlint/schedlint/lint/facts"
)

// Text is a finding in words: one line that is complete by itself, and further lines.
type Text struct {
	Headline string
	Details  []string
}

// Catalogue has the words of all reasons that rules report.
type Catalogue map[string]rowWords

// NewCatalogue returns the catalogue.
func NewCatalogue() Catalogue {
	all := Catalogue{}
	for _, part := range []map[string]rowWords{limitFindings(), changeFindings(), termFindings()} {
		maps.Copy(all, part)
	}
	return all
}

// Finding words the reason that a rule reports for a row; false if there is no such reason, or if
// it belongs to rows of another list.
func (c Catalogue) Finding(reason string, row any, in *facts.Facts) (Text, bool) {
	words, known := c[reason]
	if !known {
		return Text{}, false
	}
	return words(row, in)
}

// rowWords words a row; false if the row belongs to another list.
type rowWords func(row any, in *facts.Facts) (Text, bool)

// of returns the rowWords for rows of one list.
func of[Row any](words func(r *Row, in *facts.Facts) Text) rowWords {
	return func(row any, in *facts.Facts) (Text, bool) {
		r, ok := row.(*Row)
		if !ok {
			return Text{}, false
		}
		return words(r, in), true
	}
}
