package engine

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/render"
)

// cacheChart is a chart that the kustomizations in these tests render.
const cacheChart = `
-- app/charts/cache/Chart.yaml --
apiVersion: v2
name: cache
version: 1.2.3
-- app/charts/cache/values.yaml --
replicas: 2
image: {name: registry.example/cache, tag: "1.0"}
tolerations:
- key: chart
  operator: Exists
nodeSelector:
  disk: ssd
-- app/charts/cache/crds/crd.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: caches.example.com}
-- app/charts/cache/templates/NOTES.txt --
Thanks.
-- app/charts/cache/templates/api.yaml --
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ .Release.Name }}-api
  labels: {app: cache}
  annotations: {ns: {{ .Release.Namespace }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: cache}}
  template:
    metadata: {labels: {app: cache}}
    spec:
      nodeSelector: {{- toYaml .Values.nodeSelector | nindent 8 }}
      tolerations: {{- toYaml .Values.tolerations | nindent 8 }}
      containers:
      - name: main
        image: "{{ .Values.image.name }}:{{ .Values.image.tag }}"
        args:
        - |
          a: b
            c
        - >-
          folded
          text
-- app/charts/cache/templates/config.yaml --
# only a ConfigMap
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
data: {kube: {{ .Capabilities.KubeVersion.Version | quote }}, text: "yes"}
-- app/charts/cache/templates/hooks.yaml --
apiVersion: v1
kind: Pod
metadata: {name: test, annotations: {helm.sh/hook: test}}
---
apiVersion: v1
kind: Pod
metadata: {name: before, annotations: {helm.sh/hook: "pre-install, Post-Upgrade"}}
---
apiVersion: v1
kind: Pod
metadata: {name: old, annotations: {helm.sh/hook: crd-install}}
-- app/values/prod.yaml --
replicas: 4
nodeSelector:
  disk: nvme
-- app/values/more.yaml --
replicas: 6
`

