package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
)

// NothingChecked is the message for input that contains no known workload.
const NothingChecked = "no workloads were checked, but skipped input may contain some"

// summary writes a line with counts of the examined input. Indented lines about input that was not
// checked follow.
func (t *textWriter) summary(r *diag.Report) {
	s, c := &r.Summary, r.Change
	if text := cmp.Or(s.NotRendered(), unchecked(s)); text != "" {
		t.println(t.paint(yellow, text))
	}
	t.println(strings.Join(nonEmpty(examined(s), skipped(s.Skipped), t.found(r), acceptedText(s), completeness(r)), "; "))
	told := nonEmpty(sinceText(c), healedText(s))
	told = append(told, lists.Of(s.Notes, func(note string) string { return "note: " + Visible(note) })...)
	all := append(told, brief(s)...)
	if t.verbose {
		all = append(told, remarks(s, t.path)...)
	}
	var b strings.Builder
	if text := provedText(s); text != "" {
		writeFolded(&b, "", "", text)
	}
	for _, line := range all {
		writeFolded(&b, "  ", "    ", line)
	}
	lines := slices.Collect(strings.Lines(b.String()))
	if room := maxSummary - 1; !t.verbose && len(lines) > room {
		lines = append(lines[:room-1], fmt.Sprintf("  %d more lines: --verbose shows them\n", len(lines)-room+1))
	}
	for _, line := range lines {
		t.out.WriteString(line)
	}
}

// provedText says what is proved about the workloads if there are only notes or no findings. It
// returns "" if there are others or nothing is proved.
func provedText(s *diag.Summary) string {
	p := s.Proved
	if p == nil || s.Errors+s.Warnings > 0 {
		return ""
	}
	all, ending := "all ", ""
	if p.Workloads == 1 {
		all, ending = "", "s"
	}
	var whole, some []string
	proofs := 0
	for _, q := range []struct {
		verb    string
		answers map[diag.Outcome]int
	}{{"fit", p.Fit}, {"roll", p.Roll}, {"drain", p.Drain}} {
		asked, always := p.Workloads-q.answers[diag.None], q.answers[diag.Always]
		proofs += always
		var rest []string
		for _, o := range []diag.Outcome{diag.Never, diag.Sometimes, diag.Unknown} {
			if n := q.answers[o]; n > 0 {
				rest = append(rest, fmt.Sprintf("%d %s", n, o))
			}
		}
		switch {
		case q.answers[diag.Unknown] == asked && asked > 0:
			some = append(some, "whether they "+q.verb+" is unknown")
		case len(rest) > 0:
			some = append(some, fmt.Sprintf("%d of %d %s (%s)", always, asked, q.verb, strings.Join(rest, ", ")))
		case asked > 0:
			whole = append(whole, q.verb+ending)
		}
	}
	if proofs == 0 {
		return ""
	}
	if n := len(whole); n > 1 {
		whole = append(whole[:n-2], whole[n-2]+" and "+whole[n-1])
	}
	if len(whole) > 0 {
		some = slices.Insert(some, 0, all+strings.Join(whole, ", "))
	}
	text := Count(p.Workloads, "workload") + ": " + strings.Join(some, "; ")
	switch n := p.SingleReplica; {
	case n == 1:
		text += "; 1 is down while a node is (one replica)"
	case n > 1:
		text += fmt.Sprintf("; %d are down while a node is (one replica)", n)
	}
	if more := s.Workloads - p.Workloads; more > 0 {
		text += fmt.Sprintf("; %d more rejected, running or repeated", more)
	}
	return text
}

// found returns the number of findings per level, and the flags by which the run fails anyway. If it
// fails or is incomplete, it does not say that there are no findings.
func (t *textWriter) found(r *diag.Report) string {
	failed, text := failedBy(r), t.findings(&r.Summary)
	if s := &r.Summary; (failed != "" || !r.Complete()) && s.Errors+s.Warnings+s.NoteFindings == 0 {
		text = ""
	}
	return strings.Join(nonEmpty(text, failed), ", ")
}

// failedBy says which flags fail the run, or returns "".
func failedBy(r *diag.Report) string {
	if len(r.FailedBy) == 0 {
		return ""
	}
	return "failed by " + enumerated(r.FailedBy)
}

// completeness returns a word to print next to the findings of an incomplete run. The word keeps
// users from mistaking an empty list for success.
func completeness(r *diag.Report) string {
	if r.Complete() {
		return ""
	}
	return "incomplete"
}

// maxSummary is the maximum number of lines in a summary that is not verbose.
const maxSummary = 12

