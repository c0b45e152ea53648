//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// reading is a way in which a tree makes schedlint read a file. Either the files name it as PATH, relative
// to the directory a, or it is the file "is" of the tree.
type reading struct {
	way, is string
	files   map[string]string
	folder  bool // PATH is a directory
}

// readings lists the ways. Each tree has its files in the directory a.
func readings() (all []reading) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: ok}\nspec: {containers: [{name: c, image: c}]}\n"
	const chart = "apiVersion: v2\nname: c\nversion: 1.0.0\n"
	const flux = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: flux-system}\nspec: {url: 'https://git.example/fleet'}\n---\n"
	const argo = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\nspec:\n  source:\n    repoURL: https://git.example/fleet\n"
	add := func(way, is string, folder bool, files ...string) {
		r := reading{way, is, map[string]string{}, folder}
		for i := 0; i < len(files); i += 2 {
			r.files[files[i]] = files[i+1]
		}
		all = append(all, r)
	}
	for _, c := range [][2]string{
		{"resources", "resources: [pod.yaml, PATH]"},
		{"components", "resources: [pod.yaml]\ncomponents: [PATH]"},
		{"patches", "resources: [pod.yaml]\npatches: [{path: PATH}]"},
		{"patches of a target", "resources: [pod.yaml]\npatches: [{path: PATH, target: {kind: Pod}}]"},
		{"patchesStrategicMerge", "resources: [pod.yaml]\npatchesStrategicMerge: [PATH]"},
		{"patchesJson6902", "resources: [pod.yaml]\npatchesJson6902: [{path: PATH, target: {version: v1, kind: Pod, name: ok}}]"},
		{"files of configMaps", "resources: [pod.yaml]\nconfigMapGenerator: [{name: m, files: [PATH]}]"},
		{"files of secrets", "resources: [pod.yaml]\nsecretGenerator: [{name: m, files: [k=PATH]}]"},
		{"envs", "resources: [pod.yaml]\nconfigMapGenerator: [{name: m, envs: [PATH]}]"},
		{"crds", "resources: [pod.yaml]\ncrds: [PATH]"},
		{"configurations", "resources: [pod.yaml]\nconfigurations: [PATH]"},
		{"transformers", "resources: [pod.yaml]\ntransformers: [PATH]"},
		{"generators", "resources: [pod.yaml]\ngenerators: [PATH]"},
		{"validators", "resources: [pod.yaml]\nvalidators: [PATH]"},
		{"replacements", "resources: [pod.yaml]\nreplacements: [{path: PATH}]"},
		{"openapi", "resources: [pod.yaml]\nopenapi: {path: PATH}"},
		{"values of a chart", "resources: [pod.yaml]\nhelmGlobals: {chartHome: .}\nhelmCharts: [{name: c, releaseName: r, valuesFile: PATH}]"},
		{"further values", "resources: [pod.yaml]\nhelmGlobals: {chartHome: .}\nhelmCharts: [{name: c, releaseName: r, additionalValuesFiles: [PATH]}]"},
		{"chartHome", "resources: [pod.yaml]\nhelmGlobals: {chartHome: PATH}\nhelmCharts: [{name: c, releaseName: r}]"},
		{"a directory of resources", "resources: [pod.yaml, PATH]"},
	} {
		add(c[0], "", strings.HasPrefix(c[0], "a directory") || c[0] == "chartHome", "a/kustomization.yaml", c[1]+"\n", "a/pod.yaml", pod, "a/c/Chart.yaml", chart, "a/c/templates/pod.yaml", pod)
	}
	add("kustomization", "a/kustomization.yaml", false, "a/pod.yaml", pod)
	add("manifest", "a/more.yaml", false, "a/pod.yaml", pod)
	add("directory", "a/more", true, "a/pod.yaml", pod)
	add("Chart.yaml", "a/Chart.yaml", false, "a/templates/pod.yaml", pod)
	for _, name := range []string{"values.yaml", "values.schema.json", "Chart.lock", ".helmignore", "templates/more.yaml", "templates/_helpers.tpl", "crds/more.yaml", "charts/more.tgz"} {
		add("file of a chart, "+name, "a/"+name, false, "a/Chart.yaml", chart, "a/templates/pod.yaml", pod)
	}
	add("dependency in a folder of a chart", "a/charts/more", true, "a/Chart.yaml", chart, "a/templates/pod.yaml", pod)
	add("dependency of a chart", "", true, "a/Chart.yaml", chart+"dependencies: [{name: d, version: 1.0.0, repository: 'file://PATH'}]\n", "a/templates/pod.yaml", pod)
	add("Files.Get", "a/text.txt", false, "a/Chart.yaml", chart, "a/templates/pod.yaml", strings.Replace(pod, "name: ok", "name: ok, annotations: {text: {{ .Files.Get \"text.txt\" | quote }}}", 1))
	add("Flux Kustomization", "", true, "a/ks.yaml", flux+"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: web, namespace: flux-system}\nspec: {path: a/PATH, sourceRef: {kind: GitRepository, name: fleet}}\n")
	const release = flux + "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: flux-system}\nspec: {chart: {spec: {sourceRef: {kind: GitRepository, name: fleet}, "
	add("HelmRelease", "", true, "a/hr.yaml", release+"chart: a/PATH}}}\n")
	add("values of a HelmRelease", "", false, "a/hr.yaml", release+"chart: a/c, valuesFiles: [a/PATH]}}}\n", "a/c/Chart.yaml", chart, "a/c/templates/pod.yaml", pod)
	add("Application", "", true, "a/app.yaml", argo+"    path: a/PATH\n")
	add("values of an Application", "", false, "a/app.yaml", argo+"    path: a/c\n    helm: {valueFiles: [../PATH]}\n", "a/c/Chart.yaml", chart, "a/c/templates/pod.yaml", pod)
	add("parameter of an Application", "", false, "a/app.yaml", argo+"    path: a/c\n    helm: {fileParameters: [{name: x, path: ../PATH}]}\n", "a/c/Chart.yaml", chart, "a/c/templates/pod.yaml", pod)
	add("files of an ApplicationSet", "", false, "a/set.yaml", "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: web, namespace: argocd}\nspec:\n  generators: [{git: {repoURL: https://git.example/fleet, files: [{path: a/PATH}]}}]\n  template: {metadata: {name: x}, spec: {source: {repoURL: https://git.example/fleet, path: a/c}}}\n", "a/c/Chart.yaml", chart, "a/c/templates/pod.yaml", pod)
	add("chart of a helmfile", "", true, "a/helmfile.yaml", "releases: [{name: web, chart: ./PATH}]\n")
	add("values of a helmfile", "", false, "a/helmfile.yaml", "releases: [{name: web, chart: ./c, values: [PATH]}]\n", "a/c/Chart.yaml", chart, "a/c/templates/pod.yaml", pod)
	add("helmfile", "a/helmfile.yaml", false, "a/pod.yaml", pod)
	for _, c := range [][2]string{
		{"nodes of the configuration", "topology: [a/PATH]"},
		{"baseline of the configuration", "baseline: a/PATH"},
		{"rules of the configuration", "policies: [{path: a/PATH}]"},
		{"copies of the configuration", "vendor: a/PATH"},
	} {
		add(c[0], "", c[0][0] == 'r' || c[0][0] == 'c', configuration, c[1]+"\n", "a/pod.yaml", pod)
	}
	add("configuration", configuration, false, "a/pod.yaml", pod)
	add("patch of a node file", "", false, configuration, "topology: [talconfig.yaml]\n", "talconfig.yaml", "clusterName: c\nendpoint: https://192.0.2.1:6443\nnodes: [{hostname: n, controlPlane: false, ipAddress: 192.0.2.2, installDisk: /dev/sda, patches: ['@a/PATH']}]\n", "a/pod.yaml", pod)
	return all
}

