package report

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/worktree"
)

// primaryPlace returns a result's location. Code scanning requires a file and a line for every
// result. If the finding has a file but no line, the location is the file's first line. If the
// finding has no file, the location is the first related location. If there is none, the location
// is in schedlint's configuration file.
func primaryPlace(d *diag.Diagnostic) diag.Span {
	if d.Location.File != "" {
		return ordered(d.Location, 1)
	}
	for _, r := range d.Related {
		if r.Location.File != "" {
			return ordered(r.Location, 1)
		}
	}
	return ordered(diag.Span{File: ".schedlint.yaml"}, 1)
}

// ordered returns s with a valid start and a valid end. The end is at least the given number of
// columns after the start. A region that ends before its start would be invalid.
func ordered(s diag.Span, columns int) diag.Span {
	s.Line, s.Column = max(1, s.Line), max(1, s.Column)
	if s.EndLine > s.Line {
		s.EndColumn = max(1, s.EndColumn)
		return s
	}
	s.EndLine, s.EndColumn = s.Line, max(s.EndColumn, s.Column+columns)
	return s
}

func region(s diag.Span) *sarif.Region {
	return sarif.NewRegion().
		WithStartLine(s.Line).WithStartColumn(s.Column).
		WithEndLine(s.EndLine).WithEndColumn(s.EndColumn)
}

func artifact(file string) *sarif.ArtifactLocation {
	return sarif.NewSimpleArtifactLocation(relativeURI(file)).WithURIBaseID(sourceRoot)
}

// relativePath returns a path that report readers can append to the repository root.
func relativePath(file string) string {
	return strings.TrimLeft(path.Clean(file), "/")
}

// stdinName is the file name of standard input in a span.
const stdinName = "<stdin>"

// inRepository reports whether a file is in the repository and would therefore be in a checkout.
// Standard input and files outside the root are not in the repository.
func inRepository(file string) bool {
	return file != stdinName && worktree.Local(file)
}

// relativeURI returns a relative URI reference to a file. It encodes colons, because a viewer would
// read text before a colon as a URI scheme.
func relativeURI(file string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"
	var b strings.Builder
	for _, c := range []byte(relativePath(file)) {
		if strings.IndexByte(plain, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// logical returns a finding's object and field in the form
// apps/v1/Deployment/namespace/name#spec.replicas.
func logical(d *diag.Diagnostic) []*sarif.LogicalLocation {
	o := d.Object
	if o == (diag.Object{}) {
		return []*sarif.LogicalLocation{}
	}
	full := strings.Join(nonEmpty(o.APIVersion, o.Kind, o.Namespace, o.Name), "/")
	l := sarif.NewLogicalLocation().WithKind("resource")
	if o.Name != "" {
		l.WithName(Visible(clipped(o.Name, maxPlain)))
	}
	if d.Field != "" {
		full += "#" + d.Field
		l.WithName(Visible(clipped(d.Field, maxPlain))).WithKind("member")
	}
	return []*sarif.LogicalLocation{l.WithFullyQualifiedName(Visible(clipped(full, 4*maxPlain)))}
}

// related returns the related locations of d, numbered from 1. For each location, it also returns
// text for the result's message. The text is a link if the location has a file.
func (w *sarifWriter) related(d *diag.Diagnostic) (places []*sarif.Location, links []string) {
	places = []*sarif.Location{}
	for _, r := range d.Related {
		text := clipped(r.Message, maxPlain)
		if r.Location.File == "" {
			links = append(links, nonEmpty(bracketed(text))...)
			continue
		}
		s := ordered(r.Location, 1)
		text = cmp.Or(text, s.File+":"+strconv.Itoa(s.Line))
		id := len(places) + 1
		places = append(places, w.location(s).WithID(id).WithMessage(sarif.NewTextMessage(sentence(bracketed(text)))))
		link := bracketed(text)
		if strings.HasSuffix(link, `\`) {
			link += " " // otherwise, a viewer might think that the closing bracket is escaped
		}
		links = append(links, fmt.Sprintf("[%s](%d)", link, id))
	}
	return places, links
}

// sarifFix converts a fix to SARIF. It returns nil if the fix has no edits or if an edit is too
// large.
func sarifFix(f diag.Fix) *sarif.Fix {
	fix := sarif.NewFix().WithDescription(sarif.NewTextMessage(sentence(Visible(clipped(f.Description, maxPlain)))))
	changes := map[string]*sarif.ArtifactChange{}
	for _, e := range f.Edits {
		if e.Location.File == "" || e.Location.IsZero() || len(e.NewText) > maxSnippet {
			return nil
		}
		change := changes[e.Location.File]
		if change == nil {
			change = sarif.NewArtifactChange().WithArtifactLocation(artifact(e.Location.File))
			changes[e.Location.File] = change
			fix.AddArtifactChange(change)
		}
		change.AddReplacement(sarif.NewReplacement().
			WithDeletedRegion(region(ordered(e.Location, 0))).
			WithInsertedContent(sarif.NewArtifactContent().WithText(e.NewText)))
	}
	if len(changes) == 0 {
		return nil
	}
	return fix
}

const (
	// contextLines is the number of lines to include before and after a finding.
	contextLines = 2
	// maxSnippet is the maximum size of quoted source in bytes. Without this limit, a file that is
	// a single line of JSON would be quoted in full.
	maxSnippet = 4096
)

// location returns a location together with the source text it covers.
func (w *sarifWriter) location(s diag.Span) *sarif.Location {
	r := region(s)
	if text := w.src.file(s.File).covered(s); text != "" && len(text) <= maxSnippet {
		r.WithSnippet(sarif.NewArtifactContent().WithText(text))
	}
	return sarif.NewLocation().WithPhysicalLocation(
		sarif.NewPhysicalLocation().WithArtifactLocation(artifact(s.File)).WithRegion(r))
}

// primary returns a result's location with the surrounding lines. It omits these lines if they are
// not longer than the location itself, because the result would be invalid.
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

// endOfLine is a column past the end of any line.
const endOfLine = 1 << 30

// covered returns the text that a span covers, or "" if the span is not within the file. If a
// column is past the end of its line, covered uses the end of the line.
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

// begin returns the byte offset where line n starts.
func (f *file) begin(n int) int {
	at := f.starts[n-1]
	if n == 1 && strings.HasPrefix(f.text, "\ufeff") {
		at += len("\ufeff")
	}
	return at
}

// lastLine returns the number of the last non-empty line, or 0 if f is nil.
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

// codeFlows returns a path through the related locations to the finding. It returns an empty list
// if the path has fewer than two steps before the finding, or if related locations were omitted.
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
