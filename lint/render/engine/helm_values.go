package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/kustomize/kyaml/yaml/merge2"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/render"
)

// valuesOf returns the values files that kustomize passes to helm: one that it generates, and the
// additional ones.
func (p *plan) valuesOf(r *release, at chartPlace) ([]render.Values, *render.Problem) {
	first, problem := p.firstValues(r, at)
	if problem != nil {
		return nil, problem
	}
	for _, name := range r.spec.AdditionalValuesFiles {
		f, problem := p.valuesFile(r, "additionalValuesFiles", name)
		if problem != nil {
			return nil, problem
		}
		first = append(first, render.Values{File: f.name})
	}
	return first, nil
}

// firstValues returns the values file of a release, or that of its chart, merged with the values in
// the kustomization.
func (p *plan) firstValues(r *release, at chartPlace) ([]render.Values, *render.Problem) {
	s := &r.spec
	how := cmp.Or(s.ValuesMerge, "override")
	alone := len(s.ValuesInline) > 0 && how == "replace"
	var f *file
	switch {
	case alone:
	case s.ValuesFile != "":
		var problem *render.Problem
		if f, problem = p.valuesFile(r, "valuesFile", s.ValuesFile); problem != nil {
			return nil, problem
		}
	case at.archive != "":
		if how == "merge" && len(s.ValuesInline) > 0 {
			return nil, r.problem("valuesMerge", refusal("valuesMerge: merge needs the values of the chart, which is packed: unpack "+shown(at.archive)))
		}
		if len(s.ValuesInline) == 0 {
			return nil, nil
		}
		f = &file{text: []byte("{}")} // the values of the chart apply below
	default:
		name := path.Join(at.dir, "values.yaml")
		if f = p.tree.read(name); f.err != nil || f.dir {
			return nil, r.problem("name", fmt.Errorf("%s %w", shown(name), cmp.Or(f.err, errDirectory)))
		}
		if problem := p.restricted(r, "name", f); problem != nil && at.version == "" {
			return nil, problem
		}
	}
	if len(s.ValuesInline) == 0 {
		return []render.Values{{File: f.name}}, nil
	}
	return p.mergedValues(r, how, f)
}

var errDirectory = errors.New("is a directory")

// valuesFile reads a values file that a release names.
func (p *plan) valuesFile(r *release, key, name string) (*file, *render.Problem) {
	if downloaded(name) {
		return nil, r.problem(key, refusal(key+" "+shown(masked(name))+" is remote, and rendering does not use the network: vendor it"))
	}
	if isAbsolute(name) {
		return nil, r.problem(key, refusal(key+" "+shown(name)+" is an absolute path: use a path relative to the kustomization, inside the repository"))
	}
	name = path.Join(r.k.dir, filepath.ToSlash(name))
	f := p.tree.read(name)
	if f.err != nil || f.dir {
		return nil, r.problem(key, fmt.Errorf("%s: %s %w", key, shown(name), cmp.Or(f.err, errDirectory)))
	}
	return f, p.restricted(r, key, f)
}

// restricted checks a file against the load restrictor.
func (p *plan) restricted(r *release, key string, f *file) *render.Problem {
	if p.root.RootOnly && r.k.dir != "." && !strings.HasPrefix(f.name, r.k.dir+"/") {
		return r.problem(key, fmt.Errorf("%s is outside %s, and load-restrictor is root-only", shown(f.name), shown(r.k.dir)))
	}
	return nil
}

// mergedValues returns the values in a kustomization merged with those of a file, which may be nil.
func (p *plan) mergedValues(r *release, how string, f *file) ([]render.Values, *render.Problem) {
	sources := []valuesSource{{r.file, cmp.Or(fieldFold(r.node, "valuesInline"), fieldFold(r.node, legacyKeys["valuesInline"]))}}
	under := []byte(nil)
	if f != nil {
		if len(f.text) > limits.ValuesFile {
			return nil, r.problem("valuesFile", refusal(fmt.Sprintf("%s has %d bytes; values files are limited to %d", shown(f.name), len(f.text), limits.ValuesFile)))
		}
		doc, err := parse(f.text)
		if err == nil {
			err = doc.err
		}
		if err != nil {
			return nil, r.problem("valuesFile", fmt.Errorf("%s: %w", shown(f.name), err))
		}
		if len(doc.docs) == 0 {
			return nil, r.problem("valuesFile", fmt.Errorf("%s is empty, and kustomize merges values into a mapping: write {}", shown(f.name)))
		}
		under = f.text
		sources = append(sources, valuesSource{f.name, doc.docs[0]})
		if how == "merge" {
			sources[0], sources[len(sources)-1] = sources[len(sources)-1], sources[0]
		}
	}
	text, err := mergeValues(r.spec.ValuesInline, under, how)
	if err != nil {
		return nil, r.problem("valuesInline", fmt.Errorf("valuesInline cannot be merged: %w", err))
	}
	return []render.Values{{File: r.file, Text: text, Places: placesOf(text, sources)}}, nil
}

