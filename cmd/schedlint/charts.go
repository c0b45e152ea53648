package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/render"
)

// isChart reports whether a directory holds a Helm chart, be it a link: the render says
// where that leads.
func isChart(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "Chart.yaml"))
	return err == nil && info.Mode().IsRegular()
}

// chart takes in a chart that was named, with values files behind an equals sign. Without
// those it is rendered as the configuration says, if that names it.
func (c *choosing) chart(named string) error {
	dir, files, _ := strings.Cut(named, "=")
	if !isChart(absolute(c.o.Dir, dir)) {
		return errors.New("there is no Chart.yaml")
	}
	real, err := filepath.EvalSymlinks(absolute(c.o.Dir, dir))
	if err != nil {
		return err
	}
	root := confinement(c.root, real)
	if files == "" && c.asConfigured(filepath.ToSlash(seen(c.base, real)), root) {
		return nil
	}
	x := lint.Render{Chosen: config.Chosen{Dir: filepath.ToSlash(seen(c.base, real)), Literal: true}, Named: true}
	x.Name = x.Dir
	x.Root = render.Root{Confinement: root, Dir: filepath.ToSlash(seen(root, real)), Chart: &render.Chart{}}
	for i, file := range strings.FieldsFunc(files, func(r rune) bool { return r == ',' }) {
		name, err := valuesFile(root, absolute(c.o.Dir, file))
		if err != nil {
			return fmt.Errorf("values file %s: %w", file, err)
		}
		x.Root.Chart.Values = append(x.Root.Chart.Values, render.Values{File: name})
		x.Name += map[bool]string{true: "=", false: ","}[i == 0] + name
	}
	if !c.seen[x.Name] {
		c.seen[x.Name] = true
		c.all = append(c.all, x)
	}
	return nil
}

// asConfigured takes in the renders of a chart that the configuration asks for, and reports
// whether there are any.
func (c *choosing) asConfigured(dir, confinement string) (any bool) {
	for _, x := range c.found {
		if x.Dir == dir && x.Entry != nil && x.Entry.Chart != "" {
			x.Literal, any = true, true
			c.take(x, confinement)
		}
	}
	return any
}

// chartOf is what the configuration says of the render of a chart.
func (c *choosing) chartOf(x config.Chosen, confinement string) render.Root {
	within := func(name string) string {
		return filepath.ToSlash(seen(confinement, filepath.Join(c.base, filepath.FromSlash(name))))
	}
	e := x.Entry
	chart := &render.Chart{
		Name: e.Name, Namespace: e.Namespace, Set: e.SetArgs, SetString: e.SetStringArgs,
		KubeVersion: e.KubeVersion, APIVersions: e.APIVersions,
	}
	for _, file := range x.Values {
		chart.Values = append(chart.Values, render.Values{File: within(file)})
	}
	return render.Root{Confinement: confinement, Dir: within(x.Dir), Chart: chart}
}

// valuesFile is a values file as a name from what the chart is confined to.
func valuesFile(root, at string) (string, error) {
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return "", errors.New("cannot be found")
	}
	name, ok := below(root, real)
	if !ok {
		return "", errors.New("is outside of the repository of the chart")
	}
	return filepath.ToSlash(name), nil
}
