package report

import (
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/schedlint/schedlint/lint/diag"
)

const (
	// contextLines is the number of lines that are shown before and after a finding.
	contextLines = 2
	// maxSnippet bounds quoted source in bytes: a file may be one line of JSON.
	maxSnippet = 4096
)

// location returns a location with its text.
func (w *sarifWriter) location(s diag.Span) *sarif.Location {
	r := region(s)
	if text := w.src.file(s.File).covered(s); text != "" && len(text) <= maxSnippet {
		r.WithSnippet(sarif.NewArtifactContent().WithText(text))
	}
	return sarif.NewLocation().WithPhysicalLocation(
		sarif.NewPhysicalLocation().WithArtifactLocation(artifact(s.File)).WithRegion(r))
}

// primary returns the location of a result, with the lines around it. They must be more than the
// location itself, or validation fails.
func (w *sarifWriter) primary(s diag.Span) *sarif.Location {
	loc, f := w.location(s), w.src.file(s.File)
	first, last := max(1, s.Line-contextLines), s.EndLine+contextLines
	if last = min(last, f.lastLine()); last < s.EndLine {
		return loc
	}
	whole := diag.Span{File: s.File, Line: first, Column: 1, EndLine: last, EndColumn: endOfLine}
	text := f.covered(whole)
	if text == "" || len(text) > maxSnippet || text == f.covered(s) {
		return loc
	}
	loc.PhysicalLocation.WithContextRegion(sarif.NewRegion().WithStartLine(first).WithEndLine(last).
		WithSnippet(sarif.NewArtifactContent().WithText(text)))
	return loc
}

// endOfLine is a column beyond every line.
const endOfLine = 1 << 30

// covered returns the text that a span covers, up to the ends of its lines; "" if the span is
// outside of the file.
func (f *file) covered(s diag.Span) string {
	first, ok := f.line(s.Line)
	last, both := f.line(s.EndLine)
	if !ok || !both {
		return ""
	}
	start := f.begin(s.Line) + f.offset(s.Line, first, s.Column-1)
	end := f.begin(s.EndLine) + f.offset(s.EndLine, last, s.EndColumn-1)
	return f.text[start:max(start, end)]
}

// begin returns the offset of the first column of line n.
func (f *file) begin(n int) int {
	at := f.starts[n-1]
	if n == 1 && strings.HasPrefix(f.text, "\ufeff") {
		at += len("\ufeff")
	}
	return at
}

// lastLine returns the number of the last line that has any text; 0 without a file.
func (f *file) lastLine() int {
	if f == nil {
		return 0
	}
	n := len(f.starts)
	if n > 1 && f.starts[n-1] == len(f.text) {
		n--
	}
	return n
}

// codeFlows returns the chain from the related locations of a finding to the finding itself, if it
// has several steps and none is omitted.
func (w *sarifWriter) codeFlows(d *diag.Diagnostic, primary diag.Span) []*sarif.CodeFlow {
	flow := sarif.NewThreadFlow()
	if d.MoreRelated > 0 {
		return []*sarif.CodeFlow{}
	}
	for _, r := range d.Related {
		if r.Location.File != "" && r.Message != "" {
			flow.AddLocation(w.step(ordered(r.Location, 1), clipped(r.Message, maxPlain)))
		}
	}
	if len(flow.Locations) < 2 {
		return []*sarif.CodeFlow{}
	}
	flow.AddLocation(w.step(primary, clipped(message(d), maxAnnotation)))
	return []*sarif.CodeFlow{sarif.NewCodeFlow().AddThreadFlow(flow)}
}

func (w *sarifWriter) step(s diag.Span, text string) *sarif.ThreadFlowLocation {
	return sarif.NewThreadFlowLocation().WithLocation(w.location(s).WithMessage(sarif.NewTextMessage(sentence(bracketed(text)))))
}
