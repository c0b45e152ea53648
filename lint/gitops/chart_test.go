package gitops

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const shop = `
-- charts/shop/Chart.yaml --
apiVersion: v2
name: shop
version: 1.2.0
-- charts/shop/values.yaml --
replicas: 1
zone: a
-- charts/shop/env/prod.yaml --
zone: prod
-- charts/shop/templates/a.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
replicas: {{ .Values.replicas }}
zone: {{ .Values.zone }}
`

// helmRelease returns a Flux HelmRelease with the given spec fields.
func helmRelease(spec string) string {
	return "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: shop\n  namespace: web\nspec:\n" + spec
}

const byPath = "  chart: {spec: {chart: ./charts/shop, sourceRef: {kind: GitRepository, name: flux-system}}}\n"

// application returns an Argo CD Application with the given source fields.
func application(source string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop}\nspec:\n  project: p\n  destination: {name: c, namespace: web}\n  source:\n    repoURL: https://h/o/fleet\n" + source
}

// outcome returns the result for the only pointer of a tree: the rendered lines that have a place
// or that values set, or the reason why the pointer is not rendered.
func outcome(r *Result) string {
	var all []string
	for _, d := range r.Deployments {
		switch {
		case d.Why.Some() && d.Why.Refused:
			all = append(all, "refused: "+d.Why.String())
			continue
		case d.Why.Some():
			all = append(all, d.Why.String())
			continue
		case d.Output.Problem != nil:
			all = append(all, d.Output.Problem.Error())
			continue
		}
		for i, line := range strings.Split(strings.TrimSuffix(string(d.Output.Text), "\n"), "\n") {
			if len(d.Output.Lines) == 0 || !strings.Contains(line, "name") && !strings.Contains(line, "zone") && !strings.Contains(line, "replicas") {
				continue
			}
			line = strings.TrimSpace(line)
			if at := d.Output.Lines[i]; at.Values >= 0 {
				line += fmt.Sprintf(" %s:%d:%d", d.Output.Files[at.Values], at.ValuesAt, at.ValuesColumn)
			}
			all = append(all, line)
		}
	}
	return strings.Join(all, "\n")
}

