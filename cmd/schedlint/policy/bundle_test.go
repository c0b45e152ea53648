package policy

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	oparego "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/util"
)

// TestBundle checks that OPA can load a bundle, that a rule in it has the same findings as in
// schedlint, and that the same rules give the same bytes.
func TestBundle(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "policy")
	if err := New(&bytes.Buffer{}, policy, "web-runs-twice"); err != nil {
		t.Fatal(err)
	}
	write := func(name string) string {
		path := filepath.Join(dir, name)
		if err := WriteBundle(&bytes.Buffer{}, path, []string{policy}, []string{"ha"}); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one, other := write("one.tar.gz"), write("other.tar.gz")
	a, _ := os.ReadFile(one)
	b, _ := os.ReadFile(other)
	if !bytes.Equal(a, b) {
		t.Error("two bundles of the same rules differ")
	}
	var input any
	if err := util.UnmarshalJSON([]byte(`{"workloads": [{"id": 1, "ref": "Deployment web", "permanent": true, "pods_max": 1}], "params": {"pods": 2}}`), &input); err != nil {
		t.Fatal(err)
	}
	results, err := oparego.New(oparego.LoadBundle(one), oparego.Input(input),
		oparego.Query(`data.schedlint.rules["web-runs-twice"].report[_].said.message`)).Eval(context.Background())
	if err != nil || len(results) != 1 || results[0].Expressions[0].Value != "Deployment web runs 1 of 2 pods" {
		t.Errorf("%v, %v", results, err)
	}
}
