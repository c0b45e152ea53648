package listing

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
)

// shop returns two workloads, one with a name that would break the output, and a question.
func shop() Context {
	f := &facts.Facts{Version: "1.0", Cluster: facts.Cluster{Name: "prod", Context: "overlays/a"}}
	f.Workloads = []facts.Workload{{
		ID: 1, Ref: "Deployment shop/web", Kind: "Deployment", Namespace: "shop", Name: "web",
		Labels: map[string]string{"b": "no", "a": "1", "c: d": "x\ny"}, PodsMin: 2, PodsMax: 2147483647,
		Containers: []facts.Container{{ID: 2, Name: "web", Image: "nginx"}, {ID: 3, Name: "log"}},
	}, {
		ID: 4, Ref: "Deployment shop/\x1b[31m", Kind: "Deployment", Namespace: "shop", Name: "\x1b[31m",
	}}
	f.Sharing = []facts.Sharing{{ID: 5, W: 0, Outcome: "sometimes", Pods: 2}, {ID: 6, W: -1, Outcome: "none"}}
	f.Objects = []facts.Object{{ID: 7, Kind: "Deployment", Manifest: map[string]any{"spec": map[string]any{"replicas": json.Number("2"), "x": nil}}}}
	place := func(id int) diag.Span {
		if id > 5 {
			return diag.Span{}
		}
		return diag.Span{File: "apps/web.yaml", Line: 10 * id}
	}
	return Context{Facts: f, Place: place, Params: json.RawMessage(`{"key":"zone"}`)}
}

// TestWrite compares each output format with a file.
func TestWrite(t *testing.T) {
	for name, write := range map[string]func(*bytes.Buffer) error{
		"overview":       func(b *bytes.Buffer) error { return Write(b, "table", []Context{shop()}, Options{}) },
		"workloads":      func(b *bytes.Buffer) error { return Write(b, "table", []Context{shop()}, Options{List: "workloads"}) },
		"sharing":        func(b *bytes.Buffer) error { return Write(b, "table", []Context{shop()}, Options{List: "sharing"}) },
		"objects":        func(b *bytes.Buffer) error { return Write(b, "table", []Context{shop()}, Options{List: "objects"}) },
		"workloads-json": func(b *bytes.Buffer) error { return Write(b, "json", []Context{shop()}, Options{List: "workloads"}) },
		"workloads-yaml": func(b *bytes.Buffer) error { return Write(b, "yaml", []Context{shop()}, Options{List: "workloads"}) },
		"at": func(b *bytes.Buffer) error {
			return Write(b, "table", []Context{shop()}, Options{File: "apps/web.yaml", Line: 20})
		},
		"doc":         func(b *bytes.Buffer) error { return Doc(b, "workloads.budgets") },
		"doc-outcome": func(b *bytes.Buffer) error { return Doc(b, "input.sharing.outcome") },
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", name+".golden"), out.String())
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("SCHEDLINT_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s:\n%s", file, diff)
	}
}

// TestFormatsAgree checks that JSON, YAML and the encoding of the facts for rules have the same
// content.
func TestFormatsAgree(t *testing.T) {
	c := shop()
	var fromJSON, fromYAML, direct map[string]any
	var out bytes.Buffer
	if err := Write(&out, "json", []Context{c}, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &fromJSON); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := Write(&out, "yaml", []Context{c}, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(out.Bytes(), &fromYAML); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(fromYAML)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &direct); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fromJSON, direct); diff != "" {
		t.Errorf("YAML differs from JSON:\n%s", diff)
	}
	if fromJSON["params"] == nil || len(fromJSON["workloads"].([]any)) != 2 {
		t.Errorf("expected params and two workloads, found %v", fromJSON)
	}
}

// TestNoEscapes checks that no format prints a name of a manifest to the terminal unescaped.
func TestNoEscapes(t *testing.T) {
	for _, format := range Formats() {
		for _, list := range append(Lists(), "") {
			var out bytes.Buffer
			if err := Write(&out, format, []Context{shop()}, Options{List: list}); err != nil {
				t.Fatal(err)
			}
			if strings.ContainsRune(out.String(), '\x1b') {
				t.Errorf("%s of %q contains an escape", format, list)
			}
		}
	}
}

// TestDocErrors checks the errors about paths that do not exist.
func TestDocErrors(t *testing.T) {
	for path, want := range map[string]string{
		"worklods":              "input has no field worklods; did you mean workloads?",
		"workloads.terms.kye":   "input.workloads.terms has no field kye; did you mean key?",
		"workloads.name.length": "input.workloads.name has no fields",
		"sharing.soft.zzzzzzzz": "input.sharing.soft has no field zzzzzzzz; there are hard, key, use, w",
	} {
		if err := Doc(&bytes.Buffer{}, path); err == nil || err.Error() != want {
			t.Errorf("%s: found %v, expected %s", path, err, want)
		}
	}
}

// TestListsAreDescribed checks that the schema describes each list of the facts.
func TestListsAreDescribed(t *testing.T) {
	for _, list := range Lists() {
		if description([]string{list}) == "" {
			t.Errorf("list %s has no description", list)
		}
	}
	if n := reflect.TypeFor[facts.Facts]().NumField() - len(Lists()); n > 3 {
		t.Errorf("%d fields of the facts are no list, expected version and cluster", n)
	}
}
