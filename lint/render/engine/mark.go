package engine

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sorting"
)

// marker adds markers to YAML text and records the position for each marker. A marker is a comment
// after a scalar. The package comment explains markers.
type marker struct {
	// sign is the beginning of every marker. An index follows it.
	sign   string
	files  []string
	places []place
}

// place is the position of a scalar in the sources.
type place struct {
	file, doc    int // doc counts the documents of a resource file; it is -1 in a patch
	line, column int
	value        scalar
}

func newMarker(nonce string) *marker { return &marker{sign: "# §" + nonce + ":"} }

// document is a YAML document to which markers are added.
type document struct {
	root *yaml.Node
	file int
	doc  int
	// shift converts a parser position to a position in the file. It is nil if both are the same.
	shift func(line, column int) (l, c int, ok bool)
}

// mark returns the changes that add the markers. A marker follows each value that is a scalar at
// the end of a line, outside flow collections.
func (m *marker) mark(l *lines, d document) []change {
	var changes []change
	var visit func(n *yaml.Node, depth int)
	visit = func(n *yaml.Node, depth int) {
		switch {
		case n == nil || depth > maxNesting || n.Style&yaml.FlowStyle != 0:
		case n.Kind == yaml.MappingNode:
			for i := 1; i < len(n.Content); i += 2 {
				if n.Content[i-1].Value != "" { // after an empty key the parser joins its comment with the marker
					visit(n.Content[i], depth+1)
				}
			}
		case n.Kind == yaml.SequenceNode:
			for _, item := range n.Content {
				visit(item, depth+1)
			}
		case n.Kind == yaml.ScalarNode && depth > 0:
			if c, ok := m.scalar(l, d, n); ok {
				changes = append(changes, c)
			}
		}
	}
	visit(d.root, 0)
	return changes
}

// maxNesting is the maximum depth at which scalars get markers. No object in kustomize or
// Kubernetes is nested that deep.
const maxNesting = 1000

func (m *marker) scalar(l *lines, d document, n *yaml.Node) (change, bool) {
	at := *n
	if d.shift != nil {
		var ok bool
		if at.Line, at.Column, ok = d.shift(n.Line, n.Column); !ok {
			return change{}, false
		}
	}
	start, end, ok := l.scalar(&at)
	if !ok {
		return change{}, false
	}
	after, _, _ := bytes.Cut(l.text[end:], []byte("\n")) // only white space and another comment may follow
	if !endOfLine().Match(bytes.TrimSuffix(after, []byte("\r"))) {
		return change{}, false
	}
	value, ok := scalarOf(n)
	if !ok {
		return change{}, false
	}
	return change{end, end, " " + m.add(place{d.file, d.doc, at.Line, l.column(&at, start), value})}, true
}

// add records a position and returns its marker.
func (m *marker) add(p place) string {
	m.places = append(m.places, p)
	return m.sign + strconv.Itoa(len(m.places)-1)
}

// file adds a file and returns its index.
func (m *marker) file(name string) int {
	m.files = append(m.files, name)
	return len(m.files) - 1
}

// lift removes the markers from a node and from everything below it. It stores the index i of a
// marker as the line number -1-i. This saves the time that kustomize would need to print the
// markers.
func (m *marker) lift(n *yaml.Node, depth int) {
	if n == nil || depth > maxNesting {
		return
	}
	if i, rest, ok := m.parse(n.LineComment); ok {
		n.Line, n.LineComment = -1-i, rest
	}
	for _, child := range n.Content {
		m.lift(child, depth+1)
	}
}

// lifted returns the position for the marker of a node. ok is false if the node has no marker. The
// caller must call lift first.
func (m *marker) lifted(n *yaml.Node) (*place, bool) {
	i := -1 - n.Line
	if i < 0 || i >= len(m.places) {
		return nil, false
	}
	return &m.places[i], true
}

// parse splits a comment into the index of its marker and the original comment.
func (m *marker) parse(comment string) (i int, rest string, ok bool) {
	rest, ok = strings.CutPrefix(comment, m.sign)
	if !ok {
		return 0, "", false
	}
	digits := rest
	if at := strings.IndexAny(rest, " \t\n"); at >= 0 {
		digits = rest[:at]
	}
	rest = strings.TrimLeft(rest[len(digits):], " \t\n")
	i, err := strconv.Atoi(digits)
	return i, rest, err == nil && i >= 0 && i < len(m.places)
}

