package roots

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/source"
)

// tree writes the files of an archive. A file whose content begins with -> becomes a symbolic link.
func tree(t testing.TB, archive string) (root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := string(f.Data)
		if to, link := strings.CutPrefix(text, "->"); link {
			err = os.Symlink(strings.TrimSpace(to), path)
		} else {
			err = os.WriteFile(path, f.Data, 0o644)
		}
		if err != nil {
			t.Skip(err)
		}
	}
	return root
}

func isNode(o *source.Object) bool {
	return o.Kind == "Node" && o.APIVersion == "v1" || o.Kind == "NodeTopology"
}

// summary lists everything that was found, one item per line.
func summary(f *Found) string {
	var b strings.Builder
	is := map[*Kustomization]bool{}
	for _, k := range f.Roots {
		is[k] = true
	}
	for _, k := range f.Kustomizations {
		what := map[bool]string{true: "component", false: "inner"}[k.Component]
		if is[k] {
			what = "root"
		}
		if !k.Below {
			what += " beside"
		}
		fmt.Fprintf(&b, "%s %s", what, k.File)
		for _, r := range k.Blocked {
			fmt.Fprintf(&b, "; %s: %s at %s:%d", r.Kind, r.Detail, r.File, r.Line)
		}
		b.WriteByte('\n')
	}
	for _, c := range f.Charts {
		fmt.Fprintf(&b, "chart %s %s library %v subchart %v %v\n", c.Dir, c.Name, c.Library, c.Subchart, c.Values)
	}
	for _, p := range f.Pointers {
		fmt.Fprintf(&b, "%s %s %s:%d\n", p.Kind, p.Name, p.File, p.Line)
	}
	for _, name := range f.Topologies {
		fmt.Fprintf(&b, "topology %s\n", name)
	}
	for _, u := range f.Unread {
		fmt.Fprintf(&b, "unread %s %s\n", u.Name, u.Why)
	}
	return b.String()
}

