package gitops

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/render/engine"
	"github.com/schedlint/schedlint/lint/roots"
)

// followed follows the pointers of an archive with the real build.
func followed(t *testing.T, archive string, most *most) *Result {
	t.Helper()
	o := optionsFor(t, archive)
	o.most = most
	return Follow(o)
}

// optionsFor writes an archive and returns the options for the pointers in it.
func optionsFor(t *testing.T, archive string) Options {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := roots.Find(roots.Options{Root: dir, Dir: dir, Paths: []string{"."}, OnlyRenderable: true})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Confinement: dir, Repositories: found.Repositories, Settings: found.Settings}
	for _, p := range found.Pointers {
		o.Pointers = append(o.Pointers, p.Object)
	}
	for _, k := range found.Roots {
		o.Roots = append(o.Roots, Root{Dir: k.Dir, File: k.File})
	}
	o.Render = func(all []render.Root) (outs []*render.Output) {
		for _, r := range all {
			r.Left = limits.Renders
			outs = append(outs, engine.Build(r, "7f3a"))
		}
		return outs
	}
	return o
}

// told formats a result as lines with the place and name of each pointer, what it deploys, its
// files, why it is not rendered, and the name of a chart that is missing.
func told(r *Result) (all []string) {
	for _, d := range r.Deployments {
		line := fmt.Sprintf("%s:%d %s", d.Pointer.File, d.Pointer.Line, d.Pointer.Name)
		switch {
		case d.Output == nil:
			if line += " " + d.Why.String(); d.Why.What == pointers.WhyChart && d.Wanted != nil {
				line += ", " + d.Wanted.Name
			}
		case d.Output.Problem != nil:
			line += " " + d.Output.Problem.Error()
		default:
			line += " -> " + d.Root.Dir + " by " + strings.Join(d.Files(), " ")
		}
		all = append(all, line)
	}
	for i := range r.Roots {
		all = append(all, fmt.Sprintf("root %d", i))
	}
	return all
}

const flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: "

// pointer returns a Flux Kustomization.
func pointer(name, path string, more ...string) string {
	return flux + name + "\nspec:\n  path: " + path + "\n" + strings.Join(more, "")
}

// patched returns a kustomization that adds a field to the release of a base.
func patched(field string) string {
	return "resources: [../base]\npatches:\n- target: {kind: HelmRelease}\n  patch: |\n    - {op: add, path: " + field + "}\n"
}

const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"

