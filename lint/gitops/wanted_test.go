package gitops

import (
	"fmt"
	"strings"
	"testing"
)

// TestWanted checks what sources take from other repositories, whether a copy is at hand or not.
func TestWanted(t *testing.T) {
	release := func(name, spec string) string {
		return "-- " + name + ".yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: " + name + ", namespace: apps}\nspec: " + spec + "\n"
	}
	flux := func(kind, name, spec string) string {
		return "-- sources/" + name + ".yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: apps}\nspec: " + spec + "\n"
	}
	chart := func(chart, version, kind, name string) string {
		return fmt.Sprintf("{chart: {spec: {chart: %s, version: %q, sourceRef: {kind: %s, name: %s}}}}", chart, version, kind, name)
	}
	archive := flux("HelmRepository", "https", "{url: https://charts.example.com/}") +
		flux("HelmRepository", "oci", "{url: oci://ghcr.io/x/charts, type: oci, insecure: true}") +
		flux("HelmRepository", "var", `{url: "https://${HOST}/x"}`) +
		flux("OCIRepository", "digest", `{url: oci://ghcr.io/x/app, ref: {tag: "1", digest: "sha256:0123"}}`) +
		flux("OCIRepository", "semver", `{url: oci://ghcr.io/x/app, ref: {tag: "1", semver: ">=1 <2", semverFilter: "^[0-9.]+$"}}`) +
		flux("GitRepository", "tag", "{url: https://git.example.com/o/r, ref: {tag: v1, branch: main}}") +
		flux("GitRepository", "range", `{url: ssh://git@git.example.com/o/r, ref: {tag: v1, semver: 1.x}}`) +
		flux("GitRepository", "head", "{url: https://git.example.com/o/other}") +
		release("a", chart("ingress", "3.x", "HelmRepository", "https")) + release("b", chart("cache", "1.2.3", "HelmRepository", "oci")) +
		release("c", chart("x", "1", "HelmRepository", "var")) + release("d", chart("x", "1", "HelmRepository", "none")) +
		release("e", "{chartRef: {kind: OCIRepository, name: digest}}") + release("f", "{chartRef: {kind: OCIRepository, name: semver}}") +
		release("g", chart("./charts/web", "", "GitRepository", "tag")) + release("h", "{suspend: true, chartRef: {kind: OCIRepository, name: digest}}") + `
-- k.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: k1, namespace: apps}
spec: {path: ./base, sourceRef: {kind: GitRepository, name: range}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: k2, namespace: apps}
spec: {path: ./base, sourceRef: {kind: OCIRepository, name: digest}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: k3, namespace: apps}
spec: {path: ./base, sourceRef: {kind: GitRepository, name: head}}
-- argo.yaml --
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: app}
spec:
  sources:
  - {repoURL: ghcr.io/x/charts, chart: cache, targetRevision: 1.2.3}
  - {repoURL: https://charts.example.com, chart: ingress, targetRevision: ""}
  - {repoURL: "git@git.example.com:o/apps.git", path: deploy, targetRevision: HEAD}
  - {repoURL: "oci://ghcr.io/x/manifests", path: ., targetRevision: v1}
`
	var got []string
	for _, d := range followed(t, archive, nil).Deployments {
		if w := d.Wanted; w != nil {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s: %s | %s %s %s %s | git %s %s | %s", d.Pointer.Name, w.Name, w.URL, w.Chart, w.Version, w.Digest+w.Filter, w.Path, w.Ref,
				map[bool]string{true: "semver "}[w.Semver && w.Chart == ""]+map[bool]string{true: "insecure "}[w.Insecure]+map[bool]string{true: "plain "}[w.Plain])))
		}
	}
	want := []string{
		`a: https://charts.example.com/ingress@3.x | https://charts.example.com ingress 3.x  | git   |`,
		`app: oci://ghcr.io/x/charts/cache@1.2.3 | oci://ghcr.io/x/charts cache 1.2.3  | git   |`,
		`app: https://charts.example.com/ingress | https://charts.example.com ingress   | git   |`,
		`app: git@git.example.com:o/apps.git@HEAD | git@git.example.com:o/apps.git    | git deploy HEAD |`,
		`app: oci://ghcr.io/x/manifests@v1 | oci://ghcr.io/x/manifests  v1  | git   | plain`,
		`b: oci://ghcr.io/x/charts/cache@1.2.3 | oci://ghcr.io/x/charts cache 1.2.3  | git   | insecure`,
		`e: oci://ghcr.io/x/app@sha256:0123 | oci://ghcr.io/x/app   sha256:0123 | git   |`,
		`f: oci://ghcr.io/x/app@>=1 <2 | oci://ghcr.io/x/app  >=1 <2 ^[0-9.]+$ | git   | semver`,
		`g: https://git.example.com/o/r@v1 | https://git.example.com/o/r    | git charts/web refs/tags/v1 |`,
		`k1: ssh://git@git.example.com/o/r@1.x | ssh://git@git.example.com/o/r    | git base 1.x | semver`,
		`k2: oci://ghcr.io/x/app@sha256:0123 | oci://ghcr.io/x/app  sha256:0123  | git   | plain`,
		`k3: https://git.example.com/o/other | https://git.example.com/o/other    | git base refs/heads/master |`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
