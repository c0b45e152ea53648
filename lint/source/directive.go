package source

import (
	"bytes"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
)

// Directive is a comment that instructs schedlint: # schedlint:ignore RULE WHY. In a Helm template
// it may be inside a template comment: {{/* # schedlint:ignore RULE WHY */}}.
type Directive struct {
	// Rule is the first word after schedlint:ignore, and Text is the rest of the directive.
	Rule, Text string
	// Span is the position of the comment. Line is the line that the directive applies to. A
	// comment after other text applies to its own line. Any other comment applies to the next line
	// with content. Comments and template actions that print nothing are not content. Line is 0 if
	// no line with content follows.
	Span diag.Span
	Line int
}

var ignoreComment = lazy.Regexp(`(?:^|[ \t]|/\*)(#[ \t]*schedlint:ignore(?:[ \t]+(\S+?)(?:[ \t]+(.*?))?)?)[ \t]*(?:\*/[ \t]*-?\}\})?[ \t]*$`)

const directiveMark = "schedlint:ignore"

// annotationMark is the prefix of annotations that suppress findings.
const annotationMark = "ignore.schedlint.dev/"

// Directives returns the directives of a file in order. Text inside a value, such as a block
// scalar, is never a directive.
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
			if below <= n { // otherwise, the result for the previous comment is still valid
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

// below returns the first line after line n that has content (see Directive). If there is none, it
// returns the number of the last line plus 1.
func (f *File) below(n int) int {
	for n++; n <= f.LineCount(); n++ {
		if text := strings.TrimSpace(f.Printed(n)); text != "" && !strings.HasPrefix(text, "#") {
			break
		}
	}
	return n
}

// markForm is the format of a numbered mark, which contains a line number in place of the word
// ignore. A numbered mark is as long as directiveMark, so that positions in the text do not change.
const markForm = "schedlint:%06x"

var numberedMark = lazy.Regexp(`schedlint:([0-9a-f]{6})`)

// quotedMarks returns the lines on which schedlint:ignore is part of a key or a value. Only the
// parser can tell a comment from a value. quotedMarks therefore replaces schedlint:ignore with a
// numbered mark and parses the text. A mark that occurs in a parsed node is not in a comment.
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

// marked adds the line numbers of the numbered marks in a node and its descendants to lines.
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

// silentAction matches a template action (text/template) that does not itself print anything: a
// comment, control flow or an assignment.
var silentAction = lazy.Regexp(`^\{\{-?[ \t\r\n]*(?:/\*|(?:if|else|end|range|with|define|block|break|continue)\b|\$\w*[ \t]*(?:,|:?=))`)

// Printed returns a line in which spaces replace the template actions that print nothing.
func (f *File) Printed(n int) string {
	f.unsaid.Do(func() {
		f.printed = &File{Text: withoutActions(f.Text, func(action []byte) bool { return silentAction().Match(action) })}
	})
	return f.printed.Line(n)
}

// Literal returns a line in which spaces replace all template actions.
func (f *File) Literal(n int) string {
	f.literally.Do(func() {
		f.literal = &File{Text: withoutActions(f.Text, func([]byte) bool { return true })}
	})
	return f.literal.Line(n)
}

// withoutActions replaces each template action with spaces if the given function returns true for
// the action. Line breaks and the length of the text do not change.
func withoutActions(text []byte, without func(action []byte) bool) []byte {
	out, cloned := text, false
	for at := 0; ; {
		begin := bytes.Index(text[at:], []byte("{{"))
		if begin < 0 {
			return out
		}
		at += begin
		size := actionSize(text[at:])
		if size == 0 {
			return out
		}
		if without(text[at : at+size]) {
			if !cloned {
				out, cloned = bytes.Clone(text), true
			}
			for i, c := range out[at : at+size] {
				if c != '\n' && c != '\r' {
					out[at+i] = ' '
				}
			}
		}
		at += size
	}
}

var commentAction = lazy.Regexp(`^\{\{(?:- )?[ \t\r\n]*/\*`)

// actionSize returns the length of the template action at the start of text, or 0 if the action is
// not closed.
func actionSize(text []byte) int {
	if m := commentAction().FindIndex(text); m != nil {
		end := bytes.Index(text[m[1]:], []byte("*/"))
		if end < 0 {
			return 0
		}
		from := m[1] + end
		if end = bytes.Index(text[from:], []byte("}}")); end < 0 {
			return 0
		}
		return from + end + 2
	}
	var quote byte
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\' && quote != '`':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '`' || c == '\'':
			quote = c
		case c == '}' && i+1 < len(text) && text[i+1] == '}':
			return i + 2
		}
	}
	return 0
}

