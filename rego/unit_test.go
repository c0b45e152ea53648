package rego

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/schedlint/schedlint/lint/facts"
)

const unitRule = `# METADATA
# title: A workload runs one pod
# description: One pod is down while its node is drained.
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
package schedlint.rules["one-pod"]

import data.schedlint.result

report contains result.finding(rego.metadata.chain(), w, {"message": "one pod"}) if {
	some w in input.workloads
	w.permanent
	w.pods_max < 2
	print("looked at", w.name)
	w.kind != "Pod"
}
`

const unitTests = `package schedlint.rules["one-pod_test"]

import data.schedlint.facts
import data.schedlint.rules["one-pod"] as subject

reported(w) := count(subject.report) if true with input as {"workloads": [facts.workload(w)]}

found(w) := n if {
	n := count(subject.report) with input as {"workloads": [facts.workload(w)]}
}

test_reports if found({"name": "web", "permanent": true, "pods_max": 1}) == 1

test_passes if found({"permanent": true, "pods_max": 2}) == 0

test_wrong if found({"permanent": true, "pods_max": 2}) == 1

fields := {"nmae": "web"}

test_no_such_field if found(fields) == 0

todo_not_run if false
`

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestUnitTests(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "one-pod/rule.rego", unitRule)
	write(t, dir, "one-pod/rule_test.rego", strings.Replace(unitTests, "reported(w) := count(subject.report) if true with input as {\"workloads\": [facts.workload(w)]}\n\n", "", 1))
	var out bytes.Buffer
	o := UnitOptions{Dirs: []string{dir}, Shown: func(string) string { return "policy" }, Print: &out}
	tests, uncovered, err := RunUnitTests(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range tests {
		got = append(got, fmt.Sprintf("%s:%d %s %s", r.File, r.Line, r.Name, r.Failure))
	}
	want := []string{
		"policy/one-pod/rule_test.rego:10 test_reports ", "policy/one-pod/rule_test.rego:12 test_passes ",
		"policy/one-pod/rule_test.rego:14 test_wrong the test does not hold", "policy/one-pod/rule_test.rego:18 test_no_such_field the test does not hold",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if out.String() != "policy/one-pod/rule.rego:16: looked at web\n" {
		t.Errorf("printed %q", out.String())
	}
	if len(uncovered) > 0 {
		t.Errorf("not covered: %v", uncovered)
	}
	write(t, dir, "one-pod/wrong_test.rego", "package wrong_test\n\nimport data.schedlint.facts\n\ntest_x if true with input as {\"workloads\": [facts.workload({\"nmae\": \"x\"})]}\n")
	if _, _, err := RunUnitTests(context.Background(), o); err == nil || !strings.Contains(err.Error(), "wrong_test.rego:5: ") || !strings.Contains(err.Error(), "did you mean name?") {
		t.Errorf("a field that does not exist: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "one-pod/wrong_test.rego")); err != nil {
		t.Fatal(err)
	}
	o.Run = regexp.MustCompile("passes")
	tests, uncovered, err = RunUnitTests(context.Background(), o)
	if err != nil || len(tests) != 1 || fmt.Sprint(uncovered) != "[{policy/one-pod/rule.rego 16} {policy/one-pod/rule.rego 17}]" {
		t.Errorf("%v, %v, %v", tests, uncovered, err)
	}
}

// TestUnitTestsAreBounded checks that a unit test that exceeds a limit fails without affecting
// others.
func TestUnitTestsAreBounded(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rule.rego", unitRule)
	write(t, dir, "rule_test.rego", `package schedlint.rules["one-pod_test"]

test_endless if count([1 | some a in numbers.range(1, 3000); some b in numbers.range(1, 3000); a == b + 1]) > 0

test_fine if true
`)
	tests, _, err := RunUnitTests(context.Background(), UnitOptions{Dirs: []string{dir}})
	if err != nil || len(tests) != 2 || !strings.Contains(tests[0].Failure, "exceeds the budget") || tests[1].Failure != "" {
		t.Errorf("%+v, %v", tests, err)
	}
}

// TestFactsLibraryFitsTheSchema checks that the default rows in the facts library match the
// schema.
func TestFactsLibraryFitsTheSchema(t *testing.T) {
	m, err := parse("lib/facts.rego", factsLibrary(), false)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(facts.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, r := range m.Rules {
		of, isRow := strings.CutSuffix(nameOf(r), "_row")
		node := rowSchema(schema, of)
		if !isRow || node == nil {
			continue
		}
		rows++
		c := jsonschema.NewCompiler()
		if err := c.AddResource("row.json", node); err != nil {
			t.Fatal(err)
		}
		value, err := ast.JSON(r.Head.Value.Value)
		if err != nil {
			t.Fatal(err)
		}
		text := util.MustMarshalJSON(value)
		plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.MustCompile("row.json").Validate(plain); err != nil {
			t.Errorf("%s: %v", of, err)
		}
	}
	if rows < 25 {
		t.Errorf("%d rows of lists", rows)
	}
}

// rowSchema returns the schema for the rows of a list, given its name in the singular, or nil.
func rowSchema(schema any, of string) any {
	lists := schema.(map[string]any)["properties"].(map[string]any)
	for _, plural := range []string{of + "s", of, strings.TrimSuffix(of, "y") + "ies", of + "es"} {
		if list, ok := lists[plural].(map[string]any); ok && list["items"] != nil {
			return list["items"]
		}
	}
	return nil
}
