package cli

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/cmd/schedlint/inputs"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/render"
)

// release is a HelmRelease of the chart in c.
const release = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: flux-system}\nspec: {url: 'https://git.example/fleet'}\n---\n" +
	"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: flux-system}\nspec:\n  chart: {spec: {chart: ./c, sourceRef: {kind: GitRepository, name: fleet}}}\n  values: {replicas: 7}\n"

// victims are trees with a finding. Each has an object of somebody else that changes touch from elsewhere.
func victims() map[string]map[string]string {
	web := strings.ReplaceAll(clean(map[string]string{"": faulty})[""], "  MORE\n", "")
	app := map[string]string{"app/web.yaml": web, "app/kustomization.yaml": "resources: [web.yaml]\n"}
	prod := maps.Clone(app)
	prod["prod/kustomization.yaml"] = "resources: [../app]\nnamespace: prod\n"
	chart := map[string]string{
		"c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n", "c/values.yaml": "replicas: 7\n",
		"c/templates/web.yaml": strings.Replace(web, "replicas: 7", "replicas: {{ .Values.replicas }}", 1),
	}
	released := maps.Clone(chart)
	released["c/values.yaml"], released["clusters/web.yaml"] = "replicas: 1\n", release
	return map[string]map[string]string{
		"file":          {"app/web.yaml": web},
		"kustomization": app,
		"overlay":       prod,
		"chart":         chart,
		"release":       released,
	}
}

// attack is a change that adds files and touches none of the victim.
type attack struct {
	sort, way, victim string
	files             map[string]string
}

