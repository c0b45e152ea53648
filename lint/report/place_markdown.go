package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// placementMarkdown writes decisions for the summary of a CI step: the table of workloads, the
// reasons, the cores and the runs.
func placementMarkdown(w io.Writer, p *diag.Placements) error {
	var doc page
	if len(p.Decisions) > 1 {
		doc.add(0, "## schedlint place: "+prose(contextCounts(p)))
	}
	for i := range p.Decisions {
		d := &p.Decisions[i]
		title := "## schedlint place: "
		if len(p.Decisions) > 1 {
			title = "### " + prose(clipped(contextTitle(d), maxPath)) + ": "
		}
		doc.placement(title, d)
	}
	doc.list(incomplete(p.Failures))
	return doc.writeTo(w)
}

// placement adds one decision.
func (p *page) placement(title string, d *diag.Placement) {
	p.add(0, title+prose(verdict(d)))
	p.add(0, prose(pods(d)))
	if len(d.Workloads) > 0 {
		p.decision(decide(d))
	}
	for _, c := range contradictions(d) {
		p.contradiction(&c)
	}
	if title := witnessTitle(d); title != "" {
		var b strings.Builder
		grid(&b, d.Witness)
		p.run(title, b.String())
	}
	if d.Stuck != nil {
		var b strings.Builder
		stuck(&b, d.Stuck)
		p.run(stuckTitle, b.String())
	}
	p.list(limits(d))
}

// decision adds the table, with as many rows as fit, and the reasons for answers.
func (p *page) decision(d decision) {
	titles, rule := []string{"workload", "replicas"}, []string{"---", "---:"}
	for _, q := range d.columns {
		titles, rule = append(titles, prose(clipped(q.whole(), maxPath))), append(rule, "---")
	}
	rows, size := []string{tableRow(titles), tableRow(rule)}, 0
	for i := range d.rows {
		// The answers are fixed words, the subject is a name.
		texts := d.rows[i].texts()
		row := tableRow(append([]string{prose(clipped(texts[0], maxPath))}, texts[1:]...))
		if size += len(row) + 1; size > maxMarkdown/3 {
			rows = append(rows, fmt.Sprintf("\nand %s more", Count(len(d.rows)-i, "workload")))
			break
		}
		rows = append(rows, row)
	}
	p.add(0, strings.Join(rows, "\n"))
	var sentences []string
	for i, r := range d.reasons {
		if size += min(maxSentence, len(r.why)); size > maxMarkdown/2 {
			sentences = append(sentences, fmt.Sprintf("and %s more", Count(len(d.reasons)-i, "reason")))
			break
		}
		sentences = append(sentences, fmt.Sprintf("%s %s: %s, %s", clipped(r.subject, maxPath), r.question, r.answer, r.why))
	}
	p.list(sentences)
	p.add(0, prose(strings.Join(legend(d.columns, d.rows), "; ")))
}

// contradiction adds the reason why workloads can never be placed, and the repairs.
func (p *page) contradiction(c *contradiction) {
	var items []string
	for i, m := range c.core {
		if i == maxRelated {
			items = append(items, fmt.Sprintf("- and %d more", len(c.core)-i))
			break
		}
		at := placeSpan(diag.Span{File: m.File, Line: m.Line, Column: m.Column})
		items = append(items, strings.Join(nonEmpty("-", at, prose(clipped(m.Field+": "+m.Text, maxSentence))), " "))
	}
	for _, r := range c.repairs[:min(maxItems, len(c.repairs))] {
		items = append(items, "- help: "+prose(clipped(r, maxSentence)))
	}
	block := prose(clipped(c.sentence(), maxSentence)) + "\n\n" + strings.Join(items, "\n")
	if !p.add(reserved, block) {
		p.add(0, "A contradiction did not fit here.")
	}
}

// run adds placements in the form of text, or a note that they do not fit.
func (p *page) run(title, text string) {
	if !p.add(reserved, "A"+title[1:]+":\n\n"+codeBlock(text)) {
		p.add(0, "A"+title[1:]+" did not fit here.")
	}
}
