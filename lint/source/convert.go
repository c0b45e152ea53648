package source

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/limits"
)

// weighty is the length in bytes for which a scalar counts as one additional value. Walking a long
// string takes time.
const weighty = 64

// converter converts parser nodes to Nodes. It resolves aliases and merge keys, and reports
// anything that makes a document unsafe to walk.
type converter struct {
	lines    int32 // lines of the file before the first line that the parser sees
	moved    *moved
	anchors  map[*yaml.Node]anchored
	expanded int // number of nodes, counting each alias as a copy
	copied   int // number of nodes that are copies made by aliases
	shared   int // nesting depth of anchors and merge keys
	file     nodes
	deepest  int // depth of the deepest node so far
	slab     *slab
	words    wording
	drop     func(field string) bool
	was      map[string]string // see withPlainPlaceholders
	// placeholders lists the scalars that begin with a replaced placeholder, in their original form
	// (see withPlainPlaceholders).
	placeholders []string
	branches     *branches
	computed     map[int]computed // see yttCode
	comma        bool             // see yamlReader
	altered      bool             // some values differ from those in the YAML
	errs         []textError
	room         int // number of mistakes that can still be recorded for the file
	templated    bool
	fatal        bool
}

// nodes counts the nodes in the earlier documents of a file.
type nodes struct{ expanded, copied int }

// anchored describes an anchored node. The node field is nil while the node is being converted.
type anchored struct {
	node         *Node
	size, height int
}

func (c *converter) alloc(y *yaml.Node) *Node {
	n := c.slab.node()
	n.Line, n.Column = c.place(y)
	n.Shared = c.shared > 0
	return n
}

// place returns the position of a parser node in the file.
func (c *converter) place(y *yaml.Node) (line, column int32) {
	line, column = int32(y.Line)+c.lines, int32(y.Column)
	if c.moved != nil {
		return c.moved.place(line, column)
	}
	return line, column
}

func (c *converter) fail(kind ProblemKind, y *yaml.Node, detail string) *Node {
	if !c.fatal {
		line, column := c.place(y)
		c.mistake(textError{problem: kind, line: int(line), column: int(column), detail: detail})
	}
	c.fatal = true
	return &Node{Kind: Scalar, Type: Null}
}

// mistake records an error in the document. Conversion stops after too many errors.
func (c *converter) mistake(e textError) {
	c.errs = append(c.errs, e)
	c.fatal = c.fatal || len(c.errs) > c.room
}

// document converts a document. If keep rejects the object, the result has only apiVersion, kind
// and metadata. All other fields are checked but not copied.
func (c *converter) document(y *yaml.Node, keep func(apiVersion, kind string) bool) *Node {
	apiVersion, kind := "", ""
	for i := 0; y.Kind == yaml.MappingNode && i+1 < len(y.Content); i += 2 {
		switch y.Content[i].Value {
		case "apiVersion":
			apiVersion = y.Content[i+1].Value
		case "kind":
			kind = y.Content[i+1].Value
		}
	}
	if kind == "" || keep(apiVersion, kind) || !plain(y, 0) {
		return c.convert(y, 0)
	}
	short := *y
	short.Content = nil
	for i := 0; i+1 < len(y.Content); i += 2 {
		switch y.Content[i].Value {
		case "apiVersion", "kind", "metadata":
			short.Content = append(short.Content, y.Content[i], y.Content[i+1])
		}
	}
	return c.convert(&short, 0)
}

// plain reports whether a tree contains nothing that convert would reject or resolve: no anchors,
// aliases, merge keys, repeated or compound keys, long maps or deep nesting.
func plain(y *yaml.Node, depth int) bool {
	if y.Anchor != "" || y.Kind == yaml.AliasNode || depth > limits.Nesting || y.Kind == yaml.MappingNode && len(y.Content) > 128 {
		return false
	}
	for i, child := range y.Content {
		if y.Kind == yaml.MappingNode && i%2 == 0 {
			if child.Kind != yaml.ScalarNode || child.Value == "<<" || child.Anchor != "" {
				return false
			}
			for j := 0; j < i; j += 2 {
				if y.Content[j].Value == child.Value {
					return false
				}
			}
		} else if len(child.Content) > 0 || child.Kind == yaml.AliasNode || child.Anchor != "" {
			if !plain(child, depth+1) {
				return false
			}
		}
	}
	return true
}

