package source

import (
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/lists"
)

// Kind says whether a Node is a scalar, a map or a list.
type Kind uint8

// Kinds of nodes.
const (
	Scalar Kind = iota
	Map
	Sequence
)

// String returns the name of the kind for messages.
func (k Kind) String() string { return [...]string{"scalar", "map", "list"}[k] }

// Type is the type that kubectl gives a scalar.
type Type uint8

// Types of scalars.
const (
	String Type = iota
	Int
	Float
	Bool
	Null
)

// String returns the name of the type for messages.
func (t Type) String() string {
	return [...]string{"string", "number", "number", "boolean", "null"}[t]
}

// Node is one value of a document with its position. Aliases and merge keys are already resolved,
// and a Node reached through an alias has the position of the anchor. Nodes are shared and must not
// be changed.
type Node struct {
	// Value is the text of a scalar. Escapes are decoded, but the text is not normalized otherwise.
	Value string
	// inside holds the contents of a map or a list. It is nil for scalars, which most Nodes are.
	inside *inside
	// Line and Column count from 1. Columns count Unicode code points.
	Line, Column int32
	Kind         Kind
	Type         Type
	// Quoted is set for quoted scalars and block scalars.
	Quoted bool
	// Shared is set for nodes in an anchor or a merge key, which may occur several times in the
	// document.
	Shared bool
}

// inside holds the contents of a map or a list.
type inside struct {
	// folded is set if the contents must be parsed again. In that case, nodes and index hold only
	// the kept fields of a map.
	folded *foldable
	// nodes holds the items of a list, or the alternating keys and values of a map.
	nodes []*Node
	// index finds the keys of a long map. It is nil for short maps and lists.
	index keyIndex
}

// content returns the items of a list, or the alternating keys and values of a map. Inlined, it
// takes 50 KB of the program, and At 30 KB.
//
//go:noinline
func (n *Node) content() []*Node {
	if in := n.opened(); in != nil {
		return in.nodes
	}
	return nil
}

// opened returns the contents of n. It parses them again if they were folded.
func (n *Node) opened() *inside {
	if n.inside != nil && n.inside.folded != nil {
		at := n.inside.folded.shelf.tree(n.inside.folded)
		for at != nil && (at.Line != n.Line || at.Column != n.Column || at.Kind != n.Kind) {
			var last *Node // the last map or list that begins no later than n
			for _, c := range at.content() {
				if c.Kind != Scalar && (c.Line < n.Line || c.Line == n.Line && c.Column <= n.Column) {
					last = c
				}
			}
			at = last
		}
		if at == nil {
			panic("source: a value that was read is not found again: " + n.inside.folded.file.Name)
		}
		return at.inside
	}
	return n.inside
}

// Len returns the number of fields in a map or items in a list.
func (n *Node) Len() int {
	if n == nil {
		return 0
	}
	if n.Kind == Map {
		return len(n.content()) / 2
	}
	return len(n.content())
}

// Get returns the value of a field, or nil if n is not a map or has no such field.
func (n *Node) Get(key string) *Node {
	_, v := n.Field(key)
	return v
}

// Field returns the key and the value of a field, or nil for both if there is no such field.
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

// At follows a path of field names from n. It returns nil if any of the fields is missing.
//
//go:noinline
func (n *Node) At(path ...string) *Node {
	for _, key := range path {
		n = n.Get(key)
	}
	return n
}

// Fields iterates over the keys and values of a map in file order.
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

// Items returns the items of a list, or nil for other nodes.
func (n *Node) Items() []*Node {
	if n == nil || n.Kind != Sequence {
		return nil
	}
	return n.content()
}

// IsNull reports whether n is nil or a null scalar.
func (n *Node) IsNull() bool {
	return n == nil || n.Kind == Scalar && n.Type == Null
}

// Decoded converts a node to the types that encoding/json uses. The given function converts the
// scalars that are not null. Aliases cannot make the result too large, because the limits for a file
// include their expansion.
func (n *Node) Decoded(scalar func(*Node) any) any {
	switch {
	case n.IsNull():
		return nil
	case n.Kind == Map:
		all := make(map[string]any, n.Len())
		for k, v := range n.Fields() {
			all[k.Value] = v.Decoded(scalar)
		}
		return all
	case n.Kind == Sequence:
		all := make([]any, 0, n.Len())
		all = append(all, lists.Of(n.Items(), func(item *Node) any { return item.Decoded(scalar) })...)
		return all
	}
	return scalar(n)
}

// Text returns the value of a string scalar, or "" for other nodes.
func (n *Node) Text() string {
	if n == nil || n.Kind != Scalar || n.Type != String {
		return ""
	}
	return n.Value
}

// Int returns the value of an integer scalar. As in JSON, a float with an integer value counts, so
// 3.0 is 3. For other nodes, ok is false.
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

// float returns the value of a float scalar.
func (n *Node) float() (f float64, ok bool) {
	text := strings.ReplaceAll(n.Value, "_", "")
	f, err := strconv.ParseFloat(text, 64)
	if err != nil { // ParseFloat rejects the dot of .inf and .nan
		f, err = strconv.ParseFloat(strings.Replace(text, ".", "", 1), 64)
	}
	return f, err == nil
}

// Bool returns the value of a boolean scalar. For other nodes, ok is false.
func (n *Node) Bool() (value, ok bool) {
	if n == nil || n.Kind != Scalar || n.Type != Bool {
		return false, false
	}
	return n.truth(), true
}

func (n *Node) truth() bool {
	return strings.IndexByte("yYtT", n.Value[0]) >= 0 || strings.EqualFold(n.Value, "on")
}

// Placeholder reports whether a later tool replaces the node. The final value is then unknown. Such
// a node is a placeholder string (see the function Placeholder), or a map with a single key that is
// a placeholder and has no value.
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

// Equal reports whether two nodes have the same content. It ignores positions, quoting and field
// order.
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
		// Maps of the same length take linear time even if the fields of a long map are in a different order.
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
	for i, item := range a.content() {
		if !Equal(item, b.content()[i]) {
			return false
		}
	}
	return true
}
