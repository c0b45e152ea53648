package config

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/kinds"
)

// TestNamedFiles requires a decision for every key with string values: whether it names files. If
// it does, its paths in a configuration that was found must not lead outside. A new key belongs in
// one of the two lists, and a key that names files must use loader.namedFile.
func TestNamedFiles(t *testing.T) {
	paths := map[string]string{
		"topology":            "topology: [%s]",
		"baseline":            "baseline: %s",
		"vendor":              "vendor: %s",
		"policies.dir":        "policies: [{dir: %s}]",
		"clusters.topology":   "clusters: [{name: a, paths: [a], topology: [%s]}]",
		"renders.kustomize":   "renders: [{kustomize: %s}]",
		"renders.helm":        "renders: [{helm: %s}]",
		"renders.files":       "renders: [{files: [%s]}]",
		"renders.source-root": "renders: [{files: [a], source-root: %s}]",
		"renders.remotes":     "renders: [{kustomize: a, remotes: {'https://example.com/a': %s}}]",
	}
	// Values files of charts are looked up only after the charts are known. See TestExpandCharts.
	words := strings.Fields(`ignore fail-on kubernetes clusters.kubernetes extended-resources priority-classes admission clusters.name clusters.paths clusters.renders renders.pointers clusters.pointers clusters.destinations clusters.server clusters.labels clusters.annotations repositories renders.name renders.load-restrictor renders..namespace renders..values renders..each-values renders..kube-version renders..api-versions renders..helm-version survive.labels suppress.labels
		
		storage.default clusters.storage.default unrendered.pattern unrendered.reason survive.keys survive.namespaces suppress.rule suppress.reason suppress.until suppress.kinds suppress.namespaces suppress.names
		policies.pack custom.id custom.use custom.level. custom.title custom.description custom.owner custom.runbook
		scopes..namespaces scopes..kinds scopes..names scopes..clusters scopes..paths scopes..renders scopes..labels`)
	known := map[string]bool{}
	for key := range paths {
		known[key] = true
	}
	for _, key := range slices.Concat(words, wordKeys(reflect.TypeFor[kinds.Row](), "kinds.")) { // a row has paths of fields
		known[key] = true
	}
	for _, key := range wordKeys(reflect.TypeFor[Config](), "") {
		if !known[key] {
			t.Errorf("the key %s: say here whether it names files", key)
		}
		delete(known, key)
	}
	if len(known) > 0 {
		t.Errorf("no such key: %v", known)
	}
	for key, text := range paths {
		t.Chdir(t.TempDir())
		for name, content := range map[string]string{"../secret.yaml": "secret: [", "inside.yaml": ""} {
			if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("inside.yaml", "link.yaml"); err != nil {
			t.Skip(err)
		}
		for path, want := range map[string]string{
			"inside.yaml": "", "nowhere.yaml": "", "link.yaml": "link.yaml is a symbolic link: name the file itself",
			"../secret.yaml": "lies outside of the directory of the configuration", "/dev/zero": "lies outside of the directory of the configuration",
		} {
			if err := os.WriteFile(Name, fmt.Appendf(nil, text, path), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := LoadFound(Name, "")
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %s: %v, want %q", key, path, err, want)
			}
			if _, err := Load(Name); err != nil {
				t.Errorf("%s: %s is refused of one that is named: %v", key, path, err)
			}
		}
	}
}

// wordKeys returns the keys of a type whose value is a string or a list of strings.
func wordKeys(of reflect.Type, prefix string) (keys []string) {
	for i := range of.NumField() {
		name := prefix + of.Field(i).Tag.Get("json")
		if name == prefix+"-" || !of.Field(i).IsExported() {
			continue
		}
		at := of.Field(i).Type
		if at.Kind() == reflect.Slice || at.Kind() == reflect.Map && at.Elem().Kind() == reflect.String {
			at = at.Elem()
		}
		switch at.Kind() {
		case reflect.String:
			keys = append(keys, name)
		case reflect.Struct:
			keys = append(keys, wordKeys(at, name+".")...)
		}
	}
	return keys
}
