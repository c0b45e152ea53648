package lint_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/fixtures"
	"github.com/schedlint/schedlint/lint/report"
)

// told are rules of every kind whose findings have more than one line.
var told = []string{
	"anti-affinity-exceeds-domains", "crowded-out", "drain-blocked", "no-eligible-node", "order-dependent-placement", "request-exceeds-nodes",
	"rollout-deadlock", "selector-misses-own-pods", "spread-exceeds-skew", "suppression-expired", "unknown-topology-key", "vm-cannot-migrate",
}

// pointers matches what an example has in place of the comments of tests.
var pointers = regexp.MustCompile(` *# <- .*`)

// TestTold checks the text output of findings without color. The first line has the message and the
// location, because tools read it too. All other lines have at most 80 columns, except for the
// user's own text and words without a space.
func TestTold(t *testing.T) {
	for _, rule := range told {
		t.Run(rule, func(t *testing.T) {
			dir := t.TempDir()
			example := pointers.ReplaceAllString(fixtures.Example(rule), "")
			nodes, topology := []byte(nil), []string(nil)
			if text, err := os.ReadFile(filepath.Join("..", "fixtures", rule, "nodes.yaml")); err == nil {
				nodes, topology = text, []string{"nodes.yaml"}
			}
			for name, text := range map[string]string{"example.yaml": example, "nodes.yaml": string(nodes)} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			found, err := run(t, dir, topology, "example.yaml")
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := report.Write(&out, "text", found, report.Options{}); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("..", "fixtures", "report", "told", rule+".golden"), out.String())
			for line := range strings.Lines(out.String()) {
				if heading := strings.HasPrefix(line, "example.yaml:"); !heading && !strings.Contains(line, " | ") && len([]rune(line)) > 81 {
					t.Errorf("%d columns: %s", len([]rune(line))-1, line)
				}
			}
		})
	}
}

// TestToldAreAllThereIs finds golden files that no longer belong to a rule.
func TestToldAreAllThereIs(t *testing.T) {
	files, err := filepath.Glob("../fixtures/report/told/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !slices.Contains(told, strings.TrimSuffix(filepath.Base(f), ".golden")) {
			t.Errorf("%s is nobody's", f)
		}
	}
}

// golden compares text with a file, or rewrites the file on request.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("SCHEDLINT_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (SCHEDLINT_UPDATE=1 rewrites it):\n%s", path, diff)
	}
}
