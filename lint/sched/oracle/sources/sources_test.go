// Package sources_test holds the sources that SEMANTICS.md cites against the
// modules that the oracle runs, so that an update of Kubernetes which moves a
// file shows here.
package sources_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The prefixes of paths that are not relative to kubernetes/kubernetes: an alias,
// and modules of their own.
const (
	plugins    = "plugins/"
	pluginsDir = "pkg/scheduler/framework/plugins/"
)

var modules = []string{"api", "apimachinery", "component-helpers", "kube-scheduler"}

var (
	row  = regexp.MustCompile(`^\| (R-[A-Z][0-9]+) \|`)
	path = regexp.MustCompile("`([^`]+\\.go)`")
)

// semantics reads the document, which is found from the root of the repository.
func semantics(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if data, err := os.ReadFile(filepath.Join(dir, "lint/sched/SEMANTICS.md")); err == nil {
			return string(data)
		}
	}
	t.Fatal("no SEMANTICS.md in the directories above")
	return ""
}

// directory is where a module of Kubernetes lies.
func directory(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/"+module).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestSources looks up every cited file of Kubernetes. Other projects, which are
// named before a colon, are no dependency of the oracle.
func TestSources(t *testing.T) {
	kubernetes := directory(t, "kubernetes")
	dirs := map[string]string{plugins: filepath.Join(kubernetes, pluginsDir)}
	for _, m := range modules {
		dirs[m+"/"] = directory(t, m)
	}
	found := 0
	for line := range strings.Lines(semantics(t)) {
		id := row.FindStringSubmatch(line)
		if id == nil {
			continue
		}
		source := strings.Split(strings.ReplaceAll(line, `\|`, ""), "|")[4]
		if strings.Contains(source, ": `") {
			continue
		}
		for _, p := range path.FindAllStringSubmatch(source, -1) {
			file := filepath.Join(kubernetes, p[1])
			for prefix, dir := range dirs {
				if rest, ok := strings.CutPrefix(p[1], prefix); ok {
					file = filepath.Join(dir, rest)
				}
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: Kubernetes has no %s", id[1], p[1])
			}
			found++
		}
	}
	if found < 50 {
		t.Errorf("only %d sources are cited: has the form of the table changed?", found)
	}
}
