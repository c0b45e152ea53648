package source

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	kubectl "go.yaml.in/yaml/v2"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// value converts a tree to plain Go values.
func value(n *Node) any {
	switch {
	case n.Kind == Map:
		m := map[string]any{}
		for k, v := range n.Fields() {
			m[fmt.Sprint(value(k))] = value(v) // keys are not normalized
		}
		return m
	case n.Kind == Sequence:
		list := []any{}
		for _, item := range n.Items() {
			list = append(list, value(item))
		}
		return list
	case n.Type == Null:
		return nil
	case n.Type == Bool:
		return n.truth()
	}
	if i, ok := n.Int(); ok && n.Type == Int {
		return int(i)
	}
	if f, ok := n.float(); ok && n.Type != String {
		return fmt.Sprint(f)
	}
	return n.Value
}

// kubectlValue converts a value from kubectl's decoder to the same form.
func kubectlValue(v any) any {
	switch v := v.(type) {
	case map[any]any:
		m := map[string]any{}
		for key, value := range v {
			m[fmt.Sprint(key)] = kubectlValue(value)
		}
		return m
	case []any:
		list := []any{}
		for _, item := range v {
			list = append(list, kubectlValue(item))
		}
		return list
	case float64:
		return fmt.Sprint(v)
	case uint64:
		return fmt.Sprint(float64(v))
	}
	return v
}

// compareWithKubectl compares every document in text with the result of kubectl's decoder.
func compareWithKubectl(t *testing.T, name string, text []byte) (compared int) {
	for part := range parts(text) {
		docs, errs := documents(part, everything)
		var v any
		err := kubectl.Unmarshal(part, &v)
		if len(errs) > 0 || len(docs) != 1 || err != nil {
			continue
		}
		compared++
		if diff := cmp.Diff(kubectlValue(v), value(docs[0].root)); diff != "" {
			t.Errorf("%s: kubectl -, here +\n%s", name, diff)
		}
	}
	return compared
}

func TestDocumentsAsKubectl(t *testing.T) {
	for name, text := range oddTexts {
		compareWithKubectl(t, name, []byte(text))
	}
	filesAsKubectl(t, "../../fixtures")
}

// filesAsKubectl compares every document in every manifest below a directory.
func filesAsKubectl(t *testing.T, root string) {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && isManifest(path) {
			files = append(files, path)
		}
		return err
	})
	compared := 0
	for _, path := range trials.Sample(t, files, 100) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		compared += compareWithKubectl(t, path, text)
	}
	if err != nil || compared == 0 {
		t.Fatalf("%s: %d documents: %v", root, compared, err)
	}
}

// TestMergeKeys compares merge keys with kubectl's decoder, in which later fields take precedence.
func TestMergeKeys(t *testing.T) {
	for _, text := range []string{
		"b: &b {x: 1, y: 2}\nu: {<<: *b, y: 3}\n",
		"b: &b {x: 1, y: 2}\nu: {y: 3, <<: *b}\n",
		"b: &b {x: 1}\nc: &c {x: 2, z: 3}\nu: {<<: [*b, *c]}\nv: {<<: [*c, *b], x: 4}\n",
		"b: &b {x: 1}\nc: &c {<<: *b, y: 2}\nu: {<<: *c, z: 3}\n",
		"b: &b {x: 1}\nc: &c {x: 2}\nu:\n  <<: *b\n  y: 0\n  <<: *c\n",
		"u: {<<: {x: 1, y: 2}, x: 3}\n",
		"u:\n  <<: &m {x: 1}\n  other: *m\n",
		"b: &b {x: 1}\nu: {!!merge <<: *b}\nv: {\"<<\": *b}\nw: {!!str <<: *b}\n",
		"b: &b {x: {deep: 1}}\nu: {<<: *b, x: {wide: 2}}\n",
		"b: &b {}\nu: {<<: *b}\n",
		"b: &b {x: 1}\nu: {<<: []}\nv: {<<: [*b, {x: 2, y: 3}]}\n",
	} {
		docs, errs := documents([]byte(text), everything)
		if len(errs) > 0 || len(docs) != 1 {
			t.Errorf("%s: %v", text, errs)
		}
		if compareWithKubectl(t, text, []byte(text)) != 1 {
			t.Errorf("kubectl does not read %s", text)
		}
	}
}
