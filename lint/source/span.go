package source

import (
	"bytes"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
)

// File is one input, with its text.
type File struct {
	// Name is the path relative to the root of the repository with forward slashes, or StdinName.
	// Display is the path as the user of the command sees it.
	Name, Display string
	// Text is UTF-8. Recoded is set if the file itself is UTF-16, so that offsets in the text are
	// not offsets in the file.
	Text    []byte
	Recoded bool
	// Result is set for the result of a render: every place in it is moved to its source before a
	// user sees it.
	Result bool
	// refused is set for a text that is not read because it exceeds a limit.
	refused bool

	once  sync.Once
	index *textIndex
	made  sync.Once
	maker Maker // see madeBy
	// printed is the text without template actions that print nothing, if it contains any.
	unsaid  sync.Once
	printed *File
	// literal is the text without any template actions.
	literally sync.Once
	literal   *File
}

// StdinName is the name of standard input in all output.
const StdinName = "<stdin>"

func (f *File) indexed() *textIndex {
	f.once.Do(func() { f.index = newIndex(f.Text, false) })
	return f.index
}

// Line returns the text of a line, counted from 1, without its line break and without a byte order
// mark.
func (f *File) Line(n int) string {
	x := f.indexed()
	if n < 1 || n > len(x.lines) {
		return ""
	}
	start, end := x.bounds(n)
	return string(f.Text[start:end])
}

// LineCount returns the number of lines, which is at least 1.
func (f *File) LineCount() int { return len(f.indexed().lines) }

// Span returns the place of a scalar with its quotes but without its tag and anchor, or of the
// first character of another node. The place of a block scalar is its indicator. A missing scalar,
// such as after a bare "key:", has an empty span.
func (f *File) Span(n *Node) diag.Span {
	if f == nil || n == nil || n.Line == 0 {
		return diag.Span{}
	}
	if n.Kind != Scalar {
		return diag.Span{File: f.Name, Line: int(n.Line), Column: int(n.Column), EndLine: int(n.Line), EndColumn: int(n.Column) + 1}
	}
	x := f.indexed()
	start, end := scalarExtent(f.Text, x.offset(int(n.Line), int(n.Column)), n)
	s := diag.Span{File: f.Name}
	s.Line, s.Column = x.place(start)
	s.EndLine, s.EndColumn = x.place(end)
	return s
}

// FieldSpan returns the place of a field: from its key to the end of its value if that is a scalar
// that begins on the same line, or else its key.
func (f *File) FieldSpan(key, value *Node) diag.Span {
	s := f.Span(key)
	if value == nil || value.Kind != Scalar || value.absent() {
		return s
	}
	v := f.Span(value)
	if v.Line == s.EndLine && v.Column > s.EndColumn {
		s.EndLine, s.EndColumn = v.EndLine, v.EndColumn
	}
	return s
}

// ItemSpan returns the place of an item of a list, which is that of its first field. In the result
// of a render fields are sorted, so the first field means nothing there, and the place is that of
// the item, as in Span.
func (f *File) ItemSpan(n *Node) diag.Span {
	if !f.Result {
		for k, v := range n.Fields() {
			return f.FieldSpan(k, v)
		}
	}
	return f.Span(n)
}

// Range returns the offsets in the text of a span within one line; ok is false if the file has no
// such place.
func (f *File) Range(s diag.Span) (start, end int, ok bool) {
	if s.Line < 1 || s.Line > f.LineCount() || s.EndLine != s.Line || s.Column < 1 || s.EndColumn < s.Column {
		return 0, 0, false
	}
	x := f.indexed()
	start, end = x.offset(s.Line, s.Column), x.offset(s.Line, s.EndColumn)
	if _, column := x.place(end); column != s.EndColumn { // beyond the end of the line
		return 0, 0, false
	}
	return start, end, true
}

// absent reports whether a scalar has no text in the file.
func (n *Node) absent() bool { return n.Value == "" && !n.Quoted }