// brief returns lines that count the input that was not checked completely.
func brief(s *diag.Summary) []string {
	var all []string
	for _, part := range []struct {
		title   string
		entries []diag.Skip
	}{{"not checked", s.NotJudged}, {"declared differently", s.Repeated}, {"unknown", s.Unknown}, {"not rendered, which is accepted", s.AcceptedUnrendered}} {
		if len(part.entries) > 0 {
			all = append(all, part.title+": "+counts(part.entries))
		}
	}
	if len(all) > 0 {
		all = append(all, "--verbose lists the places")
	}
	return all
}

// maxCounts is the maximum number of entries in a line of counts.
const maxCounts = 4

// counts returns the largest entries with their counts, and a total for the rest.
func counts(entries []diag.Skip) string {
	entries = slices.Clone(entries)
	sorting.Stable(entries, func(a, b diag.Skip) int { return b.Count - a.Count })
	var parts []string
	more := 0
	for i, e := range entries {
		if i < maxCounts {
			parts = append(parts, fmt.Sprintf("%s (%d)", reasonOf(e), e.Count))
		} else {
			more += e.Count
		}
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}

// unchecked returns a message if no workload was checked but the skipped input may contain some.
// Otherwise, it returns "".
func unchecked(s *diag.Summary) string {
	reasons := lists.Of(s.Unjudged(), func(e diag.Skip) string { return Count(e.Count, reasonOf(e)) })
	if len(reasons) == 0 {
		return ""
	}
	return NothingChecked + ": " + enumerated(reasons)
}

// remarks returns lines about input that was not checked completely. The path function maps a file
// name to the name to print.
func remarks(s *diag.Summary, path func(string) string) []string {
	var all []string
	for _, detail := range []struct {
		title   string
		entries []diag.Skip
		counted bool // the summary line already has the counts, so only locations are new
	}{
		{"skipped", s.Skipped, true},
		{"not checked", s.NotJudged, false},
		{"declared differently", s.Repeated, false},
		{"unknown", s.Unknown, false},
		{"not rendered, which is accepted", s.AcceptedUnrendered, false},
	} {
		for _, e := range detail.entries[:min(maxRemarks, len(detail.entries))] {
			if !detail.counted || len(e.Places) > 0 {
				all = append(all, detail.title+": "+reasonOf(e)+where(e, path))
			}
		}
		if more := moreEntries(len(detail.entries), maxRemarks, "entries"); more != "" {
			all = append(all, detail.title+": "+more)
		}
	}
	return all
}

// maxRemarks is the maximum number of entries per kind of remark. A remark can have one entry per
// object.
const maxRemarks = 100

// reasonOf returns an entry's reason without hidden characters. It shortens the reason, because a
// name in it can be long.
func reasonOf(e diag.Skip) string { return Visible(clipped(e.Reason, maxPath)) }

// enumerated joins reasons on one line. If there are too many, it counts the rest.
func enumerated(reasons []string) string {
	const most = 20
	if more := len(reasons) - most; more > 0 {
		reasons = append(slices.Clone(reasons[:most]), fmt.Sprintf("%d more reasons", more))
	}
	return strings.Join(reasons, ", ")
}

// examined returns counts of the input that the rules examined.
func examined(s *diag.Summary) string {
	nodes := "no topology"
	if s.TopologyDeclared {
		nodes = Count(s.Nodes, "node")
	}
	workloads := Count(s.Workloads, "workload")
	if s.Contexts > 1 {
		workloads += " in " + Count(s.Contexts, "context")
	}
	renders := ""
	if s.Renders > 0 {
		renders = Count(s.Renders, "render")
	}
	return strings.Join(nonEmpty(Count(s.Documents, "document"), renders, workloads, nodes), ", ")
}

// skipped returns how many documents were skipped for each reason, or "" if none were.
func skipped(entries []diag.Skip) string {
	total, reasons := 0, []string(nil)
	for _, e := range entries {
		total += e.Count
		reasons = append(reasons, Count(e.Count, reasonOf(e)))
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("skipped %d (%s)", total, enumerated(reasons))
}

// findings returns how many findings there are per level, omitting levels without findings.
func (t *textWriter) findings(s *diag.Summary) string {
	var parts []string
	for _, l := range levelCounts(s) {
		if l.n > 0 {
			parts = append(parts, t.paint(levelStyle(l.level), Count(l.n, string(l.level))))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "no findings")
}

// levelCount is the number of findings at one level.
type levelCount struct {
	level diag.Level
	n     int
}

// levelCounts returns the number of findings at every level, worst level first.
func levelCounts(s *diag.Summary) []levelCount {
	return []levelCount{{diag.LevelError, s.Errors}, {diag.LevelWarning, s.Warnings}, {diag.LevelNote, s.NoteFindings}}
}

// where returns an entry's listed locations, and how many more there are.
func where(e diag.Skip, path func(string) string) string {
	var places []string
	for _, p := range e.Places {
		file, line := p, ""
		if i := strings.LastIndexByte(p, ':'); i >= 0 {
			file, line = p[:i], p[i:]
		}
		places = append(places, Visible(path(file)+line))
	}
	more := e.Count - len(places)
	switch {
	case len(places) == 0:
		return fmt.Sprintf(" (%d)", e.Count)
	case more > 0:
		return fmt.Sprintf(" (%d): %s and %d more", e.Count, strings.Join(places, ", "), more)
	}
	return fmt.Sprintf(" (%d): %s", e.Count, strings.Join(places, ", "))
}

// Count returns n and the noun, in the plural if necessary. The noun must have a regular plural.
func Count(n int, noun string) string {
	for _, word := range []string{" with ", " that "} {
		if head, tail, ok := strings.Cut(noun, word); ok {
			return Count(n, head) + word + tail
		}
	}
	switch {
	case n == 1 || noun == "" || strings.HasSuffix(noun, "s"):
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	case strings.HasSuffix(noun, "ry"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// nonEmpty returns all non-empty parts.
func nonEmpty(parts ...string) []string {
	return lists.Where(parts, func(p string) bool { return p != "" })
}

// silences writes the parts of a change that make findings disappear, and how the nodes differ. Users
// see these lines first, because they come before the findings.
func (t *textWriter) silences(c *diag.Change) {
	if c == nil || len(c.Silences)+len(c.Nodes) == 0 {
		return
	}
	for _, part := range []struct {
		word, noun string
		all        []diag.Silence
	}{{"silenced:", "silences", c.Silences}, {"nodes:", "changes of nodes", c.Nodes}} {
		for _, s := range part.all[:min(maxLines, len(part.all))] {
			t.println(strings.Join(nonEmpty(t.paint(bold, t.heading(s.Location)), t.paint(cyan, part.word), Visible(clipped(s.Message, maxPlain))), " "))
		}
		if more := moreEntries(len(part.all), maxLines, part.noun); more != "" {
			t.println(more)
		}
	}
	t.println()
}

// fixed writes a line for each fixed finding and for each finding that disappeared together with
// its object.
func (t *textWriter) fixed(c *diag.Change, every bool) {
	if c == nil || len(c.Fixed)+len(c.Gone) == 0 {
		return
	}
	for _, part := range []struct {
		word, style string
		all         []diag.Diagnostic
	}{{"fixed:", green, c.Fixed}, {"gone:", cyan, c.Gone}} {
		all := groupEqual(part.all, every)
		for _, s := range all[:min(maxLines, len(all))] {
			d := s.Diagnostic
			rule := t.paint(dim, "["+Visible(d.Rule)+"]")
			t.println(strings.Join(nonEmpty(t.paint(bold, t.heading(d.Location)), t.paint(part.style, part.word), Visible(message(d)), rule, s.places()), " "))
		}
		if more := moreEntries(len(all), maxLines, strings.TrimSuffix(part.word, ":")); more != "" {
			t.println(more)
		}
	}
	t.println()
}

// heading returns a location for the start of a line, or "".
func (t *textWriter) heading(at diag.Span) string {
	if place := t.place(at); place != "" {
		return notCommand(Visible(place) + ":")
	}
	return ""
}

// sinceText summarizes the comparison with a revision. It returns "" if there was no comparison.
func sinceText(c *diag.Change) string {
	if c == nil {
		return ""
	}
	text := fmt.Sprintf("since %s: %d new, %d fixed, %d unchanged", Visible(c.Since), c.Introduced, len(c.Fixed), len(c.Unchanged))
	if n := len(c.Gone); n > 0 {
		text += fmt.Sprintf(", %d gone", n)
	}
	if n := len(c.Undecided); n > 0 {
		text += fmt.Sprintf(", %d no longer decided", n)
	}
	return text
}

// acceptedText returns text that counts the accepted findings, or "" if there are none.
func acceptedText(s *diag.Summary) string {
	if s.Accepted == 0 {
		return ""
	}
	return fmt.Sprintf("%d accepted", s.Accepted)
}

// healedText returns text that counts the baseline entries that are no longer needed, or "" if
// there are none.
func healedText(s *diag.Summary) string {
	if s.Healed == 0 {
		return ""
	}
	verb := "fire"
	if s.Healed == 1 {
		verb = "fires"
	}
	return fmt.Sprintf("fixed: %s of the baseline no longer %s; --write-baseline removes fixed entries", Count(s.Healed, "entry"), verb)
}
