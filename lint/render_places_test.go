package lint_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/render"
	kustomizer "github.com/schedlint/schedlint/lint/render/engine"
	"github.com/schedlint/schedlint/lint/source"
)

// leastExact is the fraction of all scalars whose exact place must be found.
const leastExact = 0.8

// TestRenderedPlaces looks up every scalar in the results of the kustomizations among the
// fixtures.
func TestRenderedPlaces(t *testing.T) {
	var all placeFigures
	for _, dir := range renderFixtures(t) {
		all.tree(t, dir, map[string]string{"app": "chart ingress-proxy"})
	}
	all.hold(t)
}

// placeFigures counts the scalars of results by how their places were found.
type placeFigures struct {
	roots, rendered, components, unrendered int
	// marked and mapped are exact places, with a mark or without; renamed are names of objects,
	// which a kustomization may change.
	marked, mapped, renamed, near, unmapped int
}

// tree renders all kustomizations below a directory. Those without a result must be among those
// whose reason is known.
func (p *placeFigures) tree(t *testing.T, dir string, reasons map[string]string) {
	t.Helper()
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains(source.KustomizationFiles(), d.Name()) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, filepath.Dir(path))
		p.roots++
		if bytes.Contains(text, []byte("\nkind: Component\n")) {
			p.components++
			return nil
		}
		p.render(t, dir, filepath.ToSlash(name), reasons[filepath.ToSlash(name)])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// render checks one result, or compares its problem with the reason.
func (p *placeFigures) render(t *testing.T, dir, name, reason string) {
	t.Helper()
	root := render.Root{Confinement: dir, Dir: name, Left: limits.Render}
	out := kustomizer.Build(root, "0123456789abcdef")
	if out.Problem != nil {
		p.unrendered++
		if reason == "" || !strings.Contains(out.Problem.Detail, reason) {
			t.Errorf("%s: %v", filepath.Join(dir, name), out.Problem)
		}
		return
	}
	if reason != "" {
		t.Errorf("%s renders", filepath.Join(dir, name))
	}
	p.rendered++
	l := &lookup{
		T: t, figures: p, name: filepath.Join(filepath.Base(dir), name), out: out, marks: map[[2]int]render.Mark{}, values: map[*source.File]map[[2]int]*yaml.Node{},
		written: newWritten(dir, lint.Render{Chosen: config.Chosen{Name: name, Dir: name}, Root: root}, out),
	}
	for _, m := range out.Marks {
		l.marks[[2]int{m.Line, m.Column}] = m
	}
	for _, root := range l.Result().Roots() {
		for _, o := range l.Result().ObjectsOf(root) {
			l.below(root, nil, o.NameSpan())
		}
	}
}

// hold fails if too few places are found.
func (p *placeFigures) hold(t *testing.T) {
	t.Helper()
	exact := p.marked + p.mapped
	scalars := exact + p.renamed + p.near + p.unmapped
	t.Logf("%d kustomizations: %d rendered, %d components, %d with a reason why not", p.roots, p.rendered, p.components, p.unrendered)
	t.Logf("%d scalars: %d by marker, %d by the mapper, %d names that change, %d near, %d unmapped: %.1f %% exact",
		scalars, p.marked, p.mapped, p.renamed, p.near, p.unmapped, 100*float64(exact)/float64(max(scalars, 1)))
	if p.rendered == 0 || float64(exact) < leastExact*float64(scalars) {
		t.Errorf("%d of %d places are exact, in %d renders", exact, scalars, p.rendered)
	}
}

// lookup checks the result of one render.
type lookup struct {
	*testing.T
	*written
	figures *placeFigures
	name    string
	out     *render.Output
	marks   map[[2]int]render.Mark
	values  map[*source.File]map[[2]int]*yaml.Node // of files, by place
}

// below looks up all scalars below a node; name is the place of the object's name.
func (l *lookup) below(n, key *source.Node, name diag.Span) {
	for k, v := range n.Fields() {
		l.below(v, k, name)
	}
	for _, item := range n.Items() {
		l.below(item, nil, name)
	}
	if n.Kind == source.Scalar {
		l.scalar(n, key, key != nil && l.Result().FieldSpan(key, n) == name)
	}
}

// scalar looks up one scalar, as a value and, like findings do, with its key.
func (l *lookup) scalar(n, key *source.Node, isName bool) {
	s := l.Result().Span(n)
	at := l.Place(s)
	want, wok := l.value(l.Result(), s)
	switch {
	case at.Whole:
		l.figures.unmapped++
		return
	case at.Near:
		l.figures.near++
		return
	}
	file := l.Source(at.Span.File)
	got, gok := l.value(file, at.Span)
	if !wok || !gok || !reflect.DeepEqual(got, want) {
		if isName {
			l.figures.renamed++
			return
		}
		l.Errorf("%s: line %d of the result is %v (%t), %s:%d:%d is %v (%t): %s", l.name, s.Line, want, wok, at.Span.File, at.Span.Line, at.Span.Column, got, gok, file.Line(at.Span.Line))
	}
	if mark, ok := l.marks[[2]int{s.Line, s.Column}]; ok && l.out.Files[mark.File] == at.Span.File && mark.At == at.Span.Line {
		l.figures.marked++
	} else {
		l.figures.mapped++
	}
	if key == nil {
		return
	}
	if field := l.Place(l.Result().FieldSpan(key, n)); field.Near || field.Whole || field.Span.File != at.Span.File || field.Span.Line > at.Span.Line {
		l.Errorf("%s: line %d of the result with its key is at %+v, and its value at %+v", l.name, s.Line, field, at)
	}
}

// value returns the value at a place of a file as an independent parser reads it: the parsed
// text of the place, or, for a value of several lines, the parser's own value.
func (l *lookup) value(f *source.File, s diag.Span) (value any, ok bool) {
	if f == nil {
		return nil, false
	}
	start, end, within := f.Range(s)
	text := ""
	if within {
		text = string(f.Text[start:end])
	}
	if !within || strings.HasPrefix(text, "|") || strings.HasPrefix(text, ">") {
		n := l.valuesOf(f)[[2]int{s.Line, s.Column}]
		if n == nil {
			return nil, false
		}
		err := n.Decode(&value)
		return value, err == nil
	}
	err := yaml.Unmarshal([]byte(text), &value)
	return value, err == nil
}

// valuesOf returns the scalars of a file by place.
func (l *lookup) valuesOf(f *source.File) map[[2]int]*yaml.Node {
	all := l.values[f]
	if all != nil {
		return all
	}
	all = map[[2]int]*yaml.Node{}
	l.values[f] = all
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			all[[2]int{n.Line, n.Column}] = n
		}
		for _, c := range n.Content {
			visit(c)
		}
	}
	for dec := yaml.NewDecoder(bytes.NewReader(f.Text)); ; {
		var root yaml.Node
		if dec.Decode(&root) != nil {
			return all
		}
		visit(&root)
	}
}
