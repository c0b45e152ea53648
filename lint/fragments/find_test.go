package fragments

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

const (
	flux  = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: redis, namespace: apps}\nspec:\n"
	argo  = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: redis, namespace: argocd}\nspec:\n"
	set   = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: redis}\nspec:\n  template:\n    spec:\n"
	plain = "{nodeSelector: {a: b}}"
	long  = "a-name-of-sixty-bytes-which-a-path-shows-from-start-to-end-0"
)

func objectOf(t *testing.T, text string) *source.Object {
	t.Helper()
	file := source.NewFile("a.yaml", "a.yaml", []byte(text))
	roots := file.Roots()
	if len(roots) != 1 || len(file.ObjectsOf(roots[0])) != 1 {
		t.Fatalf("not one object:\n%s", text)
	}
	return file.ObjectsOf(roots[0])[0]
}

// findRows has releases with the maps to find, as path@line, and whether any are left out.
var findRows = map[string]struct {
	text string
	want string
	left bool
}{
	"all values":            {text: flux + "  values: " + plain, want: "@5"},
	"below":                 {text: flux + "  values:\n    master:\n      pods:\n      - {}\n      - tolerations: [{operator: Exists}]", want: "master.pods[1]@9"},
	"one of each part":      {text: flux + "  values: {a: " + plain + ", b: {x: {affinity: {nodeAffinity: {}}}}}", want: "a@5 b.x@5"},
	"siblings":              {text: flux + "  values: {nodeSelector: {a: b}, tolerations: [{}], affinity: {x: y}}", want: "@5"},
	"empty":                 {text: flux + "  values: {nodeSelector: {}, tolerations: [], affinity: null}"},
	"of another kind":       {text: flux + "  values: {nodeSelector: [a], tolerations: {a: b}, affinity: soft}"},
	"beside the values":     {text: flux + "  nodeSelector: {a: b}\n  values: {a: b}"},
	"suspended":             {text: flux + "  suspend: true\n  values: " + plain},
	"not suspended":         {text: flux + "  suspend: false\n  values: " + plain, want: "@6"},
	"off":                   {text: flux + "  values: {a: {enabled: false, nodeSelector: {a: b}}}", left: true},
	"off above":             {text: flux + "  values: {a: {enabled: false, b: {c: " + plain + "}}, d: " + plain + "}", want: "d@5", left: true},
	"off, nothing there":    {text: flux + "  values: {a: {enabled: false, b: c}, d: " + plain + "}", want: "d@5"},
	"off as text":           {text: flux + "  values: {enabled: 'false', nodeSelector: {a: b}}", left: true},
	"perhaps off":           {text: flux + "  values: {enabled: '${ON}', nodeSelector: {a: b}}", left: true},
	"disabled":              {text: flux + "  values: {disabled: true, nodeSelector: {a: b}}", left: true},
	"on":                    {text: flux + "  values: {enabled: true, replicas: 2, disabled: false, nodeSelector: {a: b}}", want: "@5"},
	"no pods":               {text: flux + "  values: {replicaCount: 0, nodeSelector: {a: b}}", left: true},
	"a manifest":            {text: flux + "  values: {extra: [{apiVersion: v1, kind: Pod, spec: " + plain + "}]}", left: true},
	"a variable":            {text: flux + "  values: {nodeSelector: {a: '${X}'}}", left: true},
	"a variable as key":     {text: flux + "  values: {nodeSelector: {'{{ x }}': b}}", left: true},
	"a placeholder":         {text: flux + "  values: {tolerations: [{key: <your-key>}]}", left: true},
	"encrypted":             {text: flux + "  values: {nodeSelector: {a: 'ENC[AES256_GCM,data:x]'}}", left: true},
	"an anchor":             {text: flux + "  values: {a: &x " + plain + ", b: *x, c: *x}", want: "a@5"},
	"a name with controls":  {text: flux + "  values: {\"a\\e[31m\": {b.c: " + plain + "}}", want: `"a\x1b[31m"."b.c"@5`},
	"a name of 60 bytes":    {text: flux + "  values: {" + long + ": " + plain + "}", want: long + "@5"},
	"a name of 61 bytes":    {text: flux + "  values: {" + long + "b: " + plain + "}", want: `"` + long + `..."@5`},
	"deep text":             {text: argo + "  source:\n    helm:\n      values: |\n" + strings.Repeat(" ", maxIndent) + "a: {nodeSelector: {b: c}}\n", want: "a@8"},
	"text that is too deep": {text: argo + "  source:\n    helm:\n      values: |\n" + strings.Repeat(" ", maxIndent+1) + "a: {nodeSelector: {b: c}}\n", left: true},
	"valuesObject":          {text: argo + "  source: {helm: {valuesObject: {a: " + plain + "}}}", want: "a@5"},
	"several sources":       {text: argo + "  sources:\n  - helm: {valuesObject: " + plain + "}\n  - ref: x\n  - helm: {valuesObject: {b: " + plain + "}}", want: "@6 b@8"},
	"one beside several":    {text: argo + "  source: {helm: {valuesObject: {a: " + plain + "}}}\n  sources:\n  - helm: {valuesObject: " + plain + "}", want: "@7"},
	"parameters":            {text: argo + "  source: {helm: {parameters: [{name: a.nodeSelector.b, value: c}], valuesObject: {a: " + plain + "}}}", left: true},
	"other parameters":      {text: argo + "  source: {helm: {parameters: [{name: image.tag, value: c}], valuesObject: {a: " + plain + "}}}", want: "a@5"},
	"text":                  {text: argo + "  source:\n    helm:\n      values: |\n        # why\n        a:\n\n          nodeSelector:\n            b: c\n", want: "a@11"},
	"text, kept":            {text: argo + "  source:\n    helm:\n      values: |+2\n        a: {nodeSelector: {b: c}}\n\n", want: "a@8"},
	"text and object":       {text: argo + "  source:\n    helm:\n      valuesObject: {a: {tolerations: [{}]}}\n      values: |\n        b: {nodeSelector: {b: c}}\n", want: "a@7"},
	"folded text":           {text: argo + "  source:\n    helm:\n      values: >\n        a: {nodeSelector: {b: c}}\n", left: true},
	"quoted text":           {text: argo + "  source: {helm: {values: \"a: {nodeSelector: {b: c}}\"}}", left: true},
	"text without any":      {text: argo + "  source: {helm: {values: \"a: b\"}}"},
	"text that is broken":   {text: argo + "  source:\n    helm:\n      values: |\n        a: {nodeSelector: [\n", left: true},
	"text of two documents": {text: argo + "  source:\n    helm:\n      values: |\n        a: {nodeSelector: {b: c}}\n        ---\n        b: c\n", left: true},
	"text of a template":    {text: set + "      source:\n        helm:\n          values: |\n            a: {nodeSelector: {b: c}}\n", want: "a@10"},
	"text with parameters":  {text: set + "      source:\n        helm:\n          values: |\n            x: {{ x }}\n            a: {nodeSelector: {b: c}}\n", left: true},
	"a template":            {text: set + "      source: {helm: {valuesObject: {a: {nodeSelector: {b: '{{ x }}'}}, b: " + plain + "}}}", want: "b@7", left: true},
}

