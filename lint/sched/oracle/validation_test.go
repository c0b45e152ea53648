package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestValidation holds the recorded refusals against the API server's own
// validation. With SCHEDLINT_UPDATE it records them.
func TestValidation(t *testing.T) {
	paths, err := filepath.Glob("../../../fixtures/oracle/validation/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]string{}
			for _, f := range a.Files {
				parts[f.Name] = string(f.Data)
			}
			r, err := refused(parts["manifests.yaml"])
			if err != nil {
				t.Fatal(err)
			}
			if os.Getenv("SCHEDLINT_UPDATE") != "" {
				if err := record(path, a, r); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got, err := json.MarshalIndent(r, "", "  "); err != nil || string(got)+"\n" != parts["expect.json"] {
				t.Errorf("the API server says %s (%v), want %s", got, err, parts["expect.json"])
			}
		})
	}
}

// TestGenerateName compares what both sides say of names that the API server
// makes up, which no record could hold.
func TestGenerateName(t *testing.T) {
	template := "template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}"
	for kind, spec := range map[string]string{
		"Job":     "{" + template + "}",
		"CronJob": "{schedule: '@daily', jobTemplate: {spec: {" + template + "}}}",
	} {
		for _, name := range []string{"run-", "Run-", "my_run-", "a.b-", "-run", strings.Repeat("a", 47), strings.Repeat("a", 48), strings.Repeat("a", 300)} {
			text := "apiVersion: batch/v1\nkind: " + kind + "\nmetadata:\n  generateName: " + name + "\n  namespace: d\nspec: " + spec + "\n"
			theirs, err := refused(text)
			if err != nil {
				t.Fatal(err)
			}
			ours, err := NewOurs("", text)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range ours.Workloads {
				if w.Refused() != (len(theirs.Refused) > 0) {
					t.Errorf("%s %s: the API server says %v, we say %+v", kind, name, theirs.Refused, w.Problems)
				}
			}
		}
	}
}
