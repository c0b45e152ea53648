package origin_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/source"
)

// builds matches the script lines that name an output of kustomize.
var builds = regexp.MustCompile(`(?m)^# (\S+) is what kustomize build (.*?)(\S+) prints$`)

// build is one call of kustomize in the directory of its script.
type build struct{ script, file, flags, root string }

// unpack writes the files of all scripts with kustomize outputs, each script into its own
// directory.
func unpack(t *testing.T) map[string][]build {
	t.Helper()
	scripts, err := filepath.Glob("../../fixtures/scripts/origin-*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%v, %d scripts", err, len(scripts))
	}
	all := map[string][]build{}
	for _, script := range scripts {
		archive, err := txtar.ParseFile(script)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := txtar.Write(archive, dir); err != nil {
			t.Fatal(err)
		}
		for _, m := range builds.FindAllSubmatch(archive.Comment, -1) {
			all[dir] = append(all[dir], build{script, string(m[1]), string(m[2]), string(m[3])})
		}
	}
	return all
}

// counts has the number of places that were found, and how many of them are exact.
type counts struct{ places, exact int }

// checkRendered locates every field of every rendered object. Each place must be in a file of the
// root, and its text must be that of the rendered field.
func checkRendered(t *testing.T, dir, root string, text []byte) (n counts) {
	t.Helper()
	files := map[string]*source.File{}
	m, err := origin.New(origin.Options{Dir: dir, Root: dir, Base: root, Files: files})
	if err != nil {
		t.Fatal(err)
	}
	f := &source.File{Name: "rendered", Text: text}
	stream := source.NewStream(f)
	for _, doc := range f.Roots() {
		for _, o := range f.ObjectsOf(doc) {
			from, ok := o.Origin()
			if !ok {
				continue
			}
			fields(doc, func(k, v *source.Node) {
				span := f.FieldSpan(k, v)
				if k == nil {
					span = f.Span(v)
				}
				at, _ := stream.At(span)
				if at == nil {
					t.Fatalf("no object at %v", span)
				}
				p, ok := m.Locate(at, from, span)
				if !ok {
					return
				}
				if n.places++; !p.Near {
					n.exact++
				}
				checkPlace(t, files, p, k, v)
			})
		}
	}
	return n
}

func checkPlace(t *testing.T, files map[string]*source.File, p origin.Place, k, v *source.Node) {
	t.Helper()
	f := files[p.Span.File]
	if f == nil || strings.HasPrefix(p.Span.File, "../") || filepath.IsAbs(p.Span.File) {
		t.Fatalf("%v is outside of the root", p.Span)
	}
	said := covered(f, p.Span)
	if said == "" {
		t.Errorf("%v covers no text", p.Span)
	}
	if p.Near || p.Whole || v.Kind != source.Scalar || k != nil && (k.Value == "name" || said == k.Value) {
		return // only the key, because the value is further down
	}
	roots := (&source.File{Text: []byte(said)}).Roots()
	if len(roots) != 1 {
		t.Errorf("%v: %q is no value", p.Span, said)
		return
	}
	got := roots[0]
	for _, value := range got.Fields() {
		got = value
	}
	if block := strings.HasSuffix(said, "|") || strings.HasSuffix(said, ">") || strings.HasSuffix(said, "-"); !block && !source.Equal(got, v) {
		t.Errorf("%v: %q is said there, %q is rendered", p.Span, said, v.Value)
	}
}

func covered(f *source.File, s diag.Span) string {
	line := []rune(f.Line(s.Line))
	if s.EndLine != s.Line {
		var b strings.Builder
		b.WriteString(string(line[s.Column-1:]))
		for n := s.Line + 1; n < s.EndLine; n++ {
			b.WriteString("\n" + f.Line(n))
		}
		return b.String() + "\n" + string([]rune(f.Line(s.EndLine))[:s.EndColumn-1])
	}
	if s.Column < 1 || s.EndColumn-1 > len(line) || s.EndColumn < s.Column {
		return ""
	}
	return string(line[s.Column-1 : s.EndColumn-1])
}

func fields(n *source.Node, visit func(k, v *source.Node)) {
	for k, v := range n.Fields() {
		visit(k, v)
		fields(v, visit)
	}
	for _, v := range n.Items() {
		if v.Kind == source.Scalar {
			visit(nil, v)
		}
		fields(v, visit)
	}
}

// TestPlacesSayTheSame checks the kustomize outputs in the scripts.
func TestPlacesSayTheSame(t *testing.T) {
	var all counts
	for dir, calls := range unpack(t) {
		for _, b := range calls {
			text, err := os.ReadFile(filepath.Join(dir, b.file))
			if err != nil {
				t.Fatal(err)
			}
			n := checkRendered(t, dir, b.root, text)
			all.places, all.exact = all.places+n.places, all.exact+n.exact
		}
	}
	t.Logf("%d places, %d of them the very one", all.places, all.exact)
	if all.exact*2 < all.places {
		t.Errorf("%d of %d places are the very one", all.exact, all.places)
	}
}
