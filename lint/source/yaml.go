package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/limits"
)

// document is a YAML or JSON document that has not been classified yet.
type document struct {
	line int
	root *Node
	// template is SkipTemplate if any map has a key that is not a scalar. An unquoted {{ .Values.x
	// }} parses as such a key. It is SkipOtherTemplate in a ytt template, and "" otherwise.
	template string
	// extent is the range of the document in the file, or zero if parseSimple cannot parse the
	// document again.
	extent extent
}

// textError is an error in a document. line and column are 0 if they are unknown.
type textError struct {
	problem      ProblemKind
	line, column int
	key, first   *Node // a repeated key and its first occurrence
	doc          int   // index of the document
	lastCounts   bool  // see Problem.LastCounts
	detail       string
	// skip is the reason for leaving out a document that was not meant to be parsed as YAML. It is
	// empty if the user must correct the error.
	skip string
}

// contents holds everything that was read from a file.
type contents struct {
	docs []document
	errs []textError
	sum  limits.Cost
	// placeholders lists the placeholders that a YAML parser would treat as syntax.
	placeholders []string
	// over is the error for the first limit that the file exceeds, or nil. If it is set, docs holds
	// only the documents before that point.
	over *textError
}

// memory is allocated once and used by one reader after another.
type memory struct {
	simple simpleNodes
	slab   slab
	words  wording
}

func newMemory() *memory { return &memory{words: wording{}} }

// yamlReader reads the documents of one file.
type yamlReader struct {
	opts  Options
	most  limits.Cost
	lines int // number of lines before the current part, as counted by the parser
	moved *moved
	// search is the number of bytes that can still be searched for syntax errors.
	search int
	was    map[string]string // see withPlainPlaceholders
	// ytt is set if the file is a ytt template.
	ytt bool
	// branches and computed describe the text being parsed.
	branches *branches
	computed map[int]computed
	// comma is set if the text contains a map such as {X,}. The parser returns the same node for
	// {X}.
	comma bool
	nodes nodes
	*memory
	contents
}

// parseYAML reads all documents of a file with one decoder, so that line numbers are those of the
// file. The parser stops at the first syntax error. In that case, parseYAML reads each document
// separately, because a broken document must not hide other documents.
func parseYAML(text []byte, opts Options) contents {
	r := &yamlReader{opts: opts, most: opts.mostOf(text), search: maxSearch}
	if opts.memories == nil {
		r.memory = newMemory()
	} else {
		r.memory = opts.memories.Get().(*memory) // no other reader uses it
		defer opts.memories.Put(r.memory)
	}
	if line, ok := crowded(text, r.most.Values); ok {
		r.exceed(fmt.Sprintf("syntax for more than %d values (line breaks, dashes, colons, commas and brackets)", r.most.Values), line)
		return r.contents
	}
	body := text
	for bytes.HasPrefix(body, byteOrderMark) {
		body = body[len(byteOrderMark):]
	}
	if marks := len(text) - len(body); marks > len(byteOrderMark) || hasWideBreak(text) {
		r.moved = &moved{parser: newIndex(body, true), file: newIndex(text, false), by: marks}
	}
	text = body
	r.ytt, _ = yttCode(text)
	failed, err := r.decode(text)
	if !failed {
		return r.contents
	}
	whole, wholeNodes := r.contents, r.nodes
	r.contents, r.nodes = contents{}, nodes{}
	for part := range parts(text) {
		before, nodes := r.contents, r.nodes
		if len(part) == len(text) { // already parsed
			r.contents, r.nodes = whole, wholeNodes
		} else {
			failed, err = r.decode(part)
		}
		if failed {
			r.mend(err, part, before, nodes)
		}
		if r.over != nil {
			break
		}
		r.lines += bytes.Count(part, []byte("\n"))
		for i := range part { // the parser counts these line breaks, too
			if r.moved != nil && wideBreak(part, i) {
				r.lines++
			}
		}
	}
	for i := range r.docs {
		r.docs[i].extent = extent{} // it is relative to the part, not to the file
	}
	return r.contents
}

// mend parses a broken document again after replacing placeholders that YAML treats as syntax.
// before and nodes hold the state before the document was first parsed. If the document is still
// broken, mend records the error.
func (r *yamlReader) mend(err error, part []byte, before contents, nodes nodes) {
	if plain, was := withPlainPlaceholders(part); plain != nil && !r.opts.Strict {
		r.contents, r.nodes, r.was = before, nodes, was
		var failed bool
		failed, err = r.decode(plain)
		r.was = nil
		if !failed {
			return
		}
		part = plain
	}
	// The line number in the parser's error is unreliable, so the line to correct is searched for, but not in templates,
	// which are not expected to parse.
	said, line := problemOf(err)
	skip, action := notRead(part, r.opts.Strict)
	if r.ytt || skip == "" && !r.opts.Strict && lacksOnlyLines(part) {
		skip = SkipOtherTemplate
	}
	e := textError{problem: Unparsable, column: 1, detail: said, skip: skip}
	if strings.Contains(said, "exceeded max depth") {
		e.problem, e.detail, e.skip = TooDeep, "more than 10,000 levels", ""
	}
	ends := lineEnds(part)
	e.line = r.moved.line(r.lines + min(max(line, 1), len(ends)))
	if e.skip != "" && action >= 0 {
		e.line = r.moved.line(r.lines+1) + action
	} else if r.search -= len(part); r.search >= 0 {
		if i := toMend(part, ends, said); i >= 0 {
			e.line = r.moved.line(r.lines+1) + i
		}
	}
	if better, ok := jsonError(part); ok && e.problem == Unparsable && e.skip == "" {
		if line := r.moved.line(r.lines+1) + better.line - 1; line > e.line {
			e.line, e.detail = line, better.detail
		}
	}
	r.docs = append(r.docs, document{line: e.line})
	r.add(limits.Cost{Documents: 1}, r.most, e.line, e)
}

