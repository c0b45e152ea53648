package lint_test

import (
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestGlossary checks that a reader can search the glossary: every section is sorted, and no
// word is defined twice.
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

// readable lists the packages whose comments the test below reads.
var readable = strings.Fields(`lint/sched lint/sched/model lint/sched/search lint/sched/check lint/sched/disruption lint/sched/bound
	lint/sched/classes lint/sched/certificate lint lint/facts/derive lint/facts/listing rego lint/origin lint/contexts lint/kustomize lint/fragments
	lint/accept lint/expect lint/worktree lint/neighbours lint/meter lint/cpu lint/lazy lint/sorting lint/archive lint/kinds lint/workload lint/topology lint/facts lint/diag lint/message lint/report lint/report/page lint/config
	lint/locate lint/limits lint/revision cmd/schedlint/change cmd/schedlint/inputs cmd/schedlint/policy cmd/schedlint/cli lint/gitops lint/pointers lint/roots lint/vendored lint/chart lint/chart/chartutil lint/chart/template lint/render lint/render/engine lint/source`)

// foreign maps turns of phrase that are not plain English to their replacements.
var foreign = map[string]string{
	`^\w+ (is|are) (what|how|why|where|whose)\b`: "say what it is, or begin with a verb",
	`\b(told of|is told|are told|tells)\b`:       "says, reports or returns",
	`\bstands? (in|at|above|below|there)\b`:      "is, means or appears",
	`\b(nobody|somebody)\b`:                      "no one, or the passive voice",
	`\bis none\b`:                                "is not one",
	`\bbut for\b`:                                "except",
	`\bwhat becomes of\b`:                        "what happens to",
	`\bof which the same\b`:                      "with the same",
	`\bin vain\b`:                                "without success",
	`\bfor (good|ever)\b`:                        "permanently",
	`\bhas to do with\b`:                         "concerns",
	`\bwherever from\b`:                          "from any source",
}

// TestPlainComments keeps these turns out of comments.
func TestPlainComments(t *testing.T) {
	exprs := map[*regexp.Regexp]string{}
	for pattern, instead := range foreign {
		exprs[regexp.MustCompile(pattern)] = instead
	}
	for _, file := range productFiles(t) {
		if !slices.Contains(readable, path.Dir(file)) {
			continue
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, filepath.Join("..", file), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range tree.Comments {
			text := strings.ReplaceAll(strings.Join(strings.Fields(group.Text()), " "), "there is none", "")
			for expr, instead := range exprs {
				if found := expr.FindString(text); found != "" {
					t.Errorf("%s:%d: %q: write %s", file, set.Position(group.Pos()).Line, found, instead)
				}
			}
		}
	}
}
