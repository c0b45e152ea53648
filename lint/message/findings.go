package message

import (
	"maps"

	"github.com/schedlint/schedlint/lint/facts"
)

// Text is a finding in words: one line that is complete by itself, and further ones.
type Text struct {
	Headline string
	Details  []string
}

// Catalogue has the words of all reasons that rules report.
type Catalogue map[string]rowWords

// NewCatalogue makes the catalogue.
func NewCatalogue() Catalogue {
	all := Catalogue{}
	for _, part := range []map[string]rowWords{limitFindings(), changeFindings(), termFindings()} {
		maps.Copy(all, part)
	}
	return all
}

// Finding words what a rule reports of a row; false if there is no such reason, or if it
// is of rows of another list.
func (c Catalogue) Finding(reason string, row any, in *facts.Facts) (Text, bool) {
	words, known := c[reason]
	if !known {
		return Text{}, false
	}
	return words(row, in)
}

// rowWords words a row; false if the row is of another list.
type rowWords func(row any, in *facts.Facts) (Text, bool)

// of is the rowWords of rows of one list.
func of[Row any](words func(r *Row, in *facts.Facts) Text) rowWords {
	return func(row any, in *facts.Facts) (Text, bool) {
		r, ok := row.(*Row)
		if !ok {
			return Text{}, false
		}
		return words(r, in), true
	}
}
