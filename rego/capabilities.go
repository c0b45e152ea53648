package rego

import (
	"slices"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// allowed lists the built-in functions that a rule may call: those that depend only on their
// arguments. The function bounds has their costs. Calls of other functions do not compile, and
// refused says why.
func allowed() []string {
	return []string{
		// functions behind operators and keywords
		"and", "assign", "div", "eq", "equal", "gt", "gte", "internal.member_2", "internal.member_3",
		"internal.template_string", "lt", "lte", "minus", "mul", "neq", "or", "plus", "rem",
		// numbers
		"abs", "bits.and", "bits.lsh", "bits.negate", "bits.or", "bits.rsh", "bits.xor", "ceil", "floor", "format_int",
		"max", "min", "numbers.range", "numbers.range_step", "product", "round", "sum", "to_number",
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
		// graphs
		"graph.reachable", "graph.reachable_paths",
		// encodings and digests
		"base64.decode", "base64.encode", "base64.is_valid", "base64url.decode", "base64url.encode",
		"base64url.encode_no_pad", "crypto.md5", "crypto.sha1", "crypto.sha256", "hex.decode", "hex.encode",
		"json.is_valid", "uri.is_valid", "uri.parse", "urlquery.decode", "urlquery.decode_object", "urlquery.encode",
		"urlquery.encode_object", "uuid.parse", "yaml.is_valid", "yaml.marshal", "yaml.unmarshal",
		// addresses
		"net.cidr_contains", "net.cidr_intersects", "net.cidr_is_valid",
		// given points in time, in UTC
		"time.add_date", "time.clock", "time.date", "time.diff", "time.format", "time.parse_duration_ns",
		"time.parse_ns", "time.parse_rfc3339_ns", "time.weekday",
		// types, quantities and versions
		"is_array", "is_boolean", "is_null", "is_number", "is_object", "is_set", "is_string", "json.marshal",
		"json.unmarshal", "semver.compare", "semver.is_valid", "type_name", "units.parse", "units.parse_bytes",
		// the rule's own annotation
		"rego.metadata.chain", "rego.metadata.rule",
	}
}

// refused says why rules may not call some functions of OPA, by name or prefix.
func refused() []struct{ names, why string } {
	return []struct{ names, why string }{
		{"print internal.print", "it works in tests of policies only"},
		{"trace internal.test_case", "it writes output, and rules only report findings"},
		{"http.send net.lookup_ip_addr", "rules have no access to the network, so that they find the same everywhere"},
		{"time.now_ns", "rules have no clock, so that they find the same tomorrow"},
		{"rand. uuid.rfc4122", "rules have no random numbers, so that every run finds the same"},
		{"opa.runtime", "rules do not see the environment, so that they find the same everywhere"},
		{"json.match_schema json.verify_schema", "a schema may refer to others on the network"},
		{"io.jwt. crypto.x509. crypto.hmac. crypto.parse_private_keys providers.", "rules have no keys, tokens or certificates to work with"},
		{"rego.parse_module graphql.", "facts hold no Rego and no GraphQL"},
		{"strings.render_template", "a template may loop, at a cost that has no bound; use sprintf"},
		{"json.patch", "a patch may copy a value into itself, at a cost that has no bound; use object.union or json.remove"},
		{"json.marshal_with_options", "its indentation has no bound; use json.marshal or yaml.marshal"},
		{"net.cidr_expand", "a range may have any number of addresses; use net.cidr_contains"},
		{"net.cidr_merge net.cidr_contains_matches", "its cost has no bound; use net.cidr_contains or net.cidr_intersects"},
		{"regex.globs_match regex.template_match", "its cost has no bound; use glob.match or regex.match"},
		{"any all cast_ re_match set_diff net.cidr_overlap", "it is deprecated"},
	}
}

// capabilities returns what rules are parsed and compiled against. It is built once, as OPA sorts
// its functions for each copy, and never changed.
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

// functionsByName maps the functions that rules may call by name.
var functionsByName = sync.OnceValue(func() map[string]*ast.Builtin {
	all := map[string]*ast.Builtin{}
	for _, b := range capabilities().Builtins {
		all[b.Name] = b
	}
	return all
})
