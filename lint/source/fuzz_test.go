package source

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzParse reads any bytes at all: nothing crashes or hangs, every place lies
// inside the file, and every span covers the text of its scalar.
func FuzzParse(f *testing.F) {
	for _, text := range oddTexts {
		f.Add([]byte(text))
	}
	for _, m := range mistakes {
		f.Add([]byte(m.text))
	}
	seeds, err := filepath.Glob("../../fixtures/*/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range seeds {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		start := time.Now()
		set, file := parsed("text", string(text))
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("reading %d bytes took %v", len(text), took)
		}
		checkSet(t, set, file)
		for _, bad := range checkPlaces("text", text) {
			t.Error(bad)
		}
	})
}

// FuzzOrigin reads any bytes as what tells an origin and as a stream with origins:
// nothing crashes, and what is accepted can be a relative path.
func FuzzOrigin(f *testing.F) {
	for _, text := range oddTexts {
		f.Add([]byte(text))
	}
	f.Add([]byte("path: ../base/web.yaml\n"))
	f.Add([]byte("# Source: shop/templates/web.yaml\nkind: Pod\nmetadata: {name: web, annotations: {config.kubernetes.io/origin: 'path: web.yaml'}}\n---\n[a]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		annotation := &Node{Kind: Map, content: []*Node{{Value: originAnnotation}, {Value: string(text), Quoted: true}}}
		meta := &Node{Kind: Map, content: []*Node{{Value: "annotations"}, annotation}}
		from, ok := (&Object{Root: &Node{Kind: Map, content: []*Node{{Value: "metadata"}, meta}}}).Origin()
		if ok && localPath(from.Path) == localPath(from.ConfiguredIn) {
			t.Errorf("%q is the origin %+v", text, from)
		}
		file := &File{Text: text}
		s := NewStream(file)
		for line := range min(100, file.LineCount()) {
			o, template := s.At(file.LineSpan(line + 1))
			if o != nil && int(o.Root.Line) > line+1 || template != "" && !localPath(template) {
				t.Errorf("line %d: object in line %d, template %q", line+1, o.Root.Line, template)
			}
		}
	})
}

// checkSet checks what holds for every text.
func checkSet(t *testing.T, set *Set, file *File) {
	lines := inLines(file.Text)
	for _, p := range set.Problems {
		if _, ok := spanText(lines, p.Span); !ok && p.Kind != Unreadable {
			t.Errorf("%s outside the file: %v", p.Kind, p.Span)
		}
		if _, ok := spanText(lines, p.First); !ok && !p.First.IsZero() {
			t.Errorf("%s: first outside the file: %v", p.Kind, p.First)
		}
	}
	for _, s := range set.Skipped {
		if s.Line < 1 || s.Line > file.LineCount() {
			t.Errorf("%s outside the file: line %d", s.Reason, s.Line)
		}
	}
	for _, o := range set.Objects {
		if _, ok := spanText(lines, o.NameSpan()); !ok {
			t.Errorf("object outside the file: %v", o.NameSpan())
		}
		Equal(o.Root, o.Root)
	}
}
