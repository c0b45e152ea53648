package lint_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestGlossary keeps the glossary a table that a reader can search: every section is
// sorted, and no word is defined twice.
func TestGlossary(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, glossary, ok := strings.Cut(string(text), "// # Glossary\n")
	if !ok {
		t.Fatal("doc.go has no glossary")
	}
	seen := map[string]bool{}
	for section := range strings.SplitSeq(glossary, ":\n//\n") {
		var words []string
		for _, m := range regexp.MustCompile(`(?m)^//\t(\S.*?)  +\S`).FindAllStringSubmatch(section, -1) {
			if seen[m[1]] {
				t.Errorf("%s is defined twice", m[1])
			}
			seen[m[1]] = true
			words = append(words, m[1])
		}
		if !slices.IsSorted(words) {
			t.Errorf("not sorted: %q", words)
		}
	}
	if !seen["certificate"] || !seen["root"] || !seen["baseline"] {
		t.Errorf("words are missing from %v", seen)
	}
}