// LineSpan returns the whole text of a line without blanks around it.
func (f *File) LineSpan(n int) diag.Span {
	text := f.Line(n)
	start := 1 + utf8.RuneCountInString(text) - utf8.RuneCountInString(strings.TrimLeft(text, " \t"))
	return diag.Span{File: f.Name, Line: n, Column: start, EndLine: n, EndColumn: max(start, 1+utf8.RuneCountInString(strings.TrimRight(text, " \t")))}
}

// BlockSpan converts a span in the text of a block scalar, given as a separate file, to a span in
// the file that contains the scalar; ok is false for other scalars, and if the text of the line
// differs.
func (f *File) BlockSpan(block *Node, text *File, s diag.Span) (at diag.Span, ok bool) {
	above := f.Span(block)
	if line := f.Line(above.Line); s.IsZero() || !block.Quoted || !strings.HasPrefix(line[runeOffset(line, above.Column-1):], "|") {
		return s, false
	}
	indent := -1
	for n := s.Line; n <= s.EndLine; n++ {
		blank, same := strings.CutSuffix(f.Line(above.Line+n), text.Line(n))
		if !same || strings.Trim(blank, " ") != "" || indent >= 0 && indent != len(blank) {
			return s, false
		}
		indent = len(blank)
	}
	return diag.Span{File: f.Name, Line: above.Line + s.Line, Column: s.Column + indent, EndLine: above.Line + s.EndLine, EndColumn: s.EndColumn + indent}, true
}

// runeOffset returns the offset in bytes of the n-th code point of s.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// scalarExtent returns the part of the text that a scalar takes up; the scalar, with its tag and
// anchor, begins at an offset. The parser reports where values begin, but not where they end.
func scalarExtent(text []byte, at int, n *Node) (start, end int) {
	if n.absent() {
		return at, at
	}
	start = skipProperties(text, at)
	rest := text[start:]
	switch {
	case len(rest) == 0:
		return start, start
	case n.Quoted && (rest[0] == '"' || rest[0] == '\''):
		return start, start + quotedLen(rest)
	case n.Quoted: // a block scalar
		return start, start + wordLen(rest, " \t\r\n#")
	case bytes.HasPrefix(rest, []byte(n.Value)):
		return start, start + len(n.Value)
	}
	return start, start + plainLen(rest, n.Value)
}

// skipProperties returns the offset after the tags and anchors before a value, which may be on a
// line of their own.
func skipProperties(text []byte, at int) int {
	for at < len(text) && (text[at] == '&' || text[at] == '!') {
		if text[at] == '!' {
			at += wordLen(text[at:], " \t\r\n")
		} else { // the name of an anchor ends before any other character
			for at++; at < len(text) && bytes.IndexByte(inAnchors, text[at]) >= 0; at++ {
			}
		}
		at = skipBlank(text, at)
	}
	return at
}

var inAnchors = []byte("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")

// skipBlank returns the offset after white space and comments.
func skipBlank(text []byte, at int) int {
	for at < len(text) {
		switch text[at] {
		case ' ', '\t', '\r', '\n':
			at++
		case '#':
			at += wordLen(text[at:], "\r\n")
		default:
			return at
		}
	}
	return at
}

// wordLen returns the length of the text up to one of the stops.
func wordLen(text []byte, stops string) int {
	if i := bytes.IndexAny(text, stops); i >= 0 {
		return i
	}
	return len(text)
}

// quotedLen returns the length of a quoted scalar with its quotes.
func quotedLen(s []byte) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case s[i] == quote && quote == '\'' && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return len(s)
}

// plainLen returns the length of an unquoted scalar on several lines, in which only white space
// differs from the value.
func plainLen(s []byte, value string) int {
	at := 0
	for _, want := range value {
		if unicode.IsSpace(want) {
			continue
		}
		c, size := utf8.DecodeRune(s[at:])
		for size > 0 && unicode.IsSpace(c) {
			at += size
			c, size = utf8.DecodeRune(s[at:])
		}
		if c != want {
			return wordLen(s, " \t\r\n,:]}")
		}
		at += size
	}
	return at
}
