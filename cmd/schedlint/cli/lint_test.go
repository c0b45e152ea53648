package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoGit checks that the command fails if git is not installed, instead of guessing.
func TestNoGit(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PATH", "")
	var out, errs bytes.Buffer
	if code := Run([]string{"lint", "--git-tracked"}, strings.NewReader(""), &out, &errs); code != exitUsage || out.Len() > 0 || !strings.Contains(errs.String(), `"git": executable file not found`) {
		t.Errorf("exit status %d, %s%s", code, &out, &errs)
	}
}

// TestSizeOfSARIF checks that two findings do not carry the full text of all rules.
func TestSizeOfSARIF(t *testing.T) {
	demo := filepath.Join("..", "..", "..", "fixtures", "demo")
	var out, errs bytes.Buffer
	code := Run([]string{"lint", "-t", filepath.Join(demo, "nodes.yaml"), "--format", "sarif", filepath.Join(demo, "manifests", "web.yaml")}, strings.NewReader(""), &out, &errs)
	if findings := strings.Count(out.String(), `"ruleIndex"`); code != exitFindings || findings != 2 || out.Len() > 52_000 {
		t.Errorf("exit status %d, %d findings, %d bytes, want at most 52000: %s", code, findings, out.Len(), &errs)
	}
}
