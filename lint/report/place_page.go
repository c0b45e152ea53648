package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	web "github.com/schedlint/schedlint/lint/report/page"
)

// Pictures reports whether a format of placements shows their runs event by event.
func Pictures(format string) bool { return format == "html" || format == "svg" }

// placementHTML writes the placements as a page.
func placementHTML(w io.Writer, p *diag.Placements, opts Options) error {
	return web.Write(w, placementPage(p, opts))
}

// placementSVG draws the placement that is most worth a look: the first with a run that gets stuck, or
// else the first with a run.
func placementSVG(w io.Writer, p *diag.Placements, opts Options) error {
	return web.Draw(w, placementPage(p, opts))
}

func placementPage(p *diag.Placements, opts Options) *web.Page {
	out := &web.Page{Title: "Where the pods fit"}
	for _, line := range Incomplete(p.Failures) {
		out.Incomplete = append(out.Incomplete, Visible(line))
	}
	all := withPods(p, opts.Verbose)
	if len(p.Decisions) > 1 || len(all) < len(p.Decisions) {
		out.Title += ": " + contextCounts(p)
	}
	for i := range all {
		out.Contexts = append(out.Contexts, pageContext(&all[i]))
	}
	if len(p.Decisions) == 1 && len(all) == 1 && all[0].Cluster+all[0].Context == "" {
		out.Contexts[0].Title = "All manifests"
	}
	return out
}

func pageContext(p *diag.Placement) web.Context {
	outcome, rest := verdict(p), ""
	if at := strings.IndexAny(outcome, " ;"); at >= 0 {
		outcome, rest = outcome[:at], strings.TrimLeft(outcome[at:], " ;")
	}
	names := shortNames(p)
	whole, folded := decide(p, true), decide(p, false)
	c := web.Context{
		Title: contextTitle(p), Outcome: outcome, Verdict: rest, Lines: []string{pods(p)}, Rest: folded.rest, Picture: p.Picture,
		Name: func(reference string) string { return shortName(names, reference) }, Visible: Visible,
	}
	if p.Typical != nil {
		c.Lines = append(c.Lines, typical(p))
	}
	for _, q := range whole.columns {
		c.Columns = append(c.Columns, q.whole())
	}
	for i := range whole.rows {
		w, r := &p.Workloads[i], &whole.rows[i]
		row := pageRow(r, &whole)
		row.Reference = strings.Join([]string{w.APIVersion, w.Kind, cmp.Or(w.Namespace, "default"), w.Name}, "/")
		c.Rows = append(c.Rows, row)
	}
	at := map[string]int{}
	for i := range c.Rows {
		at[c.Rows[i].Subject] = i
	}
	for _, r := range whole.reasons {
		if i, known := at[r.subject]; known {
			c.Rows[i].Reasons = append(c.Rows[i].Reasons, fmt.Sprintf("%s: %s, %s", r.question, r.answer, r.why))
		}
	}
	for i := range folded.rows {
		c.Folded = append(c.Folded, pageRow(&folded.rows[i], &folded))
	}
	for _, r := range folded.reasons {
		c.Reasons = append(c.Reasons, fmt.Sprintf("%s %s: %s, %s", r.subject, r.question, r.answer, r.why))
	}
	for _, x := range contradictions(p) {
		conflict := web.Conflict{Sentence: x.sentence()}
		for _, m := range x.core[:min(maxRelated, len(x.core))] {
			conflict.Members = append(conflict.Members, fmt.Sprintf("%s:%d:%d: %s: %s", Visible(m.File), m.Line, m.Column, Visible(m.Field), Visible(m.Text)))
		}
		if more := len(x.core) - maxRelated; more > 0 {
			conflict.Members = append(conflict.Members, fmt.Sprintf("and %d more", more))
		}
		for _, help := range x.repairs {
			conflict.Helps = append(conflict.Helps, Visible(help))
		}
		c.Conflicts = append(c.Conflicts, conflict)
	}
	for _, line := range whole.legend {
		c.Legend = append(c.Legend, Visible(line))
	}
	for _, line := range limits(p) {
		c.Notes = append(c.Notes, Visible(line))
	}
	return c
}

func pageRow(r *row, d *decision) web.Row {
	return web.Row{Subject: r.subject, Replicas: r.replicas, Cells: r.texts()[2:], Fine: d.fine(r)}
}
