package engine

import (
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// marker puts markers into texts and knows where each leads.
type marker struct {
	// sign begins the comment of a marker; an index follows.
	sign   string
	files  []string
	places []place
}

// place is a scalar of a source.
type place struct {
	file, doc    int // doc counts the documents of a resource; -1 in a patch
	line, column int
	value        scalar
}

func newMarker(nonce string) *marker { return &marker{sign: "# §" + nonce + ":"} }

// document is a YAML document to be marked, in lines of a file.
type document struct {
	root *yaml.Node
	file int
	doc  int
	// shift turns a place of the parser into offsets in the file and its line and column.
	shift func(line, column int) (l, c int, ok bool)
}

// mark finds the changes of a text that put a marker behind each scalar that is a value,
// is alone at the end of its line and is not in a flow collection.
func (m *marker) mark(l *lines, d document) []change {
	var changes []change
	var visit func(n *yaml.Node, depth int)
	visit = func(n *yaml.Node, depth int) {
		switch {
		case n == nil || depth > maxNesting || n.Style&yaml.FlowStyle != 0:
		case n.Kind == yaml.MappingNode:
			for i := 1; i < len(n.Content); i += 2 {
				visit(n.Content[i], depth+1)
			}
		case n.Kind == yaml.SequenceNode:
			for _, item := range n.Content {
				visit(item, depth+1)
			}
		case n.Kind == yaml.ScalarNode && depth > 0:
			if c, ok := m.scalar(l, d, n); ok {
				changes = append(changes, c)
			}
		}
	}
	visit(d.root, 0)
	return changes
}

// maxNesting bounds the depth in which scalars are marked and found; kustomize and
// Kubernetes have no objects so deep.
const maxNesting = 1000

func (m *marker) scalar(l *lines, d document, n *yaml.Node) (change, bool) {
	at := *n
	if d.shift != nil {
		var ok bool
		if at.Line, at.Column, ok = d.shift(n.Line, n.Column); !ok {
			return change{}, false
		}
	}
	start, end, ok := l.scalar(&at)
	if !ok || !l.commentable(end) {
		return change{}, false
	}
	value, ok := scalarOf(n)
	if !ok {
		return change{}, false
	}
	line, column := at.Line, at.Column
	if rest, from := l.rest(line, column); rest != nil {
		column += len([]rune(string(rest[:start-from])))
	}
	return change{end, end, " " + m.add(place{d.file, d.doc, line, column, value})}, true
}

// add is the comment that leads to a place.
func (m *marker) add(p place) string {
	m.places = append(m.places, p)
	return m.sign + strconv.Itoa(len(m.places)-1)
}

// file is the index of a file's name.
func (m *marker) file(name string) int {
	m.files = append(m.files, name)
	return len(m.files) - 1
}

// lift takes the markers from the comments below a node and keeps each as a negative
// line of its node. Printing comments costs kustomize as much as
// all else of a marker.
func (m *marker) lift(n *yaml.Node, depth int) {
	if n == nil || depth > maxNesting {
		return
	}
	if i, rest, ok := m.parse(n.LineComment); ok {
		n.Line, n.LineComment = -1-i, rest
	}
	for _, child := range n.Content {
		m.lift(child, depth+1)
	}
}

// lifted is the place that a node leads to after lift; ok is false if it has no marker.
func (m *marker) lifted(n *yaml.Node) (*place, bool) {
	i := -1 - n.Line
	if i < 0 || i >= len(m.places) {
		return nil, false
	}
	return &m.places[i], true
}

// parse splits a comment into the index of its marker and the comment of the source.
func (m *marker) parse(comment string) (i int, rest string, ok bool) {
	rest, ok = strings.CutPrefix(comment, m.sign)
	if !ok {
		return 0, "", false
	}
	digits := rest
	if at := strings.IndexAny(rest, " \t\n"); at >= 0 {
		digits = rest[:at]
	}
	rest = strings.TrimLeft(rest[len(digits):], " \t\n")
	i, err := strconv.Atoi(digits)
	return i, rest, err == nil && i >= 0 && i < len(m.places)
}

// without is a text without markers, for messages.
func (m *marker) without(text string) string {
	for {
		before, after, ok := strings.Cut(text, " "+m.sign)
		if !ok {
			return text
		}
		text = before + strings.TrimLeft(after, "0123456789")
	}
}
