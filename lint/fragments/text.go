package fragments

import (
	"bytes"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// written returns a block of text in a file as a file of its own, in which each line has the same
// place as in the original. It returns nil for a scalar of another style, whose lines differ, and
// if the result would exceed a number of bytes; cost is its size.
func written(file *source.File, block *source.Node, most int) (inner *source.File, cost int) {
	head := file.Span(block).Line
	if !literal(file, block, head) {
		return nil, 0
	}
	lines := strings.Split(block.Value, "\n")
	first := file.Line(head + 1)
	if cost = head + len(block.Value) + len(lines)*(len(first)-len(strings.TrimLeft(first, " "))); cost > most {
		return nil, cost
	}
	text := bytes.NewBuffer(bytes.Repeat([]byte("\n"), head))
	indent := -1
	for i, line := range lines {
		blank, same := strings.CutSuffix(file.Line(head+1+i), line)
		switch {
		case strings.Trim(line, " ") == "":
			blank = ""
		case !same || strings.Trim(blank, " ") != "" || len(blank) > maxIndent || indent >= 0 && indent != len(blank):
			return nil, 0
		default:
			indent = len(blank)
		}
		text.WriteString(blank + line + "\n")
	}
	inner = source.NewFile(file.Name, file.Display, text.Bytes())
	inner.Result = file.Result
	return inner, cost
}

// maxIndent bounds the indentation of a text.
const maxIndent = 200

// literal reports whether a scalar is a block of text that keeps its lines.
func literal(file *source.File, block *source.Node, line int) bool {
	text := file.Line(line)
	at := strings.LastIndexByte(text, '|')
	return block.Quoted && at >= 0 && strings.Contains(block.Value, "\n") && strings.Trim(text[at:], "|+-0123456789 ") == "" && strings.HasSuffix(strings.TrimRight(text[:at], " "), ":")
}

// Moved maps a place in values that one object has as text to the same place in another object with
// the same text, such as the source of a rendered object. It returns false if there is no such
// text.
func Moved(from, to *source.Object, s diag.Span) (at diag.Span, ok bool) {
	here, there := sources(from), sources(to)
	for i := range min(len(here), len(there)) {
		a, b := here[i].At("helm", "values"), there[i].At("helm", "values")
		if a.Text() == "" || a.Text() != b.Text() {
			continue
		}
		head, onto := from.File.Span(a).Line, to.File.Span(b).Line
		if !literal(from.File, a, head) || !literal(to.File, b, onto) || s.Line <= head || s.EndLine > head+strings.Count(a.Value, "\n") {
			continue
		}
		at = s
		at.File, at.Line, at.EndLine = to.File.Name, s.Line+onto-head, s.EndLine+onto-head
		at.Column += shift(from.File.Line(s.Line), to.File.Line(at.Line))
		at.EndColumn += shift(from.File.Line(s.EndLine), to.File.Line(at.EndLine))
		return at, true
	}
	return at, false
}

// shift returns how much further one line is indented than another.
func shift(from, to string) int {
	return len(to) - len(strings.TrimLeft(to, " ")) - len(from) + len(strings.TrimLeft(from, " "))
}
