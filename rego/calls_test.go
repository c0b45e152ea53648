package rego

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/schedlint/schedlint/lint/facts"
)

// calls has one call of each function that rules may call, with arguments for which it is defined.
// Functions that read annotations depend on the calling rule, so their tests are with those of
// rules.
var calls = map[string]string{
	"and": `{1, 2} & {2, 3}`, "assign": `[x | x := 1]`, "div": `7 / 2`, "eq": `[x | x = 1]`, "equal": `1 == 2`, "gt": `1 > 2`,
	"gte": `2 >= 2`, "internal.member_2": `1 in [1]`, "internal.member_3": `0, 1 in [1]`, "internal.template_string": `$"a{1 + 1}"`,
	"lt": `1 < 2`, "lte": `3 <= 2`, "minus": `3 - 1`, "mul": `3 * 4`, "neq": `1 != 2`, "or": `{1} | {2}`, "plus": `1 + 2`, "rem": `7 % 4`,

	"abs": `abs(-3)`, "bits.and": `bits.and(6, 3)`, "bits.lsh": `bits.lsh(1, 4)`, "bits.negate": `bits.negate(5)`, "bits.or": `bits.or(6, 1)`,
	"bits.rsh": `bits.rsh(8, 2)`, "bits.xor": `bits.xor(6, 3)`, "ceil": `ceil(1.2)`, "floor": `floor(1.8)`, "format_int": `format_int(255, 16)`,
	"max": `max([1, 3, 2])`, "min": `min({4, 2})`, "numbers.range": `numbers.range(1, 4)`, "numbers.range_step": `numbers.range_step(1, 9, 4)`,
	"product": `product([2, 3])`, "round": `round(1.5)`, "sum": `sum([1, 2])`, "to_number": `to_number("12")`,

	"concat": `concat("-", ["a", "b"])`, "contains": `contains("amd64", "md")`, "endswith": `endswith("web-0", "-0")`,
	"glob.match": `glob.match("*.example", ["."], "a.example")`, "glob.quote_meta": `glob.quote_meta("a*")`, "indexof": `indexof("abc", "c")`,
	"indexof_n": `indexof_n("abab", "b")`, "lower": `lower("Ab")`,
	"regex.find_all_string_submatch_n": `regex.find_all_string_submatch_n("a(.)", "abac", -1)`, "regex.find_n": `regex.find_n("a.", "abac", 1)`,
	"regex.is_valid": `regex.is_valid("a(")`, "regex.match": `regex.match("^a+$", "aaa")`, "regex.replace": `regex.replace("abc", "b", "x")`,
	"regex.split": `regex.split("-+", "a--b")`, "replace": `replace("aba", "a", "c")`, "split": `split("a,b", ",")`,
	"sprintf": `sprintf("%s: %d", ["a", 1])`, "startswith": `startswith("web", "w")`,
	"strings.any_prefix_match": `strings.any_prefix_match("web", {"w"})`, "strings.any_suffix_match": `strings.any_suffix_match(["web"], "b")`,
	"strings.count": `strings.count("aba", "a")`, "strings.replace_n": `strings.replace_n({"a": "b"}, "aa")`, "strings.reverse": `strings.reverse("ab")`,
	"strings.split_n": `strings.split_n("a,b,c", ",", 2)`, "substring": `substring("abcd", 1, 2)`, "trim": `trim("xax", "x")`,
	"trim_left": `trim_left("xax", "x")`, "trim_prefix": `trim_prefix("ab", "a")`, "trim_right": `trim_right("xax", "x")`,
	"trim_space": `trim_space(" a ")`, "trim_suffix": `trim_suffix("ab", "b")`, "upper": `upper("a")`,

	"array.concat": `array.concat([1], [2])`, "array.flatten": `array.flatten([[1], [2, [3]]])`, "array.reverse": `array.reverse([1, 2])`,
	"array.slice": `array.slice([1, 2, 3], 1, 2)`, "count": `count("abc")`, "intersection": `intersection({{1, 2}, {2}})`,
	"json.filter": `json.filter({"a": {"b": 1, "c": 2}}, ["a/b"])`, "json.remove": `json.remove({"a": {"b": 1, "c": 2}}, ["a/b"])`,
	"object.filter": `object.filter({"a": 1, "b": 2}, ["a"])`, "object.get": `object.get({"a": 1}, "b", 2)`, "object.keys": `object.keys({"a": 1})`,
	"object.remove": `object.remove({"a": 1, "b": 2}, ["a"])`, "object.subset": `object.subset({"a": 1, "b": 2}, {"a": 1})`,
	"object.union": `object.union({"a": 1}, {"b": 2})`, "object.union_n": `object.union_n([{"a": 1}, {"a": 2}])`, "sort": `sort({3, 1})`,
	"union": `union({{1}, {2}})`, "walk": `[p | walk({"a": [1]}, [p, _])]`,
	"graph.reachable":       `graph.reachable({"a": {"b"}, "b": {"a"}, "c": {"a"}}, {"a"})`,
	"graph.reachable_paths": `graph.reachable_paths({"a": {"b"}, "b": set()}, {"a"})`,

	"base64.decode": `base64.decode("YQ==")`, "base64.encode": `base64.encode("a")`, "base64.is_valid": `base64.is_valid("?")`,
	"base64url.decode": `base64url.decode("YQ==")`, "base64url.encode": `base64url.encode("a")`, "base64url.encode_no_pad": `base64url.encode_no_pad("a")`,
	"crypto.md5": `crypto.md5("a")`, "crypto.sha1": `crypto.sha1("a")`, "crypto.sha256": `crypto.sha256("a")`, "hex.decode": `hex.decode("61")`,
	"hex.encode": `hex.encode("a")`, "json.is_valid": `json.is_valid("{")`, "uri.is_valid": `uri.is_valid("https://a.example")`,
	"uri.parse": `uri.parse("https://a.example/b?c=d")`, "urlquery.decode": `urlquery.decode("a%20b")`, "urlquery.decode_object": `urlquery.decode_object("a=b")`,
	"urlquery.encode": `urlquery.encode("a b")`, "urlquery.encode_object": `urlquery.encode_object({"a": "b"})`,
	"uuid.parse": `uuid.parse("00000000-0000-1000-8000-00805f9b34fb")`, "yaml.is_valid": `yaml.is_valid("a: 1")`, "yaml.marshal": `yaml.marshal({"a": 1})`,
	"yaml.unmarshal": `yaml.unmarshal("a: [1]")`,

	"net.cidr_contains": `net.cidr_contains("10.0.0.0/8", "10.1.0.0/16")`, "net.cidr_intersects": `net.cidr_intersects("10.0.0.0/8", "11.0.0.0/8")`,
	"net.cidr_is_valid": `net.cidr_is_valid("10.0.0.0/8")`,

	"time.add_date": `time.add_date(0, 1, 2, 3)`, "time.clock": `time.clock(3600000000000)`, "time.date": `time.date(0)`,
	"time.diff": `time.diff(0, 86400000000000)`, "time.format": `time.format(0)`, "time.parse_duration_ns": `time.parse_duration_ns("1h")`,
	"time.parse_ns": `time.parse_ns("2006-01-02", "2026-11-24")`, "time.parse_rfc3339_ns": `time.parse_rfc3339_ns("2026-11-24T00:00:00Z")`,
	"time.weekday": `time.weekday(0)`,

	"is_array": `is_array([])`, "is_boolean": `is_boolean(1)`, "is_null": `is_null(null)`, "is_number": `is_number("1")`, "is_object": `is_object({})`,
	"is_set": `is_set([])`, "is_string": `is_string("a")`, "json.marshal": `json.marshal({"a": 1})`, "json.unmarshal": `json.unmarshal("[1]")`,
	"semver.compare": `semver.compare("1.2.0", "1.10.0")`, "semver.is_valid": `semver.is_valid("1.2")`, "type_name": `type_name({1})`,
	"units.parse": `units.parse("10K")`, "units.parse_bytes": `units.parse_bytes("1MiB")`,
}

