package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Limits that no hand-written manifest comes near; beyond them a document is
// taken for an attack or an accident and reported instead of expanded.
const (
	maxDepth     = 200
	maxExpansion = 200_000
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
	related      int // line of the first key, for repeated keys
	detail       string
}

// parseYAML reads all documents of one file with one decoder, so that lines
// are those of the file. After a syntax error it goes on at the next document
// separator, as one broken document must not hide the others.
func parseYAML(text []byte, opts Options) (docs []document, errs []textError) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	offset := 0
	for {
		more, err := decodeAll(text, offset, opts, func(d document, problems []textError) {
			docs = append(docs, d)
			errs = append(errs, problems...)
		})
		if !more {
			return docs, errs
		}
		e := syntaxError(err, text, offset)
		errs = append(errs, e)
		skip := nextSeparator(text, e.line-offset)
		if skip < 0 {
			return docs, errs
		}
		offset += bytes.Count(text[:skip], []byte("\n"))
		text = text[skip:]
	}
}

// decodeAll hands every document to emit; it returns true and the error where
// the text could not be read to its end.
func decodeAll(text []byte, offset int, opts Options, emit func(document, []textError)) (failed bool, err error) {
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
		c := converter{offset: int32(offset), drop: opts.Drop}
		d := document{line: root.Line + offset}
		if len(root.Content) > 0 {
			d.root = c.document(root.Content[0], opts.Keep)
			d.line = root.Content[0].Line + offset
		}
		d.templated = c.templated
		if c.fatal {
			d.root = nil
		}
		emit(d, c.errs)
	}
}

var (
	errorLine      = regexp.MustCompile(`^yaml: line (\d+): `)
	separatorStart = regexp.MustCompile(`(?m)^---(?:[ \t\r]|$)`)
)

// maxSearch bounds the text in which the line of a syntax error is searched.
const maxSearch = 1 << 20

// syntaxError finds the place of a parser error. The parser names the start of
// the construct that it was in, counted from 0 in some messages and from 1 in
// others. The line that a person has to mend is the first one up to which the
// text fails in the same way.
func syntaxError(err error, text []byte, offset int) textError {
	said, line := problemOf(err)
	e := textError{problem: Unparsable, line: 1, column: 1, detail: said}
	if strings.Contains(said, "exceeded max depth") {
		e.problem, e.detail = TooDeep, "more than 10,000 levels"
	}
	ends := lineEnds(text)
	headsOnly := Options{Keep: func(string, string) bool { return false }}
	e.line = min(max(line, 1), len(ends))
	if len(text) <= maxSearch && len(ends) > 0 {
		e.line = 1 + sort.Search(len(ends)-1, func(i int) bool {
			failed, err := decodeAll(text[:ends[i]], 0, headsOnly, func(document, []textError) {})
			if !failed {
				return false
			}
			now, _ := problemOf(err)
			return now == said
		})
	}
	e.line += offset
	return e
}

// problemOf splits a parser error into what it says and the line it names.
func problemOf(err error) (said string, line int) {
	said = err.Error()
	if m := errorLine.FindStringSubmatch(said); m != nil {
		line, _ = strconv.Atoi(m[1])
		said = said[len(m[0]):]
	}
	return strings.TrimPrefix(said, "yaml: "), line
}

// lineEnds are the offsets behind every line.
func lineEnds(text []byte) []int {
	var ends []int
	for i, c := range text {
		if c == '\n' || i == len(text)-1 {
			ends = append(ends, i+1)
		}
	}
	return ends
}

// nextSeparator is the offset of the first document separator after a line, or -1.
func nextSeparator(text []byte, line int) int {
	at := 0
	for range line {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
	}
	if loc := separatorStart.FindIndex(text[at:]); loc != nil {
		return at + loc[0]
	}
	return -1
}

