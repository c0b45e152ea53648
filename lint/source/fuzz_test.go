package source

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/schedlint/schedlint/fixtures/mutate"
)

// FuzzParse checks that arbitrary input causes no crash or hang, that every position is inside the
// file, and that every span covers the text of its scalar.
func FuzzParse(f *testing.F) { fuzzed(f, fuzzParse) }

func fuzzParse(t *testing.T, text []byte) {
	set, file := parsed("text", string(text))
	checkSet(t, set, file)
	for _, bad := range checkPlaces("text", text) {
		t.Error(bad)
	}
}

// texts returns the seeds of the fuzz targets.
func texts(t testing.TB) (all [][]byte) {
	for _, text := range oddTexts {
		all = append(all, []byte(text))
	}
	for _, m := range mistakes {
		all = append(all, []byte(m.text))
	}
	all = append(all, []byte(directiveText), []byte("path: ../base/web.yaml\n"),
		[]byte("kind: Pod\na: #@ b\nc:\n- #@ d\n- 'e\n  #@ end'\nf: %%%\n"), []byte("{A,}0\n"), []byte("{ // a\n\"b\": [{\"kind\": 'c'}]\n\"kind\": d}\n"),
		[]byte("# Source: shop/templates/web.yaml\nkind: Pod\nmetadata: {name: web, annotations: {config.kubernetes.io/origin: 'path: web.yaml'}}\n---\n[a]\n"))
	paths, err := filepath.Glob("../../fixtures/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	return all
}

func fuzzed(f *testing.F, target func(*testing.T, []byte)) {
	for _, text := range texts(f) {
		f.Add(text)
	}
	f.Fuzz(target)
}

// TestTexts runs the fuzz targets on random input without coverage instrumentation, which is slow.
// SCHEDLINT_EXECUTIONS=1000000 go test ./lint/source -run TestTexts -timeout 0 runs each target
// that often. SCHEDLINT_SEED selects other input.
func TestTexts(t *testing.T) {
	n, seed, err := mutate.Runs(300)
	if err != nil {
		t.Fatal(err)
	}
	all := texts(t)
	for name, target := range map[string]func(*testing.T, []byte){"FuzzParse": fuzzParse, "FuzzSimple": fuzzSimple, "FuzzFold": fuzzFold, "FuzzOrigin": fuzzOrigin, "FuzzDirectives": fuzzDirectives} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 0))
			var text []byte
			defer func() {
				if p := recover(); p != nil || t.Failed() {
					t.Fatalf("%v\n[]byte(%q)", p, text)
				}
			}()
			for range n {
				text = mutate.Text(r, all)
				if target(t, text); t.Failed() {
					return
				}
			}
		})
	}
}

// FuzzOrigin reads arbitrary input as an origin annotation and as a stream with origins. It checks
// that nothing crashes and that accepted origins are valid relative paths.
func FuzzOrigin(f *testing.F) { fuzzed(f, fuzzOrigin) }

func fuzzOrigin(t *testing.T, text []byte) {
	annotation := &Node{Kind: Map, inside: &inside{nodes: []*Node{{Value: originAnnotation}, {Value: string(text), Quoted: true}}}}
	meta := &Node{Kind: Map, inside: &inside{nodes: []*Node{{Value: "annotations"}, annotation}}}
	from, ok := (&Object{Root: &Node{Kind: Map, inside: &inside{nodes: []*Node{{Value: "metadata"}, meta}}}}).Origin()
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
}

// checkSet checks the properties that hold for any input.
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
