package revision

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// TestHostileGitConfig lists the files of work trees whose configuration names programs, and
// checks that none of the programs runs.
func TestHostileGitConfig(t *testing.T) {
	dir := trials.InGit(t, map[string]string{"a.yaml": "a: 1\n", ".gitattributes": "* filter=evil\n", "evil": "#!/bin/sh\ntouch " + "ran\n", ".git-template/x": ""}, "a.yaml")
	evil := filepath.Join(dir, "evil")
	for _, key := range []string{"core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "alias.ls-files", "credential.helper"} {
		value := evil
		if key == "alias.ls-files" {
			value = "!" + evil
		}
		trials.Git(t, "config", key, value)
	}
	trials.Git(t, "config", "core.hooksPath", dir)
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman"} {
		if err := os.Link(evil, hook); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(".git/index")
	if err != nil {
		t.Fatal(err)
	}
	names, err := Files(dir)
	if err != nil || !slices.Equal(names, []string{"a.yaml"}) {
		t.Errorf("tracked are %q, %v", names, err)
	}
	if _, err := os.Stat("ran"); err == nil {
		t.Error("a program of the tree has been run")
	}
	if after, err := os.ReadFile(".git/index"); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the index has changed: %v", err)
	}
}

// TestSubmodules checks that the files of a submodule are part of the tree.
func TestSubmodules(t *testing.T) {
	other := trials.InGit(t, map[string]string{"nodes.yaml": "a: 1\n"}, "nodes.yaml")
	trials.Git(t, "commit", "-q", "-m", "nodes")
	dir := trials.InGit(t, map[string]string{"sub/a.yaml": "a: 1\n"}, "sub/a.yaml")
	trials.Git(t, "submodule", "--quiet", "add", other, "clusters")
	names, err := Files(filepath.Join(dir, "sub"))
	slices.Sort(names)
	if err != nil || !slices.Equal(names, []string{"../.gitmodules", "../clusters/nodes.yaml", "a.yaml"}) {
		t.Errorf("tracked are %q, %v", names, err)
	}
}
