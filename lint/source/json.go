package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/limits"
)

// looksLikeJSON reports whether text is one or more JSON values.
func looksLikeJSON(text []byte) bool {
	if !opensJSON(text) {
		return false
	}
	text = bytes.TrimPrefix(text, byteOrderMark)
	if json.Valid(text) {
		return true
	}
	// The text may be a stream of values, such as the output of several kubectl calls.
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// opensJSON reports whether text begins with a bracket or a brace.
func opensJSON(text []byte) bool {
	t := bytes.TrimLeft(bytes.TrimPrefix(text, byteOrderMark), " \t\r\n")
	return len(t) > 0 && (t[0] == '{' || t[0] == '[')
}

// jsonError returns the JSON syntax error in a text that begins with a bracket or a brace. For any
// other text, ok is false. In JSON that is indented with tabs, the YAML parser would complain only
// about the tabs.
func jsonError(text []byte) (e textError, ok bool) {
	if !opensJSON(text) {
		return e, false
	}
	text = bytes.TrimPrefix(text, byteOrderMark)
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if err == nil {
			continue
		}
		at := int64(len(text))
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = max(1, min(syntax.Offset, at)) // Offset is that of the next byte
		}
		if strings.Contains(err.Error(), " after ") { // a comma is missing after the previous value
			at = int64(len(bytes.TrimRight(text[:at-1], " \t\r\n")))
		}
		line := 1 + bytes.Count(text[:at-1], []byte("\n"))
		return textError{problem: Unparsable, line: line, column: 1, detail: err.Error()}, true
	}
}

// jsonReader builds Nodes from valid JSON. All offsets count from the start of the input.
type jsonReader struct {
	text []byte
	next int // start of the next value, bracket or separator
	most limits.Cost
	contents
	slab  slab
	words wording
	open  []*Node // contents of maps and lists that are not yet complete
	at    int     // offset that line and col refer to
	line  int32
	col   int32
	deep  bool
}

// parseJSON parses a stream of valid JSON values.
func parseJSON(text []byte, most limits.Cost) contents {
	text = bytes.TrimPrefix(text, byteOrderMark)
	r := &jsonReader{text: text, most: most, words: wording{}, line: 1, col: 1}
	for r.token() != 0 {
		n := r.value(0)
		if n == nil {
			return r.contents
		}
		d := document{line: int(n.Line), root: n}
		if r.deep {
			d.root = nil
		}
		r.docs = append(r.docs, d)
		if r.add(limits.Cost{Documents: 1}, most, d.line); r.deep || r.over != nil {
			return r.contents
		}
	}
	return r.contents
}

// token moves r.next to the next value or closing bracket and returns its first byte. It returns 0
// at the end of the text.
func (r *jsonReader) token() byte {
	for ; r.next < len(r.text); r.next++ {
		switch c := r.text[r.next]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return c
		}
	}
	return 0
}

// value parses the value at r.next. It returns nil if the file exceeds a limit.
func (r *jsonReader) value(depth int) *Node {
	n := r.slab.node()
	passed := r.text[r.at:r.next]
	if end := bytes.LastIndexByte(passed, '\n'); end >= 0 {
		r.line += int32(bytes.Count(passed, []byte("\n")))
		r.col, passed = 1, passed[end+1:]
	}
	r.col += int32(utf8.RuneCount(passed))
	r.at = r.next
	n.Line, n.Column = r.line, r.col
	if r.sum.Values++; r.sum.Values > r.most.Values {
		r.add(limits.Cost{}, r.most, int(n.Line))
	}
	if r.over != nil {
		return nil
	}
	if depth > limits.Nesting && !r.deep {
		r.deep = true
		r.add(limits.Cost{}, r.most, int(n.Line), textError{problem: TooDeep, line: int(n.Line), column: int(n.Column), detail: fmt.Sprintf("more than %d levels", limits.Nesting)})
	}
	switch c := r.text[r.next]; c {
	case '{', '[':
		r.next++
		if !r.composite(n, c, depth) {
			return nil
		}
	case '"':
		n.Value, n.Quoted = r.quoted(), true
	default:
		from := r.next
		for r.next < len(r.text) && strings.IndexByte(" \t\r\n,:[]{}\"", r.text[r.next]) < 0 {
			r.next++
		}
		n.Value = r.words.keepBytes(r.text[from:r.next])
		switch {
		case n.Value == "true", n.Value == "false":
			n.Type = Bool
		case n.Value == "null":
			n.Type = Null
		case strings.ContainsAny(n.Value, ".eE"):
			n.Type = Float
		default:
			n.Type = Int
		}
	}
	return n
}

func (r *jsonReader) quoted() string {
	from, plain := r.next, true
	for r.next++; r.text[r.next] != '"'; r.next++ {
		if c := r.text[r.next]; c == '\\' {
			plain = false
			r.next++
		} else if c >= utf8.RuneSelf {
			plain = false
		}
	}
	r.next++
	if plain {
		return r.words.keepBytes(r.text[from+1 : r.next-1])
	}
	var s string
	_ = json.Unmarshal(r.text[from:r.next], &s) // the text is valid
	return s
}

// composite parses the contents of a map or a list. It returns false if the file exceeds a limit.
func (r *jsonReader) composite(n *Node, open byte, depth int) bool {
	n.Kind = Sequence
	if open == '{' {
		n.Kind = Map
	}
	first := len(r.open)
	var held inside    // a view of r.open
	var index keyIndex // becomes a hash index if the map is long
	for c := r.token(); c != ']' && c != '}'; c = r.token() {
		v := r.value(depth + 1)
		if v == nil {
			return false
		}
		if n.Kind == Sequence {
			r.open = append(r.open, v)
			continue
		}
		r.token()
		value := r.value(depth + 1)
		if value == nil {
			return false
		}
		held.nodes = r.open[first:]
		if at := index.add(&held, v); at >= 0 {
			r.add(limits.Cost{}, r.most, int(v.Line), textError{problem: DuplicateKey, line: int(v.Line), column: int(v.Column), key: v, first: held.nodes[at], detail: v.Value, doc: len(r.docs)})
			held.nodes[at], held.nodes[at+1] = v, value
			continue
		}
		if r.open = append(r.open, v, value); len(r.open) == first+32 {
			held.nodes = r.open[first:]
			index = index.hashed(&held)
		}
	}
	n.inside = r.slab.inside(len(r.open) - first)
	n.inside.nodes, n.inside.index = append(n.inside.nodes, r.open[first:]...), index
	r.open = r.open[:first]
	r.next++
	return true
}
