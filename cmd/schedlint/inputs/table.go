package inputs

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/kinds"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/report"
)

// mostRows is the maximum number of rows of a table to print.
const mostRows = 1_000

// Print writes what is not rendered and then tables of the inputs found. Unless verbose is set, it
// writes rows that have the same reason as one. It never starts a line with a name from the tree,
// because a CI runner might execute the line as a command.
func (in *Found) Print(w io.Writer, verbose bool) {
	if len(in.Kustomizations)+len(in.Charts)+len(in.Pointers)+len(in.Topologies)+len(in.Offered)+len(in.Definitions)+len(in.Unread) == 0 {
		fmt.Fprintln(w, "Nothing to render: found no kustomization, chart, GitOps pointer or file with nodes.")
		return
	}
	of := &tally{conf: in.conf}
	offline := table{header: []string{"offline", "workloads", "root", "why not"}}
	for i, k := range in.Roots {
		yes, workloads, why := in.became(in.outputs[i])
		why = of.count("kustomizations", yes, why, in.fromBase(k.Dir))
		offline.row("", yes, workloads, in.shown(k.Dir), why)
	}
	charts, renders := in.chartTable(of)
	pointed := in.pointerTable(of)
	if shares := diag.Shares(of.inputs, false); shares != "" {
		advice := map[bool]string{true: ": " + diag.Vendor}[of.vendor > 0]
		if of.vendor > 0 && of.vendor < of.left {
			advice += fmt.Sprintf(" for %d of them", of.vendor)
		}
		fmt.Fprintf(w, "%s not rendered%s\n\n", shares, advice)
	}
	offline.print(w, verbose, len(in.Kustomizations), fmt.Sprintf("Kustomizations: %d; %s, %d can render offline", len(in.Kustomizations), report.Count(len(in.Roots), "root"), offline.yes))
	charts.print(w, verbose, len(in.charts), fmt.Sprintf("Helm charts: %d; %s, %d can render offline", len(in.Charts), report.Count(renders, "render"), charts.yes))
	pointed.print(w, verbose, len(pointed.rows), fmt.Sprintf("GitOps pointers: %d, %d rendered", len(pointed.rows), pointed.yes))
	if offline.folded || charts.folded || pointed.folded {
		fmt.Fprint(w, "--verbose lists each of them.\n\n")
	}
	var nodes, offered, definitions, unread table
	for _, name := range in.Topologies {
		nodes.row("", "nodes", in.shown(name))
	}
	nodes.print(w, true, len(in.Topologies), fmt.Sprint("Files with nodes: ", len(in.Topologies)))
	for _, name := range in.Offered {
		offered.row("", "topology: ["+yamlString(in.fromBase(name))+"]")
	}
	offered.print(w, true, len(in.Offered), fmt.Sprintf("Files with nodes that count only if you name them, with --topology or in %s: %d", config.Name, len(in.Offered)))
	for _, o := range in.Definitions {
		row, _ := kinds.Propose(o)
		definitions.row("", "schedlint kinds --from "+yamlString(in.shown(o.File.Name)), row.Row.Kind+" of "+row.Row.Group)
	}
	definitions.print(w, true, len(in.Definitions), fmt.Sprint("Custom resources whose pods are not known: ", len(in.Definitions)))
	for _, u := range in.Unread {
		unread.row("", "unread", in.shown(u.Name), u.Why)
	}
	unread.print(w, true, len(in.Unread), fmt.Sprint("Not looked at: ", len(in.Unread)))
}

// tally counts the inputs as lint does. Of those that are left without a render and are not accepted
// by the configuration, vendor counts those that schedlint vendor may help.
type tally struct {
	conf         *config.Config
	inputs       []diag.Inputs
	left, vendor int
}

// count counts an input, and returns why it is not rendered. names are those by which the
// configuration may accept it.
func (t *tally) count(kind, rendered, why string, names ...string) string {
	i := slices.IndexFunc(t.inputs, func(k diag.Inputs) bool { return k.Kind == kind })
	if i < 0 {
		i = len(t.inputs)
		t.inputs = append(t.inputs, diag.Inputs{Kind: kind})
	}
	of := &t.inputs[i]
	of.Found++
	if rendered == "yes" {
		of.Rendered++
		return ""
	}
	for _, u := range t.conf.Unrendered {
		if u.Means(names...) {
			of.Accepted++
			return "accepted: " + u.Reason
		}
	}
	t.left++
	if strings.Contains(why, diag.Vendor) {
		t.vendor++
	}
	return why
}

// chartTable lists the renders of each chart, and counts them.
func (in *Found) chartTable(of *tally) (t table, renders int) {
	t.header = []string{"offline", "workloads", "chart", "values", "why not"}
	for _, c := range in.charts {
		for _, r := range c.renders {
			values := "-"
			if r.values != "" {
				values = in.valuesPath(c, r.values)
			}
			yes, workloads, why := in.became(r.out)
			if renders++; r.values == "" { // lint renders the others only if the configuration names them
				why = of.count("charts", yes, why, in.fromBase(c.Dir))
			}
			t.row("", yes, workloads, in.shown(c.Dir), values, why)
		}
		if len(c.renders) == 0 {
			t.row("", "-", "-", in.shown(c.Dir), "-", c.why)
		}
	}
	return t, renders
}

