package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/kinds"
	"github.com/schedlint/schedlint/lint/storage"
)

// load reads a configuration from a string.
func load(t *testing.T, text string) (*Config, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile(Name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Load(Name)
}

func TestLoad(t *testing.T) {
	c, err := load(t, `
topology: [nodes.yaml]
ignore: ["vendor/**"]
rules:
  alias-bomb: off
  alias-cycle: "off"
  duplicate-key: false
  unknown-field: note
fail-on: warning
clusters:
- name: prod
  paths: [prod]
  topology: [prod/nodes.yaml]
`)
	if err != nil {
		t.Fatal(err)
	}
	off := Rule{Level: Level{diag.LevelOff}}
	want := Config{
		Topology: []string{"nodes.yaml"}, Ignore: []string{"vendor/**"}, FailOn: "warning",
		Rules:    map[string]Rule{"alias-bomb": off, "alias-cycle": off, "duplicate-key": off, "unknown-field": {Level: Level{diag.LevelNote}}},
		Clusters: []Cluster{{Name: "prod", Paths: []string{"prod"}, Topology: []string{"prod/nodes.yaml"}}},
	}
	if at := place(c.file, c.places["unknown-field"]); at != Name+":8:3" {
		t.Errorf("unknown-field is at %s", at)
	}
	if dir, _ := os.Getwd(); c.Dir != dir {
		t.Errorf("its paths belong to %s, want %s", c.Dir, dir)
	}
	got := Config{Topology: c.Topology, Ignore: c.Ignore, Rules: c.Rules, FailOn: c.FailOn, Clusters: c.Clusters}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Config{}, Params{})); diff != "" {
		t.Error(diff)
	}
}

