package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// looksLikeJSON reports whether the text is one or more JSON values.
func looksLikeJSON(text []byte) bool {
	return opensJSON(text) && validJSON(bytes.TrimPrefix(text, byteOrderMark))
}

// opensJSON reports whether a text begins with a bracket.
func opensJSON(text []byte) bool {
	t := bytes.TrimLeft(bytes.TrimPrefix(text, byteOrderMark), " \t\r\n")
	return len(t) > 0 && (t[0] == '{' || t[0] == '[')
}

// jsonError is what keeps a text in brackets from being JSON; ok is false for
// other texts. Who writes JSON with tabs has to hear about the comma that is
// missing, not that YAML takes no tabs.
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
			at = max(1, min(syntax.Offset, at)) // the offset is behind the byte
		}
		if strings.Contains(err.Error(), " after ") { // a comma is missing behind what came before
			at = int64(len(bytes.TrimRight(text[:at-1], " \t\r\n")))
		}
		line := 1 + bytes.Count(text[:at-1], []byte("\n"))
		return textError{problem: Unparsable, line: line, column: 1, detail: err.Error()}, true
	}
}

func validJSON(text []byte) bool {
	if json.Valid(text) {
		return true
	}
	// A stream of values, as several kubectl calls in a row print.
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// jsonReader builds Nodes from the token stream of encoding/json, whose input
// offsets give the places.
type jsonReader struct {
	dec  *json.Decoder
	text []byte
	most tally
	contents
	at   int // offset up to which line and column were counted
	line int32
	col  int32
	deep bool
}

// errEnough ends the reading of a text that exceeds a bound.
var errEnough = errors.New("enough")

// parseJSON reads a stream of JSON values that is known to be valid.
func parseJSON(text []byte, most tally) contents {
	text = bytes.TrimPrefix(text, byteOrderMark)
	r := &jsonReader{dec: json.NewDecoder(bytes.NewReader(text)), text: text, most: most, line: 1, col: 1}
	r.dec.UseNumber()
	for {
		n, err := r.value(0)
		if err != nil {
			return r.contents
		}
		d := document{line: int(n.Line), root: n}
		if r.deep {
			d.root = nil
		}
		r.docs = append(r.docs, d)
		if r.add(tally{documents: 1}, most, d.line); r.deep || r.over != nil {
			return r.contents
		}
	}
}

// place moves on to the start of the next token and gives its position.
func (r *jsonReader) place() (line, col int32) {
	from := int(r.dec.InputOffset())
	for from < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[from]) >= 0 {
		from++
	}
	for r.at < from {
		c, size := utf8.DecodeRune(r.text[r.at:])
		r.at += size
		if r.col++; c == '\n' {
			r.line, r.col = r.line+1, 1
		}
	}
	return r.line, r.col
}

func (r *jsonReader) value(depth int) (*Node, error) {
	line, col := r.place()
	tok, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	n := &Node{Line: line, Column: col}
	if r.add(tally{values: 1}, r.most, int(line)); r.over != nil {
		return nil, errEnough
	}
	if depth > maxDepth && !r.deep {
		r.deep = true
		r.add(tally{}, r.most, int(line), textError{problem: TooDeep, line: int(line), column: int(col), detail: fmt.Sprintf("more than %d levels", maxDepth)})
	}
	switch t := tok.(type) {
	case json.Delim:
		return n, r.composite(n, t, depth)
	case string:
		n.Value, n.Quoted = t, true
	case json.Number:
		n.Value, n.Type = t.String(), Int
		if strings.ContainsAny(n.Value, ".eE") {
			n.Type = Float
		}
	case bool:
		n.Value, n.Type = fmt.Sprint(t), Bool
	case nil:
		n.Value, n.Type = "null", Null
	}
	return n, nil
}

func (r *jsonReader) composite(n *Node, open json.Delim, depth int) error {
	n.Kind = Sequence
	if open == '{' {
		n.Kind = Map
	}
	n.inside = &inside{}
	var index keyIndex // grows into a hash when the map turns out to be long
	for r.dec.More() {
		v, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		if n.Kind == Sequence {
			n.inside.nodes = append(n.inside.nodes, v)
			continue
		}
		value, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		if at := index.add(n, v); at >= 0 {
			r.add(tally{}, r.most, int(v.Line), textError{problem: DuplicateKey, line: int(v.Line), column: int(v.Column), key: v, first: n.inside.nodes[at], detail: v.Value})
			n.inside.nodes[at], n.inside.nodes[at+1] = v, value
			continue
		}
		if n.inside.nodes = append(n.inside.nodes, v, value); len(n.inside.nodes) == 32 {
			index = newKeyIndex(len(n.inside.nodes))
			for i := 0; i < len(n.inside.nodes); i += 2 {
				index[n.inside.nodes[i].Value] = i
			}
		}
	}
	n.inside.index = index
	_, err := r.dec.Token()
	return err
}
