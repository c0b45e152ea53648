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

// ruleWith is a rule whose report has that body, with more definitions behind it.
func ruleWith(body, more string) string {
	return head + "report contains result.finding(rego.metadata.chain(), row, {\"message\": \"x\"}) if {\n" + body + "\n}\n\n" + more
}

const someLoss = "some row in input.losses\n"

// readCases are rules, and which paths they read; one with * is read in full.
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
	"with":                {someLoss + "count(other) > 1 with input as {}", "other := input.drains", "all"},
	"the package":         {someLoss + `count(data.schedlint.rules["no-default-namespace"]) > 1`, "other := input.drains", "error"},
}

// TestReads holds which paths a rule reads.
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

// pathsOf writes what is read. Below what is read in full only what is wanted counts.
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

// TestReadsAgree holds the reading of text against the analysis, for built-in rules.
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

// TestValues holds what is said of values that cannot be right.
func TestValues(t *testing.T) {
	const rows = "some row in input.losses\n"
	const never = `input.losses.outcome is never "infeasable"; it is one of always, sometimes, never, unknown, none`
	for name, c := range map[string]struct{ body, more, want string }{
		"==":               {rows + `row.outcome == "nevr"`, "", `policies/x.rego:14: input.losses.outcome is never "nevr" (did you mean never?); it is one of always, sometimes, never, unknown, none`},
		"== turned":        {rows + `"infeasable" == row.outcome`, "", never},
		"=":                {rows + `row.outcome = "infeasable"`, "", never},
		"!=":               {rows + `row.outcome != "infeasable"`, "", never},
		"a variable":       {rows + "o := row.outcome\nbad := \"infeasable\"\no == bad", "", "policies/x.rego:15: " + never},
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

// TestValuesOfLibraries checks what no rule uses, too.
func TestValuesOfLibraries(t *testing.T) {
	_, err := Load(Options{Dirs: []string{folder(t, map[string]string{
		"x.rego": head + body,
		"y.rego": "package team.losses\n\nbad contains l if {\n\tsome l in input.losses\n\tl.outcome == \"infeasable\"\n}\n",
	})}})
	if err == nil || !strings.Contains(err.Error(), `policies/y.rego:5: input.losses.outcome is never "infeasable"`) {
		t.Error(err)
	}
}

// TestTraceIsBounded gives the analysis rules that are made to keep it busy: they load,
// and are taken to read everything if that is not known.
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

// TestReadsAreEnough evaluates built-in rules and the ones above as if they were the
// user's own, with all facts and with what they are known to read only.
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

// reportOf is what a rule reports of facts.
func reportOf(t *testing.T, r *rule, input *ast.Term) ast.Set {
	t.Helper()
	found, err := r.program.run(context.Background(), r, input, func(q *topdown.Query) *topdown.Query {
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

// pruned leaves out the fields that are not read.
func pruned(t *ast.Term, path string, r *reads) *ast.Term {
	switch v := t.Value.(type) {
	case *ast.Array:
		var kept []*ast.Term
		v.Foreach(func(t *ast.Term) { kept = append(kept, pruned(t, path, r)) })
		return ast.ArrayTerm(kept...)
	case ast.Object:
		var kept [][2]*ast.Term
		v.Foreach(func(key, value *ast.Term) {
			if inner := below(path, text(key)); r.has(inner) {
				kept = append(kept, [2]*ast.Term{key, pruned(value, inner, r)})
			}
		})
		return ast.ObjectTerm(kept...)
	}
	return t
}

// compiled are the modules of n rules, the built-in ones by turns, and their compiler.
func compiled(t testing.TB, n int) (*ast.Compiler, []*module) {
	t.Helper()
	ids := folders(t)
	var own []*module
	modules := map[string]*ast.Module{}
	for i := range n {
		id := ids[i%len(ids)]
		text, err := fs.ReadFile(rules.FS, id+"/rule.rego")
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

// BenchmarkTrace analyses 100 rules.
func BenchmarkTrace(b *testing.B) {
	c, own := compiled(b, 100)
	for b.Loop() {
		if _, err := analyse(c, own); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTraceTakesFewSteps bounds what 100 rules take, in steps.
func TestTraceTakesFewSteps(t *testing.T) {
	c, own := compiled(t, 100)
	all := newTracer(c)
	for _, m := range own {
		all.module(c.Modules[m.file])
	}
	if steps := maxTraces - all.left; steps > 100_000 {
		t.Errorf("100 rules take %d steps", steps)
	}
}
