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

// maxAliases bounds how deep aliases may lead through each other.
const maxAliases = 64

// parsed is the YAML of one file.
type parsed struct {
	docs    []*yaml.Node // nil for a document without content
	nodes   int          // with aliases expanded
	objects int          // documents, and items of Lists
	err     error        // what the parser says
}

// parse reads all documents of a text. It is a refusal if they are too large.
func parse(text []byte) (p *parsed, err error) {
	if n := signs(text); n > limits.Render.Nodes {
		return nil, refusal(fmt.Sprintf("may have %d YAML nodes, and the limit is %d", n, limits.Render.Nodes))
	}
	defer func() {
		if r := recover(); r != nil { // the parser is another project's
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
		p.objects += objectsIn(root)
	}
}

// signs is how many nodes a text may have, as each begins at one of these.
func signs(text []byte) int {
	n := 0
	for _, c := range []byte("\n,:[{?") {
		n += bytes.Count(text, []byte{c})
	}
	return n + bytes.Count(text, []byte("- "))
}

// counter counts nodes with aliases expanded; seen has the sizes of anchored ones.
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

// objectsIn is how many objects kustomize makes of a document.
func objectsIn(root *yaml.Node) int {
	if root == nil || root.Kind != yaml.MappingNode {
		return 0
	}
	if items := field(root, "items"); items != nil && items.Kind == yaml.SequenceNode && strings.HasSuffix(text(field(root, "kind")), "List") {
		return len(items.Content)
	}
	return 1
}

// field is the value of a key; nil if there is none.
func field(n *yaml.Node, key string) *yaml.Node {
	n = target(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return target(n.Content[i+1])
		}
	}
	return nil
}

// target is the node that an alias stands for.
func target(n *yaml.Node) *yaml.Node {
	for range maxAliases {
		if n == nil || n.Kind != yaml.AliasNode {
			return n
		}
		n = n.Alias
	}
	return nil
}

// text is the value of a scalar.
func text(n *yaml.Node) string {
	if n = target(n); n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

var saidLine = lazy.Regexp(`\byaml: line (\d+): `)

// lineSaid is the line in a message of the YAML parser, or 1, and the rest of the message.
func lineSaid(err error) (int, string) {
	said := err.Error()
	if m := saidLine().FindStringSubmatchIndex(said); m != nil {
		if line, err := strconv.Atoi(said[m[2]:m[3]]); err == nil && line > 0 {
			return line, said[:m[0]] + said[m[1]:]
		}
	}
	return 1, said
}
