package origin

import (
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// sourceObject is an object as it was written, and everything that may have changed it during rendering.
type sourceObject struct {
	object, rendered *source.Object
	trails           *source.Trails
	follower         *source.Follower
	setters          []setter
}

// setter sets fields of an object.
type setter struct {
	in text
	// sure is set if it certainly applies to the object.
	sure bool
	// cost is the cost of following it, in patches or operations of a patch.
	cost int
	// follow returns, for the steps to a field of the rendered object, the steps that this setter
	// sets. A step that it does not set has no value.
	follow func(steps []*source.Step) []source.Step
}

// text is a file, or a patch in a block scalar of a file.
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
	return t.file.FieldSpan(t.key, t.block), false // for example in a quoted text
}

// maxCost bounds the setters of one object. Beyond it, only the object itself is searched.
const maxCost = 1000

func (m *Mapper) newWritten(rendered, o *source.Object, ways []steps) *sourceObject {
	w := &sourceObject{object: o, rendered: rendered, trails: source.NewTrails(rendered.Root), follower: source.NewFollower()}
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
			prefix, suffix := k.affixes()
			names = append(names, prefix+names[len(names)-1]+suffix)
		}
	}
	return w
}

// form selects the part of a field that a span covers.
type form func(f *source.File, s source.Step) diag.Span

func wholeField(f *source.File, s source.Step) diag.Span {
	if s.Key == nil {
		return f.Span(s.Value)
	}
	return f.FieldSpan(s.Key, s.Value)
}

// firstField represents a map by its first field.
func firstField(f *source.File, s source.Step) diag.Span {
	for k, v := range s.Value.Fields() {
		return f.FieldSpan(k, v)
	}
	return f.Span(s.Value)
}

// formOf returns the part of a rendered field that a span covers. An item of a list is its value,
// although the patch that adds it may have a key for it.
func formOf(f *source.File, s *source.Step, span diag.Span) form {
	if s.Key == nil {
		return firstField
	}
	value := func(f *source.File, s source.Step) diag.Span { return f.Span(s.Value) }
	key := func(f *source.File, s source.Step) diag.Span {
		if s.Key == nil {
			return f.Span(s.Value)
		}
		return f.Span(s.Key)
	}
	for _, form := range []form{wholeField, value, key} {
		if form(f, *s) == span {
			return form
		}
	}
	return wholeField
}

// place returns where a place of the rendered object was written: the same field with the same
// value in the source object, else in the last setter of it, else the nearest place around it, else
// the name of the object.
func (w *sourceObject) place(span diag.Span) Place {
	name := Place{Span: w.object.NameSpan(), Near: true}
	steps := w.trails.At(span)
	if len(steps) == 0 {
		return name
	}
	if isField(steps, "metadata", "name") {
		name.Near = false
		return name
	}
	c := &candidates{sourceObject: w, steps: steps, home: w.follower.Follow(steps, w.object.Root)}
	for _, s := range w.setters {
		c.set = append(c.set, s.follow(steps))
	}
	last := len(steps) - 1
	form := formOf(w.rendered.File, steps[last], span)
	p, ok := c.where(last, form, func(v *source.Node) bool { return source.Equal(v, steps[last].Value) })
	if !ok { // a map or a list with parts that may come from elsewhere
		p, ok = c.alike(last, form)
	}
	for n := len(steps) - 2; n > 0 && !ok; n-- { // spec and its parents say less than the name
		p, ok = c.alike(n, wholeField)
		p.Near = true
	}
	if !ok {
		return name
	}
	return p
}

// candidates holds what the source object and all of its setters have along some steps.
type candidates struct {
	*sourceObject
	steps []*source.Step
	home  []source.Step
	set   [][]source.Step
}

// alike returns the place of a step to a map or a list.
func (c *candidates) alike(n int, form form) (Place, bool) {
	want := c.steps[n].Value
	return c.where(n, form, func(v *source.Node) bool { return want.Kind != source.Scalar && v.Kind == want.Kind })
}

// where returns the place of a step in the object, or else in the last setter that certainly
// applies, or else in the only one that may apply.
func (c *candidates) where(n int, form form, same func(*source.Node) bool) (p Place, ok bool) {
	if len(c.home) > n && same(c.home[n].Value) {
		return Place{Span: form(c.object.File, c.home[n])}, true
	}
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
