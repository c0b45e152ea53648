package report

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// Styles are parameters of the ANSI sequence SGR.
const (
	bold   = "1"
	dim    = "2"
	red    = "1;31"
	green  = "1;32"
	yellow = "1;33"
	cyan   = "1;36"
)

// levelStyle is the style in which text shows a level.
func levelStyle(l diag.Level) string {
	return map[diag.Level]string{diag.LevelError: red, diag.LevelWarning: yellow, diag.LevelNote: cyan}[l]
}

// textWriter writes the text format. Write errors stay in out until Flush.
type textWriter struct {
	out     *bufio.Writer
	src     *sources
	display func(string) string
	color   bool
}

func writeText(w io.Writer, r *diag.Report, opts Options) error {
	t := &textWriter{bufio.NewWriter(w), newSources(r), r.Display, opts.Color}
	t.silences(r.Change)
	for i := range r.Diagnostics {
		t.diagnostic(&r.Diagnostics[i])
		t.println()
	}
	t.fixed(r.Change)
	t.summary(&r.Summary, r.Change)
	return t.out.Flush()
}

// println writes one line of parts that are already visible.
func (t *textWriter) println(parts ...string) {
	line := strings.TrimRight(strings.Join(parts, ""), " ")
	t.out.WriteString(line)
	t.out.WriteByte('\n')
}

// paint puts s into a style, if the output may be coloured.
func (t *textWriter) paint(style, s string) string {
	if !t.color || style == "" || s == "" {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}

// diagnostic writes one finding: where and what, the source, the related
// places, the repairs.
func (t *textWriter) diagnostic(d *diag.Diagnostic) {
	heading := ""
	if place := t.place(d.Location); place != "" {
		heading = t.paint(bold, notCommand(visible(place)+":")) + " "
	}
	level := visible(string(d.Level)) + ":"
	rule := t.paint(dim, "["+visible(d.Rule)+"]")
	t.println(heading, t.paint(levelStyle(d.Level), level), " ", visible(message(d)), " ", rule)

	gutter := gutterWidth(d)
	if s, ok := t.src.snippet(d.Location); ok {
		t.source(gutter, strconv.Itoa(d.Location.Line), s.text)
		t.source(gutter, "", t.paint(green, s.marks))
	}
	for i := range d.Related {
		t.related(&d.Related[i], gutter)
	}
	for _, f := range d.Fixes {
		t.println(t.paint(green, "help:"), " ", visible(f.Description))
	}
}

// message is what a finding says. With several clusters the same object has a
// finding per cluster, so the sentence must tell them apart.
func message(d *diag.Diagnostic) string {
	if d.Cluster == "" {
		return d.Message
	}
	return fmt.Sprintf("%s (cluster %s)", d.Message, d.Cluster)
}

// related writes a second place of a finding in two lines.
func (t *textWriter) related(r *diag.Related, gutter int) {
	arrow := "  " + t.paint(cyan, "-->") + " "
	if place := t.place(r.Location); place != "" {
		arrow += visible(place) + ": "
	}
	t.println(arrow, visible(r.Message))
	if s, ok := t.src.snippet(r.Location); ok {
		t.source(gutter, strconv.Itoa(r.Location.Line), s.text)
	}
}

// source writes a line with a gutter; text is already visible.
func (t *textWriter) source(gutter int, number, text string) {
	t.println(t.paint(dim, fmt.Sprintf(" %*s |", gutter, number)), " ", text)
}

// gutterWidth is the number of digits of the largest line number shown.
func gutterWidth(d *diag.Diagnostic) int {
	largest := d.Location.Line
	for i := range d.Related {
		largest = max(largest, d.Related[i].Location.Line)
	}
	return len(strconv.Itoa(largest))
}

// place is file:line:col as far as they are known.
func (t *textWriter) place(s diag.Span) string {
	if s.File == "" {
		return ""
	}
	place := t.path(s.File)
	for _, n := range []int{s.Line, s.Column} {
		if n < 1 {
			break
		}
		place += ":" + strconv.Itoa(n)
	}
	return place
}

// path is the file as the person who runs the command would write it.
func (t *textWriter) path(file string) string {
	if t.display == nil {
		return file
	}
	return t.display(file)
}
