package rego

import (
	"strings"
	"testing"
)

// TestValues checks the errors for values that cannot be right.
func TestValues(t *testing.T) {
	const rows = "some row in input.losses\n"
	const never = `input.losses.outcome is never "infeasable"; it is one of always, sometimes, never, unknown, none`
	for name, c := range map[string]struct{ body, more, want string }{
		"==":               {rows + `row.outcome == "nevr"`, "", `policies/x.rego:14: input.losses.outcome is never "nevr" (did you mean never?); it is one of always, sometimes, never, unknown, none`},
		"== turned":        {rows + `"infeasable" == row.outcome`, "", never},
		"=":                {rows + `row.outcome = "infeasable"`, "", never},
		"!=":               {rows + `row.outcome != "infeasable"`, "", never},
		"a variable":       {rows + "o := row.outcome\nbad := \"infeasable\"\no == bad", "", "policies/x.rego:15: " + never},
		"a kind":           {rows + `input.workloads[row.w].kind == "Deploymnet"`, "", `input.workloads.kind is never "Deploymnet" (did you mean Deployment?); it is one of Deployment, StatefulSet,`},
		"an effect":        {rows + `input.workloads[row.w].tolerations[_].effect in {"", "NoScheduel"}`, "", `input.workloads.tolerations.effect is never "NoScheduel" (did you mean NoSchedule?)`},
		"a right effect":   {rows + `input.workloads[row.w].tolerations[_].effect in {"", "NoSchedule"}`, "", ""},
		"in an array":      {rows + `row.outcome in ["always", "infeasable"]`, "", never},
		"in a set":         {rows + `not row.outcome in {"always", "infeasable"}`, "", never},
		"in a rule":        {rows + `row.outcome in bad`, `bad := {"never", "infeasable"}`, "policies/x.rego:17: " + never},
		"a set's key":      {rows + `bad[row.outcome]`, `bad := {"never", "infeasable"}`, never},
		"an object's key":  {rows + `rank[row.outcome] > 1`, `rank := {"never": 1, "infeasable": 2}`, never},
		"an argument":      {rows + `f(row, "infeasable")`, `f(r, o) if r.outcome == o`, "policies/x.rego:14: " + never},
		"a head":           {rows + `f(row.outcome) == 1`, "f(\"always\") := 1\n\nf(\"infeasable\") := 2", "policies/x.rego:19: " + never},
		"in a closure":     {rows + `count([d | some d in input.losses; d.outcome == "infeasable"]) > 1`, "", never},
		"not reached":      {rows, `f(r) if input.losses[r].outcome == "infeasable"`, never},
		"a parameter":      {rows + `f(row.outcome)`, `f(o) if o == "infeasable"`, never},
		"another default":  {rows + `object.get(row, "outcome", "-") == "-"`, "", ""},
		"two fields":       {rows + "f(row.outcome, \"always\")\nf(input.workloads[0].name, \"web\")", `f(a, b) if a == b`, ""},
		"all right":        {rows + "row.outcome in {\"always\", \"never\"}\nrow.outcome != \"none\"", "", ""},
		"<":                {rows + `row.outcome < "never"`, "", "policies/x.rego:14: input.losses.outcome has no order: it is one of always, sometimes, never, unknown, none, which Rego would compare as text; compare with == or in"},
		"max":              {rows + `max([o | o := input.losses[_].outcome]) == "never"`, "", "input.losses.outcome has no order"},
		"sort":             {rows + `sort({row.outcome, "always"})[0] == "always"`, "", "input.losses.outcome has no order"},
		"number < text":    {rows + `input.workloads[row.w].pods_min < "3"`, "", "input.workloads.pods_min is an integer and \"3\" is a string"},
		"number < number":  {rows + `input.workloads[row.w].pods_min < 3`, "", ""},
		"object.get":       {rows + `object.get(row, "outcom", "") == ""`, "", `policies/x.rego:14: object.get: "outcom" does not exist in input.losses (did you mean outcome?); there are `},
		"object.get below": {rows + `object.get(input, ["losses", 0, "outcom"], "") == ""`, "", `object.get: "outcom" does not exist in input.losses`},
		"object.get all":   {rows + `object.get(row, "outcome", "") == ""`, "", ""},
		"own object":       {rows + `object.get({"a": 1}, "b", "") == ""`, "", ""},
		"both": {rows + "row.outcome == \"infeasable\"\nrow.outcome < \"a\"", "",
			never + "\npolicies/x.rego:15: input.losses.outcome has no order"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(Options{Dirs: []string{folder(t, map[string]string{"x.rego": ruleWith(c.body, c.more)})}})
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestValuesOfLibraries checks that wrong values in a library are found even if no rule uses it.
func TestValuesOfLibraries(t *testing.T) {
	_, err := Load(Options{Dirs: []string{folder(t, map[string]string{
		"x.rego": head + body,
		"y.rego": "package team.losses\n\nbad contains l if {\n\tsome l in input.losses\n\tl.outcome == \"infeasable\"\n}\n",
	})}})
	if err == nil || !strings.Contains(err.Error(), `policies/y.rego:5: input.losses.outcome is never "infeasable"`) {
		t.Error(err)
	}
}
