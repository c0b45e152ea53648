package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/rego"
	"github.com/schedlint/schedlint/rules"
)

const readme = "../../README.md"

var block = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// blocks are the fenced blocks of a file in a language.
func blocks(t *testing.T, path, language string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range block.FindAllSubmatch(text, -1) {
		if string(m[1]) == language {
			all = append(all, string(m[2]))
		}
	}
	return all
}

// inReadme are those of the README, of which there are some.
func inReadme(t *testing.T, language string) []string {
	all := blocks(t, readme, language)
	if len(all) == 0 {
		t.Fatalf("no %s block in the README", language)
	}
	return all
}

// TestReadmeOutput runs what the README, the catalogue and the other documents
// show, and compares what it prints.
func TestReadmeOutput(t *testing.T) {
	inReadme(t, "console")
	for _, path := range []string{readme, "../../rules/README.md", "../../CONTRIBUTING.md", "../../CHANGELOG.md"} {
		shownIn(t, path)
	}
}

func shownIn(t *testing.T, path string) {
	for _, shown := range blocks(t, path, "console") {
		command, _, _ := strings.Cut(shown, "\n")
		args := strings.Fields(strings.TrimPrefix(command, "$ schedlint "))
		var out bytes.Buffer
		t.Chdir("../..")
		run(args, strings.NewReader(""), &out, &out)
		t.Chdir("cmd/schedlint")
		want := command + "\n" + out.String()
		if want == shown {
			continue
		}
		if os.Getenv("SCHEDLINT_UPDATE") == "" {
			t.Errorf("%s shows\n%s\nand it is\n%s", path, shown, want)
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.Replace(text, []byte("```console\n"+shown), []byte("```console\n"+want), 1)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadmeRule loads the rule that the README shows.
func TestReadmeRule(t *testing.T) {
	for _, text := range inReadme(t, "rego") {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "rule.rego"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := rego.Load(rego.Options{Rules: rules.FS, Dirs: []string{dir}}); err != nil {
			t.Error(err)
		}
	}
}

// TestReadmeInput compares what the README shows of files, whose names stand
// before them in a comment, with the files.
func TestReadmeInput(t *testing.T) {
	shown := 0
	for _, text := range inReadme(t, "yaml") {
		path, text, ok := ofFile(text)
		if !ok {
			continue
		}
		shown++
		if file, err := os.ReadFile(filepath.Join("../..", path)); err != nil || string(file) != text {
			t.Errorf("the README shows %s (%v) as\n%s\nand it is\n%s", path, err, text, file)
		}
	}
	if shown == 0 {
		t.Error("no file in the README")
	}
}

// ofFile splits a block that shows a file of the repository.
func ofFile(text string) (path, rest string, ok bool) {
	first, rest, _ := strings.Cut(text, "\n")
	path, ok = strings.CutPrefix(first, "# fixtures/")
	return "fixtures/" + path, rest, ok
}

// TestReadmeFiles reads every file that the README shows and that is no file of
// the repository, each as what its name or its kind says.
func TestReadmeFiles(t *testing.T) {
	shown := map[string]int{}
	for _, text := range inReadme(t, "yaml") {
		first, _, _ := strings.Cut(text, "\n")
		switch {
		case strings.HasPrefix(first, "# fixtures/"):
			continue
		case first == "# .github/workflows/schedlint.yml":
			shown["workflow"]++
			workflow(t, text)
		case first == "# .pre-commit-config.yaml":
			shown["hook"]++
			hook(t, text)
		case first == "# accepted.yaml":
			shown["manifest"]++
			accepted(t, text)
		case strings.Contains(text, "kind: NodeTopology"):
			shown["topology"]++
			set := objectsOf(t, text)
			if topo, err := topology.Load(set.Objects); err != nil || topo.Empty() {
				t.Errorf("%v in\n%s", err, text)
			}
		default:
			shown["configuration"]++
			path := filepath.Join(t.TempDir(), config.Name)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := config.Load(path); err != nil {
				t.Error(err)
			}
		}
	}
	if len(shown) != 5 {
		t.Errorf("shown are %v", shown)
	}
}

func objectsOf(t *testing.T, text string) *source.Set {
	t.Helper()
	set, err := source.Load(source.Options{Dir: "/", Root: "/", Stdin: strings.NewReader(text)}, []string{"-"})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// workflow holds a workflow against the action: every input that it gives is one.
func workflow(t *testing.T, text string) {
	t.Helper()
	action, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, with, _ := strings.Cut(text, "uses: schedlint/schedlint@")
	inputs := regexp.MustCompile(`(?m)^        ([a-z-]+): `).FindAllStringSubmatch(with, -1)
	if len(inputs) == 0 {
		t.Errorf("no input in\n%s", text)
	}
	for _, m := range inputs {
		if !bytes.Contains(action, []byte("\n  "+m[1]+":\n")) {
			t.Errorf("the action has no input %s", m[1])
		}
	}
}

// hook holds a configuration of pre-commit against the hooks that there are.
func hook(t *testing.T, text string) {
	t.Helper()
	hooks, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`- id: (\S+)`).FindAllStringSubmatch(text, -1) {
		if !bytes.Contains(hooks, []byte("- id: "+m[1]+"\n")) {
			t.Errorf("there is no hook %s", m[1])
		}
	}
}

// accepted lints a manifest that has a finding for each of its suppressions.
func accepted(t *testing.T, text string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "accepted.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	code := run([]string{"lint", "-t", "../../fixtures/demo/nodes.yaml", "--today", "2026-11-21", path}, strings.NewReader(""), &out, &out)
	if code != 0 || !strings.Contains(out.String(), "; no findings; 2 accepted\n") {
		t.Errorf("exit status %d:\n%s", code, &out)
	}
}

// TestReadmeCommands lists what the README tells people to type and no test runs,
// and parses what is for schedlint.
func TestReadmeCommands(t *testing.T) {
	var commands []string
	for _, text := range inReadme(t, "sh") {
		for line := range strings.Lines(text) {
			if line, _, _ = strings.Cut(strings.TrimSpace(line), "  #"); line != "" && line[0] != '#' {
				commands = append(commands, strings.TrimSpace(line))
			}
		}
	}
	golden := filepath.Join("..", "..", "fixtures", "report", "commands.golden")
	got := strings.Join(commands, "\n") + "\n"
	if os.Getenv("SCHEDLINT_UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || string(want) != got {
		t.Errorf("the README says\n%s\nand this is known:\n%s(%v)", got, want, err)
	}
	for _, command := range commands {
		_, args, ok := strings.Cut(command, "schedlint ")
		if !ok || strings.HasPrefix(command, "go ") {
			continue
		}
		root := newRoot(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
		cmd, rest, err := root.Find(strings.Fields(strings.ReplaceAll(args, "'there before us'", "x")))
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
}