func attacks() (all []attack) {
	healthy := strings.Replace(clean(map[string]string{"": faulty})[""], "replicas: 7", "replicas: 1", 1)
	on := func(sort, victim string) func(way string, files ...string) {
		return func(way string, files ...string) {
			a := attack{sort, way, victim, map[string]string{}}
			for i := 0; i < len(files); i += 2 {
				a.files[files[i]] = files[i+1]
			}
			all = append(all, a)
		}
	}
	const k = "evil/kustomization.yaml"
	const fields = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, "
	patch := on("patch", "file")
	patch("with a copy", k, "patches: [{path: ../app/web.yaml}]\nresources: [web.yaml]\n", "evil/web.yaml", healthy)
	patch("alone", k, "patches: [{path: ../app/web.yaml}]\n")
	patch("strategic merge", k, "patchesStrategicMerge: [../app/web.yaml]\n")
	patch("that deletes", k, "resources: [../app/web.yaml]\npatches: [{patch: '"+fields+"$patch: delete}'}]\n")
	patch("that deletes, with a copy", k, "resources: [../app/web.yaml, web.yaml]\npatches: [{patch: '"+fields+"$patch: delete}'}]\n", "evil/web.yaml", healthy)
	root := on("root", "file")
	root("with no replicas", k, "resources: [../app/web.yaml]\nreplicas: [{name: web, count: 0}]\n")
	root("with one replica", k, "resources: [../app/web.yaml]\nreplicas: [{name: web, count: 1}]\n")
	root("with another namespace", k, "resources: [../app/web.yaml]\nnamespace: evil\nreplicas: [{name: web, count: 1}]\n")
	root("with another name", k, "resources: [../app/web.yaml]\nnamePrefix: evil-\nreplicas: [{name: web, count: 1}]\n")
	root("with another scheduler", k, "resources: [../app/web.yaml]\npatches: [{patch: '"+fields+"spec: {template: {spec: {schedulerName: other}}}}'}]\n")
	root("without the rule", k, "resources: [../app/web.yaml]\npatches: [{patch: '"+fields+"spec: {template: {spec: {affinity: null}}}}'}]\n")
	root("in the directory above", "kustomization.yaml", "resources: [app/web.yaml]\nreplicas: [{name: web, count: 1}]\n")
	root("in its directory", "app/kustomization.yaml", "resources: [web.yaml]\nreplicas: [{name: web, count: 1}]\n")
	root("as a directory", "app/kustomization.yaml", "resources: [web.yaml]\n", k, "resources: [../app]\nreplicas: [{name: web, count: 1}]\n")
	root("in JSON", "evil/kustomization.yml", `{"resources": ["../app/web.yaml"], "replicas": [{"name": "web", "count": 0}]}`)
	over := on("root", "kustomization")
	over("over a kustomization", k, "resources: [../app]\nreplicas: [{name: web, count: 0}]\n")
	over("over a kustomization, elsewhere", k, "resources: [../app]\nnamespace: evil\nreplicas: [{name: web, count: 1}]\n")
	over("bases", k, "bases: [../app]\nreplicas: [{name: web, count: 1}]\n")
	on("root", "overlay")("over an overlay", k, "resources: [../prod]\nreplicas: [{name: web, count: 0}]\n")
	on("root", "overlay")("over all", k, "resources: [../prod, ../app]\nreplicas: [{name: web, count: 0}]\n")
	unbuilt := on("unbuilt root", "file")
	unbuilt("a transformer", k, "transformers: [../app/web.yaml]\n")
	unbuilt("a generator", k, "generators: [../app/web.yaml]\n")
	unbuilt("a validator", k, "validators: [../app/web.yaml]\n")
	unbuilt("with a missing file", k, "resources: [../app/web.yaml, missing.yaml]\nreplicas: [{name: web, count: 1}]\n")
	unbuilt("a component that is missing", k, "resources: [../app/web.yaml]\ncomponents: [../none]\n")
	component := on("component", "file")
	const part = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
	component("unused", k, part+"resources: [../app/web.yaml]\nreplicas: [{name: web, count: 1}]\n")
	component("unused, a patch", k, part+"patches: [{path: ../app/web.yaml}]\n")
	on("component", "kustomization")("of a root", k, part+"replicas: [{name: web, count: 1}]\n", "root/kustomization.yaml", "resources: [../app]\ncomponents: [../evil]\n")
	const argo = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: evil, namespace: argocd}\nspec:\n  source:\n    repoURL: https://git.example/fleet\n"
	pointer := on("pointer", "kustomization")
	pointer("Application with replicas", "evil/app.yaml", argo+"    path: app\n    kustomize: {replicas: [{name: web, count: 0}]}\n")
	pointer("ApplicationSet", "evil/app.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: evil, namespace: argocd}\nspec:\n  generators: [{list: {elements: [{dir: app}]}}]\n  template:\n    metadata: {name: '{{dir}}'}\n    spec: {source: {repoURL: 'https://git.example/fleet', path: '{{dir}}', kustomize: {replicas: [{name: web, count: 0}]}}}\n")
	const flux = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: flux-system}\nspec: {url: 'https://git.example/fleet'}\n---\n"
	const ks = flux + "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: evil, namespace: flux-system}\nspec:\n  path: ./app\n  sourceRef: {kind: GitRepository, name: fleet}\n"
	pointer("Flux Kustomization with a patch", "evil/ks.yaml", ks+"  patches: [{patch: '"+fields+"spec: {replicas: 1}}'}]\n")
	pointer("suspended Flux Kustomization", "evil/ks.yaml", ks+"  suspend: true\n")
	on("pointer", "file")("Flux Kustomization of a directory", "evil/ks.yaml", ks+"  patches: [{patch: '"+fields+"spec: {replicas: 1}}'}]\n")
	on("pointer", "file")("Application of a directory that excludes it", "evil/app.yaml", argo+"    path: app\n    directory: {exclude: '*.yaml'}\n")
	chart := on("chart", "chart")
	chart("dependency that is off", "p/Chart.yaml", "apiVersion: v2\nname: p\nversion: 1.0.0\ndependencies: [{name: c, version: 1.0.0, repository: 'file://../c', condition: c.enabled}]\n", "p/values.yaml", "c: {enabled: false}\n")
	chart("dependency with values", "p/Chart.yaml", "apiVersion: v2\nname: p\nversion: 1.0.0\ndependencies: [{name: c, version: 1.0.0, repository: 'file://../c'}]\n", "p/values.yaml", "c: {replicas: 1}\n")
	const hr = flux + "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: evil, namespace: flux-system}\nspec:\n  chart: {spec: {chart: ./c, sourceRef: {kind: GitRepository, name: fleet}}}\n"
	chart("HelmRelease with values", "evil/hr.yaml", hr+"  values: {replicas: 1}\n")
	chart("suspended HelmRelease", "evil/hr.yaml", hr+"  suspend: true\n")
	chart("Application with values", "evil/app.yaml", argo+"    path: c\n    helm: {valuesObject: {replicas: 1}}\n")
	chart("of a kustomization", k, "helmGlobals: {chartHome: ..}\nhelmCharts: [{name: c, releaseName: r, valuesInline: {replicas: 1}}]\n")
	on("chart", "file")("around the file", "app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\ntype: library\n")
	on("pointer", "release")("patch that suspends", k, "resources: [../clusters/web.yaml]\npatches: [{target: {kind: HelmRelease}, patch: '[{op: add, path: /spec/suspend, value: true}]'}]\n")
	on("pointer", "release")("patch that suspends, strategic merge", k, "resources: [../clusters/web.yaml]\npatches: [{patch: '{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: web, namespace: flux-system}, spec: {suspend: true}}'}]\n")
	on("pointer", "release")("second release", "evil/hr.yaml", strings.Replace(release, "values: {replicas: 7}", "suspend: true", 1))
	helmfile := on("helmfile", "chart")
	helmfile("not installed", "evil/helmfile.yaml", "releases: [{name: c, chart: ../c, installed: false}]\n")
	helmfile("with values", "evil/helmfile.yaml", "releases: [{name: c, chart: ../c, values: [{replicas: 1}]}]\n")
	scaler := on("autoscaler", "file")
	scaler("HorizontalPodAutoscaler", "evil/hpa.yaml", "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web, namespace: shop}, spec: {minReplicas: 1, maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}")
	scaler("ScaledObject", "evil/so.yaml", "{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: web, namespace: shop}, spec: {maxReplicaCount: 2, scaleTargetRef: {name: web}}}")
	scaler("VerticalPodAutoscaler", "evil/vpa.yaml", "{apiVersion: autoscaling.k8s.io/v1, kind: VerticalPodAutoscaler, metadata: {name: web, namespace: shop}, spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}")
	owner := on("owner by reference", "file")
	owner("Rollout", "evil/rollout.yaml", "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: r, namespace: shop}, spec: {replicas: 1, workloadRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}")
	open := on("placeholder", "file")
	open("autoscaler", "evil/hpa.yaml", "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: '${N}', namespace: '${NS}'}, spec: {minReplicas: 1, maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: '${X}'}}}")
	open("Namespace", "evil/ns.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: '${N}', annotations: {scheduler.alpha.kubernetes.io/node-selector: '${X}'}, labels: {pod-security.kubernetes.io/enforce: restricted}}}")
	open("LimitRange", "evil/lr.yaml", "{apiVersion: v1, kind: LimitRange, metadata: {name: '${N}', namespace: '${NS}'}, spec: '${S}'}")
	path := on("unread path", "file")
	path("vendored modules", "app/modules.txt", "# github.com/example/module v1.0.0\n")
	path("ignored by another tool", "app/.helmignore", "*.yaml\n", "app/.sourceignore", "*.yaml\n", "app/.gitattributes", "*.yaml linguist-vendored\n")
	wide := on("cluster-wide object", "file")
	wide("PriorityClass", "evil/pc.yaml", "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: evil}, value: 1000, globalDefault: true}")
	wide("Namespace", "evil/ns.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: restricted}}}")
	on("node", "file")("NodeTopology", "evil/nodes.yaml", "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: [{name: more, count: 9}]\n")
	kind := on("unknown kind", "file")
	kind("custom resource", "evil/cr.yaml", "{apiVersion: example.com/v1, kind: Thing, metadata: {name: web, namespace: shop}, spec: {replicas: 1}}")
	kind("of an operator", "evil/cr.yaml", "{apiVersion: helm.cattle.io/v1, kind: HelmChart, metadata: {name: web, namespace: shop}, spec: {chart: web}}")
	return all
}

