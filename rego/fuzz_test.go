package rego

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/rules"
)

// The building blocks of the rules in FuzzRule: conditions, expressions with two operands, and
// expressions without operands.
var (
	conditions = []string{"%s == %s", "%s != %s", "%s > %s", "some x in [%s, %s]", "every x in [%s] { x == %s }", "not %s == %s", "count([%s, %s]) > 1", "startswith(%s, %s)", "regex.match(%s, %s)"}
	inner      = []string{
		"sprintf(\"%%d %%s\", [%s, %s])", "concat(%s, [\"a\", %s])", "replace(fact.ref, %s, %s)", "[%s, %s]", "{%s: %s}", "split(%s, %s)", "object.union({\"a\": %s}, {\"a\": %s})",
		"[x | some x in [%s, %s]]", "{x | some x in [%s, %s]}", "array.concat([%s], [%s])", "json.marshal([%s, %s])", "to_number(%s) + to_number(%s)", "format_int(count([%s]), 10 + count([%s]))",
	}
	leaves = []string{
		"fact.ref", "fact.id", "fact.outcome", "fact.pods_min", "fact.nosuch", "input.workloads", "input.anti_affinity[_]", "data.schedlint", "data.schedlint.rules", "null", "true", "0", "-1", "9223372036854775807",
		"1e-100", "\"\"", "\"a\"", "\"\\u202e\\u001b[31m\\n::error::\"", "[]", "{}", "set()", "numbers.range(1, 100)", "units.parse(\"1Gi\")", "upper(fact.ref)", "rego.metadata.chain()", "x",
	}
)

// composed builds an expression from bytes.
func composed(data *[]byte, depth int) string {
	if len(*data) == 0 {
		return "fact.ref"
	}
	b := int((*data)[0])
	if *data = (*data)[1:]; depth == 0 || b >= 100 {
		return leaves[b%len(leaves)]
	}
	return fmt.Sprintf(inner[b%len(inner)], composed(data, depth-1), composed(data, depth-1))
}

// FuzzRule loads a custom rule that combines Rego features, and evaluates it twice. The rule may
// be rejected, fail or report findings, but both results must be the same.
func FuzzRule(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 100, 101, 1, 2, 110, 120, 4, 5, 111, 117})
	f.Fuzz(func(t *testing.T, data []byte) {
		lists := []string{"anti_affinity", "workloads", "refusals", "documents", "nosuch"}
		text := head + "\nreport contains result.finding(rego.metadata.chain(), fact, {\"message\": message}) if {\n"
		if len(data) > 0 {
			text += fmt.Sprintf("\tsome fact in input.%s\n", lists[int(data[0])%len(lists)])
			data = data[1:]
		} else {
			text += "\tsome fact in input.anti_affinity\n"
		}
		for n := 0; n < 3 && len(data) > 0; n++ {
			condition := conditions[int(data[0])%len(conditions)]
			data = data[1:]
			text += "\t" + fmt.Sprintf(condition, composed(&data, 2), composed(&data, 2)) + "\n"
		}
		text += "\tmessage := " + composed(&data, 3) + "\n}\n"
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "rule.rego"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		e, err := Load(Options{Rules: rules.FS, Dirs: []string{dir}})
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("an error without a word")
			}
			return
		}
		input := bad(2)
		first, err := e.Evaluate(context.Background(), input, facts.NewTally())
		second, again := e.Evaluate(context.Background(), input, facts.NewTally())
		if fmt.Sprint(err) != fmt.Sprint(again) || !reflect.DeepEqual(first, second) {
			t.Errorf("two runs differ: %v, %v\n%v\n%v\n%s", err, again, first, second, text)
		}
	})
}
