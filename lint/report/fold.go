package report

import (
	"fmt"
	"io"
	"strings"
)

// lineWidth is how many cells of a terminal a line of prose takes at most: what
// the smallest terminals and side-by-side views have.
const lineWidth = 80

// writeFolded writes visible text in lines that are not too wide, with one indent
// before the first line and another one before the others.
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

// Fold writes text in lines of 80 columns, made visible, with an indent.
func Fold(w io.Writer, indent, text string) { writeFolded(w, indent, indent, Visible(text)) }

// fold breaks visible text at spaces into lines of so many cells; a word that
// is wider has a line of its own.
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

// cells is how wide visible text is on a terminal.
func cells(s string) int {
	sum := 0
	for _, r := range s {
		sum += width(r)
	}
	return sum
}
