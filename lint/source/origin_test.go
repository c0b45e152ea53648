package source

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
)

func TestOrigin(t *testing.T) {
	for text, want := range map[string]Origin{
		"path: ../../base/web.yaml\n": {Path: "../../base/web.yaml"},
		"path: web.yaml":              {Path: "web.yaml"},
		`{"path": "web.yaml"}`:        {Path: "web.yaml"},
		"configuredIn: kustomization.yaml\nconfiguredBy:\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n": {ConfiguredIn: "kustomization.yaml", Generator: "ConfigMapGenerator"},
		"configuredIn: ../make.yaml\nconfiguredBy: {kind: Maker, name: the-maker}":                             {ConfiguredIn: "../make.yaml", Generator: "Maker", Name: "the-maker"},
		"":                                    {},
		"web.yaml":                            {},
		"[path, web.yaml]":                    {},
		"path: [web.yaml]":                    {},
		"path: 7":                             {},
		"path: ''":                            {},
		"path:":                               {},
		"path: /etc/passwd":                   {},
		"path: \"a\\nb\"":                     {},
		"path: \"a\\0b\"":                     {},
		"path: |\n  web.yaml\n":               {},
		"path: web.yaml\nrepo: https://x":     {},
		"path: web.yaml\nref: main":           {},
		"path: web.yaml\nnew: 1":              {},
		"path: web.yaml\nconfiguredIn: x":     {},
		"path: web.yaml\n---\npath: web.yaml": {},
		"path: web.yaml\n\tx":                 {},
		"configuredBy: {kind: Maker}":         {},
		"path: &a [*a]":                       {},
		"\x00":                                {},
		"path: \xff":                          {},
		"path: " + strings.Repeat("a", 1<<16): {},
	} {
		root := &Node{Kind: Map, inside: &inside{nodes: []*Node{{Value: "metadata"}, {Kind: Map, inside: &inside{nodes: []*Node{{Value: "annotations"}, {Kind: Map, inside: &inside{nodes: []*Node{{Value: originAnnotation}, {Value: text, Quoted: true}}}}}}}}}}
		got, ok := (&Object{Root: root}).Origin()
		if ok != (want != Origin{}) || ok && got != want {
			t.Errorf("%.60q: %+v, %v", text, got, ok)
		}
	}
	if _, ok := onlyObject(t, "kind: Pod\n").Origin(); ok {
		t.Error("an object without annotations has an origin")
	}
}

