package lint

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// nameOf is an object as messages name it.
func nameOf(o *source.Object) string {
	return strings.TrimRight(o.Kind+" "+strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"), " ")
}

// homeOf is where an object begins.
func homeOf(o *source.Object) diag.Span {
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
		slices.SortStableFunc(list, func(a, b *source.Object) int { return homeOf(a).Compare(homeOf(b)) })
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

// locate tells in which object of a file a place is, and the way to it.
func locate(objects []*source.Object, at diag.Span) (*source.Object, string) {
	o := around(objects, at.Line, at.Column)
	if o == nil {
		return nil, ""
	}
	return o, o.Root.PathAt(at.Line, at.Column).String()
}
