package roots

import (
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// valuesPlaces lists the places of values files of environments: a directory, relative to that of
// the chart or to one near it, and the names of the files.
var valuesPlaces = []valuesPlace{
	{dir: ".", named: func(stem string) bool {
		return !strings.HasSuffix(stem, ".schema") && slices.ContainsFunc([]string{"-", "."}, func(mark string) bool {
			return strings.HasPrefix(stem, "values"+mark) || strings.HasSuffix(stem, mark+"values")
		})
	}},
	{dir: "values"}, {dir: "env"}, {dir: "envs"}, {dir: "environments"},
	{dir: ciDir, named: func(stem string) bool { return strings.HasSuffix(stem, "-values") }, inside: true},
}

// ciDir is the directory of a chart that contains values files for its tests.
const ciDir = "ci"

type valuesPlace struct {
	dir string
	// named reports whether the name of a file without its extension counts; nil accepts all.
	named func(stem string) bool
	// inside is set for a directory that only counts in a chart.
	inside bool
}

// IsTest reports whether a values file of a chart is for its tests rather than for an environment.
func (c *Chart) IsTest(name string) bool { return path.Dir(name) == path.Join(c.Dir, ciDir) }

// Installs reports whether a chart is installed by itself: it is neither a library nor a subchart.
func (c *Chart) Installs() bool { return !c.Library && !c.Subchart }

// environments finds the values files of charts. A file outside a chart only counts if no other
// chart is as near to it, and if it sets a key that the chart knows.
func (f *finder) environments() {
	below := map[string]int{}
	for i := range f.found.Charts {
		for _, dir := range f.near(&f.found.Charts[i]) {
			below[dir]++
		}
	}
	for i := range f.found.Charts {
		c := &f.found.Charts[i]
		if !c.Installs() {
			continue
		}
		c.Values = f.valuesIn(c.Dir, nil)
		for _, dir := range f.near(c) {
			if below[dir] == 1 {
				keys, own := map[string]bool{}, path.Join(c.Dir, "values.yaml")
				if slices.Contains(f.yaml[c.Dir], own) {
					keys, _ = f.fields(own)
				}
				c.Values = append(c.Values, f.valuesIn(dir, keys)...)
			}
		}
		slices.Sort(c.Values)
		c.Values = slices.Compact(c.Values)
	}
}

// near returns the two directories above a chart that is installed by itself.
func (f *finder) near(c *Chart) (all []string) {
	for dir := c.Dir; c.Installs() && dir != "." && len(all) < 2; dir = path.Dir(dir) {
		all = append(all, path.Dir(dir))
	}
	return all
}

// valuesIn returns the values files of environments in a directory. If keys is not nil, only files
// with one of these keys count.
func (f *finder) valuesIn(dir string, keys map[string]bool) (all []string) {
	for _, place := range valuesPlaces {
		if keys != nil && place.inside {
			continue
		}
		for _, name := range f.yaml[path.Join(dir, place.dir)] {
			base := path.Base(name)
			if stem := strings.TrimSuffix(base, path.Ext(base)); (place.named == nil || place.named(stem)) && base != chartName && f.holdsValues(name, keys) {
				all = append(all, name)
			}
		}
	}
	return all
}

// holdsValues reports whether a file looks like values: a mapping that is neither a Kubernetes
// object nor encrypted and has one of the keys, unless keys is nil. A file that does not parse
// counts in a chart, because the render then reports the error.
func (f *finder) holdsValues(name string, keys map[string]bool) bool {
	if source.IsKustomizationFile(path.Base(name)) {
		return false
	}
	found, ok := f.fields(name)
	if !ok || found["sops"] || found["apiVersion"] && found["kind"] {
		return false
	}
	for key := range found {
		if keys[key] {
			return true
		}
	}
	return keys == nil
}

// fields returns the keys of the mapping in a file; ok is false if it contains something else. A
// file that is empty or does not parse is an empty mapping.
func (f *finder) fields(name string) (all map[string]bool, ok bool) {
	all = map[string]bool{}
	file := f.read(name)
	if file == nil || !f.mayParse(file) {
		return all, false
	}
	docs := file.Roots()
	if len(docs) == 0 || len(docs) == 1 && docs[0].IsNull() {
		return all, true
	}
	if len(docs) > 1 || docs[0].Kind != source.Map {
		return all, false
	}
	for k := range docs[0].Fields() {
		all[k.Value] = true
	}
	return all, true
}
