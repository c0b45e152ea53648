package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inGit makes a repository with files, tracks some and makes it the working
// directory. No configuration of the machine or its user counts.
func inGit(t *testing.T, files map[string]string, track ...string) string {
	dir := t.TempDir()
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("HOME", dir)
	t.Chdir(dir)
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	git(t, "init", "-q")
	if len(track) > 0 {
		git(t, append([]string{"add", "--"}, track...)...)
	}
	return dir
}

func git(t *testing.T, args ...string) {
	t.Helper()
	args = append([]string{"-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "protocol.file.allow=always"}, args...)
	if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// TestHostileGitConfig lists the files of trees whose configuration names
// programs to run; none of them runs.
func TestHostileGitConfig(t *testing.T) {
	dir := inGit(t, map[string]string{"a.yaml": "a: 1\n", ".gitattributes": "* filter=evil\n", "evil": "#!/bin/sh\ntouch " + "ran\n", ".git-template/x": ""}, "a.yaml")
	evil := filepath.Join(dir, "evil")
	for _, key := range []string{"core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "alias.ls-files", "credential.helper"} {
		value := evil
		if key == "alias.ls-files" {
			value = "!" + evil
		}
		git(t, "config", key, value)
	}
	git(t, "config", "core.hooksPath", dir)
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman"} {
		if err := os.Link(evil, hook); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(".git/index")
	if err != nil {
		t.Fatal(err)
	}
	names, err := gitFiles(dir)
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

// TestSubmodules counts the files of a submodule, which belong to the tree.
func TestSubmodules(t *testing.T) {
	other := inGit(t, map[string]string{"nodes.yaml": "a: 1\n"}, "nodes.yaml")
	git(t, "commit", "-q", "-m", "nodes")
	dir := inGit(t, map[string]string{"sub/a.yaml": "a: 1\n"}, "sub/a.yaml")
	git(t, "submodule", "--quiet", "add", other, "clusters")
	names, err := gitFiles(filepath.Join(dir, "sub"))
	slices.Sort(names)
	if err != nil || !slices.Equal(names, []string{"../.gitmodules", "../clusters/nodes.yaml", "a.yaml"}) {
		t.Errorf("tracked are %q, %v", names, err)
	}
}

// TestNoGit refuses to guess where git is not installed.
func TestNoGit(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PATH", "")
	var out, errs bytes.Buffer
	if code := run([]string{"lint", "--git-tracked"}, strings.NewReader(""), &out, &errs); code != exitUsage || out.Len() > 0 || !strings.Contains(errs.String(), `"git": executable file not found`) {
		t.Errorf("exit status %d, %s%s", code, &out, &errs)
	}
}
