package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/schedlint/schedlint/lint/gitops"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/report"
)

// print writes the table. No line begins with a name, which may be anybody's and look
// like a command to a CI runner.
func (in *inputs) print(w io.Writer) {
	if len(in.Kustomizations)+len(in.Charts)+len(in.Pointers)+len(in.Topologies)+len(in.Unread) == 0 {
		fmt.Fprintln(w, "Nothing to render: found no kustomization, chart, GitOps pointer or file with nodes.")
		return
	}
	in.printRoots(w)
	in.printCharts(w)
	in.printPointers(w)
	section(w, len(in.Topologies), "Files with nodes: "+fmt.Sprint(len(in.Topologies)), func(t io.Writer) {
		for _, name := range in.Topologies {
			row(t, "nodes", in.shown(name))
		}
	})
	section(w, len(in.Unread), "Not looked at: "+fmt.Sprint(len(in.Unread)), func(t io.Writer) {
		for _, u := range in.Unread {
			row(t, "unread", in.shown(u.Name), u.Why)
		}
	})
}

// section writes a heading and rows below it, or nothing if there are none.
func section(w io.Writer, n int, heading string, rows func(t io.Writer)) {
	if n == 0 {
		return
	}
	fmt.Fprintln(w, heading)
	var table bytes.Buffer
	t := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	rows(t)
	t.Flush()
	for line := range strings.Lines(table.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
	fmt.Fprintln(w)
}

// row writes cells in which nothing is hidden.
func row(t io.Writer, cells ...string) {
	for i := range cells {
		cells[i] = report.Visible(cells[i])
	}
	fmt.Fprintf(t, "  %s\t\n", strings.Join(cells, "\t")) // a cell that no tab ends has no width
}

func (in *inputs) printRoots(w io.Writer) {
	offline := 0
	for i := range in.Roots {
		if in.whyNot(i) == "" {
			offline++
		}
	}
	heading := fmt.Sprintf("Kustomizations: %d; %s, %d can render offline", len(in.Kustomizations), plural(len(in.Roots), "root"), offline)
	section(w, len(in.Kustomizations), heading, func(t io.Writer) {
		if in.outputs != nil {
			row(t, "offline", "workloads", "root", "why not")
		} else {
			row(t, "offline", "root", "why not")
		}
		for i, k := range in.Roots {
			cells := []string{"yes"}
			why := in.whyNot(i)
			if why != "" {
				cells[0] = "no"
			}
			switch {
			case in.outputs != nil && why == "":
				cells = append(cells, fmt.Sprint(workloadsOf(in.outputs[i])))
			case in.outputs != nil:
				cells = append(cells, "-")
			}
			row(t, append(cells, in.shown(k.Dir), why)...)
		}
	})
}

// mostPlaces is how many places of pointers of one kind are shown.
const mostPlaces = 3

// mostPointers is how many pointers are listed.
const mostPointers = 1_000

// leadsTo is the directory of a render, or the archive of a chart.
func leadsTo(r render.Root) string {
	if r.Chart != nil && r.Chart.Archive != "" {
		return r.Chart.Archive
	}
	return r.Dir
}

// printDeployments lists where pointers lead, and why they do not.
func (in *inputs) printDeployments(w io.Writer) {
	all := in.pointed.Deployments
	rendered := 0
	for _, d := range all {
		if d.Output != nil && d.Output.Problem == nil {
			rendered++
		}
	}
	section(w, len(all), fmt.Sprintf("GitOps pointers: %d, %d rendered", len(all), rendered), func(t io.Writer) {
		row(t, "rendered", "workloads", "pointer", "kind", "leads to", "why not")
		for _, d := range all[:min(len(all), mostPointers)] {
			rendered, workloads, why := in.became(d)
			to := "-"
			if d.Root.Dir != "" {
				to = in.shown(leadsTo(d.Root))
			}
			pointer := fmt.Sprintf("%s:%d %s", in.shown(d.Pointer.File), d.Pointer.Line, clipped(d.Pointer.Name))
			row(t, rendered, workloads, pointer, string(d.Pointer.Kind), to, why)
		}
		if n := len(all) - mostPointers; n > 0 {
			row(t, "", "", fmt.Sprintf("%d more", n))
		}
	})
}

// became says whether a pointer is rendered, how many workloads it deploys, and why not.
func (in *inputs) became(d *gitops.Deployment) (rendered, workloads, why string) {
	switch {
	case d.Output == nil:
		return "no", "-", clipped(d.Why.String())
	case d.Output.Problem != nil:
		p := d.Output.Problem
		return "no", "-", fmt.Sprintf("%s (%s:%d)", clipped(p.Detail), in.shown(p.File), p.Line)
	}
	return "yes", fmt.Sprint(workloadsOf(d.Output)), ""
}

func (in *inputs) printPointers(w io.Writer) {
	if in.pointed != nil {
		in.printDeployments(w)
		return
	}
	section(w, len(in.Pointers), fmt.Sprintf("GitOps pointers: %d, not rendered yet", len(in.Pointers)), func(t io.Writer) {
		for rest := in.Pointers; len(rest) > 0; {
			n := 0
			var places []string
			for ; n < len(rest) && rest[n].Kind == rest[0].Kind; n++ {
				if n < mostPlaces {
					places = append(places, fmt.Sprintf("%s:%d", in.shown(rest[n].File), rest[n].Line))
				}
			}
			if n > mostPlaces {
				places = append(places, fmt.Sprintf("%d more", n-mostPlaces))
			}
			row(t, fmt.Sprint(n), rest[0].Kind, strings.Join(places, ", "))
			rest = rest[n:]
		}
	})
}
