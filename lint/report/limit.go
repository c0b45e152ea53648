package report

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// Omissions of formats never change the result of a run: the exit status, the counts, baselines and
// comparisons see everything.
const (
	// maxRelated bounds the related locations of a finding in every format.
	maxRelated = 20
	// maxTextBytes bounds the findings in text, unless all are requested.
	maxTextBytes = 4 << 20
	// maxLines bounds each list of text that has a line for each entry.
	maxLines = 1000
	// maxPlain bounds one line of text on a related location or a repair, in characters.
	maxPlain = 1000
	// maxBodies bounds the quotes of findings in junit. Every finding is a test, but those beyond
	// the limit have only their message.
	maxBodies = 16 << 20
)

// trimmed returns a copy of the report in which findings have at most maxRelated related locations;
// the others are counted. The report itself remains unchanged.
func trimmed(r *diag.Report) *diag.Report {
	out := *r
	out.Diagnostics, out.Accepted = trim(r.Diagnostics), trim(r.Accepted)
	if c := r.Change; c != nil {
		change := *c
		change.Fixed, change.Gone, change.Undecided, change.Unchanged = trim(c.Fixed), trim(c.Gone), trim(c.Undecided), trim(c.Unchanged)
		out.Change = &change
	}
	return &out
}

func trim(all []diag.Diagnostic) []diag.Diagnostic {
	if !slices.ContainsFunc(all, func(d diag.Diagnostic) bool { return len(d.Related) > maxRelated }) {
		return all
	}
	all = slices.Clone(all)
	for i := range all {
		if d := &all[i]; len(d.Related) > maxRelated {
			d.MoreRelated += len(d.Related) - maxRelated
			d.Related = d.Related[:maxRelated:maxRelated]
		}
	}
	return all
}

// morePlaces counts the related locations of a finding that are not shown, or returns "".
func morePlaces(d *diag.Diagnostic, shown int) string {
	if more := len(d.Related) + d.MoreRelated - min(shown, len(d.Related)); more > 0 {
		return fmt.Sprintf("and %s", Count(more, "more place"))
	}
	return ""
}

// moreEntries returns the last line of a list that is cut, or "".
func moreEntries(n, most int, noun string) string {
	if n <= most {
		return ""
	}
	return fmt.Sprintf("and %d more %s", n-most, noun)
}

// diagnostics writes the worst findings that fit into the limit, in the order of the report.
func (t *textWriter) diagnostics(all []shown, every bool) {
	worst := make([]int, len(all))
	for i := range worst {
		worst[i] = i
	}
	if !every {
		slices.SortStableFunc(worst, func(a, b int) int { return -cmp.Compare(all[a].Level.Rank(), all[b].Level.Rank()) })
	}
	texts, size, kept := make([]string, len(all)), 0, 0
	var b strings.Builder
	out := t.out
	t.out = bufio.NewWriter(&b)
	for _, i := range worst {
		b.Reset()
		t.diagnostic(all[i].Diagnostic)
		if more := all[i].places(); more != "" { // it represents several
			t.println("  ", t.paint(dim, more))
		}
		t.println()
		t.out.Flush()
		if size += b.Len(); size > maxTextBytes && !every {
			break
		}
		texts[i], kept = b.String(), kept+1
	}
	t.out = out
	for _, text := range texts {
		t.out.WriteString(text)
	}
	if kept < len(all) {
		t.uncounted(all, worst[kept:])
	}
}

// uncounted writes the number of findings that did not fit.
func (t *textWriter) uncounted(all []shown, left []int) {
	var rest diag.Summary
	for _, i := range left {
		n := 1 + all[i].more
		switch all[i].Level {
		case diag.LevelError:
			rest.Errors += n
		case diag.LevelWarning:
			rest.Warnings += n
		default:
			rest.NoteFindings += n
		}
	}
	t.println(Count(rest.Errors+rest.Warnings+rest.NoteFindings, "more finding"), " (", t.findings(&rest), "): --all shows them")
	t.println()
}

// packer measures the size of documents after compression, as for an upload to GitHub. It
// compresses fast, which takes more room than GitHub's action needs.
type packer struct {
	z    *gzip.Writer
	size int
}

func newPacker() *packer {
	p := &packer{}
	p.z, _ = gzip.NewWriterLevel(p, gzip.BestSpeed) // the level exists
	return p
}

// Write counts compressed bytes.
func (p *packer) Write(b []byte) (int, error) {
	p.size += len(b)
	return len(b), nil
}

// add compresses more text. Text that is not yet flushed, at most a window, is not counted.
func (p *packer) add(text string) {
	_, _ = strings.NewReader(text).WriteTo(p.z) // to a writer that does not fail
}
