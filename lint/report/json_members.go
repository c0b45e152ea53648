package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/schedlint/schedlint/lint/diag"
)

// members writes an object as encode does, but one member at a time and findings one by one: there
// may be thousands, and their text is much larger than the values.
type members struct {
	to        *bufio.Writer
	encoder   *json.Encoder
	raw, text bytes.Buffer // of the current value
	begun     bool
	err       error
}

func newMembers(w io.Writer) *members {
	m := &members{to: bufio.NewWriterSize(w, 64<<10)}
	m.encoder = json.NewEncoder(&m.raw)
	m.encoder.SetEscapeHTML(false)
	return m
}

// member writes a member as one value.
func (m *members) member(name string, v any) {
	m.name(name)
	m.value(v, "  ")
}

// findings writes a list of findings, with empty lists in place of nil.
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

// end ends the object.
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

// value writes a value; all its lines except the first begin with indent.
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
