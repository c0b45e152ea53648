package rego

import (
	"errors"
	"strings"
	"testing"
)

// TestTestedFacts checks the errors for wrong facts in tests.
func TestTestedFacts(t *testing.T) {
	const start = "package x_test\n\nimport data.schedlint.facts\nimport data.schedlint.facts as f\n\ntest_x if count(y) == 0 "
	const outcomes = "; it is one of always, sometimes, never, unknown, none"
	for name, c := range map[string]struct{ text, want string }{
		"all right":        {`with input as {"losses": [{"id": 1, "outcome": "never"}], "workloads": []}`, ""},
		"a list":           {`with input as {"lossses": []}`, `x.rego:6: "lossses" does not exist in input (did you mean losses?); there are `},
		"a field":          {`with input as {"losses": [{"outcom": "never"}]}`, `x.rego:6: "outcom" does not exist in input.losses (did you mean outcome?); there are `},
		"an outcome":       {`with input as {"losses": [{"outcome": "nevr"}]}`, `x.rego:6: input.losses.outcome is never "nevr" (did you mean never?)` + outcomes},
		"a type":           {`with input as {"workloads": [{"pods_min": "3"}]}`, `input.workloads.pods_min is an integer, not a string`},
		"a fraction":       {`with input as {"workloads": [{"pods_min": 1.5}]}`, `input.workloads.pods_min is an integer, not 1.5`},
		"null":             {`with input as {"workloads": [{"pods_min": null}]}`, `input.workloads.pods_min is an integer, not null`},
		"a set":            {`with input as {"workloads": {1}}`, `input.workloads is a list, not a set`},
		"a row":            {`with input as {"workloads": [3]}`, `input.workloads is a map, not a number`},
		"part of input":    {`with input.losses as [{"outcome": "nevr"}]`, `input.losses.outcome is never "nevr"`},
		"no part":          {`with input.losss as []`, `x.rego:6: "losss" does not exist in input (did you mean losses?)`},
		"what is computed": {`with input as {"losses": [{"outcome": z, "id": count([1])}], "workloads": zs}`, ""},
		"other documents":  {`with data.x as {"losss": 1}`, ""},
		"facts.workload":   {`with input as {"workloads": [facts.workload({"pods_min": 3, "nmae": "x"})]}`, `x.rego:6: "nmae" does not exist in input.workloads (did you mean name?)`},
		"facts.loss":       {`with input as {"losses": [f.loss({"outcome": "nevr"})]}`, `input.losses.outcome is never "nevr"`},
		"written out":      {`with input as {"losses": [data.schedlint.facts.losses({"outcome": "nevr"})]}`, `input.losses.outcome is never "nevr"`},
		"another function": {`with input as {"losses": [facts.other({"outcome": "nevr"}), g({"x": 1})]}`, ""},
		"two at once": {"with input as {\"losses\": [\n{\"outcome\": \"nevr\"},\n{\"outcom\": 1}]}",
			"x.rego:7: input.losses.outcome is never \"nevr\" (did you mean never?)" + outcomes + "\nx.rego:8: \"outcom\" does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := parse("x.rego", start+c.text+"\n", true)
			if err != nil {
				t.Fatal(err)
			}
			err = errors.Join(testedFacts(m)...)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestTestsOfBuiltinRulesAreTyped checks the facts in the tests of all built-in rules.
func TestTestsOfBuiltinRulesAreTyped(t *testing.T) {
	files := regoFilesHere(t)
	for _, dir := range ruleFolders(t) {
		name := "../rules/" + dir + "/rule_test.rego"
		m, err := parse(name, files[name], true)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range testedFacts(m) {
			t.Error(err)
		}
	}
}
