package policy

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	oparego "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/util"
)

// requiring is a rule with a required parameter that is no template.
const requiring = `# METADATA
# title: A workload has the wrong name
# description: Names are agreed upon.
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   params:
#     type: object
#     required: [names]
#     properties: {names: {type: array, items: {type: string}, description: the names}}
package schedlint.rules.names

import data.schedlint.result

report contains result.finding(rego.metadata.chain(), workload, {"message": "wrong"}) if {
	some workload in input.workloads
	not workload.name in input.params.names
}
`

const requiringTest = `package schedlint.rules.names_test

import data.schedlint.facts
import data.schedlint.rules.names

test_reports if count(names.report) == 1 with input as {"workloads": [facts.workload({"name": "a"})], "params": {"names": ["b"]}}

test_passes if count(names.report) == 0 with input as {"workloads": [facts.workload({"name": "b"})], "params": {"names": ["b"]}}
`

// TestEditorFiles checks that OPA alone accepts what New writes, strictly and with the schema as opa
// check -s reads it, together with a rule that has parameters, and that their unit tests pass.
func TestEditorFiles(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "policy")
	if err := New(&bytes.Buffer{}, policy, "web-runs-twice"); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"rule.rego": requiring, "rule_test.rego": requiringTest}
	err := filepath.WalkDir(policy, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".rego") {
			var text []byte
			text, err = os.ReadFile(path)
			texts[path] = string(text)
		}
		return err
	})
	schema, readErr := os.ReadFile(filepath.Join(policy, "schema", "facts.json"))
	if err != nil || readErr != nil {
		t.Fatal(err, readErr)
	}
	modules := map[string]*ast.Module{}
	for name, text := range texts {
		modules[name] = ast.MustParseModuleWithOpts(text, ast.ParserOptions{ProcessAnnotation: true})
	}
	schemas := ast.NewSchemaSet()
	schemas.Put(ast.SchemaRootRef.Append(ast.StringTerm("facts")), util.MustUnmarshalJSON(schema))
	c := ast.NewCompiler().WithStrict(true).WithSchemas(schemas).WithUseTypeCheckAnnotations(true)
	if c.Compile(modules); c.Failed() {
		t.Fatal(c.Errors)
	}
	n := 0
	for _, m := range modules {
		for _, r := range m.Rules {
			name := r.Head.Ref().String()
			if !strings.HasPrefix(name, "test_") {
				continue
			}
			n++
			results, err := oparego.New(oparego.Compiler(c), oparego.Query(m.Package.Path.String()+"."+name)).Eval(context.Background())
			if err != nil || !results.Allowed() {
				t.Errorf("%s: %v, %v", name, results, err)
			}
		}
	}
	if n != 6 {
		t.Errorf("%d tests ran, want 6", n)
	}
}

// TestNewRefreshes checks that New brings files for editors up to date and overwrites nothing else.
func TestNewRefreshes(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "policy")
	if err := New(&bytes.Buffer{}, policy, "one"); err != nil {
		t.Fatal(err)
	}
	regal, library := filepath.Join(policy, ".regal", "config.yaml"), filepath.Join(policy, ".schedlint", "lib", "result.rego")
	want, err := os.ReadFile(library)
	for _, path := range []string{regal, library} {
		if err == nil {
			err = os.WriteFile(path, []byte("# old\n"), 0o600)
		}
	}
	var said bytes.Buffer
	if err != nil || New(&said, policy, "two") != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(library); !bytes.Equal(got, want) || err != nil {
		t.Errorf("the library is %q, %v", got, err)
	}
	if got, err := os.ReadFile(regal); string(got) != "# old\n" || err != nil {
		t.Errorf("the configuration of Regal is %q, %v", got, err)
	}
	if !strings.Contains(said.String(), "/policy/.schedlint\n") || strings.Contains(said.String(), ".regal") {
		t.Errorf("said %s", said.String())
	}
}
