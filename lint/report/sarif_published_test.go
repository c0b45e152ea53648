//go:build ci

package report

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSARIFPublishedSchema validates against the schema of Microsoft's validator.
// SCHEDLINT_SARIF_SCHEMA is the path of the schema. SCHEDLINT_SARIF_FILES may have globs for
// further files that must conform to it.
func TestSARIFPublishedSchema(t *testing.T) {
	path := os.Getenv("SCHEDLINT_SARIF_SCHEMA")
	if path == "" {
		t.Fatal("SCHEDLINT_SARIF_SCHEMA names no file: .ci/sarif runs this test")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	schema := compiled(t, string(text))
	conforms(t, schema)
	files, err := filepath.Glob(os.Getenv("SCHEDLINT_SARIF_FILES"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(t, schema, doc); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	t.Logf("%d files", len(files))
}
