package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
)

// around is the number of context lines around a change.
const around = 3

// unified writes the changes between two texts with the same number of lines as a unified diff. It
// writes no line "diff --git", because git would then resolve the path from the root of the work
// tree instead of the working directory.
func unified(out *bytes.Buffer, path string, before, after []byte) {
	was, is := bytes.SplitAfter(before, []byte("\n")), bytes.SplitAfter(after, []byte("\n"))
	if last := len(was) - 1; len(was[last]) == 0 { // the text ends with a line break
		was, is = was[:last], is[:last]
	}
	fmt.Fprintf(out, "--- %s\n+++ %s\n", header("a/"+path), header("b/"+path))
	changed := changes(was, is)
	for len(changed) > 0 {
		n := 1 // changes whose context touches or overlaps form one hunk
		for n < len(changed) && changed[n]-changed[n-1] <= 2*around+1 {
			n++
		}
		hunk(out, was, is, max(0, changed[0]-around), min(len(was), changed[n-1]+around+1))
		changed = changed[n:]
	}
}

// changes returns the indexes of the lines that differ.
func changes(was, is [][]byte) (changed []int) {
	for i := range was {
		if !bytes.Equal(was[i], is[i]) {
			changed = append(changed, i)
		}
	}
	return changed
}

// hunk writes a range of lines. For each run of lines that differ, it writes the old ones first.
func hunk(out *bytes.Buffer, was, is [][]byte, start, end int) {
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", start+1, end-start, start+1, end-start)
	for i := start; i < end; {
		if bytes.Equal(was[i], is[i]) {
			line(out, ' ', was[i])
			i++
			continue
		}
		from := i
		for ; i < end && !bytes.Equal(was[i], is[i]); i++ {
			line(out, '-', was[i])
		}
		for _, text := range is[from:i] {
			line(out, '+', text)
		}
	}
}

func line(out *bytes.Buffer, sign byte, text []byte) {
	out.WriteByte(sign)
	out.Write(text)
	if !bytes.HasSuffix(text, []byte("\n")) {
		out.WriteString("\n\\ No newline at end of file\n")
	}
}

// header returns a path in the form that git and patch read: quoted if it has characters that would
// not survive, and followed by a tab if it contains a space, because a date might follow.
func header(path string) string {
	odd := func(r rune) bool { return unicode.IsControl(r) || r == '"' || r == '\\' }
	switch {
	case strings.ContainsFunc(path, odd):
		return quoted(path)
	case strings.Contains(path, " "):
		return path + "\t"
	}
	return path
}

// quoted returns a path in quotes with the escapes of C. It uses octal escapes, which both git and
// patch read.
func quoted(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return `"` + b.String() + `"`
}
