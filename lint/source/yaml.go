package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// document is one YAML or JSON document before it is told apart.
type document struct {
	line int
	root *Node
	// templated is set if a map has a key that is no scalar, which is what an
	// unquoted {{ .Values.x }} parses to.
	templated bool
}

// textError is a document that cannot be read; line and column are 0 if unknown.
type textError struct {
	problem      ProblemKind
	line, column int
	key, first   *Node // a repeated key, and the one that it repeats
	detail       string
	text         []byte // of the document, if it is not YAML at all
}

// yamlReader reads the documents of one file.
type yamlReader struct {
	opts  Options
	lines int // lines before what is being decoded, as the parser counts them
	moved *moved
	// search is how many more bytes may be searched for syntax errors.
	search int
	nodes  nodes
	docs   []document
	errs   []textError
}

// parseYAML reads all documents of one file with one decoder, so that lines
// are those of the file. The parser stops at the first syntax error, and one
// broken document must not hide the others: then each is read by itself.
func parseYAML(text []byte, opts Options) ([]document, []textError) {
	r := &yamlReader{opts: opts, search: maxSearch}
	body := text
	for bytes.HasPrefix(body, byteOrderMark) {
		body = body[len(byteOrderMark):]
	}
	if marks := len(text) - len(body); marks > len(byteOrderMark) || hasWideBreak(text) {
		r.moved = &moved{parser: newIndex(body, true), file: newIndex(text, false), by: marks}
	}
	text = body
	if failed, _ := decodeAll(text, r.document); !failed {
		return r.docs, r.errs
	}
	r.docs, r.errs, r.nodes = nil, nil, nodes{}
	for part := range parts(text) {
		if failed, err := decodeAll(part, r.document); failed {
			r.broken(err, part)
		}
		r.lines += r.moved.newLines(part)
	}
	return r.docs, r.errs
}

// decodeAll hands every document to emit; it returns true and the error where
// the text could not be read to its end.
func decodeAll(text []byte, emit func(*yaml.Node)) (failed bool, err error) {
	defer func() {
		// The parser is another project's; a crash of it is the document's
		// fault as far as a person who runs this can tell.
		if p := recover(); p != nil {
			failed, err = true, fmt.Errorf("yaml: the parser failed: %v", p)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var root yaml.Node
		if err := dec.Decode(&root); err != nil {
			return !errors.Is(err, io.EOF), err
		}
		emit(&root)
	}
}

func (r *yamlReader) document(root *yaml.Node) {
	c := converter{lines: int32(r.lines), moved: r.moved, drop: r.opts.Drop, file: r.nodes}
	d := document{}
	if len(root.Content) > 0 {
		root = root.Content[0]
		d.root = c.document(root, r.opts.Keep)
	}
	line, _ := c.place(root)
	d.line, d.templated = int(line), c.templated
	if c.fatal {
		d.root = nil
	} else {
		r.nodes.expanded += c.expanded
		r.nodes.copied += c.copied
	}
	r.docs = append(r.docs, d)
	r.errs = append(r.errs, c.errs...)
}

// moved turns the places of the parser into those of the file, in the rare text
// with line breaks that only YAML 1.1 takes for such, or with several byte order
// marks, which the parser does not get to see.
type moved struct {
	parser, file *textIndex
	by           int // bytes left out in front
}

func (m *moved) place(line, column int32) (int32, int32) {
	l, c := m.file.place(m.by + m.parser.offset(int(line), int(column)))
	return int32(l), int32(c)
}

// line is the line of the file for a line of the parser.
func (m *moved) line(n int) int {
	if m == nil {
		return n
	}
	line, _ := m.place(int32(n), 1)
	return int(line)
}

// newLines is the number of line breaks in a text, as the parser counts them.
func (m *moved) newLines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	for i := range text {
		if m != nil && wideBreak(text, i) {
			n++
		}
	}
	return n
}
