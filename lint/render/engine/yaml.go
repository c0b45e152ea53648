package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
)

// maxAliases is the maximum nesting depth of aliases.
const maxAliases = 64

// parsed is the parsed YAML of one file.
type parsed struct {
	docs    []*yaml.Node // a nil element is an empty document
	nodes   int          // number of nodes with aliases expanded
	objects int          // number of documents and items of Lists
	err     error        // error of the YAML parser
}

// parse parses all documents of the text. The error is a refusal if the documents are too large.
func parse(text []byte) (p *parsed, err error) {
	if n := signs(text); n > limits.Render.Nodes {
		return nil, refusal(fmt.Sprintf("may have %d YAML nodes, and the limit is %d", n, limits.Render.Nodes))
	}
	defer func() {
		if r := recover(); r != nil { // the parser is a third-party library
			p, err = &parsed{err: fmt.Errorf("the YAML parser failed: %v", r)}, nil
		}
	}()
	p = &parsed{}
	for in := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var doc yaml.Node
		if err := in.Decode(&doc); err != nil {
			if !errors.Is(err, io.EOF) {
				p.err = err
			}
			return p, nil
		}
		var root *yaml.Node
		if len(doc.Content) > 0 {
			root = doc.Content[0]
		}
		p.docs = append(p.docs, root)
		c := counter{seen: map[*yaml.Node]int{}}
		if p.nodes = limits.Sum(p.nodes, c.count(root, 0)); c.endless {
			return nil, refusal("has an alias that contains itself")
		}
		if p.nodes > limits.Render.Nodes {
			return nil, refusal(fmt.Sprintf("expands to more than %d YAML nodes", limits.Render.Nodes))
		}
		if isMapping(root) {
			p.objects += len(objectsOf(root))
		}
	}
}

// signs returns an upper bound on the number of nodes in the text. It counts the characters that
// can precede a node.
func signs(text []byte) int {
	n := 0
	for _, c := range []byte("\n,:[{?") {
		n += bytes.Count(text, []byte{c})
	}
	return n + bytes.Count(text, []byte("- "))
}

// counter counts nodes with aliases expanded. seen caches the sizes of anchored nodes.
type counter struct {
	seen    map[*yaml.Node]int
	endless bool
}

func (c *counter) count(n *yaml.Node, aliases int) int {
	switch {
	case n == nil:
		return 0
	case n.Kind == yaml.AliasNode:
		if aliases > maxAliases {
			c.endless = true
			return 0
		}
		return c.count(n.Alias, aliases+1)
	}
	if size, ok := c.seen[n]; ok {
		if size < 0 {
			c.endless = true
		}
		return max(size, 0)
	}
	if n.Anchor != "" {
		c.seen[n] = -1
	}
	size := 1
	for _, child := range n.Content {
		size = limits.Sum(size, c.count(child, aliases))
	}
	if n.Anchor != "" {
		c.seen[n] = size
	}
	return size
}

// field returns the value of a key, or nil if there is no such key.
func field(n *yaml.Node, key string) *yaml.Node {
	_, value := entryOf(n, key, func(a, b string) bool { return a == b })
	return value
}

// fieldFold is like field, but ignores the case of the key.
func fieldFold(n *yaml.Node, key string) *yaml.Node {
	_, value := entryOf(n, key, strings.EqualFold)
	return value
}

// entryOf returns the first key of a mapping that matches name, and its value. Merge keys are
// ignored.
func entryOf(n *yaml.Node, name string, same func(a, b string) bool) (key, value *yaml.Node) {
	if n = target(n); isMapping(n) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if same(n.Content[i].Value, name) {
				return n.Content[i], target(n.Content[i+1])
			}
		}
	}
	return nil, nil
}

// target returns the node that an alias refers to, or n itself if n is not an alias.
func target(n *yaml.Node) *yaml.Node {
	for range maxAliases {
		if n == nil || n.Kind != yaml.AliasNode {
			return n
		}
		n = n.Alias
	}
	return nil
}

// text returns the value of a scalar, or "" for other nodes.
func text(n *yaml.Node) string {
	if n = target(n); n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

var saidLine = lazy.Regexp(`\byaml: line (\d+): `)

// lineSaid splits a parser message into its line number and the rest. If the message has no line
// number, lineSaid returns 1.
func lineSaid(err error) (int, string) {
	said := err.Error()
	if m := saidLine().FindStringSubmatchIndex(said); m != nil {
		if line, err := strconv.Atoi(said[m[2]:m[3]]); err == nil && line > 0 {
			return line, said[:m[0]] + said[m[1]:]
		}
	}
	return 1, said
}

// scalar is a scalar value as kustomize reads it.
type scalar struct{ tag, value string }

// ambiguous matches plain scalars that kustomize and a YAML 1.1 parser read differently. For
// example, only one of them may read a scalar as a boolean.
var ambiguous = lazy.Regexp(`^(?:[yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|[-+]?0[oO].*|[-+]?0[0-9_]+|.*[0-9]_.*|[-+]?[0-9_]*:[0-9:._]*)$`)

// scalarOf returns the value of a node. ok is false if parsers may read the value differently.
func scalarOf(n *yaml.Node) (scalar, bool) {
	plain := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	if plain && ambiguous().MatchString(n.Value) {
		return scalar{}, false
	}
	return scalar{n.ShortTag(), n.Value}, true
}

// same reports whether a value in the result equals the source value.
func (s scalar) same(n *yaml.Node) bool {
	value, ok := scalarOf(n)
	switch {
	case !ok || value.tag != s.tag:
		return false
	case value.value == s.value || s.tag == "!!null":
		return true
	case s.tag != "!!int" && s.tag != "!!float" && s.tag != "!!bool":
		return false
	}
	var a, b any
	source := yaml.Node{Kind: yaml.ScalarNode, Tag: s.tag, Value: s.value}
	return source.Decode(&a) == nil && n.Decode(&b) == nil && a == b
}
