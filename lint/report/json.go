package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
)

// schemaVersion changes when a reader of the json format would have to.
const schemaVersion = "1"

// jsonReport is the json format. Its members are those of lint/diag.
type jsonReport struct {
	SchemaVersion string            `json:"schemaVersion"`
	Diagnostics   []diag.Diagnostic `json:"diagnostics"`
	Summary       diag.Summary      `json:"summary"`
}

func writeJSON(w io.Writer, r *diag.Report, _ Options) error {
	out := jsonReport{schemaVersion, array(r.Diagnostics), r.Summary}
	for i := range out.Diagnostics {
		d := &out.Diagnostics[i]
		d.Related, d.Fixes = array(d.Related), array(d.Fixes)
	}
	s := &out.Summary
	s.Notes = array(s.Notes)
	for _, entries := range []*[]diag.Skip{&s.Skipped, &s.NotJudged, &s.Repeated, &s.Unknown} {
		*entries = array(*entries)
		for i := range *entries {
			(*entries)[i].Places = array((*entries)[i].Places)
		}
	}
	return encode(w, out)
}

// array copies s so that it encodes as [] when empty and the report that it
// belongs to stays as it is.
func array[T any](s []T) []T {
	return append(make([]T, 0, len(s)), s...)
}

// encode writes v as indented JSON. Invalid UTF-8 becomes U+FFFD.
func encode(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	_, err := w.Write(harmless(b.Bytes()))
	return err
}

// harmless rewrites JSON so that printing it to a terminal or a CI log does
// nothing: what a terminal would hide or a runner obey becomes a \u escape.
// Such characters occur only inside strings, where the escape means the same.
func harmless(doc []byte) []byte {
	text := string(doc)
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r != '\n' && hidden(r) || commandAt(text, i) {
			out = appendEscape(out, r)
		} else {
			out = append(out, text[i:i+size]...)
		}
		i += size
	}
	return out
}

// appendEscape appends r as JSON spells it in ASCII.
func appendEscape(out []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); r > 0xffff {
		return fmt.Appendf(out, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}