// commit makes a repository of a tree beside three nodes and a healthy pod.
func commit(t *testing.T, tree map[string]string) {
	t.Helper()
	files := maps.Clone(tree)
	files[configuration] = "topology: [nodes.yaml]\n"
	files["nodes.yaml"] = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: [{name: worker, count: 3}]\n"
	files["ok/pod.yaml"] = "{apiVersion: v1, kind: Pod, metadata: {name: ok, namespace: shop}, spec: {containers: [{name: c, image: c}]}}"
	trials.InGit(t, files, ".")
	trials.Git(t, "commit", "-q", "-m", "base")
}

func write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.FromSlash(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// oneWorker returns a context in which all runs of a test render in one process.
func oneWorker(t *testing.T) context.Context {
	procs := runtime.GOMAXPROCS(1)
	idle := &render.Idle{}
	t.Cleanup(func() {
		idle.Stop()
		runtime.GOMAXPROCS(procs)
	})
	return inputs.WithIdle(context.Background(), idle)
}

// TestNoChangeTakesOver checks changes that touch no file of a finding. Whatever they add, the finding is
// there or counts as silenced under the strict flags, and is there under --config-from alone.
func TestNoChangeTakesOver(t *testing.T) {
	ctx := oneWorker(t)
	sorts := map[string]bool{}
	all, trees := attacks(), victims()
	for victim, files := range trees {
		t.Run(victim, func(t *testing.T) {
			commit(t, files)
			trials.Git(t, "remote", "add", "origin", "https://git.example/fleet")
			lint := func(args ...string) (string, int) {
				var out strings.Builder
				code := RunContext(ctx, append([]string{"lint"}, args...), strings.NewReader(""), &out, io.Discard)
				return out.String(), code
			}
			const found = "[anti-affinity-exceeds-domains]"
			if out, code := lint("--config-from", "HEAD"); code != exitFindings || !strings.Contains(out, found) {
				t.Fatalf("status %d of the base\n%s", code, out)
			}
			for i, a := range all {
				if sorts[a.sort] = true; a.victim != victim || !trials.Full(t) && i%3 > 0 {
					continue
				}
				for name := range a.files {
					if _, exists := files[name]; exists {
						t.Fatalf("%s: %s touches %s", a.sort, a.way, name)
					}
				}
				write(t, a.files)
				out, code := lint("--since", "HEAD", "--config-from", "HEAD", "--fail-on-silenced")
				if there := strings.Contains(out, "1 unchanged") || strings.Contains(out, "error: ") && strings.Contains(out, found); !there && code != exitFindings {
					t.Errorf("%s: %s: status %d under the strict flags\n%s", a.sort, a.way, code, out)
				}
				if out, code := lint("--config-from", "HEAD"); code != exitFindings || !strings.Contains(out, found) {
					t.Errorf("%s: %s: status %d under --config-from\n%s", a.sort, a.way, code, out)
				}
				for name := range a.files {
					if err := os.Remove(filepath.FromSlash(name)); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
	t.Logf("%d ways of %d sorts", len(all), len(sorts))
	if len(all) < 40 || len(sorts) < 12 {
		t.Errorf("%d ways of %d sorts", len(all), len(sorts))
	}
}

// honest is a change that people make to their own files.
type honest struct {
	way, victim string
	removes     []string
	files       map[string]string
	status      int // under the strict flags
	says        string
}

// TestHonestChanges checks what is said of changes to one's own files, under the strict flags.
func TestHonestChanges(t *testing.T) {
	ctx := oneWorker(t)
	trees := victims()
	web := trees["file"]["app/web.yaml"]
	one := strings.Replace(web, "replicas: 7", "replicas: 1", 1)
	const hpa = "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web, namespace: shop}, spec: {minReplicas: 1, maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}"
	const other = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: other, namespace: shop}, spec: {replicas: 2, selector: {matchLabels: {app: other}}, template: {metadata: {labels: {app: other}}, spec: {" +
		"affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: app, operator: In, values: [web, other]}]}}]}}, containers: [{name: c, image: c}]}}}}\n"
	trees["neighbours"] = map[string]string{"app/web.yaml": strings.Replace(web, "replicas: 7", "replicas: 2", 1), "other/other.yaml": other}
	for i, c := range []honest{
		{"a neighbour scaled down", "neighbours", nil, map[string]string{"other/other.yaml": strings.Replace(other, "replicas: 2", "replicas: 0", 1)}, exitClean, "0 new, 1 fixed, 0 unchanged"},
		{"a HelmRelease suspended by its owner", "release", nil, map[string]string{"clusters/web.yaml": release + "  suspend: true\n"}, exitClean, "0 new, 0 fixed, 0 unchanged, 1 gone"},
		{"an overlay split", "overlay", nil, map[string]string{"prod/kustomization.yaml": "resources: [a]\nnamespace: prod\n", "prod/a/kustomization.yaml": "resources: [../../app]\n"}, exitClean, "0 new, 0 fixed, 1 unchanged"},
		{"an aggregator with a namespace", "overlay", nil, map[string]string{"all/kustomization.yaml": "resources: [../prod]\nnamespace: all\n"}, exitFindings, "1 new, 0 fixed, 0 unchanged"},
		{"nothing", "file", nil, map[string]string{"README.yaml": "{}"}, exitClean, "0 new, 0 fixed, 1 unchanged"},
		{"fewer replicas", "file", nil, map[string]string{"app/web.yaml": one}, exitClean, "0 new, 1 fixed, 0 unchanged"},
		{"fewer replicas in a kustomization", "kustomization", nil, map[string]string{"app/web.yaml": one}, exitClean, "0 new, 1 fixed, 0 unchanged"},
		{"a file into an overlay", "file", []string{"app/web.yaml"}, map[string]string{"app/base/web.yaml": web, "app/base/kustomization.yaml": "resources: [web.yaml]\n"}, exitClean, "0 new, 0 fixed, 1 unchanged"},
		{"a file into a chart", "file", []string{"app/web.yaml"}, map[string]string{"app/Chart.yaml": trees["chart"]["c/Chart.yaml"], "app/values.yaml": "replicas: 7\n", "app/templates/web.yaml": trees["chart"]["c/templates/web.yaml"]}, exitClean, "0 new, 0 fixed, 1 unchanged"},
		{"a kustomization beside the file", "file", nil, map[string]string{"app/kustomization.yaml": "resources: [web.yaml]\n"}, exitClean, "0 new, 0 fixed, 1 unchanged"},
		{"a file moved", "file", []string{"app/web.yaml"}, map[string]string{"shop/web.yaml": web}, exitClean, "0 new, 0 fixed, 1 unchanged"},
		{"a file deleted", "file", []string{"app/web.yaml"}, nil, exitClean, "0 new, 0 fixed, 0 unchanged, 1 gone"},
		{"a kustomization deleted", "kustomization", []string{"app/web.yaml", "app/kustomization.yaml"}, nil, exitClean, "0 new, 0 fixed, 0 unchanged, 1 gone"},
		{"an overlay renamed", "overlay", []string{"prod/kustomization.yaml"}, map[string]string{"production/kustomization.yaml": "resources: [../app]\nnamespace: prod\n"}, exitClean, "0 new, 0 fixed, 1 unchanged"},
		{"an overlay fixed", "overlay", nil, map[string]string{"prod/kustomization.yaml": "resources: [../app]\nnamespace: prod\nreplicas: [{name: web, count: 1}]\n"}, exitClean, "0 new, 1 fixed, 0 unchanged"},
		{"a base moved", "overlay", []string{"app/web.yaml", "app/kustomization.yaml"}, map[string]string{"base/web.yaml": web, "base/kustomization.yaml": "resources: [web.yaml]\n", "prod/kustomization.yaml": "resources: [../base]\nnamespace: prod\n"}, exitClean, "0 new, 0 fixed, 1 unchanged"},
		{"an environment added", "overlay", nil, map[string]string{"dev/kustomization.yaml": "resources: [../app]\nnamespace: dev\nreplicas: [{name: web, count: 1}]\n"}, exitClean, "0 new, 0 fixed, 1 unchanged"},
		{"an aggregator", "overlay", nil, map[string]string{"all/kustomization.yaml": "resources: [../prod]\n"}, exitClean, "0 new, 0 fixed, 1 unchanged"},
		{"an autoscaler in the directory", "file", nil, map[string]string{"app/hpa.yaml": hpa}, exitClean, "0 new, 1 fixed, 0 unchanged"},
		{"an autoscaler in the root", "kustomization", nil, map[string]string{"app/hpa.yaml": hpa, "app/kustomization.yaml": "resources: [web.yaml, hpa.yaml]\n"}, exitClean, "0 new, 1 fixed, 0 unchanged"},
		{"the values of a chart", "chart", nil, map[string]string{"c/values.yaml": "replicas: 1\n"}, exitClean, "0 new, 1 fixed, 0 unchanged"},
		{"a chart replaced", "chart", []string{"c/Chart.yaml", "c/values.yaml", "c/templates/web.yaml"}, map[string]string{"c/web.yaml": one}, exitClean, "0 new, 0 fixed, 0 unchanged, 1 gone"},
		{"an overlay that fixes the file", "file", nil, map[string]string{"prod/kustomization.yaml": "resources: [../app/web.yaml]\nreplicas: [{name: web, count: 1}]\n"}, exitFindings, "0 new, 0 fixed, 0 unchanged"},
	} {
		if !trials.Full(t) && i%2 > 0 {
			continue
		}
		t.Run(c.way, func(t *testing.T) {
			commit(t, trees[c.victim])
			trials.Git(t, "remote", "add", "origin", "https://git.example/fleet")
			for _, name := range c.removes {
				if err := os.Remove(filepath.FromSlash(name)); err != nil {
					t.Fatal(err)
				}
			}
			write(t, c.files)
			var out strings.Builder
			code := RunContext(ctx, []string{"lint", "--since", "HEAD", "--config-from", "HEAD", "--fail-on-silenced"}, strings.NewReader(""), &out, io.Discard)
			if code != c.status || !strings.Contains(out.String(), "since HEAD: "+c.says+"\n") {
				t.Errorf("status %d, want %d and %q\n%s", code, c.status, c.says, out.String())
			}
		})
	}
}