// converter turns parser nodes into Nodes, resolving aliases and merge keys
// and finding everything that makes a document unsafe to walk.
type converter struct {
	offset    int32
	memo      map[*yaml.Node]*Node // anchored nodes; nil while in progress
	sizes     map[*Node]int        // expanded size of anchored nodes
	expanded  int
	copied    int // nodes that aliases repeat
	slab      []Node
	next      int // size of the next slab
	drop      func(field string) bool
	errs      []textError
	templated bool
	fatal     bool
}

func (c *converter) alloc() *Node {
	if len(c.slab) == 0 {
		c.next = min(max(8, 2*c.next), 64)
		c.slab = make([]Node, c.next)
	}
	n := &c.slab[0]
	c.slab = c.slab[1:]
	return n
}

func (c *converter) fail(kind ProblemKind, n *yaml.Node, detail string) *Node {
	if !c.fatal {
		c.errs = append(c.errs, textError{problem: kind, line: n.Line + int(c.offset), column: n.Column, detail: detail})
	}
	c.fatal = true
	return &Node{Kind: Scalar, Type: Null}
}

// document converts a whole document, or only its head where keep says that
// nobody will look further; the rest is then checked without being copied.
func (c *converter) document(y *yaml.Node, keep func(apiVersion, kind string) bool) *Node {
	apiVersion, kind := head(y)
	if kind == "" || keep(apiVersion, kind) || !c.plain(y, 0) {
		return c.convert(y, 0)
	}
	short := *y
	short.Content = nil
	for i := 0; i+1 < len(y.Content); i += 2 {
		switch y.Content[i].Value {
		case "apiVersion", "kind", "metadata":
			short.Content = append(short.Content, y.Content[i], y.Content[i+1])
		}
	}
	return c.convert(&short, 0)
}

func head(y *yaml.Node) (apiVersion, kind string) {
	if y.Kind != yaml.MappingNode {
		return "", ""
	}
	for i := 0; i+1 < len(y.Content); i += 2 {
		switch y.Content[i].Value {
		case "apiVersion":
			apiVersion = y.Content[i+1].Value
		case "kind":
			kind = y.Content[i+1].Value
		}
	}
	return apiVersion, kind
}

// plain reports whether a tree has no anchors, aliases, merge keys, repeated
// or compound keys, long maps or great depth: nothing that convert would
// complain about or resolve.
func (c *converter) plain(y *yaml.Node, depth int) bool {
	if y.Anchor != "" || y.Kind == yaml.AliasNode || depth > maxDepth || y.Kind == yaml.MappingNode && len(y.Content) > 128 {
		return false
	}
	for i, child := range y.Content {
		if y.Kind == yaml.MappingNode && i%2 == 0 {
			if child.Kind != yaml.ScalarNode || child.Value == "<<" {
				return false
			}
			for j := 0; j < i; j += 2 {
				if y.Content[j].Value == child.Value {
					return false
				}
			}
		} else if len(child.Content) > 0 || child.Kind == yaml.AliasNode || child.Anchor != "" {
			if !c.plain(child, depth+1) {
				return false
			}
		}
	}
	return true
}

func (c *converter) convert(y *yaml.Node, depth int) *Node {
	if c.fatal {
		return &Node{Kind: Scalar, Type: Null}
	}
	if depth > maxDepth {
		return c.fail(TooDeep, y, fmt.Sprintf("more than %d levels", maxDepth))
	}
	if y.Kind == yaml.AliasNode {
		return c.alias(y)
	}
	before := c.expanded
	c.expanded++
	if y.Anchor != "" {
		if c.memo == nil {
			c.memo = map[*yaml.Node]*Node{}
		}
		c.memo[y] = nil
	}
	n := c.alloc()
	n.Line, n.Column = int32(y.Line)+c.offset, int32(y.Column)
	switch y.Kind {
	case yaml.MappingNode:
		n.Kind = Map
		c.mapping(n, y, depth)
	case yaml.SequenceNode:
		n.Kind = Sequence
		n.content = make([]*Node, len(y.Content))
		for i, item := range y.Content {
			n.content[i] = c.convert(item, depth+1)
		}
	default:
		scalar(n, y)
	}
	if y.Anchor != "" {
		c.memo[y] = n
		if c.sizes == nil {
			c.sizes = map[*Node]int{}
		}
		c.sizes[n] = c.expanded - before
	}
	return n
}

