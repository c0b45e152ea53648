package template

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// constructs returns the templates in testdata, where lines of four dashes separate them.
func constructs(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var all []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n----\n")...)
	}
	return all
}

func TestConstructs(t *testing.T) {
	failed := 0
	all := constructs(t)
	for _, source := range all {
		if compareWith(t, functions, source, data()) {
			failed++
		}
	}
	if good := len(all) - failed; good < 150 || failed < 150 {
		t.Errorf("%d templates print and %d fail, which is too few of one", good, failed)
	}
}
