package chart

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unsafe"

	helm "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/strvals"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/limits"
)

// candidate is a possible position of the value on a line. It counts only if it agrees with the
// finished line. If the field whole is set, the line must equal it. Otherwise, the value on the
// line must equal the field scalar.
type candidate struct {
	place         Place
	path          *fieldPath // nil if it is unknown
	scalar, whole string
	// begins is set if the candidate is the position of a list item that begins on the line.
	begins bool
}

// chosen returns the position of the value on a line. If begins is true, it returns the position of
// the list item that begins on the line.
func chosen(all []candidate, line string, begins bool) Place {
	c, _ := pick(all, line, begins)
	return c.place
}

// pick returns the candidate for a line. It ignores candidates that do not agree with the line. ok
// is false if no candidate is left, or if the remaining candidates have different positions.
func pick(all []candidate, line string, begins bool) (found candidate, ok bool) {
	for _, c := range all {
		agrees := same(scalarOf(line), c.scalar)
		if c.whole != "" {
			agrees = item(line) == item(c.whole)
		}
		if c.begins != begins || !agrees {
			continue
		}
		if ok && found.place != c.place {
			return candidate{}, false
		}
		found, ok = c, true
	}
	return found, ok
}

// item returns a line without indentation and list dashes.
func item(line string) string {
	line = strings.TrimSpace(line)
	for strings.HasPrefix(line, "- ") {
		line = strings.TrimSpace(line[2:])
	}
	return line
}

// scalarOf returns the scalar on a line, without the key or dash that precedes it.
func scalarOf(line string) string {
	line = item(line)
	if _, value, ok := strings.Cut(line, ": "); ok {
		line = strings.TrimSpace(value)
	}
	if line != "" && (line[0] == '"' || line[0] == '\'') {
		return unquoted(line)
	}
	line, _, _ = strings.Cut(line, " #")
	return strings.TrimSpace(line)
}

// unquoted returns a string without surrounding quotes.
func unquoted(s string) string {
	if len(s) > 1 && s[0] == '"' {
		if plain, err := strconv.Unquote(s); err == nil {
			return plain
		}
	}
	if len(s) > 1 && s[0] == '\'' && s[len(s)-1] == '\'' {
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	}
	return s
}

// same reports whether two scalars are equal as strings or as numbers.
func same(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}

// sources holds the command line arguments and files that set values, in order of precedence.
type sources struct {
	sets  []setSource
	user  []*values
	chart *chartValues
}

// setSource holds the values set by one --set or --set-string argument.
type setSource struct {
	name   string
	values map[string]any
}

// values is a parsed values file.
type values struct {
	name   string
	text   []byte
	lines  []string // of text, nil until first use
	root   *kyaml.Node
	budget *budget
	keys   map[*kyaml.Node]map[string]int // index of each key in a mapping
}

// chartValues holds the values file of a chart, and the values files of its dependencies by name.
type chartValues struct {
	own  *values
	deps map[string]*chartValues
}

func newSources(l *loader, c *helm.Chart) *sources {
	s := &sources{chart: newChartValues(l, c, 0)}
	add := func(name string, args []string, parse func(string, map[string]any) error) {
		for _, arg := range slices.Backward(args) {
			one := map[string]any{}
			if parse(arg, one) == nil {
				s.sets = append(s.sets, setSource{name, one})
			}
		}
	}
	add(setStringName, l.in.SetString, strvals.ParseIntoString)
	add(setName, l.in.Set, strvals.ParseInto)
	for _, f := range slices.Backward(l.in.Values) {
		s.user = append(s.user, newValues(l, f.Name, f.Data))
	}
	if l.in.Defaults > 0 {
		s.chart.own = nil
	}
	return s
}

func newValues(l *loader, name string, text []byte) *values {
	v := &values{name: name, text: text, budget: &l.budget, keys: map[*kyaml.Node]map[string]int{}}
	var doc kyaml.Node
	if kyaml.Unmarshal(bytes.TrimPrefix(text, bom), &doc) == nil && len(doc.Content) == 1 {
		v.root = doc.Content[0]
	}
	return v
}

