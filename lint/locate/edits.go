package locate

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
)

// editSources moves the edits of a fix to the sources. It withholds the edits if the source text
// differs from the rendered text.
func (r *Renders) editSources(x *Rendered, f *diag.Fix) {
	if len(f.Edits) == 0 {
		return
	}
	if printed, ok := r.printedAt(x, f.Edits[0].Location); ok {
		r.editChart(x, f, printed)
		return
	}
	edits := slices.Clone(f.Edits)
	for i := range edits {
		e := &edits[i]
		at := r.SourceOf(x, e.Location)
		was, ok := textAt(x.File, e.Location)
		now, found := textAt(r.Files.ByName[at.Span.File], at.Span)
		switch {
		case at.Near || at.Whole || !ok || !found || was != now:
			r.withhold(x, f, message.WithheldUnwritten)
			return
		case x.prefix != ".":
			r.withhold(x, f, message.WithheldElsewhere)
			return
		}
		e.Location = at.Span
	}
	f.Edits = edits
}

// withhold drops the edits of a fix. It records the reason if the fix was safe.
func (r *Renders) withhold(x *Rendered, f *diag.Fix, why string) {
	if f.Safe {
		f.Withheld = why
	}
	if f.Withheld != "" {
		f.Placeless = f.Edits[0]
		f.Placeless.Location = r.SourceOf(x, f.Placeless.Location).Span
	}
	f.Edits, f.Safe = nil, false
}

// textAt returns the text of a span that lies within a line.
func textAt(f *source.File, s diag.Span) (string, bool) {
	if f == nil {
		return "", false
	}
	start, end, ok := f.Range(s)
	if !ok {
		return "", false
	}
	return string(f.Text[start:end]), true
}

// printing is a position in the output of a chart, before a kustomization changes the output.
type printing struct {
	*render.Output
	text *source.File
	at   diag.Span
}

// printedAt maps a position in a render to the chart output that it came from. If the render itself
// is a chart, the position stays the same.
func (r *Renders) printedAt(x *Rendered, s diag.Span) (p printing, ok bool) {
	if !r.prepare(x) {
		return p, false
	}
	if len(x.Out.Lines) > 0 {
		return printing{x.Out, x.File, s}, true
	}
	at, ok := r.marked(x, s)
	if !ok || at.Near || at.Whole || x.Out.Charts[at.Span.File] == nil {
		return p, false
	}
	return printing{x.Out.Charts[at.Span.File], x.printed[at.Span.File], at.Span}, true
}

// editChart moves a fix's edit to the values file that sets the replaced text, or else to the
// template that contains it. The edit is withheld if neither contains the exact text.
func (r *Renders) editChart(x *Rendered, f *diag.Fix, p printing) {
	e := f.Edits[0]
	now, ok := textAt(x.File, e.Location)
	was, found := textAt(p.text, p.at)
	why := message.WithheldComputed
	switch {
	case !ok || !found || len(f.Edits) > 1 || unquote(was) != unquote(now):
	case x.prefix != ".":
		why = message.WithheldElsewhere
	default:
		e.Location, e.OldText, e.NewText = p.at, was, requoted(was, e.NewText)
		if e, why = r.chartEdit(x, p, e); why == "" {
			f.Edits = []diag.Edit{e}
			return
		}
	}
	r.withhold(x, f, why)
}

// chartEdit converts an edit of chart output to an edit of the sources, or returns the reason why
// that is impossible.
func (r *Renders) chartEdit(x *Rendered, p printing, e diag.Edit) (diag.Edit, string) {
	if p.at.Line > len(p.Lines) {
		return e, message.WithheldComputed
	}
	at := p.Lines[p.at.Line-1]
	if at.Values < 0 {
		return r.templateEdit(x, p, e)
	}
	values := x.mapper.Read(p.Files[at.Values])
	if values == nil {
		return e, message.WithheldComputed
	}
	n, span := r.valueAt(values, at, unquote(e.OldText))
	if n == nil {
		return e, message.WithheldComputed
	}
	old, ok := textAt(values, span)
	made := values.Maker()
	if made == "" {
		if o := Around(r.spotsOf(values).objects, span.Line, span.Column); o != nil {
			made = o.Made()
		}
	}
	switch {
	case n.Shared:
		return e, message.WithheldShared
	case values.Recoded:
		return e, message.WithheldRecoded
	case made != "":
		return e, message.WithheldMade(made)
	case !ok || unquote(old) != unquote(e.OldText):
		return e, message.WithheldNoPlainText
	}
	span.File = x.FromRoot(p.Files[at.Values])
	return diag.Edit{Location: span, OldText: old, NewText: requoted(old, e.NewText)}, ""
}

