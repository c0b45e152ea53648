package origin

import (
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
)

// Marks finds where something rendered was written by the marks of its render. Without a mark it
// asks the Mapper.
type Marks struct {
	mapper *Mapper
	out    *render.Output
	at     map[spot]render.Mark
	// The object that was asked about last with its trails, and the trails of the files that marks
	// lead to.
	object *source.Object
	trails *source.Trails
	files  map[string][]*source.Trails
}

type spot struct{ line, column int }

// NewMarks returns the marks of one output. The mapper must be for the directory of its root.
func NewMarks(m *Mapper, out *render.Output) *Marks {
	x := &Marks{mapper: m, out: out, at: make(map[spot]render.Mark, len(out.Marks)), files: map[string][]*source.Trails{}}
	for _, mark := range out.Marks {
		x.at[spot{mark.Line, mark.Column}] = mark
	}
	return x
}

// Locate finds where a place in a rendered object was written.
func (x *Marks) Locate(o *source.Object, from source.Origin, span diag.Span) (Place, bool) {
	if x.object != o {
		x.object, x.trails = o, source.NewTrails(o.Root)
	}
	if steps := x.trails.At(span); len(steps) > 0 {
		if p, ok := x.marked(steps, formOf(o.File, steps[len(steps)-1], span)); ok {
			return p, true
		}
	}
	if from.Path == "" {
		return Place{}, false
	}
	return x.mapper.Locate(o, from, span)
}

// marked returns the place of the last of some steps: that of its scalar, or of the map or list
// around the first marked scalar in it, if the fields down to that scalar have the same names
// there.
func (x *Marks) marked(steps []*source.Step, form form) (Place, bool) {
	last := steps[len(steps)-1]
	mark, below, ok := x.first(last.Value, nil)
	if !ok {
		return Place{}, false
	}
	file := x.mapper.files.read(x.out.Files[mark.File])
	if file == nil {
		return Place{}, false
	}
	if mark.Variable { // it has another name than the field
		return x.plain(file, mark, last, len(below))
	}
	written := x.way(file, mark)
	n := len(written) - 1 - len(below)
	if n < 0 {
		p, ok := x.plain(file, mark, last, len(below))
		if at := form(x.object.File, *last); ok && last.Key != nil && at.Column == int(last.Key.Column) && at.Line == int(last.Key.Line) {
			line := []rune(file.Line(p.Span.Line)) // the key, if it precedes the value
			before, ok := strings.CutSuffix(strings.TrimRight(string(line[:p.Span.Column-1]), " "), last.Key.Value+":")
			if ok && strings.Trim(before, " -") == "" {
				p.Span.Column = 1 + len([]rune(before))
			}
		}
		return p, ok
	}
	for i, key := range below {
		if at := written[n+1+i]; (at.Key != nil) != (key != "") || at.Key != nil && at.Key.Value != key {
			return Place{}, false
		}
	}
	at := written[n]
	if (at.Key != nil) != (last.Key != nil) || at.Key != nil && at.Key.Value != last.Key.Value {
		return Place{}, false
	}
	return Place{Span: form(file, *at)}, true
}

// first returns the mark of the first marked scalar in a node, and the names of the fields down to
// it, "" for an item of a list.
func (x *Marks) first(n *source.Node, way []string) (mark render.Mark, below []string, ok bool) {
	if n.Kind == source.Scalar {
		mark, ok = x.at[spot{int(n.Line), int(n.Column)}]
		return mark, way, ok
	}
	for k, v := range n.Fields() {
		if mark, below, ok = x.first(v, append(way, k.Value)); ok {
			return mark, below, true
		}
	}
	for _, item := range n.Items() {
		if mark, below, ok = x.first(item, append(way, "")); ok {
			return mark, below, true
		}
	}
	return mark, nil, false
}

// way returns the steps to the target of a mark, or nil, for example for a patch in a block scalar.
func (x *Marks) way(file *source.File, mark render.Mark) []*source.Step {
	all, known := x.files[file.Name]
	if !known {
		for _, root := range x.mapper.files.documents(file) {
			all = append(all, source.NewTrails(root))
		}
		x.files[file.Name] = all
	}
	at := diag.Span{File: file.Name, Line: mark.At, Column: mark.AtColumn, EndLine: mark.At, EndColumn: mark.AtColumn}
	for _, t := range all {
		if steps := t.At(at); len(steps) > 0 && steps[len(steps)-1].Value.Kind == source.Scalar {
			return steps
		}
	}
	return nil
}

// plain returns the place of a scalar in a text that is not a document of the file.
func (x *Marks) plain(file *source.File, mark render.Mark, last *source.Step, below int) (Place, bool) {
	value := last.Value.Value
	if below > 0 || value == "" {
		return Place{}, false
	}
	line := []rune(file.Line(mark.At))
	if mark.AtColumn < 1 || mark.AtColumn > len(line) || !strings.HasPrefix(strings.TrimLeft(string(line[mark.AtColumn-1:]), `"'`), value) {
		return Place{}, false
	}
	s := diag.Span{File: file.Name, Line: mark.At, Column: mark.AtColumn, EndLine: mark.At}
	s.EndColumn = s.Column + len([]rune(value))
	if r := line[mark.AtColumn-1]; r == '"' || r == '\'' {
		s.EndColumn = min(s.EndColumn+2, len(line)+1)
	}
	return Place{Span: s}, true
}
