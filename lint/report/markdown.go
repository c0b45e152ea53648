package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
)

const (
	// maxMarkdown is the maximum size of a document in bytes. GitHub drops a step summary entirely
	// if it exceeds 1 MiB, and other tools may write to the same summary.
	maxMarkdown = 900 * 1024
	// maxComment is the maximum size of a comment in bytes. GitHub refuses one with more than 65,536
	// characters, and a heading and links are added to it.
	maxComment = 60 * 1024
	// maxSentence and maxPath are the maximum lengths of sentences and paths in a finding, in
	// characters.
	maxSentence, maxPath = 1000, 300
	// maxItems is the maximum number of related locations, and of fixes, per finding.
	maxItems = 10
)

// page is a Markdown document with a maximum size in bytes.
type page struct {
	strings.Builder
	most int
}

// reserved returns the number of bytes to keep free for the text after the findings.
func (p *page) reserved() int { return p.most / 14 }

// add appends a block and an empty line. If fewer than keep bytes would remain free, it appends
// nothing and returns false.
func (p *page) add(keep int, block string) bool {
	if p.Len()+len(block)+2 > p.most-keep {
		return false
	}
	p.WriteString(block + "\n\n")
	return true
}

// writeTo writes the document, which ends with a single line feed.
func (p *page) writeTo(w io.Writer) error {
	return lines(w, strings.TrimRight(p.String(), "\n")+"\n")
}

// writeMarkdown writes a step summary for CI.
func writeMarkdown(w io.Writer, r *diag.Report, opts Options) error {
	p := page{most: maxMarkdown}
	p.report(r, opts)
	return p.writeTo(w)
}

// writeComment writes the same for a comment on a pull request, which has less space.
func writeComment(w io.Writer, r *diag.Report, opts Options) error {
	p := page{most: maxComment}
	p.report(r, opts)
	return p.writeTo(w)
}

// report adds a report. The worst findings come first, because there may not be enough space for all
// of them.
func (p *page) report(r *diag.Report, opts Options) {
	src, plain := newSources(r), &textWriter{}
	hollow, unjudged := unchecked(&r.Summary), ""
	if hollow != "" {
		unjudged = "no workload checked"
	}
	p.add(0, "## schedlint: "+strings.Join(nonEmpty(completeness(r), unjudged, plain.found(r)), ", "))
	p.list(incomplete(r.Failures))
	if r.Summary.Workloads > 0 {
		hollow = r.Summary.NotRendered()
	}
	if hollow != "" {
		p.add(0, prose(clipped(hollow, maxSentence)))
	}
	p.add(0, prose(clipped("Examined "+strings.Join(nonEmpty(examined(&r.Summary), skipped(r.Summary.Skipped), acceptedText(&r.Summary), sinceText(r.Change)), "; "), maxSentence)))
	if text := provedText(&r.Summary); text != "" {
		p.add(0, prose(text))
	}
	p.counts(r)
	var left diag.Report
	for _, d := range groupEqual(worstFirst(r.Diagnostics), opts.All) {
		if len(left.Diagnostics) > 0 || !p.add(2*p.reserved(), strings.Join(nonEmpty(markdownFinding(src, d.Diagnostic), d.places()), "\n\n")) {
			left.Diagnostics = append(left.Diagnostics, *d.Diagnostic)
		}
	}
	if len(left.Diagnostics) > 0 {
		n := len(left.Diagnostics)
		left.Sort()
		p.add(0, fmt.Sprintf("%s more did not fit here: %s.", Count(n, "finding"), plain.findings(&left.Summary)))
	}
	p.change(r.Change, opts.All)
	notes := lists.Of(r.Summary.Notes, func(n string) string { return "note: " + n })
	notes = append(notes, nonEmpty(healedText(&r.Summary))...)
	rest := brief(&r.Summary)
	if opts.Verbose {
		rest = remarks(&r.Summary, func(file string) string { return file })
	}
	p.list(append(notes, rest...))
}

