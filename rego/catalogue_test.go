package rego

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/fixtures"
	"github.com/schedlint/schedlint/lint/diag"
)

// TestCatalogue checks that rules/README.md matches the annotations of the rules.
func TestCatalogue(t *testing.T) {
	const file = "../rules/README.md"
	want := Catalogue(loaded(t, Options{}).All(), fixtures.Example)
	if update() {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is out of date; run SCHEDLINT_UPDATE=1 go test ./rego\n%s", file, diff)
	}
}

func TestCatalogueForm(t *testing.T) {
	rules := []diag.Rule{
		{ID: "b-rule", Title: "A | B", Description: "Why.", Category: "fragile", Level: diag.LevelWarning, Since: "v0.1.0", Related: []string{"https://example.com/"}},
		{ID: "ha.zone", Title: "H", Description: "Zones.", Category: "fragile", Level: diag.LevelWarning, Pack: "ha", Tags: []string{"ha", "zone"}},
		{ID: "needs", Title: "N", Description: "Needs.", Category: "policy", Level: diag.LevelError, Template: true, Params: []diag.Param{
			{Name: "key", Type: "string", Description: "a label"}, {Name: "keys", Type: "array", Default: `["zone"]`},
		}},
		{ID: "c-rule", Title: "C", Description: "Why not.", Category: "invalid", Level: diag.LevelError},
	}
	got := string(Catalogue(rules, func(id string) string {
		if id == "b-rule" {
			return "kind: Pod\n"
		}
		return ""
	}))
	if list := "b-rule  warning  fragile      A | B\nc-rule  error    invalid      C\n```\n"; !strings.Contains(got, list) {
		t.Errorf("no list in\n%s", got)
	}
	want := "**invalid** (error): the API server refuses the object, or the pods that it creates.\n\n| rule | reports |\n|---|---|\n| [c-rule](#c-rule) | C |\n" +
		"\n**fragile** (warning): it holds now, and not during a rollout, a drain, a migration or a loss of nodes.\n\n| rule | reports |\n|---|---|\n" +
		"| [b-rule](#b-rule) | A \\| B |\n" +
		"\n**Pack ha**: off until the configuration names it.\n\n| rule | reports |\n|---|---|\n| [ha.zone](#hazone) | H |\n" +
		"\n**Templates**: they run when a rule of the configuration uses them.\n\n| rule | reports |\n|---|---|\n| [needs](#needs) | N |\n" +
		"\n## b-rule\n\nA | B.\n\nWhy.\n\n- category: fragile (warning)\n- since: v0.1.0\n- see: <https://example.com/>\n\n```yaml\nkind: Pod\n```\n" +
		"\n## ha.zone\n\nH.\n\nZones.\n\n- category: fragile (warning)\n- tags: ha, zone\n" +
		"\n## needs\n\nN.\n\nNeeds.\n\n- category: policy (error)\n- parameter key (string, required): a label\n- parameter keys (array, default [\"zone\"])\n" +
		"\n## c-rule\n\nC.\n\nWhy not.\n\n- category: invalid (error)\n"
	if _, tail, _ := strings.Cut(got, "```\n\n"); tail != want {
		t.Error(cmp.Diff(want, tail))
	}
}
