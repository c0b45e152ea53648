package source

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Path is the way from an object to one of its values, field by field. Items of
// a list go by what they say and not by where they stand, as in
// spec.template.spec.containers[app].image, so that a path stays the same when
// others move: an item that is a map by its name, key or topologyKey.
type Path []string

// String is the path with a dot before each field.
func (p Path) String() string {
	var b strings.Builder
	for _, step := range p {
		if b.Len() > 0 && !strings.HasPrefix(step, "[") {
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}

// PathAt is the path from n to the key or the value that starts at a line and a
// column, the first one in the order of the file; nil if nothing starts there.
func (n *Node) PathAt(line, column int) Path {
	f := finder{line: int32(line), column: int32(column)}
	if !f.in(n) {
		return nil
	}
	slices.Reverse(f.path)
	return f.path
}

// finder looks for a place; the path gathers from its end to its start.
type finder struct {
	line, column int32
	path         Path
}

func (f *finder) at(n *Node) bool { return n.Line == f.line && n.Column == f.column }

func (f *finder) in(n *Node) bool {
	for k, v := range n.Fields() {
		if f.at(k) || f.at(v) && v.Kind == Scalar || f.in(v) {
			f.path = append(f.path, fieldStep(k.Value))
			return true
		}
	}
	for _, item := range n.Items() {
		if f.at(item) && item.Kind == Scalar || f.in(item) || f.at(item) {
			f.path = append(f.path, "["+stepName(itemName(item))+"]")
			return true
		}
	}
	return false
}

// fieldStep is a field, in brackets if its name has a dot of its own.
func fieldStep(name string) string {
	if name == "" || strings.ContainsAny(name, ".[]\"") || len(name) > maxStep {
		return "[" + stepName(name) + "]"
	}
	return name
}

// maxStep is how long a name may be that stands in a path as it is.
const maxStep = 100

// stepName is a name without what would end it, cut by its sum if it is long.
func stepName(name string) string {
	if len(name) > maxStep {
		sum := sha256.Sum256([]byte(name))
		return "sha256:" + hex.EncodeToString(sum[:8])
	}
	if strings.ContainsAny(name, `[]"\`) || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// itemName is what tells an item of a list from the others: a scalar by itself,
// a map by the first of its naming fields, or of those further down.
func itemName(n *Node) string {
	switch n.Kind {
	case Scalar:
		return n.Value
	case Sequence:
		for _, item := range n.Items() {
			if name := itemName(item); name != "" {
				return name
			}
		}
		return ""
	}
	for _, field := range []string{"name", "key", "topologyKey"} {
		if v := n.Get(field); v != nil && v.Kind == Scalar && v.Value != "" {
			return v.Value
		}
	}
	return nameBelow(n)
}

// nameBelow looks in the fields of a map that are no scalars, in the order of
// their names, as that of the file may change.
func nameBelow(n *Node) string {
	fields := map[string]*Node{}
	var keys []string
	for k, v := range n.Fields() {
		if v.Kind != Scalar {
			fields[k.Value] = v
			keys = append(keys, k.Value)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		if name := itemName(fields[k]); name != "" {
			return name
		}
	}
	return ""
}