func TestFind(t *testing.T) {
	for name, row := range findRows {
		found := NewFinder().Of(objectOf(t, row.text))
		if got := said(found); got != row.want || found.Without(nil).Left != row.left || found.Over != "" {
			t.Errorf("%s: got %q, left %v %q, want %q, left %v", name, got, found.Without(nil).Left, found.Over, row.want, row.left)
		}
	}
}

func said(found *Found) string {
	var all []string
	for _, v := range found.Without(nil).Values {
		at := v.File.Span(v.Node)
		all = append(all, fmt.Sprintf("%s@%d", v.Path, at.Line))
	}
	return strings.Join(all, " ")
}

// TestWithout checks that only the values of the other sources remain, and whether any of them were
// left out.
func TestWithout(t *testing.T) {
	found := NewFinder().Of(objectOf(t, argo+"  sources:\n  - helm: {valuesObject: "+plain+"}\n  - ref: x\n  - helm: {valuesObject: {enabled: false, nodeSelector: {a: b}}}"))
	for name, row := range map[string]struct {
		without map[int]bool
		values  int
		left    bool
	}{
		"all":    {nil, 1, true},
		"first":  {map[int]bool{0: true}, 0, true},
		"second": {map[int]bool{1: true}, 1, true},
		"third":  {map[int]bool{2: true}, 1, false},
	} {
		if got := found.Without(row.without); len(got.Values) != row.values || got.Left != row.left {
			t.Errorf("%s: %d values, left %v", name, len(got.Values), got.Left)
		}
	}
}