// TestHelmCharts renders kustomizations with charts.
func TestHelmCharts(t *testing.T) {
	for _, c := range []struct {
		name, kustomization string
		has, lack           []string
		places              []string // "part of an output line -> origins of the line"
	}{
		{"as it is", "helmCharts:\n- name: cache\n  releaseName: c\n",
			[]string{"name: c-api", "replicas: 2", "name: before", "name: test", "namespace: default", "text: \"yes\"", `kube: v1.`},
			[]string{"CustomResourceDefinition", "helm-generated", "Thanks", "name: old"},
			[]string{"replicas: 2 -> app/charts/cache/values.yaml:1 app/charts/cache/templates/api.yaml:8", "app: cache -> app/charts/cache/templates/api.yaml:5", "disk: ssd -> app/charts/cache/values.yaml:7 app/charts/cache/templates/api.yaml:13", "name: main -> app/charts/cache/templates/api.yaml:16"}},
		{"fields", "namespace: shop\nhelmCharts:\n- name: cache\n  releaseName: c\n  includeCRDs: true\n  skipTests: true\n  kubeVersion: \"1.33\"\n  valuesFile: values/prod.yaml\n  additionalValuesFiles: [values/more.yaml]\n",
			[]string{"kind: CustomResourceDefinition", "name: before", "replicas: 6", "disk: nvme", "ns: shop", "namespace: shop", "kube: v1.33"}, []string{"name: test"},
			[]string{"replicas: 6 -> app/values/more.yaml:1 app/charts/cache/templates/api.yaml:8", "disk: nvme -> app/values/prod.yaml:3 app/charts/cache/templates/api.yaml:13", "key: chart -> app/charts/cache/values.yaml:4 app/charts/cache/templates/api.yaml:14"}},
		{"no hooks, own namespace", "namespace: shop\nhelmCharts:\n- name: cache\n  releaseName: c\n  namespace: own\n  skipHooks: true\n",
			[]string{"ns: own", "namespace: own"}, []string{"name: before", "name: test", "namespace: shop"}, nil},
		{"inline", "helmCharts:\n- name: cache\n  releaseName: c\n  valuesFile: values/prod.yaml\n  valuesInline:\n    replicas: 7\n    image:\n      tag: \"3.0\"\n    tolerations:\n    - key: inline\n      operator: Exists\n",
			[]string{"replicas: 7", "disk: nvme", "image: registry.example/cache:3.0", "key: inline"}, []string{"key: chart"},
			[]string{"replicas: 7 -> app/kustomization.yaml:6 app/charts/cache/templates/api.yaml:8", "key: inline -> app/kustomization.yaml:10 app/charts/cache/templates/api.yaml:14", "disk: nvme -> app/values/prod.yaml:3 app/charts/cache/templates/api.yaml:13"}},
		{"merged below the file", "helmCharts:\n- name: cache\n  releaseName: c\n  valuesMerge: merge\n  valuesFile: values/prod.yaml\n  valuesInline: {replicas: 7, nodeSelector: {disk: tape, arch: arm64}}\n",
			[]string{"replicas: 4", "disk: nvme", "arch: arm64"}, nil,
			[]string{"replicas: 4 -> app/values/prod.yaml:1 app/charts/cache/templates/api.yaml:8", "arch: arm64 -> app/kustomization.yaml:6 app/charts/cache/templates/api.yaml:13"}},
		{"in place of the file", "helmCharts:\n- name: cache\n  releaseName: c\n  valuesMerge: replace\n  valuesFile: values/prod.yaml\n  valuesInline: {replicas: 7}\n",
			[]string{"replicas: 7", "disk: ssd"}, []string{"disk: nvme"}, nil},
		{"transformed", "namePrefix: eu-\nhelmCharts:\n- {name: cache, releaseName: c}\nreplicas:\n- {name: c-api, count: 9}\nimages:\n- {name: registry.example/cache, newTag: \"4.0\"}\npatches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: StatefulSet\n    metadata:\n      name: c-api\n    spec:\n      template:\n        spec:\n          nodeSelector:\n            zone: a\n",
			[]string{"name: eu-c-api", "replicas: 9", "image: registry.example/cache:4.0", "zone: a", "disk: ssd"}, nil,
			[]string{"zone: a -> app/kustomization.yaml:18", "disk: ssd -> app/charts/cache/values.yaml:7 app/charts/cache/templates/api.yaml:13", "replicas: 9 -> unmarked"}},
		{"twice", "helmCharts:\n- {name: cache, releaseName: a, skipHooks: true}\n- {name: cache, releaseName: b, skipHooks: true, valuesInline: {replicas: 3}}\n",
			[]string{"name: a-api", "name: b-api"}, nil,
			[]string{"replicas: 2 -> app/charts/cache/values.yaml:1 app/charts/cache/templates/api.yaml:8", "replicas: 3 -> app/kustomization.yaml:3 app/charts/cache/templates/api.yaml:8"}},
		{"older form", "helmChartInflationGenerator:\n- chartName: cache\n  releaseName: old\n  values: values/prod.yaml\n  valuesLocal: {replicas: 5}\n",
			[]string{"name: old-api", "replicas: 5", "disk: nvme"}, nil,
			[]string{"replicas: 5 -> app/kustomization.yaml:5 app/charts/cache/templates/api.yaml:8"}},
		{"generator", "generators: [gen.yaml]\n-- app/gen.yaml --\napiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: any}\nname: cache\nreleaseName: gen\nvaluesInline:\n  replicas: 8\n",
			[]string{"name: gen-api", "replicas: 8"}, nil,
			[]string{"replicas: 8 -> app/gen.yaml:7 app/charts/cache/templates/api.yaml:8"}},
		{"inline generator", "generators:\n- |-\n  apiVersion: builtin\n  kind: HelmChartInflationGenerator\n  metadata: {name: any}\n  name: cache\n  releaseName: gen\n  valuesInline: {replicas: 8}\n",
			[]string{"name: gen-api", "replicas: 8"}, nil, []string{"replicas: 8 -> app/charts/cache/templates/api.yaml:8"}},
		{"chart home", "helmGlobals: {chartHome: ../third_party}\nhelmCharts:\n- {name: tiny, repo: \"https://charts.example\", version: 0.1.0}\n-- third_party/tiny-0.1.0/tiny/Chart.yaml --\napiVersion: v2\nname: tiny\nversion: 0.1.0\n-- third_party/tiny-0.1.0/tiny/values.yaml --\na: 1\n-- third_party/tiny-0.1.0/tiny/templates/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}\"}\n",
			[]string{"name: tiny"}, nil, []string{"kind: ConfigMap -> third_party/tiny-0.1.0/tiny/templates/a.yaml:2"}},
		{"globals alone", "helmGlobals: {chartHome: nothing}\nresources: [values/cm.yaml]\n-- app/values/cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", []string{"name: a"}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := repository(t, cacheChart+"-- app/kustomization.yaml --\n"+c.kustomization)
			out := Build(rootOf(dir, "app"), nonce)
			if out.Problem != nil {
				t.Fatal(out.Problem)
			}
			hasAndLacks(t, out.Text, c.has, c.lack)
			for _, w := range c.places {
				text, want, _ := strings.Cut(w, " -> ")
				if got := ledTo(out, text); got != want {
					t.Errorf("%s leads to %s, want %s\n%s", text, got, want, out.Text)
				}
			}
			if again := Build(rootOf(dir, "app"), nonce); !reflect.DeepEqual(out, again) {
				t.Error("a second build differs")
			}
		})
	}
}

