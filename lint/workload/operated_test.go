package workload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/source"
)

// TestOperatedMistakes replaces each value of custom resources that operators turn into pods by values of
// every type. Reading them must not panic, and must never lead to pods with an invalid number.
func TestOperatedMistakes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../kinds/testdata/*.yaml")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	r := NewReader(NewTable())
	tried, read, made := 0, 0, 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		resource, _, _ := strings.Cut(string(text), "\n---\n")
		var root map[string]any
		if err := yaml.Unmarshal([]byte(resource), &root); err != nil {
			t.Fatal(err)
		}
		try := func() {
			if tried++; tried%3 != 0 && !trials.Full(t) {
				return
			}
			mutated, err := yaml.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			file := source.NewFile(name, name, mutated)
			for _, node := range file.Roots() {
				set := r.Load(file.ObjectsOf(node), nil)
				read++
				for _, w := range set.Workloads {
					if made++; w.Count.N < 0 || w.Operator == "" || w.SpecNode == nil {
						t.Errorf("%s: %+v of\n%s", name, w.Count, mutated)
					}
					if path := filledLater(w.SpecNode); path != "" && len(w.Open) == 0 {
						t.Errorf("%s: the variable in %s counts as a value in\n%s", name, path, mutated)
					}
				}
			}
		}
		try()
		var visit func(v any, set func(any))
		visit = func(v any, set func(any)) {
			if labels, is := v.(map[string]any); is {
				labels["${X}"] = "x"
				try()
				delete(labels, "${X}")
			}
			for _, other := range []any{nil, "x", "", -1, 1.5, 1 << 40, true, []any{}, []any{"x"}, map[string]any{}, map[string]any{"spec": "x"}, "${X}"} {
				set(other)
				try()
			}
			set(v)
			switch v := v.(type) {
			case map[string]any:
				for key, value := range v {
					visit(value, func(to any) { v[key] = to })
				}
			case []any:
				for i, value := range v {
					visit(value, func(to any) { v[i] = to })
				}
			}
		}
		visit(root["spec"], func(to any) { root["spec"] = to })
	}
	t.Logf("%d resources, %d workloads", read, made)
	if made < read/4 {
		t.Errorf("only %d workloads of %d resources", made, read)
	}
}

// filledLater returns the path of a placement field that contains the variable ${X}, or "". Label selectors
// do not count, because matching reads variables in them.
func filledLater(spec *source.Node) string {
	var find func(path string, n *source.Node) string
	find = func(path string, n *source.Node) string {
		if n.Text() == "${X}" {
			return path
		}
		for k, v := range n.Fields() {
			if k.Value == "labelSelector" || k.Value == "namespaceSelector" {
				continue
			}
			if k.Value == "${X}" {
				return path
			}
			if found := find(path+"."+k.Value, v); found != "" {
				return found
			}
		}
		for _, item := range n.Items() {
			if found := find(path, item); found != "" {
				return found
			}
		}
		return ""
	}
	for _, field := range PlacementFields() {
		if found := find(field, spec.Get(field)); found != "" {
			return found
		}
	}
	return ""
}