func (c *converter) convert(y *yaml.Node, depth int) *Node {
	switch {
	case c.fatal:
		return &Node{Kind: Scalar, Type: Null}
	case depth > limits.Nesting:
		return c.tooDeep(y)
	case y.Kind == yaml.AliasNode:
		// The node is not copied. Its contents still count as copies, because later walks visit them once per alias.
		a, seen := c.anchors[y.Alias]
		switch {
		case !seen:
			return c.fail(Unparsable, y, fmt.Sprintf("unknown anchor '%s' referenced: an anchor ends with its document", y.Value))
		case a.node == nil:
			return c.fail(AliasCycle, y, fmt.Sprintf("anchor &%s contains itself", y.Value))
		case depth+a.height > limits.Nesting:
			return c.tooDeep(y)
		}
		c.deepest = max(c.deepest, depth+a.height)
		c.expanded += a.size
		c.copied += a.size
		copied, all := c.file.copied+c.copied, c.file.expanded+c.expanded // totals for the file, because each of its documents may be below the limit
		if excessive(c.copied, c.expanded) || copied > limits.Expansion && copied/20 > all-copied {
			return c.fail(AliasBomb, y, fmt.Sprintf("aliases expand to more than %d values", limits.Expansion))
		}
		return a.node
	case y.Anchor != "":
		// An alias to the node adds its size and depth.
		if c.anchors == nil {
			c.anchors = map[*yaml.Node]anchored{}
		}
		c.anchors[y] = anchored{}
		before, deepest := c.expanded, c.deepest
		c.deepest = depth
		c.shared++
		n := c.fresh(y, depth)
		c.shared--
		c.anchors[y] = anchored{n, c.expanded - before, c.deepest - depth}
		c.deepest = max(c.deepest, deepest)
		return n
	}
	return c.fresh(y, depth)
}

func (c *converter) tooDeep(y *yaml.Node) *Node {
	return c.fail(TooDeep, y, fmt.Sprintf("more than %d levels", limits.Nesting))
}

// fresh converts a node that is not an alias.
func (c *converter) fresh(y *yaml.Node, depth int) *Node {
	c.expanded++
	c.deepest = max(c.deepest, depth)
	n := c.alloc(y)
	switch y.Kind {
	case yaml.MappingNode:
		if text, ok := braced(y); ok && !c.comma {
			n.Value = c.words.keep(text)
			break
		}
		n.Kind = Map
		c.mapping(n, y, depth)
	case yaml.SequenceNode:
		n.Kind = Sequence
		n.inside = c.slab.inside(len(y.Content))
		for _, item := range y.Content {
			n.inside.nodes = append(n.inside.nodes, c.convert(item, depth+1))
		}
	default:
		n.Value = y.Value
		n.Quoted = y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
		switch {
		case y.Style&yaml.TaggedStyle != 0:
			n.Type = resolveTag(y.Tag, y.Value)
		case !n.Quoted:
			n.Type = resolvePlain(y.Value)
		}
		if v, ok := c.computed[y.Line]; ok && n.absent() && n.Type == Null {
			n.Value, n.Type = v.text, String // ytt computes the value; its position is that of the expression
			n.Line, n.Column = c.place(&yaml.Node{Line: y.Line, Column: v.column})
			c.altered = true
		}
		if end := strings.IndexByte(n.Value, '>'); c.was != nil && end > 0 && !n.Quoted && c.was[n.Value[:end+1]] != "" {
			n.Value = c.was[n.Value[:end+1]] + n.Value[end+1:]
			c.placeholders = append(c.placeholders, n.Value)
		}
		n.Value = c.words.keep(n.Value)
		c.expanded += len(y.Value) / weighty
	}
	return n
}

// excessive distinguishes alias bombs from documents that are merely large. It uses the thresholds
// of kubectl's decoder (go-yaml v2, decode.go, allowedAliasRatio).
func excessive(copied, all int) bool {
	if copied <= limits.Expansion {
		return false
	}
	const low, high = 400_000, 4_000_000
	over := float64(min(max(all, low), high)-low) / (high - low)
	return float64(copied) > (0.99-0.89*over)*float64(all)
}

