package lint

import (
	"cmp"
	"slices"
	"sort"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// nameOf returns the name of an object as used in messages.
func nameOf(o *source.Object) string {
	return diag.ObjectName(o.Kind, o.Namespace, o.Name)
}

// startOf returns where an object begins.
func startOf(o *source.Object) diag.Span {
	at := diag.Span{File: o.File.Name, Line: int(o.Root.Line), Column: int(o.Root.Column)}
	at.EndLine, at.EndColumn = at.Line, at.Column
	return at
}

func labelsOf(o *source.Object) map[string]string {
	labels := map[string]string{}
	for k, v := range o.Root.At("metadata", "labels").Fields() {
		labels[k.Value] = v.Value
	}
	return labels
}

// byFile groups objects by file, sorted by position.
func byFile(objects []*source.Object) map[string][]*source.Object {
	files := map[string][]*source.Object{}
	for _, o := range objects {
		files[o.File.Name] = append(files[o.File.Name], o)
	}
	for _, list := range files {
		slices.SortStableFunc(list, func(a, b *source.Object) int { return startOf(a).Compare(startOf(b)) })
	}
	return files
}

// around returns the last object that begins at or before a position; nil if there is none.
// Several may begin on one line, for example in JSON.
func around(objects []*source.Object, line, column int) *source.Object {
	i := sort.Search(len(objects), func(i int) bool {
		root := objects[i].Root
		return cmp.Or(cmp.Compare(int(root.Line), line), cmp.Compare(int(root.Column), column)) > 0
	})
	if line == 0 || i == 0 {
		return nil
	}
	return objects[i-1]
}

// locator finds the object that contains a place. Consecutive findings are often about the same
// object, so it caches what it computed for the last one.
type locator struct {
	files  map[string][]*source.Object
	byID   map[diag.Object][]*source.Object
	object *source.Object
	places *source.Places
	labels map[string]string
	// copies are the other, equal declarations of the object; trails finds the same place in
	// them. Both are computed on first use.
	copies []*source.Object
	trails *source.Trails
}

func newLocator(objects []*source.Object) *locator {
	l := &locator{files: byFile(objects), byID: map[diag.Object][]*source.Object{}}
	for _, o := range objects {
		l.byID[o.ID()] = append(l.byID[o.ID()], o)
	}
	return l
}

// locate sets the start, the labels and the field of the object that contains a finding.
func (l *locator) locate(found *accept.Finding) {
	at := found.Location
	o := around(l.files[at.File], at.Line, at.Column)
	if o == nil {
		return
	}
	if o != l.object {
		l.object, l.places, l.labels, l.copies, l.trails = o, o.Root.Places(), labelsOf(o), nil, nil
		if same := l.byID[o.ID()]; len(same) > 1 && o.Name != "" {
			l.copies = slices.DeleteFunc(slices.Clone(same), func(x *source.Object) bool { return x == o || !source.Equal(x.Root, o.Root) })
		}
	}
	found.Field, found.Start, found.Labels = l.places.Path(at.Line, at.Column).String(), startOf(o), l.labels
}

// inCopies returns a located finding once for each copy of its object, because most questions
// are asked about only one of several equal declarations. Fixes in copies keep only their
// description.
func (l *locator) inCopies(found *accept.Finding) (all []accept.Finding) {
	if len(l.copies) == 0 || found.Start != startOf(l.object) || found.Object != l.object.ID() {
		return nil
	}
	if l.trails == nil {
		l.trails = source.NewTrails(l.object.Root)
	}
	for _, o := range l.copies {
		twin := *found
		twin.Start, twin.Location = startOf(o), l.inCopy(o, found.Location)
		twin.Related, twin.Fixes = slices.Clone(found.Related), slices.Clone(found.Fixes)
		for i, r := range twin.Related {
			if around(l.files[r.Location.File], r.Location.Line, r.Location.Column) == l.object {
				twin.Related[i].Location = l.inCopy(o, r.Location)
			}
		}
		for i := range twin.Fixes {
			twin.Fixes[i].Edits = nil
		}
		all = append(all, twin)
	}
	return all
}

// inCopy returns the place in a copy that corresponds to a place in the object.
func (l *locator) inCopy(o *source.Object, at diag.Span) diag.Span {
	steps := l.trails.At(at)
	there := source.NewFollower().Follow(steps, o.Root)
	if len(steps) == 0 || len(there) != len(steps) {
		return o.NameSpan()
	}
	was, is := steps[len(steps)-1], there[len(there)-1]
	switch at {
	case l.object.File.FieldSpan(was.Key, was.Value):
		return o.File.FieldSpan(is.Key, is.Value)
	case l.object.File.Span(was.Key):
		return o.File.Span(is.Key)
	}
	return o.File.Span(is.Value)
}
