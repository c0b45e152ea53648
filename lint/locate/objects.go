package locate

import (
	"cmp"
	"slices"
	"sort"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// NameOf returns the name of an object as used in messages.
func NameOf(o *source.Object) string {
	return diag.ObjectName(o.Kind, o.Namespace, o.Name)
}

// StartOf returns where an object begins.
func StartOf(o *source.Object) diag.Span {
	at := diag.Span{File: o.File.Name, Line: int(o.Root.Line), Column: int(o.Root.Column)}
	at.EndLine, at.EndColumn = at.Line, at.Column
	return at
}

// LabelsOf returns the labels of an object.
func LabelsOf(o *source.Object) map[string]string {
	labels := map[string]string{}
	for k, v := range o.Root.At("metadata", "labels").Fields() {
		labels[k.Value] = v.Value
	}
	return labels
}

// ByFile groups objects by file, sorted by position.
func ByFile(objects []*source.Object) map[string][]*source.Object {
	files := map[string][]*source.Object{}
	for _, o := range objects {
		files[o.File.Name] = append(files[o.File.Name], o)
	}
	for _, list := range files {
		slices.SortStableFunc(list, func(a, b *source.Object) int { return StartOf(a).Compare(StartOf(b)) })
	}
	return files
}

// Around returns the last object that begins at or before a position; nil if there is none.
// Several may begin on one line, for example in JSON.
func Around(objects []*source.Object, line, column int) *source.Object {
	i := sort.Search(len(objects), func(i int) bool {
		root := objects[i].Root
		return cmp.Or(cmp.Compare(int(root.Line), line), cmp.Compare(int(root.Column), column)) > 0
	})
	if line == 0 || i == 0 {
		return nil
	}
	return objects[i-1]
}

// Locator finds the object that contains a place. Consecutive findings are often about the same
// object, so it caches what it computed for the last one.
type Locator struct {
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

// NewLocator returns a Locator for objects.
func NewLocator(objects []*source.Object) *Locator {
	l := &Locator{files: ByFile(objects), byID: map[diag.Object][]*source.Object{}}
	for _, o := range objects {
		l.byID[o.ID()] = append(l.byID[o.ID()], o)
	}
	return l
}

// Locate sets the start, the labels and the field of the object that contains a finding.
func (l *Locator) Locate(found *accept.Finding) {
	at := found.Location
	o := Around(l.files[at.File], at.Line, at.Column)
	if o == nil {
		return
	}
	if o != l.object {
		l.object, l.places, l.labels, l.copies, l.trails = o, o.Root.Places(), LabelsOf(o), nil, nil
		if same := l.byID[o.ID()]; len(same) > 1 && o.Name != "" {
			l.copies = slices.DeleteFunc(slices.Clone(same), func(x *source.Object) bool { return x == o || !source.Equal(x.Root, o.Root) })
		}
	}
	found.Field, found.Start, found.Labels = l.places.Path(at.Line, at.Column).String(), StartOf(o), l.labels
}

// InCopies returns a located finding once for each copy of its object, because most questions
// are asked about only one of several equal declarations. Fixes in copies keep only their
// description.
func (l *Locator) InCopies(found *accept.Finding) (all []accept.Finding) {
	if len(l.copies) == 0 || found.Start != StartOf(l.object) || found.Object != l.object.ID() {
		return nil
	}
	if l.trails == nil {
		l.trails = source.NewTrails(l.object.Root)
	}
	for _, o := range l.copies {
		twin := *found
		twin.Start, twin.Location = StartOf(o), l.inCopy(o, found.Location)
		twin.Related, twin.Fixes = slices.Clone(found.Related), slices.Clone(found.Fixes)
		for i, r := range twin.Related {
			if Around(l.files[r.Location.File], r.Location.Line, r.Location.Column) == l.object {
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
func (l *Locator) inCopy(o *source.Object, at diag.Span) diag.Span {
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
