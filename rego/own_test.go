package rego

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/rules"
)

// head is the METADATA and the package line of a custom rule.
const head = `# METADATA
# title: Workloads outside of the default namespace
# description: The default namespace is nobody's.
# schemas:
#   - input: schema.facts
# custom:
#   category: advice
package schedlint.rules["no-default-namespace"]

import data.schedlint.result

`

const body = `report contains result.finding(rego.metadata.chain(), fact, {"message": message}) if {
	some fact in input.workloads
	fact.namespace == "default"
	message := sprintf("%s: %d pods live in the default namespace", [fact.ref, fact.pods_min])
}
`

// folder writes files into a new folder and changes to its parent directory, so that errors call
// the folder policies.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.Mkdir("policies", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		name = filepath.Join("policies", name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return "policies"
}

func defaultNamespace() *facts.Facts {
	return &facts.Facts{Workloads: []facts.Workload{
		{ID: 1, Ref: "Deployment shop/web", Namespace: "shop", PodsMin: 2, PodsMax: 2},
		{ID: 2, Ref: "Deployment default/web", Namespace: "default", PodsMin: 3, PodsMax: 3},
	}}
}

func TestOwnRule(t *testing.T) {
	dir := folder(t, map[string]string{
		"team/no-default-namespace/rule.rego":      head + body,
		"team/no-default-namespace/rule_test.rego": "this is not even Rego",
		"README.md": "neither is this",
	})
	e := loaded(t, Options{Dirs: []string{dir}})
	got, err := e.Evaluate(context.Background(), defaultNamespace(), facts.NewTally())
	if err != nil {
		t.Fatal(err)
	}
	want := []facts.Judgement{{Rule: "no-default-namespace", Fact: 2, Message: "Deployment default/web: 3 pods live in the default namespace"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantRule := diag.Rule{ID: "no-default-namespace", Title: "Workloads outside of the default namespace",
		Description: "The default namespace is nobody's.", Category: "advice", Level: diag.LevelOff}
	if r, ok := e.Rule("no-default-namespace"); !ok || cmp.Diff(wantRule, r) != "" {
		t.Error(cmp.Diff(wantRule, r))
	}
	if len(e.Rules()) != len(loaded(t, Options{}).Rules())+1 {
		t.Errorf("%d rules, want the built-in ones and one more", len(e.Rules()))
	}
}

// TestOwnLibrary checks that rules can share a library.
func TestOwnLibrary(t *testing.T) {
	dir := folder(t, map[string]string{
		"no-default-namespace/rule.rego": strings.Replace(head, "import data.schedlint.result\n", "import data.schedlint.result\nimport data.team.names\n", 1) +
			strings.Replace(body, "some fact in input.workloads\n\tfact.namespace == \"default\"", "some fact in names.shared", 1),
		"lib/names.rego": "package team.names\n\nshared contains fact if {\n\tsome fact in input.workloads\n\tfact.namespace == \"default\"\n}\n",
	})
	got, err := loaded(t, Options{Dirs: []string{dir}}).Evaluate(context.Background(), defaultNamespace(), facts.NewTally())
	if err != nil || len(got) != 1 || got[0].Fact != 2 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestOverride(t *testing.T) {
	ids := folders(t)
	text := strings.Replace(head+body, "no-default-namespace", "replicas-share-a-node", 1)
	text = strings.Replace(text, "category: advice", "category: advice\n#   replaces: replicas-share-a-node", 1)
	dir := folder(t, map[string]string{"replicas-share-a-node/rule.rego": text})
	e := loaded(t, Options{Dirs: []string{dir}})
	if !slices.Equal(e.IDs(), ids) {
		t.Errorf("rules %v, want the built-in ids and no other", e.IDs())
	}
	f := defaultNamespace()
	f.Workloads = append(f.Workloads, facts.Workload{ID: 3, Ref: "Deployment shop/db", PodsMin: 2, PodsMax: 2, Permanent: true})
	f.Sharing = append(f.Sharing, facts.Sharing{ID: 4, W: 2, Outcome: diag.Sometimes, Pods: 2, Usable: 2, OnOneNode: 2}) // the built-in rule would report this row
	got, err := e.Evaluate(context.Background(), f, facts.NewTally())
	if err != nil || len(got) != 1 || got[0].Rule != "replicas-share-a-node" || got[0].Fact != 2 {
		t.Errorf("got %v, %v; want the user's rule and not the built-in one", got, err)
	}
	if r, _ := e.Rule("replicas-share-a-node"); r.Category != "advice" {
		t.Errorf("metadata is that of the built-in rule: %v", r)
	}
}

// isOneOf returns a function for Options.Off that turns off the given rules.
func isOneOf(ids ...string) func(string) bool {
	return func(id string) bool { return slices.Contains(ids, id) }
}

func TestOff(t *testing.T) {
	dir := folder(t, map[string]string{"x.rego": head + body})
	e := loaded(t, Options{Dirs: []string{dir}, Off: isOneOf("no-default-namespace", "replicas-share-a-node")})
	if got, err := e.Evaluate(context.Background(), defaultNamespace(), facts.NewTally()); err != nil || len(got) != 0 {
		t.Errorf("got %v, %v from a rule that is off", got, err)
	}
	for _, r := range e.Rules() {
		if r.ID == "no-default-namespace" || r.ID == "replicas-share-a-node" {
			t.Errorf("%s is listed although it is off", r.ID)
		}
	}
	if _, ok := e.Rule("replicas-share-a-node"); !ok || !slices.Contains(e.IDs(), "replicas-share-a-node") {
		t.Error("a rule that is off is not known any more")
	}
}

// TestLoadErrors checks the error messages: the position, what was found, and what was expected.
func TestLoadErrors(t *testing.T) {
	edit := func(old, text string) string { return strings.Replace(head+body, old, text, 1) }
	cases := map[string]struct{ text, want string }{
		"misspelt field": {edit("fact.namespace", "fact.namespcae"),
			"policies/x.rego:14: namespcae does not exist here (did you mean namespace?); there are annotations, answers, architectures, architectures_known,"},
		"misspelt list": {edit("input.workloads", "input.worklods"),
			"policies/x.rego:13: worklods does not exist here (did you mean workloads?); there are affinity, anti_affinity, attachments, autoscalers, budgets, capacity,"},
		"wrong type":             {edit(`== "default"`, `== 3`), "policies/x.rego:14: match error: left : string right : number"},
		"misspelt key":           {edit("title:", "titel:"), "policies/x.rego:2: METADATA has the unknown key titel (did you mean title?); there are title, description,"},
		"no title":               {edit("# title: Workloads outside of the default namespace\n", ""), "policies/x.rego:1: METADATA has no title;"},
		"no description":         {edit("# description: The default namespace is nobody's.\n", ""), "policies/x.rego:1: METADATA has no description;"},
		"no schemas":             {edit("# schemas:\n#   - input: schema.facts\n", ""), `policies/x.rego:1: METADATA has no schemas with the entry "- input: schema.facts"`},
		"another schema":         {edit("schema.facts", "schema.fact"), `policies/x.rego:1: METADATA has no schemas with the entry "- input: schema.facts"`},
		"no category":            {edit("# custom:\n#   category: advice\n", ""), "policies/x.rego:1: METADATA has no custom.category; it is one of invalid, infeasible, ineffective, fragile, advice, policy"},
		"misspelt category":      {edit("category: advice", "category: fragil"), "policies/x.rego:1: METADATA has custom.category \"fragil\" (did you mean fragile?); it is one of"},
		"misspelt custom key":    {edit("category: advice", "categroy: advice"), "policies/x.rego:1: METADATA has the unknown key custom.categroy (did you mean category?); there are category, since, level, params, asks,"},
		"since a number":         {edit("category: advice", "category: advice\n#   since: 1"), "policies/x.rego:1: METADATA has custom.since 1; expected a version such as v0.1.0"},
		"no METADATA":            {"package schedlint.rules[\"x\"]\n\nimport data.schedlint.result\n\n" + body, "policies/x.rego:1: no METADATA comment stands right above the package"},
		"METADATA of the report": {"package schedlint.rules[\"x\"]\n\nimport data.schedlint.result\n\n# METADATA\n# title: x\n" + body, "policies/x.rego:1: no METADATA comment stands right above the package"},
		"bad YAML":               {edit("title: ", "title: : "), "policies/x.rego:"},
		"bad id":                 {edit("no-default-namespace", "No_Default"), `policies/x.rego:8: the rule id "No_Default" is not made of lower-case words`},
		"two dots":               {edit("no-default-namespace", "a.b.c"), `policies/x.rego:8: the rule id "a.b.c" is not made of lower-case words`},
		"bare pack":              {edit("no-default-namespace", "a."), `policies/x.rego:8: the rule id "a." is not made of lower-case words`},
		"built-in id":            {edit("no-default-namespace", "crowded-out"), "policies/x.rego:8: a built-in rule has the id crowded-out; choose another id, or replace it with custom.replaces: crowded-out"},
		"replaces another":       {edit("category: advice", "category: advice\n#   replaces: crowded-out"), `policies/x.rego:1: METADATA has custom.replaces "crowded-out"; expected no-default-namespace, the id of the rule itself`},
		"replaces nothing":       {edit("category: advice", "category: advice\n#   replaces: no-default-namespace"), "policies/x.rego:9: custom.replaces: no built-in rule has the id no-default-namespace"},
		"parameters of none":     {edit(`== "default"`, `== input.params.namespace`), "policies/x.rego:14: params does not exist here; a rule declares its parameters in custom.params, and hands them to the functions of a library"},
		"another package":        {edit("schedlint.rules", "schedlint.rule"), `policies/x.rego:8: the package schedlint.rule["no-default-namespace"] is reserved; a rule is package schedlint.rules["<id>"]`},
		"report in a library":    {edit(`schedlint.rules["no-default-namespace"]`, "mine"), `policies/x.rego:8: the package mine has a report, which a library has not`},
		"no report":              {edit("report contains", "reports contains"), "policies/x.rego:8: the rule has no report (did you mean reports?); write report contains"},
		"report is no set":       {head + "report := result.finding(rego.metadata.chain(), input.workloads[0], {\"message\": \"x\"})\n", "policies/x.rego:12: report is not a set; write report contains"},
		"report is an object":    {head + "report[x] := result if some x in [1]\n", "policies/x.rego:12: report is not a set; write report contains"},
		"syntax":                 {edit("some fact in", "some fact on"), "policies/x.rego:13: "},
		"old syntax":             {edit(`report contains result.finding(rego.metadata.chain(), fact, {"message": message}) if`, "report[message]"), "policies/x.rego:12: "},
		"unused import":          {edit("import data.schedlint.result\n", "import data.schedlint.result\nimport data.schedlint.keys\n"), "policies/x.rego:11: import data.schedlint.keys unused"},
		"unknown import":         {edit("import data.schedlint.result\n", "import data.schedlint.result\nimport data.team.names\n"), "policies/x.rego:11: data.team.names is not defined by any rule or library"},
		"another rule's":         {edit("fact.namespace ==", `data.schedlint.rules["x"].y ==`), `policies/x.rego:14: data.schedlint.rules.x.y is not defined by any rule or library`},
		"misspelt function":      {edit("sprintf(", "sprintff("), "policies/x.rego:15: function sprintff is not available; did you mean sprintf?"},
		"unheard function":       {edit("sprintf(", "frobnicate("), "policies/x.rego:15: function frobnicate is not available; see https://"},
		"http.send":              {edit(`fact.namespace == "default"`, `http.send({"url": "https://example.com"})`), "policies/x.rego:14: function http.send is not available; rules have no access to the network"},
		"net.lookup_ip_addr":     {edit(`fact.namespace == "default"`, `net.lookup_ip_addr("example.com")`), "policies/x.rego:14: function net.lookup_ip_addr is not available; rules have no access to the network"},
		"opa.runtime":            {edit(`fact.namespace == "default"`, `opa.runtime()`), "policies/x.rego:14: function opa.runtime is not available; rules do not see the environment"},
		"time.now_ns":            {edit(`fact.namespace == "default"`, `time.now_ns()`), "policies/x.rego:14: function time.now_ns is not available; rules have no clock"},
		"rand.intn":              {edit(`fact.namespace == "default"`, `rand.intn("x", 3)`), "policies/x.rego:14: function rand.intn is not available; rules have no random numbers"},
		"uuid.rfc4122":           {edit(`fact.namespace == "default"`, `uuid.rfc4122("x")`), "policies/x.rego:14: function uuid.rfc4122 is not available; rules have no random numbers"},
		"io.jwt.decode":          {edit(`fact.namespace == "default"`, `io.jwt.decode("x")`), "policies/x.rego:14: function io.jwt.decode is not available; rules have no keys, tokens"},
		"rego.parse_module":      {edit(`fact.namespace == "default"`, `rego.parse_module("x", "y")`), "policies/x.rego:14: function rego.parse_module is not available; facts hold no Rego"},
		"json.match_schema":      {edit(`fact.namespace == "default"`, `json.match_schema({}, {})`), "policies/x.rego:14: function json.match_schema is not available; a schema may refer to others on the network"},
		"trace":                  {edit(`fact.namespace == "default"`, `trace("x")`), "policies/x.rego:14: function trace is not available; it writes output"},
		"print":                  {edit(`fact.namespace == "default"`, `print("x")`), "policies/x.rego:14: function print is not available; it works in tests of policies only"},
		"library's field":        {"package team.names\n\nx := input.workloads[0].nmae\n", "policies/x.rego:3: nmae does not exist here (did you mean name?); there are"},
		"empty file":             {"", "policies/x.rego:1: the file is empty; a rule starts with METADATA"},
		"not text":               {"\x00\xff\xfe", "policies/x.rego:"},
		"too large":              {head + body + strings.Repeat("# padding\n", 7000), "policies/x.rego: the file has "},
	}
	for _, name := range trials.Sample(t, slices.Sorted(maps.Keys(cases)), 10) {
		c := cases[name]
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"x.rego": c.text}
			if name == "library's field" {
				files["y.rego"] = head + body
			}
			dir := folder(t, files)
			_, err := Load(Options{Rules: rules.FS, Dirs: []string{dir}})
			if err == nil {
				t.Fatal("no error")
			}
			if first, _, _ := strings.Cut(err.Error(), "\n"); !strings.HasPrefix(first, c.want) {
				t.Errorf("error %q\n want %q", err, c.want)
			}
		})
	}
}

