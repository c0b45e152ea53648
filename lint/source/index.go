package source

import (
	"bytes"
	"encoding/binary"
	"sort"
	"unicode/utf16"
	"unicode/utf8"
)

// textIndex converts between offsets and places (line and column) of a text. It is built once per
// text and answers in constant or logarithmic time, because a file may be a single long line.
type textIndex struct {
	text  []byte
	lines []int32 // the offset of the start of every line
	// runes holds the number of code points before every chunk of the text. It is nil for ASCII,
	// where columns are bytes.
	runes []int32
}

const chunk = 1 << 10

var byteOrderMark = []byte("\ufeff")

// newIndex indexes a text. With wide set, lines also end at the other line breaks of YAML 1.1: a
// single carriage return and the line breaks of Unicode.
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

// wideBreak reports whether the byte at i ends a line break other than \n: a
// lone carriage return, U+0085, U+2028 or U+2029.
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

// hasWideBreak reports whether a text has a line break other than \n and \r\n.
func hasWideBreak(text []byte) bool {
	for _, mark := range []string{"\u0085", "\u2028", "\u2029"} {
		if bytes.Contains(text, []byte(mark)) {
			return true
		}
	}
	return bytes.IndexByte(text, '\r') >= 0 && bytes.Count(text, []byte("\r")) != bytes.Count(text, []byte("\r\n"))
}

// bounds returns the offsets of the start and the end of an existing line, without its line break.
func (x *textIndex) bounds(line int) (start, end int) {
	start, end = int(x.lines[line-1]), len(x.text)
	if line < len(x.lines) {
		end = int(x.lines[line])
	}
	return start, start + len(bytes.TrimRight(x.text[start:end], "\r\n"))
}

// offset returns the offset of a place, or at most the end of the line.
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

// rune returns the offset of the code point that has n code points before it.
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

// NewFile returns a file with the text that was read from it. It converts a UTF-16 file with a byte
// order mark to UTF-8 without the mark; lines and columns, in code points, are the same in both.
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

// byteOrders lists the encodings that a byte order mark distinguishes.
var byteOrders = []struct {
	mark  []byte
	order binary.ByteOrder
}{
	{[]byte{0xff, 0xfe}, binary.LittleEndian},
	{[]byte{0xfe, 0xff}, binary.BigEndian},
}

// fromUTF16 decodes a text with a byte order mark of UTF-16; ok is false for any other text, and
// for one with an incomplete code point.
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
