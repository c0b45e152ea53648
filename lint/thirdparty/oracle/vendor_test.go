package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
)

// tools holds the programs under test, built once.
var tools string

func TestMain(m *testing.M) {
	code := func() int {
		var err error
		if tools, err = os.MkdirTemp("", "vendor-oracle-"); err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(tools)
		for _, build := range [][2]string{{".", "helm.sh/helm/v3/cmd/helm"}, {"../../..", "./cmd/schedlint"}} {
			cmd := exec.Command("go", "build", "-o", tools+string(filepath.Separator), build[1])
			cmd.Dir, cmd.Env = build[0], append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				log.Fatalf("building %s: %v\n%s", build[1], err, out)
			}
		}
		return m.Run()
	}()
	os.Exit(code)
}

// TestVersion checks that helm has the version that the main module renders with.
func TestVersion(t *testing.T) {
	line := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(strings.TrimPrefix(line, "require")); len(fields) > 1 && fields[0] == "helm.sh/helm/v3" {
				return fields[1]
			}
		}
		return ""
	}
	if ours, theirs := line("go.mod"), line("../../../go.mod"); ours != theirs || ours == "" {
		t.Errorf("helm %s here, %s in the main module", ours, theirs)
	}
}

// bench is a repository that takes charts and directories from servers on this machine.
type bench struct {
	t             *testing.T
	tree          string
	http, oci     string // addresses without a scheme
	private, gits string
	charts        string   // directory of the chart repository
	asked         []string // paths that the chart repositories were asked for
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, tree: t.TempDir(), gits: t.TempDir()}
	home := t.TempDir()
	for _, name := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME", "HOME", "TMPDIR"} {
		t.Setenv(name, filepath.Join(home, name))
		if err := os.MkdirAll(filepath.Join(home, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "gitconfig"))
	t.Setenv("PATH", tools+string(filepath.ListSeparator)+os.Getenv("PATH"))
	b.write(home, map[string]string{"gitconfig": "[user]\n\tname = a\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n"})

	b.charts = t.TempDir()
	charts := b.charts
	serve := func(handler http.Handler) string {
		s := httptest.NewServer(handler)
		t.Cleanup(s.Close)
		return strings.TrimPrefix(s.URL, "http://")
	}
	files := http.FileServer(http.Dir(charts))
	b.http = serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.asked = append(b.asked, r.URL.Path)
		files.ServeHTTP(w, r)
	}))
	b.private = serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		files.ServeHTTP(w, r)
	}))
	b.oci = serve(registry.New(registry.Logger(log.New(io.Discard, "", 0))))

	source := t.TempDir()
	for _, chart := range []string{"web-1.0.0", "web-1.1.0", "cache-2.0.0", "store-3.0.0", "redis-4.0.0", "private-5.0.0", "shop-1.0.0"} {
		name, version, _ := strings.Cut(chart, "-")
		b.write(source, chartFiles(chart+"/", name, version))
		b.run(source, "helm", "package", chart, "-d", charts)
	}
	b.run(charts, "helm", "repo", "index", ".")
	for _, chart := range []string{"cache-2.0.0", "store-3.0.0"} {
		b.run(charts, "helm", "push", chart+".tgz", "oci://"+b.oci+"/charts", "--plain-http")
	}
	inGit := chartFiles("charts/git-chart/", "git-chart", "0.1.0")
	inGit["charts/git-chart/Chart.yaml"] += "dependencies:\n- {name: cache, version: 2.0.0, repository: \"http://" + b.http + "\"}\n"
	b.repository("charts", inGit)
	b.repository("bases", map[string]string{
		"base/kustomization.yaml":   "resources: [../common, deployment.yaml]\n",
		"base/deployment.yaml":      deployment("remote-base"),
		"common/kustomization.yaml": "commonLabels: {team: a}\n",
		"unrelated/x.yaml":          "a: 1\n",
	})
	b.repository("apps", map[string]string{"deploy/app.yaml": deployment("elsewhere"), "deploy/kustomization.yaml": "resources: [app.yaml]\n"})
	return b
}

func (b *bench) write(dir string, files map[string]string) {
	b.t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
}

// run runs a program that has to succeed.
func (b *bench) run(dir, name string, args ...string) string {
	b.t.Helper()
	out, code := b.try(dir, name, args...)
	if code != 0 {
		b.t.Fatalf("%s %q: exit status %d\n%s", name, args, code, out)
	}
	return out
}

