package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestAsks(t *testing.T) {
	c, err := load(t, `
survive:
- keys: [node]
- keys: [zone, topology.kubernetes.io/zone, example.com/rack]
  namespaces: [shop, "prod-*"]
  labels: {tier: critical, part: ""}
- keys: [region]
  namespaces: [default]
- keys: [node]
  labels: {}
`)
	if err != nil {
		t.Fatal(err)
	}
	critical := map[string]string{"tier": "critical", "part": "", "app": "web"}
	const node, zone, region, rack = "kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "example.com/rack"
	for _, test := range []struct {
		namespace string
		labels    map[string]string
		want      []string
	}{
		{"shop", critical, []string{rack, node, zone}},
		{"prod-1", critical, []string{rack, node, zone}},
		{"prod", critical, []string{node}},
		{"shop", map[string]string{"tier": "critical"}, []string{node}},
		{"shop", nil, []string{node}},
		{"", critical, []string{node, region}},
		{"default", nil, []string{node, region}},
	} {
		if diff := cmp.Diff(test.want, c.Asks(test.namespace, test.labels)); diff != "" {
			t.Errorf("%s %v: %s", test.namespace, test.labels, diff)
		}
	}
	if got := (&Config{}).Asks("shop", critical); len(got) > 0 {
		t.Errorf("without a word about it: %v", got)
	}
}

// TestSurviveMistakes covers every possible mistake in survive.
func TestSurviveMistakes(t *testing.T) {
	const want = "expected node, region, zone or the key of a node label, found "
	for text, want := range map[string]string{
		"{keys: [node]}":                   "1:1: survive: expected a list",
		"[node]":                           "1:11: survive[0]: expected a map",
		"[null]":                           "1:11: survive[0]: expected keys whose domains may be lost, such as node or zone",
		"[{}]":                             "1:11: survive[0]: expected keys whose domains may be lost, such as node or zone",
		"[{keys: }]":                       "1:12: survive[0]: expected keys whose domains may be lost, such as node or zone",
		"[{keys: []}]":                     "1:12: survive[0]: expected keys whose domains may be lost, such as node or zone",
		"[{keys: node}]":                   "1:12: survive[0].keys: expected a list",
		"[{key: [node], keys: [node]}]":    "1:12: unknown key survive[0].key; did you mean keys?",
		"[{keys: [node], namespace: [a]}]": "1:26: unknown key survive[0].namespace; did you mean namespaces?",
		"[{keys: [node, 1]}]":              "1:25: survive[0].keys[1]: expected a string",
		"[{keys: [a b]}]":                  "1:19: survive[0].keys[0]: " + want + `"a b"`,
		"[{keys: ['']}]":                   "1:19: survive[0].keys[0]: " + want + `""`,
		"[{keys: [~]}]":                    "1:19: survive[0].keys[0]: " + want + `"~"`,
		"[{keys: [A.b/zone]}]":             "1:19: survive[0].keys[0]: " + want + `"A.b/zone"`,
		"[{keys: [node], namespaces: [a, '[b']}]": `1:42: survive[0].namespaces[1]: "[b" is not a valid glob`,
		"[{keys: [node], namespaces: []}]":        "1:26: survive[0].namespaces: expected a glob, or nothing at all for all namespaces",
		"[{keys: [node], namespaces: a}]":         "1:26: survive[0].namespaces: expected a list",
		"[{keys: [node], labels: [a]}]":           "1:26: survive[0].labels: expected a map",
		"[{keys: [node], labels: {a: 1}}]":        "1:35: survive[0].labels.a: expected a string",
		"[{keys: [node], labels: {a: }}]":         `1:35: survive[0].labels.a: "" cannot be the value of a label`,
		"[{keys: [node], labels: {a: b c}}]":      `1:35: survive[0].labels.a: "b c" cannot be the value of a label`,
		"[{keys: [node], labels: {a/: b}}]":       `1:35: survive[0].labels: "a/" cannot be the key of a label`,
	} {
		refuses(t, "survive: "+text, want)
	}
}

func TestTopologyKey(t *testing.T) {
	for word, want := range map[string]string{
		"node": "kubernetes.io/hostname", "zone": "topology.kubernetes.io/zone", "region": "topology.kubernetes.io/region",
		"rack": "rack", "example.com/Rack_1": "example.com/Rack_1",
	} {
		if got, err := TopologyKey(word); got != want || err != nil {
			t.Errorf("%s is %q, %v, want %s", word, got, err, want)
		}
	}
	if _, err := TopologyKey("a/b/c"); err == nil || err.Error() != "expected node, region, zone or the key of a node label" {
		t.Errorf("a/b/c: %v", err)
	}
	for key, want := range map[string]string{
		"nodes": "node", "Zone": "zone", "rack": "", "zone": "", "topology.kubernetes.io/zones": "topology.kubernetes.io/zone",
	} {
		if got := NearDomain(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

// TestLabelForms compares the patterns for labels with the API server's validation.
func TestLabelForms(t *testing.T) {
	long, name := strings.Repeat("a", maxDomain), strings.Repeat("a", 63)
	for _, s := range []string{
		"", "a", "A", "1", "-", "_", ".", "a-", "-a", "a-b", "a_b.c", "a b", "a\n", "é", name, name + "a", "/", "/a", "a/", "a/b", "a/b/c", "A/b", "a.b/c", "a..b/c",
		".a/b", "a./b", "a-/b", "-a/b", "a_b/c", "1.2/3", "a/-b", "a/b-", long + "/" + name, long + "a/b", "a/" + name, "a/" + name + "a", name + name + "/a",
	} {
		if got, want := isKey(s), len(validation.IsQualifiedName(s)) == 0; got != want {
			t.Errorf("%q is a key: %v, want %v", s, got, want)
		}
		if got, want := valueForm().MatchString(s), len(validation.IsValidLabelValue(s)) == 0; got != want {
			t.Errorf("%q is a value: %v, want %v", s, got, want)
		}
	}
}

// TestSchemaForms checks that the schema has the same patterns as Load.
func TestSchemaForms(t *testing.T) {
	at := func(v any, path ...string) any {
		for _, key := range path {
			v = v.(map[string]any)[key]
		}
		return v
	}
	entry := at(schemaDocument(t), "properties", "survive", "items", "properties")
	for want, got := range map[string][]any{
		keyPattern:   {at(entry, "keys", "items", "pattern"), at(entry, "labels", "propertyNames", "pattern")},
		valuePattern: {at(entry, "labels", "additionalProperties", "pattern")},
	} {
		for _, pattern := range got {
			if pattern != want {
				t.Errorf("%v, want %s", pattern, want)
			}
		}
	}
}