// TestNoRelease checks that other objects pass no values to charts.
func TestNoRelease(t *testing.T) {
	for _, head := range []string{"apiVersion: apps/v1\nkind: Deployment", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization", "apiVersion: example.com/v1\nkind: HelmRelease"} {
		if found := NewFinder().Of(objectOf(t, head+"\nmetadata: {name: a}\nspec: {values: "+plain+"}\n")); found != nil {
			t.Errorf("%s: got %v", head, found)
		}
	}
}

// TestPlaces checks that values that are written as text have the columns of the file.
func TestPlaces(t *testing.T) {
	o := objectOf(t, argo+"  source:\n    helm:\n      values: |\n        a:\n          nodeSelector: {disk: ssd}\n")
	v := NewFinder().Of(o).Without(nil).Values[0]
	if got := v.File.Span(v.Node.At("nodeSelector", "disk")); got.Line != 9 || got.Column != 32 || got.File != "a.yaml" || o.File.Line(9)[got.Column-1:] != "ssd}" {
		t.Errorf("got %v", got)
	}
}

// TestBounds checks that each limit is reported when it is exceeded, and that nothing beyond it is
// found.
func TestBounds(t *testing.T) {
	three := flux + "  values: {a: " + plain + ", b: " + plain + ", c: " + plain + "}"
	text := argo + "  source:\n    helm:\n      values: |\n        a: {nodeSelector: {b: c}}\n"
	for name, row := range map[string]struct {
		most       func(*Finder)
		text, want string
		found      int
	}{
		"maps":  {func(f *Finder) { f.maps.Most = 2 }, three, "at most 2 values fragments", 2},
		"nodes": {func(f *Finder) { f.nodes.Most = 4 }, three, "more than 4 nodes", 1},
		"depth": {func(f *Finder) { f.levels = 1 }, three, "more than 1 levels", 0},
		"bytes": {func(f *Finder) { f.bytes.Most = 10 }, text, "more than 0 MiB", 0},
	} {
		f := NewFinder()
		row.most(f)
		found := f.Of(objectOf(t, row.text))
		if len(found.Without(nil).Values) != row.found || !found.Without(nil).Left || !strings.Contains(found.Over, row.want) {
			t.Errorf("%s: got %d, %q", name, len(found.Without(nil).Values), found.Over)
		}
	}
}

// TestAliases checks that a short text with many aliases costs little, and that each map counts
// once.
func TestAliases(t *testing.T) {
	var b strings.Builder
	b.WriteString(flux + "  values:\n    a0: &a0 " + plain + "\n")
	for i := range 12 {
		fmt.Fprintf(&b, "    a%d: &a%d {x: *a%d, y: *a%d}\n", i+1, i+1, i, i)
	}
	f := NewFinder()
	if found := f.Of(objectOf(t, b.String())); len(found.Without(nil).Values) != 1 || f.nodes.Spent > 1000 {
		t.Errorf("%d maps in %d nodes", len(found.Without(nil).Values), f.nodes.Spent)
	}
}

// TestRemembered checks that an object is searched only once, regardless of the number of contexts
// that contain it.
func TestRemembered(t *testing.T) {
	f, o := NewFinder(), objectOf(t, flux+"  values: "+plain)
	first := f.Of(o)
	if again := f.Of(o); again != first || f.maps.Spent != 1 {
		t.Errorf("%d maps", f.maps.Spent)
	}
}

// TestMoved checks that a place in a text moves to an equal text in another object, and to no other
// text.
func TestMoved(t *testing.T) {
	head := argo + "  source:\n    helm:\n      values: "
	from := objectOf(t, head+"|\n        a:\n          b: c\n")
	at := diag.Span{File: "a.yaml", Line: 9, Column: 11, EndLine: 9, EndColumn: 15}
	for name, row := range map[string]struct {
		to     string
		line   int
		column int
	}{
		"the same":      {"# one\n" + head + "|\n          a:\n            b: c\n", 10, 13},
		"another text":  {head + "|\n        a:\n          b: d\n", 0, 0},
		"another style": {head + "\"a:\\n  b: c\\n\"\n", 0, 0},
		"an object":     {argo + "  source: {helm: {valuesObject: {a: {b: c}}}}\n", 0, 0},
	} {
		got, ok := Moved(from, objectOf(t, row.to), at)
		if ok != (row.line > 0) || ok && (got.Line != row.line || got.EndLine != row.line || got.Column != row.column || got.EndColumn != row.column+4) {
			t.Errorf("%s: got %v, %v", name, got, ok)
		}
	}
	outside := at
	outside.Line, outside.EndLine = 3, 3
	if got, ok := Moved(from, from, outside); ok {
		t.Errorf("outside of the text: got %v", got)
	}
}
