package main

import (
	"path"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"text/template"
	_ "unsafe" // to link the name of sprig's table

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"

	ours "github.com/schedlint/schedlint/lint/chart"
)

// generic is sprig's table, of which Helm's engine takes a copy for each rendering.
//
//go:linkname generic github.com/Masterminds/sprig/v3.genericMap
var generic map[string]any

// constant holds the functions that replace random functions in generic while a chart is rendered.
var constant struct {
	// Mutex is held while Helm renders; only one rendering runs at a time.
	sync.Mutex
	functions template.FuncMap
	start     func(string)
}

// started is a function that records the current template.
const started = "startOfTemplate"

// install adds functions to generic that call those of constant. It runs once, because our side may
// copy generic at any time.
var install = sync.OnceFunc(func() {
	functions, _ := ours.Constants("")
	for name, f := range functions {
		generic[name] = reflect.MakeFunc(reflect.TypeOf(f), func(args []reflect.Value) []reflect.Value {
			f := reflect.ValueOf(constant.functions[name])
			if f.Type().IsVariadic() {
				return f.CallSlice(args)
			}
			return f.Call(args)
		}).Interface()
	}
	generic[started] = startOf
})

// startOf records the current template. It ignores an included template, in which the dot has the
// name of the template that includes it.
func startOf(name string, dot any) string {
	if top, ok := dot.(chartutil.Values); ok {
		dot = map[string]any(top)
	}
	if top, ok := dot.(map[string]any); ok {
		if running, ok := top["Template"].(chartutil.Values); ok && running["Name"] == name {
			constant.start(name)
		}
	}
	return ""
}

// rendered returns the output of Helm's engine for a chart, with random functions replaced by the
// constants of our side. They depend on the current template, so if the chart mentions any of them,
// each template that Helm executes begins with a call that prints nothing.
func rendered(c *chart.Chart, top chartutil.Values) answer {
	install()
	constant.Lock()
	defer constant.Unlock()
	constant.functions, constant.start = ours.Constants(c.Name())
	if mentions(c, constant.functions) {
		begin(c)
	}
	texts, err := engine.Render(c, top)
	return answer{texts, err}
}

// mentions reports whether a template contains the name of a function.
func mentions(c *chart.Chart, functions template.FuncMap) bool {
	for _, t := range c.Templates {
		for name := range functions {
			if strings.Contains(string(t.Data), name) {
				return true
			}
		}
	}
	for _, d := range c.Dependencies() {
		if mentions(d, functions) {
			return true
		}
	}
	for _, v := range c.Raw { // texts for tpl
		for name := range functions {
			if strings.Contains(string(v.Data), name) {
				return true
			}
		}
	}
	return false
}

func begin(c *chart.Chart) {
	for _, t := range c.Templates {
		if !strings.HasPrefix(path.Base(t.Name), "_") {
			name := path.Join(c.ChartFullPath(), t.Name)
			t.Data = []byte("{{" + started + " " + strconv.Quote(name) + " .}}" + string(t.Data))
		}
	}
	for _, d := range c.Dependencies() {
		begin(d)
	}
}
