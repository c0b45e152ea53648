package report

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

const (
	// maxMarkdown bounds a document in bytes. GitHub drops the whole summary of a step that is
	// larger than 1 MiB, and other steps may add to it.
	maxMarkdown = 900 * 1024
	// reserved is the part of it for the text that follows the findings.
	reserved = 64 * 1024
	// maxSentence and maxPath bound the parts of one finding, in characters.
	maxSentence, maxPath = 1000, 300
	// maxItems bounds the related locations of one finding, and its repairs.
	maxItems = 10
)

// page is a Markdown document of limited size.
type page struct{ strings.Builder }

// add appends a block and an empty line, unless that leaves fewer than keep bytes.
func (p *page) add(keep int, block string) bool {
	if p.Len()+len(block)+2 > maxMarkdown-keep {
		return false
	}
	p.WriteString(block + "\n\n")
	return true
}

// writeTo ends the document with one line feed.
func (p *page) writeTo(w io.Writer) error {
	return lines(w, strings.TrimRight(p.String(), "\n")+"\n")
}

// writeMarkdown writes findings for the summary of a CI step, the worst first, so that these are
// kept if there are too many.
func writeMarkdown(w io.Writer, r *diag.Report, opts Options) error {
	var p page
	src, plain := newSources(r), &textWriter{}
	hollow, unjudged := unchecked(&r.Summary), ""
	if hollow != "" {
		unjudged = "no workload checked"
	}
	p.add(0, "## schedlint: "+strings.Join(nonEmpty(completeness(r), unjudged, plain.found(r)), ", "))
	p.list(incomplete(r.Failures))
	if hollow != "" {
		p.add(0, prose(clipped(hollow, maxSentence)))
	}
	p.add(0, prose(clipped("Examined "+strings.Join(nonEmpty(examined(&r.Summary), skipped(r.Summary.Skipped), acceptedText(&r.Summary), sinceText(r.Change)), "; "), maxSentence)))
	p.change(r.Change, opts.All)
	var left diag.Report
	for _, d := range groupEqual(worstFirst(r.Diagnostics), opts.All) {
		if len(left.Diagnostics) > 0 || !p.add(reserved, strings.Join(nonEmpty(markdownFinding(src, d.Diagnostic), d.places()), "\n\n")) {
			left.Diagnostics = append(left.Diagnostics, *d.Diagnostic)
		}
	}
	if len(left.Diagnostics) > 0 {
		n := len(left.Diagnostics)
		left.Sort()
		p.add(0, fmt.Sprintf("%s more did not fit here: %s.", Count(n, "finding"), plain.findings(&left.Summary)))
	}
	var notes []string
	for _, n := range r.Summary.Notes {
		notes = append(notes, "note: "+n)
	}
	notes = append(notes, nonEmpty(healedText(&r.Summary))...)
	rest := brief(&r.Summary)
	if opts.Verbose {
		rest = remarks(&r.Summary, func(file string) string { return file })
	}
	p.list(append(notes, rest...))
	return p.writeTo(w)
}

// change adds the silences and the fixed findings of a change.
func (p *page) change(c *diag.Change, every bool) {
	if c == nil {
		return
	}
	var silences []string
	for _, s := range c.Silences {
		silences = append(silences, strings.Join(nonEmpty(placeSpan(s.Location), prose(clipped(s.Message, maxSentence))), " "))
	}
	past := func(all []diag.Diagnostic) (items []string) {
		for _, s := range groupEqual(all, every) {
			d := s.Diagnostic
			items = append(items, strings.Join(nonEmpty(placeSpan(d.Location), prose(clipped(message(d), maxSentence)), codeSpan(clipped(d.Rule, maxPath)), s.places()), " "))
		}
		return items
	}
	for _, part := range []struct {
		title string
		items []string
	}{{"Silenced by this change", silences}, {"Fixed", past(c.Fixed)}, {"Gone", past(c.Gone)}} {
		const most = 100
		if len(part.items) == 0 {
			continue
		}
		block := "### " + part.title + "\n\n- " + strings.Join(part.items[:min(most, len(part.items))], "\n- ")
		if more := len(part.items) - most; more > 0 {
			block += fmt.Sprintf("\n- and %d more", more)
		}
		p.add(reserved, block)
	}
}

// list adds one item per sentence, and the number of those that do not fit.
func (p *page) list(sentences []string) {
	const line = 40 // the size of the last item
	var items []string
	size := 0
	for i, s := range sentences {
		item := "- " + prose(clipped(s, maxSentence))
		if size += len(item) + 1; p.Len()+size > maxMarkdown-line {
			items = append(items, fmt.Sprintf("- and %d more", len(sentences)-i))
			break
		}
		items = append(items, item)
	}
	if len(items) > 0 {
		p.add(0, strings.Join(items, "\n"))
	}
}

// markdownFinding renders one finding: message and location, source, details, related locations and
// repairs.
func markdownFinding(src *sources, d *diag.Diagnostic) string {
	level := cmp.Or(string(d.Level), "finding")
	parts := []string{"### " + prose(level) + ": " + codeSpan(clipped(d.Rule, maxPath))}
	parts = append(parts, strings.Join(nonEmpty(placeSpan(d.Location), prose(clipped(message(d), maxSentence))), " "))
	if s, ok := src.snippet(d.Location); ok {
		number := strconv.Itoa(d.Location.Line)
		parts = append(parts, codeBlock(fmt.Sprintf(" %s | %s\n %*s | %s", number, s.text, len(number), "", s.marks)))
	}
	var items []string
	for _, detail := range d.Details {
		items = append(items, "- "+prose(clipped(detail, maxSentence)))
	}
	for _, r := range d.Related[:min(maxItems, len(d.Related))] {
		items = append(items, "- "+strings.Join(nonEmpty(placeSpan(r.Location), prose(clipped(r.Message, maxSentence))), " "))
	}
	if more := morePlaces(d, maxItems); more != "" {
		items = append(items, "- "+more)
	}
	for _, f := range d.Fixes[:min(maxItems, len(d.Fixes))] {
		items = append(items, "- help: "+prose(clipped(f.Description, maxSentence)))
	}
	return strings.Join(append(parts, nonEmpty(strings.Join(items, "\n"))...), "\n\n")
}

// placeSpan returns a location as code, with a colon, or "".
func placeSpan(s diag.Span) string {
	if s.File == "" {
		return ""
	}
	t := &textWriter{display: func(file string) string { return clipped(file, maxPath) }}
	return codeSpan(t.place(s)) + ":"
}
