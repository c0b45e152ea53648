package lint

import (
	"strings"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/source"
)

// editChart makes the edit of a fix one of the values file that sets the text, or else of
// the template that has it. Where neither has the very text, a safe edit is withheld.
func (r *renders) editChart(x *rendered, f *diag.Fix) {
	if len(f.Edits) == 0 {
		return
	}
	e := f.Edits[0]
	why := message.WithheldComputed
	if was, ok := textAt(x.file, e.Location); ok && len(f.Edits) == 1 && x.prefix == "." {
		if e, why = r.chartEdit(x, e, was); why == "" {
			f.Edits = []diag.Edit{e}
			return
		}
	}
	if f.Safe {
		f.Withheld = why
	}
	if f.Withheld != "" {
		e.Location = r.written(x, f.Edits[0].Location).Span
		f.Placeless = e
	}
	f.Edits, f.Safe = nil, false
}

// chartEdit is an edit of the result as one of the sources, or why there is none.
func (r *renders) chartEdit(x *rendered, e diag.Edit, was string) (diag.Edit, string) {
	if x.mapper == nil || e.Location.Line > len(x.out.Lines) {
		return e, message.WithheldComputed
	}
	at := x.out.Lines[e.Location.Line-1]
	if at.Values < 0 {
		return r.templateEdit(x, e, was)
	}
	values := x.mapper.Read(x.out.Files[at.Values])
	if values == nil {
		return e, message.WithheldComputed
	}
	n, key := r.valueAt(values, at.ValuesAt, at.ValuesColumn)
	if key != nil && key.Text() == plain(was) {
		n = key
	}
	if n == nil || n.Kind != source.Scalar || n.Text() != plain(was) {
		return e, message.WithheldComputed
	}
	span := values.Span(n)
	old, ok := textAt(values, span)
	switch {
	case n.Shared:
		return e, message.WithheldShared
	case values.Recoded:
		return e, message.WithheldRecoded
	case values.Maker() != "":
		return e, message.WithheldMade(values.Maker())
	case !ok || plain(old) != n.Value:
		return e, message.WithheldNoPlainText
	}
	quote := ""
	if old != n.Value {
		quote = old[:1]
	}
	span.File = x.name(x.out.Files[at.Values])
	return diag.Edit{Location: span, OldText: old, NewText: quote + plain(e.NewText) + quote}, ""
}

// plain is a text without quotes around it.
func plain(text string) string {
	if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		return text[1 : n-1]
	}
	return text
}

// templateEdit is an edit of the result as one of the template, where that has the text
// once on the line, and not in an action.
func (r *renders) templateEdit(x *rendered, e diag.Edit, was string) (diag.Edit, string) {
	at := x.out.Lines[e.Location.Line-1]
	switch {
	case at.Inside > 0:
		return e, message.WithheldPacked
	case at.Template < 0:
		return e, message.WithheldComputed
	}
	template := x.mapper.Read(x.out.Files[at.Template])
	if template == nil || template.Recoded {
		return e, message.WithheldComputed
	}
	text := template.Literal(at.At)
	first := strings.Index(text, was)
	if first < 0 || strings.LastIndex(text, was) != first {
		return e, message.WithheldComputed
	}
	column := 1 + utf8.RuneCountInString(text[:first])
	e.Location = diag.Span{
		File: x.name(x.out.Files[at.Template]), Line: at.At, EndLine: at.At,
		Column: column, EndColumn: column + utf8.RuneCountInString(was),
	}
	e.OldText = was
	return e, ""
}

// fieldIn is the path to the value at a place of a values file.
func (r *renders) fieldIn(at diag.Span) string {
	f := r.files.byName[at.File]
	if f == nil {
		return ""
	}
	places, known := r.places[f]
	if !known {
		for _, root := range f.Roots() {
			places = root.Places()
			break
		}
		r.places[f] = places
	}
	if places == nil {
		return ""
	}
	return places.Path(at.Line, at.Column).String()
}

// spot is a place of a scalar, or of what a key stands for.
type spot struct{ line, column int }

// field is a value of a values file, with its key if it has one.
type field struct{ value, key *source.Node }

// valueAt is the value that stands, or whose key stands, at a place of a values file.
func (r *renders) valueAt(f *source.File, line, column int) (value, key *source.Node) {
	spots, known := r.spots[f]
	if !known {
		spots = map[spot]field{}
		for _, root := range f.Roots() {
			noteSpots(spots, map[*source.Node]bool{}, field{value: root})
		}
		r.spots[f] = spots
	}
	at := spots[spot{line, column}]
	return at.value, at.key
}

// noteSpots notes the places of keys and of scalars, each once.
func noteSpots(spots map[spot]field, seen map[*source.Node]bool, f field) {
	if f.value == nil || seen[f.value] {
		return
	}
	seen[f.value] = true
	if f.value.Kind == source.Scalar {
		spots[spot{int(f.value.Line), int(f.value.Column)}] = f
	}
	for k, v := range f.value.Fields() {
		spots[spot{int(k.Line), int(k.Column)}] = field{v, k}
		noteSpots(spots, seen, field{v, k})
	}
	for _, item := range f.value.Items() {
		noteSpots(spots, seen, field{value: item})
	}
}
