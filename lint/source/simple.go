package source

import (
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// simple is a fast parser for the style of YAML that most manifests use: block maps and lists,
// literal blocks, plain scalars, and flow collections and quoted strings that end on the line where
// they begin. It returns the same nodes as the YAML library in a fraction of the time and memory.
// It gives up on any other text, including invalid text. The library then parses that text. The
// nodes have no comments. They have no tags, because the converter reads only explicit tags.
//
// A node is valid only until the next document is read.
type simple struct {
	text       string
	at         int // offset of the next character
	line       int // line of the next character, counted from 1
	start      int // offset of the start of that line
	ascii      bool
	from, runs int // runs is the number of runes from the start of the line to offset from
	*simpleNodes
}

// simpleNodes is the memory for the nodes of one document. The next document reuses it.
type simpleNodes struct {
	nodes   [][]yaml.Node
	used    int          // number of nodes in the document
	open    []*yaml.Node // children of collections that are still open
	content []*yaml.Node // children of finished collections
	extent  extent       // range of the document
}

// nodeChunk is the number of nodes per allocation.
const nodeChunk = 128

// maxSimple is the maximum nesting depth, and maxSimpleKey the maximum length of a key. The YAML
// library has higher limits.
const maxSimple, maxSimpleKey = 100, 256

// parseSimple passes the documents of the text to emit until emit returns false. It returns false
// if the text is not simple, possibly after it has passed some documents to emit.
func parseSimple(text []byte, memory *simpleNodes, emit func(*yaml.Node) bool) bool {
	ascii, ok := simpleText(text)
	if !ok {
		return false
	}
	s := &simple{text: string(text), line: 1, ascii: ascii, simpleNodes: memory}
	for s.skip() {
		s.extent = extent{start: s.start, line: s.line}
		root := s.document()
		if root == nil {
			return false
		}
		s.extent.end = s.at
		if !emit(root) {
			return true
		}
	}
	return true
}

// simpleText reports whether the text has no control characters, unusual line breaks or other
// special characters. It also reports whether all characters are ASCII.
func simpleText(text []byte) (ascii, ok bool) {
	ascii = true
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return false, false
			}
			continue
		}
		ascii = false
		r, size := utf8.DecodeRune(text[i:])
		if r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r >= 0xfff0 && r <= 0xffff {
			return false, false
		}
		i += size - 1
	}
	return ascii, true
}

// document parses one document. It returns nil if the document is not simple.
func (s *simple) document() *yaml.Node {
	s.used, s.open, s.content = 0, s.open[:0], s.content[:0]
	doc := s.node(yaml.DocumentNode, s.at)
	if s.marker() {
		s.at += len("---")
		if !s.rest() {
			return nil
		}
		if !s.skip() || s.marker() {
			if s.at > s.start {
				return nil
			}
			s.open = append(s.open, s.null(s.line, s.column(s.at)))
			return s.close(doc, 0)
		}
	}
	root := s.block(0)
	if root == nil || s.at < len(s.text) && !s.marker() {
		return nil
	}
	s.open = append(s.open, root)
	return s.close(doc, 0)
}

// marker reports whether a document separator is at the current offset.
func (s *simple) marker() bool {
	return s.at == s.start && strings.HasPrefix(s.text[s.at:], "---") && s.blank(s.at+len("---"))
}

// node returns a new node that begins at an offset in the current line.
func (s *simple) node(kind yaml.Kind, at int) *yaml.Node {
	if s.used == nodeChunk*len(s.nodes) {
		s.nodes = append(s.nodes, make([]yaml.Node, nodeChunk))
	}
	n := &s.nodes[s.used/nodeChunk][s.used%nodeChunk]
	s.used++
	*n = yaml.Node{Kind: kind, Line: s.line, Column: s.column(at)}
	return n
}

// column returns the column of an offset in the current line. It counts from the offset of the
// previous call if it can, because offsets mostly increase.
func (s *simple) column(at int) int {
	if s.ascii {
		return 1 + at - s.start
	}
	if s.from < s.start || s.from > at {
		s.from, s.runs = s.start, 0
	}
	s.runs += utf8.RuneCountInString(s.text[s.from:at])
	s.from = at
	return 1 + s.runs
}