func newChartValues(l *loader, c *helm.Chart, depth int) *chartValues {
	v := &chartValues{deps: map[string]*chartValues{}}
	for _, f := range c.Raw {
		if f.Name == valuesFile {
			v.own = newValues(l, l.nameOf(f.Data, f.Name), f.Data)
		}
	}
	if depth > limits.ChartDepth {
		return v
	}
	for _, d := range c.Dependencies() {
		v.deps[d.Name()] = newChartValues(l, d, depth+1)
	}
	return v
}

// spot is the position of a value in a values file. It holds the nodes of the value and of its key.
type spot struct {
	in         *values // nil for a value from the command line
	file       string
	key, value *kyaml.Node
}

// at returns the position of a node.
func (s spot) at(n *kyaml.Node) Place {
	if n == nil {
		return Place{File: s.file}
	}
	return Place{s.file, n.Line, n.Column}
}

// find returns the position that sets the value at a path. ok is false if no source sets the value.
// For a value from the command line, find sets only the file of the spot.
func (s *sources) find(p *fieldPath) (spot, bool) {
	at := p.steps()
	for _, set := range s.sets {
		if sets(set.values, at) {
			return spot{file: set.name}, true
		}
	}
	for _, way := range ways(at, s.chart) {
		for _, file := range s.user {
			if way.depth == 0 {
				if found, ok := file.find(way.steps); ok {
					return found, true
				}
			}
		}
		if found, ok := way.chart.own.find(way.steps); ok {
			return found, true
		}
	}
	return spot{}, false
}

// way is a path relative to the values of a chart.
type way struct {
	chart *chartValues
	depth int
	steps []step
}

// ways returns the paths at which the values files of a chart and its dependencies may set a value.
// The chart's own file uses the whole path. The file of a dependency uses the part of the path
// inside the dependency. A global of a dependency may also be set as a global of an enclosing
// chart.
func ways(at []step, chart *chartValues) []way {
	all := []way{{chart, 0, at}}
	charts := []*chartValues{chart}
	for d := range at {
		next := charts[d].deps[at[d].key]
		if next == nil || at[d].item >= 0 {
			break
		}
		charts = append(charts, next)
		all = append(all, way{next, d + 1, at[d+1:]})
	}
	n := len(charts) - 1
	if n == 0 || len(at) == n || at[n].key != "global" {
		return all
	}
	var global []way
	for d, c := range charts {
		global = append(global, way{c, d, at[n:]})
	}
	return append(global[:n:n], all...)
}

// sets reports whether an argument sets a path or one of its parents.
func sets(v any, at []step) bool {
	for _, s := range at {
		switch of := v.(type) {
		case map[string]any:
			inner, ok := of[s.key]
			if !ok {
				return false
			}
			v = inner
		case []any:
			if s.item < 0 || s.item >= len(of) || of[s.item] == nil {
				return false
			}
			v = of[s.item]
		default:
			return true
		}
	}
	return !isContainer(v)
}

// find follows a path in the file.
func (v *values) find(at []step) (spot, bool) {
	if v == nil || v.root == nil {
		return spot{}, false
	}
	found := spot{v, v.name, v.root, v.root}
	for _, s := range at {
		key, value := v.child(found.value, s, 0)
		if value == nil {
			return spot{}, false
		}
		found.key, found.value = key, value
	}
	return found, true
}

const maxAliases = 100

