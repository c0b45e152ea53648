package locate

import (
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/source"
)

// Trace returns the source of each line of the rendered text, as a finding on the line would have
// it. The Place of a line that separates documents is zero.
func (r *Renders) Trace(x *Rendered) []origin.Place {
	all := make([]origin.Place, x.File.LineCount())
	var fields map[int]diag.Span
	chart := len(x.Out.Lines) > 0
	if !chart {
		fields = firstFields(x.File)
	}
	for i := range all {
		switch s, begins := fields[i+1]; {
		case x.File.Line(i+1) == "---":
		case chart:
			all[i] = r.SourceOf(x, x.File.LineSpan(i+1))
		case begins:
			all[i] = r.SourceOf(x, s)
		case i > 0: // more of the text that begins above
			all[i] = all[i-1]
		}
	}
	return all
}

// firstFields returns the span of the first field or list item that begins on each line of a file.
// A list item that is a map is represented by its first field.
func firstFields(f *source.File) map[int]diag.Span {
	all := map[int]diag.Span{}
	add := func(s diag.Span) {
		if _, known := all[s.Line]; !known {
			all[s.Line] = s
		}
	}
	var visit func(n *source.Node)
	visit = func(n *source.Node) {
		for k, v := range n.Fields() {
			add(f.FieldSpan(k, v))
			visit(v)
		}
		for _, item := range n.Items() {
			if item.Kind == source.Scalar {
				add(f.Span(item))
			}
			visit(item)
		}
	}
	for _, root := range f.Roots() {
		visit(root)
	}
	return all
}
