package cli

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	inlineLink = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	linkTarget = regexp.MustCompile(`(?m)^\[[^\]]+\]:\s+(\S+)`)
	heading    = regexp.MustCompile(`(?m)^#{1,6}\s+(.*?)\s*$`)
	codeSpan   = regexp.MustCompile("`([^`\n]+)`")
	// ownPath matches a path in this repository without placeholders.
	ownPath = regexp.MustCompile(`^(\.ci|\.github|cmd|docs|fixtures|lint|rego|rules)/[\w./-]*$`)
)

// releaseOnly is a path that exists only in the commit of a release.
const releaseOnly = ".github/action/checksums.txt"

// prose returns the text of a document without its fenced blocks.
func prose(text string) string { return block.ReplaceAllString(text, "") }

// targets returns the links in a document that do not leave the repository.
func targets(text string) []string {
	var all []string
	for _, pattern := range []*regexp.Regexp{inlineLink, linkTarget} {
		for _, m := range pattern.FindAllStringSubmatch(prose(text), -1) {
			if !strings.Contains(m[1], "://") && !strings.HasPrefix(m[1], "mailto:") {
				all = append(all, m[1])
			}
		}
	}
	return all
}

// anchors returns the ids that GitHub gives to the headings of a document: lower case, with
// hyphens for spaces, without other punctuation, and with a number for each repetition.
func anchors(text string) []string {
	var all []string
	seen := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(prose(text), -1) {
		id := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])
		n := seen[id]
		seen[id]++
		if n > 0 {
			id = fmt.Sprintf("%s-%d", id, n)
		}
		all = append(all, id)
	}
	return all
}

// resolve returns the target of a link as a path relative to the repository root, and its anchor.
func resolve(document, link string) (file, anchor string) {
	file, anchor, _ = strings.Cut(link, "#")
	if file == "" {
		return document, anchor
	}
	return path.Join(path.Dir(document), file), anchor
}

// TestLinks checks every link between documents and to files in the repository.
func TestLinks(t *testing.T) {
	followed := 0
	for _, name := range documents(t) {
		for _, link := range targets(readDocument(t, name)) {
			followed++
			if why := broken(t, name, link); why != "" {
				t.Errorf("%s: link %s: %s", name, link, why)
			}
		}
	}
	if followed == 0 {
		t.Error("no document has a link")
	}
}

// broken returns the problem with a link, or "" if its target exists.
func broken(t *testing.T, document, link string) string {
	t.Helper()
	file, anchor := resolve(document, link)
	if _, err := os.Stat(filepath.Join(repository, file)); err != nil {
		return "no such file"
	}
	if anchor != "" && !slices.Contains(anchors(readDocument(t, file)), anchor) {
		return "no such heading"
	}
	return ""
}

func TestBrokenLinks(t *testing.T) {
	for link, want := range map[string]string{
		"README.md":             "",
		"README.md#install":     "",
		"#install":              "",
		"docs/nodes.md":         "",
		"docs/nowhere.md":       "no such file",
		"README.md#nowhere":     "no such heading",
		"docs/nodes.md#install": "no such heading",
	} {
		if got := broken(t, "README.md", link); got != want {
			t.Errorf("%s: found %q, expected %q", link, got, want)
		}
	}
	if got := anchors("# A `b`, c\n```sh\n# no\n```\n## Node_file (v1)\n## Node_file (v1)\n"); !slices.Equal(got, []string{"a-b-c", "node_file-v1", "node_file-v1-1"}) {
		t.Errorf("anchors are %q", got)
	}
}

// TestPagesAreLinked checks that every page in docs can be reached from the README.
func TestPagesAreLinked(t *testing.T) {
	var linked []string
	for _, link := range targets(readDocument(t, "README.md")) {
		file, _ := resolve("README.md", link)
		linked = append(linked, file)
	}
	for _, name := range documents(t) {
		if strings.HasPrefix(name, "docs/") && !slices.Contains(linked, name) {
			t.Errorf("README.md does not link to %s", name)
		}
	}
}

// TestNamedPaths checks that the files and directories that documents name exist. Only the
// changelog may name removed files.
func TestNamedPaths(t *testing.T) {
	for _, name := range documents(t) {
		if name == "CHANGELOG.md" {
			continue
		}
		for _, m := range codeSpan.FindAllStringSubmatch(prose(readDocument(t, name)), -1) {
			if !ownPath.MatchString(m[1]) || m[1] == releaseOnly {
				continue
			}
			if _, err := os.Stat(filepath.Join(repository, m[1])); err != nil {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
		}
	}
}