// TestNamedFilesAreGuarded checks that a tree reads no pipe, no device, nothing that a link names outside of
// the work tree and nothing above it, and that nothing of that passes in silence.
func TestNamedFilesAreGuarded(t *testing.T) {
	ctx := oneWorker(t)
	const secret = "leaked"
	text := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + secret + "}\nspec: {replicas: " + secret + "}\n"
	for i, r := range readings() {
		for k, what := range []string{"link", "above", "pipe", "device", "link to a device"} {
			if !trials.Full(t) && (i+k)%6 > 0 { // most ways once
				continue
			}
			if r.folder && (r.is != "" || r.way == "copies of the configuration") && what != "link" {
				continue // nothing is there to read
			}
			t.Run(r.way+", "+what, func(t *testing.T) {
				home := t.TempDir()
				outside := filepath.Join(home, "outside")
				write(t, map[string]string{
					filepath.Join(outside, "secret.yaml"):                       text,
					filepath.Join(outside, "folder", "secret.yaml"):             text,
					filepath.Join(outside, "folder", "kustomization.yaml"):      "resources: [secret.yaml]\n",
					filepath.Join(outside, "folder", "Chart.yaml"):              "apiVersion: v2\nname: " + secret + "\nversion: 1.0.0\n",
					filepath.Join(outside, "folder", "templates/secret.yaml"):   text,
					filepath.Join(outside, "folder", "c/Chart.yaml"):            "apiVersion: v2\nname: c\nversion: 1.0.0\n",
					filepath.Join(outside, "folder", "c/templates/secret.yaml"): text,
				})
				target := filepath.Join(outside, "secret.yaml")
				if r.folder {
					target = filepath.Join(outside, "folder")
				}
				repo := filepath.Join(home, "repo")
				t.Chdir(home)
				name, at := "named", r.is
				switch {
				case what == "device":
					name = "/dev/stdin"
				case what == "above":
					name, _ = filepath.Rel(filepath.Join(repo, "a"), target)
				}
				if at == "" {
					at = "a/" + name
				}
				files := map[string]string{}
				for file, text := range r.files {
					files[filepath.Join(repo, file)] = strings.ReplaceAll(text, "PATH", name)
				}
				write(t, files)
				t.Chdir(repo)
				if name == "named" || r.is != "" {
					done := func(err error) {
						if err != nil {
							t.Fatal(err)
						}
					}
					done(os.MkdirAll(filepath.Dir(at), 0o755))
					switch what {
					case "pipe":
						done(syscall.Mkfifo(at, 0o644))
					case "device", "link to a device":
						done(os.Symlink("/dev/stdin", at))
					default:
						done(os.Symlink(target, at))
					}
				}
				trials.Git(t, "init", "-q", ".")
				trials.Git(t, "remote", "add", "origin", "https://git.example/fleet")
				var out strings.Builder
				code, ended := 0, make(chan bool)
				go func() {
					defer close(ended)
					code = RunContext(ctx, []string{"lint", "--verbose", "."}, strings.NewReader(text), &out, &out)
				}()
				select {
				case <-ended:
				case <-time.After(30 * time.Second):
					t.Fatal("waits for what it reads")
				}
				if strings.Contains(out.String(), secret) && !strings.Contains(name, secret) {
					t.Errorf("status %d, and it was read:\n%s", code, &out)
				}
				told := code != exitClean
				for line := range strings.Lines(out.String()) {
					for _, word := range []string{filepath.Base(at), "skipped", "not followed", "not rendered"} {
						told = told || strings.Contains(line, word)
					}
				}
				if !told {
					t.Errorf("passes in silence:\n%s", &out)
				}
			})
		}
	}
}