func (s *simple) scalar(style yaml.Style, at int, value string) *yaml.Node {
	n := s.node(yaml.ScalarNode, at)
	n.Style, n.Value = style, value
	return n
}

// close removes open nodes, from a given index to the last, and makes them the children of n.
func (s *simple) close(n *yaml.Node, from int) *yaml.Node {
	if from < len(s.open) {
		first := len(s.content)
		s.content = append(s.content, s.open[from:]...)
		n.Content = s.content[first:len(s.content):len(s.content)]
		s.open = s.open[:from]
	}
	return n
}

// blank reports whether a space, a line break or the end of the text is at an offset.
func (s *simple) blank(at int) bool {
	return at >= len(s.text) || s.text[at] == ' ' || s.text[at] == '\n'
}

func (s *simple) spaces() {
	for s.at < len(s.text) && s.text[s.at] == ' ' {
		s.at++
	}
}

// rest skips the rest of a line, including the line break. It returns false if the rest contains
// anything other than spaces and a comment.
func (s *simple) rest() bool {
	before := s.at
	s.spaces()
	switch {
	case s.at == len(s.text):
		return true
	case s.text[s.at] == '#' && (s.at > before || s.at == s.start):
		end := strings.IndexByte(s.text[s.at:], '\n')
		if end < 0 {
			s.at = len(s.text)
			return true
		}
		s.at += end
	case s.text[s.at] != '\n':
		return false
	}
	s.newline()
	return true
}

func (s *simple) newline() {
	s.at++
	s.line++
	s.start = s.at
}

// skip starts at the beginning of a line, and skips blank lines, comment lines and indentation. It
// returns false at the end of the text.
func (s *simple) skip() bool {
	for s.at < len(s.text) && s.rest() {
	}
	return s.at < len(s.text)
}

// indent returns the indentation of the next line with content, or -1 at the end of the document.
func (s *simple) indent() int {
	if !s.skip() || s.marker() {
		return -1
	}
	return s.at - s.start
}

// dash reports whether the dash of a list item is at the current offset.
func (s *simple) dash() bool { return s.text[s.at] == '-' && s.blank(s.at+1) }

// block parses the map or list at the current offset, and advances to the next line with content.
func (s *simple) block(depth int) *yaml.Node {
	if depth > maxSimple {
		return nil
	}
	if s.dash() {
		return s.sequence(s.at-s.start, depth)
	}
	begin := s.at
	key := s.word(false)
	if key == nil || !s.colon(begin) {
		return nil
	}
	return s.mapping(key, begin-s.start, depth)
}

// colon skips the colon after a key. begin is the offset of the key.
func (s *simple) colon(begin int) bool {
	if s.at == len(s.text) || s.text[s.at] != ':' || !s.blank(s.at+1) || s.at-begin > maxSimpleKey {
		return false
	}
	s.at++
	return true
}

// mapping parses a map, starting after the colon of its first key.
func (s *simple) mapping(key *yaml.Node, indent, depth int) *yaml.Node {
	n := s.node(yaml.MappingNode, s.at)
	n.Line, n.Column = key.Line, key.Column
	from := len(s.open)
	for {
		s.open = append(s.open, key)
		value := s.value(indent, depth)
		if value == nil {
			return nil
		}
		s.open = append(s.open, value)
		next := s.indent()
		if next < indent {
			return s.close(n, from)
		}
		begin := s.at
		if next > indent || s.dash() {
			return nil
		}
		if key = s.word(false); key == nil || !s.colon(begin) {
			return nil
		}
	}
}

// value parses the value of a map field, starting after the colon.
func (s *simple) value(indent, depth int) *yaml.Node {
	line, column := s.line, s.column(s.at)
	if !s.rest() {
		return s.inline(indent, depth)
	}
	next := s.indent()
	if next > indent || next == indent && s.dash() {
		return s.block(depth + 1)
	}
	return s.null(line, column)
}

// null returns the scalar for a missing value.
func (s *simple) null(line, column int) *yaml.Node {
	n := s.scalar(0, s.at, "")
	n.Line, n.Column = line, column
	return n
}