// try returns the output and the exit status.
func (b *bench) try(dir, name string, args ...string) (string, int) {
	b.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		b.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// repository creates a bare git repository with one commit and the tag v1.0.0.
func (b *bench) repository(name string, files map[string]string) {
	b.t.Helper()
	work := b.t.TempDir()
	b.write(work, files)
	b.write(work, map[string]string{"LICENSE": "MIT\n"})
	b.run(work, "git", "init", "-q")
	b.run(work, "git", "add", ".")
	b.run(work, "git", "commit", "-q", "-m", "x")
	b.run(work, "git", "tag", "v1.0.0")
	b.run(work, "git", "clone", "-q", "--bare", work, filepath.Join(b.gits, name+".git"))
}

func (b *bench) git(name string) string {
	return "file://" + filepath.ToSlash(filepath.Join(b.gits, name+".git"))
}

// vendor runs the command in the tree.
func (b *bench) vendor(want int, args ...string) string {
	b.t.Helper()
	out, code := b.try(b.tree, "schedlint", append([]string{"vendor", "--allow-local"}, args...)...)
	if code != want {
		b.t.Fatalf("vendor %q: exit status %d, want %d\n%s", args, code, want, out)
	}
	return out
}

// folder returns the files of the folder with their contents.
func (b *bench) folder() map[string]string {
	b.t.Helper()
	all := map[string]string{}
	dir := filepath.Join(b.tree, "third_party")
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

func deployment(name string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + "}\nspec:\n  selector: {matchLabels: {app: " + name + "}}\n  template:\n" +
		"    metadata: {labels: {app: " + name + "}}\n    spec:\n      containers: [{name: a, image: b}]\n"
}

// chartFiles returns a chart whose value zone becomes a node selector.
func chartFiles(dir, name, version string) map[string]string {
	return map[string]string{
		dir + "Chart.yaml":                "apiVersion: v2\nname: " + name + "\nversion: " + version + "\n",
		dir + "values.yaml":               "zone: zone-a\n",
		dir + "templates/deployment.yaml": strings.Replace(deployment(name), "      containers", "      nodeSelector:\n        topology.kubernetes.io/zone: {{ .Values.zone }}\n      containers", 1),
	}
}

// files fills the tree with one pointer of every kind. Each sets a zone that no node has.
func (b *bench) files() {
	flux := func(group, kind, name, spec string) string {
		return "apiVersion: " + group + ".toolkit.fluxcd.io/v1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: flux}\nspec:\n" + spec + "---\n"
	}
	release := func(name, chart string) string {
		return flux("helm", "HelmRelease", name, chart+"  values:\n    zone: zone-x\n")
	}
	chart := func(name, version, kind, from string) string {
		return "  chart: {spec: {chart: " + name + ", version: \"" + version + "\", sourceRef: {kind: " + kind + ", name: " + from + "}}}\n"
	}
	b.write(b.tree, map[string]string{
		"nodes.yaml":                    "apiVersion: v1\nkind: Node\nmetadata: {name: node-a, labels: {topology.kubernetes.io/zone: zone-a, kubernetes.io/hostname: node-a}}\nstatus: {allocatable: {cpu: 8, memory: 16Gi, pods: 110}}\n",
		"clusters/web.yaml":             flux("source", "HelmRepository", "http", "  url: http://"+b.http+"\n") + release("web", chart("web", ">=1.0 <2", "HelmRepository", "http")),
		"clusters/cache.yaml":           flux("source", "HelmRepository", "oci", "  type: oci\n  insecure: true\n  url: oci://"+b.oci+"/charts\n") + release("cache", chart("cache", "2.x", "HelmRepository", "oci")),
		"clusters/store.yaml":           flux("source", "OCIRepository", "store", "  insecure: true\n  url: oci://"+b.oci+"/charts/store\n  ref: {tag: 3.0.0}\n") + release("store", "  chartRef: {kind: OCIRepository, name: store}\n"),
		"clusters/git.yaml":             flux("source", "GitRepository", "charts", "  url: "+b.git("charts")+"\n  ref: {semver: 1.x}\n") + release("git-chart", chart("charts/git-chart", "", "GitRepository", "charts")),
		"umbrella/Chart.yaml":           "apiVersion: v2\nname: umbrella\nversion: 0.1.0\ndependencies:\n- {name: redis, version: ^4, repository: \"http://" + b.http + "\"}\n",
		"umbrella/values.yaml":          "redis:\n  zone: zone-x\n",
		"kustomized/kustomization.yaml": "resources:\n- " + b.git("bases") + "//base?ref=v1.0.0\npatches:\n- patch: |\n    kind: Deployment\n    apiVersion: apps/v1\n    metadata: {name: remote-base}\n    spec:\n      template:\n        spec:\n          nodeSelector:\n            topology.kubernetes.io/zone: zone-x\n",
		"argo/app.yaml":                 "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: app}\nspec:\n  destination: {namespace: apps}\n  source:\n    repoURL: " + b.git("apps") + "\n    path: deploy\n    targetRevision: main\n    kustomize:\n      patches:\n      - patch: |\n          kind: Deployment\n          apiVersion: apps/v1\n          metadata: {name: elsewhere}\n          spec:\n            template:\n              spec:\n                nodeSelector:\n                  topology.kubernetes.io/zone: zone-x\n",
	})
	b.run(b.tree, "git", "init", "-q")
	b.run(b.tree, "git", "remote", "add", "origin", "https://git.example.com/org/fleet")
}

// TestVendor vendors a tree with every kind of source.
func TestVendor(t *testing.T) {
	b := newBench(t)
	b.files()
	out := b.vendor(0)
	first := b.folder()
	var lock struct {
		Entries []struct{ Name, Path, Resolved string }
	}
	if err := json.Unmarshal([]byte(first["schedlint.charts.lock.json"]), &lock); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range lock.Entries {
		for _, known := range [][2]string{{b.http, "HTTP"}, {b.oci, "OCI"}, {filepath.ToSlash(b.gits), "/GITS"}} {
			e.Name = strings.ReplaceAll(e.Name, known[0], known[1])
		}
		if strings.HasPrefix(e.Path, "charts/") {
			e.Name += " " + e.Path
		} else if len(e.Resolved) != 40 || !strings.Contains(e.Path, "@"+e.Resolved[:12]) {
			t.Errorf("%+v", e)
		}
		got = append(got, e.Name)
	}
	want := []string{
		"file:///GITS/apps.git@main",
		"file:///GITS/bases.git//base?ref=v1.0.0",
		"file:///GITS/charts.git@1.x",
		"http://HTTP/cache@2.0.0 charts/cache-2.0.0.tgz",
		"http://HTTP/redis@^4 charts/redis-4.0.0.tgz",
		"http://HTTP/web@>=1.0 <2 charts/web-1.1.0.tgz",
		"oci://OCI/charts/cache@2.x charts/cache-2.0.0.tgz",
		"oci://OCI/charts/store@3.0.0 charts/store-3.0.0.tgz",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), out)
	}
	licenses := 0
	for name := range first {
		if strings.HasSuffix(name, "/LICENSE") {
			licenses++
		}
		if strings.Contains(name, "unrelated") {
			t.Errorf("%s is copied", name)
		}
	}
	if licenses != 3 {
		t.Errorf("%d licenses, want 3", licenses)
	}

	t.Run("again", func(t *testing.T) {
		b.asked = nil
		b.vendor(0)
		b.vendor(0, "--check")
		if after := b.folder(); !equal(first, after) || len(b.asked) > 0 {
			t.Errorf("a second run changes the folder, or asks for %q", b.asked)
		}
	})
	t.Run("changed", func(t *testing.T) {
		for name, text := range first {
			if strings.HasSuffix(name, ".json") {
				continue
			}
			changed := []byte(text)
			changed[len(changed)/2] ^= 1
			b.write(filepath.Join(b.tree, "third_party"), map[string]string{name: string(changed)})
			if out := b.vendor(1, "--check"); !strings.Contains(out, "missing or differs from the lock") {
				t.Errorf("%s: %s", name, out)
			}
			b.vendor(0)
			if !equal(first, b.folder()) {
				t.Errorf("%s is not restored", name)
			}
		}
	})
	t.Run("fresh", func(t *testing.T) {
		if err := os.RemoveAll(filepath.Join(b.tree, "third_party")); err != nil {
			t.Fatal(err)
		}
		if b.vendor(0); !equal(first, b.folder()) {
			t.Error("two runs differ")
		}
	})
	t.Run("lint", func(t *testing.T) {
		out, code := b.try(b.tree, "schedlint", "lint", "--topology", "nodes.yaml", ".")
		for _, name := range []string{"clusters/web.yaml", "clusters/cache.yaml", "clusters/store.yaml", "clusters/git.yaml", "umbrella/values.yaml", "kustomized/kustomization.yaml", "argo/app.yaml"} {
			text, err := os.ReadFile(filepath.Join(b.tree, name))
			if err != nil {
				t.Fatal(err)
			}
			before, _, _ := bytes.Cut(text, []byte("zone-x"))
			if place := fmt.Sprintf("%s:%d:", name, bytes.Count(before, []byte("\n"))+1); !strings.Contains(out, "\n"+place) && !strings.HasPrefix(out, place) {
				t.Errorf("no finding at %s", place)
			}
		}
		if code != 1 || t.Failed() {
			t.Errorf("exit status %d\n%s", code, out)
		}
	})
}

