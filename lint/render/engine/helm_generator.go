package engine

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/kustomize/api/types"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/render"
)

// generator renders the charts of an entry of generators; ok is false if it has none. name
// is its file, or "" if it is inline.
func (p *plan) generator(e *entry, doc *parsed, name string) (total sum, ok bool, problem *render.Problem) {
	if e.field != "generators" {
		return sum{}, false, nil
	}
	if e.charts == nil {
		if e.charts, problem = p.generatorCharts(e, doc, name); problem != nil || len(e.charts) == 0 {
			return sum{}, false, problem
		}
		e.k.charts = append(e.k.charts, e.charts...)
	}
	for _, r := range e.charts {
		more, problem := p.inflated(r, "")
		if problem != nil {
			return sum{}, true, problem
		}
		total = total.plus(more)
	}
	return total, true, nil
}

// generatorCharts are the charts of an entry, which has to have nothing else then.
func (p *plan) generatorCharts(e *entry, doc *parsed, name string) ([]*release, *render.Problem) {
	var all []*release
	others := 0
	for _, root := range doc.docs {
		if !isMapping(root) {
			continue
		}
		if text(field(root, "kind")) != helmGenerator {
			others++
			continue
		}
		if at, err := p.plugin(root, e.k.dir); err != nil {
			return nil, pluginProblem(e, name, at, err)
		}
		r, err := releaseOf(e, root, name)
		if err != nil {
			return nil, pluginProblem(e, name, root, err)
		}
		all = append(all, r)
	}
	if len(all) > 0 && others > 0 {
		return nil, e.problem(refusal(e.label() + ": charts and other plugins in one entry are not supported: write an entry for each"))
	}
	return all, nil
}

// releaseOf reads the chart of a plugin.
func releaseOf(e *entry, root *kyaml.Node, name string) (*release, error) {
	var said map[string]any
	var spec struct {
		types.HelmGlobals
		types.HelmChart
	}
	err := root.Decode(&said)
	if err == nil {
		var text []byte
		if text, err = json.Marshal(said); err == nil {
			err = json.Unmarshal(text, &spec)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the plugin cannot be read: %w", err)
	}
	r := &release{k: e.k, from: e, file: e.k.name, field: helmGenerator, spec: spec.HelmChart, home: spec.ChartHome}
	if name != "" {
		r.file, r.node = name, root
	}
	return r, nil
}
