package source

import (
	"bytes"
	"encoding/binary"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
)

// File is an input file with its text.
type File struct {
	// Name is the path relative to the root of the repository with forward slashes, or StdinName.
	// Display is the path as shown to the user.
	Name, Display string
	// Text is the content in UTF-8. Recoded is set if the file itself is UTF-16. In that case,
	// offsets in Text are not offsets in the file.
	Text    []byte
	Recoded bool
	// Result is set for the output of a render. Positions in the output are mapped to the sources
	// before the user sees them.
	Result bool
	// refused is set if the file was not read because it exceeds a limit.
	refused bool

	once  sync.Once
	index *textIndex
	made  sync.Once
	maker Maker // see Maker
	// unsaid guards printed, the file without template actions that print nothing. printed is nil
	// until Printed is called.
	unsaid  sync.Once
	printed *File
	// literally guards literal, the file without template actions. literal is nil until Literal is
	// called.
	literally sync.Once
	literal   *File
}

// StdinName is the name of standard input in all output.
const StdinName = "<stdin>"

func (f *File) indexed() *textIndex {
	f.once.Do(func() { f.index = newIndex(f.Text, false) })
	return f.index
}

// Line returns a line, counted from 1, without its line break and without a byte order mark.
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

// Span returns the position of a node. For a scalar, this is the position of the value, including
// quotes but not the tag and anchor. For a block scalar, it is the position of the indicator. For a
// map or list, it is the position of the first character. A missing value, as after a bare "key:",
// has an empty span.
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

// FieldSpan returns the position of a field. If the value is a scalar on the same line, the span
// extends from the key to the end of the value. Otherwise, the span covers only the key.
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

// ItemSpan returns the position of a list item, which is the position of its first field. In a
// render it returns the same as Span, because rendered fields are sorted and the first one means
// nothing.
func (f *File) ItemSpan(n *Node) diag.Span {
	if !f.Result {
		for k, v := range n.Fields() {
			return f.FieldSpan(k, v)
		}
	}
	return f.Span(n)
}

// Range returns the start and end offsets of a span within one line. If the file has no such span,
// ok is false.
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

// absent reports whether a scalar has no text in the file, as after a bare "key:".
func (n *Node) absent() bool { return n.Value == "" && !n.Quoted }

// LineSpan returns the span of a line, excluding surrounding white space.
func (f *File) LineSpan(n int) diag.Span {
	text := f.Line(n)
	start := 1 + utf8.RuneCountInString(text) - utf8.RuneCountInString(strings.TrimLeft(text, " \t"))
	return diag.Span{File: f.Name, Line: n, Column: start, EndLine: n, EndColumn: max(start, 1+utf8.RuneCountInString(strings.TrimRight(text, " \t")))}
}

// BlockSpan converts a span in the content of a block scalar to a span in the file that contains
// the scalar. The argument text is the content as a separate File. ok is false if the scalar is not
// a block scalar, or if the lines of the two files differ.
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

// runeOffset returns the byte offset of the n-th code point of s.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// scalarExtent returns the start and end offsets of a scalar, excluding its tag and anchor. at is
// the offset of the scalar including its tag and anchor. The end must be computed, because the
// parser does not report it.
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

