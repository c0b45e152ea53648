package gitops

import (
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
)

// generator returns an ArtifactGenerator of this repository with the given artifacts.
func generator(artifacts string) string {
	return "apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: g, namespace: flux-system}\nspec:\n  sources: [{alias: r, kind: GitRepository, name: flux-system}, {alias: far, kind: Bucket, name: far}]\n  artifacts: [" + artifacts + "]\n---\n"
}

// external is the reference of a pointer to an artifact.
func external(name string) string {
	return "  sourceRef: {kind: ExternalArtifact, name: " + name + ", namespace: flux-system}\n"
}

// TestExternalArtifacts checks that a pointer to copies renders the originals, and why it does not.
func TestExternalArtifacts(t *testing.T) {
	const base = "-- apps/base/kustomization.yaml --\nresources: [c.yaml]\n-- apps/base/c.yaml --\n" + config + "-- apps/prod/kustomization.yaml --\nresources: [../base]\n"
	prod := pointer("a", "prod", external("x"))
	for name, c := range map[string]struct {
		archive string
		want    []string
	}{
		"contents": {
			"-- f.yaml --\n" + generator("{name: x, copy: [{from: '@r/apps/**', to: '@artifact/'}]}") + prod + base,
			[]string{"f.yaml:11 a -> apps/prod by f.yaml"},
		},
		"directories": {
			"-- f.yaml --\n" + generator("{name: x, copy: [{from: '@r/apps/base/', to: '@artifact/'}, {from: '@r/apps/prod/**', to: '@artifact/prod'}]}") + prod + base,
			[]string{"f.yaml:11 a -> apps/prod by f.yaml"},
		},
		"the path holds the copied directory": { // Flux generates a kustomization for it
			"-- f.yaml --\n" + generator("{name: x, copy: [{from: '@r/apps/base/', to: '@artifact/prod/'}]}") + prod + base + "-- apps/kustomization.yaml --\nresources: [gone.yaml]\n",
			[]string{"f.yaml:11 a -> apps/base by f.yaml", "root 0", "root 1"},
		},
		"a base that was not copied": {
			"-- f.yaml --\n" + generator("{name: x, copy: [{from: '@r/apps/prod/', to: '@artifact/'}]}") + prod + base,
			[]string{"f.yaml:11 a apps/prod/kustomization.yaml:1: resources entry ../base: ExternalArtifact/flux-system/x/base does not exist"},
		},
		"a file of the base that was not copied": {
			"-- f.yaml --\n" + generator("{name: x, copy: [{from: '@r/apps/**', to: '@artifact/', exclude: ['c.*']}]}") + prod + base,
			[]string{"f.yaml:11 a apps/base/kustomization.yaml:1: resources entry c.yaml: ExternalArtifact/flux-system/x/base/c.yaml does not exist"},
		},
		"a kustomization that was not copied": { // Flux generates one
			"-- f.yaml --\n" + generator("{name: x, copy: [{from: '@r/apps/base/**', to: '@artifact/prod/', exclude: [kustomization.yaml]}]}") + prod + base,
			[]string{"f.yaml:11 a -> apps/base by f.yaml", "root 0"},
		},
		"several directories": {
			"-- f.yaml --\n" + generator("{name: x, copy: [{from: '@r/apps/base/**', to: '@artifact/prod/'}, {from: '@r/apps/prod/**', to: '@artifact/prod/'}]}") + prod + base,
			[]string{"f.yaml:11 a apps/prod/kustomization.yaml:1: resources entry ../base: ExternalArtifact/flux-system/x/base does not exist"}, // the later copy replaces the kustomization
		},
		"a base and an overlay": {
			"-- f.yaml --\n" + generator("{name: x, copy: [{from: '@r/common/web/**', to: '@artifact/base/'}, {from: '@r/clusters/a.yaml', to: '@artifact/prod/kustomization.yaml'}]}") + prod + "-- common/web/kustomization.yaml --\nresources: [c.yaml]\n-- common/web/c.yaml --\n" + config + "-- clusters/a.yaml --\nresources: [../base]\n",
			[]string{"f.yaml:11 a -> clusters by f.yaml"},
		},
		"manifests": { // Flux generates a kustomization for files of two directories
			"-- f.yaml --\n" + generator("{name: x, copy: [{from: '@r/one/**', to: '@artifact/prod/'}, {from: '@r/two/**', to: '@artifact/prod/'}]}") + prod + "-- one/c.yaml --\n" + config + "-- two/d.yaml --\n" + strings.Replace(config, "name: c", "name: d", 1),
			[]string{"f.yaml:11 a -> one by f.yaml"},
		},
		"pointers": { // they are deployed by what deploys their file
			"-- f.yaml --\n" + generator("{name: x, copy: [{from: '@r/one.yaml', to: '@artifact/prod/'}, {from: '@r/two.yaml', to: '@artifact/prod/'}]}") + prod + "-- one.yaml --\n" + pointer("b", "apps/base") + "-- two.yaml --\n" + config + base,
			[]string{"f.yaml:11 a -> . by f.yaml", "one.yaml:4 b -> apps/base by f.yaml one.yaml", "root 0"},
		},
		"two directories of an artifact": {
			"-- f.yaml --\n" + generator("{name: x, copy: [{from: '@r/apps/**', to: '@artifact/'}]}, {name: y, copy: [{from: '@r/apps/base/', to: '@artifact/'}]}") + prod + "---\n" + pointer("b", "base", external("x")) + "---\n" + pointer("b", "base", external("y")) + base,
			[]string{"f.yaml:11 a -> apps/prod by f.yaml", "f.yaml:19 b -> apps/base by f.yaml", "f.yaml:27 b -> apps/base by f.yaml"},
		},
		"merged": {
			"-- f.yaml --\n" + generator("{name: x, copy: [{from: '@r/apps/base/**', to: '@artifact/prod/'}, {from: '@r/apps/prod/kustomization.yaml', to: '@artifact/prod/', strategy: Merge}]}") + prod + base,
			[]string{"f.yaml:11 a f.yaml:11: ExternalArtifact/flux-system/x/prod/kustomization.yaml is merged from several files, and only the values.yaml of a chart may be", "root 0"},
		},
		"a source that is not at hand": {
			"-- f.yaml --\n" + generator("{name: x, copy: [{from: '@far/apps/**', to: '@artifact/'}]}") + prod + base,
			[]string{"f.yaml:11 a source that is not a Git repository: Bucket flux-system/far", "root 0"},
		},
		"no path": {
			"-- f.yaml --\n" + generator("{name: x, copy: [{from: '@r/apps/**', to: '@artifact/x/'}]}") + prod + base,
			[]string{"f.yaml:11 a path that does not exist: prod in ExternalArtifact flux-system/x", "root 0"},
		},
		"no generator": {
			"-- f.yaml --\n" + generator("{name: y, copy: [{from: '@r/apps/**', to: '@artifact/'}]}") + prod + base,
			[]string{"f.yaml:11 a source that is not a Git repository: ExternalArtifact flux-system/x, which no ArtifactGenerator in the tree makes", "root 0"},
		},
		"the generator of each cluster": {
			"-- f.yaml --\n" + generator("{name: x, copy: [{from: '@r/apps/**', to: '@artifact/'}]}") + generator("{name: x, copy: [{from: '@r/apps/base/**', to: '@artifact/test/'}]}") + prod + "---\n" + pointer("b", "test", external("x")) + base,
			[]string{"f.yaml:18 a -> apps/prod by f.yaml", "f.yaml:26 b -> apps/base by f.yaml"},
		},
		"generators that differ": {
			"-- f.yaml --\n" + generator("{name: x, copy: [{from: '@r/apps/**', to: '@artifact/'}]}") + generator("{name: x, copy: [{from: '@r/apps/prod/', to: '@artifact/'}]}") + prod + base,
			[]string{"f.yaml:18 a source that is not a Git repository: ExternalArtifact flux-system/x, which ArtifactGenerators make in different ways", "root 0"},
		},
	} {
		got := told(followed(t, c.archive, nil))
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s\n%q\nwant\n%q", name, got, c.want)
		}
	}
}

