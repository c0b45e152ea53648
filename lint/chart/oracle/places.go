package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/schedlint/schedlint/fixtures/charts"
	ours "github.com/schedlint/schedlint/lint/chart"
)

// sources holds the files of a case by the names in traces.
type sources struct {
	c      *charts.Case
	items  map[string]map[[2]int]*yaml3.Node
	lines  map[string][]string
	values map[string]*positions
}

// text returns a file of the chart or a values file. The name of a file in an archive begins with
// that of the archive and a colon.
func (s *sources) text(name string) ([]byte, bool) {
	for _, v := range s.c.Values {
		if v.Name == name {
			return v.Data, true
		}
	}
	for _, f := range s.c.Files {
		if f.Name == name {
			return f.Data, true
		}
		if inside, ok := strings.CutPrefix(name, f.Name+":"); ok {
			return unpacked(f.Data, inside)
		}
	}
	return nil, false
}

func unpacked(data []byte, name string) ([]byte, bool) {
	if i := strings.Index(name, ".tgz:"); i >= 0 {
		inner, ok := unpacked(data, name[:i+len(".tgz")])
		if !ok {
			return nil, false
		}
		return unpacked(inner, name[i+len(".tgz:"):])
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, false
	}
	t := tar.NewReader(z)
	for h, err := t.Next(); err == nil; h, err = t.Next() {
		if _, rest, _ := strings.Cut(h.Name, "/"); h.Name == name || rest == name {
			text, err := io.ReadAll(t)
			return text, err == nil
		}
	}
	return nil, false
}

func (s *sources) line(name string, n int) (string, bool) {
	if s.lines[name] == nil {
		text, ok := s.text(name)
		if !ok {
			return "", false
		}
		s.lines[name] = strings.Split(string(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))), "\n")
	}
	if n > len(s.lines[name]) {
		return "", false
	}
	return s.lines[name][n-1], true
}

// positions maps lines and columns to the scalars and keys of a values file.
type positions map[[2]int]*yaml3.Node

// isTable marks a key that has a table or a list as its value, isKey any key.
const (
	isTable yaml3.Style = 1 << (20 + iota)
	isKey
)

func newPositions(text []byte) *positions {
	p := positions{}
	var doc yaml3.Node
	if yaml3.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &doc) == nil {
		p.walk(&doc)
	}
	return &p
}

func (p positions) walk(n *yaml3.Node) {
	if n.Kind != yaml3.DocumentNode && p[[2]int{n.Line, n.Column}] == nil {
		p[[2]int{n.Line, n.Column}] = n
	}
	for i, below := range n.Content {
		if n.Kind == yaml3.SequenceNode && below.Kind == yaml3.MappingNode && len(below.Content) > 0 {
			below.Content[0].Style |= isTable // an item begins at its first key
		}
		if n.Kind == yaml3.MappingNode && i%2 == 0 {
			below.Style |= isKey
			if n.Content[i+1].Kind != yaml3.ScalarNode {
				below.Style |= isTable
			}
		}
		p.walk(below)
	}
}

// node returns the node that begins at a place, or nil.
func (s *sources) node(at ours.Place) *yaml3.Node {
	if s.values[at.File] == nil {
		text, _ := s.text(at.File)
		s.values[at.File] = newPositions(text)
	}
	return (*s.values[at.File])[[2]int{at.Line, at.Column}]
}

// wrong returns the reason why a place cannot be that of a line of the output, or "".
func (s *sources) wrong(at ours.Place, line string) string {
	if strings.HasPrefix(at.File, "--set") {
		return ""
	}
	text, ok := s.text(at.File)
	if !ok {
		return "there is no such file"
	}
	n := s.node(at)
	if n == nil {
		if all := strings.Split(string(text), "\n"); at.Line <= len(all) && at.Column <= len(all[at.Line-1]) && sameLine(all[at.Line-1][at.Column-1:], line) {
			return "" // a line of a literal block
		}
		return "nothing begins there"
	}
	if n.Kind == yaml3.AliasNode {
		n = n.Alias
	}
	for n.Kind == yaml3.SequenceNode && len(n.Content) > 0 || n.Kind == yaml3.MappingNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	if n.Kind != yaml3.ScalarNode {
		if strings.Contains(line, "[]") || strings.Contains(line, "{}") {
			return ""
		}
		return "it is empty"
	}
	switch {
	case isValue(n, line), n.Style&isTable != 0 && strings.HasSuffix(strings.TrimSpace(line), ":"):
		return "" // a table may begin with another key where it is printed
	case isPart(n, line):
		return partly
	}
	return fmt.Sprintf("it is %.100q there", n.Value)
}

