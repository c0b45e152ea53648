//go:build ci

package report

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSARIFPublishedSchema uses the schema that comes with Microsoft's validator:
// SCHEDLINT_SARIF_SCHEMA names the file, and SCHEDLINT_SARIF_FILES, with globs, files that must
// conform as well.
func TestSARIFPublishedSchema(t *testing.T) {
	path := os.Getenv("SCHEDLINT_SARIF_SCHEMA")
	if path == "" {
		t.Fatal("SCHEDLINT_SARIF_SCHEMA names no file: .ci/sarif schema prints one")
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