// TestExternalCharts checks charts in artifacts, and values that an ArtifactGenerator merges into
// those of a chart.
func TestExternalCharts(t *testing.T) {
	chart := "-- charts/c/Chart.yaml --\napiVersion: v2\nname: c\nversion: 1.0.0\n-- charts/c/values.yaml --\na: {b: 1, c: 1}\n-- charts/c/templates/t.yaml --\n" +
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {b: '{{ .Values.a.b }}', c: '{{ .Values.a.c }}'}\n-- prod.yaml --\na: {b: 2}\n"
	for copies, want := range map[string]string{
		"{from: '@r/charts/c/', to: '@artifact/'}":    `data: {b: '1', c: '1'}`,
		"{from: '@r/charts/c/**', to: '@artifact/x'}": `data: {b: '1', c: '1'}`,
		"{from: '@r/charts/c/', to: '@artifact/'}, {from: '@r/prod.yaml', to: '@artifact/c/values.yaml', strategy: Merge}":                                                                        `data: {b: '2', c: '1'}`,
		"{from: '@r/charts/c/', to: '@artifact/'}, {from: '@r/prod.yaml', to: '@artifact/c/values.yaml'}":                                                                                         `data: {b: '2', c: ''}`,
		"{from: '@r/charts/c/', to: '@artifact/'}, {from: '@r/prod.yaml', to: '@artifact/'}":                                                                                                      "source that is not a Git repository: ExternalArtifact flux-system/x, which has more than the directory of a chart",
		"{from: '@r/charts/c/**', to: '@artifact/'}":                                                                                                                                              "source that is not a Git repository: ExternalArtifact flux-system/x, which has more than the directory of a chart",
		"{from: '@r/charts/c/', to: '@artifact/', exclude: ['templates/**']}":                                                                                                                     "",
		"{from: '@r/charts/c/templates/t.yaml', to: '@artifact/c/templates/a.yaml'}, {from: '@r/charts/c/Chart.yaml', to: '@artifact/c/'}, {from: '@r/prod.yaml', to: '@artifact/c/values.yaml'}": `data: {b: '2', c: ''}`,
		"{from: '@r/charts/c/', to: '@artifact/', exclude: ['Chart.yaml']}":                                                                                                                       "f.yaml:11: ",
	} {
		release := helmRelease("  chartRef: {kind: ExternalArtifact, name: x, namespace: flux-system}\n")
		r := followed(t, "-- f.yaml --\n"+generator("{name: x, copy: ["+copies+"]}")+release+chart, nil)
		d := r.Deployments[0]
		got := d.Why.String()
		if d.Output != nil && d.Output.Problem != nil {
			got = d.Output.Problem.Error()
		} else if d.Output != nil {
			got = string(d.Output.Text)
		}
		if !strings.Contains(got, want) || want == "" && got != "" || len(r.Deployments) != 1 {
			t.Errorf("%s\n%s\nwant\n%s", copies, got, want)
		}
	}
}

// TestExternalArtifactsBounded checks that pointers to artifacts with many files are refused at some
// point, because a worker gets all names of an artifact for each.
func TestExternalArtifactsBounded(t *testing.T) {
	o := optionsFor(t, "-- f.yaml --\n"+generator("{name: x, copy: [{from: '@r/apps/**', to: '@artifact/'}]}")+pointer("a", "one", external("x"))+"-- apps/one/c.yaml --\n"+config+"-- apps/two/c.yaml --\n"+config)
	f := newFollower(o)
	f.layers() // of the two copied files, one is in the pointer's directory
	if f.looks != 3 || f.all[0].Why.Some() {
		t.Errorf("%d looks, %v", f.looks, f.all[0].Why)
	}
	f = newFollower(o)
	f.looks = limits.Ignored - 2
	if f.layers(); f.all[0].Why.What != pointers.WhyTooMany || !f.all[0].Why.Refused {
		t.Errorf("%v", f.all[0].Why)
	}
}
