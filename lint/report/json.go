package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
)

// schemaVersion must be incremented when the json format changes incompatibly.
const schemaVersion = "1"

// writeJSON writes the json format. Package diag defines the types of its members. "accepted" lists
// accepted findings, which are not counted. "complete" is false if there are failures. "change" is
// present only if the run was compared with a revision.
func writeJSON(w io.Writer, r *diag.Report, _ Options) error {
	out := newMembers(w)
	out.member("schemaVersion", schemaVersion)
	out.member("complete", r.Complete())
	out.member("failures", array(r.Failures))
	out.findings("diagnostics", r.Diagnostics)
	out.findings("accepted", r.Accepted)
	if c := r.Change; c != nil {
		out.member("change", &diag.Change{Since: c.Since, Silences: array(c.Silences), Fixed: withEmptyLists(c.Fixed), Gone: withEmptyLists(c.Gone), Undecided: withEmptyLists(c.Undecided), Unchanged: withEmptyLists(c.Unchanged)})
	}
	out.member("summary", summaryWithLists(r.Summary))
	return out.end()
}

// summaryWithLists returns a summary in which empty lists encode as [] instead of null.
func summaryWithLists(s diag.Summary) *diag.Summary {
	s.Notes = array(s.Notes)
	for _, entries := range []*[]diag.Skip{&s.Skipped, &s.NotJudged, &s.Repeated, &s.Unknown} {
		*entries = array(*entries)
		for i := range *entries {
			(*entries)[i].Places = array((*entries)[i].Places)
		}
	}
	return &s
}

// withEmptyLists returns copies of findings in which empty lists encode as [] instead of null.
func withEmptyLists(all []diag.Diagnostic) []diag.Diagnostic {
	all = array(all)
	for i := range all {
		all[i].Related, all[i].Fixes = array(all[i].Related), array(all[i].Fixes)
	}
	return all
}

// array returns a copy of s that encodes as [] if it is empty.
func array[T any](s []T) []T {
	return append(make([]T, 0, len(s)), s...)
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

// members writes an object in the same format as Encode, but one member and one finding at a time.
// This saves memory if there are thousands of findings.
type members struct {
	to        *bufio.Writer
	encoder   *json.Encoder
	raw, text bytes.Buffer // encoded forms of the current value
	begun     bool
	err       error
}

func newMembers(w io.Writer) *members {
	m := &members{to: bufio.NewWriterSize(w, 64<<10)}
	m.encoder = json.NewEncoder(&m.raw)
	m.encoder.SetEscapeHTML(false)
	return m
}

// member writes a member with a single value.
func (m *members) member(name string, v any) {
	m.name(name)
	m.value(v, "  ")
}

// findings writes a member that is a list of findings. Empty lists in a finding are written as []
// instead of null.
func (m *members) findings(name string, all []diag.Diagnostic) {
	m.name(name)
	m.write("[")
	for i := range all {
		if i > 0 {
			m.write(",")
		}
		d := all[i]
		if d.Related == nil {
			d.Related = []diag.Related{}
		}
		if d.Fixes == nil {
			d.Fixes = []diag.Fix{}
		}
		m.write("\n    ")
		m.value(&d, "    ")
	}
	if len(all) > 0 {
		m.write("\n  ")
	}
	m.write("]")
}

// end ends the object and returns the first write error, if any.
func (m *members) end() error {
	m.write("\n}\n")
	if err := m.to.Flush(); m.err == nil {
		m.err = err
	}
	return m.err
}

func (m *members) name(name string) {
	if m.begun {
		m.write(",\n  \"" + name + "\": ")
	} else {
		m.write("{\n  \"" + name + "\": ")
	}
	m.begun = true
}

// value writes a value, indenting every line except the first.
func (m *members) value(v any, indent string) {
	m.raw.Reset()
	m.text.Reset()
	err := m.encoder.Encode(v)
	if err == nil {
		err = json.Indent(&m.text, bytes.TrimSuffix(m.raw.Bytes(), []byte("\n")), indent, "  ")
	}
	if err != nil && m.err == nil {
		m.err = fmt.Errorf("encoding: %w", err)
	}
	if m.err == nil {
		_, m.err = m.to.Write(harmless(m.text.Bytes()))
	}
}

func (m *members) write(text string) {
	if m.err == nil {
		_, m.err = m.to.WriteString(text)
	}
}