// decode reads the documents in the text, using the YAML library if the text is not simple. If the
// text is invalid, it returns true and the error.
func (r *yamlReader) decode(text []byte) (failed bool, err error) {
	before, nodes := r.contents, r.nodes
	r.branches = &branches{text: text}
	if _, r.computed = yttCode(text); r.moved != nil {
		r.computed = nil // its line numbers differ from those of the parser
	}
	r.comma = hasBraceComma(text)
	if r.moved == nil && parseSimple(text, &r.simple, r.document) {
		return false, nil
	}
	r.contents, r.nodes = before, nodes
	r.simple = simpleNodes{} // free it, since the library's tree may be just as large
	return decodeAll(text, r.document)
}

// exceed records the first limit that the file exceeds.
func (r *contents) exceed(what string, line int) {
	if r.over == nil {
		over := tooMuch(what, line)
		r.over = &over
	}
}

// decodeAll passes the documents to emit until emit returns false. If the text is invalid, it
// returns true and the error.
func decodeAll(text []byte, emit func(*yaml.Node) bool) (failed bool, err error) {
	defer func() {
		// The parser is a third-party library. If it panics, report an error in the document.
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
		if !emit(&root) {
			return false, nil
		}
	}
}

func (r *yamlReader) document(root *yaml.Node) bool {
	c := converter{lines: int32(r.lines), moved: r.moved, was: r.was, branches: r.branches, computed: r.computed, comma: r.comma, drop: r.opts.Drop, slab: &r.slab, words: r.words, file: r.nodes, room: r.most.Problems - r.sum.Problems}
	d := document{extent: r.simple.extent}
	if len(root.Content) > 0 {
		root = root.Content[0]
		d.root = c.document(root, r.opts.Keep)
	}
	r.placeholders = append(r.placeholders, c.placeholders...)
	if r.was != nil && len(c.placeholders) == 0 { // the document was not kept
		r.placeholders = append(r.placeholders, slices.Sorted(maps.Values(r.was))...)
	}
	line, _ := c.place(root)
	d.line = int(line)
	switch {
	case r.ytt:
		d.template = SkipOtherTemplate
	case c.templated:
		d.template = SkipTemplate
	}
	for i := range c.errs {
		c.errs[i].doc = len(r.docs)
		switch e := &c.errs[i]; {
		case e.problem != Unparsable:
		case r.ytt:
			e.skip = SkipOtherTemplate
		case !r.opts.Strict && !meantAsManifest(root):
			e.skip = SkipNoManifest
		}
	}
	if c.fatal {
		d.root = nil
	} else {
		if len(c.errs) > 0 || c.altered {
			d.extent = extent{}
		}
		r.nodes.expanded += c.expanded
		r.nodes.copied += c.copied
	}
	r.docs = append(r.docs, d)
	r.add(limits.Cost{Documents: 1, Values: c.expanded}, r.most, d.line, c.errs...)
	return r.over == nil
}

// add adds a cost and errors to the totals, and checks the limits. An exceeded limit is reported at
// the given line or, if there are too many errors, at one of these errors.
func (r *contents) add(t, most limits.Cost, line int, errs ...textError) {
	for _, e := range errs {
		if e.skip != "" {
			continue
		}
		if t.Problems++; r.sum.Problems+t.Problems > most.Problems {
			line = e.line
		}
	}
	r.errs = append(r.errs, errs...)
	r.sum = r.sum.Plus(t)
	if what := r.sum.Beyond(most); what != "" {
		r.exceed("more than "+what, line)
	}
}

// moved converts positions in the parser's text to positions in the file. It is needed only for
// text with the line breaks of YAML 1.1, and for text from which several byte order marks were
// removed.
type moved struct {
	parser, file *textIndex
	by           int // bytes removed from the start of the file
}

func (m *moved) place(line, column int32) (int32, int32) {
	l, c := m.file.place(m.by + m.parser.offset(int(line), int(column)))
	return int32(l), int32(c)
}

// line converts a parser line to a file line.
func (m *moved) line(n int) int {
	if m == nil {
		return n
	}
	line, _ := m.place(int32(n), 1)
	return int(line)
}