func TestTemplateOf(t *testing.T) {
	for text, want := range map[string]string{
		"# Source: shop/templates/web.yaml\nkind: Pod\n":                             "shop/templates/web.yaml",
		"---\r\n# Source: shop/charts/db/templates/a/db.yaml\r\n# more\r\nkind: Pod": "shop/charts/db/templates/a/db.yaml",
		"--- # next\n\n# hello\n# Source: shop/templates/web.yaml\n":                 "shop/templates/web.yaml",
		"kind: Pod\n# Source: shop/templates/web.yaml\n":                             "",
		"# Source: https://example.com/templates/x\n":                                "",
		"# Source: shop/../templates/x\n":                                            "",
		"# Source: ../templates/x\n":                                                 "",
		"# Source: /shop/templates/x\n":                                              "",
		"# Source: shop/web.yaml\n":                                                  "",
		"# Source: the docs\n":                                                       "",
		"":                                                                           "",
	} {
		if got := templateOf([]byte(text)); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestStreamFindsObjects checks every position of a file. The stream must find the same object as
// reading the whole file does.
func TestStreamFindsObjects(t *testing.T) {
	const stream = "# Source: a/templates/x.yaml\nkind: Pod\nmetadata: {name: one}\n---\n# only a comment\n---\n" +
		"kind: Pod\nmetadata:\n  name: two\ntext: |\n  ---\n  kind: Pod\n--- # Source: b\nkind: List\nitems:\n- kind: Pod\n  metadata: {name: three}\n- {kind: Pod, metadata: {name: four}}\n"
	for name, text := range map[string]string{
		"lf": stream, "crlf": strings.ReplaceAll(stream, "\n", "\r\n"), "mark": "\ufeff" + stream, "wide": strings.Replace(stream, "# only", "# \u2028only", 1),
		"json": `{"kind": "Pod", "metadata": {"name": "one"}} {"kind": "Pod", "metadata": {"name": "two"}}`,
		"torn": stream + "---\nkind: [\n---\nkind: Pod\nmetadata: {name: five}\n",
	} {
		set, f := parsed(name, text)
		s := NewStream(f)
		if len(set.Objects) < 2 {
			t.Fatalf("%s: %d objects", name, len(set.Objects))
		}
		for _, o := range set.Objects {
			got, template := s.At(o.NameSpan())
			if got == nil || got.Name != o.Name || !Equal(got.Root, o.Root) || got.NameSpan() != o.NameSpan() {
				t.Errorf("%s: at %v found %+v", name, o.NameSpan(), got)
			}
			if want := o.Name == "one" && (name == "lf" || name == "crlf" || name == "torn"); want != (template != "") {
				t.Errorf("%s: %s has the template %q", name, o.Name, template)
			}
		}
		if o, _ := s.At(diag.Span{Line: 1 << 30}); o != nil && name != "json" && o.Name != "four" && o.Name != "five" {
			t.Errorf("%s: behind the end is %s", name, o.Name)
		}
	}
	for _, text := range []string{"", "\x00", "\xff", "---\n---\n", "[1, 2"} {
		if o, _ := NewStream(&File{Text: []byte(text)}).At(diag.Span{Line: 1, Column: 1}); o != nil {
			t.Errorf("%q has the object %+v", text, o)
		}
	}
}

// names formats a path.
func names(steps []*Step) string {
	var all []string
	for _, s := range steps {
		if s.Key != nil {
			all = append(all, s.Key.Value)
		} else {
			all = append(all, strconv.Itoa(s.Index))
		}
	}
	return strings.Join(all, ".")
}

func TestTrails(t *testing.T) {
	o := onlyObject(t, "kind: Pod\nspec:\n  tolerations:\n  - key: a\n    value: b\n  - {key: c}\n  args: [x, y]\n")
	trails := NewTrails(o.Root)
	for want, span := range map[string]diag.Span{
		"kind":                   {Line: 1, Column: 1, EndLine: 1, EndColumn: 10},
		"spec":                   {Line: 2, Column: 1, EndLine: 2, EndColumn: 5},
		"spec.tolerations.0":     {Line: 4, Column: 5, EndLine: 4, EndColumn: 6},
		"spec.tolerations.0.key": {Line: 4, Column: 5, EndLine: 4, EndColumn: 11},
		"spec.tolerations.1":     {Line: 6, Column: 5, EndLine: 6, EndColumn: 6},
		"spec.tolerations.1.key": {Line: 6, Column: 11, EndLine: 6, EndColumn: 12},
		"spec.args.1":            {Line: 7, Column: 13, EndLine: 7, EndColumn: 14},
		"":                       {Line: 9, Column: 1, EndLine: 9, EndColumn: 1},
	} {
		if got := names(trails.At(span)); got != want {
			t.Errorf("%v: %s, want %s", span, got, want)
		}
	}
}

// TestFollow follows the path of a marked item into a list with different items.
func TestFollow(t *testing.T) {
	for name, row := range map[string]struct{ from, to, want string }{
		"moved":          {"[{name: a}, {name: b, x: here}]", "[{name: b, x: 1}, {name: a}]", "0"},
		"gone":           {"[{name: a, x: here}]", "[{name: b}]", ""},
		"scalar":         {"[a, here]", "[here, b]", "0"},
		"one of two":     {"[{name: a, x: here}]", "[{name: a}, {name: a, x: here}]", "1"},
		"neither of two": {"[{name: a, x: here}]", "[{name: a}, {name: a, x: 1}]", ""},
		"second of two":  {"[{name: a}, {name: a, x: here}]", "[{name: a, y: 1}, {name: a, x: 2}]", "1"},
		"two of one":     {"[{name: a}, {name: a, x: here}]", "[{name: a}]", ""},
		"no list":        {"[{name: a, x: here}]", "{name: a}", ""},
	} {
		from, to := onlyObject(t, "kind: Pod\nlist: "+row.from), onlyObject(t, "kind: Pod\nlist: "+row.to)
		column := 1 + strings.Index("list: "+row.from, "here")
		steps := NewTrails(from.Root).At(diag.Span{Line: 2, Column: column, EndLine: 2, EndColumn: column + 4})
		if len(steps) < 2 {
			t.Fatalf("%s: no way to %d", name, column)
		}
		got := ""
		if way := NewFollower().Follow(steps, to.Root); len(way) > 1 {
			for i, item := range to.Root.Get("list").Items() {
				if item == way[1].Value {
					got = strconv.Itoa(i)
				}
			}
		}
		if got != row.want {
			t.Errorf("%s: item %q, want %q", name, got, row.want)
		}
	}
}

func TestBlockSpan(t *testing.T) {
	for text, want := range map[string]string{
		"patch: |-\n    a: 1\n\n    b: 22\n":            "4:5-10",
		"patch: !!str |2-\n  a: 1\n\n  b: 22\n":         "4:3-8",
		"- patch: |\n    a: é\n\n    b: 22\n    c: 3\n": "4:5-10",
		"patch: |+\r\n  a: 1\r\n\r\n  b: 22\r\n":        "4:3-8",
		"patch: >-\n    a: 1\n\n\n    b: 22\n":          "",
		"patch: \"a: 1\\n\\nb: 22\"\n":                  "",
		"patch: 'a: 1\n\n\n  b: 22'\n":                  "",
	} {
		f := &File{Text: []byte(text)}
		n := f.Roots()[0]
		if n.Kind == Sequence {
			n = n.Items()[0]
		}
		block := n.Get("patch")
		inner := &File{Text: []byte(block.Value)}
		k, v := inner.Roots()[0].Field("b")
		got := ""
		if s, ok := f.BlockSpan(block, inner, inner.FieldSpan(k, v)); ok {
			got = fmt.Sprintf("%d:%d-%d", s.Line, s.Column, s.EndColumn)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestStreamOfMany looks up many positions in long files of both forms.
func TestStreamOfMany(t *testing.T) {
	n := trials.Of(t, 20_000)
	var many, one strings.Builder
	one.WriteString("kind: List\nitems:\n")
	for i := range n {
		fmt.Fprintf(&many, "---\n# Source: a/templates/x.yaml\nkind: Pod\nmetadata: {name: a%d}\n", i)
		fmt.Fprintf(&one, "- kind: Pod\n  metadata: {name: a%d}\n", i)
	}
	for _, text := range []string{many.String(), one.String()} {
		set, f := parsed("x", text)
		s := NewStream(f)
		for _, o := range set.Objects {
			if got, _ := s.At(o.NameSpan()); got == nil || got.Name != o.Name {
				t.Fatalf("%s is not found", o.Name)
			}
		}
	}
}

func TestTemplates(t *testing.T) {
	f := NewFile("a.yaml", "a.yaml", []byte("# Source: shop/templates/b.yaml\r\na: 1\n---\n  # Source: shop/templates/a.yaml\n---\n# Source: shop/templates/b.yaml\n# Source: ../templates/c.yaml\n# Source: shop/crds/d.yaml\n"))
	if got, want := f.Templates(), []string{"shop/templates/a.yaml", "shop/templates/b.yaml"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
