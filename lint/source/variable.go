package source

import (
	"hash/maphash"
	"math"
	"slices"
	"strconv"
)

// variableText is the value of fields with unknown values.
const variableText = "${unknown}"

// Variable returns a scalar with an unknown value at the place of n.
func (n *Node) Variable() *Node {
	v := &Node{Value: variableText, Type: String, Shared: true}
	if n != nil {
		v.Line, v.Column = n.Line, n.Column
	}
	return v
}

// Replace returns a copy of a map with another value for an existing field.
func (n *Node) Replace(name string, value *Node) *Node {
	c := *n
	in := n.opened()
	if in == nil {
		return &c
	}
	content := slices.Clone(in.nodes)
	for i := 0; i+1 < len(content); i += 2 {
		if content[i].Value == name {
			content[i+1] = value
		}
	}
	c.inside = &inside{nodes: content, index: in.index}
	return &c
}

// With returns a copy of a map with an additional field, which is not in the file and gets the
// place of another node.
func (n *Node) With(name string, value, at *Node) *Node {
	key := &Node{Value: name, Type: String, Shared: true}
	if at != nil {
		key.Line, key.Column = at.Line, at.Column
	}
	c := *n
	c.inside = &inside{nodes: append(slices.Clip(n.content()), key, value)}
	return &c
}

// Among returns a copy of a sequence with item i replaced.
func (n *Node) Among(i int, item *Node) *Node {
	c := *n
	c.inside = &inside{nodes: slices.Clone(n.content())}
	c.inside.nodes[i] = item
	return &c
}

// Emptied returns a copy of a map or sequence without its contents.
func (n *Node) Emptied() *Node {
	c := *n
	c.inside = nil
	return &c
}

// Digester computes equal sums for equal nodes, to find nodes that may be Equal without comparing
// all pairs. Collisions cannot be predicted.
type Digester struct{ seed maphash.Seed }

// NewDigester returns a Digester. Its sums are only comparable with one another.
func NewDigester() *Digester { return &Digester{maphash.MakeSeed()} }

// Sum returns the sum of a node. It ignores places, quoting and the order of fields.
func (d *Digester) Sum(n *Node) uint64 {
	if n.IsNull() {
		return 1
	}
	sum := uint64(n.Kind)<<8 + uint64(n.Type) + 2
	switch n.Kind {
	case Scalar:
		return d.mix(sum, maphash.String(d.seed, canonical(n)))
	case Map:
		for k, v := range n.Fields() {
			sum += d.mix(maphash.String(d.seed, k.Value), d.Sum(v))
		}
		return d.mix(sum, uint64(n.Len()))
	}
	for _, item := range n.Items() {
		sum = d.mix(sum, d.Sum(item))
	}
	return sum
}

func (d *Digester) mix(a, b uint64) uint64 { return maphash.Comparable(d.seed, [2]uint64{a, b}) }

// canonical returns the same text for all equal scalars.
func canonical(n *Node) string {
	switch n.Type {
	case Bool:
		return strconv.FormatBool(n.truth())
	case Int:
		if i, ok := n.Int(); ok {
			return strconv.FormatInt(i, 10)
		}
	case Float:
		if f, ok := n.float(); ok && !math.IsNaN(f) { // which is equal to none
			return strconv.FormatFloat(f+0, 'g', -1, 64) // turns -0 into 0
		}
	}
	return n.Value
}