// TestFollow checks which pointers count, which version of them counts, and which roots of the tree
// remain.
func TestFollow(t *testing.T) {
	for name, c := range map[string]struct {
		archive string
		want    []string
	}{
		"one": {
			"-- f/a.yaml --\n" + pointer("a", "app") + "-- app/c.yaml --\n" + config,
			[]string{"f/a.yaml:4 a -> app by f/a.yaml"},
		},
		"a root that is named is none": {
			"-- f/a.yaml --\n" + pointer("a", "app") + "-- app/kustomization.yaml --\nresources: [c.yaml]\n-- app/c.yaml --\n" + config + "-- other/kustomization.yaml --\nnamePrefix: x\n",
			[]string{"f/a.yaml:4 a -> app by f/a.yaml", "root 1"},
		},
		"a root below a generated directory is none": {
			"-- f/a.yaml --\n" + pointer("a", ".") + "-- app/x/kustomization.yaml --\nresources: [c.yaml]\n-- app/x/c.yaml --\n" + config,
			[]string{"f/a.yaml:4 a -> . by f/a.yaml"},
		},
		"itself and others": {
			"-- f/self.yaml --\n" + pointer("self", "f") + "-- f/a.yaml --\n" + pointer("a", "app") + "-- app/c.yaml --\n" + config,
			[]string{"f/a.yaml:4 a -> app by f/a.yaml f/self.yaml", "f/self.yaml:4 self -> f by f/self.yaml"},
		},
		"a pointer counts as what deploys it patches it": {
			"-- top.yaml --\n" + pointer("top", "f", "  patches:\n  - target: {kind: Kustomization}\n    patch: |\n      - {op: replace, path: /spec/path, value: two}\n") +
				"-- f/a.yaml --\n" + pointer("a", "one") + "-- one/c.yaml --\n" + config + "-- two/c.yaml --\n" + config,
			[]string{"f/a.yaml:4 a -> two by f/a.yaml top.yaml", "top.yaml:4 top -> f by top.yaml"},
		},
		"a root patches it": {
			"-- k/kustomization.yaml --\nresources: [a.yaml]\npatches:\n- target: {kind: Kustomization}\n  patch: |\n    - {op: replace, path: /spec/path, value: two}\n" +
				"-- k/a.yaml --\n" + pointer("a", "one") + "-- one/c.yaml --\n" + config + "-- two/c.yaml --\n" + config,
			[]string{"k/a.yaml:4 a -> two by k/a.yaml k/kustomization.yaml", "root 0"},
		},
		"a release without its chart counts as what deploys it patches it": {
			"-- f/a.yaml --\n" + pointer("a", "one") + "---\n" + pointer("b", "two") + "---\n" + pointer("c", "three") +
				"-- base/kustomization.yaml --\nresources: [r.yaml]\n-- base/r.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: h, namespace: web}\nspec: {url: https://h/charts}\n---\n" +
				helmRelease("  chart: {spec: {chart: x, version: 1.2.3, sourceRef: {kind: HelmRepository, name: h}}}\n") +
				"-- one/kustomization.yaml --\n" + patched("/spec/chart/spec/version, value: '>=1'") +
				"-- two/kustomization.yaml --\n" + patched("/spec/chart/spec/version, value: 2.0.0") +
				"-- three/kustomization.yaml --\n" + patched("/spec/values, value: {a: b}"),
			[]string{
				"base/r.yaml:9 shop Helm chart: https://h/charts/x: run schedlint vendor, https://h/charts/x@>=1",
				"base/r.yaml:9 shop Helm chart: https://h/charts/x: run schedlint vendor, https://h/charts/x@2.0.0",
				"base/r.yaml:9 shop Helm chart: https://h/charts/x: run schedlint vendor, https://h/charts/x@1.2.3",
				"f/a.yaml:4 a -> one by f/a.yaml", "f/a.yaml:11 b -> two by f/a.yaml", "f/a.yaml:18 c -> three by f/a.yaml",
			},
		},
		"a chart repository counts as what deploys it patches it": {
			"-- f/a.yaml --\n" + pointer("a", "one") + "---\n" + pointer("b", "two") +
				"-- base/kustomization.yaml --\nresources: [r.yaml]\n-- base/r.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: h, namespace: web}\nspec: {url: https://h/charts}\n---\n" +
				helmRelease("  chart: {spec: {chart: x, version: 1.2.3, sourceRef: {kind: HelmRepository, name: h}}}\n") +
				"-- one/kustomization.yaml --\n" + strings.Replace(patched("/spec/url, value: https://mirror/one"), "HelmRelease", "HelmRepository", 1) +
				"-- two/kustomization.yaml --\nresources: [../base]\n",
			[]string{
				"base/r.yaml:9 shop Helm chart: https://h/charts/x: run schedlint vendor, https://h/charts/x@1.2.3",
				"base/r.yaml:9 shop Helm chart: https://mirror/one/x: run schedlint vendor, https://mirror/one/x@1.2.3",
				"f/a.yaml:4 a -> one by f/a.yaml", "f/a.yaml:11 b -> two by f/a.yaml",
			},
		},
		"it patches itself": {
			"-- f/kustomization.yaml --\nresources: [self.yaml]\npatches:\n- target: {kind: Kustomization}\n  patch: |\n    - {op: add, path: /spec/commonMetadata, value: {labels: {x: z}}}\n" +
				"-- f/self.yaml --\n" + pointer("self", "f"),
			[]string{"f/self.yaml:4 self -> f by f/self.yaml"},
		},
		"two deploy each other": {
			"-- x/b.yaml --\n" + pointer("b", "y") + "-- y/a.yaml --\n" + pointer("a", "x"),
			[]string{"x/b.yaml:4 b -> y by x/b.yaml y/a.yaml", "y/a.yaml:4 a -> x by x/b.yaml y/a.yaml"},
		},
		"left out of the artifact": {
			"-- f/a.yaml --\n" + pointer("a", "app") + "-- f/b.yaml --\n" + pointer("b", "old") +
				"-- app/c.yaml --\n" + config + "-- app/no/d.yaml --\n" + config + "-- old/e.yaml --\n" + config + "-- .sourceignore --\n/*\n!/app\napp/no/\n",
			[]string{"f/a.yaml:4 a -> app by f/a.yaml", "f/b.yaml:4 b path that does not exist: old, which .sourceignore leaves out"},
		},
		"suspended": {
			"-- f/a.yaml --\n" + pointer("a", "app", "  suspend: true\n") + "-- app/c.yaml --\n" + config,
			[]string{"f/a.yaml:4 a suspended"},
		},
		"elsewhere": {
			"-- f/a.yaml --\n" + pointer("a", "gone"),
			[]string{"f/a.yaml:4 a another repository: gone is no directory here"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := told(followed(t, c.archive, nil)); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestVariables checks the places of values, and that a value is never known if an unknown object
// may set it.
func TestVariables(t *testing.T) {
	app := "-- app/c.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  got: ${A} ${B:=b} ${C}\n"
	settings := func(where, value string) string {
		return "-- " + where + " --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata: {A: '" + value + "'}\n"
	}
	from := "  postBuild:\n    substituteFrom: [{kind: ConfigMap, name: s}]\n"
	for name, c := range map[string]struct{ archive, want string }{
		"inline":              {"-- f/a.yaml --\n" + pointer("a", "app", "  postBuild: {substitute: {A: x}}\n") + app, "x b ${C}"},
		"none":                {"-- f/a.yaml --\n" + pointer("a", "app", "  postBuild: {}\n") + app, "${A} ${B:=b} ${C}"},
		"of the tree":         {"-- f/a.yaml --\n" + pointer("a", "app", from) + settings("s.yaml", "x") + app, "x b ${C}"},
		"not in the tree":     {"-- f/a.yaml --\n" + pointer("a", "app", from) + app, "${A} ${B:=b} ${C}"},
		"two differ":          {"-- f/a.yaml --\n" + pointer("a", "app", from) + settings("s.yaml", "x") + settings("t.yaml", "y") + app, "${A} ${B:=b} ${C}"},
		"that of its cluster": {"-- top.yaml --\n" + pointer("top", "f") + "-- f/a.yaml --\n" + pointer("a", "app", from) + settings("f/s.yaml", "x") + settings("t.yaml", "y") + app, "x b ${C}"},
		"a later Secret":      {"-- f/a.yaml --\n" + pointer("a", "app", strings.Replace(from, "}]", "}, {kind: Secret, name: z}]", 1)) + settings("s.yaml", "x") + app, "${A} ${B:=b} ${C}"},
		"encrypted":           {"-- f/a.yaml --\n" + pointer("a", "app", from) + settings("s.yaml", "ENC[x]") + app, "${A} b ${C}"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, d := range followed(t, c.archive, nil).Deployments {
				if d.Pointer.Name == "a" && (d.Output == nil || d.Output.Problem != nil || !strings.Contains(string(d.Output.Text), "got: "+c.want)) {
					t.Errorf("%v %+v, want %s", d.Why, d.Output, c.want)
				}
			}
		})
	}
}

// TestFollowBounded checks that the number of pointers is limited, and that exceeding the limit is
// reported once.
func TestFollowBounded(t *testing.T) {
	var all strings.Builder
	for i := range 10 {
		fmt.Fprintf(&all, "-- f/%d.yaml --\n%s", i, pointer(fmt.Sprint("p", i), "app"))
	}
	got := told(followed(t, all.String()+"-- app/c.yaml --\n"+config, &most{deployments: 3, depth: 10, names: 100}))
	if len(got) != 4 || !strings.Contains(got[3], "a run follows at most 3 pointers") {
		t.Errorf("%q", got)
	}
}

// TestFollowFewNames checks that directories with more files than the limit are refused.
func TestFollowFewNames(t *testing.T) {
	got := told(followed(t, "-- f/a.yaml --\n"+pointer("a", "app")+"-- app/c.yaml --\n"+config+"-- app/d.yaml --\n"+config, &most{deployments: 3, depth: 10, names: 1}))
	if len(got) != 1 || !strings.Contains(got[0], "have more than 1 files") {
		t.Errorf("%q", got)
	}
}

// TestGlobs checks Argo CD globs, in which a star also matches slashes.
func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"*.yaml", "a/b.yaml", true}, {"{a,b}.yaml", "b.yaml", true}, {"{a,b}.yaml", "c.yaml", false}, {"a?.yaml", "ab.yaml", true},
		{`a\*`, "ab", false}, {"{", "x", false}, {"(a", "(a", true}, {strings.Repeat("*", 2000), "x", false},
	} {
		if got := globOf(c.glob).MatchString(c.name); got != c.want {
			t.Errorf("%.20s and %s: %v", c.glob, c.name, got)
		}
	}
}
