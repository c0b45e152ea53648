package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
)

const (
	// maxAnnotations is the maximum number of annotations that GitHub shows per step and level.
	// GitHub silently drops the rest (actions/toolkit, issue 734).
	maxAnnotations = 10
	// maxAnnotation is the maximum length of a message in characters. The runner accepts up to 64
	// KiB.
	maxAnnotation = 8000
	// maxTitle is GitHub's limit on the length of a title, in characters.
	maxTitle = 255
)

// commands lists the workflow command for each level, worst level first.
var commands = []struct {
	level diag.Level
	name  string
}{{diag.LevelError, "error"}, {diag.LevelWarning, "warning"}, {diag.LevelNote, "notice"}}

// writeGitHub writes workflow commands, which GitHub's runner turns into file annotations. The
// summary follows in text format.
func writeGitHub(w io.Writer, r *diag.Report, _ Options) error {
	t := &textWriter{out: bufio.NewWriter(w), src: newSources(r), display: r.Display, verbose: true}
	annotateFailures(t, r.Failures)
	silenceNotice(t, r.Change)
	if text := unchecked(&r.Summary); text != "" && len(r.Diagnostics) == 0 {
		command(t, "warning", []property{{"title", "schedlint"}}, clipped(text, maxSentence))
	}
	byLevel := map[string][]*diag.Diagnostic{}
	for i := range r.Diagnostics {
		name := commandOf(r.Diagnostics[i].Level)
		byLevel[name] = append(byLevel[name], &r.Diagnostics[i])
	}
	var rest []string
	// The maximum number of findings to write with each workflow command.
	room := map[string]int{}
	for _, c := range commands {
		room[c.name] = maxAnnotations
	}
	if !r.Complete() {
		room["error"]-- // for the failures
	}
	if r.Change != nil && len(r.Change.Silences) > 0 {
		room["notice"]-- // for the change's silences
	}
	for _, c := range commands {
		if len(byLevel[c.name]) > room[c.name] {
			room["notice"]-- // for the omitted findings
			break
		}
	}
	for _, c := range commands {
		all := byLevel[c.name]
		for _, d := range all[:min(room[c.name], len(all))] {
			// An annotation cannot point outside the repository. The message therefore contains the location if it is
			// outside the repository.
			told := []string{clipped(cmp.Or(message(d), d.Rule), maxSentence)}
			for _, detail := range details(d) {
				told = append(told, clipped(detail, maxSentence))
			}
			var props []property
			if inRepository(d.Location.File) {
				props = place(d.Location)
			} else if at := t.place(d.Location); at != "" {
				told[0] = clipped(at, maxPath) + ": " + told[0]
			}
			props = append(props, property{"title", Visible(clipped(d.Rule, maxTitle-40))})
			for _, r := range d.Related[:min(maxItems, len(d.Related))] {
				at := (&textWriter{}).place(r.Location)
				told = append(told, strings.Join(nonEmpty(clipped(at, maxPath), clipped(r.Message, maxSentence)), ": "))
			}
			told = append(told, nonEmpty(morePlaces(d, maxItems))...)
			for _, f := range d.Fixes[:min(maxItems, len(d.Fixes))] {
				told = append(told, "help: "+clipped(f.Description, maxSentence))
			}
			command(t, c.name, props, told...)
		}
		if more := len(all) - room[c.name]; more > 0 {
			rest = append(rest, Count(more, string(c.level)))
		}
	}
	if len(rest) > 0 {
		command(t, "notice", []property{{"title", "schedlint"}},
			fmt.Sprintf("GitHub shows at most %d annotations per level and step; not shown: %s", maxAnnotations, strings.Join(rest, ", ")))
	}
	t.silences(r.Change)
	t.fixed(r.Change, true)
	t.summary(r)
	t.incomplete(r.Failures)
	return t.out.Flush()
}

// silenceNotice writes a single annotation that lists the parts of a change that make findings
// disappear. It comes before all other annotations.
func silenceNotice(t *textWriter, c *diag.Change) {
	if c == nil || len(c.Silences) == 0 {
		return
	}
	told := []string{fmt.Sprintf("This change silences findings (%d):", len(c.Silences))}
	for _, s := range c.Silences[:min(maxItems, len(c.Silences))] {
		told = append(told, strings.Join(nonEmpty(clipped((&textWriter{}).place(s.Location), maxPath), clipped(s.Message, maxSentence)), ": "))
	}
	if more := len(c.Silences) - maxItems; more > 0 {
		told = append(told, fmt.Sprintf("and %d more", more))
	}
	var props []property
	if at := c.Silences[0].Location; inRepository(at.File) {
		props = place(at)
	}
	command(t, "notice", append(props, property{"title", "schedlint"}), told...)
}

// commandOf returns the command for a level. An unknown level gets the mildest command.
func commandOf(l diag.Level) string {
	for _, c := range commands {
		if c.level == l {
			return c.name
		}
	}
	return "notice"
}

// property is a workflow command parameter.
type property struct{ key, value string }

// place returns the parameters for a span. It omits the columns if the span has several lines.
// Otherwise, the runner would print a warning.
func place(s diag.Span) []property {
	props := []property{{"file", Visible(relativePath(s.File))}}
	if s.Line < 1 {
		return props
	}
	s = ordered(s, 1)
	props = append(props, property{"line", strconv.Itoa(s.Line)}, property{"endLine", strconv.Itoa(s.EndLine)})
	if s.EndLine == s.Line {
		props = append(props, property{"col", strconv.Itoa(s.Column)}, property{"endColumn", strconv.Itoa(s.EndColumn)})
	}
	return props
}

var (
	// escapeData and escapeProperty apply the escapes that the runner decodes (actions/runner
	// ActionCommand.cs). The runner looks for the end of the parameters first, so a parameter must
	// not contain a colon.
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// command writes a workflow command. The message may have several lines.
func command(t *textWriter, name string, props []property, told ...string) {
	params := lists.Of(props, func(p property) string { return p.key + "=" + escapeProperty.Replace(p.value) })
	for i := range told {
		told[i] = notCommand(Visible(told[i]))
	}
	t.println("::", name, " ", strings.Join(params, ","), "::", escapeData.Replace(clipped(strings.Join(told, "\n"), maxAnnotation)))
}
