package rego

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/rules"
)

// ruleWith returns a rule whose report has the given body, followed by more definitions.
func ruleWith(body, more string) string {
	return head + "report contains result.finding(rego.metadata.chain(), row, {\"message\": \"x\"}) if {\n" + body + "\n}\n\n" + more
}

const someLoss = "some row in input.losses\n"

// readCases lists rules with the paths that they read. A path that is read completely ends with *.
var readCases = map[string]struct{ body, more, want string }{
	"a field":             {someLoss + `row.outcome == "always"`, "", "losses losses.id* losses.outcome*"},
	"a literal key":       {`some row in input["losses"]`, "", "losses losses.id*"},
	"a row by number":     {`row := input.losses[0]`, "", "losses losses.id*"},
	"the workload":        {someLoss + `input.workloads[row.w].name == "x"`, "", "losses losses.id* losses.w* workloads workloads.name*"},
	"two variables":       {someLoss + "w := input.workloads[row.w]\nv := w\nv.name == v.kind", "", "losses losses.id* losses.w* workloads workloads.kind* workloads.name*"},
	"a function":          {someLoss + `f(row)`, `f(r) if r.outcome == "never"`, "losses losses.id* losses.outcome*"},
	"a function's result": {someLoss + `f(row).name == "x"`, `f(r) := input.workloads[r.w]`, "losses losses.id* losses.w* workloads workloads.name*"},
	"an else":             {someLoss + `f(row, 3)`, "f(r, 1) if r.w == 1\n\nelse if r.id == 2", "losses losses.id* losses.w*"},
	"a function not used": {someLoss, `f(r) := input.rollouts[r.w]`, "losses losses.id*"},
	"a rule":              {`some row in chosen`, "chosen contains l if {\n\tsome l in input.losses\n\tl.w == 1\n}", "losses losses.id* losses.w*"},
	"a rule by key":       {"some key\nrow := by[key]", "by[l.w] := l if some l in input.losses", "losses losses.id* losses.w*"},
	"a rule's field":      {`some row in all.mine`, "all := {\"mine\": input.losses, \"other\": input.drains}", "drains losses losses.id*"},
	"an array":            {someLoss + "[a, b] := [row, input.drains[0]]\na.w == b.w", "", "drains drains.w* losses losses.id* losses.w*"},
	"an object":           {someLoss + "{\"one\": a} = {\"one\": row}\na.w == 1", "", "losses losses.id* losses.w*"},
	"a comprehension":     {someLoss + "count([d | some d in input.drains; d.w == row.w]) > 1", "", "drains drains.w* losses losses.id* losses.w*"},
	"an object of rows":   {someLoss + "by := {d.w: d | some d in input.drains}\nby[row.w].outcome == \"never\"", "", "drains drains.outcome* drains.w* losses losses.id* losses.w*"},
	"every":               {someLoss + "every d in input.drains { d.w != row.w }", "", "drains drains.w* losses losses.id* losses.w*"},
	"arrays joined":       {someLoss + "array.concat([row], [input.drains[0]])[1].w == 1", "", "drains drains.w* losses losses.id* losses.w*"},
	"an array sorted":     {someLoss + "sort([row, input.losses[1]])[1].w == 1", "", "losses* losses.id*"},
	"objects joined":      {someLoss + "object.union({\"a\": {\"r\": row}}, {\"a\": {\"d\": input.drains[0]}}).a.d.w == 1", "", "drains drains.w* losses losses.id*"},
	"a pattern of a set":  {"s := {[1, l] | some l in input.losses}\ns[[1, row]]\nrow.w == 1", "", "losses losses.id* losses.w*"},
	"not":                 {someLoss + "not input.workloads[row.w].permanent", "", "losses losses.id* losses.w* workloads workloads.permanent*"},
	"a count":             {someLoss + "count(input.drains) == 0", "", "drains losses losses.id*"},
	"object.get":          {someLoss + `object.get(row, "outcome", "") == "always"`, "", "losses losses.id* losses.outcome*"},
	"object.get by ways":  {`row := object.get(input, ["losses", 0], {})`, "", "losses losses.id*"},
	"object.get by value": {someLoss + `object.get(row, row.outcome, "") == "always"`, "", "losses* losses.id* losses.outcome*"},
	"a key that varies":   {someLoss + "some key\nrow[key] == 1", "", "losses* losses.id*"},
	"a list that varies":  {"some list\nsome row in input[list]\nrow.w == 1", "", "all"},
	"walk":                {someLoss + "walk(row, [_, 3])", "", "losses* losses.id*"},
	"json.marshal":        {someLoss + `json.marshal(row) == ""`, "", "losses* losses.id*"},
	"marshal in an array": {someLoss + `json.marshal([1, {"x": row}]) == ""`, "", "losses* losses.id*"},
	"marshalled rows":     {someLoss + `json.marshal([d | some d in input.drains]) != ""`, "", "drains* losses losses.id*"},
	"rows compared":       {someLoss + "row == input.losses[0]", "", "losses* losses.id*"},
	"rows in a list":      {someLoss + "row in input.losses", "", "losses* losses.id*"},
	"input as a whole":    {someLoss + `f(input)`, "f(x) if json.marshal(x) == \"\"", "all"},
	"input handed on":     {"some row in f(input)", "f(x) := x.losses", "losses losses.id*"},
	"with":                {someLoss + "count(other) > 1 with input as {}", "other := input.drains", "drains losses losses.id*"},
	"with a row":          {someLoss + "count(other) > 1 with input as {\"x\": row}", "other := [1]", "losses* losses.id*"},
	"with a part":         {someLoss + "count(other) > 1 with input.drains as input.rollouts", "other := input.drains", "drains losses losses.id* rollouts*"},
	"with another rule":   {someLoss + "count(other) > 1 with other as input.drains", "other := input.rollouts", "all"},
	"an object of sets":   {someLoss + "some x in full[[row.w, 1]]\nx.w == 1", "full[[a, b]] contains d if {\n\tsome d in input.drains\n\ta := d.id\n\tb := 1\n}", "drains drains.id* drains.w* losses losses.id* losses.w*"},
	"a nested object":     {someLoss + "some x in full[row.w].drains\nx.w == 1", "full[a].drains contains d if {\n\tsome d in input.drains\n\ta := d.id\n}", "drains drains.id* drains.w* losses losses.id* losses.w*"},
	"a row that is made":  {"some l in input.losses\nrow := {\"id\": l.id, \"w\": l.w}\nrow.w == 1", "", "losses losses.id* losses.w*"},
	"the package":         {someLoss + `count(data.schedlint.rules["no-default-namespace"]) > 1`, "other := input.drains", "error"},
}