// TestMistakes covers every possible mistake, with its complete error except the name of the file.
func TestMistakes(t *testing.T) {
	const keys = "admission, baseline, clusters, custom, extended-resources, fail-on, ignore, ignore-defaults, kinds, kubernetes, policies, priority-classes, renders, repositories, rules, scopes, storage, suppress, survive, topology, unrendered, vendor"
	for text, want := range map[string]string{
		"topolgy: []":   "1:1: unknown key topolgy; did you mean topology?",
		"failon: error": "1:1: unknown key failon; did you mean fail-on?",
		"Rules: {}":     "1:1: unknown key Rules; did you mean rules?",
		"colour: never": "1:1: unknown key colour; there are " + keys,
		"clusters: [{name: a, paths: [a], a: 1}]":            "1:34: unknown key clusters[0].a; there are annotations, destinations, kubernetes, labels, name, paths, pointers, renders, server, storage, topology",
		"clusters: [{nme: a, paths: [a]}]":                   "1:12: clusters[0]: a cluster needs a name\n1:13: unknown key clusters[0].nme; did you mean name?",
		"clusters: [{name: a}]":                              "1:12: clusters[0]: a cluster needs paths, renders, pointers, destinations or a server",
		"clusters: [{name: a, paths: []}]":                   "1:22: clusters[0]: a cluster needs paths, renders, pointers, destinations or a server",
		"clusters: [{name: a, paths: a}]":                    "1:22: clusters[0].paths: expected a list",
		"clusters: [prod]":                                   "1:12: clusters[0]: expected a map",
		"clusters: [null]":                                   "1:12: clusters[0]: a cluster needs a name",
		"clusters: {name: a}":                                "1:1: clusters: expected a list",
		"topology: nodes.yaml":                               "1:1: topology: expected a list",
		"topology: [1]":                                      "1:12: topology[0]: expected a string",
		"topology: [~]":                                      "1:12: topology[0]: expected a file, found nothing",
		`ignore: [a, ""]`:                                    "1:13: ignore[1]: expected a glob, found nothing",
		"ignore: ['[a']":                                     `1:10: ignore[0]: "[a" is not a valid glob`,
		"rules: [alias-bomb]":                                "1:1: rules: expected a map",
		"rules: {a: loud}":                                   "1:9: rules.a: expected one of error, warning, note, off",
		"rules: {a: }":                                       "1:9: rules.a: expected one of error, warning, note, off",
		"rules: {a: 1}":                                      "1:9: rules.a: expected one of error, warning, note, off",
		"rules: {a: no}":                                     "1:9: rules.a: expected one of error, warning, note, off",
		"rules: {a: true}":                                   "1:9: rules.a: expected one of error, warning, note, off",
		`rules: {a: "false"}`:                                "1:9: rules.a: expected one of error, warning, note, off",
		"rules: {a: [off]}":                                  "1:9: rules.a: expected one of error, warning, note, off",
		"extended-resources: all":                            `1:1: extended-resources: expected complete, found "all"`,
		"extended-resources: true":                           "1:1: extended-resources: expected a string",
		"admission: [PodNodeSelector, Foo]":                  `1:30: admission[1]: expected PodNodeSelector, found "Foo"`,
		"priority-classes: all":                              `1:1: priority-classes: expected complete, found "all"`,
		"kubernetes: 1.31":                                   `1:1: kubernetes: expected a string such as "1.35"`,
		"kubernetes: latest":                                 `1:1: kubernetes: expected a version of Kubernetes such as "1.35" or "1.35.2", found "latest"`,
		"kubernetes: '1.26'":                                 `1:1: kubernetes: expected a version from 1.27 to 1.36, found "1.26"`,
		"kubernetes: v1.37.0":                                `1:1: kubernetes: expected a version from 1.27 to 1.36, found "v1.37.0"`,
		"clusters: [{name: a, paths: [b], kubernetes: '2'}]": `1:34: clusters[0].kubernetes: expected a version of Kubernetes such as "1.35" or "1.35.2", found "2"`,
		"kinds: {}":                                          "1:1: kinds: expected a list",
		"kinds: [Shop]":                                      "1:9: kinds[0]: expected a map",
		"kinds: [~]":                                         "1:9: kinds[0].kind: expected the kind of a custom resource",
		"kinds: [{group: a.b, kind: A}]":                     "1:9: kinds[0]: expected pods, which is [] for a kind without pods",
		"kinds: [{group: a.b, kind: A, pods: }]":             "1:31: kinds[0].pods: expected a list, which is [] for a kind without pods",
		"kinds: [{group: a/b, kind: a/b, pods: []}]":         "1:10: kinds[0].group: expected an API group such as stable.example.com\n1:22: kinds[0].kind: expected the kind of a custom resource",
		"kinds: [{group: a.b, kind: A, pods: [], rows: []}]": "1:41: unknown key kinds[0].rows; there are group, kind, pods, project, source, unless, version",
		"kinds: [{group: a.b, kind: A, pods: []}, {group: a.b, kind: A, pods: []}]":                                                   "1:42: kinds[1]: A of a.b is declared twice",
		"kinds: [{group: policy.k8s.io, kind: Role, pods: []}]":                                                                       "1:9: kinds[0]: expected a custom resource, found Role of policy.k8s.io, which schedlint reads without a row",
		"kinds: [{group: argoproj.io, kind: Rollout, pods: []}]":                                                                      "1:9: kinds[0]: expected a custom resource, found Rollout of argoproj.io, which schedlint reads without a row",
		"kinds: [{group: a.b, kind: A, pods: [~]}]":                                                                                   "1:38: kinds[0].pods[0]: expected one of template, spec and fields",
		"kinds: [{group: a.b, kind: A, pods: [{spec: a, template: b}]}]":                                                              "1:38: kinds[0].pods[0]: expected one of template, spec and fields",
		"kinds: [{group: a.b, kind: A, pods: [{spec: a, name: w}, {spec: b, name: w}]}]":                                              `1:68: kinds[0].pods[1].name: expected a name that no other pods have, found "w"`,
		"kinds: [{group: a.b, kind: A, pods: [{spec: .a, each: b}]}]":                                                                 "1:38: kinds[0].pods[0].name: expected a path in braces that is different for each item, such as {.name}",
		"kinds: [{group: a.b, kind: A, pods: [{spec: .a}]}]":                                                                          `1:39: kinds[0].pods[0].spec: expected a path from the root of the object, found ".a": a path begins with a dot only for the pods of each item of a list`,
		"kinds: [{group: a.b, kind: A, pods: [{spec: 'a[*].b'}]}]":                                                                    `1:39: kinds[0].pods[0].spec: expected a path without *, found "a[*].b": name the list with each`,
		"kinds: [{group: a.b, kind: A, pods: [{spec: a..b, when: {a.: [x]}, labels: {add: {x: '{y', z: '{}'}, from: ['']}}]}]":        `1:39: kinds[0].pods[0].spec: expected fields with dots between them, such as spec.affinity or metadata.labels[example.com/name], found "a..b"` + "\n" + `1:58: kinds[0].pods[0].when.a.: expected fields with dots between them, such as spec.affinity or metadata.labels[example.com/name], found "a."` + "\n" + `1:83: kinds[0].pods[0].labels.add.x: expected a closing brace, found "{y"` + "\n1:92: kinds[0].pods[0].labels.add.z: expected a path such as spec.affinity, found nothing\n1:109: kinds[0].pods[0].labels.from[0]: expected a path such as spec.affinity, found nothing",
		"kinds: [{group: a.b, kind: A, unless: {a: []}, pods: [{fields: {nodeselector: a, affinity: ''}, replicas: {default: -1}}]}]": `1:40: kinds[0].unless.a: expected a list of values, in which "*" is any value and "" an absent field` + "\n1:65: kinds[0].pods[0].fields.nodeselector: expected one of affinity, affinity.nodeAffinity, affinity.podAffinity, affinity.podAntiAffinity, containers, hostNetwork, nodeSelector, priorityClassName, resources, runtimeClassName, schedulerName, tolerations, topologySpreadConstraints; did you mean nodeSelector?\n1:82: kinds[0].pods[0].fields.affinity: expected a path such as spec.affinity, found nothing\n1:108: kinds[0].pods[0].replicas.default: expected a number of pods, found -1",
		"kinds: [{group: a.b, kind: A, pods: [{spec: a, terms: [{match-labels: {a: b}}]}]}]":                                          "1:56: kinds[0].pods[0].terms[0]: expected a topology-key or its default",
		"storage: gp3":                            "1:1: storage: expected a map",
		"storage: {class: {}}":                    "1:11: unknown key storage.class; there are classes, default",
		"storage: {classes: [gp3]}":               "1:11: storage.classes: expected a map",
		"storage: {classes: {gp3: zone}}":         "1:21: storage.classes.gp3: expected a map",
		"storage: {classes: {gp3: {pin: zone}}}":  "1:27: unknown key storage.classes.gp3.pin; there are attach, pinned",
		"storage: {classes: {a: {pinned: rack}}}": "1:25: storage.classes.a.pinned: expected one of node, zone, zones-2, region, free",
		"storage: {classes: {a: {attach: [no]}}}": "1:25: storage.classes.a.attach: expected one of single-node, free",
		"clusters: [{name: a, paths: [a], storage: {classes: {b: {attach: ''}}}}]": "1:58: clusters[0].storage.classes.b.attach: expected one of single-node, free",
		"fail-on: never":                `1:1: fail-on: expected one of error, warning, none, found "never"`,
		"vendor: ./":                    "1:1: vendor: expected a folder of its own, found the directory of the configuration",
		"vendor: ''":                    "1:1: vendor: expected a file, found nothing",
		`fail-on: ""`:                   `1:1: fail-on: expected one of error, warning, none, found ""`,
		"fail-on: off":                  "1:1: fail-on: expected a string",
		"ignore: [a]\nignore: [b]":      "2:1: duplicate key: ignore",
		"ignore: [a":                    "1:1: unparsable document: did not find expected ',' or ']'",
		"ignore: &a [*a]":               "1:13: alias cycle: anchor &a contains itself",
		"- ignore":                      "1:1: expected a map with the keys " + keys,
		"ignore":                        "1:1: expected a map with the keys " + keys,
		"ignore: [a]\n---\nignore: [b]": "expected one document, found 2",
		"ignore: [a\n{{ .Values.b }}":   "expected a configuration, found Helm template",
		"\xff":                          "1:1: unreadable file: is not UTF-8 text",
		"a: 1\nignore: 1\nrules: 1":     "1:1: unknown key a; there are " + keys + "\n2:1: ignore: expected a list\n3:1: rules: expected a map",
		"clusters: [{name: a, paths: [a]}, {name: a, paths: [b]}]": "1:42: clusters[1]: cluster a is declared twice",
	} {
		refuses(t, text, want)
	}
}

