package source

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
)

// Directive is a comment that speaks to schedlint: # schedlint:ignore RULE WHY. In a
// template it may be in a comment of the template: {{/* # schedlint:ignore RULE WHY */}}.
type Directive struct {
	// Rule is the first word behind it and Text are the others.
	Rule, Text string
	// Span is the comment, Line the line that it is about: its own if something
	// stands before it, else the next one that is not a comment and, in a template, prints
	// something; 0 for none.
	Span diag.Span
	Line int
}

var ignoreComment = lazy.Regexp(`(?:^|[ \t]|/\*)(#[ \t]*schedlint:ignore(?:[ \t]+(\S+?)(?:[ \t]+(.*?))?)?)[ \t]*(?:\*/[ \t]*-?\}\})?[ \t]*$`)

const directiveMark = "schedlint:ignore"

// annotationMark begins the keys of annotations that say the same.
const annotationMark = "ignore.schedlint.dev/"

// Directives are the comments of a file that speak to schedlint, in its order.
// The same words within a text, as in a block scalar, say nothing.
func (f *File) Directives() []Directive {
	if f.refused || !bytes.Contains(f.Text, []byte(directiveMark)) || looksLikeJSON(f.Text) {
		return nil
	}
	var all []Directive
	quoted, below := f.quotedMarks(), 0
	for n := 1; n <= f.LineCount(); n++ {
		line := f.Line(n)
		m := ignoreComment().FindStringSubmatchIndex(line)
		if m == nil || quoted[n] {
			continue
		}
		d := Directive{Line: n, Span: diag.Span{File: f.Name, Line: n, EndLine: n}}
		d.Span.Column = 1 + utf8.RuneCountInString(line[:m[2]])
		d.Span.EndColumn = 1 + utf8.RuneCountInString(line[:m[3]])
		if m[4] >= 0 {
			d.Rule = line[m[4]:m[5]]
		}
		if m[6] >= 0 {
			d.Text = line[m[6]:m[7]]
		}
		if strings.TrimSpace(f.Printed(n)[:m[2]]) == "" {
			if below <= n { // else this comment is one of those above that line
				below = f.below(n)
			}
			if d.Line = below; below > f.LineCount() {
				d.Line = 0
			}
		}
		all = append(all, d)
	}
	return all
}

// below is the next line that says something to YAML, or prints something; one beyond the last if there
// is none.
func (f *File) below(n int) int {
	for n++; n <= f.LineCount(); n++ {
		if text := strings.TrimSpace(f.Printed(n)); text != "" && !strings.HasPrefix(text, "#") {
			break
		}
	}
	return n
}

// markForm is as long as directiveMark, so that nothing moves, and tells one line
// from another.
const markForm = "schedlint:%06x"

var numberedMark = lazy.Regexp(`schedlint:([0-9a-f]{6})`)

// quotedMarks are the lines on which the mark is part of a key or a value: only
// the parser can tell a comment from a text. So each mark gets the number of its
// line, and those that the parser hands back were no comments.
func (f *File) quotedMarks() map[int]bool {
	text := bytes.Clone(f.Text)
	for n := 1; n <= f.LineCount(); n++ {
		start, end := f.indexed().bounds(n)
		if at := bytes.LastIndex(text[start:end], []byte(directiveMark)); at >= 0 && n < 1<<24 {
			copy(text[start+at:], fmt.Sprintf(markForm, n))
		}
	}
	quoted := map[int]bool{}
	docs, _ := documents(text, Options{Keep: func(string, string) bool { return true }, Drop: func(string) bool { return false }})
	for _, d := range docs {
		marked(d.root, quoted)
	}
	return quoted
}

// marked notes the numbered marks in a node and below it.
func marked(n *Node, lines map[int]bool) {
	if n == nil {
		return
	}
	if n.Kind == Scalar {
		for _, m := range numberedMark().FindAllStringSubmatch(n.Value, -1) {
			line, _ := strconv.ParseInt(m[1], 16, 32)
			lines[int(line)] = true
		}
		return
	}
	for _, c := range n.content() {
		marked(c, lines)
	}
}
