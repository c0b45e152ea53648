package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// Parameters of ANSI SGR sequences.
const (
	bold   = "1"
	dim    = "2"
	red    = "1;31"
	green  = "1;32"
	yellow = "1;33"
	cyan   = "1;36"
)

// levelStyle returns the style for a level.
func levelStyle(l diag.Level) string {
	return map[diag.Level]string{diag.LevelError: red, diag.LevelWarning: yellow, diag.LevelNote: cyan}[l]
}

// textWriter writes the text format. Calling out.Flush returns the first write error.
type textWriter struct {
	out     *bufio.Writer
	src     *sources
	display func(string) string
	color   bool
	// verbose is set if the summary should list locations.
	verbose bool
}

func writeText(w io.Writer, r *diag.Report, opts Options) error {
	t := &textWriter{out: bufio.NewWriter(w), src: newSources(r), display: r.Display, color: opts.Color, verbose: opts.Verbose}
	t.silences(r.Change)
	t.diagnostics(groupEqual(r.Diagnostics, opts.All), opts.All)
	if !opts.Quiet {
		t.fixed(r.Change, opts.All)
		t.summary(r)
	}
	t.incomplete(r.Failures)
	return t.out.Flush()
}

// println writes a line. Its parts must not contain hidden characters.
func (t *textWriter) println(parts ...string) {
	line := strings.TrimRight(strings.Join(parts, ""), " ")
	t.out.WriteString(line)
	t.out.WriteByte('\n')
}

// paint applies a style to s if colors are enabled.
func (t *textWriter) paint(style, s string) string {
	if !t.color || style == "" || s == "" {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}

// diagnostic writes a finding. The first line contains the location and message in a form that
// tools can parse. The source, details, related locations and fixes follow.
func (t *textWriter) diagnostic(d *diag.Diagnostic) {
	heading := t.paint(bold, t.heading(d.Location))
	if heading != "" {
		heading += " "
	}
	level := Visible(string(d.Level)) + ":"
	rule := t.paint(dim, "["+Visible(d.Rule)+"]")
	t.println(heading, t.paint(levelStyle(d.Level), level), " ", Visible(message(d)), " ", rule)

	largest := d.Location.Line
	for i := range d.Related {
		largest = max(largest, d.Related[i].Location.Line)
	}
	gutter := len(strconv.Itoa(largest)) // width of the largest line number shown
	if s, ok := t.src.snippet(d.Location); ok {
		t.source(gutter, strconv.Itoa(d.Location.Line), s.text)
		t.source(gutter, "", t.paint(green, s.marks))
	}
	for _, detail := range details(d) {
		t.folded("  = ", "", Visible(detail))
	}
	for i := range d.Related {
		r := &d.Related[i]
		text := Visible(clipped(r.Message, maxPlain))
		if place := t.place(r.Location); place != "" {
			text = Visible(place) + ": " + text
		}
		t.folded("  --> ", cyan, text)
		if s, ok := t.src.snippet(r.Location); ok && d.Folded == 0 {
			t.source(gutter, strconv.Itoa(r.Location.Line), s.text)
		}
	}
	if more := morePlaces(d, maxRelated); more != "" {
		t.folded("  --> ", cyan, more)
	}
	for _, f := range d.Fixes {
		t.folded("help: ", green, Visible(clipped(f.Description, maxPlain)))
	}
}

// folded writes a mark and then text, in lines of at most lineWidth cells. The mark must end with a
// space and is printed in the given style.
func (t *textWriter) folded(mark, style, text string) {
	var b strings.Builder
	writeFolded(&b, mark, strings.Repeat(" ", len(mark)), text)
	first, rest, _ := strings.Cut(b.String(), "\n")
	t.println(t.paint(style, strings.TrimRight(mark, " ")), " ", first[min(len(mark), len(first)):])
	t.out.WriteString(rest)
}

// oneLine returns a finding's message and details on one line.
func oneLine(d *diag.Diagnostic) string {
	return strings.Join(append([]string{message(d)}, details(d)...), "; ")
}

// details returns the details of a finding. The last ones count the workloads that are folded into
// it, or the containers, and the simulated runs that show it.
func details(d *diag.Diagnostic) []string {
	all, most := slices.Clip(d.Details), ""
	switch {
	case d.Folded > 0 && d.Fold == diag.OfContainer:
		all = append(all, "the same applies to "+Count(d.Folded, "more container"))
	case d.Folded > 0:
		all, most = append(all, "the same applies to "+Count(d.Folded, "more workload")+" of the namespace"), "at most "
	}
	return append(all, nonEmpty(happens(d.Typical, most))...)
}

// happens says how often simulated runs show something, with a word before the number. It returns ""
// if there are no runs.
func happens(t *diag.Typical, most string) string {
	if t == nil {
		return ""
	}
	text := fmt.Sprintf("happens in %s%d of %d simulated runs", most, t.Shown, t.Runs)
	if t.Shown == 0 {
		text = fmt.Sprintf("happens in none of %d simulated runs", t.Runs)
	}
	if t.Without > 0 {
		text += ", which leave out " + Count(t.Without, "workload")
	}
	if t.Preempts > 0 {
		text += fmt.Sprintf("; %d stop where a pod can preempt others", t.Preempts)
	}
	return text
}

// message returns the first line of a finding, including its clusters and renders. If the finding
// differs between renders, the line names the render of this version and counts the others.
func message(d *diag.Diagnostic) string {
	var in []string
	if text := named("cluster", d.Clusters); text != "" {
		in = append(in, text)
	} else if d.Cluster != "" {
		in = append(in, "cluster "+d.Cluster)
	}
	if d.Differ && len(d.Renders) > 1 {
		in = append(in, fmt.Sprintf("render %s; it differs in %s", d.Render, Count(len(d.Renders)-1, "more render")))
	} else if text := named("render", d.Renders); text != "" {
		in = append(in, text)
	}
	if len(in) == 0 {
		return d.Message
	}
	return fmt.Sprintf("%s (%s)", d.Message, strings.Join(in, ", "))
}

// maxNamed is the maximum number of clusters or renders to name in a sentence.
const maxNamed = 3

// named returns a phrase such as "renders a, b" that lists clusters or renders, or "" if there are
// none.
func named(kind string, names []string) string {
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return kind + " " + names[0]
	case n > maxNamed:
		return fmt.Sprintf("%ss %s and %d more", kind, strings.Join(names[:maxNamed-1], ", "), n-maxNamed+1)
	}
	return kind + "s " + enumerated(names)
}

// source writes a source line, with its number in a gutter. The text must not contain hidden
// characters.
func (t *textWriter) source(gutter int, number, text string) {
	t.println(t.paint(dim, fmt.Sprintf(" %*s |", gutter, number)), " ", text)
}

// place returns file:line:col, omitting any part that is unknown.
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

// path returns the display name of a file.
func (t *textWriter) path(file string) string {
	if t.display == nil {
		return file
	}
	return t.display(file)
}
