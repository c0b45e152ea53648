package rego

import (
	"fmt"
	"strings"
	"testing"
)

// chain returns a rule with functions that call each other. Each pass of the analysis finds out
// about only one more of them.
func chain(n int, condition string) string {
	var more strings.Builder
	for i := range n {
		fmt.Fprintf(&more, "f%d(r) := f%d(r)\n\n", i, i+1)
	}
	fmt.Fprintf(&more, "f%d(r) := r.outcome\n", n)
	return ruleWith("some row in input.losses\nf0(row) == "+condition, more.String())
}

// TestTraceBounds checks that a module with too many values to check does not load, so that wrong
// values are never silently ignored.
func TestTraceBounds(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a short chain":           {chain(50, `"infeasable"`), `input.losses.outcome is never "infeasable"`},
		"a long chain":            {chain(300, `"infeasable"`), "policies/x.rego:8: checking its values against the facts takes more than 300000 steps; a wrong one would never be reported, so split the file"},
		"all right, and too long": {chain(300, `"never"`), "policies/x.rego:8: checking its values against the facts takes more than 300000 steps"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(Options{Dirs: []string{folder(t, map[string]string{"x.rego": c.text})}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// images returns constants for a rule with a list of allowed images.
func images(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"image-%d"`, i))
	}
	return strings.Join(all, ", ")
}

// TestLongLists checks that a rule can have lists of thousands of constants, but cannot compare an
// enumeration with so many constants that a wrong one would be missed.
func TestLongLists(t *testing.T) {
	for name, c := range map[string]struct{ condition, want string }{
		"a set":            {"not row.namespace in {" + images(3500) + "}", ""},
		"an array":         {"not row.namespace in [" + images(3500) + "]", ""},
		"a field and more": {"not row.namespace in {" + images(3500) + "}\nrow.answers.rolls == \"nevr\"", `input.workloads.answers.rolls is never "nevr"`},
		"an enumeration":   {"row.answers.rolls in {" + images(3500) + "}", "policies/x.rego:14: input.workloads.answers.rolls is compared with more than 500 values, which are too many to check; it is one of always"},
		"few of them":      {"row.answers.rolls in {" + images(20) + "}", `input.workloads.answers.rolls is never "image-0"`},
	} {
		t.Run(name, func(t *testing.T) {
			text := ruleWith("some row in input.workloads\n"+c.condition, "")
			_, err := Load(Options{Dirs: []string{folder(t, map[string]string{"x.rego": text})}})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %.300v\nwant %s", err, c.want)
			}
		})
	}
}

// TestTraceUnderstands checks that the analysis can follow the compiled form of unusual Rego
// without errors.
func TestTraceUnderstands(t *testing.T) {
	for _, body := range []string{
		`{"a": x, "b": [y, _]} = {"a": input.losses, "b": [1, 2]}` + "\nx[_].outcome == \"never\"\ny == 1",
		"[a, b] := [1, input.losses]\nsome i, l in b\ni >= a",
		"every k, v in {\"a\": 1} { k == \"a\"; v == 1 }",
		"every row in input.losses { some d in input.drains; d.id != row.id }",
		"x := {k: v | some k, v in input.workloads[_].labels}\nx[\"a\"] == \"b\"",
		"x := {[a, b] | a := input.losses[_].id; b := input.drains[_].id; a != b}\nx[[1, 2]]",
		"g(input.losses[0])[_] == 1\n" + `f := sprintf("%s", [input.version])` + "\nf != \"\"",
		"walk(input.objects, [path, value])\npath[0] == 1\nvalue == 2",
		"count(input.losses) == 0 with input.losses as []",
		"x := g({\"id\": 1})[_] with input as {\"losses\": []}\nx == 1",
		"h[1] == 2\nh.a.b == 3",
		"not g(input.losses[0])\nx := 1\nx in {1, 2}",
		"y := input.losses[i].id\ninput.drains[i].id == y",
		"z := [n | n := [m | m := input.losses[_].id][_]]\nz[0] == 1",
		"some \"a\", v in {\"a\": input.losses[0]}\nv.id == 1",
		"union({{1}, {input.losses[0].id}}) == {1}\ncontains(input.version, `1`)",
		"x := input[list]\nlist == \"losses\"\nx[0].id == 1",
		"(1 + input.losses[0].id) * 2 > -3 % 2",
	} {
		text := ruleWith("some row in input.drains\n"+body, "g(r) := [r.id]\n\nh[1] := 2\n\nh.a.b := 3\n\ndefault d := 1\n\nd := 2 if input.version == \"1\"\n\nelse := 3 if not input.losses")
		_, err := Load(Options{Dirs: []string{folder(t, map[string]string{"x.rego": text})}})
		if err != nil {
			t.Errorf("%s\n%v", body, err)
		}
	}
}
