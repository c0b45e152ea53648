package inputs

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/worktree"
)

// chartName is the name of the file that every chart directory has.
const chartName = "Chart.yaml"

// chart adds a chart given on the command line. The argument has the form CHART or CHART=VALUES.
// Without VALUES and settings, chart uses the configuration's entries for the chart, if there are
// any.
func (c *choosing) chart(arg string, settings *render.Chart) error {
	dir, files, _ := strings.Cut(arg, "=")
	if !IsChart(worktree.Absolute(c.o.Dir, dir)) {
		return errors.New("there is no Chart.yaml")
	}
	real, err := filepath.EvalSymlinks(worktree.Absolute(c.o.Dir, dir))
	if err != nil {
		return err
	}
	root, name := confinement(c.root, real), named(c.base, real)
	if files == "" && reflect.ValueOf(*settings).IsZero() && c.asConfigured(name, root) {
		return nil
	}
	chart := *settings
	chart.Name = c.Release
	x := lint.Render{Chosen: config.Chosen{Name: name, Dir: name, Literal: true}, Requested: true}
	x.Root = render.Root{Confinement: root, Dir: named(root, real), Remotes: c.remotes(root, nil), Chart: &chart}
	for i, file := range strings.FieldsFunc(files, func(r rune) bool { return r == ',' }) {
		name, err := valuesFile(root, worktree.Absolute(c.o.Dir, file))
		if err != nil {
			return fmt.Errorf("values file %s: %w", file, err)
		}
		chart.Values = append(chart.Values, render.Values{File: name})
		x.Name += map[bool]string{true: "=", false: ","}[i == 0] + name
	}
	if !c.seen[x.Name] {
		c.seen[x.Name] = true
		c.all = append(c.all, x)
	}
	return nil
}

// asConfigured adds the renders that the configuration lists for a chart. It reports whether the
// configuration lists any.
func (c *choosing) asConfigured(dir, confinement string) (any bool) {
	for _, x := range c.found {
		if x.Dir == dir && x.Entry != nil && x.Entry.Chart != "" {
			x.Literal, any = true, true
			c.take(x, confinement)
		}
	}
	return any
}

// valuesFile returns a values file's name relative to the directory that the chart must not leave.
func valuesFile(root, at string) (string, error) {
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return "", errors.New("cannot be found")
	}
	name, ok := worktree.Below(root, real)
	if !ok {
		return "", errors.New("is outside of the repository of the chart")
	}
	if worktree.IsDir(real) {
		return "", errors.New("is a directory, expected a file")
	}
	return filepath.ToSlash(name), nil
}

// discover adds the charts that nothing else deploys, with their default values. It first runs all
// renders added so far, to find out which charts kustomizations use.
func (c *choosing) discover() {
	if !c.o.Config.Discovers() || len(c.charts) == 0 {
		return
	}
	pool := newPool(c.ctx)
	c.renderWith(pool, c.all)
	deployed := c.used()
	var left []lint.Render
	for _, dir := range slices.Compact(slices.Sorted(slices.Values(c.charts))) {
		at := under(c.base, dir)
		if deployed.chart(at) || c.inflated[dir] { // even if the render that uses it fails
			continue
		}
		root := c.chartsIn[dir]
		x := lint.Render{Chosen: config.Chosen{Name: dir, Dir: dir}}
		x.Root = render.Root{Confinement: root, Dir: named(root, at), Remotes: c.remotes(root, nil), Chart: &render.Chart{Name: c.Release}}
		if c.seen[at] { // a kustomization already has the directory's name
			x.Name = path.Join(dir, chartName)
		}
		left = append(left, x)
	}
	c.renderWith(pool, left)
	c.all = append(c.all, left...)
}

// renderWith renders the roots that are not cached yet.
func (c *choosing) renderWith(pool *render.Pool, all []lint.Render) {
	c.setVersions(all)
	var left []render.Root
	for _, x := range all {
		if x.Root.Confinement != "" && c.rendered[keyOf(x.Root)] == nil {
			left = append(left, x.Root)
		}
	}
	for i, out := range pool.Render(c.ctx, left) {
		c.rendered[keyOf(left[i])] = out
	}
}

// setVersions gives charts the version of Kubernetes that the configuration has for their cluster,
// unless they are rendered for another one.
func (c *choosing) setVersions(all []lint.Render) {
	for i := range all {
		x := &all[i]
		version := c.o.Config.KubernetesOf(x.Chosen)
		if x.Root.Chart == nil || version == "" {
			continue
		}
		switch is := x.Root.Chart.KubeVersion; {
		case is == "":
			chart := *x.Root.Chart
			chart.KubeVersion, x.Root.Chart = version, &chart
		case minor(is) != minor(version):
			c.o.Notes = append(c.o.Notes, fmt.Sprintf("%s is rendered for Kubernetes %s, but the configuration says that its cluster runs %s", report.Visible(x.Name), report.Visible(is), version))
		}
	}
}

// minor returns the major and the minor number of a version.
func minor(version string) string {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// used is the set of paths of charts and files that are already deployed. A chart in the set is not
// rendered with its default values, because its deployment may use other values.
type used map[string]bool

// used returns the charts and files that renders and pointers use.
func (c *choosing) used() used {
	all := used{}
	for _, x := range c.all {
		if x.Root.Chart != nil {
			all[under(x.Root.Confinement, x.Root.Dir)] = true
		} else {
			all.output(x.Root.Confinement, c.rendered[keyOf(x.Root)])
		}
	}
	for _, p := range c.pointed {
		all.pointers(p)
	}
	return all
}

// output adds an output's source files. The output may be nil.
func (u used) output(confinement string, out *render.Output) {
	if out == nil {
		return
	}
	for _, name := range out.Sources {
		u[under(confinement, name)] = true
	}
}

// pointers adds the directories that the pointers name and the source files of their renders.
func (u used) pointers(p *pointed) {
	for _, d := range p.Deployments {
		u.output(p.root, d.Output)
		if d.Root.Dir != "" {
			u[under(p.root, d.Root.Dir)] = true
		}
		for _, s := range d.Pointer.Sources {
			if s.Path != "" && d.Wanted == nil { // otherwise, the path is in another repository
				u[filepath.Join(p.root, p.base, filepath.FromSlash(s.Path))] = true
			}
		}
	}
}

// chart reports whether the chart in the given directory is used.
func (u used) chart(dir string) bool { return u[dir] || u[filepath.Join(dir, chartName)] }