// skipProperties returns the offset after the tags and anchors before a value. The value may begin
// on a later line.
func skipProperties(text []byte, at int) int {
	for at < len(text) && (text[at] == '&' || text[at] == '!') {
		if text[at] == '!' {
			at += wordLen(text[at:], " \t\r\n")
		} else { // an anchor name ends before any other character
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

// wordLen returns the length of text up to the first stop character.
func wordLen(text []byte, stops string) int {
	if i := bytes.IndexAny(text, stops); i >= 0 {
		return i
	}
	return len(text)
}

// quotedLen returns the length of a quoted scalar including its quotes.
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

// plainLen returns the length of a multi-line plain scalar. Its text differs from value only in
// white space.
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

// textIndex converts between offsets and positions (line and column). It is built once per file.
// Lookups take constant or logarithmic time, even in a long line.
type textIndex struct {
	text  []byte
	lines []int32 // start offset of each line
	// runes holds the number of code points before each chunk of the text. It is nil for ASCII text,
	// in which columns are bytes.
	runes []int32
}

const chunk = 1 << 10

var byteOrderMark = []byte("\ufeff")

// newIndex indexes the text. If wide is true, lines also end at the other line breaks of YAML 1.1:
// a lone carriage return and the Unicode line breaks.
func newIndex(text []byte, wide bool) *textIndex {
	x := &textIndex{text: text, lines: make([]int32, 1, 1+bytes.Count(text, []byte("\n")))}
	if bytes.HasPrefix(text, byteOrderMark) {
		x.lines[0] = int32(len(byteOrderMark))
	}
	ascii := true
	for i, c := range text {
		ascii = ascii && c < utf8.RuneSelf
		if c == '\n' || wide && wideBreak(text, i) {
			x.lines = append(x.lines, int32(i+1))
		}
	}
	if end := len(x.lines) - 1; end > 0 && int(x.lines[end]) == len(text) {
		x.lines = x.lines[:end]
	}
	if ascii {
		return x
	}
	x.runes = make([]int32, 1+len(text)/chunk)
	n := int32(0)
	for i, c := range text {
		if i%chunk == 0 {
			x.runes[i/chunk] = n
		}
		if utf8.RuneStart(c) {
			n++
		}
	}
	if len(text)%chunk == 0 {
		x.runes[len(text)/chunk] = n
	}
	return x
}

// wideBreak reports whether the byte at i ends a lone carriage return, U+0085, U+2028 or U+2029.
// These are the line breaks other than \n.
func wideBreak(text []byte, i int) bool {
	switch text[i] {
	case '\r':
		return i+1 == len(text) || text[i+1] != '\n'
	case 0x85:
		return i > 0 && text[i-1] == 0xc2
	case 0xa8, 0xa9:
		return i > 1 && text[i-1] == 0x80 && text[i-2] == 0xe2
	}
	return false
}

// hasWideBreak reports whether the text has a line break other than \n and \r\n.
func hasWideBreak(text []byte) bool {
	for _, mark := range []string{"\u0085", "\u2028", "\u2029"} {
		if bytes.Contains(text, []byte(mark)) {
			return true
		}
	}
	return bytes.IndexByte(text, '\r') >= 0 && bytes.Count(text, []byte("\r")) != bytes.Count(text, []byte("\r\n"))
}

// bounds returns the start and end offsets of an existing line without its line break.
func (x *textIndex) bounds(line int) (start, end int) {
	start, end = int(x.lines[line-1]), len(x.text)
	if line < len(x.lines) {
		end = int(x.lines[line])
	}
	return start, start + len(bytes.TrimRight(x.text[start:end], "\r\n"))
}

// offset returns the offset of a position. A column beyond the end of the line is treated as the
// end of the line.
func (x *textIndex) offset(line, column int) int {
	if line < 1 || line > len(x.lines) {
		return len(x.text)
	}
	start, end := x.bounds(line)
	if x.runes == nil {
		return min(start+column-1, end)
	}
	return min(x.rune(x.before(start)+column-1), end)
}

// place returns the line and the column of an offset.
func (x *textIndex) place(at int) (line, column int) {
	line = max(1, sort.Search(len(x.lines), func(i int) bool { return int(x.lines[i]) > at }))
	return line, 1 + max(0, x.before(at)-x.before(int(x.lines[line-1])))
}

// before returns the number of code points before an offset.
func (x *textIndex) before(at int) int {
	if x.runes == nil {
		return at
	}
	n := int(x.runes[at/chunk])
	for _, c := range x.text[at/chunk*chunk : at] {
		if utf8.RuneStart(c) {
			n++
		}
	}
	return n
}

// rune returns the offset of code point n, counted from 0.
func (x *textIndex) rune(n int) int {
	i := sort.Search(len(x.runes), func(i int) bool { return int(x.runes[i]) > n }) - 1
	at, seen := i*chunk, int(x.runes[i])
	for ; at < len(x.text); at++ {
		if utf8.RuneStart(x.text[at]) {
			if seen == n {
				break
			}
			seen++
		}
	}
	return at
}

// NewFile returns a File with the given content. It converts UTF-16 with a byte order mark to UTF-8
// without the mark. This does not change lines and columns, because columns count code points.
func NewFile(name, display string, raw []byte) *File {
	f := &File{Name: name, Display: display}
	f.setText(raw)
	return f
}

func (f *File) setText(raw []byte) {
	f.Text = raw
	if text, ok := fromUTF16(raw); ok {
		f.Text, f.Recoded = text, true
	}
}

// byteOrders lists the encodings identified by a byte order mark.
var byteOrders = []struct {
	mark  []byte
	order binary.ByteOrder
}{
	{[]byte{0xff, 0xfe}, binary.LittleEndian},
	{[]byte{0xfe, 0xff}, binary.BigEndian},
}

// fromUTF16 decodes UTF-16 text with a byte order mark. If there is no mark, or if a code point is
// incomplete, ok is false.
func fromUTF16(raw []byte) (text []byte, ok bool) {
	for _, e := range byteOrders {
		body, marked := bytes.CutPrefix(raw, e.mark)
		if !marked || len(body)%2 != 0 {
			continue
		}
		text = make([]byte, 0, len(body)/2+len(body)/8)
		for i := 0; i < len(body); i += 2 {
			r := rune(e.order.Uint16(body[i:]))
			if utf16.IsSurrogate(r) {
				if i += 2; i >= len(body) {
					return nil, false
				}
				if r = utf16.DecodeRune(r, rune(e.order.Uint16(body[i:]))); r == utf8.RuneError {
					return nil, false
				}
			}
			text = utf8.AppendRune(text, r)
		}
		return text, true
	}
	return nil, false
}
