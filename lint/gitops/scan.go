package gitops

import (
	"bytes"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
)

// scan searches the output of a deployment for pointers. If from is nil, the output is that of a
// root.
func (f *follower) scan(out *render.Output, from *Deployment) {
	if out == nil || out.Problem != nil || !slices.ContainsFunc([]string{"kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "argoproj.io/"}, func(group string) bool {
		return bytes.Contains(out.Text, []byte(group))
	}) {
		return
	}
	places := newPlaces(out)
	file := source.NewFile(resultName, resultName, out.Text)
	for _, doc := range file.Roots() {
		for _, o := range file.ObjectsOf(doc) {
			if _, ok := pointers.KindOf(o.Group(), o.Kind); ok {
				var raw *written
				if name, _, ok := places.document(int(o.Root.Line)); ok {
					raw = f.contained(name, o)
				}
				for i, p := range f.reader.Read(o) { // each at the place where it was written
					f.place(p, i, o, places, raw, from)
					places.move(p, raw, i)
					f.add(p, nil, origin{from, places})
				}
			}
		}
	}
}

// resultName is the file name of a result.
const resultName = "<render>"

// place sets the place of a pointer found in a result to where it was written: the place of the
// written pointer, or of its name, or of the pointer that deploys it.
func (f *follower) place(p *pointers.Pointer, i int, o *source.Object, places *places, raw *written, from *Deployment) {
	at, marked := places.of(o.Root.At("metadata", "name"))
	switch {
	case raw != nil && len(raw.read) > 0:
		was := raw.read[min(i, len(raw.read)-1)]
		p.File, p.Line, p.Column, p.Object = was.File, was.Line, was.Column, was.Object
	case marked:
		p.File, p.Line, p.Column = at.File, at.Line, at.Column
	case from != nil:
		p.File, p.Line, p.Column = from.Pointer.File, from.Pointer.Line, from.Pointer.Column
	default:
		p.File, p.Line, p.Column = ".", 1, 1
		if len(places.out.Sources) > 0 {
			p.File = places.out.Sources[0]
		}
	}
	if raw == nil || len(raw.read) == 0 {
		p.Object = p.Line
	}
}

// contained records that a render contains a pointer that is written in a file, and returns that
// written pointer. It matches the full name, or else part of the name, or else any pointer of the
// same kind in the file, because the build may have renamed it. It returns nil if several match.
func (f *follower) contained(file string, o *source.Object) *written {
	var near []*written
	for _, w := range f.byFile[file] {
		if w.object.Kind != o.Kind || w.object.Group() != o.Group() {
			continue
		}
		if w.object.Name == o.Name {
			w.done, w.inside = true, true
			return w
		}
		near = append(near, w)
	}
	var part []*written
	for _, w := range near {
		if w.object.Name != "" && strings.Contains(o.Name, w.object.Name) {
			part = append(part, w)
		}
	}
	if len(part) > 0 {
		near = part
	}
	for _, w := range near {
		w.done, w.inside = true, true
	}
	if len(near) == 1 {
		return near[0]
	}
	return nil
}

// places maps places in a result to places in its sources.
type places struct {
	out *render.Output
	at  map[[2]int]render.Mark
}

func newPlaces(out *render.Output) *places {
	p := &places{out, make(map[[2]int]render.Mark, len(out.Marks))}
	for _, m := range out.Marks {
		p.at[[2]int{m.Line, m.Column}] = m
	}
	return p
}

// document returns the file and the index of the document that declares the object at a line.
func (p *places) document(line int) (name string, index int, ok bool) {
	for _, d := range p.out.Documents {
		if d.Line > line {
			break
		}
		if name, index, ok = "", d.Index, d.File >= 0; ok {
			name = p.out.Files[d.File]
		}
	}
	return name, index, ok
}

// of returns the place where a scalar was written.
func (p *places) of(n *source.Node) (at pointers.Value, ok bool) {
	if n == nil {
		return at, false
	}
	if len(p.out.Lines) > 0 { // the result of a chart: the place of the value in the line, or else the line of the template
		if n.Line < 1 || int(n.Line) > len(p.out.Lines) {
			return at, false
		}
		switch l := p.out.Lines[n.Line-1]; {
		case l.Values >= 0:
			return pointers.Value{File: p.out.Files[l.Values], Line: l.ValuesAt, Column: l.ValuesColumn}, true
		case l.Template >= 0:
			return pointers.Value{File: p.out.Files[l.Template], Line: l.At, Column: 1}, true
		}
		return at, false
	}
	m, ok := p.at[[2]int{int(n.Line), int(n.Column)}]
	if !ok || m.Variable {
		return at, false
	}
	return pointers.Value{File: p.out.Files[m.File], Line: m.At, Column: m.AtColumn}, true
}

// move converts places in the result to places in the sources. A patch gets the line at which it
// was written; the build compares the text there with it.
func (p *places) move(to *pointers.Pointer, raw *written, i int) {
	var was *pointers.Pointer
	if raw != nil && i < len(raw.read) {
		was = raw.read[i]
	}
	for j := range to.Sources {
		lines := to.Sources[j].Patches
		for k := range lines {
			lines[k] = 0
			if was != nil && j < len(was.Sources) && k < len(was.Sources[j].Patches) && was.File == to.File {
				lines[k] = was.Sources[j].Patches[k]
			}
		}
	}
	for j := range to.Sources {
		p.moveValues(to.Sources[j].Counts)
		if was != nil && j < len(was.Sources) {
			p.moveChart(to.Sources[j].Chart, was.Sources[j].Chart)
		}
	}
	if to.Substitution != nil {
		p.moveValues(to.Substitution.Given)
	}
}

// moveChart uses the written values of a chart if they are the same as in the result.
func (p *places) moveChart(to, was *pointers.Chart) {
	if to == nil || was == nil {
		return
	}
	if to.Values.Same(was.Values) {
		to.Values = was.Values
	}
	if len(to.Parameters) == len(was.Parameters) {
		for i := range to.Parameters {
			if to.Parameters[i].Name == was.Parameters[i].Name && to.Parameters[i].Value == was.Parameters[i].Value {
				to.Parameters[i] = was.Parameters[i]
			}
		}
	}
}

func (p *places) moveValues(all map[string]pointers.Value) {
	for name, value := range all {
		m, ok := p.at[[2]int{value.Line, value.Column}]
		value.File, value.Line, value.Column = "", 0, 0
		if ok && !m.Variable {
			value.File, value.Line, value.Column = p.out.Files[m.File], m.At, m.AtColumn
		}
		all[name] = value
	}
}
