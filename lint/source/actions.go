package source

import (
	"bytes"

	"github.com/schedlint/schedlint/lint/lazy"
)

// silentAction begins an action of a template that prints nothing itself (text/template):
// a comment, control, or an assignment.
var silentAction = lazy.Regexp(`^\{\{-?[ \t\r\n]*(?:/\*|(?:if|else|end|range|with|define|block|break|continue)\b|\$\w*[ \t]*(?:,|:?=))`)

// Printed is a line without the actions of templates that print nothing, which are blanks
// instead: what is left is text, or prints something.
func (f *File) Printed(n int) string {
	f.unsaid.Do(func() {
		f.printed = &File{Text: withoutActions(f.Text, func(action []byte) bool { return silentAction().Match(action) })}
	})
	return f.printed.Line(n)
}

// Literal is a line without any action of a template: blanks are where those are.
func (f *File) Literal(n int) string {
	f.literally.Do(func() {
		f.literal = &File{Text: withoutActions(f.Text, func([]byte) bool { return true })}
	})
	return f.literal.Line(n)
}

// withoutActions is a text without some actions, of the same length and with the same
// lines.
func withoutActions(text []byte, without func(action []byte) bool) []byte {
	out, cloned := text, false
	for at := 0; ; {
		begin := bytes.Index(text[at:], []byte("{{"))
		if begin < 0 {
			return out
		}
		at += begin
		size := actionSize(text[at:])
		if size == 0 {
			return out
		}
		if without(text[at : at+size]) {
			if !cloned {
				out, cloned = bytes.Clone(text), true
			}
			blank(out[at : at+size])
		}
		at += size
	}
}

func blank(text []byte) {
	for i, c := range text {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
}

var commentAction = lazy.Regexp(`^\{\{(?:- )?[ \t\r\n]*/\*`)

// actionSize is how long the action is that a text begins with; 0 if it does not end.
func actionSize(text []byte) int {
	if m := commentAction().FindIndex(text); m != nil {
		end := bytes.Index(text[m[1]:], []byte("*/"))
		if end < 0 {
			return 0
		}
		from := m[1] + end
		if end = bytes.Index(text[from:], []byte("}}")); end < 0 {
			return 0
		}
		return from + end + 2
	}
	var quote byte
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\' && quote != '`':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '`' || c == '\'':
			quote = c
		case c == '}' && i+1 < len(text) && text[i+1] == '}':
			return i + 2
		}
	}
	return 0
}
