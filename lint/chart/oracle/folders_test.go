package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/cli/values"
	"helm.sh/helm/v3/pkg/downloader"
	"helm.sh/helm/v3/pkg/getter"
)

// TestRenderedCharts compares the output of schedlint render with that of helm dependency build,
// run in the dependencies first, and helm template. A chart that Helm refuses must be refused.
func TestRenderedCharts(t *testing.T) {
	program := filepath.Join(t.TempDir(), "schedlint")
	build := exec.Command("go", "build", "-o", program, "./cmd/schedlint")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, name := range cases {
		t.Run(filepath.Base(name), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var builds, sets []string // the first line has the charts in the order of their builds, then arguments for --set
			for _, word := range strings.Fields(string(a.Comment)) {
				if strings.Contains(word, "=") {
					sets = append(sets, word)
				} else {
					builds = append(builds, word)
				}
			}
			theirs, ours := t.TempDir(), t.TempDir()
			for _, dir := range []string{theirs, ours} {
				for _, f := range a.Files {
					write(filepath.Join(dir, filepath.FromSlash(f.Name)), f.Data)
				}
				write(filepath.Join(dir, ".git", "HEAD"), nil)
			}
			top := builds[len(builds)-1]
			want, wantErr := "", error(nil)
			for _, chart := range builds {
				if err := dependencies(filepath.Join(theirs, chart)); err != nil && wantErr == nil {
					wantErr = err
				}
			}
			if wantErr == nil {
				want, wantErr = helmTemplate(filepath.Join(theirs, top), sets)
			}
			args := []string{"render", top}
			for _, set := range sets {
				args = append(args, "--set", set)
			}
			var errs strings.Builder
			run := exec.Command(program, args...)
			run.Dir, run.Stderr = ours, &errs
			got, gotErr := run.Output()
			if (gotErr == nil) != (wantErr == nil) {
				t.Fatalf("schedlint: %v %s\nHelm: %v", gotErr, &errs, wantErr)
			}
			if string(got) != want {
				t.Errorf("schedlint render\n%s\nhelm template\n%s", got, want)
			}
			if fails := strings.HasPrefix(filepath.Base(name), "no-"); fails != (wantErr != nil) {
				t.Errorf("%v", wantErr)
			}
		})
	}
}

// dependencies does what helm dependency update does. None of the dependencies is in a repository.
func dependencies(dir string) error {
	m := &downloader.Manager{Out: io.Discard, ChartPath: dir, SkipUpdate: true, Getters: getter.All(cli.New()), RepositoryConfig: filepath.Join(dir, "none.yaml"), RepositoryCache: dir}
	if err := m.Update(); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(dir, "Chart.lock"))
}

// helmTemplate prints what helm template does (helm: cmd/helm/template.go).
func helmTemplate(dir string, sets []string) (string, error) {
	vals, err := (&values.Options{Values: sets}).MergeValues(nil)
	if err != nil {
		return "", err
	}
	c, err := loader.LoadDir(dir)
	if err != nil {
		return "", err
	}
	if err := check(c); err != nil {
		return "", err
	}
	install := action.NewInstall(&action.Configuration{Log: func(string, ...any) {}})
	install.DryRun, install.ClientOnly, install.Replace = true, true, true
	install.ReleaseName, install.Namespace = "release-name", "default"
	install.KubeVersion = &chartutil.KubeVersion{Version: "v1.36.0", Major: "1", Minor: "36"}
	rel, err := install.Run(c, vals)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintln(&b, strings.TrimSpace(rel.Manifest))
	for _, h := range rel.Hooks {
		fmt.Fprintf(&b, "---\n# Source: %s\n%s\n", h.Path, h.Manifest)
	}
	return b.String(), nil
}

// TestFoldersAreCompared checks that the cases above hold what their names say.
func TestFoldersAreCompared(t *testing.T) {
	cases, _ := filepath.Glob("testdata/*.txtar")
	for _, part := range []string{"alias:", "condition:", "tags:", "import-values:", "file://../", "requirements.yaml", ".helmignore", "helm.sh/hook"} {
		if !slices.ContainsFunc(cases, func(name string) bool {
			text, err := os.ReadFile(name)
			return err == nil && strings.Contains(string(text), part)
		}) {
			t.Errorf("no case has %s", part)
		}
	}
}
