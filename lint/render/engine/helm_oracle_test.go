package engine

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/render"
)

// asHelm is the environment variable that makes the test binary act as helm. Its value is the
// repository.
const asHelm = "SCHEDLINT_TEST_HELM"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asHelm); dir != "" {
		os.Exit(helmTemplate(dir, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// helmTemplate implements the helm commands that kustomize runs, using the engine of this package.
func helmTemplate(confinement string, args []string) int {
	if args[0] == "version" {
		fmt.Println("v3.21.4")
		return 0
	}
	generate, c := false, &render.Chart{}
	r := render.Root{Confinement: confinement, Chart: c, Left: limits.Renders}
	for i := 1; i < len(args); i++ {
		value := func() string { i++; return args[i] }
		switch args[i] {
		case "--generate-name":
			generate = true
		case "--namespace":
			c.Namespace = value()
		case "-f":
			text, err := os.ReadFile(value())
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			c.Values = append(c.Values, render.Values{File: "x", Text: append([]byte{}, text...)})
		case "--api-versions":
			c.APIVersions = append(c.APIVersions, value())
		case "--kube-version":
			c.KubeVersion = value()
		case "--include-crds":
			c.CRDs = true
		case "--skip-tests":
			c.NoTests = true
		case "--no-hooks":
			c.NoHooks = true
		case "--debug", "--devel":
		default:
			if rel, err := filepath.Rel(confinement, args[i]); err == nil && filepath.IsAbs(args[i]) {
				r.Dir = filepath.ToSlash(rel)
			} else {
				c.Name = args[i]
			}
		}
	}
	if generate {
		c.Name = path.Base(r.Dir)
	}
	out := Build(r, nonce)
	if out.Problem != nil {
		fmt.Fprintln(os.Stderr, out.Problem)
		return 1
	}
	_, _ = os.Stdout.Write(out.Text)
	return 0
}

// withHelm returns the output of kustomize for a directory when kustomize runs helm.
func withHelm(t *testing.T, repository, dir string) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(asHelm, repository)
	opts := krusty.MakeDefaultOptions()
	opts.PluginConfig = types.DisabledPluginConfig()
	opts.PluginConfig.HelmConfig.Enabled = true
	opts.PluginConfig.HelmConfig.Command = self
	opts.LoadRestrictions = types.LoadRestrictionsNone
	m, err := krusty.MakeKustomizer(opts).Run(filesys.MakeFsOnDisk(), filepath.Join(repository, dir))
	if err != nil {
		return "", err
	}
	text, err := m.AsYaml()
	return string(text), err
}

// TestHelmChartsAsKustomize compares the result with that of kustomize when kustomize runs this
// engine as helm. The bytes must be the same, and there must be no result if kustomize fails.
func TestHelmChartsAsKustomize(t *testing.T) {
	const base = "-- base/kustomization.yaml --\nhelmGlobals: {chartHome: ../app/charts}\nhelmCharts:\n- {name: cache, releaseName: b, skipHooks: true}\n"
	releases := []string{
		"", "valuesInline: {replicas: 3}", "valuesInline: {replicas: null, nodeSelector: null}",
		"valuesInline: {nodeSelector: {disk: null, arch: arm64}}", "valuesInline: {tolerations: [{key: a}]}",
		"valuesFile: values/prod.yaml", "valuesFile: values/prod.yaml, valuesInline: {replicas: 9, image: {tag: x}}",
		"valuesFile: values/prod.yaml, valuesMerge: merge, valuesInline: {replicas: 9, image: {tag: x, name: null}}",
		"valuesMerge: merge, valuesInline: {replicas: 9, nodeSelector: {disk: hdd, arch: a}, tolerations: []}",
		"valuesMerge: replace, valuesInline: {replicas: 9, nodeSelector: null}",
		"valuesMerge: replace, valuesFile: values/none.yaml, valuesInline: {replicas: 9}", "valuesFile: values/none.yaml",
		"valuesFile: values/prod.yaml, additionalValuesFiles: [values/more.yaml], valuesInline: {replicas: 9}",
		"additionalValuesFiles: [values/none.yaml]", "includeCRDs: true", "skipTests: true", "skipHooks: true", "namespace: own",
		"kubeVersion: '1.30'", "apiVersions: [a/v1, b/v1]", "debug: true, devel: true", "valuesMerge: wrong", "version: 9.9.9",
		"valuesInline: {image: {$patch: delete, name: n, tag: t}}", "valuesInline: {$patch: replace, replicas: 1, image: {name: a, tag: b}}",
		"valuesInline: {replicas: 1.0, image: {name: 'yes', tag: 010}}", "valuesFile: values/empty.yaml, valuesInline: {replicas: 1}", "valuesFile: values/empty.yaml",
		"releaseName: -x", "releaseName: 'X'",
	}
	around := []string{
		"", "namespace: shop\n", "namePrefix: p-\nnameSuffix: -s\n", "commonLabels: {team: a}\n", "resources: [../base]\nnamespace: shop\n",
		"configMapGenerator:\n- {name: made, literals: [a=b]}\ncomponents: [../high]\nresources: [web.yaml]\n",
		"replicas:\n- {name: c-api, count: 5}\nimages:\n- {name: registry.example/cache, newTag: new}\n",
		"patchesStrategicMerge:\n- |-\n  apiVersion: apps/v1\n  kind: StatefulSet\n  metadata: {name: c-api}\n  spec: {template: {spec: {nodeSelector: {$patch: replace, a: b}}}}\n",
		"patches:\n- target: {kind: ConfigMap}\n  patch: |-\n    - {op: add, path: /metadata/annotations, value: {a: b}}\n",
		"configMapGenerator:\n- {name: c, behavior: merge, literals: [a=b]}\n", "configMapGenerator:\n- {name: c, literals: [a=b]}\n",
	}
	more := "-- app/values/empty.yaml --\n-- app/web.yaml --\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n-- high/kustomization.yaml --\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamespace: high\nconfigMapGenerator:\n- {name: high, literals: [a=b]}\n"
	check := func(kustomization string) {
		dir := repository(t, cacheChart+base+more+"-- app/kustomization.yaml --\n"+kustomization)
		want, err := withHelm(t, dir, "app")
		t.Setenv(asHelm, "")
		out := Build(rootOf(dir, "app"), nonce)
		switch {
		case (err == nil) != (out.Problem == nil):
			t.Errorf("%s: %v, but kustomize: %v", kustomization, out.Problem, err)
		case err == nil && string(out.Text) != want:
			t.Errorf("%s: the result differs\n got: %s\nwant: %s", kustomization, out.Text, want)
		}
	}
	for _, r := range releases {
		check("helmCharts:\n- {" + strings.TrimSuffix("name: cache, "+defaultName(r)+r, ", ") + "}\n")
	}
	for i, a := range around {
		check(a + "helmCharts:\n- {" + strings.TrimSuffix("name: cache, releaseName: c, "+releases[1+i%8], ", ") + "}\n")
	}
	for _, plugin := range []string{
		"generators:\n- |-\n  apiVersion: builtin\n  kind: HelmChartInflationGenerator\n  metadata: {name: a}\n  name: cache\n  releaseName: g\n  valuesInline: {replicas: 4}\nnamespace: shop\n",
		"helmChartInflationGenerator:\n- {chartName: cache, releaseName: o, values: values/prod.yaml, valuesLocal: {replicas: 7}}\nhelmCharts:\n- {name: cache, releaseName: nn}\nnamePrefix: x-\n",
	} {
		check(plugin)
	}
}

func defaultName(release string) string {
	if slices.ContainsFunc(strings.Split(release, ", "), func(s string) bool { return strings.HasPrefix(s, "releaseName") }) {
		return ""
	}
	return "releaseName: c, "
}