// child returns the key and the value that a step leads to. For a list item, both are the item.
func (v *values) child(n *kyaml.Node, s step, depth int) (key, value *kyaml.Node) {
	v.budget.charge(1)
	n = plain(n)
	switch {
	case n == nil || depth > maxAliases:
		return nil, nil
	case s.item >= 0:
		if n.Kind != kyaml.SequenceNode || s.item >= len(n.Content) {
			return nil, nil
		}
		return n.Content[s.item], n.Content[s.item]
	case n.Kind != kyaml.MappingNode:
		return nil, nil
	}
	keys, known := v.keys[n]
	if !known {
		keys = map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			keys[n.Content[i].Value] = i
		}
		v.keys[n] = keys
	}
	if at, ok := keys[s.key]; ok {
		return n.Content[at], n.Content[at+1]
	}
	if at, ok := keys["<<"]; ok {
		from := []*kyaml.Node{n.Content[at+1]} // values of merge keys
		if from[0].Kind == kyaml.SequenceNode {
			from = from[0].Content
		}
		for _, one := range from {
			if key, value = v.child(one, s, depth+1); value != nil {
				return key, value
			}
		}
	}
	return nil, nil
}

// plain resolves aliases.
func plain(n *kyaml.Node) *kyaml.Node {
	for range maxAliases {
		if n == nil || n.Kind != kyaml.AliasNode {
			break
		}
		n = n.Alias
	}
	return n
}

// container returns the position of a map or list, which must be of the given kind. If there are
// several, the first that is not empty counts.
func (s *sources) container(p *fieldPath, kind kyaml.Kind) (best spot, ok bool) {
	for ; p != nil; p = p.other {
		if p.fixed != (Place{}) {
			return spot{file: p.fixed.File, key: &kyaml.Node{Line: p.fixed.Line, Column: p.fixed.Column}}, true
		}
		found, known := s.find(p)
		if !known || p.parent == nil || found.value != nil && (found.value == found.in.root || plain(found.value).Kind != kind) {
			continue // the root of a file has no key
		}
		if full := found.value == nil || len(plain(found.value).Content) > 0; full || !ok {
			best, ok = found, true
			if full {
				break
			}
		}
	}
	return best, ok
}

// scalar returns the candidates for the position of a printed value. A Boolean that two maps set
// before they were merged has none, because false does not override true.
func (s *sources) scalar(p *fieldPath, value any) []candidate {
	if _, ok := value.(bool); ok && p != nil && p.other != nil {
		var all []candidate
		for q := p; q != nil && len(all) < 2; q = q.other {
			one := *q
			one.other = nil
			all = append(all, s.scalar(&one, value)...)
		}
		if len(all) > 1 {
			return nil
		}
		return all
	}
	printed := "" // as text/template prints numbers and booleans
	switch value := value.(type) {
	case bool, int, int64, float64:
		printed = fmt.Sprint(value)
	case string:
		printed = value
	}
	for q := p; q != nil && printed != ""; q = q.other {
		if q.fixed != (Place{}) {
			return []candidate{{place: q.fixed, path: p, scalar: printed}}
		}
		found, ok := s.find(q)
		switch {
		case !ok:
		case found.value == nil:
			return []candidate{{place: found.at(nil), path: p, scalar: printed}}
		default:
			if n := plain(found.value); n.Kind == kyaml.ScalarNode && same(n.Value, printed) {
				return []candidate{{place: found.at(n), path: p, scalar: printed}}
			}
		}
	}
	return nil
}

// blockLine returns the position of a line of a literal block scalar, counted from 0. ok is false
// if the values file has another text there.
func (s *sources) blockLine(p *fieldPath, i int, line string) (at Place, ok bool) {
	found, known := s.find(p)
	if !known || found.in == nil {
		return at, false
	}
	n := plain(found.value)
	if n.Kind != kyaml.ScalarNode || n.Style&kyaml.LiteralStyle == 0 {
		return at, false
	}
	written := found.in.line(n.Line + 1 + i)
	text := strings.TrimLeft(written, " ")
	return Place{found.file, n.Line + 1 + i, len(written) - len(text) + 1}, strings.HasSuffix(written, line) && text != ""
}

// line returns a line of the file, counted from 1, or "".
func (v *values) line(n int) string {
	if v.lines == nil {
		v.lines = strings.Split(string(v.text), "\n")
	}
	if n < 1 || n > len(v.lines) {
		return ""
	}
	return strings.TrimSuffix(v.lines[n-1], "\r")
}