// sameLine reports whether two lines of YAML are equal. It ignores comments, quotes and number
// formats.
func sameLine(a, b string) bool {
	if a, b = strings.TrimSpace(a), strings.TrimSpace(b); a == b {
		return a != ""
	}
	m, n := entryOf.FindStringSubmatch(a), entryOf.FindStringSubmatch(b)
	var value yaml3.Node
	return m != nil && n != nil && m[1] == n[1] && yaml3.Unmarshal([]byte(m[2]), &value) == nil && len(value.Content) == 1 && isValue(value.Content[0], b)
}

// wrongItem returns the reason why a place cannot be that of the list item that begins on a line,
// or "". A table that contains the key of the line must begin there, with the same value if the
// line has one.
func (s *sources) wrongItem(at ours.Place, line string) string {
	if s.items[at.File] == nil {
		text, _ := s.text(at.File)
		var doc yaml3.Node
		found := map[[2]int]*yaml3.Node{}
		if yaml3.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &doc) == nil {
			itemsIn(&doc, found)
		}
		if s.items == nil {
			s.items = map[string]map[[2]int]*yaml3.Node{}
		}
		s.items[at.File] = found
	}
	n := s.items[at.File][[2]int{at.Line, at.Column}]
	m := entryOf.FindStringSubmatch(line)
	switch {
	case n == nil:
		return "no item begins there"
	case m == nil || m[1] == "":
		return "no key is on the line"
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if value.Kind == yaml3.AliasNode {
			value = value.Alias
		}
		if key.Value == "<<" || equal(key, m[1]) && (value.Kind != yaml3.ScalarNode || isValue(value, line)) {
			return ""
		}
	}
	return "the item there has no such entry"
}

// itemsIn finds the tables that are items of lists: those in braces at the brace, others at their
// first key.
func itemsIn(n *yaml3.Node, all map[[2]int]*yaml3.Node) {
	for _, below := range n.Content {
		item := below
		if item.Kind == yaml3.AliasNode {
			item = item.Alias
		}
		if n.Kind == yaml3.SequenceNode && item.Kind == yaml3.MappingNode && len(item.Content) > 0 {
			first := item
			if item.Style&yaml3.FlowStyle == 0 {
				first = item.Content[0]
			}
			all[[2]int{first.Line, first.Column}] = item
		}
		itemsIn(below, all)
	}
}

// partly is the reason for a value that is only a part of the printed line.
const partly = "partly"

// entryOf splits a line of YAML into dashes and keys, and a value.
var entryOf = regexp.MustCompile(`^\s*(?:- )*(?:("[^"]*"|'[^']*'|[^\s"'#][^#]*?):(?:\s+|$))?(.*)$`)

// isValue reports whether a line is an entry with this value, or with this key.
func isValue(n *yaml3.Node, line string) bool {
	m := entryOf.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	for _, text := range []string{m[2], m[1], strings.TrimLeft(line, "- \t")} {
		if text = strings.TrimSpace(text); text != "" && equal(n, text) {
			return true
		}
	}
	if m[2] != "" && strings.HasPrefix(n.Value, m[2]+" ") {
		return true // a long text is printed on several lines
	}
	return isHeader.MatchString(m[2]) && strings.ContainsAny(n.Value, "\n ")
}

// isHeader matches the beginning of a text of several lines.
var isHeader = regexp.MustCompile(`^[|>][-+]?[0-9]?$`)

// equal compares a scalar of a values file, as Helm reads it, with a printed one.
func equal(n *yaml3.Node, text string) bool {
	if n.Value == text {
		return true
	}
	printed, there := decoded(text), any(n.Value)
	if n.Style&(yaml3.SingleQuotedStyle|yaml3.DoubleQuotedStyle|yaml3.LiteralStyle|yaml3.FoldedStyle) == 0 && n.ShortTag() != "!!str" {
		there = decoded(n.Value)
	}
	if a, ok := printed.(float64); ok {
		b, ok := there.(float64)
		return ok && a == b
	}
	return fmt.Sprint(printed) == fmt.Sprint(there)
}

// decoded returns the value of a text as YAML.
func decoded(text string) any {
	var value any
	if yaml.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	return value
}

// isPart reports whether a line contains a scalar that is not part of a word.
func isPart(n *yaml3.Node, line string) bool {
	texts := []string{n.Value, strings.Trim(strconv.Quote(n.Value), `"`), fmt.Sprint(decoded(n.Value))}
	for part := range strings.Lines(n.Value) {
		texts = append(texts, part)
	}
	for _, text := range texts {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if regexp.MustCompile(`(^|[^A-Za-z0-9])` + regexp.QuoteMeta(text) + `($|[^A-Za-z0-9])`).MatchString(line) {
			return true
		}
	}
	return false
}
