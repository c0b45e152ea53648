package source

// NewMap returns a map with alternating keys and values, at the position of another node.
func NewMap(at *Node, fields ...*Node) *Node {
	n := &Node{Kind: Map, inside: &inside{nodes: fields}}
	return n.placed(at)
}

// NewList returns a list at the position of another node.
func NewList(at *Node, items ...*Node) *Node {
	n := &Node{Kind: Sequence, inside: &inside{nodes: items}}
	return n.placed(at)
}

// NewText returns a string at the position of another node.
func NewText(at *Node, text string) *Node {
	n := &Node{Value: text, Kind: Scalar, Type: String}
	return n.placed(at)
}

func (n *Node) placed(at *Node) *Node {
	if n.Line, n.Column = 1, 1; at != nil {
		n.Line, n.Column = at.Line, at.Column
	}
	return n
}

// WithField returns a copy of a map in which the field at a path has another value. The last key has the
// position of k, and keys that are added above it, too. Maps on the way are copied.
func (n *Node) WithField(path []string, k, v *Node) *Node {
	if len(path) == 0 {
		return v
	}
	made := NewMap(k)
	if n != nil && n.Kind == Map {
		made.Line, made.Column = n.Line, n.Column
	}
	key := NewText(k, path[0])
	var old *Node
	for was, value := range n.Fields() {
		if was.Value == path[0] {
			key, old = was, value
			continue
		}
		made.inside.nodes = append(made.inside.nodes, was, value)
	}
	made.inside.nodes = append(made.inside.nodes, key, old.WithField(path[1:], k, v))
	return made
}