// ledTo returns the origins of the first mark on the output line that contains the given string.
// It follows marks into chart output.
func ledTo(out *render.Output, contains string) string {
	at := placed(out, contains)
	name, line, _ := strings.Cut(at, ":")
	printed := out.Charts[name]
	if printed == nil {
		return at
	}
	n := 0
	_, _ = fmt.Sscan(line, &n)
	l := printed.Lines[n-1]
	var all []string
	if l.Values >= 0 {
		all = append(all, fmt.Sprintf("%s:%d", printed.Files[l.Values], l.ValuesAt))
	}
	if l.Template >= 0 {
		all = append(all, fmt.Sprintf("%s:%d", printed.Files[l.Template], l.At))
	}
	return strings.Join(all, " ")
}

// TestHelmChartsSame checks that chart output builds exactly as if it were in a resource file.
func TestHelmChartsSame(t *testing.T) {
	rest := `
namePrefix: eu-
resources: [web.yaml]
configMapGenerator:
- {name: made, literals: [a=b]}
components: [../high]
labels:
- {pairs: {team: shop}, includeSelectors: true}
replicas:
- {name: c-api, count: 9}
patches:
- target: {kind: StatefulSet}
  patch: |-
    - {op: add, path: /spec/template/spec/priorityClassName, value: high}
replacements:
- source: {kind: ConfigMap, name: c, fieldPath: data.text}
  targets:
  - select: {kind: StatefulSet}
    fieldPaths: [spec.serviceName]
    options: {create: true}
`
	more := `
-- app/web.yaml --
apiVersion: v1
kind: Service
metadata: {name: web}
-- high/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- target: {kind: StatefulSet}
  patch: |-
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: any}
    spec: {template: {spec: {tolerations: [{key: patched, operator: Exists}]}}}
`
	for _, values := range []string{"", ", valuesInline: {replicas: 3}", ", includeCRDs: true", ", skipHooks: true"} {
		chart := "helmCharts: [{name: cache, releaseName: c" + values + "}]\n"
		dir := repository(t, cacheChart+more+"-- app/kustomization.yaml --\n"+chart+rest+"-- bare/kustomization.yaml --\nhelmGlobals: {chartHome: ../app/charts}\n"+chart)
		printed := Build(rootOf(dir, "bare"), nonce)
		if printed.Problem != nil {
			t.Fatal(printed.Problem)
		}
		text := printed.Charts["bare/.helm-charts/0.chart.yaml"].Text
		out := Build(rootOf(dir, "app"), nonce)
		if out.Problem != nil {
			t.Fatal(out.Problem)
		}
		// Components come after generators, and so do charts.
		other := repository(t, more+"-- app/kustomization.yaml --\n"+strings.Replace(rest, "components: [", "components: [../printed, ", 1)+
			"-- printed/kustomization.yaml --\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [chart.yaml]\n-- printed/chart.yaml --\n"+string(text))
		want := Build(rootOf(other, "app"), nonce)
		verify(t, other, "app", want)
		if string(out.Text) != string(want.Text) {
			t.Errorf("%s: the result differs\n got: %s\nwant: %s", chart, out.Text, want.Text)
		}
	}
}