// refuses compares the error about a configuration, without the name of the file, with the expected
// one. Empty means no error.
func refuses(t *testing.T, text, want string) {
	t.Helper()
	_, err := load(t, text)
	got := ""
	if err != nil {
		got = strings.TrimSpace(strings.ReplaceAll(err.Error(), Name+":", ""))
	}
	if got != want {
		t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
	}
}

// TestLoadWhatIsNone covers paths that are not configurations.
func TestLoadWhatIsNone(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("pod.yaml", []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"nowhere.yaml": "nowhere.yaml: there is no such configuration file",
		".":            ".: is a directory, expected a configuration file",
		"pod.yaml":     "pod.yaml: expected a configuration, found Pod a",
	} {
		if _, err := Load(path); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestFind(t *testing.T) {
	top := t.TempDir()
	deep := filepath.Join(top, "a", "b")
	if err := os.MkdirAll(filepath.Join(deep, Name), 0o755); err != nil { // a directory with that name is not a configuration
		t.Fatal(err)
	}
	path := filepath.Join(top, "a", Name)
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := Find(deep); got != path {
		t.Errorf("found %q, want %s", got, path)
	}
	if got := Find(top); got != "" && strings.HasPrefix(got, top) {
		t.Errorf("found %q", got)
	}
}

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"vendor", "vendor/a/b.yaml", true},
		{"vendor/", "vendor/b.yaml", true},
		{"./vendor", "vendor", true},
		{"vendor/**", "vendor/a/b.yaml", true},
		{"vendor", "apps/vendor/b.yaml", false},
		{"**/vendor", "apps/vendor/b.yaml", true},
		{"*.yaml", "a.yaml", true},
		{"*.yaml", "apps/a.yaml", false},
		{"**/*.draft.yaml", "a.draft.yaml", true},
		{"{a,b}/x", "b/x/y.yaml", true},
		{".", "a.yaml", true},
		{"vend", "vendor/a.yaml", false},
		{"vendor", "<stdin>", false},
		{"vendor", "../vendor/a.yaml", false},
		{"../vendor", "../vendor/a.yaml", true},
	} {
		config, cluster := Config{Ignore: []string{"none", c.glob}}, Cluster{Paths: []string{c.glob}}
		if config.Ignores(c.name) != c.want || cluster.Has(c.name) != c.want {
			t.Errorf("%s matches %s: %v, want %v", c.glob, c.name, !c.want, c.want)
		}
	}
}

