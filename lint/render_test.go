package lint_test

import (
	"path/filepath"
	"testing"
)

// renderFixtures are the repositories of fixtures/renders.
func renderFixtures(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("../fixtures/renders/*")
	if err != nil {
		t.Fatal(err)
	}
	return all
}
