package rego

import (
	"slices"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// allowed lists the built-in functions that a rule may call: those that work on
// their arguments alone. What they cost is in bounds. What is missing does not
// compile: network, clock, environment, random numbers, cryptography, tokens, other
// languages, remote schemas, output.
func allowed() []string {
	return []string{
		// what operators and keywords stand for
		"and", "assign", "div", "eq", "equal", "gt", "gte", "internal.member_2", "internal.member_3",
		"internal.template_string", "lt", "lte", "minus", "mul", "neq", "or", "plus", "rem",
		// numbers
		"abs", "ceil", "floor", "format_int", "max", "min", "numbers.range", "product", "round", "sum", "to_number",
		// strings and patterns
		"concat", "contains", "endswith", "glob.match", "glob.quote_meta", "indexof", "indexof_n", "lower",
		"regex.find_all_string_submatch_n", "regex.find_n", "regex.is_valid", "regex.match", "regex.replace",
		"regex.split", "replace", "split", "sprintf", "startswith", "strings.any_prefix_match",
		"strings.any_suffix_match", "strings.count", "strings.replace_n", "strings.reverse", "strings.split_n",
		"substring", "trim", "trim_left", "trim_prefix", "trim_right", "trim_space", "trim_suffix", "upper",
		// arrays, sets and objects
		"array.concat", "array.flatten", "array.reverse", "array.slice", "count", "intersection", "json.filter",
		"json.remove", "object.filter", "object.get", "object.keys", "object.remove", "object.subset",
		"object.union", "object.union_n", "sort", "union", "walk",
		// types, quantities and versions
		"is_array", "is_boolean", "is_null", "is_number", "is_object", "is_set", "is_string", "json.marshal",
		"json.unmarshal", "semver.compare", "semver.is_valid", "type_name", "units.parse", "units.parse_bytes",
		// the rule's own annotation
		"rego.metadata.chain", "rego.metadata.rule",
	}
}

// capabilities is what rules are parsed and compiled against. It is built once,
// as OPA sorts its functions for each copy, and never changed.
var capabilities = sync.OnceValue(func() *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	names := allowed()
	slices.Sort(names)
	c.Builtins = slices.DeleteFunc(c.Builtins, func(b *ast.Builtin) bool {
		_, ok := slices.BinarySearch(names, b.Name)
		return !ok
	})
	c.AllowNet = []string{} // an empty list allows no host, nil would allow all
	return c
})

// functionsByName are the functions that rules may call.
var functionsByName = sync.OnceValue(func() map[string]*ast.Builtin {
	all := map[string]*ast.Builtin{}
	for _, b := range capabilities().Builtins {
		all[b.Name] = b
	}
	return all
})
