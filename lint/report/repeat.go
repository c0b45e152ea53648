package report

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/diag"
)

// shown is a finding that represents others with the same rule, level, message and details, for
// example about an object that many files declare.
type shown struct {
	*diag.Diagnostic
	more int
}

// groupEqual returns findings in their order, but only the first of those with equal rule, level, message
// and details; all of them if every location is requested.
func groupEqual(all []diag.Diagnostic, every bool) []shown {
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

// places counts the findings that a finding represents, or returns "".
func (s *shown) places() string {
	if s.more == 0 {
		return ""
	}
	return fmt.Sprintf("and %s (--all shows them)", Count(s.more, "more place"))
}
