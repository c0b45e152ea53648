package roots

import (
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// valuesPlaces are where values files of environments are kept: a directory, from that of
// the chart or one near it, and what their names are like.
var valuesPlaces = []valuesPlace{
	{dir: ".", named: func(stem string) bool {
		return !strings.HasSuffix(stem, ".schema") && slices.ContainsFunc([]string{"-", "."}, func(mark string) bool {
			return strings.HasPrefix(stem, "values"+mark) || strings.HasSuffix(stem, mark+"values")
		})
	}},
	{dir: "values"}, {dir: "env"}, {dir: "envs"}, {dir: "environments"},
	{dir: ciDir, named: func(stem string) bool { return strings.HasSuffix(stem, "-values") }, inside: true},
}

// ciDir is the directory of a chart with values files that it is tested with.
const ciDir = "ci"

type valuesPlace struct {
	dir string
	// named says what names of files without their extension are like; nil takes all.
	named func(stem string) bool
	// inside is set for a directory that counts only in a chart.
	inside bool
}

// IsTest reports whether a values file of a chart is one that it is tested with, and not
// that of an environment.
func (c *Chart) IsTest(name string) bool { return path.Dir(name) == path.Join(c.Dir, ciDir) }

// Installs reports whether a chart is installed by itself: it is no library and in no other
// chart.
func (c *Chart) Installs() bool { return !c.Library && !c.Subchart }

// environments gives charts their values files. What lies beside a chart or above it is
// taken for values only if no other chart is as near and if it sets something that the chart
// knows.
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

// near are the two directories above a chart that is installed by itself.
func (f *finder) near(c *Chart) (all []string) {
	for dir := c.Dir; c.Installs() && dir != "." && len(all) < 2; dir = path.Dir(dir) {
		all = append(all, path.Dir(dir))
	}
	return all
}

// valuesIn are the values files of environments in a directory; beside a chart those that
// have one of its keys.
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

// holdsValues reports whether a file looks like values: a mapping that is no object of
// Kubernetes and not encrypted, with one of some keys unless that is nil. In a chart, one
// that does not parse counts: the render says what is wrong with it.
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

// fields are the keys of the mapping that a file holds; ok is false if it holds something
// else. A file that is empty or does not parse is an empty mapping.
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
