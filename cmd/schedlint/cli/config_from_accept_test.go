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

// faulty declares a Deployment with 7 replicas and required anti-affinity on the hostname, but the
// topology has only 3 nodes. Test cases replace MORE and ABOVE with their own lines.
const faulty = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  MORE
spec:
  replicas: 7
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          ABOVE
          - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}
      containers: [{name: main, image: example.com/web}]
`

// acceptance is a way in which a change can accept its own finding. It replaces text in one file.
type acceptance struct{ way, file, old, new string }

// An annotation as it appears in a manifest, in a JSON map and in a patch.
const (
	annotation      = "ignore.schedlint.dev/anti-affinity-exceeds-domains: late"
	annotationLine  = "annotations: {" + annotation + "}"
	annotatingPatch = "{kind: Deployment, apiVersion: apps/v1, metadata: {name: web, namespace: shop, " + annotationLine + "}}"
)

// written returns the ways that change the manifest or template itself.
func written(file string) []acceptance {
	return []acceptance{
		{"annotation", file, "MORE", annotationLine},
		{"comment", file, "ABOVE", "# schedlint:ignore anti-affinity-exceeds-domains late"},
	}
}

// allOfFile is the way that accepts by everything in the configuration. --config-from takes the whole
// file from the revision, so one run finds out whether any part of it counts.
const (
	configuration = ".schedlint.yaml"
	allOfFile     = "all of the configuration"
)

// inConfiguration returns the ways that change the configuration. They apply to any input.
func inConfiguration(conf string) []acceptance {
	const (
		level    = "rules: {anti-affinity-exceeds-domains: off}\n"
		suppress = "suppress: [{rule: anti-affinity-exceeds-domains, reason: late, namespaces: [shop]}]\n"
		scope    = "scopes: [{namespaces: [shop], rules: {anti-affinity-exceeds-domains: off}}]\n"
	)
	return []acceptance{
		{"level", configuration, conf, conf + level},
		{"suppress", configuration, conf, conf + suppress},
		{"scope", configuration, conf, conf + scope},
		{allOfFile, configuration, conf, conf + level + suppress + scope},
		{"baseline", "base.json", "", ""}, // written by the run
	}
}

// reach is a way in which a manifest becomes part of a run.
type reach struct {
	name  string
	files map[string]string
	conf  string
	args  []string
	// ways lists additional ways to accept the finding, besides those in the manifest and the
	// configuration.
	ways []acceptance
	// manifest is the path of the manifest or template.
	manifest string
}

func reaches() []reach {
	chart := map[string]string{
		"chart/Chart.yaml":  "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
		"chart/values.yaml": "annotations: {}\n",
		"chart/templates/web.yaml": strings.Replace(faulty, "  MORE\n", `  {{- with .Values.annotations }}
  annotations: {{ toYaml . | nindent 4 }}
  {{- end }}
  MORE