// branching matches a YAML comment with a template action that begins or ends a branch. A file with
// such a comment is valid YAML, but executing the template changes its content.
var branching = lazy.Regexp(`^[ \t]*#.*(?:\{\{-?[ \t]*(?:if|else|end|range|with)\b|\{%-?[ \t]*(?:if|el(?:se|if)|endif|for|endfor)\b)`)

// branches finds the lines of a text that match branching.
type branches struct {
	text  []byte
	lines []int32
	found bool
}

// between reports whether a branch begins or ends on a line between two given lines.
func (b *branches) between(first, second int32) bool {
	if b == nil {
		return false
	}
	if !b.found {
		b.found = true
		if bytes.Contains(b.text, []byte("{{")) || bytes.Contains(b.text, []byte("{%")) {
			n := int32(0)
			for line := range bytes.Lines(b.text) {
				if n++; branching().Match(line) {
					b.lines = append(b.lines, n)
				}
			}
		}
	}
	i := sort.Search(len(b.lines), func(i int) bool { return b.lines[i] > first })
	return i < len(b.lines) && b.lines[i] < second
}

// yttControl matches a comment that ytt executes: a load, a function, a branch, a loop, an
// assignment or an annotation. A file with such a comment is a ytt template.
var yttControl = lazy.Regexp(`^[ \t]*#@(?:[ \t]+(?:load\(.*\)|def[ \t]+\w+\(.*\)[ \t]*:|(?:if|elif|for|while)(?:/end)?[ \t(].*:|else[ \t]*:|end|\w+[ \t]*=[^=].*)[ \t]*(?:#.*)?\r?\n?$|(?:assert|data|library|overlay|schema|template|yaml)/[a-z])`)

// yttExpression matches a key or a dash, followed by a comment with a ytt expression.
var yttExpression = lazy.Regexp(`^` + unquoted + `*[:-][ \t]+(` + yttSign + `.*\S)`)

// yttSign begins a ytt expression.
const yttSign = "#@ "

// computed is a value that ytt computes, together with the column of its expression.
type computed struct {
	text   string
	column int
}

// yttCode reports whether the text is a ytt template. If it is not, yttCode returns the values that
// ytt would compute, by line. A YAML parser sees ytt code only as comments.
func yttCode(text []byte) (template bool, values map[int]computed) {
	if !bytes.Contains(text, []byte("#@")) {
		return false, nil
	}
	values = map[int]computed{}
	number, quote := 0, byte(0)
	for line, inBlock := range blockLines(text) {
		number++
		if inBlock {
			continue
		}
		if quote == 0 && yttControl().Match(line) {
			return true, nil
		}
		if m := yttExpression().FindSubmatchIndex(line); m != nil && quote == 0 {
			values[number] = computed{string(line[m[2]:m[3]]), 1 + utf8.RuneCount(line[:m[2]])}
		}
		quote = openQuote(line, quote)
	}
	return false, values
}

// openQuote returns the quote character of a string that continues on the next line, or 0. If a
// string continues from the previous line, quote is its quote character, otherwise 0. A quoted
// string begins only where a value begins.
func openQuote(line []byte, quote byte) byte {
	begins := true
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote == '"' && c == '\\':
			i++
		case quote == c && quote != 0:
			quote = 0 // a doubled quote opens again
		case quote != 0:
		case begins && (c == '"' || c == '\''):
			quote = c
		case c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return 0
		default:
			begins = strings.IndexByte("[{,:-", c) >= 0 || begins && (c == ' ' || c == '\t')
		}
	}
	return quote
}