// TestCharts checks the values that a pointer sets for a chart, their order, and the line of each
// value.
func TestCharts(t *testing.T) {
	for name, c := range map[string]struct{ tree, want string }{
		"release": {
			"-- r.yaml --\n" + helmRelease(byPath+"  values:\n    replicas: 3\n"),
			"namespace: \"web\"\nname: shop\nreplicas: 3 r.yaml:9:15\nzone: a charts/shop/values.yaml:2:7",
		},
		"target namespace": {
			"-- r.yaml --\n" + helmRelease(byPath+"  targetNamespace: prod\n"),
			"namespace: \"prod\"\nname: prod-shop\nreplicas: 1 charts/shop/values.yaml:1:11\nzone: a charts/shop/values.yaml:2:7",
		},
		"values files": { // the values files replace those of the chart
			"-- r.yaml --\n" + helmRelease("  chart: {spec: {chart: charts/shop, version: 9.x, valuesFiles: [charts/shop/values.yaml, env.yaml], sourceRef: {kind: GitRepository, name: x}}}\n") + "-- env.yaml --\nzone: b\n",
			"namespace: \"web\"\nname: shop\nreplicas: 1 charts/shop/values.yaml:1:11\nzone: b env.yaml:1:7",
		},
		"values files alone": {
			"-- r.yaml --\n" + helmRelease("  chart: {spec: {chart: charts/shop, ignoreMissingValuesFiles: true, valuesFiles: [no.yaml, env.yaml], sourceRef: {kind: GitRepository, name: x}}}\n") + "-- env.yaml --\nzone: b\n",
			"namespace: \"web\"\nname: shop\nreplicas:\nzone: b env.yaml:1:7",
		},
		"ConfigMap": {
			"-- r.yaml --\n" + helmRelease(byPath+"  valuesFrom:\n  - {kind: ConfigMap, name: v}\n  - {kind: ConfigMap, name: v, valuesKey: none, optional: true}\n  values: {zone: c}\n") +
				"-- v.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: v, namespace: web}\ndata:\n  values.yaml: |\n    # ours\n    replicas: 4\n    zone: b\n",
			"namespace: \"web\"\nname: shop\nreplicas: 4 v.yaml:7:5\nzone: c r.yaml:11:18",
		},
		"target path": {
			"-- r.yaml --\n" + helmRelease(byPath+"  valuesFrom:\n  - {kind: ConfigMap, name: v, valuesKey: count, targetPath: replicas}\n") +
				"-- v.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: v, namespace: web}\ndata:\n  count: \"4\"\n",
			"namespace: \"web\"\nname: shop\nreplicas: 4 v.yaml:5:10\nzone: a charts/shop/values.yaml:2:7",
		},
		"target path and values": {
			"-- r.yaml --\n" + helmRelease(byPath+"  valuesFrom:\n  - {kind: ConfigMap, name: v, valuesKey: count, targetPath: replicas}\n  values: {replicas: 2}\n") +
				"-- v.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: v, namespace: web}\ndata:\n  count: \"4\"\n",
			"values that are not known: values set targetPath replicas as well",
		},
		"Secret": {"-- r.yaml --\n" + helmRelease(byPath+"  valuesFrom: [{kind: Secret, name: s, optional: true}]\n"), "values that are not known: Secret web/s"},
		"a path of a Secret": { // what the template prints is unknown
			"-- r.yaml --\n" + helmRelease(byPath+"  valuesFrom: [{kind: Secret, name: s, valuesKey: zone, targetPath: zone}]\n"),
			"namespace: \"web\"\nname: shop\nreplicas: 1 charts/shop/values.yaml:1:11\nzone: ${schedlint_unknown_value}",
		},
		"a path of a Secret that may be missing": {"-- r.yaml --\n" + helmRelease(byPath+"  valuesFrom: [{kind: Secret, name: s, valuesKey: zone, targetPath: zone, optional: true}]\n"), "values that are not known: Secret web/s"},
		"a path of a Secret and values":          {"-- r.yaml --\n" + helmRelease(byPath+"  valuesFrom: [{kind: Secret, name: s, valuesKey: zone, targetPath: zone}]\n  values: {zone: a}\n"), "values that are not known: values set targetPath zone as well"},
		"a Secret decides":                       {"-- r.yaml --\n" + helmRelease(byPath+"  valuesFrom: [{kind: Secret, name: s, valuesKey: zone, targetPath: on}]\n") + "-- charts/shop/templates/b.yaml --\n{{ if .Values.on }}{{ end }}\n", "values that are not known: a Secret sets on: charts/shop/templates/b.yaml:1: a condition depends on a value that is not known"},
		"no ConfigMap":                           {"-- r.yaml --\n" + helmRelease(byPath+"  valuesFrom: [{kind: ConfigMap, name: s, optional: true}]\n"), "values that are not known: ConfigMap web/s is not in the tree"},
		"a variable":                             {"-- r.yaml --\n" + helmRelease(byPath+"  values: {zone: \"${ZONE}\"}\n"), "values that are not known: r.yaml has a variable, as ${NAME}"},
		"encrypted":                              {"-- r.yaml --\n" + helmRelease(byPath+"  values: {zone: \"ENC[AES256_GCM,data:x]\"}\n"), "values that are not known: r.yaml has an encrypted value"},
		"an absolute file":                       {"-- r.yaml --\n" + helmRelease("  chart: {spec: {chart: charts/shop, valuesFiles: [/etc/passwd], sourceRef: {kind: GitRepository, name: x}}}\n"), "path that does not exist: values file etc/passwd"},
		"a file above":                           {"-- r.yaml --\n" + helmRelease("  chart: {spec: {chart: charts/shop, valuesFiles: [../x.yaml], sourceRef: {kind: GitRepository, name: x}}}\n"), "refused: path outside of the repository: ../x.yaml"},
		"a chart above":                          {"-- r.yaml --\n" + helmRelease("  chart: {spec: {chart: ../shop, sourceRef: {kind: GitRepository, name: x}}}\n"), "refused: path outside of the repository: ../shop"},
		"a bucket":                               {"-- r.yaml --\n" + helmRelease("  chart: {spec: {chart: shop, sourceRef: {kind: Bucket, name: x}}}\n"), "source that is not a Git repository: Bucket web/x"},
		"a post-renderer":                        {"-- r.yaml --\n" + helmRelease(byPath+"  postRenderers: [{other: {a: b}}]\n"), "post-renderer: one that is not kustomize"},
		"many references":                        {"-- r.yaml --\n" + helmRelease(byPath+"  valuesFrom:\n"+strings.Repeat("  - {kind: ConfigMap, name: v}\n", 10_000)), "refused: too many pointers: the release takes values from 10000 objects, more than the limit of 1000"},
		"values of 10 MB":                        {"-- r.yaml --\n" + helmRelease(byPath+"  values: {zone: "+strings.Repeat("x", 10<<20)+"}\n"), "values that are not known: r.yaml has values beyond the limit of 2 MiB, or of 128 MiB in all, or of 200 levels"},
		"many aliases":                           {"-- r.yaml --\n" + helmRelease(byPath+"  values:\n    a0: &a0 [x, x, x, x, x, x, x, x, x]\n"+bomb(4)), "namespace: \"web\"\nname: shop\nreplicas: 1 charts/shop/values.yaml:1:11\nzone: a charts/shop/values.yaml:2:7"},
		"left out of the artifact": {
			"-- r.yaml --\n" + helmRelease(byPath) + "-- .sourceignore --\ncharts/**/env/\n",
			"path that does not exist: charts/shop/env/prod.yaml, which .sourceignore leaves out",
		},
		"a values file left out": {
			"-- r.yaml --\n" + helmRelease("  chart: {spec: {chart: charts/shop, ignoreMissingValuesFiles: true, valuesFiles: [charts/shop/values.yaml, env.yaml], sourceRef: {kind: GitRepository, name: x}}}\n") + "-- env.yaml --\nzone: b\n" +
				"-- g.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: x, namespace: web}\nspec: {url: 'https://h/o/fleet', ignore: \"/env.yaml\"}\n",
			"namespace: \"web\"\nname: shop\nreplicas: 1 charts/shop/values.yaml:1:11\nzone: a charts/shop/values.yaml:2:7",
		},
		"charts that deploy charts": {
			"-- a.yaml --\n" + strings.Replace(application("    path: all\n    helm: {valuesObject: {count: 3}}\n"), "name: shop", "name: all", 1) +
				"-- all/Chart.yaml --\napiVersion: v2\nname: all\nversion: 1.0.0\n-- all/templates/a.yaml --\n" +
				application("    path: charts/shop\n    helm:\n      valuesObject:\n        replicas: {{ .Values.count }}\n        zone: z9\n"),
			"metadata: {namespace: \"web\", name: shop}\ndestination: {name: c, namespace: web}\nreplicas: 3 a.yaml:10:34\nzone: z9\nnamespace: \"web\"\nname: shop\nreplicas: 3 a.yaml:10:34\nzone: z9 all/templates/a.yaml:13:1",
		},
		"chart object": {
			"-- r.yaml --\n" + helmRelease("  chartRef: {kind: HelmChart, name: c}\n") +
				"-- c.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmChart\nmetadata: {name: c, namespace: web}\nspec: {chart: charts/shop, valuesFiles: [charts/shop/env/prod.yaml], sourceRef: {kind: GitRepository, name: x}}\n",
			"namespace: \"web\"\nname: shop\nreplicas:\nzone: prod charts/shop/env/prod.yaml:1:7",
		},
		"application": {
			"-- a.yaml --\n" + application("    path: charts/shop\n"),
			"namespace: \"web\"\nname: shop\nreplicas: 1 charts/shop/values.yaml:1:11\nzone: a charts/shop/values.yaml:2:7",
		},
		"options": {
			"-- a.yaml --\n" + application("    path: charts/shop\n    helm:\n      releaseName: other\n      valueFiles: [env/prod.yaml, no.yaml]\n      ignoreMissingValueFiles: true\n      parameters:\n      - {name: replicas, value: \"$ARGOCD_APP_NAME\", forceString: true}\n      - name: replicas\n        value: \"6\"\n"),
			"namespace: \"web\"\nname: other\nreplicas: shop\nzone: prod charts/shop/env/prod.yaml:1:7",
		},
		"parameter": {
			"-- a.yaml --\n" + application("    path: charts/shop\n    helm:\n      values: |\n        replicas: 5\n        zone: b\n      parameters:\n      - name: replicas\n        value: \"6\"\n"),
			"namespace: \"web\"\nname: shop\nreplicas: 6 a.yaml:16:16\nzone: b a.yaml:13:9",
		},
		"a parameter of --set": {
			"-- a.yaml --\n" + application("    path: charts/shop\n    helm:\n      parameters:\n      - {name: 'replicas[0]', value: 'x,y'}\n      - {name: zone, value: '1,2', forceString: true}\n"),
			"namespace: \"web\"\nname: shop\nreplicas: [x,y]\nzone: 1,2 a.yaml:13:29",
		},
		"an escaped text of --set-string": {
			"-- a.yaml --\n" + application("    path: charts/shop\n    helm:\n      parameters:\n      - {name: zone, value: 'a\\.b', forceString: true}\n"),
			"namespace: \"web\"\nname: shop\nreplicas: 1 charts/shop/values.yaml:1:11\nzone: a.b",
		},
		"many files": {
			"-- a.yaml --\n" + application("    path: charts/shop\n    helm:\n      valueFiles:\n"+strings.Repeat("      - '*.yaml'\n", 10_000)),
			"refused: too many pointers: the release has more than 1000 values files and parameters",
		},
		"values object": {
			"-- a.yaml --\n" + application("    path: charts/shop\n    helm:\n      values: |\n        zone: b\n      valuesObject:\n        replicas: 5\n"),
			"namespace: \"web\"\nname: shop\nreplicas: 5 a.yaml:14:19\nzone: a charts/shop/values.yaml:2:7",
		},
		"file parameter": {
			"-- a.yaml --\n" + application("    path: charts/shop\n    helm:\n      fileParameters: [{name: zone, path: ../../zone.txt}]\n") + "-- zone.txt --\nz1\n",
			"namespace: \"web\"\nname: shop\nreplicas: 1 charts/shop/values.yaml:1:11\nzone: z1",
		},
		"glob": {
			"-- a.yaml --\n" + application("    path: charts/shop\n    helm: {valueFiles: [/env/*.yaml]}\n") + "-- env/a.yaml --\nzone: e1\nreplicas: 7\n-- env/b.yaml --\nzone: e2\n",
			"namespace: \"web\"\nname: shop\nreplicas: 7 env/a.yaml:2:11\nzone: e2 env/b.yaml:1:7",
		},
		"another source": {
			"-- a.yaml --\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop}\nspec:\n  destination: {name: c, namespace: web}\n  sources:\n  - {repoURL: https://h/o/fleet, path: charts/shop, helm: {valueFiles: [$v/env.yaml]}}\n  - {repoURL: https://h/o/fleet, ref: v}\n-- env.yaml --\nzone: b\n",
			"namespace: \"web\"\nname: shop\nreplicas: 1 charts/shop/values.yaml:1:11\nzone: b env.yaml:1:7",
		},
		"no such source":  {"-- a.yaml --\n" + application("    path: charts/shop\n    helm: {valueFiles: [$v/env.yaml]}\n"), "values that are not known: there is no source with the ref v"},
		"a URL":           {"-- a.yaml --\n" + application("    path: charts/shop\n    helm: {valueFiles: ['https://u:p@h/x.yaml']}\n"), "values that are not known: values file https://h/x.yaml is not in the repository"},
		"above":           {"-- a.yaml --\n" + application("    path: charts/shop\n    helm: {valueFiles: [../../../x.yaml]}\n"), "refused: path outside of the repository: ../../../x.yaml"},
		"absolute, above": {"-- a.yaml --\n" + application("    path: charts/shop\n    helm: {valueFiles: [/../x.yaml]}\n"), "refused: path outside of the repository: /../x.yaml"},
		"the revision":    {"-- a.yaml --\n" + application("    path: charts/shop\n    helm: {parameters: [{name: zone, value: $ARGOCD_APP_REVISION}]}\n"), "variable in the pointer: a source holds a variable"},
		"overridden":      {"-- a.yaml --\n" + application("    path: charts/shop\n") + "-- charts/shop/.argocd-source.yaml --\nhelm: {}\n", "values that are not known: charts/shop/.argocd-source.yaml overrides the Application"},
		"no chart":        {"-- a.yaml --\n" + application("    path: env\n    helm: {releaseName: x}\n") + "-- env/a.yaml --\n", "env/Chart.yaml:1: Chart.yaml file is missing"},
		"a set": {
			"-- a.yaml --\napiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s}\nspec:\n  generators:\n  - list:\n      elements:\n      - {n: one, zone: z1}\n  template:\n    metadata: {name: 'shop-{{n}}'}\n    spec:\n      destination: {name: c, namespace: web}\n      source:\n        repoURL: https://h/o/fleet\n        path: charts/shop\n        helm:\n          valuesObject: {zone: '{{zone}}', replicas: 2}\n",
			"namespace: \"web\"\nname: shop-one\nreplicas: 2 a.yaml:17:54\nzone: z1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := outcome(followed(t, shop+c.tree, nil)); got != c.want {
				t.Errorf("%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// bomb returns YAML with aliases of aliases, which expand exponentially.
func bomb(levels int) string {
	var all strings.Builder
	for i := range levels {
		fmt.Fprintf(&all, "    a%d: &a%d [%s]\n", i+1, i+1, strings.Join(slices.Repeat([]string{fmt.Sprintf("*a%d", i)}, 9), ", "))
	}
	return all.String()
}
