package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	opa "github.com/open-policy-agent/opa/v1/rego"
)

// followed lists the pages that a reader follows from top to bottom in an empty directory. A yaml
// or rego block starts with a comment that names its file. A console block runs in this directory
// after the blocks before it.
func followed() []string {
	return []string{"docs/writing-policies.md", "docs/policies-cookbook.md", "docs/from-conftest.md"}
}

// fileComment matches the first line of a block with a file.
var fileComment = regexp.MustCompile(`\A# ([\w.-]+(?:/[\w.-]+)*\.(?:yaml|rego))\n`)

// TestFollowedPages executes the blocks of each page in order. SCHEDLINT_UPDATE=1 rewrites the
// output.
func TestFollowedPages(t *testing.T) {
	for _, name := range followed() {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text := readDocument(t, name)
			path, err := filepath.Abs(filepath.Join(repository, name))
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			updated := block.ReplaceAllStringFunc(text, func(fenced string) string {
				m := block.FindStringSubmatch(fenced)
				return "```" + m[1] + "\n" + follow(t, name, m[1], m[2]) + "```"
			})
			if updated == text || os.Getenv("SCHEDLINT_UPDATE") == "" {
				return
			}
			if err := os.WriteFile(path, []byte(updated), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// follow executes a block and returns it with its actual output.
func follow(t *testing.T, page, language, text string) string {
	t.Helper()
	switch language {
	case "yaml", "rego":
		m := fileComment.FindStringSubmatch(text)
		if m == nil {
			t.Errorf("%s: a %s block begins with the name of its file, such as # nodes.yaml; found\n%s", page, language, text)
			return text
		}
		if err := os.MkdirAll(filepath.Dir(m[1]), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(m[1], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(m[1], "conftest/") {
			checkDeny(t, page, text)
		}
	case "console":
		got := followedOutput(t, text)
		if got != text && os.Getenv("SCHEDLINT_UPDATE") == "" {
			t.Errorf("%s shows\n%s\nexpected\n%s", page, text, got)
		}
		return got
	}
	return text
}

// checkDeny evaluates a conftest policy like opa eval, with the facts that schedlint prints, and
// checks its result.
func checkDeny(t *testing.T, page, policy string) {
	t.Helper()
	var facts bytes.Buffer
	Run([]string{"facts", "-t", "nodes.yaml", "--format", "json", "apps"}, strings.NewReader(""), &facts, &facts)
	var input any
	if err := json.Unmarshal(facts.Bytes(), &input); err != nil {
		t.Fatalf("%s: %v in\n%s", page, err, &facts)
	}
	query := opa.New(opa.Query("data.main.deny"), opa.Module("policy.rego", policy), opa.Input(input))
	found, err := query.Eval(t.Context())
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", page, found, err)
	}
	if denied, _ := found[0].Expressions[0].Value.([]any); len(denied) == 0 {
		t.Errorf("%s: the policy denies nothing, with the input\n%s", page, &facts)
	}
}

// grep implements a grep after a command. It returns the matching lines or, with -o, the matches.
var grep = regexp.MustCompile(` \| grep (-o )?'([^']*)'$`)

// followedOutput is like actualOutput, but filters the output if the command ends in a grep.
func followedOutput(t *testing.T, shown string) string {
	t.Helper()
	command, _, _ := strings.Cut(shown, "\n")
	m := grep.FindStringSubmatch(command)
	if m == nil {
		return actualOutput(t, shown)
	}
	plain := strings.TrimSuffix(command, m[0])
	kept, pattern := command+"\n", regexp.MustCompile(m[2])
	for line := range strings.Lines(strings.TrimPrefix(actualOutput(t, plain), plain+"\n")) {
		for _, found := range pattern.FindAllString(line, -1) {
			if m[1] == "" {
				kept += line
				break
			}
			kept += found + "\n"
		}
	}
	if kept == command+"\n" {
		t.Errorf("%s prints no such line", command)
	}
	return kept
}

// unfollowed lists the pages of the manual that do not start in an empty directory.
func unfollowed(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(manual(t), func(name string) bool { return slices.Contains(followed(), name) })
}
