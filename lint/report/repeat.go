package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// shown represents all findings with the same rule, level, message and details. There are several
// such findings if, for example, several files declare the same object.
type shown struct {
	*diag.Diagnostic
	more int
}

// groupEqual returns the findings in their original order. It keeps only the first of the findings
// that share a rule, level, message and details. If every is set, it keeps all findings.
func groupEqual(all []diag.Diagnostic, every bool) []shown {
	type what struct {
		rule, text string
		level      diag.Level
	}
	var list []shown
	at := map[what]int{}
	for i := range all {
		d := &all[i]
		var text strings.Builder
		for _, s := range append([]string{message(d)}, d.Details...) {
			fmt.Fprintf(&text, "%d %s", len(s), s)
		}
		key := what{d.Rule, text.String(), d.Level}
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

// places returns text that counts the other findings that s represents, or "" if there are none.
func (s *shown) places() string {
	if s.more == 0 {
		return ""
	}
	return fmt.Sprintf("and %s (--all shows them)", Count(s.more, "more place"))
}

// lineWidth is the maximum width of a line of prose in terminal cells. It is the width of small
// terminals and side-by-side views.
const lineWidth = 80

// writeFolded writes text in lines of limited width. The argument first is the prefix of the first
// line, and rest is the prefix of all other lines. The text must not contain hidden characters.
func writeFolded(w io.Writer, first, rest, text string) {
	for i, line := range fold(text, lineWidth-max(cells(first), cells(rest))) {
		if i == 0 {
			line = first + line
		} else {
			line = rest + notCommand(line)
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// Fold escapes hidden characters in text and writes it in lines of at most 80 columns. The first line
// starts with first, all other lines with rest.
func Fold(w io.Writer, first, rest, text string) { writeFolded(w, first, rest, Visible(text)) }

// fold breaks text at spaces into lines of at most room cells. A longer word gets its own line.
func fold(text string, room int) []string {
	var all []string
	line, size := "", 0
	for i, word := range strings.Split(text, " ") {
		n := cells(word)
		switch {
		case i == 0:
			line, size = word, n
		case size+1+n > room:
			all = append(all, line)
			line, size = word, n
		default:
			line, size = line+" "+word, size+1+n
		}
	}
	return append(all, line)
}

// cells returns the width in terminal cells of text without hidden characters.
func cells(s string) int {
	sum := 0
	for _, r := range s {
		sum += width(r)
	}
	return sum
}
