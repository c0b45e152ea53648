package report

import (
	"fmt"
	"io"
	"strings"
)

// lineWidth is how many cells of a terminal a line of prose takes at most: what
// the smallest terminals and side-by-side views have.
const lineWidth = 80

// fold writes visible text in lines that are not too wide, as far as there are
// spaces to break them at, with one indent before the first line and another one
// before the others.
func fold(w io.Writer, first, rest, text string) {
	line, cells := first, cellsOf(first)
	for i, word := range strings.Split(text, " ") {
		size := cellsOf(word)
		switch {
		case i == 0:
		case cells+1+size > lineWidth:
			fmt.Fprintln(w, strings.TrimRight(line, " "))
			line, cells, word = rest, cellsOf(rest), notCommand(word)
			size = cellsOf(word)
		default:
			line, cells = line+" ", cells+1
		}
		line, cells = line+word, cells+size
	}
	fmt.Fprintln(w, strings.TrimRight(line, " "))
}

// cellsOf is how many cells of a terminal a visible text takes.
func cellsOf(text string) int {
	cells := 0
	for _, r := range text {
		cells += width(r)
	}
	return cells
}
