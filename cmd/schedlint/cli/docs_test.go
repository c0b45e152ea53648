package cli

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/rego"
	"github.com/schedlint/schedlint/rules"
)

// repository is the path of the repository root relative to this package.
const repository = "../../.."

// catalogue is the path of the generated catalogue. The tests of package rego check its examples.
const catalogue = "rules/README.md"

// manual lists the documents whose blocks the tests below run or parse. It does not include
// reference pages in package folders, but the tests check their links.
func manual(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(documents(t), func(name string) bool {
		return name == catalogue || strings.HasPrefix(name, "lint/")
	})
}

var (
	block = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
	fence = regexp.MustCompile("(?m)^\\s*(```|~~~)")
)

// documents returns the Markdown files in the repository, by path relative to its root. It
// searches for them, so a new page is covered as soon as it exists. It skips hidden directories,
// fixtures and testdata.
func documents(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(repository, path)
		if err != nil {
			return err
		}
		hidden := name != "." && strings.HasPrefix(d.Name(), ".")
		if d.IsDir() && (hidden || d.Name() == "testdata" || name == "fixtures") {
			return filepath.SkipDir
		}
		if !d.IsDir() && filepath.Ext(name) == ".md" {
			all = append(all, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func readDocument(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// shownBlock is a fenced block with the document that it is from.
type shownBlock struct{ document, text string }

// blocks returns the fenced blocks in some pages that have the given language.
func blocks(t *testing.T, pages []string, language string) []shownBlock {
	t.Helper()
	var all []shownBlock
	for _, name := range pages {
		for _, text := range blocksOf(readDocument(t, name), language) {
			all = append(all, shownBlock{name, text})
		}
	}
	if len(all) == 0 {
		t.Fatalf("no page of the manual has a %s block", language)
	}
	return all
}

func blocksOf(text, language string) []string {
	var all []string
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		if m[1] == language {
			all = append(all, m[2])
		}
	}
	return all
}

// TestDocumentsAreCovered checks that the tests below cover every page and every block: all pages
// exist, and every block has a language that a test checks.
func TestDocumentsAreCovered(t *testing.T) {
	all := append(manual(t), catalogue)
	for _, want := range []string{
		"README.md", "CONTRIBUTING.md", "CHANGELOG.md", catalogue,
		"docs/adopting.md", "docs/ci.md", "docs/configuration.md", "docs/getting-started.md", "docs/kustomize.md",
		"docs/limits.md", "docs/nodes.md", "docs/place.md", "docs/policies.md", "docs/rollouts-and-drains.md",
		"docs/facts.md", "docs/from-conftest.md", "docs/policies-cookbook.md", "docs/writing-policies.md",
	} {
		if !slices.Contains(all, want) {
			t.Errorf("%s is missing from %q", want, all)
		}
	}
	checked := []string{"console", "sh", "yaml", "rego", "mermaid"}
	for _, name := range all {
		text := readDocument(t, name)
		found := block.FindAllStringSubmatch(text, -1)
		if fences := len(fence.FindAllString(text, -1)); fences != 2*len(found) {
			t.Errorf("%s: %d fences for %d blocks: a block needs a language and no indent", name, fences, len(found))
		}
		for _, m := range found {
			if !slices.Contains(checked, m[1]) {
				t.Errorf("%s: no test checks %s blocks", name, m[1])
			}
		}
	}
}

// TestDrawnPackages checks that the packages in diagrams exist.
func TestDrawnPackages(t *testing.T) {
	drawn := 0
	for _, shown := range blocks(t, manual(t), "mermaid") {
		for _, label := range regexp.MustCompile(`\["[^"]*<br>(.*)"\]`).FindAllStringSubmatch(shown.text, -1) {
			for name := range strings.SplitSeq(label[1], ", ") {
				drawn++
				if files, err := filepath.Glob(filepath.Join(repository, name, "*.go")); err != nil || len(files) == 0 {
					t.Errorf("%s draws %s, which is no package", shown.document, name)
				}
			}
		}
		if strings.Count(shown.text, "<br>") != strings.Count(shown.text, "[\"") {
			t.Errorf("%s draws a box without a package", shown.document)
		}
	}
	if drawn == 0 {
		t.Error("no box names a package")
	}
}

// TestReadmeIsShort limits the length of the README, which is for newcomers. Details belong in
// docs.
func TestReadmeIsShort(t *testing.T) {
	lines := strings.Split(readDocument(t, "README.md"), "\n")
	if len(lines) > 201 {
		t.Errorf("README.md has %d lines, at most 200 are allowed", len(lines)-1)
	}
	if at := slices.Index(lines, "## Install"); at < 0 || at >= 40 {
		t.Errorf("README.md has ## Install at line %d, expected it within the first 40", at+1)
	}
}

// TestDocumentedOutput runs every command that a document shows with output, and compares the
// output. SCHEDLINT_UPDATE=1 rewrites it.
func TestDocumentedOutput(t *testing.T) {
	names := append(unfollowed(t), catalogue)
	t.Chdir(repository)
	ran := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		updated := string(text)
		for _, shown := range blocksOf(string(text), "console") {
			ran++
			got := actualOutput(t, shown)
			if got != shown && os.Getenv("SCHEDLINT_UPDATE") == "" {
				t.Errorf("%s shows\n%s\nexpected\n%s", name, shown, got)
			}
			updated = strings.Replace(updated, "```console\n"+shown, "```console\n"+got, 1)
		}
		if os.Getenv("SCHEDLINT_UPDATE") == "" || updated == string(text) {
			continue
		}
		if err := os.WriteFile(name, []byte(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if ran == 0 {
		t.Error("no page of the manual has a console block")
	}
}

// actualOutput returns a console block with the current output of its command.
func actualOutput(t *testing.T, shown string) string {
	t.Helper()
	command, _, _ := strings.Cut(shown, "\n")
	args, ok := strings.CutPrefix(command, "$ schedlint ")
	if !ok {
		t.Errorf("a console block starts with $ schedlint, found %q", command)
		return shown
	}
	var out bytes.Buffer
	Run(strings.Fields(args), strings.NewReader(""), &out, &out)
	return command + "\n" + out.String()
}

// TestDocumentedRules loads every rule in the documents.
func TestDocumentedRules(t *testing.T) {
	for _, shown := range blocks(t, unfollowed(t), "rego") {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "rule.rego"), []byte(shown.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := rego.Load(rego.Options{Rules: rules.FS, Dirs: []string{dir}}); err != nil {
			t.Errorf("%s: %v", shown.document, err)
		}
	}
}

// yamlChecks maps the beginnings of YAML blocks to the checks for such blocks.
func yamlChecks() []struct {
	prefix string
	check  func(t *testing.T, shown shownBlock)
} {
	return []struct {
		prefix string
		check  func(t *testing.T, shown shownBlock)
	}{
		{"# fixtures/", checkFixture},
		{"# .github/workflows/", checkWorkflow},
		{"# .pre-commit-config.yaml\n", checkHook},
		{"# .gitlab-ci.yml\n", checkPipeline},
		{"# accepted.yaml\n", checkAccepted},
		{"# " + config.Name + "\n", checkConfiguration},
		{"apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\n", checkTopology},
	}
}

// TestDocumentedFiles checks every file in the documents according to its kind.
func TestDocumentedFiles(t *testing.T) {
	shown := map[string]int{}
	for _, b := range blocks(t, unfollowed(t), "yaml") {
		known := false
		for _, row := range yamlChecks() {
			if strings.HasPrefix(b.text, row.prefix) {
				known = true
				shown[row.prefix]++
				row.check(t, b)
			}
		}
		if !known {
			t.Errorf("%s: no test checks the block\n%s", b.document, b.text)
		}
	}
	for _, row := range yamlChecks() {
		if shown[row.prefix] == 0 {
			t.Errorf("no page of the manual shows a block that begins with %q", row.prefix)
		}
	}
}

// checkFixture compares a block with the file in the repository that it names.
func checkFixture(t *testing.T, shown shownBlock) {
	t.Helper()
	first, text, _ := strings.Cut(shown.text, "\n")
	if file := readDocument(t, strings.TrimPrefix(first, "# ")); file != text {
		t.Errorf("%s shows\n%s\nexpected\n%s", shown.document, text, file)
	}
}

func checkTopology(t *testing.T, shown shownBlock) {
	t.Helper()
	text := shown.text
	if strings.Contains(text, "\nnodes:\n") { // another file declares these
		for _, name := range []string{"node-a", "node-b"} {
			text += "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {kubernetes.io/hostname: " + name + "}}\n"
		}
	}
	set, err := source.Load(source.Options{Dir: "/", Root: "/", Stdin: strings.NewReader(text)}, []string{"-"})
	if err != nil {
		t.Fatal(err)
	}
	if topo, err := topology.Load(set.Objects); err != nil || topo.Empty() {
		t.Errorf("%s: %v in\n%s", shown.document, err, shown.text)
	}
}

func checkConfiguration(t *testing.T, shown shownBlock) {
	t.Helper()
	path := filepath.Join(t.TempDir(), config.Name)
	if err := os.WriteFile(path, []byte(shown.text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(path); err != nil {
		t.Errorf("%s: %v", shown.document, err)
	}
}

// checkWorkflow checks that the action has every input that a workflow sets, if the workflow uses it.
func checkWorkflow(t *testing.T, shown shownBlock) {
	t.Helper()
	action := readDocument(t, "action.yml")
	_, with, uses := strings.Cut(shown.text, "uses: schedlint/schedlint@")
	inputs := regexp.MustCompile(`(?m)^        ([a-z-]+): `).FindAllStringSubmatch(with, -1)
	if uses && len(inputs) == 0 {
		t.Errorf("%s: no input in\n%s", shown.document, shown.text)
	}
	for _, m := range inputs {
		if !strings.Contains(action, "\n  "+m[1]+":\n") {
			t.Errorf("%s: the action has no input %s", shown.document, m[1])
		}
	}
}

// gitlabVariables returns the lines of a text that set a variable of the GitLab template, as the
// names of the variables and their values without quotes.
func gitlabVariables(text string) map[string]string {
	all := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^  (SCHEDLINT_\w+): "?(.*?)"?(    #.*)?$`).FindAllStringSubmatch(text, -1) {
		all[m[1]] = m[2]
	}
	return all
}

const gitlabTemplate = "docs/gitlab/schedlint.yml"

// checkPipeline checks that a pipeline includes the GitLab template and sets variables of it.
func checkPipeline(t *testing.T, shown shownBlock) {
	t.Helper()
	declared := gitlabVariables(readDocument(t, gitlabTemplate))
	if !strings.Contains(shown.text, "/schedlint/schedlint/main/"+gitlabTemplate+" ") {
		t.Errorf("%s: %s is not included", shown.document, gitlabTemplate)
	}
	for name := range gitlabVariables(shown.text) {
		if _, ok := declared[name]; !ok {
			t.Errorf("%s: the template has no variable %s", shown.document, name)
		}
	}
}

// TestDocumentedVariables checks that the CI page describes exactly the variables of the GitLab
// template, with their defaults.
func TestDocumentedVariables(t *testing.T) {
	declared, described := gitlabVariables(readDocument(t, gitlabTemplate)), map[string]string{}
	declared["SCHEDLINT_TOPOLOGY"] = "topology" // of the configuration, if empty
	_, section, _ := strings.Cut(readDocument(t, "docs/ci.md"), "\n## GitLab\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, m := range regexp.MustCompile("(?m)^\\| `(SCHEDLINT_\\w+)` \\|.*\\| `([^`]+)`[^|]*\\|$").FindAllStringSubmatch(section, -1) {
		described[m[1]] = m[2]
	}
	if !maps.Equal(declared, described) {
		t.Errorf("the template has %q, the page describes %q", declared, described)
	}
}

// checkHook checks a pre-commit configuration against the hooks of this repository.
func checkHook(t *testing.T, shown shownBlock) {
	t.Helper()
	hooks := readDocument(t, ".pre-commit-hooks.yaml")
	for _, m := range regexp.MustCompile(`- id: (\S+)`).FindAllStringSubmatch(shown.text, -1) {
		if !strings.Contains(hooks, "- id: "+m[1]+"\n") {
			t.Errorf("%s: there is no hook %s", shown.document, m[1])
		}
	}
}

// checkAccepted lints a manifest. Each of its suppressions must accept a finding.
func checkAccepted(t *testing.T, shown shownBlock) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "accepted.yaml")
	if err := os.WriteFile(path, []byte(shown.text), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	code := Run([]string{"lint", "-t", "../../../fixtures/demo/nodes.yaml", "--today", "2026-11-21", path}, strings.NewReader(""), &out, &out)
	if code != 0 || !strings.Contains(out.String(), "; no findings; 2 accepted\n") {
		t.Errorf("%s: exit status %d:\n%s", shown.document, code, &out)
	}
}

// TestDocumentedInputs checks that the CI page describes exactly the inputs and outputs of the
// action.
func TestDocumentedInputs(t *testing.T) {
	const page = "docs/ci.md"
	interfaces, _, _ := strings.Cut(readDocument(t, "action.yml"), "\nruns:\n")
	var declared, described []string
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z-]+):$`).FindAllStringSubmatch(interfaces, -1) {
		declared = append(declared, m[1])
	}
	_, section, _ := strings.Cut(readDocument(t, page), "\n## GitHub Action\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(section, -1) {
		described = append(described, m[1])
	}
	slices.Sort(declared)
	slices.Sort(described)
	if !slices.Equal(declared, described) {
		t.Errorf("the action has %q, %s describes %q", declared, page, described)
	}
}

var singleQuoted = regexp.MustCompile(`'[^']*'`)

// TestDocumentedCommands lists the documented commands that no test runs, and parses the arguments
// of schedlint in them.
func TestDocumentedCommands(t *testing.T) {
	var commands []string
	for _, shown := range blocks(t, manual(t), "sh") {
		for line := range strings.Lines(shown.text) {
			if line, _, _ = strings.Cut(strings.TrimSpace(line), "  #"); line != "" && line[0] != '#' {
				commands = append(commands, strings.TrimSpace(line))
			}
		}
	}
	golden := filepath.Join(repository, "fixtures", "report", "commands.golden")
	got := strings.Join(commands, "\n") + "\n"
	if os.Getenv("SCHEDLINT_UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || string(want) != got {
		t.Errorf("the documents say\n%s\nexpected\n%s(%v)", got, want, err)
	}
	for _, command := range commands {
		_, args, ok := strings.Cut(command, "schedlint ")
		if !ok {
			continue
		}
		root := newRoot(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
		args, _, _ = strings.Cut(singleQuoted.ReplaceAllString(args, "x"), " | ")
		cmd, rest, err := root.Find(strings.Fields(args))
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
}
