package build

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/chart"
	"github.com/schedlint/schedlint/lint/render"
)

// charting renders one chart.
type charting struct {
	root render.Root
	tree *tree
	in   chart.Input
	left int // entries of directories
}

// buildChart renders the chart of a root. Its output has a place for each line.
func buildChart(r render.Root, t *tree) *render.Output {
	c := &charting{root: r, tree: t, left: render.Most().Least(r.Left).Entries}
	out := &render.Output{}
	if out.Problem = c.read(); out.Problem == nil {
		c.render(out)
	}
	out.Cost.Entries = len(c.in.Files)
	out.Cost.Bytes = render.Most().Least(r.Left).Bytes - t.left + len(out.Text)
	return out
}

// read gathers the files of the chart and of its values.
func (c *charting) read() *render.Problem {
	dir := c.tree.read(c.root.Dir)
	switch {
	case dir.err != nil:
		return c.problem(chartFile, 1, fmt.Errorf("%s %w", shown(c.root.Dir), dir.err))
	case !dir.dir:
		return c.problem(chartFile, 1, fmt.Errorf("%s is not a directory", shown(c.root.Dir)))
	}
	if p := c.walk("", 0); p != nil {
		return p
	}
	for _, name := range c.root.Chart.Values {
		f := c.tree.read(name)
		if f.err == nil && f.dir {
			f = &file{err: errors.New("is a directory")}
		}
		if f.err != nil {
			return c.problem(chartFile, 1, fmt.Errorf("values file %s %w", shown(name), f.err))
		}
		c.in.Values = append(c.in.Values, chart.Values{Name: "/" + name, Data: f.text})
	}
	r := c.root.Chart
	c.in.Name, c.in.Namespace, c.in.KubeVersion, c.in.APIVersions = r.Name, r.Namespace, r.KubeVersion, r.APIVersions
	c.in.Set, c.in.SetString = r.Set, r.SetString
	return nil
}

const (
	chartFile     = "Chart.yaml"
	maxChartDirs  = 50
	helmHook      = "helm.sh/hook"
	notesTemplate = "NOTES.txt"
)

// walk reads a directory of the chart, by its name from there. Links are followed, but
// not out of the repository.
func (c *charting) walk(dir string, depth int) *render.Problem {
	if depth > maxChartDirs {
		return c.problem(dir, 1, refusal(fmt.Sprintf("the chart has more than %d directories in one another", maxChartDirs)))
	}
	entries, err := fs.ReadDir(c.tree.root.FS(), path.Join(c.root.Dir, dir))
	if err != nil {
		return c.problem(dir, 1, reason(err))
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.Name() == ".git" {
			continue
		}
		if c.left--; c.left < 0 {
			return c.problem(name, 1, refusal(fmt.Sprintf("the chart has more than %d files and directories", render.Most().Least(c.root.Left).Entries)))
		}
		f := c.tree.read(path.Join(c.root.Dir, name))
		var p *render.Problem
		switch {
		case f.err != nil:
			p = c.problem(name, 1, fmt.Errorf("%s %w", shown(path.Join(c.root.Dir, name)), f.err))
		case f.dir:
			p = c.walk(name, depth+1)
		default:
			c.in.Files = append(c.in.Files, chart.File{Name: name, Data: f.text})
		}
		if p != nil {
			return p
		}
	}
	return nil
}

// problem is at a line of a file of the chart.
func (c *charting) problem(name string, line int, err error) *render.Problem {
	p := &render.Problem{Kind: render.Failed, File: c.confined(name), Line: line, Column: 1, Detail: err.Error()}
	var r refusal
	if errors.As(err, &r) {
		p.Kind = render.Refused
	}
	if p.File == "" {
		p.File = c.confined(chartFile)
	}
	return p
}

// confined is a name of package chart as one from the root of confinement: a file of the
// chart, or a values file. It is "" for what is no file, and for what is in an archive.
func (c *charting) confined(name string) string {
	if values, ok := strings.CutPrefix(name, "/"); ok {
		return values
	}
	if strings.HasPrefix(name, "--") || strings.Contains(name, ".tgz:") {
		return ""
	}
	return c.tree.read(path.Join(c.root.Dir, name)).nameOr(path.Join(c.root.Dir, name))
}

// nameOr is the name without symbolic links, if the file is there.
func (f *file) nameOr(name string) string {
	if f.err != nil {
		return name
	}
	return f.name
}

// render runs the chart and puts what it prints in Helm's order.
func (c *charting) render(out *render.Output) {
	result, err := chart.Render(c.in)
	if err != nil {
		var p *chart.Problem
		errors.As(err, &p)
		out.Problem = c.problem(p.File, p.Line, errors.New(p.Detail))
		if p.Refused {
			out.Problem.Kind = render.Refused
		}
		return
	}
	docs, problem := c.documents(result)
	if problem != nil {
		out.Problem = problem
		return
	}
	if most := render.Most().Least(c.root.Left).Objects; len(docs) > most {
		out.Problem = c.problem(chartFile, 1, refusal(fmt.Sprintf("the chart prints %d objects, more than the limit of %d", len(docs), most)))
		return
	}
	out.Cost.Steps, out.Cost.Objects = result.Steps, len(docs)
	w := &chartOutput{c: c, out: out, index: map[string]int{}, names: map[string]string{}}
	for i, d := range docs {
		w.add(i, d)
	}
	c.account(out)
}

// account lists the files: templates and values are deployed as the result says.
func (c *charting) account(out *render.Output) {
	for _, f := range c.in.Files {
		name := c.confined(f.Name)
		base := filepath.Base(f.Name)
		if strings.HasPrefix(f.Name, "templates/") || strings.Contains(f.Name, "/templates/") || base == chartFile || base == "values.yaml" {
			out.Sources = append(out.Sources, name)
		} else {
			out.Data = append(out.Data, name)
		}
	}
	out.Sources = append(out.Sources, c.root.Chart.Values...)
	slices.Sort(out.Sources)
	slices.Sort(out.Data)
	out.Sources, out.Data = slices.Compact(out.Sources), slices.Compact(out.Data)
}
