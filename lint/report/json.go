package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
)

// schemaVersion must be incremented when the json format changes incompatibly.
const schemaVersion = "1"

// jsonReport is the json format. Package diag defines the types of its members. Accepted lists
// accepted findings, which are not counted. Complete is false if there are failures. Change is
// present only if the run was compared with a revision.
type jsonReport struct {
	SchemaVersion string            `json:"schemaVersion"`
	Complete      bool              `json:"complete"`
	Failures      diag.Failures     `json:"failures"`
	Diagnostics   []diag.Diagnostic `json:"diagnostics"`
	Accepted      []diag.Diagnostic `json:"accepted"`
	Change        *diag.Change      `json:"change,omitempty"`
	Summary       diag.Summary      `json:"summary"`
}

func writeJSON(w io.Writer, r *diag.Report, _ Options) error {
	return stream(w, jsonReport{schemaVersion, r.Complete(), r.Failures, r.Diagnostics, r.Accepted, r.Change, r.Summary})
}

// Encode writes v as indented JSON. It escapes characters that a terminal would hide, and commands
// that a CI runner would execute. Invalid UTF-8 becomes U+FFFD.
func Encode(w io.Writer, v any) error {
	out := &harmlessWriter{to: w}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	if out.err != nil {
		return out.err
	}
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	return nil
}

// harmlessWriter applies harmless to every document written to it. Each call of Write must pass a
// complete document.
type harmlessWriter struct {
	to  io.Writer
	err error
}

// Harmless returns a writer of JSON, or of YAML with JSON's strings, that is safe to print to a terminal or
// CI log. Each call of Write must pass whole strings.
func Harmless(w io.Writer) io.Writer { return &harmlessWriter{to: w} }

func (w *harmlessWriter) Write(doc []byte) (int, error) {
	if _, err := w.to.Write(harmless(doc)); err != nil {
		w.err = err
		return 0, err
	}
	return len(doc), nil
}

// harmless rewrites JSON so that it is safe to print to a terminal or CI log. It writes hidden
// characters as \u escapes. It also escapes the # in commands to a CI runner. All these characters
// are inside strings, where the escapes do not change the value.
func harmless(doc []byte) []byte {
	var out []byte
	done := 0 // how many bytes of doc are already in out
	for i := 0; i < len(doc); {
		if c := doc[i]; c == '\n' || c >= ' ' && c <= '~' && c != '#' {
			i++
			continue
		}
		r, size := utf8.DecodeRune(doc[i:])
		if hidden(r) || commandAt(doc, i) {
			out = appendEscape(append(out, doc[done:i]...), r)
			done = i + size
		}
		i += size
	}
	if out == nil {
		return doc
	}
	return append(out, doc[done:]...)
}

// appendEscape appends r as an ASCII-only JSON escape.
func appendEscape(out []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); r > 0xffff {
		return fmt.Appendf(out, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}

// stream is like Encode, but writes one field and one list item at a time, because an answer about
// thousands of workloads is large. A list without items is written as [] instead of null.
func stream(w io.Writer, v any) error {
	s := &streamer{to: bufio.NewWriterSize(w, 64<<10), encoded: map[indented][]byte{}}
	s.encoder = json.NewEncoder(&s.raw)
	s.encoder.SetEscapeHTML(false)
	s.value(reflect.ValueOf(v), "")
	s.print("\n")
	return cmp.Or(s.err, s.to.Flush())
}

type streamer struct {
	to        *bufio.Writer
	encoder   *json.Encoder
	raw, text bytes.Buffer // encoded forms of the current value
	encoded   map[indented][]byte
	err       error
}

// indented is a comparable value and its indent.
type indented struct {
	value  any
	indent string
}

// mostEncoded limits how many encoded values are kept. Most structs in an answer about thousands of
// workloads are equal.
const mostEncoded = 1024

// value writes a value, indenting every line except the first. It encodes a value as a whole if its
// type is comparable, since it then holds no list.
func (s *streamer) value(v reflect.Value, indent string) {
	inner := indent + "  "
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		s.value(v.Elem(), indent)
	case v.Kind() == reflect.Slice:
		next := "[\n"
		for i := range v.Len() {
			s.print(next, inner)
			s.value(v.Index(i), inner)
			next = ",\n"
		}
		if v.Len() == 0 {
			s.print("[]")
		} else {
			s.print("\n", indent, "]")
		}
	case v.Kind() == reflect.Struct && v.Type().Comparable():
		key := indented{v.Interface(), indent}
		text, done := s.encoded[key]
		if !done {
			if len(s.encoded) == mostEncoded {
				clear(s.encoded)
			}
			text = bytes.Clone(s.whole(key.value, key.indent))
			s.encoded[key] = text
		}
		s.write(text)
	case v.Kind() == reflect.Struct:
		next := "{\n"
		for field, f := range v.Fields() {
			name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
			empty := f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0
			if name == "-" || option == "omitempty" && empty {
				continue
			}
			s.print(next, inner, `"`, name, `": `)
			s.value(f, inner)
			next = ",\n"
		}
		s.print("\n", indent, "}")
	default:
		s.write(s.whole(v.Interface(), indent))
	}
}

// whole returns the encoded form of a value. The next call overwrites it.
func (s *streamer) whole(v any, indent string) []byte {
	s.raw.Reset()
	s.text.Reset()
	err := s.encoder.Encode(v)
	if err == nil {
		err = json.Indent(&s.text, bytes.TrimSuffix(s.raw.Bytes(), []byte("\n")), indent, "  ")
	}
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("encoding: %w", err)
	}
	return harmless(s.text.Bytes())
}

func (s *streamer) write(text []byte) {
	if s.err == nil {
		_, s.err = s.to.Write(text)
	}
}

func (s *streamer) print(texts ...string) {
	for _, text := range texts {
		if s.err == nil {
			_, s.err = s.to.WriteString(text)
		}
	}
}