// withoutGuards evaluates an expression with unmodified OPA.
func withoutGuards(t *testing.T, expr string) string {
	t.Helper()
	c := ast.NewCompiler()
	c.Compile(map[string]*ast.Module{"m": ast.MustParseModule("package m\nresult := y if y := " + expr)})
	if c.Failed() {
		t.Fatalf("%s: %v", expr, c.Errors)
	}
	result := ast.VarTerm("result")
	q := topdown.NewQuery(ast.NewBody(ast.Equality.Expr(result, ast.MustParseTerm("data.m.result")))).WithCompiler(c).WithStrictBuiltinErrors(true)
	found, err := q.Run(context.Background())
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %d results, %v", expr, len(found), err)
	}
	return found[0]["result"].String()
}

// TestEveryFunctionRuns calls each function that rules may call from a rule, from a library and
// from a test. It expects the same results as from OPA without guards.
func TestEveryFunctionRuns(t *testing.T) {
	const together = 10 // functions per rule, because the cost of checking a rule is limited
	var names []string
	var library, tests strings.Builder
	library.WriteString("package team.calls\n\n")
	tests.WriteString("package calls_test\n\nimport data.team.calls\n\n")
	files := map[string]string{}
	for _, name := range allowed() {
		if strings.HasPrefix(name, "rego.metadata.") {
			continue
		}
		expr, ok := calls[name]
		if !ok {
			t.Errorf("%s: calls has none", name)
			continue
		}
		n, want := len(names), withoutGuards(t, expr)
		names = append(names, name)
		id := fmt.Sprintf("calls-%d", n/together)
		file := id + "/rule.rego"
		if files[file] == "" {
			files[file] = strings.Replace(head, "no-default-namespace", id, 1) + "import data.team.calls\n\n"
		}
		files[file] += fmt.Sprintf("report contains result.finding(rego.metadata.chain(), w, {\"message\": \"%s in a rule\"}) if {\n\tsome w in input.workloads\n\ty := %s\n\ty == %s\n}\n\n", name, expr, want)
		files[file] += fmt.Sprintf("report contains result.finding(rego.metadata.chain(), w, {\"message\": \"%s in a library\"}) if {\n\tsome w in input.workloads\n\tcalls.call_%d(w.name) == %s\n}\n\n", name, n, want)
		fmt.Fprintf(&library, "call_%d(name) := y if {\n\tname != \"\"\n\ty := %s\n}\n\n", n, expr)
		fmt.Fprintf(&tests, "test_%d if {\n\ty := %s\n\ty == %s\n\tcalls.call_%d(\"web\") == y\n}\n\n", n, expr, want, n)
	}
	files["lib/calls.rego"], files["lib/calls_test.rego"] = library.String(), tests.String()
	dir := folder(t, files)
	e := loaded(t, Options{Dirs: []string{dir}})
	got, tally := tallied(t, e, &facts.Facts{Workloads: []facts.Workload{{ID: 1, Ref: "Deployment shop/web", Name: "web"}}})
	for _, f := range tally.Failures {
		t.Errorf("%s: %s", f.Rule, f.Message)
	}
	var found []string
	for _, j := range got {
		found = append(found, j.Message)
	}
	for _, name := range names {
		for _, where := range []string{"rule", "library"} {
			if message := name + " in a " + where; !slices.Contains(found, message) {
				t.Errorf("%s does not give what OPA gives", message)
			}
		}
	}
	units, _, err := RunUnitTests(context.Background(), UnitOptions{Dirs: []string{dir}})
	if err != nil || len(units) != len(names) {
		t.Fatalf("%d tests of %d, %v", len(units), len(names), err)
	}
	for i, u := range units {
		if u.Failure != "" {
			t.Errorf("%s in a test: %s", names[i], u.Failure)
		}
	}
}
