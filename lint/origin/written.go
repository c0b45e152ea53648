package origin

import (
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// written is an object as it was written, and all that may have changed it on
// the way to what was rendered.
type written struct {
	object, rendered *source.Object
	trails           *source.Trails
	follower         *source.Follower
	setters          []setter
}

// setter is something that sets fields of an object.
type setter struct {
	in text
	// sure is set if it does apply to the object.
	sure bool
	// cost is what following it takes, in patches or operations of one.
	cost int
	// follow gives, for the steps to a field of the rendered object, those that
	// this sets; where it says nothing a step has no value.
	follow func(steps []*source.Step) []source.Step
}

// text is a file, or a patch that stands in a block scalar of a file.
type text struct {
	file, patch *source.File
	key, block  *source.Node
}

func (t text) span(form form, s source.Step) (span diag.Span, exact bool) {
	if t.block == nil {
		return form(t.file, s), true
	}
	if span, ok := t.file.BlockSpan(t.block, t.patch, form(t.patch, s)); ok {
		return span, true
	}
	return t.file.FieldSpan(t.key, t.block), false // as of text in quotes
}

// maxCost bounds what may change one object; what is changed by more is only
// looked for in the object.
const maxCost = 1000

func (m *Mapper) newWritten(rendered, o *source.Object, ways []way) *written {
	w := &written{object: o, rendered: rendered, trails: source.NewTrails(rendered.Root), follower: source.NewFollower()}
	cost := 0
	for _, way := range ways {
		names := []string{o.Name, rendered.Name}
		for _, k := range way {
			for _, s := range m.settersOf(k, &subject{w, names}) {
				s.sure = s.sure && len(ways) == 1
				w.setters = append(w.setters, s)
				cost += s.cost
			}
			if cost > maxCost {
				w.setters = nil
				return w
			}
			names = append(names, k.renamed(names[len(names)-1]))
		}
	}
	return w
}

// form is the part of a field that a span covers.
type form func(f *source.File, s source.Step) diag.Span

func wholeField(f *source.File, s source.Step) diag.Span {
	if s.Key == nil {
		return f.Span(s.Value)
	}
	return f.FieldSpan(s.Key, s.Value)
}

func keyAlone(f *source.File, s source.Step) diag.Span {
	if s.Key == nil {
		return f.Span(s.Value)
	}
	return f.Span(s.Key)
}

func valueAlone(f *source.File, s source.Step) diag.Span { return f.Span(s.Value) }

// firstField stands for a map as a whole.
func firstField(f *source.File, s source.Step) diag.Span {
	for k, v := range s.Value.Fields() {
		return f.FieldSpan(k, v)
	}
	return f.Span(s.Value)
}

// formOf is the part of a rendered field that a span covers. An item of a list is its
// value, although what adds it may have a key for that.
func formOf(f *source.File, s *source.Step, span diag.Span) form {
	if s.Key == nil {
		return firstField
	}
	for _, form := range []form{wholeField, valueAlone, keyAlone} {
		if form(f, *s) == span {
			return form
		}
	}
	return wholeField
}

// place is where a place of the rendered object was written: the same field with
// the same value in the object as it was written, else in the last that sets
// it, else the nearest around it, else the name of the object.
func (w *written) place(span diag.Span) Place {
	name := Place{Span: w.object.NameSpan(), Near: true}
	steps := w.trails.At(span)
	if len(steps) == 0 {
		return name
	}
	if isField(steps, "metadata", "name") {
		name.Near = false
		return name
	}
	c := w.candidates(steps)
	p, ok := c.at(len(steps)-1, formOf(w.rendered.File, steps[len(steps)-1], span))
	for n := len(steps) - 2; n > 0 && !ok; n-- { // what is as far out as spec tells less than the name
		p, ok = c.alike(n, wholeField)
		p.Near = true
	}
	if !ok {
		return name
	}
	return p
}

// candidates is what stands, on the way of some steps, in the object as it was
// written and in all that sets something of it.
type candidates struct {
	*written
	steps []*source.Step
	home  []source.Step
	set   [][]source.Step
}

func (w *written) candidates(steps []*source.Step) *candidates {
	c := &candidates{written: w, steps: steps, home: w.follower.Follow(steps, w.object.Root)}
	for _, s := range w.setters {
		c.set = append(c.set, s.follow(steps))
	}
	return c
}

// at is the place of a step where the value is the same, or else that of a map or
// a list of which parts may come from elsewhere.
func (c *candidates) at(n int, form form) (p Place, ok bool) {
	want := c.steps[n].Value
	p, ok = c.where(n, form, func(v *source.Node) bool { return source.Equal(v, want) })
	if !ok {
		p, ok = c.alike(n, form)
	}
	return p, ok
}

// alike is the place of a step to a map or a list.
func (c *candidates) alike(n int, form form) (Place, bool) {
	want := c.steps[n].Value
	return c.where(n, form, func(v *source.Node) bool { return want.Kind != source.Scalar && v.Kind == want.Kind })
}

// where is the place of a step in the object, or else in what sets it.
func (c *candidates) where(n int, form form, same func(*source.Node) bool) (Place, bool) {
	if len(c.home) > n && same(c.home[n].Value) {
		return Place{Span: form(c.object.File, c.home[n])}, true
	}
	return c.setBy(n, form, same)
}

// setBy is the place of a step in the last that surely sets it, or else in the
// only one that may.
func (c *candidates) setBy(n int, form form, same func(v *source.Node) bool) (p Place, ok bool) {
	sure, several := false, false
	for i, s := range c.setters {
		if len(c.set[i]) <= n || c.set[i][n].Value == nil || !same(c.set[i][n].Value) || sure && !s.sure {
			continue
		}
		at, exact := s.in.span(form, c.set[i][n])
		several = !s.sure && ok && (several || at != p.Span)
		p, ok, sure = Place{Span: at, Near: !exact, Patched: c.object.NameSpan()}, true, s.sure
	}
	return p, ok && !several
}
