package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestNoGit checks that the command fails if git is not installed, instead of guessing.
func TestNoGit(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PATH", "")
	var out, errs bytes.Buffer
	if code := run([]string{"lint", "--git-tracked"}, strings.NewReader(""), &out, &errs); code != exitUsage || out.Len() > 0 || !strings.Contains(errs.String(), `"git": executable file not found`) {
		t.Errorf("exit status %d, %s%s", code, &out, &errs)
	}
}
