package lint

import (
	"cmp"
	"slices"
	"sort"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// nameOf is an object as messages name it.
func nameOf(o *source.Object) string {
	return diag.ObjectName(o.Kind, o.Namespace, o.Name)
}

// startOf is where an object begins.
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

// byFile sorts objects by where they begin.
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

// around is the last object that begins at a place or before it; nil if none does.
// Several may begin on one line, as in JSON.
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

// locator tells in which object a place is. Many findings in a row may be about one
// object, so what it takes to answer is kept until another one is asked for.
type locator struct {
	files  map[string][]*source.Object
	object *source.Object
	places *source.Places
	labels map[string]string
}

// locate fills in the object that a finding is in, its labels and the field.
func (l *locator) locate(found *accept.Finding) {
	at := found.Location
	o := around(l.files[at.File], at.Line, at.Column)
	if o == nil {
		return
	}
	if o != l.object {
		l.object, l.places, l.labels = o, o.Root.Places(), labelsOf(o)
	}
	found.Field, found.Start, found.Labels = l.places.Path(at.Line, at.Column).String(), startOf(o), l.labels
}
