package inputs

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/schedlint/schedlint/lint/report"
)

// mostPointers is the maximum number of pointers to list.
const mostPointers = 1_000

// Print writes tables of the inputs found. It never starts a line with a name from the tree,
// because a CI runner might execute the line as a command.
func (in *Found) Print(w io.Writer) {
	if len(in.Kustomizations)+len(in.Charts)+len(in.Pointers)+len(in.Topologies)+len(in.Unread) == 0 {
		fmt.Fprintln(w, "Nothing to render: found no kustomization, chart, GitOps pointer or file with nodes.")
		return
	}
	offline := table{header: []string{"offline", "workloads", "root", "why not"}}
	for i, k := range in.Roots {
		yes, workloads, why := in.became(in.outputs[i])
		offline.row(yes, workloads, in.shown(k.Dir), why)
	}
	offline.print(w, len(in.Kustomizations), fmt.Sprintf("Kustomizations: %d; %s, %d can render offline", len(in.Kustomizations), report.Count(len(in.Roots), "root"), offline.yes))
	in.printCharts(w)
	in.printPointers(w)
	var nodes, unread table
	for _, name := range in.Topologies {
		nodes.row("nodes", in.shown(name))
	}
	nodes.print(w, len(in.Topologies), fmt.Sprint("Files with nodes: ", len(in.Topologies)))
	for _, u := range in.Unread {
		unread.row("unread", in.shown(u.Name), u.Why)
	}
	unread.print(w, len(in.Unread), fmt.Sprint("Not looked at: ", len(in.Unread)))
}

func (in *Found) printCharts(w io.Writer) {
	t := table{header: []string{"offline", "workloads", "chart", "values", "why not"}}
	count := 0
	for _, c := range in.charts {
		for _, r := range c.renders {
			values := "-"
			if r.values != "" {
				values = in.valuesPath(c, r.values)
			}
			yes, workloads, why := in.became(r.out)
			count++
			t.row(yes, workloads, in.shown(c.Dir), values, why)
		}
		if len(c.renders) == 0 {
			t.row("-", "-", in.shown(c.Dir), "-", c.why)
		}
	}
	t.print(w, len(in.charts), fmt.Sprintf("Helm charts: %d; %s, %d can render offline", len(in.Charts), report.Count(count, "render"), t.yes))
}

// printPointers lists the root that each pointer deploys, or why the pointer is not rendered.
func (in *Found) printPointers(w io.Writer) {
	if in.pointed == nil {
		return
	}
	t := table{header: []string{"rendered", "workloads", "pointer", "kind", "leads to", "why not"}}
	all := in.pointed.Deployments
	for i, d := range all {
		if i >= mostPointers {
			if d.Output != nil && d.Output.Problem == nil {
				t.yes++
			}
			continue
		}
		yes, workloads, why := "no", "-", ""
		if d.Output != nil {
			yes, workloads, why = in.became(d.Output)
		} else {
			why = clipped(d.Why.String())
		}
		to := "-"
		switch chart := d.Root.Chart; {
		case chart != nil && chart.Archive != "":
			to = in.shown(chart.Archive)
		case d.Root.Dir != "":
			to = in.shown(d.Root.Dir)
		}
		t.row(yes, workloads, fmt.Sprintf("%s:%d %s", in.shown(d.Pointer.File), d.Pointer.Line, clipped(d.Pointer.Name)), string(d.Pointer.Kind), to, why)
	}
	if n := len(all) - mostPointers; n > 0 {
		t.row("", "", fmt.Sprintf("%d more", n))
	}
	t.print(w, len(all), fmt.Sprintf("GitOps pointers: %d, %d rendered", len(all), t.yes))
}

// table collects rows and counts the rows whose first cell is yes.
type table struct {
	header []string
	rows   bytes.Buffer
	yes    int
}

// row adds a row, escaping invisible characters in its cells.
func (t *table) row(cells ...string) {
	if cells[0] == "yes" {
		t.yes++
	}
	for i := range cells {
		cells[i] = report.Visible(cells[i])
	}
	fmt.Fprintf(&t.rows, "  %s\t\n", strings.Join(cells, "\t")) // tabwriter only aligns cells that end in a tab
}

// print writes the heading and then the rows. If n is 0, print writes nothing.
func (t *table) print(w io.Writer, n int, heading string) {
	if n == 0 {
		return
	}
	fmt.Fprintln(w, heading)
	var aligned bytes.Buffer
	tabs := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	if t.header != nil {
		fmt.Fprintf(tabs, "  %s\t\n", strings.Join(t.header, "\t"))
	}
	tabs.Write(t.rows.Bytes())
	tabs.Flush()
	for line := range strings.Lines(aligned.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
	fmt.Fprintln(w)
}
