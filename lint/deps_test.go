package lint_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers is the import graph. A package may import only packages in lower layers and, outside the
// standard library, only the packages listed after it. The graph is text, so that a change of the
// structure is visible in review.
const layers = `
17 cmd/schedlint
16 cmd/schedlint/cli   github.com/spf13/cobra github.com/spf13/pflag
15 cmd/schedlint/change
14 cmd/schedlint/inputs
15 cmd/schedlint/vendor github.com/Masterminds/semver/v3
14 cmd/schedlint/policy
13 lint
11 lint/sizing     k8s.io/api k8s.io/apimachinery
12 lint/upgrade    k8s.io/api k8s.io/apimachinery
10 fixtures/models
14 fixtures/linttest
17 fixtures/scripts github.com/rogpeppe/go-internal
11 rego            github.com/open-policy-agent/opa
10 lint/locate
10 lint/facts/derive k8s.io/api k8s.io/apimachinery
9 lint/message    k8s.io/api k8s.io/apimachinery
1 lint/facts
3 lint/facts/listing
8 lint/sched
8 lint/sched/disruption k8s.io/api k8s.io/apimachinery
8 lint/sched/simulate k8s.io/api
7 lint/sched/search k8s.io/api
7 lint/sched/check k8s.io/api k8s.io/apimachinery
6 lint/sched/bound k8s.io/api k8s.io/apimachinery
5 lint/sched/certificate k8s.io/api k8s.io/component-helpers k8s.io/klog/v2
5 lint/sched/classes k8s.io/api
4 lint/neighbours
4 lint/sched/model k8s.io/api k8s.io/apimachinery k8s.io/component-helpers k8s.io/klog/v2
2 lint/kinds
3 lint/workload   k8s.io/api k8s.io/apimachinery k8s.io/component-helpers
3 lint/topology   k8s.io/api k8s.io/apimachinery k8s.io/component-helpers
3 lint/origin
3 lint/contexts
3 lint/kustomize
4 lint/roots
4 lint/condense k8s.io/api k8s.io/apimachinery k8s.io/component-helpers sigs.k8s.io/yaml
4 lint/gitops
4 lint/fragments
4 lint/config     github.com/bmatcuk/doublestar/v4
3 lint/pointers   github.com/bmatcuk/doublestar/v4
1 lint/source     sigs.k8s.io/kustomize
3 lint/render/engine sigs.k8s.io/kustomize
1 lint/chart      helm.sh/helm/v3/pkg/chart helm.sh/helm/v3/pkg/ignore helm.sh/helm/v3/pkg/strvals github.com/Masterminds/semver/v3 github.com/Masterminds/sprig/v3 github.com/BurntSushi/toml github.com/gobwas/glob github.com/santhosh-tekuri/jsonschema/v6 sigs.k8s.io/kustomize sigs.k8s.io/yaml
0 lint/chart/chartutil helm.sh/helm/v3/pkg/chart github.com/Masterminds/semver/v3 k8s.io/apimachinery sigs.k8s.io/yaml
1 lint/revision
1 lint/accept
1 lint/expect
1 lint/vendored
3 lint/thirdparty
1 lint/versions
1 lint/size
2 lint/report     github.com/owenrumney/go-sarif/v3
1 lint/report/page
0 lint/chart/template
0 lint/archive
0 lint/cpu
0 lint/diag
0 lint/lazy
0 lint/lists
0 lint/sorting
0 lint/limits
0 lint/meter
0 lint/storage
1 lint/render
0 lint/worktree
0 rules
0 fixtures
0 fixtures/trials
0 fixtures/recorded github.com/rogpeppe/go-internal
0 fixtures/clusters sigs.k8s.io/kustomize
0 fixtures/charts github.com/rogpeppe/go-internal
0 fixtures/mutate sigs.k8s.io/kustomize
`

// seams lists packages in lint/sched that only some other packages there may import. The checker
// shares nothing with the search that it confirms, except the parsed model and the certificate
// types.
const seams = `
lint/sched/certificate lint/sched/model
lint/sched/classes     lint/sched/model
lint/sched/bound       lint/sched/model lint/sched/classes
lint/sched/check       lint/sched/model lint/sched/certificate
lint/sched/search      lint/sched/model lint/sched/certificate lint/sched/bound lint/sched/classes
lint/sched/simulate    lint/sched/model lint/sched/certificate lint/sched/search
`

const module = "github.com/schedlint/schedlint/"

type layer struct {
	level   int
	outside []string
}

func parseLayers(t *testing.T) map[string]layer {
	graph := map[string]layer{}
	for line := range strings.Lines(strings.TrimSpace(layers)) {
		fields := strings.Fields(line)
		level, err := strconv.Atoi(fields[0])
		if err != nil {
			t.Fatal(err)
		}
		graph[fields[1]] = layer{level, fields[2:]}
	}
	return graph
}