// TestLoadTellsAll checks that Load returns all errors at once, in the order of the files.
func TestLoadTellsAll(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.rego": strings.Replace(head+body, "title:", "titel:", 1),
		"b.rego": strings.Replace(head+body, "category: advice", "category: advise", 1),
	})
	_, err := Load(Options{Dirs: []string{dir}})
	want := []string{"policies/a.rego:2: METADATA has the unknown key titel", "policies/a.rego:1: METADATA has no title", "policies/b.rego:1: METADATA has custom.category \"advise\""}
	var got []string
	for line := range strings.Lines(fmt.Sprint(err)) {
		got = append(got, line)
	}
	if len(got) != len(want) {
		t.Fatalf("error %v, want %d lines", err, len(want))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("line %d is %q, want %q", i, got[i], want[i])
		}
	}
}

func TestFolderErrors(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(dir string) error
		want    string
	}{
		"empty": {func(string) error { return nil }, "policies: the folder holds no rule; a rule is a file <id>/rule.rego"},
		"library only": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "x.rego"), []byte("package mine\n\nx := 1\n"), 0o644)
		}, "policies: the folder holds no rule"},
		"missing": {func(dir string) error { return os.Remove(dir) }, "policies: the folder of rules does not exist"},
		"file": {func(dir string) error {
			if err := os.Remove(dir); err != nil {
				return err
			}
			return os.WriteFile(dir, nil, 0o644)
		}, "policies: this is not a folder"},
		"linked folder": {func(dir string) error {
			if err := os.Remove(dir); err != nil {
				return err
			}
			return os.Symlink("/etc", dir)
		}, "policies: the folder of rules is a symbolic link"},
		"linked rule": {func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "rule.rego")) },
			"policies/rule.rego: symbolic links are not followed"},
		"twice": {func(dir string) error {
			for _, name := range []string{"a.rego", "b.rego"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(head+body), 0o644); err != nil {
					return err
				}
			}
			return nil
		}, `policies/b.rego:8: the rule no-default-namespace exists already, in policies/a.rego; remove one of them, or give it another id`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, nil)
			if err := c.prepare(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(Options{Dirs: []string{dir}}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %v\n want %q", err, c.want)
			}
		})
	}
}

