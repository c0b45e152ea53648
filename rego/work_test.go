package rego

import (
	"strings"
	"testing"
)

// TestPureFunctions calls functions whose results depend only on their arguments. Each condition
// holds, so the rule must report.
func TestPureFunctions(t *testing.T) {
	conditions := []string{
		`graph.reachable({"a": ["b"], "b": [], "c": []}, ["a"]) == {"a", "b"}`,
		`graph.reachable_paths({"a": ["b", "c"], "b": ["a"], "c": []}, ["a"]) == {["a", "b"], ["a", "c"]}`,
		`net.cidr_contains("10.0.0.0/8", "10.1.2.3")`, `net.cidr_intersects("10.0.0.0/8", "10.1.0.0/16")`, `net.cidr_is_valid("::/0")`,
		`base64.decode(base64.encode("x")) == "x"`, `base64.is_valid("eA==")`, `base64url.decode(base64url.encode_no_pad("x")) == "x"`,
		`hex.decode(hex.encode("x")) == "x"`, `urlquery.decode(urlquery.encode("a b")) == "a b"`, `urlquery.encode_object({"a": "b"}) == "a=b"`,
		`urlquery.decode_object("a=b") == {"a": ["b"]}`, `uri.parse("https://example.com/x").hostname == "example.com"`,
		`startswith(crypto.sha256("x"), "2d711642")`, `count(crypto.md5("x")) == 32`, `count(crypto.sha1("x")) == 40`,
		`yaml.unmarshal("a: [1, '*b']\npath: /x/*.yaml\n") == {"a": [1, "*b"], "path": "/x/*.yaml"}`, `yaml.is_valid("a: 1")`,
		`yaml.unmarshal(yaml.marshal({"a": ["x\ny", {"b": null}]})) == {"a": ["x\ny", {"b": null}]}`, `json.is_valid("[]")`,
		`bits.and(6, 3) == 2`, `bits.lsh(1, 10) == 1024`, `numbers.range_step(1, 9, 4) == [1, 5, 9]`,
		`time.parse_rfc3339_ns("1970-01-01T00:00:01Z") == 1000000000`, `time.parse_ns("2006-01-02", "1970-01-02") == 86400000000000`,
		`time.parse_duration_ns("1s") == 1000000000`, `time.date(0) == [1970, 1, 1]`, `time.weekday([0, "UTC"]) == "Thursday"`,
		`time.add_date(0, 0, 0, 1) == 86400000000000`, `time.diff(0, 86400000000000) == [0, 0, 1, 0, 0, 0]`, `time.format(0) == "1970-01-01T00:00:00Z"`,
	}
	body := "\t" + strings.Join(conditions, "\n\t") + "\n\tmessage := fact.ref\n"
	e := loaded(t, Options{Dirs: []string{folder(t, map[string]string{"pure/rule.rego": hostileRule("pure", body)})}})
	found, tally := tallied(t, e, defaultNamespace())
	if len(found) != len(defaultNamespace().Workloads) || !tally.Failures.Complete() {
		t.Errorf("found %v, failures %v", found, tally.Failures)
	}
}
