package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reading describes a Set: the kind, name and line of each object, and what was skipped.
func reading(set *Set) string {
	var all []string
	for _, o := range set.Objects {
		all = append(all, fmt.Sprintf("%s %s %d", o.Kind, o.Name, o.Root.Line))
	}
	for _, s := range set.Skipped {
		all = append(all, fmt.Sprintf("%s %d", s.Reason, s.Line))
	}
	for _, p := range set.Problems {
		all = append(all, fmt.Sprintf("%s %d", p.Kind, p.Span.Line))
	}
	return strings.Join(all, ", ")
}

const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"

// recognised lists files and how they are read.
var recognised = map[string]struct{ file, text, want string }{
	"object":                           {"a.yaml", pod, "Pod p 1"},
	"object without version":           {"a.yaml", "kind: Pod\nmetadata: {name: p}\n", "Pod p 1"},
	"object of generated name":         {"a.yaml", "kind: Pod\nmetadata: {generateName: p-}\n", "Pod p- 1"},
	"nothing":                          {"a.yaml", "", ""},
	"comments":                         {"a.yaml", "# a\n---\n# b\n", ""},
	"null":                             {"a.yaml", "null\n--- ~\n---\n" + pod, "Pod p 4"},
	"template: unquoted value":         {"a.yaml", "kind: Pod\nmetadata:\n  name: {{ .Values.name }}\n", "Helm template 1"},
	"template: condition":              {"a.yaml", "{{- if .Values.on }}\n" + pod + "{{- end }}\n", "Helm template 1"},
	"template: unquoted in a list":     {"a.yaml", "kind: Pod\nspec:\n  - {{ .x }}\n  - {{ .y }}:80\n", "Helm template 3"},
	"template: below much that fails":  {"a.yaml", "a: 1\nb: [\nc: {{ .x }}\n---\na: b: c\n  {{- x }}\n", "Helm template 3, Helm template 6"},
	"a document before the end mark":   {"a.yaml", pod + "...\na: [\nkind: x\n", "Pod p 1, unparsable-document 5"},
	"template: include below a block":  {"a.yaml", "data:\n  a: |\n    text\n  {{- include \"x\" . | nindent 2 }}\n", "Helm template 4"},
	"template: one document of two":    {"a.yaml", "a: {{ b }} c\n---\n" + pod, "Pod p 3, Helm template 1"},
	"braces in quotes":                 {"a.yaml", "kind: ConfigMap\ndata:\n  a: \"{{ .x }}\"\n  b: '{{ .y }}'\n", "ConfigMap  1"},
	"braces in a block":                {"a.yaml", "kind: ConfigMap\ndata:\n  a: |\n    {{ .x }}\n    b: {{ .y }}\n", "ConfigMap  1"},
	"braces in an annotation":          {"a.yaml", "kind: Deployment\nmetadata:\n  name: d\n  annotations:\n    summary: '{{ $labels.pod }}'\n", "Deployment d 1"},
	"braces inside a word":             {"a.yaml", "kind: Pod\nmetadata: {name: p}\nspec: \n  nodeName: node-{{ .x }}\n", "Pod p 1"},
	"braces in a comment":              {"a.yaml", "# {{ .x }}\nkind: Pod\na: b: c # {{ .x }}\n", "unparsable-document 3"},
	"an error beside quoted braces":    {"a.yaml", "kind: Pod\na: \"{{ .x }}\"\nb: [\n", "unparsable-document 3"},
	"an error beside braces in block":  {"a.yaml", "kind: Pod\na: |\n  {{ .x }}\n\n    b: {{ .y }}\nc: [\n", "unparsable-document 6"},
	"an error beside a list of those":  {"a.yaml", "kind: Pod\na:\n- b: |\n    {{ .x }}\n  c: >- # d\n    {{ .y }}\n- |\n  {{ .z }}\nd: [\n", "unparsable-document 9"},
	"an error in another document":     {"a.yaml", "{{ .x }}: {{ .y }}\n---\nkind: [\n", "Helm template 1, unparsable-document 3"},
	"template: JSON":                   {"a.json", "{\n  \"kind\": \"Pod\",\n  \"spec\": {{ .Values.spec }} z\n}\n", "Helm template 3"},
	"template: in brackets":            {"a.yaml", pod + "spec:\n  x: [\"a\", {{ .y }} z]\n", "Helm template 5"},
	"template: Jinja":                  {"a.yaml", "{% if on %}\n" + pod + "{% endif %}\n", "template 1"},
	"template: Jinja in a list":        {"a.yaml", pod + "spec:\n  containers:\n  {%- for c in all %}\n  - name: {{ c }}\n  {%- endfor %}\n", "template 6"},
	"template: ERB":                    {"a.yaml", pod + "spec:\n  <% if @a %>\n  nodeName: b\n  <% end %>\n", "template 5"},
	"template: ytt":                    {"a.yaml", "#@ load(\"@ytt:data\", \"data\")\n---\n" + pod + "---\n" + pod, "template 3, template 7"},
	"template: ytt's functions":        {"a.yaml", "#@ def labels():\na: b\n#@ end\n---\n#@ if x: # y\n" + pod + "a: b\n#@ else:\na: c\n#@ end\n", "template 2, template 6"},
	"template: ytt's overlays":         {"a.yaml", "#@overlay/match by=overlay.all\n---\n" + pod, "template 3"},
	"template: ytt's assignments":      {"a.yaml", "#@ name = \"x\"\n" + pod + "b: [\n", "template 5"},
	"template: ytt, a loop":            {"a.yaml", pod + "spec:\n  containers:\n  #@ for/end c in all:\n  - name: #@ c\n", "template 1"},
	"ytt: an unknown anchor":           {"a.yaml", "#@ end\n" + pod + "a: *b\n", "template 5"},
	"ytt: only comments":               {"a.yaml", "#! a\n" + pod + "#@ a\n#@\n#@x\n# #@ end\n#@ if this is set, mind the gap\n#@ end of it\n#@param/x a\n", "Pod p 2"},
	"ytt: in a block":                  {"a.yaml", pod + "a: |\n  #@ load(\"x\")\n  #@ end\nb: >-\n  #@ end\n", "Pod p 1"},
	"ytt: in a block of a list":        {"a.yaml", pod + "a:\n- b: |\n    x\n\n    #@ end\n- |\n  #@ end\n", "Pod p 1"},
	"ytt: in quotes":                   {"a.yaml", pod + "a: \"it's\n  \\\"\n  #@ end\n  \"\nb: 'x ''\n  #@ end\n  '\n", "Pod p 1"},
	"template: ytt below quotes":       {"a.yaml", pod + "a: \"x\"\nb: 'x '' y'\nc: rock 'n roll\n#@ end\n", "template 1"},
	"template: FreeMarker":             {"a.yaml", pod + "a:\n<#if a?? && b>\n  c: d\n</#if>\n", "template 5"},
	"template: FreeMarker's lists":     {"a.yaml", pod + "<#-- a -->\n  <#list as as a>\n  - ${a}\n  </#list>\n", "template 4"},
	"template: FreeMarker's assigns":   {"a.yaml", "<#assign a = b>\n" + pod, "template 1"},
	"an error beside quoted markers":   {"a.yaml", pod + "a: \"<#if x>\" # <#if y>\nb: |\n  <#if z>\nc: [\n", "unparsable-document 7"},
	"an error beside quoted Jinja":     {"a.yaml", "kind: Pod\na: \"{% x %}\" # {% y %}\nb: [\n", "unparsable-document 3"},
	"an error beside ERB in block":     {"a.yaml", "kind: Pod\na: |\n  <% x %>\nb: [\n", "unparsable-document 4"},
	"no manifest: a dump":              {"a.yaml", "goroutine 1 [running]:\nmain.main()\n\t/src/main.go:3 +0x1\n", "unparsable non-manifest 3"},
	"no manifest: JSON with comments":  {"tsconfig.json", "{\n  // strict\n  \"compilerOptions\": {\"strict\": true,},\n}\n", "unparsable non-manifest 2"},
	"no manifest: a word of prose":     {"a.yaml", "this kind: [ of text\n# kind: Pod\na: b: c\n", "unparsable non-manifest 1"},
	"no manifest beside an object":     {"a.yaml", pod + "---\na: [\n---\n" + pod, "Pod p 1, Pod p 7, unparsable non-manifest 5"},
	"a dump beside a broken object":    {"a.yaml", "a: [\n---\nkind: Pod\nb: [\n---\n" + pod, "Pod p 6, unparsable non-manifest 1, unparsable-document 4"},
	"a broken object: flow":            {"a.yaml", "{metadata: {name: a}, kind: Pod\n", "unparsable-document 1"},
	"a broken object: quoted keys":     {"a.yaml", "'apiVersion' : v1\nb: [\n", "unparsable-document 2"},
	"a broken object: tabs":            {"a.yaml", "\tapiVersion: v1\n\tkind: Pod\n", "unparsable-document 1"},
	"a broken object: in a List":       {"a.yaml", "kind: List\nitems:\n- kind: Pod\n  b: [\n", "unparsable-document 4"},
	"a broken object: indented":        {"a.yaml", "# a\n---\n\n  metadata: {name: a}\n  kind: Pod\n  b: [\n", "unparsable-document 6"},
	"a broken object: a key too far":   {"a.yaml", "   apiVersion: v1\nb: [\n", "non-Kubernetes document 1, unparsable-document 2"},
	"a broken object: below a bracket": {"a.yaml", "--- {a: [{b: c}],\n 'kind': Pod\n", "unparsable-document 2"},
	"a broken object: JSON, comments":  {"a.json", "// a\n{\n  // }} \"\n  \"a\": \"{\\\"{\", # {\n  \"b\": [{}],\n  \"kind\": \"Pod\", [\n}\n", "unparsable-document 4"},
	"a broken object: JSON, no quote":  {"a.json", "{\n  \"a\": \"{,\n  \"apiVersion\": \"v1\"\n}\n", "unparsable-document 2"},
	"a broken object: a brace more":    {"a.json", "{\"a\": {\"b\": 1}}, \"kind\": \"Pod\"\n", "non-Kubernetes document 1, unparsable-document 1"},
	"no manifest: a kind in a list":    {"a.yaml", "items:\n- kind: Pod\n  b: [\n", "unparsable non-manifest 3"},
	"no manifest: a kind further in":   {"a.yaml", "steps:\n  group:\n    kind: test\n  b: [\n", "unparsable non-manifest 4"},
	"no manifest: a list of kinds":     {"a.yaml", "- kind: test\n  b: [\n", "unparsable non-manifest 2"},
	"no manifest: a kind in braces":    {"a.yaml", "a: {kind: test}\nb: [\n", "unparsable non-manifest 2"},
	"no manifest: tasks in JSON":       {"tasks.json", "{\n  // VS Code tasks\n  \"tasks\": [{\"label\": \"x\", \"group\": {\"kind\": \"test\"}}]\n}\n", "unparsable non-manifest 2"},
	"no manifest: launch in JSON":      {"launch.json", "{\n  /* it's {a} */\n  \"a\": [\n    {\n      \"kind\": \"test\", // {\n    },\n  ],\n}\n", "unparsable non-manifest 2"},
	"no manifest: kinds of Google":     {"api.json", "{\n \"kind\": \"discovery#restDescription\",\n \"b\": \"c\n", "unparsable non-manifest 3"},
	"no manifest: a list in JSON":      {"a.json", "[{\"kind\": \"test\"}, {\"kind\" \"test\"}]\n", "unparsable non-manifest 1"},
	"a broken object: old line ends":   {"a.yaml", "metadata: {name: a}\rkind: Pod\rb: [\r", "unparsable-document 1"},
	"a broken object: JSON":            {"a.json", "{\n \"kind\": \"Pod\",\n \"a\": 1\n \"b\": 2\n}\n", "unparsable-document 3"},
	"a broken object: JSON, one line":  {"a.json", "{\"a\": 1,\"kind\":\"Pod\",\"b\" 2}\n", "unparsable-document 1"},
	"broken JSON beside an object":     {"a.json", "{\n\"kind\": \"Pod\"\n\"a\": 1}\n---\n" + pod, "Pod p 5, unparsable-document 2"},
	"kustomization":                    {"x/kustomization.yaml", "resources: [a.yaml]\n", "kustomization file 1"},
	"kustomization, short name":        {"kustomization.yml", "kind: Kustomization\n", "kustomization file 1"},
	"kustomization, no extension":      {"Kustomization", "kind: Component\n", "kustomization file 1"},
	"kustomization by its group":       {"a.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n", "kustomization file 1"},
	"object in such a file":            {"kustomization.yaml", pod, "Pod p 1"},
	"kustomization of another group":   {"a.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: k}\n", "Kustomization k 1"},
	"values":                           {"chart/values.yaml", "replicas: 1\n", "Helm values file 1"},
	"values of an environment":         {"values-prod.yaml", "replicas: 1\n", "Helm values file 1"},
	"object in a file of values":       {"values.yaml", pod, "Pod p 1"},
	"chart":                            {"Chart.yaml", "apiVersion: v2\nname: c\n", "Helm chart file 1"},
	"no chart":                         {"chart.yaml", "apiVersion: v2\nname: c\n", "non-Kubernetes document 1"},
	"CRD":                              {"a.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n", "CRD schema 1"},
	"CRD in a list":                    {"a.yaml", "kind: List\nitems:\n- kind: CustomResourceDefinition\n- kind: Pod\n", "Pod  4, CRD schema 3"},
	"JSON patch":                       {"a.yaml", "- op: add\n  path: /x\n  value: 1\n", "JSON patch 1"},
	"JSON patch in JSON":               {"a.json", `[{"op": "remove", "path": "/x"}]`, "JSON patch 1"},
	"a list that is none":              {"a.yaml", "- op: add\n- path: /x\n", "non-Kubernetes document 1"},
	"an empty list":                    {"a.yaml", "[]\n", "non-Kubernetes document 1"},
	"a word":                           {"a.yaml", "\n\nword\n", "non-Kubernetes document 3"},
	"a map":                            {"a.yaml", "a: 1\n", "non-Kubernetes document 1"},
	"a kind that is no text":           {"a.yaml", "kind: [a]\n", "non-Kubernetes document 1"},
	"excerpt":                          {"a.yaml", "kind: Pod\nspec:\n  ...\n  nodeName: a\n", "excerpt with an ellipsis 3"},
	"excerpt in a list":                {"a.yaml", "kind: Pod\nspec:\n  a:\n  - ...\n  b: c\n  - d\n", "excerpt with an ellipsis 6"},
	"dots that end a document":         {"a.yaml", pod + "...\n", "Pod p 1"},
	"sample":                           {"a.yaml", "kind: Pod\nmetadata: {name: nameValue, namespace: namespaceValue}\n", "API serialisation sample 1"},
	"no sample":                        {"a.yaml", "kind: Pod\nmetadata: {name: nameValue, namespace: default}\n", "Pod nameValue 1"},
	"patch":                            {"a.yaml", pod + "$patch: delete\n", "strategic-merge patch 1"},
	"patch, deep inside":               {"a.yaml", pod + "spec:\n  containers:\n  - name: a\n    env:\n    - $patch: replace\n", "strategic-merge patch 1"},
	"patch that orders a list":         {"a.yaml", pod + "spec:\n  $setElementOrder/containers: [{name: a}]\n", "strategic-merge patch 1"},
	"patch that keeps fields":          {"a.yaml", pod + "spec:\n  $retainKeys: [a]\n", "strategic-merge patch 1"},
	"patch as a text":                  {"a.yaml", pod + "data:\n  a: |\n    $patch: delete\n  b: $patch\n", "Pod p 1"},
	"patch beside an object":           {"a.yaml", pod + "---\n" + pod + "$patch: delete\n", "Pod p 1, strategic-merge patch 5"},
	"configuration":                    {"x/.schedlint.yaml", "ignore: [a]\n", "schedlint configuration file 1"},
	"template: Jinja comment in JSON":  {"a.json", "{\n \"kind\": \"Pod\",\n {# a: b #}\n \"a\": 1\n}\n", "template 3"},
	"an error beside quoted comments":  {"a.json", "{\n \"kind\": \"{# a #}\"\n \"a\": 1\n}\n", "unparsable-document 2"},
	"a comment that does not end":      {"a.json", "{\n \"kind\": \"Pod\",\n {# a\n}\n", "unparsable-document 4"},
	"git-crypt":                        {"a.yaml", "\x00GITCRYPT\x00\xff", "encrypted file 1"},
	"age":                              {"a.yaml", "age-encryption.org/v1\n-> X25519 a\n\xff\xfe", "encrypted file 1"},
	"age, which is text":               {"a.yaml", "age-encryption.org/v1\n-> X25519 a\n", "non-Kubernetes document 1"},
	"SOPS":                             {"a.yaml", pod + "sops: {mac: x}\n", "Pod p 1"},
	"SOPS, all values":                 {"a.yaml", "apiVersion: ENC[AES256_GCM,data:a]\nkind: ENC[AES256_GCM,data:b]\nsops: {mac: x}\n", "encrypted file 1"},
	"keys twice: manifest":             {"a.yaml", pod + "a: b\na: c\n", "Pod p 1, duplicate-key 5"},
	"keys twice: kustomization":        {"kustomization.yaml", "resources: [a]\nresources: [b]\n", "kustomization file 1, duplicate-key 2"},
	"keys twice: settings":             {"a.yaml", "a: 1\na: 2\n", "non-Kubernetes document 1"},
	"keys twice: settings of a kind":   {"a.yaml", "kind: pipeline\na: 1\na: 2\n", "pipeline  1"},
	"keys twice: JSON":                 {"a.json", `{"a": 1, "b": {"c": 1, "c": 2}}`, "non-Kubernetes document 1"},
	"keys twice: beside a manifest":    {"a.yaml", "a: 1\na: 2\n---\n" + pod + "b: 1\nb: 2\n", "Pod p 4, non-Kubernetes document 1, duplicate-key 8"},
	"keys twice: beside a cycle":       {"a.yaml", "a: 1\na: 2\nb: &b [*b]\n", "alias-cycle 3"},
	"branches in comments":             {"a.yaml", pod + "# {{ if .x }}\na: b\n# {{ else }}\na: c\n# {{ end }}\n", "Pod p 1"},
	"branches in comments: Jinja":      {"a.yaml", pod + "# {% if x %}\na: b\n# {% else %}\na: c\n# {% endif %}\n", "Pod p 1"},
	"branches in comments: flow":       {"a.yaml", pod + "a: {b: c,\n  # {{- else }}\n  b: d}\n", "Pod p 1"},
	"branches around others":           {"a.yaml", pod + "# {{ if .x }}\na: b\na: c\n# {{ end }}\n", "Pod p 1, duplicate-key 6"},
	"comments without branches":        {"a.yaml", pod + "a: b\n# {{ .x }} if {{ .y }}\na: c\n", "Pod p 1, duplicate-key 6"},
}

