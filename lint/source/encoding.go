package source

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// NewFile is a file with the text that was read from it. A UTF-16 file with a byte
// order mark becomes UTF-8, without the mark: lines and columns, in code points,
// are the same in both.
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

// byteOrders are the encodings that a byte order mark tells apart.
var byteOrders = []struct {
	mark  []byte
	order binary.ByteOrder
}{
	{[]byte{0xff, 0xfe}, binary.LittleEndian},
	{[]byte{0xfe, 0xff}, binary.BigEndian},
}

// fromUTF16 decodes a text with a byte order mark of UTF-16; ok is false for any
// other text, and for one with half a code point somewhere.
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

// misread says why a text cannot be read, by its encoding.
func misread(text []byte) string {
	for _, e := range byteOrders {
		if bytes.HasPrefix(text, e.mark) {
			return "is not valid UTF-16 text"
		}
	}
	return "is not UTF-8 text"
}