func scalar(n *Node, y *yaml.Node) {
	n.Value = y.Value
	n.Quoted = y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	switch {
	case y.Style&yaml.TaggedStyle != 0:
		n.Type = resolveTag(y.Tag, y.Value)
	case !n.Quoted:
		n.Type = resolvePlain(y.Value)
	}
}

// alias returns the shared node of an anchor. Sharing costs nothing here, but
// whoever walks the result pays for every copy, so copies are counted.
func (c *converter) alias(y *yaml.Node) *Node {
	n, seen := c.memo[y.Alias]
	if !seen || n == nil {
		return c.fail(AliasCycle, y, fmt.Sprintf("anchor &%s contains itself", y.Value))
	}
	c.expanded += c.sizes[n]
	if c.copied += c.sizes[n]; c.copied > maxExpansion {
		return c.fail(AliasBomb, y, fmt.Sprintf("aliases expand to more than %d values", maxExpansion))
	}
	return n
}

func (c *converter) mapping(n *Node, y *yaml.Node, depth int) {
	n.content = make([]*Node, 0, len(y.Content))
	index := newKeyIndex(len(y.Content) / 2)
	var merges []*yaml.Node
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		if k.Kind == yaml.ScalarNode && k.Value == "<<" && k.Style == 0 {
			merges = append(merges, v)
			continue
		}
		if k.Kind != yaml.ScalarNode && k.Kind != yaml.AliasNode {
			c.templated = true
			continue
		}
		key, value := c.convert(k, depth+1), c.field(k.Value, v, depth+1)
		if at := index.add(n, key); at >= 0 {
			first := n.content[at]
			c.errs = append(c.errs, textError{problem: DuplicateKey, line: int(key.Line), column: int(key.Column), related: int(first.Line), detail: key.Value})
			// The last one wins, as in every lenient JSON decoder.
			n.content[at], n.content[at+1] = key, value
			continue
		}
		n.content = append(n.content, key, value)
	}
	for _, m := range merges {
		c.merge(n, index, m, depth)
	}
}

// field converts the value of a field, or only says what shape it has if
// nobody will look into it.
func (c *converter) field(name string, y *yaml.Node, depth int) *Node {
	if len(y.Content) == 0 || c.drop == nil || !c.drop(name) || !c.plain(y, depth) {
		return c.convert(y, depth)
	}
	n := c.alloc()
	n.Line, n.Column, n.Kind = int32(y.Line)+c.offset, int32(y.Column), Sequence
	if y.Kind == yaml.MappingNode {
		n.Kind = Map
	}
	return n
}

// keyIndex finds repeated keys of one map: by looking through short ones and by
// hash in long ones, as a map in an attacker's file can be as long as the file.
type keyIndex map[string]int

func newKeyIndex(size int) keyIndex {
	if size <= 16 {
		return nil
	}
	return make(keyIndex, size)
}

// add is the index in n of an equal key, or -1; then the key counts as being
// appended next.
func (x keyIndex) add(n *Node, key *Node) int {
	if x == nil {
		for i := 0; i < len(n.content); i += 2 {
			if n.content[i].Value == key.Value {
				return i
			}
		}
		return -1
	}
	if at, ok := x[key.Value]; ok {
		return at
	}
	x[key.Value] = len(n.content)
	return -1
}

// merge adds the fields of << that the map does not have itself.
func (c *converter) merge(n *Node, index keyIndex, y *yaml.Node, depth int) {
	from := c.convert(y, depth+1)
	for _, m := range append(from.Items(), from) {
		for k, v := range m.Fields() {
			if index.add(n, k) < 0 {
				n.content = append(n.content, k, v)
			}
		}
	}
}
