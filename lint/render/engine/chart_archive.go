package engine

import (
	"path"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/render"
)

// archived is a file in a packed dependency: where the chart names the dependency, and the
// index of its name in Output.Inside, from 1.
type archived struct {
	render.Place
	inside int
}

// archiveSign is between the name of an archive and that of a file in it (package chart).
const archiveSign = ".tgz:"

// archived finds a file in a packed dependency by its name of package chart.
func (w *chartOutput) archived(name string) (a archived, ok bool) {
	archive, _, ok := strings.Cut(name, archiveSign)
	if !ok || w.c.root.Chart.Archive != "" || strings.HasPrefix(name, "/") {
		return a, false
	}
	if a, ok = w.inside[name]; ok {
		return a, true
	}
	a.Place, _ = w.c.dependency(archive)
	w.out.Inside = append(w.out.Inside, name)
	a.inside = len(w.out.Inside)
	w.inside[name] = a
	return a, true
}

// dependency is where the chart that an archive belongs to names it: the entry of its
// dependencies, or the first line of its Chart.yaml if it is not listed.
func (c *charting) dependency(archive string) (at render.Place, listed bool) {
	dir, base := path.Split(archive)
	dir = path.Dir(path.Clean(dir)) // out of charts/
	for _, name := range []string{chartFile, "requirements.yaml"} {
		name = path.Join(dir, name)
		if line, column := dependencyLine(c.textOf(name), base); line > 0 {
			return render.Place{File: c.confined(name), Line: line, Column: column}, true
		}
	}
	return render.Place{File: c.confined(path.Join(dir, chartFile)), Line: 1, Column: 1}, false
}

// textOf is a file of the chart.
func (c *charting) textOf(name string) []byte {
	for _, f := range c.in.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// dependencyLine is where the dependency with the longest name is listed that the name of
// an archive begins with: name-version.tgz is what helm dependency build writes.
func dependencyLine(chart []byte, archive string) (line, column int) {
	doc, err := parse(chart)
	if err != nil || doc.err != nil || len(doc.docs) != 1 {
		return 0, 0
	}
	list, longest := target(field(doc.docs[0], "dependencies")), ""
	if list == nil || list.Kind != yaml.SequenceNode {
		return 0, 0
	}
	for _, item := range list.Content {
		at := field(target(item), "name")
		name := text(at)
		if name == "" || len(name) <= len(longest) || archive != name && !strings.HasPrefix(archive, name+"-") {
			continue
		}
		longest, line, column = name, at.Line, at.Column
	}
	return line, column
}
