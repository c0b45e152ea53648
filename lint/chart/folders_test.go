package chart

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/limits"
)

// inTree returns an Input for the chart in the directory app. The other directories of the archive
// are its neighbours.
func inTree(text string) Input {
	all := chartOf(text)
	of := func(dir string) (files []File) {
		for _, f := range all.Files {
			if name, ok := strings.CutPrefix(f.Name, dir+"/"); ok {
				files = append(files, File{name, f.Data})
			}
		}
		return files
	}
	return Input{Dir: "app", Files: of("app"), Values: all.Values, Folder: func(dir string) ([]File, []Note, error) {
		dir = path.Join("app", dir)
		files := of(dir)
		switch {
		case strings.HasPrefix(dir, "../"):
			return nil, nil, errors.New(dir + " is outside the repository")
		case len(files) == 0:
			return nil, nil, errors.New(dir + " does not exist")
		}
		return files, []Note{{File: "LICENSE", Detail: "a link"}, {File: "ignored", Detail: "a link"}}, nil
	}}
}

// folderChart returns the Chart.yaml of a chart in a folder, with one dependency per repository.
func folderChart(name, version string, dependencies ...string) string {
	text := "-- " + name + "/Chart.yaml --\napiVersion: v2\nname: " + name + "\nversion: " + version + "\ndependencies:\n"
	for _, d := range dependencies {
		text += "- {" + d + "}\n"
	}
	return text
}