func schemaDocument(t *testing.T) map[string]any {
	text, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func compiled(t *testing.T) *jsonschema.Schema {
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", schemaDocument(t)); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// instance decodes YAML as an editor does before it validates a schema.
func instance(t *testing.T, text string) any {
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// TestSchemaAccepts checks that the schema and Load accept the same configurations. The exceptions
// are conditions that a schema cannot express: whether a glob is valid and whether a name is
// unique.
func TestSchemaAccepts(t *testing.T) {
	schema := compiled(t)
	good := []string{
		"", "# nothing yet", "---", "{}", "topology:", "topology: []", "topology: [a, b]", "ignore: ['**']", "ignore:", "rules:", "rules: {}",
		"rules: {a: off, b: error, c: warning, d: note, e: false}", "rules: {a: 'off'}", "fail-on:", "fail-on: none", "kubernetes:", "kubernetes: '1.27'", "kubernetes: '1.36'", "kubernetes: 1.35.2", "kubernetes: v1.30", "clusters: [{name: a, paths: [b], kubernetes: v1.29.10}]", "extended-resources: complete", "extended-resources:", "priority-classes: complete", "admission: [PodNodeSelector]", "admission:", "storage:", "storage: {}", "storage: {default: a, classes: {a: {pinned: zones-2, attach: single-node}, b: {pinned: node}, c: {attach: free}, d: , e: {pinned: , attach: }}}", "storage: {default: , classes: }", "kinds:", "kinds: []", "kinds: [{group: a.b, kind: A, pods: []}, {group: a.c, kind: A, project: p, version: , source: [a], unless: {spec.x: ['*', '']}, pods: [{spec: spec.a}]}]",
		"kinds: [{group: a.b, kind: A, pods: [{name: a, when: , each: , replicas: {path: a, default: 0, least: b, most: c}, shards: {default: 2}, template: a.b}, {name: '{.b}-x', each: a.c, fields: {affinity.podAntiAffinity: '.a.b[c/d.e]'}, labels: {add: {a: '{metadata.name}'}, from: ['.a']}, exact-tolerations: true, own-requests: true, node-labels: [{key: .a, when: {b: [c]}}], terms: [{when: {a: [b]}, topology-key: a}, {default: zone, match-labels: {a: b}}]}]}]", "clusters: [{name: a, paths: [a], storage: {classes: {b: {pinned: zone}}}}]", "fail-on: 'error'", "clusters:", "clusters: []",
		"clusters: [{name: a, pointers: ['a/**'], destinations: [prod]}]", "clusters: [{name: a, destinations: ['https://a']}]", "clusters: [{name: a, server: 'https://a', labels: {b: c}, annotations: {d: e f}}]", "clusters: [{name: a, paths: [b], server: }]", "clusters: [{name: a, server: b, labels: , annotations: }]", "repositories: ['https://example.com/a']", "repositories:", "renders: [{pointers: '**'}, {pointers: a/apps.yaml}]", "topology: [nodes]\nignore:\n# - later\nrules:\n  a: off\n", "clusters: [{name: a, paths: [a]}]", "clusters: [{name: a, paths: [a, 'b/**'], topology: [nodes]}]", "clusters: [{name: a, paths: [a], topology: }]",
		"survive:", "survive: []", "survive: [{keys: [node, example.com/Rack]}]", "survive: [{keys: [a], namespaces: [b, 'c-*'], labels: {d: e, f.g/h: ''}}]", "survive: [{keys: [a], namespaces: , labels: }]", "survive: [{keys: [a], labels: {}}]",
		"unrendered:", "unrendered: []", "unrendered: [{pattern: 'a/**', reason: b}]", "suppress:", "suppress: []", "suppress: [{rule: a}]", "suppress: [{rule: a, reason: b, until: '2027-03-31', kinds: [Pod], namespaces: [a, 'b-*'], names: ['*'], labels: {d: e}}]", "suppress: [{rule: a, reason: , until: , kinds: , labels: }]",
		"rules: {a: {level: off}, b: {params: {x: 1}}, 'c*': {scope: {kinds: [Pod]}}, d: {level: note, params: , scope: }}", "rules: {a: {params: {}}}",
		"policies:", "policies: []", "policies: [{pack: ha}]", "policies: [{pack: ha, dir: }]", "custom:", "custom: []", "custom: [{id: a, use: b}]", "custom: [{id: a, use: b, params: {c: [d, 1.5, {e: true}]}, level: error, title: t, description: d, owner: o, runbook: r}]",
		"custom: [{id: a, use: b, scope: {labels: {c: d}}, level: false}]", "custom: [{id: a, use: b, scope: , level: , params: }]", "scopes:", "scopes: []", "scopes: [{namespaces: ['a-*'], rules: {a: note, 'b.*': off}}]",
		"scopes: [{kinds: [a], names: [b], clusters: [c], paths: [d], renders: [g], labels: {e: f}, min-pods: 1, max-pods: 2, rules: {a: off}}]", "scopes: [{min-pods: 2, names: , rules: {a: error}}]",
		"baseline:", "baseline: a.json", "vendor:", "vendor: a/b", "clusters: [{name: a, renders: [b]}]", "clusters: [{name: a, paths: , renders: ['b/*']}]", "clusters: [{name: a, paths: [a], renders: []}]",
		"renders: [{helm: a}, {helm: 'b/*', each-values: 'c/{name}.yaml', name: , kustomize: , files: }]", "renders: [{helm: a, name: b-c, namespace: d, values: [e], set: {f: 1, g.h: i, 'j[0]': true, k: , l: 1.5}, set-string: {m: 1}, kube-version: '1.36', api-versions: [a/v1], helm-version: 4.0.0}]", "renders: [{helm: a, helm-version: v3.19.2-rc.1}, {helm: b, helm-version: '4'}]",
		"renders: [{kustomize: a, values: , set: , helm: }]", "renders:", "renders: []", "renders: [{kustomize: a}]", "renders: [{kustomize: 'a/*/{b,c}'}]", "renders: [{kustomize: a, name: b, files: , source-root: }]", "renders: [{files: [a], name: , kustomize: , remotes: , load-restrictor: }]",
		"renders: [{kustomize: a, load-restrictor: root-only, remotes: {'https://b/c?ref=d': e}}]", "renders: [{kustomize: a, load-restrictor: repository, remotes: {}}]", "renders: [{files: [a, b], source-root: c, name: d e}]",
	}
	bad := []string{
		"a: 1", "Topology: []", "topology: a", "topology: {}", "topology: [1]", "topology: [~]", "topology: ['']", "topology: [[a]]", "ignore: a", "ignore: [true]", "ignore: ['']",
		"rules: []", "rules: off", "rules: {a: loud}", "rules: {a: 1}", "rules: {a: }", "rules: {a: true}", "rules: {a: 'false'}", "rules: {a: {}}", "rules: {a: no}", "rules: {a: Error}",
		"fail-on: never", "fail-on: note", "kubernetes: 1.31", "kubernetes: ''", "kubernetes: '1'", "kubernetes: '1.26'", "kubernetes: '1.37'", "kubernetes: 1.35.02", "kubernetes: 1.35.2-gke.1", "kubernetes: V1.35.2", "kubernetes: [a]", "clusters: [{name: a, paths: [b], kubernetes: 1}]", "extended-resources: all", "extended-resources: ''", "extended-resources: true", "priority-classes: ''", "admission: PodNodeSelector", "admission: [Priority]", "kinds: {}", "kinds: [a]", "kinds: [~]", "kinds: [{}]", "kinds: [{group: a, kind: b, pods: []}]", "kinds: [{group: a.b, kind: '', pods: []}]", "kinds: [{group: a.b, kind: c}]", "kinds: [{group: a.b, kind: c, pods: }]", "kinds: [{group: a.b, kind: c, pods: [{}]}]", "kinds: [{group: a.b, kind: c, pods: [{spec: a, template: b}]}]", "kinds: [{group: a.b, kind: c, pods: [{spec: 'a..b'}]}]", "kinds: [{group: a.b, kind: c, pods: [{spec: 'a[*]'}]}]", "kinds: [{group: a.b, kind: c, pods: [{spec: 'a['}]}]", "kinds: [{group: a.b, kind: c, unless: {a: []}, pods: []}]", "kinds: [{group: a.b, kind: c, unless: {'': [b]}, pods: []}]", "kinds: [{group: a.b, kind: c, pods: [{fields: {a: b}}]}]", "kinds: [{group: a.b, kind: c, pods: [{fields: {affinity: }}]}]", "kinds: [{group: a.b, kind: c, pods: [{spec: a, replicas: {default: -1}}]}]", "kinds: [{group: a.b, kind: c, pods: [{spec: a, terms: [{}]}]}]", "kinds: [{group: a.b, kind: c, pods: [{spec: a, node-labels: [{}]}]}]", "kinds: [{group: a.b, kind: c, pods: [{spec: a, node-labels: [a]}]}]", "kinds: [{group: a.b, kind: c, pods: [{spec: a, own-requests: a}]}]", "kinds: [{group: a.b, kind: c, pods: [{spec: a, exact-tolerations: a}]}]", "kinds: [{group: a.b, kind: c, why: d, pods: []}]",
		"storage: a", "storage: {class: }", "storage: {default: 1}", "storage: {classes: [a]}", "storage: {classes: {a: zone}}", "storage: {classes: {a: {pinned: Zone}}}", "storage: {classes: {a: {pinned: ''}}}", "storage: {classes: {a: {attach: no}}}", "storage: {classes: {a: {attached: free}}}", "clusters: [{name: a, paths: [a], storage: [b]}]", "fail-on: ''", "fail-on: 1", "fail-on: [error]", "fail-on: off", "fail-on: false",
		"clusters: {}", "clusters: a", "clusters: [a]", "clusters: [~]", "clusters: [{}]", "clusters: [{name: a}]", "clusters: [{paths: [a]}]", "clusters: [{name: a, paths: }]",
		"clusters: [{name: a, paths: []}]", "clusters: [{name: '', paths: [a]}]", "clusters: [{name: 1, paths: [a]}]", "clusters: [{name: a, paths: a}]", "clusters: [{name: a, paths: ['']}]",
		"clusters: [{name: a, paths: [1]}]", "clusters: [{name: a, paths: [a], topology: n}]", "clusters: [{name: a, paths: [a], topology: ['']}]", "clusters: [{name: a, paths: [a], path: a}]",
		"survive: {}", "survive: zone", "survive: [zone]", "survive: [~]", "survive: [{}]", "survive: [{keys: }]", "survive: [{keys: []}]", "survive: [{keys: zone}]", "survive: [{keys: ['']}]", "survive: [{keys: [1]}]", "survive: [{keys: [~]}]",
		"survive: [{keys: [a b]}]", "survive: [{keys: [a/b/c]}]", "survive: [{keys: [a], key: [b]}]", "survive: [{namespaces: [a]}]", "survive: [{keys: [a], namespaces: a}]", "survive: [{keys: [a], namespaces: []}]", "survive: [{keys: [a], namespaces: ['']}]",
		"survive: [{keys: [a], labels: [b]}]", "survive: [{keys: [a], labels: {b: 1}}]", "survive: [{keys: [a], labels: {b: }}]", "survive: [{keys: [a], labels: {b: c d}}]", "survive: [{keys: [a], labels: {b c: d}}]",
		"unrendered: {}", "unrendered: [a]", "unrendered: [{pattern: a}]", "unrendered: [{reason: b}]", "unrendered: [{pattern: '', reason: b}]", "unrendered: [{pattern: a, reason: ' '}]", "unrendered: [{pattern: a, reason: b, until: c}]",
		"suppress: {}", "suppress: [a]", "suppress: [~]", "suppress: [{}]", "suppress: [{rule: ''}]", "suppress: [{rule: [a]}]", "suppress: [{rule: a, reason: [b]}]", "suppress: [{rule: a, kinds: []}]", "suppress: [{rule: a, names: b}]", "suppress: [{rule: a, namespaces: ['']}]",
		"suppress: [{rule: a, labels: {b c: d}}]", "suppress: [{rule: a, why: b}]", "baseline: ''", "vendor: ''", "vendor: [a]", "baseline: [a]", "baseline: 1",
		"rules: {a: {}}", "rules: {a: {level: loud}}", "rules: {a: {level: 'false'}}", "rules: {a: {params: 1}}", "rules: {a: {params: [b]}}", "rules: {a: {scope: {}}}", "rules: {a: {scope: {kinds: a}}}", "rules: {a: {why: b}}",
		"policies: {}", "policies: [a]", "policies: [~]", "policies: [{}]", "policies: [{pack: }]", "policies: [{pack: ''}]", "policies: [{pack: a, dir: b}]", "policies: [{pack: [a]}]", "policies: [{packs: a}]",
		"custom: {}", "custom: [a]", "custom: [~]", "custom: [{}]", "custom: [{id: a}]", "custom: [{use: a}]", "custom: [{id: '', use: a}]", "custom: [{id: a, use: ''}]", "custom: [{id: a, use: b, params: c}]", "custom: [{id: a, use: b, level: bad}]", "custom: [{id: a, use: b, scope: {}}]",
		"custom: [{id: a, use: b, scope: {labels: {}}}]", "custom: [{id: a, use: b, title: 1}]", "custom: [{id: a, use: b, tile: c}]", "scopes: {}", "scopes: [a]", "scopes: [~]", "scopes: [{rules: {a: off}}]", "scopes: [{names: [a]}]", "scopes: [{names: [a], rules: }]",
		"scopes: [{names: [a], rules: {}}]", "scopes: [{names: [a], rules: {b: }}]", "scopes: [{names: [a], rules: {b: {level: off}}}]", "scopes: [{names: [], rules: {b: off}}]", "scopes: [{names: [''], rules: {b: off}}]", "scopes: [{min-pods: 0, rules: {b: off}}]", "scopes: [{min-pods: a, rules: {b: off}}]",
		"scopes: [{labels: {a b: c}, rules: {b: off}}]", "scopes: [{namespace: [a], rules: {b: off}}]",
		"clusters: [{name: a, paths: [], renders: []}]", "clusters: [{name: a, pointers: []}]", "clusters: [{name: a, pointers: ['']}]", "clusters: [{name: a, destinations: b}]", "clusters: [{name: a, destinations: ['']}]", "clusters: [{name: a, server: ''}]", "clusters: [{name: a, server: [b]}]", "clusters: [{name: a, server: b, labels: {c: d e}}]", "clusters: [{name: a, server: b, labels: [c]}]", "clusters: [{name: a, server: b, annotations: {c: 1}}]", "clusters: [{name: a, paths: [b], annotations: {c: d}}]", "clusters: [{name: a, paths: [b], labels: {c: d}}]", "repositories: a", "repositories: ['']", "repositories: [1]", "clusters: [{name: a, renders: ['']}]", "clusters: [{name: a, renders: b}]",
		"renders: [{pointers: }]", "renders: [{pointers: ''}]", "renders: [{pointers: a, kustomize: b}]", "renders: [{pointers: a, name: b}]", "renders: [{pointers: [a]}]", "renders: {}", "renders: a", "renders: [a]", "renders: [~]", "renders: [{}]", "renders: [{name: a}]", "renders: [{kustomize: }]", "renders: [{kustomize: ''}]", "renders: [{kustomize: [a]}]", "renders: [{kustomize: a, files: [b]}]",
		"renders: [{files: []}]", "renders: [{files: a}]", "renders: [{files: ['']}]", "renders: [{kustomize: a, source-root: b}]", "renders: [{files: [a], load-restrictor: repository}]", "renders: [{files: [a], remotes: {b: c}}]", "renders: [{files: [a], source-root: ''}]",
		"renders: [{kustomize: a, load-restrictor: none}]", "renders: [{kustomize: a, load-restrictor: ''}]", "renders: [{kustomize: a, remotes: [b]}]", "renders: [{kustomize: a, remotes: {b: }}]", "renders: [{kustomize: a, remotes: {'': b}}]", "renders: [{kustomize: a, remotes: {b: ''}}]",
		"renders: [{kustomize: 'a/*', name: b}]", "renders: [{kustomize: a, name: ''}]", "renders: [{kustomize: a, name: 'b*'}]", "renders: [{kustomize: 'https://a/b'}]", "renders: [{kustomize: a/kustomization.yaml}]", "renders: [{helm: }]", "renders: [{helm: ''}]", "renders: [{helm: a, kustomize: b}]", "renders: [{helm: a, files: [b]}]", "renders: [{helm: 'oci://a'}]", "renders: [{helm: a/Chart.yaml}]", "renders: [{helm: a, name: B}]", "renders: [{helm: 'a/*', name: b}]", "renders: [{helm: a, each-values: b}]",
		"renders: [{helm: a, namespace: B}]", "renders: [{helm: a, kube-version: 1.36}]", "renders: [{helm: a, kube-version: x}]", "renders: [{helm: a, helm-version: 4}]", "renders: [{helm: a, helm-version: 5.0.0}]", "renders: [{helm: a, helm-version: 4.0.0.1}]", "renders: [{kustomize: a, helm-version: 4.0.0}]", "renders: [{helm: a, api-versions: ['']}]", "renders: [{helm: a, values: b}]", "renders: [{helm: a, values: ['']}]", "renders: [{helm: a, set: [b]}]", "renders: [{helm: a, set: {b: {c: d}}}]", "renders: [{helm: a, set: {b=c: d}}]", "renders: [{helm: a, set-string: {b: }}]", "renders: [{helm: a, remotes: {b: c}}]", "renders: [{files: [a], values: [b]}]",
		"renders: [{pointers: a, each-values: 'b{name}'}]", "renders: [{kustomize: a, set: {b: c}}]", "renders: [{kustomise: a}]",
		"[]", "a", "1", "[topology]",
	}
	for _, text := range slices.Concat(good, bad) {
		_, loadErr := load(t, text)
		schemaErr := schema.Validate(instance(t, text))
		if want := slices.Contains(good, text); (loadErr == nil) != want || (schemaErr == nil) != want {
			t.Errorf("%q: want accepted: %v\nLoad: %v\nschema: %v", text, want, loadErr, schemaErr)
		}
	}
}

// TestSchemaFields checks that the schema describes the fields of the structs.
func TestSchemaFields(t *testing.T) {
	doc := schemaDocument(t)
	fields(t, doc, reflect.TypeFor[Config]())
	properties := doc["properties"].(map[string]any)
	fields(t, properties["clusters"].(map[string]any)["items"].(map[string]any), reflect.TypeFor[Cluster]())
	fields(t, properties["renders"].(map[string]any)["items"].(map[string]any), reflect.TypeFor[Render]())
	fields(t, properties["survive"].(map[string]any)["items"].(map[string]any), reflect.TypeFor[Survive]())
	fields(t, properties["unrendered"].(map[string]any)["items"].(map[string]any), reflect.TypeFor[Unrendered]())
	fields(t, properties["suppress"].(map[string]any)["items"].(map[string]any), reflect.TypeFor[Suppress]())

	for name, typ := range map[string]reflect.Type{"policies": reflect.TypeFor[Policy](), "custom": reflect.TypeFor[Custom](), "scopes": reflect.TypeFor[Scoped]()} {
		fields(t, properties[name].(map[string]any)["items"].(map[string]any), typ)
	}
	definitions := doc["definitions"].(map[string]any)
	fields(t, definitions["scope"].(map[string]any), reflect.TypeFor[Scope]())
	fields(t, properties["rules"].(map[string]any)["additionalProperties"].(map[string]any)["then"].(map[string]any), reflect.TypeFor[Rule]())
	kind := definitions["kind"].(map[string]any)
	fields(t, kind, reflect.TypeFor[kinds.Row]())
	pods := definitions["pods"].(map[string]any)
	fields(t, pods, reflect.TypeFor[kinds.Pods]())
	fields(t, definitions["amount"].(map[string]any), reflect.TypeFor[kinds.Number]())
	made := pods["properties"].(map[string]any)
	fields(t, made["labels"].(map[string]any), reflect.TypeFor[kinds.Labels]())
	fields(t, made["terms"].(map[string]any)["items"].(map[string]any), reflect.TypeFor[kinds.Term]())
	fields(t, made["node-labels"].(map[string]any)["items"].(map[string]any), reflect.TypeFor[kinds.NodeLabel]())
	if diff := cmp.Diff(kinds.Fields(), slices.Sorted(maps.Keys(made["fields"].(map[string]any)["properties"].(map[string]any)))); diff != "" {
		t.Errorf("fields: %s", diff)
	}
	storages := definitions["storage"].(map[string]any)
	fields(t, storages, reflect.TypeFor[storage.Declared]())
	class := storages["properties"].(map[string]any)["classes"].(map[string]any)["additionalProperties"].(map[string]any)
	fields(t, class, reflect.TypeFor[storage.Behavior]())
	for field, words := range map[string]string{"pinned": storage.Words("pin"), "attach": storage.Words("attach")} {
		if diff := cmp.Diff(append(anys(strings.Split(words, ", ")), nil), class["properties"].(map[string]any)[field].(map[string]any)["enum"]); diff != "" {
			t.Errorf("%s: %s", field, diff)
		}
	}
	rules := definitions["level"].(map[string]any)
	if diff := cmp.Diff(append(anys(levels()), false), rules["enum"]); diff != "" {
		t.Errorf("levels: %s", diff)
	}
	render := properties["renders"].(map[string]any)["items"].(map[string]any)["properties"].(map[string]any)
	if diff := cmp.Diff(append(anys(LoadRestrictors()), nil), render["load-restrictor"].(map[string]any)["enum"]); diff != "" {
		t.Errorf("load-restrictor: %s", diff)
	}
	if got := render["name"].(map[string]any)["pattern"]; got != renderPattern {
		t.Errorf("name: %v, want %s", got, renderPattern)
	}
	if diff := cmp.Diff(append(anys(FailLevels()), nil), properties["fail-on"].(map[string]any)["enum"]); diff != "" {
		t.Errorf("fail-on: %s", diff)
	}
}

func fields(t *testing.T, object map[string]any, typ reflect.Type) {
	t.Helper()
	want := map[string]bool{}
	for _, f := range reflect.VisibleFields(typ) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.IsExported() && name != "-" && !f.Anonymous {
			want[name] = true
		}
	}
	got := map[string]bool{}
	for name := range object["properties"].(map[string]any) {
		got[name] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", typ, diff)
	}
	if object["additionalProperties"] != false {
		t.Errorf("%s: the schema lets unknown keys pass", typ)
	}
}

func anys(words []string) []any {
	var all []any
	for _, w := range words {
		all = append(all, w)
	}
	return all
}

// TestRowsMatchSchema checks that the rows that schedlint has are valid in a configuration.
func TestRowsMatchSchema(t *testing.T) {
	text, err := os.ReadFile("../kinds/rows.json")
	if err != nil {
		t.Fatal(err)
	}
	configuration := "kinds: " + string(text)
	if err := compiled(t).Validate(instance(t, configuration)); err != nil {
		t.Error(err)
	}
	if c, err := load(t, configuration); err != nil || len(c.Kinds) == 0 {
		t.Error(err)
	}
}