// TestFind compares the results for several trees with the expected ones.
func TestFind(t *testing.T) {
	for name, test := range map[string]struct {
		paths      []string
		tree, want string
		options    Options
	}{
		"overlays of a base": {tree: `
-- base/kustomization.yaml --
resources: [web.yaml]
-- base/web.yaml --
-- prod/kustomization.yml --
resources: [../base]
components: [../ha]
-- stage/Kustomization --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
bases: [../base/]
-- ha/kustomization.yaml --
kind: Component
-- unused/kustomization.yaml --
kind: Component
resources: [../only]
-- only/kustomization.yaml --
namespace: a
`, want: `
inner base/kustomization.yaml
component ha/kustomization.yaml
root only/kustomization.yaml
root prod/kustomization.yml
root stage/Kustomization
component unused/kustomization.yaml
`},
		"what is in the way": {tree: `
-- a/kustomization.yaml --
resources:
- ../b
- https://example.com/x.yaml
patches:
- path: gone.yaml
- patch: |
    - {op: remove, path: /spec/replicas}
-- b/kustomization.yaml --
resources: [../../out, "github.com/org/repo//deploy?ref=v1"]
helmCharts:
- name: redis
-- c/kustomization.yaml --
resources: [/etc/passwd, ../d, ../e, x.yaml]
components: [x.yaml]
patchesStrategicMerge: ["spec: {replicas: 1}", "sub"]
configMapGenerator:
- files: [app.conf, key=k.conf]
  envs: [none.env]
-- c/x.yaml --
-- c/app.conf --
-- c/k.conf --
-- c/sub/y.txt --
-- d/readme.txt --
-- e/kustomization.yaml --
a: [
-- f/kustomization.yaml --
kind: Deployment
-- g/kustomization.yaml --
namespace: a
---
namespace: b
-- h/kustomization.yaml --
-- h/Kustomization --
namespace: b
`, want: `
root a/kustomization.yaml; missing: gone.yaml at a/kustomization.yaml:5; outside of the repository: ../../out at b/kustomization.yaml:1; remote: https://example.com/x.yaml at a/kustomization.yaml:3; Helm chart: redis at b/kustomization.yaml:3
inner b/kustomization.yaml; outside of the repository: ../../out at b/kustomization.yaml:1; remote: github.com/org/repo//deploy?ref=v1 at b/kustomization.yaml:1; Helm chart: redis at b/kustomization.yaml:3
root c/kustomization.yaml; unusable: components names a file, expected a directory: x.yaml at c/kustomization.yaml:2; missing: a kustomization in ../d at c/kustomization.yaml:1; outside of the repository: /etc/passwd at c/kustomization.yaml:1
inner e/kustomization.yaml; unusable: has no YAML that can be read at e/kustomization.yaml:1
root f/kustomization.yaml; unusable: has another kind than Kustomization or Component at f/kustomization.yaml:1
root g/kustomization.yaml; unusable: has more than one document at g/kustomization.yaml:3
root h/kustomization.yaml; unusable: has no YAML that can be read at h/kustomization.yaml:1
`},
		"vendored": {options: Options{Remotes: map[string]string{"https://example.com/a//b?ref=v1": "third/a", "https://example.com/c": "third/c", "plain": "third/a"}}, tree: `
-- a/kustomization.yaml --
resources: ["https://example.com/a//b?ref=v1", "https://example.com/c", "https://example.com/a//b?ref=v2", plain]
-- third/a/kustomization.yaml --
namespace: x
`, want: `
root a/kustomization.yaml; missing: https://example.com/c at a/kustomization.yaml:1; remote: https://example.com/a//b?ref=v2 at a/kustomization.yaml:1
inner third/a/kustomization.yaml
`},
		"two in one directory": {tree: `
-- a/Kustomization --
resources: [../b]
-- a/kustomization.yaml --
namespace: x
-- b/kustomization.yml --
namespace: y
`, want: `
root a/kustomization.yaml; unusable: two kustomizations in one directory, kustomization.yaml and Kustomization: keep one at a/Kustomization:1
root b/kustomization.yml
`},
		"cycles": {tree: `
-- a/kustomization.yaml --
resources: [../b]
-- b/kustomization.yaml --
resources: [../a, ../c]
-- c/kustomization.yaml --
namespace: x
-- d/kustomization.yaml --
resources: [.]
-- e/kustomization.yaml --
resources: [../f]
-- f/kustomization.yaml --
resources: [../g]
-- g/kustomization.yaml --
resources: [../f]
-- v/kustomization.yaml --
kind: Component
resources: [../w]
-- w/kustomization.yaml --
components: [../v]
`, want: `
root a/kustomization.yaml; unusable: refers to itself, by b at a/kustomization.yaml:1
inner b/kustomization.yaml; unusable: refers to itself, by b at a/kustomization.yaml:1
inner c/kustomization.yaml
root d/kustomization.yaml; unusable: refers to itself, by d at d/kustomization.yaml:1
root e/kustomization.yaml; unusable: refers to itself, by g at f/kustomization.yaml:1
inner f/kustomization.yaml; unusable: refers to itself, by g at f/kustomization.yaml:1
inner g/kustomization.yaml; unusable: refers to itself, by g at f/kustomization.yaml:1
component v/kustomization.yaml; unusable: refers to itself, by w at v/kustomization.yaml:2
root w/kustomization.yaml; unusable: refers to itself, by w at v/kustomization.yaml:2
`},
		"a part of the tree": {paths: []string{"prod", "base/deep"}, tree: `
-- base/kustomization.yaml --
resources: [deep, "https://example.com/y"]
-- base/deep/kustomization.yaml --
namespace: x
-- prod/kustomization.yaml --
resources: [../base]
-- stage/kustomization.yaml --
resources: [../base]
`, want: `
inner beside base/kustomization.yaml; remote: https://example.com/y at base/kustomization.yaml:1
inner base/deep/kustomization.yaml
root prod/kustomization.yaml; remote: https://example.com/y at base/kustomization.yaml:1
`},
		"charts": {tree: `
-- shop/Chart.yaml --
name: shop
-- shop/values.yaml --
-- shop/prod-values.yaml --
-- shop/env/dev.yaml --
replicas: 1
-- shop/env/pod.yaml --
apiVersion: v1
kind: Pod
-- shop/env/secret.yaml --
sops: {version: "1"}
-- shop/env/list.yaml --
- a
-- shop/values/a.yaml --
# nothing yet
-- shop/values/broken.yaml --
a: [
-- shop/values.schema.yaml --
-- shop/ci/one-values.yaml --
-- shop/ci/other.yaml --
-- values-prod.yaml --
-- shop/templates/app.yaml --
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: from-a-template}
-- shop/charts/redis/Chart.yaml --
name: redis
-- shop/charts/redis/charts/common/Chart.yaml --
name: common
type: library
-- charts/api/Chart.yaml --
name: api
-- none/Chart.yaml --
kind: Chart
name: x
`, want: `
chart charts/api api library false subchart false []
chart shop shop library false subchart false [shop/ci/one-values.yaml shop/env/dev.yaml shop/prod-values.yaml shop/values/a.yaml shop/values/broken.yaml]
chart shop/charts/redis redis library false subchart true []
chart shop/charts/redis/charts/common common library true subchart true []
`},
		"charts of a chart": {paths: []string{"shop/charts"}, tree: `
-- shop/Chart.yaml --
name: shop
-- shop/charts/redis/Chart.yaml --
name: redis
`, want: `
chart shop/charts/redis redis library false subchart true []
`},
		"values near the only chart": {tree: `
-- app/charts/shop/Chart.yaml --
name: shop
-- app/charts/shop/values.yaml --
replicas: 1
image: {tag: a}
-- app/charts/shop/charts/common/Chart.yaml --
name: common
-- app/charts/util/Chart.yaml --
{name: util, type: library}
-- app/values-prod.yaml --
replicas: 3
-- app/env/test.yaml --
image: {tag: b}
-- app/env/compose.yaml --
services: {}
-- app/charts/environments/dev.yaml --
replicas: 2
-- app/ci/x-values.yaml --
replicas: 2
-- env/far.yaml --
replicas: 2
`, want: `
chart app/charts/shop shop library false subchart false [app/charts/environments/dev.yaml app/env/test.yaml app/values-prod.yaml]
chart app/charts/shop/charts/common common library false subchart true []
chart app/charts/util util library true subchart false []
`},
		"pointers and topologies": {options: Options{Declares: isNode}, tree: `
-- apps/kustomization.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps}
-- apps/release.yaml --
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: shop
---
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all}
---
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: none}
-- over/kustomization.yaml --
resources: [app.json]
patches: [{path: patch.yaml}]
-- over/app.json --
{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "one"}}
-- over/patch.yaml --
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: one}
-- nodes/list.yaml --
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: "Node", metadata: {name: a}}
- {apiVersion: v1, kind: Node, metadata: {name: b}}
-- nodes/pools.yaml --
apiVersion: schedlint.dev/v1alpha1
kind: NodeTopology
pools: []
-- nodes/text.yaml --
a: kind Node
kind: NodePool
-- .hidden/list.yaml --
apiVersion: v1
kind: Node
`, want: `
root over/kustomization.yaml
Argo CD Application one over/app.json:1
Argo CD ApplicationSet all apps/release.yaml:9
Flux HelmRelease shop apps/release.yaml:5
Flux Kustomization apps apps/kustomization.yaml:3
topology nodes/list.yaml
topology nodes/pools.yaml
`},
		"links": {tree: `
-- real/kustomization.yaml --
namespace: x
-- link --
->real
-- a/kustomization.yaml --
resources: [../link, ../away]
-- away --
->/etc
-- b/kustomization.yaml --
->/etc/hostname
`, want: `
root a/kustomization.yaml; outside of the repository: ../away at a/kustomization.yaml:1
inner real/kustomization.yaml
unread away is a symbolic link that leads out of the repository
unread b/kustomization.yaml is a symbolic link that leads out of the repository
`},
		"ignored and untracked": {tree: `
-- a/kustomization.yaml --
resources: [../b, ../c]
-- b/kustomization.yaml --
resources: ["https://example.com/z"]
-- c/kustomization.yaml --
namespace: x
-- d/kustomization.yaml --
namespace: x
`, options: Options{
			Ignore: func(name string) bool { return name == "b" },
			Tracked: func(path string) bool {
				b := filepath.Base(filepath.Dir(path))
				return b != "c" && b != "d" && filepath.Base(path) != "c"
			},
		}, want: `
root a/kustomization.yaml; missing: ../c at a/kustomization.yaml:1; remote: https://example.com/z at b/kustomization.yaml:1
inner beside b/kustomization.yaml; remote: https://example.com/z at b/kustomization.yaml:1
`},
		"too many entries of directories": {options: Options{most: &most{2, 9 << 20, limits.Counter{Most: 9}, limits.Counter{Most: 9 << 20}, limits.Counter{Most: 9 << 20}}}, tree: `
-- a/kustomization.yaml --
-- b/kustomization.yaml --
`, want: `
root a/kustomization.yaml; unusable: has no YAML that can be read at a/kustomization.yaml:1
unread . has more than 2 entries of directories: name fewer paths
`},
		"too many steps": {options: Options{most: &most{9, 9 << 20, limits.Counter{Most: 5}, limits.Counter{Most: 9 << 20}, limits.Counter{Most: 9 << 20}}}, tree: `
-- a/kustomization.yaml --
resources: [x.yaml, y.yaml, z.yaml]
-- a/x.yaml --
-- a/y.yaml --
-- b/kustomization.yaml --
resources: [x.yaml]
`, want: `
root a/kustomization.yaml; unusable: is not looked at: the kustomizations before it name paths of more than 5 steps; name fewer paths at a/kustomization.yaml:1
root b/kustomization.yaml; unusable: is not looked at: the kustomizations before it name paths of more than 5 steps; name fewer paths at b/kustomization.yaml:1
`},
		"too much to parse": {options: Options{most: &most{9, 1 << 20, limits.Counter{Most: 9}, limits.Counter{Most: 1 << 20}, limits.Counter{Most: 20}}}, tree: `
-- a/kustomization.yaml --
namespace: x
-- b/kustomization.yaml --
namespace: y
-- c/x.yaml --
a: 1234567890123456789012345
`, want: `
root a/kustomization.yaml
unread b/kustomization.yaml is not parsed: with it the run has more than 0 MiB of kustomizations and files that look like what is listed; name fewer paths
`},
		"too many bytes": {options: Options{most: &most{9, 30, limits.Counter{Most: 9}, limits.Counter{Most: 40}, limits.Counter{Most: 40}}}, tree: `
-- a.yaml --
a: 123456789012345678901234567890
-- b.yaml --
a: 1234567890123456789
-- c.yaml --
a: 123456789012345
-- d.yaml --
a: 1
`, want: `
unread a.yaml cannot be read: is larger than 0 MiB
unread c.yaml is not read: with it the run has more than 0 MiB; name fewer paths
`},
	} {
		t.Run(name, func(t *testing.T) {
			o := test.options
			o.Root = tree(t, test.tree)
			for _, path := range test.paths {
				o.Paths = append(o.Paths, filepath.Join(o.Root, path))
			}
			if o.Paths == nil {
				o.Paths = []string{o.Root}
			}
			f, err := Find(o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), summary(f)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWantedCharts checks which charts of repositories are to be fetched: those that the folder for charts does not
// have, in any of the places where kustomize looks.
func TestWantedCharts(t *testing.T) {
	const repo = "helmCharts: [{name: redis, repo: \"https://example.com\", version: 1.2.3}]\n"
	for where, wanted := range map[string]bool{
		"": true, "charts/other/Chart.yaml": true, "charts/redis-1.2.4.tgz": true, "charts/redis-1.2.3/other/Chart.yaml": true,
		"charts/redis/Chart.yaml": false, "charts/redis.tgz": false, "charts/redis-1.2.3.tgz": false,
		"charts/redis-1.2.3/redis/Chart.yaml": false, "charts/redis-1.2.3/redis-1.2.3.tgz": false,
	} {
		archive := "-- a/kustomization.yaml --\n" + repo
		if where != "" {
			archive += "-- a/" + where + " --\nx\n"
		}
		root := tree(t, archive)
		f, err := Find(Options{Root: root, Paths: []string{root}})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(f.Wanted) == 1; got != wanted || got && f.Wanted[0].Chart != "redis" {
			t.Errorf("with %q: %+v", where, f.Wanted)
		}
	}
	root := tree(t, "-- a/kustomization.yaml --\nhelmCharts: [{name: redis}]\n")
	if f, err := Find(Options{Root: root, Paths: []string{root}}); err != nil || len(f.Wanted) > 0 {
		t.Errorf("without a repository: %+v, %v", f, err)
	}
}