// pointerTable lists the root that each pointer deploys, or why the pointer is not rendered.
func (in *Found) pointerTable(of *tally) table {
	t := table{header: []string{"rendered", "workloads", "pointer", "kind", "leads to", "why not"}}
	if in.pointed == nil {
		return t
	}
	for _, d := range in.pointed.Deployments {
		yes, workloads, why := "no", "-", ""
		if d.Output != nil {
			yes, workloads, why = in.became(d.Output)
		} else {
			why = clipped(d.Why.String())
		}
		if d.Why.What != pointers.WhySuspended {
			why = of.count(d.Pointer.Kind.Inputs(), yes, why, in.fromBase(d.Pointer.File), d.Pointer.Name)
		}
		to := "-"
		switch chart := d.Root.Chart; {
		case chart != nil && chart.Archive != "":
			to = in.shown(chart.Archive)
		case d.Root.Dir != "":
			to = in.shown(d.Root.Dir)
		}
		t.row(d.Why.What, yes, workloads, fmt.Sprintf("%s:%d %s", in.shown(d.Pointer.File), d.Pointer.Line, clipped(d.Pointer.Name)), string(d.Pointer.Kind), to, why)
	}
	return t
}

// table collects rows and counts the rows whose first cell is yes.
type table struct {
	header []string
	rows   [][]string
	// topics holds what the reasons of rows are about. Reasons about the same are one reason.
	topics []string
	yes    int
	// folded is set if fold left out rows.
	folded bool
}

// row adds a row, escaping invisible characters in its cells. The last cell is the reason. topic says
// what it is about, if it begins with that.
func (t *table) row(topic string, cells ...string) {
	if cells[0] == "yes" {
		t.yes++
	}
	why := cells[len(cells)-1]
	if topic == "" || !strings.HasPrefix(why, topic) {
		topic = why
	}
	if strings.Contains(why, diag.Vendor) {
		topic = cmp.Or(strings.TrimSuffix(topic, why), "something is elsewhere") + ": " + diag.Vendor
	}
	for i := range cells {
		cells[i] = report.Visible(cells[i])
	}
	t.rows, t.topics = append(t.rows, cells), append(t.topics, topic)
}

// print writes the heading and then the rows. If n is 0, print writes nothing.
func (t *table) print(w io.Writer, verbose bool, n int, heading string) {
	if n == 0 {
		return
	}
	fmt.Fprintln(w, heading)
	header, rows := t.header, t.rows
	if !verbose {
		header, rows = t.fold(w)
	}
	var aligned bytes.Buffer
	tabs := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	for i, cells := range append([][]string{header}, rows...) {
		if i > mostRows {
			fmt.Fprintf(tabs, "  %d more\n", len(rows)-mostRows)
			break
		}
		if len(cells) > 0 {
			fmt.Fprintf(tabs, "  %s\t\n", strings.Join(cells, "\t")) // tabwriter only aligns cells that end in a tab
		}
	}
	tabs.Flush()
	for line := range strings.Lines(aligned.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
	fmt.Fprintln(w)
}

// fold writes each reason once, with the number of its rows and the first of them. Reasons for not
// rendering come first, the most frequent one before the others. It returns the other rows, without
// the columns that say the same in all of them.
func (t *table) fold(w io.Writer) (header []string, rows [][]string) {
	type group struct {
		why, first string
		fails      bool
		n          int
	}
	var groups []*group
	by := map[string]*group{}
	for i, cells := range t.rows {
		last := len(cells) - 1
		if cells[0] == "yes" && cells[1] != "0" {
			header, rows = t.header[1:last], append(rows, cells[1:last])
			continue
		}
		is := map[string]string{"yes": "rendered without workloads", "no": "not rendered: ", "-": "not rendered alone: "}[cells[0]]
		topic, why := is+t.topics[i], is+cells[last]
		g := by[topic]
		if g == nil {
			g = &group{why: why, first: cells[2], fails: cells[0] == "no"}
			by[topic], groups = g, append(groups, g)
		}
		if g.n++; g.why != why {
			g.why = topic
		}
	}
	slices.SortStableFunc(groups, func(x, y *group) int {
		if x.fails != y.fails {
			return map[bool]int{true: -1, false: 1}[x.fails]
		}
		return y.n - x.n
	})
	for _, g := range groups {
		t.folded = t.folded || g.n > 1
		report.Fold(w, "  ", "    ", fmt.Sprintf("%d %s", g.n, g.why))
		fmt.Fprintf(w, "    %s %s\n", map[bool]string{true: "it is", false: "such as"}[g.n == 1], g.first)
	}
	return header, rows
}
