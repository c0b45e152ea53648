package engine

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/lazy"
)

// lines finds places of the YAML parser in a text.
type lines struct {
	text   []byte
	starts []int // offsets
}

// newLines fails for a text whose line breaks are not those of an editor, in which places
// cannot be told: YAML 1.1 breaks lines at three more characters and at a lone CR.
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

// rest is the text from a place to the end of its line, and its offset.
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

// line is the text of a line without its break.
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

// scalar are the offsets of a scalar that is on one line, in quotes or plain, without its
// tag and anchor; ok is false for any other.
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

// commentable reports whether a comment may stand at an offset: only blanks and another
// comment follow on the line.
func (l *lines) commentable(at int) bool {
	rest := l.text[at:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	return endOfLine().Match(bytes.TrimSuffix(rest, []byte("\r")))
}

// change replaces a part of a text.
type change struct {
	start, end int
	with       string
}

// apply makes all changes, which must not overlap.
func apply(text []byte, changes []change) []byte {
	slices.SortStableFunc(changes, func(a, b change) int { return a.start - b.start })
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

// edit is another value for an entry.
type edit struct {
	entry *entry
	value string
}

// quoted is a string as a YAML scalar on one line.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