// TestReads checks which paths a rule reads.
func TestReads(t *testing.T) {
	for name, c := range readCases {
		t.Run(name, func(t *testing.T) {
			e, err := Load(Options{Dirs: []string{folder(t, map[string]string{"x.rego": ruleWith(c.body, c.more)})}})
			if c.want == "error" {
				if err == nil {
					t.Error("the rule loads")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := pathsOf(e.find("no-default-namespace").reads, c.want); got != c.want {
				t.Errorf("reads %s\n want %s", got, c.want)
			}
		})
	}
}

// pathsOf returns the paths that are read. Below a path that is read completely, it returns only
// the wanted paths.
func pathsOf(r reads, want string) string {
	if r.all {
		return "all"
	}
	var all []string
	for _, path := range slices.Sorted(maps.Keys(r.paths)) {
		above, _, inner := strings.Cut(path, ".")
		if r.paths[path] {
			path += "*"
		}
		if inner && r.paths[above] && !strings.Contains(want, path) {
			continue
		}
		all = append(all, path)
	}
	return strings.Join(all, " ")
}

func TestMayRead(t *testing.T) {
	r := reads{paths: map[string]bool{"workloads": false, "workloads.containers.image": true, "pools": true}}
	for path, want := range map[string]bool{
		"workloads": true, "workloads.containers": true, "workloads.containers.image": true, "workloads.containers.image.x": true,
		"workloads.name": false, "workloads.contain": false, "pools": true, "pools.taints": true, "pool": false, "losses": false,
	} {
		if r.has(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}

// TestReadsAgree checks that, for built-in rules, the text search and the analysis find the same
// lists.
func TestReadsAgree(t *testing.T) {
	own, err := Load(Options{Dirs: []string{"../rules"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range own.rules {
		text := listsOf(r.text)
		if got, want := r.reads.lists(), text.lists(); r.reads.all != text.all || !slices.Equal(got, want) {
			t.Errorf("%s: the analysis says %v, the text %v", r.id, got, want)
		}
	}
}

// TestTraceOfMaps checks which paths and faults the analysis finds in rules about maps, documents
// without a schema and nested rows.
func TestTraceOfMaps(t *testing.T) {
	root := newNode("", []byte(`{"type": "object", "additionalProperties": false, "properties": {"rows": {"type": "array", "items": {
		"type": "object", "additionalProperties": false, "properties": {
			"name": {"type": "string"}, "manifest": {}, "labels": {"type": "object", "additionalProperties": {"type": "string"}},
			"answers": {"type": "object", "additionalProperties": false, "properties": {"fits": {"enum": ["yes", "no"], "type": "string"},
				"survives": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
					"key": {"type": "string"}, "gone": {"type": "string", "enum": ["yes", "no"]}}}}}},
			"uses": {"type": "array", "items": {"type": "string", "enum": ["spread", "affinity"]}}}}}}}`))
	for body, want := range map[string]string{
		`r.labels["app/name"] == "x"`:                         "rows rows.labels*",
		`some k, v in r.labels; k == v`:                       "rows rows.labels*",
		`object.get(r.labels, "app", "") == "x"`:              "rows rows.labels*",
		`object.get(r, ["labels", "app"], "") == "x"`:         "rows rows.labels*",
		`r.manifest.spec.replicas > 1`:                        "rows rows.manifest*",
		`some c in r.manifest.spec.containers; c.image == ""`: "rows rows.manifest*",
		`some s in r.answers.survives; s.gone == "no"`:        "rows rows.answers rows.answers.survives rows.answers.survives.gone*",
		`some s in r.answers.survives; s.gone == "maybe"`:     "input.rows.answers.survives.gone is never \"maybe\"; it is one of yes, no",
		`object.get(r, ["answers", "fit"], "") == ""`:         "object.get: \"fit\" does not exist in input.rows.answers (did you mean fits?); there are fits, survives",
		`"spraed" in r.uses`:                                  "input.rows.uses is never \"spraed\" (did you mean spread?); it is one of spread, affinity",
		`"spread" in r.uses`:                                  "rows rows.uses*",
		`r.uses[_] == "spread"`:                               "rows rows.uses*",
		`count(r.uses) > 1`:                                   "rows rows.uses",
		`r.answers == {"fits": "yes"}`:                        "rows rows.answers* rows.answers.fits*",
		`some a, b in r.answers; a == b`:                      "rows rows.answers* rows.answers.fits* rows.answers.survives*",
	} {
		m, err := parse("x.rego", "package x\n\nreport contains 1 if {\n\tsome r in input.rows\n\t"+body+"\n}\n", false)
		if err != nil {
			t.Fatal(err)
		}
		c := ast.NewCompiler().WithCapabilities(capabilities())
		if c.Compile(map[string]*ast.Module{"x.rego": m}); c.Failed() {
			t.Fatal(c.Errors)
		}
		read, faults := newTracer(c, root).module(c.Modules["x.rego"])
		got := pathsOf(read, want)
		if len(faults) > 0 {
			got = faults[0].what
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
}

// TestTraceIsBounded analyzes rules that are designed to keep the analysis busy. They must load,
// and they must count as reading everything if the analysis cannot determine what they read.
func TestTraceIsBounded(t *testing.T) {
	chain := "f0(x) := [x, input]\n\n"
	for i := range 700 {
		chain += fmt.Sprintf("f%d(x) := [f%d([x, \"%d\"]), f%d({\"a\": x})]\n\n", i+1, i, i, i)
	}
	wide := "some row in input.losses\n"
	for i := range 1000 {
		wide += fmt.Sprintf("f(row, \"%d\")\n", i)
	}
	for name, text := range map[string]string{
		"chain": ruleWith("some row in input.losses\nf700(row) != 1", chain),
		"wide":  ruleWith(wide, "f(r, x) if g(r, x)\n\ng(r, x) if {\n\ty := [x, r]\n\tr.w != x\n\tcount(y) > 1\n}"),
	} {
		t.Run(name, func(t *testing.T) {
			if len(text) > maxModuleBytes {
				t.Fatalf("%d bytes are more than a module may have", len(text))
			}
			e, err := Load(Options{Dirs: []string{folder(t, map[string]string{"x.rego": text})}, Deadline: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			if !e.MayRead("no-default-namespace", "losses.id") {
				t.Error("the rule is said to read less than it does")
			}
		})
	}
}

// TestReadsAreEnough evaluates built-in rules and the rules above as custom rules, once with all
// facts and once with only the facts that they read according to the analysis. The findings must
// be the same.
func TestReadsAreEnough(t *testing.T) {
	f := bad(20)
	describe(f, 20)
	f.Losses = append(f.Losses, facts.Loss{ID: 900, Outcome: "always"}, facts.Loss{ID: 901, W: 1, Outcome: "never"})
	f.Drains = append(f.Drains, facts.Drain{ID: 902, W: 1, Outcome: "never"})
	dirs := map[string]string{"built-in": "../rules"}
	for name, c := range readCases {
		if c.want != "error" {
			dirs[name] = t.TempDir()
			if err := os.WriteFile(dirs[name]+"/x.rego", []byte(ruleWith(c.body, c.more)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	input, reported := convert(f, &reads{all: true}), 0
	for name, dir := range dirs {
		e, err := Load(Options{Dirs: []string{dir}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range e.rules {
			want, got := reportOf(t, r, input), reportOf(t, r, pruned(input, "", &r.reads))
			if want.Compare(got) != 0 {
				t.Errorf("%s, rule %s: with all facts %v, with what it reads %v", name, r.id, want, got)
			}
			reported += want.Len()
		}
	}
	if reported < 100 {
		t.Errorf("%d reports are too few to tell", reported)
	}
}

// reportOf returns the report of a rule for some facts.
func reportOf(t *testing.T, r *rule, input *ast.Term) ast.Set {
	t.Helper()
	found, err := r.program.run(context.Background(), r.code, input, nil, func(q *topdown.Query) *topdown.Query {
		return q.WithBuiltins(newMeter(0, maxSteps).functions())
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == nil {
		return ast.NewSet()
	}
	return found
}

// pruned removes the fields that are not read.
func pruned(t *ast.Term, path string, r *reads) *ast.Term {
	switch v := t.Value.(type) {
	case *ast.Array:
		var kept []*ast.Term
		v.Foreach(func(t *ast.Term) { kept = append(kept, pruned(t, path, r)) })
		return ast.ArrayTerm(kept...)
	case ast.Object:
		var kept [][2]*ast.Term
		v.Foreach(func(key, value *ast.Term) {
			if inner := beneath(path, text(key)); r.has(inner) {
				kept = append(kept, [2]*ast.Term{key, pruned(value, inner, r)})
			}
		})
		return ast.ObjectTerm(kept...)
	}
	return t
}

// compiled returns the modules of n rules, which are copies of built-in rules, and their compiler.
func compiled(t testing.TB, n int) (*ast.Compiler, []*module) {
	t.Helper()
	ids := folders(t)
	var own []*module
	modules := map[string]*ast.Module{}
	for i := range n {
		id := ids[i%len(ids)]
		text, err := fs.ReadFile(rules.FS, strings.ReplaceAll(id, ".", "/")+"/rule.rego")
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%s-%d", id, i)
		m, problems := newModule(name+".rego", strings.ReplaceAll(string(text), `"`+id+`"`, `"`+name+`"`))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		own, modules[m.file] = append(own, m), m.parsed
	}
	if err := addLibraries(modules); err != nil {
		t.Fatal(err)
	}
	c := ast.NewCompiler().WithCapabilities(capabilities())
	if c.Compile(modules); c.Failed() {
		t.Fatal(c.Errors)
	}
	return c, own
}

// TestTraceTakesFewSteps limits the number of steps for 100 rules.
func TestTraceTakesFewSteps(t *testing.T) {
	c, own := compiled(t, 100)
	all := newTracer(c, factsNode())
	for _, m := range own {
		all.module(c.Modules[m.file])
	}
	if steps := maxTraces - all.left; steps > 200_000 {
		t.Errorf("100 rules take %d steps", steps)
	}
}
