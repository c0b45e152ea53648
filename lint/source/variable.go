package source

import "slices"

// variableText is the value of fields that are not known.
const variableText = "${unknown}"

// Variable is a scalar of unknown value at the place of n.
func (n *Node) Variable() *Node {
	v := &Node{Value: variableText, Type: String, Shared: true}
	if n != nil {
		v.Line, v.Column = n.Line, n.Column
	}
	return v
}

// Replace is a copy of a map with another value of a field that it has.
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

// With is a copy of a map with one more field, which stands nowhere in the file and
// is placed where another node is.
func (n *Node) With(name string, value, at *Node) *Node {
	key := &Node{Value: name, Type: String, Shared: true}
	if at != nil {
		key.Line, key.Column = at.Line, at.Column
	}
	c := *n
	c.inside = &inside{nodes: append(slices.Clip(n.content()), key, value)}
	return &c
}

// Among is a copy of a sequence with another item in one place.
func (n *Node) Among(i int, item *Node) *Node {
	c := *n
	c.inside = &inside{nodes: slices.Clone(n.content())}
	c.inside.nodes[i] = item
	return &c
}

// Emptied is a copy of a map or sequence without what is in it.
func (n *Node) Emptied() *Node {
	c := *n
	c.inside = nil
	return &c
}