// TestRunawayCompilation checks that rules are rejected if OPA cannot compile them in time.
func TestRunawayCompilation(t *testing.T) {
	const depth = 11 // takes a tenth of a second, and each further level doubles that
	dir := folder(t, map[string]string{"x.rego": head +
		"report contains result.finding(rego.metadata.chain(), input.workloads[0], {\"message\": y}) if y := " +
		strings.Repeat("[y | y := ", depth) + `"x"` + strings.Repeat("]", depth) + "\n"})
	_, err := Load(Options{Dirs: []string{dir}, Deadline: time.Nanosecond})
	if err == nil || !strings.HasPrefix(err.Error(), "policies/x.rego:1: these rules take more than 1ns of CPU time to compile") {
		t.Errorf("error %v, want one about rules that take too long to compile", err)
	}
}

// TestDetails checks that a rule can add lines to its message, up to a limit.
func TestDetails(t *testing.T) {
	for name, c := range map[string]struct {
		list string
		want []string
	}{
		"none":  {`[]`, nil},
		"some":  {`["b; c", "", "a"]`, []string{"b; c", "a"}},
		"many":  {`[sprintf("%d", [n]) | some n in numbers.range(1, 22)]`, append(strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"), "and 2 more details")},
		"large": {`[concat("", [x | some _ in numbers.range(1, 5000); x := "a"])]`, []string{strings.Repeat("a", maxMessage) + " ... (904 bytes more)"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := head + "report contains result.finding(rego.metadata.chain(), fact, {\"message\": \"x\", \"details\": " + c.list + "}) if some fact in input.workloads\n"
			tally := facts.NewTally()
			found, err := loaded(t, Options{Dirs: []string{folder(t, map[string]string{"x.rego": text})}}).Evaluate(context.Background(), defaultNamespace(), tally)
			if err != nil || len(tally.Failures) > 0 || len(found) == 0 {
				t.Fatal(found, tally.Failures, err)
			}
			if j := found[0]; j.Message != "x" || !slices.Equal(j.Details, c.want) {
				t.Errorf("message %q, details %q, want %q", j.Message, j.Details, c.want)
			}
		})
	}
}

// TestEvaluateErrors checks rules that load but fail during evaluation.
func TestEvaluateErrors(t *testing.T) {
	report := func(value string) string {
		return head + "report contains " + value + " if some fact in input.workloads\n"
	}
	chain := "rego.metadata.chain()"
	said := func(text string) string { return report(`result.finding(` + chain + `, fact, ` + text + `)`) }
	worded := func(text string) string { return report(`result.worded(` + chain + `, fact, ` + text + `)`) }
	for name, c := range map[string]struct{ text, want string }{
		"no such fact":     {report(`result.finding(` + chain + `, {"id": 77}, {"message": "x"})`), "reports the fact 77, which is none of those"},
		"no finding":       {report(`fact.name`), "reports something that is no finding of its own; write report contains"},
		"another rule":     {report(`{"rule": "x", "fact": fact.id, "said": {"message": "x"}}`), "reports something that is no finding of its own"},
		"half a fact":      {report(`{"rule": "no-default-namespace", "fact": fact.id + 0.5, "said": {"message": "x"}}`), "reports something that is no finding of its own"},
		"two in one":       {report(`{"rule": "no-default-namespace", "fact": fact.id, "said": {"message": "x"}, "reason": "y"}`), "reports something that is no finding of its own"},
		"bare text":        {said(`"x"`), `reports a finding that is a string; expected an object such as {"message": message}`},
		"no message":       {said(`{"help": "x"}`), "reports a finding without a message; add the key message"},
		"empty message":    {said(`{"message": " "}`), "reports a finding whose message is empty; expected a sentence"},
		"no text":          {said(`{"message": fact.id}`), "reports a finding whose message is a number; expected a string"},
		"misspelt key":     {said(`{"mesage": "x"}`), `reports a finding with the unknown key "mesage" (did you mean message?); expected message, details, help, path, level`},
		"key without text": {said(`{fact.id: "x", "message": "x"}`), `reports a finding with the unknown key ""; expected message,`},
		"huge key":         {said(`{sprintf("%9000s", ["x"]): "x", "message": "x"}`), "reports a finding with the unknown key \"" + strings.Repeat(" ", 100) + `..."; expected message,`},
		"half a detail":    {said(`{"message": "x", "details": ["y", 1]}`), "reports a finding whose details hold a number at index 1; expected strings"},
		"bare detail":      {said(`{"message": "x", "details": "y"}`), "reports a finding whose details are a string; expected an array of strings"},
		"set of details":   {said(`{"message": "x", "details": {"y"}}`), "reports a finding whose details are a set; expected an array of strings"},
		"no help":          {said(`{"message": "x", "help": null}`), "reports a finding whose help is null; expected a string"},
		"bare path":        {said(`{"message": "x", "path": "spec"}`), "reports a finding whose path is a string; expected an array of keys and indices"},
		"negative index":   {said(`{"message": "x", "path": ["spec", -1]}`), "reports a finding whose path holds a number at index 1; expected keys and indices"},
		"half an index":    {said(`{"message": "x", "path": [0.5]}`), "reports a finding whose path holds a number at index 0; expected"},
		"vast index":       {said(`{"message": "x", "path": [1e900]}`), "reports a finding whose path holds a number at index 0; expected"},
		"object in path":   {said(`{"message": "x", "path": [{}]}`), "reports a finding whose path holds an object at index 0; expected"},
		"long path":        {said(`{"message": "x", "path": numbers.range(1, 21)}`), "reports a finding whose path has 21 elements; expected at most 20"},
		"large element":    {said(`{"message": "x", "path": [sprintf("%257s", ["x"])]}`), "reports a finding whose path has 257 bytes at index 0; expected at most 256"},
		"misspelt level":   {said(`{"message": "x", "level": "eror"}`), "reports a finding whose level is no level (did you mean error?); expected error, warning, note"},
		"level off":        {said(`{"message": "x", "level": "off"}`), "reports a finding whose level is no level; expected error, warning, note"},
		"number as level":  {said(`{"message": "x", "level": 1}`), "reports a finding whose level is no level; expected error, warning, note"},
		"bare values":      {worded(`{"reason": "single-pod", "values": "x"}`), "reports a finding whose values are a string; expected an object with strings as keys"},
		"no reason":        {worded(`{"values": {"workload": "x"}}`), "reports a finding without a reason; add the key reason"},
		"unknown reason":   {worded(`{"reason": "x", "values": {"workload": "x"}}`), `reports the reason "x", which the catalogue of messages does not have`},
		"missing value":    {worded(`{"reason": "single-pod", "values": {"pod": "x"}}`), `reports the reason "single-pod", which the catalogue of messages does not have`},
		"nested value":     {worded(`{"reason": "single-pod", "values": {"workload": {"x": [1e900]}}}`), `reports the reason "single-pod", which the catalogue of messages does not have`},
		"words of its own": {worded(`{"reason": "single-pod", "message": "x"}`), `reports a finding with the unknown key "message"; expected reason, of_container, values, path, level`},
		"division by zero": {said(`{"message": sprintf("%d", [fact.id / (fact.pods_min - fact.pods_min)])}`), "div: divide by zero"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"x.rego": strings.Replace(c.text, "import data.schedlint.result\n", imports(c.text), 1)})
			tally := facts.NewTally()
			if _, err := loaded(t, Options{Dirs: []string{dir}}).Evaluate(context.Background(), defaultNamespace(), tally); err != nil {
				t.Fatal(err)
			}
			line := 1
			if name == "division by zero" {
				line = 12
			}
			want := fmt.Sprintf("policies/x.rego:%d: rule no-default-namespace: %s", line, c.want)
			if len(tally.Failures) != 1 || !strings.HasPrefix(tally.Failures[0].String(), want) || tally.Failures.Internal() {
				t.Errorf("failures %v\n want %q", tally.Failures, want)
			}
		})
	}
}

