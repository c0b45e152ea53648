package gitops

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/thirdparty"
)

const copies = `
-- f/repositories.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: web}
spec: {url: "https://h/o/fleet"}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: apps, namespace: web}
spec: {url: "ssh://git@h/o/apps.git", ref: {tag: v1, branch: main}, ignore: "/plain/left.yaml"}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: any, namespace: web}
spec: {url: "https://h/o/any"}
-- third_party/git/h/o/apps@01/base/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {size: "${SIZE}"}
-- third_party/git/h/o/apps@01/over/kustomization.yaml --
resources: [../base/c.yaml]
-- third_party/git/h/o/apps@01/plain/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
-- third_party/git/h/o/apps@01/plain/left.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: left}
-- third_party/git/h/o/apps@01/out/kustomization.yaml --
resources: [../../../../../../f/repositories.yaml]
-- third_party/git/h/o/apps@01/env/prod.yaml --
zone: far
-- third_party/git/h/o/apps@01/more/pointer.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: inner
  namespace: web
spec: {path: plain, sourceRef: {kind: GitRepository, name: apps}}
-- third_party/git/h/o/apps@01/charts/shop/Chart.yaml --
apiVersion: v2
name: shop
version: 1.2.0
-- third_party/git/h/o/apps@01/charts/shop/templates/a.yaml --
zone: {{ .Values.zone }}
-- third_party/charts/shop/Chart.yaml --
apiVersion: v2
name: shop
version: 1.2.0
-- third_party/charts/shop/templates/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: shop}
zone: {{ .Values.zone }}
-- third_party/git/h/o/any@02/x/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
-- third_party/git/h/o/changed@03/x/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
`

// TestCopies follows pointers whose directory or chart is a copy from another repository.
func TestCopies(t *testing.T) {
	const apps = "  sourceRef: {kind: GitRepository, name: apps}\n"
	argo := func(url, path, revision string) string {
		return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: a\nspec:\n  destination: {name: c}\n  source: {repoURL: " + url + ", path: " + path + ", targetRevision: " + revision + "}\n"
	}
	flux := func(path string, more ...string) string {
		return pointer("a\n  namespace: web", path, append([]string{apps}, more...)...)
	}
	for name, c := range map[string]struct {
		pointer string
		want    []string
	}{
		"a kustomization":     {flux("over"), []string{"f/a.yaml:4 a -> third_party/git/h/o/apps@01/over by f/a.yaml"}},
		"no kustomization":    {flux("./plain"), []string{"f/a.yaml:4 a -> third_party/git/h/o/apps@01/plain by f/a.yaml"}},
		"the whole":           {flux("./", "  suspend: true\n"), []string{"f/a.yaml:4 a suspended"}},
		"a pointer in it":     {flux("more"), []string{"f/a.yaml:4 a -> third_party/git/h/o/apps@01/more by f/a.yaml", "third_party/git/h/o/apps@01/more/pointer.yaml:4 inner -> third_party/git/h/o/apps@01/plain by f/a.yaml third_party/git/h/o/apps@01/more/pointer.yaml"}},
		"out of the copies":   {flux("out"), []string{"f/a.yaml:4 a third_party/git/h/o/apps@01/out/kustomization.yaml:1: resources entry ../../../../../../f/repositories.yaml: f/repositories.yaml is outside third_party, and copies from there cannot read files of this repository"}},
		"not copied":          {flux("other"), []string{"f/a.yaml:4 a path that does not exist: other in third_party/git/h/o/apps@01: run schedlint vendor"}},
		"up":                  {flux("../any@02/x"), []string{"f/a.yaml:4 a path outside of the repository: ../any@02/x"}},
		"of Argo CD":          {argo("git@h:o/apps", "over", "v1"), []string{"f/a.yaml:4 a -> third_party/git/h/o/apps@01/over by f/a.yaml"}},
		"of another revision": {argo("https://h/o/apps", "over", "v2"), []string{"f/a.yaml:4 a another repository: https://h/o/apps: run schedlint vendor"}},
		"of any revision":     {argo("https://h/o/any.git", "x", "v2"), []string{"f/a.yaml:4 a -> third_party/git/h/o/any@02/x by f/a.yaml"}},
		"changed":             {argo("https://h/o/changed", "x", "HEAD"), []string{"f/a.yaml:4 a another repository: third_party/git/h/o/changed@03 differs from the lock, run schedlint vendor"}},
		"missing":             {argo("https://h/o/missing", "x", "HEAD"), []string{"f/a.yaml:4 a another repository: third_party/git/h/o/missing@04 is missing, run schedlint vendor"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := told(copyIn(t, "-- f/a.yaml --\n"+c.pointer)); !slices.Equal(got, c.want) {
				t.Errorf("%q\nwant\n%q", got, c.want)
			}
		})
	}
	t.Run("ignored", func(t *testing.T) {
		r := copyIn(t, "-- f/a.yaml --\n"+flux("plain"))
		if o := r.Deployments[0].Root.Overlay; !slices.Equal(o.Resources, []string{"c.yaml"}) || r.Deployments[0].Root.Within != "third_party" {
			t.Errorf("%+v", o)
		}
		if len(r.Fixed) > 0 {
			t.Errorf("a revision of another repository is fixed: %q", r.Fixed)
		}
	})
	t.Run("what the copy is", func(t *testing.T) {
		const rendered = "name: shop}\nzone:"
		for _, c := range []struct{ url, chart, revision, want string }{
			{"oci://h/charts", "shop", "latest", rendered}, // a tag, for which the lock vouches
			{"oci://h/charts", "shop", "other", "third_party/charts/shop/Chart.yaml:1: the release asks for version \"other\", which is neither a version nor a range"},
			{"oci://h/charts", "shop", "2.0.0", "third_party/charts/shop/Chart.yaml:3: chart shop is 1.2.0 here, the release asks for 2.0.0"},
			{"oci://h/mirror", "web", "1.2.0", rendered}, // the path in a registry need not be the name
			{"https://h/charts", "shop", "1.x", rendered},
			{"https://h/charts", "shop", "2.x", "third_party/charts/shop/Chart.yaml:3: chart shop is 1.2.0 here, the release asks for 2.x"},
			{"https://h/charts", "web", "1.2.0", "third_party/charts/shop/Chart.yaml:2: chart shop is here, the release asks for web"},
		} {
			source := "    chart: " + c.chart + "\n    targetRevision: " + c.revision + "\n"
			if got := outcome(copyIn(t, "-- f/a.yaml --\n"+strings.Replace(application(source), "https://h/o/fleet", c.url, 1))); !strings.Contains(got, c.want) {
				t.Errorf("%s/%s@%s: %s", c.url, c.chart, c.revision, got)
			}
		}
		for tag, want := range map[string]string{"20240131": "name: shop", "v1.2.0": "name: shop", "2.0.0": "asks for 2.0.0"} {
			source := "-- f/a.yaml --\n" + helmRelease("  chartRef: {kind: OCIRepository, name: tagged}\n") + "-- f/o.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: tagged, namespace: web}\nspec: {url: oci://h/charts/shop, ref: {tag: '" + tag + "'}}\n"
			if got := outcome(copyIn(t, source)); !strings.Contains(got, want) {
				t.Errorf("%s: %s", tag, got)
			}
		}
	})
	t.Run("a chart", func(t *testing.T) {
		spec := "  chart: {spec: {chart: ./charts/shop, valuesFiles: [env/prod.yaml], sourceRef: {kind: GitRepository, name: apps}}}\n"
		if got := outcome(copyIn(t, "-- f/a.yaml --\n"+helmRelease(spec))); got != "zone: far third_party/git/h/o/apps@01/env/prod.yaml:1:7" {
			t.Error(got)
		}
	})
}

