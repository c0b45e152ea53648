package main

import (
	"path"
	"strconv"
	"strings"
	"sync"
	_ "unsafe" // for the name of sprig's table

	ours "github.com/schedlint/schedlint/lint/chart"
	"helm.sh/helm/v3/pkg/chart"
)

// generic is sprig's table, of which Helm's engine takes a copy for each rendering.
//
//go:linkname generic github.com/Masterminds/sprig/v3.genericMap
var generic map[string]any

// stubbed guards generic: one rendering of Helm at a time.
var stubbed sync.Mutex

// started is a function that notes which template runs.
const started = "startOfTemplate"

// stub gives Helm's engine the constants that our side has in place of random functions.
// They depend on the template that runs, so each template that Helm executes begins with
// a call that prints nothing, if the chart mentions any of them.
func stub(c *chart.Chart) {
	functions, start := ours.Constants(c.Name())
	for name, f := range functions {
		generic[name] = f
	}
	generic[started] = func(name string) string { start(name); return "" }
	if mentions(c, functions) {
		begin(c)
	}
}

// mentions is whether a template has the name of a function.
func mentions[F any](c *chart.Chart, functions map[string]F) bool {
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
	for _, v := range c.Raw { // texts of tpl
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
			t.Data = []byte("{{" + started + " " + strconv.Quote(name) + "}}" + string(t.Data))
		}
	}
	for _, d := range c.Dependencies() {
		begin(d)
	}
}