// sequence parses a list, starting at the dash of its first item.
func (s *simple) sequence(indent, depth int) *yaml.Node {
	n := s.node(yaml.SequenceNode, s.at)
	from := len(s.open)
	for {
		s.at++
		item := s.item(indent, depth)
		if item == nil {
			return nil
		}
		s.open = append(s.open, item)
		next := s.indent()
		if next < indent || next == indent && !s.dash() {
			return s.close(n, from) // the enclosing map parses the rest
		}
		if next > indent {
			return nil
		}
	}
}

// item parses a list item, starting after the dash.
func (s *simple) item(indent, depth int) *yaml.Node {
	line, column := s.line, s.column(s.at)
	if s.rest() {
		if s.indent() > indent {
			return s.block(depth + 1)
		}
		return s.null(line, column)
	}
	if depth > maxSimple {
		return nil
	}
	if s.dash() {
		return s.sequence(s.at-s.start, depth+1)
	}
	begin := s.at
	if !strings.ContainsRune("|[{", rune(s.text[s.at])) {
		word := s.word(false)
		if word != nil && s.colon(begin) {
			return s.mapping(word, begin-s.start, depth+1)
		}
		if word == nil || !s.rest() {
			return nil
		}
		return word
	}
	return s.inline(indent, depth)
}

// inline parses a value that begins on the line of its key or dash, and skips the rest of the
// line.
func (s *simple) inline(indent, depth int) *yaml.Node {
	var n *yaml.Node
	switch s.text[s.at] {
	case '|':
		n := s.scalar(yaml.LiteralStyle, s.at, "")
		s.at++
		strip := s.at < len(s.text) && s.text[s.at] == '-'
		if strip {
			s.at++
		}
		s.spaces()
		if s.at == len(s.text) || s.text[s.at] != '\n' {
			return nil
		}
		s.newline()
		breaks := s.at
		for s.at < len(s.text) && s.text[s.at] == '\n' {
			s.newline()
		}
		var b strings.Builder
		b.WriteString(s.text[breaks:s.at])
		s.spaces()
		depth := s.at - s.start
		if depth <= indent || s.at == len(s.text) || s.text[s.at] == '\n' || s.text[s.at] == '\t' {
			return nil // no text, or the indentation is ambiguous
		}
		if !s.literalLines(&b, depth) {
			return nil
		}
		n.Value = b.String()
		if text := strings.TrimRight(n.Value, "\n"); len(text) < len(n.Value) {
			if !strip {
				text = n.Value[:len(text)+1]
			}
			n.Value = text
		}
		return n
	case '[', '{':
		n = s.flow(depth + 1)
	default:
		n = s.word(false)
	}
	if n == nil || !s.rest() {
		return nil
	}
	return n
}

// word parses a plain or quoted scalar. flow says whether the scalar is inside a flow collection.
func (s *simple) word(flow bool) *yaml.Node {
	if s.at == len(s.text) {
		return nil
	}
	if c := s.text[s.at]; c == '"' || c == '\'' {
		begin, quote := s.at, s.text[s.at]
		escaped := false
		for i := begin + 1; i < len(s.text); i++ {
			switch c := s.text[i]; {
			case c == '\n' || c == '\t':
				return nil
			case c == '\\' && quote == '"':
				escaped = true
				i++
			case c == quote && quote == '\'' && i+1 < len(s.text) && s.text[i+1] == quote:
				escaped = true
				i++
			case c == quote:
				s.at = i + 1
				return s.unescaped(begin, s.text[begin+1:i], escaped)
			}
		}
		return nil
	}
	return s.plain(flow)
}

