package source

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/limits"
)

// Roots returns all documents of a file, of any kind, except those that cannot be read. It does not
// use or change what Load keeps.
func (f *File) Roots() []*Node {
	if f.refused || !utf8.Valid(f.Text) || bytes.IndexByte(f.Text, 0) >= 0 {
		return nil
	}
	docs, _ := documents(f.Text, wholeOptions())
	return roots(docs)
}

// ObjectsOf returns the objects of a document of this file, with Lists flattened.
func (f *File) ObjectsOf(root *Node) []*Object {
	var all []*Object
	if root.Get("kind") == nil {
		return nil
	}
	flatten(f, root, scalarValue(root.Get("apiVersion")), scalarValue(root.Get("kind")), func(o *Object) bool {
		all = append(all, o)
		return true
	})
	return all
}

func wholeOptions() Options {
	return Options{Keep: func(string, string) bool { return true }}
}

func roots(docs []document) []*Node {
	var all []*Node
	for _, d := range docs {
		if d.root != nil && d.template == "" {
			all = append(all, d.root)
		}
	}
	return all
}

// Stream finds the objects of a file by their places, by reading it again: it does not read all of
// a long file for a few objects.
type Stream struct {
	file *File
	// parts holds the texts of the documents, and lines the number of lines before each.
	parts [][]byte
	lines []int
	whole bool
	read  map[int]part
}

// part holds the objects of a document, and the template that Helm names above it.
type part struct {
	objects  []*Object
	template string
}

// maxRead limits the documents of a stream that are cached.
const maxRead = 64

// NewStream splits a file into its documents.
func NewStream(f *File) *Stream {
	s := &Stream{file: f, read: map[int]part{}}
	if f.refused || !utf8.Valid(f.Text) {
		return s
	}
	if looksLikeJSON(f.Text) || bytes.HasPrefix(f.Text, byteOrderMark) || hasWideBreak(f.Text) {
		s.parts, s.lines, s.whole = [][]byte{f.Text}, []int{0}, true
		return s
	}
	line := 0
	for part := range parts(f.Text) {
		s.parts, s.lines = append(s.parts, part), append(s.lines, line)
		line += bytes.Count(part, []byte("\n"))
	}
	return s
}

// At returns the object at a place and the template that Helm names above it, or nil.
func (s *Stream) At(span diag.Span) (o *Object, template string) {
	i := sort.Search(len(s.lines), func(i int) bool { return s.lines[i] >= span.Line }) - 1
	if i < 0 {
		return nil, ""
	}
	p := s.part(i)
	objects := p.objects
	n := sort.Search(len(objects), func(n int) bool {
		at := objects[n].Root
		return cmp.Or(cmp.Compare(int(at.Line), span.Line), cmp.Compare(int(at.Column), span.Column)) > 0
	})
	if n == 0 {
		return nil, ""
	}
	return objects[n-1], p.template
}

func (s *Stream) part(i int) part {
	p, known := s.read[i]
	if known {
		return p
	}
	if len(s.read) >= maxRead {
		clear(s.read)
	}
	var docs []document
	if s.whole {
		docs, _ = documents(s.parts[i], wholeOptions())
	} else {
		r := &yamlReader{opts: wholeOptions(), most: limits.File, lines: s.lines[i], memory: newMemory()}
		if failed, err := r.decode(s.parts[i]); failed {
			r.mend(err, s.parts[i], contents{}, nodes{})
		}
		docs = r.docs
		p.template = templateOf(s.parts[i])
	}
	for _, root := range roots(docs) {
		p.objects = append(p.objects, s.file.ObjectsOf(root)...)
	}
	slices.SortStableFunc(p.objects, func(a, b *Object) int {
		return cmp.Or(cmp.Compare(a.Root.Line, b.Root.Line), cmp.Compare(a.Root.Column, b.Root.Column))
	})
	s.read[i] = p
	return p
}