func equal(a, b map[string]string) bool {
	x, _ := json.Marshal(a) // strings
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// TestLogins checks that the user's logins serve, and that a failure names a missing one and leaves
// the rest to go on.
func TestLogins(t *testing.T) {
	b := newBench(t)
	b.write(b.tree, map[string]string{
		"a/Chart.yaml": "apiVersion: v2\nname: a\nversion: 0.1.0\ndependencies:\n- {name: private, version: 5.0.0, repository: \"http://" + b.private + "\"}\n- {name: web, version: 1.0.0, repository: \"http://" + b.http + "\"}\n",
	})
	b.run(b.tree, "git", "init", "-q")
	out := b.vendor(1)
	if !strings.Contains(out, "401 Unauthorized; if a login is missing: helm repo add NAME http://"+b.private) || !strings.Contains(out, "web-1.0.0.tgz: ") {
		t.Error(out)
	}
	b.run(b.tree, "helm", "repo", "add", "mine", "http://"+b.private+"/", "--username", "me", "--password", "secret")
	b.vendor(0)
	if all := b.folder(); all["charts/private-5.0.0.tgz"] == "" || all["charts/web-1.0.0.tgz"] == "" || strings.Contains(all["schedlint.charts.lock.json"], "secret") {
		t.Errorf("%q", all["schedlint.charts.lock.json"])
	}
}

// TestHostileIndex checks that what a repository says about its charts leads to nothing but an error.
func TestHostileIndex(t *testing.T) {
	b := newBench(t)
	index := func(name, url string) string {
		return "apiVersion: v1\nentries:\n  web:\n  - {apiVersion: v2, name: \"" + name + "\", version: 1.0.0, urls: [\"" + url + "\"]}\n"
	}
	cases := map[string]string{
		"file":     index("web", "file:///etc/passwd"),
		"plugin":   index("web", "ext::sh -c id"),
		"up":       index("web", "../../../../etc/passwd"),
		"escaped":  index("web", "..%2f..%2f..%2fevil.tgz"),
		"option":   index("web", "--output=/tmp/evil"),
		"other":    index("web", "http://"+b.http+"/cache-2.0.0.tgz"),
		"text":     index("web", "http://"+b.http+"/index.yaml"),
		"name":     index("../../web", "http://"+b.http+"/web-1.0.0.tgz"),
		"empty":    "",
		"no-yaml":  "{",
		"aliases":  "a: &a [x]\nb: &b [*a, *a]\nentries: *b\n",
		"versions": strings.Replace(index("web", "x"), "1.0.0", "\"../../1\"", 1),
	}
	files := map[string]string{}
	chart := "apiVersion: v2\nname: a\nversion: 0.1.0\ndependencies:\n"
	for name, text := range cases {
		files[name+"/index.yaml"] = text
		chart += "- {name: web, version: 1.0.0, repository: \"http://" + b.http + "/" + name + "\"}\n"
	}
	b.write(b.charts, files)
	b.write(b.tree, map[string]string{"a/Chart.yaml": chart})
	b.run(b.tree, "git", "init", "-q")
	out := b.vendor(1)
	if n := strings.Count(out, "schedlint: a/Chart.yaml:"); n != len(cases) {
		t.Errorf("%d of %d are refused\n%s", n, len(cases), out)
	}
	if _, err := os.Stat(filepath.Join(b.tree, "third_party")); err == nil {
		t.Errorf("%q", b.folder())
	}
	if left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "schedlint-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