func (c *converter) mapping(n *Node, y *yaml.Node, depth int) {
	n.inside = c.slab.inside(len(y.Content))
	var index keyIndex
	if size := len(y.Content) / 2; size > 16 {
		index = make(keyIndex, size)
	}
	var merged map[*Node]bool // keys that come from a merge key
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		if k.Kind == yaml.ScalarNode && k.Value == "<<" && (k.Style == 0 || k.Tag == "!!merge") {
			if merged == nil {
				merged, index = map[*Node]bool{}, index.hashed(n.inside)
			}
			c.merge(n, index, merged, v, depth)
			continue
		}
		key := c.convert(k, depth+1)
		if key.Kind != Scalar || k.Kind == yaml.MappingNode {
			c.templated = true
			c.convert(v, depth+1) // the value may contain anchors
			continue
		}
		value := c.field(key.Value, v, depth+1)
		if c.fatal {
			return
		}
		at := index.add(n.inside, key)
		if at < 0 {
			n.inside.nodes = append(n.inside.nodes, key, value)
			continue
		}
		switch first := n.inside.nodes[at]; {
		case merged[first]:
		case c.branches.between(first.Line-c.lines, key.Line-c.lines): // either of the two may take effect
			c.altered, value = true, value.Variable()
		default:
			c.mistake(textError{problem: DuplicateKey, line: int(key.Line), column: int(key.Column), key: key, first: first, detail: key.Value})
		}
		// The last key wins, as in every lenient JSON decoder.
		n.inside.nodes[at], n.inside.nodes[at+1] = key, value
	}
	n.inside.index = index
}

// field converts the value of a field. If drop returns true for the field, the result is an empty
// map or list.
func (c *converter) field(name string, y *yaml.Node, depth int) *Node {
	if len(y.Content) == 0 || c.drop == nil || !c.drop(name) || !plain(y, depth) {
		return c.convert(y, depth)
	}
	n := c.alloc(y)
	n.Kind = Sequence
	if y.Kind == yaml.MappingNode {
		n.Kind = Map
	}
	return n
}

// merge adds the fields of a merge key (<<) to a map. They override earlier fields of the map, as
// in kubectl's decoder (go-yaml v2, decode.go, merge).
func (c *converter) merge(n *Node, index keyIndex, merged map[*Node]bool, y *yaml.Node, depth int) {
	c.shared++
	maps := []*Node{c.convert(y, depth)}
	c.shared--
	if y.Kind == yaml.SequenceNode {
		maps = maps[0].Items()
	}
	for i := len(maps) - 1; i >= 0; i-- { // earlier ones take precedence
		if maps[i].Kind != Map {
			c.fail(Unparsable, y, "a merge key (<<) takes a map or a list of maps")
			return
		}
		for k, v := range maps[i].Fields() {
			merged[k] = true
			if at := index.add(n.inside, k); at >= 0 {
				n.inside.nodes[at], n.inside.nodes[at+1] = k, v
			} else {
				n.inside.nodes = append(n.inside.nodes, k, v)
			}
		}
	}
}

// keyIndex finds repeated keys in a map. Short maps are searched linearly. Long maps use a hash
// table, because an attacker can make a map as long as a file can be.
type keyIndex map[string]int

// hashed returns a hash index for a map that may become long.
func (x keyIndex) hashed(in *inside) keyIndex {
	if x != nil {
		return x
	}
	x = make(keyIndex, len(in.nodes))
	for i := 0; i < len(in.nodes); i += 2 {
		x[in.nodes[i].Value] = i
	}
	return x
}

// add returns the index of an equal key in the map. If there is no such key, it returns -1, and
// the caller must append the key.
func (x keyIndex) add(in *inside, key *Node) int {
	if x == nil {
		for i := 0; i < len(in.nodes); i += 2 {
			if in.nodes[i].Value == key.Value {
				return i
			}
		}
		return -1
	}
	if at, ok := x[key.Value]; ok {
		return at
	}
	x[key.Value] = len(in.nodes)
	return -1
}