`, 1),
	}
	with := func(files map[string]string, more ...string) map[string]string {
		all := maps.Clone(files)
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	values := acceptance{"values", "chart/values.yaml", "{}", "{" + annotation + "}"}
	app := map[string]string{"app/web.yaml": faulty, "app/kustomization.yaml": "resources: [web.yaml]\n"}
	built := []acceptance{
		{"patch", "app/kustomization.yaml", "resources", "patches: [{patch: '" + annotatingPatch + "'}]\nresources"},
		{"common annotation", "app/kustomization.yaml", "resources", "commonAnnotations: {" + annotation + "}\nresources"},
	}
	flux := "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: flux-system}\nspec: {url: 'https://git.example/fleet'}\n---\n"
	in := func(reaches []reach, manifest string) []reach {
		for i := range reaches {
			reaches[i].manifest = manifest
		}
		return reaches
	}
	all := in([]reach{
		{name: "file", files: map[string]string{"app/web.yaml": faulty}, args: []string{"app/web.yaml"}},
		{name: "directory", files: map[string]string{"app/web.yaml": faulty}, args: []string{"app"}},
		{name: "kustomization", files: app, ways: built},
		{name: "named kustomization", files: app, args: []string{"-k", "app"}, ways: built},
		{name: "configured kustomization", files: app, conf: "renders: [{kustomize: app}]\n", ways: built},
		{name: "only renders", files: app, args: []string{"--render", "only"}, ways: built},
		{name: "overlay", files: with(app, "prod/kustomization.yaml", "resources: [../app]\n"), ways: append(built,
			acceptance{"patch of the overlay", "prod/kustomization.yaml", "resources", "patches: [{patch: '" + annotatingPatch + "'}]\nresources"})},
		{name: "component", files: with(app, "app/kustomization.yaml", "resources: [web.yaml]\ncomponents: [../part]\n",
			"part/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnameSuffix: ''\ncommonLabels: {part: a}\n"), ways: []acceptance{
			{"component", "part/kustomization.yaml", "kind: Component\n", "kind: Component\ncommonAnnotations: {" + annotation + "}\n"}}},
		{name: "Flux Kustomization", files: with(app, "flux/all.yaml", flux+
			"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: app, namespace: flux-system}\nspec:\n  path: ./app\n  sourceRef: {kind: GitRepository, name: fleet}\n"), ways: append(built,
			acceptance{"patch of the pointer", "flux/all.yaml", "  path:", "  patches: [{patch: '" + annotatingPatch + "'}]\n  path:"})},
		{name: "Application", files: with(app, "argo.yaml",
			"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: app, namespace: argocd}\nspec:\n  source:\n    path: app\n    repoURL: https://git.example/fleet\n"), ways: append(built,
			acceptance{"patch of the pointer", "argo.yaml", "    path:", "    kustomize: {commonAnnotations: {" + annotation + "}}\n    path:"})},
	}, "app/web.yaml")
	return append(all, in([]reach{
		{name: "chart", files: chart, ways: []acceptance{values}},
		{name: "path of a chart", files: chart, args: []string{"chart"}, ways: []acceptance{values}},
		{name: "named chart", files: with(chart, "env.yaml", "a: 1\n"), args: []string{"--helm", "chart=env.yaml"}, ways: []acceptance{values,
			{"values of the environment", "env.yaml", "a: 1\n", "annotations: {" + annotation + "}\n"}}},
		{name: "configured chart", files: with(chart, "env.yaml", "a: 1\n"), conf: "renders: [{helm: chart, values: [env.yaml]}]\n", ways: []acceptance{values,
			{"values of the environment", "env.yaml", "a: 1\n", "annotations: {" + annotation + "}\n"}}},
		{name: "chart of a kustomization", files: with(chart, "app/kustomization.yaml", "helmGlobals: {chartHome: ..}\nhelmCharts: [{name: chart, releaseName: r, valuesInline: {a: 1}}]\n"), ways: []acceptance{values,
			{"inline values", "app/kustomization.yaml", "a: 1", "annotations: {" + annotation + "}"}}},
		{name: "HelmRelease", files: with(chart, "flux/all.yaml", flux+
			"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: app, namespace: flux-system}\nspec:\n  chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: fleet}}}\n  values: {a: 1}\n"), ways: []acceptance{values,
			{"values of the release", "flux/all.yaml", "a: 1", "annotations: {" + annotation + "}"},
			{"post-renderer", "flux/all.yaml", "  values:", "  postRenderers: [{kustomize: {patches: [{target: {kind: Deployment}, patch: '" + annotatingPatch + "'}]}}]\n  values:"}}},
		{name: "Application of a chart", files: with(chart, "argo.yaml",
			"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: app, namespace: argocd}\nspec:\n  source:\n    path: chart\n    repoURL: https://git.example/fleet\n    helm: {valuesObject: {a: 1}}\n"), ways: []acceptance{values,
			{"values of the pointer", "argo.yaml", "a: 1", "annotations: {" + annotation + "}"}}},
	}, "chart/templates/web.yaml")...)
}

// TestNoChangeAcceptsItsOwn checks that every finding counts under --config-from, however the
// change accepts it and however the manifest becomes part of the run. Without --config-from, each
// of these ways must accept the finding.
func TestNoChangeAcceptsItsOwn(t *testing.T) {
	// A lint starts as many render workers as there are processors, and their start is most of its
	// cost. One for all is enough here.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var idle render.Idle
	defer idle.Stop()
	ctx := inputs.WithIdle(context.Background(), &idle)
	for turn, r := range reaches() {
		conf := "topology: [nodes.yaml]\nbaseline: base.json\n" + r.conf
		ways := append(append(inConfiguration(conf), written(r.manifest)...), r.ways...)
		t.Run(r.name, func(t *testing.T) {
			files := maps.Clone(r.files)
			files[configuration] = conf
			files["base.json"] = `{"apiVersion": "schedlint.dev/v1alpha1", "kind": "Baseline", "reason": "there before us", "entries": []}`
			files["nodes.yaml"] = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: [{name: worker, count: 3}]\n"
			trials.InGit(t, clean(files), ".")
			trials.Git(t, "commit", "-q", "-m", "base")
			trials.Git(t, "remote", "add", "origin", "https://git.example/fleet")
			for i, w := range ways {
				if !trials.Full(t) && (i+turn)%6 > 0 { // every way, but not of every reach
					continue
				}
				for name, text := range clean(files) {
					write := []byte(text)
					if name == w.file && w.old != "" {
						if text = strings.Replace(files[name], w.old, w.new, 1); text == files[name] {
							t.Fatalf("%s: %s does not hold %q", w.way, name, w.old)
						}
						write = []byte(clean(map[string]string{name: text})[name])
					}
					if err := os.WriteFile(filepath.FromSlash(name), write, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				lint := func(more ...string) (string, int) {
					var out strings.Builder
					code := RunContext(ctx, append(append([]string{"lint"}, more...), r.args...), strings.NewReader(""), &out, io.Discard)
					return out.String(), code
				}
				if w.old == "" {
					lint("--write-baseline", w.file, "--reason", "late")
				}
				if out, code := lint(); code != exitClean || strings.Contains(out, "0 workloads") {
					t.Errorf("%s: accepts nothing by itself: status %d\n%s", w.way, code, out)
				}
				if w.file == configuration && w.way != allOfFile {
					continue
				}
				if out, code := lint("--config-from", "HEAD"); code != exitFindings || !strings.Contains(out, "[anti-affinity-exceeds-domains]") {
					t.Errorf("%s: status %d under --config-from\n%s", w.way, code, out)
				}
			}
		})
	}
}

// clean removes the placeholders that remain.
func clean(files map[string]string) map[string]string {
	all := map[string]string{}
	for name, text := range files {
		text = strings.ReplaceAll(text, "  MORE\n", "")
		all[name] = strings.ReplaceAll(text, "          ABOVE\n", "")
	}
	return all
}

// TestAnnotationForAllAcceptsNothingNew checks a kustomization that annotates all of its objects.
// Under --config-from, the annotation must accept only findings about objects that the revision
// has.
func TestAnnotationForAllAcceptsNothingNew(t *testing.T) {
	files := clean(map[string]string{
		".schedlint.yaml":        "topology: [nodes.yaml]\n",
		"nodes.yaml":             "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: [{name: worker, count: 3}]\n",
		"app/web.yaml":           faulty,
		"app/kustomization.yaml": "resources: [web.yaml]\ncommonAnnotations: {" + annotation + "}\n",
		"dev/kustomization.yaml": "resources: [../app]\nnamePrefix: dev-\n",
	})
	trials.InGit(t, files, ".")
	trials.Git(t, "commit", "-q", "-m", "base")
	lint := func() (string, int) {
		var out strings.Builder
		code := Run([]string{"lint", "--config-from", "HEAD", "app", "dev"}, strings.NewReader(""), &out, io.Discard)
		return out.String(), code
	}
	if out, code := lint(); code != exitClean || !strings.Contains(out, "accepted") {
		t.Errorf("status %d of what the revision accepts\n%s", code, out)
	}
	for name, text := range map[string]string{
		"app/queue.yaml":         strings.ReplaceAll(files["app/web.yaml"], "web", "queue"),
		"app/kustomization.yaml": strings.Replace(files["app/kustomization.yaml"], "web.yaml", "web.yaml, queue.yaml", 1),
	} {
		if err := os.WriteFile(filepath.FromSlash(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, code := lint()
	if code != exitFindings || !strings.Contains(out, "Deployment shop/queue: ") || strings.Contains(out, "error: Deployment shop/web: ") {
		t.Errorf("status %d of what the change adds\n%s", code, out)
	}
}