// mergeValues returns the values that kustomize passes to helm. Kustomize merges by its own rules,
// in which null deletes a value of the file but not of the chart.
func mergeValues(inline map[string]any, file []byte, how string) (text []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("kustomize crashed: %v", r)
		}
	}()
	if how == "replace" {
		return json.MarshalIndent(inline, "", " ") // JSON is YAML, with one value per line
	}
	under, err := kyaml.Parse(string(file))
	if err != nil {
		return nil, err
	}
	over, err := kyaml.FromMap(inline)
	if err != nil {
		return nil, err
	}
	if how == "merge" {
		under, over = over, under
	}
	merged, err := merge2.Merge(over, under.Copy(), kyaml.MergeOptions{})
	if err != nil {
		return nil, err
	}
	all, err := merged.Map()
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent(all, "", " ")
}

// valuesSource is a place where values were written.
type valuesSource struct {
	file string
	root *kyaml.Node
}

// placesOf returns for each line of values where it was written: in the first of the sources that
// has the same value at the same path.
func placesOf(text []byte, from []valuesSource) []render.Place {
	places := make(valuesPlaces, strings.Count(string(text), "\n")+1)
	if doc, err := parse(text); err == nil && doc.err == nil && len(doc.docs) == 1 {
		places.walk(doc.docs[0], from, 0)
	}
	return places
}

// valuesPlaces has a place for each line of values.
type valuesPlaces []render.Place

// walk walks values together with their sources.
func (w valuesPlaces) walk(n *kyaml.Node, from []valuesSource, depth int) {
	if n == nil || depth > maxNesting {
		return
	}
	switch n.Kind {
	case kyaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			w.entry(n.Content[i], n.Content[i+1], from, depth)
		}
	case kyaml.SequenceNode:
		for _, s := range from { // a list comes from one source
			if list := target(s.root); list != nil && list.Kind == kyaml.SequenceNode && len(list.Content) == len(n.Content) {
				for i, item := range n.Content {
					one := []valuesSource{{s.file, target(list.Content[i])}}
					w.scalar(item, one)
					w.walk(item, one, depth+1)
				}
				return
			}
		}
	}
}

func (w valuesPlaces) entry(key, value *kyaml.Node, from []valuesSource, depth int) {
	var below []valuesSource
	for _, s := range from {
		k, v := entryOf(s.root, key.Value, func(a, b string) bool { return a == b })
		if v == nil {
			continue
		}
		below = append(below, valuesSource{s.file, v})
		if value.Kind != kyaml.ScalarNode && v.Kind == value.Kind {
			w.put(key.Line, render.Place{File: s.file, Line: k.Line, Column: k.Column})
		}
	}
	w.scalar(value, below)
	w.walk(value, below, depth+1)
}

// scalar sets the place of a scalar.
func (w valuesPlaces) scalar(n *kyaml.Node, from []valuesSource) {
	if n.Kind != kyaml.ScalarNode {
		return
	}
	for _, s := range from {
		v := s.root
		if v.Kind != kyaml.ScalarNode {
			continue
		}
		if value, ok := scalarOf(v); ok && value.same(n) || !ok && v.Value == n.Value {
			w.put(n.Line, render.Place{File: s.file, Line: v.Line, Column: v.Column})
			return
		}
	}
}

// put sets the place of a line, unless it has one.
func (w valuesPlaces) put(line int, at render.Place) {
	if line >= 1 && line <= len(w) && w[line-1].Line == 0 {
		w[line-1] = at
	}
}
