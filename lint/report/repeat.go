package report

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/diag"
)

// shown is a finding that stands for others with the same rule, message and details, as that
// of an object which many files declare.
type shown struct {
	*diag.Diagnostic
	more int
}

// once are findings, of those with equal rule, message and details only the first, in their
// order; all of them if every place is asked for.
func once(all []diag.Diagnostic, every bool) []shown {
	type what struct {
		rule, text string
		level      diag.Level
	}
	var list []shown
	at := map[what]int{}
	for i := range all {
		d := &all[i]
		key := what{d.Rule, fmt.Sprintf("%q %q", message(d), d.Details), d.Level}
		first, known := at[key]
		if known && !every {
			list[first].more++
			continue
		}
		at[key] = len(list)
		list = append(list, shown{Diagnostic: d})
	}
	return list
}

// places tells of the findings that one stands for, or is "".
func (s *shown) places() string {
	if s.more == 0 {
		return ""
	}
	return fmt.Sprintf("and %s (--all shows them)", count(s.more, "more place"))
}
