package chart

import (
	"bytes"
	"reflect"
	"strings"
	"unicode"
	"unsafe"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// lines returns the origins of the lines of a frame: one more than it has line breaks.
func (t *trace) lines(f *frame) []origin {
	text := f.text.Bytes()
	n := bytes.Count(text, []byte{'\n'}) + 1
	t.e.budget.charge(4 * n)
	found := make([]weighed, n)
	at := 0
	for i, s := range f.segments {
		to := len(text)
		if i+1 < len(f.segments) {
			to = f.segments[i+1].from
		}
		pieces := bytes.Split(text[s.from:to], []byte{'\n'}) // the first piece continues a line
		for k, piece := range pieces {
			o, known := s.origin(k, len(pieces))
			found[at+k].add(o, known, piece)
		}
		at += len(pieces) - 1
	}
	all := make([]origin, n)
	for i := range found {
		all[i] = found[i].origin
	}
	return all
}

// weighed is the best origin so far of a line.
type weighed struct {
	origin
	weight int
}

// Weights of a piece of a line. A line belongs to a text with a word, rather than to indentation or
// to the dash of an item.
const (
	blank = 1 + iota
	punctuation
	wordOfAction
	wordOfText
)

// add weighs a further piece of the line. Places of values are kept, whoever wins.
func (w *weighed) add(o origin, action bool, piece []byte) {
	weight := wordOfText
	switch {
	case len(bytes.TrimSpace(piece)) == 0:
		weight = blank
	case !bytes.ContainsFunc(piece, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		weight = punctuation
	case action:
		weight = wordOfAction
	}
	cands := w.cands
	if weight >= punctuation {
		cands = append(cands[:len(cands):len(cands)], o.cands...)
	}
	if weight > w.weight {
		w.origin, w.weight = o, weight
	}
	w.cands = cands
}

// origin returns the origin of the k-th of the lines that a segment printed, and whether an action
// printed it.
func (s *segment) origin(k, of int) (o origin, action bool) {
	n := s.node
	switch {
	case !n.action && n.in.lines != nil && n.line-1+k < len(n.in.lines.lines):
		return n.in.lines.lines[n.line-1+k], false
	case !n.action:
		return origin{in: n.in.known(), line: n.line + k, exact: true}, false
	case s.value != nil && k < len(s.value.lines):
		if o = s.value.lines[k]; o.in != nil {
			return o, true
		}
	}
	single := of == 1
	return origin{in: n.in.known(), line: n.line, exact: single, cands: append(o.cands, s.cands...)}, true
}

// known returns the text if it is that of a file, or nil.
func (w *written) known() *written {
	if w.file == "" {
		return nil
	}
	return w
}

// keep records the origins of the lines of a text.
func (t *trace) keep(text string, lines []origin) {
	if len(text) < 2 { // texts of one byte share their addresses
		return
	}
	t.texts[unsafe.StringData(text)] = &traced{text, lines}
}

// tracedOf returns the known origins of the lines of a text, or nil.
func (t *trace) tracedOf(text string) *traced {
	if len(text) < 2 {
		return nil
	}
	if known := t.texts[unsafe.StringData(text)]; known != nil && len(known.text) == len(text) {
		return known
	}
	return t.ofValues(text)
}

// derive records the origins of a text that a function made from others: the origins of the lines
// that it kept, in their order.
func (t *trace) derive(text string, from []*traced) {
	lines := strings.Split(text, "\n")
	t.e.budget.charge(4 * len(lines))
	var source []origin
	var texts []string
	for _, one := range from {
		for i, line := range strings.Split(one.text, "\n") {
			if line = strings.TrimSpace(line); line != "" && i < len(one.lines) {
				source, texts = append(source, one.lines[i]), append(texts, line)
			}
		}
	}
	t.e.budget.charge(len(source))
	all := make([]origin, len(lines))
	at := 0
	for i, line := range lines {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		for k := at; k < min(at+reach, len(source)); k++ {
			if line == texts[k] || unquoted(line) == texts[k] {
				all[i], at = source[k], k+1
				break
			}
		}
	}
	t.keep(text, all)
}

// reach limits the lines that a function may leave out in one place.
const reach = 20

// ofValues returns the origins of the lines of a text that is one of the values.
func (t *trace) ofValues(text string) *traced {
	p := t.index.textPath(text)
	if p == nil {
		return nil
	}
	all := t.index.sources.scalar(p, text)
	if len(all) == 0 {
		return nil
	}
	lines := strings.Split(text, "\n")
	one := &traced{text: text, lines: make([]origin, len(lines))}
	for i, line := range lines {
		c := all[0]
		if len(lines) > 1 {
			c = candidate{place: c.place, whole: line}
		}
		one.lines[i].cands = []candidate{c}
	}
	t.texts[unsafe.StringData(text)] = one
	return one
}

// called records the origins of a text that a function made from texts and values with known
// origins.
func (t *trace) called(name string, args []reflect.Value, result reflect.Value) {
	text, ok := stringOf(result)
	if !ok || len(text) < 2 || t.tracedOf(text) != nil {
		return
	}
	if name == "toYaml" || name == "toYamlPretty" {
		t.e.budget.charge(len(text) / 2) // YAML is slow, and is parsed again
		t.printed(text, args[0])
		return
	}
	var from []*traced
	for _, arg := range args {
		from = t.textsIn(from, arg, 0)
	}
	if len(from) > 0 {
		t.derive(text, from)
	}
}

// textsIn adds the texts in an argument, which may be a list.
func (t *trace) textsIn(all []*traced, arg reflect.Value, depth int) []*traced {
	if text, ok := stringOf(arg); ok {
		if one := t.tracedOf(text); one != nil {
			all = append(all, one)
		}
		return all
	}
	if arg = concrete(arg); arg.Kind() != reflect.Slice || depth > 1 {
		return all
	}
	for i := range arg.Len() {
		all = t.textsIn(all, arg.Index(i), depth+1)
	}
	return all
}

// printed records for each line that toYaml prints where its value is set.
func (t *trace) printed(text string, value reflect.Value) {
	if value = concrete(value); !value.IsValid() {
		return
	}
	v := value.Interface()
	if s, ok := v.(string); ok {
		if one := t.tracedOf(s); one != nil {
			t.derive(text, []*traced{one})
		}
		return
	}
	var doc kyaml.Node
	if !isContainer(v) || kyaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) != 1 {
		return
	}
	texts := strings.Split(text, "\n")
	t.e.budget.charge(4 * len(texts))
	w := &walk{t: t, texts: texts, lines: make([]origin, len(texts))}
	w.walk(doc.Content[0], v, nil, 0)
	if w.found {
		t.keep(text, w.lines)
	}
}
