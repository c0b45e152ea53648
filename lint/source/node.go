package source

import (
	"iter"
	"math"
	"strconv"
	"strings"
)

// Kind is the shape of a Node.
type Kind uint8

// The shapes.
const (
	Scalar Kind = iota
	Map
	Sequence
)

// String names the shape as a message would.
func (k Kind) String() string { return [...]string{"scalar", "map", "list"}[k] }

// Type is what a scalar resolves to when kubectl reads it.
type Type uint8

// The types of scalars.
const (
	String Type = iota
	Int
	Float
	Bool
	Null
)

// String names the type as a message would.
func (t Type) String() string {
	return [...]string{"string", "number", "number", "boolean", "null"}[t]
}

// Node is one value of a document with its place. Aliases and merge keys are
// resolved: a Node reached through an alias keeps the place of its anchor.
// Nodes are shared and must not be changed.
type Node struct {
	// Value is the text of a scalar, unescaped and not normalised.
	Value string
	// inside is what a map or a sequence holds; nil for scalars, of which most Nodes are.
	inside *inside
	// Line and Column count from 1; columns count Unicode code points.
	Line, Column int32
	Kind         Kind
	Type         Type
	// Quoted is set for scalars in quotes or block style.
	Quoted bool
	// Shared is set for what an anchor or a merge key holds, which other places
	// may say as well.
	Shared bool
}

// inside is what a map or a sequence holds.
type inside struct {
	// folded is set if what a node holds is read again once something asks; the rest
	// is then what is kept of a map.
	folded *foldable
	// nodes are items, or keys and values by turns.
	nodes []*Node
	// index finds the keys of a long map; it is nil for others.
	index keyIndex
}

// content are the items of a sequence, or keys and values of a map by turns.
func (n *Node) content() []*Node {
	if in := n.opened(); in != nil {
		return in.nodes
	}
	return nil
}

// opened is what n holds, read again if it was let go.
func (n *Node) opened() *inside {
	if n.inside != nil && n.inside.folded != nil {
		return n.inside.folded.unfolded(n)
	}
	return n.inside
}

// Len is the number of fields of a map or items of a sequence.
func (n *Node) Len() int {
	if n == nil {
		return 0
	}
	if n.Kind == Map {
		return len(n.content()) / 2
	}
	return len(n.content())
}

// Get returns the value of a field, or nil if n is no map or has no such field.
func (n *Node) Get(key string) *Node {
	_, v := n.Field(key)
	return v
}

// Field returns the key and the value of a field, or nil twice.
func (n *Node) Field(key string) (k, v *Node) {
	if n == nil || n.Kind != Map {
		return nil, nil
	}
	if k, v, ok := n.inside.kept(key); ok {
		return k, v
	}
	in := n.opened()
	if in == nil {
		return nil, nil
	}
	content := in.nodes
	if in.index != nil {
		if i, ok := in.index[key]; ok {
			return content[i], content[i+1]
		}
		return nil, nil
	}
	for i := 0; i+1 < len(content); i += 2 {
		if content[i].Value == key {
			return content[i], content[i+1]
		}
	}
	return nil, nil
}

// At follows field names from n; nil as soon as one is missing.
func (n *Node) At(path ...string) *Node {
	for _, key := range path {
		n = n.Get(key)
	}
	return n
}

// Fields iterates over the keys and values of a map in the order of the file.
func (n *Node) Fields() iter.Seq2[*Node, *Node] {
	return func(yield func(k, v *Node) bool) {
		if n == nil || n.Kind != Map {
			return
		}
		content := n.content()
		for i := 0; i+1 < len(content); i += 2 {
			if !yield(content[i], content[i+1]) {
				return
			}
		}
	}
}

// pairs iterates over keys and values that stand by turns.
func pairs(nodes []*Node) iter.Seq2[*Node, *Node] {
	return (&Node{Kind: Map, inside: &inside{nodes: nodes}}).Fields()
}

// Items are the elements of a sequence; nil for anything else.
func (n *Node) Items() []*Node {
	if n == nil || n.Kind != Sequence {
		return nil
	}
	return n.content()
}

// IsNull reports whether there is no value: a missing node or a null scalar.
func (n *Node) IsNull() bool {
	return n == nil || n.Kind == Scalar && n.Type == Null
}

// Text is the value of a string scalar, else "".
func (n *Node) Text() string {
	if n == nil || n.Kind != Scalar || n.Type != String {
		return ""
	}
	return n.Value
}

// Int is the whole number of a scalar; ok is false for everything else. A
// float with a whole value counts, as it does in JSON (3.0 is 3).
func (n *Node) Int() (i int64, ok bool) {
	if n == nil || n.Kind != Scalar {
		return 0, false
	}
	switch n.Type {
	case Int:
		return parseInt(n.Value)
	case Float:
		f, ok := n.float()
		if !ok || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
			return 0, false
		}
		return int64(f), true
	}
	return 0, false
}

// float is the value of a float scalar.
func (n *Node) float() (f float64, ok bool) {
	text := strings.ReplaceAll(n.Value, "_", "")
	f, err := strconv.ParseFloat(text, 64)
	if err != nil { // .inf and .nan have a dot that Go does not know
		f, err = strconv.ParseFloat(strings.Replace(text, ".", "", 1), 64)
	}
	return f, err == nil
}

// Bool is the value of a boolean scalar; ok is false for everything else.
func (n *Node) Bool() (value, ok bool) {
	if n == nil || n.Kind != Scalar || n.Type != Bool {
		return false, false
	}
	return n.truth(), true
}

// truth is the value of a boolean scalar.
func (n *Node) truth() bool {
	return strings.IndexByte("yYtT", n.Value[0]) >= 0 || strings.EqualFold(n.Value, "on")
}

// Placeholder reports whether a node stands for a value that something else fills in, so
// that its final value is unknown: a scalar (Placeholder), or a map whose only key is one and
// has no value.
func (n *Node) Placeholder() bool {
	if n == nil || n.Kind == Scalar {
		return n != nil && Placeholder(n.Value)
	}
	if n.Kind == Map && n.Len() == 1 {
		for k, v := range n.Fields() {
			return v.Kind == Scalar && v.Value == "" && k.Placeholder()
		}
	}
	return false
}

// Equal reports whether two nodes say the same: places, quoting and the order
// of fields do not count.
func Equal(a, b *Node) bool {
	if a == nil || b == nil {
		return a.IsNull() && b.IsNull()
	}
	switch {
	case a.Kind != b.Kind || a.Type != b.Type || len(a.content()) != len(b.content()):
		return false
	case a.Kind == Scalar:
		return a.Type == Null || a.Value == b.Value || canonical(a) == canonical(b)
	case a.Kind == Map:
		return equalFields(a, b)
	}
	for i, item := range a.content() {
		if !Equal(item, b.content()[i]) {
			return false
		}
	}
	return true
}

// equalFields compares maps of one length, in linear time also where one that
// is long has its fields in another order.
func equalFields(a, b *Node) bool {
	var byKey map[string]*Node
	these, those := a.content(), b.content()
	for i := 0; i+1 < len(these); i += 2 {
		key, other := these[i].Value, those[i+1]
		if those[i].Value != key {
			if byKey == nil {
				byKey = make(map[string]*Node, b.Len())
				for k, v := range b.Fields() {
					byKey[k.Value] = v
				}
			}
			other = byKey[key]
		}
		if other == nil || !Equal(these[i+1], other) {
			return false
		}
	}
	return true
}