// unquote removes the quotes around text.
func unquote(text string) string {
	if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		return text[1 : n-1]
	}
	return text
}

// requoted returns text with the same quotes as old.
func requoted(old, text string) string {
	quote := ""
	if unquote(old) != old {
		quote = old[:1]
	}
	return quote + unquote(text) + quote
}

// templateEdit converts an edit of chart output to an edit of the template. This works only if the
// template line contains the text exactly once, not counting template actions.
func (r *Renders) templateEdit(x *Rendered, p printing, e diag.Edit) (diag.Edit, string) {
	at := p.Lines[p.at.Line-1]
	unpacked := slices.ContainsFunc(p.Sources, func(name string) bool { return path.Base(name) == "Chart.yaml" })
	switch {
	case at.Inside > 0 || at.Template < 0 && !unpacked: // the template is in an archive, whose files are not among the sources
		return e, message.WithheldPacked
	case at.Template < 0:
		return e, message.WithheldComputed
	}
	template := x.mapper.Read(p.Files[at.Template])
	if template == nil || template.Recoded {
		return e, message.WithheldComputed
	}
	column, ok := once(template.Literal(at.At), e.OldText)
	if !ok {
		return e, message.WithheldComputed
	}
	e.Location = diag.Span{
		File: x.FromRoot(p.Files[at.Template]), Line: at.At, EndLine: at.At,
		Column: column, EndColumn: column + utf8.RuneCountInString(e.OldText),
	}
	return e, ""
}

// once returns the column of text in line. ok is false unless text occurs exactly once.
func once(line, text string) (column int, ok bool) {
	first := strings.Index(line, text)
	if first < 0 || strings.LastIndex(line, text) != first {
		return 0, false
	}
	return 1 + utf8.RuneCountInString(line[:first]), true
}

// fieldIn returns the field path of the value at a position in a values file.
func (r *Renders) fieldIn(at diag.Span) string {
	f := r.Files.ByName[at.File]
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

// spot is the position of a scalar or a key.
type spot struct{ line, column int }

// field is a value in a values file, with its key if it has one.
type field struct{ value, key *source.Node }

// spots indexes the values of a file by position. For the lines of a block scalar, the column is 0.
type spots struct {
	at      map[spot]field
	objects []*source.Object
}

// spotsOf returns the index of the values of a file.
func (r *Renders) spotsOf(f *source.File) *spots {
	s, known := r.spots[f]
	if !known {
		s = &spots{at: map[spot]field{}}
		for _, root := range f.Roots() {
			s.note(map[*source.Node]bool{}, field{value: root})
			s.objects = append(s.objects, f.ObjectsOf(root)...)
		}
		r.spots[f] = s
	}
	return s
}

// valueAt returns the scalar in a values file that was used to print a line and that contains the
// given text. It also returns the span of the text, because the text may be on any line of a block
// scalar.
func (r *Renders) valueAt(f *source.File, at render.Line, text string) (*source.Node, diag.Span) {
	s := r.spotsOf(f).at
	is := func(n *source.Node) bool { return n != nil && n.Kind == source.Scalar && n.Text() == text }
	switch here := s[spot{at.ValuesAt, at.ValuesColumn}]; {
	case is(here.key):
		return here.key, f.Span(here.key)
	case is(here.value):
		return here.value, f.Span(here.value)
	case here.value != nil:
		return nil, diag.Span{}
	}
	block := s[spot{at.ValuesAt, 0}].value
	if block == nil {
		return nil, diag.Span{}
	}
	within := source.NewFile(f.Name, f.Name, []byte(block.Text()))
	if _, ok := f.BlockSpan(block, within, within.LineSpan(at.ValuesAt-int(block.Line))); !ok {
		return nil, diag.Span{}
	}
	column, ok := once(f.Line(at.ValuesAt), text)
	if !ok {
		return nil, diag.Span{}
	}
	return block, diag.Span{File: f.Name, Line: at.ValuesAt, EndLine: at.ValuesAt, Column: column, EndColumn: column + utf8.RuneCountInString(text)}
}

// note adds the positions of keys, scalars and lines of block scalars, without duplicates.
func (s *spots) note(seen map[*source.Node]bool, f field) {
	if f.value == nil || seen[f.value] {
		return
	}
	seen[f.value] = true
	if n := f.value; n.Kind == source.Scalar {
		s.at[spot{int(n.Line), int(n.Column)}] = f
		for i := range strings.Count(n.Text(), "\n") {
			s.at[spot{int(n.Line) + 1 + i, 0}] = f
		}
	}
	for k, v := range f.value.Fields() {
		s.at[spot{int(k.Line), int(k.Column)}] = field{v, k}
		s.note(seen, field{v, k})
	}
	for _, item := range f.value.Items() {
		s.note(seen, field{value: item})
	}
}
