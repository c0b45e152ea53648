package rego

import (
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// bound describes the cost of calling a built-in function.
type bound struct {
	arity int
	// reads returns the size of what the function reads of an argument.
	reads func(*meter, *ast.Term) size
	// makes bounds the size of the result, or of intermediate values. It is nil if that is not much
	// larger than the arguments.
	makes func(*meter, []*ast.Term) size
	// work returns the steps that the function takes besides reading, or is nil if there are none.
	work func(*meter, []*ast.Term) int64
}

// bounds has an entry for every function that rules may call, except the functions that unify and
// those that compilation removes. Functions that compare or write values visit all of their
// members.
var bounds = sync.OnceValue(func() map[string]bound {
	none, outer, whole := (*meter).nothing, (*meter).outer, (*meter).whole
	all := map[string]bound{
		"concat":                   {2, outer, joined, nil},
		"replace":                  {3, outer, replaced, nil},
		"strings.replace_n":        {2, whole, replacedAll, nil},
		"regex.replace":            {3, outer, replacedPattern, matching(1, 0)},
		"sprintf":                  {2, whole, printed, nil},
		"internal.template_string": {1, whole, written, nil},
		"json.marshal":             {1, whole, marshalled, nil},
		"split":                    {2, outer, parts, nil},
		"strings.split_n":          {3, outer, parts, nil},
		"indexof_n":                {2, outer, parts, product},
		"array.concat":             {2, outer, added, nil},
		"array.flatten":            {1, outer, flattened, nil},
		"object.union":             {2, whole, added, nil},
		"object.union_n":           {1, whole, flattened, nil},
		"union":                    {1, whole, flattened, nil},
		"numbers.range":            {2, outer, counted, nil},
		"product":                  {1, whole, nil, multiplied},
		"json.unmarshal":           {1, outer, nil, parsed},
		"yaml.unmarshal":           {1, outer, nil, plainYAML},
		"yaml.is_valid":            {1, outer, nil, plainYAML},
		"yaml.marshal":             {1, whole, indented, nil},
		"graph.reachable":          {2, whole, nil, reaching},
		"graph.reachable_paths":    {2, whole, nil, ways},
		"numbers.range_step":       {3, outer, stepped, nil},
		"bits.lsh":                 {2, outer, nil, shifted},
		"time.parse_ns":            {2, outer, nil, zoneless},

		"regex.find_all_string_submatch_n": {3, outer, submatches, matching(0, 1)},
		"regex.find_n":                     {3, outer, nil, matching(0, 1)},
		"regex.is_valid":                   {1, outer, nil, matching(0, 0)},
		"regex.match":                      {2, outer, nil, matching(0, 1)},
		"regex.split":                      {2, outer, nil, matching(0, 1)},
		"glob.match":                       {3, outer, nil, globbing},
		"internal.member_2":                {2, outer, nil, searching(0)},
		"internal.member_3":                {3, outer, nil, searching(1)},
		"indexof":                          {2, outer, nil, product},
		"strings.any_prefix_match":         {2, whole, nil, product},
		"strings.any_suffix_match":         {2, whole, nil, product},
	}
	for name := range strings.FieldsSeq("time.format time.date time.clock time.weekday") {
		all[name] = bound{1, whole, nil, inUTC}
	}
	all["time.add_date"] = bound{4, whole, nil, inUTC}
	all["time.diff"] = bound{2, whole, nil, inUTC}
	for _, group := range []struct {
		reads func(*meter, *ast.Term) size
		arity int
		names string
	}{
		{none, 1, "count is_array is_boolean is_null is_number is_object is_set is_string type_name walk"},
		{none, 3, "object.get"},
		{outer, 1, "abs ceil floor round to_number upper lower trim_space strings.reverse glob.quote_meta array.reverse " +
			"object.keys semver.is_valid units.parse units.parse_bytes base64.encode base64.decode base64.is_valid " +
			"base64url.encode base64url.encode_no_pad base64url.decode hex.encode hex.decode urlquery.encode urlquery.decode " +
			"urlquery.decode_object uri.parse uri.is_valid json.is_valid crypto.md5 crypto.sha1 crypto.sha256 bits.negate " +
			"net.cidr_is_valid time.parse_rfc3339_ns time.parse_duration_ns uuid.parse"},
		{outer, 2, "div mul plus rem format_int contains endswith startswith strings.count trim trim_left trim_prefix " +
			"trim_right trim_suffix object.filter object.remove semver.compare bits.and bits.or bits.xor bits.rsh " +
			"net.cidr_contains net.cidr_intersects"},
		{outer, 3, "array.slice substring"},
		{whole, 1, "max min sum sort intersection urlquery.encode_object"},
		{whole, 2, "and or minus equal gt gte lt lte neq json.filter json.remove object.subset"},
	} {
		for name := range strings.FieldsSeq(group.names) {
			all[name] = bound{arity: group.arity, reads: group.reads}
		}
	}
	return all
})
