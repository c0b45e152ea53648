package engine

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/chart"
	"github.com/schedlint/schedlint/lint/limits"
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
	c := &charting{root: r, tree: t, left: r.Left.Entries}
	out := &render.Output{}
	if out.Problem = c.read(); out.Problem == nil {
		c.render(out)
	}
	out.Cost.Steps += leastSteps
	out.Cost.Entries = len(c.in.Files)
	out.Cost.Bytes = r.Left.Bytes - t.left + len(out.Text) - c.spared()
	return out
}

// leastSteps is the minimum cost of any chart, which limits many small ones: about 2 ms.
const leastSteps = 4_000

// spared returns how many bytes of the chart's files do not count. The limit on bytes is for YAML,
// of which about 4 MB are parsed per second. Templates are parsed faster and then count by their
// steps; other files are only kept for templates to read.
func (c *charting) spared() (n int) {
	for _, f := range c.in.Files {
		base, one := path.Base(f.Name), limits.PassedOver // bytes that count as one
		switch {
		case slices.Contains([]string{".json", ".tgz", ".lock"}, path.Ext(base)), slices.Contains([]string{chartFile, "values.yaml", "requirements.yaml"}, base):
			one = 1
		case strings.HasPrefix(f.Name, "templates/"), strings.Contains(f.Name, "/templates/"):
			one = limits.TemplateBytes
		}
		n += len(f.Data) - len(f.Data)/one
	}
	return n
}

// read reads the files of the chart and of its values.
func (c *charting) read() *render.Problem {
	r := c.root.Chart
	if name := r.Archive; name != "" {
		f := c.file(name)
		if f.err != nil {
			return c.problem(chartFile, 1, fmt.Errorf("%s %w", shown(name), f.err))
		}
		c.in.Archive = &chart.File{Name: path.Base(name), Data: f.text}
	} else {
		switch dir := c.tree.read(c.root.Dir); {
		case dir.err != nil:
			return c.problem(chartFile, 1, fmt.Errorf("%s %w", shown(c.root.Dir), dir.err))
		case !dir.dir:
			return c.problem(chartFile, 1, fmt.Errorf("%s is not a directory", shown(c.root.Dir)))
		}
		if p := c.walk("", 0); p != nil {
			return p
		}
	}
	for i, v := range r.Values {
		if p := c.values(i, v); p != nil {
			return p
		}
		if i < r.Defaults {
			c.in.Defaults = len(c.in.Values)
		}
	}
	if r.Defaults > 0 && c.in.Defaults == 0 { // if all files are missing, no values are left
		c.in.Values, c.in.Defaults = slices.Insert(c.in.Values, 0, chart.File{Name: "/none"}), 1
	}
	c.in.Version = r.Version
	c.in.Name, c.in.Namespace, c.in.KubeVersion, c.in.APIVersions = r.Name, r.Namespace, r.KubeVersion, r.APIVersions
	c.in.Set, c.in.SetString = r.Set, r.SetString
	return nil
}

// file reads a file that must not be a directory.
func (c *charting) file(name string) *file {
	f := c.tree.read(name)
	if f.err == nil && f.dir {
		return &file{err: errors.New("is a directory")}
	}
	return f
}

// values adds the i-th values. Package chart knows a text by its number.
func (c *charting) values(i int, v render.Values) *render.Problem {
	f := &file{text: v.Text}
	if v.Text == nil {
		f = c.file(v.File)
	} else if c.tree.left -= len(v.Text); c.tree.left < 0 {
		return c.problem(chartFile, 1, refusal("the values of the release are beyond the limit of bytes"))
	}
	switch {
	case v.Optional && errors.Is(f.err, errMissing):
		return nil
	case f.err != nil:
		p := c.problem(chartFile, 1, fmt.Errorf("values file %s %w", shown(v.File), f.err))
		p.Setting = fmt.Sprintf("values[%d]", i)
		return p
	}
	c.in.Values = append(c.in.Values, chart.File{Name: fmt.Sprintf("/%d", i), Data: f.text})
	return nil
}

// valuesAt returns the place where a line of values was written, given its name in package chart.
func (c *charting) valuesAt(at chart.Place) (render.Place, bool) {
	number, ok := strings.CutPrefix(at.File, "/")
	i, err := strconv.Atoi(number)
	if !ok || err != nil || i >= len(c.root.Chart.Values) {
		return render.Place{}, false
	}
	v := c.root.Chart.Values[i]
	switch {
	case v.Text == nil:
		return render.Place{File: v.File, Line: at.Line, Column: at.Column}, true
	case at.Line < 1 || at.Line > len(v.Places):
		return render.Place{File: v.File}, true
	}
	return v.Places[at.Line-1], true
}

const (
	chartFile     = "Chart.yaml"
	helmHook      = "helm.sh/hook"
	notesTemplate = "NOTES.txt"
)