// without removes the markers from a message.
func (m *marker) without(text string) string {
	for {
		before, after, ok := strings.Cut(text, " "+m.sign)
		if !ok {
			return text
		}
		text = before + strings.TrimLeft(after, "0123456789")
	}
}

// lines maps YAML parser positions to offsets in the text.
type lines struct {
	text   []byte
	starts []int // start offset of each line
}

// newLines indexes the lines of the text. It returns false if the line breaks make positions
// ambiguous, because YAML 1.1 also breaks lines at a lone CR and at three other characters.
func newLines(text []byte) (*lines, bool) {
	strange := bytes.Count(text, []byte("\r")) != bytes.Count(text, []byte("\r\n"))
	for _, wide := range []string{"\u0085", "\u2028", "\u2029"} {
		strange = strange || bytes.Contains(text, []byte(wide))
	}
	if strange || !utf8.Valid(text) || bytes.HasPrefix(text, []byte("\ufeff")) {
		return nil, false
	}
	l := &lines{text: text, starts: []int{0}}
	for i, c := range text {
		if c == '\n' {
			l.starts = append(l.starts, i+1)
		}
	}
	return l, true
}

// rest returns the rest of a line from a position on. at is the offset of this position.
func (l *lines) rest(line, column int) (rest []byte, at int) {
	if line < 1 || line > len(l.starts) || column < 1 {
		return nil, 0
	}
	at = l.starts[line-1]
	rest = l.line(line)
	for range column - 1 {
		_, n := utf8.DecodeRune(rest)
		if n == 0 {
			return nil, 0
		}
		rest, at = rest[n:], at+n
	}
	return rest, at
}

// line returns a line without its line break.
func (l *lines) line(n int) []byte {
	if n < 1 || n > len(l.starts) {
		return nil
	}
	end := len(l.text)
	if n < len(l.starts) {
		end = l.starts[n] - 1
	}
	return bytes.TrimSuffix(l.text[l.starts[n-1]:end], []byte("\r"))
}

// column returns the column of a scalar without its tag and anchor. start is the offset of the
// scalar's text.
func (l *lines) column(n *yaml.Node, start int) int {
	rest, from := l.rest(n.Line, n.Column)
	if rest == nil {
		return n.Column
	}
	return n.Column + len([]rune(string(rest[:start-from])))
}

// scalar returns the start and end offsets of a quoted or plain scalar on one line, excluding its
// tag and anchor. ok is false for any other scalar.
func (l *lines) scalar(n *yaml.Node) (start, end int, ok bool) {
	rest, at := l.rest(n.Line, n.Column)
	properties := property().Find(rest)
	rest, at = rest[len(properties):], at+len(properties)
	size := 0
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || len(rest) == 0:
	case n.Style&yaml.DoubleQuotedStyle != 0:
		size = len(doubleQuoted().Find(rest))
	case n.Style&yaml.SingleQuotedStyle != 0:
		size = len(singleQuoted().Find(rest))
	case n.Value != "" && bytes.HasPrefix(rest, []byte(n.Value)):
		size = len(n.Value)
	}
	return at, at + size, size > 0
}

var (
	property     = lazy.Regexp(`^(?:[&!][^ \t\[\]{},]*[ \t]+)*`)
	doubleQuoted = lazy.Regexp(`^"(?:[^"\\]|\\.)*"`)
	singleQuoted = lazy.Regexp(`^'(?:[^']|'')*'`)
	endOfLine    = lazy.Regexp(`^[ \t]*(?:[ \t]#.*)?$`)
)

// change replaces part of the text.
type change struct {
	start, end int
	with       string
}

// apply applies changes to the text. The changes must not overlap.
func apply(text []byte, changes []change) []byte {
	sorting.Stable(changes, func(a, b change) int { return a.start - b.start })
	size := len(text)
	for _, c := range changes {
		size += len(c.with)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, c := range changes {
		if c.start < at {
			continue
		}
		out = append(append(out, text[at:c.start]...), c.with...)
		at = c.end
	}
	return append(out, text[at:]...)
}

// edit replaces the value of an entry.
type edit struct {
	entry *entry
	value string
}

// quoted returns s as a single-quoted YAML scalar.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