// TestHelmChartsRefused checks that problems are reported where the kustomization requests the
// chart.
func TestHelmChartsRefused(t *testing.T) {
	for _, c := range []struct{ kustomization, want string }{
		{"helmCharts:\n- releaseName: x\n", "app/kustomization.yaml:2: helmCharts: expected the name of a chart, found none"},
		{"helmCharts:\n- name: gone\n", "app/kustomization.yaml:2: helmCharts (chart gone): there is no chart in app/charts/gone, and repo is not set"},
		{"helmCharts:\n- name: gone\n  repo: https://user:pw@charts.example/x\n  version: 1.0.0\n", "app/kustomization.yaml:2: helmCharts (chart gone): app/charts/gone-1.0.0/gone does not exist, and rendering does not use the network: run schedlint vendor"},
		{"helmCharts:\n- name: gone\n  repo: oci://reg.example/charts/\n", "app/kustomization.yaml:2: helmCharts (chart gone): app/charts/gone does not exist, and rendering does not use the network: run schedlint vendor"},
		{"helmCharts:\n- name: a;b $(c)'d\n  repo: https://charts.example\n", `app/kustomization.yaml:2: helmCharts (chart "a;b $(c)'d"): "app/charts/a;b $(c)'d" does not exist, and rendering does not use the network: run schedlint vendor`},
		{"helmCharts:\n- name: cache\n  nameTemplate: x\n", "app/kustomization.yaml:3: helmCharts (chart cache): nameTemplate is not supported: set releaseName"},
		{"helmCharts:\n- name: cache\n  releaseName: --post-renderer\n", "app/kustomization.yaml:3: helmCharts (chart cache): releaseName must not begin with -"},
		{"helmCharts:\n- name: cache\n  valuesMerge: other\n", `app/kustomization.yaml:3: helmCharts (chart cache): valuesMerge: expected override, merge or replace, found "other"`},
		{"helmCharts:\n- name: cache\n  valuesFile: ../../x.yaml\n", "app/kustomization.yaml:3: helmCharts (chart cache): valuesFile: ../x.yaml is outside the repository"},
		{"helmCharts:\n- name: cache\n  valuesFile: /etc/passwd\n", "app/kustomization.yaml:3: helmCharts (chart cache): valuesFile /etc/passwd is an absolute path: use a path relative to the kustomization, inside the repository"},
		{"helmCharts:\n- name: cache\n  valuesFile: https://u:p@x.example/v.yaml\n", "app/kustomization.yaml:3: helmCharts (chart cache): valuesFile https://***@x.example/v.yaml is remote, and rendering does not use the network: save it in the repository"},
		{"helmCharts:\n- name: cache\n  additionalValuesFiles:\n  - gone.yaml\n", "app/kustomization.yaml:4: helmCharts (chart cache): additionalValuesFiles: app/gone.yaml does not exist"},
		{"helmGlobals: {chartHome: ../../..}\nhelmCharts:\n- name: etc\n", "app/kustomization.yaml:3: helmCharts (chart etc): ../../etc is outside the repository"},
		{"helmGlobals: {chartHome: /}\nhelmCharts:\n- name: etc\n", "app/kustomization.yaml:1: helmCharts (chart etc): chartHome / is an absolute path: use a path relative to the kustomization, inside the repository"},
		{"helmCharts:\n- {name: cache, releaseName: a}\n- {name: cache, releaseName: a}\n", "app/kustomization.yaml:3: helmCharts (chart cache): kustomize: may not add resource with an already registered id: ConfigMap.v1.[noGrp]/a.default"},
		{"helmCharts:\n- name: cache\n  valuesInline: {tolerations: 5, image: 4}\n", "app/kustomization.yaml:3: helmCharts (chart cache): valuesInline cannot be merged: "},
		{"helmCharts:\n- name: cache\n  valuesInline: {replicas: \"a: [\"}\n", "app/charts/cache/templates/api.yaml:8: what the template prints is not an object"},
		{"generators:\n- |-\n  apiVersion: builtin\n  kind: HelmChartInflationGenerator\n  metadata: {name: a}\n  name: cache\n  ---\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n  metadata: {name: a}\n", "app/kustomization.yaml:2: generators entry"},
		{"transformers:\n- |-\n  apiVersion: builtin\n  kind: HelmChartInflationGenerator\n  metadata: {name: a}\n  name: cache\n", "app/kustomization.yaml:2: transformers entry"},
		{"resources: [a, b]\n-- app/a/kustomization.yaml --\nnamespace: a\nresources: [../../base]\n-- app/b/kustomization.yaml --\nnamespace: b\nresources: [../../base]\n-- base/kustomization.yaml --\nhelmGlobals: {chartHome: ../app/charts}\nhelmCharts:\n- name: cache\n", "base/kustomization.yaml:3: helmCharts (chart cache): two kustomizations of the build include it in the namespaces a and b: set namespace here"},
	} {
		dir := repository(t, cacheChart+"-- app/kustomization.yaml --\n"+c.kustomization)
		out := Build(rootOf(dir, "app"), nonce)
		if out.Problem == nil || !strings.HasPrefix(out.Problem.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.kustomization, out.Problem, c.want)
		}
		if out.Problem != nil && strings.Contains(out.Problem.Detail, "chart.yaml") {
			t.Errorf("%v names what is not there", out.Problem)
		}
	}
}

