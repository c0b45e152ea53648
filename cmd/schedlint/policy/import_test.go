package policy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/rego"
)

// TestGatekeeperLibrary runs the unit tests of the library that imported rules call, and checks that
// leaving out any of its conditions makes one fail.
func TestGatekeeperLibrary(t *testing.T) {
	dir := t.TempDir()
	for name, from := range map[string]string{"a.rego": "gatekeeper.rego", "a_test.rego": "gatekeeper_test.rego", "rule.rego": ""} {
		text := []byte(requiring) // a folder needs a rule
		if from != "" {
			var err error
			if text, err = os.ReadFile(filepath.Join("gatekeeper", from)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := rego.UnitOptions{Dirs: []string{dir}}
	tests, _, err := rego.RunUnitTests(context.Background(), o)
	if err != nil || len(tests) == 0 {
		t.Fatal(len(tests), err)
	}
	for _, unit := range tests {
		if unit.Failure != "" {
			t.Errorf("%d: %s: %s", unit.Line, unit.Name, unit.Failure)
		}
	}
	mutants, err := rego.LoadMutants(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range mutants.Conditions() {
		if c.Rule == "" && !mutants.Noticed(context.Background(), c) {
			t.Errorf("line %d: no test fails without %s", c.Line, c.Text)
		}
	}
}

// FuzzImport checks that whatever is imported loads with its settings, and that the same files give
// the same bytes.
func FuzzImport(f *testing.F) {
	f.Add([]byte(`
apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata: {name: short, annotations: {description: "a # METADATA\n b"}}
spec:
  crd: {spec: {names: {kind: Short}, validation: {openAPIV3Schema: {properties: {a: {default: 1}}}}}}
  targets:
  - rego: |
      package a.short
      violation[{"msg": data.lib.x}] { input.review.object.kind == input.parameters.a }
    libs: ["package lib\nx = 1 { true }"]
---
apiVersion: constraints.gatekeeper.sh/v1beta1
kind: Short
metadata: {name: A..b}
spec: {enforcementAction: warn, match: {kinds: [{kinds: ["*"]}]}, parameters: {b: [{"yes": null}, 1e3]}}
`))
	f.Fuzz(func(t *testing.T, text []byte) {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("in.yaml", text, 0o600); err != nil {
			t.Fatal(err)
		}
		var settings [2][]byte
		for i := range settings {
			if err := Import(io.Discard, []string{"in.yaml"}, ""); err != nil {
				return
			}
			conf, err := config.Choose("")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Load(Source{}, conf); err != nil {
				t.Fatal(err)
			}
			lock, lockErr := os.ReadFile("policy/vendor/gatekeeper/schedlint.lock.json")
			written, err := os.ReadFile(config.Name)
			if err := errors.Join(err, lockErr, os.RemoveAll("policy"), os.Remove(config.Name)); err != nil {
				t.Fatal(err)
			}
			settings[i] = append(lock, written...)
		}
		if !bytes.Equal(settings[0], settings[1]) {
			t.Errorf("%s\nand\n%s", settings[0], settings[1])
		}
	})
}

func TestBlock(t *testing.T) {
	const want = `a: 1
b: {}
c: []
d: ["x y", 1.5, true, null]
e:
  - f: "yes"
    "g h": x
  - [1]
  - - k: "1"
`
	got := block(map[string]any{
		"a": 1, "b": map[string]any{}, "c": []any{}, "d": []any{"x y", 1.5, true, nil},
		"e": []any{map[string]any{"f": "yes", "g h": "x"}, []any{1}, []any{map[string]any{"k": "1"}}},
	}, "")
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
