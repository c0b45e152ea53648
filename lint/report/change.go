package report

import (
	"fmt"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// silences writes the parts of a change that make findings disappear. They come before the
// findings, so that none is overlooked.
func (t *textWriter) silences(c *diag.Change) {
	if c == nil || len(c.Silences) == 0 {
		return
	}
	for _, s := range c.Silences[:min(maxLines, len(c.Silences))] {
		t.println(strings.Join(nonEmpty(t.paint(bold, t.heading(s.Location)), t.paint(cyan, "silenced:"), Visible(clipped(s.Message, maxPlain))), " "))
	}
	if more := moreEntries(len(c.Silences), maxLines, "silences"); more != "" {
		t.println(more)
	}
	t.println()
}

// fixed writes one line for each finding that is fixed, or gone with its object.
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

// sinceText summarizes the comparison with a revision, or returns "".
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

// acceptedText counts the findings that do not count, or returns "".
func acceptedText(s *diag.Summary) string {
	if s.Accepted == 0 {
		return ""
	}
	return fmt.Sprintf("%d accepted", s.Accepted)
}

// healedText counts the entries of the baseline that can be removed, or returns "".
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