// TestHelmChartsShared checks that a base with a chart is rendered once, even if it is included
// several times.
func TestHelmChartsShared(t *testing.T) {
	dir := repository(t, cacheChart+`
-- app/kustomization.yaml --
helmCharts:
- {name: cache, releaseName: c, skipHooks: true}
-- a/kustomization.yaml --
namePrefix: a-
resources: [../app]
-- b/kustomization.yaml --
namePrefix: b-
resources: [../app]
-- both/kustomization.yaml --
resources: [../a, ../b]
-- named/kustomization.yaml --
namespace: inherited
resources: [../app]
`)
	out := Build(rootOf(dir, "both"), nonce)
	if out.Problem != nil {
		t.Fatal(out.Problem)
	}
	var names []string
	for line := range strings.Lines(string(out.Text)) {
		if name, ok := strings.CutPrefix(line, "  name: "); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	if want := []string{"a-c", "a-c-api", "b-c", "b-c-api"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q\n%s", names, want, out.Text)
	}
	if out.Cost.Objects != 4 {
		t.Errorf("cost %+v", out.Cost)
	}
	out = Build(rootOf(dir, "named"), nonce)
	if out.Problem != nil || !strings.Contains(string(out.Text), "ns: inherited") || strings.Count(string(out.Text), "namespace: ") != 1 {
		t.Errorf("%v\n%s", out.Problem, out.Text)
	}
}