// imports removes an import that a rule does not use, because it would be an error.
func imports(text string) string {
	if strings.Contains(text, "result.finding") || strings.Contains(text, "result.worded") {
		return "import data.schedlint.result\n"
	}
	return ""
}

// TestFinding checks all fields of a finding with its own message.
func TestFinding(t *testing.T) {
	large := strings.Repeat("a", maxMessage+1)
	said := `{"message": "no", "details": ["one", "", "two"], "help": sprintf("%s", [concat("", [x | some _ in numbers.range(1, 4097); x := "a"])]), ` +
		`"path": ["resources", 0, "requests", "a/b"], "level": "note"}`
	text := head + "report contains result.finding(rego.metadata.chain(), fact, " + said + ") if {\n\tsome fact in input.workloads\n\tfact.id == 1\n}\n"
	got, err := loaded(t, Options{Dirs: []string{folder(t, map[string]string{"x.rego": text})}}).Evaluate(context.Background(), defaultNamespace(), facts.NewTally())
	want := []facts.Judgement{{
		Rule: "no-default-namespace", Fact: 1, Message: "no", Details: []string{"one", "two"}, Level: diag.LevelNote,
		Path: []string{"resources", "0", "requests", "a/b"}, Help: large[1:] + " ... (1 bytes more)",
	}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// TestWorded passes values to the catalogue. The resulting text must be cut like a rule's own
// message.
func TestWorded(t *testing.T) {
	large := "[x | some _ in numbers.range(1, 5000); x := \"a\"]"
	given := `{"reason": "container-without-requests", "path": ["resources", 0], "level": "note", ` +
		`"values": {"workload": concat("", ` + large + `), "container": "c${workload}", "resources": ` + large + `}}`
	text := head + "report contains result.worded(rego.metadata.chain(), fact, " + given + ") if {\n\tsome fact in input.workloads\n\tfact.id == 1\n}\n"
	got, err := loaded(t, Options{Dirs: []string{folder(t, map[string]string{"x.rego": text})}}).Evaluate(context.Background(), defaultNamespace(), facts.NewTally())
	cutAfter := func(all string) string {
		return fmt.Sprintf("%s ... (%d bytes more)", all[:maxMessage], len(all)-maxMessage)
	}
	of := func(separator string) string { return strings.Repeat("a"+separator, 4999) + "a" }
	want := []facts.Judgement{{
		Rule: "no-default-namespace", Fact: 1, Level: diag.LevelNote, Path: []string{"resources", "0"},
		Message: cutAfter(of("") + ": container c${workload} requests no " + of(" or ")), Help: cutAfter("set resources.requests for " + of(" and ")),
	}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// TestOwnRuleReportsReason checks that a custom rule can use the wording of a built-in rule, and
// that only this rule fails if there is no such wording for its row.
func TestOwnRuleReportsReason(t *testing.T) {
	rule := func(reason string) string {
		return head + "report contains result.reason(rego.metadata.chain(), fact, " + reason + ") if some fact in input.sharing\n"
	}
	f := &facts.Facts{
		Workloads: []facts.Workload{{ID: 1, Ref: "Deployment shop/web", Kind: "Deployment"}},
		Sharing:   []facts.Sharing{{ID: 2, Outcome: diag.Always, Pods: 3, Node: "n1"}},
	}
	e := loaded(t, Options{Dirs: []string{folder(t, map[string]string{"x.rego": rule(`"one-node-takes-all"`)})}})
	got, err := e.Evaluate(context.Background(), f, facts.NewTally())
	if err != nil || len(got) != 1 || got[0].Message != "Deployment shop/web: losing node n1 can take down all 3 replicas" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, reason := range []string{`"no-such-reason"`, `"alias-bomb"`, `7`, `"` + strings.Repeat("x", 10_000) + `"`} {
		e := loaded(t, Options{Dirs: []string{folder(t, map[string]string{"x.rego": rule(reason)})}})
		tally := facts.NewTally()
		got, err := e.Evaluate(context.Background(), f, tally)
		if err != nil || len(got) != 0 || len(tally.Failures) != 1 || !strings.Contains(tally.Failures[0].Message, "the catalogue of messages does not have") {
			t.Errorf("reason %.30s: got %v, failures %v, %v", reason, got, tally.Failures, err)
		}
	}
}