func TestRecognise(t *testing.T) {
	for name, row := range recognised {
		t.Run(name, func(t *testing.T) {
			set, _ := parsedWith(Options{Keep: everything.Keep}, row.file, row.text)
			if got := reading(set); got != row.want {
				t.Errorf("got %s\nwant %s", got, row.want)
			}
		})
	}
}

// TestStrict checks a file with a known purpose. Every mistake is a problem, but a template is
// not.
func TestStrict(t *testing.T) {
	for text, want := range map[string]string{"a: [\n": "unparsable-document 1", "a: {{ b }} c\n": "Helm template 1"} {
		set, _ := parsed("a.yaml", text)
		if got := reading(set); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// TestDropKeepsDirectives checks that a patch directive is found even in a field whose contents
// are dropped.
func TestDropKeepsDirectives(t *testing.T) {
	text := pod + "spec:\n  env:\n  - $patch: replace\n"
	r := result{file: &File{Name: "a.yaml", Text: []byte(text)}}
	r.parse(Options{Keep: everything.Keep, Drop: func(field string) bool { return field == "env" }})
	if got := reading(join([]result{r})); got != "strategic-merge patch 1" {
		t.Errorf("got %s", got)
	}
}

func TestLists(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"List":                       {"apiVersion: v1\nkind: List\nitems:\n- {kind: Pod, metadata: {name: a}}\n- {kind: Node, metadata: {name: b}}\n", "Pod a 4, Node b 5"},
		"typed list":                 {"apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n", "Pod a 4, Pod b 5"},
		"typed list, kinds given":    {"apiVersion: v1\nkind: NodeList\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: a}}\n", "Node a 4"},
		"typed list, version given":  {"apiVersion: v1\nkind: PodList\nitems:\n- {apiVersion: v1, metadata: {name: a}}\n", "non-Kubernetes document 4"},
		"nested":                     {"kind: List\nitems:\n- kind: List\n  items:\n  - {kind: Pod, metadata: {name: a}}\n- apiVersion: apps/v1\n  kind: DeploymentList\n  items:\n  - metadata: {name: b}\n", "Pod a 5, Deployment b 9"},
		"item without kind":          {"kind: List\nitems:\n- {metadata: {name: a}}\n- {kind: Pod, metadata: {name: b}}\n", "Pod b 4, non-Kubernetes document 3"},
		"items that are no maps":     {"kind: PodList\nitems:\n- \n- word\n- [a]\n- metadata: {name: b}\n", "Pod b 6, non-Kubernetes document 3, non-Kubernetes document 4, non-Kubernetes document 5"},
		"no items":                   {"kind: List\nitems: []\n", ""},
		"items: null":                {"apiVersion: v1\nkind: List\nitems: null\n", "List  1"},
		"items missing":              {"apiVersion: v1\nkind: PodList\n", "List with no valid items 1"},
		"items that are no list":     {"apiVersion: v1\nkind: PodList\nitems: {a: b}\n", "List with no valid items 1"},
		"items missing, no version":  {"kind: List\n", "List with no valid items 1"},
		"a kind that ends in List":   {"apiVersion: example.com/v1\nkind: AllowList\nmetadata: {name: a}\n", "AllowList a 1"},
		"an unnamed one with a spec": {"apiVersion: example.com/v1\nkind: AllowList\nspec: {}\n", "AllowList  1"},
		"broken, in a List":          {"kind: List\nitems:\n- {kind: PodList, items: a}\n", "List with no valid items 3"},
		"a kind that has items":      {"kind: Menu\nitems: [{kind: Pod}]\n", "Menu  1"},
		"JSON":                       {`{"apiVersion": "v1", "kind": "List", "items": [{"kind": "Pod", "metadata": {"name": "a"}},` + "\n" + `{"kind": "Pod"}]}`, "Pod a 1, Pod  2"},
		"several JSON values":        {`{"kind": "Pod"}` + "\n" + `{"kind": "List", "items": [{"kind": "Node"}]}`, "Pod  1, Node  2"},
		"by an alias":                {"kind: List\nitems:\n- &a {kind: Pod, metadata: {name: a}}\n- *a\n", "Pod a 3, Pod a 3"},
		"beside documents":           {pod + "---\nkind: List\nitems:\n- {kind: Node}\n---\n" + pod, "Pod p 1, Node  7, Pod p 9"},
		"namespace of the items":     {"kind: PodList\nmetadata: {namespace: x}\nitems:\n- metadata: {name: a}\n", "Pod a 4"},
		"braces in one of the items": {"kind: List\nitems:\n- {kind: Pod, metadata: {name: a, annotations: {b: '{{ c }}'}}}\n", "Pod a 3"},
	} {
		t.Run(name, func(t *testing.T) {
			set, _ := parsed("a.yaml", row.text)
			if got := reading(set); got != row.want {
				t.Errorf("got %s\nwant %s", got, row.want)
			}
		})
	}
}

func TestListInherits(t *testing.T) {
	set, _ := parsed("a.yaml", "apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- metadata: {name: a, namespace: b}\n")
	o := set.Objects[0]
	if o.APIVersion != "apps/v1" || o.Group() != "apps" || o.Namespace != "b" || o.ID().Kind != "Deployment" {
		t.Errorf("got %+v", o)
	}
}

// TestBranches checks that a value in one of several branches is unknown, in later documents as
// well.
func TestBranches(t *testing.T) {
	set, _ := parsedWith(Options{Keep: everything.Keep}, "a.yaml", pod+"---\n"+pod+"spec:\n  # {{ if .x }}\n  replicas: 1\n  # {{ else }}\n  replicas: 2\n  # {{ end }}\n  a: b\n")
	spec := set.Objects[1].Root.Get("spec")
	if n := spec.Get("replicas"); !n.Placeholder() || n.Line != 12 || spec.Get("a").Text() != "b" {
		t.Errorf("replicas is %+v", n)
	}
}

// TestLastCounts checks that repeated keys in files that only Helm reads are distinguished from
// those in files that kustomize merges.
func TestLastCounts(t *testing.T) {
	dir := t.TempDir()
	const twice = "name: a\nname: b\n"
	for name, text := range map[string]string{
		"x/kustomization.yaml": "helmCharts:\n- {name: a, valuesInline: {b: c}}\n- {name: b, valuesFile: values-b.yaml, valuesInline: {b: c}, valuesMerge: merge}\n" +
			"- {name: c, valuesInline: {b: c}, valuesMerge: replace}\n- {name: d, valuesFile: values-d.yaml}\n- {name: e, version: '1', valuesInline: {b: c}}\n",
		"x/charts/a/values.yaml": twice, "x/values-b.yaml": twice, "x/charts/c/values.yaml": twice, "x/values-d.yaml": twice, "x/charts/e-1/e/values.yaml": twice,
		"charts/a/values.yaml": twice, "charts/a/Chart.yaml": twice,
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	set, err := Load(Options{Dir: dir, Root: dir}, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	var mistakes []string
	for _, p := range set.Problems {
		if p.Kind != DuplicateKey {
			t.Errorf("%+v", p)
		} else if !p.LastCounts {
			mistakes = append(mistakes, p.Span.File)
		}
	}
	if got := strings.Join(mistakes, " "); got != "x/charts/a/values.yaml x/charts/e-1/e/values.yaml x/values-b.yaml" || len(set.Problems) != 7 {
		t.Errorf("%d problems, refused in %s", len(set.Problems), got)
	}
}
