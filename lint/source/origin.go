package source

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Origin is the source of a rendered object, as reported by the tool that rendered it. Paths use
// forward slashes. They are relative and may begin with "..".
type Origin struct {
	// Path is the file of the object, relative to the directory that was rendered. Document is the
	// number of the object's document in the file, counted from 1, or 0 if it is unknown.
	Path     string
	Document int
	// For a generated object, ConfiguredIn is set instead of Path. It is the file that configures
	// the generator. Generator and Name are the generator's kind and name.
	ConfiguredIn, Generator, Name string
	// For an object from a Helm chart, Template is set instead of Path. Its first element is the
	// name of the chart.
	Template string
}

const (
	// originAnnotation is the annotation that kustomize writes if buildMetadata contains
	// originAnnotations.
	originAnnotation = "config.kubernetes.io/origin"
	// sourceComment is the start of the comment that Helm writes above every object.
	sourceComment = "# Source: "
	// maxOrigin is the maximum length of an origin. No valid path is longer.
	maxOrigin = 4096
)

// MayHaveOrigins reports whether text may contain objects with an origin.
func MayHaveOrigins(text []byte) bool {
	return bytes.Contains(text, []byte(originAnnotation)) || bytes.Contains(text, []byte(sourceComment))
}

// Origin returns the origin in the object's kustomize annotation. It ignores annotations that
// kustomize would not write, and those that refer to another repository.
func (o *Object) Origin() (Origin, bool) {
	text := o.Root.At("metadata", "annotations", originAnnotation).Text()
	if text == "" || len(text) > maxOrigin {
		return Origin{}, false
	}
	roots := (&File{Text: []byte(text)}).Roots()
	if len(roots) != 1 || roots[0].Kind != Map {
		return Origin{}, false
	}
	var from Origin
	for k, v := range roots[0].Fields() {
		if k.Value == "configuredBy" && v.Kind == Map {
			from.Generator, from.Name = v.Get("kind").Text(), v.Get("name").Text()
			continue
		}
		to := map[string]*string{"path": &from.Path, "configuredIn": &from.ConfiguredIn}[k.Value]
		if to == nil || !localPath(v.Text()) {
			return Origin{}, false
		}
		*to = v.Text()
	}
	return from, (from.Path == "") != (from.ConfiguredIn == "")
}

// localPath reports whether p can be a relative path. The check is necessary because an attacker
// may have written p.
func localPath(p string) bool {
	return p != "" && len(p) <= maxOrigin && utf8.ValidString(p) && !path.IsAbs(p) && !strings.ContainsFunc(p, unicode.IsControl)
}

// templateOf returns the template named in Helm's comment above a document, or "".
func templateOf(text []byte) string {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if rest, ok := bytes.CutPrefix(line, []byte(sourceComment)); ok {
			return template(string(rest))
		}
		if len(line) > 0 && line[0] != '#' && !bytes.HasPrefix(line, []byte("---")) {
			break
		}
	}
	return ""
}

// Templates returns the templates named in Helm's comments, sorted and without duplicates.
func (f *File) Templates() (all []string) {
	if !bytes.Contains(f.Text, []byte(sourceComment)) {
		return nil
	}
	for line := range bytes.Lines(f.Text) {
		if rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte(sourceComment)); ok {
			if name := template(string(rest)); name != "" {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// template returns p, or "" if Helm cannot have written p. Any comment can look like one of Helm's.
func template(p string) string {
	_, file, ok := strings.Cut(p, "/")
	if !ok || !localPath(p) || path.Clean(p) != p || !worktree.Local(p) || !strings.Contains("/"+file, "/templates/") {
		return ""
	}
	return p
}

// Comments in generated files. Helm names the template above each document that it renders, and
// other generators ask readers not to edit their output.
var (
	helmSource = lazy.Regexp(`(?m)^# Source: [^\s:]+/(?:templates|charts|crds)/\S+\s*$`)
	doNotEdit  = lazy.Regexp(`(?mi)^[ \t]*#.*(?:\bdo not edit\b|@generated\b)`)
)

// Maker is the kind of tool that generated a file or an object.
type Maker string

// Makers that can be recognized.
const (
	MadeByKustomize Maker = "kustomize"
	MadeByHelm      Maker = "helm"
	MadeByGenerator Maker = "generator" // according to a comment in the file
	MadeByCluster   Maker = "cluster"   // copied from a running cluster
)

// Made returns the kind of tool that generated the object, or "" if neither the object nor its file
// indicates one. Edits to generated text are lost when the text is regenerated.
func (o *Object) Made() Maker {
	meta := o.Root.Get("metadata")
	notes := meta.Get("annotations")
	switch {
	case notes.Get("config.kubernetes.io/origin") != nil || notes.Get("alpha.config.kubernetes.io/transformations") != nil:
		return MadeByKustomize
	case o.File.Maker() != "":
		return o.File.Maker()
	case meta.Get("uid") != nil || meta.Get("resourceVersion") != nil:
		return MadeByCluster
	}
	return ""
}

// Maker returns the kind of tool that generated the file according to the file's comments, or "".
func (f *File) Maker() Maker {
	f.made.Do(func() {
		switch {
		case helmSource().Match(f.Text):
			f.maker = MadeByHelm
		case doNotEdit().Match(opening(f.Text)):
			f.maker = MadeByGenerator
		}
	})
	return f.maker
}

// opening returns the comments, blank lines and separators at the start of a text.
func opening(text []byte) []byte {
	at := 0
	for line := range bytes.Lines(text) {
		word := bytes.TrimSpace(bytes.TrimPrefix(line, byteOrderMark))
		if len(word) > 0 && word[0] != '#' && !bytes.HasPrefix(word, []byte("---")) {
			break
		}
		at += len(line)
	}
	return text[:at]
}

// Roots returns every readable document in a file, whatever its kind. It parses the text again and
// does not affect the objects that Load returned.
func (f *File) Roots() []*Node {
	return slices.DeleteFunc(f.Numbered(), func(root *Node) bool { return root == nil })
}

// Numbered is like Roots, but has nil for each document without a root.
func (f *File) Numbered() []*Node {
	if f.refused || !utf8.Valid(f.Text) || bytes.IndexByte(f.Text, 0) >= 0 {
		return nil
	}
	docs, _ := documents(f.Text, wholeOptions())
	all := make([]*Node, len(docs))
	for i, d := range docs {
		if d.template == "" {
			all[i] = d.root
		}
	}
	return all
}

// ObjectsOf returns the objects in a document of this file. The items of a List are separate
// objects.
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

// Stream finds the objects of a file by position. It parses only the requested documents again.
type Stream struct {
	file *File
	// parts holds the text of each document. lines holds the number of lines before each document.
	parts [][]byte
	lines []int
	whole bool
	read  map[int]part
}

// part holds the objects of a document and the template named in Helm's comment above it.
type part struct {
	objects  []*Object
	template string
}

// maxRead is the maximum number of documents that a Stream caches.
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

// At returns the object at a position, and the template named in Helm's comment above the object.
// If there is no object, it returns nil.
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