// lines returns the origins of the lines in a frame. The number of lines is the number of line
// breaks plus one.
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
		pieces := bytes.Split(text[s.from:to], []byte{'\n'}) // the first piece continues the previous line
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

// weighed is the best origin so far for a line.
type weighed struct {
	origin
	weight int
}

// Weights of the pieces of a line. The piece with the greatest weight determines the origin.
const (
	blank = 1 + iota
	punctuation
	wordOfAction
	wordOfText
)

// add adds a piece of the line. All pieces contribute candidates for the position of the value.
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

// origin returns the origin of a line in a segment. The argument k is the index of the line, and
// the argument "of" is the number of lines in the segment. The result "action" is true if an action
// printed the line.
func (s *segment) origin(k, of int) (o origin, action bool) {
	o, action = s.written(k, of)
	o.call = cmp.Or(s.called, s.node)
	o.condition = cmp.Or(o.condition, s.condition)
	return o, action
}

// written returns the origin of a line without the call and the condition that led to it.
func (s *segment) written(k, of int) (o origin, action bool) {
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

// known returns w if it is the text of a file, or nil.
func (w *written) known() *written {
	if w.file == "" {
		return nil
	}
	return w
}

// keep records the origins of the lines of a string.
func (t *trace) keep(text string, lines []origin) {
	if len(text) < 2 { // strings of one byte share their addresses
		return
	}
	t.texts[unsafe.StringData(text)] = &traced{text, lines}
}

// tracedOf returns the string with the recorded origins of its lines, or nil.
func (t *trace) tracedOf(text string) *traced {
	if len(text) < 2 {
		return nil
	}
	if known := t.texts[unsafe.StringData(text)]; known != nil && len(known.text) == len(text) {
		return known
	}
	return t.ofValues(text)
}

// derive records the line origins of a string that a function made from other strings. Unchanged
// lines keep their origins if they are in the same order.
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

// reach is the maximum number of consecutive lines that a function may drop.
const reach = 20

// ofValues returns the origins of the lines of a string that is part of the merged values.
func (t *trace) ofValues(text string) *traced {
	p := t.index.valuePath(text)
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
			if at, ok := t.index.sources.blockLine(p, i, line); ok {
				c.place = at
				c.path = &fieldPath{fixed: at}
			}
		}
		one.lines[i].cands = []candidate{c}
	}
	t.texts[unsafe.StringData(text)] = one
	return one
}

// called records the line origins of a function's result.
func (t *trace) called(name string, args []reflect.Value, result reflect.Value) {
	text, ok := stringOf(result)
	if !ok {
		// The paths of the values in a map or list that a function made or changed.
		of := func(v reflect.Value) any {
			if v = concrete(v); !v.IsValid() {
				return nil
			}
			return v.Interface()
		}
		switch strings.TrimPrefix(name, "must") {
		case "deepCopy", "DeepCopy", "pick", "omit":
			t.index.copied(of(args[0]), of(result), 0)
		case "merge", "Merge", "mergeOverwrite", "MergeOverwrite":
			for i := range args[1].Len() {
				t.index.merged(of(args[0]), of(args[1].Index(i)), strings.HasSuffix(name, "Overwrite"), 0)
			}
		case "fromYaml", "fromYamlArray", "fromJson", "fromJsonArray":
			t.parsed(args[0].String(), of(result))
		}
	}
	if len(text) < 2 || t.tracedOf(text) != nil {
		return
	}
	if name == "toYaml" || name == "toYamlPretty" {
		t.e.budget.charge(len(text) / 2) // encoding YAML is slow, and printed parses the result again
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

// textsIn appends the strings in an argument to the list all if their origins are known. The
// argument may be a string or a list.
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

// printed records where the value on each line printed by toYaml was set.
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
	if !isContainer(v) || !t.index.knows(v, 0) || kyaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) != 1 {
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
