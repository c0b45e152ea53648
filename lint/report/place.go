package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/schedlint/schedlint/lint/diag"
)

// PlaceFormats are the formats of a placement.
func PlaceFormats() []string { return []string{"text", "json"} }

// WritePlacement renders a decision about workloads together.
func WritePlacement(w io.Writer, format string, p *diag.Placement) error {
	switch format {
	case "json":
		return encode(w, arrays(p))
	case "text":
		return placementText(w, p)
	}
	return fmt.Errorf("unknown format %q: formats are %s", format, strings.Join(PlaceFormats(), ", "))
}

func placementText(out io.Writer, p *diag.Placement) error {
	var b strings.Builder
	bound := ""
	if !p.Pods.Exact {
		bound = " (bounds: more could not be decided)"
	}
	fmt.Fprintf(&b, "verdict: %s (rules alone: %s)\n", p.Verdict, p.RulesVerdict)
	fmt.Fprintf(&b, "pods: %d, placed at most %d, at least %d%s\n", p.Pods.Total, p.Pods.MaxPlaced, p.Pods.MinPlaced, bound)
	workloadTable(&b, p)
	cores(&b, p)
	if len(p.Witness) > 0 {
		title := "a run that places all pods"
		if len(p.Witness) < p.Pods.Total {
			title = "a run that places as many pods as possible"
		}
		fmt.Fprintf(&b, "\n%s:\n", title)
		grid(&b, p.Witness)
	}
	stuck(&b, p.Stuck)
	for _, i := range p.Invalid {
		fmt.Fprintf(&b, "invalid: %s: %s: %s\n", visible(i.Workload), visible(i.Field), visible(i.Message))
	}
	for _, u := range p.Unmodelled {
		fmt.Fprintf(&b, "not modelled: %s\n", visible(u))
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "note: %s\n", visible(n))
	}
	return lines(out, b.String())
}

// lines writes visible text none of whose lines is a command to a CI runner.
func lines(out io.Writer, text string) error {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(notCommand(line))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// arrays is p with every array present in JSON; p stays as it is.
func arrays(p *diag.Placement) *diag.Placement {
	out := *p
	out.Workloads, out.Witness, out.Invalid = array(p.Workloads), array(p.Witness), array(p.Invalid)
	out.Unmodelled, out.Notes = array(p.Unmodelled), array(p.Notes)
	for i := range out.Workloads {
		w := &out.Workloads[i]
		w.Core, w.Repairs, w.Change.Survives = array(w.Core), array(w.Repairs), array(w.Change.Survives)
	}
	if p.Stuck != nil {
		out.Stuck = &diag.PlacementStuck{Placements: array(p.Stuck.Placements), Pending: array(p.Stuck.Pending)}
	}
	return &out
}

// cores shows why workloads can never be placed, and what would help.
func cores(b *strings.Builder, p *diag.Placement) {
	for i, w := range p.Workloads {
		if len(w.Core) == 0 || slices.ContainsFunc(p.Workloads[:i], func(o diag.PlacementWorkload) bool { return slices.Equal(o.Core, w.Core) }) {
			continue
		}
		var names []string // of all that the core is about
		for _, o := range p.Workloads[i:] {
			if slices.Equal(o.Core, w.Core) {
				names = append(names, visible(o.Kind)+" "+visible(o.Name))
			}
		}
		what := "placed whole"
		if len(names) > 1 {
			what = "placed together"
		}
		fmt.Fprintf(b, "\n%s can never be %s, because of all of\n", strings.Join(names, ", "), what)
		for _, c := range w.Core {
			fmt.Fprintf(b, "  %s:%d:%d: %s: %s\n", visible(c.File), c.Line, c.Column, visible(c.Field), visible(c.Text))
		}
		for _, r := range w.Repairs {
			fmt.Fprintf(b, "help: %s\n", visible(r))
		}
	}
}

// grid shows what is in each zone and on each node of it.
func grid(b *strings.Builder, run []diag.PlacementStep) {
	zones, nodes := map[string][]string{}, map[string][]diag.PlacementStep{}
	for _, s := range run {
		if nodes[s.Node] == nil {
			zones[s.Zone] = append(zones[s.Zone], s.Node)
		}
		nodes[s.Node] = append(nodes[s.Node], s)
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, zone := range slices.Sorted(maps.Keys(zones)) {
		indent := "  "
		if zone != "" {
			var all []diag.PlacementStep
			for _, n := range zones[zone] {
				all = append(all, nodes[n]...)
			}
			fmt.Fprintf(t, "  zone %s\t%s\n", visible(zone), count(len(all), "pod"))
			indent = "    "
		}
		for _, n := range slices.Sorted(slices.Values(zones[zone])) {
			fmt.Fprintf(t, "%s%s\t%s\n", indent, visible(n), tallied(nodes[n]))
		}
	}
	t.Flush()
}

// tallied counts pods by workload.
func tallied(steps []diag.PlacementStep) string {
	pods := map[string]int{}
	for _, s := range steps {
		pods[s.Workload]++
	}
	var parts []string
	for _, w := range slices.Sorted(maps.Keys(pods)) {
		parts = append(parts, fmt.Sprintf("%d x %s", pods[w], visible(w)))
	}
	return strings.Join(parts, ", ")
}

// stuck shows a run that ends with pods left over, step by step.
func stuck(b *strings.Builder, s *diag.PlacementStuck) {
	if s == nil {
		return
	}
	fmt.Fprintf(b, "\na run that gets stuck:\n")
	for i, p := range s.Placements {
		fmt.Fprintf(b, "  %d. %s on %s\n", i+1, visible(p.Workload), visible(p.Node))
	}
	for _, p := range s.Pending {
		fmt.Fprintf(b, "  then %s of %s Pending: %s\n", count(p.Count, "pod"), visible(p.Workload), visible(p.Reason))
	}
}
