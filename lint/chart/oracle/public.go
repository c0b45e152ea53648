package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/schedlint/schedlint/fixtures/charts"
)

// repository maps names to charts, for dependencies that are not vendored: those of the same
// repository take precedence over those of the others.
type repository map[string]string

func (r repository) know(chart string) {
	if d, ok := describe(chart); ok {
		r[d.Name] = chart
	}
}

// description holds the fields that are read from a Chart.yaml.
type description struct {
	Name         string
	Type         string
	Dependencies []struct{ Name string }
}

// public compares all charts below a directory whose subdirectories are repositories, with their
// defaults and with each of their other values files.
func public(dir string, traced bool) bool {
	found := &findings{counts: map[string]int{}, all: traced}
	children, err := os.ReadDir(dir)
	if err != nil {
		panic(err)
	}
	all := repository{}
	for _, c := range chartsBelow(dir) {
		all.know(c)
	}
	for _, child := range children {
		below := chartsBelow(filepath.Join(dir, child.Name()))
		own := maps.Clone(all)
		for _, c := range below {
			own.know(c)
		}
		for _, c := range below {
			found.chart(own, dir, c)
		}
	}
	found.print()
	return found.counts["DIFFER"] == 0
}

// chartsBelow returns the directories with a Chart.yaml that are not inside another chart.
func chartsBelow(dir string) []string {
	var all []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if _, err := os.Stat(filepath.Join(name, "Chart.yaml")); err == nil {
			all = append(all, name)
			return filepath.SkipDir
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	return all
}

func describe(dir string) (d description, ok bool) {
	for _, name := range []string{"requirements.yaml", "Chart.yaml"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			ok = yaml.Unmarshal(data, &d) == nil
		}
	}
	return d, ok && d.Name != ""
}

// read returns the files of a chart. Like Helm, it follows links.
func (r repository) read(dir string, depth int) ([]charts.File, error) {
	var all []charts.File
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Stat(name)
		if err != nil || info.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		all = append(all, charts.File{Name: filepath.ToSlash(rel), Data: data})
		return err
	})
	if err != nil || depth > 3 {
		return all, err
	}
	d, _ := describe(dir)
	for _, want := range d.Dependencies {
		from, ok := r[want.Name]
		if !ok || from == dir || vendored(all, want.Name) {
			continue
		}
		files, err := r.read(from, depth+1)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			all = append(all, charts.File{Name: path.Join("charts", want.Name, f.Name), Data: f.Data})
		}
	}
	return all, nil
}

func vendored(all []charts.File, name string) bool {
	return slices.ContainsFunc(all, func(f charts.File) bool {
		return strings.HasPrefix(f.Name, "charts/"+name+"/") || strings.HasPrefix(f.Name, "charts/"+name+"-") && strings.HasSuffix(f.Name, ".tgz")
	})
}

// findings holds the results for all charts.
type findings struct {
	counts map[string]int
	all    bool
	traced traces
}

// chart compares a chart with its defaults and with each of its values files.
func (x *findings) chart(r repository, dir, chart string) {
	name, _ := filepath.Rel(dir, chart)
	d, ok := describe(chart)
	if ok && d.Type == "library" {
		x.counts["library charts"]++
		return
	}
	files, err := r.read(chart, 0)
	if err != nil {
		x.counts["not read"]++
		fmt.Println(name, err)
		return
	}
	x.counts["charts"]++
	before := x.counts["equal"]
	x.compare(name, &charts.Case{Files: files})
	for _, v := range valuesFiles(files) {
		x.compare(name+" -f "+v.Name, &charts.Case{Files: files, Values: []charts.File{v}})
	}
	if x.counts["equal"] > before {
		x.counts["charts that render"]++
	}
}

// valuesFiles returns the values files of a chart except its values.yaml.
func valuesFiles(files []charts.File) []charts.File {
	var all []charts.File
	for _, f := range files {
		ci, _ := path.Match("ci/*.yaml", f.Name)
		other, _ := path.Match("*values*.y*ml", f.Name)
		if (ci || other) && f.Name != "values.yaml" && f.Name != "values.schema.yaml" {
			all = append(all, f)
		}
	}
	return all
}

func (x *findings) compare(name string, c *charts.Case) {
	x.counts["renders"]++
	res, err := render(input(c))
	o := hold(helm(c), res, err, func() answer { return helm(c) })
	x.counts["lines"] += o.lines
	switch {
	case o.unstable:
		x.counts["unstable"]++
		fmt.Println("unstable:", name)
	case len(o.differences) > 0:
		x.counts["DIFFER"]++
		fmt.Printf("%s\n  %s: %.1500s\n", name, o.differences[0].Kind, o.differences[0].Text)
	case o.rendered:
		x.counts["equal"]++
	default:
		x.counts["both fail"]++
		fmt.Printf("%s\n  both fail: %.300s\n", name, err)
		if o.placed {
			x.counts["both fail in the same line"]++
		}
	}
	if x.all && o.rendered {
		x.traced.add(name, c, res)
	}
}

func (x *findings) print() {
	for _, k := range slices.Sorted(maps.Keys(x.counts)) {
		fmt.Printf("%8d  %s\n", x.counts[k], k)
	}
	if x.all {
		x.traced.print()
	}
}
