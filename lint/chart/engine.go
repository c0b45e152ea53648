package chart

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"

	helm "helm.sh/helm/v3/pkg/chart"

	"github.com/schedlint/schedlint/lint/chart/chartutil"
	"github.com/schedlint/schedlint/lint/chart/template"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/sorting"
)

// engine renders the templates of a chart.
type engine struct {
	l         *loader
	budget    *budget
	constants *constants
	trace     *trace
	machine   *template.Machine
	set       *template.Set
	templates map[string]*source
	// depth is the nesting depth of include, tpl and template.
	depth int
}

// source is one template file.
type source struct {
	name     string // Helm's name for the template
	file     string // file name for messages and origins
	text     string
	dot      map[string]any
	basePath string
}

func newEngine(l *loader, c *helm.Chart, top chartutil.Values) *engine {
	e := &engine{l: l, budget: &l.budget, templates: map[string]*source{}}
	e.constants = &constants{chart: c.Name()}
	e.trace = &trace{
		e: e, sources: map[*template.Source]*written{}, nodes: map[parse.Node]*node{}, texts: map[*byte]*traced{}, makes: map[*parse.ListNode]bool{},
		index: &index{containers: map[container]*fieldPath{}, scalars: map[*byte]*fieldPath{}, sources: newSources(l, c)},
	}
	if values, err := top.Table("Values"); err == nil {
		e.trace.index.add(map[string]any(values), &fieldPath{}, 0)
	}
	e.machine = &template.Machine{Watch: e.trace, Decides: len(e.l.in.Unknown) > 0, Methods: e.methods(), MaxDepth: maxBlocks}
	e.gather(c, top)
	return e
}

// gather collects the templates of a chart and of its dependencies. It returns the object that is
// the dot in the chart's templates. In templates of the parent chart, the object is in .Subcharts.
func (e *engine) gather(c *helm.Chart, parent map[string]any) map[string]any {
	below := map[string]any{}
	dot := map[string]any{
		"Chart":        metadataOf(c),
		"Files":        newFiles(c.Files, e.l.absent),
		"Release":      parent["Release"],
		"Capabilities": parent["Capabilities"],
		"Values":       chartutil.Values{},
		"Subcharts":    below,
	}
	if c.IsRoot() {
		dot["Values"] = parent["Values"]
	} else if own, err := chartutil.Values(parent).Table("Values." + c.Name()); err == nil {
		dot["Values"] = own
	}
	for _, d := range c.Dependencies() {
		below[d.Name()] = e.gather(d, dot)
	}
	for _, t := range c.Templates {
		if t == nil || strings.EqualFold(c.Metadata.Type, "library") && !isPartial(t.Name) {
			continue
		}
		name := path.Join(c.ChartFullPath(), t.Name)
		e.templates[name] = &source{
			name: name, file: e.l.nameOf(t.Data, name), text: string(t.Data), dot: dot,
			basePath: path.Join(c.ChartFullPath(), "templates"),
		}
	}
	return dot
}

// order returns the template names in parsing order. Files in deeper directories come first,
// because a later definition replaces an earlier one with the same name.
func (e *engine) order() []string {
	return slices.SortedFunc(maps.Keys(e.templates), func(a, b string) int {
		return cmp.Or(strings.Count(b, "/")-strings.Count(a, "/"), strings.Compare(b, a))
	})
}

// rootName is Helm's name for the template to which all other templates belong.
const rootName = "gotpl"

// parse parses all templates.
func (e *engine) parse() error {
	functions := e.functions()
	for name, f := range functions {
		functions[name] = e.wrap(name, reflect.ValueOf(f))
	}
	e.set = template.New(functions)
	e.set.Override(e.nested(e.set))
	for _, name := range e.order() {
		s := e.templates[name]
		t, err := e.set.Parse(name, s.text)
		if err != nil {
			line, said := located(s.name, err.Error())
			return &Problem{File: s.file, Line: max(line, 1), Detail: "the template cannot be parsed: " + said}
		}
		e.trace.sources[t.Source] = newWritten(s.file, s.text)
	}
	return nil
}

// execute executes the templates in parsing order. A template may change values for later
// templates, as in Helm.
func (e *engine) execute() ([]Manifest, error) {
	var all []Manifest
	left := limits.ChartText
	for _, name := range e.order() {
		if isPartial(name) {
			continue
		}
		s := e.templates[name]
		e.constants.template, e.constants.call = name, 0
		s.dot["Template"] = chartutil.Values{"Name": name, "BasePath": s.basePath}
		frame, err := e.into(e.set, e.set.Lookup(name), chartutil.Values(s.dot))
		if err != nil {
			return nil, e.executionProblem(s, err)
		}
		m := Manifest{Template: name, Text: withoutNoValue(frame.text.Bytes()), Lines: e.trace.origins(frame)}
		if left -= len(m.Text); left < 0 {
			return nil, limitAt(s.file, "the output of a chart is limited to %d bytes", limits.ChartText)
		}
		all = append(all, m)
	}
	sorting.Stable(all, func(a, b Manifest) int { return strings.Compare(a.Template, b.Template) })
	return all, nil
}

// noValue is the string that text/template prints for a missing value. Helm removes it.
var noValue = []byte("<no value>")

func withoutNoValue(text []byte) []byte { return bytes.ReplaceAll(text, noValue, nil) }

// into executes a template and returns a new frame with the output.
func (e *engine) into(s *template.Set, t *template.Template, dot any) (f *frame, err error) {
	if e.depth >= limits.ChartIncludes {
		return nil, errDepth
	}
	e.depth++
	f = &frame{}
	e.trace.frames = append(e.trace.frames, f)
	defer func() {
		e.trace.frames = e.trace.frames[:len(e.trace.frames)-1]
		e.depth--
	}()
	return f, e.machine.Execute(&writer{e, f}, s, t, dot)
}

// writer appends to the text of a frame.
type writer struct {
	e *engine
	f *frame
}

func (w *writer) Write(text []byte) (n int, err error) {
	defer limited(&err)
	fits(w.f.text.Len() + len(text))
	w.e.budget.text(len(text))
	return w.f.text.Write(text)
}

// nested returns the include and tpl functions for the definitions in a set.
func (e *engine) nested(s *template.Set) map[string]any {
	return map[string]any{
		"include": func(name string, dot any) (string, error) {
			e.budget.charge(1)
			t := s.Lookup(name)
			if t == nil {
				return "", fmt.Errorf("no template %q is defined", name)
			}
			f, err := e.into(s, t, dot)
			if err != nil {
				return "", err
			}
			text := f.text.String()
			e.trace.keep(text, e.trace.lines(f))
			return text, nil
		},
		"tpl": func(text string, dot any) (string, error) { return e.tpl(s, text, dot) },
	}
}

// tpl executes a string as a template with the definitions of a set. Definitions in the string are
// visible only in the string.
func (e *engine) tpl(s *template.Set, text string, dot any) (string, error) {
	e.budget.text(len(text))
	e.budget.charge(s.Len())
	own := s.Clone()
	own.Override(e.nested(own))
	t, err := own.Parse(rootName, text)
	if err != nil {
		return "", err
	}
	from := newWritten("", text)
	e.budget.charge(len(from.starts))
	from.lines = e.trace.tracedOf(text)
	e.trace.sources[t.Source] = from
	f, err := e.into(own, t, dot)
	if err != nil {
		return "", err
	}
	out := string(withoutNoValue(f.text.Bytes()))
	e.trace.keep(out, e.trace.lines(f))
	return out, nil
}