// TestImportsOnlyDownwards checks the imports of the code against the graph.
func TestImportsOnlyDownwards(t *testing.T) {
	graph := parseLayers(t)
	seen := map[string]bool{}
	for _, name := range productFiles(t) {
		dir := filepath.ToSlash(filepath.Dir(name))
		seen[dir] = true
		if _, ok := graph[dir]; !ok {
			t.Errorf("%s: package %s is not in the graph", name, dir)
			continue
		}
		for _, imported := range imports(t, filepath.Join("..", name)) {
			if why := forbidden(graph, dir, imported); why != "" {
				t.Errorf("%s: %s", name, why)
			}
		}
	}
	for dir := range graph {
		if !seen[dir] {
			t.Errorf("package %s is in the graph and not in the tree", dir)
		}
	}
}

// productFiles lists the Go files of the repository from its root, without tests and oracles.
func productFiles(t *testing.T) (all []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel("..", path)
		name = filepath.ToSlash(name)
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata" || strings.HasSuffix(name, "/oracle")) {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			all = append(all, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func imports(t *testing.T, path string) []string {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, imported)
	}
	return all
}

// forbidden returns why a package must not import another one, or "".
func forbidden(graph map[string]layer, dir, imported string) string {
	at := graph[dir]
	if inside, ok := strings.CutPrefix(imported, module); ok {
		to, known := graph[inside]
		if !known || to.level >= at.level {
			return fmt.Sprintf("%s (layer %d) must not import %s (layer %d)", dir, at.level, inside, to.level)
		}
		for line := range strings.Lines(strings.TrimSpace(seams)) {
			if f := strings.Fields(line); f[0] == dir && strings.HasPrefix(inside, "lint/sched/") && !slices.Contains(f[1:], inside) {
				return fmt.Sprintf("%s may import of lint/sched only %s, not %s", dir, strings.Join(f[1:], ", "), inside)
			}
		}
		return ""
	}
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") {
		return "" // the standard library
	}
	if !slices.ContainsFunc(at.outside, func(p string) bool { return imported == p || strings.HasPrefix(imported, p+"/") }) {
		return fmt.Sprintf("%s must not import %s", dir, imported)
	}
	return ""
}

// TestSeams checks that neither side of a certificate can import the other.
func TestSeams(t *testing.T) {
	graph := parseLayers(t)
	for pair, allowed := range map[[2]string]bool{
		{"lint/sched/check", "lint/sched/search"}:       false,
		{"lint/sched/check", "lint/sched/bound"}:        false,
		{"lint/sched/search", "lint/sched/check"}:       false,
		{"lint/sched/certificate", "lint/sched/search"}: false,
		{"lint/sched/check", "lint/sched/certificate"}:  true,
		{"lint/sched/search", "lint/sched/bound"}:       true,
		{"lint/sched", "lint/sched/check"}:              true,
	} {
		if why := forbidden(graph, pair[0], module+pair[1]); (why == "") != allowed {
			t.Errorf("%s imports %s: %q", pair[0], pair[1], why)
		}
	}
}

// explainers lists the files outside the checker that may import it. They only explain results, or register
// the checker. Code that builds a run or a proof must not use the checker's filters: a mistake in one of
// them would then go unnoticed.
var explainers = []string{
	"lint/facts/derive/explain.go", "lint/facts/derive/joint.go", "lint/facts/derive/picture.go", "lint/message/exclusion.go", "lint/message/explain.go",
	"lint/sched/disruption/scene.go", "lint/sched/sched.go",
}

func TestExplainers(t *testing.T) {
	var found []string
	for _, file := range productFiles(t) {
		if slices.Contains(imports(t, filepath.Join("..", file)), module+"lint/sched/check") {
			found = append(found, file)
		}
	}
	if slices.Sort(found); !slices.Equal(found, explainers) {
		t.Errorf("the checker is imported by %v", found)
	}
}

// TestNoClient rejects imports of the Kubernetes client and of the Helm package that imports it.
// The client has types and tables for every API. They would make up a quarter of the binary and
// most of the work before main.
func TestNoClient(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../cmd/schedlint", "./chart").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(out))
	if !slices.Contains(all, "helm.sh/helm/v3/pkg/chart/loader") {
		t.Error("the list has no packages of Helm: it does not show what the binary links")
	}
	for _, imported := range all {
		if strings.HasPrefix(imported, "k8s.io/client-go") || imported == "helm.sh/helm/v3/pkg/chartutil" {
			t.Errorf("%s is linked: use lint/chart/chartutil in place of Helm's, and find its importer with go mod why", imported)
		}
	}
}

// programs lists the files that may start programs: git, the user's helm, workers of this program, and
// tests. connections lists the files that may import a package that makes connections: only the
// one that closes them.
var (
	programs    = []string{"lint/revision/git.go", "cmd/schedlint/vendor/helm.go", "lint/render/pool.go", "cmd/schedlint/inputs/found.go", "fixtures/trials/git.go", "fixtures/scripts/scripts.go", "fixtures/scripts/worker.go"}
	connections = []string{"lint/render/engine/confined.go"}
)