// walk reads a directory of the chart, named relative to it. It follows links, but not out of the
// repository.
func (c *charting) walk(dir string, depth int) *render.Problem {
	if depth > limits.ChartFolders {
		return c.problem(dir, 1, refusal(fmt.Sprintf("the chart has more than %d directories in one another", limits.ChartFolders)))
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
			return c.problem(name, 1, refusal(fmt.Sprintf("the chart has more than %d files and directories", c.root.Left.Entries)))
		}
		f := c.tree.read(path.Join(c.root.Dir, name))
		var p *render.Problem
		var r refusal
		switch {
		case e.Type()&fs.ModeSymlink != 0 && errors.As(f.err, &r):
			c.in.Absent = append(c.in.Absent, chart.Note{File: name, Detail: fmt.Sprintf("%s %v", shown(path.Join(c.root.Dir, name)), f.err)})
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

// problem returns a problem at a line of a file of the chart. For a file in an archive, the message
// names that file, and the place is the one that names the archive, or else the archive.
func (c *charting) problem(name string, line int, err error) *render.Problem {
	p := &render.Problem{Kind: render.Failed, File: c.confined(name), Line: line, Column: 1, Detail: err.Error()}
	var r refusal
	if errors.As(err, &r) {
		p.Kind = render.Refused
	}
	if at, ok := c.valuesAt(chart.Place{File: name, Line: line, Column: 1}); ok && at.File != "" {
		p.File, p.Line, p.Column = at.File, max(1, at.Line), max(1, at.Column)
	}
	if p.File == "" {
		p.File, p.Line = cmp.Or(c.root.Chart.Archive, c.confined(chartFile)), 1
		if archive, inside, ok := strings.Cut(name, archiveSign); ok {
			p.Detail = fmt.Sprintf("%s:%d: %s", shown(inside), line, p.Detail)
			switch at, listed := c.dependency(archive); {
			case c.root.Chart.Archive != "":
			case listed:
				p.File, p.Line, p.Column = at.File, at.Line, at.Column
			default:
				p.File = c.confined(archive + ".tgz")
			}
		}
	}
	return p
}

// confined returns the name of a file of the chart relative to the root of confinement. It returns
// "" for something that is not a file, and for a file in an archive.
func (c *charting) confined(name string) string {
	if c.root.Chart.Archive != "" || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "--") || strings.Contains(name, ".tgz:") {
		return ""
	}
	return c.tree.read(path.Join(c.root.Dir, name)).nameOr(path.Join(c.root.Dir, name))
}

// nameOr returns the name without symbolic links if the file exists.
func (f *file) nameOr(name string) string {
	if f.err != nil {
		return name
	}
	return f.name
}

// render renders the chart and sorts its output in Helm's order.
func (c *charting) render(out *render.Output) {
	result, err := chart.Render(c.in)
	if err != nil {
		var p *chart.Problem
		errors.As(err, &p)
		out.Cost.Steps = p.Steps
		out.Problem = c.problem(p.File, p.Line, errors.New(p.Detail))
		if p.Refused {
			out.Problem.Kind = render.Refused
		}
		if word, ok := strings.CutPrefix(p.File, "--"); ok {
			out.Problem.Line, out.Problem.Setting = 1, fmt.Sprintf("%s[%d]", word, p.Line-1)
		}
		return
	}
	docs, problem := c.documents(result)
	if problem != nil {
		out.Problem = problem
		return
	}
	if most := c.root.Left.Objects; len(docs) > most {
		out.Problem = c.problem(chartFile, 1, refusal(fmt.Sprintf("the chart prints %d objects, more than the limit of %d", len(docs), most)))
		return
	}
	out.Cost.Steps, out.Cost.Objects = result.Steps, len(docs)
	for _, n := range result.Notes {
		out.Unchecked = append(out.Unchecked, c.problem(n.File, 1, errors.New(n.Detail)))
	}
	w := &chartOutput{c: c, out: out, index: map[string]int{}, names: map[string]string{}, inside: map[string]archived{}}
	for i, d := range docs {
		if i > 0 {
			w.line("---", chart.Origin{Template: d.from[0].Template, Line: d.from[0].Line})
		}
		out.Documents = append(out.Documents, render.Document{Line: len(out.Lines) + 1, File: w.file(d.from[0].Template), Index: d.index})
		for k, line := range d.lines {
			w.line(line, d.from[k])
		}
	}
	for _, crd := range result.CRDs {
		if name := c.confined(crd.Name); name != "" {
			out.Plain = append(out.Plain, name)
		}
	}
	for _, f := range c.in.Files { // templates and values are deployed as in the result
		name := c.confined(f.Name)
		base := filepath.Base(f.Name)
		if strings.HasPrefix(f.Name, "templates/") || strings.Contains(f.Name, "/templates/") || base == chartFile || base == "values.yaml" {
			out.Sources = append(out.Sources, name)
		} else {
			out.Data = append(out.Data, name)
		}
	}
	if a := c.root.Chart.Archive; a != "" {
		out.Data = append(out.Data, c.tree.read(a).nameOr(a))
	}
	for _, v := range c.root.Chart.Values {
		if f := c.tree.files[path.Clean(v.File)]; v.Text == nil && f != nil && f.err == nil {
			out.Sources = append(out.Sources, v.File)
		}
	}
	slices.Sort(out.Sources)
	slices.Sort(out.Data)
	out.Sources, out.Data = slices.Compact(out.Sources), slices.Compact(out.Data)
}