// plain parses a plain scalar, which ends at a colon, a comment or the end of the line.
func (s *simple) plain(flow bool) *yaml.Node {
	begin := s.at
	if !plainStart[s.text[begin]] && (s.text[begin] != '-' || flow || s.blank(begin+1)) {
		return nil
	}
	end := begin // offset after the last non-space character
scan:
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ':
			continue
		case '\n':
			break scan
		case '\t':
			return nil
		case '#':
			if s.text[s.at-1] == ' ' && s.at > begin {
				break scan
			}
		case ':':
			if s.blank(s.at + 1) {
				break scan
			}
			if flow && strings.IndexByte(",?[]{}", s.text[s.at+1]) >= 0 {
				return nil
			}
		case '?':
			if flow {
				return nil
			}
		case ',', '[', ']', '{', '}':
			if flow {
				break scan
			}
		}
		end = s.at + 1
	}
	if s.at < len(s.text) && s.text[s.at] == ':' && end < s.at {
		return nil // a space before the colon
	}
	s.at = end
	value := s.text[begin:end]
	if value == "<<" || begin == s.start && (strings.HasPrefix(value, "---") || strings.HasPrefix(value, "...")) {
		return nil
	}
	return s.scalar(0, begin, value)
}

// plainStart holds the characters that may begin a plain scalar, except the dash.
var plainStart = func() (table [256]bool) {
	for c := range table {
		table[c] = c > ' ' && strings.IndexByte("-?:,[]{}#&*!|>'\"%@`", byte(c)) < 0
	}
	return table
}()

// unescaped returns the scalar for a quoted string, given without its quotes.
func (s *simple) unescaped(begin int, value string, escaped bool) *yaml.Node {
	style := yaml.SingleQuotedStyle
	if s.text[begin] == '"' {
		style = yaml.DoubleQuotedStyle
	}
	switch {
	case escaped && style == yaml.SingleQuotedStyle:
		value = strings.ReplaceAll(value, "''", "'")
	case escaped:
		var b strings.Builder
		for i := 0; i < len(value); i++ {
			c := value[i]
			if c == '\\' {
				i++
				if c = simpleEscapes[value[i]]; c == 0 {
					return nil
				}
			}
			b.WriteByte(c)
		}
		value = b.String()
	}
	return s.scalar(style, begin, value)
}

// simpleEscapes maps the character after a backslash to the character that the escape stands for.
var simpleEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'n': '\n', 't': '\t'}

// literalLines reads the lines of a literal block, starting after the indentation of the first
// line. It stops at a line that is indented less.
func (s *simple) literalLines(b *strings.Builder, depth int) bool {
	for {
		end := strings.IndexByte(s.text[s.at:], '\n')
		if end < 0 {
			b.WriteString(s.text[s.at:])
			s.at = len(s.text)
			return true
		}
		b.WriteString(s.text[s.at : s.at+end+1])
		s.at += end
		s.newline()
		for s.at < len(s.text) && s.at-s.start < depth && s.text[s.at] == ' ' {
			s.at++
		}
		if s.at == len(s.text) {
			return s.at == s.start
		}
		if s.at-s.start < depth && s.text[s.at] != '\n' {
			break
		}
	}
	blank := s.text[s.at] != '\t'
	s.at = s.start
	return blank
}

// flow parses a flow collection that ends on its line.
func (s *simple) flow(depth int) *yaml.Node {
	if depth > maxSimple {
		return nil
	}
	kind, end := yaml.SequenceNode, byte(']')
	if s.text[s.at] == '{' {
		kind, end = yaml.MappingNode, '}'
	}
	n := s.node(kind, s.at)
	n.Style = yaml.FlowStyle
	from := len(s.open)
	s.at++
	s.spaces()
	for first := true; s.at < len(s.text); first = false {
		if s.text[s.at] == end && (first || len(s.open) > from) {
			s.at++
			return s.close(n, from)
		}
		if !first {
			if s.text[s.at] != ',' {
				return nil
			}
			s.at++
			s.spaces()
		}
		if kind == yaml.MappingNode {
			begin := s.at
			key := s.word(true)
			if key == nil || !s.colon(begin) {
				return nil
			}
			s.open = append(s.open, key)
			s.spaces()
		}
		var value *yaml.Node
		if s.at < len(s.text) && (s.text[s.at] == '[' || s.text[s.at] == '{') {
			value = s.flow(depth + 1)
		} else {
			value = s.word(true)
		}
		if value == nil {
			return nil
		}
		s.open = append(s.open, value)
		s.spaces()
	}
	return nil
}
