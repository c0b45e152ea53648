package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/roots"
	"github.com/schedlint/schedlint/lint/worktree"
)

// chartInput is a chart with what it can be rendered with: nothing if it is not installed
// by itself, or if something else deploys it.
type chartInput struct {
	*roots.Chart
	renders []chartRender
	// why says why there are no renders.
	why string
}

// chartRender is one render of a chart.
type chartRender struct {
	// values is a values file as a name from the root, "" for the defaults, and name that of
	// the release, "" for that of the chart.
	values, name string
	out          *render.Output
}

// renderCharts renders the charts that nothing else deploys, with their defaults and with
// each of their values files.
func (in *inputs) renderCharts(ctx context.Context, renders renderer) {
	deployed := used{}
	for _, out := range in.outputs {
		deployed.output(in.root, out)
	}
	if in.pointed != nil {
		deployed.pointers(in.pointed, repositoryIn(in.root, in.paths))
	}
	var all []render.Root
	taken := map[string]bool{} // names of renders
	for _, k := range in.Kustomizations {
		taken[in.fromBase(k.Dir)] = true
	}
	for i := range in.Charts {
		c := chartInput{Chart: &in.Charts[i]}
		switch {
		case c.Subchart:
			c.why = "subchart"
		case c.Library:
			c.why = "library chart"
		case c.Inflated || deployed.chart(filepath.Join(in.root, filepath.FromSlash(c.Dir))):
			c.why = "deployed by a kustomization or GitOps pointer"
		default:
			for _, values := range append([]string{""}, c.Values...) {
				r := chartRender{values: values}
				asked := &render.Chart{}
				if values != "" {
					r.name = releaseName(c.Name, values, taken)
					asked.Name, asked.Values = r.name, []render.Values{{File: values}}
				}
				c.renders = append(c.renders, r)
				all = append(all, render.Root{Confinement: in.root, Dir: c.Dir, Chart: asked})
			}
		}
		in.charts = append(in.charts, c)
	}
	outs := renders(ctx, all)
	for i := range in.charts {
		for j := range in.charts[i].renders {
			in.charts[i].renders[j].out, outs = outs[0], outs[1:]
		}
	}
}

// whyNotChart says what keeps a chart from rendering; "" if it does.
func (in *inputs) whyNotChart(r chartRender) string {
	if p := r.out.Problem; p != nil {
		return fmt.Sprintf("%s (%s:%d)", clipped(p.Detail), in.shown(p.File), p.Line)
	}
	return ""
}

func (in *inputs) printCharts(w io.Writer) {
	count, offline := 0, 0
	for _, c := range in.charts {
		for _, r := range c.renders {
			count++
			if r.out.Problem == nil {
				offline++
			}
		}
	}
	heading := fmt.Sprintf("Helm charts: %d; %s, %d can render offline", len(in.Charts), plural(count, "render"), offline)
	section(w, len(in.charts), heading, func(t io.Writer) {
		row(t, "offline", "workloads", "chart", "values", "why not")
		for _, c := range in.charts {
			for _, r := range c.renders {
				cells := []string{"yes", "", in.shown(c.Dir), "-", in.whyNotChart(r)}
				if r.values != "" {
					cells[3] = in.valuesPath(c, r.values)
				}
				if cells[4] == "" {
					cells[1] = fmt.Sprint(workloadsOf(r.out))
				} else {
					cells[0], cells[1] = "no", "-"
				}
				row(t, cells...)
			}
			if len(c.renders) == 0 {
				row(t, "-", "-", in.shown(c.Dir), "-", c.why)
			}
		}
	})
}

// chartEntry is one entry of the key renders for charts.
type chartEntry struct{ helm, name, values string }

// chartEntries adds the renders of charts to a block: one for each values file of an
// environment or test, and the defaults if there is none of an environment.
func (in *inputs) chartEntries(b *renderBlock) {
	byParent, mixed := map[string][]string{}, map[string]bool{}
	for _, c := range in.charts {
		dir := in.fromBase(c.Dir)
		if b.ignores(dir) {
			continue
		}
		parent := path.Dir(dir)
		mixed[parent] = mixed[parent] || c.why != "" && c.Installs() || len(c.renders) > 1
		hasEnvironment := slices.ContainsFunc(c.Values, func(name string) bool { return !c.IsTest(name) })
		for _, r := range c.renders {
			if r.values == "" && hasEnvironment {
				continue
			}
			why := cmp.Or(in.whyNotChart(r), unwritable(dir, r.values))
			switch {
			case why != "":
				mixed[parent] = true
				b.left = append(b.left, leftOut{"helm", dir, in.valuesPath(c, r.values), why})
			case r.values == "":
				byParent[parent] = append(byParent[parent], dir)
			default:
				b.charts = append(b.charts, chartEntry{dir, r.name, in.valuesPath(c, r.values)})
			}
		}
	}
	for parent, dirs := range byParent {
		if in.whole && !mixed[parent] && len(dirs) >= fewest {
			dirs = []string{path.Join(escapeGlob(parent), "*")}
		} else {
			for i := range dirs {
				dirs[i] = escapeGlob(dirs[i])
			}
		}
		for _, dir := range dirs {
			b.charts = append(b.charts, chartEntry{helm: dir})
		}
	}
	slices.SortStableFunc(b.charts, func(x, y chartEntry) int { return strings.Compare(x.helm, y.helm) })
}

// unwritable says why no entry can stand for a render; "" if one can.
func unwritable(dir, values string) string {
	switch {
	case !utf8.ValidString(dir) || !utf8.ValidString(values):
		return "the name of the directory or of the values file is not UTF-8"
	case values != "" && escapeGlob(dir) != dir:
		return "the name of the directory has characters of a glob, and values files need one directory"
	}
	return ""
}

// valuesPath is a values file as an entry names it: from the chart, or else from the
// configuration if the chart has no file of that name.
func (in *inputs) valuesPath(c chartInput, name string) string {
	if name == "" {
		return ""
	}
	rel, err := filepath.Rel(filepath.FromSlash(c.Dir), filepath.FromSlash(name))
	if err != nil {
		return name
	}
	based := in.fromBase(name)
	_, taken := os.Lstat(filepath.Join(in.root, filepath.FromSlash(path.Join(c.Dir, based))))
	if rel = filepath.ToSlash(rel); worktree.Local(rel) || taken == nil {
		return rel
	}
	return based
}

var (
	notOfRelease = regexp.MustCompile(`[^a-z0-9]+`)
	valuesMark   = regexp.MustCompile(`^values[-.]|[-.]values$`)
)

// longestName is how long the name of a release is at most that is made up here: Helm takes
// 53 bytes.
const longestName = 45

// releaseName makes up a name for the release of a chart with a values file, such as
// shop-prod, that is not taken yet.
func releaseName(chart, values string, taken map[string]bool) string {
	base := path.Base(values)
	stem := valuesMark.ReplaceAllString(strings.TrimSuffix(base, path.Ext(base)), "")
	name := notOfRelease.ReplaceAllString(strings.ToLower(path.Base(chart)+"-"+stem), "-")
	name = strings.Trim(name[:min(len(name), longestName)], "-")
	name = cmp.Or(name, "chart")
	unique := name
	for i := 2; taken[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", name, i)
	}
	taken[unique] = true
	return unique
}