// maxZones is the maximum number of zones in the table of a change.
const maxZones = 20

// counts adds a table of what a change makes of nodes, workloads and findings. It lists the zones
// only if some of them differ, and of many zones only those.
func (p *page) counts(r *diag.Report) {
	if r.Change == nil || r.Change.Before == nil {
		return
	}
	was, now := r.Change.Before, r.Summary.Counts()
	rows := []string{tableRow([]string{"", "before", "after"}), tableRow([]string{"---", "---:", "---:"})}
	row := func(name string, was, now int) {
		rows = append(rows, tableRow([]string{name, strconv.Itoa(was), strconv.Itoa(now)}))
	}
	zones := maps.Clone(was.Zones)
	if zones == nil {
		zones = map[string]int{}
	}
	maps.Copy(zones, now.Zones)
	names := sorting.Keys(zones)
	if names = slices.DeleteFunc(names, func(zone string) bool { return zone == "" }); len(names) < len(zones) {
		names = append(names, "") // the nodes with no declared zone come last
	}
	if maps.Equal(was.Zones, now.Zones) || len(names) > maxZones {
		names = slices.DeleteFunc(names, func(zone string) bool { return was.Zones[zone] == now.Zones[zone] })
	}
	left := names[min(maxZones, len(names)):]
	for _, zone := range names[:len(names)-len(left)] {
		name := "nodes in zone " + codeSpan(clipped(zone, maxPath))
		if zone == "" {
			name = "nodes with no declared zone"
		}
		if zone != "" || len(zones) > 1 {
			row(name, was.Zones[zone], now.Zones[zone])
		}
	}
	if len(left) > 0 {
		sum := func(of map[string]int) (n int) {
			for _, zone := range left {
				n += of[zone]
			}
			return n
		}
		row("nodes in "+Count(len(left), "more zone")+" that differ", sum(was.Zones), sum(now.Zones))
	}
	row("nodes", was.Nodes, now.Nodes)
	row("workloads", was.Workloads, now.Workloads)
	if was.Proved != nil && now.Proved != nil {
		row("workloads that always fit", was.Proved.Fit[diag.Always], now.Proved.Fit[diag.Always])
		row("workloads whose rollouts always complete", was.Proved.Roll[diag.Always], now.Proved.Roll[diag.Always])
		row("workloads whose drains always end", was.Proved.Drain[diag.Always], now.Proved.Drain[diag.Always])
	}
	c := r.Change
	row("findings, old and new", len(c.Unchanged)+len(c.Fixed)+len(c.Gone)+len(c.Undecided), len(c.Unchanged)+c.Introduced)
	p.add(0, strings.Join(rows, "\n"))
}

// change adds sections about a change: what makes findings disappear, and which findings are fixed
// or gone.
func (p *page) change(c *diag.Change, every bool) {
	if c == nil {
		return
	}
	silences := func(all []diag.Silence) []string {
		return lists.Of(all, func(s diag.Silence) string {
			return strings.Join(nonEmpty(placeSpan(s.Location), prose(clipped(s.Message, maxSentence))), " ")
		})
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
	}{{"Silenced by this change", silences(c.Silences)}, {"Nodes changed", silences(c.Nodes)}, {"Fixed", past(c.Fixed)}, {"Gone", past(c.Gone)}} {
		const most = 100
		if len(part.items) == 0 {
			continue
		}
		block, listed := "### "+part.title+"\n", 0
		for _, item := range part.items[:min(most, len(part.items))] {
			if p.Len()+len(block)+len(item) > p.most-p.reserved() {
				break
			}
			block, listed = block+"\n- "+item, listed+1
		}
		if more := len(part.items) - listed; more > 0 {
			block += fmt.Sprintf("\n- and %d more", more)
		}
		p.add(0, block)
	}
}