// TestFolders renders dependencies in folders. The oracle compares more of them with Helm. Here the
// origins are checked.
func TestFolders(t *testing.T) {
	res, err := Render(inTree(folderChart("app", "1.0.0", "name: x, version: ^1.0.0, repository: file://../x/, alias: one", "name: x, version: 1.x, repository: 'file://.././x', alias: two") +
		"-- app/values.yaml --\none: {a: 5}\n" +
		folderChart("x", "1.2.0", "name: low, version: 2.0.0, repository: file://../low") + "-- x/values.yaml --\na: 1\nlow:\n  b: 2\n" +
		"-- x/.helmignore --\nignored\ntemplates/none.yaml\n-- x/templates/none.yaml --\n{{ fail \"no\" }}\n-- x/templates/a.yaml --\na: {{ .Values.a }}\n" +
		folderChart("low", "2.0.0") + "-- low/templates/b.yaml --\nx: y\nb: {{ .Values.b }}\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, m := range res.Manifests {
		got += m.Template + " " + strings.ReplaceAll(string(m.Text), "\n", ";")
		for _, o := range m.Lines {
			got += " " + (&Problem{File: o.Template, Line: o.Line, Detail: o.Values.File}).Error()
		}
		got += "\n"
	}
	const want = `app/charts/one/charts/low/templates/b.yaml x: y;b: 2; ../low/templates/b.yaml:1:  ../low/templates/b.yaml:2: ../x/values.yaml
app/charts/one/templates/a.yaml a: 5; ../x/templates/a.yaml:1: values.yaml
app/charts/two/charts/low/templates/b.yaml x: y;b: 2; ../low/templates/b.yaml:1:  ../low/templates/b.yaml:2: ../x/values.yaml
app/charts/two/templates/a.yaml a: 1; ../x/templates/a.yaml:1: ../x/values.yaml
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestFoldersRefused checks that a dependency in a folder that cannot be used is refused, at the
// line that asks for it.
func TestFoldersRefused(t *testing.T) {
	deep := folderChart("app", "1.0.0", "name: d0, version: 1.0.0, repository: file://../d0")
	wide := folderChart("app", "1.0.0", "name: w00, version: 1.0.0, repository: file://../w00")
	for i := range 20 {
		this, next := string(rune('0'+i)), string(rune('1'+i))
		deep += folderChart("d"+this, "1.0.0", "name: d"+next+", version: 1.0.0, repository: file://../d"+next)
	}
	for level := range 9 {
		var below []string
		for i := range min(5, 5*(8-level)) {
			below = append(below, fmt.Sprintf("name: w%d%d, version: 1.0.0, repository: file://../w%d%d", level+1, i, level+1, i))
		}
		for i := range 5 {
			name := fmt.Sprintf("w%d%d", level, i)
			wide += folderChart(name, "1.0.0", below...)
			for k := range 20 {
				wide += fmt.Sprintf("-- %s/%d --\n", name, k)
			}
		}
	}
	for name, c := range map[string]struct{ chart, want string }{
		"cycle of one": {folderChart("app", "1.0.0", "name: app, version: 1.0.0, repository: 'file://.'"), "Chart.yaml:5: dependencies form a cycle: app needs app"},
		"cycle of two": {
			folderChart("app", "1.0.0", "name: x, version: 1.0.0, repository: file://../x") + folderChart("x", "1.0.0", "name: other, version: 1.0.0, repository: file://../other", "name: app, version: 1.0.0, repository: file://../app") + folderChart("other", "1.0.0"),
			"../x/Chart.yaml:6: dependencies form a cycle: app needs x needs app",
		},
		"cycle below": {
			folderChart("app", "1.0.0", "name: x, version: 1.0.0, repository: file://../x") + folderChart("x", "1.0.0", "name: z, version: 1.0.0, repository: file://../z") + folderChart("z", "1.0.0", "name: x, version: 1.0.0, repository: file://../x"),
			"../z/Chart.yaml:5: dependencies form a cycle: x needs z needs x",
		},
		"outside":       {folderChart("app", "1.0.0", "name: x, version: 1.0.0, repository: file://../../x"), "Chart.yaml:5: dependency x: ../x is outside the repository"},
		"absolute":      {folderChart("app", "1.0.0", "name: x, version: 1.0.0, repository: file:///x"), "Chart.yaml:5: dependency x: file:///x is an absolute path: use a path relative to the chart"},
		"none":          {folderChart("app", "1.0.0", "name: x, version: 1.0.0, repository: file://../x"), "Chart.yaml:5: dependency x: x does not exist"},
		"no chart":      {folderChart("app", "1.0.0", "name: x, version: 1.0.0, repository: file://../x") + "-- x/a.yaml --\n", "../x/Chart.yaml:1: Chart.yaml file is missing"},
		"another name":  {folderChart("app", "1.0.0", "name: z, version: 1.0.0, repository: file://../x") + folderChart("x", "1.0.0"), "Chart.yaml:5: dependency z: the chart in ../x is x"},
		"version":       {folderChart("app", "1.0.0", "name: x, version: 1.0.0, repository: file://../x", "name: x, version: 2.x, repository: file://../x, alias: z") + folderChart("x", "1.0.0"), "Chart.yaml:6: dependency x asks for version 2.x, and the chart in ../x has version 1.0.0"},
		"pre-release":   {folderChart("app", "1.0.0", "name: x, version: '>=1.0.0', repository: file://../x") + folderChart("x", "1.1.0-rc.1"), "has version 1.1.0-rc.1"},
		"constraint":    {folderChart("app", "1.0.0", "name: x, version: one, repository: file://../x") + folderChart("x", "1.0.0"), `asks for version "one", which is neither a version nor a range`},
		"deep":          {deep, "dependencies in folders are limited to a depth of 10"},
		"wide and deep": {wide, "the chart is limited to 20000 files"},
		"link":          {folderChart("app", "1.0.0", "name: x, version: 1.0.0, repository: file://../x") + folderChart("x", "1.0.0") + "-- x/templates/a.yaml --\na: {{ .Files.Get \"LICENSE\" }}\n", `../x/templates/a.yaml:1: a template may read "../x/LICENSE"`},
		"old chart":     {"-- app/Chart.yaml --\nname: app\napiVersion: v1\nversion: 1.0.0\n-- app/requirements.yaml --\ndependencies:\n- name: x\n  version: 2.0.0\n  repository: file://../x\n" + folderChart("x", "1.0.0"), "requirements.yaml:2: dependency x asks for version 2.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			refuses(t, inTree(c.chart), limits.ChartSteps, c.want)
		})
	}
	in := inTree(folderChart("app", "1.0.0", "name: x, version: 1.0.0, repository: file://../x"))
	in.Folder = nil
	refuses(t, in, limits.ChartSteps, "Chart.yaml:5: dependency x 1.0.0 is not in charts/: run helm dependency build and commit charts/")
}

// TestFoldersVendored checks that a dependency in charts/ is used instead of a folder.
func TestFoldersVendored(t *testing.T) {
	res, err := Render(inTree(folderChart("app", "1.0.0", "name: x, version: 1.0.0, repository: file://../../x") + strings.ReplaceAll(folderChart("x", "1.0.0"), "-- x", "-- app/charts/x") + "-- app/charts/x/templates/a.yaml --\na: vendored\n"))
	if err != nil || len(res.Manifests) != 1 || string(res.Manifests[0].Text) != "a: vendored\n" {
		t.Errorf("%v %+v", err, res)
	}
}
