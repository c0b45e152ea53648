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

// blocks are the fenced blocks of the README in a language.
func blocks(t *testing.T, language string) []string {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range block.FindAllSubmatch(text, -1) {
		if string(m[1]) == language {
			all = append(all, string(m[2]))
		}
	}
	if len(all) == 0 {
		t.Fatalf("no %s block in the README", language)
	}
	return all
}

// TestReadmeOutput runs what the README shows and compares what it prints.
func TestReadmeOutput(t *testing.T) {
	for _, shown := range blocks(t, "console") {
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
			t.Errorf("the README shows\n%s\nand it is\n%s", shown, want)
			continue
		}
		text, err := os.ReadFile(readme)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.Replace(text, []byte("```console\n"+shown), []byte("```console\n"+want), 1)
		if err := os.WriteFile(readme, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadmeRule loads the rule that the README shows.
func TestReadmeRule(t *testing.T) {
	for _, text := range blocks(t, "rego") {
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
	for _, text := range blocks(t, "yaml") {
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

// TestReadmeFiles reads the topology and the configuration that the README shows.
func TestReadmeFiles(t *testing.T) {
	for _, text := range blocks(t, "yaml") {
		if _, _, shown := ofFile(text); shown {
			continue
		}
		if !strings.Contains(text, "kind: NodeTopology") {
			path := filepath.Join(t.TempDir(), config.Name)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := config.Load(path); err != nil {
				t.Error(err)
			}
			continue
		}
		set, err := source.Load(source.Options{Dir: "/", Root: "/", Stdin: strings.NewReader(text)}, []string{"-"})
		if err != nil {
			t.Fatal(err)
		}
		if topo, err := topology.Load(set.Objects); err != nil || topo.Empty() {
			t.Errorf("%v in\n%s", err, text)
		}
	}
}
