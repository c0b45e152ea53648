package chart

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"text/template"

	helm "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
)

// engine renders the templates of a chart.
type engine struct {
	l         *loader
	budget    *budget
	constants *constants
	trace     *trace
	root      *template.Template
	templates map[string]*source
	// included is how often each name is being included, and depth how deeply include,
	// tpl and template are nested.
	included map[string]int
	depth    int
	// fileBytes and fileCount are what .Files of all charts hold.
	fileBytes, fileCount int
}

// source is a template of a file.
type source struct {
	name     string // as Helm has it
	file     string // as people know it
	text     string
	dot      map[string]any
	basePath string
}

func newEngine(l *loader, c *helm.Chart, r *release) *engine {
	e := &engine{l: l, budget: &l.budget, templates: map[string]*source{}, included: map[string]int{}}
	e.constants = &constants{chart: c.Name()}
	e.trace = newTrace(e)
	e.trace.index = newIndex(l, c, r)
	e.gather(c, r.top)
	return e
}

// metadata is what templates see as .Chart.
type metadata struct {
	helm.Metadata
	IsRoot bool
}

// gather collects the templates of a chart and of its dependencies. It gives the dot of
// its templates, which those of the parent see below .Subcharts.
func (e *engine) gather(c *helm.Chart, parent map[string]any) map[string]any {
	below := map[string]any{}
	dot := map[string]any{
		"Chart":        metadata{*c.Metadata, c.IsRoot()},
		"Files":        newFiles(c.Files),
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
	for _, f := range c.Files {
		e.fileBytes += len(f.Data)
		e.fileCount++
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

// order is that in which templates are parsed, so that of two definitions the later one
// wins: files deep in directories come first.
func (e *engine) order() []string {
	names := make([]string, 0, len(e.templates))
	for name := range e.templates {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if by := strings.Count(b, "/") - strings.Count(a, "/"); by != 0 {
			return by
		}
		return strings.Compare(b, a)
	})
	return names
}

// parse reads all templates.
func (e *engine) parse() error {
	e.root = template.New("gotpl").Option("missingkey=zero")
	all := e.functions()
	e.root.Funcs(e.wrapped(all))
	e.root.Funcs(e.nested(e.root))
	for _, name := range e.order() {
		s := e.templates[name]
		if _, err := e.root.New(name).Parse(s.text); err != nil {
			return e.parseProblem(s, err)
		}
	}
	e.root.Funcs(e.trace.hooks())
	return e.trace.instrument(e.root)
}

// execute runs the templates in their order of parsing, as Helm does, since they may
// change values that later ones see.
func (e *engine) execute() ([]Manifest, error) {
	var all []Manifest
	left := maxText
	for _, name := range e.order() {
		if isPartial(name) {
			continue
		}
		m, err := e.run(e.templates[name])
		if err != nil {
			return nil, err
		}
		if left -= len(m.Text); left < 0 {
			return nil, limitAt(e.templates[name].file, "the output of a chart is limited to %d bytes", maxText)
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Manifest) int { return strings.Compare(a.Template, b.Template) })
	return all, nil
}

func (e *engine) run(s *source) (m Manifest, err error) {
	e.constants.start(s.name)
	s.dot["Template"] = chartutil.Values{"Name": s.name, "BasePath": s.basePath}
	frame, err := e.into(func(w *writer) error { return e.root.ExecuteTemplate(w, s.name, s.dot) })
	if err != nil {
		return m, e.executionProblem(s, err)
	}
	return Manifest{Template: s.name, Text: withoutNoValue(frame.text.Bytes()), Lines: e.trace.origins(frame)}, nil
}

// noValue is what text/template prints for nothing; Helm removes it.
var noValue = []byte("<no value>")

func withoutNoValue(text []byte) []byte { return bytes.ReplaceAll(text, noValue, nil) }

// into executes something with a frame of its own. Budget panics outside of functions,
// in the writer, become errors.
func (e *engine) into(run func(*writer) error) (f *frame, err error) {
	if e.depth >= maxDepth {
		return nil, limit("include, tpl and template are limited to a depth of 1000")
	}
	e.depth++
	f = e.trace.push()
	defer func() {
		e.trace.pop()
		e.depth--
	}()
	return f, run(&writer{e, f})
}

// writer is the output of a frame.
type writer struct {
	e *engine
	f *frame
}

func (w *writer) Write(text []byte) (n int, err error) {
	if len(text) == 0 {
		return 0, nil // of a hook
	}
	defer func() {
		if over, ok := recover().(limit); ok {
			err = w.e.trace.over(over)
		}
	}()
	w.e.budget.charge(len(text)/bytesPerStep + 1)
	w.e.budget.text(w.f.text.Len() + len(text))
	return w.f.text.Write(text)
}

// maxSame is how deeply one name may be included in itself.
const maxSame = 1000

// nested are include and tpl, which see what is defined in t.
func (e *engine) nested(t *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, dot any) (string, error) { return e.include(t, name, dot) },
		"tpl":     func(text string, dot any) (string, error) { return e.tpl(t, text, dot) },
	}
}

func (e *engine) include(t *template.Template, name string, dot any) (string, error) {
	e.budget.charge(1)
	if e.included[name] > maxSame {
		return "", limit("include is limited to a depth of 1000")
	}
	e.included[name]++
	f, err := e.into(func(w *writer) error { return t.ExecuteTemplate(w, name, dot) })
	e.included[name]--
	if err != nil {
		return "", err
	}
	text := f.text.String()
	e.trace.keep(text, e.trace.lines(f))
	return text, nil
}

// tpl runs a text as a template of its own, which sees the definitions of t. Definitions
// in the text are seen in it alone.
func (e *engine) tpl(t *template.Template, text string, dot any) (string, error) {
	e.budget.text(len(text))
	e.budget.charge(len(e.templates))
	own, err := t.Clone()
	if err != nil {
		return "", err
	}
	own.Option("missingkey=zero").Funcs(e.nested(own))
	if own, err = own.New(t.Name()).Parse(text); err != nil {
		return "", err
	}
	if err := e.trace.instrumentText(own, text); err != nil {
		return "", err
	}
	f, err := e.into(func(w *writer) error { return own.Execute(w, dot) })
	if err != nil {
		return "", err
	}
	out := string(withoutNoValue(f.text.Bytes()))
	e.trace.keep(out, e.trace.lines(f))
	return out, nil
}
