package source

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
)

// File is one input, with its text.
type File struct {
	// Name is the path from the repository root with forward slashes, or
	// StdinName. Display is the path as the person who ran the command sees it.
	Name, Display string
	Text          []byte

	once  sync.Once
	lines []int32 // offset of the start of every line
}

// StdinName stands for standard input in every output.
const StdinName = "<stdin>"

// Line is the text of a line, counted from 1, without its line break and
// without a byte order mark.
func (f *File) Line(n int) string {
	f.once.Do(f.index)
	if n < 1 || n > len(f.lines) {
		return ""
	}
	end := int32(len(f.Text))
	if n < len(f.lines) {
		end = f.lines[n]
	}
	line := bytes.TrimRight(f.Text[f.lines[n-1]:end], "\r\n")
	if n == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return string(line)
}

// LineCount is the number of lines, at least 1.
func (f *File) LineCount() int {
	f.once.Do(f.index)
	return len(f.lines)
}

func (f *File) index() {
	f.lines = make([]int32, 1, 1+bytes.Count(f.Text, []byte("\n")))
	for i, c := range f.Text {
		if c == '\n' && i+1 < len(f.Text) {
			f.lines = append(f.lines, int32(i+1))
		}
	}
}

// Span is the place of a scalar, or of the first character of anything else.
func (f *File) Span(n *Node) diag.Span {
	if f == nil || n == nil || n.Line == 0 {
		return diag.Span{}
	}
	s := diag.Span{File: f.Name, Line: int(n.Line), Column: int(n.Column), EndLine: int(n.Line), EndColumn: int(n.Column) + 1}
	if n.Kind == Scalar {
		s.EndColumn = s.Column + max(1, utf8.RuneCountInString(scalarText(f.Line(s.Line), s.Column, n)))
	}
	return s
}

// FieldSpan is the place of a field: from its key to the end of its value if
// that is a scalar on the same line, else its key alone.
func (f *File) FieldSpan(key, value *Node) diag.Span {
	s := f.Span(key)
	if v := f.Span(value); value != nil && value.Kind == Scalar && v.Line == s.Line && v.EndColumn > s.EndColumn {
		s.EndColumn = v.EndColumn
	}
	return s
}

// LineSpan is the whole text of a line.
func (f *File) LineSpan(n int) diag.Span {
	text := f.Line(n)
	start := 1 + utf8.RuneCountInString(text) - utf8.RuneCountInString(strings.TrimLeft(text, " \t"))
	return diag.Span{File: f.Name, Line: n, Column: start, EndLine: n, EndColumn: max(start, 1+utf8.RuneCountInString(strings.TrimRight(text, " \t")))}
}

// scalarText is the part of a line that a scalar which starts at the column
// takes up: the parser says where values start but not where they end.
func scalarText(line string, column int, n *Node) string {
	for range column - 1 {
		_, size := utf8.DecodeRuneInString(line)
		line = line[size:]
	}
	rest := skipProperties(line)
	props := line[:len(line)-len(rest)]
	switch {
	case rest == "":
		return strings.TrimRight(line, " \t")
	case rest[0] == '"' || rest[0] == '\'':
		return props + quotedText(rest)
	case n.Quoted: // block scalars: the indicator
		return props + firstWord(rest)
	case strings.HasPrefix(rest, n.Value):
		return props + n.Value
	}
	return props + firstWord(rest)
}

// skipProperties drops anchors and tags in front of a value.
func skipProperties(s string) string {
	for s != "" && (s[0] == '&' || s[0] == '!') {
		i := strings.IndexAny(s, " \t")
		if i < 0 {
			return ""
		}
		s = strings.TrimLeft(s[i:], " \t")
	}
	return s
}

func quotedText(s string) string {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case s[i] == quote && quote == '\'' && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return s[:i+1]
		}
	}
	return strings.TrimRight(s, " \t")
}

func firstWord(s string) string {
	if i := strings.IndexAny(s, " \t,]}"); i > 0 {
		return s[:i]
	}
	return s
}
