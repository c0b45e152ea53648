package engine

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/lazy"
)

// scalar is the value of a scalar as kustomize reads it.
type scalar struct{ tag, value string }

// ambiguous are plain scalars that are strings for kustomize and something else, or
// another number, for a reader of YAML 1.1, and the other way round.
var ambiguous = lazy.Regexp(`^(?:[yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|[-+]?0[oO].*|[-+]?0[0-9_]+|.*[0-9]_.*|[-+]?[0-9_]*:[0-9:._]*)$`)

// scalarOf is the value of a node; ok is false if readers may differ about it.
func scalarOf(n *yaml.Node) (scalar, bool) {
	plain := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	if plain && ambiguous().MatchString(n.Value) {
		return scalar{}, false
	}
	return scalar{n.ShortTag(), n.Value}, true
}

// same reports whether the value of a result is the value of a source.
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