// list adds one list item per sentence. If not all sentences fit, a final item counts the rest.
func (p *page) list(sentences []string) {
	const line = 40 // maximum size of the last item
	var items []string
	size := 0
	for i, s := range sentences {
		item := "- " + prose(clipped(s, maxSentence))
		if size += len(item) + 1; p.Len()+size > p.most-line {
			items = append(items, fmt.Sprintf("- and %d more", len(sentences)-i))
			break
		}
		items = append(items, item)
	}
	if len(items) > 0 {
		p.add(0, strings.Join(items, "\n"))
	}
}

// markdownFinding renders a finding: its message, location, source, details, related locations and
// fixes.
func markdownFinding(src *sources, d *diag.Diagnostic) string {
	level := cmp.Or(string(d.Level), "finding")
	parts := []string{"### " + prose(level) + ": " + codeSpan(clipped(d.Rule, maxPath))}
	parts = append(parts, strings.Join(nonEmpty(placeSpan(d.Location), prose(clipped(message(d), maxSentence))), " "))
	if s, ok := src.snippet(d.Location); ok {
		number := strconv.Itoa(d.Location.Line)
		parts = append(parts, codeBlock(fmt.Sprintf(" %s | %s\n %*s | %s", number, s.text, len(number), "", s.marks)))
	}
	items := lists.Of(details(d), func(detail string) string { return "- " + prose(clipped(detail, maxSentence)) })
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

// placeSpan returns a location as code followed by a colon, or "" if there is no location.
func placeSpan(s diag.Span) string {
	if s.File == "" {
		return ""
	}
	t := &textWriter{display: func(file string) string { return clipped(file, maxPath) }}
	return codeSpan(t.place(s)) + ":"
}

// GitHub renders untrusted text on a page as Markdown. It also turns mentions, issues, commits and
// emoji into links and pictures. Backslash escapes do not prevent this, because GitHub removes them
// first. GitHub never changes code, so everything except plain words is written as code.

var (
	// plainWord matches words that mean nothing special in Markdown or on GitHub.
	plainWord = lazy.Regexp(`^\(?["']?[A-Za-z]+(?:['-][A-Za-z]+)*["']?[),.;:?]*$`)
	// plainNumber matches numbers. At the start of a line, 3. and 3) would begin a list.
	plainNumber = lazy.Regexp(`^\(?\d{1,6}[),.;:%]*$`)
	// commitID matches words that GitHub could mistake for a commit hash.
	commitID = lazy.Regexp(`^[(]?[a-f]{7,}[),.;:?]*$`)
	// backticks matches runs of backticks. The fence around a code span must be longer than any run
	// inside it.
	backticks = lazy.Regexp("`+")
)

// prose returns a sentence as one line of Markdown. Plain words stay as they are, and everything
// else becomes code.
func prose(s string) string {
	var out, code []string
	opening := "" // what stands before the code
	flush := func(tail string) {
		if len(code) > 0 {
			out, code, opening = append(out, opening+codeSpan(strings.Join(code, " "))+tail), nil, ""
		}
	}
	for i, word := range strings.Fields(Visible(s)) {
		if plainWord().MatchString(word) && !commitID().MatchString(word) || plainNumber().MatchString(word) && (i > 0 || !strings.ContainsAny(word, ".)")) {
			flush("")
			out = append(out, word)
			continue
		}
		if rest, ok := strings.CutPrefix(word, "("); ok && strings.TrimRight(rest, ",.;:?)") != "" && strings.Count(word, "(") > strings.Count(word, ")") {
			flush("") // a remark in parentheses that begins with code and ends in a later word
			opening, word = "(", rest
		}
		name := strings.TrimRight(word, ",.;:?)")
		if name == "" || strings.Count(name, "(") > strings.Count(name, ")") {
			name = word
		}
		if code = append(code, name); name != word {
			flush(word[len(name):])
		}
	}
	flush("")
	return strings.Join(out, " ")
}

// codeSpan returns s as inline code, or "" if s is empty.
func codeSpan(s string) string {
	s = Visible(s)
	if s == "" {
		return ""
	}
	if strings.Trim(s, "` ") != s {
		s = " " + s + " " // Markdown strips one space from each end
	}
	mark := strings.Repeat("`", 1+longestBackticks(s))
	return mark + s + mark
}

// codeBlock formats text as a code block. The text must not contain hidden characters.
func codeBlock(text string) string {
	mark := strings.Repeat("`", max(3, 1+longestBackticks(text)))
	return mark + "text\n" + strings.TrimRight(text, "\n") + "\n" + mark
}

func longestBackticks(s string) int {
	longest := 0
	for _, run := range backticks().FindAllString(s, -1) {
		longest = max(longest, len(run))
	}
	return longest
}

// tableRow returns a table row. It replaces vertical bars, because they end a cell even inside
// code. A backslash before a bar does not always prevent this.
func tableRow(cells []string) string {
	cells = slices.Clone(cells)
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", `\x7c`)
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

// clipped returns the first n characters of s. If s is longer, clipped appends the number of
// omitted bytes.
func clipped(s string, n int) string {
	if end := runeOffset(s, n); end < len(s) {
		return s[:end] + " ... (" + Count(len(s)-end, "byte") + " more)"
	}
	return s
}

// placement adds a placement under the given title.
func (p *page) placement(title string, d *diag.Placement, every bool) {
	p.add(0, title+prose(verdict(d)))
	p.add(0, prose(pods(d)))
	if d.Typical != nil {
		p.add(0, prose(typical(d)))
	}
	if len(d.Workloads) > 0 {
		p.decision(decide(d, every))
	}
	for _, c := range contradictions(d) {
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
		if !p.add(p.reserved(), block) {
			p.add(0, "A contradiction did not fit here.")
		}
	}
	names := shortNames(d)
	if title := witnessTitle(d); title != "" {
		var b strings.Builder
		grid(&b, d.Witness, names, every)
		p.run(title, b.String())
	}
	if d.Stuck != nil {
		var b strings.Builder
		stuck(&b, d.Stuck, names)
		p.run(stuckTitle, b.String())
	}
	p.list(limits(d))
}

// decision adds the table for a placement, with as many rows as fit, and the reasons for the
// answers.
func (p *page) decision(d decision) {
	titles, rule := []string{"workload", "replicas"}, []string{"---", "---:"}
	for _, q := range d.columns {
		titles, rule = append(titles, prose(clipped(q.whole(), maxPath))), append(rule, "---")
	}
	rows, size := []string{tableRow(titles), tableRow(rule)}, 0
	for i := range d.rows {
		// Answers come from a fixed set of words, but the workload's name is not trusted.
		texts := d.rows[i].texts()
		row := tableRow(append([]string{prose(clipped(texts[0], maxPath))}, texts[1:]...))
		if size += len(row) + 1; size > p.most/3 {
			rows = append(rows, fmt.Sprintf("\nand %s more", Count(len(d.rows)-i, "row")))
			break
		}
		rows = append(rows, row)
	}
	p.add(0, strings.Join(rows, "\n"))
	if d.rest != "" {
		p.add(0, prose(d.rest))
	}
	var sentences []string
	for i, r := range d.reasons {
		if size += min(maxSentence, len(r.why)); size > p.most/2 {
			sentences = append(sentences, fmt.Sprintf("and %s more", Count(len(d.reasons)-i, "reason")))
			break
		}
		sentences = append(sentences, fmt.Sprintf("%s %s: %s, %s", clipped(r.subject, maxPath), r.question, r.answer, r.why))
	}
	p.list(sentences)
	p.add(0, prose(strings.Join(d.legend, "; ")))
}

// run adds a title and a code block. If they do not fit, it adds a note instead.
func (p *page) run(title, text string) {
	if !p.add(p.reserved(), "A"+title[1:]+":\n\n"+codeBlock(text)) {
		p.add(0, "A"+title[1:]+" did not fit here.")
	}
}