// TestNoConnections checks that this program makes no connection itself, and that few files start
// others.
func TestNoConnections(t *testing.T) {
	unused := map[string]bool{}
	for _, file := range slices.Concat(programs, connections) {
		unused[file] = true
	}
	for _, file := range productFiles(t) {
		for _, imported := range imports(t, filepath.Join("..", file)) {
			var allowed []string
			switch {
			case imported == "os/exec":
				allowed = programs
			case imported == "net" || strings.HasPrefix(imported, "net/") && imported != "net/url" && imported != "net/netip":
				allowed = connections
			default:
				continue
			}
			if delete(unused, file); !slices.Contains(allowed, file) {
				t.Errorf("%s must not import %s", file, imported)
			}
		}
	}
	for file := range unused {
		t.Errorf("%s is listed and needs not be", file)
	}
}

// TestPathsOut checks that only package worktree decides whether a path leads out of a directory.
// Other checks easily get names like "..env" and "../x" wrong.
func TestPathsOut(t *testing.T) {
	for _, file := range productFiles(t) {
		if strings.HasPrefix(file, "lint/worktree/") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && (text == ".." || strings.HasPrefix(text, "../")) {
					t.Errorf("%s looks for %s: use worktree.Inside, Below or Local", file, n.Value)
				}
			case *ast.SelectorExpr:
				if n.Sel.Name == "IsLocal" {
					t.Errorf("%s uses IsLocal: use worktree.Local", file)
				}
			}
			return true
		})
	}
}

// readers lists the files outside of lint/worktree that may open, stat or walk a path, each with the reason
// why the user vouches for the path, or why what is there cannot lead the program astray.
const readers = `
cmd/schedlint/change/from.go         the root and the working directory
cmd/schedlint/change/since.go        the root and the working directory; names of rule files, which the loader reads
cmd/schedlint/change/taken.go        the root
cmd/schedlint/cli/explain.go         an argument
cmd/schedlint/cli/flags.go           the working directory
cmd/schedlint/cli/lint.go            an argument, and the working directory
cmd/schedlint/cli/render.go          an argument
cmd/schedlint/cli/root.go            an argument
cmd/schedlint/inputs/charts.go       resolves a path before it is compared with the root
cmd/schedlint/inputs/choose.go       an argument; resolves a path before it is compared with the root
cmd/schedlint/inputs/found.go        whether a name is taken
cmd/schedlint/policy/import.go       an argument
cmd/schedlint/policy/load.go         a flag
cmd/schedlint/policy/rules.go        a flag, and the files in a folder that it names
cmd/schedlint/policy/vendor.go       an argument, and the files in a folder that it names
cmd/schedlint/vendor/git.go          a clone in a temporary directory
cmd/schedlint/vendor/helm.go         a temporary directory
cmd/schedlint/vendor/run.go          the folder of copies, confined
lint/config/config.go                whether a configuration exists; the loader checks it
lint/config/helm.go                  names in a directory; what is read is checked
lint/config/load.go                  the configuration itself, and whether a name is a directory
lint/config/policies.go              whether a folder exists; names of rule files, which are checked
lint/fix.go                          whether a path has links
lint/nodes.go                        whether a node file that the user names is a directory
lint/origin/content.go               names in a directory of the tree; what is read is checked
lint/render/engine/build.go          the root, confined
lint/render/engine/confined.go       resolves a path that the confined root has opened
lint/revision/tree.go                a temporary directory; resolves a path before it is compared with the root
lint/roots/dependencies.go           the root, confined
lint/size_write.go                   a node file that the user asks to write
lint/source/result.go                a file that the walk found to be regular, or that the user names
lint/source/walk.go                  the walk itself: it follows no link out of the tree and opens no device
lint/suppress.go                     the root, confined
lint/thirdparty/library.go           the folder of copies, confined
lint/units.go                        whether an argument is a directory
lint/vendored/check.go               a folder of rules, confined
lint/vendored/source.go              an argument
lint/vendored/write.go               a folder of rules, confined
rego/rule.go                         a folder of rules, confined
`

// TestReadersAreListed checks which files of the program use the file system by themselves.
func TestReadersAreListed(t *testing.T) {
	want := map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(readers)) {
		name, why, _ := strings.Cut(line, " ")
		if want[name] = true; strings.TrimSpace(why) == "" {
			t.Errorf("%s has no reason", name)
		}
	}
	reads := map[string][]string{
		"os":       {"DirFS", "Lstat", "Open", "OpenInRoot", "OpenRoot", "ReadDir", "ReadFile", "Readlink", "Stat"},
		"filepath": {"EvalSymlinks", "Glob", "Walk", "WalkDir"},
	}
	for _, name := range productFiles(t) {
		if strings.HasPrefix(name, "lint/worktree/") || strings.HasPrefix(name, "fixtures/") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		ast.Inspect(parsed, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if of, ok := s.X.(*ast.Ident); ok && slices.Contains(reads[of.Name], s.Sel.Name) {
					found = of.Name + "." + s.Sel.Name
				}
			}
			return true
		})
		switch {
		case found != "" && !want[name]:
			t.Errorf("%s calls %s: read with lint/worktree, or say why the path is the user's", name, found)
		case found == "" && want[name]:
			t.Errorf("%s reads nothing any more", name)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s is gone", name)
	}
}