// copied follows the pointers of an archive beside copies and their lock.
func copyIn(t *testing.T, archive string) *Result {
	t.Helper()
	o := optionsFor(t, archive+copies)
	o.Known, o.Pointers, o.Roots = []string{"https://h/o/fleet"}, o.Pointers[:1], nil // copies are not searched
	folder, err := os.OpenRoot(filepath.Join(o.Confinement, thirdparty.Dir))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	entries := []thirdparty.Entry{
		{Name: "https://h/o/changed@HEAD", Path: "git/h/o/changed@03"}, {Name: "https://h/o/missing@HEAD", Path: "git/h/o/missing@04"},
		{Name: "ssh://git@h/o/apps.git@v1", Path: "git/h/o/apps@01"}, {Name: "https://h/o/any", Path: "git/h/o/any@02"},
	}
	for _, name := range []string{
		"oci://h/charts/shop@latest", "oci://h/charts/shop", "oci://h/charts/shop@2.0.0", "oci://h/charts/shop@20240131", "oci://h/charts/shop@v1.2.0",
		"oci://h/mirror/web@1.2.0", "https://h/charts/shop@1.x", "https://h/charts/shop@2.x", "https://h/charts/web@1.2.0",
	} {
		entries = append(entries, thirdparty.Entry{Name: name, Path: "charts/shop"})
	}
	for i, e := range entries[2:] {
		if entries[i+2].SHA256, err = thirdparty.Digest(folder.FS(), e.Path); err != nil {
			t.Fatal(err)
		}
	}
	o.Library = &thirdparty.Library{Lock: thirdparty.New(entries), Root: o.Confinement, Folder: thirdparty.Dir}
	o.Remotes = o.Library.Remotes(nil)
	return Follow(o)
}
